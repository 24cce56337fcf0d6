"""Chapter 7: what the model assumes, and how it shows where that does not hold."""

from __future__ import annotations

import math

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..timeline import launched
from ..work import gemm

#: FLOP of one row times the 8192 x 8192 matrix.
PER_ROW = 2 * 8192**2


def _fp8():
    return device("rtx4080").m_sweep("fp8").at(m=64)


def _from_memory() -> float:
    return device("rtx4080").bandwidth * _fp8().seconds / 1e6


def _fp64_seconds() -> float:
    return device("b300").m_sweep("fp64").at(m=2).seconds


def _rows_in_time() -> float:
    return _fp64_seconds() * device("b300").roofline("fp64").peak / PER_ROW


def _flat() -> int:
    """The most rows of the series that take a B300 as long as two."""
    return max(x.m for x in device("b300").m_sweep("fp64") if math.isclose(x.seconds, _fp64_seconds(), rel_tol=0.01))


def _padded() -> float:
    """The intensity of two FP32 rows in blocks of 32."""
    return 32 / 2 * gemm(2, 8192, 8192, "fp32").intensity


def padded_time(m: float, tile: float, flop: float, size: float, peak: float, bandwidth: float) -> float:
    """The bound of M rows in blocks of ``tile`` rows, in seconds; ``flop`` and ``size`` of the useful product."""
    return max(flop * math.ceil(m / tile) * tile / m / peak, size / bandwidth)


