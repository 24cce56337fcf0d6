"""Charts of lengths: two bounds, ridge points, traffic by matrix, values with the range of their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .. import palette, words
from ..roofline import Roofline
from . import reading
from .drawing import Entry, frame, row_frame, words_width, write, write_labels
from .figure import Figure
from .labels import Label
from .style import Layout, log_axis, mark, number, text_size


@dataclass(frozen=True)
class Row:
    """One bar: its name, its parts (length, colour), the words at its end; low, high: a range; nominal: an outline."""

    name: str
    parts: tuple[tuple[float, palette.Swatch], ...]
    end: str = ""
    low: float | None = None
    high: float | None = None
    nominal: bool = False
    bold: bool = False
    inside: tuple[str, ...] = ()
    space: float = 0.0  # extra pixels above, to set groups apart

    @property
    def length(self) -> float:
        return sum(value for value, _ in self.parts)


def bounds(works, roof: Roofline, *, title: str | None = None) -> Figure:
    """The two lower bounds of each kernel, W/F and Q/B, as bars: the longer one is the bound.

    works: a Work or {name: Work}; roof: one Roofline. Kernels whose bounds differ by more than 20 times are drawn each
    on its own scale (its longer bar is full); the times are written at the bars in any case.
    """
    who = "rc.plot.bounds"
    named = reading.works(works, who)
    if not isinstance(roof, Roofline):
        raise ValueError(f"{who} needs one Roofline such as rc.device('h100').roofline('fp16'), not {roof!r}")
    times = {name: (roof.compute_time(work), roof.memory_time(work)) for name, work in named.items()}
    longest = {name: max(pair) for name, pair in times.items()}
    own_scale = max(longest.values()) > 20 * min(longest.values())
    factor, unit = reading.time_unit(max(longest.values()))
    rows = []
    for name, (compute, memory) in times.items():
        scale = 100 / longest[name] if own_scale else 1 / factor
        verdict = "memory" if memory > compute else "compute"
        for kind, seconds, what in (("compute", compute, "W/F"), ("memory", memory, "Q/B")):
            wins = kind == verdict
            head = name if name and kind == "compute" else ""
            rows.append(
                Row(
                    name=f"{head}\n{what}" if head else what,
                    parts=((seconds * scale, palette.role(kind)),),
                    end=words.time3(seconds) + (f", {verdict}-bound" if wins else ""),
                    bold=wins,
                    space=14 if head and rows else 0,
                )
            )
    roof_words = reading.roof_name(roof)
    if title is None:
        if len(named) == 1:
            (name,) = named
            which = "moving the bytes" if times[name][1] > times[name][0] else "the arithmetic"
            title = f"{roof_words}: {which} takes longer, T\u00a0≥\u00a0{words.time3(longest[name])}"
        else:
            title = f"{roof_words}: the longer bar is the lower bound on the time"
    x_name = "share of the longer bound (%)" if own_scale else f"time ({unit})"
    alt = [
        f"{title}. Two bars per kernel on {roof_words}: W/F with F {reading.three(roof.peak / 1e12)} TFLOP/s, "
        f"Q/B with B {reading.three(roof.bandwidth / 1e9)} GB/s."
    ]
    for name, (compute, memory) in times.items():
        bound = "memory" if memory > compute else "compute"
        alt.append(
            f"{name + ': ' if name else ''}W/F {words.time3(compute)}, Q/B {words.time3(memory)}, {bound}-bound."
        )
    entries = [
        (_block(palette.role("compute")), "arithmetic: W/F"),
        (_block(palette.role("memory")), "traffic: Q/B"),
    ]
    return _chart(rows, title, x_name, entries, " ".join(alt))


def ridge_points(roofs, *, title: str | None = None) -> Figure:
    """Rooflines ranked by ridge point F/B, with F and B beside them; nominal ones are outlined and dashed."""
    who = "rc.plot.ridge_points"
    items = sorted(reading.roofs(roofs, who), key=lambda roof: -roof.ridge_point)
    names = reading.short_names(items)
    rows = [
        Row(
            name=name,
            parts=((roof.ridge_point, reading.swatch_of(roof, items)),),
            end=f"{reading.three(roof.ridge_point)}\u2002=\u2002{reading.three(roof.peak / 1e12)} TFLOP/s"
            f"\u2002/\u2002{reading.three(roof.bandwidth / 1e9)} GB/s",
            nominal=roof.kind == "nominal",
        )
        for name, roof in zip(names, items, strict=True)
    ]
    short = [reading.three(roof.ridge_point) for roof in items]
    title = "Ridge points: how many FLOP each byte must bring" if title is None else title
    alt = [f"{title}. Bars ranked by ridge point."]
    for row, name, roof in zip(rows, names, items, strict=True):
        alt.append(
            f"{name}{_nominal(row)}: ridge point {reading.three(roof.ridge_point)} FLOP/byte, "
            f"F {reading.three(roof.peak / 1e12)} TFLOP/s, B {reading.three(roof.bandwidth / 1e9)} GB/s."
        )
    return _chart(rows, title, "ridge point F/B (FLOP/byte)", _kinds(roof.kind for roof in items), " ".join(alt), short)


def bars(
    values: Mapping,
    unit: str,
    *,
    scale: float = 1.0,
    nominal: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
    log: bool = False,
    quantity: str = "",
    title: str = "",
) -> Figure:
    """Values side by side, each with the range of its sources where there is one.

    values: {name: value} or {name: (value, low, high)}, in SI units; scale: what one `unit` is (1e12 for TFLOP/s).
    nominal: the names that are nominal: outlined and dashed. colours: {name: device key, precision or role}; a bar
    without one is neutral. quantity: what the values are, for the name of the axis: "time T".
    log: a logarithmic axis, for values far apart (the bars then start at the axis limit and only their ends compare).
    """
    who = "rc.plot.bars"
    if not isinstance(values, Mapping) or not values:
        raise ValueError(
            f"{who} needs {{name: value}} or {{name: (value, low, high)}} with at least one bar, not {values!r}"
        )
    unknown = [name for name in (*nominal, *(colours or {})) if name not in values]
    if unknown:
        raise ValueError(f"{who}: there is no bar {unknown[0]!r}; there are: {', '.join(map(str, values))}")
    rows = []
    for name, value in values.items():
        triple = tuple(value) if isinstance(value, (tuple, list)) else (value, None, None)
        if len(triple) != 3 or not all(v is None or 0 <= float(v) < np.inf for v in triple) or triple[0] is None:
            raise ValueError(f"{who}: {name!r} is a number >= 0 or (value, low, high), not {value!r}")
        middle, low, high = (None if v is None else float(v) / scale for v in triple)
        if low is not None and not low <= middle <= high:
            raise ValueError(f"{who}: {name!r} lies outside its own range: {value!r}")
        three = reading.three
        end = f"{three(middle)} {unit}" + ("" if low is None else f" ({three(low)} to {three(high)})")
        rows.append(
            Row(str(name), ((middle, _colour((colours or {}).get(name))),), end, low, high, nominal=name in nominal)
        )
    alt = [
        f"{title}." if title else "",
        "Bars:",
        "; ".join(f"{row.name} {row.end}{_nominal(row)}" for row in rows) + ".",
    ]
    entries = _kinds("nominal" if row.nominal else "measured" for row in rows)
    if any(row.low is not None for row in rows):
        entries.append(({"color": palette.role("ink").light, "linewidth": 1.6}, "range over the sources"))
    return _chart(rows, title, f"{quantity} ({unit})" if quantity else unit, entries, " ".join(alt), log=log)


def _nominal(row: Row) -> str:
    return " (nominal)" if row.nominal else ""


def traffic(kernels: Mapping[str, Mapping[str, float]], *, share: bool = False, title: str = "") -> Figure:
    """Bytes by matrix, stacked: {kernel: {matrix: bytes}}; share: each bar as 100 %.

    The matrices have one order and one colour over all bars: the first three are meant for X, A and Y of a product.
    """
    who = "rc.plot.traffic"
    if (
        not isinstance(kernels, Mapping)
        or not kernels
        or not all(isinstance(p, Mapping) and p for p in kernels.values())
    ):
        raise ValueError(f"{who} needs {{kernel: {{matrix: bytes}}}} with at least one matrix each, not {kernels!r}")
    parts = list(dict.fromkeys(part for kernel in kernels.values() for part in kernel))
    roles = ["matrix-a", "matrix-b", "matrix-c", "scales"]
    if len(parts) > len(roles):
        raise ValueError(f"{who} stacks at most {len(roles)} matrices, not {len(parts)}: {', '.join(parts)}")
    for name, kernel in kernels.items():
        for part, value in kernel.items():
            if not 0 <= float(value) < np.inf:
                raise ValueError(f"{who}: the bytes of {part} in {name!r} are {value!r}; bytes are finite and >= 0")
        if sum(kernel.values()) <= 0:
            raise ValueError(f"{who}: {name!r} moves no bytes at all")
    totals = {name: float(sum(kernel.values())) for name, kernel in kernels.items()}
    factor, unit = _byte_unit(max(totals.values()))
    rows = []
    for name, kernel in kernels.items():
        size = totals[name] / 100 if share else factor
        rows.append(
            Row(
                str(name),
                tuple((float(kernel.get(part, 0)) / size, palette.role(roles[i])) for i, part in enumerate(parts)),
                end=words.nbytes(totals[name]),
                inside=tuple(words.percent(100 * kernel.get(part, 0) / totals[name]) for part in parts),
            )
        )
    alt = [f"{title}." if title else "", "Stacked bars of the bytes moved, by matrix."]
    for name, kernel in kernels.items():
        listed = ", ".join(
            f"{p} {words.nbytes(v)} ({words.percent(100 * v / totals[name])})" for p, v in kernel.items()
        )
        alt.append(f"{name}: {words.nbytes(totals[name])}, of it {listed}.")
    entries = [(_block(palette.role(roles[i])), part) for i, part in enumerate(parts)]
    return _chart(rows, title, "share of the traffic Q (%)" if share else f"traffic Q ({unit})", entries, " ".join(alt))


def peak_against_bandwidth(roofs, *, title: str | None = None) -> Figure:
    """F against B, both logarithmic. Lines of equal ridge point run diagonally: a card's place says what it favours."""
    who = "rc.plot.peak_against_bandwidth"
    items = reading.roofs(roofs, who)
    names = reading.short_names(items)
    title = "Peak throughput against bandwidth: on a diagonal the ridge point is the same" if title is None else title
    xs, ys = [r.bandwidth / 1e9 for r in items], [r.peak / 1e12 for r in items]
    xlim, ylim = (min(xs) / 1.6, max(xs) * 1.9), (min(ys) / 2.2, max(ys) * 2.2)

    def draw(layout: Layout):
        entries = _kinds((roof.kind for roof in items), layout)
        figure, axes = frame(
            layout,
            title,
            x="bandwidth B (GB/s)",
            y="peak throughput F (TFLOP/s)",
            entries=[
                *entries,
                ({"color": palette.role("faint").light, "linewidth": 1.2}, "same ridge point F/B (numbers at the rim)"),
            ],
            left=44,
            right=44,
            lift=16,
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, *xlim, room=box.width, least=30)
        log_axis(axes.yaxis, *ylim, room=box.height, least=20)
        _one_two_five(axes.xaxis, *xlim)
        _one_two_five(axes.yaxis, *ylim)
        axes.grid(False)
        muted = palette.role("muted").light
        segments = []
        for ridge in [c * 10.0**e for e in range(-3, 5) for c in (1, 2, 5)]:
            low = max(xlim[0], ylim[0] * 1e3 / ridge)
            high = min(xlim[1], ylim[1] * 1e3 / ridge)
            if low >= high:
                continue
            axes.plot(
                [low, high], [low * ridge / 1e3, high * ridge / 1e3], color=palette.role("faint").light, linewidth=1
            )
            start, end = (axes.transData.transform((b, b * ridge / 1e3)) for b in (low, high))
            segments.append((tuple(start), tuple(end)))
            # each diagonal has its ridge point at the end where it leaves the chart, outside the axes
            x, y = end
            if y > box.y1 - 1:
                if x > box.x0 + 10:
                    write(axes, number(ridge), x, box.y1 + 3, layout, muted, ha="center", va="bottom")
            else:
                write(axes, number(ridge), box.x1 + 5, y, layout, muted)
        labels, colours = [], []
        for name, roof, x, y in zip(names, items, xs, ys, strict=True):
            swatch = reading.swatch_of(roof, items)
            if roof.kind == "nominal":
                axes.scatter(
                    [x], [y], s=90, facecolors="none", edgecolors=swatch.light, linestyles=[(0, (2.5, 1.5))], zorder=4
                )
            else:
                axes.plot([x], [y], zorder=4, **mark(swatch, layout, size=1.2))
            px, py = axes.transData.transform((x, y))
            text = f"{name}, {reading.three(roof.ridge_point)}" if not layout.narrow else name
            labels.append(Label(text, px, py, *text_size(text, layout.small, "bold"), radius=layout.marker * 0.7 + 1))
            colours.append(swatch.light_text)
        write_labels(axes, labels, colours, layout, [], segments, who)
        return figure

    alt = [f"{title}. Each card is a point; both axes are logarithmic."]
    for name, roof in zip(names, items, strict=True):
        alt.append(
            f"{name}: F {reading.three(roof.peak / 1e12)} TFLOP/s, B {reading.three(roof.bandwidth / 1e9)} GB/s, "
            f"ridge point {reading.three(roof.ridge_point)} FLOP/byte."
        )
    return Figure(draw, " ".join(alt))


