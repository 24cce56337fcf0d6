"""Charts of levers: one move under the roof, many gains side by side, and the way from a point to the next lever."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .. import palette, words
from ..levers import DONE, QUESTIONS, Lever
from . import reading
from .drawing import frame, row_frame, tick_room, words_width, wrap, write, write_labels
from .figure import Figure
from .labels import Label
from .style import Layout, log_axis, mark, new, number, text_size


def move(lever, *, title: str | None = None) -> Figure:
    """One lever: the kernel before and after, both measured, under the roof over each.

    lever: what ``bench.lever(name)`` gives. Raises ValueError in one line for anything else.
    """
    who = "rc.plot.move"
    if not isinstance(lever, Lever):
        raise ValueError(f"{who} needs a lever such as bench.lever('fuse'), not {lever!r}")
    pair, roofs = (lever.before, lever.after), list(dict.fromkeys(lever.roofs))
    names = (lever.recipe.before, lever.recipe.after)
    each = {"rows": " for each row", "stride": " for each number"}.get(lever.name, "")  # the times are of whole calls
    title = f"{lever.title}: {reading.three(lever.gain)} times as fast{each}" if title is None else title
    unit, unit_name = reading.flop_unit(max(roof.peak for roof in roofs))
    intensities = [x.intensity for x in pair] + [roof.ridge_point for roof in roofs]
    xlim = min(intensities) / 4, max(intensities) * 6
    heights = [x.flop_per_s / unit for x in pair] + [float(roofs[0].attainable(xlim[0])) / unit]
    ylim = min(heights) / 2.5, max(roof.peak for roof in roofs) * 4 / unit

    def draw(layout: Layout):
        swatch, ink, muted = (palette.device(pair[0].device), *(palette.role(r).light for r in ("ink", "muted")))
        origin = reading.measured(reading.points(list(pair), who))
        entries = [(mark(swatch, layout), origin)] if any(x.stable for x in pair) else []
        if not all(x.stable for x in pair):
            entries.append((mark(swatch, layout, stable=False), f"{origin}, samples scattered"))
        entries.append(({"color": muted, "linewidth": 2.0}, "roof of what ran it, measured"))
        figure, axes = frame(
            layout,
            title,
            x="arithmetic intensity I (FLOP/byte)",
            y=f"throughput P ({unit_name})",
            entries=entries,
            left=tick_room(layout, ["1 000", number(ylim[0])]),
            right=16,
        )
        box = axes.get_window_extent()
        log_axis(axes.xaxis, *xlim, room=box.width, least=38)
        log_axis(axes.yaxis, *ylim, room=box.height, least=24)
        taken, segments = [], []
        (x0, y0), (x1, y1) = places = [axes.transData.transform((x.intensity, x.flop_per_s / unit)) for x in pair]
        for index, roof in enumerate(sorted(roofs, key=lambda roof: -roof.peak)):
            xs = [xlim[0], roof.ridge_point, xlim[1]]
            ys = [float(roof.attainable(x)) / unit for x in xs]
            axes.plot(xs, ys, color=swatch.light if index == 0 else muted, linewidth=2.2, zorder=3)
            corners = [tuple(axes.transData.transform(p)) for p in zip(xs, ys, strict=True)]
            segments += pairwise(corners)
            name = reading.precision_name(roof.precision) if layout.narrow else roof.label or reading.roof_name(roof)
            text = f"{name}: {reading.three(roof.peak / unit)} {unit_name}"
            up, flat, start = index == 0, corners[-1][1], box.x1 - 2 - text_size(text, layout.small)[0]
            reach = layout.marker + 2  # of a point on the roof, which its words must not touch
            off = 5 + (reach if any(abs(y - flat) < reach and x > start - reach for x, y in places) else 0)
            taken.append(
                write(axes, text, box.x1 - 2, flat + (off if up else -off), layout, muted, ha="right",
                      va="bottom" if up else "top")
            )  # fmt: skip
        arrow = {"arrowstyle": "-|>", "color": ink, "linewidth": 1.3, "shrinkA": 7, "shrinkB": 7}
        far = abs(x1 - x0) + abs(y1 - y0) > 22
        if far:
            axes.annotate("", (x1, y1), xytext=(x0, y0), xycoords="figure points", textcoords="figure points",
                          arrowprops=arrow, zorder=3)  # fmt: skip
            segments.append(((x0, y0), (x1, y1)))
        labels = []
        for x, name, (px, py) in zip(pair, names, places, strict=True):
            axes.plot([x.intensity], [x.flop_per_s / unit], zorder=5, **mark(swatch, layout, stable=x.stable, size=1.2))
            text = name if layout.narrow else f"{name}: {words.time3(x.seconds)}"
            labels.append(Label(text, px, py, *text_size(text, layout.small), radius=layout.marker + 2))
        write_labels(axes, labels, [swatch.light_text] * 2, layout, taken, segments, who)
        return figure

    alt = [f"{title}. Roofline chart with two measured points, {lever.recipe.language}."]
    for x, name, roof, share in zip(pair, names, lever.roofs, lever.percent_of_roof(), strict=True):
        alt.append(
            f"{name}: {words.time3(x.seconds)}, I {reading.three(x.intensity)} FLOP/byte, "
            f"{reading.three(x.flop_per_s / unit)} {unit_name}, {share:.0f} % of its roof of "
            f"{reading.three(roof.peak / unit)} {unit_name}."
        )
    three = reading.three
    alt.append(f"Predicted {three(lever.predicted)} times as fast, measured {three(lever.gain)}.")
    return Figure(draw, " ".join(alt))


def gains(levers: Sequence, *, title: str = "What each lever gains") -> Figure:
    """The predicted and the measured gain of several levers, side by side on a logarithmic axis.

    A prediction is a mark of the model (an upright stroke), a measured gain a filled point with its value.
    """
    who = "rc.plot.gains"
    levers = list(levers)
    if not levers or not all(isinstance(x, Lever) for x in levers):
        raise ValueError(f"{who} needs levers such as [bench.lever('fuse')], and at least one")
    values = [v for x in levers for v in (x.predicted, x.gain)]
    low, high = min(0.8, *(v / 1.6 for v in values)), max(values) * 1.6

    def draw(layout: Layout):
        swatch = palette.device("cpu")
        ink, muted = palette.role("ink").light, palette.role("muted").light
        step = layout.small + 16 + (layout.small + 4 if layout.narrow else 0)
        height = len(levers) * step + 8
        # so tall that a point at its prediction does not hide it
        stroke = {"linestyle": "none", "marker": "|", "markersize": 21, "markeredgewidth": 2.5, "color": muted}
        entries = [
            (stroke | {"markersize": 15}, "predicted by the model"),
            (mark(swatch, layout), "measured, with its value"),
        ]
        settings = {"x": "times as fast", "y": None, "entries": entries}
        left = 8 if layout.narrow else words_width(layout, [x.title for x in levers]) + 18
        right = 12 + words_width(layout, ["0.000"])
        _, figure, axes = row_frame(layout, title, height, left=left, right=right, **settings)
        box = axes.get_window_extent()
        log_axis(axes.xaxis, low, high, room=box.width, least=30)
        axes.plot([1, 1], [0, height], color=muted, linewidth=1.0, zorder=2)
        paper = {"boxstyle": "square,pad=0.1", "facecolor": palette.role("surface").light, "edgecolor": "none"}
        for index, x in enumerate(levers):
            middle = (index + 0.5) * step + (layout.small / 2 + 1 if layout.narrow else 0)
            axes.plot([x.predicted, x.gain], [middle] * 2, color=palette.role("faint").light, linewidth=1.4, zorder=2)
            axes.plot([x.predicted], [middle], zorder=4, **stroke)
            axes.plot([x.gain], [middle], zorder=5, **mark(swatch, layout, size=1.1))
            point, y = axes.transData.transform((x.gain, middle))
            side, align = (1, "left") if x.gain >= x.predicted else (-1, "right")  # of its point, away from the stroke
            write(axes, reading.three(x.gain), point + 10 * side, y, layout, swatch.light_text, ha=align)
            head = axes.transData.transform((low, index * step + layout.small / 2 + 3))[1] if layout.narrow else y
            at = {"x": box.x0, "ha": "left"} if layout.narrow else {"x": box.x0 - 10, "ha": "right"}
            if layout.narrow:
                at["bbox"] = paper
            write(axes, x.title, y=head, layout=layout, colour=muted if layout.narrow else ink, **at)
        return figure

    alt = [f"{title}. Predicted and measured gains in time on a logarithmic axis:"]
    three = reading.three
    rows = [
        f"{x.title}: predicted {'at most ' if x.recipe.at_most else ''}{three(x.predicted)}, measured {three(x.gain)}"
        for x in levers
    ]
    alt.append("; ".join(rows) + ".")
    return Figure(draw, " ".join(alt))


def what_next(*, title: str = "From a point to the next thing to try") -> Figure:
    """The decision chart: questions from the top down; the first that is answered with yes says what to try."""

    def draw(layout: Layout):
        ink, muted = palette.role("ink").light, palette.role("muted").light
        colours = ("faint", "accent", "accent", "memory", "compute")
        gap, pad, line = 24, 9, layout.small + 4
        half = layout.width - 16 if layout.narrow else 250
        room = layout.width - 20 if layout.narrow else layout.width - half - 68
        left, right = half - 8 - 2 * pad, room - 2 * pad - (8 if layout.narrow else 0)  # of words: the boxes less pad
        rows = []
        for q in QUESTIONS:
            asked = [(t, "bold") for t in wrap(q.ask, left, layout.small, "bold")]
            asked += [(t, "normal") for t in wrap(q.why, left, layout.small)]
            told = [(t, "bold") for t in wrap(q.answer, right, layout.small, "bold")]
            told += [(t, "normal") for t in wrap("Try: " + ", ".join(q.levers) + ".", right, layout.small)]
            told += [(t, "normal") for t in wrap(f"The point moves {q.moves}.", right, layout.small)]
            rows.append((asked, told))
        heads = wrap(title, layout.width - 8, layout.text, "bold")
        ends = wrap(DONE, layout.width - 16, layout.small)

        def tall(lines) -> float:
            return len(lines) * line + 2 * pad

        def row_height(row) -> float:
            return tall(row[0]) + 20 + tall(row[1]) if layout.narrow else max(tall(row[0]), tall(row[1]))

        total = len(heads) * (layout.text + 5) + 10 + sum(row_height(r) + gap for r in rows) + len(ends) * line + 12
        figure, axes = new(layout.tall(total), left=0, right=0, top=0, bottom=0)
        total = round(total)
        axes.set_xlim(0, layout.width)
        axes.set_ylim(total, 0)
        axes.axis("off")

        def text(lines, x: float, y: float, colour: str) -> None:
            for i, (words_, weight) in enumerate(lines):
                axes.text(x, y + i * line, words_, fontsize=layout.small, color=colour, fontweight=weight, va="top")

        def arrow(start, end, note: str, dx: float, dy: float, **where) -> None:
            axes.annotate("", end, xytext=start, arrowprops={"arrowstyle": "-|>", "color": muted, "linewidth": 1.2,
                                                             "shrinkA": 0, "shrinkB": 0})  # fmt: skip
            axes.text(start[0] + dx, start[1] + dy, note, fontsize=layout.small, color=muted, **where)

        from matplotlib.patches import FancyBboxPatch

        def box(x: float, y: float, width: float, height: float, edge: str, thick: float) -> None:
            shape = "round,pad=0,rounding_size=5"
            axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=shape, facecolor="none", edgecolor=edge,
                                          linewidth=thick))  # fmt: skip

        y = 4.0
        for i, head in enumerate(heads):
            axes.text(4, y + i * (layout.text + 5), head, fontsize=layout.text, fontweight="bold", va="top", color=ink)
        y += len(heads) * (layout.text + 5) + 6
        for index, (row, role) in enumerate(zip(rows, colours, strict=True)):
            asked, told = row
            colour = palette.role(role).light
            box(8, y, half - 8, tall(asked), muted, 1.2)
            text(asked, 8 + pad, y + pad, ink)
            if layout.narrow:
                top = y + tall(asked) + 20
                arrow((36, y + tall(asked)), (36, top), "yes", 7, 10, va="center")
                box(20, top, room - 8, tall(told), colour, 2.0)
                text(told, 20 + pad, top + pad, ink)
            else:
                beside = half + 56
                middle = y + min(tall(asked), tall(told)) / 2
                arrow((half, middle), (beside, middle), "yes", 26, -5, ha="center", va="bottom")
                box(beside, y, room, tall(told), colour, 2.0)
                text(told, beside + pad, y + pad, ink)
            bottom = y + row_height(row)
            if index < len(rows) - 1 and layout.narrow:
                axes.text(12, bottom + gap / 2, "no: go on", fontsize=layout.small - 1, color=muted, va="center")
            elif index < len(rows) - 1:
                arrow(
                    (60, y + tall(asked)),
                    (60, bottom + gap),
                    "no",
                    7,
                    (bottom + gap - y - tall(asked)) / 2,
                    va="center",
                )
            y = bottom + gap
        text([(t, "normal") for t in ends], 8, y, ink)
        return figure

    steps = " ".join(f"{q.ask} ({q.why}): {q.answer} Try {', '.join(q.levers)}; it moves {q.moves}." for q in QUESTIONS)
    return Figure(
        draw, f"{title}. A chart of questions, asked from the top; the first yes says what to do first. {steps} {DONE}"
    )
