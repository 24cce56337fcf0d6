"""The page's checker against the package's: the same verdict on every answer."""

from __future__ import annotations

import json
import math
import random
import re

import pytest
import questions
from nobreak import glue

import roofcourse as rc
from roofcourse.exercise import CHAPTERS, Choice, Function, Number, exercises

NAMES = {True: "right", False: "wrong", None: "open"}


@pytest.fixture(scope="module")
def checker(chromium):
    """`checker([(key, answer), ...])` is what the page's script says to them, as pairs of a kind and a message. An
    option is given as the page sets it."""
    page = chromium.new_page()
    page.add_script_tag(content=questions.answers(list(exercises())))
    page.add_script_tag(content=(questions.HERE / "questions.js").read_text())

    def check(pairs: list) -> list[list[str]]:
        script = "pairs => pairs.map(([key, given]) => roofcourseQuestions.check(roofcourseAnswers[key], given))"
        return page.evaluate(script, [(key, glue(given) if isinstance(given, str) else given) for key, given in pairs])

    check.page = page
    yield check
    page.close()


def python(key: str, answer) -> list[str]:
    verdict = rc.check(key, answer)
    return [NAMES[verdict.passed], glue(verdict.message)]


def answers_of(module: str) -> list[tuple[str, object]]:
    """All answers of tests/answers that a page can be given: numbers, and choices among the options."""
    answers = __import__(f"answers.{module}", fromlist=["RIGHT"])
    pairs = [*answers.RIGHT.items(), *((key, given) for key, wrong in answers.WRONG.items() for given, _ in wrong)]
    return [(key, given) for key, given in pairs if can_be_given(exercises()[key], given)]


def can_be_given(exercise, given) -> bool:
    if isinstance(exercise, Choice):
        return given in exercise.options
    return isinstance(exercise, Number) and isinstance(given, int | float) and not isinstance(given, bool)


@pytest.mark.browser
@pytest.mark.parametrize("module", CHAPTERS.values())
def test_page_and_package_agree_on_the_answers_of_the_tests(checker, module):
    pairs = answers_of(module)
    assert len(pairs) > 10
    assert checker(pairs) == [python(*pair) for pair in pairs]


@pytest.mark.browser
def test_page_and_package_agree_around_every_border(checker):
    """Just inside and just outside the tolerance of the right answer and of each mistake, and powers of ten away."""
    rng = random.Random(7)
    pairs = []
    for key, e in exercises().items():
        if not isinstance(e, Number):
            continue
        for value in (float(e.answer()), *(float(m.value()) for m in e.mistakes)):
            near = (1 - 0.99 * e.tolerance, 1 - 1.01 * e.tolerance, 1 + 0.99 * e.tolerance)
            between = 1 + e.tolerance * (1 + e.tolerance / 2)  # within it of the larger number, not of the smaller
            for factor in (*near, between, 10.0, 1e-3, -1.0):
                pairs.append((key, value * factor))
            pairs.append((key, value * 10 ** (rng.randint(-9, 9) + rng.uniform(-1, 1) * e.tolerance)))
        pairs += [(key, 0.0), (key, None), (key, float(f"{e.answer():.1g}")), (key, float(f"{e.answer():.2g}"))]
    assert len(pairs) > 800
    assert checker(pairs) == [python(*pair) for pair in pairs]


@pytest.mark.browser
def test_every_option_gets_the_reply_of_the_package(checker):
    pairs = [(key, option) for key, e in exercises().items() if isinstance(e, Choice) for option in (*e.options, None)]
    assert checker(pairs) == [python(*pair) for pair in pairs]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1044", 1044.0),
        (" 1,044 ", 1044.0),
        ("1 044.5", 1044.5),
        ("12,345,678", 12345678.0),
        ("0,33", 0.33),
        ("0.125", 0.125),
        ("0,125", 0.125),
        (".5", 0.5),
        ("5.", 5.0),
        ("−4", -4.0),
        ("1.04e3", 1040.0),
        ("1.04 × 10^3", 1040.0),
        ("2*10**-6", 2e-6),
        ("3·10^−2", 0.03),
        ("8/3", 8 / 3),
        ("2 2/3", 2 + 2 / 3),
        ("1 044/3", 348.0),
        ("85 %", 85.0),
        ("", None),
        ("  ", None),
        ("85 µs", math.nan),
        ("about 3", math.nan),
        ("1/2/3", math.nan),
        ("10 44", math.nan),
        ("1.2.3", math.nan),
        ("1,04,4", math.nan),
        ("0x10", math.nan),
        ("-", math.nan),
    ],
)
def test_numbers_are_read_as_people_type_them(checker, typed, number):
    got = checker.page.evaluate("text => roofcourseQuestions.readNumber(text)", typed)
    assert got == number or (isinstance(number, float) and math.isnan(number) and math.isnan(got))