def _chart(
    rows: Sequence[Row],
    title: str,
    x_name: str,
    entries: Sequence[Entry],
    alt: str,
    short_ends: Sequence[str] | None = None,
    *,
    log: bool = False,
) -> Figure:
    """Horizontal bars from the top down; on a phone a bar's name stands above it, and the words at the bars' ends are
    short_ends."""

    def draw(layout: Layout):
        ends = [row.end for row in rows] if short_ends is None or not layout.narrow else list(short_ends)
        step = layout.small + 16 + (layout.small + 5 if layout.narrow else 0)
        extra = [row.space + (layout.small + 6) * row.name.count("\n") for row in rows]
        height = len(rows) * step + sum(extra) + 8
        names = (
            0 if layout.narrow else words_width(layout, [line for row in rows for line in row.name.split("\n")], "bold")
        )
        left = 8 if layout.narrow else names + 18
        named = {"x": x_name, "y": None, "entries": entries}
        placed, figure, axes = row_frame(layout, title, height, left=left, right=12, **named)
        box = axes.get_window_extent()
        low = min(row.low or row.length for row in rows) / 2 if log else 0.0
        top = _axis_end(rows, ends, placed, box.width, low if log else None)
        if log:
            log_axis(axes.xaxis, low, top, room=box.width, least=40)
        else:
            axes.set_xlim(0, top)
            _linear_ticks(axes.xaxis, top, box.width, percent=x_name.endswith("(%)"))
        y = 0.0
        for row, end, more in zip(rows, ends, extra, strict=True):
            y += more
            middle = y + step / 2 + (layout.small / 2 + 2 if layout.narrow else 0)
            _bar(axes, placed, row, middle, low)
            head = y + (step / 2 if not layout.narrow else layout.small / 2 + 4)
            lines = row.name.split("\n")
            for index, line in enumerate(reversed(lines)):
                at = axes.transData.transform((low or 0, head - index * (layout.small + 8)))[1]
                bold = len(lines) > 1 and index > 0
                write(
                    axes,
                    line,
                    box.x0 if layout.narrow or bold else box.x0 - 8,
                    at,
                    layout,
                    palette.role("ink").light,
                    ha="left" if layout.narrow else ("left" if bold else "right"),
                    fontweight="bold" if bold else "normal",
                )
            x, at = axes.transData.transform((max(row.length, row.high or 0), middle))
            write(
                axes,
                end,
                x + 7,
                at,
                layout,
                palette.role("ink" if row.bold or not any(r.bold for r in rows) else "muted").light,
                fontweight="bold" if row.bold else "normal",
            )
            y += step
        return figure

    return Figure(draw, alt)


