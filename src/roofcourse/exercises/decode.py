"""Chapter 6: prefill and decode."""

from __future__ import annotations

import math

from .. import llm
from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number

#: gate_proj of Qwen2.5-7B.
WIDTH, DEPTH = 18944, 3584
#: An H100's step at batch 1 from a CUDA graph, in milliseconds: the exercise gives it.
GRAPH = 11.2


def _qwen():
    return llm.model("qwen2.5-7b")


def _weights() -> float:
    return _qwen().bytes_read_per_step(1)


def _ridge() -> float:
    return device("h100").roofline("bf16").ridge_point


def _tokens(precision: str = "bf16") -> float:
    """Tokens of a prompt from which the layer is compute-bound on an H100."""
    return 1 / (1 / device("h100").roofline(precision).ridge_point - 1 / WIDTH - 1 / DEPTH)


def _of_a_square(precision: str) -> float:
    """The same for a layer with N = K = 8192, as in chapter 5."""
    ridge = device("h100").roofline(precision).ridge_point
    return ridge / (1 - ridge / 4096)


def _requests(stored: float) -> float:
    """Caches of 4096 tokens that fit on an H100 beside this many bytes."""
    return (device("h100").memory_bytes - stored) // _qwen().kv_cache_bytes(4096)


def _step() -> float:
    """The H100's step at batch 1 with its launches, in milliseconds."""
    return 1e3 * device("h100").decode_step(batch=1, prompt_length=128).seconds


def _above_bound() -> float:
    return _step() - 1e3 * llm.decode_bound("qwen2.5-7b", "h100", 1, 128).seconds


def _touched(tokens: float) -> float:
    return 128 * (1 - (1 - 8 / 128) ** tokens)


def kv_cache(layers: float, kv_heads: float, head_size: float, size: float, batch: float, prompt: float) -> float:
    return 2 * layers * kv_heads * head_size * size * batch * prompt


