"""Parts that the figures share: the frame with its title and key, names at the right end, placed labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import palette
from . import reading
from .labels import Box, Label, place, spread
from .style import Layout, key_mark, new, text_size

#: (Line2D settings, words) of one mark in the key.
Entry = tuple[dict, str]


def frame(
    layout: Layout,
    title: str | None,
    *,
    x: str | None,
    y: str | None,
    entries: Sequence[Entry] = (),
    left: float = 16.0,
    right: float = 16.0,
    foot: float = 46.0,
    lift: float = 0.0,
):
    """A figure with its axes, title, axis names and key. left, right: pixels beside the axes; foot: below them, for the
    ticks and the axis name; lift: between the axes and the name of y. Returns (figure, axes)."""
    lines = wrap(title, layout.width - 8, layout.text, "bold") if title else []
    top = (34 + lift if y else 12) + len(lines) * (layout.text + 5)
    bottom = foot + (key_height(layout, [words for _, words in entries]) if entries else 0)
    figure, axes = new(layout, left=left, right=right, top=top, bottom=bottom)
    for index, line in enumerate(lines):
        figure.text(
            4 / layout.width,
            1 - (4 + index * (layout.text + 5)) / layout.height,
            line,
            ha="left",
            va="top",
            fontsize=layout.text,
            fontweight="bold",
        )
    axis_names(figure, axes, layout, x, y, lift)
    if entries:
        key(figure, layout, entries)
    return figure, axes


def row_frame(layout: Layout, title: str | None, height: float, *, left: float, right: float, **named):
    """The same for rows from the top down that take so many pixels: y goes from 0 to height, downwards and unseen.

    named: x, y, entries as for `frame`. Returns (the layout with the height it takes, figure, axes)."""
    spare = layout.height - frame(layout, title, **named)[1].get_window_extent().height
    placed = layout.tall(spare + height)
    figure, axes = frame(placed, title, left=left, right=right, **named)
    axes.set_ylim(height, 0)
    axes.yaxis.set_visible(False)
    axes.spines["left"].set_visible(False)
    return placed, figure, axes


def tick_room(layout: Layout, ticks: Sequence[str]) -> float:
    """Pixels left of the axes that these tick labels take."""
    return 12 + max((text_size(text, layout.small)[0] for text in ticks), default=0)


def words_width(layout: Layout, texts: Sequence[str], weight: str = "normal") -> float:
    """Pixels that the longest of these texts takes in the small size."""
    return max((text_size(text, layout.small, weight)[0] for text in texts), default=0)


def axis_names(figure, axes, layout: Layout, x: str | None, y: str | None, lift: float) -> None:
    """Axis names where they are read without turning the head: y above its axis, x below its right end."""
    box = axes.get_window_extent()
    ink = palette.role("ink").light
    if y:
        left = 4 / layout.width
        figure.text(
            left, (box.y1 + 10 + lift) / layout.height, y, ha="left", va="bottom", fontsize=layout.small, color=ink
        )
    if x:
        # A plot can be narrower than the name of its axis, where long names stand beside it.
        right = max(box.x1, 4 + text_size(x, layout.small)[0])
        figure.text(
            right / layout.width,
            (box.y0 - 24) / layout.height,
            x,
            ha="right",
            va="top",
            fontsize=layout.small,
            color=ink,
        )


def wrap(text: str, width: float, size: float, weight: str = "normal") -> list[str]:
    """Break words into lines that fit the width (pixels)."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_size(longer, size, weight)[0] > width:
            lines.append(word)
        elif lines:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def key(figure, layout: Layout, entries: Sequence[tuple[dict, str]]) -> None:
    """What the marks mean, in one or more rows along the bottom edge. entries: (Line2D settings, words)."""
    from matplotlib.lines import Line2D

    muted = palette.role("muted").light
    handle, gap, between = 22, 6, 18
    rows: list[list[tuple[dict, str, float]]] = [[]]
    x = 4.0
    for settings, words in entries:
        width = text_size(words, layout.small)[0]
        if rows[-1] and x + handle + gap + width > layout.width - 4:
            rows.append([])
            x = 4.0
        rows[-1].append((settings, words, x))
        x += handle + gap + width + between
    for row, line in enumerate(reversed(rows)):
        y = 9 + row * (layout.small + 6)
        for settings, words, left in line:
            xs = [left + handle / 2] if settings.get("linestyle") == "none" else [left, left + handle]
            figure.add_artist(Line2D([v / layout.width for v in xs], [y / layout.height] * len(xs), **settings))
            figure.text(
                (left + handle + gap) / layout.width,
                y / layout.height,
                words,
                ha="left",
                va="center_baseline",
                fontsize=layout.small,
                color=muted,
            )


