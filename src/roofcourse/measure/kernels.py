"""The timed kernels: moving data, and matrix products. Each returns :class:`~roofcourse.Measurement` records."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from ..precision import precision as _precision
from ..records import Measurement
from ..work import Work, add, copy, gemm, reduction, triad
from .clock import Timing, time_call

#: Largest relative error of a correct product of random matrices, by what one multiplication keeps.
_TOLERANCE = {"fp64": 1e-12, "fp32": 1e-4, "fp16": 2e-2, "bf16": 1e-1}


def synchroniser(where: str):
    """What waits until the device has finished; a CPU has finished when the call returns."""
    return torch.cuda.synchronize if where == "cuda" else lambda: None


def _record(where: str, timing: Timing, work: Work, **fields) -> Measurement:
    stable = timing.stopped == "stable" or timing.spread <= 0.1
    return Measurement(
        device=where,
        work=work,
        seconds=timing.median,
        spread=timing.spread,
        stable=stable,
        note=None if stable else f"unstable: {timing.stopped}",
        kind="measured live",
        source="this session",
        **fields,
    )


def bandwidth(where: str, precision: str, last_level_cache: int | None, limit_seconds: float) -> Iterator[Measurement]:
    """Kernels that do next to no arithmetic: read (a sum), copy, add and triad.

    Each array is at least 8 times the last-level cache in FP32, so that the data come from memory; other precisions
    keep the number of elements. Raises ``ValueError`` for a precision other than fp32 and fp64.
    """
    if precision not in ("fp32", "fp64"):
        raise ValueError(f"bandwidth is measured live in fp32 or fp64, not {precision}")
    n = max(8 * (last_level_cache or 0), 256 * 2**20) // 4
    dtype = getattr(torch, _precision(precision).torch_name)
    a = torch.rand(n, device=where, dtype=dtype)
    b = torch.rand(n, device=where, dtype=dtype)
    c = torch.empty_like(a)
    for kernel, work, call in (
        ("read_reduce", reduction(n, precision), lambda: torch.sum(a)),
        ("copy", copy(n, precision), lambda: c.copy_(a)),
        ("add", add(n, precision), lambda: torch.add(a, b, out=c)),
        ("triad", triad(n, precision), lambda: torch.add(a, b, alpha=3.0, out=c)),
    ):
        timing = time_call(call, synchroniser(where), limit_seconds=limit_seconds)
        yield _record(where, timing, work, kernel=kernel, precision=precision, elements=n, working_set_bytes=work.bytes)


def matmul(where: str, precision: str, m: int, n: int, k: int, limit_seconds: float) -> Measurement:
    """One product X (m, k) A (k, n) of random matrices, checked against FP64 on its first row before it is timed.

    Raises ``ValueError`` for a precision that is not measured live yet, ``ArithmeticError`` if the result is wrong.
    """
    name = _precision(precision).name
    if name not in _TOLERANCE:
        raise ValueError(f"{name} matrix products are not measured live; choose one of {', '.join(_TOLERANCE)}")
    dtype = getattr(torch, _precision(name).torch_name)
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(m, k, generator=generator).sub_(0.5).to(where, dtype)
    a = torch.rand(k, n, generator=generator).sub_(0.5).to(where, dtype)
    y = torch.empty(m, n, device=where, dtype=dtype)
    torch.matmul(x, a, out=y)
    # A few columns are enough to tell a wrong product, and cost little beside the timing.
    exact = x[0].double() @ a[:, :64].double()
    error = ((y[0, :64].double() - exact).norm() / exact.norm()).item()
    if not error <= _TOLERANCE[name]:
        raise ArithmeticError(f"{name} product {m}x{n}x{k} on {where} is wrong: relative error {error:.2g}")
    timing = time_call(lambda: torch.matmul(x, a, out=y), synchroniser(where), limit_seconds=limit_seconds)
    return _record(
        where,
        timing,
        gemm(m, n, k, name),
        kernel="gemm",
        precision=name,
        m=m,
        n=n,
        k=k,
        working_set_bytes=gemm(m, n, k, name).bytes,
    )
