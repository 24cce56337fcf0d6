"""A small document through the real browser, to paper and to an e-book: page numbers, bookmarks, tags, formulas."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import make_epub
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
    (html / "_static" / "pygments.css").write_text("")

    def write(old: str = "", new: str = "") -> Path:
        sources = {name: text.replace(old, new) if old else text for name, text in SOURCES.items()}
        path = tmp_path / "book.html"
        path.write_text(paper.assemble(sources, paper.pages(TOC), title="A Book", facts=["by us"], site="html/"))
        return path

    return write


def test_numbers_bookmarks_and_tags(chromium, document, tmp_path):
    target = tmp_path / "book.pdf"
    table = "<table><thead><tr><th>card</th><th>B</th></tr></thead><tr><th>H100</th><td>3</td></tr></table>"
    pdf = make_pdf.make(chromium, document("<p>Folded.</p>", table), target)
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
    assert b"(node00000000)" in first  # the table's headings have names
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


def test_epub_is_whole_and_well_formed(chromium, document, tmp_path):
    words = "<th>symbol</th><th>name</th><th>unit</th><th>belongs</th><th>to</th><th>multiplications</th>"
    style = f"<style>.rc-x{{margin:0}}</style><table><tr>{words}</tr></table><table><tr><td>A</td></tr></table>"
    parts, styles = make_epub.chapters(chromium, document("<p>Folded.</p>", style))
    assert styles == ".rc-x{margin:0}"
    glossary = {key: text for key, _, text in parts}["appendix-glossary"]
    assert "<style" not in glossary  # XHTML has none in its body
    # 6 + 4 + 4 + 7 + 2 + 15 letters and six gaps are too much for a phone
    assert re.findall(r'<div class="rc-scroll"><table(.*?)>', glossary) == [' class="rc-small"', ""]
    books = [tmp_path / "a.epub", tmp_path / "b.epub"]
    for target in books:
        again, _ = make_epub.chapters(chromium, tmp_path / "book.html")
        make_epub.pack(again, styles, tmp_path / "html", "html/", target, title="A Book", author="us")
    assert books[0].read_bytes() == books[1].read_bytes()
    assert make_epub.check(books[0]) == []  # where epubcheck is installed
    archive = zipfile.ZipFile(books[0])
    first = archive.infolist()[0]
    assert (first.filename, first.compress_type, archive.read(first)) == ("mimetype", 0, b"application/epub+zip")
    package = ET.fromstring(archive.read("book/content.opf"))
    listed = {item.get("href"): item for item in package.iter("{http://www.idpf.org/2007/opf}item")}
    assert {f"book/{href}" for href in listed} | {"mimetype", "META-INF/container.xml", "book/content.opf"} == set(
        archive.namelist()
    )
    assert listed["notebooks-01_bounds.xhtml"].get("properties") == "mathml svg"
    pages = {n.removeprefix("book/"): archive.read(n).decode() for n in archive.namelist() if n.endswith(".xhtml")}
    names = {(page, node.get("id")) for page, text in pages.items() for node in ET.fromstring(text).iter()}
    for page, text in pages.items():
        for there, fragment in re.findall(r'<a [^>]*href="([\w.-]+)(?:#([^"]+))?"', text):
            assert there in pages, page
            assert not fragment or (there, fragment) in names, page
    chapter = ET.fromstring(pages["notebooks-01_bounds.xhtml"])
    (formula,) = chapter.iter("{http://www.w3.org/1998/Math/MathML}math")
    assert "".join(formula.itertext()).split() == ["W", "/", "F"] or "".join(formula.itertext()) == "W/F"
    assert 'href="solutions.xhtml#solution-1.1">Hint and solution to 1.1</a>' in pages["notebooks-01_bounds.xhtml"]
    assert re.findall(r'<li><a href="([^"]+)">([^<]+)', pages["nav.xhtml"]) == [
        ("index.xhtml", "Introduction"),
        ("notebooks-01_bounds.xhtml", "Chapter 1: Two bounds"),
        ("appendix-glossary.xhtml", "Appendix A: Glossary"),
        ("solutions.xhtml", "Appendix B: Solutions"),
    ]
