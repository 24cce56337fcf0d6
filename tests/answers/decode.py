"""Chapter 6: right answers worked apart from the checkers, with plain arithmetic on shapes, B and F; and wrong ones."""

# H100: BF16 peak (FLOP/s), bandwidth (bytes/s), memory (bytes); FP16 peak. B300: bandwidth.
H100_F, H100_B, H100_MEMORY, H100_F16 = 802.425e12, 3084.838e9, 85_017_493_504, 787.6e12
B300_B = 6387.017e9
# Qwen2.5-7B: weights of a layer, its biases and norms, output head, final norm; 2 bytes each.
LAYER = 2 * 3584 * 3584 + 2 * 3584 * 512 + 3 * 3584 * 18944
SMALL = 3584 + 512 + 512 + 2 * 3584
READ = 2 * (28 * (LAYER + SMALL) + 152064 * 3584 + 3584)
STORED = READ + 2 * 152064 * 3584
KV = 2 * 28 * 4 * 128 * 2
ROOM = H100_MEMORY - STORED


def kv_cache(layers, kv_heads, head_size, size, batch, prompt):
    key_and_value = 2 * kv_heads * head_size * size
    return layers * key_and_value * batch * prompt


RIGHT = {
    "6.1": 1 / (H100_B / H100_F - 1 / 18944 - 1 / 3584),
    "6.2": B300_B / READ,
    "6.3": kv_cache,
    "6.4": ROOM // (KV * 4096),
    "6.5": "stays",
    "6.6": READ / (KV / 2 * 4096),
    "6.7": 128 * (1 - (15 / 16) ** 16),
    "6.8": "kernels",
}

WRONG = {
    "6.1": [
        (H100_F / H100_B, "the ridge point"),
        (300, "Set it equal"),
        (260.119 / (1 - 260.119 / 4096), "Here N = 18944"),
        (272.3, "the M of chapter 5: FP16"),
        (284, "with 284 tokens I is still"),
        (286, "Set it equal"),
        (1 / (H100_B / H100_F16 - 1 / 18944 - 1 / 3584), "right for FP16"),
    ],
    "6.2": [
        (B300_B / STORED, "one row of it"),
        (READ / B300_B, "seconds for one"),
        (1e3 * READ / B300_B, "milliseconds"),
    ],
    "6.3": [
        (lambda n, h, d, s, b, p: n * h * d * s * b * p, "a key and a value"),
        (lambda n, h, d, s, b, p: 2 * h * d * s * b * p, "Every layer"),
        (lambda n, h, d, s, b, p: 2 * n * h * d * s * p, "Every request"),
        (lambda n, h, d, s, b, p: 2 * n * h * d * b * p, "Asked are bytes"),
        (lambda n, h, d, s, b, p: 1.0, "it gives 1.0"),
        (57344, "The answer is a function"),
    ],
    "6.4": [
        ((H100_MEMORY - READ) // (KV * 4096), "also the embedding"),
        (H100_MEMORY // (KV * 4096), "on the card as well"),
        (298, "round down"),
        (296, "take qwen.bytes_stored"),
        (12, "take qwen.bytes_stored"),
    ],
    "6.5": [("doubles", "A cache is not"), ("halves", "so do the FLOP"), (2, "Answer with one of")],
    "6.6": [
        (READ / (KV * 4096), "both in BF16"),
        (61, "both halved"),
        (123, "At which batch"),
        (((READ - 2 * 152064 * 3584) / 2 + 2 * 152064 * 3584) / (KV / 2 * 4096), "stay in BF16"),
        (STORED / (KV / 2 * 4096), "leave the input embedding out"),
        (3, "At which batch"),
    ],
    "6.7": [
        (128, "some meet"),
        (8, "one token's"),
        (128 * (15 / 16) ** 16, "nobody chose"),
        (50, "leaves a given expert"),
    ],
    "6.8": [("launches", "still there"), ("open", "decides it"), (1, "Answer with one of")],
}
