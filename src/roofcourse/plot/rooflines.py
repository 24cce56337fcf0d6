"""Roofline charts: one or many roofs, measured points, what bounds what."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import palette
from ..roofline import Roofline
from ..words import listed
from . import reading
from .drawing import (
    Entry,
    clear_grid,
    column_width,
    frame,
    measured_entries,
    name_column,
    pixel_line,
    tick_room,
    wrap,
    write,
    write_labels,
)
from .figure import Figure
from .labels import Box, Label
from .style import Layout, key_mark, log_axis, mark, number, text_size

_WHO = "rc.plot.roofline"


def roofline(
    roofs,
    points=None,
    *,
    works: Mapping | None = None,
    highlight: str | None = None,
    labels: str | Callable | Sequence[str | None] | None = "auto",
    bands: Mapping | None = None,
    crossing: bool = False,
    title: str | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Throughput against arithmetic intensity, both logarithmic: the roofs as lines, measured kernels as points.

    roofs: a Roofline or several (nominal ones are dashed). One roof alone gets its two regions shaded and its ridge
    point written; several are named at the right end.
    points: measurements (Measurements, a list of them, one of them); filled, hollow where not stable. One of kind
    "derived" is a cross, and its note stands in the key: what is supposed.
    works: {name: Work}, shown where the model puts them: a thin upright line under the highest roof at their intensity,
    which stands beside the name.
    A work called like one of several roofs (its precision, device or label) ends at that one and says how high it is.
    highlight: a device key, a precision or a label: the other roofs stand back.
    labels: of the points: "auto" (a few, by what varies: M, the size, R), None, a function of a measurement, or a list.
    bands: {roof: (low, high)} in FLOP/s, the range that several sources give for F.
    crossing: mark where two roofs cross (exactly two; with bands, the range where they may).
    title: the finding, written above; None writes what is shown, "" nothing.
    xlim, ylim: axis limits in FLOP/byte and FLOP/s, for figures that are to be compared.

    Raises ValueError in one line for anything that cannot be drawn.
    """
    data = _Data.read(roofs, points, works, highlight, labels, bands, crossing, xlim, ylim)
    title = data.default_title() if title is None else title
    return Figure(lambda layout: _draw(data, layout, title), _describe(data, title))


def _same(values: Sequence[float]) -> bool:
    """Whether a chart can show no difference between these: a tenth of a percent."""
    return max(values) <= 1.001 * min(values)


