"""Which bytes of its storage a tensor covers, and how many several of them cover together."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

#: A view: its first byte, then (stride, size) of each dimension, strides in bytes, the longest first.
View = tuple[int, tuple[tuple[int, int], ...]]

#: Views with gaps are laid over each other in a table of at most so many cells; past that their gaps count as covered.
LARGEST_TABLE = 2**26


def view(tensor) -> View:
    """Where a tensor lies in its storage. A matrix and its transpose, or another shape of the same, are one view."""
    one = tensor.element_size()
    steps = [(d * one, n) for n, d in zip(tensor.shape, tensor.stride(), strict=True) if n == 0 or (n > 1 and d)]
    out: list[tuple[int, int]] = []
    for stride, size in (*sorted(steps, reverse=True), (1, one)):
        if out and out[-1][0] == stride * size:  # no gap between these two: one longer dimension
            out[-1] = (stride, out[-1][1] * size)
        else:
            out.append((stride, size))
    return tensor.storage_offset() * one, tuple(out)


def covered(views: Mapping[View, float]) -> float:
    """Bytes that views of one storage cover together, each byte once; no more than the sum of the bytes given for each
    (of a table only some rows may be read)."""
    total, group, end = 0, [], 0
    for v in sorted(views, key=_span):
        start, stop = _span(v)
        if group and start >= end:
            total += _together(group, views)
            group = []
        group.append(v)
        end = max(end, stop) if len(group) > 1 else stop
    return total + _together(group, views)


def _span(v: View) -> tuple[int, int]:
    """The first byte, and the one after the last."""
    first, steps = v
    if any(size == 0 for _, size in steps):
        return first, first
    return first, first + sum(stride * (size - 1) for stride, size in steps) + 1


def _together(group: list[View], views: Mapping[View, float]) -> float:
    """The same for views whose spans overlap."""
    if not group:
        return 0
    own, spans = sum(views[v] for v in group), [_span(v) for v in group]
    start, end = min(s for s, _ in spans), max(e for _, e in spans)
    if (len(group) == 1 and not _meets_itself(group[0])) or all(len(steps) == 1 for _, steps in group):
        return min(own, end - start)
    # One cell is the longest run of bytes that every view takes whole.
    cell = math.gcd(*(v[0] - start for v in group), *(x for v in group for x in _whole(v)))
    if (end - start) // cell > LARGEST_TABLE:
        return min(own, end - start)
    table = np.zeros(-(-(end - start) // cell), dtype=bool)
    for first, steps in group:
        *outer, (_, run) = steps
        shape = (*(n for _, n in outer), run // cell)
        strides = (*(d // cell for d, _ in outer), 1)
        np.lib.stride_tricks.as_strided(table[(first - start) // cell :], shape, strides)[...] = True
    return min(own, int(table.sum()) * cell)


def _meets_itself(v: View) -> bool:
    """Whether it may hold a byte twice, as windows do: a stride is shorter than what lies within it."""
    within = 1
    for stride, size in reversed(v[1]):
        if stride < within:
            return True
        within += stride * (size - 1)
    return False


def _whole(v: View) -> list[int]:
    """The strides of a view, and its run of bytes without a gap."""
    *outer, (_, run) = v[1]
    return [run, *(d for d, _ in outer)]
