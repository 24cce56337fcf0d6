"""Chapter 8: right answers worked apart from the checkers, with plain arithmetic on B and F; and wrong ones."""

# H100: bandwidth (bytes/s), FP16 and FP8 peaks (FLOP/s).
B, F16, F8 = 3084.846e9, 787.6119e12, 1318.079e12
ROWS, N = 4096, 8192
W = 2 * ROWS * N * N
# The convolution: 32 images of 56 x 56, 64 channels in and out, 3 x 3, two bytes a number.
PIXELS, CHANNELS = 32 * 56 * 56, 64
WC = 2 * PIXELS * CHANNELS * CHANNELS * 9
QC = 2 * (2 * PIXELS * CHANNELS + CHANNELS * CHANNELS * 9)


def gain(flop, size, new_flop, new_size, peak, bandwidth):
    before = flop / min(peak, bandwidth * flop / size)
    return before / (new_flop / min(peak, bandwidth * new_flop / new_size))


RIGHT = {
    "8.1": 3 * 2 / 2,
    "8.2": "move less",
    "8.3": gain,
    "8.4": (W / F16) / (W / F8),
    "8.5": 32 / (2 * 4),
    "8.6": "lose less",
    "8.7": (WC / F16) / (QC / B),
}
WRONG = {
    "8.1": [(1, "the bytes set the time"), (6, "two arrays, not one"), (2, "six in all"), ("three", "no quotes")],
    "8.2": [("compute better", "under the slope"), ("lose less", "a twentieth"), ("luck", "Answer with one of")],
    "8.3": [
        (lambda w, q, v, p, f, b: q / p, "ratio of the bytes"),
        (lambda w, q, v, p, f, b: 1 / gain(w, q, v, p, f, b), "other way round"),
        (lambda w, q, v, p, f, b: (w / f + q / b) / (v / f + p / b), "added the two times"),
        (lambda w, q, v, p, f, b: 1.0, "it gives 1.0"),
        (2, "The answer is a function"),
    ],
    "8.4": [(2, "the roofs decide"), (F16 / F8, "other way round"), (5, "compute-bound")],
    "8.5": [(8, "worst case"), (16, "the CPU's unit"), (32, "sectors of 32"), (3, "16 bytes apart")],
    "8.6": [("move less", "to the right"), ("compute better", "another roof"), (1, "Answer with one of")],
    "8.7": [(2.25, "still compute-bound"), (1, "if only just"), (1.5, "the bound before and after")],
}
