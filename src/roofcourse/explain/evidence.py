"""What a sweep shows about one of its points. Pure functions: a case in, numbers or other points out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..measure.statistics import fit_line
from ..records import Measurement
from ..roofline import Roofline
from .case import ABOVE_ROOF, AT_ROOF, Case

#: Times this close to each other count as the same (the spread of a good measurement is far smaller).
SAME, ABOUT_SAME = 0.02, 0.10
#: A kernel that does more in this part of the time, or less, is a better kernel.
FASTER = 0.95


@dataclass(frozen=True)
class Floor:
    """The shortest time that a kernel of this kind takes whatever it does (seconds), and what says so."""

    seconds: float
    kind: str  # "flat", "line", "copies"
    other: Measurement | None = None


def flat_floor(case: Case) -> Floor | None:
    """Another size of the sweep that moves half or double the bytes in the same time, among the sweep's shortest.

    A time that does not see the size is none of the roofs'. (On the slope of an M sweep the time is flat as well, but
    there the bytes hardly change.)
    """
    if not case.neighbours:
        return None
    shortest = min([case.seconds, *(x.seconds for x in case.neighbours)])
    if case.seconds > (1 + ABOUT_SAME) * shortest or case.share > 0.5:
        return None
    for x in case.neighbours:
        bytes_ratio = x.work.bytes / case.point.work.bytes
        same = abs(x.seconds / case.seconds - 1) <= ABOUT_SAME
        if same and not 0.5 < bytes_ratio < 2 and case.share_of(x) <= 0.5:
            return Floor(shortest, "flat", x)
    return None


def sweep_floor(case: Case) -> Floor | None:
    """A floor that two other sizes of the sweep show, for a point just above it."""
    small = sorted(case.neighbours, key=lambda x: x.seconds)[:2]
    if len(small) < 2 or any(x.kernel != getattr(case.point, "kernel", None) for x in small):
        return None
    a, b = sorted(small, key=lambda x: x.work.bytes)
    flat = b.seconds <= (1 + ABOUT_SAME) * a.seconds and b.work.bytes >= 2 * a.work.bytes
    low = max(case.share_of(a), case.share_of(b)) <= 0.5
    return Floor(min(a.seconds, b.seconds), "flat", b) if flat and low and case.seconds >= a.seconds else None


def fixed_cost(case: Case) -> Floor | None:
    """The fixed part a of T = a + V/b over kernels that memory bounds, the point among them, of three sizes or more."""
    points = [case.point, *case.neighbours]
    if case.bound != "memory" or any(case.roof.bound(x.work) != "memory" for x in points):
        return None
    volumes = [x.work.bytes for x in points]
    if len(points) < 4 or max(volumes) < 4 * min(volumes) or len({x.kernel for x in points}) < 2:
        return None
    try:
        line = fit_line(volumes, [x.seconds for x in points])
    except ValueError:  # fewer than three sizes, or a time that does not grow: no line
        return None
    return Floor(line.overhead, "line") if line.r2 >= 0.9 and line.overhead > 0 else None


def batched(case: Case) -> Measurement | None:
    """The same products in one batched call, in half the time or less."""
    if getattr(case.point, "kernel", None) != "gemm_loop":
        return None
    shape = (case.point.m, case.point.n, case.point.k, case.point.batch)
    found = [x for x in case.sweep if x.kernel == "gemm_batched" and (x.m, x.n, x.k, x.batch) == shape]
    return next((x for x in found if x.seconds <= case.seconds / 2), None)


def more_in_less(case: Case) -> Measurement | None:
    """A neighbour that does at least half as much again, moves no less, and takes less time: the smallest of them."""
    work = case.point.work
    found = [
        x
        for x in case.neighbours
        if x.seconds <= FASTER * case.seconds and x.work.flop >= 1.5 * work.flop and x.work.bytes >= 0.99 * work.bytes
    ]
    return min(found, key=lambda x: x.work.flop, default=None)


def nearer_roof(case: Case) -> Measurement | None:
    """The next larger neighbour under the same side of the roof that is at least 8 points nearer to it."""
    larger = [
        x
        for x in case.neighbours
        if 1 < x.work.flop / max(case.point.work.flop, 1) <= 4.1 and case.roof.bound(x.work) == case.bound
    ]
    found = [x for x in larger if case.share_of(x) >= case.share + 0.08]
    return min(found, key=lambda x: x.work.flop, default=None)


@dataclass(frozen=True)
class Tile:
    """A run of row counts that take the same time. ``rows``: its largest. ``executed``: share of F if every product of
    the run computes that many rows. ``past_ridge``: whether that many rows lie right of the ridge point. ``after``: the
    time of the next larger count, relative to the run's."""

    first: int
    rows: int
    executed: float
    past_ridge: bool
    after: float | None


