"""Every checker is checked: right answers pass, stubs get a hint, typical wrong answers are named."""

import pytest

import roofcourse as rc
from roofcourse.exercise import Choice, Function, Number, exercises

H100 = rc.device("h100")

# Worked apart from the checkers, with plain arithmetic on B and F.
B, F = 3084.846e9, 61.4727e12
RIGHT = {
    "1.1": 3 * 4 * 2**28 / B * 1e6,
    "1.2": "memory",
    "1.3": lambda w, q, f, b: w / f if w / f > q / b else q / b,
    "1.4": 93.28,
    "1.5": 9,
}
WRONG = {
    "1.1": [
        (2 * 4 * 2**28 / B * 1e6, "8 bytes for each element"),
        (4 * 2**28 / B * 1e6, "You counted one array"),
        (3 * 2 * 2**28 / B * 1e6, "FP32 takes 4"),
        (2 * 2**28 / F * 1e6, "the shorter of the two"),
        (3 * 4 * 2**28 / B, "off by 10\\^-6"),
        (3 * 4 * 2**28 / B * 1e6 + 2 * 2**28 / F * 1e6, "W / F plus Q / B"),
        (17, "Two reads and one write"),
        ("1044 µs", "one number in microseconds; this is str"),
        (True, "this is bool"),
    ],
    "1.2": [
        ("compute", "Compare the two times again"),
        ("both", "Answer with one of: 'memory', 'compute'"),
        (3, "Answer with one"),
    ],
    "1.3": [
        (lambda w, q, f, b: w / f + q / b, "That is the sum"),
        (lambda w, q, f, b: min(w / f, q / b), "the shorter time"),
        (lambda w, q, f, b: max(w / b, q / f), "swapped"),
        (lambda w, q, f, b: min(f, b * w / q), "attainable throughput"),
        (lambda w, q, f, b: 3.0, r"For \(50, 100, 100, 10\) it gives 3.0; return the longer"),
        (lambda w, q, f, b: 1 / 0, "raised ZeroDivisionError"),
        (7, "The answer is a function"),
    ],
    "1.4": [
        (107.2, "divided the measured time by the bound"),
        (0.78, "share of the peak throughput"),
        (50, "Divide the lower bound"),
    ],
    "1.5": [(3, "how many are compute-bound"), (12, "Loop over")],
}


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
    import re

    assert re.search(said, verdict.message), verdict.message


@pytest.mark.parametrize("key", list(RIGHT))
def test_an_untouched_stub_gets_a_hint(key):
    for stub in (..., None):
        verdict = rc.check(key, stub)
        assert verdict.passed is None
        assert verdict.message == exercises()[key].hint
        assert 'data-rc-verdict="open"' in verdict._repr_html_()
    assert not verdict


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


def test_verdicts_are_escaped():
    assert "&lt;i&gt;" in rc.check("1.3", lambda *a: (_ for _ in ()).throw(ValueError("<i>")))._repr_html_()
