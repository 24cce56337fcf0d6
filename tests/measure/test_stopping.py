"""The stop rule: when, and with which words."""

import pytest

from roofcourse.measure.stopping import FULL, QUICK, StopRule

RULE = StopRule(minimum_samples=10, minimum_seconds=0.5, stable_spread=0.005, patience_seconds=3, cap_seconds=15)
FEW, TEN, WIDE = [1.0] * 9, [1.0] * 10, [1.0, 2.0] * 5


@pytest.mark.parametrize(
    ("samples", "timed", "elapsed", "why"),
    [
        (FEW, 1, 1, None),
        (TEN, 0.4, 1, None),
        (TEN, 0.5, 1, "stable"),
        (WIDE, 1, 1, None),
        (WIDE, 1, 3, "time limit of 3 s: spread 66.7 %, not below 0.5 %"),
        (FEW, 1, 3, None),  # patience ends a measurement only once it has its samples
        (FEW, 0.4, 15, "time limit of 15 s: only 9 of 10 samples, only 0.4 of 0.5 s timed"),
        ([1.0], 1, 15, "time limit of 15 s: only 1 of 10 samples"),
    ],
)
def test_verdict(samples, timed, elapsed, why):
    assert RULE.verdict(samples, [], timed, elapsed) == why


def test_a_known_noise_is_enough():
    assert RULE.verdict(WIDE, [0.3] * 40, 1, 1) == "noise is known: spread 66.7 %"


def test_no_rule_is_satisfied_by_fewer_than_ten_samples():
    assert QUICK.minimum_samples == FULL.minimum_samples == 10
    assert FULL.cap_seconds == 15
