"""Chapter 5: points under the roof, and their distances."""

from __future__ import annotations

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..work import gemm

REASONS = ("launch", "choice", "padding", "gaps")


def _b300_512():
    return device("b300").m_sweep("fp16").at(m=512)


def _rows_gained() -> float:
    sweep = device("h100").m_sweep("fp16")
    return 128 * sweep.at(m=1).seconds / sweep.at(m=128).seconds


def _square() -> float:
    """Seconds of one square product of 512 on the H200, in FP16."""
    return device("h200").matmul_sweep("fp16").at(m=512).seconds


def percent(flop: float, size: float, seconds: float, peak: float, bandwidth: float) -> float:
    return 100 * max(flop / peak, size / bandwidth) / seconds


EXERCISES = (
    Number(
        key="5.1",
        answer=lambda: 100 * device("b300").roofline("fp16").time(_b300_512().work) / _b300_512().seconds,
        unit="percent",
        nudge="Is a product of 512 rows left or right of the ridge point? That says which time is the bound.",
        hint="Divide the shortest possible time, b300.roofline('fp16').time(x.work), by x.seconds.",
        praise="With a product of this shape, better code could win a sixth of the throughput and no more.",
        mistakes=(
            Mistake(
                lambda: 100 * _b300_512().bytes_per_s / device("b300").bandwidth,
                "That is the achieved bandwidth in percent of B. 512 rows are past the ridge point: compare with F.",
            ),
            Mistake(
                lambda: 100 * _b300_512().seconds / device("b300").roofline("fp16").time(_b300_512().work),
                "The other way round: a kernel cannot do much better than its bound.",
            ),
            Mistake(
                lambda: device("b300").roofline("fp16").time(_b300_512().work) / _b300_512().seconds,
                "That is the share, between 0 and 1. Asked are percent.",
            ),
        ),
    ),
    Choice(
        key="5.2",
        answer=lambda: "fewer bytes",
        options=("better code", "fewer bytes", "faster units"),
        nudge="How much is left above the point, and under which part of the roof does it stand?",
        hint="Find out under which part of the roof I = 20 lies, and how far the kernel is from it.",
        praise="It is at the slope: only a move to the right helps, and that takes fewer bytes for the same work.",
        wrong={
            "better code": "At 97 % of its roof it has 3 % left to win that way.",
            "faster units": "They lift the flat part. At I = 20 the kernel stands under the slope.",
        },
    ),
    Function(
        key="5.3",
        reference=percent,
        cases=((100.0, 10.0, 4.0, 50.0, 10.0), (100.0, 60.0, 12.0, 50.0, 10.0), (2e9, 3e6, 1e-4, 5e13, 1e12)),
        nudge="Compare the time that it took with the shortest that it could have taken.",
        hint="The shortest possible time is the longer of FLOP / F and bytes / B. Divide it by the measured time.",
        praise="The longer of the two times over the measured one: the same as the height of the point over the roof.",
        mistakes=(
            (lambda w, q, t, f, b: 100 * w / t / f, "That is the percent of F. On the slope the roof is lower than F."),
            (lambda w, q, t, f, b: 100 * q / t / b, "That is the percent of B. Past the ridge point F is the limit."),
            (
                lambda w, q, t, f, b: 100 * (w / f + q / b) / t,
                "You added the two times. They overlap: the longer one is the bound.",
            ),
            (lambda w, q, t, f, b: percent(w, q, t, f, b) / 100, "That is the share. Asked are percent."),
            (
                lambda w, q, t, f, b: 100 * min(w / f, q / b) / t,
                "You took the shorter of the two times. The kernel has to wait for both.",
            ),
        ),
    ),
    Number(
        key="5.4",
        answer=_rows_gained,
        unit="times",
        nudge="Asked is a rate: rows divided by time, for both, and then the one over the other.",
        hint="Rows a second are M divided by the time: 128 / many.seconds against 1 / one.seconds.",
        praise="Almost one for one: the weights are read once for all of these rows.",
        mistakes=(
            Mistake(lambda: 128.0, "That would be so if the time were exactly the same. It grew a little: measure it."),
            Mistake(
                lambda: _rows_gained() / 128,
                "That is the ratio of the times. In the longer time 128 rows are done, not one.",
            ),
            Mistake(
                lambda: 128 / _rows_gained(),
                "That is how many times as long 128 rows take. In that time 128 rows are done, not one.",
            ),
        ),
    ),
    Number(
        key="5.5",
        answer=lambda: _square() / device("h200").roofline("fp16").time(gemm(512, 512, 512, "fp16")),
        unit="times",
        nudge="At the roof, what would one of these products cost?",
        hint="Divide the measured time of one by its bound, roofline.time(rc.gemm(512, 512, 512, 'fp16')).",
        praise="That is what batching could win at most: the fixed cost, shared by so many that it is gone.",
        mistakes=(
            Mistake(
                lambda: _square() / device("h200").roofline("fp16").compute_time(gemm(512, 512, 512, "fp16")),
                "That is W/F. On this card the product is just left of the ridge point, so its bytes take longer.",
            ),
            Mistake(
                lambda: device("h200").roofline("fp16").time(gemm(512, 512, 512, "fp16")) / _square(),
                "That is the share of the roof that one call reaches. The gain is its inverse.",
            ),
            Mistake(
                lambda: 100 * device("h200").roofline("fp16").time(gemm(512, 512, 512, "fp16")) / _square(),
                "That is the percent of the roof that one call reaches. The gain is the inverse of that share.",
            ),
        ),
    ),
    Choice(
        key="5.6",
        answer=lambda: "padding",
        options=REASONS,
        nudge="Where is the time flat, and where does it step?",
        hint="What does the time do while the rows grow from 2 to 32? Look at the table of the four reasons.",
        praise="A time that hardly moves while the useful work grows sixteenfold and more, and then steps up.",
        wrong={
            "launch": "A launch costs a few microseconds. Here are two hundred.",
            "choice": "It has a part: two products of one row would take little more than half as long. But its mark, "
            "more work in less time, is not in these numbers.",
            "gaps": "These are single kernels, with the queue kept full. Gaps lie between kernels.",
        },
    ),
    Choice(
        key="5.7",
        answer=lambda: "gaps",
        options=REASONS,
        nudge="What does the profiler add up, and what does it leave out?",
        hint="The kernels are near their roofs, so look at what is not inside a kernel.",
        praise="The sum of the kernels is shorter than the program: the card was idle in between.",
        wrong={
            "launch": "In this chapter a launch lies inside the time of its kernel, and its mark is a small kernel far "
            "from its roof. Here each is near its roof, and the time is missing between them.",
            "choice": "A badly chosen kernel would be far from its roof. These are near.",
            "padding": "Padded kernels would be far from their roofs. These are near.",
        },
    ),
)