@dataclass(frozen=True)
class _Data:
    roofs: list[Roofline]
    names: list[str]
    faint: list[bool]
    points: list[reading.Point]
    point_labels: list[str | None]
    works: dict
    bands: list[tuple[float, float] | None]
    crossing: float | None
    crossing_range: tuple[float, float] | None
    xlim: tuple[float, float]
    ylim: tuple[float, float]
    unit: float
    unit_name: str

    @classmethod
    def read(cls, roofs, points, works, highlight, labels, bands, crossing, xlim, ylim) -> _Data:
        items = reading.roofs(roofs, _WHO)
        names = reading.short_names(items)
        found = reading.points(points, _WHO)
        named = reading.works(works, _WHO) if works is not None else {}
        ranges = [_band(bands, roof) for roof in items]
        if bands:
            missing = [roof for roof in bands if roof not in items]
            if missing:
                raise ValueError(f"{_WHO}: bands names a roof that is not drawn: {missing[0]}")
        where, about = _crossing(items, ranges) if crossing else (None, None)
        intensities = [p.intensity for p in found] + [float(w.intensity) for w in named.values()]
        ridges = [roof.ridge_point for roof in items]
        xlim = _limits(xlim, "xlim", "FLOP/byte") or _decades(
            min([*intensities, min(ridges) / 200]), max([*intensities, max(ridges) * 8])
        )
        heights = [p.flop_per_s for p in found] + [float(roof.attainable(xlim[0])) for roof in items]
        peak = max([*[roof.peak for roof in items], *[p.flop_per_s for p in found], *[b[1] for b in ranges if b]])
        ylim = _limits(ylim, "ylim", "FLOP/s") or (min(heights) * 0.8, peak * 2.6)
        unit, unit_name = reading.flop_unit(peak)
        return cls(
            roofs=items,
            names=names,
            faint=_faint(items, names, highlight),
            points=found,
            point_labels=_point_labels(found, labels),
            works=named,
            bands=ranges,
            crossing=where,
            crossing_range=about,
            xlim=xlim,
            ylim=ylim,
            unit=unit,
            unit_name=unit_name,
        )

    @property
    def same_peak(self) -> bool:
        """Several slopes under one roof (memory levels): they are named along the slopes."""
        return len(self.roofs) > 1 and _same([roof.peak for roof in self.roofs])

    @property
    def same_slope(self) -> bool:
        """Several roofs over one slope: the ceilings of one card."""
        return len(self.roofs) > 1 and _same([roof.bandwidth for roof in self.roofs]) and not self.same_peak

    @cached_property
    def slopes(self) -> list[list[Roofline]]:
        """The roofs of one card that have one slope in one kind of line, where two or more do."""

        def shared(one: Roofline, other: Roofline) -> bool:
            line = [(roof.device, roof.kind == "nominal") for roof in (one, other)]
            return line[0] == line[1] and _same([one.bandwidth, other.bandwidth])

        groups: list[list[Roofline]] = []
        for roof in self.roofs:
            group = next((group for group in groups if shared(group[0], roof)), None)
            if group is None:
                groups.append([roof])
            else:
                group.append(roof)
        return [group for group in groups if len(group) > 1]

    def own_roof(self, name: str) -> Roofline | None:
        """Of several roofs, the one that a work is called after."""
        found = [
            roof
            for roof, shown in zip(self.roofs, self.names, strict=True)
            if name in (shown, roof.label, roof.precision, reading.precision_name(roof.precision), roof.device)
        ]
        return found[0] if len(found) == 1 < len(self.roofs) else None

    def top(self, name: str) -> float:
        """How high the upright line of this work reaches, in the chart's unit: to its own roof, else to the highest."""
        own = self.own_roof(name)
        under = self.roofs if own is None else [own]
        return max(float(roof.attainable(self.works[name].intensity)) for roof in under) / self.unit

    def swatch(self, item) -> palette.Swatch:
        return reading.swatch_of(item, self.roofs)

    def marker(self, point: reading.Point) -> palette.Swatch:
        """The point's swatch: its roof's colour; the shape tells precisions apart where devices have the colours."""
        colour = self.swatch(point)
        many = len({p.precision for p in self.points}) > 1 and len({p.device for p in self.points}) > 1
        if many and point.precision in palette.PRECISIONS:
            return palette.Swatch(colour.name, colour.light, colour.dark, palette.precision(point.precision).marker)
        return colour

    def default_title(self) -> str:
        if len(self.roofs) == 1:
            return f"{self.names[0]}: what is attainable"
        which = listed(self.names) if len(self.names) <= 3 else f"{len(self.names)} rooflines"
        devices = {roof.device for roof in self.roofs}
        precisions = {roof.precision for roof in self.roofs}
        if len(devices) == 1 and None not in devices and self.same_slope:
            return f"{reading.device_name(devices.pop())}: ceilings by precision and path"
        if len(precisions) == 1 and None not in precisions and len(devices) > 1:
            return f"{reading.precision_name(precisions.pop())}: {which}"
        return which


def _band(bands, roof) -> tuple[float, float] | None:
    if not bands or roof not in bands:
        return None
    low, high = (float(value) for value in bands[roof])
    if not 0 < low <= high < np.inf:
        raise ValueError(f"{_WHO}: the band of {reading.roof_name(roof)} must be 0 < low <= high in FLOP/s")
    return low, high


def _crossing(items, ranges):
    """(where two roofs cross, the range over their bands), or None for each that does not exist."""
    if len(items) != 2:
        raise ValueError(f"{_WHO}: crossing=True needs exactly two roofs, not {len(items)}")
    where = items[0].crossing(items[1])
    if not any(ranges):
        return where, None
    possible = []
    for first in ranges[0] or (items[0].peak,) * 2:
        for second in ranges[1] or (items[1].peak,) * 2:
            cross = Roofline(first, items[0].bandwidth).crossing(Roofline(second, items[1].bandwidth))
            # no crossing: the roofs stay apart for every intensity
            possible.append(np.inf if cross is None else cross)
    return where, (min(possible), max(possible))


def _faint(items, names, highlight) -> list[bool]:
    if highlight is None:
        return [False] * len(items)
    kept = [
        highlight in (roof.device, roof.precision, roof.label, name) for roof, name in zip(items, names, strict=True)
    ]
    if not any(kept):
        raise ValueError(f"{_WHO}: nothing drawn is called {highlight!r}; there are: {', '.join(names)}")
    return [not k for k in kept]


def _limits(value, name: str, unit: str) -> tuple[float, float] | None:
    if value is None:
        return None
    try:
        low, high = (float(v) for v in value)
    except (TypeError, ValueError):
        raise ValueError(f"{_WHO}: {name} is two numbers in {unit}, not {value!r}") from None
    if not 0 < low < high < np.inf:
        raise ValueError(f"{_WHO}: {name} must be 0 < low < high in {unit}, not {value!r}")
    return low, high


