"""Chapter 3: rooflines and ridge points."""

from __future__ import annotations

from ..catalogue import device
from ..second_sources import peak_range
from . import Question

INTENSITY = 50


def questions() -> tuple[Question, ...]:
    v100, h100, h200, b300 = (device(key) for key in ("v100", "h100", "h200", "b300"))
    fp16, fp32 = h100.roofline("fp16"), h100.roofline("fp32")
    gain = fp16.attainable(2 * INTENSITY) / fp32.peak
    apart = 100 * (h200.roofline("bf16").peak / h100.roofline("bf16").peak - 1)
    low, high = (peak / 1e12 for peak in peak_range("h100", "bf16"))
    return (
        Question(
            ask=f"In FP16 the ridge point of a V100 is {v100.roofline('fp16').ridge_point:.0f} FLOP/byte and that of "
            f"a B300 {b300.roofline('fp16').ridge_point:.0f}. What becomes of programs that stay as they are?",
            right="More of their kernels are memory-bound on the newer card",
            praise="F grew faster than B, so the newer card asks for more FLOP a byte.",
            wrong={
                "Fewer of their kernels are memory-bound: B grew as well": "B grew, but F grew more, and the ratio of "
                "the two decides.",
                "The same ones are memory-bound: I did not change": "I did not. What it is compared with did.",
            },
        ),
        Question(
            ask="Why are the slopes of all cards parallel on the chart?",
            right="Each is P = B · I: on log axes B only shifts the line",
            praise="Twice the bandwidth is the same line, one step higher.",
            wrong={
                "Because their bandwidths are close": "They are not: a B300 has "
                f"{b300.bandwidth / v100.bandwidth:.1f} times that of a V100.",
                "Because log axes make every straight line parallel": "Only proportions. P = a + B · I would be a "
                "curve there.",
            },
        ),
        Question(
            ask=f"On an H100 the FP16 roof is {fp16.peak / fp32.peak:.1f} times as high as the FP32 roof. A product "
            f"with I = {INTENSITY} in FP32 gains {gain:.2f} at most from FP16. Where is the rest?",
            right="In FP16 the product stands under the slope",
            praise="The format moved the point to the right, and the ridge point further.",
            wrong={
                "The matrix units are slower than the datasheet says": "Both numbers are measured roofs; no datasheet "
                "is in them.",
                "In FP16 the bytes are the same": f"They are halved, which is why I is {2 * INTENSITY} there and not "
                f"{INTENSITY}.",
            },
        ),
        Question(
            ask=f"Measured F in BF16: {h200.roofline('bf16').peak / 1e12:.0f} TFLOP/s on an H200, and {low:.0f} to "
            f"{high:.0f} on an H100, depending on who measured. Which card has the higher roof?",
            right="The data do not say",
            praise="The range of the one contains the value of the other.",
            wrong={
                "The H200, by the study's numbers": f"In the study the two are {apart:.1f} % apart, and laboratories "
                "differ by far more.",
                "The H100, by its best number": "A best of several against a best of few: take one laboratory, or say "
                "the range.",
            },
        ),
        Question(
            ask="Card X has the higher F, card Y the higher B. Which has the higher roof?",
            right="Y at low intensity, X at high intensity",
            praise="They cross where the slope of X reaches the flat part of Y.",
            wrong={
                "X, everywhere: its flat part is the higher one": "Left of the crossing the slope counts, and that is "
                "B.",
                "Y, everywhere: most kernels wait for memory": "Right of the crossing the flat part counts, and that "
                "is F.",
            },
        ),
    )
