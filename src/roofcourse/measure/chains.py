"""Loads that wait for each other: a pointer chase through memory in one chain, then in several at once.

In one chain the next address is what the last load brings, so one load is in flight at a time, and a load takes the
latency of the memory. With k chains k loads can be in flight. Little's law says what that does to the bandwidth.
"""

from __future__ import annotations

import time

import numba
import numpy as np

from ..records import Measurement
from ..work import Work
from .fastest import fastest

#: Bytes that a load brings from memory: a cache line of nearly every processor today.
LINE = 64
CHAINS = (1, 2, 4, 8, 16, 32)
#: The smallest array; at least eight times the last-level cache.
SMALLEST_BYTES = 2**28
LOADS, QUICK_LOADS = 2**20, 2**18
ROUNDS = 9


@numba.njit(nogil=True)
def chase(following, at, loads):
    """Follow the chains from ``at``, one step of each in turn; what it returns keeps the loop alive."""
    for _ in range(loads // at.size):
        for chain in range(at.size):
            at[chain] = following[at[chain]]
    return at.sum()


def ring(lines: int) -> tuple[np.ndarray, np.ndarray]:
    """An array whose every line (8 whole numbers) leads to another, at random, in one ring through all of them; and the
    order in which the ring visits them."""
    order = np.random.default_rng(0).permutation(lines)
    following = np.zeros(lines * 8, np.int64)
    following[order * 8] = np.roll(order, -1) * 8
    return following, order


def sweep(last_level_cache: int | None, *, quick: bool, size: int | None = None, chains=CHAINS) -> list[Measurement]:
    """One core's loads from memory, in 1 to 32 chains. ``elements`` of a record: loads; ``batch``: chains.

    The time is the fastest of the rounds, in which all numbers of chains take turns: other programs can only make a
    round longer. The bytes are those of the lines, one for each load.
    """
    size = size or max(SMALLEST_BYTES, 8 * (last_level_cache or 0))
    loads = QUICK_LOADS if quick else LOADS
    following, order = ring(size // LINE)
    starts = {k: order[np.arange(k) * (order.size // k)] * 8 for k in chains}
    for at in starts.values():
        chase(following, at, 64 * at.size)
    samples: dict[int, list[float]] = {k: [] for k in chains}
    for _ in range(ROUNDS):
        for k, at in starts.items():
            before = time.perf_counter()
            chase(following, at, loads)
            samples[k].append(time.perf_counter() - before)
    return [_record(k, loads, size, samples[k]) for k in chains]


def _record(k: int, loads: int, size: int, samples: list[float]) -> Measurement:
    return Measurement(
        device="cpu",
        kernel="chase",
        precision="fp64",
        work=Work(0.0, float(LINE * loads)),
        elements=loads,
        batch=k,
        working_set_bytes=float(size),
        kind="measured live",
        source="this session",
        implementation="numba",
        **fastest(samples, "on one core"),
    )
