"""Take the drawings of `roofcourse.plot` out of the pages, into files of their own.

In a notebook a figure is two drawings inside its cell (wide, and narrow for a phone) that follow the page's colours. On
the site they are images: the page stays light, and a reader loads only the drawings that are on the screen, in the size
and the colours needed.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

from roofcourse.palette import swatches
from roofcourse.plot.svg import standalone

FIGURE = re.compile(
    r'<div class="rc-figure" role="img" aria-label="(?P<alt>[^"]*)"><style>[^<]*</style>'
    r'(?P<wide><svg class="rc-wide".*?</svg>)(?P<narrow><svg class="rc-narrow".*?</svg>)</div>',
    re.DOTALL,
)
#: Up to this width of the window (CSS pixels) a figure's place is too narrow for the wide drawing.
NARROW_UP_TO = 599

DARK = {s.variable: s.dark for s in swatches()} | {f"{s.variable}-text": s.dark_text for s in swatches()}
SCHEMES = {"light": {}, "dark": DARK}


def separate(body: str, folder: Path, address: Callable[[str], str]) -> str:
    """The page's body with an image for each figure. Writes the files; one drawing that stands twice is one file.

    address: from a file's name to how the page reaches it. Raises ValueError if a figure is not as `Figure` writes it:
    it would silently stay in the page.
    """

    def image(match: re.Match) -> str:
        pictures = []
        for scheme, colours in SCHEMES.items():
            files = {}
            for width in ("wide", "narrow"):
                svg = standalone(match[width], colours)
                name = f"{hashlib.sha256(svg.encode()).hexdigest()[:16]}.svg"
                (folder / name).write_text(svg, encoding="utf-8")
                files[width] = (address(name), *re.search(r'width="([\d.]+)" height="([\d.]+)"', svg).groups())
            # dark-light: the theme's word for an image that needs no repair on a dark page
            pictures.append(
                f'<picture class="rc-{scheme}"><source media="(max-width: {NARROW_UP_TO}px)" '
                'srcset="{}" width="{}" height="{}"/>'.format(*files["narrow"])
                + '<img src="{}" width="{}" height="{}" '.format(*files["wide"])
                + f'class="dark-light" loading="lazy" alt="{match["alt"]}"/></picture>'
            )
        return f'<div class="rc-figure">{"".join(pictures)}</div>'

    expected = body.count('<div class="rc-figure"')
    if expected:
        folder.mkdir(parents=True, exist_ok=True)
    out, found = FIGURE.subn(image, body)
    if found != expected:
        raise ValueError(
            f"{expected} figures on the page, {found} of them in the form that roofcourse.plot.figure writes"
        )
    return out
