"""How numbers are written; the browser's rules are compared in test_parity.py."""

from __future__ import annotations

import pytest

from roofcourse import words as fmt


@pytest.mark.parametrize(
    ("value", "count", "text"),
    [
        (0, 3, "0"),
        (49.123, 3, "49.1"),
        (49.123, 2, "49"),
        (1784.1, 3, "1\u202f784"),  # a whole part keeps its digits
        (1234567.0, 2, "1\u202f234\u202f567"),
        (0.04567, 2, "0.046"),
        (9.996, 3, "10.0"),  # rounding up to the next decade does not add a digit
        (99.96, 3, "100"),
        (999.6, 3, "1\u202f000"),
        (12.25, 3, "12.3"),  # an exact half goes up, as in JavaScript
        (2.5, 1, "3"),
        (1.0, 3, "1.00"),
    ],
)
def test_significant_digits(value, count, text):
    assert fmt.significant(value, count) == text


def test_units_scale_with_the_value():
    assert fmt.time(4.9e-5) == "49\u00a0µs"
    assert fmt.time3(0.0018) == "1.80\u00a0ms"
    assert fmt.time(3e-11) == "0.030\u00a0ns"
    assert fmt.nbytes(134217728) == "134\u00a0MB"
    assert fmt.rate(3.084846e12) == "3.08\u00a0TB/s"
    assert fmt.rate(6.61e11) == "661\u00a0GB/s"
    assert fmt.flop(2.147e9) == "2.15\u00a0GFLOP"
    assert fmt.tflops(1.783635e15) == "1\u202f784\u00a0TFLOP/s"
    assert fmt.percent(183.2) == "183\u00a0%"
    assert fmt.percent(5.44) == "5.4\u00a0%"


def test_articles_follow_the_sound():
    assert [fmt.with_article(n) for n in ("H100", "V100", "A100", "MI210", "RTX 4080", "GH200", "B300")] == [
        "an H100",
        "a V100",
        "an A100",
        "an MI210",
        "an RTX 4080",
        "a GH200",
        "a B300",
    ]


def test_lists():
    assert fmt.listed(["FP64"]) == "FP64"
    assert fmt.listed(["FP64", "FP32", "FP16"]) == "FP64, FP32 and FP16"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e12, "1.00\u00a0·\u00a010¹²"),
        (1.125e9, "1.13\u00a0·\u00a010⁹"),  # a tie goes up, as in JavaScript
        (1e6, "1.00\u00a0·\u00a010⁶"),
        (999_999, "999\u202f999"),
        (1e-3, "0.00100"),
        (1e-6, "1.00\u00a0·\u00a010⁻⁶"),
    ],
)
def test_very_large_and_very_small_numbers_are_powers_of_ten(value, text):
    assert fmt.in_powers(value, 3) == text
