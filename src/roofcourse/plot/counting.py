"""Charts of what is counted: operations by their intensity, and counted traffic beside measured time."""

from __future__ import annotations

import numpy as np

from .. import palette, words
from . import reading
from .drawing import frame, row_frame, tick_room, words_width, write, write_labels
from .figure import Figure
from .labels import Label
from .style import Layout, log_axis, mark, number, text_size


def operations(works, roofs=None, *, title: str = "") -> Figure:
    """Operations on one logarithmic axis of arithmetic intensity, in the order given.

    works: {name: Work}; roofs: Rooflines whose ridge points are drawn as upright lines. The intensities are counted.
    An operation without FLOP has I = 0, which a logarithmic axis cannot show: an arrow at its left end stands for it.
    """
    who = "rc.plot.operations"
    named = reading.works(works, who)
    lines = reading.roofs(roofs, who) if roofs is not None else []
    values = {name: float(work.intensity) for name, work in named.items()}
    positive = [v for v in (*values.values(), *(roof.ridge_point for roof in lines)) if v > 0]
    if not positive:
        raise ValueError(f"{who}: every operation has I = 0, and a logarithmic axis cannot show it")
    low, high = 10 ** np.floor(np.log10(min(positive)) - 0.05), 10 ** np.ceil(np.log10(max(positive)))
    names = [reading.roof_name(roof) for roof in lines]

    def draw(layout: Layout):
        step = layout.small + 14 + (layout.small + 4 if layout.narrow else 0)
        height = len(values) * step + 10
        entries = [
            ({"color": _roof_colour(roof, lines), "linewidth": 1.8}, f"ridge point, {name}: {number(roof.ridge_point)}")
            for roof, name in zip(lines, names, strict=True)
        ]
        settings = {"x": "arithmetic intensity I (FLOP/byte)", "y": None, "entries": entries}
        tick = words_width(layout, [number(low)]) / 2 + 2  # at the very start of the axis
        left = max(8, tick) if layout.narrow else words_width(layout, list(values)) + 18
        right = 34 if layout.narrow else 44
        _, figure, axes = row_frame(layout, title, height, left=left, right=right, **settings)
        box = axes.get_window_extent()
        log_axis(axes.xaxis, low, high, room=box.width, least=40)
        for roof in lines:
            axes.plot([roof.ridge_point] * 2, [0, height], color=_roof_colour(roof, lines), linewidth=1.8, zorder=2)
        ink, muted = palette.role("ink").light, palette.role("muted").light
        for index, (name, value) in enumerate(values.items()):
            middle = (index + 0.5) * step + (layout.small / 2 + 1 if layout.narrow else 0)
            place = low * 1.04 if value == 0 else value
            x, y = axes.transData.transform((place, middle))
            shown = number(value)
            width = words_width(layout, [shown])
            ridges = [axes.transData.transform((roof.ridge_point, middle))[0] for roof in lines]
            right = not any(x + 5 <= ridge <= x + 13 + width for ridge in ridges)  # the value lies on no ridge point
            # a value left of its mark stands where the stem would run: the stem ends before it
            stem = place if right else axes.transData.inverted().transform((max(box.x0, x - 15 - width), y))[0]
            axes.plot([low, stem], [middle] * 2, color=palette.role("faint").light, linewidth=1.2, zorder=2)
            marker = "<" if value == 0 else "|"
            size = {"markersize": 8} if value == 0 else {"markersize": 13, "markeredgewidth": 3}
            axes.plot([place], [middle], linestyle="none", marker=marker, color=ink, zorder=4, clip_on=False, **size)
            write(axes, shown, x + 9 if right else x - 9 - width, y, layout, ink)
            head = axes.transData.transform((low, index * step + layout.small / 2 + 3))[1] if layout.narrow else y
            at = {"x": box.x0, "ha": "left"} if layout.narrow else {"x": box.x0 - 10, "ha": "right"}
            write(axes, name, y=head, layout=layout, colour=muted if layout.narrow else ink, **at)
        return figure

    parts = [f"{title}." if title else "", "Operations on a logarithmic axis of arithmetic intensity, FLOP/byte:"]
    parts.append("; ".join(f"{name} {number(value)}" for name, value in values.items()) + ".")
    parts += [f"Ridge point of {name}: {number(roof.ridge_point)}." for roof, name in zip(lines, names, strict=True)]
    return Figure(draw, " ".join(parts))


