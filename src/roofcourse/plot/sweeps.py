"""Charts along one quantity: the M sweep, the working set, the intensity of a linear layer."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from .. import palette
from ..roofline import Roofline
from ..second_sources import SMALLEST_MEMORY_SET
from ..words import significant
from ..work import fma_sweep, gemm
from . import reading
from .drawing import column_width, frame, measured_entries, name_column, tick_room, write, write_labels
from .figure import Figure
from .labels import Box, Label
from .style import Layout, key_mark, log_axis, mark, number, text_size

#: What `show` can be: what the axis is called.
_SHOWN = {
    "flop_per_s": "throughput P",
    "seconds": "time T",
    "bytes_per_s": "achieved bandwidth Q/T",
    "percent": "percent of the roof",
}


def m_sweep(
    sweeps,
    roofs=None,
    *,
    show: str = "flop_per_s",
    highlight: str | None = None,
    title: str | None = None,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Matrix products with a growing number of rows M, N and K fixed: one series of points a device or precision.

    Where the series differ in N and K (a CPU is swept with smaller products than a GPU), each name says its own.

    sweeps: measurements (several devices or precisions at once are told apart), a list of sweeps, or {name: sweep}.
    roofs: the Rooflines of these series; each is drawn as the line that the model allows at every M.
    show: "flop_per_s", "seconds", "bytes_per_s" or "percent" (of the roof; needs roofs).
    highlight: the name of a series, a device key or a precision: the others stand back.
    ylim: limits of the y axis, in the unit shown on it.

    Raises ValueError in one line for series without M, for differing N and K in one series, for an unknown `show`.
    """
    who = "rc.plot.m_sweep"
    if show not in _SHOWN:
        raise ValueError(f"{who}: show is one of {', '.join(_SHOWN)}, not {show!r}")
    series = {name: sorted(pts, key=_m) for name, pts in reading.sweeps(sweeps, who).items() if _has_m(pts, who)}
    models = {roof_key(roof): roof for roof in reading.roofs(roofs, who)} if roofs is not None else {}
    lines = {}
    for name, points in series.items():
        roof = models.get((points[0].device, points[0].precision))
        if roof is not None:
            lines[name] = roof
    if models and len(lines) < len(series):
        bare = next(name for name in series if name not in lines)
        raise ValueError(f"{who}: no roof among those given belongs to {bare}")
    if show == "percent" and not lines:
        raise ValueError(f"{who}: show='percent' needs the roofs that the percentages refer to")
    shapes = {name: _one_shape(name, points, who) for name, points in series.items()}
    faint = _faint(series, highlight, who)
    if len(set(shapes.values())) > 1:
        names = {name: f"{name}, {_size_words(*shapes[name])}" for name in series}
        series, lines, faint, shapes = (
            {names[name]: value for name, value in each.items()} for each in (series, lines, faint, shapes)
        )
    everything = [p for points in series.values() for p in points]
    size, unit = {
        "flop_per_s": reading.flop_unit(max(p.flop_per_s for p in everything)),
        "seconds": reading.time_unit(float(np.median([p.seconds for p in everything]))),
        "bytes_per_s": (1e9, "GB/s"),
        "percent": (1.0, "%"),
    }[show]
    y_name = _SHOWN[show] if show == "percent" else f"{_SHOWN[show]} ({unit})"
    swatches = {name: reading.swatch_of(points[0], everything) for name, points in series.items()}

    def value(name: str, point: reading.Point) -> float:
        if show == "percent":
            return 100 * point.flop_per_s / float(lines[name].attainable(point.intensity))
        return getattr(point, show) / size

    def model(name: str, m: np.ndarray) -> np.ndarray:
        work = gemm(m, *shapes[name], series[name][0].precision)
        time = lines[name].time(work)
        return {
            "flop_per_s": work.flop / time,
            "seconds": time,
            "bytes_per_s": work.bytes / time,
            "percent": 100 * np.ones_like(time),
        }[show] / size

    ms = [_m(p) for p in everything]
    x_low, x_high = min(ms), max(ms)
    if title is None:
        only = {p.precision for p in everything}
        kind = f"{reading.precision_name(only.pop())} matrix products" if len(only) == 1 else "Matrix products"
        devices = {p.device for p in everything}
        where = f" on {reading.device_name(devices.pop())}" if len(devices) == 1 else ""
        sizes = set(shapes.values())
        title = f"{kind}{where}, {_size_words(*sizes.pop())}" if len(sizes) == 1 else f"{kind}{where}"
    values = [value(name, p) for name, points in series.items() for p in points]
    # each line has its own corner among its places: a grid that misses it would cut it off
    corners = {name: _reaches(roof, *shapes[name]) for name, roof in lines.items()}
    grids = {
        name: np.unique([*np.geomspace(x_low, x_high, 40), *([m] if m is not None and x_low < m < x_high else [])])
        for name, m in corners.items()
    }
    tops = [*values, *[float(model(name, grids[name]).max()) for name in lines]]
    lows = [*values, *[float(model(name, grids[name]).min()) for name in lines]]
    limits = ylim or ((0, max(max(tops) * 1.08, 100)) if show == "percent" else (min(lows) * 0.7, max(tops) * 1.5))

    last = {_m(points[-1]) for points in series.values()}
    heading = f"at M = {last.pop()}" if len(last) == 1 else "at the last M"

    def draw(layout: Layout):
        ends = {name: reading.three(value(name, points[-1])) for name, points in series.items()}
        figure, axes = frame(
            layout,
            title,
            x="rows M",
            y=y_name,
            entries=_entries(layout, series, swatches, bool(lines), show == "percent"),
            left=tick_room(layout, ["1 000" if show != "percent" else "100", *map(number, limits[:1])]),
            right=column_width(layout, list(series), list(ends.values())),
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, x_low * 0.85, x_high * 1.15, base=2, room=box.width, least=44)
        if show == "percent":
            axes.set_ylim(*limits)
        else:
            log_axis(axes.yaxis, *limits, room=box.height, least=24)
        rows = []
        for name, points in sorted(series.items(), key=lambda item: not faint[item[0]]):
            swatch = swatches[name]
            colour = palette.role("faint").light if faint[name] else swatch.light
            xs, ys = [_m(p) for p in points], [value(name, p) for p in points]
            if name in lines and not (show == "percent" and rows):
                ink = palette.role("muted").light if show == "percent" else colour
                width = 1.2 if faint[name] else 2
                axes.plot(grids[name], model(name, grids[name]), color=ink, linewidth=width, zorder=2)
            if name not in lines or show == "percent":
                axes.plot(xs, ys, color=colour, linewidth=1, alpha=0.55, zorder=2)
            for stable in (True, False):
                part = [(x, y) for x, y, p in zip(xs, ys, points, strict=True) if p.stable is stable]
                if part:
                    settings = mark(swatch, layout, stable=stable, size=0.8 if len(series) > 4 else 1.0)
                    if faint[name]:  # a hollow mark that stands back hides nothing
                        settings |= {"markeredgecolor": colour, "markerfacecolor": colour if stable else "none"}
                    # above all stable ones: the key speaks of unstable points, so they are to be seen
                    above = 5 if not stable else 3 if faint[name] else 4
                    axes.plot(*zip(*part, strict=True), zorder=above, clip_on=False, **settings)
            y = axes.transData.transform((xs[-1], ys[-1]))[1]
            text = palette.role("muted").light if faint[name] else swatch.light_text
            rows.append((y, name, ends[name], text, not faint[name]))
        name_column(axes, layout, rows, heading)
        if show == "bytes_per_s" and len(lines) == 1:
            (name,) = lines
            places = [(_m(p), value(name, p)) for p in series[name]]
            _level_name(axes, lines[name], (x_low, corners[name] or x_high), places, layout, swatches[name].light_text)
        return figure

    parts = [f"{title}. Chart of {y_name} against the number of rows M of a matrix product, both axes logarithmic."]
    if show == "percent":
        parts = [f"{title}. Chart of the percent of the roof that is reached, against the number of rows M."]
    for name, points in series.items():
        first, last = points[0], points[-1]
        parts.append(
            f"{name}: {reading.three(value(name, first))} {unit} at M = {_m(first)}, "
            f"{reading.three(value(name, last))} {unit} at M = {_m(last)}"
            + (f", {sum(not p.stable for p in points)} points unstable." if any(not p.stable for p in points) else ".")
        )
    for name, roof in lines.items():
        parts.append(
            f"Model of {name}: F {reading.three(roof.peak / 1e12)} TFLOP/s, "
            f"B {reading.three(roof.bandwidth / 1e9)} GB/s."
        )
    parts.append(reading.sources(everything))
    return Figure(draw, " ".join(parts))


