"""What the study measured on a language model: decode steps, and hardware counters of one layer.

The model is Qwen2.5-7B in BF16 on three cards, run step by step with Hugging Face Transformers; each CPU-side call
launches its kernels one by one. ``rc.device("h100").decode_steps()`` and ``.layer_counters("decode", batch=1)`` read
these tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import median

from .tables import read
from .work import Counted

PHASES = ("prefill", "decode")
#: The modules of a layer that are matrix products, in the order in which they run; the others have no counted FLOP.
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class DecodeStep:
    """One decode step: ``batch`` requests get one new token each, after prompts of ``prompt_length`` tokens.

    ``seconds``: time on the GPU from one step to the next, the median over ``runs`` runs; ``low`` and ``high``: the
    fastest and the slowest of them. ``prefill_seconds``: time of the whole prompt, median over the same runs.
    """

    device: str
    model: str
    precision: str
    batch: int
    prompt_length: int
    seconds: float
    low: float
    high: float
    prefill_seconds: float
    runs: int
    source: str = "rooflines_2026"

    @property
    def tokens_per_s(self) -> float:
        """New tokens a second, all requests together."""
        return self.batch / self.seconds


@dataclass(frozen=True)
class LayerCounter(Counted):
    """One module of layer 14 under the profiler: FLOP counted, bytes and time read from the card.

    ``dram_bytes`` and ``l2_bytes``: bytes that crossed the card's memory and its L2, by hardware counters.
    ``seconds``: the sum of its kernels' times. The profiler runs kernels one at a time, with some of the cost of
    starting each inside, and here with clocks and caches left alone: not quite the times of the running program.
    ``flop`` is ``None`` for modules that are not matrix products.
    """

    device: str
    model: str
    precision: str
    batch: int
    prompt_length: int
    phase: str
    module: str
    kernel_count: int
    dram_bytes: float
    l2_bytes: float
    seconds: float
    flop: float | None
    stable: bool = True
    source: str = "rooflines_2026"

    @property
    def tokens(self) -> int:
        """Tokens that go through the module together: the rows M of its product."""
        return self.batch * (self.prompt_length if self.phase == "prefill" else 1)

    def _uncounted(self) -> str:
        return f"{self.module} is no matrix product: its FLOP were not counted"


@cache
def decode_steps(device: str) -> tuple[DecodeStep, ...]:
    """The steps timed on a card, by batch and prompt. Runs that the study found slowed by heat are left out.

    Raises ``LookupError`` in one line for a card on which no model was run.
    """
    groups: dict[tuple[int, int], list[dict]] = {}
    for row in read("decode"):
        if row["device"] == device and row["eligible"]:
            groups.setdefault((row["batch"], row["prompt_length"]), []).append(row)
    if not groups:
        raise LookupError(f"no language model was timed on {device}; timed are: {', '.join(_devices('decode'))}")
    out = []
    for (batch, prompt), rows in sorted(groups.items()):
        times = [row["step_seconds"] for row in rows]
        out.append(
            DecodeStep(
                device=device,
                model=rows[0]["model"],
                precision=rows[0]["precision"],
                batch=batch,
                prompt_length=prompt,
                seconds=median(times),
                low=min(times),
                high=max(times),
                prefill_seconds=median(row["prefill_seconds"] for row in rows),
                runs=len(rows),
            )
        )
    return tuple(out)


@cache
def layer_counters(device: str) -> tuple[LayerCounter, ...]:
    """The counters of one layer read on a card. Raises ``LookupError`` in one line where none were read."""
    fields = (f for f in LayerCounter.__dataclass_fields__ if f not in ("seconds", "stable", "source"))
    names = tuple(fields)
    out = tuple(
        LayerCounter(**{name: row[name] for name in names}, seconds=row["kernel_seconds"])
        for row in read("layer_counters")
        if row["device"] == device
    )
    if not out:
        there = ", ".join(_devices("layer_counters"))
        raise LookupError(f"no counters of a language model were read on {device}; they were on: {there}")
    return out


def _devices(table: str) -> list[str]:
    return list(dict.fromkeys(row["device"] for row in read(table)))
