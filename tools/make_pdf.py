"""Print the built site as one PDF with contents, page numbers and bookmarks, and link it from the first page.

python tools/make_pdf.py      # after `make book`; `make pdf` does both

Chromium lays out the pages, so only it knows on which page a heading comes to lie: the document is printed, the numbers
are read from the PDF, written into the contents, and it is printed again.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
import time
import tomllib
from pathlib import Path

import browser
import paper
import pypdf
from playwright.sync_api import Browser, Error, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
NAME, EPUB = "roofline-course.pdf", "roofline-course.epub"
TITLE, AUTHOR = "The Roofline Course", "the Roofline Course authors"
#: A comment on the first page of the book; what follows it, up to the end of the line, belongs to this module.
PLACE = re.compile(r"<!-- other forms of the book -->.*")
PAPER_WIDTH = 643  # CSS pixels of the text: 210 mm less two margins of 20 mm

#: What only a browser can decide: how wide things came out, and which tables are short enough to stay in one piece.
FIT = """async () => {
  await document.fonts.ready;
  await Promise.all([...document.images].map((image) => image.decode().catch(() => {
    throw new Error(`an image is missing: ${image.src}`);
  })));
  for (const table of document.querySelectorAll("table")) {
    const room = table.parentElement.clientWidth;
    let size = parseFloat(getComputedStyle(table).fontSize);
    while (table.scrollWidth > room + 1 && size > 7) table.style.fontSize = `${(size -= 0.5)}px`;
    if (table.scrollWidth > room + 1) for (const cell of table.querySelectorAll("th, td")) {
      cell.style.overflowWrap = "anywhere";
      cell.style.whiteSpace = "normal";
    }
    if (table.offsetHeight < 360) table.classList.add("rc-short");
  }
  // Chromium breaks a paragraph of three lines after two, whatever "widows" says: short ones stay in one piece, and a
  // heading is followed by more than one line.
  for (const text of document.querySelectorAll("main :is(p, li, dd)")) {
    const lines = text.offsetHeight / parseFloat(getComputedStyle(text).lineHeight);
    if (lines < 3.8) text.style.breakInside = "avoid";
    if (lines < 1.8 && text.previousElementSibling?.matches("h2, h3")) text.style.breakAfter = "avoid";
  }
  for (const item of MathJax.startup.document.math) {  // drawn as outlines: say in words what they are
    item.typesetRoot.setAttribute("role", "img");
    item.typesetRoot.setAttribute("aria-label", item.math);
    item.typesetRoot.querySelector("mjx-assistive-mml")?.remove();
  }
  for (const formula of document.querySelectorAll('mjx-container[display="true"] > svg')) {
    formula.style.maxWidth = "100%";
    formula.style.height = "auto";
  }
  for (const box of document.querySelectorAll('div.cell_input, .output.stream, [class*="highlight-"]')) {
    if (box.offsetHeight > 700) box.style.breakInside = "auto";  // longer than most of a page: let it flow
  }
}"""

WIDE = """() => [...document.querySelectorAll("main *")]
  .filter((node) => !node.closest("svg") && node.getBoundingClientRect().right > WIDTH + 2)
  .map((node) => `${node.closest("section[data-label]")?.id}: <${node.tagName} class="${node.className}">`)"""

FILL = """(numbers) => {
  for (const place of document.querySelectorAll(".rc-page")) place.textContent = numbers[place.dataset.for];
}"""


def facts() -> list[str]:
    """What stands below the title."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [
        "What bounds the speed of a kernel: moving data, or doing arithmetic? An executable textbook on the roofline "
        "model, on measured data of twelve GPUs.",
        f"Version {project['version']}. Every chapter is a notebook that runs; this is how the notebooks came out.",
        "© 2026 the Roofline Course authors. Text and figures: CC BY 4.0. Code: MIT. Measured data: each source keeps "
        "its own licence.",
    ]


def print_pdf(page: Page, target: Path) -> pypdf.PdfReader:
    page.pdf(path=str(target), prefer_css_page_size=True, print_background=True, outline=True, tagged=True)
    return pypdf.PdfReader(target)


def page_numbers(pdf: pypdf.PdfReader) -> dict[str, int]:
    """The page on which each name lies that something links to; pages count from 1."""
    return {
        name.removeprefix("/"): pdf.get_destination_page_number(there) + 1
        for name, there in pdf.named_destinations.items()
    }