def _decades(low: float, high: float) -> tuple[float, float]:
    """Round outwards to 1, 2 or 5 times a power of ten."""
    steps = (1.0, 2.0, 5.0, 10.0)
    down, up = 10.0 ** np.floor(np.log10(low)), 10.0 ** np.floor(np.log10(high))
    return (
        down * max(s for s in steps if down * s <= low * (1 + 1e-9)),
        up * min(s for s in steps if up * s >= high * (1 - 1e-9)),
    )


def _point_labels(found: list[reading.Point], labels) -> list[str | None]:
    if labels is None or not found:
        return [None] * len(found)
    if callable(labels):
        return [labels(point.record) or None for point in found]
    if isinstance(labels, str):
        if labels != "auto":
            raise ValueError(f"{_WHO}: labels is 'auto', None, a function or a list, not {labels!r}")
        return _auto_labels(found)
    labels = list(labels)
    if len(labels) != len(found):
        raise ValueError(f"{_WHO}: {len(labels)} labels for {len(found)} points")
    return [label or None for label in labels]


def _auto_labels(found: list[reading.Point]) -> list[str | None]:
    """A few labels by what varies along the points: M, the edge of a square, R of the FMA sweep, or the given label."""
    records = [point.record for point in found]

    def column(name):
        return [getattr(record, name, None) for record in records]

    m, n, k, r = (column(name) for name in ("m", "n", "k", "fma_per_element"))
    if all(v is not None for v in m):
        square = all(a == b == c for a, b, c in zip(m, n, k, strict=True))
        varying, sign = m, "n" if square else "M"
        if not square and len(set(zip(n, k, strict=True))) > 1:
            return [None] * len(found)
    elif all(v is not None for v in r):
        varying, sign = r, "R"
    elif len(found) <= 8 and all(isinstance(getattr(x, "label", None), str) for x in records):
        return [record.label for record in records]
    else:
        return [None] * len(found)
    out: list[str | None] = [None] * len(found)
    groups: dict[tuple, list[int]] = {}
    for index, point in enumerate(found):
        groups.setdefault((point.device, point.precision), []).append(index)
    if len(groups) > 2:
        return out  # the same values again and again: the chart's key and the roofs' names say enough
    each = 6 if len(groups) == 1 else 3
    for members in groups.values():
        picks = (
            members
            if len(members) <= each
            else [members[round(i * (len(members) - 1) / (each - 1))] for i in range(each)]
        )
        for order, index in enumerate(picks):
            out[index] = (
                f"{sign} = {number(varying[index])}" if order == 0 or len(groups) > 1 else number(varying[index])
            )
    return out


def _draw(data: _Data, layout: Layout, title: str):
    single = len(data.roofs) == 1
    values = [reading.three(roof.peak / data.unit) for roof in data.roofs]
    at_right = not single and not data.same_peak
    figure, axes = frame(
        layout,
        title,
        x="arithmetic intensity I (FLOP/byte)",
        y=f"throughput P ({data.unit_name})",
        entries=_key_entries(data, layout),
        left=tick_room(layout, ["1 000", number(data.ylim[0] / data.unit)]),
        right=column_width(layout, data.names, values) if at_right else _last_tick(data, layout),
    )
    box = axes.get_window_extent()
    log_axis(axes.xaxis, *data.xlim, room=box.width, least=38)
    log_axis(axes.yaxis, *(v / data.unit for v in data.ylim), room=box.height, least=24)

    taken: list[Box] = []
    if single:
        taken += _regions(axes, data, layout)
    for roof, faint, band in zip(data.roofs, data.faint, data.bands, strict=True):
        _roof(axes, data, roof, faint, band)
    for group in data.slopes:
        _common_slope(axes, data, group)
    taken += _crossing_mark(axes, data, layout)
    taken += _roof_names(axes, data, layout, values, at_right)
    for name, work in data.works.items():
        ink, top = palette.role("ink").light, data.top(name)
        axes.plot([work.intensity] * 2, [data.ylim[0] / data.unit, top], color=ink, linewidth=1.4, zorder=3)
        if data.own_roof(name):  # a line that goes on above belongs to another work
            axes.plot([work.intensity], [top], marker="_", markersize=9, color=ink, mew=1.8, zorder=4)
    for point in data.points:
        settings = _mark(data, point, layout)
        axes.plot([point.intensity], [point.flop_per_s / data.unit], zorder=4, clip_on=False, **settings)
    _point_names(axes, data, layout, taken)
    return figure


def _mark(data: _Data, point: reading.Point, layout: Layout) -> dict:
    """Line2D settings of a point: a derived one is a cross, as is a time in the explorers that was not measured."""
    if point.derived:
        return _cross(data.swatch(point), layout)
    return mark(data.marker(point), layout, stable=point.stable)


def _cross(swatch: palette.Swatch, layout: Layout) -> dict:
    size = {"markersize": layout.marker * 1.6, "markeredgewidth": 2}
    return {"linestyle": "none", "marker": "+", "markeredgecolor": swatch.light, **size}


