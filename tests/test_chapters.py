"""Every chapter opens alike and ends alike, as CONTRIBUTING.md says."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PARAMETERS = 'device = "h100"\nprecision = "fp16"\nsource = "bundled"\nquick = True'
#: Longer than the others for a reason: fifteen operations, one a line.
LONG = {("02_arithmetic_intensity", "table-rules")}


def cells(path):
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def text(cell):
    return "".join(cell["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_chapter_opens_like_the_others(path):
    first = cells(path)
    assert [c["id"] for c in first[:5]] == ["title", "setup-text", "parameters", "setup", "opening"]
    title = text(first[0])
    assert re.match(r"# [^\n]+\n\n\*\*After this chapter you can\*\*\n\n- ", title)
    assert len(re.findall(r"^- ", title, re.MULTILINE)) == 3
    assert re.search(r"^You need ", title, re.MULTILINE)
    assert text(first[1]).startswith("The first cell ")
    assert text(first[2]) == PARAMETERS
    assert text(first[4]).startswith("## ")
    start = "\n".join(text(c) for c in first[4:8])
    assert "**Predict.**" in start


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_chapter_ends_like_the_others(path):
    last = cells(path)
    assert [c["id"] for c in last[-4:]] == ["quiz-text", "quiz", "remember", "next"]
    exercises = next(text(c) for c in last if c["id"] == "exercises")
    assert exercises.startswith("## Exercises\n\n")
    assert "checker" in exercises
    assert text(last[-4]).startswith("## Five questions\n")
    remember = text(last[-2])
    assert remember.startswith("## Three sentences to remember\n\n1. ")
    assert len(re.findall(r"^\d\. ", remember, re.MULTILINE)) == 3
    assert text(last[-1]).startswith("**Next:** ")


@pytest.mark.parametrize(("path", "following"), list(pairwise(NOTEBOOKS)), ids=lambda p: p.stem)
def test_the_end_of_a_chapter_leads_to_the_next(path, following):
    number = int(following.stem[:2])
    assert f"[chapter {number}]({following.name})" in text(cells(path)[-1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_chapter_has_a_live_part_a_box_and_an_explorer(path):
    whole = "\n".join(text(c) for c in cells(path))
    assert re.search(r"^## On your machine", whole, re.MULTILINE)
    assert re.search(r"^###? Reading the data: ", whole, re.MULTILINE)
    assert "> **Reading the data" not in whole
    assert "rc.explore." in whole or "rc.panel(" in whole
    assert len(re.findall(r"^rc\.check\(", whole, re.MULTILINE)) >= 4


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_cell_is_no_longer_than_an_idea(path):
    found = {
        c["id"]: len(text(c).splitlines())
        for c in cells(path)
        if c["cell_type"] == "code" and (path.stem, c["id"]) not in LONG
    }
    assert {name: lines for name, lines in found.items() if lines > 16} == {}
