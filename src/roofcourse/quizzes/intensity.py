"""Chapter 2: arithmetic intensity."""

from __future__ import annotations

from ..work import gemm
from . import Question

ROWS, SIZE = 16, 8192


def questions() -> tuple[Question, ...]:
    layer = gemm(ROWS, SIZE, SIZE, "fp16").intensity
    wider = gemm(ROWS, 2 * SIZE, 2 * SIZE, "fp16").intensity
    layer_gain = gemm(ROWS, SIZE, SIZE, "fp8").intensity / layer
    square_gain = gemm(SIZE, SIZE, SIZE, "fp8").intensity / gemm(SIZE, SIZE, SIZE, "fp16").intensity
    return (
        Question(
            ask=f"An FP16 layer with {ROWS} rows and N = K = {SIZE} has I = {layer:.1f}. You double N and K. What is "
            "I then, about?",
            right=f"{wider:.1f}",
            praise="Four times the work on four times the weights: the number of rows decides, and it has not changed.",
            wrong={
                f"{2 * layer:.1f}": "Every weight is still used by the same few rows. To double I, double the rows.",
                f"{4 * layer:.1f}": "The work is four times as much, and so are the bytes of the weights.",
            },
        ),
        Question(
            ask=f"The same product goes from FP16 to FP8. With {ROWS} rows I grows by a factor of {layer_gain:.2f}, "
            f"with {SIZE} rows by {square_gain:.2f}. Why less?",
            right="The result stays at two bytes a number",
            praise="With few rows nearly all bytes are weights, which do shrink; with many the result weighs as well.",
            wrong={
                "With many rows the arithmetic is the limit": "I knows nothing of limits: it is counted before any "
                "card is chosen.",
                "A product in FP8 does fewer FLOP": "A multiply-add is two FLOP in every format.",
            },
        ),
        Question(
            ask="Two programs multiply the same matrices, one with three plain loops, one tile by tile. Both do the "
            "same FLOP. Why has the plain one the lower I?",
            right="It fetches the same numbers again and again",
            praise="The bytes are what the loops make of them; the compulsory ones are only the least.",
            wrong={
                "It does fewer FLOP a second": "That is throughput. There is no time in I.",
                "It has more loop counters and addresses to compute": "Integers are not FLOP, and counters stay on "
                "the chip.",
            },
        ),
        Question(
            ask="Three elementwise kernels are fused into one. What happens to the intensity of the whole?",
            right="It rises: the results in between stay on the chip",
            praise="The same FLOP for fewer bytes: borders between kernels cost, and fusing takes them away.",
            wrong={
                "It stays: nothing about the arithmetic changed": "W stays. Q does not: two arrays need not be "
                "written and read again.",
                "It falls: one kernel does less work than three do": "It does all the FLOP of the three, for fewer "
                "bytes.",
            },
        ),
        Question(
            ask="Kernel X has twice the arithmetic intensity of kernel Y. Which one takes longer?",
            right="I alone does not say",
            praise="I is a ratio. It says what a kernel waits for, and a time needs W or Q as well.",
            wrong={
                "X: it does more arithmetic": "More for each byte. It may have far fewer bytes.",
                "Y: it is the more memory-bound": "Perhaps both are, and X may move much more in all.",
            },
        ),
    )
