"""Write every figure of the book as an SVG file for slides, with a list of them in words.

python tools/make_figures.py      # after the notebooks have run; `make figures` does both

build/figures/chapter-NN-WHAT.svg for light slides, build/figures/dark/ for dark ones, and build/figures/index.md with
each figure's alternative text. WHAT is the name of the cell that draws it. An explorer is there as the picture that
stands in for it on paper.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

from figures import FIGURE, SCHEMES  # noqa: E402

from roofcourse.palette import swatches  # noqa: E402
from roofcourse.plot.svg import PLAIN_FONT, standalone  # noqa: E402

STAND_IN = re.compile(r'<svg class="rc-chart rc-stand-in"[^>]*?aria-label="(?P<alt>[^"]*)".*?</svg>', re.DOTALL)
INK = "#1c1f24"
MARGIN = 20
HEAD = """# The figures of the course

For slides: `chapter-NN-what.svg` on a light ground, `dark/chapter-NN-what.svg` on a dark one. Text in them is text, so
a slide can change it. The words below each picture say what it shows: use them as its alternative text.

Figures: CC BY 4.0, the Roofline Course authors. Where a source of the data is named, name it too.
"""


@dataclass(frozen=True)
class Figure:
    """One drawing. ``files``: its SVG by colour scheme, "light" and, for a figure that is no explorer, "dark"."""

    name: str
    alt: str
    files: dict[str, str]


def drawings(output: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Alternative text and files of each drawing in a cell's HTML, in its order."""
    for match in FIGURE.finditer(output):
        yield match["alt"], {scheme: standalone(match["wide"], colours) for scheme, colours in SCHEMES.items()}
    for match in STAND_IN.finditer(output):
        yield match["alt"], {"light": stand_in(match[0])}


def stand_in(svg: str) -> str:
    """The picture of an explorer as a file: with its name space, and with colours in place of the page's variables."""
    light = {f"var({s.variable})": s.light for s in swatches()}
    light |= {f"var({s.variable}-text)": s.light_text for s in swatches()}
    svg = re.sub(r"var\(--[\w-]+\)", lambda match: light[match[0]], svg)
    # The page gives the last number of an axis room beside the drawing; in a file the drawing needs it.
    svg = re.sub(r'viewBox="0 0 (\d+) (\d+)" width="\d+"', _wider, svg, count=1)
    svg = svg.replace('font-family="inherit"', f'font-family="{PLAIN_FONT}"', 1)
    return svg.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" color="{INK}" ', 1)


def _wider(match: re.Match) -> str:
    width = int(match[1]) + 2 * MARGIN
    return f'viewBox="{-MARGIN} 0 {width} {match[2]}" width="{width}"'


def figures_of(page: dict, chapter: str) -> list[Figure]:
    """The figures of an executed notebook, named by chapter and cell; a second one of a cell is counted."""
    found: list[Figure] = []
    taken: set[str] = set()
    for cell in page["cells"]:
        if cell["cell_type"] != "code":
            continue
        outputs = "".join("".join(o.get("data", {}).get("text/html", "")) for o in cell["outputs"])
        for alt, files in drawings(outputs):
            what = re.sub(r"-?\bfigure\b-?", "-", cell["id"]).strip("-") or "figure"
            base = name = f"chapter-{chapter}-{what}"
            count = 1
            while name in taken:
                count += 1
                name = f"{base}-{count}"
            taken.add(name)
            found.append(Figure(name, html.unescape(alt), files))
    return found


def title(page: dict) -> str:
    first = "".join(page["cells"][0]["source"])
    return first.splitlines()[0].removeprefix("# ")


def write(pages: list[Path], out: Path) -> int:
    """Write all figures of the pages and the index into ``out``, made anew; how many there are."""
    shutil.rmtree(out, ignore_errors=True)
    (out / "dark").mkdir(parents=True)
    index, count = [HEAD], 0
    for path in pages:
        page = json.loads(path.read_text(encoding="utf-8"))
        chapter = path.stem.split("_")[0]
        index.append(f"\n## Chapter {int(chapter)}: {title(page)}\n")
        for figure in figures_of(page, chapter):
            for scheme, svg in figure.files.items():
                ET.fromstring(svg)  # a file that no program can read is no figure
                folder = out if scheme == "light" else out / scheme
                (folder / f"{figure.name}.svg").write_text(svg, encoding="utf-8")
            index.append(f"### {figure.name}\n\n![described below]({figure.name}.svg)\n\n{figure.alt}\n")
            count += 1
    (out / "index.md").write_text("\n".join(index), encoding="utf-8")
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=Path, default=ROOT / "book" / "notebooks", help="folder of executed notebooks")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "figures", help="folder for the figures")
    arguments = parser.parse_args()
    pages = sorted(arguments.pages.glob("*.ipynb"))
    if not pages:
        sys.exit(f"no executed notebooks in {arguments.pages}: run 'make figures', which makes them")
    count = write(pages, arguments.out)
    print(f"{count} figures of {len(pages)} chapters in {arguments.out}, described in index.md")


if __name__ == "__main__":
    main()
