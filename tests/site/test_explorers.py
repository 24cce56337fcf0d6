"""The explorers on the built site: all there, every control works, and what they show is what the package computes."""

from __future__ import annotations

import math
import re

import pytest
from playwright.sync_api import Locator, Page, expect
from site_pages import CONTROLS, EXPLORERS, OWN, PAGES
from visits import resize
from voices import listen

import roofcourse as rc
from roofcourse import explore
from roofcourse.bench import RECORDED
from roofcourse.explore import kinds
from roofcourse.tables import data_folder

pytestmark = pytest.mark.browser
PLACES = [(name, nth, kind) for name, kinds in EXPLORERS.items() for nth, kind in enumerate(kinds)]


def explorer(page: Page, nth: int) -> Locator:
    return page.locator("[data-rc-explorer]").nth(nth)


def open_details(page: Page) -> None:
    page.evaluate("document.querySelectorAll('[data-rc-explorer] details').forEach(node => { node.open = true; })")


READ = """(nth) => {
  const root = document.querySelectorAll("[data-rc-explorer]")[nth];
  const values = (selector) => [...root.querySelectorAll(selector)];
  return {
    state: window.roofcourse.explorers[nth].state(),
    exact: values("[data-rc-value]").map((node) => [node.dataset.rcValue, node.dataset.rcExact]),
    tiles: values(".rc-tile [data-rc-value]").map((node) => node.textContent.trim()),
    sentence: root.querySelector("[data-rc-sentence]").textContent,
    text: root.innerText,
  };
}"""


def agrees(page: Page, nth: int, kind: str) -> dict:
    """The page shows, for the state that it is in, exactly what Python computes. Returns what was read."""
    now = page.evaluate(READ, nth)
    state = now["state"]
    # On one page the recorded processor is among the devices.
    run = rc.bench("local", "bundled") if getattr(kinds.get(kind), "OWN", False) else None
    expected = explore.compute(kind, state, run=run)
    numbers = {name: float(exact) for name, exact in now["exact"] if exact}  # none where a dash is displayed
    assert numbers
    assert all(now["tiles"])
    for name, number in numbers.items():
        wanted = expected.get(name, state.get(name))
        assert math.isclose(number, wanted, rel_tol=1e-9), f"{name} in {state}: {number}, Python says {wanted}"
    assert now["sentence"] == expected["sentence"]
    return now


def positions(control: Locator) -> list:
    """What to do with a control so that it takes different values, from one end to the other."""
    tag, kind = control.evaluate("node => [node.tagName, node.type]")
    if tag == "SELECT":
        options = control.locator("option").evaluate_all("nodes => nodes.map(node => node.value)")
        return [lambda value=value: control.select_option(value) for value in options if value]
    if kind == "number":
        low, high = (int(control.get_attribute(a)) for a in ("min", "max"))
        return [lambda value=value: control.fill(str(value)) for value in (low, 77, 4096, high)]
    if kind == "checkbox":
        return [lambda: control.press("Space")] * 2
    assert kind == "range"
    keys = ["Home", "ArrowRight", "ArrowRight", "PageUp", "End", "ArrowLeft", "PageDown", "ArrowDown"]
    return [lambda key=key: control.press(key) for key in keys]


@pytest.mark.parametrize("name", [*PAGES, *OWN])
def test_explorers_and_controls_are_as_expected(visit, name):
    page = visit(name)
    found = [node.get_attribute("data-rc-explorer") for node in page.locator("[data-rc-explorer]").all()]
    assert found == EXPLORERS.get(name, [])
    for nth, kind in enumerate(found):
        names = explorer(page, nth).locator("[data-rc-control]").evaluate_all("n => n.map(x => x.dataset.rcControl)")
        assert sorted(names) == sorted(CONTROLS[kind])
    others = "[src*='answers'], [src*='questions'], [src*='predictions']"
    scripts = page.locator(f"script[src*='roofcourse.js']:not({others})").count()
    assert scripts == (1 if found else 0)  # a page without explorers does not pay for them


def test_whoever_has_no_run_file_is_told_how_to_make_one(visit):
    page = visit("notebooks/01_bounds.html")
    link = explorer(page, 0).get_by_role("link", name="How to make one")
    assert link.get_attribute("href") == "../appendix/measure.html"
    page = visit("index.html")
    explorer(page, 0).get_by_role("link", name="How to make one").click()
    expect(page.locator("article h1")).to_have_text(re.compile("^Measure your own card"))


