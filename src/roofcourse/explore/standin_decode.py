"""The drawing of the decode explorer for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

from .. import palette
from .. import words as fmt
from .standin import WIDTH, element, log_scale, picture

#: The axis of time of js/kinds/decode_chart.js.
SECONDS = (1e-7, 1e3)
TIMES = ((1e-6, "1 µs"), (1e-3, "1 ms"), (1.0, "1 s"))
ROLES = {"weights": "matrix-b", "kv": "matrix-a", "activations": "matrix-c"}
NAMES = {"weights": "weights", "kv": "KV cache", "activations": "activations"}
LEFT, RIGHT = 8, WIDTH - 8


def decode_figure(device_colour: str, v: dict) -> str:
    """The traffic of a step by part, and the times of traffic and arithmetic with the measured one, on a log axis."""
    alt = f"The traffic of a step as a stacked bar, and its least times on a logarithmic axis. {v['sentence']}"
    if not v["available"]:
        words = element("text", "no bound for these choices", x=LEFT, y=30, font_weight=700)
        return picture(WIDTH, 60, alt, [words])
    parts = [element("text", f"traffic of a step: {fmt.nbytes(v['bytes'])}, of which", x=LEFT, y=16)]
    at = float(LEFT)
    for i, (part, role) in enumerate(ROLES.items()):
        share = v[f"percent_{part}"]
        width = (RIGHT - LEFT) * share / 100
        colour = palette.role(role).light
        kind = f"rc-part rc-part-{part}"
        parts.append(element("rect", class_=kind, x=at, y=24, width=max(width, 0.5), height=30, fill=colour))
        at += width
        x = LEFT + i * (RIGHT - LEFT) / 3
        parts.append(element("rect", class_=kind, x=x, y=66, width=10, height=10, fill=colour))
        words = f"{NAMES[part]} {'< 0.1' + fmt.SPACE + '%' if share < 0.1 else fmt.percent3(share)}"
        parts.append(element("text", words, x=x + 16, y=76))
    x = log_scale(*SECONDS, LEFT, RIGHT)
    top, foot = 104, 250
    for seconds, words in TIMES:
        line = f"M{x(seconds):.1f} {top}V{foot}"
        parts.append(element("path", class_="rc-major", d=line, stroke="currentColor", stroke_opacity=0.15))
        parts.append(element("text", words, x=x(seconds), y=foot + 17, text_anchor="middle"))
    rows = (
        ("memory", "memory_seconds", f"traffic: {fmt.nbytes(v['bytes'])} / {fmt.rate(v['bandwidth'])}"),
        ("compute", "compute_seconds", f"arithmetic: {fmt.flop(v['flop'])} / {fmt.tflops(v['peak'])}"),
    )
    for i, (bound, key, title) in enumerate(rows):
        y = 124 + 50 * i
        wins = v["bound"] == bound
        colour = palette.role(bound).light
        end = x(v[key])
        parts.append(element("text", title, x=LEFT, y=y - 6))
        parts.append(
            element("rect", class_="rc-bar", data_bound=bound, data_wins=str(wins).lower(), x=LEFT, y=y,
                    width=max(end - LEFT, 1.0), height=24, fill=colour, fill_opacity=1 if wins else 0.3)
        )  # fmt: skip
        answer = f"T ≥ {fmt.time3(v[key])}" if wins else fmt.time3(v[key])
        side = {"x": end - 8, "text_anchor": "end"} if end > WIDTH - 130 else {"x": end + 8}
        parts.append(element("text", answer, y=y + 17, font_weight=700 if wins else 400, **side))
    y = 233
    if v["measured"]:
        here = x(v["measured_seconds"])
        parts.append(element("circle", class_="rc-full", cx=here, cy=y, r=6, fill=device_colour, stroke="#fff"))
        parts.append(element("text", f"measured: {fmt.time3(v['measured_seconds'])}", x=here + 12, y=y + 5))
    else:
        parts.append(element("text", "not measured", x=LEFT, y=y + 5))
    parts.append(element("text", "least time of a step", x=(LEFT + RIGHT) / 2, y=foot + 36, text_anchor="middle"))
    return picture(WIDTH, foot + 44, alt, parts)
