"""The drawing of the padding explorer for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .. import palette
from .. import words as fmt
from .standin import BOTTOM, HEIGHT, LEFT, RIGHT, WIDTH, element, log_scale, path, picture

#: The axes of js/kinds/padding_chart.js: rows, and seconds.
ROWS = (1, 1024)
SECONDS = (3e-7, 0.5)
TOP, STRIP = 76, (24, 16)
_TIMES = (
    *((1e-6, "1 µs"), (1e-5, "10 µs"), (1e-4, "100 µs"), (1e-3, "1 ms"), (1e-2, "10 ms"), (1e-1, "100 ms")),
    *((1.0, "1 s"), (10.0, "10 s"), (100.0, "100 s")),
)


def seconds_axis(own: Sequence[float] = ()) -> tuple[float, float]:
    """The axis of time: that of the cards, or longer by whole decades where an own device has times beyond it."""
    low = [10.0 ** math.floor(math.log10(t)) for t in own if t <= SECONDS[0]]
    high = [10.0 ** math.ceil(math.log10(t)) for t in own if t >= SECONDS[1]]
    return min([SECONDS[0], *low]), max([SECONDS[1], *high])


def steps(tile: int) -> list[int]:
    """The rows at which the padded bound is worked out: evenly on the axis, and both sides of every step."""
    even = {round(ROWS[1] ** (i / 40)) for i in range(41)}
    edges = {m for b in range(tile, ROWS[1], tile) for m in (b, b + 1)} if tile > 1 else set()
    return sorted(even | edges)


def _bends(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points of a line without those on a level stretch: a page carries this drawing."""
    flat = [round(b, 1) for _, b in points]
    inner = [p for i, p in enumerate(points[1:-1], 1) if not flat[i - 1] == flat[i] == flat[i + 1]]
    return [points[0], *inner, points[-1]]


def padding_figure(
    card, precision, v: dict, measured, at: Callable[[int, int], dict], *, colour: str, seconds: tuple[float, float]
) -> str:
    """Time by rows: the measured points, the bound with padding and without, and the share of useful rows on top.

    ``measured``: the points, as [M, seconds, ...] with a third entry only where one is unstable or suspect.
    """
    left = LEFT + 8
    x, y = log_scale(*ROWS, left, RIGHT), log_scale(*seconds, BOTTOM, TOP)
    shown = [(t, name) for t, name in _TIMES if t < seconds[1]]
    accent = palette.role("accent").light
    lines = [f"M{x(m):.1f} {TOP}V{BOTTOM}" for m in (1, 4, 16, 64, 256, 1024)]
    lines += [f"M{left} {y(t):.1f}H{RIGHT}" for t, _ in shown]
    parts = [element("path", class_="rc-major", d="".join(lines), stroke="currentColor", stroke_opacity=0.15)]
    parts += [element("text", str(m), x=x(m), y=BOTTOM + 18, text_anchor="middle") for m in (1, 4, 16, 64, 256)]
    parts += [element("text", name, x=left - 7, y=y(t) + 4, text_anchor="end") for t, name in shown]
    parts.append(element("text", "rows M", x=(left + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"))
    parts.append(element("text", "time", x=2, y=TOP - 12))
    share = (RIGHT - 1) * v["useful_percent"] / 100
    rows = f"{v['executed']} {'row' if v['executed'] == 1 else 'rows'} executed, {v['m']} of them useful"
    parts.append(element("text", rows, x=1, y=STRIP[0] - 8))
    parts.append(
        element(
            "rect",
            class_="rc-waste",
            x=1,
            y=STRIP[0],
            width=RIGHT - 1,
            height=STRIP[1],
            fill=colour,
            fill_opacity=0.15,
            stroke=colour,
        )
    )
    parts.append(
        element("rect", class_="rc-useful", x=1, y=STRIP[0], width=max(share, 2.0), height=STRIP[1], fill=colour)
    )
    lines = [f"{card.name}, {precision.label}", "not measured on this device"]
    if v["available"]:
        model = [at(m, v["tile"]) for m in steps(v["tile"])]
        plain = path(_bends([(x(p["m"]), y(p["bound_seconds"])) for p in model]))
        padded = path(_bends([(x(p["m"]), y(p["padded_seconds"])) for p in model]))
        parts.append(
            element(
                "path",
                class_="rc-launch",
                d=plain,
                fill="none",
                stroke="currentColor",
                stroke_dasharray="2 3",
                stroke_opacity=0.6,
            )
        )
        parts.append(element("path", class_="rc-line", d=padded, fill="none", stroke=colour, stroke_width=2.5))
        for m, t, *doubts in measured:
            hollow = {"fill": "#fff" if doubts else colour}
            name = "rc-open" if doubts else "rc-full"
            parts.append(element("circle", class_=name, cx=x(m), cy=y(t), r=3.5, stroke=colour, **hollow))
        if v["measured"]:
            fill = "#fff" if v["unstable"] else accent
            name = "rc-chosen rc-open" if v["unstable"] else "rc-chosen"
            parts.append(
                element("circle", class_=name, cx=x(v["m"]), cy=y(v["seconds"]), r=7, fill=fill, stroke=accent)
            )
            lines[1] = f"{fmt.time3(v['seconds'])} measured, bound {fmt.time3(v['padded_seconds'])}"
        else:
            px, py = x(v["m"]), y(v["padded_seconds"])
            parts.append(
                element(
                    "path", class_="rc-cross", d=f"M{px - 8:.1f} {py:.1f}h16m-8 -8v16", stroke=accent, stroke_width=2
                )
            )
            lines[1] = f"at least {fmt.time3(v['padded_seconds'])}, not measured"
    for line, up in zip(lines, (30, 11), strict=True):
        parts.append(element("text", line, x=RIGHT - 8, y=BOTTOM - up, text_anchor="end", font_weight=700))
    return picture(WIDTH, HEIGHT, f"Chart on logarithmic axes, time by rows. {v['sentence']}", parts)
