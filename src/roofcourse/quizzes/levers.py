"""Chapter 8: which lever a point asks for, and what it can gain."""

from __future__ import annotations

from ..catalogue import device
from ..work import gemm
from . import Question

LINE, NUMBER = 64, 4
SIZE = 8192


def questions() -> tuple[Question, ...]:
    h100 = device("h100")
    half, quarter = h100.roofline("fp16"), h100.roofline("fp8")
    row, product = (
        half.time(gemm(m, SIZE, SIZE, "fp16")) / quarter.time(gemm(m, SIZE, SIZE, "fp8")) for m in (1, SIZE)
    )
    return (
        Question(
            ask="Fusing cuts the bytes of a kernel to a tenth. It stood a little left of the ridge point. What does "
            "it gain, at most?",
            right="Less than ten: the point meets the flat part",
            praise="On its way to the right it passes the ridge point, and there the arithmetic becomes the bound.",
            wrong={
                "Ten times: under the slope the bytes set the time": "They do until the point reaches the ridge. Then "
                "the FLOP do.",
                "Nothing: the FLOP are the same": "Under the slope the FLOP were not what it waited for.",
            },
        ),
        Question(
            ask="A compute-bound convolution is done by Winograd's algorithm. On the chart, with the FLOP that are "
            "really done, its point is lower and further left than before. Is it slower?",
            right="Not necessarily: it has fewer FLOP to do",
            praise="Its time may well be shorter. Throughput is not speed: compare times.",
            wrong={
                "Yes: a lower point always means a slower kernel": "Only if both do the same work. Here W itself has "
                "shrunk.",
                "Yes: further left means more bytes": "The bytes are the same. I fell because W did.",
            },
        ),
        Question(
            ask="A kernel loads a tile, computes on it, loads the next. Double buffering lets the two overlap. Where "
            "does that gain most?",
            right="At the ridge point, where both take equally long",
            praise="The sum of two equal times is twice the longer one; anywhere else it is less.",
            wrong={
                "Far to the left, where the traffic is longest": "There the arithmetic is a trifle, and hiding it "
                "saves a trifle.",
                "Far to the right, where the arithmetic is longest": "There the traffic is a trifle, and hiding it "
                "saves a trifle.",
            },
        ),
        Question(
            ask=f"On a processor with lines of {LINE} bytes, adding up every {LINE // NUMBER}th number of a large "
            "FP32 array takes about as long as adding up all of them. Why?",
            right="The same lines cross the memory bus",
            praise="One number of each is used or all of them: what counts is the bytes that move.",
            wrong={
                "The processor adds all of them anyway": "It adds fewer. It was not the adding that took the time.",
                "Jumping through an array is slow work for the loop": "Its loop has a sixteenth of the steps, and "
                "still has to wait for the lines.",
            },
        ),
        Question(
            ask=f"From FP16 to FP8 the bound of one row on an H100 falls by a factor of {row:.2f}, that of {SIZE} "
            f"rows by {product:.2f}. Why are the two not the same?",
            right="One gains by the bytes, many gain by the roof",
            praise="Half the bytes under the slope; at the flat part, the ratio of two measured peaks.",
            wrong={
                "With many rows the launch takes a larger share": "It takes a smaller one, and it is not in the bound "
                "at all.",
                "With one row FP8 does fewer FLOP": "The same product has the same FLOP in every format.",
            },
        ),
    )
