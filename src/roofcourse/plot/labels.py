"""Where labels go: beside their points, on nothing, inside the axes. Pure functions on boxes and numbers.

All coordinates are pixels with y upwards. The same input always gives the same places: candidates are tried in a fixed
order and nothing is drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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
        """Whether the straight line from a to b touches the inside of the box."""
        return bool(_crossed(np.array([[self.x0, self.y0, self.x1, self.y1]]), np.array([[*a, *b]]))[0, 0])


@dataclass(frozen=True)
class Label:
    """Words of a given size that belong to the point (x, y); radius: how far the point's mark reaches; also: the other
    marks that the words name, for a group of marks with one label."""

    text: str
    x: float
    y: float
    width: float
    height: float
    radius: float = 4.0
    also: tuple[Box, ...] = ()


@dataclass(frozen=True)
class Place:
    """Where a label stands; `leader` is the line to its point, for a label that is not right beside it, nearer to what
    another label names, or parted from its point by a line."""

    box: Box
    leader: tuple[tuple[float, float], tuple[float, float]] | None = None


# Preferred directions, the best first: right of the point, above, below, left, then the corners.
_DIRECTIONS = ((1, 0), (0, 1), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, 1), (-1, -1))
_DISTANCES = (3.0, 8.0, 14.0, 22.0, 32.0, 44.0, 58.0, 76.0, 98.0, 124.0)
#: From this distance on a line ties the label to its point.
_LEADER_FROM = 12.0

# Costs, in pixels of distance: what a reader would rather have the label move than see.
_LINE_CROSSED = 80.0
_LEADER_CROSSES_LINE = 6.0
_SECOND_CHOICE = 1.2
#: From this cost on the places beside a point are not good enough.
_POOR = 60.0
_NOT_BESIDE = 10.0
_OTHER_MOVES = 25.0
_NEARER_TO_ANOTHER = 20.0
#: Within this distance of another's mark words are read as its name, whatever their leader says: so much more for each
#: pixel by which they are nearer to it, up to so many pixels.
_BESIDE = 24.0
_PIXEL_NEARER, _MOST_NEARER = 12.0, 5.0


def place(
    labels: Sequence[Label],
    inside: Box,
    marks: Sequence[Box] = (),
    lines: Sequence[tuple[tuple[float, float], tuple[float, float]]] = (),
    *,
    gap: float = 2.0,
) -> list[Place | None]:
    """A place for each label, in the order given; None for a label for which the chart has no room.

    Never: a label over another label, over one of `marks`, over its own or another label's point, or outside `inside`;
    a leader across a label, another's mark or another leader. Avoided where there is a choice: a label across one of
    `lines`, a place nearer to what another label names, a long way.
    """
    scene = _Scene(labels, inside, marks, lines, gap)
    choices = [scene.choices(index, _beside(label)) for index, label in enumerate(labels)]
    for index, option in enumerate(choices):
        if option.cost.size and option.cost[0] >= _POOR:  # a place at the end of a leader may cross nothing
            choices[index] = scene.choices(index, _both(labels[index], inside))
    chosen: dict[int, int] = {}  # label -> number of its choice
    # Those with the fewest good places choose first.
    order = sorted(range(len(labels)), key=lambda i: (int((choices[i].cost < 20).sum()), i))
    for index in order:
        best = _cheapest_free(index, choices, chosen, gap)
        if best is not None:
            chosen[index] = best
    # Those left out take any place of the chart, at the end of a line to their point; who stands in the way moves.
    waiting = [index for index in order if index not in chosen]
    moves = dict.fromkeys(range(len(labels)), 0)
    for _ in range(6 * len(labels)):
        if not waiting:
            break
        index = waiting.pop(0)
        if moves[index] == 0:
            choices[index] = scene.choices(index, _both(labels[index], inside))
        moves[index] += 1
        in_the_way = _in_the_way(choices[index], choices, chosen, gap)
        if not len(choices[index].cost):
            continue
        price = np.array([_OTHER_MOVES * (1 + moves[other]) for other in chosen])
        best = int(np.argmin(choices[index].cost + in_the_way @ price))
        for other in [other for other, blocks in zip(chosen, in_the_way[best], strict=True) if blocks]:
            del chosen[other]
            waiting.append(other)
        chosen[index] = best
    # Then each looks once more for a better place among the others.
    for _ in range(3):
        before = dict(chosen)
        for index in order:
            now = chosen.pop(index, None)
            best = _cheapest_free(index, choices, chosen, gap)
            if best is None or (now is not None and now < best):
                best = now
            if best is not None:
                chosen[index] = best
        if chosen == before:
            break
    return [choices[index].place(chosen[index]) if index in chosen else None for index in range(len(labels))]


def _beside(label: Label) -> np.ndarray:
    """Places around the point, near ones first: rows of (cost, x0, y0, x1, y1)."""
    out = []
    for rank, (dx, dy) in enumerate(_DIRECTIONS):
        for distance in _DISTANCES:
            reach = label.radius + distance / (math.sqrt(2) if dx and dy else 1)
            x = label.x + dx * (reach + label.width / 2)
            y = label.y + dy * (reach + label.height / 2)
            # a label above or below may also be shifted along
            for shift in (0.0,) if dx else (0.0, 0.3 * label.width, -0.3 * label.width):
                cost = distance + _SECOND_CHOICE * rank + 0.1 * abs(shift)
                box = Box.around(x + shift, y, label.width / 2, label.height / 2)
                out.append((cost, box.x0, box.y0, box.x1, box.y1))
    return np.array(out)


def _anywhere(label: Label, inside: Box) -> np.ndarray:
    """Places all over the chart, a few pixels apart: rows of (cost, x0, y0, x1, y1)."""
    xs = np.arange(inside.x0, inside.x1 - label.width, 10.0)
    ys = np.arange(inside.y0, inside.y1 - label.height, 6.0)
    x, y = (grid.ravel() for grid in np.meshgrid(xs, ys, indexing="ij"))
    boxes = np.stack([x, y, x + label.width, y + label.height], axis=1)
    dx = np.maximum(np.maximum(boxes[:, 0] - label.x, label.x - boxes[:, 2]), 0)
    dy = np.maximum(np.maximum(boxes[:, 1] - label.y, label.y - boxes[:, 3]), 0)
    return np.column_stack([np.hypot(dx, dy) + _NOT_BESIDE, boxes])


def _both(label: Label, inside: Box) -> np.ndarray:
    return np.concatenate([_beside(label), _anywhere(label, inside)])


@dataclass(frozen=True)
class _Choices:
    """The places a label may take, the cheapest first. boxes: (n, 4); leaders: (n, 4), x0 y0 x1 y1; led: (n,) bool,
    whether the label is so far off that it needs its leader."""

    cost: np.ndarray
    boxes: np.ndarray
    leaders: np.ndarray
    led: np.ndarray

    def place(self, index: int) -> Place:
        x0, y0, x1, y1 = (float(v) for v in self.leaders[index])
        return Place(Box(*(float(v) for v in self.boxes[index])), ((x0, y0), (x1, y1)) if self.led[index] else None)


class _Scene:
    """What stands still while labels are placed."""

    def __init__(self, labels, inside: Box, marks, lines, gap: float) -> None:
        self.labels, self.inside, self.gap = labels, inside, gap
        named = [
            (index, box)
            for index, label in enumerate(labels)
            for box in (Box.around(label.x, label.y, label.radius), *label.also)
        ]
        boxes = [*marks, *(box for _, box in named)]
        self.blocked = np.array([(b.x0, b.y0, b.x1, b.y1) for b in boxes]).reshape(-1, 4)
        #: The label that names each of them; -1 where none does.
        self.owner = np.array([-1] * len(marks) + [index for index, _ in named])
        self.lines = np.array([(*a, *b) for a, b in lines]).reshape(-1, 4)

    def choices(self, index: int, candidates: np.ndarray) -> _Choices:
        """The candidates that are inside and free of marks, with what they cost, the cheapest first."""
        cost, boxes = candidates[:, 0], candidates[:, 1:]
        fits = (boxes[:, 0] >= self.inside.x0) & (boxes[:, 2] <= self.inside.x1)
        fits &= (boxes[:, 1] >= self.inside.y0) & (boxes[:, 3] <= self.inside.y1)
        fits &= ~_overlap(_grown(boxes, self.gap), self.blocked).any(axis=1)
        cost, boxes = cost[fits], boxes[fits]
        leaders, far = _leaders(self.labels[index], boxes)
        own, others = self.owner == index, (self.owner != index) & (self.owner >= 0)
        to_own, to_others = (_distance(boxes, self.blocked[which]) for which in (own, others))
        unclear = to_others <= to_own
        cost = cost + _NEARER_TO_ANOTHER * unclear
        cost = cost + _PIXEL_NEARER * (to_others < _BESIDE) * np.clip(to_own - to_others, 0, _MOST_NEARER)
        barred = _crossed(self.blocked[~own], leaders).any(axis=0)
        between = _cross(leaders, self.lines).sum(axis=1)
        free, led = ~(far & barred), far | ((unclear | (between > 0)) & ~barred)
        cost = cost + _LEADER_CROSSES_LINE * led * between
        cost, boxes, leaders, led = (each[free] for each in (cost, boxes, leaders, led))
        cost = cost + _LINE_CROSSED * _crossed(_grown(boxes, self.gap), self.lines).sum(axis=1)
        order = np.argsort(cost, kind="stable")
        return _Choices(cost[order], boxes[order], leaders[order], led[order])


def _leaders(label: Label, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines from the edge of the point's mark to the nearest place on each box, and whether each is needed."""
    x = np.clip(label.x, boxes[:, 0], boxes[:, 2])
    y = np.clip(label.y, boxes[:, 1], boxes[:, 3])
    length = np.hypot(x - label.x, y - label.y)
    share = (label.radius + 1) / np.maximum(length, 1e-9)
    start = label.x + share * (x - label.x), label.y + share * (y - label.y)
    return np.stack([*start, x, y], axis=1).reshape(-1, 4), length - label.radius >= _LEADER_FROM


