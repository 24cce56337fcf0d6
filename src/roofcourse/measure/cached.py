"""One row times matrices of growing size, over and over: while a cache holds the matrix, the memory is not read.

Its bytes by formula, divided by its time, then exceed the memory bandwidth: the point stands above the roof.
"""

from __future__ import annotations

import time

import torch

from ..records import Measurement
from ..work import gemm
from .fastest import fastest
from .spec import Spec

#: N of the 1 x N times N x N products in FP32: matrices of 256 KiB to at least four times the last-level cache.
SMALLEST = 256
LARGEST_BYTES = 2**28
SECONDS, QUICK_SECONDS = 1.5, 0.5
#: One sample repeats the call until this many bytes have passed, so that the clock does not count.
SAMPLE_BYTES = 4 * 2**20
ROUNDS = 7
TOLERANCE = 1e-4


def specs() -> tuple[Spec, ...]:
    """What a GPU is asked to do: 16 rows times matrices of 2 MiB to 512 MiB, in FP16."""
    return tuple(Spec("gemm", "fp16", m=16, n=n, k=n) for n in (1024, 2048, 4096, 8192, 16384))


def sizes(last_level_cache: int | None) -> list[int]:
    """N, doubling: the matrix grows fourfold each time."""
    largest = max(LARGEST_BYTES, 4 * (last_level_cache or 0))
    return [SMALLEST * 2**i for i in range(32) if 4 * (SMALLEST * 2**i) ** 2 <= largest]


def on_cpu(last_level_cache: int | None, *, quick: bool, widths=None) -> list[Measurement]:
    """One row times each matrix, on all cores. The time of a record is the fastest of its samples: other programs can
    only make a call longer. Its spread is that of all samples.

    Raises ``ArithmeticError`` in one line if a product is wrong.
    """
    with torch.inference_mode():
        widths = sizes(last_level_cache) if widths is None else widths
        return [_point(n, QUICK_SECONDS if quick else SECONDS) for n in widths]


def _point(n: int, seconds: float) -> Measurement:
    dice = torch.Generator().manual_seed(0)
    x, a = torch.randn(1, n, generator=dice), torch.randn(n, n, generator=dice)
    y = torch.full((1, n), float("nan"))
    torch.mm(x, a, out=y)
    want = x.double() @ a.double()
    error = float((y - want).norm() / want.norm())
    if not error <= TOLERANCE:
        raise ArithmeticError(f"the product 1x{n}x{n} is wrong: relative error {error:.2g}")
    work = gemm(1, n, n, "fp32")
    calls = max(1, int(SAMPLE_BYTES / work.bytes))
    samples: list[float] = []
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(samples) < ROUNDS:
        before = time.perf_counter()
        for _ in range(calls):
            torch.mm(x, a, out=y)
        samples.append((time.perf_counter() - before) / calls)
    return Measurement(
        device="cpu",
        kernel="product_again",
        precision="fp32",
        work=work,
        m=1,
        n=n,
        k=n,
        working_set_bytes=work.bytes,
        kind="measured live",
        source="this session",
        implementation="torch",
        **fastest(samples),
    )