def measured_entries(layout: Layout, points: Sequence[tuple[reading.Point, palette.Swatch]]) -> list[Entry]:
    """The key of measured points with their swatches: one entry, or one an origin where each has its own marks."""
    origins: dict[str, list[palette.Swatch]] = {}
    for point, swatch in points:
        origins.setdefault(reading.measured([point]), []).append(swatch)
    shapes = [{swatch.marker for swatch in swatches} for swatches in origins.values()]
    if len(set().union(*shapes)) == sum(len(each) for each in shapes):
        return [(key_mark(swatches, layout), words) for words, swatches in origins.items()]
    return [(key_mark([swatch for _, swatch in points], layout), reading.measured([point for point, _ in points]))]


def key_height(layout: Layout, words: Sequence[str]) -> float:
    """The height in pixels that `key` takes for these words."""
    rows, x = 1, 4.0
    for text in words:
        width = 22 + 6 + text_size(text, layout.small)[0]
        if x > 4 and x + width > layout.width - 4:
            rows, x = rows + 1, 4.0
        x += width + 18
    return rows * (layout.small + 6) + 2


def pixel_line(axes, start: tuple[float, float], end: tuple[float, float], colour: str, width: float = 0.9) -> None:
    """A thin straight line between two places in figure pixels."""
    axes.annotate(
        "",
        start,
        xytext=end,
        xycoords="figure points",
        textcoords="figure points",
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": width, "shrinkA": 0, "shrinkB": 0},
    )


def clear_grid(axes, corners: Sequence[tuple[float, float]]) -> None:
    """Interrupt the grid in a polygon (figure pixels): in the colour of the page, under all else that is drawn."""
    from matplotlib.collections import PolyCollection
    from matplotlib.transforms import Affine2D

    figure, area = axes.figure, axes.get_window_extent()
    (x0, y0), (x1, y1) = np.min(corners, axis=0), np.max(corners, axis=0)
    inside = x0 < area.x1 and area.x0 < x1 and y0 < area.y1 and area.y0 < y1
    if not inside or not any(low < at < high for low, high, at in _grid_across(axes, (x0, x1), (y0, y1))):
        return
    pixels = Affine2D().scale(1 / 72) + figure.dpi_scale_trans
    paper = {"facecolors": palette.role("surface").light, "edgecolors": "none", "zorder": 0.8}
    axes.add_collection(PolyCollection([np.asarray(corners)], transform=pixels, **paper), autolim=False)


def _grid_across(axes, xs: tuple[float, float], ys: tuple[float, float]):
    """The gridlines of the axes in pixels, each with the span that it may lie in: (low, high, where)."""
    for axis, span, column in ((axes.xaxis, xs, 0), (axes.yaxis, ys, 1)):
        if not axis.get_visible() or not any(line.get_visible() for line in axis.get_gridlines()):
            continue
        low, high = sorted(axis.get_view_interval())
        ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        other = axes.get_ylim()[0] if column == 0 else axes.get_xlim()[0]
        for tick in ticks:
            place = (tick, other) if column == 0 else (other, tick)
            yield *span, axes.transData.transform(place)[column]


