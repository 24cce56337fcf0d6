"""What follows a question can be hidden until it is asked for: in class, or on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from test_answering import CHAPTER_PAGES, remember, unchanged
from test_pages import AXE, violations
from visits import resize

pytestmark = pytest.mark.browser
BOUNDS = CHAPTER_PAGES["1"]

#: Every question, and whether anything of its answer is to be seen: the first thing after it that is not a control.
#: Chromium may call content that has just been opened hidden until it has drawn the next frame.
STATE = """async () => {
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  return [...document.querySelectorAll(".rc-question")].map((question) => {
    const box = question.closest("blockquote") ?? question;
    let node = box.nextElementSibling;
    while (node?.matches(".rc-cover, .rc-explorer")) node = node.nextElementSibling;
    if (node === null || node.matches("section")) return "elsewhere";
    const parts = node.matches(".rc-covered") ? node.children : [node];
    return parts[0].checkVisibility({ contentVisibilityAuto: true }) ? "shown" : "hidden";
  });
}"""


def choice(page: Page):
    return page.get_by_role("checkbox", name="Hide what follows a question until I ask")


@pytest.mark.parametrize("number", CHAPTER_PAGES)
def test_each_chapter_can_hide_what_follows_its_questions(visit, number):
    page = visit(CHAPTER_PAGES[number])
    expect(choice(page)).not_to_be_checked()
    before = page.evaluate(STATE)
    assert before.count("shown") >= 3
    assert "hidden" not in before
    first = page.locator(".rc-question").first.locator("xpath=following-sibling::*[1]")
    expect(first.get_by_role("checkbox")).to_have_count(1)  # under the first question, also one answered elsewhere
    expect(choice(page)).to_have_count(1)
    choice(page).check()
    assert page.evaluate(STATE) == [{"shown": "hidden"}.get(state, state) for state in before]
    assert page.get_by_role("button", name="Show what follows").count() == before.count("shown")
    assert page.locator(".rc-question:visible").count() == len(before)
    assert page.locator(".rc-covered :is(h1, h2, h3)").count() == 0  # the course of the page can be seen


def test_one_answer_is_shown_by_keyboard_and_the_rest_stays_hidden(visit):
    page = visit(BOUNDS)
    remember(page)
    choice(page).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show what follows"
    question = page.locator(".rc-question").first
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == question.get_attribute("id")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.className") == "rc-covered"
    assert page.evaluate(STATE)[:2] == ["shown", "hidden"]
    choice(page).uncheck()
    assert "hidden" not in page.evaluate(STATE)
    page.locator(".rc-cover").evaluate_all("nodes => nodes.forEach(node => node.remove())")
    page.evaluate("before = before.filter(node => !node.closest('.rc-cover'))")
    assert unchanged(page)


def test_the_choice_is_remembered_in_other_chapters(visit):
    page = visit(BOUNDS, way="http")
    choice(page).check()
    page.goto(page.url.replace("01_bounds", "05_m_sweep"))
    expect(choice(page)).to_be_checked()
    assert "shown" not in page.evaluate(STATE)
    choice(page).uncheck()
    page.reload()
    expect(choice(page)).not_to_be_checked()
    assert "hidden" not in page.evaluate(STATE)


def test_a_link_into_a_hidden_part_opens_it(visit):
    page = visit(CHAPTER_PAGES["5"])
    choice(page).check()
    name = page.evaluate(
        "document.querySelector('.rc-covered .math[id], .rc-covered [id]:not(.rc-explorer *)')?.id ?? ''"
    )
    assert name
    page.evaluate("(name) => { location.hash = name; }", name)
    page.wait_for_function("(name) => document.getElementById(name).checkVisibility()", arg=name)
    kind = page.locator(".rc-covered .rc-explorer").first.get_attribute("data-rc-explorer")
    nth = page.evaluate("[...document.querySelectorAll('.rc-explorer')].findIndex(n => n.closest('.rc-covered'))")
    same = page.locator(f'.rc-explorer[data-rc-explorer="{kind}"]').count()
    page.evaluate("(hash) => { location.hash = hash; }", f"#explorer={kind}{'-2' if same > 1 and nth else ''}&m=2")
    expect(page.locator(".rc-covered .rc-explorer").first).to_be_visible()


def test_an_address_opens_its_place_though_the_choice_is_remembered(visit):
    page = visit(CHAPTER_PAGES["5"], way="http")
    choice(page).check()
    name = page.locator(".rc-covered [id]:not(.rc-explorer *)").first.get_attribute("id")
    address = page.url
    page.goto("about:blank")
    page.goto(f"{address}#{name}")
    page.wait_for_function("(name) => document.getElementById(name)?.checkVisibility()", arg=name)
    assert page.evaluate(STATE).count("shown") == 1
    page.evaluate("location.hash = '#100%'")  # no address of ours: the fixture sees that it breaks nothing
    page.wait_for_timeout(100)


def test_the_browsers_search_opens_what_it_finds(visit):
    page = visit(BOUNDS)
    choice(page).check()
    assert page.locator(".rc-covered").first.get_attribute("hidden") == "until-found"
    found = "node => node.dispatchEvent(new Event('beforematch', { bubbles: true }))"
    page.locator(".rc-covered").first.evaluate(found)
    assert page.evaluate(STATE)[:2] == ["shown", "hidden"]
    assert page.get_by_role("button", name="Show what follows").count() == page.evaluate(STATE).count("hidden")


def test_paper_has_everything(visit):
    page = visit(BOUNDS)
    choice(page).check()
    page.emulate_media(media="print")
    assert "hidden" not in page.evaluate(STATE)
    assert page.locator(".rc-cover:visible").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_covered_page(visit, scheme):
    page = visit(BOUNDS, scheme=scheme)
    choice(page).check()
    assert violations(page, AXE) == []
    resize(page, 390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Show what follows").first.click()
    assert violations(page, {**AXE, "rules": {"color-contrast": {"enabled": False}}}) == []


def test_without_a_script_there_is_nothing_to_choose(visit):
    page = visit(BOUNDS, javascript=False)
    assert page.locator(".rc-cover").count() == 0