def _level_name(axes, roof: Roofline, flat: tuple[float, float], points, layout: Layout, colour: str) -> None:
    """B above the flat part of achieved bandwidth, which goes from one M to the other, where no point is in the way."""
    text = f"B = {number(roof.bandwidth / 1e9)} GB/s"
    (x0, y), (x1, _) = (axes.transData.transform((m, roof.bandwidth / 1e9)) for m in flat)
    width, height = text_size(text, layout.small)
    box = Box(x0 + 4, y + 4, x0 + 4 + width, y + 4 + height)
    marks = [Box.around(*axes.transData.transform(point), layout.marker / 2 + 1) for point in points]
    if box.x1 < x1 and not any(box.overlaps(other) for other in marks):
        write(axes, text, box.x0, (box.y0 + box.y1) / 2, layout, colour)


def _one_shape(name: str, points: list[reading.Point], who: str) -> tuple[int, int]:
    """N and K of a series. Raises ValueError if they differ."""
    shapes = {(p.record.n, p.record.k) for p in points}
    if len(shapes) > 1:
        found = ", ".join(f"{n}x{k}" for n, k in sorted(shapes))
        raise ValueError(f"{who}: one series has one N and K; {name} has {found}")
    return shapes.pop()


def _size_words(n: int, k: int) -> str:
    return f"N = K = {number(n)}" if n == k else f"N = {number(n)}, K = {number(k)}"


