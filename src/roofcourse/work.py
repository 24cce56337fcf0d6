"""Counting: the FLOP that an operation needs and the bytes it must at least move.

The rules, once and for all:

* one floating-point addition or multiplication is 1 FLOP, a fused multiply-add (FMA) is 2;
* integer operations and address arithmetic are not FLOP;
* bytes are reads **and** writes between memory and the chip; each input counts once, each output once (the
  *compulsory* traffic). A real kernel can move more; it moves less only if a cache keeps data between kernels.

Every size may be a number or a NumPy array (shapes broadcast); sizes are counts of elements. They need not be whole:
the formulas hold in between as well, where a curve is drawn, or a size is looked for whose intensity is the ridge
point. Every function raises one ``ValueError`` for a size that is zero, negative, NaN or not a number, and for an
unknown precision.

Sources. [1] "The roofline model, from measured data" (S. Zhang, 2026), sections 1, 2 and 4 and the method of its
data. [2] "Roofline: locating GPU bottlenecks by arithmetic intensity" (2026), sections 2 and 4. [3] Williams, Waterman,
Patterson, CACM 52(4), 2009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._check import number
from .precision import Precision
from .precision import precision as _precision


@dataclass(frozen=True)
class Work:
    """What a kernel has to do: ``flop`` (W, FLOP) and ``bytes`` (Q, bytes), numbers or arrays of one shape.

    Raises ``ValueError`` if ``flop`` is negative, if ``bytes`` is not positive (a kernel that only writes still moves
    what it writes), or if either is NaN or infinite.
    """

    flop: float
    bytes: float

    def __post_init__(self) -> None:
        flop = number(self.flop, "flop", "FLOP", zero=True)
        moved = number(self.bytes, "bytes", "bytes", zero=False)
        if np.ndim(flop) or np.ndim(moved):
            flop, moved = (np.array(a) for a in np.broadcast_arrays(flop, moved))
        object.__setattr__(self, "flop", flop)
        object.__setattr__(self, "bytes", moved)

    @property
    def intensity(self):
        """Arithmetic intensity I = W / Q, in FLOP/byte."""
        return self.flop / self.bytes

    def __add__(self, other: Work) -> Work:
        """Two kernels, or one kernel that does both."""
        if not isinstance(other, Work):
            return NotImplemented
        return Work(self.flop + other.flop, self.bytes + other.bytes)

    def __mul__(self, times) -> Work:
        """The same kernel ``times`` times."""
        return Work(self.flop * times, self.bytes * times)

    __rmul__ = __mul__


class Rates:
    """What follows from the ``work`` of a kernel and the ``seconds`` it took, for the records that have both."""

    @property
    def flop_per_s(self) -> float:
        """Throughput P = W / T, in FLOP/s."""
        return self.work.flop / self.seconds

    @property
    def bytes_per_s(self) -> float:
        """Achieved bandwidth Q / T, in bytes/s."""
        return self.work.bytes / self.seconds

    @property
    def intensity(self) -> float:
        """Arithmetic intensity W / Q, in FLOP/byte."""
        return self.work.intensity


class Counted(Rates):
    """The same for a record of counters: ``dram_bytes``, and ``flop`` that may be ``None``, not known."""

    @property
    def work(self) -> Work:
        """FLOP, and bytes by counter. Raises ``ValueError`` in one line where the FLOP are not known."""
        if self.flop is None:
            raise ValueError(self._uncounted())
        return Work(self.flop, self.dram_bytes)

    @property
    def bytes_per_s(self) -> float:
        """Achieved memory bandwidth in bytes/s, with the bytes of the counters, whether or not the FLOP are known."""
        return self.dram_bytes / self.seconds


def _count(**sizes):
    return [number(v, name, None, zero=False) for name, v in sizes.items()]


def _bytes_per_element(precision: str | Precision) -> float:
    p = _precision(precision)
    if p.name == "nvfp4":
        raise ValueError(f"{p.name} is counted for gemm only: its scale bytes depend on how the matrix is blocked")
    return p.bytes_per_element


def gemm(m, n, k, precision: str | Precision = "fp16") -> Work:
    """Matrix product X (m, k) times A (k, n) gives Y (m, n): W = 2mnk.

    Bytes, each matrix once: ``s(mk + kn + mn)`` with s bytes an element [1, section 2]. Three formats store their
    output wider than their inputs, as the benchmark of [1] does:

    * ``fp8_e4m3``: ``mk + kn + 2mn + 8``: 2-byte output, two 4-byte scales;
    * ``nvfp4``: ``(mk + kn)/2 + 2mn + (ceil(m/128)*128*k + kn)/16``: 2-byte output, one scale byte per 16 inputs, the
      scales of X padded to 128 rows;
    * ``int8``: ``mk + kn + 4mn``: 4-byte integer output; W then counts integer operations (OP, not FLOP).
    """
    m, n, k = _count(m=m, n=n, k=k)
    name = _precision(precision).name
    inputs, output = m * k + k * n, m * n
    if name == "fp8_e4m3":
        moved = inputs + 2 * output + 8
    elif name == "nvfp4":
        moved = 0.5 * inputs + 2 * output + (np.ceil(m / 128) * 128 * k + k * n) / 16
    elif name == "int8":
        moved = inputs + 4 * output
    else:
        moved = _precision(name).bytes_per_element * (inputs + output)
    return Work(2 * m * n * k, moved)


def gemv(n, k, precision: str | Precision = "fp32") -> Work:
    """Matrix (n, k) times vector (k): W = 2nk, Q = s(nk + k + n) [2, section 2]. The same as ``gemm`` with one row."""
    n, k = _count(n=n, k=k)
    return Work(2 * n * k, _bytes_per_element(precision) * (n * k + k + n))


def elementwise(n, precision: str | Precision = "fp32", *, flop_per_element=2, reads=1, writes=1) -> Work:
    """A map over n elements: ``flop_per_element`` operations, ``reads`` arrays in, ``writes`` arrays out.

    The defaults are y = x * a + b with constants a and b: one FMA, one read, one write, so I = 1/s [1, section 2].
    ReLU is ``flop_per_element=1``; a copy is ``flop_per_element=0``. A map that only writes has ``reads=0``: its writes
    count.
    """
    (n,) = _count(n=n)
    flop = number(flop_per_element, "flop_per_element", "FLOP", zero=True)
    arrays = number(reads, "reads", "arrays", zero=True) + number(writes, "writes", "arrays", zero=True)
    return Work(flop * n, _bytes_per_element(precision) * arrays * n)


def copy(n, precision: str | Precision = "fp32") -> Work:
    """y = x: no FLOP, one read and one write per element [1, section 4]."""
    return elementwise(n, precision, flop_per_element=0)


def add(n, precision: str | Precision = "fp32") -> Work:
    """c = a + b: 1 FLOP, two reads and one write per element; I = 1/(3s) [2, section 2]."""
    return elementwise(n, precision, flop_per_element=1, reads=2)


def axpy(n, precision: str | Precision = "fp32") -> Work:
    """y = a * x + y (BLAS axpy): 2 FLOP, two reads and one write per element; I = 2/(3s) [2, section 2]."""
    return elementwise(n, precision, flop_per_element=2, reads=2)


def triad(n, precision: str | Precision = "fp32") -> Work:
    """c = a + s * b (STREAM triad): 2 FLOP, two reads and one write per element [1, section 4]."""
    return elementwise(n, precision, flop_per_element=2, reads=2)


def reduction(n, precision: str | Precision = "fp32") -> Work:
    """The sum of n elements: n - 1 additions, n reads and one write; I is about 1/s [2, section 2]."""
    (n,) = _count(n=n)
    return Work(n - 1, _bytes_per_element(precision) * (n + 1))


def stencil(n, points=3, precision: str | Precision = "fp32", *, neighbours_cached=True) -> Work:
    """A weighted sum of ``points`` neighbours for each of n outputs: ``points`` multiplications, one addition fewer.

    With ``neighbours_cached`` each input is read from memory once, so Q = 2sn; without, ``points`` times, so
    Q = (points + 1)sn. For 3 points in FP32 that is I = 0.63 and 0.31: the range of [2, section 4].
    """
    n, points = _count(n=n, points=points)
    reads = 1 if neighbours_cached else points
    return Work((2 * points - 1) * n, _bytes_per_element(precision) * (reads + 1) * n)


def conv2d(batch, in_channels, out_channels, height, width, *, kernel=3, precision: str | Precision = "fp32") -> Work:
    """A ``kernel`` x ``kernel`` convolution, stride 1, "same" padding; images (batch, in_channels, height, width).

    W = 2 * batch * height * width * out_channels * in_channels * kernel^2. Bytes: input, weights and output once each.
    A few channels give an I of a few FLOP/byte, many give hundreds [2, section 4].
    """
    b, ci, co, h, w, r = _count(
        batch=batch, in_channels=in_channels, out_channels=out_channels, height=height, width=width, kernel=kernel
    )
    moved = b * ci * h * w + co * ci * r * r + b * co * h * w
    return Work(2 * b * h * w * co * ci * r * r, _bytes_per_element(precision) * moved)


def fft(n, precision: str | Precision = "fp32", *, batch=1, passes=1) -> Work:
    """A complex FFT of length n: 5 n log2(n) FLOP, the convention of FFT benchmarks (radix 2, Cooley and Tukey).

    Each pass over memory reads and writes n complex numbers of 2s bytes: Q = 4sn * passes. ``passes`` is 1 while the
    transform fits on the chip. I = 5 log2(n)/(4s * passes): 1 to 5 in FP32 for usual lengths [2, section 4].
    """
    n, batch, passes = _count(n=n, batch=batch, passes=passes)
    if np.any(np.asarray(n) < 2):
        raise ValueError("n must be 2 or more: an FFT of one number does nothing")
    return Work(5 * n * np.log2(n) * batch, 4 * _bytes_per_element(precision) * n * passes * batch)


def attention(
    batch,
    heads,
    queries,
    keys,
    head_dim,
    precision: str | Precision = "fp16",
    *,
    kv_heads=None,
    causal=False,
    fused=True,
) -> Work:
    """softmax(Q K^T) V for ``heads`` query heads of ``head_dim``, ``queries`` new tokens, ``keys`` tokens in all.

    W counts the two matrix products, 4 * batch * heads * head_dim FLOP per (query, key) pair; the softmax between them
    is left out (it is a few FLOP per pair and runs on other units). ``causal`` counts only the pairs a query may see,
    the last ``queries`` positions of ``keys``. Bytes: Q, K, V and the output once each; ``kv_heads`` (default:
    ``heads``) shrinks K and V. Unfused, the score matrix is also written and read twice (scores, then probabilities).
    """
    b, h, q, kv, d = _count(batch=batch, heads=heads, queries=queries, keys=keys, head_dim=head_dim)
    (g,) = _count(kv_heads=h if kv_heads is None else kv_heads)
    if causal and np.any(np.asarray(q) > np.asarray(kv)):
        raise ValueError("queries must not exceed keys in causal attention: each new token is also a key")
    # Query i of q (from 0) sees the kv - q older tokens and i + 1 of the new ones.
    pairs = b * h * (q * (kv - q) + q * (q + 1) / 2 if causal else q * kv)
    elements = b * (2 * h * q * d + 2 * g * kv * d)
    if not fused:
        elements = elements + 4 * b * h * q * kv
    return Work(4 * d * pairs, _bytes_per_element(precision) * elements)


def fma_sweep(n, fma_per_element, precision: str | Precision = "fp32") -> Work:
    """``fma_per_element`` (R) dependent FMAs on each of n elements: W = 2Rn, Q = 2sn, I = R/s [1, section 4].

    The one kernel that walks along the whole roofline: R sets I and nothing else changes.
    """
    n, r = _count(n=n, fma_per_element=fma_per_element)
    return Work(2 * r * n, 2 * _bytes_per_element(precision) * n)
