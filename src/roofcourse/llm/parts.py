"""The parts of a language model that matter for bytes and FLOP: linear layers, attention, blocks of equal layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .formats import WeightFormat

PHASES = ("prefill", "decode")


@dataclass(frozen=True)
class Linear:
    """One linear layer: k inputs, n outputs.

    ``experts``: how many copies there are, of which a token uses ``per_token``; ``None`` for an ordinary layer.
    ``router``: it chooses the experts, and is never quantised; ``wide``: kept in FP32 beside narrower weights.
    """

    name: str
    k: int
    n: int
    bias: bool = False
    experts: int | None = None
    per_token: int = 1
    router: bool = False
    wide: bool = False

    @property
    def parameters(self) -> int:
        """Weights and biases of all copies."""
        return (self.k * self.n + self.n * self.bias) * (self.experts or 1)

    def quantised(self, form: WeightFormat) -> bool:
        return form.quantised and not self.router and (self.experts is not None or not form.experts_only)

    def bytes(self, form: WeightFormat) -> float:
        """Bytes of one copy."""
        rest = form.wide_bytes if self.wide else form.rest_bytes
        matrix = form.matrix_bytes(self.k, self.n) if self.quantised(form) else self.k * self.n * rest
        return matrix + self.n * self.bias * rest

    def touched(self, tokens):
        """How many copies a step over ``tokens`` tokens reads.

        Of E experts with p for each token: E (1 - (1 - p/E)^tokens), the expected number if routing is uniform and
        tokens are independent. One token reads p. Skewed routing reads fewer: uniform routing is the worst case of
        independent tokens.
        """
        if self.experts is None:
            return np.ones_like(np.asarray(tokens, dtype=float))
        return self.experts * (1 - (1 - self.per_token / self.experts) ** np.asarray(tokens, dtype=float))


@dataclass(frozen=True)
class Attention:
    """The attention of one layer.

    ``heads`` query heads; a query and a key have ``key_dim`` elements, a value ``value_dim``. ``cached``: elements of
    the KV cache for one token. ``window``: a token sees that many tokens, itself included; ``None`` for all.
    ``latent``: with a compressed cache (multi-head latent attention) the pair ``(key, value)`` of the dimensions in
    which a decode step computes on the cache as it lies, without expanding it.
    """

    heads: int
    key_dim: int
    value_dim: int
    cached: int
    window: int | None = None
    latent: tuple[int, int] | None = None

    def seen(self, tokens):
        """How many of ``tokens`` tokens the last one sees."""
        tokens = np.asarray(tokens, dtype=float)
        return tokens if self.window is None else np.minimum(tokens, self.window)

    def pairs(self, prompt_length):
        """Pairs of query and key in a causal prefill of one sequence."""
        length = np.asarray(prompt_length, dtype=float)
        inside = self.seen(length)
        return inside * (inside + 1) / 2 + (length - inside) * inside

    def flop_per_pair(self, phase: str) -> int:
        """FLOP of one pair in all heads: the product with the key, and the weighted sum of the values."""
        key, value = self.latent if phase == "decode" and self.latent else (self.key_dim, self.value_dim)
        return 2 * self.heads * (key + value)


@dataclass(frozen=True)
class Block:
    """``count`` layers that are alike: their linear layers, their attention, and the elements of norms and the like
    (``vectors``; ``wide_vectors`` of those are kept in FP32)."""

    count: int
    linears: tuple[Linear, ...]
    attention: Attention
    vectors: int
    wide_vectors: int = 0

    @property
    def parameters(self) -> int:
        return self.count * (sum(x.parameters for x in self.linears) + self.vectors)

    def vector_bytes(self, form: WeightFormat) -> float:
        """Bytes of the norms and the like of one layer."""
        return (self.vectors - self.wide_vectors) * form.rest_bytes + self.wide_vectors * form.wide_bytes
