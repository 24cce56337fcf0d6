"""The fastest of the samples, and the spread of all of them."""

import pytest

from roofcourse.measure.fastest import fastest, scatter


def test_steady_samples():
    # quartiles 1.01, 1.02 and 1.03
    found = fastest([1.0, 1.01, 1.02, 1.03, 1.04], "on one core")
    assert found["seconds"] == 1.0
    assert found["spread"] == pytest.approx(0.02 / 1.02)
    assert (found["stable"], found["note"]) == (True, "best of 5, on one core")


def test_scattered_samples_say_so():
    found = fastest([1.0, 1.0, 2.0, 3.0, 9.0])  # quartiles 1, 2 and 3
    assert (found["seconds"], found["spread"], found["stable"]) == (1.0, 1.0, False)
    assert found["note"] == "best of 5; unstable: spread 100.0 %"


def test_scatter_alone_says_nothing_of_steady_samples():
    assert scatter([1.0, 1.01, 1.02, 1.03, 1.04])["note"] is None
    assert scatter([1.0, 1.0, 2.0, 3.0, 9.0]) == {"spread": 1.0, "stable": False, "note": "unstable: spread 100.0 %"}
