"""Chapter 9: verdicts, evidence, and predicted gains."""

from __future__ import annotations

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..work import attention

VERDICTS = ("launch", "operators", "bytes", "undetermined")


def _attention():
    """The counters of one attention module, and its work by formula."""
    rows = device("h100").layer_counters("decode", batch=8, prompt_length=4096)
    row = next(x for x in rows if x.module == "attention")
    return row, attention(8, 28, 1, 4096, 128, "bf16", kv_heads=4)


def _attention_gain() -> float:
    row, work = _attention()
    return row.seconds / device("h100").roofline("bf16").time(work)


def _counted_gain() -> float:
    row, _ = _attention()
    return row.seconds * device("h100").bandwidth / row.dram_bytes


def _more_bytes() -> float:
    row, work = _attention()
    return row.dram_bytes / work.bytes


def one_after_the_other(w1: float, q1: float, w2: float, q2: float, peak: float, bandwidth: float) -> float:
    return max(w1 / peak, q1 / bandwidth) + max(w2 / peak, q2 / bandwidth)


EXERCISES = (
    Number(
        key="9.1",
        answer=lambda: 8 / 3,
        unit="times",
        nudge="Large arrays and little arithmetic: count how often an array crosses the memory bus.",
        hint="An operator reads its inputs and writes its result. Count the arrays of all three, then of one kernel.",
        praise="Eight arrays against three. It is the same sum as for the softmax, and place does it for you.",
        mistakes=(
            Mistake(lambda: 3.0, "That is the number of operators. They move 2, 3 and 3 arrays."),
            Mistake(lambda: 8.0, "The fused kernel moves arrays as well: two come in and one goes out."),
            Mistake(lambda: 4.0, "That fits a function of one array. This one reads x and g, and writes a result."),
            Mistake(lambda: 3 / 8, "The other way round: asked is how many times as fast the fused one is."),
            Mistake(lambda: 5 / 3, "A result that goes to memory is written by one operator and read by the next."),
        ),
    ),
    Function(
        key="9.2",
        reference=one_after_the_other,
        cases=(
            (100.0, 10.0, 10.0, 100.0, 50.0, 10.0),
            (10.0, 100.0, 20.0, 50.0, 50.0, 10.0),
            (10.0, 100.0, 100.0, 10.0, 50.0, 10.0),
            (2e9, 3e6, 5e6, 4e8, 5e13, 1e12),
        ),
        nudge="Two kernels, one after the other: what overlaps within each, and what between them?",
        hint="Each operator takes the longer of FLOP / F and bytes / B. The second waits for the first: add them.",
        praise="Overlap within an operator, none between two. That is the column 'at least', summed.",
        mistakes=(
            (
                lambda w1, q1, w2, q2, f, b: max((w1 + w2) / f, (q1 + q2) / b),
                "That lets the arithmetic of one overlap with the bytes of the other, as in one fused kernel at best.",
            ),
            (
                lambda w1, q1, w2, q2, f, b: w1 / f + q1 / b + w2 / f + q2 / b,
                "Within an operator the two times overlap: the longer one counts, not the sum.",
            ),
            (
                lambda w1, q1, w2, q2, f, b: max(w1 / f, q1 / b, w2 / f, q2 / b),
                "That is the longer of the two operators. The other one has to run as well.",
            ),
        ),
    ),
    Number(
        key="9.3",
        answer=lambda: 1 / (0.7 + 0.3 / 4),
        unit="times",
        nudge="What happens to the part of the step that you did not touch?",
        hint="Take a step of 1 s: 0.7 s stay, 0.3 s become 0.3 / 4. Divide the old time by the new one.",
        praise="Twenty-nine percent for a kernel four times as fast: look at the shares first, then at the distances.",
        mistakes=(
            Mistake(lambda: 4.0, "The softmax is four times as fast. Seventy percent of the step are not the softmax."),
            Mistake(lambda: 0.7 + 0.3 / 4, "That is the new time of a step of 1. Asked is how many times as fast."),
            Mistake(lambda: 1 / 0.7, "That would be the gain if the softmax took no time at all."),
            Mistake(lambda: 1 + 0.3 * 3, "Gains do not add up by shares; times do."),
        ),
    ),
    Choice(
        key="9.4",
        answer=lambda: "launch",
        options=VERDICTS,
        nudge="Twice the work, the same time. What costs the same for both?",
        hint="Compare with the tiny product of this chapter and its neighbour.",
        praise="A time that does not see the size is a fixed cost. The large array shows a sound kernel.",
        wrong={
            "operators": "Results between operators cost more for a larger array. This time did not change.",
            "bytes": "Extra bytes would grow with the array. This time did not.",
            "undetermined": "Two sizes with one time are evidence: which cost does not depend on the size?",
        },
    ),
    Choice(
        key="9.5",
        answer=lambda: "undetermined",
        options=VERDICTS,
        nudge="Go through the reasons one by one, and ask for each which number at hand speaks for it.",
        hint="One operator, large, no neighbour, no measured bytes: is there evidence for any reason?",
        praise="No evidence, no reason. Write which fact would settle it: a sweep over the size, or measured bytes.",
        wrong={
            "launch": "A large kernel takes long against its launch, and no neighbour shows a floor.",
            "operators": "It is one operator: nothing goes to memory in between.",
            "bytes": "Perhaps it moves too many, but nobody has measured them.",
        },
    ),
    Number(
        key="9.6",
        answer=_attention_gain,
        unit="times",
        nudge="The most that can be won: its time over the shortest time that the formula's bytes allow.",
        hint="Divide row.seconds by roof.time(work): the bytes of the formula and not the measured ones.",
        praise="A bound of a gain, from a time under the profiler: the true one is smaller. Still, worth an afternoon.",
        mistakes=(
            Mistake(
                _counted_gain, "That moves the measured bytes at full bandwidth. Asked is with those of the formula."
            ),
            Mistake(_more_bytes, "That is how many times too many bytes move. They are not moved at full bandwidth."),
            Mistake(lambda: 1 / _attention_gain(), "That is the share of the roof. The gain is its inverse."),
            Mistake(
                lambda: 100 / _attention_gain(),
                "That is the percent of the roof. The gain is the inverse of that share.",
            ),
        ),
    ),
    Number(
        key="9.7",
        answer=lambda: 64 * 3 / 2,
        unit="percent",
        nudge="How many arrays does a copy count, and how many move?",
        hint="Counted: one read, one written. If the written lines are read first, three arrays move in the same time.",
        praise="The memory is as busy as it can be; it is the count of the copy that leaves a third out.",
        mistakes=(
            Mistake(lambda: 64 * 2 / 3, "More bytes move in the same time, so the memory delivers more, not less."),
            Mistake(lambda: 64 * 2.0, "Only the written array moves twice. The other one is read once."),
            Mistake(
                lambda: 64.0,
                "That is with the counted bytes. Add the lines that are read before they are written.",
            ),
        ),
    ),
)
