"""Chapter 3: rooflines and ridge points."""

from __future__ import annotations

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..roofline import Roofline
from ..second_sources import peak_range
from ..work import gemm


def _attainable(key: str, precision: str, intensity: float) -> float:
    return device(key).roofline(precision).attainable(intensity)


def _fp16_gain(intensity: float) -> float:
    """How much higher the H100 may go in FP16 than in FP32, whose product is compute-bound."""
    return _attainable("h100", "fp16", intensity) / device("h100").roofline("fp32").peak


def _smallest_m(ridge: float) -> int:
    return next(m for m in range(1, 8193) if gemm(m, 8192, 8192, "bf16").intensity >= ridge)


def crossing(peak_1: float, bandwidth_1: float, peak_2: float, bandwidth_2: float) -> float:
    return Roofline(peak_1, bandwidth_1).crossing(Roofline(peak_2, bandwidth_2))


def _higher_at_500() -> str:
    """Only if the ranges of F do not overlap can one card be said to be higher."""
    (low_1, high_1), (low_2, high_2) = peak_range("h100", "bf16"), peak_range("h200", "bf16")
    return "h100" if low_1 > high_2 else "h200" if low_2 > high_1 else "cannot say"


EXERCISES = (
    Number(
        key="3.1",
        answer=lambda: device("a100").roofline("bf16").ridge_point,
        unit="FLOP/byte",
        nudge="The ridge point is where slope and flat part meet: F against B, both measured.",
        hint="Divide F by B: rc.device('a100').roofline('bf16') has both, in FLOP/s and bytes/s.",
        praise="A kernel in BF16 has to do that many FLOP for each byte before this card's arithmetic is the limit.",
        mistakes=(
            Mistake(
                lambda: 1 / device("a100").roofline("bf16").ridge_point,
                "That is B / F, bytes for each FLOP. The ridge point is the other way round.",
            ),
            Mistake(
                lambda: device("a100").nominal("bf16").ridge_point,
                "That is the ridge point of the datasheet. Asked is the measured one.",
            ),
            Mistake(
                lambda: device("a100").roofline("fp16").ridge_point,
                f"{device('a100').roofline('fp16').ridge_point:.0f} is the FP16 value. BF16 has an F of its own. If "
                "yours is BF16, rounded up, give one digit more.",
            ),
            Mistake(
                lambda: device("h100").roofline("bf16").ridge_point,
                "That is the H100.",
            ),
        ),
        # BF16 and FP16 lie 0.57 % apart; 174, the answer in three digits, is to be right.
        tolerance=0.0028,
    ),
    Number(
        key="3.2",
        answer=lambda: _smallest_m(device("b300").roofline("bf16").ridge_point),
        unit="rows",
        nudge="Where is the ridge point, and is I quite the same as M?",
        hint="Find the smallest M for which rc.gemm(M, 8192, 8192, 'bf16').intensity reaches the ridge point.",
        praise="A few more rows than the ridge point says, since I falls short of M when M is large.",
        mistakes=(
            Mistake(
                lambda: device("b300").roofline("bf16").ridge_point,
                "You took I = M. At this size X and Y count as well, and I is smaller than M.",
            ),
            Mistake(
                lambda: _smallest_m(device("h100").roofline("bf16").ridge_point),
                "That is the H100. The B300 has its own ridge point.",
            ),
            Mistake(
                lambda: _smallest_m(device("b300").roofline("bf16").ridge_point) - 1,
                "One short: with that many rows I is still just under the ridge point. Only whole rows count.",
            ),
        ),
        tolerance=0.003,  # less than one row
    ),
    Function(
        key="3.3",
        reference=crossing,
        cases=((700.0, 4.0, 800.0, 3.0), (800.0, 3.0, 700.0, 4.0), (1e14, 2e12, 9e14, 1e12), (50.0, 1.0, 10.0, 2.0)),
        nudge="Draw two roofs that cross. Which part of the one meets which part of the other?",
        hint="The card with the higher bandwidth has the lower peak. Its flat part meets the other card's slope.",
        praise="Flat roof of the one, slope of the other: F of the first divided by B of the second.",
        mistakes=(
            (
                lambda f, b, g, c: f / c,
                "Right when the first card has the higher bandwidth. The two may come in either order.",
            ),
            (
                lambda f, b, g, c: max(f, g) / max(b, c),
                "That is where the higher peak would meet the higher slope. No card has both.",
            ),
            (
                lambda f, b, g, c: min(f / b, g / c),
                "That is the ridge point of one card. Beyond it, the other one has still to catch up.",
            ),
            (
                lambda f, b, g, c: max(f / b, g / c),
                "That is the ridge point of one card. The roofs have met before.",
            ),
        ),
    ),
    Number(
        key="3.4",
        answer=lambda: _fp16_gain(100),
        unit="times",
        nudge="Two things change with the format: the roof, and the place of the point.",
        hint="In FP32, I = 50 lies under the flat part. In FP16 half the bytes move, so I = 100. Divide the two roofs.",
        praise="The kernel left the flat part for the slope. Most of the higher roof is out of its reach.",
        mistakes=(
            Mistake(
                lambda: _fp16_gain(50),
                "You kept I = 50. Numbers of half the size halve the bytes, so I doubles: follow the point as well.",
            ),
            Mistake(
                lambda: _fp16_gain(1e6),
                "That is the ratio of the two flat parts. At I = 100 the FP16 product does not reach its flat part.",
            ),
            Mistake(
                lambda: _attainable("h100", "fp16", 100) / device("h100").roofline("fp32", path="vector").peak,
                "You compared with the FMA on the vector units. Asked is the FP32 matrix product.",
            ),
        ),
    ),
    Choice(
        key="3.5",
        answer=_higher_at_500,
        options=("h100", "h200", "cannot say"),
        nudge="At this intensity only the flat parts count. How well is each of them known?",
        hint="Both are compute-bound there. Look at every F that was measured: rc.peak_sources('h100', 'bf16').",
        praise="The range of one card lies inside that of the other: another set of runs turns the order round.",
        wrong={
            "h100": "Two sets of short runs say so. The study puts the H100 below the H200.",
            "h200": "The study's two numbers say so. Other measurements of the same card put the H100 above.",
        },
    ),
    Choice(
        key="3.6",
        answer=lambda: "memory",
        options=("memory", "compute"),
        nudge="Each format has a roof of its own, and a ridge point of its own.",
        hint="Compare the FP8 ridge point of the H100 with I = 350.",
        praise="The FP8 roof is the highest of this card, and so it asks for the most FLOP for each byte.",
        wrong={"compute": "350 lies right of the FP16 ridge point. That of FP8 lies further to the right."},
    ),
)
