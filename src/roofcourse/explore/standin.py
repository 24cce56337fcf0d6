"""Drawings for a page without JavaScript, for print and for e-books: plain SVG with an alternative text.

Colours stand as attributes, so that the figure is right without a style sheet; the style sheet overrides them where it
is loaded (a dark page).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape

from .. import palette
from . import format as fmt

# The same axes as js/kinds/m_sweep_chart.js.
INTENSITY = (0.1, 1e4)
THROUGHPUT = (0.02e12, 1e16)

WIDTH, HEIGHT = 560, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 548, 28, 352


def log_scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """A function from a value to a coordinate: ``low`` lands on ``start``, ``high`` on ``end``."""
    base = math.log10(low)
    per_decade = (end - start) / (math.log10(high) - base)
    return lambda value: start + (math.log10(value) - base) * per_decade


def element(tag: str, text: str | None = None, **attributes) -> str:
    """One SVG element. ``class_`` is ``class``, other underscores are hyphens; text and values are escaped."""
    inside = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"' for name, value in attributes.items()
    )
    return f"<{tag}{inside}/>" if text is None else f"<{tag}{inside}>{escape(text)}</{tag}>"


def _short(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def path(points: Iterable[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_short(x)} {_short(y)}" for x, y in points)


def picture(width: int, height: int, alt: str, parts: Iterable[str]) -> str:
    """A whole drawing with its alternative text."""
    return (
        f'<svg class="rc-chart rc-stand-in" role="img" aria-label="{escape(alt)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" style="max-width:100%;height:auto" font-family="inherit" font-size="13" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def sweep_figure(spec: dict, state: dict, values: dict, point: Callable[[str, str, int], dict]) -> str:
    """The log-log roofline of one state. ``point(device, precision, m)`` gives the numbers of one measured product."""
    x = log_scale(*INTENSITY, LEFT, RIGHT)
    y = log_scale(*THROUGHPUT, BOTTOM, TOP)
    chosen = next(d for d in spec["devices"] if d["key"] == state["device"])
    colour = palette.device(chosen["key"]).light
    precision = state["precision"]

    def roof(device: dict) -> str:
        peak, bandwidth = device["roofs"][precision]["peak"], device["bandwidth"]
        corners = (INTENSITY[0], peak / bandwidth, INTENSITY[1])
        return path((x(i), y(min(peak, bandwidth * i))) for i in corners)

    parts = _axes(x, y)
    others = [roof(d) for d in spec["devices"] if d is not chosen and precision in d["roofs"]]
    parts.append(element("path", class_="rc-faint", d="".join(others), fill="none", stroke="currentColor", stroke_opacity=0.25))
    if values["available"]:
        ridge = values["ridge_point"]
        at = x(ridge)
        parts.append(
            element("path", class_="rc-ridge-line", d=f"M{_short(at)} {TOP}V{BOTTOM}", stroke="currentColor",
                    stroke_dasharray="4 4", stroke_opacity=0.6)
        )  # fmt: skip
        parts.append(
            element("text", f"ridge point {fmt.intensity(ridge)}", x=min(max(at, 160.0), 460.0), y=TOP - 6, text_anchor="middle")
        )
        parts.append(element("path", class_="rc-line", d=roof(chosen), fill="none", stroke=colour, stroke_width=2.5))
        for m, _, spread in chosen["roofs"][precision]["sweep"]:
            v = point(state["device"], precision, m)
            hollow = {"fill": "none"} if spread else {"fill": colour}
            where = {"cx": x(v["intensity"]), "cy": y(v["flop_per_s"])}
            parts.append(element("circle", class_="rc-open" if spread else "rc-full", **where, r=3.5, stroke=colour, **hollow))
        parts += _here(x(values["intensity"]), x, y, values, palette.role("accent").light)
    parts.append(element("text", _caption(chosen, spec, precision), x=RIGHT, y=BOTTOM - 10, text_anchor="end", font_weight=600))
    alt = f"Roofline chart on logarithmic axes, throughput against arithmetic intensity. {values['sentence']}"
    return picture(WIDTH, HEIGHT, alt, parts)


def _caption(device: dict, spec: dict, precision: str) -> str:
    label = next(p["label"] for p in spec["precisions"] if p["name"] == precision)
    return f"{device['name']}, {label}"


def _axes(x: Callable, y: Callable) -> list[str]:
    intensities = [10.0**e for e in range(-1, 5)]
    throughputs = [10.0**e for e in range(11, 17)]
    lines = [f"M{_short(x(v))} {TOP}V{BOTTOM}" for v in intensities]
    lines += [f"M{LEFT} {_short(y(v))}H{RIGHT}" for v in throughputs]
    grid = element("path", class_="rc-major", d="".join(lines), stroke="currentColor", stroke_opacity=0.15)
    labels = [
        element("text", fmt.significant(v, 1), x=x(v), y=BOTTOM + 18, text_anchor="middle") for v in intensities
    ] + [element("text", fmt.significant(v / 1e12, 1), x=LEFT - 7, y=y(v) + 4, text_anchor="end") for v in throughputs]
    titles = [
        element("text", "arithmetic intensity (FLOP/byte)", x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"),
        element("text", "TFLOP/s", x=2, y=14),
    ]
    return [grid, *labels, *titles]


def _here(px: float, x: Callable, y: Callable, v: dict, colour: str) -> list[str]:
    """The chosen point, the gap up to the roof, and the answer in words."""
    top = y(v["attainable"])
    if v["measured"]:
        py = y(v["flop_per_s"])
        text = f"M = {v['m']}: {fmt.time3(v['seconds'])}, {fmt.percent(v['percent_of_roof'])} of the roof"
        fill = "#fff" if v["unstable"] else colour
        name = "rc-chosen rc-open" if v["unstable"] else "rc-chosen"
        mark = element("circle", class_=name, cx=px, cy=py, r=7, fill=fill, stroke=colour, stroke_width=2)
    else:
        py = top
        text = f"M = {v['m']}: at least {fmt.time3(v['bound_seconds'])} by the model, not measured"
        mark = element("path", class_="rc-cross", d=f"M{_short(px - 8)} {_short(py)}h16m-8 -8v16", stroke=colour, stroke_width=2)
    gap = element("path", class_="rc-gap", d=f"M{_short(px)} {_short(top)}V{_short(py)}", stroke=colour)
    left = px < (LEFT + RIGHT) / 2
    answer = element(
        "text", text, x=px + 12 if left else px - 4, y=py + 26, text_anchor="start" if left else "end", font_weight=700, font_size=15
    )
    return [gap, mark, answer]
