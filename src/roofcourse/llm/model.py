"""``rc.llm.model(...)``: how many bytes a language model stores and reads, and the linear layers it computes.

Everything follows from the shape numbers of its ``config.json``; nothing is downloaded and no weight is needed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path

import numpy as np

from .._check import number
from ..tables import data_folder
from ..work import Work
from .families import FAMILIES, Parts, config_of, parts
from .formats import cache_bytes, weight_format
from .parts import PHASES, Block

#: Bytes of one activation: 16 bits beside weights of 16 bits or fewer, else as wide as the weights.
ACTIVATION_BYTES = 2.0


@dataclass(frozen=True)
class LinearLayer:
    """One linear layer in one step: X (m, k) times A (k, n), ``count`` times over the model.

    ``work`` is that of one of them: 2mnk FLOP; the bytes of its weights (scales and bias included), of its input and of
    its output. For experts ``count`` is the expected number of those that the step touches and ``m`` the mean number of
    rows of each: neither needs to be whole.
    """

    name: str
    m: float
    n: int
    k: int
    count: float
    work: Work
    weight_bytes: float

    @property
    def total(self) -> Work:
        """The work of all ``count`` of them."""
        return self.work * self.count


@dataclass(frozen=True)
class Model:
    """A language model as bytes and FLOP see it.

    ``key`` and ``name``; ``family`` is the ``model_type`` of its config. ``defaulted``: the keys that the config left
    out, so that Transformers' defaults were taken. ``source``: where the config is from.
    """

    key: str
    name: str
    family: str
    parts: Parts = field(repr=False)
    config: dict = field(repr=False)
    defaulted: tuple[str, ...] = field(repr=False, default=())
    source: str = field(repr=False, default="")

    @property
    def blocks(self) -> tuple[Block, ...]:
        return self.parts.blocks

    @property
    def layers(self) -> int:
        """How many decoder layers there are."""
        return sum(b.count for b in self.blocks)

    @property
    def tied(self) -> bool:
        """Whether the output head uses the weights of the input embedding: stored once, and read in every step."""
        return self.parts.tied

    @property
    def sparse(self) -> bool:
        """Whether it has experts."""
        return any(x.experts for b in self.blocks for x in b.linears)

    @property
    def embedding_parameters(self) -> int:
        """Elements of the input embedding (a table of which a token reads one row)."""
        return self.parts.vocabulary * self.parts.hidden

    @property
    def parameter_count(self) -> int:
        """Parameters stored; a tied head counts once."""
        head = 0 if self.tied else self.embedding_parameters
        positions = self.parts.positions * self.parts.hidden
        layers = sum(b.parameters for b in self.blocks)
        return self.embedding_parameters + positions + layers + self.parts.final_norm + head

    @property
    def active_parameters(self) -> int:
        """Parameters that take part in one token: of experts those chosen; without the tables that are looked up."""
        layers = sum(
            b.count * (b.vectors + sum(x.parameters // (x.experts or 1) * x.per_token for x in b.linears))
            for b in self.blocks
        )
        return layers + self.parts.final_norm + self.embedding_parameters

    def _form(self, precision):
        form = weight_format(precision)
        if form.experts_only and not self.sparse:
            raise ValueError(f"{form.name} is for models with experts, and {self.name} has none: try 'int4'")
        return form

    def embedding_bytes(self, precision="bf16"):
        """Bytes of the input embedding."""
        return _plain(self.embedding_parameters * self._form(precision).rest_bytes)

    def bytes_stored(self, precision="bf16"):
        """Bytes of all parameters: what has to fit in memory."""
        form = self._form(precision)
        layers = sum(
            b.count * (b.vector_bytes(form) + sum(x.bytes(form) * (x.experts or 1) for x in b.linears))
            for b in self.blocks
        )
        tables = (1 if self.tied else 2) * self.embedding_parameters + self.parts.positions * self.parts.hidden
        return _plain(layers + (tables + self.parts.final_norm) * form.rest_bytes)

    def bytes_read_per_step(self, batch=1, precision="bf16"):
        """Bytes of parameters that one decode step over ``batch`` sequences reads: number or array, like ``batch``.

        All but the tables that are looked up (of those it reads a row for each sequence, which counts among the
        activations); a tied head reads the whole embedding. Of experts it reads those that the batch touches: see
        :meth:`~roofcourse.llm.parts.Linear.touched`.
        """
        return self.bytes_read(_tokens(batch, "batch"), precision)

    def bytes_read(self, tokens, precision="bf16"):
        """The same for a step over ``tokens`` tokens in all (``batch`` times the prompt length in a prefill)."""
        form = self._form(precision)
        layers = sum(
            b.count * (b.vector_bytes(form) + sum(x.bytes(form) * x.touched(tokens) for x in b.linears))
            for b in self.blocks
        )
        return _plain(layers + (self.embedding_parameters + self.parts.final_norm) * form.rest_bytes)

    def kv_bytes_per_token(self, precision="bf16"):
        """Bytes that one token adds to the KV cache, over all layers. Scales of a quantised cache are not counted."""
        return _plain(sum(b.count * b.attention.cached for b in self.blocks) * cache_bytes(precision))

    def kv_cache_bytes(self, tokens, precision="bf16"):
        """Bytes of the KV cache that the last of ``tokens`` tokens of one sequence needs.

        Layers with a sliding window need no more than their window. Number or array, like ``tokens``.
        """
        tokens = _tokens(tokens, "tokens")
        elements = sum(b.count * b.attention.cached * b.attention.seen(tokens) for b in self.blocks)
        return _plain(elements * cache_bytes(precision))

    def linear_layers(
        self, batch=1, prompt_length=1, phase="decode", precision="bf16", *, logits="last"
    ) -> list[LinearLayer]:
        """The linear layers of one step, in the order in which they run; the output head last.

        ``phase="decode"``: one new token for each of ``batch`` sequences, M = batch. ``phase="prefill"``: whole
        prompts, M = batch x prompt_length, but for the head, which only the last token of each needs: M = batch. With
        ``logits="all"`` the head runs on every token, as Transformers' ``forward`` does unless told otherwise.
        """
        form, batch = self._form(precision), _tokens(batch, "batch")
        tokens = batch * _length(prompt_length, phase)
        rows = _head_rows(batch, tokens, logits)
        activation = max(ACTIVATION_BYTES, form.rest_bytes)
        found: dict[tuple, list] = {}
        for b in self.blocks:
            for x in b.linears:
                found.setdefault((x.name, x.k, x.n), [x, 0])[1] += b.count
        out = []
        for x, count in found.values():
            touched = x.touched(tokens)
            out.append(
                _layer(x.name, tokens * x.per_token / touched, x.n, x.k, count * touched, x.bytes(form), activation)
            )
        head = self.embedding_parameters * form.rest_bytes
        out.append(_layer("lm_head", rows, self.parts.vocabulary, self.parts.hidden, 1, head, activation))
        return out

    def linear_flop(self, batch=1, prompt_length=1, phase="decode", *, logits="last"):
        """FLOP of all linear layers of one step, the head included: those that :meth:`linear_layers` lists."""
        batch = _tokens(batch, "batch")
        tokens = batch * _length(prompt_length, phase)
        a_token = sum(b.count * x.k * x.n * x.per_token for b in self.blocks for x in b.linears)
        return _plain(2 * (tokens * a_token + _head_rows(batch, tokens, logits) * self.embedding_parameters))

    def attention_flop(self, batch=1, prompt_length=1, phase="decode"):
        """FLOP of the two products of attention in one step, over all layers; softmax is left out.

        A decode step has one query against ``prompt_length`` + 1 tokens, itself included. A compressed cache (MLA) is
        computed on as it lies. A prefill counts the pairs that a causal mask (and a window) leaves.
        """
        batch = _tokens(batch, "batch")
        _length(prompt_length, phase)
        length = _tokens(prompt_length, "prompt_length")
        return _plain(
            batch
            * sum(
                b.count
                * b.attention.flop_per_pair(phase)
                * (b.attention.pairs(length) if phase == "prefill" else b.attention.seen(length + 1))
                for b in self.blocks
            )
        )

    def with_layers(self, count: int) -> Model:
        """The same model with only the first ``count`` of its layers (all else is kept).

        Raises ``ValueError`` for a count that it does not have.
        """
        if count == self.layers:
            return self
        if not 1 <= count <= self.layers:
            raise ValueError(f"{self.name} has {self.layers} layers: choose 1 to {self.layers}, not {count}")
        text = self.config.get("text_config")
        config = dict(text if isinstance(text, dict) else self.config)
        config["n_layer" if self.family == "gpt2" else "num_hidden_layers"] = count
        if isinstance(config.get("layer_types"), list):  # families that have no such key do not look at it
            config["layer_types"] = config["layer_types"][:count]
        whole = {**self.config, "text_config": config} if isinstance(text, dict) else config
        return _build(whole, self.key, self.name, self.key, self.source)

    def __str__(self) -> str:
        return f"{self.name}: {self.parameter_count / 1e9:.2f} billion parameters, {self.layers} layers ({self.family})"


def _layer(name, m, n, k, count, weights, activation) -> LinearLayer:
    m, count = _plain(m), _plain(count)
    return LinearLayer(name, m, n, k, count, Work(2 * m * n * k, weights + activation * m * (k + n)), weights)


def _plain(value):
    """A whole number as ``int``, another as ``float``; an array as it is."""
    if np.ndim(value):
        return np.asarray(value, dtype=float)
    value = float(value)
    return int(value) if value.is_integer() else value


def _tokens(value, name: str):
    return number(value, name, None, zero=False)


def _length(prompt_length, phase: str):
    """Tokens that one sequence brings into the step."""
    if phase not in PHASES:
        raise ValueError(f"unknown phase {phase!r}: 'prefill' (whole prompts) or 'decode' (one token a sequence)")
    length = _tokens(prompt_length, "prompt_length")
    return length if phase == "prefill" else 1


def _head_rows(batch, tokens, logits: str):
    """The rows that the output head computes."""
    if logits not in ("last", "all"):
        raise ValueError(f"unknown logits {logits!r}: 'last' (of each sequence) or 'all' (every token)")
    return batch if logits == "last" else tokens


def models() -> tuple[Model, ...]:
    """The bundled models, smallest first."""
    return tuple(sorted(_bundled().values(), key=lambda m: m.parameter_count))


@cache
def _bundled() -> dict[str, Model]:
    out = {}
    for path in sorted((data_folder() / "models").glob("*.json")):
        facts = json.loads(path.read_text(encoding="utf-8"))
        out[path.stem] = _build(facts["config"], path.stem, facts["name"], f"data/models/{path.name}", facts["source"])
    return out


def _build(given: dict, key: str, name: str, where: str, source: str = "") -> Model:
    config = config_of(given, where)
    built = parts(config)
    return Model(key, name, config.family, built, dict(given), tuple(config.defaulted), source)


def _simple(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def model(config) -> Model:
    """A model: a bundled one by name (``"qwen2.5-7b"``), a ``config.json`` by its path, or its content as a dictionary.

    Raises ``LookupError`` with the nearest names for a name that is neither bundled nor a file, and ``ValueError`` in
    one line that names the key for a config that is broken, incomplete, or of a family that is not known here.
    """
    if isinstance(config, Model):
        return config
    if isinstance(config, dict):
        name = str(config.get("_name_or_path") or config.get("model_type") or "config")
        return _build(config, _slug(name), name, "config", "a dictionary")
    path = Path(config)
    bundled = {_simple(k): m for k, m in _bundled().items()} | {_simple(m.name): m for m in _bundled().values()}
    if isinstance(config, str) and _simple(config) in bundled and not path.is_file():
        return bundled[_simple(config)]
    if path.is_dir():
        path = path / "config.json"
    if path.is_file():
        try:
            given = json.loads(path.read_text(encoding="utf-8"))
        except (UnicodeDecodeError, json.JSONDecodeError) as error:
            raise ValueError(f"{path}: not a config.json ({error})") from None
        name = path.parent.name if path.name == "config.json" and path.parent.name else path.stem
        return _build(given, _slug(name), name, str(path), str(path))
    near = get_close_matches(str(config).lower(), _bundled(), n=3, cutoff=0.4)
    hint = f"nearest: {', '.join(near)}" if near else f"bundled: {', '.join(_bundled())}"
    raise LookupError(f"no model {str(config)!r}: neither a bundled one ({hint}) nor a config.json on this machine")


def _slug(name: str) -> str:
    return "-".join("".join(c if c.isalnum() or c == "." else " " for c in name.lower()).split()) or "config"


__all__ = ["FAMILIES", "LinearLayer", "Model", "model", "models"]
