"""Charts of a language model's two phases: its layers under the roof, its steps by batch, bound beside measurement."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .. import palette, words
from ..inference import LINEAR
from ..roofline import Roofline
from . import reading
from .drawing import Entry, column_width, frame, name_column, row_frame, tick_room, words_width, write, write_labels
from .figure import Figure
from .labels import Box, Label
from .style import Layout, key_mark, log_axis, mark, number, text_size

#: What a step's bound is made of, and the role whose colour it has; the last one is arithmetic, the others are traffic.
PARTS = {"weights": "matrix-b", "KV cache": "matrix-a", "activations": "matrix-c", "arithmetic": "compute"}
#: Kinds of kernels of a step timed live, and their colours.
KINDS = {
    "linear layers": "matrix-b",
    "attention": "matrix-a",
    "copies": "matrix-c",
    "the rest": "scales",
    "outside kernels": "faint",
}
#: More lower bounds than this are not named one by one.
_NAMED_BOUNDS = 4
LINEAR_SHORT = tuple(name.removesuffix("_proj") for name in LINEAR)
#: One shape for each group of the layers' chart: phase and tokens.
_SHAPES = ("circle", "square", "triangle", "diamond", "pentagon", "hexagon")
#: Marks of one group that are nearer than this (pixels across, pixels up) share a label.
_TOGETHER = (22.0, 9.0)


def layers(roof: Roofline, counters, *, title: str | None = None) -> Figure:
    """The linear layers of a model under one roof, where the card's counters put them: one shape a phase and batch.

    counters: such as rc.device("h100").layer_counters("decode", linear=True); FLOP counted, bytes and times read.
    Raises ValueError in one line for modules that are no matrix products, and for several cards at once.
    """
    who = "rc.plot.layers"
    if not isinstance(roof, Roofline):
        raise ValueError(f"{who} needs one Roofline such as rc.device('h100').roofline('bf16'), not {roof!r}")
    found = list(counters)
    if not found or not all(hasattr(x, "module") for x in found):
        raise ValueError(f"{who} draws layer counters such as rc.device('h100').layer_counters('decode', linear=True)")
    bare = next((x.module for x in found if x.flop is None), None)
    if bare:
        raise ValueError(f"{who}: {bare} is no matrix product; ask for the counters with linear=True")
    if len({x.device for x in found}) > 1:
        raise ValueError(f"{who} draws one card; there are {', '.join(dict.fromkeys(x.device for x in found))}")
    groups: dict[tuple, list] = {}
    for x in sorted(found, key=lambda x: (x.phase, x.tokens)):
        groups.setdefault((x.phase, x.batch, x.tokens), []).append(x)
    if len(groups) > len(_SHAPES):
        raise ValueError(f"{who} tells at most {len(_SHAPES)} phases and batches apart, not {len(groups)}")
    shapes = dict(zip(groups, _SHAPES, strict=False))
    xs, ys = [x.intensity for x in found], [x.flop_per_s for x in found]
    xlim = (min(xs) / 2.5, max(2.5 * max(xs), 4 * roof.ridge_point))
    ylim = (min(ys) / 3, max(*ys, roof.peak) * 2.6)
    title = title or f"{reading.roof_name(roof)}: the linear layers of one layer of the model, by measured traffic"

    def name(group) -> str:
        phase, batch, tokens = group
        return f"{phase}, batch {batch}" + (f" × {tokens // batch}" if phase == "prefill" else "")

    def draw(layout: Layout):
        base = palette.device(found[0].device)
        swatches = {g: palette.Swatch(base.name, base.light, base.dark, shapes[g]) for g in groups}
        entries: list[Entry] = [({"color": base.light, "linewidth": 2.2}, "model: min(F, B·I)")]
        entries += [(mark(swatches[g], layout), name(g)) for g in groups]
        figure, axes = frame(
            layout.tall(470) if layout.narrow else layout,  # room for the labels
            title,
            x="arithmetic intensity I (FLOP/byte)",
            y="throughput P (TFLOP/s)",
            entries=entries,
            left=tick_room(layout, ["1 000"]),
            right=14,
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, *xlim, room=box.width, least=38)
        log_axis(axes.yaxis, ylim[0] / 1e12, ylim[1] / 1e12, room=box.height, least=24)
        corners = [xlim[0], roof.ridge_point, xlim[1]]
        line = [float(roof.attainable(x)) / 1e12 for x in corners]
        axes.plot(corners, line, color=base.light, linewidth=2.4, zorder=3)
        floor = ylim[0] / 1e12
        axes.plot(
            [roof.ridge_point] * 2, [floor, line[1]], color=palette.role("muted").light, linewidth=1, dashes=(2, 3)
        )
        pixels = [tuple(axes.transData.transform(p)) for p in zip(corners, line, strict=True)]
        taken = [_region(axes, layout, words_, x, role) for words_, x, role in _sides(axes, roof, floor)]
        ridge = f"ridge point {number(roof.ridge_point)}"
        at = pixels[1][0] - 6 - text_size(ridge, layout.small)[0]
        taken.append(write(axes, ridge, max(at, box.x0 + 2), pixels[1][1] + 9, layout, base.light_text, va="bottom"))
        labels = []
        several = {phase: sum(g[0] == phase for g in groups) > 1 for phase, *_ in groups}
        for group, members in groups.items():
            for x in members:
                axes.plot([x.intensity], [x.flop_per_s / 1e12], zorder=4, **mark(swatches[group], layout))
            for cluster in _clusters(axes, members):
                px, py, _ = _middle(cluster)
                text = _joint_name([_short_module(x) for _, _, x in cluster], [_short_module(x) for x in members])
                if several[group[0]] and not layout.narrow:
                    text = f"batch {group[1]}: {text}"
                also = tuple(Box.around(a, b, layout.marker / 2) for a, b, _ in cluster if (a, b) != (px, py))
                size = text_size(text, layout.small)
                labels.append(Label(text, px, py, *size, radius=layout.marker / 2 + 1, also=also))
        ink = palette.role("ink").light
        upright = ((pixels[1][0], box.y0), pixels[1])
        write_labels(axes, labels, [ink] * len(labels), layout, taken, [pixels[:2], pixels[1:], upright], who)
        return figure

    parts = [
        f"{title}. Roofline chart, both axes logarithmic. Peak F {reading.three(roof.peak / 1e12)} TFLOP/s, "
        f"bandwidth B {reading.three(roof.bandwidth / 1e9)} GB/s, "
        f"ridge point {reading.three(roof.ridge_point)} FLOP/byte."
    ]
    for group, members in groups.items():
        each = "; ".join(
            f"{_short_module(x)} {reading.three(x.flop_per_s / 1e12)} TFLOP/s at {reading.three(x.intensity)} FLOP/byte"
            for x in members
        )
        parts.append(f"{name(group).capitalize()}: {each}.")
    parts.append(_sources(found))
    return Figure(draw, " ".join(parts))


def decode_steps(series: Mapping, bounds: Mapping | None = None, *, per_token: bool = False, title: str = "") -> Figure:
    """Time of a decode step against the batch, one series a card or prompt length.

    series: {name: decode steps}, such as {"H100": [s for s in h100.decode_steps() if s.prompt_length == 128]}.
    bounds: {name: (batches, seconds)}, the lower bounds, drawn as lines. per_token: the time divided by the batch, on a
    logarithmic axis. A bar at a point spans the fastest and the slowest run, where they differ visibly.

    Raises ValueError in one line for a series without steps and for a bound that belongs to no series.
    """
    who = "rc.plot.decode_steps"
    if not isinstance(series, Mapping) or not series or not all(len(steps) for steps in series.values()):
        raise ValueError(f"{who} needs {{name: decode steps}} with at least one step each, not {series!r}")
    lost = next((name for name in bounds or {} if name not in series), None)
    if lost is not None:
        raise ValueError(f"{who}: the bound {lost!r} belongs to no series; there are: {', '.join(series)}")
    steps = {name: sorted(found, key=lambda s: s.batch) for name, found in series.items()}
    devices = {s.device for found in steps.values() for s in found}
    borrowed = [palette.precision(name) for name in ("fp32", "nvfp4", "fp16", "fp64", "bf16", "int8")]
    swatches = {
        name: palette.device(found[0].device) if len(devices) > 1 else borrowed[i % len(borrowed)]
        for i, (name, found) in enumerate(steps.items())
    }

    def shown(seconds, batch):
        return np.asarray(seconds, dtype=float) * 1e3 / (np.asarray(batch) if per_token else 1)

    lines = {
        name: (np.asarray(batch, dtype=float), shown(seconds, batch))
        for name, (batch, seconds) in (bounds or {}).items()
    }
    every = [v for found in steps.values() for s in found for v in (shown(s.low, s.batch), shown(s.high, s.batch))]
    every += [v for _, values in lines.values() for v in values]
    batches = sorted({s.batch for found in steps.values() for s in found})
    what = "time a token (ms)" if per_token else "time of a step (ms)"

    last = {found[-1].batch for found in steps.values()}
    heading = f"at batch {last.pop()}" if len(last) == 1 else "at the last batch"

    def draw(layout: Layout):
        ends = {name: reading.three(float(shown(found[-1].seconds, found[-1].batch))) for name, found in steps.items()}
        muted = palette.role("muted")
        entries: list[Entry] = [(key_mark(swatches.values(), layout), "measured, bundled data")]
        if lines:
            entries.append(({"color": muted.light, "linewidth": 2}, "model: the lower bound"))
        figure, axes = frame(
            layout,
            title,
            x="batch",
            y=what,
            entries=entries,
            left=tick_room(layout, ["100"]),
            right=column_width(layout, list(steps), list(ends.values())),
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, batches[0] * 0.85, batches[-1] * 1.15, base=2, room=box.width, least=30)
        if per_token:
            log_axis(axes.yaxis, min(every) * 0.6, max(every) * 1.5, room=box.height, least=24)
        else:
            axes.set_ylim(0, max(every) * 1.12)
        rows = []
        for name, found in steps.items():
            swatch = swatches[name]
            xs, ys = [s.batch for s in found], [float(shown(s.seconds, s.batch)) for s in found]
            axes.plot(xs, ys, color=swatch.light, linewidth=1, alpha=0.55, zorder=2)
            for s in found:
                span = [float(shown(v, s.batch)) for v in (s.low, s.high)]
                axes.plot([s.batch] * 2, span, color=swatch.light, linewidth=1.6, zorder=3)
            axes.plot(xs, ys, zorder=4, clip_on=False, **mark(swatch, layout))
            if name in lines:
                axes.plot(*lines[name], color=swatch.light, linewidth=2, zorder=2)
            rows.append((axes.transData.transform((xs[-1], ys[-1]))[1], name, ends[name], swatch.light_text, True))
        name_column(axes, layout, rows, heading)
        if 1 < len(lines) <= _NAMED_BOUNDS:
            points = [[(s.batch, float(shown(s.seconds, s.batch))) for s in found] for found in steps.values()]
            _name_bounds(axes, layout, lines, swatches, points, who)
        return figure

    scale = "both axes logarithmic" if per_token else "the batch on a logarithmic axis"
    parts = [f"{title}." if title else "", f"Chart of the {what.replace(' (ms)', '')} against the batch, {scale}."]
    for name, found in steps.items():
        each = [(s.seconds / (s.batch if per_token else 1), s.batch) for s in found]
        parts.append(f"{name}: " + ", ".join(f"{words.time3(t)} at batch {b}" for t, b in each) + ".")
        if name in lines:
            low, high = (words.time3(float(v) / 1e3) for v in lines[name][1][[0, -1]])
            parts.append(f"Its lower bound goes from {low} to {high}.")
    parts.append(_sources([s for found in steps.values() for s in found]))
    return Figure(draw, " ".join(part for part in parts if part))


def _name_bounds(axes, layout: Layout, lines: Mapping, swatches: Mapping, points: Sequence, who: str) -> None:
    """Say at each lower bound whose it is; bounds that nearly coincide share the words."""

    def pixel(places) -> list:
        return [tuple(axes.transData.transform(p)) for p in places]

    pixels = {name: pixel(zip(*line, strict=True)) for name, line in lines.items()}
    middle = float(np.mean([line[i][0] for line in pixels.values() for i in (0, -1)]))
    heights = {name: float(np.interp(middle, *zip(*line, strict=True))) for name, line in pixels.items()}
    ordered = sorted(heights, key=heights.get)
    groups = [[ordered[0]]]
    for name in ordered[1:]:
        near = heights[name] - heights[groups[-1][-1]] < 5
        groups = [*groups[:-1], [*groups[-1], name]] if near else [*groups, [name]]
    labels, colours = [], []
    for group in groups:
        text = f"{'bound' if len(group) == 1 else 'bounds'}, {words.listed(group)}"
        text = "all bounds" if len(group) == len(lines) else text
        labels.append(Label(text, middle, heights[group[0]], *text_size(text, layout.small), radius=3))
        colours.append(swatches[group[0]].light_text if len(group) == 1 else palette.role("muted").light)
    segments = [pair for line in pixels.values() for pair in pairwise(line)]
    measured = [pixel(series) for series in points]
    segments += [pair for series in measured for pair in pairwise(series)]
    marks = [Box.around(*p, layout.marker / 2 + 1) for series in measured for p in series]
    write_labels(axes, labels, colours, layout, marks, segments, who)


def bound_and_measured(rows: Mapping, *, title: str = "") -> Figure:
    """A lower bound, split into its parts, beside what was measured: {group: {name: (parts, measured seconds)}}.

    parts: {part: seconds} with parts of PARTS, one after the other in a bar; their sum is the bound. The measured time
    is a filled mark, and the words at the end say it and how many times the bound it is.

    Raises ValueError in one line for an unknown part and for times that are not positive.
    """
    who = "rc.plot.bound_and_measured"
    if not isinstance(rows, Mapping) or not rows or not all(isinstance(g, Mapping) and g for g in rows.values()):
        raise ValueError(f"{who} needs {{group: {{name: (parts, measured seconds)}}}}, not {rows!r}")
    flat = [(group, name, dict(parts), float(t)) for group, g in rows.items() for name, (parts, t) in g.items()]
    for _, name, parts, measured in flat:
        unknown = next((part for part in parts if part not in PARTS), None)
        if unknown is not None:
            raise ValueError(f"{who}: {name!r} has an unknown part {unknown!r}; there are: {', '.join(PARTS)}")
        if not (0 < measured < np.inf and 0 < sum(parts.values()) < np.inf):
            raise ValueError(f"{who}: {name!r} needs a bound and a measured time that are positive, in seconds")
    kinds = [part for part in PARTS if any(parts.get(part) for _, _, parts, _ in flat)]
    ends = [f"{words.time3(t)}, {words.significant(t / sum(p.values()), 2)} ×" for _, _, p, t in flat]
    drawn = [_Row(*row, end) for row, end in zip(flat, ends, strict=True)]
    entries = [(_block(PARTS[kind]), f"bound: {kind}") for kind in kinds]
    roles = {kind: PARTS[kind] for kind in kinds}
    said = [f"{title}." if title else "", "Bars of the lower bound on a step, by part, each with the measured time."]
    said += _in_words(flat, kinds)
    key = "measured, and how many times the bound"
    return Figure(lambda layout: _stacked(layout, drawn, roles, entries, key, title), " ".join(p for p in said if p))


MANY = 12  # bars that a description tells one by one; of more it tells the ends


def _in_words(flat: list[tuple], kinds: Sequence[str]) -> list[str]:
    """One sentence for each bar, or where they are many, for each group's nearest to its bound and furthest from it."""

    def times(parts, measured):
        return measured / sum(parts.values())

    def both(parts, measured):
        return f"bound {words.time3(sum(parts.values()))}, measured {words.time3(measured)}"

    said = []
    if len(flat) <= MANY:
        for group, name, parts, measured in flat:
            listed = ", ".join(f"{part} {words.time3(parts[part])}" for part in kinds if parts.get(part))
            said.append(
                f"{group}, {name}: bound {words.time3(sum(parts.values()))} ({listed}), "
                f"measured {words.time3(measured)}, {words.significant(times(parts, measured), 2)} times the bound."
            )
        return said
    for group in dict.fromkeys(row[0] for row in flat):
        rows = sorted((row for row in flat if row[0] == group), key=lambda row: times(*row[2:]))
        ends = [f"{words.significant(times(*row[2:]), 2)} times the bound ({row[1]}: {both(*row[2:])})" for row in rows]
        said.append(f"{group}, {len(rows)} steps: from {ends[0]} to {ends[-1]}.")
    return said