def traffic_and_time(measurements, *, title: str = "") -> Figure:
    """Kernels that do the same work: the traffic counted for each against the time measured, both logarithmic.

    On a diagonal the counted bytes a second are the same. If all of them came from one memory, and nothing else took
    time, the points would lie on one diagonal.
    """
    who = "rc.plot.traffic_and_time"
    found = reading.points(measurements, who)
    if not found:
        raise ValueError(f"{who} needs measurements, and was given none")
    names = [_NAMES.get(p.record.kernel, p.record.kernel) for p in found]
    xs = [p.record.work.bytes / 1e6 for p in found]
    ys = [p.seconds * 1e3 for p in found]
    xlim, ylim = (min(xs) / 2.5, max(xs) * 2.5), (min(ys) / 2.5, max(ys) * 2.5)

    def draw(layout: Layout):
        swatch = palette.device("cpu")
        entries = [(mark(swatch, layout), "time measured, bytes counted")]
        if not all(p.stable for p in found):
            entries.append((mark(swatch, layout, stable=False), "measured, unstable"))
        faint = {"color": palette.role("faint").light, "linewidth": 1.2}
        entries.append((faint, "the same rate, counted GB/s at the rim"))
        figure, axes = frame(
            layout,
            title,
            x="traffic Q, counted (MB)",
            y="time T, measured (ms)",
            entries=entries,
            left=tick_room(layout, ["10 000"]),
            right=40,
            lift=16,
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, *xlim, room=box.width, least=44)
        log_axis(axes.yaxis, *ylim, room=box.height, least=22)
        muted = palette.role("muted").light
        segments = []
        for rate in (10.0**e for e in range(-3, 5)):  # GB/s, which is MB/ms
            low, high = max(xlim[0], ylim[0] * rate), min(xlim[1], ylim[1] * rate)
            if low >= high:
                continue
            axes.plot([low, high], [low / rate, high / rate], zorder=1, **faint)
            start, end = (tuple(axes.transData.transform((q, q / rate))) for q in (low, high))
            segments.append((start, end))
            if end[1] > box.y1 - 1:
                write(axes, number(rate), end[0], box.y1 + 3, layout, muted, ha="center", va="bottom")
            else:
                write(axes, number(rate), box.x1 + 5, end[1], layout, muted)
        labels = []
        for point, name, q, t in zip(found, names, xs, ys, strict=True):
            axes.plot([q], [t], zorder=4, **mark(swatch, layout, stable=point.stable, size=1.3))
            px, py = axes.transData.transform((q, t))
            text = name if layout.narrow else f"{name}, {words.time3(point.seconds)}"
            labels.append(Label(text, px, py, *text_size(text, layout.small), radius=layout.marker * 0.8 + 2))
        write_labels(axes, labels, [swatch.light_text] * len(labels), layout, [], segments, who)
        return figure

    parts = [f"{title}." if title else "", "Counted traffic against measured time, both logarithmic."]
    for point, name in zip(found, names, strict=True):
        note = "" if point.stable else " (unstable)"
        parts.append(
            f"{name}: {words.nbytes(point.record.work.bytes)} counted, {words.time3(point.seconds)} measured{note}, "
            f"so {words.rate(point.bytes_per_s)}."
        )
    return Figure(draw, " ".join(parts))


#: What the kernels of the loop orders are called in words.
_NAMES = {
    "gemm_naive": "naive",
    "gemm_rows": "row by row",
    "gemm_blocked": "blocked",
    "gemm_library": "library",
}


def _roof_colour(roof, roofs) -> str:
    return reading.swatch_of(roof, roofs).light