def _bar(axes, layout: Layout, row: Row, middle: float, low: float) -> None:
    thick = layout.small + 3
    start = low
    for index, (value, swatch) in enumerate(row.parts):
        if value <= 0:
            continue
        width = value - (low if index == 0 else 0)
        if row.nominal:
            axes.barh(
                middle,
                width,
                thick,
                left=start,
                facecolor="none",
                edgecolor=swatch.light,
                linewidth=1.6,
                linestyle=(0, (4, 2.5)),
                zorder=3,
            )
        else:
            axes.barh(middle, width, thick, left=start, color=swatch.light, linewidth=0, zorder=3)
        if index < len(row.inside):
            x0, y = axes.transData.transform((start, middle))
            x1 = axes.transData.transform((start + width, middle))[0]
            if x1 - x0 > words_width(layout, [row.inside[index]]) + 8:
                write(axes, row.inside[index], (x0 + x1) / 2, y, layout, palette.role("surface").light, ha="center")
            if index:
                axes.plot(
                    [start] * 2,
                    [middle - thick / 2, middle + thick / 2],
                    color=palette.role("surface").light,
                    linewidth=1.5,
                    zorder=4,
                )
        start += width
    if row.low is not None:
        ink = palette.role("ink").light
        axes.plot([row.low, row.high], [middle] * 2, color=ink, linewidth=1.6, zorder=5)
        for x in (row.low, row.high):
            axes.plot([x] * 2, [middle - 5, middle + 5], color=ink, linewidth=1.6, zorder=5)


