"""Every page of the site: complete, quiet, reachable, readable in light and dark and on a phone."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from bs4 import BeautifulSoup
from playwright.sync_api import Page, expect
from site_pages import OWN, PAGES
from visits import resize

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]

# WCAG 2.0 to 2.2, levels A and AA, and axe-core's rules of good practice. preload fetches style sheets, which file://
# forbids; no rule used here needs them.
AXE = {
    "runOnly": {
        "type": "tag",
        "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice", "experimental"],
    },
}


@cache
def soup(site: Path, name: str) -> BeautifulSoup:
    return BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")


# --- what there is ----------------------------------------------------------------------------------------------------


def test_site_has_the_pages_of_the_contents_and_no_others(site):
    found = {str(p.relative_to(site)) for p in site.rglob("*.html") if "_static" not in p.parts}
    assert found == {*PAGES, *OWN}


def test_every_notebook_is_a_page():
    notebooks = {f"notebooks/{p.stem}.html" for p in (ROOT / "notebooks").glob("*.ipynb")}
    assert notebooks <= set(PAGES)


def test_every_page_has_one_heading_of_its_own(site):
    titles = [soup(site, name).select_one("article h1").get_text(strip=True, separator=" ") for name in PAGES]
    assert len(set(titles)) == len(PAGES)
    assert titles[0].startswith("The Roofline Course")


def anchors(page: BeautifulSoup) -> set[str]:
    return {node["id"] for node in page.select("[id]")} | {node["name"] for node in page.select("a[name]")}


@pytest.mark.parametrize("name", [*PAGES, *OWN])
def test_every_internal_link_resolves(site, name):
    page, here = soup(site, name), site / name
    checked = 0
    for tag, attribute in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src"), ("source", "src")):
        for node in page.find_all(tag, **{attribute: True}):
            parts = urlsplit(node[attribute])
            if parts.scheme in ("data", "mailto"):
                continue
            if parts.scheme or parts.netloc:
                assert tag == "a", f"{name} loads {node[attribute]}"  # a link may lead outside, a page loads nothing
                continue
            target = (here.parent / unquote(parts.path)).resolve() if parts.path else here
            assert target.is_file(), f"{name} points to {node[attribute]}"
            fragment = unquote(parts.fragment)
            if fragment and not fragment.startswith("explorer=") and target.suffix == ".html":
                found = anchors(soup(site, str(target.relative_to(site.resolve()))) if target != here else page)
                assert fragment in found, f"{name} points to {node[attribute]}"
            checked += 1
    assert checked > 10


@pytest.mark.parametrize("name", PAGES)
def test_every_figure_has_alternative_text(site, name):
    article = soup(site, name).select_one("article")
    for image in article.find_all("img"):
        assert len(image.get("alt", "")) >= 20, f"{name}: {str(image)[:200]}"
    for drawing in article.find_all("svg"):
        if drawing.get("aria-hidden") == "true" or drawing.find_parent(attrs={"aria-hidden": "true"}):
            continue
        title = drawing.find("title")
        text = drawing.get("aria-label") or (title.get_text() if title else "")
        assert drawing.get("role") == "img", f"{name}: {str(drawing)[:200]}"
        assert len(text) >= 20, f"{name}: {str(drawing)[:200]}"


@pytest.mark.parametrize("name", PAGES)
def test_no_trace_of_the_machine_or_the_making(site, name):
    text = (site / name).read_text(encoding="utf-8")
    traces = [str(ROOT), "papermill", "injected-parameters", "<!--=", "THEBE"]
    if name == "appendix/teachers.html":
        traces.remove("papermill")  # the page that says how to run the notebooks with it
    for trace in traces:
        assert trace not in text


# --- in a browser -----------------------------------------------------------------------------------------------------


# A page takes a second or two to open: one visit from its folder and one over http look at all that can be seen.
@pytest.mark.parametrize("name", PAGES)
def test_page_is_quiet_closed_typeset_and_printable(visit, site, name):
    page = visit(name)
    assert page.locator("article details[open]").count() == 0  # solutions are closed until asked for
    typeset(page, formulas=len(soup(site, name).select("article .math")))
    page.emulate_media(media="print")
    printed(page)
    page.emulate_media(media="screen")
    open_details(page)
    page.mouse.wheel(0, 20000)
    page.wait_for_timeout(300)  # late scripts; the fixture looks at what they did


def typeset(page: Page, formulas: int) -> None:
    assert page.locator("article mjx-container svg").count() >= formulas
    assert page.locator("mjx-merror, [data-mjx-error]").count() == 0
    left = page.evaluate("[...document.querySelectorAll('article p, article li, article td')].map(n => n.innerText)")
    assert [text for text in left if "\\(" in text or "\\[" in text or "$" in text] == []


FOLDED = """[...document.querySelectorAll("article details")]
  .filter(node => !node.closest(".rc-explorer, .rc-next"))
  .filter(node => !(node.querySelector(":scope > *:not(summary)").getBoundingClientRect().height > 0))
  .map(node => node.textContent.trim().slice(0, 60))"""


def printed(page: Page) -> None:
    """On paper, where nothing can be opened, solutions and the sentences of the explorers are there. (The questions of
    chapter 8 are not: the figure above them says the same.)"""
    if page.locator("[data-rc-exercise]").count():
        page.locator(".rc-at-end").wait_for()  # the solutions have moved there
    assert page.evaluate(FOLDED) == []
    for explorer in page.locator("[data-rc-explorer]").all():
        assert explorer.locator("svg").first.is_visible()
        assert explorer.locator("[data-rc-sentence]").is_visible()


@pytest.mark.parametrize("name", OWN)
def test_what_sphinx_adds_is_quiet(visit, name):
    visit(name).wait_for_timeout(300)


# A formula wider than the page is read from its start, and scrolls to its end.
CUT_AT_THE_START = """[...document.querySelectorAll("div.math")].filter(
  box => box.querySelector("svg").getBoundingClientRect().left < box.getBoundingClientRect().left - 1
).map(box => box.textContent)"""


def open_details(page: Page) -> None:
    page.evaluate("document.querySelectorAll('article details').forEach(node => { node.open = true; })")


def violations(page: Page, options: dict, context: str | None = None) -> list[tuple]:
    """What axe-core finds on a page, or in the part of it that a selector names."""
    options = {"preload": False, "resultTypes": ["violations"], **options}
    found = Axe().run(page, context, options).response["violations"]
    return [(v["id"], [node["html"][:160] for node in v["nodes"]]) for v in found]


# What takes the focus from the keyboard and shows no ring. (A point of a chart has a ring of its own inside.)
UNSEEN = """() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")]
  .filter((node) => node.checkVisibility({ visibilityProperty: true }) && !node.disabled)
  .filter((node) => {
    node.focus({ preventScroll: true });  // or the header lies on a control, and axe takes offence
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(node);
    const ring = (outlineStyle !== "none" && parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
    return document.activeElement === node && !ring && node.querySelector(":scope > .rc-target") === null;
  }).map((node) => node.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("name", [*PAGES, *OWN])
def test_page_is_quiet_accessible_and_stays_in_its_width_over_http(visit, name):
    page = visit(name, way="http", width=390)
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    open_details(page)
    for width in (390, 768, 1280):
        resize(page, width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("window.scrollTo(500, 0)")
        assert page.evaluate("window.scrollX") == 0
        assert page.evaluate(CUT_AT_THE_START) == []
    page.evaluate("window.scrollTo(0, 0)")
    page.keyboard.press("Tab")  # what is focused from here on is focused by keyboard
    assert page.evaluate(UNSEEN) == []
    assert violations(page, AXE) == []
    page.emulate_media(color_scheme="dark")
    page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
    assert violations(page, {"runOnly": ["color-contrast"]}) == []
    resize(page, 390)
    # contrast, the slow rule, is the same at any width
    assert violations(page, {**AXE, "rules": {"color-contrast": {"enabled": False}}}) == []


def test_a_figure_is_seen_whole_on_a_telephone_on_its_side(visit):
    page = visit("notebooks/04_measurement.html", width=1280)
    figures = page.locator(".rc-figure picture.rc-light img")
    shape = "node => { const { width, height } = node.getBoundingClientRect(); return [width, height]; }"
    wide = [figure.evaluate(shape) for figure in figures.all()]
    resize(page, 844, 390)
    header = page.locator(".bd-header-article").bounding_box()["height"]
    low = [figure.evaluate(shape) for figure in figures.all()]
    assert len(low) >= 3
    assert max(height for _, height in wide) > 390 - header >= max(height for _, height in low)
    assert min(width for width, _ in low) > 700  # the place; the drawing in it keeps its proportions
    assert figures.first.evaluate("node => getComputedStyle(node).objectFit") == "contain"


def test_names_in_tables_are_whole_on_the_smallest_telephones(visit):
    page = visit("appendix/data.html", width=320)
    for width in (320, 360, 388):
        resize(page, width)
        lines = "nodes => nodes.map((node) => [node.textContent, node.getClientRects().length])"
        names = page.locator("article td code .pre").evaluate_all(lines)
        assert "precision" in [name for name, _ in names]
        assert [name for name, count in names if count > 1] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_some_page_has_math(site):
    assert any(soup(site, name).select("article .math") for name in PAGES)


def test_colour_button_switches_and_is_remembered(visit):
    page = visit("index.html", way="http")
    button = page.locator(".theme-switch-button").last
    seen = []
    for _ in range(3):
        button.click()
        seen.append(page.evaluate("document.documentElement.dataset.theme"))
    assert {"light", "dark"} <= set(seen)
    while page.evaluate("document.documentElement.dataset.mode") != "dark":
        button.click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


@pytest.mark.parametrize("way", ["http", "file"])
def test_search_finds_the_data_page(visit, way):
    page = visit("search.html?q=bandwidth", way=way)
    page.wait_for_selector("#search-results li a")
    assert page.locator("#search-results a", has_text="The data and its sources").count() >= 1


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_result_opens_where_its_words_stand(visit, way):
    page = visit("search.html?q=wave+quantisation", way=way)
    page.locator("#search-results").get_by_role("link", name="The M sweep").click()
    passage = page.locator("p", has=page.get_by_role("link", name="wave quantisation")).first
    expect(passage).to_be_in_viewport(timeout=30_000)  # the whole page is laid out first
    assert page.evaluate("scrollY") > 5000


def test_a_search_without_a_result_says_what_to_try(visit):
    page = visit("search.html?q=zwieback")
    expect(page.locator(".search-summary")).to_have_text(
        "No page has all of these words. Try fewer of them, or another form of one."
    )


def test_search_finds_numbers_with_their_unit_and_shows_text(visit):
    page = visit("search.html?q=3,085+GB/s+ridge", way="http")
    found = page.locator("#search-results li", has=page.get_by_role("link", name="Notation", exact=True))
    expect(found.locator("p.context")).to_contain_text("I^* = F/B")  # a formula without its marks
    assert "\\(" not in page.locator("#search-results").inner_text()
    page.wait_for_function(  # each result brings its excerpt when its page has been read
        "[...document.querySelectorAll('#search-results li')].every(found => found.querySelector('p.context'))"
    )
    marked = page.locator("#search-results .highlighted")
    assert {text.lower() for text in marked.all_inner_texts()} == {"gb", "ridge"}
    assert page.evaluate("localStorage.getItem('sphinx_highlight_terms')") == "gb ridge"


def test_data_tables_can_be_downloaded(visit, site):
    page = visit("appendix/data.html", way="http")
    links = page.locator("article a.download")
    assert links.count() == len(list((ROOT / "data").glob("*.csv")))
    with page.expect_download() as download:
        links.first.click()
    assert download.value.path().read_bytes() == (ROOT / "data" / "devices.csv").read_bytes()


@pytest.mark.parametrize("name", PAGES)
def test_page_is_complete_without_javascript(visit, site, name):
    page = visit(name, javascript=False)
    assert page.locator("article h1").is_visible()
    for explorer in page.locator("[data-rc-explorer]").all():
        drawing = explorer.locator("svg").first
        assert drawing.is_visible()
        assert drawing.bounding_box()["width"] > 250
        assert explorer.locator("[data-rc-sentence]").is_visible()
        assert len(explorer.locator("[data-rc-sentence]").inner_text()) > 40
        assert explorer.locator("[data-rc-control]").count() == 0


def test_phone_reader_reaches_the_contents(visit):
    page = visit("index.html", width=390)
    page.locator(".primary-toggle").first.click()
    link = page.locator("#pst-primary-sidebar-modal a, #pst-primary-sidebar a", has_text="The data and its sources")
    link.first.click()
    page.wait_for_url("**/appendix/data.html")


def test_a_dark_page_shows_the_dark_drawings_on_its_own_ground(visit):
    page = visit("notebooks/05_m_sweep.html", scheme="dark")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator(".rc-figure picture.rc-light img").first.is_hidden()
    drawing = page.locator(".rc-figure picture.rc-dark img").first
    drawing.scroll_into_view_if_needed()
    assert drawing.evaluate("node => node.decode().then(() => node.naturalWidth)") == 700
    style = "(({backgroundColor, filter, padding}) => [backgroundColor, filter, padding])(getComputedStyle(node))"
    assert drawing.evaluate(f"node => {style}") == ["rgba(0, 0, 0, 0)", "none", "0px"]
    resize(page, 390)
    page.wait_for_function(
        "node => node.currentSrc !== '' && node.decode().then(() => node.naturalWidth === 350)",
        arg=drawing.element_handle(),
    )
