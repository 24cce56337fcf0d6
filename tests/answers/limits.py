"""Chapter 7: right answers worked apart from the checkers, with plain arithmetic on B, F and times; and wrong ones."""

import math

# RTX 4080: bandwidth (bytes/s), and the time of 64 rows in FP8 (s); one-byte inputs, two-byte results, two scales.
B_4080, T_FP8 = 661.42385e9, 53.08e-6
Q_FP8 = 64 * 8192 + 8192 * 8192 + 2 * 64 * 8192 + 8
# B300: FP64 peak (FLOP/s), and the time of 2 rows (s).
F_B300, T_FP64 = 1.05289e12, 4737.98e-6
# Bandwidth of the H200 and the H100 (bytes/s).
B_H200, B_H100 = 4295.089e9, 3084.846e9


def padded_time(m, tile, flop, size, peak, bandwidth):
    blocks = -(-m // tile)
    compute = flop / m * (blocks * tile) / peak
    memory = size / bandwidth
    return compute if compute > memory else memory


RIGHT = {
    "7.1": (Q_FP8 - B_4080 * T_FP8) / 1e6,
    "7.2": padded_time,
    "7.3": T_FP64 * F_B300 / (2 * 8192 * 8192),
    "7.4": "no",
    "7.5": 400 * 5e-3 + 3e-3,
    "7.6": "neither",
    "7.7": B_H200 * 600e-9 / 1e6,
    "7.8": "a timeline",
}
WRONG = {
    "7.1": [
        (B_4080 * T_FP8 / 1e6, "Asked is the rest"),
        (Q_FP8 / 1e6, "all bytes of the product"),
        (33, "at most"),
        (5, "at most"),
    ],
    "7.2": [
        (lambda m, t, w, q, f, b: max(w / f, q / b), "without padding"),
        (lambda m, t, w, q, f, b: max(w / f, q / b) * math.ceil(m / t) * t / m, "padded the bytes as well"),
        (lambda m, t, w, q, f, b: max(w * (m // t + 1) * t / m / f, q / b), "round up, do not add one"),
        (lambda m, t, w, q, f, b: max(w * t / m / f, q / b), "That is one block"),
        (lambda m, t, w, q, f, b: w * math.ceil(m / t) * t / m / f + q / b, "added the two times"),
        (lambda m, t, w, q, f, b: 1.0, "it gives 1.0"),
        (3, "The answer is a function"),
    ],
    "7.3": [
        (32, "flat stretch"),
        (T_FP64 * F_B300 / 8192**2, "A factor of two"),
        (T_FP64 * F_B300 / (4 * 8192**2), "FLOP of one row"),
        (5, "room for T F FLOP"),
    ],
    "7.4": [("yes", "past the ridge point"), ("maybe", "Answer with one of")],
    "7.5": [(1.2, "sum of the kernels"), (3.2, "They overlap"), (9, "Which takes longer")],
    "7.6": [("memory", "the higher one"), ("arithmetic", "time to spare"), (3, "Answer with one of")],
    "7.7": [(B_H100 * 600e-9 / 1e6, "That is an H100"), (B_H200 * 600e-9 / 2**20, "in MiB"), (7, "Little's law")],
    "7.8": [("kernel counters", "between them"), ("a roofline", "a model of one kernel")],
}