EXERCISES = (
    Number(
        key="7.1",
        answer=lambda: _fp8().work.bytes / 1e6 - _from_memory(),
        tolerance=0.015,  # the chapter's table shows whole megabytes
        unit="MB",
        nudge="How many bytes can the memory deliver in the measured time, at most?",
        hint="In x.seconds the memory delivers at most rtx4080.bandwidth * x.seconds. What is missing of x.work.bytes?",
        praise="About half. The time alone proves it; how many more it were only a counter can tell.",
        mistakes=(
            Mistake(_from_memory, "That is the most that memory can have delivered. Asked is the rest."),
            Mistake(lambda: _fp8().work.bytes / 1e6, "Those are all bytes of the product. A part of them did come."),
        ),
    ),
    Function(
        key="7.2",
        reference=padded_time,
        cases=(
            (2.0, 32.0, 100.0, 10.0, 50.0, 10.0),
            (33.0, 32.0, 660.0, 10.0, 50.0, 10.0),
            (32.0, 32.0, 640.0, 500.0, 50.0, 10.0),
            (32.0, 32.0, 640.0, 10.0, 50.0, 10.0),
            (2.0, 32.0, 100.0, 900.0, 50.0, 10.0),
        ),
        nudge="Which of W and Q grows when the kernel works in whole blocks?",
        hint="Round m up to whole blocks. The FLOP grow in that proportion, the bytes stay; the longer time wins.",
        praise="Executed FLOP over F against useful bytes over B: padding shows only where the first is the longer.",
        mistakes=(
            (
                lambda m, tile, w, q, f, b: max(w / f, q / b),
                "That is the bound without padding. The kernel executes whole blocks.",
            ),
            (
                lambda m, tile, w, q, f, b: max(w, q * f / b) * math.ceil(m / tile) * tile / m / f,
                "You padded the bytes as well. The rows that fill up a block are made on the chip.",
            ),
            (
                lambda m, tile, w, q, f, b: max(w * (m // tile + 1) * tile / m / f, q / b),
                "32 rows are one whole block of 32, not two: round up, do not add one.",
            ),
            (
                lambda m, tile, w, q, f, b: max(w * tile / m / f, q / b),
                "That is one block. From 33 rows on, blocks of 32 are two.",
            ),
            (
                lambda m, tile, w, q, f, b: w * math.ceil(m / tile) * tile / m / f + q / b,
                "You added the two times. They overlap: the longer one is the bound.",
            ),
        ),
    ),
    Number(
        key="7.3",
        answer=_rows_in_time,
        unit="rows",
        nudge="If the units were busy all the time at F, how many rows have they worked on?",
        hint="In the time T there is room for T F FLOP. One row takes 2 N K of them.",
        praise=f"Flat up to {_flat()} and room for {_rows_in_time():.0f}: blocks of {_flat()} rows fit, "
        f"and none of more than {_rows_in_time():.0f}.",
        tolerance=0.02,
        mistakes=(
            Mistake(lambda: float(_flat()), "That is what the flat stretch says. Asked is what the time at F says."),
            Mistake(
                lambda: 2 * _rows_in_time(),
                "A factor of two: a multiply-add counts as two FLOP, so a row takes 2 N K.",
            ),
            Mistake(
                lambda: _rows_in_time() / 2,
                "Divide by the FLOP of one row: x.work has those of two.",
            ),
        ),
    ),
    Choice(
        key="7.4",
        answer=lambda: "no",
        options=("yes", "no"),
        nudge="Padding multiplies the work and not the bytes. Where does that put the point?",
        hint="Compare the padded intensity, 16 times that of two rows, with h100.roofline('fp32').ridge_point.",
        praise=f"{_padded():.1f} is left of {device('h100').roofline('fp32').ridge_point:.1f}: on the slope the wasted "
        "rows are free. An H200 would pay.",
        wrong={"yes": "It would if the padded intensity were past the ridge point. Work both of them out."},
    ),
    Number(
        key="7.5",
        answer=lambda: launched(3e-6, 5e-6, 400).seconds * 1e3,
        unit="ms",
        nudge="Two sequences run at the same time: the CPU sends, the GPU computes. Which is the slower one?",
        hint="Which takes longer in all, the calls or the kernels? Nobody can start a kernel before it was sent.",
        praise="The calls set the time: kernels twice as fast would save a microsecond and a half.",
        mistakes=(
            Mistake(lambda: 1.2, "That is the sum of the kernels. A kernel cannot start before it has been sent."),
            Mistake(lambda: 3.2, "You added calls and kernels. They overlap, as the CPU does not wait."),
        ),
    ),
    Choice(
        key="7.6",
        answer=lambda: "neither",
        options=("memory", "arithmetic", "neither"),
        nudge="How near its limit must a number be before the kernel waits for it?",
        hint="The higher of the two is nearest to its limit. Is it near?",
        praise="Both are low, so the kernel waits for something that neither number counts.",
        wrong={
            "memory": "It is the higher one, but 38 % leaves most of the memory's time unused.",
            "arithmetic": "The lower one is not the bottleneck: 12 % means that the units have time to spare.",
        },
    ),
    Number(
        key="7.7",
        answer=lambda: device("h200").bandwidth * 600e-9 / 1e6,
        unit="MB",
        nudge="While a byte is on its way, how many others must be on theirs?",
        hint="Little's law: bytes in flight = B times latency. 600 ns are 600e-9 s.",
        praise="All of it at once, asked for by threads that have not got their numbers yet.",
        mistakes=(
            Mistake(
                lambda: device("h100").bandwidth * 600e-9 / 1e6,
                "That is an H100. The H200 has more bandwidth, and needs more in flight.",
            ),
            Mistake(
                lambda: device("h200").bandwidth * 600e-9 / 2**20,
                "That is in MiB, of 2^20 bytes. Asked are megabytes, of 10^6.",
            ),
        ),
    ),
    Choice(
        key="7.8",
        answer=lambda: "a timeline",
        options=("a timeline", "kernel counters", "a roofline"),
        nudge="Each of the three looks at one thing: when what ran, the inside of one kernel, or a bound.",
        hint="The GPU is idle for 40 % of the time. Which of the three looks at the time in which no kernel runs?",
        praise="It shows the gap after every step, and the CPU waiting for the number that it wants to print.",
        wrong={
            "kernel counters": "They look into kernels. The missing time is between them.",
            "a roofline": "It is a model of one kernel. The missing time is in none.",
        },
    ),
)