EXERCISES = (
    Number(
        key="6.1",
        answer=_tokens,
        unit="tokens",
        nudge="The layer is compute-bound from the ridge point on. With sizes like these, is I the same as M?",
        hint="In 16-bit formats I = 1 / (1/M + 1/N + 1/K). Set it equal to h100.roofline('bf16').ridge_point.",
        praise="A prompt of a few hundred tokens is enough, or many short ones together.",
        mistakes=(
            Mistake(
                _ridge,
                "That is the ridge point, in FLOP/byte. I is a little less than M, as X and Y have bytes too.",
            ),
            Mistake(
                lambda: math.floor(_tokens()),
                f"One short: with {math.floor(_tokens())} tokens I is still just under the ridge point.",
            ),
            Mistake(
                lambda: _of_a_square("bf16"),
                "That is for N = K = 8192. Here N = 18944 and K = 3584.",
            ),
            Mistake(
                lambda: _of_a_square("fp16"),
                "That is the M of chapter 5: FP16, and N = K = 8192.",
            ),
            Mistake(
                lambda: _tokens("fp16"),
                "That is right for FP16. BF16 has an F of its own, and so a ridge point of its own.",
            ),
        ),
        tolerance=0.0022,  # less than one token
    ),
    Number(
        key="6.2",
        answer=lambda: device("b300").bandwidth / _weights(),
        unit="tokens/s",
        nudge="At batch 1 every weight that a step uses is read once for each token.",
        hint="One token takes at least qwen.bytes_read_per_step(1) / B seconds; a second has B / bytes of these.",
        praise="A bound from one file and one number, for a card on which nobody ran this model here.",
        mistakes=(
            Mistake(
                lambda: device("b300").bandwidth / _qwen().bytes_stored(),
                "You counted the input embedding as well. It is stored, but a step reads one row of it.",
            ),
            Mistake(
                lambda: _weights() / device("b300").bandwidth,
                "Those are the seconds for one token. Asked are tokens a second.",
            ),
            Mistake(
                lambda: 1e3 * _weights() / device("b300").bandwidth,
                "Those are the milliseconds for one token. Asked are tokens a second.",
            ),
        ),
    ),
    Function(
        key="6.3",
        reference=kv_cache,
        cases=((28, 4, 128, 2, 1, 1), (32, 8, 128, 1, 3, 100), (2, 5, 7, 2, 11, 13)),
        nudge="For each token a layer keeps two vectors for each KV head: the key and the value.",
        hint="Two vectors of head_size numbers for each KV head, in each layer, for each token of each request.",
        praise="Only the KV heads count: sharing one among several query heads costs no bytes.",
        mistakes=(
            (
                lambda n, h, d, s, b, p: n * h * d * s * b * p,
                "A token leaves a key and a value: twice that.",
            ),
            (lambda n, h, d, s, b, p: 2 * h * d * s * b * p, "Every layer has a cache of its own."),
            (lambda n, h, d, s, b, p: 2 * n * h * d * s * p, "Every request of the batch has a cache of its own."),
            (lambda n, h, d, s, b, p: 2 * n * h * d * b * p, "Those are numbers. Asked are bytes."),
        ),
    ),
    Number(
        key="6.4",
        answer=lambda: _requests(_qwen().bytes_stored()),
        unit="requests",
        nudge="Memory holds two things: all parameters, and one cache for each request.",
        hint="From h100.memory_bytes take qwen.bytes_stored(); divide what is left by qwen.kv_cache_bytes(4096).",
        praise=f"Long before that, from batch {math.ceil(_weights() / _qwen().kv_cache_bytes(4096))} on, the cache "
        "takes longer to read than the weights.",
        mistakes=(
            Mistake(
                lambda: _requests(_weights()),
                "All parameters have to be in memory, also the embedding that a step does not read.",
            ),
            Mistake(
                lambda: _requests(0),
                "The weights have to be on the card as well.",
            ),
            Mistake(
                lambda: _requests(_qwen().bytes_stored()) + 1,
                "The last one does not fit as a whole: round down.",
            ),
        ),
        tolerance=0.002,  # less than one request
    ),
    Choice(
        key="6.5",
        answer=lambda: "stays",
        options=("doubles", "stays", "halves"),
        nudge="In a linear layer all requests share the same bytes. Do they share a cache?",
        hint="Twice the requests: how many FLOP in attention, and how many bytes of cache?",
        praise="Each request has a cache of its own: twice the FLOP, twice the bytes.",
        wrong={
            "doubles": "That is what a linear layer does: its weights are shared. A cache is not.",
            "halves": "The bytes double, and so do the FLOP.",
        },
    ),
    Number(
        key="6.6",
        answer=lambda: _weights() / _qwen().kv_cache_bytes(4096, "fp8"),
        unit="requests",
        nudge="Write both as bytes a step: one does not depend on the batch, the other does.",
        hint="At which batch are batch * qwen.kv_cache_bytes(4096, 'fp8') as many bytes as the weights?",
        praise="Half the bytes a token, twice the batch, on any card.",
        mistakes=(
            Mistake(
                lambda: _weights() / _qwen().kv_cache_bytes(4096),
                "That is with both in BF16, or with both halved. Only the cache is halved.",
            ),
            Mistake(
                lambda: _qwen().bytes_read_per_step(1, "fp8") / _qwen().kv_cache_bytes(4096, "fp8"),
                "You stored the weights in FP8 too. They stay in BF16.",
            ),
            Mistake(
                lambda: _qwen().bytes_stored() / _qwen().kv_cache_bytes(4096, "fp8"),
                "A step does not read all that is stored: leave the input embedding out.",
            ),
        ),
        tolerance=0.015,  # twice the batch from which a cache in BF16 leads, a whole number, is right as well
    ),
    Number(
        key="6.7",
        answer=lambda: _touched(16),
        unit="experts",
        nudge="It is easier to count the experts that nobody chose.",
        hint="One token leaves a given expert out with probability 1 - 8/128. What is that for sixteen tokens?",
        praise="Two thirds of the experts for sixteen tokens: the batch brings its own bytes at first.",
        mistakes=(
            Mistake(lambda: 128.0, "16 times 8 is 128, but the tokens do not agree on who takes which: some meet."),
            Mistake(lambda: 8.0, "That is one token's. Another token chooses others."),
            Mistake(lambda: 128 - _touched(16), "Those are the experts that nobody chose."),
        ),
    ),
    Choice(
        key="6.8",
        answer=lambda: "kernels",
        options=("kernels", "launches", "open"),
        nudge="The same step was timed with launches and without. What changed, and what did not?",
        hint="A CUDA graph takes the CPU out of the step. How much of the time above the bound went with it?",
        praise="Without the CPU the card still takes that long. A timeline would split kernels and gaps.",
        wrong={
            "launches": f"They are gone, and {_step() - GRAPH:.1f} ms with them. Most of the {_above_bound():.0f} ms "
            "above the bound is still there.",
            "open": "It was open from the study's data. This run takes the launches away, and that decides it.",
        },
    ),
)