@pytest.mark.browser
@pytest.mark.parametrize(
    ("key", "typed", "verdict"),
    [
        ("2.6", "2,667", "right"),  # 8/3 with a decimal comma
        ("2.6", "2 667", "wrong"),  # and with thousands, which are off by 1000
        ("2.6", "2,567", "wrong"),
        ("1.1", "1,044", "right"),  # 1044 µs
        ("1.1", "1,044,000", "wrong"),
    ],
)
def test_a_comma_before_three_digits_is_read_as_the_one_that_is_right(checker, key, typed, verdict):
    script = "([key, typed]) => roofcourseQuestions.replyTo(roofcourseAnswers[key], typed)[0]"
    assert checker.page.evaluate(script, [key, typed]) == verdict


@pytest.mark.browser
def test_what_is_no_number_is_asked_for_again(checker):
    script = "key => roofcourseQuestions.check(roofcourseAnswers[key], NaN)"
    assert checker.page.evaluate(script, "1.4") == ["open", "The answer is one number in percent."]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("typed", "unit", "number"),
    [
        ("1,044 µs", "microseconds", 1044.0),
        ("1044us", "microseconds", 1044.0),
        ("1044 Microseconds", "microseconds", 1044.0),
        ("9 cards", "cards", 9.0),
        ("1 card", "cards", 1.0),
        ("0.333 FLOP/byte", "FLOP/byte", 0.333),
        ("8/3 ×", "times", 8 / 3),
        ("121x", "times", 121.0),
        ("93 percent", "percent", 93.0),
        ("1.044 ms", "microseconds", math.nan),  # another unit is asked for again, and never converted
        ("0.9 s", "microseconds", math.nan),
        ("µs", "microseconds", math.nan),
    ],
)
def test_the_unit_that_is_asked_for_may_stand_behind_the_number(checker, typed, unit, number):
    got = checker.page.evaluate("([text, unit]) => roofcourseQuestions.readNumber(text, unit)", [typed, unit])
    assert got == number or (math.isnan(number) and math.isnan(got))


@pytest.mark.browser
def test_the_order_of_an_attempt_is_fixed_and_differs_from_the_next(checker):
    def order(seed: int) -> list[str]:
        return checker.page.evaluate("seed => roofcourseQuestions.shuffled(['a', 'b', 'c', 'd', 'e'], seed)", seed)

    orders = [order(1000 * attempt) for attempt in range(1, 6)]
    assert orders == [order(1000 * attempt) for attempt in range(1, 6)]
    assert all(sorted(found) == ["a", "b", "c", "d", "e"] for found in orders)
    assert len({tuple(found) for found in orders}) == 5


# --- what is written for a page ---------------------------------------------------------------------------------------


def test_no_answer_can_be_read_in_passing():
    for key, e in exercises().items():
        known = questions.record(e)
        if isinstance(e, Function):
            assert known == {"hints": [glue(hint) for hint in e.hints]}
            continue
        told = json.dumps({"right": known["right"], "mistakes": [value for value, _ in known.get("mistakes", ())]})
        values = [e.answer()] if isinstance(e, Choice) else [e.answer(), *(m.value() for m in e.mistakes)]
        shown = [value if isinstance(value, str) else str(float(value)) for value in values]
        assert not any(value in told for value in shown), key


def test_what_a_page_says_is_set_as_its_text():
    told = json.dumps([questions.record(e) for e in exercises().values()], ensure_ascii=False)
    assert "this kernel’s bound" in told
    assert not re.search(r"\w'\w|\d (bytes|GB|µs|%)", told)


def test_a_veiled_answer_is_its_json_with_each_byte_changed():
    assert questions.veil("no") == "eDQ1eA=="  # '"no"' is 22 6e 6f 22; with 5a, 78 34 35 78
    assert questions.veil(9) == questions.veil(9.0) == "Y3Rq"  # '9.0' is 39 2e 30; 63 74 6a


def test_a_page_gets_the_scripts_that_it_needs(tmp_path):
    assert questions.write("<p>nothing to answer</p>", "index", tmp_path) == ([], [])
    assert list(tmp_path.iterdir()) == []
    quiz = rc.quiz("bounds")._repr_html_()
    assert questions.write(quiz, "index", tmp_path) == ([questions.SCRIPT], [questions.STYLE])
    body = rc.check("1.2")._repr_html_() + rc.check("1.1")._repr_html_() + rc.check("1.2", "compute")._repr_html_()
    scripts, _ = questions.write(body + quiz, "notebooks/01_bounds", tmp_path)
    assert scripts == ["notebooks-01_bounds.answers.roofcourse.js", questions.SCRIPT]
    written = (tmp_path / scripts[0]).read_text()
    assert json.loads(written.removeprefix("window.roofcourseAnswers = ").removesuffix(";\n")).keys() == {"1.1", "1.2"}


def test_a_page_with_an_unknown_exercise_is_refused(tmp_path):
    with pytest.raises(KeyError, match=r"9\.99"):
        questions.write('<p data-rc-exercise="9.99">', "index", tmp_path)
