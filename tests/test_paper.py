"""The document for paper, on a book of three small pages."""

from __future__ import annotations

import re
from pathlib import Path

import make_pdf
import paper
import pytest
from bs4 import BeautifulSoup

TOC = {
    "root": "index",
    "parts": [
        {"caption": "Foundations", "chapters": [{"file": "notebooks/01_bounds"}]},
        {"caption": "Appendix", "chapters": [{"file": "appendix/glossary"}]},
    ],
}
ARTICLE = (
    '<html><nav><a href="nowhere.html">menu</a></nav>'
    '<article class="bd-article"><section id="{}">{}</section></article>'
)
INDEX = ARTICLE.format(
    "book",
    '<h1>A Book<a class="headerlink" href="#book">#</a></h1><p>See <a href="notebooks/01_bounds.html">one</a>, '
    '<a href="notebooks/01_bounds.html#explorer=m-1">a state</a>, <a download href="_downloads/x.csv">x.csv</a>.</p>',
)
CHAPTER = ARTICLE.format(
    "bounds",
    """<h1>Two bounds</h1>
<section id="first"><h2>First</h2><p>A <a href="../appendix/glossary.html#flop">FLOP</a>.
<span class="math">\\(W/F\\)</span></p>
<div class="cell"><details class="hide"><summary>Show the code</summary><div class="cell_input">draw()</div></details>
<div class="cell_output"><div class="rc-figure"><picture class="rc-light"><source srcset="../_images/n.svg"/>
<img src="../_images/w.svg" loading="lazy" alt="a chart"/></picture><picture class="rc-dark">
<img src="../_images/d.svg"/></picture></div></div></div>
<div class="rc-explorer" id="e"><script type="application/json">{}</script>
<svg><clipPath id="c"></clipPath><g clip-path="url(#c)" id="p"></g><use xlink:href="#p"></use></svg>
<p>It says.</p></div>
<p>The same, to be opened.</p>
<div class="cell"><div class="cell_output"><div class="rc-next"><style>p:has(+.cell){}</style><ol><li><details>
<summary>Is it?</summary><p>It is.</p></details></li></ol></div></div></div>
</section>
<section id="exercises"><h2>Exercises</h2><p><b>1.1</b> How long?</p>
<div class="output"><p data-rc-exercise="1.1">Your turn.</p><details class="rc-hint"><summary>Another hint</summary>
<p>Count the bytes.</p></details></div>
<details><summary>Solution to 1.1</summary>
<p>Twelve, see <a href="../appendix/glossary.html#flop">FLOP</a>.</p></details>
</section>
<section id="five"><h2>Five questions</h2><div class="rc-quiz"><ol><li>Which?
<details><summary>This</summary><p>No.</p></details>
<details class="rc-right"><summary>That</summary><p>Right.</p></details></li></ol></div></section>""",
)
GLOSSARY = ARTICLE.format(
    "glossary",
    '<h1>Glossary</h1><section id="flop"><h2>FLOP</h2>'
    "<details><summary>More</summary><p>Folded.</p></details></section>",
)
SOURCES = {"index": INDEX, "notebooks/01_bounds": CHAPTER, "appendix/glossary": GLOSSARY}


def make(**changed: str) -> str:
    sources = {**SOURCES, **{key.replace("chapter", "notebooks/01_bounds"): text for key, text in changed.items()}}
    return paper.assemble(sources, paper.pages(TOC), title="A Book", facts=["by us"], site="../html/")


@pytest.fixture(scope="module")
def document() -> BeautifulSoup:
    return BeautifulSoup(make(), "html.parser")


def test_chapters_have_numbers_and_appendices_letters():
    assert [(page.file, page.label) for page in paper.pages(TOC)] == [
        ("index", ""), ("notebooks/01_bounds", "Chapter 1"), ("appendix/glossary", "Appendix A"),
    ]  # fmt: skip


def test_the_real_contents_are_all_there():
    labels = [page.label for page in paper.contents()]
    assert labels[:3] == ["", "Chapter 1", "Chapter 2"]
    assert "Chapter 9" in labels
    assert len(set(labels)) == len(labels)


def test_order_of_the_document_and_of_its_contents(document):
    assert [s["id"] for s in document.select("section.rc-chapter")] == [
        "index", "notebooks-01_bounds", "appendix-glossary", "solutions",
    ]  # fmt: skip
    lines = [paper.text_of(line) for line in document.select("nav .rc-entry, nav .rc-subentry")]
    assert lines == [
        "Introduction",
        "1 Two bounds",
        "First",
        "Exercises",
        "Appendix A Glossary",
        "Appendix B Solutions",
    ]
    targets = [a["href"] for a in document.select("nav a")]
    assert targets == [f"#{place['data-for']}" for place in document.select("nav .rc-page")]
    assert "menu" not in document.get_text()