def _last_tick(data: _Data, layout: Layout) -> float:
    """Pixels right of the axes for half of the last tick's label, should it stand at the very end."""
    return max(14, text_size(number(data.xlim[1]), layout.small)[0] / 2 + 2)


def _polyline(data: _Data, roof: Roofline) -> tuple[list[float], list[float]]:
    low, high = data.xlim
    xs = [low, roof.ridge_point, high] if low < roof.ridge_point < high else [low, high]
    return xs, [float(roof.attainable(x)) / data.unit for x in xs]


def _roof(axes, data: _Data, roof: Roofline, faint: bool, band) -> None:
    xs, ys = _polyline(data, roof)
    line = _line(data, roof, faint)
    colour = line["color"]
    if band:
        low, high = (Roofline(f, roof.bandwidth) for f in band)
        corners = np.array(sorted({data.xlim[0], data.xlim[1], low.ridge_point, high.ridge_point}))
        corners = corners[(corners >= data.xlim[0]) & (corners <= data.xlim[1])]
        lower, upper = low.attainable(corners) / data.unit, high.attainable(corners) / data.unit
        axes.fill_between(corners, lower, upper, color=colour, alpha=0.25, linewidth=0, zorder=2)
    inside = data.xlim[0] < roof.ridge_point < data.xlim[1]
    if not any(roof in group for group in data.slopes):
        axes.plot(xs, ys, **line)
    elif roof.ridge_point < data.xlim[1]:  # of a common slope a roof draws its flat part alone
        axes.plot(xs[-2:], ys[-2:], **line)
    if inside and not faint:
        # the ridge is where two lines of the model meet: a joint, not a measured (filled) mark
        axes.plot(
            [roof.ridge_point], [roof.peak / data.unit], marker="|", markersize=11, color=colour, mew=2.2, zorder=3
        )


def _line(data: _Data, roof: Roofline, faint: bool) -> dict:
    """Line2D settings of a roof."""
    return {
        "color": palette.role("faint").light if faint else data.swatch(roof).light,
        "linestyle": (0, (5, 3)) if roof.kind == "nominal" else "solid",
        "linewidth": 1.6 if faint or (roof.path == "vector" and len(data.roofs) > 1) else 2.4,
        "zorder": 2 if faint else 3,
    }


def _common_slope(axes, data: _Data, group: Sequence[Roofline]) -> None:
    """The slope of several roofs, once and as far as the highest goes: dashes drawn over each other would fill their
    gaps. It has the colour of its roofs, or of words where these differ."""
    lines = [_line(data, r, f) for r, f in zip(data.roofs, data.faint, strict=True) if r in group]
    widest = max(lines, key=lambda line: line["linewidth"])
    colour = lines[0]["color"] if len({line["color"] for line in lines}) == 1 else palette.role("muted").light
    low, high = data.xlim
    highest = max(group, key=lambda roof: roof.peak)
    xs = [low, min(highest.ridge_point, high)]
    if low < xs[1]:
        ys = [float(highest.attainable(x)) / data.unit for x in xs]
        axes.plot(xs, ys, **widest | {"color": colour, "zorder": 2})


def _regions(axes, data: _Data, layout: Layout) -> list[Box]:
    """Shade what the memory and what the compute roof bound, and say so at the foot of the chart."""
    (roof,) = data.roofs
    low, high = data.xlim
    floor = data.ylim[0] / data.unit
    ridge = min(max(roof.ridge_point, low), high)
    parts = [("memory", np.array([low, ridge])), ("compute", np.array([ridge, high]))]
    taken = []
    for name, edge in parts:
        if edge[0] >= edge[1]:
            continue
        top = roof.attainable(edge) / data.unit
        tint = palette.role(name)
        axes.fill_between(edge, floor, top, color=tint.light, alpha=palette.REGION_OPACITY, linewidth=0, zorder=1)
        found = _region_words(axes, data, name, layout)
        if found is None:
            continue
        words, x, y, side = found
        settings = {"ha": side, "va": "bottom", "fontsize": layout.text, "fontweight": "bold"}
        taken.append(write(axes, words, x, y, layout, tint.light_text, **settings))
    if low < roof.ridge_point < high:
        axes.plot(
            [ridge, ridge],
            [floor, roof.peak / data.unit],
            color=palette.role("muted").light,
            linewidth=1,
            dashes=(2, 3),
            zorder=2,
        )
    return taken


