"""The memory levels of this machine: how fast one core, or the GPU, reads data that it has just read.

One call reads the same array many times over, so that the cost of a call does not hide the caches, and the smaller the
array, the nearer the level that it is read from.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import torch

from ..records import Measurement
from ..work import Work
from .fastest import scatter
from .statistics import median

#: What one call reads at least, so that starting it does not count.
CALL_BYTES = 16 * 2**20
SAMPLES = 25


def sizes(where: str, last_level_cache: int | None) -> list[int]:
    """Working sets in bytes, doubling: well inside the nearest cache to at least four times the farthest."""
    low = 2**14 if where == "cpu" else 2**20
    high = max(2**28, 4 * (last_level_cache or 0))
    return [low * 2**i for i in range(64) if low * 2**i <= high]


def sweep(where: str, last_level_cache: int | None) -> Iterator[Measurement]:
    """Read bandwidth by working set: sums over one FP32 array, again and again. On a CPU one core does it."""
    threads = torch.get_num_threads()
    if where == "cpu":
        torch.set_num_threads(1)  # one core's caches; the last level is shared, and so is the memory
    try:
        for size in sizes(where, last_level_cache):
            yield _point(where, size)
    finally:
        torch.set_num_threads(threads)


def _point(where: str, size: int) -> Measurement:
    n = size // 4
    passes = max(2, CALL_BYTES // size)
    array = torch.rand(n, device=where)
    # A view with stride 0 down its rows: every row is the same memory.
    rows = array.unsqueeze(0).expand(passes, n)
    out = torch.empty(passes, device=where)
    synchronise = torch.cuda.synchronize if where == "cuda" else lambda: None

    def once() -> float:
        start = time.perf_counter()
        torch.sum(rows, dim=1, out=out)
        synchronise()
        return time.perf_counter() - start

    once()
    samples = [once() for _ in range(SAMPLES)]
    want = float(array.double().sum())
    if not abs(float(out[-1]) - want) <= 1e-3 * want:
        raise ArithmeticError(f"reading {size} bytes on {where} gave the sum {float(out[-1]):g}, not {want:g}")
    return Measurement(
        device=where,
        kernel="read_again",
        precision="fp32",
        work=Work(float(passes * (n - 1)), float(passes * size)),
        seconds=median(samples),
        elements=n,
        working_set_bytes=float(size),
        **scatter(samples),
        kind="measured live",
        source="this session",
    )
