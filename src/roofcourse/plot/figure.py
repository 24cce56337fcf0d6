"""What every chart function returns: a drawing for the page, one for a phone, and words for those who see neither."""

from __future__ import annotations

import hashlib
import html
import io
from collections.abc import Callable
from pathlib import Path

from .. import palette
from ..records import write_bytes, write_text
from .style import LAYOUTS, WIDE, Layout, require_matplotlib, style
from .svg import FONT, tidy, variables_used

#: From this width of its place on (CSS pixels) a figure shows the wide drawing.
WIDE_FROM = 520

_RULES = (
    ".rc-figure{container-type:inline-size;width:100%;max-width:760px;margin:0.5rem 0 1rem}"
    f".rc-figure svg{{display:block;width:100%;height:auto;overflow:visible;font-family:{FONT}}}"
    ".rc-figure svg.rc-narrow{display:none;max-width:440px}"
    f"@container (max-width:{WIDE_FROM - 1}px){{.rc-figure svg.rc-wide{{display:none}}"
    ".rc-figure svg.rc-narrow{display:block}}"
    # The site's theme puts a light card behind every HTML output on dark pages; these drawings follow the page instead.
    'html[data-theme="dark"] .bd-content div.cell_output .text_html:has(.rc-figure)'
    "{background:transparent!important;padding:0!important}"
)


class Figure:
    """A finished chart. In a notebook and on the site it shows itself; `alt` says the same in words.

    draw: makes a matplotlib figure for one layout; alt: what the chart shows, with its numbers. Drawing happens here,
    so that an error shows where the chart was asked for. Raises ImportError in one line without matplotlib.
    """

    def __init__(self, draw: Callable[[Layout], object], alt: str) -> None:
        require_matplotlib()
        self._draw = draw
        # numbers without typographic spaces: a screen reader reads 3085 as one number, not as 3 and 85
        self.alt = alt.strip().replace("\u202f", "").replace("\u00a0", " ")
        self._raw = {layout.name: self._render(layout) for layout in LAYOUTS}

    @property
    def figure(self):
        """A new matplotlib figure of this chart, for those who want to change it."""
        with style(WIDE):
            return self._draw(WIDE)

    @property
    def svg(self) -> str:
        """The wide drawing as a file of its own: plain colours for light paper, with its description."""
        words = f"<title>{html.escape(self.alt)}</title>"
        body = tidy(self._raw["wide"], self._prefix("file"), themed=False)
        start = body.index(">") + 1
        return f'{body[: start - 1]} role="img">{words}{body[start:]}\n'

    def _repr_html_(self) -> str:
        drawings = {name: tidy(raw, self._prefix(name), themed=True) for name, raw in self._raw.items()}
        used = set().union(*(variables_used(svg) for svg in drawings.values()))
        rules = _RULES + palette.css(".rc-figure", used)
        inside = "".join(
            svg.replace("<svg ", f'<svg class="rc-{name}" aria-hidden="true" ', 1) for name, svg in drawings.items()
        )
        return (
            f'<div class="rc-figure" role="img" aria-label="{html.escape(self.alt)}">'
            f"<style>{rules}</style>{inside}</div>"
        )

    def __repr__(self) -> str:
        return self.alt

    def save(self, path: str | Path) -> Path:
        """Write the wide drawing: .svg, .pdf or .png (at twice its size). The same chart gives the same bytes.

        A chart that is there is replaced whole or stays. Raises ValueError for another ending, FileNotFoundError for a
        folder that is not there, OSError where nothing can be written.
        """
        path = Path(path)
        kind = path.suffix.lower().removeprefix(".")
        if kind not in ("svg", "pdf", "png"):
            raise ValueError(f"{path}: a figure is saved as .svg, .pdf or .png")
        if kind == "svg":
            return write_text(path, self.svg, overwrite=True)
        with style(WIDE):
            figure = self._draw(WIDE)
            undated = {"CreationDate": None} if kind == "pdf" else {"Software": None}
            drawn = io.BytesIO()
            figure.savefig(drawn, format=kind, dpi=144, facecolor="white", metadata=undated)
        return write_bytes(path, drawn.getvalue(), overwrite=True)

    def _prefix(self, name: str) -> str:
        """Ids must differ between the drawings of one page and be the same in every build."""
        return (
            "rc"
            + hashlib.sha256(
                f"{name} {self.alt} {self._raw[name if name in self._raw else 'wide']}".encode()
            ).hexdigest()[:8]
            + "-"
        )

    def _render(self, layout: Layout) -> str:
        out = io.StringIO()
        with style(layout):
            import matplotlib

            figure = self._draw(layout)
            with matplotlib.rc_context({"svg.hashsalt": "roofcourse"}):
                figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
        return out.getvalue()
