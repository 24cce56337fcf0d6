"""Chapter 2: right answers worked apart from the checkers, with plain arithmetic; and typical wrong ones."""

RIGHT = {
    "2.1": 2 / (3 * 2),
    "2.2": lambda m, n, k, size: (m * n * (k + k)) / (size * m * k + size * k * n + size * m * n),
    # A100, FP16: F = 295.2 TFLOP/s, B = 1682 GB/s, ridge 175.5; I = M / (1 + M/2048) = 175.5.
    "2.3": 191.93,
    # 8192 cube: FP16 2n/6; FP8 n^2 + n^2 + 2n^2 bytes, so 2n/4.
    "2.4": (8192 / 2) / (8192 / 3),
    # Ridge 51.9/3.085 = 16.8. b = 64: 64/4 / (1 + 64/8192) = 15.9; b = 128: 31.5.
    "2.5": 128,
    # sigmoid 1 + 1, product 2 + 1, product 2 + 1; fused 2 + 1.
    "2.6": (2 + 3 + 3) / 3,
    "2.7": "undefined",
}
WRONG = {
    "2.1": [
        (1 / 6, "Half of it"),
        (0.5, "One array is missing"),
        (0.25, "constant 3 is in a register"),
        (7, "For one element"),
        ("1/3", "one number in FLOP/byte. Write it plain"),
    ],
    "2.2": [
        (lambda m, n, k, s: m * n * k / (s * (m * k + k * n + m * n)), "Half of it"),
        (lambda m, n, k, s: 2 * m * n * k / (s * (m * k + k * n)), "Y is missing"),
        (lambda m, n, k, s: 2 * m * n * k / (m * k + k * n + m * n), "FLOP per element"),
        (lambda m, n, k, s: 2 * m / s, "limit for few rows"),
        (lambda m, n, k, s: 1.0, r"For \(16, 8192, 8192, 2\) it gives 1.0; return 2 m n k"),
        (3, "The answer is a function"),
    ],
    "2.3": [
        (175.5, "ridge point itself"),
        (183.34, "for N = K = 8192"),
        (191, "One short"),
        (193, "solve for M"),
        (100, "solve for M"),
    ],
    "2.4": [(2, "if Y shrank too"), (2 / 3, "Upside down"), (5, "Compare rc.gemm")],
    "2.5": [(64, "15.9 FLOP/byte"), (256, "smaller power of two"), (5, "Try powers of two")],
    "2.6": [(3, "Three kernels became one"), (2.5, "reads only"), (0.375, "Upside down"), (9, "Count the arrays")],
    "2.7": [("zero", "with the writes counted"), ("doubled", "half of its traffic"), ("huge", "Answer with one of")],
}
