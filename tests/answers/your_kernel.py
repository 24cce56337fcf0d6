"""Chapter 9: right answers worked apart from the checkers, with plain arithmetic on B and times; and wrong ones."""

# H100: bandwidth (bytes/s), and the attention of one layer in a decode step of 8 requests with 4096 tokens (s, bytes).
H100_B, T_ATTENTION, COUNTED = 3084.838e9, 891.872e-6, 1_096_771_072
# Keys and values of 4 heads, queries and results of 28, each of 128 numbers of 2 bytes.
Q_ATTENTION = 8 * 128 * 2 * (2 * 4 * 4096 + 2 * 28)


def one_after_the_other(w1, q1, w2, q2, peak, bandwidth):
    total = 0.0
    for flop, size in ((w1, q1), (w2, q2)):
        total += flop / peak if flop / size > peak / bandwidth else size / bandwidth
    return total


RIGHT = {
    "9.1": (2 + 3 + 3) / (1 + 1 + 1),
    "9.2": one_after_the_other,
    "9.3": 100 / 77.5,
    "9.4": "launch",
    "9.5": "undetermined",
    "9.6": T_ATTENTION * H100_B / Q_ATTENTION,
    "9.7": 96,
}
WRONG = {
    "9.1": [
        (3, "number of operators"),
        (8, "moves arrays as well"),
        (4, "function of one array"),
        (0.375, "other way round"),
        (5 / 3, "read by the next"),
        (2, "Count the arrays"),
        ("8/3", "no quotes"),
    ],
    "9.2": [
        (lambda w1, q1, w2, q2, f, b: max((w1 + w2) / f, (q1 + q2) / b), "fused kernel at best"),
        (lambda w1, q1, w2, q2, f, b: w1 / f + q1 / b + w2 / f + q2 / b, "not the sum"),
        (lambda w1, q1, w2, q2, f, b: max(w1 / f, q1 / b, w2 / f, q2 / b), "has to run as well"),
        (lambda w1, q1, w2, q2, f, b: max(w1 / f, q1 / b) + q2 / b, "it gives 11"),  # 2 + 10 + 1
        (lambda w1, q1, w2, q2, f, b: 1.0, "it gives 1.0"),
        (4, "The answer is a function"),
    ],
    "9.3": [
        (4, "not the softmax"),
        (0.775, "new time"),
        (1 / 0.7, "no time at all"),
        (1.9, "times do"),
        (2, "Divide the old time"),
    ],
    "9.4": [
        ("operators", "did not change"),
        ("bytes", "did not"),
        ("undetermined", "are evidence"),
        ("luck", "Answer"),
    ],
    "9.5": [("launch", "no neighbour"), ("operators", "one operator"), ("bytes", "nobody has measured"), (5, "Answer")],
    "9.6": [
        (T_ATTENTION * H100_B / COUNTED, "those of the formula"),
        (COUNTED / Q_ATTENTION, "too many bytes"),
        (Q_ATTENTION / H100_B / T_ATTENTION, "its inverse"),
        (2.44, "inverse of that share"),
        (5, "not the measured ones"),
    ],
    "9.7": [(42.67, "more, not less"), (128, "read once"), (64, "counted bytes"), (50, "three arrays move")],
}