def step_modes(steps, *, title: str = "") -> Figure:
    """Decode steps timed on one machine in several modes: time in kernels by kind, time outside them, and the bound.

    steps: live or recorded steps such as rc.bench("local").decode(); each with the profiled times of its kernels.
    The mark is the time without the profiler; profiled kernels may add up to a little more. The upright line is the
    lower bound. Raises ValueError in one line for steps that were not profiled.
    """
    who = "rc.plot.step_modes"
    found = list(steps)
    if not found or not all(hasattr(x, "by_kind") for x in found):
        raise ValueError(f"{who} draws decode steps that were timed live, such as rc.bench('local').decode()")
    bare = next((x.label for x in found if x.kernel_seconds is None), None)
    if bare:
        raise ValueError(f"{who}: {bare} was not profiled, so its time cannot be split")
    drawn = []
    for x in found:
        parts = {**x.by_kind, "outside kernels": x.outside_seconds}
        end = f"{words.time3(x.seconds)}, {words.significant(x.seconds / x.bound, 2)} ×"
        group = f"batch {x.batch}, prompt {x.prompt_length}"
        drawn.append(_Row(group, x.mode, parts, x.seconds, end, x.bound, x.stable))
    roles = {kind: role for kind, role in KINDS.items() if any(row.parts.get(kind) for row in drawn)}
    entries: list[Entry] = [(_block(role), kind) for kind, role in roles.items()]
    upright = {"linestyle": "none", "marker": "|", "markersize": 14, "markeredgewidth": 2}
    entries.append(({"color": palette.role("ink").light, **upright}, "model: the lower bound"))
    said = [f"{title}." if title else "", "Bars of the time of a decode step, by what its kernels do, for each mode."]
    for row in drawn:
        listed = ", ".join(f"{kind} {words.time3(row.parts[kind])}" for kind in roles if row.parts.get(kind))
        said.append(f"{row.group}, {row.name}: {words.time3(row.measured)}, bound {words.time3(row.bound)}; {listed}.")
    key = "measured, and how many times the bound"
    return Figure(lambda layout: _stacked(layout, drawn, roles, entries, key, title), " ".join(p for p in said if p))


