"""The static form: the same on every run, safe to embed, and a picture with words where there is no script."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from roofcourse import explore

STATES = [
    ("m_sweep", {}),
    ("m_sweep", {"device": "rtx4080", "precision": "fp8", "m": 32}),
    ("m_sweep", {"device": "b300", "precision": "nvfp4", "m": 4096}),
    ("m_sweep", {"device": "b300", "precision": "fp64", "m": 1}),
    ("m_sweep", {"device": "mi210", "precision": "fp8", "m": 16}),
    ("bounds", {}),
    ("bounds", {"flop": 1e15, "bytes": 1e12, "device": "rtx4080", "precision": "fp64"}),
    ("bounds", {"device": "mi210", "precision": "fp8"}),
]


def stand_in(html: str) -> str:
    return re.search(r"<svg.*?</svg>", html, re.DOTALL)[0]


@pytest.mark.parametrize(("kind", "state"), STATES)
def test_stand_in_is_a_small_picture_with_an_alternative_text(kind, state):
    svg = stand_in(explore.static_html(kind, state))
    assert len(svg.encode()) <= 12 * 1024
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert explore.compute(kind, state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


@pytest.mark.parametrize(("kind", "state"), STATES)
def test_static_html_carries_state_and_sentence(kind, state):
    html = explore.static_html(kind, state)
    assert html == explore.static_html(kind, state)
    assert html.startswith(f'<div class="rc-explorer" data-rc-explorer="{kind}" id="rc-')
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', html)[1])
    module_state = data["state"]
    assert explore.compute(kind, module_state) == explore.compute(kind, state)
    assert {"devices", "precisions", "source"} <= data["spec"].keys()
    assert len(data["spec"]["devices"]) == 12


def test_ids_tell_states_apart_and_can_be_given():
    ids = {re.search(r' id="([^"]+)"', explore.static_html(k, s))[1] for k, s in STATES}
    assert len(ids) == len(STATES)
    assert 'id="first"' in explore.static_html("m_sweep", element_id="first")
    assert 'id="&lt;&quot;"' in explore.static_html("m_sweep", element_id='<"')


def test_nothing_ends_the_script_element_early():
    data = re.search(r'<script type="application/json">(.*?)</script>', explore.static_html("m_sweep"))[1]
    assert "<" not in data


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_without_javascript_there_is_a_figure_and_the_sentence(open_page, theme):
    page = open_page(*STATES[:1], *STATES[5:6], javascript=False, theme=theme, width=390)
    for nth, (kind, state) in enumerate([STATES[0], STATES[5]]):
        figure = page.page.locator("svg[role=img]").nth(nth)
        assert figure.is_visible()
        box = figure.bounding_box()
        assert box["width"] <= 390
        assert page.sentence(nth) == explore.compute(kind, state)["sentence"]
    assert page.page.locator("[data-rc-control]").count() == 0
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
def test_print_keeps_chart_and_sentence_and_hides_controls(open_page):
    page = open_page(("m_sweep", {}), theme="dark")
    page.page.emulate_media(media="print")
    assert page.page.locator("svg.rc-chart").is_visible()
    assert page.page.locator("[data-rc-sentence]").is_visible()
    assert not page.page.locator(".rc-controls").is_visible()
    assert not page.page.get_by_text("link to this view").is_visible()
    # Paper is light whatever the theme.
    ink = page.page.locator(".rc-grid text").first.evaluate("node => getComputedStyle(node).fill")
    assert ink == "rgb(87, 96, 106)"
