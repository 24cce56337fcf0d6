"""Exercises and quizzes on the built pages: answered by keyboard, without a kernel, read aloud, printable."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path
from unicodedata import normalize

import pytest
from nobreak import glue
from playwright.sync_api import Locator, Page, expect
from pypdf import PdfReader
from site_pages import PAGES
from test_pages import AXE, soup, violations
from visits import resize

import roofcourse as rc
from roofcourse.exercise import CHAPTERS, Choice, Function, exercises

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
CHAPTER_PAGES = {number: name for name in PAGES for number in CHAPTERS if f"/0{number}_" in name}


def form(page: Page, key: str) -> Locator:
    return page.locator(f'[data-rc-exercise="{key}"] ~ form.rc-answer')


def answer(box: Locator, text: str) -> Locator:
    """Type an answer and press Enter; the place of the reply."""
    box.get_by_label("Your answer").fill(text)
    box.get_by_label("Your answer").press("Enter")
    return box.locator(".rc-reply")


# --- what the pages have ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", CHAPTERS)
def test_every_exercise_and_the_quiz_of_a_chapter_can_be_answered_on_its_page(visit, number):
    page = visit(CHAPTER_PAGES[number])
    mine = {key: e for key, e in exercises().items() if key.startswith(f"{number}.")}
    stubs = page.locator("[data-rc-exercise]")
    assert stubs.evaluate_all("nodes => nodes.map(node => node.dataset.rcExercise)") == list(mine)
    for key, e in mine.items():
        box = form(page, key)
        expect(box).to_be_visible()
        if isinstance(e, Function):
            assert "open the notebook" in box.inner_text()
        elif isinstance(e, Choice):
            assert box.get_by_role("radio").count() == len(e.options)
        else:
            assert box.get_by_role("textbox").count() == 1
            assert f"Your answer to {key}, " in box.locator("label").inner_text()
        assert box.get_by_role("button", name="Hint").count() == 1
        assert stubs.nth(list(mine).index(key)).is_hidden()  # what stands there without a script
    quiz = page.locator(f'[data-rc-quiz="{CHAPTERS[number]}"]')
    assert quiz.get_by_role("group").count() == 5
    assert quiz.get_by_role("radio").count() == 15
    assert quiz.locator("details").first.is_hidden()


def test_pages_without_questions_load_nothing_for_them(site):
    for name in PAGES:
        if name not in CHAPTER_PAGES.values():
            assert "questions.roofcourse" not in (site / name).read_text(encoding="utf-8")


# --- answering an exercise --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["http", "file"])
def test_a_number_is_answered_by_keyboard(visit, way):
    page = visit(CHAPTER_PAGES["1"], way=way)
    box = form(page, "1.1")
    reply = box.get_by_role("status").first
    assert reply.inner_text() == ""
    box.get_by_label("Your answer to 1.1, in microseconds").focus()
    page.keyboard.type("1,044")
    page.keyboard.press("Enter")
    expect(reply).to_have_text("Right. " + glue(exercises()["1.1"].praise))
    assert reply.locator("p").get_attribute("data-rc-verdict") == "right"
    for typed, said in (
        ("696", "You counted 8 bytes for each element"),  # two arrays of 4 * 2**28 bytes at 3085 GB/s
        ("0.001044", "off by 10^-6"),
        ("17", "Not yet. Two reads and one write"),
        ("many", "Your turn. The answer is one number in microseconds."),
        ("", "Your turn. Which arrays move"),
    ):
        expect(answer(box, typed)).to_contain_text(said)


def test_a_reply_goes_when_the_answer_changes(visit):
    box = form(visit(CHAPTER_PAGES["1"]), "1.5")
    expect(answer(box, "3")).to_contain_text("how many are compute-bound")
    box.get_by_label("Your answer").press("Backspace")
    expect(box.locator(".rc-reply")).to_be_empty()


def test_a_choice_is_answered_by_keyboard(visit):
    page = visit(CHAPTER_PAGES["5"])
    box = form(page, "5.2")
    box.get_by_role("radio", name="better code").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(box.locator(".rc-reply")).to_contain_text("3 % left")
    page.keyboard.press("ArrowDown")
    assert box.get_by_role("radio", name="fewer bytes").is_checked()
    expect(box.locator(".rc-reply")).to_be_empty()
    page.keyboard.press("Enter")
    expect(box.locator(".rc-reply")).to_have_text("Right. " + glue(exercises()["5.2"].praise))


def test_hints_come_one_by_one_and_stay(visit):
    page = visit(CHAPTER_PAGES["1"])
    box, (nudge, way) = form(page, "1.3"), map(glue, exercises()["1.3"].hints)
    hints = box.locator(".rc-hints")
    assert hints.get_attribute("role") == "status"
    box.get_by_role("button", name="Hint").press("Enter")
    expect(hints).to_have_text(f"Hint 1: {nudge}")
    box.get_by_role("button", name="Another hint").press("Enter")
    expect(hints.locator("p")).to_have_text([f"Hint 1: {nudge}", f"Hint 2: {way}"])
    assert box.get_by_role("button").count() == 0
    assert page.evaluate("document.activeElement.textContent").startswith("Hint 2")


# --- the quiz ---------------------------------------------------------------------------------------------------------


def choose(quiz: Locator, right: int) -> None:
    """Choose the right option of that many questions, and a wrong one of the rest."""
    for number, question in enumerate(rc.quiz("bounds").questions):
        option = question.right if number < right else next(iter(question.wrong))
        quiz.get_by_role("group").nth(number).get_by_label(option, exact=True).check()
    quiz.get_by_role("button", name="Check my answers").click()


def test_a_quiz_replies_scores_and_can_be_taken_again(visit):
    page = visit(CHAPTER_PAGES["1"])
    quiz = page.locator('[data-rc-quiz="bounds"]')
    questions = rc.quiz("bounds").questions
    options = quiz.get_by_role("group").nth(0).locator("label")
    assert quiz.locator("legend").all_inner_texts() == [f"{n}. {glue(q.ask)}" for n, q in enumerate(questions, 1)]
    assert options.all_inner_texts() == list(map(glue, questions[0].options))
    assert quiz.get_by_role("button", name="Try again").is_hidden()

    quiz.get_by_role("button", name="Check my answers").click()
    expect(quiz.get_by_role("status")).to_contain_text("0 of 5.")
    expect(quiz.locator(".rc-verdict").first).to_have_text("Your turn. Choose one.")
    choose(quiz, 3)
    expect(quiz.get_by_role("status")).to_contain_text("3 of 5.")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "status"
    replies = quiz.locator(".rc-verdict").all_inner_texts()
    assert replies[:3] == [glue(f"Right. {q.praise}") for q in questions[:3]]
    assert replies[3:] == [glue(f"Not yet. {next(iter(q.wrong.values()))}") for q in questions[3:]]

    quiz.get_by_role("button", name="Try again").click()
    assert quiz.get_by_role("radio", checked=True).count() == 0
    assert quiz.locator(".rc-verdict").count() == 0
    orders = [quiz.get_by_role("group").nth(n).locator("label").all_inner_texts() for n in range(5)]
    assert [sorted(order) for order in orders] == [sorted(map(glue, q.options)) for q in questions]
    assert orders != [list(map(glue, q.options)) for q in questions]
    choose(quiz, 5)
    expect(quiz.get_by_role("status")).to_have_text("5 of 5. All of it.")


def test_a_quiz_is_taken_by_keyboard(visit):
    page = visit(CHAPTER_PAGES["1"])
    quiz = page.locator('[data-rc-quiz="bounds"]')
    quiz.get_by_role("radio").first.focus()
    for _ in range(5):
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check my answers"
    page.keyboard.press("Enter")
    expect(quiz.get_by_role("status")).to_contain_text(re.compile(r"^[0-5] of 5\."))
    assert quiz.locator(".rc-verdict").count() == 5


# --- everywhere -------------------------------------------------------------------------------------------------------


def fill_in(page: Page) -> None:
    """A right answer, a wrong one, hints, a finished quiz: all that a form can show."""
    answer(form(page, "1.1"), "1044")
    answer(form(page, "1.5"), "3")
    form(page, "1.2").get_by_role("radio").first.check()
    form(page, "1.2").get_by_role("button", name="Check").click()
    for _ in range(2):
        form(page, "1.4").get_by_role("button", name="int").click()
    choose(page.locator('[data-rc-quiz="bounds"]'), 3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_answered_forms(visit, scheme):
    page = visit(CHAPTER_PAGES["1"], scheme=scheme)
    fill_in(page)
    assert violations(page, AXE) == []
    resize(page, 390)
    assert violations(page, {**AXE, "rules": {"color-contrast": {"enabled": False}}}) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_without_a_script_hints_and_quizzes_unfold(visit):
    page = visit(CHAPTER_PAGES["1"], javascript=False)
    assert page.locator("form.rc-answer").count() == 0
    stub = page.locator('[data-rc-exercise="1.1"]')
    assert stub.inner_text() == glue("Your turn. " + exercises()["1.1"].nudge)
    hint = page.locator('[data-rc-exercise="1.1"] + details')
    hint.locator("summary").click()
    assert hint.locator("p").inner_text() == glue(exercises()["1.1"].hint)
    option = page.locator(".rc-quiz details").first
    option.locator("summary").click()
    assert option.locator("p").is_visible()


def remember(page: Page) -> None:
    """All that stands in the article, in its order; explorers draw anew when a page changes its width."""
    page.evaluate(
        """() => {
          window.standing = () => [...document.querySelectorAll("article *")].filter(
            (node) => !node.closest(".rc-explorer"));
          window.before = standing();
        }"""
    )


def unchanged(page: Page) -> bool:
    """Whether the same nodes stand in the same order."""
    return page.evaluate("before.length === standing().length && standing().every((node, i) => node === before[i])")


def test_printing_puts_answers_at_the_end_and_back(visit):
    page = visit(CHAPTER_PAGES["1"])
    fill_in(page)
    remember(page)
    text = " ".join(sheet.extract_text() for sheet in PdfReader(BytesIO(page.pdf())).pages)
    text = " ".join(re.sub("[ﬀ-ﬄ]", lambda ligature: normalize("NFKC", ligature[0]), text).split()).replace("’", "'")
    assert unchanged(page)  # chromium says both before and after that it prints
    chapter, found, end = text.partition(" Solutions 1.1 Another hint ")
    end = found.removeprefix(" Solutions ") + end
    for key, e in exercises().items():
        if key.startswith("1."):
            assert chapter.count(f"Hint and solution to {key}: at the end.") == 1
            assert e.nudge in chapter
            assert e.hint not in chapter
            assert f"{key} Another hint {e.hint} Solution to {key} " in end
    for number, question in enumerate(rc.quiz("bounds").questions, 1):
        first, last = question.options[0], question.options[-1]
        assert f"{number}. {question.ask} a. {first} " in chapter
        assert f" c. {last}" in chapter
        for reply in (question.praise, *question.wrong.values()):
            assert reply not in chapter
            assert f") {reply}" in end.replace(") Right. ", ") ")


@pytest.mark.parametrize("by", ["events", "media"])
def test_printed_page_is_as_before_afterwards(visit, by):
    page = visit(CHAPTER_PAGES["5"])
    remember(page)
    if by == "media":  # what a browser without the events has
        page.emulate_media(media="print")
    else:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")  # twice is once
    keys = [key for key in exercises() if key.startswith("5.")]
    at_end = page.locator("article > section.rc-at-end")
    expect(at_end.locator("h3")).to_have_text([*keys, "Five questions"])
    assert page.locator("article .rc-to-solution").count() == len(keys) + 1
    assert page.locator("article section:not(.rc-at-end) > details:has-text('Solution to')").count() == 0
    if by == "media":
        page.emulate_media(media="screen")
    else:
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    expect(at_end).to_have_count(0)
    assert unchanged(page)


def test_paper_has_no_form(visit):
    page = visit(CHAPTER_PAGES["1"])
    fill_in(page)
    page.emulate_media(media="print")
    expect(page.locator(".rc-at-end")).to_be_visible()
    assert page.locator("form.rc-answer:visible").count() == 0
    assert page.locator('[data-rc-exercise="1.1"]').is_visible()
    for hidden in page.locator(".rc-at-end > *").all():  # nothing is left folded
        assert hidden.bounding_box()["height"] > 0


def test_praise_and_answer_are_not_beside_the_question(site):
    text = soup(site, CHAPTER_PAGES["1"]).select_one('[data-rc-exercise="1.1"]').parent.get_text()
    assert glue(exercises()["1.1"].nudge) in text
    assert exercises()["1.1"].praise not in text
