"""Chapter 3: right answers worked apart from the checkers, with plain arithmetic on B and F; and typical wrong ones."""

# A100, H100 and B300: bandwidth (bytes/s) and BF16, FP16 and FP32 peaks by matrix product (FLOP/s).
A100_B, A100_BF16 = 1682.458e9, 293.555e12
H100_B, H100_FP16, H100_FP32 = 3084.846e9, 787.611e12, 51.8726e12


def cross(f, b, g, c):
    return f / c if b > c else g / b


RIGHT = {
    "3.1": A100_BF16 / A100_B,
    # M / (1 + 2 M / 8192) = 272.58, so M = 292.01: the next whole row
    "3.2": 293,
    "3.3": cross,
    "3.4": 100 * H100_B / H100_FP32,
    "3.5": "cannot say",
    "3.6": "memory",
}
WRONG = {
    "3.1": [
        (A100_B / A100_BF16, "the other way round"),
        (312 / 2.039, "of the datasheet"),
        (175.48, "175 is the FP16 value"),
        (175, "give one digit more"),
        (260.12, "That is the H100"),
        (A100_BF16 / 1e12 / (A100_B / 1e9), "off by 10\\^-3"),
        (17, "Divide F by B"),
        ("174", "no quotes"),
        ((174, 5), "with a point"),
    ],
    "3.2": [
        (272.6, "You took I = M"),
        (278, "That is the H100"),
        (292, "One short"),
        (294, "smallest M"),
        (100, "smallest M"),
    ],
    "3.3": [
        (lambda f, b, g, c: f / c, "either order"),
        (lambda f, b, g, c: max(f, g) / max(b, c), "No card has both"),
        (lambda f, b, g, c: min(f / b, g / c), "ridge point of one card"),
        (lambda f, b, g, c: max(f / b, g / c), "have met before"),
        (lambda f, b, g, c: 1.0, "For \\(700, 4, 800, 3\\) it gives 1.0"),
        (3, "The answer is a function"),
    ],
    "3.4": [
        (50 * H100_B / H100_FP32, "You kept I = 50"),
        (H100_FP16 / H100_FP32, "ratio of the two flat parts"),
        (100 * H100_B / 61.4727e12, "on the vector units"),
        (2, "Divide the two roofs"),
    ],
    "3.5": [("h100", "Two sets of short runs"), ("h200", "Other measurements"), ("both", "Answer with one of")],
    "3.6": [("compute", "further to the right"), (1, "Answer with one of")],
}