#: The lines that `fma_times` can draw: name -> (words, colour, width, words of the key). The sum is not the model.
_TIMES = {
    "max": ("max(W/F, Q/B)", "ink", 2.2, "model"),
    "sum": ("W/F + Q/B", "accent", 1.2, "if one came after the other"),
    "compute": ("W/F", "compute", 2.2, "arithmetic alone"),
    "memory": ("Q/B", "memory", 2.2, "traffic alone"),
}


def fma_times(
    sweep, roof: Roofline, *, lines: Sequence[str] = ("max",), labelled: Sequence[int] = (), title: str | None = None
) -> Figure:
    """Time of one kernel against the multiply-adds R that it does on each element, beside what the model gives.

    sweep: measurements of the FMA kernel, such as rc.device("h100").fma_sweep("fp32"); roof: the Roofline of its path.
    lines: any of "max" (the longer of W/F and Q/B), "sum" (both, one after the other), "compute", "memory"; () draws
    the measured times alone. labelled: the R of the points whose times stand beside them.

    Raises ValueError in one line for another kernel, several sizes or precisions at once, an unknown line, or an R in
    labelled that was not measured.
    """
    who = "rc.plot.fma_times"
    points = sorted(reading.points(sweep, who), key=lambda p: getattr(p.record, "fma_per_element", None) or 0)
    if not points or any(getattr(p.record, "fma_per_element", None) is None for p in points):
        raise ValueError(f"{who} needs the FMA kernel's measurements, such as rc.device('h100').fma_sweep('fp32')")
    if not isinstance(roof, Roofline):
        raise ValueError(f"{who} needs one Roofline such as rc.device('h100').roofline('fp32', 'vector'), not {roof!r}")
    kinds = {(p.record.elements, p.precision) for p in points}
    if len(kinds) > 1:
        raise ValueError(f"{who} draws one array size and one precision, not {len(kinds)} of them")
    lines = [lines] if isinstance(lines, str) else list(lines)
    unknown = [name for name in lines if name not in _TIMES]
    if unknown:
        raise ValueError(f"{who}: lines are any of {', '.join(_TIMES)}, not {unknown[0]!r}")
    elements, precision = kinds.pop()
    rs, times = [p.record.fma_per_element for p in points], [p.seconds * 1e6 for p in points]
    missing = [r for r in labelled if r not in rs]
    if missing:
        raise ValueError(f"{who}: labelled are any of {', '.join(map(str, rs))}, not {missing[0]!r}")
    ridge = roof.ridge_point * float(fma_sweep(elements, 1, precision).bytes / fma_sweep(elements, 1, precision).flop)
    grid = np.unique([*np.geomspace(min(rs), max(rs), 40), *([ridge] if min(rs) < ridge < max(rs) else [])])

    def model(name: str, r):
        work = fma_sweep(elements, r, precision)
        compute, memory = roof.compute_time(work) * 1e6, roof.memory_time(work) * 1e6
        return {"max": np.maximum(compute, memory), "sum": compute + memory, "compute": compute, "memory": memory}[name]

    top = max([*times, *(float(np.max(model(name, grid))) for name in lines)])
    limits = (min(times) / 2.2, top * 1.6)
    where = reading.device_name(points[0].device)
    title = (
        title
        if title is not None
        else f"{where} {reading.precision_name(precision)}: time of one kernel by its arithmetic"
    )

    def draw(layout: Layout):
        swatch = palette.device(points[0].device)
        entries = [(key_mark([swatch], layout), reading.measured(points))]
        if any(not p.stable for p in points):
            entries.append((key_mark([swatch], layout, stable=False), "measured, unstable"))
        for _, role, width, words in (_TIMES[name] for name in lines):
            entries.append(({"color": palette.role(role).light, "linewidth": width}, words))
        figure, axes = frame(
            layout,
            title,
            x="multiply-adds on each number",
            y="time T (µs)",
            entries=entries,
            left=tick_room(layout, ["10 000" if limits[1] > 1e4 else "1 000"]),
            right=18,
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, min(rs) * 0.8, max(rs) * 1.25, base=2, room=box.width, least=44)
        log_axis(axes.yaxis, *limits, room=box.height, least=24)
        labels, colours, segments, marks = [], [], [], []
        for name in lines:
            words, role, width, _ = _TIMES[name]
            axes.plot(grid, model(name, grid), color=palette.role(role).light, linewidth=width, zorder=2)
            pixels = [tuple(axes.transData.transform(p)) for p in zip(grid, model(name, grid), strict=True)]
            segments += list(itertools.pairwise(pixels))
            # the sum at the corner, where it stands out most; the others away from it, where the points need the room
            at = {"max": 2 * ridge, "compute": 4 * ridge, "memory": ridge / 16}.get(name, ridge)
            at = min(max(at, min(rs)), max(rs))
            x, y = axes.transData.transform((at, float(model(name, at))))
            labels.append(Label(words, x, y, *text_size(words, layout.small, "bold"), radius=5))
            colours.append(palette.role(role).light_text)
        for r, time, point in zip(rs, times, points, strict=True):
            axes.plot([r], [time], zorder=4, clip_on=False, **mark(swatch, layout, stable=point.stable))
            x, y = axes.transData.transform((r, time))
            marks.append(Box.around(x, y, layout.marker / 2 + 2))
            if r in labelled:
                words = f"{reading.three(time)} µs"
                labels.append(Label(words, x, y, *text_size(words, layout.small, "bold"), radius=layout.marker / 2 + 3))
                colours.append(swatch.light_text)
        write_labels(axes, labels, colours, layout, marks, segments, who)
        return figure

    first, last = points[0], points[-1]
    parts = [
        f"{title}. Chart of the time of one kernel against its multiply-adds on each number, both axes logarithmic.",
        f"{len(points)} measured points: {reading.three(times[0])} µs with {first.record.fma_per_element}, "
        f"{reading.three(times[-1])} µs with {last.record.fma_per_element}.",
        f"F is {reading.three(roof.peak / 1e12)} TFLOP/s and B {reading.three(roof.bandwidth / 1e9)} GB/s.",
    ]
    for name in lines:
        parts.append(
            f"The line {_TIMES[name][0]} goes from {reading.three(float(model(name, rs[0])))} to "
            f"{reading.three(float(model(name, rs[-1])))} µs."
        )
    if lines:
        parts.append(f"Both times are equal at {reading.three(ridge)} multiply-adds.")
    parts.append(reading.sources(points))
    return Figure(draw, " ".join(parts))