def write(axes, text: str, x: float, y: float, layout: Layout, colour: str, **settings) -> Box:
    """Words at a place in figure pixels, in the small size, with no gridline behind them. Returns the box they take."""
    settings = {"ha": "left", "va": "center", "fontsize": layout.small, "zorder": 6} | settings
    artist = axes.annotate(text, (x, y), xycoords="figure points", color=colour, annotation_clip=False, **settings)
    box = artist.get_window_extent()
    if not settings.get("rotation"):
        clear_grid(axes, [(box.x0 - 2, box.y0), (box.x1 + 2, box.y0), (box.x1 + 2, box.y1), (box.x0 - 2, box.y1)])
    return Box(box.x0, box.y0, box.x1, box.y1)


def _column_names(layout: Layout, names: Sequence[str]) -> list[str]:
    """The names as `name_column` writes them: on a phone a long one takes two lines, and the plot gets the room."""
    return ["\n".join(wrap(name, 90, layout.small, "bold")) if layout.narrow else name for name in names]


def column_width(layout: Layout, names: Sequence[str], values: Sequence[str]) -> float:
    """Pixels right of the axes that `name_column` takes."""
    value = words_width(layout, values)
    return 13 + words_width(layout, _column_names(layout, names), "bold") + (8 + value if value else 0) + 4


def name_column(
    axes,
    layout: Layout,
    rows: Sequence[tuple[float, str, str, str, bool]],
    heading: str = "",
    ends: Sequence[tuple[float, float] | None] | None = None,
) -> None:
    """Names at the right end of lines, none overlapping: rows of (y in pixels, name, value, colour, bold).

    heading: what the values are, above the column. ends: where a line ends (pixels) that stops before the right edge of
    the axes, None for the others: a leader goes from there."""
    area = axes.get_window_extent()
    shown = _column_names(layout, [name for _, name, _, _, _ in rows])
    names = words_width(layout, shown, "bold")
    values = words_width(layout, [value for _, _, value, _, _ in rows])
    heights = [(layout.small + 2) * (1 + name.count("\n")) + 3 for name in shown]
    places = spread([row[0] for row in rows], heights, area.y0, area.y1 + 14)
    ends = ends or [None] * len(rows)
    for (wanted, _, value, colour, bold), name, y, end in zip(rows, shown, places, ends, strict=True):
        if end:  # in the colour of the line it would seem to go on with it
            pixel_line(axes, end, (area.x1 + 10, y), palette.role("muted").light)
        elif abs(y - wanted) > 3:
            pixel_line(axes, (area.x1 + 1, wanted), (area.x1 + 10, y), colour, 1)
        weight = "bold" if bold else "normal"
        write(axes, name, area.x1 + 13, y, layout, colour, fontweight=weight, linespacing=1.05)
        if value:
            write(axes, value, area.x1 + 13 + names + 8 + values, y, layout, colour, ha="right")
    if heading:
        top = max(y + height / 2 for y, height in zip(places, heights, strict=True))
        right = area.x1 + 13 + names + 8 + values
        write(axes, heading, right, top + layout.small / 2 + 1, layout, palette.role("muted").light, ha="right")


def write_labels(
    axes,
    labels: Sequence[Label],
    colours: Sequence[str],
    layout: Layout,
    marks: Sequence[Box],
    lines: Sequence,
    who: str,
) -> list[Box]:
    """Place labels and write them. Raises ValueError in one line if one has no room; on a phone it is left out instead
    (the wide drawing and the alternative text still have it)."""
    area = axes.get_window_extent()
    inside = Box(area.x0 + 2, area.y0 + 2, area.x1 + 8, area.y1 + 6)
    boxes = []
    for label, colour, found in zip(labels, colours, place(labels, inside, marks, lines), strict=True):
        if found is None:
            if layout.narrow:
                continue
            raise ValueError(f"{who}: no room for the label {label.text!r}; label fewer points")
        if found.leader:
            pixel_line(axes, *found.leader, palette.role("muted").light)
        box = found.box
        write(axes, label.text, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, layout, colour, ha="center")
        boxes.append(box)
    return boxes
