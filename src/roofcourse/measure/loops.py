"""The same matrix product by different loops, on one core: what the loop orders of ``loopnest`` cost in time.

Compiled by numba, so that the loops run as written; the product of torch's library beside them. The bytes of a record
are *counted* by :mod:`roofcourse.loopnest`, not read from the machine: its caches serve a part of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numba
import numpy as np
import torch

from ..loopnest import BLOCK, work
from ..records import Measurement
from .cpu import edge_past_the_cache
from .fastest import fastest

#: How often each loop runs. They take turns, so that a busy moment of the machine does not hit one of them alone.
ROUNDS = 7
#: After this many seconds no new round begins, if there have been three.
SECONDS = 30.0
#: Largest relative error of a right product in FP32.
TOLERANCE = 1e-4

# One core, numbers added in the order written; a multiplication and an addition may become one FMA.
_compile = numba.njit(fastmath={"contract"}, nogil=True)


@_compile
def naive(x, a, y):
    """One element of Y after the other; A is walked down its columns."""
    for i in range(x.shape[0]):
        for j in range(a.shape[1]):
            total = np.float32(0)
            for p in range(x.shape[1]):
                total += x[i, p] * a[p, j]
            y[i, j] = total


@_compile
def rows(x, a, y):
    """One row of Y after the other; A is walked along its rows."""
    y[:] = 0
    add_product(x, a, y)


@_compile
def add_product(x, a, y):
    """Y += X A, a row of Y at a time."""
    for i in range(x.shape[0]):
        for p in range(x.shape[1]):
            factor = x[i, p]
            for j in range(a.shape[1]):
                y[i, j] += factor * a[p, j]


@_compile
def blocked(x, a, y):
    """One tile of Y after the other. Tiles are copied, so that each lies in one piece: they are the fast memory."""
    for i in range(0, x.shape[0], BLOCK):
        for j in range(0, a.shape[1], BLOCK):
            tile = np.zeros_like(y[i : i + BLOCK, j : j + BLOCK])
            for p in range(0, x.shape[1], BLOCK):
                left = x[i : i + BLOCK, p : p + BLOCK].copy()
                right = a[p : p + BLOCK, j : j + BLOCK].copy()
                add_product(left, right, tile)
            y[i : i + BLOCK, j : j + BLOCK] = tile


def library(x, a, y):
    """The library's product, which torch would call."""
    torch.matmul(torch.from_numpy(x), torch.from_numpy(a), out=torch.from_numpy(y))


#: Kernel name of a record -> (what runs, loop order whose traffic is counted, what made it).
LOOPS: dict[str, tuple[Callable, str, str]] = {
    "gemm_naive": (naive, "naive", "numba"),
    "gemm_rows": (rows, "rows", "numba"),
    "gemm_blocked": (blocked, "blocked", "numba"),
    "gemm_library": (library, "perfect", "torch"),
}


def square(*, quick: bool) -> list[Measurement]:
    """All loops on one product whose matrices the caches can hold. Its size is no power of two: walking down a column
    would then use a few lines of the nearest cache only, which is another story."""
    n = 576 if quick else 960
    return sweep(n, n, n)


def wide() -> list[Measurement]:
    """32 rows times an A of at least twice the last-level cache, so that A comes from memory whenever it is read.

    Without the naive loop, which would take half a minute.
    """
    size = edge_past_the_cache()
    return sweep(32, size, size, ("gemm_rows", "gemm_blocked", "gemm_library"))


def sweep(m: int, n: int, k: int, kernels=tuple(LOOPS)) -> list[Measurement]:
    """Time these kernels on one X (m, k) A (k, n) of random FP32 numbers, each once a round.

    The time of a record is the fastest: other programs can only make a run longer. Its spread is that of all rounds.
    Raises ``ArithmeticError`` in one line if a product is wrong.
    """
    dice = np.random.default_rng(0)
    x = dice.standard_normal((m, k), dtype=np.float32)
    a = dice.standard_normal((k, n), dtype=np.float32)
    y = np.empty((m, n), dtype=np.float32)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # the loops run on one core, so the library does too
    try:
        for kernel in kernels:  # the first call compiles
            _check(kernel, x, a, y)
        return [_record(kernel, (m, n, k), samples) for kernel, samples in _rounds(kernels, x, a, y).items()]
    finally:
        torch.set_num_threads(threads)


def _check(kernel: str, x: np.ndarray, a: np.ndarray, y: np.ndarray) -> None:
    want = x.astype(np.float64) @ a[:, :64].astype(np.float64)
    y.fill(np.nan)
    LOOPS[kernel][0](x, a, y)
    error = float(np.linalg.norm(y[:, :64] - want) / np.linalg.norm(want))
    if not error <= TOLERANCE:
        shape = f"{x.shape[0]}x{a.shape[1]}x{x.shape[1]}"
        raise ArithmeticError(f"the product {shape} of {kernel} is wrong: relative error {error:.2g}")


def _rounds(kernels, x: np.ndarray, a: np.ndarray, y: np.ndarray) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {kernel: [] for kernel in kernels}
    start = time.perf_counter()
    for count in range(ROUNDS):
        if count >= 3 and time.perf_counter() - start > SECONDS:
            break
        for kernel, taken in samples.items():
            before = time.perf_counter()
            LOOPS[kernel][0](x, a, y)
            taken.append(time.perf_counter() - before)
    return samples


def _record(kernel: str, shape: tuple[int, int, int], samples: list[float]) -> Measurement:
    _, order, implementation = LOOPS[kernel]
    return Measurement(
        device="cpu",
        kernel=kernel,
        precision="fp32",
        work=work(order, *shape, "fp32"),
        m=shape[0],
        n=shape[1],
        k=shape[2],
        working_set_bytes=work("perfect", *shape, "fp32").bytes,
        **fastest(samples),
        kind="measured live",
        source="this session",
        implementation=implementation,
    )
