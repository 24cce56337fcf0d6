"""What each page of the site weighs: its HTML, and its own images, scripts and styles; the theme and MathJax apart.

python tools/weights.py        # after `make book`
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[1]

#: The most that a page may weigh, in bytes: HTML; own images, scripts and styles; the explorers' script gzipped.
HTML, OWN, SCRIPT = 150_000, 300_000, 30_000
#: The course's own files among those under _static.
OWN_FILES = re.compile(r"(?:roofcourse\.(?:js|css)|site\.(?:js|css))$")


@dataclass(frozen=True)
class Weight:
    """Bytes of one page. ``own``: what a reader with a wide window and light colours loads, every figure seen."""

    page: str
    html: int
    own: int
    script: int

    @property
    def within(self) -> bool:
        return self.html <= HTML and self.own <= OWN and self.script <= SCRIPT


def weight(site: Path, page: str) -> Weight:
    text = (site / page).read_text(encoding="utf-8")
    light = re.sub(r'<picture class="rc-dark">.*?</picture>', "", text, flags=re.DOTALL)
    addresses = re.findall(r'<(?:img|script|link)\b[^>]*?\b(?:src|href)="([^"]+)"', light)
    own: set[Path] = set()
    for address in addresses:
        path = (site / page).parent / urlsplit(address).path
        if "/_images/" in f"/{address}" or OWN_FILES.search(path.name):
            own.add(path.resolve())
    scripts = [p for p in own if p.name.endswith("roofcourse.js")]
    return Weight(
        page,
        html=len(text.encode()),
        own=sum(p.stat().st_size for p in own),
        script=sum(len(gzip.compress(p.read_bytes(), mtime=0)) for p in scripts),
    )


def weights(site: Path) -> list[Weight]:
    """Every page that a reader opens, heaviest first."""
    pages = [str(p.relative_to(site)) for p in site.rglob("*.html") if "_static" not in p.parts]
    return sorted((weight(site, page) for page in pages), key=lambda w: -w.html)


def table(rows: list[Weight]) -> str:
    lines = [f"{'page (kB)':42} {'HTML':>6} {'own':>6} {'script, gzipped':>16}"]
    lines += [
        f"{w.page:42} {w.html / 1e3:6.0f} {w.own / 1e3:6.0f} {w.script / 1e3:16.1f}{'' if w.within else '  TOO HEAVY'}"
        for w in rows
    ]
    return "\n".join([*lines, f"{'at most':42} {HTML / 1e3:6.0f} {OWN / 1e3:6.0f} {SCRIPT / 1e3:16.1f}"])


if __name__ == "__main__":
    print(table(weights(ROOT / "book" / "_build" / "html")))
