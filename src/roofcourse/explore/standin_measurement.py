"""The drawing of the measurement explorer for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

import math

from .. import palette
from .. import words as fmt
from .standin import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, element, log_scale, own_swatch, path, picture

#: The axes of js/kinds/measurement_chart.js.
AXES = {
    "memory": {"x": (2**12, 2**31), "y": (1e9, 2e13), "unit": 1e9, "y_title": "achieved bandwidth (GB/s)"},
    "fma": {"x": (0.8, 2600), "y": (4e10, 2e14), "unit": 1e12, "y_title": "throughput (TFLOP/s)"},
}
SIZES = {13: "8 KiB", 16: "64 KiB", 19: "512 KiB", 22: "4 MiB", 25: "32 MiB", 28: "256 MiB"}


def axes_for(card: dict, fma: bool) -> dict:
    """The axes, wider by whole octaves and decades where an own device has points beyond those of the cards."""
    axes = AXES["fma" if fma else "memory"]
    if "own" not in card:
        return axes
    points = [p for name, series in card["series"].items() if name.startswith("fma") == fma for p in series]
    rates = [(flop if fma else moved) / seconds for _, flop, moved, seconds, _ in points]
    low = min([axes["y"][0], *(10.0 ** math.floor(math.log10(r * 0.8)) for r in rates)])
    far = max([axes["x"][1], *(2.0 ** math.ceil(math.log2(p[0]) + 0.3) for p in points)])
    return {**axes, "x": (axes["x"][0], far), "y": (low, axes["y"][1])}


def measurement_figure(card: dict, kernel: str, v: dict) -> str:
    """The series of one kernel on one card with the chosen point; B and the edge of the L2, or the roof."""
    fma = kernel.startswith("fma")
    axes = axes_for(card, fma)
    points = card["series"].get(kernel, [])
    x = log_scale(*axes["x"], LEFT, RIGHT)
    y = log_scale(*axes["y"], BOTTOM, TOP)
    colour, accent = own_swatch(card["colour"]).light, palette.role("accent").light
    ticks = [(r, str(r)) for r in (1, 4, 16, 64, 256, 1024)] if fma else [(2**e, name) for e, name in SIZES.items()]
    rates = [10.0**e for e in range(6, 15) if axes["y"][0] <= 10.0**e <= axes["y"][1]]
    lines = [f"M{x(at):.1f} {TOP}V{BOTTOM}" for at, _ in ticks] + [f"M{LEFT} {y(at):.1f}H{RIGHT}" for at in rates]
    parts = [element("path", class_="rc-major", d="".join(lines), stroke="currentColor", stroke_opacity=0.15)]
    parts += [element("text", name, x=x(at), y=BOTTOM + 18, text_anchor="middle") for at, name in ticks]
    parts += [
        element("text", fmt.significant(at / axes["unit"], 1), x=LEFT - 7, y=y(at) + 4, text_anchor="end")
        for at in rates
    ]
    foot = "multiply-adds R on each number" if fma else "working set"
    parts.append(element("text", foot, x=(LEFT + RIGHT) / 2, y=HEIGHT - 8, text_anchor="middle"))
    parts.append(element("text", axes["y_title"], x=2, y=14))
    if not points:
        model = ""
    elif fma:
        ridge = max(v["ridge_r"], axes["x"][0])
        slope = v["bandwidth"] * v["intensity"] / v["r"]
        corners = ((axes["x"][0], axes["x"][0] * slope), (ridge, ridge * slope), (axes["x"][1], v["peak"]))
        model = path((x(at), y(min(p, v["peak"]))) for at, p in corners)
    else:
        model = f"M{LEFT} {y(v['bandwidth']):.1f}H{RIGHT}"
        parts.append(element("path", class_="rc-ridge-line", d=f"M{x(v['l2']):.1f} {TOP}V{BOTTOM}",
                             stroke="currentColor", stroke_dasharray="2 3", stroke_opacity=0.6))  # fmt: skip
        parts.append(element("text", "L2", x=x(v["l2"]) - 6, y=TOP + 12, text_anchor="end"))
        parts.append(element("text", f"B = {fmt.rate(v['bandwidth'])}", x=LEFT + 6, y=y(v["bandwidth"]) - 7))
    parts.append(element("path", class_="rc-line", d=model, fill="none", stroke=colour, stroke_width=2.5))
    for i, (at, flop, moved, seconds, unstable) in enumerate(points, 1):
        where = {"cx": x(at), "cy": y((flop if fma else moved) / seconds)}
        if i == v["number"]:
            name, fill, edge, r = "rc-chosen", accent, "#fff", 7
        else:
            name, fill, edge, r = "rc-full", colour, colour, 3.5
        if unstable:
            name, fill, edge = f"{name} rc-open", "#fff", accent if i == v["number"] else colour
        parts.append(element("circle", class_=name, **where, r=r, fill=fill, stroke=edge))
    lines = [card["name"], "not in this run"]
    if points:
        answer = fmt.tflops(v["flop_per_s"]) if fma else fmt.rate(v["bytes_per_s"])
        lines[1] = f"{answer} in {fmt.time3(v['seconds'])}"
    for line, up in zip(lines, (30, 11), strict=True):
        parts.append(element("text", line, x=RIGHT - 8, y=BOTTOM - up, text_anchor="end", font_weight=700))
    return picture(WIDTH, HEIGHT, f"Chart on logarithmic axes, {axes['y_title']}. {v['sentence']}", parts)
