"""The drawing of the intensity explorer for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

from collections.abc import Sequence

from .. import palette
from .. import words as fmt
from .standin import WIDTH, element, log_scale, picture

#: The axis of js/kinds/intensity_chart.js.
INTENSITY = (0.05, 20000)
ROLES = {"x": "matrix-a", "a": "matrix-b", "y": "matrix-c", "scales": "scales"}
NAMES = {"x": "X", "a": "A", "y": "Y", "scales": "scales"}
LEFT, RIGHT = 8, WIDTH - 8


def intensity_figure(v: dict, chosen: str, ridges: Sequence[tuple[str, str, float]], colour_of_chosen: str) -> str:
    """The traffic as one stacked bar, and I on a logarithmic axis with the ridge points of the cards.

    ``ridges``: (key, name, ridge point in FLOP/byte) of every card that has one.
    """
    parts = [element("text", f"traffic Q = {fmt.nbytes(v['bytes'])}", x=LEFT, y=16)]
    at = float(LEFT)
    shown = [p for p in ROLES if v[f"bytes_{p}"]]
    for i, part in enumerate(shown):
        width = (RIGHT - LEFT) * v[f"percent_{part}"] / 100
        colour = palette.role(ROLES[part]).light
        parts.append(
            element("rect", class_=f"rc-part rc-part-{part}", x=at, y=24, width=max(width, 0.5), height=34, fill=colour)
        )
        at += width
        x = LEFT + i * (RIGHT - LEFT) / len(shown)
        parts.append(element("rect", class_=f"rc-part rc-part-{part}", x=x, y=70, width=10, height=10, fill=colour))
        share = v[f"percent_{part}"]
        words = f"{NAMES[part]} {'< 0.1' + fmt.SPACE + '%' if share < 0.1 else fmt.percent3(share)}"
        parts.append(element("text", words, x=x + 16, y=80))
    x = log_scale(*INTENSITY, LEFT, RIGHT)
    top, foot = 138, 170
    for exponent in range(-1, 5):
        value = 10.0**exponent
        line = f"M{x(value):.1f} {top}V{foot}"
        parts.append(element("path", class_="rc-major", d=line, stroke="currentColor", stroke_opacity=0.2))
        parts.append(element("text", fmt.significant(value, 1), x=x(value), y=foot + 17, text_anchor="middle"))
    parts.append(element("path", class_="rc-axis", d=f"M{LEFT} {foot}H{RIGHT}", stroke="currentColor"))
    for key, name, ridge in ridges:
        own = key == chosen
        colour = colour_of_chosen if own else "currentColor"
        d = f"M{x(ridge):.1f} {top - 6 if own else foot - 10}V{foot}"
        parts.append(
            element("path", d=d, stroke=colour, stroke_width=2.5 if own else 1, stroke_opacity=1 if own else 0.5)
        )
        if own:
            where = min(max(x(ridge), 90.0), WIDTH - 90.0)
            words = f"{name}: ridge point {fmt.significant(ridge, 3)}"
            parts.append(element("text", words, x=where, y=top - 28, text_anchor="middle"))
    accent = palette.role("accent").light
    here = x(v["intensity"])
    parts.append(element("circle", class_="rc-chosen", cx=here, cy=(top + foot) / 2, r=7, fill=accent, stroke="#fff"))
    where = min(max(here, 80.0), WIDTH - 80.0)
    answer = f"I = {fmt.intensity(v['intensity'])}"
    parts.append(element("text", answer, x=where, y=top - 10, text_anchor="middle", font_weight=700))
    parts.append(
        element("text", "arithmetic intensity (FLOP/byte)", x=(LEFT + RIGHT) / 2, y=foot + 36, text_anchor="middle")
    )
    alt = f"The traffic as a stacked bar, and the intensity on a logarithmic axis. {v['sentence']}"
    return picture(WIDTH, foot + 44, alt, parts)
