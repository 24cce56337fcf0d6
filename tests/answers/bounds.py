"""Chapter 1: right answers worked apart from the checkers, with plain arithmetic on B and F; and typical wrong ones."""

# H100: bandwidth (bytes/s) and FP32 vector peak (FLOP/s).
B, F = 3084.846e9, 61.4727e12
RIGHT = {
    "1.1": 3 * 4 * 2**28 / B * 1e6,
    "1.2": "memory",
    "1.3": lambda w, q, f, b: w / f if w / f > q / b else q / b,
    "1.4": 93.28,
    "1.5": 9,
}
WRONG = {
    "1.1": [
        (2 * 4 * 2**28 / B * 1e6, "8 bytes for each element"),
        (4 * 2**28 / B * 1e6, "You counted one array"),
        (3 * 2 * 2**28 / B * 1e6, "FP32 takes 4"),
        (2 * 2**28 / F * 1e6, "the shorter of the two"),
        (3 * 4 * 2**28 / B, "off by 10\\^-6"),
        (3 * 4 * 2**28 / B * 1e6 + 2 * 2**28 / F * 1e6, "W / F plus Q / B"),
        (17, "Two reads and one write"),
        ("1044 µs", "one number in microseconds. Write it plain"),
        (True, "this is bool"),
    ],
    "1.2": [
        ("compute", "Compare the two times again"),
        ("both", "Answer with one of: 'memory', 'compute'"),
        (3, "Answer with one"),
    ],
    "1.3": [
        (lambda w, q, f, b: w / f + q / b, "That is the sum"),
        (lambda w, q, f, b: min(w / f, q / b), "the shorter time"),
        (lambda w, q, f, b: max(w / b, q / f), "swapped"),
        (lambda w, q, f, b: min(f, b * w / q), "attainable throughput"),
        (lambda w, q, f, b: 3.0, r"For \(50, 100, 100, 10\) it gives 3.0; return the longer"),
        (lambda w, q, f, b: 1 / 0, "raised ZeroDivisionError"),
        (7, "The answer is a function"),
    ],
    "1.4": [
        (107.2, "divided the measured time by the bound"),
        (0.78, "share of the peak throughput"),
        (50, "Divide the lower bound"),
    ],
    "1.5": [(3, "how many are compute-bound"), (12, "Loop over")],
}