def step_parts(batch: Sequence[float], parts: Mapping, *, title: str = "") -> Figure:
    """What a decode step must at least wait for, against the batch: one line for each part, all axes logarithmic.

    batch: batches in rising order; parts: {name: seconds at each}; a name begins with a part of PARTS, which gives its
    colour ("KV cache, prompt 4096"). Where a line meets that of the weights is marked with its batch.

    Raises ValueError in one line for an unknown part or a length that differs from the batches'.
    """
    who = "rc.plot.step_parts"
    xs = np.asarray(batch, dtype=float)
    lines = {str(name): np.asarray(values, dtype=float) * 1e3 for name, values in parts.items()}
    for name, values in lines.items():
        if _part(name) is None:
            raise ValueError(f"{who}: {name!r} is no part of a step; a name begins with one of {', '.join(PARTS)}")
        if values.shape != xs.shape:
            raise ValueError(f"{who}: {name!r} has {values.size} values for {xs.size} batches")
    weights = next((v for name, v in lines.items() if _part(name) == "weights"), None)
    meets = {name: _meeting(xs, values, weights) for name, values in lines.items() if _part(name) != "weights"}
    meets = {name: at for name, at in meets.items() if at is not None}
    every = np.concatenate([v[v > 0] for v in lines.values()])
    limits = (float(every.min()) / 1.5, float(every.max()) * 1.5)

    def draw(layout: Layout):
        figure, axes = frame(
            layout,
            title,
            x="batch",
            y="least time (ms)",
            left=tick_room(layout, ["1 000", "0.01"]),
            right=column_width(layout, [_short(name, layout) for name in lines], []),
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, xs[0] * 0.9, xs[-1] * 1.1, base=2, room=box.width, least=44)
        log_axis(axes.yaxis, *limits, room=box.height, least=24)
        rows, segments = [], []
        for name, values in lines.items():
            swatch = palette.role(PARTS[_part(name)])
            axes.plot(xs, values, color=swatch.light, zorder=3)
            pixels = [tuple(axes.transData.transform(p)) for p in zip(xs, values, strict=True)]
            segments += [(pixels[0], pixels[-1])]
            rows.append((pixels[-1][1], _short(name, layout), "", swatch.light_text, True))
        labels = []
        for at, height in meets.values():
            axes.plot([at], [height], marker="|", markersize=14, mew=2, color=palette.role("ink").light, zorder=5)
            px, py = axes.transData.transform((at, height))
            # the first whole batch that is past the crossing; on a phone the axis alone says what is counted
            text = ("" if layout.narrow else "batch ") + number(math.ceil(at - 1e-6))
            labels.append(Label(text, px, py, *text_size(text, layout.small), radius=8))
        write_labels(axes, labels, [palette.role("ink").light] * len(labels), layout, [], segments, who)
        name_column(axes, layout, rows)
        return figure

    said = [
        f"{title}." if title else "",
        "Least times of the parts of a decode step against the batch, both logarithmic.",
    ]
    for name, values in lines.items():
        low, high = (words.time3(float(v) / 1e3) for v in values[[0, -1]])
        said.append(f"{name}: {low} at batch {number(xs[0])}, {high} at batch {number(xs[-1])}.")
    said += [f"{name} takes as long as the weights at batch {reading.three(at)}." for name, (at, _) in meets.items()]
    return Figure(draw, " ".join(part for part in said if part))


