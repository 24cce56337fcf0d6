"""Drawings for a page without JavaScript, for print and for e-books: plain SVG with an alternative text.

Colours stand as attributes, so that the figure is right without a style sheet; the style sheet overrides them where it
is loaded (a dark page).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from html import escape

from .. import palette
from .. import words as fmt

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
    low = lowest_throughput(spec["devices"])
    x = log_scale(*INTENSITY, LEFT, RIGHT)
    y = log_scale(low, THROUGHPUT[1], BOTTOM, TOP)
    chosen = next(d for d in spec["devices"] if d["key"] == state["device"])
    colour = own_swatch(chosen["colour"]).light
    precision = state["precision"]

    def roof(device: dict) -> str:
        peak, bandwidth = device["roofs"][precision]["peak"], device["bandwidth"]
        corners = (INTENSITY[0], peak / bandwidth, INTENSITY[1])
        return path((x(i), y(min(peak, bandwidth * i))) for i in corners)

    parts = _axes(x, y, low=low)
    others = [roof(d) for d in spec["devices"] if d is not chosen and precision in d["roofs"]]
    parts.append(
        element("path", class_="rc-faint", d="".join(others), fill="none", stroke="currentColor", stroke_opacity=0.25)
    )
    if values["available"]:
        ridge = values["ridge_point"]
        at = x(ridge)
        parts.append(
            element("path", class_="rc-ridge-line", d=f"M{_short(at)} {TOP}V{BOTTOM}", stroke="currentColor",
                    stroke_dasharray="2 3", stroke_opacity=0.6)
        )  # fmt: skip
        parts.append(
            element(
                "text",
                f"ridge point {fmt.intensity(ridge)}",
                x=min(max(at, 160.0), 460.0),
                y=TOP - 6,
                text_anchor="middle",
            )
        )
        parts.append(element("path", class_="rc-line", d=roof(chosen), fill="none", stroke=colour, stroke_width=2.5))
        for m, _, spread in chosen["roofs"][precision]["sweep"]:
            v = point(state["device"], precision, m)
            hollow = {"fill": "none"} if spread else {"fill": colour}
            where = {"cx": x(v["intensity"]), "cy": y(v["flop_per_s"])}
            parts.append(
                element("circle", class_="rc-open" if spread else "rc-full", **where, r=3.5, stroke=colour, **hollow)
            )
        parts += _here(x(values["intensity"]), y, values, palette.role("accent").light)
    # The foot of the plot on the right is free in every state: no roof and no point reaches down there.
    lines = [f"{chosen['name']}, {_label(spec, precision)}", _answer(values)]
    for line, up in zip(lines, (30, 11), strict=True):
        parts.append(element("text", line, x=RIGHT - 8, y=BOTTOM - up, text_anchor="end", font_weight=700))
    alt = f"Roofline chart on logarithmic axes, throughput against arithmetic intensity. {values['sentence']}"
    return picture(WIDTH, HEIGHT, alt, parts)


def _label(spec: dict, precision: str) -> str:
    return next(p["label"] for p in spec["precisions"] if p["name"] == precision)


def _answer(v: dict) -> str:
    if not v["available"]:
        return "not measured on this device"
    if not v["measured"]:
        return f"M = {v['m']}: at least {fmt.time3(v['bound_seconds'])} by the model, not measured"
    return f"M = {v['m']}: {fmt.time3(v['seconds'])}, {fmt.percent(v['percent_of_roof'])} of the roof"


def lowest_throughput(
    devices: Iterable[dict], usual: float = THROUGHPUT[0], lowest_intensity: float = INTENSITY[0]
) -> float:
    """The foot of an axis of FLOP/s: ``usual``, or lower by whole decades where an own device has less bandwidth."""
    own = (d["bandwidth"] * lowest_intensity for d in devices if "own" in d)
    return min([usual, *(10.0 ** math.floor(math.log10(b)) for b in own)])


def own_swatch(colour: str) -> palette.Swatch:
    """The swatch of a colour of a spec."""
    return next(s for s in palette.swatches() if s.name == colour)


def _axes(x: Callable, y: Callable, right: float = RIGHT, low: float = THROUGHPUT[0]) -> list[str]:
    intensities = [10.0**e for e in range(-1, 5)]
    throughputs = [10.0**e for e in range(math.ceil(math.log10(low)), 17)]
    lines = [f"M{_short(x(v))} {TOP}V{BOTTOM}" for v in intensities]
    lines += [f"M{LEFT} {_short(y(v))}H{_short(right)}" for v in throughputs]
    grid = element("path", class_="rc-major", d="".join(lines), stroke="currentColor", stroke_opacity=0.15)
    labels = [
        element("text", fmt.significant(v, 1), x=x(v), y=BOTTOM + 18, text_anchor="middle") for v in intensities
    ] + [element("text", fmt.significant(v / 1e12, 1), x=LEFT - 7, y=y(v) + 4, text_anchor="end") for v in throughputs]
    titles = [
        element("text", "arithmetic intensity (FLOP/byte)", x=(LEFT + right) / 2, y=HEIGHT - 8, text_anchor="middle"),
        element("text", "TFLOP/s", x=2, y=14),
    ]
    return [grid, *labels, *titles]


def _here(px: float, y: Callable, v: dict, colour: str) -> list[str]:
    """The chosen point and the gap up to the roof; a cross on the roof where nothing was measured."""
    top = y(v["attainable"])
    if not v["measured"]:
        cross = f"M{_short(px - 8)} {_short(top)}h16m-8 -8v16"
        return [element("path", class_="rc-cross", d=cross, stroke=colour, stroke_width=2)]
    py = y(v["flop_per_s"])
    fill, name = ("#fff", "rc-chosen rc-open") if v["unstable"] else (colour, "rc-chosen")
    gap = element("path", class_="rc-gap", d=f"M{_short(px)} {_short(top)}V{_short(py)}", stroke=colour)
    return [gap, element("circle", class_=name, cx=px, cy=py, r=7, fill=fill, stroke=colour, stroke_width=2)]


#: The axis of time of js/kinds/bounds_chart.js.
SECONDS = (1e-10, 1e4)
_TIMES = ((1e-9, "1 ns"), (1e-6, "1 µs"), (1e-3, "1 ms"), (1.0, "1 s"), (1e3, "1 000 s"))


def bars_figure(v: dict) -> str:
    """Two bars on a logarithmic axis of time: W/F and Q/B, the longer one filled."""
    scale = log_scale(*SECONDS, 1, WIDTH - 10)

    def x(seconds: float) -> float:
        return min(scale(seconds), WIDTH - 4.0)  # a slow machine with the largest work goes beyond the axis

    foot = 150
    parts = [
        element(
            "path",
            class_="rc-major",
            d="".join(f"M{_short(x(t))} 28V{foot}" for t, _ in _TIMES),
            stroke="currentColor",
            stroke_opacity=0.15,
        ),
        *(element("text", name, x=x(t), y=foot + 18, text_anchor="middle") for t, name in _TIMES[:-1]),
    ]
    rows = [("memory", 92, f"traffic: Q/B = {fmt.nbytes(v['bytes'])} / {fmt.rate(v['bandwidth'])}")]
    if v["available"]:
        rows.insert(0, ("compute", 28, f"arithmetic: W/F = {fmt.flop(v['flop'])} / {fmt.tflops(v['peak'])}"))
    for bound, top, title in rows:
        seconds = v[f"{bound}_seconds"]
        wins = v.get("bound") in (bound, "balanced")
        colour = palette.role(bound).light
        end = x(seconds)
        parts.append(element("text", title, x=1, y=top - 8))
        parts.append(
            element(
                "rect",
                class_="rc-bar",
                data_bound=bound,
                data_wins=str(wins).lower(),
                x=1,
                y=top,
                width=end - 1,
                height=32,
                fill=colour,
                stroke=colour,
                fill_opacity=1 if wins else 0.3,
            )
        )
        answer = f"T ≥ {fmt.time3(seconds)}" if wins else fmt.time3(seconds)
        inside = end > WIDTH - 120
        side = {"x": end - 8, "text_anchor": "end"} if inside else {"x": end + 8}
        parts.append(element("text", answer, y=top + 21, font_weight=700 if wins else 400, font_size=15, **side))
    return picture(WIDTH, foot + 30, f"Two bars on a logarithmic axis of time. {v['sentence']}", parts)
