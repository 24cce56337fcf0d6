"""Chapter 5: points under the roof, and their distances."""

from __future__ import annotations

from ..catalogue import device
from . import Question

SHARE = 30


def questions() -> tuple[Question, ...]:
    h100, b300, rtx4080 = (device(key) for key in ("h100", "b300", "rtx4080"))
    one, many = (h100.m_sweep("fp16").at(m=m).seconds for m in (1, 128))
    two, eight = (1e6 * b300.m_sweep("fp16").at(m=m).seconds for m in (2, 8))
    row = rtx4080.m_sweep("fp16").at(m=1)
    of_roof = 100 * rtx4080.roofline("fp16").time(row.work) / row.seconds
    return (
        Question(
            ask=f"A kernel left of the ridge point reaches {SHARE} % of its roof. What bandwidth does it achieve?",
            right=f"{SHARE} % of B",
            praise="Under the slope the roof is B · I, so the percent of the roof is the percent of B.",
            wrong={
                "Nearly B: it is memory-bound": "Memory-bound names the part of the roof above the point. How near "
                "the point is, is another question.",
                "That depends on I": "I is in the throughput and in the roof, and falls out of their ratio.",
            },
        ),
        Question(
            ask=f"On an H100, going from 1 row to 128 makes the FP16 layer slower by {100 * (many / one - 1):.0f} %. "
            "Why by so little?",
            right="One reading of the weights serves all rows",
            praise="The time is that of the reading, until the arithmetic of the rows takes as long.",
            wrong={
                "The card has at least 128 units, one for each row": "It does the work of all rows on the same units. "
                "They were idle.",
                "The launch hides what the rows cost": "A launch is a few microseconds, a small part of this time.",
            },
        ),
        Question(
            ask=f"On a B300 two rows take {two:.0f} µs and eight rows {eight:.0f} µs. Which reason has this mark?",
            right="The library chose another kernel",
            praise="More work in less time: neither the memory nor the units can explain that.",
            wrong={
                "Padding to blocks of eight": "Padding makes two rows as slow as eight. Here they are slower.",
                "The launch, which costs small products most": "It costs both the same.",
            },
        ),
        Question(
            ask="One batched call instead of many single ones: small products become many times as fast, large ones "
            "hardly. Why?",
            right="The call costs both the same",
            praise="Beside a long product it is nothing. Batching cures one of the four reasons, where that is large.",
            wrong={
                "Large products do not fit in the cache together": "They need not. Each of them takes as long as "
                "before.",
                "Large products are memory-bound": "The larger a square product is, the further right it stands.",
            },
        ),
        Question(
            ask=f"One row in FP16 on an RTX 4080 reaches {of_roof:.1f} % of its roof. What do you conclude?",
            right="It is at its roof",
            praise="B is known to a few percent: it is the best of some kernels, and another may be a little better.",
            wrong={
                "It is faster than the hardware allows": "Nothing is. The number to doubt is the B that it was "
                "divided by.",
                "Its weights came from a cache": "Then it would stand far above the roof, and not by a fraction of a "
                "percent.",
            },
        ),
    )
