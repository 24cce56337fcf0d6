"""Chapter 1: the two lower bounds."""

from __future__ import annotations

from ..catalogue import device, devices
from ..exercise import Choice, Function, Mistake, Number
from ..roofline import Roofline
from ..work import Work, axpy, gemm

AXPY = axpy(2**28, "fp32")
KERNEL = Work(flop=1.2e12, bytes=1e10)


def _h100_vector() -> Roofline:
    return device("h100").roofline("fp32", path="vector")


def _triad_share() -> float:
    triad = device("h100").working_set_sweep("triad")[-1]
    return 100 * _h100_vector().time(triad.work) / triad.seconds


def lower_bound(flop: float, nbytes: float, peak: float, bandwidth: float) -> float:
    return Roofline(peak, bandwidth).time(Work(flop, nbytes))


EXERCISES = (
    Number(
        key="1.1",
        answer=lambda: 1e6 * _h100_vector().time(AXPY),
        unit="microseconds",
        nudge="Which arrays move, in which direction, and how many bytes is one of their numbers?",
        hint="Two reads and one write of 4 bytes for each element give Q; then compare Q / B with W / F.",
        praise=f"Three arrays make {AXPY.bytes / 1e9:.1f} GB, and the bytes take over a hundred times as long as the "
        "FLOP.",
        mistakes=(
            Mistake(
                lambda: 1e6 * AXPY.bytes * 2 / 3 / device("h100").bandwidth,
                "You counted 8 bytes for each element. y is read and also written back: 12 bytes.",
            ),
            Mistake(
                lambda: 1e6 * AXPY.bytes / 3 / device("h100").bandwidth,
                "You counted one array. axpy reads x, reads y and writes y.",
            ),
            Mistake(
                lambda: 1e6 * AXPY.bytes / 2 / device("h100").bandwidth,
                "You counted 2 bytes a number. FP32 takes 4.",
            ),
            Mistake(
                lambda: 1e6 * _h100_vector().compute_time(AXPY),
                "That is W / F, the shorter of the two times. The bound is the longer one.",
            ),
            Mistake(
                lambda: 1e6 * (_h100_vector().compute_time(AXPY) + _h100_vector().memory_time(AXPY)),
                "That is W / F plus Q / B. The two run at the same time: the bound is the longer one alone.",
            ),
        ),
        # The sum of both times lies 0.8 % above the longer one: narrower than usual, to tell them apart.
        tolerance=0.0041,
    ),
    Choice(
        key="1.2",
        answer=lambda: device("rtx4080").roofline("fp16").bound(gemm(128, 8192, 8192, "fp16")),
        options=("memory", "compute"),
        nudge="Two times, W/F and Q/B. The roofline object knows both.",
        hint="Compare roof.compute_time(work) with roof.memory_time(work). The longer one is the bound.",
        praise="Its bytes take longer than its FLOP, though not by much: this kernel lies close to the ridge point.",
        wrong={
            "compute": "Compare the two times again: 128 rows do not yet give the card as much arithmetic as it can do "
            "while the weights stream past."
        },
    ),
    Function(
        key="1.3",
        reference=lower_bound,
        cases=((50.0, 100.0, 100.0, 10.0), (5000.0, 100.0, 100.0, 10.0), (2e12, 4e9, 8e14, 3e12), (1e3, 1e2, 1e2, 1e1)),
        nudge="The kernel ends when the slower of its two jobs is done.",
        hint="Return the longer of two times: flop / peak and nbytes / bandwidth.",
        praise="Both things must be done, and they run at the same time: the longer one is the bound.",
        mistakes=(
            (
                lambda w, q, f, b: w / f + q / b,
                "That is the sum. Arithmetic and traffic use different parts of the chip and overlap: take the longer.",
            ),
            (lambda w, q, f, b: min(w / f, q / b), "That is the shorter time. The kernel ends when both are done."),
            (lambda w, q, f, b: max(w / b, q / f), "Peak and bandwidth are swapped: FLOP divide by FLOP/s."),
            (lambda w, q, f, b: min(f, b * w / q), "That is the attainable throughput, in FLOP/s. Asked is a time."),
        ),
    ),
    Number(
        key="1.4",
        answer=_triad_share,
        unit="percent",
        nudge="Which of the two times is this kernel's bound, and is the measured time longer or shorter?",
        hint="Divide the lower bound (roof.time(triad.work)) by the measured time (triad.seconds).",
        praise="The kernel is close to its bound: nothing you do to its arithmetic can gain more than the rest.",
        mistakes=(
            Mistake(
                lambda: 1e4 / _triad_share(),
                "Over 100 %: you divided the measured time by the bound. The bound is the shorter one.",
            ),
            Mistake(
                lambda: (
                    100
                    * device("h100").working_set_sweep("triad")[-1].flop_per_s
                    / device("h100").roofline("fp32", path="vector").peak
                ),
                "That is the share of the peak throughput. Compare with this kernel's own bound, the traffic.",
            ),
        ),
        tolerance=0.005,
    ),
    Number(
        key="1.5",
        answer=lambda: sum(d.roofline("fp16").bound(KERNEL) == "memory" for d in devices()),
        unit="cards",
        nudge="The ratio W/Q is the kernel's and the same everywhere. What does each card compare it with?",
        hint="Loop over rc.devices() and count the cards whose roofline('fp16').bound(work) is 'memory'.",
        praise="The kernel never changed. Which bound holds depends on the card: on F / B against W / Q.",
        mistakes=(
            Mistake(
                lambda: sum(d.roofline("fp16").bound(KERNEL) == "compute" for d in devices()),
                "That is how many are compute-bound. Asked are the memory-bound ones.",
            ),
        ),
        tolerance=1e-9,
    ),
)
