"""Chapter 1: the two lower bounds."""

from __future__ import annotations

from ..catalogue import device
from . import Question

#: A kernel made up for the first question: W/F and Q/B in microseconds.
ARITHMETIC, TRAFFIC = 40, 100
#: A measured time, as a percentage above its bound.
ABOVE = 15


def questions() -> tuple[Question, ...]:
    h100, rtx4080 = device("h100"), device("rtx4080")
    add, triad = (1e6 * h100.working_set_sweep(kernel)[-1].seconds for kernel in ("add", "triad"))
    asks, asks_less = (d.roofline("fp16").ridge_point for d in (h100, rtx4080))
    between = round((asks + asks_less) / 2, -1)
    return (
        Question(
            ask=f"For some kernel W/F is {ARITHMETIC} µs and Q/B is {TRAFFIC} µs. You find a way to do it with half "
            "the FLOP and the same bytes. What becomes of the lower bound?",
            right="It stays what it is",
            praise="The traffic was the longer of the two times, and it has not changed.",
            wrong={
                f"It falls to {TRAFFIC // 2} µs": "Half the FLOP halve W/F. The bound is the other time, Q/B.",
                f"It falls by {ARITHMETIC // 2} µs": "That would be so if the times added up. They overlap.",
            },
        ),
        Question(
            ask=f"On an H100, add takes {add:.0f} µs and triad {triad:.0f} µs, with twice the FLOP on the same "
            "arrays. Why is the second FLOP free?",
            right="Both kernels move the same arrays",
            praise="Moving them takes the time, and beside it there was room for far more than two FLOP a number.",
            wrong={
                "A multiply-add is a single instruction on a GPU": "As two it would be free as well: W/F is a small "
                "part of Q/B.",
                "A GPU does its arithmetic at no cost": "Only while the traffic takes longer: go on adding FLOP, and "
                "the time grows.",
            },
        ),
        Question(
            ask="A new card has the same F as the old one and twice its B. Which of your kernels can become faster?",
            right="Those for which Q/B was the longer time",
            praise="For the others the bound is W/F, and that is the same on both cards.",
            wrong={
                "All of them, by up to a factor of two": "A kernel that waits for arithmetic waits just as long on "
                "the new card.",
                "Those that do the most FLOP for each byte": "More B helps whoever waits for data, and many FLOP a "
                "byte point the other way.",
            },
        ),
        Question(
            ask=f"A kernel is measured at {ABOVE} % above its lower bound. What does that say?",
            right="It could be that much faster at most",
            praise="More only with other FLOP or bytes, or if B was measured a few percent too low. And a bound does "
            "not promise to be reached.",
            wrong={
                "The roofline model does not hold for this kernel": "The law says at least. Only a time well below it "
                "would contradict.",
                "Its arithmetic and its traffic do not overlap": "Some kernels overlap less than they could, but this "
                "number alone does not show it.",
            },
        ),
        Question(
            ask=f"A kernel in FP16 does {between:.0f} FLOP for each byte. An H100 asks for {asks:.0f}, an RTX 4080 "
            f"for {asks_less:.0f}. What binds it?",
            right="Traffic on the H100, arithmetic on the RTX 4080",
            praise="The ratio W/Q is the kernel's own; whether it is enough, each card decides.",
            wrong={
                "The same on both: it is one kernel": "W/Q is the same on both, but it is compared with another F/B.",
                "Arithmetic on the H100, traffic on the RTX 4080": "The card that asks for more FLOP a byte is the "
                "one that is left waiting for data.",
            },
        ),
    )
