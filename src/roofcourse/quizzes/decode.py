"""Chapter 6: prefill and decode."""

from __future__ import annotations

import math

from ..catalogue import device
from ..llm import model
from . import Question

PROMPT = 4096


def questions() -> tuple[Question, ...]:
    h100, h200 = device("h100"), device("h200")
    qwen, old, new = (model(name) for name in ("qwen2.5-7b", "llama-2-7b", "llama-3.1-8b"))
    step = h100.decode_step(batch=1, prompt_length=1024)
    short, short_h200 = (1e3 * d.decode_step(batch=1, prompt_length=128).seconds for d in (h100, h200))
    weights = qwen.bytes_read_per_step(1)
    takes_over = math.ceil(weights / qwen.kv_cache_bytes(PROMPT))
    int4 = weights / qwen.bytes_read_per_step(1, "int4")
    caches = [m.kv_bytes_per_token() / 1e3 for m in (old, new)]
    return (
        Question(
            ask=f"An H100 reads 1024 tokens with Qwen2.5-7B in {1e3 * step.prefill_seconds:.0f} ms and writes one in "
            f"{1e3 * step.seconds:.1f} ms. What is different?",
            right="How many tokens go through the weights together",
            praise="Read tokens share one pass over the weights; a written one has a pass of its own.",
            wrong={
                "Writing a token takes far more arithmetic than reading one": "The linear layers do the same FLOP for "
                "either.",
                "Writing uses other, larger weights": "They are the same weights, in the same memory.",
            },
        ),
        Question(
            ask=f"An H200 has {100 * (h200.bandwidth / h100.bandwidth - 1):.0f} % more bandwidth than an H100, yet "
            f"the same step takes {short_h200:.1f} ms there and {short:.1f} ms on the H100. What does that show?",
            right="The weights do not set the time of these steps",
            praise="A step that waited for its bytes would have become shorter in proportion.",
            wrong={
                "The lower bound of the step is wrong for the H200": "Both steps are far above their bounds, as a "
                "bound allows.",
                "Decode is compute-bound on both of these cards": "With one row the arithmetic takes a tiny part of "
                "the time of the bytes.",
            },
        ),
        Question(
            ask=f"With prompts of {PROMPT} tokens the KV cache of Qwen2.5-7B takes as long to read as the weights "
            f"from batch {takes_over} on. You go far beyond that. What do further requests cost?",
            right="Nearly their full time, for their own caches",
            praise="The batch shares the weights, and the weights are the smaller part by then.",
            wrong={
                "Nothing: on the slope rows are free": "Rows of a linear layer are. A cache belongs to one request "
                "alone.",
                "Less and less, as the intensity of attention grows": "It stays: each request brings its FLOP and its "
                "bytes.",
            },
        ),
        Question(
            ask=f"Weights stored in INT4 make the least step of one request {int4:.1f} times shorter. What does the "
            "same change do for a long prompt that is read?",
            right="By the model nothing: prefill waits for arithmetic",
            praise="That stays in 16 bits. Fewer bytes help whoever waits for bytes.",
            wrong={
                "The same factor: the weights are the same": "The bytes shrink there too, but nobody was waiting for "
                "them.",
                "Four times: a long prompt has no cache to read yet": "It has no need of fewer bytes in the first "
                "place.",
            },
        ),
        Question(
            ask=f"For each token Llama-2-7B keeps {caches[0]:.0f} kB in its KV cache, Llama-3.1-8B {caches[1]:.0f} "
            "kB. What do the shared KV heads of the second change in attention?",
            right="Fewer bytes for the same FLOP",
            praise="So a higher intensity: each number of the cache serves several query heads.",
            wrong={
                "Fewer FLOP, so less arithmetic": "Every query head still multiplies with every token: the FLOP stay.",
                "A lower intensity, as there is less to do": "The FLOP are the same. Only the bytes below them fell.",
            },
        ),
    )
