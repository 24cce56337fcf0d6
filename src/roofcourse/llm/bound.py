"""The lower bound of a step: what a model must at least read, write and compute, on a machine with known roofs.

A decode step makes one token for each sequence of the batch. Before it can end, the weights have been read once, the
KV cache of every sequence has been read, and the arithmetic is done::

    T >= max((Q_weights + Q_kv + Q_activations) / B, W / F)

The roofs are measured ones; a step cannot beat them, and real steps are slower. Parts may overlap, so the bound is the
longer of traffic and arithmetic, not their sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..catalogue import device as _device
from ..roofline import Roofline
from ..work import Work
from .formats import WeightFormat, cache_bytes, weight_format
from .model import ACTIVATION_BYTES, Model, _length, _plain, _tokens
from .model import model as _model

#: The parts of a step; a tie goes to the earlier one.
PARTS = ("weights", "kv", "activations", "compute")
#: Beyond this batch nobody asks when the weights stop being the bound.
LARGEST_BATCH = 2**24


@dataclass(frozen=True)
class StepBound:
    """The lower bound of one step. Numbers, or arrays of the shape that batch and prompt length have together.

    Bytes: ``weights_bytes`` (parameters read), ``kv_bytes`` (the cache: read and written), ``activations_bytes``.
    Seconds: ``weights_seconds``, ``kv_seconds``, ``activations_seconds`` at bandwidth B, ``compute_seconds`` of
    ``flop`` at peak F (``compute_precision``); ``seconds``: the bound. ``bound``: ``"memory"`` or ``"compute"``;
    ``part``: which part binds, the longest of the four (within memory: the largest share of the traffic).
    ``tokens_per_second``: at best, ``tokens`` / ``seconds``.
    ``batch_where_weights_stop``: the smallest batch at which the weights are no longer the longest part, and
    ``part_after_weights`` the part that is, then. ``memory_needed``: bytes of parameters and KV cache; ``fits``
    compares it with the memory of the machine (``memory_bytes``; ``None`` where that is not known). A running program
    needs more: activations, workspace, the driver.
    """

    phase: str
    model: Model
    device: str
    roofline: Roofline = field(repr=False)
    weight_precision: str
    kv_precision: str
    compute_precision: str
    batch: int
    prompt_length: int
    tokens: int
    flop: float
    weights_bytes: float
    kv_bytes: float
    activations_bytes: float
    weights_seconds: float
    kv_seconds: float
    activations_seconds: float
    compute_seconds: float
    seconds: float
    bound: str
    part: str
    tokens_per_second: float
    batch_where_weights_stop: int
    part_after_weights: str
    memory_needed: int
    memory_bytes: int | None
    fits: bool | None

    @property
    def bytes(self):
        """All the traffic of the step."""
        return self.weights_bytes + self.kv_bytes + self.activations_bytes

    @property
    def memory_seconds(self):
        """The traffic at full bandwidth."""
        return self.weights_seconds + self.kv_seconds + self.activations_seconds

    @property
    def work(self) -> Work:
        """The whole step as one point of the roofline."""
        return Work(self.flop, self.bytes)

    @property
    def intensity(self):
        """Arithmetic intensity of the whole step, FLOP/byte."""
        return self.flop / self.bytes

    @property
    def parts(self) -> dict:
        """Seconds of each part, by name."""
        return {name: getattr(self, f"{name}_seconds") for name in PARTS}

    def __str__(self) -> str:
        if np.ndim(self.seconds):
            return f"{self.model.name} on {self.device}, {self.phase}: bounds of {np.size(self.seconds)} steps"
        what = {"kv": "the KV cache binds", "compute": "the arithmetic binds"}.get(self.part, f"the {self.part} bind")
        return (
            f"{self.model.name} on {self.device}, {self.phase}, batch {self.batch:g}, prompt {self.prompt_length:g}: "
            f"at least {self.seconds * 1e3:.4g} ms a step, at most {self.tokens_per_second:,.4g} tokens/s; {what}"
            + ("" if self.fits in (True, None) else "; it does not fit the memory")
        )


def decode_bound(
    model, device, batch=1, prompt_length=1024, weight_precision="bf16", kv_precision="bf16", *, activations="step"
) -> StepBound:
    """Lower bound of one decode step: ``batch`` sequences, each with ``prompt_length`` tokens in the KV cache.

    ``model``: as in :func:`roofcourse.llm.model`. ``device``: a card of the catalogue, its name, or a measured machine
    (``rc.bench("local").device``). ``batch`` and ``prompt_length`` may be arrays (they broadcast).
    ``weight_precision``: see :func:`roofcourse.llm.formats.weight_format`. The new token reads the cache and adds its
    own keys and values: (prompt_length + 1) tokens of KV for each sequence, fewer in layers with a window.

    ``activations="step"`` counts what enters and leaves the step: embedding rows in, logits out. Between the layers a
    cache may keep them, so this is a bound of every implementation. ``"layers"`` counts the input and output of every
    linear layer, as if each went through memory.

    Raises ``LookupError`` in one line if the machine has no measured matrix product that could do the arithmetic.
    """
    return _bound("decode", model, device, batch, prompt_length, weight_precision, kv_precision, activations)


def prefill_bound(
    model, device, batch=1, prompt_length=1024, weight_precision="bf16", kv_precision="bf16", *, activations="step"
) -> StepBound:
    """Lower bound of the prefill of ``batch`` prompts of ``prompt_length`` tokens, with causal attention.

    Arguments as in :func:`decode_bound`. The KV cache of the prompts is written once (in layers with a window, that of
    the tokens inside it); the head computes the logits of the last token of each prompt. ``tokens_per_second`` counts
    the tokens of the prompts.
    """
    return _bound("prefill", model, device, batch, prompt_length, weight_precision, kv_precision, activations)


def _bound(phase, model, device, batch, prompt_length, weight_precision, kv_precision, activations) -> StepBound:
    m, machine, form = _model(model), _machine(device), weight_format(weight_precision)
    batch, length = np.broadcast_arrays(_tokens(batch, "batch"), _tokens(prompt_length, "prompt_length"))
    roof = _roof(machine, form)
    step = _Step(phase, m, form, cache_bytes(kv_precision), roof, activations)
    weights, kv, moved, flop = step.amounts(batch, length)
    seconds = np.array([weights / roof.bandwidth, kv / roof.bandwidth, moved / roof.bandwidth, flop / roof.peak])
    traffic = seconds[:3].sum(axis=0)
    longest = np.maximum(traffic, seconds[3])
    memory = traffic > seconds[3]
    tokens = batch * _length(length, phase)
    lengths, places = np.unique(length, return_inverse=True)
    stop_at = [step.weights_stop(at) for at in lengths]
    stops = np.array(stop_at, dtype=float)[places].reshape(length.shape)
    after = np.array([step.longest_part(*x) for x in zip(stop_at, lengths, strict=True)])[places].reshape(length.shape)
    needed = m.bytes_stored(form) + batch * m.kv_cache_bytes(length + (phase == "decode"), kv_precision)
    room = getattr(machine, "memory_bytes", None)
    return StepBound(
        phase=phase,
        model=m,
        device=getattr(machine, "name", str(machine)),
        roofline=roof,
        weight_precision=form.name,
        kv_precision=str(kv_precision),
        compute_precision=roof.precision,
        batch=_plain(batch),
        prompt_length=_plain(length),
        tokens=_plain(tokens),
        flop=_plain(flop),
        weights_bytes=_plain(weights),
        kv_bytes=_plain(kv),
        activations_bytes=_plain(moved),
        weights_seconds=_float(seconds[0]),
        kv_seconds=_float(seconds[1]),
        activations_seconds=_float(seconds[2]),
        compute_seconds=_float(seconds[3]),
        seconds=_float(longest),
        bound=_names(np.where(memory, "memory", "compute")),
        part=_names(_part(seconds, memory)),
        tokens_per_second=_float(tokens / longest),
        batch_where_weights_stop=_plain(stops),
        part_after_weights=_names(after),
        memory_needed=_plain(needed),
        memory_bytes=room,
        fits=None if room is None else (needed <= room if np.ndim(needed) else bool(needed <= room)),
    )


@dataclass(frozen=True)
class _Step:
    """One kind of step of one model on one machine, as a function of batch and prompt length."""

    phase: str
    model: Model
    form: WeightFormat
    kv: float
    roof: Roofline
    activations: str

    def __post_init__(self) -> None:
        if self.activations not in ("step", "layers"):
            raise ValueError(f"unknown activations {self.activations!r}: 'step' or 'layers'")

    def amounts(self, batch, length):
        """Bytes of weights, KV cache and activations, and FLOP."""
        m = self.model
        tokens = batch * _length(length, self.phase)
        weights = m.bytes_read(tokens, self.form) + np.zeros_like(tokens)
        kv = batch * m.kv_cache_bytes(length + (self.phase == "decode"), "int8") * self.kv
        width = max(ACTIVATION_BYTES, self.form.rest_bytes)
        moved = width * m.parts.hidden * tokens
        if self.activations == "step":
            moved = moved + width * m.parts.vocabulary * batch
        else:
            for x in m.linear_layers(batch, length, self.phase, self.form):
                moved = moved + x.count * (x.work.bytes - x.weight_bytes)
        flop = m.linear_flop(batch, length, self.phase) + m.attention_flop(batch, length, self.phase)
        return weights, kv, moved, flop

    def parts_at(self, batch, length) -> np.ndarray:
        weights, kv, moved, flop = self.amounts(np.float64(batch), np.float64(length))
        b = self.roof.bandwidth
        return np.array([weights / b, kv / b, moved / b, flop / self.roof.peak])

    def longest_part(self, batch, length) -> str:
        return PARTS[int(np.argmax(self.parts_at(batch, length)[1:])) + 1]

    def weights_stop(self, length) -> int:
        """The smallest batch at which another part takes as long as the weights, by bisection.

        The other parts grow in proportion to the batch, the weights more slowly or not at all: they cross once.
        """

        def stopped(batch) -> bool:
            seconds = self.parts_at(batch, length)
            return bool(seconds[0] <= seconds[1:].max())

        low, high = 0, 1
        while not stopped(high) and high < LARGEST_BATCH:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if stopped(middle) else (middle, high)
        return high


def _part(seconds: np.ndarray, memory) -> np.ndarray:
    """The part that binds: the arithmetic if it takes longer than all the traffic, else the largest share of that."""
    share = np.argmax(seconds[:3], axis=0)
    return np.array(PARTS)[np.where(memory, share, 3)]


def _machine(device):
    """A card of the catalogue by name, or anything that has measured ceilings of its own."""
    return device if hasattr(device, "roofline") and hasattr(device, "bandwidth") else _device(device)


def _roof(machine, form: WeightFormat) -> Roofline:
    """The roofline for the arithmetic of a weight format: the first precision of the format that was measured."""
    for name in form.compute:
        try:
            return machine.roofline(name)
        except LookupError:
            continue
    have = ", ".join(machine.precisions) or "none"
    raise LookupError(
        f"{machine.name} has no measured matrix product for {form.name} weights "
        f"({' or '.join(form.compute)}); it has {have}"
    )


def _float(value):
    return float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=float)


def _names(value):
    return str(value) if np.ndim(value) == 0 else value
