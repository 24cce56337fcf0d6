"""The drawing of the levers explorer for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

import math
from collections.abc import Iterable

from .. import palette
from .. import words as fmt
from .standin import (
    BOTTOM,
    HEIGHT,
    LEFT,
    TOP,
    WIDTH,
    _short,
    element,
    log_scale,
    lowest_throughput,
    own_swatch,
    path,
    picture,
)

#: The axes of js/kinds/levers_chart.js.
INTENSITY, THROUGHPUT = (0.01, 1e4), (1e9, 1e16)
RIGHT = WIDTH - 12
#: FLOP/byte; no kernel's point is lower on a device than B times this, its launches aside.
LEAST = 0.0075


def throughput_axis(devices: Iterable[dict] = ()) -> tuple[float, float]:
    """The axis of throughput: that of the cards, or from a lower decade on for own devices with less bandwidth."""
    return lowest_throughput(devices, THROUGHPUT[0], LEAST), THROUGHPUT[1]


def levers_figure(
    card: dict, places: list[dict | None], names: dict[str, str], values: dict, throughput: tuple[float, float]
) -> str:
    """The roofs before and after, crosses before and after (bold), and the way between."""
    x, y = log_scale(*INTENSITY, LEFT, RIGHT), log_scale(*throughput, BOTTOM, TOP)
    across = [10.0**e for e in range(-2, 5)]
    upward = [10.0**e for e in range(round(math.log10(throughput[0])), 17)]
    lines = [f"M{_short(x(v))} {TOP}V{BOTTOM}" for v in across] + [f"M{LEFT} {_short(y(v))}H{RIGHT}" for v in upward]
    parts = [element("path", class_="rc-major", d="".join(lines), stroke="currentColor", stroke_opacity=0.15)]
    parts += [element("text", fmt.significant(v, 1), x=x(v), y=BOTTOM + 18, text_anchor="middle") for v in across]
    parts += [element("text", fmt.significant(v / 1e12, 1), x=LEFT - 7, y=y(v) + 4, text_anchor="end") for v in upward]
    parts += [
        element("text", "arithmetic intensity (FLOP/byte)", x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"),
        element("text", "TFLOP/s", x=2, y=14),
    ]
    there = [p for p in places if p is not None]
    alt = f"Roofline chart on logarithmic axes. {values['sentence']}"
    if not there:
        parts.append(
            element("text", "no such roof measured", x=(LEFT + RIGHT) / 2, y=(TOP + BOTTOM) / 2, text_anchor="middle")
        )
        return picture(WIDTH, HEIGHT, alt, parts)
    last, colour = there[-1], own_swatch(card["colour"]).light
    for p in {p["path"]: p for p in there}.values():
        corners = [INTENSITY[0], p["peak"] / card["bandwidth"], INTENSITY[1]]
        d = path((x(i), y(min(p["peak"], card["bandwidth"] * i))) for i in corners)
        own = p["path"] == last["path"]
        look = {"stroke": colour, "stroke_width": 2.5} if own else {"stroke": "currentColor", "stroke_opacity": 0.4}
        parts.append(element("path", class_="rc-line" if own else "rc-faint", d=d, fill="none", **look))
    # One name: two of them could stand on each other.
    words = f"{card['name']}, {names[last['path']]}: {fmt.tflops(last['peak'])}"
    parts.append(element("text", words, x=RIGHT - 4, y=y(last["peak"]) - 7, text_anchor="end"))
    accent = palette.role("accent").light
    trail = path((x(p["intensity"]), y(p["flop_per_s"])) for p in there)
    parts.append(element("path", class_="rc-gap", d=trail, fill="none", stroke=accent, stroke_width=1.5))
    for i, p in enumerate(there):
        first, end = i == 0, i == len(there) - 1
        arm = 9 if end else 7 if first else 4
        d = f"M{_short(x(p['intensity']) - arm)} {_short(y(p['flop_per_s']))}h{2 * arm}m-{arm} -{arm}v{2 * arm}"
        name, width = ("rc-cross rc-now", 4) if end else ("rc-cross", 2)
        parts.append(element("path", class_=name, d=d, fill="none", stroke=accent, stroke_width=width))
    answer = fmt.time3(there[0]["seconds"])
    if len(there) > 1:
        answer += (
            f" to {fmt.time3(last['seconds'])}: × {fmt.significant(values['gain'], 3)}" if "gain" in values else ""
        )
    parts.append(element("text", answer, x=RIGHT - 8, y=BOTTOM - 11, text_anchor="end", font_weight=700))
    return picture(WIDTH, HEIGHT, alt, parts)
