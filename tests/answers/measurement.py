"""Chapter 4: right answers worked apart from the checkers, with plain arithmetic on times; and typical wrong ones."""

# GH200, the two largest reads in FP32: bytes, seconds.
SMALL = (272_629_760, 6.6008e-05)
LARGE = (541_065_216, 1.24457e-04)
GH200 = (LARGE[0] - SMALL[0]) / (LARGE[1] - SMALL[1]) / 1e9

# H100, the line through its copies up to 32 MiB: a = 2.0874 µs, b = 3232.6 GB/s.
TENTH = 9 * 2.0874e-6 * 3232.6e9 / 2**20

RIGHT = {
    "4.1": lambda v, t, w, u: (w - v) / (u - t),
    "4.2": GH200,
    "4.3": TENTH,
    "4.4": "tf32 on",
    # measured 15.521 of nominal 22.6 TFLOP/s
    "4.5": 100 * 15.521 / 22.6,
    # 32.861 TFLOP/s and 3084.8 GB/s: I* = 10.65, and R = 8 I*
    "4.6": 8 * 32860.95 / 3084.84,
}
WRONG = {
    "4.1": [
        (lambda v, t, w, u: w / u, "with its launch still inside"),
        (lambda v, t, w, u: (v + w) / (t + u), "adds their fixed costs"),
        (lambda v, t, w, u: (u - t) / (w - v), "seconds for a byte"),
        (lambda v, t, w, u: 1.0, "it gives 1.0"),
        (7, "The answer is a function"),
    ],
    "4.2": [
        (4347.4, "That is B"),
        (4496, "That is the H200"),
        (GH200 * 1e9, "off by 10\\^9"),
        (3000, "two largest reads"),
    ],
    "4.3": [
        (TENTH * 10 / 9, "tenth of V/b"),
        (TENTH * 2**20 / 1e6, "not 10\\*\\*6"),
        (TENTH / 9, "half of the time"),
        (512, "the other nine tenths"),
    ],
    "4.4": [
        ("zeros", "exactly right"),
        ("no sync", "as precise"),
        ("bytes x 2", "counts FLOP"),
        (1, "Answer with one of"),
    ],
    "4.5": [
        (76.64, "part of the measured FP32"),
        (89.6, "That is FP32"),
        (72.1, "That is the MI100"),
        (50, "Divide the"),
    ],
    "4.6": [
        (42.6, "You counted 8 bytes"),
        (170.4, "one FLOP for a multiply-add"),
        (10.65, "ridge point in FLOP/byte"),
        (60, "Set I equal"),
    ],
}
