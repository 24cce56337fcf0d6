"""Printing: a small document through the real browser; page numbers, bookmarks, tags, formulas."""

from __future__ import annotations

from pathlib import Path

import make_pdf
import paper
import pytest
from test_paper import SOURCES, TOC

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
PIXEL = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="90"><rect width="400" height="90"/></svg>'


@pytest.fixture
def document(tmp_path):
    """A function that writes the document of test_paper, with changed text, beside a site of two files."""
    html = tmp_path / "html"
    (html / "_static" / "vendor").mkdir(parents=True)
    (html / "_static" / "vendor" / "mathjax").symlink_to(ROOT / "book" / "_vendor" / "mathjax")
    (html / "_images").mkdir()
    (html / "_images" / "w.svg").write_text(PIXEL)

    def write(old: str = "", new: str = "") -> Path:
        sources = {name: text.replace(old, new) if old else text for name, text in SOURCES.items()}
        path = tmp_path / "book.html"
        path.write_text(paper.assemble(sources, paper.pages(TOC), title="A Book", facts=["by us"], site="html/"))
        return path

    return write


def test_numbers_bookmarks_and_tags(chromium, document, tmp_path):
    target = tmp_path / "book.pdf"
    pdf = make_pdf.make(chromium, document(), target)
    # the title, the contents, then each page of the book begins a page of its own
    assert len(pdf.pages) == 6
    numbers = make_pdf.page_numbers(pdf)
    assert {k: numbers[k] for k in ("index", "notebooks-01_bounds", "appendix-glossary", "solutions")} == {
        "index": 3, "notebooks-01_bounds": 4, "appendix-glossary": 5, "solutions": 6,
    }  # fmt: skip
    contents = pdf.pages[1].extract_text()
    lines = " ".join(contents.split())
    assert "Two bounds 4" in lines
    assert "Solutions 6" in lines
    assert "page 6" in " ".join(pdf.pages[3].extract_text().split())
    assert "Chapter 1" in pdf.pages[3].extract_text().splitlines()[0]  # the running head
    assert [entry["/Title"] for entry in pdf.outline if isinstance(entry, dict)][-2:] == ["Glossary", "Solutions"]
    make_pdf.finish(target)
    first = target.read_bytes()
    make_pdf.make(chromium, tmp_path / "book.html", target)
    make_pdf.finish(target)
    assert target.read_bytes() == first
    finished = make_pdf.pypdf.PdfReader(target)
    assert finished.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert finished.metadata.author == "the Roofline Course authors"
    assert len(finished.outline) == len(pdf.outline)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("\\(W/F\\)", "\\(\\frac{W\\)", "formulas"),
        ("How long?", '<span style="display:inline-block;width:900px">long</span>', "wider than the paper"),
        ("../_images/w.svg", "../_images/none.svg", "an image is missing"),
    ],
)
def test_what_would_be_cut_or_missing_stops(chromium, document, tmp_path, old, new, said):
    with pytest.raises((ValueError, make_pdf.Error), match=said):
        make_pdf.make(chromium, document(old, new), tmp_path / "book.pdf")