def make(chromium: Browser, document: Path, target: Path) -> pypdf.PdfReader:
    """Print ``document`` (HTML of paper.assemble) to ``target``.

    Raises ValueError when a page cannot be right: something wider than the paper, a formula that was not set, page
    numbers that do not settle.
    """
    page = chromium.new_page(viewport={"width": PAPER_WIDTH, "height": 970}, color_scheme="light")
    try:
        page.set_default_timeout(300_000)
        page.emulate_media(media="print", color_scheme="light")
        page.goto(document.as_uri())
        page.wait_for_function("window.MathJax?.startup?.promise?.then(() => true)")
        if unset := page.evaluate("document.querySelectorAll('.math:not(:has(mjx-container)), mjx-merror').length"):
            raise ValueError(f"formulas that were not set, or not without an error: {unset}")
        page.evaluate(FIT)
        if wide := page.evaluate(WIDE.replace("WIDTH", str(PAPER_WIDTH))):
            raise ValueError(f"wider than the paper: {'; '.join(wide[:3])}")
        numbers: dict[str, int] = {}
        for _ in range(4):
            pdf = print_pdf(page, target)
            before, numbers = numbers, page_numbers(pdf)
            if numbers == before:
                return pdf
            page.evaluate(FILL, numbers)
        raise ValueError("the page numbers do not settle")
    finally:
        page.close()


def finish(target: Path) -> None:
    """Who wrote it, and one fixed date: two PDFs from the same inputs shall be the same to the byte."""
    writer = pypdf.PdfWriter(clone_from=target)
    moment = time.strftime("D:%Y%m%d%H%M%SZ", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", "1767225600"))))
    writer.add_metadata(
        {
            "/Author": AUTHOR,
            "/Subject": "The roofline model, on measured data",
            "/Creator": "The Roofline Course, make pdf",
            "/CreationDate": moment,
            "/ModDate": moment,
        }
    )
    writer.pdf_header = "%PDF-1.4"  # as Chromium has it
    writer.write(target)
    # Chromium names the headings of tables by a count that goes on from document to document: count anew, in its order.
    written = target.read_bytes()
    names = sorted(set(re.findall(rb"\(node\d{8}\)", written)))
    count = {name: b"(node%08d)" % i for i, name in enumerate(names)}
    target.write_bytes(re.sub(rb"\(node\d{8}\)", lambda match: count[match[0]], written))


def link(site: Path) -> None:
    """Name on the built first page the forms of the book that lie beside it, in place of what is said there already."""
    index, forms = site / "index.html", []
    if (pdf := site / NAME).exists():
        pages = len(pypdf.PdfReader(pdf).pages)
        forms.append(f'<a href="{pdf.name}">Download as PDF</a> ({pages} pages, {pdf.stat().st_size / 1e6:.1f} MB)')
    if (epub := site / EPUB).exists():
        forms.append(f'<a href="{epub.name}">Download as ePub</a> ({epub.stat().st_size / 1e6:.1f} MB)')
    line = f'<p class="rc-forms">On paper, or on a train: {", ".join(forms)}, with figures and solutions.</p>'
    text = index.read_text(encoding="utf-8")
    text, found = PLACE.subn(f"<!-- other forms of the book -->{line}", text)
    if found != 1:
        raise ValueError(f"{index}: {found} places for the link to the other forms, one is expected")
    index.write_text(text, encoding="utf-8")


def way(site: Path, folder: Path) -> str:
    """How a document in ``folder`` reaches the site."""
    return os.path.relpath(site, folder) + "/"


def document(site: Path, folder: Path) -> Path:
    """The whole book as HTML for paper, written into ``folder``. Raises ValueError without a site, or a browser."""
    if not (site / "index.html").exists():
        raise ValueError(f"no site in {site}: run 'make book' first")
    if browser.executable() is None:
        raise ValueError("chromium is missing: sudo apt-get install chromium")
    pages = paper.contents()
    sources = {page.file: (site / f"{page.file}.html").read_text(encoding="utf-8") for page in pages}
    folder.mkdir(exist_ok=True)
    path = folder / "book.html"
    path.write_text(
        paper.assemble(sources, pages, title=TITLE, facts=facts(), site=way(site, folder)), encoding="utf-8"
    )
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--site", type=Path, default=ROOT / "book" / "_build" / "html", help="folder of the built site")
    site, started = parser.parse_args().site.resolve(), time.monotonic()
    folder = site.parent / "pdf"
    try:
        source = document(site, folder)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(executable_path=browser.executable(), args=browser.FLAGS)
            pdf = make(chromium, source, folder / NAME)
            chromium.close()
        finish(folder / NAME)
        shutil.copyfile(folder / NAME, site / NAME)
        link(site)
    except (ValueError, Error) as error:
        sys.exit(f"stopped: {error}")
    print(f"{site / NAME}: {len(pdf.pages)} pages ({time.monotonic() - started:.0f} s), linked from the first page")


if __name__ == "__main__":
    main()
