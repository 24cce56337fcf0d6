"""The one style of the book's figures: sizes, fonts, axes, ticks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from .. import palette
from ..words import significant


@dataclass(frozen=True)
class Layout:
    """The room a figure is drawn for. Every figure is drawn twice, for the page and for a phone: words keep a size
    that can be read instead of shrinking with the drawing. All lengths are CSS pixels."""

    name: str
    width: int
    height: int
    text: float
    small: float
    marker: float

    @property
    def narrow(self) -> bool:
        return self.name == "narrow"

    def tall(self, height: float) -> Layout:
        """The same layout with another height."""
        return Layout(self.name, self.width, round(height), self.text, self.small, self.marker)


WIDE = Layout("wide", 700, 430, 13.0, 12.0, 7.0)
NARROW = Layout("narrow", 350, 370, 12.0, 11.0, 6.0)
LAYOUTS = (WIDE, NARROW)

# matplotlib's markers for the palette's shapes.
MARKERS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "pentagon": "p",
    "hexagon": "h",
    "star": "*",
    "triangle-right": ">",
    "triangle-left": "<",
    "plus": "P",
    "cross": "X",
    "thin-diamond": "d",
}
# Shapes differ in area at one nominal size: these factors make them look alike.
_MARKER_SCALE = {"star": 1.5, "diamond": 0.88, "square": 0.9, "thin-diamond": 1.15, "plus": 1.15, "cross": 1.15}


def require_matplotlib() -> None:
    """Raise one line if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ImportError("figures need matplotlib: pip install 'roofcourse[book]'") from None


@cache
def _settings() -> dict:
    ink, muted, grid = (palette.role(name).light for name in ("ink", "muted", "grid"))
    return {
        # one unit of the drawing is one CSS pixel: 72 dots an inch, and sizes in points are sizes in pixels
        "figure.dpi": 72,
        "savefig.dpi": 72,
        # Words stay words in the SVG, set in the page's font. Sizes are measured in DejaVu Sans, which is wider than
        # the usual interface fonts, so words never need more room in a browser than they were given here.
        "svg.fonttype": "none",
        "font.family": ["DejaVu Sans"],
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "text.color": ink,
        "axes.labelcolor": ink,
        "axes.edgecolor": muted,
        "axes.linewidth": 1.0,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": grid,
        "grid.linewidth": 1.0,
        "xtick.color": muted,
        "ytick.color": muted,
        "xtick.labelcolor": muted,
        "ytick.labelcolor": muted,
        "xtick.major.size": 4,
        "ytick.major.size": 0,
        "xtick.minor.size": 0,
        "ytick.minor.size": 0,
        "lines.linewidth": 2.2,
        "lines.solid_capstyle": "round",
        "lines.dash_capstyle": "butt",
        "lines.solid_joinstyle": "round",
        "path.simplify": True,
        "legend.frameon": False,
    }


@contextlib.contextmanager
def style(layout: Layout = WIDE) -> Iterator[None]:
    """The book's style for matplotlib figures drawn inside the `with` block (the figures here apply it themselves).

    Raises ImportError in one line without matplotlib.
    """
    require_matplotlib()
    import matplotlib

    sizes = {
        "font.size": layout.text,
        "axes.labelsize": layout.text,
        "xtick.labelsize": layout.small,
        "ytick.labelsize": layout.small,
        "legend.fontsize": layout.small,
        "lines.markersize": layout.marker,
    }
    with matplotlib.rc_context(_settings() | sizes):
        yield


def number(value: float) -> str:
    """A tick or a label: three significant digits at most, no trailing zeros: 0.1, 1, 47.5, 1 000."""
    text = significant(float(value), 3)
    return text.rstrip("0").rstrip(".") if "." in text else text


def mark(swatch: palette.Swatch, layout: Layout, *, stable: bool = True, size: float = 1.0) -> dict:
    """Line2D settings of one measured point: filled, or hollow where the measurement was not stable."""
    shape = swatch.marker
    return {
        "linestyle": "none",
        "marker": MARKERS[shape],
        "markersize": layout.marker * _MARKER_SCALE.get(shape, 1.0) * size,
        "markerfacecolor": swatch.light if stable else palette.role("surface").light,
        "markeredgecolor": swatch.light,
        "markeredgewidth": 1.0 if stable else 1.6,
    }


def key_mark(swatches, layout: Layout, *, stable: bool = True) -> dict:
    """The mark of the key for points of these swatches: their shape, if they have but one, in the colour of words."""
    muted = palette.role("muted")
    shapes = {swatch.marker for swatch in swatches}
    shape = shapes.pop() if len(shapes) == 1 else muted.marker
    return mark(palette.Swatch(muted.name, muted.light, muted.dark, shape), layout, stable=stable)


def new(layout: Layout, *, left: float, right: float, top: float, bottom: float):
    """A figure with one axes; margins in pixels. Returns (figure, axes)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(layout.width / 72, layout.height / 72), dpi=72)
    FigureCanvasAgg(figure)
    axes = figure.add_axes(
        (
            left / layout.width,
            bottom / layout.height,
            (layout.width - left - right) / layout.width,
            (layout.height - top - bottom) / layout.height,
        )
    )
    return figure, axes


@lru_cache(maxsize=4096)
def text_size(text: str, size: float, weight: str = "normal") -> tuple[float, float]:
    """Width and height in pixels that the words take in the font of the measurements (see `_settings`)."""
    from matplotlib.text import Text

    probe = Text(0, 0, text, fontsize=size, fontweight=weight, fontfamily="DejaVu Sans")
    probe.set_figure(_probe())
    box = probe.get_window_extent(_probe().canvas.get_renderer())
    return box.width, box.height


@cache
def _probe():
    """An empty figure to measure words in."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1, 1), dpi=72)
    FigureCanvasAgg(figure)
    return figure


def log_axis(axis, low: float, high: float, *, base: int = 10, room: float = 1e9, least: float = 30.0) -> None:
    """A log axis from low to high with plain numbers at the decades (or at powers of two).

    room: pixels along the axis, least: pixels that a label needs; decades are skipped where it would be crowded.
    """
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

    getattr(axis.axes, f"set_{axis.axis_name}scale")("log", base=base)
    getattr(axis.axes, f"set_{axis.axis_name}lim")(low, high)
    exponents = range(
        int(np.ceil(np.log(low) / np.log(base) - 1e-9)), int(np.floor(np.log(high) / np.log(base) + 1e-9)) + 1
    )
    step = 1
    while len(exponents) / step * least > room:
        step += 1
    ticks = [float(base) ** e for e in exponents if e % step == 0]
    if base == 10 and step == 1 and len(exponents) < 3 and room / max(np.log10(high / low), 1e-9) > 3 * least:
        pixels = room / np.log10(high / low)
        ticks = _between(low, high, (1, 2, 5))
        for finer in ((1, 2, 3, 5, 7), range(1, 10)):
            found = _between(low, high, finer)
            if len(ticks) < 3 and all(pixels * np.log10(b / a) >= least for a, b in pairwise(found)):
                ticks = found
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: number(value)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())


def _between(low: float, high: float, multiples: Iterable[int]) -> list[float]:
    """These multiples of the powers of ten, as far as they lie on the axis."""
    first = int(np.floor(np.log10(low)))
    ticks = [c * 10.0**e for e in range(first, first + 6) for c in multiples]
    return [x for x in ticks if low <= x <= high]


def decades(values: Sequence[float], pad: float = 0.12) -> tuple[float, float]:
    """Limits around the values: a little room on both sides, in units of a decade."""
    return min(values) * 10**-pad, max(values) * 10**pad
