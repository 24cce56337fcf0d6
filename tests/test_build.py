"""Building the site: a warning stops it, again and again; nothing changed, nothing done."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import build_book
import course
import data_page
import pytest
import run_notebooks

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = "01_bounds.ipynb"
LINK = re.compile(r"\]\((?:\.\./|\d\d_)[^)]*\)")  # to another page of the book


@pytest.fixture
def book(tmp_path) -> Path:
    """The book's own machinery around a first page that a test writes."""
    folder = tmp_path / "book"
    skip = shutil.ignore_patterns("_build", "notebooks", "appendix", "*.md")
    shutil.copytree(ROOT / "book", folder, ignore=skip)
    (folder / "_toc.yml").write_text("format: jb-book\nroot: index\n")
    (folder / "index.md").write_text("# A page\n\nWords.\n")
    return folder


def test_unchanged_site_is_left_alone(book):
    assert build_book.build_site(book)
    index = book / "_build" / "html" / "index.html"
    before = index.stat().st_mtime_ns
    assert not build_book.build_site(book)
    assert index.stat().st_mtime_ns == before
    (book / "index.md").write_text("# A page\n\nOther words.\n")
    assert build_book.build_site(book)
    assert "Other words." in index.read_text()


@pytest.fixture
def chapter(book, tmp_path) -> Path:
    """Chapter 1, executed for this test, and a page of the small book; its links to other pages lead to the first."""
    run_notebooks.run(ROOT / "notebooks" / CHAPTER, tmp_path, run_notebooks.BUNDLED)
    (book / "notebooks").mkdir()
    (book / "_toc.yml").write_text(f"format: jb-book\nroot: index\nchapters:\n- file: notebooks/{CHAPTER[:-6]}\n")
    page = LINK.sub("](../index.md)", (tmp_path / CHAPTER).read_text(encoding="utf-8"))
    (book / "notebooks" / CHAPTER).write_text(page, encoding="utf-8")
    return tmp_path / CHAPTER


def test_two_builds_give_the_same_pages(book, chapter):
    """With a whole chapter among them: its figures, explorer, exercises and quiz. It was executed for the site too, at
    another time and in another process."""
    assert chapter.read_bytes() == (ROOT / "book" / "notebooks" / CHAPTER).read_bytes(), "not the same: run make book?"
    build_book.build_site(book)
    html = book / "_build" / "html"
    first = {p.relative_to(html): p.read_bytes() for p in html.rglob("*") if p.is_file()}
    shutil.rmtree(book / "_build")
    build_book.build_site(book)
    second = {p.relative_to(html): p.read_bytes() for p in html.rglob("*") if p.is_file()}
    assert Path("notebooks/01_bounds.html") in first
    assert [str(name) for name in first if first[name] != second.get(name)] == []
    assert second.keys() == first.keys()


def test_warning_stops_every_build_until_it_is_mended(book):
    """An incremental build would warn once and pass the second time."""
    (book / "index.md").write_text("# A page\n\n[broken](nowhere.md)\n")
    for _ in range(2):
        with pytest.raises(SystemExit, match=r"index.md:3: WARNING: .*nowhere.md"):
            build_book.build_site(book)
        assert not (book / "_build" / "site.sha256").exists()
    (book / "index.md").write_text("# A page\n\nmended\n")
    assert build_book.build_site(book)


def test_warning_in_a_notebook_names_the_cell():
    line = "/book/notebooks/01_bounds.ipynb:520002: WARNING: target not found"
    assert build_book.name_cell(line) == "/book/notebooks/01_bounds.ipynb, cell 52: WARNING: target not found"


def test_explorer_directive_names_what_is_wrong(book):
    (book / "index.md").write_text("# A page\n\n:::{explorer} m_swipe\n:m: 16\n:::\n")
    with pytest.raises(SystemExit, match="index.md:3: .*m_swipe"):
        build_book.build_site(book)
    (book / "index.md").write_text("# A page\n\n:::{explorer} m_sweep\n:device: h1000\n:::\n")
    with pytest.raises(SystemExit, match="index.md:3: .*explorer m_sweep: .*h1000"):
        build_book.build_site(book)


def test_explorer_directive_gives_what_a_cell_gives(book):
    from roofcourse.explore import static_html

    (book / "index.md").write_text("# A page\n\n:::{explorer} m_sweep\n:device: h200\n:precision: bf16\n:m: 64\n:::\n")
    build_book.build_site(book)
    html = (book / "_build" / "html" / "index.html").read_text()
    assert static_html("m_sweep", {"device": "h200", "precision": "bf16", "m": 64}) in html
    assert "roofcourse.js" in html
    assert (book / "_build" / "html" / "_static" / "roofcourse.css").exists()


def test_no_line_ends_inside_a_number_with_its_unit(book):
    (book / "index.md").write_text(
        "# A page\n\nIt takes 47 µs<!--= us(1) --> for 8192 × 8192 numbers, 96 % at 3,085 GB/s: 20 FLOP/byte, 16 rows "
        "at M = 272 in chapter 7. `8 MB`\n"
    )
    build_book.build_site(book)
    text = (book / "_build" / "html" / "index.html").read_text()
    together = (
        "It takes 47~µs for 8192~×~8192 numbers, 96~% at 3,085~GB/s: 20~FLOP/byte, 16 rows at M~=~272 in chapter~7."
    )
    assert together.replace("~", "\u00a0") in text
    assert re.search(r"<code[^>]*><span class=\"pre\">8</span> <span class=\"pre\">MB</span></code>", text)


def test_directive_values():
    assert [course.parse_value(text) for text in ("16", "1.5e9", "bf16", "")] == [16, 1.5e9, "bf16", ""]


# --- the data page ----------------------------------------------------------------------------------------------------


def test_data_page_names_every_table_source_and_column():
    import roofcourse as rc
    from roofcourse import tables

    page = data_page.page()
    for facts in tables.sources().values():
        assert facts["title"] in page
        assert facts["licence"] in page
    for resource in tables.package()["resources"]:
        assert f"{{download}}`{resource['path']} " in page
        assert all(f"| `{field['name']}` |" in page for field in resource["schema"]["fields"])
    for device in rc.devices():
        assert device.name.replace(" ", data_page.NO_BREAK) in page


def test_data_page_figures_by_hand():
    page = data_page.page()
    # H100: 3084.8 GB/s; FP64 64.2, FP32 51.9, TF32 418, FP16 788, BF16 802, FP8 1318 TFLOP/s; no NVFP4
    assert "| H100 | 3,085 | 64.2 | 51.9 | 418 | 788 | 802 | 1,318 | – |" in page
    assert data_page.figures(870e9, 1e9) == "870"
    assert data_page.figures(0.7423e12, 1e12) == "0.742"
    assert data_page.figures(13.98e12, 1e12) == "14.0"
    assert data_page.figures(3085.4e9, 1e9) == "3,085"


def test_data_page_is_written_only_when_it_changes(tmp_path):
    page = tmp_path / "data.md"
    data_page.write(page)
    before = page.stat().st_mtime_ns
    data_page.write(page)
    assert page.stat().st_mtime_ns == before
