"""Where labels go: beside their points, on nothing, inside the axes. Pure functions on boxes and numbers.

All coordinates are pixels with y upwards. The same input always gives the same places: candidates are tried in a fixed
order and nothing is drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """A rectangle from (x0, y0) to (x1, y1)."""

    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def around(cls, x: float, y: float, half_width: float, half_height: float | None = None) -> Box:
        half_height = half_width if half_height is None else half_height
        return cls(x - half_width, y - half_height, x + half_width, y + half_height)

    def grown(self, by: float) -> Box:
        return Box(self.x0 - by, self.y0 - by, self.x1 + by, self.y1 + by)

    def overlaps(self, other: Box) -> bool:
        return self.x0 < other.x1 and other.x0 < self.x1 and self.y0 < other.y1 and other.y0 < self.y1

    def inside(self, other: Box) -> bool:
        return other.x0 <= self.x0 and self.x1 <= other.x1 and other.y0 <= self.y0 and self.y1 <= other.y1

    def crossed_by(self, a: tuple[float, float], b: tuple[float, float]) -> bool:
        """Whether the straight line from a to b touches the inside of the box (Liang and Barsky's clipping)."""
        enter, leave = 0.0, 1.0
        for start, delta, low, high in (
            (a[0], b[0] - a[0], self.x0, self.x1),
            (a[1], b[1] - a[1], self.y0, self.y1),
        ):
            if delta == 0:
                if not low < start < high:
                    return False
                continue
            first, second = sorted(((low - start) / delta, (high - start) / delta))
            enter, leave = max(enter, first), min(leave, second)
        return enter < leave


@dataclass(frozen=True)
class Label:
    """Words of a given size that belong to the point (x, y); radius: how far the point's mark reaches."""

    text: str
    x: float
    y: float
    width: float
    height: float
    radius: float = 4.0


@dataclass(frozen=True)
class Place:
    """Where a label stands; `leader` is the line to its point, for a label that is not right beside it."""

    box: Box
    leader: tuple[tuple[float, float], tuple[float, float]] | None = None


# Preferred directions, the best first: right of the point, above, below, left, then the corners.
_DIRECTIONS = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
_DISTANCES = (3.0, 8.0, 14.0, 22.0, 32.0, 44.0, 58.0, 76.0, 98.0, 124.0)
#: From this distance on a line ties the label to its point.
_LEADER_FROM = 12.0

# Costs, in pixels of distance: what a reader would rather have the label move than see.
_LINE_CROSSED = 40.0
_LEADER_CROSSES_LINE = 6.0
_SECOND_CHOICE = 1.2


def place(
    labels: Sequence[Label],
    inside: Box,
    marks: Sequence[Box] = (),
    lines: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
    *,
    gap: float = 2.0,
) -> list[Place | None]:
    """A place for each label, in the order given; None for a label that has no free place near its point.

    Never: a label over another label, over one of `marks`, over its own or another label's point, or outside `inside`;
    a leader across a label or a mark. Avoided where there is a choice: a label across one of `lines`, a long way.
    """
    points = [Box.around(label.x, label.y, label.radius) for label in labels]
    blocked = [*marks, *points]
    choices = [_choices(label, index, inside, blocked, len(marks), lines, gap) for index, label in enumerate(labels)]
    chosen: dict[int, tuple[float, Place]] = {}
    # Those with the fewest good places choose first.
    order = sorted(range(len(labels)), key=lambda i: (sum(cost < 20 for cost, _ in choices[i]), i))
    for index in order:
        best = _best(choices[index], [place for _, place in chosen.values()], gap)
        if best is not None:
            chosen[index] = best
    # Then each looks once more for a better place among the others, and those left out try again.
    for _ in range(3):
        moved = False
        for index in order:
            others = [place for other, (_, place) in chosen.items() if other != index]
            best = _best(choices[index], others, gap)
            if best is not None and (index not in chosen or best[0] < chosen[index][0] - 1e-9):
                chosen[index] = best
                moved = True
        if not moved:
            break
    return [chosen[index][1] if index in chosen else None for index in range(len(labels))]


def _candidates(label: Label) -> Iterator[tuple[float, Box]]:
    for rank, (dx, dy) in enumerate(_DIRECTIONS):
        for distance in _DISTANCES:
            reach = label.radius + distance / (math.sqrt(2) if dx and dy else 1)
            x = label.x + dx * (reach + label.width / 2)
            y = label.y + dy * (reach + label.height / 2)
            # a label above or below may also be shifted along
            shifts = (0.0,) if dx else (0.0, 0.3 * label.width, -0.3 * label.width)
            for shift in shifts:
                box = Box.around(x + shift, y, label.width / 2, label.height / 2)
                yield distance + _SECOND_CHOICE * rank + abs(shift) * 0.1, box


def _choices(label, index, inside, blocked, first_point, lines, gap) -> list[tuple[float, Place]]:
    """All places that are free of marks, with what they cost, the cheapest first."""
    found = []
    for cost, box in _candidates(label):
        if not box.inside(inside):
            continue
        roomy = box.grown(gap)
        if any(roomy.overlaps(mark) for mark in blocked):
            continue
        cost += _LINE_CROSSED * sum(box.grown(gap).crossed_by(*line) for line in lines)
        leader = _leader(label, box)
        if leader is not None:
            own = first_point + index
            if any(mark.crossed_by(*leader) for i, mark in enumerate(blocked) if i != own):
                continue
            cost += _LEADER_CROSSES_LINE * sum(_cross(leader, line) for line in lines)
        found.append((cost, Place(box, leader)))
    found.sort(key=lambda choice: choice[0])
    return found


def _best(choices, others: Sequence[Place], gap: float) -> tuple[float, Place] | None:
    for cost, option in choices:
        if all(_apart(option, other, gap) for other in others):
            return cost, option
    return None


def _apart(first: Place, second: Place, gap: float) -> bool:
    if first.box.grown(gap).overlaps(second.box):
        return False
    if first.leader and second.box.grown(1).crossed_by(*first.leader):
        return False
    if second.leader and first.box.grown(1).crossed_by(*second.leader):
        return False
    return not (first.leader and second.leader and _cross(first.leader, second.leader))


def _leader(label: Label, box: Box) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """From the edge of the point's mark to the nearest place on the edge of the label's box."""
    x = min(max(label.x, box.x0), box.x1)
    y = min(max(label.y, box.y0), box.y1)
    length = math.hypot(x - label.x, y - label.y)
    if length - label.radius < _LEADER_FROM:
        return None
    share = (label.radius + 1) / length
    return (label.x + share * (x - label.x), label.y + share * (y - label.y)), (x, y)


def _cross(first, second) -> bool:
    """Whether two straight lines cross."""

    def side(a, b, c):
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    return (
        side(*first, second[0]) * side(*first, second[1]) < 0 and side(*second, first[0]) * side(*second, first[1]) < 0
    )


def spread(positions: Sequence[float], heights: Sequence[float], low: float, high: float) -> list[float]:
    """Centres for labels in one column: as near as can be to the positions, in their order, none overlapping.

    positions: wanted centres; heights: of the labels, the gap included; all inside low..high where they fit (a column
    that is too full is squeezed evenly). The least sum of squared moves, by pooling neighbours that touch.
    """
    if len(positions) != len(heights):
        raise ValueError(f"{len(positions)} positions but {len(heights)} heights")
    if not positions:
        return []
    total = sum(heights)
    squeeze = min(1.0, (high - low) / total)
    sizes = [height * squeeze for height in heights]
    order = sorted(range(len(positions)), key=lambda i: (positions[i], i))
    # blocks of touching labels: [members, start that would be best]
    blocks: list[tuple[list[int], float]] = []
    for index in order:
        blocks.append(([index], positions[index] - sizes[index] / 2))
        while True:
            members, start = blocks[-1]
            length = sum(sizes[i] for i in members)
            start = min(max(start, low), high - length)
            blocks[-1] = (members, start)
            if len(blocks) == 1:
                break
            above, above_start = blocks[-2]
            if above_start + sum(sizes[i] for i in above) <= start + 1e-9:
                break
            merged = above + members
            offset, wanted = 0.0, 0.0
            for i in merged:
                wanted += positions[i] - sizes[i] / 2 - offset
                offset += sizes[i]
            blocks[-2:] = [(merged, wanted / len(merged))]
    out = [0.0] * len(positions)
    for members, start in blocks:
        for index in members:
            out[index] = start + sizes[index] / 2
            start += sizes[index]
    return out
