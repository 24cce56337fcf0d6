"""Chapter 7: what the model assumes, and how it shows where that does not hold."""

from __future__ import annotations

from ..catalogue import device
from . import Question

CALL, KERNEL = 5, 2
MEMORY, ARITHMETIC = 90, 35
BLOCK, ROWS = 32, 2


def questions() -> tuple[Question, ...]:
    rtx4080 = device("rtx4080")
    x = rtx4080.m_sweep("fp8").at(m=16)
    share = 100 * x.seconds / rtx4080.roofline("fp8").time(x.work)
    ridge = rtx4080.roofline("fp16").ridge_point
    return (
        Question(
            ask=f"16 rows in FP8 on an RTX 4080 take {share:.0f} % of their lower bound. What was wrong?",
            right="The bytes: a part came from a cache",
            praise="Q was counted for a kernel that starts with nothing on the chip.",
            wrong={
                "The FLOP: the kernel skipped some": "Left of the ridge point the FLOP do not set the bound.",
                "The clock: nothing can beat a lower bound": "Nothing can beat a bound whose assumptions hold. One of "
                "them did not.",
            },
        ),
        Question(
            ask=f"A kernel works in blocks of {BLOCK} rows and gets {ROWS}. In FP16 its padded intensity is about "
            f"{BLOCK} FLOP/byte, and the ridge point of the card {ridge:.0f}. What does the padding cost?",
            right="No time: the kernel still waits for its bytes",
            praise="Wasted arithmetic is free as long as it fits under the traffic.",
            wrong={
                f"A factor of {BLOCK // ROWS}": "That is how much the work grows. The time is set by the bytes, which "
                "do not.",
                "A factor of two: zeros have to be read as well": "The rows that fill the block are made on the chip.",
            },
        ),
        Question(
            ask=f"A program makes hundreds of calls of {CALL} µs each, every one for a kernel of {KERNEL} µs. You buy "
            "a GPU that is twice as fast. What becomes of the program?",
            right="It takes as long as before",
            praise="The calls are the longer side, and they are made by the CPU.",
            wrong={
                "It takes half as long": "Half of each kernel's time is gone, but the kernels were waiting for calls.",
                f"It saves {KERNEL // 2} µs with each call": "It would if calls and kernels took turns. They overlap.",
            },
        ),
        Question(
            ask=f"A profiler says: memory {MEMORY} %, arithmetic {ARITHMETIC} %. You find a way to do half the FLOP, "
            "with the same bytes. What do you gain?",
            right="Hardly anything",
            praise="The higher of the two is the limit that is near, and it is the memory.",
            wrong={
                "About a factor of two": "The arithmetic had time to spare already.",
                f"The {100 - ARITHMETIC} % that the arithmetic is idle": "It is idle because it waits. It will wait "
                "longer.",
            },
        ),
        Question(
            ask="A new card has twice the bandwidth and the same latency. A kernel with few threads keeps the same "
            "number of bytes in flight as before. What bandwidth does it see?",
            right="The same as on the old card",
            praise="Bytes in flight over latency: to use the new bandwidth, twice as many have to be under way.",
            wrong={
                "Twice that of the old card": "The memory could. Nobody asks it for that much.",
                "Half of the old one: each load has to wait longer": "The latency is the same, and so is what is in "
                "flight.",
            },
        ),
    )
