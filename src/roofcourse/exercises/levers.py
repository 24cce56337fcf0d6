"""Chapter 8: which lever a point asks for, and what it can gain."""

from __future__ import annotations

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..work import Work, conv2d, gemm

LANGUAGES = ("move less", "compute better", "lose less")


def _h100():
    return device("h100").roofline("fp16")


def _convolution() -> Work:
    return conv2d(32, 64, 64, 56, 56, precision="fp16")


def gain(flop: float, size: float, new_flop: float, new_size: float, peak: float, bandwidth: float) -> float:
    return max(flop / peak, size / bandwidth) / max(new_flop / peak, new_size / bandwidth)


def _winograd() -> float:
    whole = _convolution()
    return _h100().time(whole) / _h100().time(Work(whole.flop / 2.25, whole.bytes))


def _fp8(rows: int, card: str = "h100") -> float:
    d = device(card)
    before, after = (gemm(rows, 8192, 8192, p) for p in ("fp16", "fp8"))
    return d.roofline("fp16").time(before) / d.roofline("fp8").time(after)


EXERCISES = (
    Number(
        key="8.1",
        answer=lambda: 3.0,
        unit="times",
        nudge="Under the slope the time is the traffic. What does each step read and write?",
        hint="Count the arrays that three passes read and write, then those of one pass.",
        praise="Six arrays become two. The FLOP stay, and they did not matter.",
        mistakes=(
            Mistake(lambda: 1.0, "The FLOP stay the same, but under the slope the bytes set the time."),
            Mistake(lambda: 6.0, "One pass still reads x and writes y: two arrays, not one."),
            Mistake(lambda: 2.0, "Each of the three steps reads an array and writes one: six in all, against two."),
        ),
    ),
    Choice(
        key="8.2",
        answer=lambda: "move less",
        options=LANGUAGES,
        nudge="Left or right of the ridge point, and near the roof or far below it?",
        hint="Compare I = 10 with the ridge point of the H100 in FP16, and look at its distance from the roof.",
        praise="Left of the ridge point and at the roof: only fewer bytes for the same work help.",
        wrong={
            "compute better": "They lift the flat part. At I = 10 the kernel stands under the slope.",
            "lose less": "It reaches 95 % of its roof: a twentieth is all that is lost.",
        },
    ),
    Function(
        key="8.3",
        reference=gain,
        cases=(
            (100.0, 50.0, 100.0, 10.0, 50.0, 10.0),
            (100.0, 50.0, 50.0, 50.0, 50.0, 10.0),
            (400.0, 20.0, 100.0, 20.0, 50.0, 10.0),
            (1e12, 1e10, 1e12, 2e9, 1e14, 1e12),
        ),
        nudge="A gain is a time before over a time after, and each is a lower bound.",
        hint="Divide the lower bound before, max(W/F, Q/B), by the lower bound after.",
        praise="Two lower bounds, one over the other. That is every prediction of the first two languages, but for "
        "the wide units.",
        mistakes=(
            (
                lambda w, q, v, p, f, b: q / p,
                "That is the ratio of the bytes: right under the slope, until the point reaches the flat part.",
            ),
            (
                lambda w, q, v, p, f, b: 1 / gain(w, q, v, p, f, b),
                "The other way round: a gain of 2 means that it takes half the time.",
            ),
            (
                lambda w, q, v, p, f, b: (w / f + q / b) / (v / f + p / b),
                "You added the two times. They overlap: the longer one is the bound.",
            ),
        ),
    ),
    Number(
        key="8.4",
        answer=lambda: _fp8(4096),
        unit="times",
        nudge="4096 rows: which part of the roof does the product stand under, in either format?",
        hint="Both products are compute-bound: divide the bounds, h100.roofline('fp16').time and ('fp8').time.",
        praise="The measured roofs are that far apart, and not a factor of two.",
        mistakes=(
            Mistake(lambda: 2.0, "That is the ratio of the bytes of a number. Past the ridge point the roofs decide."),
            Mistake(lambda: 1 / _fp8(4096), "The other way round: FP8 is the faster one."),
        ),
    ),
    Number(
        key="8.5",
        answer=lambda: 4.0,
        unit="times",
        nudge="Memory moves whole sectors of 32 bytes, whatever you wanted of them.",
        hint="How many of the numbers that lie 16 bytes apart are in one sector of 32 bytes, and how many fit in it?",
        praise="A sector holds eight FP32 numbers, and two of them are used.",
        mistakes=(
            Mistake(lambda: 8.0, "That is the worst case: one number of each sector. Here two of each are used."),
            Mistake(lambda: 16.0, "A line of 64 bytes is the CPU's unit. The memory of NVIDIA's cards moves 32."),
            Mistake(
                lambda: 32.0, "128 bytes over 4 would be a whole line of the cache, but memory moves sectors of 32."
            ),
        ),
    ),
    Choice(
        key="8.6",
        answer=lambda: "lose less",
        options=LANGUAGES,
        nudge="Right, onto another roof, or straight up: which way did the point go?",
        hint="In which of the three does I stay what it is, and the roof too?",
        praise="Straight up: the same FLOP, the same bytes, the same roof, and less waiting.",
        wrong={
            "move less": "With fewer bytes for the same work, I would have grown: the point moves to the right.",
            "compute better": "Other units or a shorter format would have put it under another roof.",
        },
    ),
    Number(
        key="8.7",
        answer=_winograd,
        unit="times",
        nudge="Fewer FLOP shorten only one of the two times. Which one is the longer afterwards?",
        hint="Compute the bound before and after, h100.roofline('fp16').time(...). After, which one is longer?",
        praise="The work fell by 2.25, and the point slid under the slope: the bytes stop it there.",
        mistakes=(
            Mistake(
                lambda: 2.25, "That is what the arithmetic gains. After it, is the convolution still compute-bound?"
            ),
            Mistake(lambda: 1.0, "Before, it is compute-bound, if only just: fewer FLOP do help a little."),
        ),
    ),
)
