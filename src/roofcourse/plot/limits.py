"""Charts of what lies outside the roofline: timelines, memory levels, loads in flight, what is near saturation."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from .. import palette, words
from ..roofline import Roofline
from ..timeline import Timeline
from ..work import Work
from . import reading
from .drawing import frame, row_frame, tick_room, words_width, write, write_labels
from .figure import Figure
from .labels import Box, Label
from .style import Layout, log_axis, mark, number, text_size

#: Colours for the kinds of span; the rest shares the last one.
_SPANS = ("matrix-b", "matrix-a", "matrix-c", "scales", "muted")
#: Pixels: a span takes no less, and has an edge from this width on, so that the edge never hides it.
_LEAST_WIDTH, _WITH_EDGE = 1.0, 3.0


def timeline(timelines: Timeline | Mapping[str, Timeline], *, title: str = "") -> Figure:
    """What ran when: a bar for each lane (CPU, GPU) of each timeline, all on one axis of time.

    timelines: one Timeline or {name: Timeline}. The share of the whole time in which something ran stands at the end of
    each bar; the empty parts of a bar are gaps.
    """
    who = "rc.plot.timeline"
    named = {"": timelines} if isinstance(timelines, Timeline) else timelines
    if not isinstance(named, Mapping) or not named or not all(isinstance(t, Timeline) for t in named.values()):
        raise ValueError(
            f"{who} needs a Timeline such as rc.bench('local').timeline(), or a dict of them, not {named!r}"
        )
    longest = max(t.seconds for t in named.values())
    factor, unit = reading.time_unit(longest / 2)
    took = dict(zip(named, _alike([t.seconds for t in named.values()], factor, unit), strict=True))
    colours = _span_colours(named.values())
    models = {t.kind == "model" for t in named.values()}
    ends = {
        (name, lane): f"{lane} busy {words.percent(100 * t.busy(lane) / t.seconds)}"
        for name, t in named.items()
        for lane in t.lanes
    }

    def draw(layout: Layout):
        head, step = layout.small + 12, layout.small + 16
        heights = [(head if name else 4) + len(t.lanes) * step + 6 for name, t in named.items()]
        entries = [
            ({"linestyle": "none", "marker": "s", "markersize": 10, "color": palette.role(role).light}, kind)
            for kind, role in colours.items()
        ]
        settings = {"x": f"time ({unit})" + (", by the model" if models == {True} else ""), "y": None}
        right = words_width(layout, [end.split(" ", 1)[1] for end in ends.values()]) + 16
        settings = {"entries": entries, **settings}
        placed, figure, axes = row_frame(layout, title, sum(heights), left=40, right=right, **settings)
        axes.set_xlim(0, longest / factor)
        box, ink, muted = axes.get_window_extent(), palette.role("ink").light, palette.role("muted").light
        top = 0.0
        for (name, t), height in zip(named.items(), heights, strict=True):
            if name:
                y = axes.transData.transform((0, top + head / 2))[1]
                write(axes, f"{name}: {took[name]}", 4, y, placed, ink, fontweight="bold")
            for i, lane in enumerate(t.lanes):
                middle = top + (head if name else 4) + (i + 0.5) * step
                _lane(axes, t, lane, middle, step - 8, factor, colours)
                _name_spans(axes, t, lane, middle, factor, placed, colours)
                y = axes.transData.transform((0, middle))[1]
                write(axes, lane, box.x0 - 8, y, placed, muted, ha="right")
                write(axes, ends[name, lane].split(" ", 1)[1], box.x1 + 8, y, placed, ink)
            top += height
        return figure

    alt = [f"{title}." if title else "", "Timelines" + (", by the model." if models == {True} else ".")]
    for name, t in named.items():
        busy = ", ".join(f"{ends[name, lane]}" for lane in t.lanes)
        kinds = "; ".join(f"{kind} {words.time3(seconds)}" for kind, seconds in _by_kind(t).items() if kind in colours)
        head = f"{name}: " if name else ""
        alt.append(f"{head}{words.time3(t.seconds)}, {len(t.spans)} spans, {busy}; by kind {kinds}.")
    return Figure(draw, " ".join(alt))


def _kind_of(name: str) -> str:
    """What spans are called together: "kernel 3" is a kernel; long names of GPU kernels are cut."""
    plain = re.sub(r" \d+$", "", name)
    return plain if len(plain) <= 24 else plain[:23] + "…"


def _by_kind(t: Timeline) -> dict[str, float]:
    """Seconds by kind of span, in the order in which the kinds first appear."""
    totals: dict[str, float] = {}
    for span in t.spans:
        totals[_kind_of(span.name)] = totals.get(_kind_of(span.name), 0) + span.seconds
    return totals


def _span_colours(timelines) -> dict[str, str]:
    """Kind of span -> role, in the order in which they first appear; of many kinds, those with the most time."""
    totals: dict[str, float] = {}
    for t in timelines:
        for kind, seconds in _by_kind(t).items():
            totals[kind] = totals.get(kind, 0) + seconds
    if len(totals) <= len(_SPANS):
        return dict(zip(totals, _SPANS, strict=False))
    longest = sorted(totals, key=lambda kind: -totals[kind])[: len(_SPANS) - 1]
    return dict(zip((k for k in totals if k in longest), _SPANS, strict=False)) | {"other": _SPANS[-1]}


def _alike(seconds: Sequence[float], factor: float, unit: str) -> list[str]:
    """Times that are compared: in one unit, to the last of three digits of the longest; with two digits at least."""
    decimals = len(reading.three(max(seconds) / factor).partition(".")[2])
    digits = [math.floor(math.log10(t / factor)) + 1 + decimals for t in seconds]
    return [f"{words.significant(t / factor, max(2, n))}\u00a0{unit}" for t, n in zip(seconds, digits, strict=True)]


def _lane(axes, t: Timeline, lane: str, middle: float, thick: float, factor: float, colours: Mapping[str, str]) -> None:
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    axes.barh(middle, t.seconds / factor, thick, color=palette.role("grid").light, linewidth=0, zorder=2)
    low, high = middle - thick / 2, middle + thick / 2
    pixel = np.diff(axes.get_xlim())[0] / axes.get_window_extent().width
    boxes: dict[tuple[bool, str], list[Path]] = {}
    for span in t.on(lane):
        width = max(span.seconds / factor, _LEAST_WIDTH * pixel)
        start = min(span.start / factor, t.seconds / factor - width)
        end, thin = start + width, width < _WITH_EDGE * pixel
        corners = [(start, low), (end, low), (end, high), (start, high), (start, low)]
        boxes.setdefault((thin, colours.get(_kind_of(span.name), _SPANS[-1])), []).append(Path(corners, closed=True))
    # All spans of a colour are one path: a timeline of many spans stays small in a page. The thin ones lie on top.
    for (thin, role), paths in sorted(boxes.items(), key=lambda item: item[0][0]):
        edge = {"edgecolor": palette.role("surface").light, "linewidth": 0 if thin else 0.5, "zorder": 3}
        axes.add_patch(PathPatch(Path.make_compound_path(*paths), facecolor=palette.role(role).light, **edge))


def _name_spans(axes, t: Timeline, lane: str, middle: float, factor: float, layout: Layout, kinds) -> None:
    """The first span of each kind that has room for it carries its name: not by colour alone."""
    named = set()
    for span in t.on(lane):
        kind = _kind_of(span.name)
        ends = [axes.transData.transform((x / factor, middle)) for x in (span.start, span.end)]
        (left, y), (right, _) = ends
        if kind in kinds and kind not in named and words_width(layout, [kind]) + 6 <= right - left:
            named.add(kind)
            write(axes, kind, (left + right) / 2, y, layout, palette.role("surface").light, ha="center")


def hierarchy(
    kernels: Mapping[str, tuple[float, Mapping[str, Work]]], roofs: Sequence[Roofline], *, title: str = ""
) -> Figure:
    """A hierarchical roofline: each kernel once for each memory level, at the same height, by the bytes of that level.

    kernels: {name: (seconds, {level: Work})}; roofs: one Roofline a level, its ``label`` the level, all with the same
    peak. The bytes are measured by counters; a kernel's points are joined by a thin line.
    """
    who = "rc.plot.hierarchy"
    lines = reading.roofs(roofs, who)
    levels = [roof.label for roof in lines]
    for name, (_, works) in kernels.items():
        if list(works) != levels:
            raise ValueError(
                f"{who}: {name!r} has the levels {', '.join(works)}; the roofs are {', '.join(map(str, levels))}"
            )
    points = {
        name: [(works[level].intensity, works[level].flop / seconds) for level in levels]
        for name, (seconds, works) in kernels.items()
    }
    if not points:
        raise ValueError(f"{who} needs at least one kernel")
    xs = [x for row in points.values() for x, _ in row]
    ys = [y for row in points.values() for _, y in row]
    xlim = (min(xs) / 2.5, max(*xs, *(roof.ridge_point for roof in lines)) * 4)
    unit, unit_name = reading.flop_unit(lines[0].peak)
    ylim = (min(ys) / 4 / unit, lines[0].peak * 2.5 / unit)
    roles = dict(zip(levels, ("accent", "memory", "matrix-b"), strict=False))
    shapes = dict(zip(levels, ("circle", "square", "triangle"), strict=False))

    def draw(layout: Layout):
        entries = [
            (mark(_shaped(roles[level], shapes[level]), layout), f"by the bytes of the {level}") for level in levels
        ]
        figure, axes = frame(
            layout, title, x="arithmetic intensity I of the level (FLOP/byte)", y=f"throughput P ({unit_name})",
            entries=entries, left=tick_room(layout, ["1 000"]), right=16,
        )  # fmt: skip
        box = axes.get_window_extent()
        log_axis(axes.xaxis, *xlim, room=box.width, least=38)
        log_axis(axes.yaxis, *ylim, room=box.height, least=24)
        segments, marks = [], []
        for roof in lines:
            corners = [xlim[0], roof.ridge_point, xlim[1]]
            heights = [float(roof.attainable(x)) / unit for x in corners]
            axes.plot(corners, heights, color=palette.role(roles[roof.label]).light, linewidth=2.2, zorder=2)
            pixels = [tuple(axes.transData.transform(p)) for p in zip(corners, heights, strict=True)]
            segments += itertools.pairwise(pixels)
            marks.append(_slope_name(axes, roof, unit, xlim, ylim, layout, roles[roof.label]))
        ink, labels = palette.role("ink").light, []
        # left of the first corner, above its slope, nothing is drawn
        corner = (min(roof.ridge_point for roof in lines), lines[0].peak / unit)
        x, y = axes.transData.transform(corner)
        peak = f"F = {number(corner[1])} {unit_name}"
        over = {"ha": "right", "va": "bottom", "fontweight": "bold"}
        marks.append(write(axes, peak, x - 6, y + 8, layout, ink, **over))
        for name, row in points.items():
            axes.plot([x for x, _ in row], [y / unit for _, y in row], color=ink, linewidth=1, zorder=3)
            for level, (x, y) in zip(levels, row, strict=True):
                axes.plot([x], [y / unit], zorder=4, **mark(_shaped(roles[level], shapes[level]), layout))
            *left, right = sorted(tuple(axes.transData.transform((x, y / unit))) for x, y in row)
            segments += itertools.pairwise([*left, right])
            also = tuple(Box.around(*p, 4) for p in left)
            size = text_size(name, layout.small)
            labels.append(Label(name, *right, *size, radius=layout.marker * 0.7 + 1, also=also))
        write_labels(axes, labels, [ink] * len(labels), layout, marks, segments, who)
        return figure

    parts = [f"{title}." if title else "", "Roofline chart with one slope for each memory level, all with the peak"]
    parts.append(f"{reading.three(lines[0].peak / 1e12)} TFLOP/s:")
    parts.append("; ".join(f"{roof.label} {words.rate(roof.bandwidth)}" for roof in lines) + ".")
    for name, row in points.items():
        where = ", ".join(f"I {reading.three(x)} by the {level}" for level, (x, _) in zip(levels, row, strict=True))
        parts.append(f"{name}: {reading.three(row[0][1] / 1e12)} TFLOP/s, {where}.")
    return Figure(draw, " ".join(parts))


def _shaped(role: str, shape: str) -> palette.Swatch:
    swatch = palette.role(role)
    return palette.Swatch(swatch.name, swatch.light, swatch.dark, shape)


def _slope_name(axes, roof: Roofline, unit: float, xlim, ylim, layout: Layout, role: str) -> Box:
    """The level and its bandwidth along its slope, at the height where there is most room below the corner."""
    low = max(xlim[0], ylim[0] * unit / roof.bandwidth)
    x = low * (roof.ridge_point / low) ** 0.5
    (x0, y0), (x1, y1) = (axes.transData.transform((v, roof.bandwidth * v / unit)) for v in (x, x * 1.5))
    turn = float(np.degrees(np.arctan2(y1 - y0, x1 - x0)))
    text = f"{roof.label}, {words.rate(roof.bandwidth)}"
    return write(
        axes, text, x0, y0 + 9, layout, palette.role(role).light_text, ha="center", va="center", rotation=turn,
        rotation_mode="anchor",
    )  # fmt: skip


def chains(measurements, *, title: str = "") -> Figure:
    """Loads in flight against bandwidth: chains of loads that wait for each other, one chain after the other added.

    The dotted line is what the time of a single load promises: k chains bring k times as much.
    """
    who = "rc.plot.chains"
    found = reading.points(measurements, who)
    if not found or any(p.record.batch is None for p in found):
        raise ValueError(f"{who} needs measurements of chains such as rc.bench('local').load_chains()")
    one = min(found, key=lambda p: p.record.batch)
    xs, ys = [p.record.batch for p in found], [p.bytes_per_s / 1e9 for p in found]
    ideal = one.bytes_per_s / one.record.batch / 1e9
    latency = one.seconds / one.record.elements

    def draw(layout: Layout):
        swatch = palette.device(found[0].device)
        guide = {"color": palette.role("muted").light, "linewidth": 1.2, "dashes": (2, 3)}
        entries = [(mark(swatch, layout), "measured"), (guide, f"every load still takes {words.time(latency)}")]
        if not all(p.stable for p in found):
            entries.insert(1, (mark(swatch, layout, stable=False), "measured, unstable"))
        figure, axes = frame(
            layout, title, x="chains, loads in flight", y="bandwidth (GB/s)", entries=entries,
            left=tick_room(layout, ["100"]), right=24,
        )  # fmt: skip
        box = axes.get_window_extent()
        log_axis(axes.xaxis, min(xs) / 1.3, max(xs) * 1.3, base=2, room=box.width, least=24)
        log_axis(axes.yaxis, min(ys) / 1.6, max(max(ys), ideal * max(xs)) * 1.6, room=box.height, least=22)
        axes.plot([min(xs), max(xs)], [ideal * min(xs), ideal * max(xs)], zorder=2, **guide)
        labels = []
        for p, x, y in zip(found, xs, ys, strict=True):
            axes.plot([x], [y], zorder=4, **mark(swatch, layout, stable=p.stable, size=1.2))
            px, py = axes.transData.transform((x, y))
            text = reading.three(y)
            labels.append(Label(text, px, py, *text_size(text, layout.small), radius=layout.marker))
        start, end = (tuple(axes.transData.transform((k, ideal * k))) for k in (min(xs), max(xs)))
        write_labels(axes, labels, [swatch.light_text] * len(labels), layout, [], [(start, end)], who)
        return figure

    parts = [f"{title}." if title else "", "Bandwidth against the number of chains of loads, both logarithmic."]
    parts += [f"{x} chains: {reading.three(y)} GB/s." for x, y in zip(xs, ys, strict=True)]
    parts.append(
        f"A dotted line: one load takes {words.time(latency)}; if all did, twice the chains were twice the bandwidth."
    )
    return Figure(draw, " ".join(parts))


def saturation(kernels: Mapping[str, tuple[float, float]], *, title: str = "") -> Figure:
    """The two percentages of each kernel: of the memory bandwidth across, of the peak throughput upwards.

    kernels: {name: (percent of B, percent of F)}. Right of the middle and high means near saturation; low and left, the
    kernel waits for something that neither counts.
    """
    who = "rc.plot.saturation"
    if not isinstance(kernels, Mapping) or not kernels:
        raise ValueError(
            f"{who} needs {{name: (percent of B, percent of F)}} with at least one kernel, not {kernels!r}"
        )
    wrong = {n: v for n, v in kernels.items() if len(v) != 2 or not all(0 <= float(p) < 150 for p in v)}
    if wrong:
        raise ValueError(f"{who}: the percentages of {next(iter(wrong))!r} must lie between 0 and 150: {wrong}")

    def draw(layout: Layout):
        from matplotlib.ticker import FixedLocator

        figure, axes = frame(
            layout.tall(layout.width * 0.7 if not layout.narrow else layout.height), title, x="percent of B (memory)",
            y="percent of F (arithmetic)", left=tick_room(layout, ["100"]), right=20,
        )  # fmt: skip
        axes.set_xlim(0, 108)
        axes.set_ylim(0, 108)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(FixedLocator([0, 20, 40, 60, 80, 100]))
        box = axes.get_window_extent()
        swatch, muted = palette.role("accent"), palette.role("muted").light
        tints = (("memory", (80, 0, 28, 108)), ("compute", (0, 80, 108, 28)))
        for role, (x, y, width, height) in tints:
            axes.axvspan(
                x, x + width, ymin=y / 108, ymax=(y + height) / 108, color=palette.role(role).light, alpha=0.1, lw=0
            )
        taken = [
            write(axes, "arithmetic near saturation", *axes.transData.transform((2, 84)), layout,
                  palette.role("compute").light_text),
            write(axes, "memory near saturation", box.x1 - 12, box.y0 + 12, layout, palette.role("memory").light_text,
                  rotation=90, ha="center", va="bottom"),
            write(axes, "both", *axes.transData.transform((94, 104)), layout, muted, ha="center"),
            write(axes, "neither", *axes.transData.transform((58, 54)), layout, muted, ha="center"),
        ]  # fmt: skip
        labels = []
        for name, (x, y) in kernels.items():
            axes.plot([x], [y], zorder=4, clip_on=False, **mark(_shaped("accent", "circle"), layout, size=1.1))
            px, py = axes.transData.transform((x, y))
            labels.append(Label(name, px, py, *text_size(name, layout.small), radius=layout.marker * 0.8))
        write_labels(axes, labels, [swatch.light_text] * len(labels), layout, taken, [], who)
        return figure

    parts = [f"{title}." if title else "", "Percent of B across, percent of F upwards."]
    parts += [f"{name}: {words.percent(x)} of B, {words.percent(y)} of F." for name, (x, y) in kernels.items()]
    return Figure(draw, " ".join(parts))