def _region_words(axes, data: _Data, name: str, layout: Layout) -> tuple[str, float, float, str] | None:
    """The name of a region (words, x, y, alignment) at the foot of the chart: beside the ridge point, or beside the
    upright line of a work where the first place would lie on one; `None` where the region has no room."""
    area, memory = axes.get_window_extent(), name == "memory"
    floor = data.ylim[0] / data.unit

    def across(intensity) -> float:
        return axes.transData.transform((float(intensity), floor))[0]

    ridge, y = across(data.roofs[0].ridge_point), area.y0 + 8
    uprights = [across(work.intensity) for work in data.works.values()]
    starts = sorted([ridge, *uprights], key=lambda x: abs(x - ridge))
    choices = [
        (words, start - 8 - width if memory else start + 8, start, width, height)
        for start in starts
        for words in (f"{name}-bound", f"{name}-\nbound")
        for width, height in [text_size(words, layout.text, "bold")]
    ]
    low, high = (area.x0, ridge) if memory else (ridge, area.x1)
    inside = [c for c in choices if low + 2 <= c[1] and c[1] + c[3] <= high - 2]

    def crossed(choice) -> int:
        _, left, _, width, height = choice
        lines = [((x, area.y0), (x, area.y1)) for x in uprights]
        box = Box(left - 3, y - 2, left + width + 3, y + height)
        return sum(box.crossed_by(*line) for line in (*lines, *_segments(axes, data)))

    best = min(inside, key=crossed, default=None)
    if best is None:
        return None
    words, _, start, _, _ = best
    return words, start - 8 if memory else start + 8, y, "right" if memory else "left"


def _roof_names(axes, data: _Data, layout: Layout, values: list[str], at_right: bool) -> list[Box]:
    """Name the roofs: in a column at the right end, or along them when there is one roof or one peak."""
    taken = []
    if at_right:
        rows = []
        for name, value, roof, faint in zip(data.names, values, data.roofs, data.faint, strict=True):
            end = float(roof.attainable(data.xlim[1])) / data.unit
            colour = palette.role("muted").light if faint else data.swatch(roof).light_text
            rows.append((axes.transData.transform((data.xlim[1], end))[1], name, value, colour, not faint))
        name_column(axes, layout, rows, "F")
        if data.same_slope:
            words = f"B = {number(data.roofs[0].bandwidth / 1e9)} GB/s"
            # along the longest stretch between two ridges: there is most room
            ridges = sorted(min(max(roof.ridge_point, data.xlim[0]), data.xlim[1]) for roof in data.roofs)
            stretch = max(itertools.pairwise([data.xlim[0], *ridges]), key=lambda pair: pair[1] / pair[0])
            highest = max(data.roofs, key=lambda roof: roof.peak)
            taken += _along_slope(axes, data, highest, words, layout, palette.role("muted").light, stretch)
        return taken + _ridge_values(axes, data, layout, taken)
    roof = data.roofs[0]
    area = axes.get_window_extent()
    ink = data.swatch(roof).light_text if len(data.roofs) == 1 else palette.role("ink").light
    inner = min(max(roof.ridge_point, data.xlim[0]), data.xlim[1])
    ridge_x, roof_y = axes.transData.transform((inner, roof.peak / data.unit))
    peak = f"F = {number(roof.peak / data.unit)} {data.unit_name}"
    width, height = text_size(peak, layout.small, "bold")
    above = roof_y + 8
    if len(data.roofs) == 1 and data.xlim[0] < roof.ridge_point < data.xlim[1]:
        ridge = f"ridge point {number(roof.ridge_point)} FLOP/byte"
        # left of the ridge, above the slope, nothing is drawn
        if text_size(ridge, layout.small)[0] <= ridge_x - 6 - area.x0:
            taken.append(write(axes, ridge, ridge_x - 6, above, layout, ink, ha="right", va="bottom"))
        else:
            taken.append(write(axes, ridge, area.x0 + 4, above + height + 5, layout, ink, va="bottom"))
    short = area.x1 - 4 - width < ridge_x + 4 and taken  # the flat part is shorter than its label: one line up
    y = above + height + 5 if short else above
    taken.append(write(axes, peak, area.x1 - 4, y, layout, ink, ha="right", va="bottom", fontweight="bold"))
    for each, name in zip(data.roofs, data.names, strict=True):
        value = f"{number(each.bandwidth / 1e9)} GB/s"
        words, colour = (
            (f"B = {value}", ink) if len(data.roofs) == 1 else (f"{name}: {value}", data.swatch(each).light_text)
        )
        taken += _along_slope(axes, data, each, words, layout, colour)
    if len(data.roofs) > 1:
        taken += _ridge_values(axes, data, layout, taken)
    return [box.grown(5) for box in taken]