@dataclass(frozen=True)
class _Row:
    """One bar: parts in seconds, one after the other; a mark at the measured time; a line at a bound."""

    group: str
    name: str
    parts: dict
    measured: float
    end: str
    bound: float | None = None
    stable: bool = True


def _block(role: str) -> dict:
    return {"linestyle": "none", "marker": "s", "markersize": 10, "color": palette.role(role).light}


def _stacked(layout: Layout, rows: Sequence[_Row], roles: Mapping, entries: Sequence[Entry], key: str, title: str):
    """Bars from the top down in groups, in milliseconds; on a phone a bar's name stands above it."""
    from matplotlib.patheffects import withStroke

    step, head = layout.small + 9 + (layout.small + 4 if layout.narrow else 0), layout.small + 16
    groups = len({row.group for row in rows})
    height = len(rows) * step + groups * head + 6
    longest = max(max(row.measured, sum(row.parts.values())) for row in rows) * 1e3
    muted, accent, ink = (palette.role(name) for name in ("muted", "accent", "ink"))
    entries = [*entries, (mark(accent, layout), key)]
    if not all(row.stable for row in rows):
        entries.append((mark(accent, layout, stable=False), "measured, unstable"))
    named = {"x": "time of a step (ms)", "y": None, "entries": entries}
    left = 8 if layout.narrow else words_width(layout, [row.name for row in rows]) + 18
    _, figure, axes = row_frame(layout, title, height, left=left, right=10, **named)
    box = axes.get_window_extent()
    room = words_width(layout, [row.end for row in rows]) + 16
    axes.set_xlim(0, longest * box.width / max(box.width - room, 80))
    y, group_now = 0.0, None
    for row in rows:
        if row.group != group_now:
            at = axes.transData.transform((0, y + head / 2 + 3))[1]
            write(axes, row.group, box.x0 if layout.narrow else 4, at, layout, ink.light, fontweight="bold")
            y, group_now = y + head, row.group
        middle = y + step / 2 + (layout.small / 2 + 1 if layout.narrow else 0)
        at = axes.transData.transform((0, y + layout.small / 2 + 1 if layout.narrow else middle))[1]
        side = {"x": box.x0, "ha": "left"} if layout.narrow else {"x": box.x0 - 9, "ha": "right"}
        write(axes, row.name, y=at, layout=layout, colour=muted.light, **side)
        start = 0.0
        for part, role in roles.items():
            width = row.parts.get(part, 0) * 1e3
            if width > 1e-6 * longest:
                axes.barh(middle, width, layout.small - 1, left=start, color=palette.role(role).light, zorder=3)
            start += width
        measured = row.measured * 1e3
        if measured > start:
            axes.plot([start, measured], [middle] * 2, color=accent.light, linewidth=1.3, zorder=2)
        rim = [withStroke(linewidth=4, foreground=palette.role("surface").light)]  # for a mark that lies on its own bar
        axes.plot([measured], [middle], zorder=5, path_effects=rim, **mark(accent, layout, stable=row.stable))
        if row.bound is not None:
            half = layout.small / 2 + 2
            axes.plot([row.bound * 1e3] * 2, [middle - half, middle + half], color=ink.light, linewidth=2, zorder=4)
        px, py = axes.transData.transform((max(measured, start), middle))
        write(axes, row.end, px + 8, py, layout, ink.light)
        y += step
    return figure


