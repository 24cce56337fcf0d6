"""Chapter 4: measuring bandwidth, launch overhead and peaks."""

from __future__ import annotations

from ..bench import bench
from ..catalogue import device
from . import Question

SAMPLES, SPREAD = 20, 30


def questions() -> tuple[Question, ...]:
    rtx4080, h100 = device("rtx4080"), device("h100")
    cached = max(rtx4080.working_set_sweep("copy"), key=lambda x: x.bytes_per_s)
    line = bench("h100", "bundled").launch_overhead()
    once, many = (h100.fma_sweep("fp32").at(fma_per_element=r) for r in (1, 64))
    return (
        Question(
            ask="A loop launches a kernel many times, and a clock around it shows a hundredth of the lower bound. "
            "What was timed?",
            right="The sending of the kernels",
            praise="A launch returns at once, and the GPU was still at work. Whoever times it has to wait for it.",
            wrong={
                "The kernel, with its data in the cache": "A cache gains a factor of a few, not of a hundred, and no "
                "cache makes W/F shorter.",
                "The kernel at a higher clock": "Clocks vary by some percent.",
            },
        ),
        Question(
            ask=f"A copy of {cached.work.bytes / 1e6:.0f} MB on an RTX 4080 moves {cached.bytes_per_s / 1e9:,.0f} "
            f"GB/s. Its B is {rtx4080.bandwidth / 1e9:.0f} GB/s. What follows?",
            right="The arrays were in the L2 cache",
            praise="So this is not the rate of the memory: for that, take arrays several times as large as the cache.",
            wrong={
                "B of this card was measured too low": "By a few percent, perhaps. Not by a factor of "
                f"{cached.bytes_per_s / rtx4080.bandwidth:.1f}.",
                "The clock was read before the copies ended": "Then the larger arrays would look too fast as well. "
                "They do not.",
            },
        ),
        Question(
            ask=f"On an H100 a copy takes about T = a + V/b with a = {line.overhead * 1e6:.1f} µs. You double V and "
            "see the bandwidth V/T rise. Which sizes are these?",
            right="Sizes for which the launch still counts",
            praise="V/T grows as long as a matters; for large V it no longer changes.",
            wrong={
                "Sizes that no longer fit in the cache": "Leaving a cache makes the bandwidth fall, not rise.",
                "Sizes so large that only V/b is left of T": "Then doubling V doubles T, and V/T stays.",
            },
        ),
        Question(
            ask=f"In the FMA sweep of an H100 one multiply-add a number takes {once.seconds * 1e6:.0f} µs and "
            f"sixty-four take {many.seconds * 1e6:.0f} µs. What does this part of the sweep measure?",
            right="The memory: the arithmetic is hidden",
            praise="It is hidden behind the traffic. Peak throughput shows only where the time grows with the work.",
            wrong={
                "The peak throughput of the vector units": "Were they the limit, sixty-four times the work would take "
                "longer.",
                "The launch: the kernel itself takes no time": f"A launch takes about {line.overhead * 1e6:.0f} µs, a "
                "small part of this.",
            },
        ),
        Question(
            ask=f"{SAMPLES} samples of one kernel scatter by {SPREAD} %. What should the record say?",
            right="The median, and that it is not stable",
            praise="With the spread beside it the reader can judge, and somebody can look for the cause.",
            wrong={
                "The fastest sample, as the least disturbed one": "It may be the one that was cut short. Alone it "
                "hides that something is wrong.",
                "The mean of ten times as many samples": "More samples do not settle it if the clock or a neighbour "
                "keeps changing the machine.",
            },
        ),
    )
