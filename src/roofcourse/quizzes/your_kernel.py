"""Chapter 9: a kernel of one's own under its roof."""

from __future__ import annotations

from ..catalogue import device
from . import Question

PREDICTED, MEASURED = 4.0, 1.5
STEPS, SHARE = 8, 25


def questions() -> tuple[Question, ...]:
    h100, rtx4080 = device("h100"), device("rtx4080")
    ratio = h100.bandwidth / rtx4080.bandwidth
    return (
        Question(
            ask="Why take the roof from a run on the same machine, on the same day?",
            right="F and B move with clocks, neighbours and versions",
            praise="A percent of the roof has both below the line: it should speak of the kernel, not of the weather.",
            wrong={
                "The cards of the catalogue were measured with less care": "They were measured with care, on other "
                f"machines: an H100 has {ratio:.1f} times the B of an RTX 4080.",
                "A kernel's FLOP and bytes depend on the machine": "By the formula they do not: those two are the "
                "kernel's own.",
            },
        ),
        Question(
            ask="The product of two tiny matrices reaches a thousandth of its roof. What is the next step?",
            right="Measure a neighbour of another size",
            praise="If the time does not change, it is that of the call, and many products in one call are the cure.",
            wrong={
                "Rewrite the product: a thousandth is terrible": "If its time is spent before it starts, no code "
                "lifts it. Find that out first.",
                "Take a card with a higher roof": "If the time is that of the call, the roof has no say, "
                "however high it is.",
            },
        ),
        Question(
            ask='An explanation ends in "undetermined". What does that mean?',
            right="No reason accounts for the distance yet",
            praise="It says which fact would help: the honest state before the next experiment.",
            wrong={
                "The kernel is as fast as this machine allows": "Then it would be at its roof, and the verdict would "
                "say so.",
                "The measurement failed": "Point and roof are known. What is missing is evidence for a reason.",
            },
        ),
        Question(
            ask=f"A fused kernel was to be {PREDICTED:.0f} times as fast, by two lower bounds. Measured: "
            f"{MEASURED:.1f} times. What is the best reading?",
            right="Something else has become the limit",
            praise="Fusing was right, and a prediction that comes out short is the next finding.",
            wrong={
                "The roofline does not hold on this machine": "Both times are above their bounds, as it says.",
                "The clock is wrong: the bytes fell by that factor": "It may be right. Bytes set the time only at the "
                "bound.",
            },
        ),
        Question(
            ask=f"By the formula a function reads one array and writes one. It runs as {STEPS} steps and reaches "
            f"{SHARE} % of its roof. What would show that the arrays in between are the reason?",
            right="A count of the bytes that cross the memory bus",
            praise="If it is several times the formula's, the kernel is not slow at moving: it moves too much.",
            wrong={
                "A second run, with ten times as many samples": "It makes the same time better known, and says "
                "nothing on the bytes.",
                "A comparison with the nominal peak of the card": "That is another roof. The question is what is "
                "below this one.",
            },
        ),
    )
