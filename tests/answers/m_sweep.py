"""Chapter 5: right answers worked apart from the checkers, with plain arithmetic on B, F and times; and wrong ones."""

# B300: FP16 peak (FLOP/s), bandwidth (bytes/s), and the time of 512 rows (s).
B300_F, B300_B, B300_T = 1783.64e12, 6387.017e9, 45.068e-6
W512 = 2 * 512 * 8192 * 8192
Q512 = 2 * (2 * 512 * 8192 + 8192 * 8192)
# H100, FP16: the times of 1 and of 128 rows (s).
T1, T128 = 46.70e-6, 49.47e-6
# H200: bandwidth, FP16 peak, and the time of a square product of 512.
H200_B, H200_F, T_SQUARE = 4295.089e9, 755.64e12, 4.433e-6
Q_SQUARE, W_SQUARE = 2 * 3 * 512**2, 2 * 512**3


def percent(flop, size, seconds, peak, bandwidth):
    return 100 * flop / seconds / min(peak, bandwidth * flop / size)


RIGHT = {
    "5.1": 100 * W512 / B300_F / B300_T,
    "5.2": "fewer bytes",
    "5.3": percent,
    "5.4": 128 * T1 / T128,
    "5.5": T_SQUARE / (Q_SQUARE / H200_B),
    "5.6": "padding",
    "5.7": "gaps",
}
WRONG = {
    "5.1": [
        (100 * Q512 / B300_T / B300_B, "in percent of B"),
        (117, "other way round"),
        (0.855, "between 0 and 1"),
        (40, "shortest possible time"),
        ("85", "no quotes"),
    ],
    "5.2": [("better code", "3 % left"), ("faster units", "under the slope"), ("luck", "Answer with one of")],
    "5.3": [
        (lambda w, q, t, f, b: 100 * w / t / f, "percent of F"),
        (lambda w, q, t, f, b: 100 * q / t / b, "percent of B"),
        (lambda w, q, t, f, b: 100 * (w / f + q / b) / t, "added the two times"),
        (lambda w, q, t, f, b: max(w / f, q / b) / t, "That is the share"),
        (lambda w, q, t, f, b: 100 * min(w / f, q / b) / t, "shorter of the two"),
        (lambda w, q, t, f, b: 1.0, "it gives 1.0"),
        (100, "The answer is a function"),
    ],
    "5.4": [(128, "It grew a little"), (T1 / T128, "ratio of the times"), (1.06, "as long"), (3, "Rows a second")],
    "5.5": [
        (T_SQUARE / (W_SQUARE / H200_F), "just left of the ridge point"),
        ((Q_SQUARE / H200_B) / T_SQUARE, "its inverse"),
        (8.26, "inverse of that share"),
        (2, "Divide the measured time"),
    ],
    "5.6": [("launch", "two hundred"), ("choice", "has a part"), ("gaps", "single kernels"), (5, "Answer with")],
    "5.7": [("launch", "lies inside the time"), ("choice", "far from its roof"), ("padding", "far from their roofs")],
}