def working_set(
    sweeps,
    bandwidth=None,
    *,
    levels: Mapping[str, float] | None = None,
    title: str | None = None,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Achieved bandwidth against the bytes that a kernel touches: the caches show as steps.

    sweeps: measurements with `working_set_bytes`, or {name: sweep}.
    bandwidth: Rooflines (or one) whose B is drawn as a level line.
    levels: {name: bytes}, upright lines, such as {"L2": device.l2_bytes}.
    One series alone says at its fastest point how many times the value at the right that is.

    Raises ValueError in one line for measurements without a working set.
    """
    who = "rc.plot.working_set"
    series = reading.sweeps(sweeps, who)
    for points in series.values():
        if not points:
            raise ValueError(f"{who}: a series has no points")
        if any(not getattr(p.record, "working_set_bytes", None) for p in points):
            raise ValueError(
                f"{who} needs measurements with working_set_bytes, such as device.working_set_sweep('copy')"
            )
    series = {name: sorted(points, key=_set) for name, points in series.items()}
    limits_of = reading.roofs(bandwidth, who) if bandwidth is not None else []
    if not isinstance(levels or {}, Mapping):
        raise ValueError(f"{who}: levels is {{name: bytes}} such as {{'L2': device.l2_bytes}}, not {levels!r}")
    levels = dict(levels or {})
    everything = [p for points in series.values() for p in points]
    sets = [_set(p) for p in everything] + list(levels.values())
    rates = [p.bytes_per_s / 1e9 for p in everything] + [roof.bandwidth / 1e9 for roof in limits_of]
    limits = ylim or (min(rates) * 0.7, max(rates) * 1.6)
    several = len({p.device for p in everything}) == 1 and len(series) > 1
    # kernels of one device have no colours of their own: they borrow those of the precisions
    borrowed = [palette.precision(name) for name in ("fp32", "nvfp4", "fp16", "fp64", "bf16", "int8")]
    swatches = {
        name: borrowed[i % len(borrowed)] if several else reading.swatch_of(points[0], everything)
        for i, (name, points) in enumerate(series.items())
    }
    if title is None:
        title = f"Bandwidth by working set: {', '.join(series)}"

    level = {name: _memory_level(points) for name, points in series.items()}
    heading = _level_heading(series)

    def draw(layout: Layout):
        ends = {name: reading.three(value / 1e9) for name, value in level.items()}
        figure, axes = frame(
            layout,
            title,
            x="working set",
            y="achieved bandwidth Q/T (GB/s)",
            entries=_entries(layout, series, swatches, False, True),
            left=tick_room(layout, ["10 000" if limits[1] > 1e4 else "1 000"]),
            right=column_width(layout, list(series), list(ends.values())),
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, min(sets) * 0.8, max(sets) * 1.25, base=2, room=box.width, least=60)
        axes.xaxis.set_major_formatter(lambda value, _: binary_bytes(value))
        log_axis(axes.yaxis, *limits, room=box.height, least=24)
        taken, lines = [], []
        for roof in limits_of:
            y = roof.bandwidth / 1e9
            swatch = reading.swatch_of(roof, everything)
            dashes = (0, (5, 3)) if roof.kind == "nominal" else "solid"
            axes.axhline(y, color=swatch.light, linewidth=1.6, linestyle=dashes, zorder=2)
            at = axes.transData.transform((min(sets), y))[1]
            text = (
                f"B = {number(y)} GB/s" if len(limits_of) == 1 else f"B {reading.device_name(roof.device)} {number(y)}"
            )
            taken.append(write(axes, text, box.x0 + 6, at + 9, layout, swatch.light_text))
            lines.append(((box.x0, at), (box.x1, at)))
        for name, size in levels.items():
            axes.axvline(size, color=palette.role("muted").light, linewidth=1.2, dashes=(2, 3), zorder=2)
            x = axes.transData.transform((size, limits[0]))[0]
            lines.append(((x, box.y0), (x, box.y1)))
            text = f"{name}, {binary_bytes(size)}"
            taken.append(write(axes, text, x - 5, box.y0 + 12, layout, palette.role("muted").light, ha="right"))
        rows, stops = [], []
        for name, points in series.items():
            xs, ys = [_set(p) for p in points], [p.bytes_per_s / 1e9 for p in points]
            axes.plot(xs, ys, color=swatches[name].light, linewidth=1, alpha=0.55, zorder=2)
            for stable in (True, False):
                part = [(x, y) for x, y, p in zip(xs, ys, points, strict=True) if p.stable is stable]
                if part:
                    axes.plot(
                        *zip(*part, strict=True),
                        zorder=4 if stable else 5,
                        clip_on=False,
                        **mark(swatches[name], layout, stable=stable, size=0.85),
                    )
            # at the height of the value, which one last point may miss
            y = axes.transData.transform((xs[-1], level[name] / 1e9))[1]
            rows.append((y, name, ends[name], swatches[name].light_text, True))
            x, y = axes.transData.transform((xs[-1], ys[-1]))
            stops.append((x + layout.marker / 2 + 3, y) if xs[-1] < max(map(_set, everything)) else None)
        name_column(axes, layout, rows, heading, stops)
        if len(series) == 1:
            ((name, points),) = series.items()
            _name_fastest(axes, layout, points, level[name], swatches[name].light_text, taken, lines)
        return figure

    parts = [f"{title}. Chart of achieved bandwidth against working set, both axes logarithmic."]
    for name, points in series.items():
        best = max(points, key=lambda p: p.bytes_per_s)
        parts.append(
            f"{name}: {reading.three(points[0].bytes_per_s / 1e9)} GB/s at {binary_bytes(_set(points[0]))}, "
            f"at most {reading.three(best.bytes_per_s / 1e9)} GB/s at {binary_bytes(_set(best))}, "
            f"{reading.three(points[-1].bytes_per_s / 1e9)} GB/s at {binary_bytes(_set(points[-1]))}"
            + (f", median {reading.three(level[name] / 1e9)} GB/s {_FROM_MEMORY}." if _in_memory(points)[1:] else ".")
        )
    for roof in limits_of:
        parts.append(f"{reading.device_name(roof.device)}: B {reading.three(roof.bandwidth / 1e9)} GB/s.")
    parts += [f"{name} holds {binary_bytes(size)}." for name, size in levels.items()]
    parts.append(reading.sources(everything))
    return Figure(draw, " ".join(parts))


def intensity(
    n: int = 8192,
    k: int = 8192,
    precision: str | Sequence[str] = "fp16",
    *,
    m: tuple[float, float] = (1, 65536),
    roofs=None,
    title: str | None = None,
) -> Figure:
    """Arithmetic intensity of a matrix product against its rows M, with the line it follows while M is small.

    precision: one, or several (s differs, and so do the curves). roofs: Rooflines whose ridge points are drawn as level
    lines; where a curve of their precision meets one is marked with its M. All of it is counting: nothing is measured.

    Raises ValueError in one line for an unknown precision or sizes that are not positive.
    """
    who = "rc.plot.intensity"
    names = [precision] if isinstance(precision, str) or not isinstance(precision, Sequence) else list(precision)
    from ..precision import precision as find

    kinds = [find(name) for name in names]
    low, high = (float(v) for v in m)
    if not 1 <= low < high < np.inf:
        raise ValueError(f"{who}: m is (low, high) with 1 <= low < high, not {m!r}")
    grid = np.unique(np.concatenate([np.geomspace(low, high, 61)]))
    curves = {kind.name: gemm(grid, n, k, kind.name).intensity for kind in kinds}
    lines = reading.roofs(roofs, who) if roofs is not None else []
    for roof in lines:
        if roof.precision not in curves:
            raise ValueError(f"{who}: {reading.roof_name(roof)} belongs to no curve drawn ({', '.join(curves)})")
    limit = {kind.name: float(gemm(1e15, n, k, kind.name).intensity) for kind in kinds}
    # the slope at small M: all of the traffic is the weights
    slope = {kind.name: float(gemm(1, n, k, kind.name).flop / _weights(n, k, kind)) for kind in kinds}
    left_at = {
        name: _where(lambda v, name=name: gemm(v, n, k, name).intensity < 0.9 * slope[name] * v) for name in curves
    }
    meets = [(roof, _reaches(roof, n, k)) for roof in lines]
    title = f"Intensity of a linear layer, N = {number(n)}, K = {number(k)}" if title is None else title
    y_limits = (min(float(c[0]) for c in curves.values()) * 0.8, max(limit.values()) * 2.2)

    def draw(layout: Layout):
        ridge_names = {roof: f"ridge {reading.device_name(roof.device)}" for roof in lines}
        labels = [*(kind.label for kind in kinds), *ridge_names.values()]
        ends = [f"{'≤' if layout.narrow else 'at most'} {number(limit[kind.name])}" for kind in kinds]
        figure, axes = frame(
            layout,
            title,
            x="rows M",
            y="arithmetic intensity I (FLOP/byte)",
            entries=[
                ({"color": palette.role("muted").light, "linewidth": 2.2}, "counted: I = W/Q"),
                ({"color": palette.role("muted").light, "linewidth": 1.2, "dashes": (2, 3)}, "proportional to M"),
            ],
            left=tick_room(layout, ["10 000"]),
            right=column_width(layout, labels, ends),
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, low, high, base=2, room=box.width, least=52)
        log_axis(axes.yaxis, *y_limits, room=box.height, least=24)
        words, colours, segments = [], [], []
        rows = []
        for kind, end in zip(kinds, ends, strict=True):
            swatch = palette.precision(kind.name)
            axes.plot(grid, curves[kind.name], color=swatch.light, zorder=3)
            straight = slope[kind.name] * grid
            keep = straight <= y_limits[1]
            axes.plot(grid[keep], straight[keep], color=swatch.light, linewidth=1.2, dashes=(2, 3), zorder=2)
            ends_of = [(grid[keep][i], straight[keep][i]) for i in (0, -1)]
            segments.append(tuple(tuple(axes.transData.transform(p)) for p in ends_of))
            pixels = [tuple(axes.transData.transform(p)) for p in zip(grid, curves[kind.name], strict=True)]
            segments += list(zip(pixels[::4], pixels[4::4], strict=False))
            y = pixels[-1][1]
            rows.append((y, kind.label, end, swatch.light_text, True))
            departs = left_at[kind.name]
            if low < departs < high and len(kinds) == 1:
                at = float(gemm(departs, n, k, kind.name).intensity)
                axes.plot([departs], [at], marker="|", markersize=12, color=swatch.light, mew=2.2, zorder=4)
                x, y = axes.transData.transform((departs, at))
                text = f"10 % below{':' if layout.narrow else ' the line at'} M = {number(departs)}"
                words.append(Label(text, x, y, *text_size(text, layout.small), radius=6))
                colours.append(swatch.light_text)
        for roof, where in meets:
            swatch = palette.device(roof.device)
            axes.axhline(roof.ridge_point, color=swatch.light, linewidth=1.4, zorder=2)
            y = axes.transData.transform((low, roof.ridge_point))[1]
            rows.append((y, ridge_names[roof], number(roof.ridge_point), swatch.light_text, False))
            segments.append(((box.x0, y), (box.x1, y)))
            if where is not None and low < where < high:
                x, _ = axes.transData.transform((where, roof.ridge_point))
                axes.plot([where], [roof.ridge_point], marker="|", markersize=12, color=swatch.light, mew=2.2, zorder=4)
                text = f"M = {number(where)}"
                words.append(Label(text, x, y, *text_size(text, layout.small), radius=6))
                colours.append(swatch.light_text)
        name_column(axes, layout, rows)
        write_labels(axes, words, colours, layout, [], segments, who)
        return figure

    parts = [f"{title}. Chart of arithmetic intensity against rows M, both axes logarithmic."]
    for kind in kinds:
        parts.append(
            f"{kind.label}: I is about {reading.three(slope[kind.name])} M at first, 10 percent below that line at "
            f"M = {number(left_at[kind.name])}, and at most {reading.three(limit[kind.name])} FLOP/byte."
        )
    for roof, where in meets:
        reached = f"reached at M = {number(where)}" if where is not None else "never reached"
        parts.append(f"{reading.roof_name(roof)}: ridge point {reading.three(roof.ridge_point)} FLOP/byte, {reached}.")
    return Figure(draw, " ".join(parts))


def binary_bytes(value: float) -> str:
    """Bytes in powers of 1024: "64 KiB", "50 MiB"."""
    for size, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if value >= size:
            return f"{number(value / size)} {unit}"
    return f"{number(value)} B"


def roof_key(roof: Roofline) -> tuple:
    return roof.device, roof.precision


def _weights(n: int, k: int, kind) -> float:
    """Bytes of the weight matrix, with the scales of a format that has them (one byte per 16 elements)."""
    return n * k * (kind.bytes_per_element + (1 / 16 if kind.name == "nvfp4" else 0))


def _where(condition) -> float:
    """The smallest M (to a part in 10^9) for which a condition holds that stays true once it is: by halving."""
    low, high = 1.0, 1e9
    if condition(low):
        return low
    if not condition(high):
        return high
    for _ in range(80):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if condition(middle) else (middle, high)
    return high


def _reaches(roof: Roofline, n: int, k: int) -> float | None:
    """The M at which the intensity reaches the ridge point, None if it never does."""
    if float(gemm(1e12, n, k, roof.precision).intensity) < roof.ridge_point:
        return None
    return _where(lambda m: gemm(m, n, k, roof.precision).intensity >= roof.ridge_point)


def _m(point: reading.Point) -> int:
    return point.record.m


def _set(point: reading.Point) -> float:
    return point.record.working_set_bytes


def _in_memory(points: Sequence[reading.Point]) -> list[reading.Point]:
    """The stable points so large that no card's cache has a part in them."""
    return [p for p in points if p.stable and _set(p) >= SMALLEST_MEMORY_SET]


def _memory_level(points: Sequence[reading.Point]) -> float:
    """The bandwidth that a sweep ends with, in bytes/s: the median of the points in memory, as `rc.memory_levels` takes
    it, for one last point may have dipped; the last point of a sweep that stops earlier."""
    return float(np.median([p.bytes_per_s for p in _in_memory(points) or points[-1:]]))


def _name_fastest(axes, layout: Layout, points, level: float, colour: str, taken, lines) -> None:
    """Write at a series' fastest point how fast that is, and how many times its memory level; nothing where the two
    are about the same."""
    best = max(points, key=lambda p: p.bytes_per_s)
    if best.bytes_per_s < 1.1 * level:
        return
    times = significant(best.bytes_per_s / level, 2)
    text = f"{reading.three(best.bytes_per_s / 1e9)} GB/s, {times} × the {reading.three(level / 1e9)}"
    pixels = [tuple(axes.transData.transform((_set(p), p.bytes_per_s / 1e9))) for p in points]
    marks = [Box.around(*at, layout.marker / 2) for at, p in zip(pixels, points, strict=True) if p is not best]
    label = Label(text, *pixels[points.index(best)], *text_size(text, layout.small), radius=layout.marker / 2 + 1)
    lines = [*lines, *itertools.pairwise(pixels)]
    write_labels(axes, [label], [colour], layout, [*taken, *marks], lines, "rc.plot.working_set")


#: The working sets that `_memory_level` takes the median of.
_FROM_MEMORY = f"from {binary_bytes(SMALLEST_MEMORY_SET)}"


def _level_heading(series: Mapping[str, Sequence[reading.Point]]) -> str:
    """Which points the values of `_memory_level` are of."""
    found = [_in_memory(points) for points in series.values()]
    if all(found) and any(len(points) > 1 for points in found):
        return f"median {_FROM_MEMORY}"
    last = {_set((_in_memory(points) or points)[-1]) for points in series.values()}
    return f"at {binary_bytes(last.pop())}" if len(last) == 1 else "at the end"


def _has_m(points: Sequence[reading.Point], who: str) -> bool:
    if not points:
        raise ValueError(f"{who}: a series has no points")
    if any(getattr(p.record, "m", None) is None for p in points):
        raise ValueError(f"{who} needs matrix products with M, N, K, such as rc.device('h100').m_sweep('fp16')")
    return True


def _faint(series: Mapping, highlight: str | None, who: str) -> dict[str, bool]:
    if highlight is None:
        return dict.fromkeys(series, False)
    kept = {name: highlight in (name, points[0].device, points[0].precision) for name, points in series.items()}
    if not any(kept.values()):
        raise ValueError(f"{who}: no series is called {highlight!r}; there are: {', '.join(series)}")
    return {name: not keep for name, keep in kept.items()}


def _entries(layout: Layout, series: Mapping, swatches: Mapping, model: bool, joined: bool) -> list:
    muted = palette.role("muted")
    unstable = [swatches[name] for name, each in series.items() if not all(p.stable for p in each)]
    entries = [({"color": muted.light, "linewidth": 2}, "model")] if model else []
    entries += measured_entries(layout, [(p, swatches[name]) for name, each in series.items() for p in each])
    if joined or not model:
        entries.append(({"color": muted.light, "linewidth": 1, "alpha": 0.55}, "joins the points"))
    if unstable:
        entries.append((key_mark(unstable, layout, stable=False), "measured, unstable"))
    return entries
