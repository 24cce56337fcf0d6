"""No part of a page changes its look unnoticed: pictures of the parts, compared with those of baselines/.

Parts and not whole pages, or every edited sentence would ask for new pictures. All is set in a font that comes with
matplotlib, so that each machine draws the same; figures, which are set in the machine's own fonts, are not shown.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page
from site_pages import ROOT
from test_answering import CHAPTER_PAGES, answer, choose, form
from test_reading_order import PLACE

pytestmark = pytest.mark.browser
BASELINES = Path(__file__).with_name("baselines")
DIFFERENCES = ROOT / "book" / "_build" / "differences"
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
LARGEST = 0.01  # the share of a picture's pixels that may differ
TOLERANCE = 40  # of 255, in red, green or blue: the edge of a letter is drawn a little differently elsewhere
WIDTHS, SCHEMES = (390, 1280), ("light", "dark")

FACES = "".join(
    f'@font-face {{ font-family: "{name}"; font-weight: {weight}; src: url("/fonts/{file}.ttf"); }}\n'
    for name, weight, file in (
        ("Course", 400, "DejaVuSans"),
        ("Course", 700, "DejaVuSans-Bold"),
        ("Course Mono", 400, "DejaVuSansMono"),
        ("Course Mono", 700, "DejaVuSansMono-Bold"),
    )
)
STYLE = f"""{FACES}
*:not(i, [class*="fa-"]) {{ font-family: "Course" !important; }}
:is(code, pre, kbd, samp, .rc-code), :is(code, pre, kbd, samp, .rc-code) * {{ font-family: "Course Mono" !important; }}
.rc-figure img {{ visibility: hidden !important; }}
"""
SETTLE = """async () => {
  for (const font of ["16px Course", "bold 16px Course", "16px Course Mono", "bold 16px Course Mono"]) {
    if ((await document.fonts.load(font)).length !== 1) throw new Error(`no font: ${font}`);
  }
  await document.fonts.ready;
  document.activeElement?.blur();
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))));
}"""
#: The first screen without its text, which may change; its frame, its title and its buttons stay.
NO_TEXT = "article section > :not(h1) { opacity: 0 !important; }"
#: A part is drawn without what lies over the page.
NO_FRAME = (
    ".bd-header, .bd-header-article { visibility: hidden !important; } html { scroll-behavior: auto !important; }"
)


@dataclass(frozen=True)
class Part:
    """What is drawn of a page: the first match of ``selector``; when it is empty, what is first seen of the page."""

    name: str
    page: str
    selector: str = ""


def explorer_of(kind: str) -> Part:
    page, nth = PLACE[kind]
    return Part(f"explorer-{kind}", page, f"[data-rc-explorer] >> nth={nth}")


CHAPTER = CHAPTER_PAGES["1"]
PARTS = [
    Part("first-page", "index.html"),
    Part("chapter", CHAPTER),
    Part("appendix", "appendix/data.html"),
    *[explorer_of(kind) for kind in sorted(PLACE)],
    Part("answer-right", CHAPTER, '[data-rc-exercise="1.1"] ~ form.rc-answer'),
    Part("answer-wrong", CHAPTER, '[data-rc-exercise="1.5"] ~ form.rc-answer'),
    Part("quiz", CHAPTER, '[data-rc-quiz="bounds"]'),
    Part("cell", CHAPTER, "article div.cell:has(> .cell_input):has(> .cell_output > .stream)"),
    Part("show-the-code", CHAPTER, "article .admonition"),
    Part("table", "appendix/data.html", "article .pst-scrollable-table-container"),
]
PAGES = sorted({part.page for part in PARTS})
NAMES = {f"{part.name}-{width}-{scheme}" for part in PARTS for width in WIDTHS for scheme in SCHEMES}


# --- drawing ----------------------------------------------------------------------------------------------------------


def opened(visit, name: str) -> Page:
    page = visit(name, way="http", width=700)  # a width of its own: what measures its letters measures again
    page.route("**/fonts/*.ttf", lambda route: route.fulfill(path=FONTS / route.request.url.rpartition("/")[2]))
    page.add_style_tag(content=STYLE)
    page.evaluate(SETTLE)
    if name == CHAPTER:
        answer(form(page, "1.1"), "1044")
        answer(form(page, "1.5"), "3")
        choose(page.locator('[data-rc-quiz="bounds"]'), 3)
    page.mouse.move(0, 0)
    return page


#: Onto whole pixels: where a part lies depends on the text above it, and half a pixel would redraw every letter.
ALIGN = """node => {
  if (getComputedStyle(node).position === "static") node.style.position = "relative";
  node.style.top = node.style.left = "0px";
  const { x, y } = node.getBoundingClientRect();
  node.style.left = `${Math.ceil(x) - x}px`;
  node.style.top = `${Math.ceil(y + scrollY) - y - scrollY}px`;
}"""


def picture(target: Page | Locator) -> Image.Image:
    if isinstance(target, Locator):
        target.evaluate(ALIGN)
    return Image.open(io.BytesIO(target.screenshot(animations="disabled"))).convert("RGB")


def pictures(page: Page, parts: list[Part]) -> Iterator[tuple[str, Image.Image]]:
    """Every part, narrow and wide, light and dark."""
    for width in WIDTHS:
        # a phone shows a header and a title, a desk the columns at the sides too
        for screen, style, height in ((True, NO_TEXT, 120 if width < 600 else 700), (False, NO_FRAME, 2400)):
            mine = [part for part in parts if (part.selector == "") is screen]
            if not mine:
                continue
            page.set_viewport_size({"width": width, "height": height})
            added = page.add_style_tag(content=style)
            for scheme in SCHEMES:
                page.emulate_media(color_scheme=scheme)
                page.evaluate(
                    "scheme => { document.documentElement.dataset.theme = scheme; window.scrollTo(0, 0); }", scheme
                )
                page.evaluate(SETTLE)
                for part in mine:
                    yield (
                        f"{part.name}-{width}-{scheme}",
                        picture(page if screen else page.locator(part.selector).first),
                    )
            added.evaluate("node => node.remove()")


# --- comparing --------------------------------------------------------------------------------------------------------


def unequal(one: Image.Image, other: Image.Image) -> np.ndarray:
    """True where two pictures differ; where only one of them has pixels, they do."""
    width, height = (max(sizes) for sizes in zip(one.size, other.size, strict=True))
    layers = []
    for image, missing in ((one, -1000), (other, -2000)):
        layers.append(np.full((height, width, 3), missing))
        layers[-1][: image.height, : image.width] = np.asarray(image)
    return np.any(np.abs(layers[0] - layers[1]) > TOLERANCE, axis=-1)


def share(one: Image.Image, other: Image.Image) -> float:
    return float(unequal(one, other).mean())


def leave(name: str, expected: Image.Image, got: Image.Image) -> None:
    DIFFERENCES.mkdir(parents=True, exist_ok=True)
    marked = Image.fromarray(np.where(unequal(expected, got), 0, 255).astype(np.uint8))
    for kind, image in (("expected", expected), ("got", got), ("difference", marked)):
        image.save(DIFFERENCES / f"{name}-{kind}.png")


@pytest.mark.parametrize("name", PAGES)
def test_parts_look_as_they_did(visit, name, request):
    renew, changed = request.config.getoption("--renew-baselines"), []
    parts = [part for part in PARTS if part.page == name]
    for key, got in pictures(opened(visit, name), parts):
        path = BASELINES / f"{key}.png"
        if renew:
            BASELINES.mkdir(exist_ok=True)
            if not path.exists() or share(Image.open(path).convert("RGB"), got) > 0:
                # the method that keeps the colour of a small mark: others give it that of what is near
                few = got.quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
                few.save(path, optimize=True)
            continue
        expected = Image.open(path).convert("RGB")
        if (differing := share(expected, got)) > LARGEST:
            leave(key, expected, got)
            changed.append(f"{key}: {100 * differing:.1f} % of the pixels")
    assert not changed, (
        f"{'; '.join(changed)}. Look at what was expected, what came and where they differ: {DIFFERENCES}. "
        "If it is meant: pytest tests/site/test_looks.py --renew-baselines"
    )


def test_baselines_are_those_of_the_parts_and_light():
    found = list(BASELINES.glob("*"))
    assert {path.stem for path in found} == NAMES
    sizes = [path.stat().st_size for path in found]
    assert min(sizes) > 500  # a renewal cut short once left an empty one
    assert sum(sizes) < 2e6


# --- it sees what it should -------------------------------------------------------------------------------------------


def test_a_changed_style_is_seen_and_a_second_visit_is_the_same(visit):
    part = [part for part in PARTS if part.name == "answer-right"]
    page = opened(visit, CHAPTER)
    before = dict(pictures(page, part))
    again = dict(pictures(opened(visit, CHAPTER), part))
    assert {key: share(image, again[key]) for key, image in before.items()} == dict.fromkeys(before, 0)
    added = page.add_style_tag(
        content="article h1 { margin-bottom: 20.3px !important; }"
    )  # as if the text above changed
    moved = dict(pictures(page, part))
    assert {key: share(image, moved[key]) for key, image in before.items()} == dict.fromkeys(before, 0)
    added.evaluate("node => node.remove()")
    for change in (
        "form.rc-answer button { background: #b3261e !important; }",
        "form.rc-answer { padding-left: 4px !important; }",
        "form.rc-answer label { font-size: 115% !important; }",
    ):
        added = page.add_style_tag(content=change)
        for key, image in pictures(page, part):
            assert share(before[key], image) > LARGEST, f"{change} {key}"
        added.evaluate("node => node.remove()")


def test_what_differs_is_counted():
    grey = Image.new("RGB", (20, 10), (100, 100, 100))
    other = grey.copy()
    other.paste((100, 100, 141), (0, 0, 2, 1))  # two pixels of two hundred, and more than the tolerance
    other.paste((100, 140, 100), (5, 0, 9, 9))  # no more than the tolerance
    assert share(grey, other) == 0.01
    assert share(grey, grey.crop((0, 0, 20, 9))) == 0.1  # a missing row