def flat_rows(case: Case) -> Tile | None:
    """The run of M around this point in which the time does not change; ``None`` if it is no matrix product in an M
    sweep, or if the run does not go on past it."""
    m = getattr(case.point, "m", None)
    if m is None:
        return None
    same_matrix = [x for x in case.neighbours if x.m is not None and (x.n, x.k) == (case.point.n, case.point.k)]
    ordered = sorted([case.point, *same_matrix], key=lambda x: x.m)
    at = next(i for i, x in enumerate(ordered) if x is case.point)

    def same(x):
        return abs(x.seconds / case.seconds - 1) <= SAME

    low = high = at
    while low > 0 and same(ordered[low - 1]):
        low -= 1
    while high + 1 < len(ordered) and same(ordered[high + 1]):
        high += 1
    if high == at:
        return None
    top = ordered[high]
    after = ordered[high + 1].seconds / top.seconds if high + 1 < len(ordered) else None
    executed = case.roof.compute_time(top.work) / case.seconds
    return Tile(ordered[low].m, top.m, executed, case.roof.bound(top.work) == "compute", after)


def clear_sides(case: Case) -> tuple[Measurement, Measurement] | None:
    """The nearest neighbours a factor of three and more to the left and to the right of the ridge point, if both are at
    their roofs while this point, between them, is not: a corner that is rounded. A point nearer to the ridge point on
    the same side must be further from its roof, or it is no corner."""
    ridge = case.roof.ridge_point
    if not ridge / 3 <= case.intensity <= 3 * ridge:
        return None
    left = max((x for x in case.neighbours if x.intensity <= ridge / 3), key=lambda x: x.intensity, default=None)
    right = min((x for x in case.neighbours if x.intensity >= 3 * ridge), key=lambda x: x.intensity, default=None)
    if left is None or right is None or not all(AT_ROOF <= case.share_of(x) <= ABOVE_ROOF for x in (left, right)):
        return None
    side, far = case.intensity > ridge, abs(math.log(case.intensity / ridge))
    nearer = [x for x in case.neighbours if (x.intensity > ridge) == side and abs(math.log(x.intensity / ridge)) < far]
    if any(case.share_of(x) > case.share - 0.03 for x in nearer):
        return None
    one_after_the_other = case.memory_time + case.compute_time
    return (left, right) if case.seconds <= 1.05 * one_after_the_other else None


def own_roof(case: Case) -> Roofline | None:
    """The ceiling of the kernel's own precision and path, where that is not the one it was placed under."""
    precision = getattr(case.point, "precision", None) or case.roof.precision
    path = case.own_path or case.roof.path
    if (precision, path) == (case.roof.precision, case.roof.path):
        return None
    return next((r for r in case.roofs if (r.precision, r.path) == (precision, path)), None)


@dataclass(frozen=True)
class Waves:
    """Tiles of a product on the multiprocessors: ``waves`` rounds, the last one partly empty; ``efficiency`` of all."""

    tile: tuple[int, int]
    tiles: int
    waves: float
    efficiency: float


def waves(m: int, n: int, multiprocessors: int, tile: tuple[int, int] = (128, 128)) -> Waves:
    """How well ``ceil(m/tile)`` times ``ceil(n/tile)`` tiles fill whole rounds of one tile a multiprocessor.

    The same account as NVIDIA's matrix multiplication guide gives under "wave quantization".
    """
    tiles = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    rounds = tiles / multiprocessors
    return Waves(tile, tiles, rounds, rounds / math.ceil(rounds))
