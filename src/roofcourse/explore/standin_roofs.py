"""The drawing of several rooflines for a page without JavaScript: see :mod:`roofcourse.explore.standin`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .. import palette
from .. import words as fmt
from ..roofline import Roofline
from .standin import BOTTOM, HEIGHT, INTENSITY, LEFT, THROUGHPUT, TOP, WIDTH, _axes, element, log_scale, path, picture

#: Names stand right of the plot.
NAMES = 128
GAP = 15.0


@dataclass
class _Line:
    name: str
    swatch: palette.Swatch
    wish: float
    at: float = 0.0


def roofs_figure(
    roofs: Sequence[Roofline], names: Sequence[str], values: dict, swatches: Sequence[palette.Swatch], low: float
) -> str:
    """The roofs as lines with their names, an upright line at the chosen intensity and the answer at its foot.

    ``low``: foot of the axis, in FLOP/s.
    """
    right = WIDTH - NAMES
    x = log_scale(*INTENSITY, LEFT, right)
    y = log_scale(low, THROUGHPUT[1], BOTTOM, TOP)
    parts = _axes(x, y, right, low)
    lines = []
    for roof, name, swatch in zip(roofs, names, swatches, strict=True):
        corners = sorted({INTENSITY[0], max(roof.ridge_point, INTENSITY[0]), INTENSITY[1]})
        d = path((x(i), y(roof.attainable(i))) for i in corners)
        parts.append(element("path", class_="rc-line", d=d, style=_own(swatch), fill="none", stroke=swatch.light))
        lines.append(_Line(name, swatch, y(roof.peak)))
    for line in _spread(lines):
        leader = path([(right + 1.0, line.wish), (right + 9.0, line.at)])
        colour = line.swatch.light
        parts.append(element("path", class_="rc-line", d=leader, style=_own(line.swatch), fill="none", stroke=colour))
        parts.append(element("text", line.name, x=right + 12.0, y=line.at + 4, font_size=12))
    at = x(values["intensity"])
    accent = palette.role("accent").light
    parts.append(element("path", class_="rc-gap", d=f"M{at:.1f} {TOP}V{BOTTOM}", stroke=accent))
    words = {"higher": "highest", "equal": "highest, but not surely", "same": "highest", "alone": "roof"}[
        values["verdict"]
    ]
    keys = [f"{r.device}.{r.precision}" + ".vector" * (r.path == "vector") for r in roofs]
    name = names[keys.index(values["highest"])]
    foot = [f"I = {fmt.intensity(values['intensity'])}", f"{words}: {name}, {fmt.tflops(values['attainable'])}"]
    for text, up in zip(foot, (30, 11), strict=True):
        parts.append(element("text", text, x=right - 8, y=BOTTOM - up, text_anchor="end", font_weight=700))
    return picture(WIDTH, HEIGHT, f"Rooflines on logarithmic axes. {values['sentence']}", parts)


def _own(swatch: palette.Swatch) -> str:
    """The device's colour for the style sheet, which knows light and dark pages."""
    return f"--rc-device:var({swatch.variable});stroke-width:2px"


def _spread(lines: list[_Line]) -> list[_Line]:
    """Names apart from each other, from the top down, none below the plot."""
    ordered = sorted(lines, key=lambda line: line.wish)
    floor = float(TOP)
    for line in ordered:
        line.at = floor = max(line.wish, floor)
        floor += GAP
    ceiling = float(BOTTOM)
    for line in reversed(ordered):
        line.at = min(line.at, ceiling)
        ceiling = line.at - GAP
    return ordered
