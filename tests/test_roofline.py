"""The model: values worked by hand, and its properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from roofcourse import Roofline, Work

# A machine that is easy to reckon with: 100 FLOP/s, 10 bytes/s, so the ridge point is 10 FLOP/byte.
EASY = Roofline(100.0, 10.0)

positive = st.floats(1e-3, 1e18, allow_nan=False, allow_infinity=False)
rooflines = st.builds(Roofline, positive, positive)
works = st.builds(Work, positive, positive)


def test_values_by_hand():
    assert EASY.ridge_point == 10
    assert EASY.attainable(0) == 0
    assert EASY.attainable(2) == 20  # 10 bytes/s x 2 FLOP/byte
    assert EASY.attainable(10) == 100
    assert EASY.attainable(1000) == 100
    assert EASY.time(Work(50, 100)) == 10  # 100 bytes at 10 bytes/s; the 50 FLOP take 0.5 s
    assert EASY.time(Work(5000, 100)) == 50  # 5000 FLOP at 100 FLOP/s; the bytes take 10 s
    assert EASY.memory_time(Work(5000, 100)) == 10
    assert EASY.compute_time(Work(50, 100)) == 0.5
    for time in (EASY.time, EASY.memory_time, EASY.compute_time):
        with pytest.raises(ValueError, match="a time follows from a Work, such as .*, not from 'x'"):
            time("x")


def test_bound_changes_at_the_ridge_point():
    assert EASY.bound(9.99) == "memory"
    assert EASY.bound(10) == "compute"
    assert EASY.bound(Work(1, 1)) == "memory"
    assert EASY.bound(Work(100, 1)) == "compute"
    assert EASY.bound(np.array([1, 10, 11])).tolist() == ["memory", "compute", "compute"]


def test_arrays_keep_their_shape():
    i = np.array([[1.0, 10.0], [20.0, 0.5]])
    assert EASY.attainable(i).tolist() == [[10, 100], [100, 5]]
    assert EASY.time(Work(np.array([50, 5000]), np.array([100, 100]))).tolist() == [10, 50]
    assert isinstance(EASY.attainable(1), float)


def test_a100_datasheet_figures_of_the_second_document():
    # 19.5 TFLOP/s and 2.0 TB/s: ridge point 9.75; TF32 156 -> 78; FP16 312 -> 156.
    assert Roofline(19.5e12, 2.0e12).ridge_point == pytest.approx(9.75)
    assert Roofline(156e12, 2.0e12).ridge_point == pytest.approx(78)
    assert Roofline(312e12, 2.0e12).ridge_point == pytest.approx(156)
    # At I = 0.1 it reaches 0.2 TFLOP/s, which is 1.03 % of the peak, not "below one percent".
    assert Roofline(19.5e12, 2.0e12).attainable(0.1) / 19.5e12 == pytest.approx(0.010256, rel=1e-4)


def test_crossing():
    # 90 FLOP/s at 20 bytes/s is above EASY until 100 FLOP/s at 10 bytes/s overtakes it: 10 I = 90.
    other = Roofline(90.0, 20.0)
    assert EASY.crossing(other) == 9
    assert other.crossing(EASY) == 9
    assert EASY.attainable(9) == other.attainable(9) == 90
    assert EASY.crossing(Roofline(200.0, 20.0)) is None  # higher everywhere
    assert EASY.crossing(Roofline(200.0, 10.0)) is None  # same slope: they part at the ridge, but never cross
    assert EASY.crossing(EASY) is None
    with pytest.raises(ValueError, match="another Roofline"):
        EASY.crossing(3)


@pytest.mark.parametrize("wrong", [0, -1, math.nan, math.inf, "3", None, True])
def test_a_roofline_needs_two_positive_numbers(wrong):
    with pytest.raises(ValueError, match="peak must be"):
        Roofline(wrong, 1)
    with pytest.raises(ValueError, match="bandwidth must be"):
        Roofline(1, wrong)


def test_wrong_input_gives_one_clear_line():
    with pytest.raises(ValueError, match=r"^bandwidth must be finite and positive \(bytes/s\), not 0$"):
        Roofline(1, 0)
    with pytest.raises(
        ValueError, match=r"^arithmetic intensity must be finite and zero or more \(FLOP/byte\), not -1$"
    ):
        EASY.attainable(-1)
    with pytest.raises(ValueError, match=r"^arithmetic intensity .*not nan$"):
        EASY.attainable([1.0, math.nan])
    with pytest.raises(ValueError, match=r"^bytes must be finite and positive"):
        Work(1, 0)  # a kernel that only writes still moves what it writes
    with pytest.raises(ValueError, match=r"^flop must be"):
        Work(-1, 1)
    with pytest.raises(ValueError, match="one number"):
        Roofline(np.array([1.0, 2.0]), 1)


@given(rooflines, positive, positive)
def test_attainable_is_monotone(roof, a, b):
    low, high = sorted((a, b))
    assert roof.attainable(low) <= roof.attainable(high)


@given(rooflines, positive)
def test_attainable_is_never_above_either_roof(roof, i):
    assert roof.attainable(i) <= roof.peak
    assert roof.attainable(i) <= roof.bandwidth * i


@given(rooflines)
def test_the_roofs_meet_at_the_ridge_point(roof):
    assert roof.attainable(roof.ridge_point) == pytest.approx(roof.peak, rel=1e-12)
    assert roof.attainable(roof.ridge_point * (1 - 1e-9)) == pytest.approx(roof.peak, rel=1e-8)
    assert roof.attainable(roof.ridge_point * (1 + 1e-9)) == pytest.approx(roof.peak, rel=1e-8)


@given(rooflines, works)
def test_time_is_flop_over_attainable(roof, work):
    assert roof.time(work) == pytest.approx(work.flop / roof.attainable(work.intensity), rel=1e-12)


@given(rooflines, works)
def test_the_bound_is_the_longer_time(roof, work):
    longer = "memory" if roof.memory_time(work) > roof.compute_time(work) else "compute"
    assert roof.bound(work) == longer
    assert roof.time(work) == max(roof.memory_time(work), roof.compute_time(work))


@given(rooflines, rooflines)
def test_a_crossing_is_where_both_are_equal_and_the_order_changes(a, b):
    i = a.crossing(b)
    if i is None:
        higher = a.attainable(np.geomspace(1e-22, 1e22, 200)) - b.attainable(np.geomspace(1e-22, 1e22, 200))
        assert (higher >= 0).all() or (higher <= 0).all()
        return
    assert a.attainable(i) == pytest.approx(b.attainable(i), rel=1e-12)
    low, high = (a, b) if a.bandwidth > b.bandwidth else (b, a)
    assert low.attainable(i / 2) > high.attainable(i / 2)
    assert high.peak > low.peak


def test_a_roofline_prints_in_the_units_of_the_field():
    text = str(Roofline(787.6e12, 3.085e12, label="H100 FP16"))
    assert text == "H100 FP16: peak 787.6 TFLOP/s, bandwidth 3,085 GB/s, ridge point 255.3 FLOP/byte"
