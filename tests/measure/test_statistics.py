"""Medians, spreads, drift, and the line T = a + V/b, on numbers worked by hand."""

import random

import pytest

from roofcourse.measure.statistics import drift, fit_line, median, settled, spread


def test_median_and_spread():
    assert median([3, 1, 2]) == 2
    assert median([4, 1, 2, 3]) == 2.5  # the two in the middle, not the two after it
    # quartiles of 1..5 are 2 and 4, the median 3
    assert spread([1, 2, 3, 4, 5]) == pytest.approx(2 / 3)
    # one interrupted sample in ten moves a standard deviation, not the middle half
    assert spread([1.0] * 9 + [50.0]) == 0


def test_drift():
    assert drift([1, 1, 1, 2, 2, 2, 3, 3, 3]) == 2  # the last third is three times the first
    assert drift([1, 9]) == 0


def test_settled():
    assert not settled([0.1] * 31)
    assert settled([0.1] * 32)
    assert not settled([0.1, 0.2] * 20)
    assert settled([0.0] * 40)


def test_the_line_is_found():
    volumes = [2**i for i in range(10, 24)]
    line = fit_line(volumes, [4.5e-6 + v / 3e12 for v in volumes])
    assert line.overhead == pytest.approx(4.5e-6, rel=1e-9)
    assert line.bandwidth == pytest.approx(3e12, rel=1e-9)
    assert line.r2 == pytest.approx(1)
    assert line.seconds(3e12) == pytest.approx(1 + 4.5e-6)


def test_the_line_stands_some_noise():
    dice = random.Random(1)
    volumes = [2**i for i in range(10, 26)] * 4
    line = fit_line(volumes, [(4.5e-6 + v / 3e12) * (1 + 0.01 * dice.uniform(-1, 1)) for v in volumes])
    assert line.overhead == pytest.approx(4.5e-6, rel=0.02)
    assert line.bandwidth == pytest.approx(3e12, rel=0.02)
    assert line.r2 > 0.99


def test_no_line_through_too_little():
    with pytest.raises(ValueError, match="at least three different volumes"):
        fit_line([1, 1, 2], [1, 1, 2])
    with pytest.raises(ValueError, match="larger arrays are needed"):
        fit_line([1, 2, 3], [3.0, 2.0, 1.0])


def test_no_line_through_equal_times():
    dice = random.Random(0)
    for _ in range(400):
        volumes = [dice.uniform(1e3, 1e8) for _ in range(dice.randint(3, 9))]
        with pytest.raises(ValueError, match="larger arrays are needed"):
            fit_line(volumes, [dice.choice((1e-6, 3.7e-5, 0.1))] * len(volumes))
    # Growth of a millionth is growth: 1 us and 1 ps over 3 bytes.
    assert fit_line([1, 2, 3], [1e-6, 1e-6 + 5e-13, 1e-6 + 1e-12]).bandwidth == pytest.approx(2e12, rel=1e-6)