def _joint_name(cluster: Sequence[str], group: Sequence[str]) -> str:
    """Words for marks that stand together, short where they are most of their group: "all seven", "all but k, v"."""
    said, left = ([m for m in LINEAR_SHORT if (m in cluster) is there and m in group] for there in (True, False))
    if len(said) < 4 or len(said) <= 2 * len(left):
        return ", ".join(said)
    return f"all but {', '.join(left)}" if left else "all seven" if len(said) == 7 else "all"


def _short_module(x) -> str:
    return x.module.removesuffix("_proj")


def _part(name: str) -> str | None:
    return next((part for part in PARTS if name.startswith(part)), None)


def _short(name: str, layout: Layout) -> str:
    return name.replace("KV cache, prompt", "KV,") if layout.narrow else name


def _meeting(xs, values, weights) -> tuple[float, float] | None:
    """Where a part's line crosses that of the weights: (batch, milliseconds), on straight lines between the batches."""
    if weights is None:
        return None
    over = np.log(values / weights)
    for i in range(len(xs) - 1):
        if over[i] < 0 <= over[i + 1]:
            share = -over[i] / (over[i + 1] - over[i])
            at = float(np.exp(np.log(xs[i]) + share * np.log(xs[i + 1] / xs[i])))
            return at, float(np.exp(np.log(weights[i]) + share * np.log(weights[i + 1] / weights[i])))
    return None


