"""Figures for slides: every figure of an executed notebook as a file that a slide program can read."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import make_figures
import pytest

import roofcourse as rc
from roofcourse.palette import swatches


@pytest.fixture(scope="module")
def page() -> dict:
    """An executed notebook of three cells: two figures in one cell, none, an explorer."""
    h100 = rc.device("h100")
    figure = rc.plot.roofline(h100.roofline("fp16"), h100.m_sweep("fp16"))._repr_html_()
    explorer = rc.explore.static_html("ridge", {})

    def cell(name: str, *outputs: str) -> dict:
        data = [{"output_type": "display_data", "data": {"text/html": text}} for text in outputs]
        return {"cell_type": "code", "id": name, "source": "", "outputs": data}

    words = {"cell_type": "markdown", "id": "title", "source": ["# The page\n", "\n", "Words."]}
    return {"cells": [words, cell("cards-figure", figure, figure), cell("setup"), cell("explorer", explorer)]}


def test_names_and_descriptions(page):
    figures = make_figures.figures_of(page, "03")
    assert [f.name for f in figures] == ["chapter-03-cards", "chapter-03-cards-2", "chapter-03-explorer"]
    assert [sorted(f.files) for f in figures] == [["dark", "light"], ["dark", "light"], ["light"]]
    assert "H100" in figures[0].alt
    assert "Rooflines on logarithmic axes" in figures[2].alt


def test_files_stand_alone(page):
    for figure in make_figures.figures_of(page, "03"):
        for svg in figure.files.values():
            assert ET.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
            assert "var(" not in svg  # a slide has no style sheet of ours


def test_dark_and_light_differ_in_colour_only(page):
    files = make_figures.figures_of(page, "03")[0].files
    light, dark = (re.sub(r"#[0-9a-f]{6}", "#", files[scheme]) for scheme in ("light", "dark"))
    assert light == dark
    assert files["light"] != files["dark"]


def test_explorer_has_the_colours_of_its_cards(page):
    (h100,) = (s.light for s in swatches() if s.variable == "--rc-device-h100")
    assert h100 in make_figures.figures_of(page, "03")[2].files["light"]


def test_explorer_has_room_for_the_last_number_of_its_axis(page):
    svg = ET.fromstring(make_figures.figures_of(page, "03")[2].files["light"])
    assert (svg.get("viewBox"), svg.get("width"), svg.get("height")) == ("-20 0 600 400", "600", "400")


def test_folder_is_made_anew_with_an_index(page, tmp_path):
    source, out = tmp_path / "03_page.ipynb", tmp_path / "out"
    source.write_text(json.dumps(page))
    out.mkdir()
    (out / "chapter-09-gone.svg").write_text("old")
    assert make_figures.write([source], out) == 3
    assert sorted(p.name for p in out.glob("*.svg")) == [
        "chapter-03-cards-2.svg", "chapter-03-cards.svg", "chapter-03-explorer.svg",
    ]  # fmt: skip
    assert sorted(p.name for p in (out / "dark").iterdir()) == ["chapter-03-cards-2.svg", "chapter-03-cards.svg"]
    index = (out / "index.md").read_text()
    assert "## Chapter 3: The page" in index
    assert re.findall(r"\(([\w-]+\.svg)\)", index) == [
        "chapter-03-cards.svg", "chapter-03-cards-2.svg", "chapter-03-explorer.svg",
    ]  # fmt: skip
    assert make_figures.figures_of(page, "03")[0].alt in index
    first = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    assert make_figures.write([source], out) == 3
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == first