def _along_slope(axes, data, roof, words, layout, colour, stretch=None) -> list[Box]:
    low, high = stretch or data.xlim
    ends = [
        (low, float(roof.attainable(low))),
        (min(roof.ridge_point, high), float(roof.attainable(min(roof.ridge_point, high)))),
    ]
    (x0, y0), (x1, y1) = (axes.transData.transform((x, y / data.unit)) for x, y in ends)
    if x1 - x0 < 40:
        return []
    angle = np.degrees(np.arctan2(y1 - y0, x1 - x0))
    width, height = text_size(words, layout.small, "bold")
    length = np.hypot(x1 - x0, y1 - y0)
    c, s = (x1 - x0) / length, (y1 - y0) / length
    marks = [axes.transData.transform((p.intensity, p.flop_per_s / data.unit)) for p in data.points]

    def hidden(start: float) -> float:
        """How many marks the words would lie on, from this place of the slope on."""
        along = [((mx - x0) * c + (my - y0) * s - start, (my - y0) * c - (mx - x0) * s) for mx, my in marks]
        reach = layout.marker / 2 + 1
        return sum(-reach < a < width + reach and 6 - reach < up < 6 + height + reach for a, up in along)

    # the first letter stands inside the axes, and the last one ends with the slope
    first = max(min(0.12 * length, max(0.0, length - width - 8)) + 4, (s * (6 + height) + 2) / max(c, 0.1))
    last = max(first, length - width - 4)
    start = min(np.linspace(first, last, 12), key=lambda at: (hidden(at), at))
    x, y = x0 + c * start - s * 6, y0 + s * start + c * 6
    axes.annotate(
        words,
        (x, y),
        xycoords="figure points",
        rotation=angle,
        rotation_mode="anchor",
        ha="left",
        va="baseline",
        fontsize=layout.small,
        fontweight="bold",
        color=colour,
    )
    edges = [(-2, -2), (width + 2, -2), (width + 2, height), (-2, height)]
    clear_grid(axes, [(x + c * a - s * b, y + s * a + c * b) for a, b in edges])
    # a turned label is not a box: cover it with a chain of small ones
    steps = max(2, int(width // height) + 1)
    out = []
    for i in range(steps):
        along = (i + 0.5) / steps * width
        out.append(Box.around(x + c * along - s * height / 2, y + s * along + c * height / 2, 0.75 * height))
    return out


def _ridge_values(axes, data: _Data, layout: Layout, taken: list[Box]) -> list[Box]:
    """The ridge points of a few roofs, written at their ridges; more than five would only be noise."""
    shown = [
        roof
        for roof, faint in zip(data.roofs, data.faint, strict=True)
        if not faint and data.xlim[0] < roof.ridge_point < data.xlim[1]
    ]
    if len(shown) > 5 or data.points:
        return []
    stack = _ridge_stack(axes, data, layout, shown, taken) if data.same_slope else None
    if stack is not None:
        return stack
    labels, colours = [], []
    for roof in shown:
        x, y = axes.transData.transform((roof.ridge_point, roof.peak / data.unit))
        text = f"ridge {number(roof.ridge_point)}"
        labels.append(Label(text, x, y, *text_size(text, layout.small), radius=6))
        colours.append(data.swatch(roof).light_text)
    lines = [*_segments(axes, data), *_uprights(axes, data), *_band_edges(axes, data)]
    return write_labels(axes, labels, colours, layout, taken, lines, _WHO)


def _ridge_stack(axes, data: _Data, layout: Layout, shown: Sequence[Roofline], taken: Sequence[Box]):
    """The ridge points of one common slope, left of it where no line is: each at its flat part or, where these lie
    close, higher and at the end of a leader. Returns their boxes, None where something stands in the way."""
    area, floor = axes.get_window_extent(), -np.inf
    rows = []
    for roof in sorted(shown, key=lambda roof: roof.peak):
        x, y = axes.transData.transform((roof.ridge_point, roof.peak / data.unit))
        text = f"ridge {number(roof.ridge_point)}"
        width, height = text_size(text, layout.small)
        base = max(y, floor)
        floor = base + height + 2
        rows.append((roof, text, Box(x - 8 - width, base, x - 8, base + height), (x, y)))
    boxes = [box for _, _, box, _ in rows]
    if any(not box.inside(Box(*area.extents)) or any(box.overlaps(other) for other in taken) for box in boxes):
        return None
    for roof, text, box, (x, y) in rows:
        if box.y0 - y > layout.small / 2:
            pixel_line(axes, (x - 1, y + 2), (box.x1 + 1, (box.y0 + box.y1) / 2), palette.role("muted").light)
        write(axes, text, box.x1, (box.y0 + box.y1) / 2, layout, data.swatch(roof).light_text, ha="right")
    return boxes


def _band_edges(axes, data: _Data) -> list:
    """The outlines of the bands, where they leave their roofs."""
    edges = []
    for roof, band in zip(data.roofs, data.bands, strict=True):
        for peak in band or ():
            edge = _polyline(data, Roofline(peak, roof.bandwidth))
            edges += itertools.pairwise([tuple(axes.transData.transform(p)) for p in zip(*edge, strict=True)])
    return edges


def _crossing_mark(axes, data: _Data, layout: Layout) -> list[Box]:
    if data.crossing is None:
        return []
    accent = palette.role("accent")
    words = f"cross at I = {number(data.crossing)}"
    if data.crossing_range is not None:
        low, high = data.crossing_range
        edge = (max(low, data.xlim[0]), min(high, data.xlim[1]))
        axes.axvspan(*edge, color=accent.light, alpha=0.12, linewidth=0, zorder=1)
        words += _possible(data.crossing_range, number)
    floor = data.ylim[0] / data.unit
    height = float(data.roofs[0].attainable(data.crossing)) / data.unit
    axes.plot([data.crossing] * 2, [floor, height], color=accent.light, linewidth=1.2, dashes=(2, 3), zorder=2)
    x, y = axes.transData.transform((data.crossing, floor))
    text, left = _beside_crossing(words, x, y + 8, axes.get_window_extent(), _segments(axes, data), layout)
    side = {"ha": "right" if left else "left", "multialignment": "right" if left else "left"}
    return [write(axes, text, x - 7 if left else x + 7, y + 8, layout, accent.light_text, va="bottom", **side)]


def _beside_crossing(words: str, x: float, y: float, area, roofs, layout: Layout) -> tuple[str, bool]:
    """The words in lines, and whether they stand left of the upright line at x: in the fewest lines that no roof
    crosses, on the left if both sides will do."""
    tried = []
    for share in (0.45, 0.35, 0.27):
        for left, room in ((True, x - area.x0 - 10), (False, area.x1 - x - 10)):
            text = "\n".join(wrap(words, min(share * area.width, room), layout.small))
            width, height = text_size(text, layout.small)
            if width > room:
                continue
            box = Box(x - 7 - width, y, x - 7, y + height) if left else Box(x + 7, y, x + 7 + width, y + height)
            over = sum(box.grown(3).crossed_by(*line) for line in roofs)
            tried.append((over, text.count("\n"), not left, text))
    _, _, right, text = min(tried, default=(0, 0, False, words))
    return text, not right


def _segments(axes, data: _Data) -> list:
    out = []
    for roof in data.roofs:
        corners = [tuple(axes.transData.transform(p)) for p in zip(*_polyline(data, roof), strict=True)]
        out += itertools.pairwise(corners)
    return out


def _uprights(axes, data: _Data) -> list:
    """The upright lines below the roofs: of the works, and of a single roof's ridge point."""
    tops = [(float(work.intensity), data.top(name)) for name, work in data.works.items()]
    if len(data.roofs) == 1:
        tops.append((data.roofs[0].ridge_point, data.roofs[0].peak / data.unit))
    floor = data.ylim[0] / data.unit
    return [tuple(tuple(axes.transData.transform((x, y))) for y in (floor, top)) for x, top in tops]


def _point_names(axes, data: _Data, layout: Layout, taken: list[Box]) -> None:
    marks, labels, colours = [*taken, *_ridge_ticks(axes, data)], [], []
    segments = [*_segments(axes, data), *_uprights(axes, data)]
    for point, text in zip(data.points, data.point_labels, strict=True):
        x, y = axes.transData.transform((point.intensity, point.flop_per_s / data.unit))
        if text is None:
            marks.append(Box.around(x, y, layout.marker / 2 + 1))
            continue
        labels.append(Label(text, x, y, *text_size(text, layout.small), radius=layout.marker / 2 + 1))
        colours.append(palette.role("ink").light)
    for name, work in data.works.items():
        if not name:
            continue
        x, y = axes.transData.transform((float(work.intensity), data.top(name)))
        own = data.own_roof(name)
        height = reading.three(data.top(name)) + ("" if layout.narrow else f" {data.unit_name}")
        intensity = f"I\u00a0=\u00a0{number(float(work.intensity))}"  # never broken
        said = f"{name}: {intensity if own is None else height}"
        # on a phone a long name beside its upright line takes two lines rather than lie across it
        words = "\n".join(wrap(said, 75, layout.small)) if layout.narrow else said
        labels.append(Label(words, x, y, *text_size(words, layout.small), radius=2 if own is None else 5))
        colours.append(palette.role("ink").light)
    write_labels(axes, labels, colours, layout, marks, segments, _WHO)


def _ridge_ticks(axes, data: _Data) -> list[Box]:
    """The marks at the ridge points, which would hide a leader to a point beside them."""
    ticks = [(roof.ridge_point, roof.peak / data.unit) for roof in data.roofs]
    return [Box.around(*axes.transData.transform(at), 2, 6) for at in ticks if data.xlim[0] < at[0] < data.xlim[1]]


def _key_entries(data: _Data, layout: Layout) -> list[Entry]:
    muted = palette.role("muted")
    measured = [p for p in data.points if not p.derived]
    swatches = [data.marker(p) for p in measured]
    kinds = {roof.kind for roof in data.roofs}
    entries: list[Entry] = []
    if kinds - {"nominal"}:
        entries.append(({"color": muted.light, "linewidth": 2.2}, "model: min(F, B·I)"))
    if "nominal" in kinds:
        entries.append(({"color": muted.light, "linewidth": 2.2, "linestyle": (0, (5, 3))}, "model, nominal F and B"))
    shapes = {data.marker(p).marker: p.precision for p in measured}
    if len(shapes) > 1 and len({p.precision for p in measured}) > 1:
        for shape, precision in shapes.items():
            swatch = palette.Swatch(muted.name, muted.light, muted.dark, shape)
            entries.append((mark(swatch, layout), f"measured, {reading.precision_name(precision)}"))
    else:
        entries += measured_entries(layout, list(zip(measured, swatches, strict=True)))
    unstable = [data.marker(p) for p in measured if not p.stable]
    if unstable:
        entries.append((key_mark(unstable, layout, stable=False), "measured, unstable"))
    for note in dict.fromkeys(p.record.note for p in data.points if p.derived):
        entries.append((_cross(muted, layout), f"derived: {note}" if note else "derived"))
    if data.works:
        upright = {"linestyle": "none", "marker": "|", "markersize": 13, "markeredgewidth": 1.4}
        entries.append((upright | {"color": palette.role("ink").light}, "counted: I = W/Q"))
    if any(data.bands):
        entries.append(
            (
                {"color": muted.light, "linewidth": 8, "alpha": 0.3, "solid_capstyle": "butt"},
                "range of F over its sources",
            )
        )
    return entries


def _possible(about: tuple[float, float] | None, shown: Callable) -> str:
    """Where the roofs may cross within their bands, in words."""
    if about is None:
        return ""
    low, high = about
    end = f"to {shown(high)}" if np.isfinite(high) else "on, or never"
    return f"; within the bands anywhere from {shown(low)} {end}"


def _describe(data: _Data, title: str) -> str:
    three = reading.three
    parts = [f"{title}." if title else ""]
    parts.append(
        f"Roofline chart: throughput against arithmetic intensity, both logarithmic, "
        f"from {three(data.xlim[0])} to {three(data.xlim[1])} FLOP/byte."
    )
    for roof, band in zip(data.roofs, data.bands, strict=True):
        kind = f" ({roof.kind})" if roof.kind == "nominal" else ""
        parts.append(
            f"{reading.roof_name(roof)}{kind}: peak F {three(roof.peak / data.unit)} {data.unit_name}, "
            f"bandwidth B {three(roof.bandwidth / 1e9)} GB/s, ridge point {three(roof.ridge_point)} FLOP/byte."
        )
        if band and band[0] < band[1]:
            parts.append(f"Its F is between {three(band[0] / data.unit)} and {three(band[1] / data.unit)} by source.")
    if data.crossing is not None:
        parts.append(f"The two roofs cross at {three(data.crossing)} FLOP/byte{_possible(data.crossing_range, three)}.")
    for name, work in data.works.items():
        roof = data.own_roof(name)
        reach = f", and reaches at most {three(data.top(name))} {data.unit_name}" if roof else ""
        parts.append(f"{name or 'The work'} has an intensity of {three(float(work.intensity))} FLOP/byte{reach}.")
    groups: dict[tuple, list[reading.Point]] = {}
    for point in data.points:
        if not point.derived:
            groups.setdefault((point.device, point.precision), []).append(point)
    for (device, precision), members in groups.items():
        low, high = (f(members, key=lambda p: p.flop_per_s) for f in (min, max))
        unstable = sum(not p.stable for p in members)
        parts.append(
            f"{len(members)} measured point{'s' if len(members) > 1 else ''} of {reading.device_name(device)} "
            f"{reading.precision_name(precision)}: from {three(low.flop_per_s / data.unit)} {data.unit_name} at "
            f"{three(low.intensity)} FLOP/byte to {three(high.flop_per_s / data.unit)} {data.unit_name} at "
            f"{three(high.intensity)} FLOP/byte" + (f", {unstable} of them unstable." if unstable else ".")
        )
    for point, label in zip(data.points, data.point_labels, strict=True):
        if point.derived:
            name = ": ".join(words for words in ("Derived, not measured", label) if words)
            height = f"{three(point.flop_per_s / data.unit)} {data.unit_name}"
            parts.append(f"{name}, {height} at {three(point.intensity)} FLOP/byte.")
    parts.append(reading.sources(data.points))
    return " ".join(part for part in parts if part)