def _in_the_way(option: _Choices, choices: list[_Choices], chosen: dict[int, int], gap: float) -> np.ndarray:
    """Which of the chosen places (columns) collide with which places of one label (rows)."""
    if not chosen:
        return np.zeros((len(option.cost), 0), dtype=bool)
    pick = [(choices[other], number) for other, number in chosen.items()]
    boxes = np.array([c.boxes[n] for c, n in pick])
    leaders = np.array([c.leaders[n] for c, n in pick])
    led = np.array([c.led[n] for c, n in pick])
    clash = _overlap(_grown(option.boxes, gap), boxes)
    clash |= option.led[:, None] & _crossed(_grown(boxes, 1), option.leaders).T
    clash |= led[None, :] & _crossed(_grown(option.boxes, 1), leaders)
    clash |= option.led[:, None] & led[None, :] & _cross(option.leaders, leaders)
    return clash


def _cheapest_free(index: int, choices: list[_Choices], chosen: dict[int, int], gap: float) -> int | None:
    free = ~_in_the_way(choices[index], choices, chosen, gap).any(axis=1)
    return int(np.argmax(free)) if free.any() else None


def _grown(boxes: np.ndarray, by: float) -> np.ndarray:
    return boxes + np.array([-by, -by, by, by])


def _distance(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, 4) boxes and (m, 4) others -> (n,): from each box to the nearest of the others; infinity where m is 0."""
    a, b = boxes[:, None, :], others[None, :, :]
    dx = np.maximum(np.maximum(b[..., 0] - a[..., 2], a[..., 0] - b[..., 2]), 0)
    dy = np.maximum(np.maximum(b[..., 1] - a[..., 3], a[..., 1] - b[..., 3]), 0)
    return np.hypot(dx, dy).min(axis=1, initial=np.inf)


def _overlap(boxes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """(n, 4) boxes and (m, 4) others -> (n, m): whether they share an area."""
    a, b = boxes[:, None, :], others[None, :, :]
    return (a[..., 0] < b[..., 2]) & (b[..., 0] < a[..., 2]) & (a[..., 1] < b[..., 3]) & (b[..., 1] < a[..., 3])


def _crossed(boxes: np.ndarray, lines: np.ndarray) -> np.ndarray:
    """(n, 4) boxes and (m, 4) lines -> (n, m): whether a line touches the inside of a box (Liang, Barsky 1984)."""
    enter = np.zeros((len(boxes), len(lines)))
    leave = np.ones((len(boxes), len(lines)))
    for axis in (0, 1):
        low, high = boxes[:, None, axis], boxes[:, None, axis + 2]
        start = lines[None, :, axis]
        delta = lines[None, :, axis + 2] - start
        still = delta == 0
        slope = np.where(still, 1.0, delta)
        first, second = (low - start) / slope, (high - start) / slope
        outside = (start <= low) | (start >= high)
        enter = np.maximum(enter, np.where(still, np.where(outside, 2.0, -1.0), np.minimum(first, second)))
        leave = np.minimum(leave, np.where(still, 1.0, np.maximum(first, second)))
    return enter < leave


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(n, 4) lines and (m, 4) lines -> (n, m): whether they cross."""
    a, b = first[:, None, :], second[None, :, :]

    def side(line, x, y):
        return (line[..., 2] - line[..., 0]) * (y - line[..., 1]) - (line[..., 3] - line[..., 1]) * (x - line[..., 0])

    return (side(a, b[..., 0], b[..., 1]) * side(a, b[..., 2], b[..., 3]) < 0) & (
        side(b, a[..., 0], a[..., 1]) * side(b, a[..., 2], a[..., 3]) < 0
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
