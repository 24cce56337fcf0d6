"""No page is stale: each carries the hash of what it was made from, and one other value in the data shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import fresh
import pytest
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"
NOTEBOOKS = sorted(p.stem for p in (ROOT / "notebooks").glob("*.ipynb"))


@pytest.fixture
def copy(tmp_path) -> Path:
    """The inputs of the book, to be changed; the pages stay those that were built."""
    skip = shutil.ignore_patterns("__pycache__")
    for folder in ("src", "data", "notebooks", "tools"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=skip)
    shutil.copy(ROOT / "constraints.txt", tmp_path)
    return tmp_path


def test_every_page_is_made_from_what_is_in_the_tree(copy):
    assert fresh.stale(BOOK, ROOT) == [], "run make book"
    assert fresh.stale(BOOK, copy) == []  # the place of a checkout is no input


def change_one_value(root: Path) -> None:
    """The time of one copy on one card, in its last digit."""
    table = root / "data" / "measurements.csv"
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    header, row = lines[0].split(","), lines[1].split(",")
    column = header.index("seconds")
    row[column] = row[column][:-1] + ("1" if row[column][-1] != "1" else "2")
    lines[1] = ",".join(row)
    table.write_text("".join(lines), encoding="utf-8")


def append(name: str):
    def change(root: Path) -> None:
        path = root / name
        path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")

    return change


@pytest.mark.parametrize(
    "change",
    [change_one_value, append("src/roofcourse/roofline.py"), append("constraints.txt")],
    ids=["one value of the data", "the package", "a pinned version"],
)
def test_a_changed_input_makes_every_page_stale(copy, change):
    change(copy)
    found = fresh.stale(BOOK, copy)
    for name in NOTEBOOKS:
        assert f"{name}.ipynb: executed from other inputs" in found
        assert f"notebooks/{name}.html: built from other inputs" in found
    assert "index.html: built from other inputs" in found
    assert "appendix/data.html: built from other inputs" in found


def test_a_changed_chapter_makes_its_own_page_stale(copy):
    append("notebooks/03_ridge_point.ipynb")(copy)
    assert fresh.stale(BOOK, copy) == [
        "03_ridge_point.ipynb: executed from other inputs",
        "notebooks/03_ridge_point.html: built from other inputs",
    ]


def test_a_new_chapter_has_to_be_executed(copy):
    shutil.copy(copy / "notebooks" / "03_ridge_point.ipynb", copy / "notebooks" / "10_new.ipynb")
    assert fresh.stale(BOOK, copy) == ["notebooks/10_new: not executed"]


def test_a_changed_tool_makes_the_site_stale(copy):
    append("tools/weights.py")(copy)
    assert fresh.stale(BOOK, copy) == [
        "the site: its styles, its configuration or its tools have changed since it was built"
    ]


def test_a_page_says_its_hash_once_in_its_head():
    for name in ("index", f"notebooks/{NOTEBOOKS[0]}", "appendix/data"):
        page = BeautifulSoup((BOOK / "_build" / "html" / f"{name}.html").read_text(encoding="utf-8"), "html.parser")
        (meta,) = page.select('head meta[name="rc-inputs"]')
        assert len(meta["content"]) == 64
