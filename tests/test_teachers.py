"""The teachers' page: its plan names real exercises, its links real states, its targets real commands."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import outcomes
import pytest

from roofcourse import exercise
from roofcourse.explore import static_html

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "book" / "appendix" / "teachers.md").read_text(encoding="utf-8")
LINKS = re.findall(r'href="([^"#]+)\.html#(explorer=[^"]+)"', PAGE)
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_outcomes_of_chapter_1_by_hand():
    chapter = outcomes.outcomes(json.loads((ROOT / "notebooks" / "01_bounds.ipynb").read_text()))
    assert chapter.title == "Two lower bounds"
    assert chapter.outcomes[0] == "give the shortest time a kernel can take on a given card, from four numbers;"
    assert chapter.outcomes[1:] == (
        "say what it waits for, data or arithmetic;",
        "explain why the two times are compared and not added.",
    )
    assert chapter.needs == "You need to be able to read Python. You need to know nothing about GPUs."


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_chapter_says_three_things(path):
    chapter = outcomes.outcomes(json.loads(path.read_text()))
    assert len(chapter.outcomes) == 3
    assert chapter.outcomes[2].endswith(".")
    assert path.stem in PAGE  # and has its place in the plan


def test_a_chapter_that_opens_otherwise_is_refused():
    with pytest.raises(ValueError, match="After this chapter you can"):
        outcomes.outcomes({"cells": [{"source": ["# Title\n", "\n", "Words."]}]})


@pytest.mark.parametrize(("page", "fragment"), LINKS, ids=lambda text: text[:40])
def test_links_to_states_open_what_they_say(page, fragment):
    """The page has an explorer of that kind, and the state is one that the explorer itself would write."""
    state = dict(parse_qsl(html.unescape(fragment), strict_parsing=True))
    kind = state.pop("explorer")
    cells = page.removeprefix("../") + (".md" if page.endswith("index") else ".ipynb")
    source = (ROOT / cells if cells.startswith("notebooks") else ROOT / "book" / cells).read_text()
    assert f"explore.{kind}(" in source or f"{{explorer}} {kind}" in source
    typed = {key: float(v) if re.fullmatch(r"[\d.]+", v) and key != "roofs" else v for key, v in state.items()}
    typed = {key: int(v) if isinstance(v, float) and v == int(v) else v for key, v in typed.items()}
    shown = json.loads(re.search(r'<script type="application/json">(.*?)</script>', static_html(kind, typed))[1])[
        "state"
    ]
    assert shown == typed  # every control is named, and no value is another one


def test_there_are_links_to_check():
    assert len(LINKS) == 4


def test_exercises_of_the_plan_exist():
    plan = re.findall(r"\| (\d)\.(\d)–(\d)\.(\d) \|", PAGE)
    assert len(plan) == 9
    for chapter, first, same, last in plan:
        assert chapter == same
        for number in range(int(first), int(last) + 1):
            exercise.hint(f"{chapter}.{number}")  # raises LookupError for an exercise that is not there


def test_make_targets_exist():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^make (\w+)$", PAGE, re.MULTILINE)
    assert targets == ["figures", "pdf"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