def _axis_end(rows: Sequence[Row], ends: Sequence[str], layout: Layout, width: float, low: float | None) -> float:
    """The end of the axis at which every bar and the words at its end fit into the width."""
    longest = max(max(row.length, row.high or 0) for row in rows)
    top = longest
    for row, end in zip(rows, ends, strict=True):
        share = 1 - (words_width(layout, [end], "bold" if row.bold else "normal") + 12) / width
        reach = max(row.length, row.high or 0)
        if low is None:
            top = max(top, reach / max(share, 0.15))
        else:
            top = max(top, low * (reach / low) ** (1 / max(share, 0.15)))
    return top


def _linear_ticks(axis, top: float, room: float, *, percent: bool) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter

    if percent:
        ticks = [0, 25, 50, 75, 100] if room > 250 else [0, 50, 100]
    else:
        wanted = top / max(2, min(6, room / 70))
        power = 10.0 ** np.floor(np.log10(wanted))
        step = power * next(s for s in (1, 2, 5, 10) if power * s >= wanted)
        ticks = np.arange(0, top + step / 1e6, step)
    axis.set_major_locator(FixedLocator(list(ticks)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))


def _one_two_five(axis, low: float, high: float) -> None:
    from matplotlib.ticker import FixedLocator

    ticks = [c * 10.0**e for e in range(-4, 6) for c in (1, 2, 5)]
    axis.set_major_locator(FixedLocator([t for t in ticks if low <= t <= high]))


def _colour(name: str | None) -> palette.Swatch:
    if name is None:
        return palette.role("muted")
    if name in palette.ROLES:
        return palette.role(name)
    if name in palette.PRECISIONS or name == "fp8":
        return palette.precision(name)
    return palette.device(name)


def _block(swatch: palette.Swatch) -> dict:
    return {"linestyle": "none", "marker": "s", "markersize": 10, "color": swatch.light}


def _kinds(kinds, layout: Layout | None = None) -> list[Entry]:
    """Key entries for measured and nominal: bars, or marks when a layout is given. No entry where all are measured."""
    muted = palette.role("muted")
    found = set(kinds)
    if "nominal" not in found:
        return []
    plain = palette.Swatch(muted.name, muted.light, muted.dark)
    filled = _block(plain) if layout is None else mark(plain, layout)
    dashed = {"color": muted.light, "linewidth": 1.6, "linestyle": (0, (4, 2.5))}
    return [*([(filled, "measured")] if found - {"nominal"} else []), (dashed, "nominal (outline)")]


def _byte_unit(value: float) -> tuple[float, str]:
    units = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
    return next((u for u in units if value >= u[0]), (1.0, "B"))