@pytest.mark.parametrize("way", ["http", "file"])
@pytest.mark.parametrize(("name", "nth", "kind"), PLACES)
def test_every_control_moves_what_is_shown(visit, name, nth, kind, way):
    page = visit(name, way=way)
    agrees(page, nth, kind)
    open_details(page)
    for control_name in CONTROLS[kind]:
        control = explorer(page, nth).locator(f'[data-rc-control="{control_name}"]')
        assert control.is_visible()
        if control_name == "run":  # a file: see test_a_dropped_run
            continue
        seen = []
        for move in positions(control):
            move()
            seen.append(agrees(page, nth, kind))
        enough = min(3, len(seen))
        states, displays = {str(now["state"]) for now in seen}, {now["text"] for now in seen}
        assert len(states) >= enough, f"{control_name} took {states}"
        assert len(displays) >= enough, f"{control_name} changed nothing to see"


@pytest.mark.parametrize(("name", "nth", "kind"), PLACES)
def test_controls_say_what_they_are(visit, name, nth, kind):
    page = visit(name)
    listen(explorer(page, nth))
    for control_name in CONTROLS[kind]:
        control = explorer(page, nth).locator(f'[data-rc-control="{control_name}"]')
        assert control.evaluate("node => node.labels.length === 1 || node.ariaLabel?.length > 1"), control_name
        if control.get_attribute("type") == "range":
            before = control.get_attribute("aria-valuetext")
            control.press("ArrowRight")
            assert control.get_attribute("aria-valuetext") != before
    if explorer(page, nth).locator("input[type=range]").count():  # the last move is said, once it is quiet
        now = explorer(page, nth).locator("[data-rc-sentence]").text_content()
        page.wait_for_function("(now) => window.said.at(-1) === now", arg=now)


@pytest.mark.parametrize("way", ["http", "file"])
def test_link_opens_the_state_it_names(visit, way):
    page = visit("index.html#explorer=m_sweep&m=64&precision=bf16&device=h200", way=way)
    assert agrees(page, 0, "m_sweep")["state"] == {"m": 64, "precision": "bf16", "device": "h200"}
    assert "64" in explorer(page, 0).locator("[data-rc-sentence]").inner_text()
    top = explorer(page, 0).evaluate("node => node.getBoundingClientRect().top")
    assert 0 <= top < 450  # in view, and not under the header


@pytest.mark.parametrize(("name", "nth", "kind"), PLACES)
def test_explorer_fits_its_page_whatever_is_chosen(visit, name, nth, kind):
    page = visit(name)
    device = explorer(page, nth).locator("select[data-rc-control]").last
    for width in (390, 768, 1280):
        resize(page, width)
        for move in positions(device):
            move()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        box = explorer(page, nth).locator(".rc-stage svg").first.bounding_box()
        assert min(width - 60, 560) <= box["width"] <= width


def test_main_explorer_starts_on_the_first_screen(visit):
    page = visit("index.html")
    top = explorer(page, 0).locator("[data-rc-control]").first.bounding_box()["y"]
    assert top < 600  # of 900 pixels


def test_two_colour_schemes_differ_where_they_should(visit):
    colours = {}
    for scheme in ("light", "dark"):
        page = visit("index.html", scheme=scheme)
        colours[scheme] = page.evaluate("getComputedStyle(document.querySelector('[data-rc-sentence]')).color")
    assert colours["light"] != colours["dark"]


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_dropped_run_becomes_a_device(visit, way):
    run = data_folder() / "runs" / RECORDED
    page = visit("notebooks/05_m_sweep.html", way=way)
    explorer(page, 0).locator('[data-rc-control="run"]').set_input_files(run)
    page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    now = agrees(page, 0, "m_sweep")
    assert "AMD EPYC" in now["sentence"]
    assert len(page.evaluate("window.roofcourse.explorers[0].spec.devices")) == 13


def test_the_panel_is_a_sentence_and_an_explorer_on_a_page(visit):
    page = visit("notebooks/05_m_sweep.html")
    notice = page.get_by_text("In Jupyter there are buttons here that measure the chosen product on your own machine.")
    assert notice.is_visible()
    assert "an AMD EPYC in FP32 takes" in explorer(page, 1).locator("[data-rc-sentence]").text_content()
    assert page.locator("[data-mime-type*='widget']").count() == 0
    assert page.get_by_role("button", name="Measure M =").count() == 0
