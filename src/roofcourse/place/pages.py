"""Memory that a function touches for the first time in every call, and what that costs on this machine.

A processor's operating system hands out large blocks page by page: at the first touch of each it takes a fault, finds a
free page and clears it. A library that gives a large result back to the system and asks for a new one pays this in
every call, in time that is neither bytes nor FLOP. The system counts the faults (``getrusage``, minor faults), so
nothing is guessed. On a GPU torch keeps freed memory, and nothing is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

try:
    import resource
except ImportError:  # Windows does not count them this way
    resource = None

_CALLS = 3


def touched(call: Callable[[], object]) -> float | None:
    """Bytes that one call, warm, touches for the first time: the least of three; ``None`` where nobody counts."""
    if resource is None:
        return None
    call()
    seen = []
    for _ in range(_CALLS):
        before = _faults()
        call()
        seen.append(_faults() - before)
    return float(min(seen) * resource.getpagesize())


def _faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def touch_seconds(size: float) -> float:
    """Seconds that the first touch of ``size`` bytes takes, with torch's threads: to fill a new block of them takes so
    much longer than to fill one that is there. The median of three; not below zero."""
    import torch

    there = torch.empty(int(size), dtype=torch.uint8).fill_(1)

    def seconds(fill) -> float:
        start = time.perf_counter()
        fill()
        return time.perf_counter() - start

    new = median(seconds(lambda: torch.empty(int(size), dtype=torch.uint8).fill_(1)) for _ in range(_CALLS))
    old = median(seconds(lambda: there.fill_(1)) for _ in range(_CALLS))
    return max(0.0, new - old)