def test_links_between_pages_stay_inside(document):
    here = [a["href"] for a in document.select("#index p a")]
    assert here == ["#notebooks-01_bounds", "#notebooks-01_bounds"]
    assert "x.csv" in document.select_one("#index").get_text()  # a file is only its name
    assert document.select_one("#notebooks-01_bounds--first p a")["href"] == "#appendix-glossary--flop"
    names = {node["id"] for node in document.select("[id]")}
    assert {a["href"][1:] for a in document.select('a[href^="#"]')} <= names


def test_names_inside_drawings_follow(document):
    drawing = document.select_one(".rc-explorer svg")
    assert drawing.find("clippath")["id"] == "notebooks-01_bounds--c"
    assert drawing.find("g")["clip-path"] == "url(#notebooks-01_bounds--c)"
    assert drawing.find("use")["xlink:href"] == "#notebooks-01_bounds--p"


def test_paper_shows_what_a_screen_folds_or_answers(document):
    assert not document.select("details, main script, button, form, .rc-dark, source")
    cell = document.select_one("div.cell")
    assert [child["class"] for child in cell.find_all(recursive=False)] == [["cell_output"], ["rc-code"]]
    assert "draw()" in cell.select_one(".rc-code").get_text()
    image = cell.find("img")
    assert (image["src"], image.get("loading")) == ("../html/_images/w.svg", None)
    assert "Folded." in document.select_one("#appendix-glossary .rc-open").get_text()
    first = document.select_one("#notebooks-01_bounds--first").get_text()
    assert "It says." in first  # the chart to be opened, its words and its style are gone: the figure has it all
    assert not re.search("opened|Is it|It is", first)
    assert not document.select(".rc-next, section style")
    assert "its controls can be moved" in document.select_one(".rc-explorer").get_text()


def test_solutions_stand_at_the_end(document):
    chapter = document.select_one("#notebooks-01_bounds")
    assert "Twelve" not in chapter.get_text()
    assert "Count the bytes" not in chapter.get_text()
    assert "Your turn." in chapter.get_text()
    links = [a["href"] for a in chapter.select(".rc-to-solution a")]
    assert links == ["#solution-1.1", "#notebooks-01_bounds-quiz"]
    solution = document.select_one('[id="solution-1.1"]')
    assert paper.text_of(solution) == "1.1 Hint. Count the bytes. Twelve, see FLOP ."
    assert solution.find("a")["href"] == "#appendix-glossary--flop"
    assert [paper.text_of(o) for o in chapter.select(".rc-options li")] == ["This", "That"]
    replies = document.select('[id="notebooks-01_bounds-quiz"] li p')
    assert [(paper.text_of(p), p.get("class")) for p in replies] == [("(a) No.", None), ("(b) Right.", ["rc-right"])]


def test_running_heads_name_the_chapter():
    assert '@page notebooks-01_bounds { @top-left { content: "Chapter 1  ·  Two bounds"; } }' in make()
    assert 'style="page:notebooks-01_bounds"' in make()


def test_link_to_nowhere_stops():
    with pytest.raises(ValueError, match=r"lead nowhere: #notebooks-01_bounds--none"):
        make(index=INDEX.replace("01_bounds.html#explorer=m-1", "01_bounds.html#none"))


def test_page_without_article_stops():
    with pytest.raises(ValueError, match="notebooks/01_bounds: no article"):
        make(chapter="<html></html>")


def test_the_first_page_names_the_forms_that_there_are(tmp_path):
    index = tmp_path / "index.html"
    index.write_text("<p>before</p>\n<!-- other forms of the book -->\n<p>after</p>\n")
    writer = make_pdf.pypdf.PdfWriter()
    for pages in (1, 2):
        writer.add_blank_page(100, 100)
        writer.write(tmp_path / make_pdf.NAME)
        make_pdf.link(tmp_path)
        assert index.read_text().count(f'<a href="roofline-course.pdf">Download as PDF</a> ({pages} pages, ') == 1
    assert ".epub" not in index.read_text()
    (tmp_path / make_pdf.EPUB).write_bytes(bytes(1_240_000))
    make_pdf.link(tmp_path)
    assert index.read_text().count("<a href=") == 2
    assert '<a href="roofline-course.epub">Download as ePub</a> (1.2 MB)' in index.read_text()
    assert index.read_text().startswith("<p>before</p>\n")
    assert index.read_text().endswith("\n<p>after</p>\n")
    index.write_text("<p>no place</p>")
    with pytest.raises(ValueError, match="0 places"):
        make_pdf.link(tmp_path)


def test_the_book_has_the_place_for_the_link_and_no_link():
    text = (Path(paper.ROOT) / "book" / "index.md").read_text()
    assert len(make_pdf.PLACE.findall(text)) == 1
    assert not re.search(r"\.pdf\b", text)  # only `make pdf` knows that there is one
