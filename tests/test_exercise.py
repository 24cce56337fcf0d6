"""Every checker is checked: right answers pass, stubs get a hint, typical wrong answers are named."""

import math
import re
from importlib import import_module

import numpy as np
import pytest

import roofcourse as rc
from roofcourse.exercise import CHAPTERS, Choice, Function, Number, exercises

# One module of answers for each chapter: RIGHT by key, and WRONG by key as pairs of an answer and what is said to it.
ANSWERS = [import_module(f"answers.{name}") for name in CHAPTERS.values()]
RIGHT = {key: value for module in ANSWERS for key, value in module.RIGHT.items()}
WRONG = {key: value for module in ANSWERS for key, value in module.WRONG.items()}


def test_every_exercise_is_tested_here():
    assert set(exercises()) == set(RIGHT) == set(WRONG)


@pytest.mark.parametrize("key", list(RIGHT))
def test_right_answers_pass(key):
    verdict = rc.check(key, RIGHT[key])
    assert verdict.passed is True, verdict
    assert repr(verdict).startswith("Right. ")


@pytest.mark.parametrize(("key", "answer", "said"), [(k, a, s) for k, pairs in WRONG.items() for a, s in pairs])
def test_wrong_answers_are_named(key, answer, said):
    verdict = rc.check(key, answer)
    assert verdict.passed is False
    assert re.search(said, verdict.message), verdict.message


def test_an_answer_rounded_too_far_is_not_called_wrong_thinking():
    for typed in (2.7, 8.0 / 3 * 1.02, 3.0):  # the answer is 8 / 3; 3.0 is a mistake with a reply of its own
        said = rc.check("2.6", typed).message
        assert (said == "That is the answer, rounded too far: give three digits.") == (typed == 2.7)
    assert rc.check("2.6", 2.67)


@pytest.mark.parametrize("key", [key for key, e in exercises().items() if isinstance(e, Number)])
def test_three_digits_are_enough(key):
    assert rc.check(key, float(f"{exercises()[key].answer():.3g}"))


@pytest.mark.parametrize(
    "given", [math.inf, -math.inf, math.nan, np.inf, 10**400, -(10**400)], ids=lambda x: repr(x)[:9]
)
def test_an_answer_that_is_not_finite_gets_a_sentence(given):
    for e in exercises().values():
        if isinstance(e, Number):
            verdict = rc.check(e.key, given)
            assert verdict.passed is False
            shown = "nan" if given != given else "inf" if given > 0 else "-inf"
            assert verdict.message == f"The answer is {e.asked}; this is {shown}."
        if isinstance(e, Function):
            assert rc.check(e.key, lambda *case: given).passed is False


@pytest.mark.parametrize("key", list(RIGHT))
def test_an_untouched_stub_gets_a_hint(key):
    for stub in (..., None):
        verdict = rc.check(key, stub)
        assert verdict.passed is None
        assert verdict.message == exercises()[key].nudge
        assert f'data-rc-verdict="open" data-rc-exercise="{key}"' in verdict._repr_html_()
    assert not verdict


@pytest.mark.parametrize("key", list(RIGHT))
def test_every_exercise_has_two_hints_and_the_first_gives_less_away(key):
    e = exercises()[key]
    assert rc.hint(key).texts == (e.nudge, e.hint)
    assert 20 < len(e.nudge) <= 120
    assert e.nudge != e.hint


def test_hints_are_folded_until_asked_for():
    nudge, way = exercises()["1.2"].hints
    assert repr(rc.hint("1.2")) == f"Hint 1: {nudge}\nHint 2: {way}"
    folded = '<details class="rc-hint"><summary>{}</summary><p>{}</p></details>'
    assert rc.hint("1.2")._repr_html_() == folded.format("Hint 1", nudge) + folded.format("Hint 2", way)
    assert rc.check("1.2")._repr_html_().endswith(f"Your turn. {nudge}</p>" + folded.format("Another hint", way))
    assert "rc-hint" not in rc.check("1.2", "compute")._repr_html_()


def test_an_answer_is_asked_for_in_its_unit():
    assert exercises()["1.4"].asked == "one number in percent"
    assert exercises()["5.4"].asked == "one number, a factor"
    assert rc.check("5.4", "121").message == (
        "The answer is one number, a factor. Write it plain, with a point and no quotes: 0.75."
    )


def test_a_function_that_returns_nothing_is_a_stub():
    assert rc.check("1.3", lambda w, q, f, b: None).passed is None
    assert rc.check("1.3", lambda w, q, f, b: ...).passed is None


def test_typical_mistakes_differ_from_the_right_answer():
    for e in exercises().values():
        if isinstance(e, Number):
            assert all(not e.check(m.value()).passed for m in e.mistakes), e.key
        elif isinstance(e, Function):
            assert all(e.check(wrong).passed is False for wrong, _ in e.mistakes), e.key
        else:
            assert isinstance(e, Choice)
            assert e.answer() in e.options


def test_an_unknown_exercise_is_refused():
    with pytest.raises(LookupError, match=r"there is no exercise '9\.9'; there are 1\.1, 1\.2"):
        rc.check("9.9", 1)
    with pytest.raises(LookupError, match=r"there is no exercise '9\.9'"):
        rc.hint("9.9")


def test_verdicts_are_escaped():
    assert "&lt;i&gt;" in rc.check("1.3", lambda *a: (_ for _ in ()).throw(ValueError("<i>")))._repr_html_()