def _sides(axes, roof: Roofline, floor: float):
    x = axes.transData.transform((roof.ridge_point, floor))[0]
    return (("memory-bound", x, "memory"), ("compute-bound", x, "compute"))


def _region(axes, layout: Layout, text: str, x: float, role: str) -> Box:
    """Shade one side of the ridge point and name it at the foot of the chart."""
    area = axes.get_window_extent()
    memory = role == "memory"
    low, high = axes.get_xlim()
    edge = axes.transData.inverted().transform((x, area.y0))[0]
    span = (low, edge) if memory else (edge, high)
    axes.axvspan(*span, color=palette.role(role).light, alpha=palette.REGION_OPACITY / 2, linewidth=0, zorder=1)
    room = area.x1 - x - 8
    lines = text if memory or words_width(layout, [text], "bold") < room else text.replace("-", "-\n")
    last = area.x1 - 2 - words_width(layout, lines.split("\n"), "bold")  # a narrow region: nearer to its edge
    return write(
        axes,
        lines,
        x - 8 if memory else min(x + 8, last),
        area.y0 + 8,
        layout,
        palette.role(role).light_text,
        ha="right" if memory else "left",
        va="bottom",
        fontweight="bold",
    )


def _clusters(axes, members) -> list[list[tuple[float, float, object]]]:
    """Marks of one group that nearly touch, from the bottom up: (x, y, counter) in pixels."""
    placed = sorted(
        ((*axes.transData.transform((x.intensity, x.flop_per_s / 1e12)), x) for x in members), key=lambda p: p[1]
    )
    out: list[list] = []
    for point in placed:
        near = [
            group
            for group in out
            if any(np.hypot((point[0] - a) / _TOGETHER[0], (point[1] - b) / _TOGETHER[1]) < 1 for a, b, _ in group)
        ]
        merged = [p for group in near for p in group]
        out = [group for group in out if group not in near] + [[*merged, point]]
    return out


def _middle(cluster):
    """The mark of a cluster that is nearest to its middle."""
    x, y = (np.mean([p[i] for p in cluster]) for i in (0, 1))
    return min(cluster, key=lambda p: np.hypot(p[0] - x, p[1] - y))


def _sources(records) -> str:
    from ..tables import sources

    table = sources()
    names = dict.fromkeys(x.source for x in records)
    return "Source: " + "; ".join(f"{table[n]['title']}, {table[n]['who']}" for n in names) + "."
