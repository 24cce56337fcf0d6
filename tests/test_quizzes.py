"""The quizzes: five questions for each chapter, one right option, a reply to every option, figures from the data."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

import roofcourse as rc
from roofcourse.exercise import CHAPTERS

NAMES = tuple(CHAPTERS.values())


@pytest.mark.parametrize("name", NAMES)
def test_every_chapter_asks_five_questions_with_three_options(name):
    questions = rc.quiz(name).questions
    assert len(questions) == 5
    assert len({q.ask for q in questions}) == 5
    for q in questions:
        assert q.ask.endswith("?")
        assert len(set(q.options)) == 3
        assert q.right not in q.wrong
        replies = [q.reply(option) for option in q.options]
        assert len(set(replies)) == 3
        assert all(reply.endswith(".") and len(reply) <= 160 for reply in replies)


@pytest.mark.parametrize("name", NAMES)
def test_the_right_option_is_not_always_at_the_same_place(name):
    assert len({q.options.index(q.right) for q in rc.quiz(name).questions}) >= 2


def test_the_longest_option_is_not_the_one_to_choose():
    every = [q for name in NAMES for q in rc.quiz(name).questions]
    longest = [q.ask for q in every if len(q.right) > max(map(len, q.wrong))]
    assert len(longest) <= len(every) / 3
    assert [q.ask for q in every if len(q.right) > max(map(len, q.wrong)) + 12] == []


# --- the figures, worked by hand from the data ------------------------------------------------------------------------


def asked(name: str, number: int) -> str:
    return rc.quiz(name).questions[number - 1].ask


@pytest.mark.parametrize(
    ("name", "number", "said"),
    [
        # the largest arrays of the working-set sweep: 279.2 and 280.1 µs
        ("bounds", 2, "add takes 279 µs and triad 280 µs"),
        # ridge points in FP16: 787.6e12 / 3084.8e9 and 104.2e12 / 661.4e9; between them 206, rounded to tens
        ("bounds", 5, "does 210 FLOP for each byte. An H100 asks for 255, an RTX 4080 for 158"),
        # M / (1 + 2M/N) with M = 16, N = 8192
        ("intensity", 1, "has I = 15.9"),
        # (2 + 2 + 2) / (1 + 1 + 2) bytes for a square
        ("intensity", 2, "8192 rows by 1.50"),
        # 787.6 / 51.9 and 100 * 3.0848 / 51.9
        ("ridge", 3, "15.2 times as high as the FP32 roof. A product with I = 50 in FP32 gains 5.95"),
        ("ridge", 4, "815 TFLOP/s on an H200, and 802 to 897 on an H100"),
        ("measurement", 2, "34 MB on an RTX 4080 moves 2,602 GB/s. Its B is 661 GB/s"),
        ("measurement", 4, "takes 183 µs and sixty-four take 191 µs"),
        # 49.47 / 46.70
        ("m_sweep", 2, "slower by 6 %"),
        ("m_sweep", 3, "two rows take 64 µs and eight rows 28 µs"),
        ("m_sweep", 5, "reaches 100.4 % of its roof"),
        # 4295.1 / 3084.8
        ("decode", 2, "39 % more bandwidth"),
        # 14.14e9 / (57,344 * 4096) = 60.2
        ("decode", 3, "from batch 61 on"),
        # 2 * 32 layers * 32 heads * 128 * 2 bytes, and with 8 heads
        ("decode", 5, "Llama-2-7B keeps 524 kB in its KV cache, Llama-3.1-8B 131 kB"),
        # 51.98 µs of 102.06
        ("limits", 1, "take 51 % of their lower bound"),
        # the bytes: almost 2; the peaks: 1318.1 / 787.6
        ("levers", 5, "falls by a factor of 2.00, that of 8192 rows by 1.67"),
    ],
)
def test_figures_are_those_of_the_data(name, number, said):
    assert said in asked(name, number)


def test_what_the_right_options_claim_is_so():
    h100, rtx4080 = rc.device("h100"), rc.device("rtx4080")
    assert rtx4080.roofline("fp16").ridge_point < 210 < h100.roofline("fp16").ridge_point
    assert rc.quiz("bounds").questions[4].right == "Traffic on the H100, arithmetic on the RTX 4080"
    assert rc.quiz("intensity").questions[0].right == "16.0"  # 16 / (1 + 32/16384) = 15.97
    low, high = rc.peak_range("h100", "bf16")
    assert low < rc.device("h200").roofline("bf16").peak < high
    # two rows in blocks of 32 stay left of the ridge point
    assert rc.gemm(32, 8192, 8192, "fp16").intensity < rtx4080.roofline("fp16").ridge_point


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_without_a_script_every_option_unfolds_to_its_reply():
    quiz = rc.quiz("bounds")
    page = BeautifulSoup(quiz._repr_html_(), "html.parser")
    assert page.select_one(".rc-quiz")["data-rc-quiz"] == "bounds"
    items = page.select(".rc-quiz > ol > li")
    assert [item.contents[0] for item in items] == [q.ask for q in quiz.questions]
    for item, q in zip(items, quiz.questions, strict=True):
        options = item.select("details")
        assert [d.summary.get_text() for d in options] == list(q.options)
        assert [d.p.get_text() for d in options] == [q.reply(option) for option in q.options]
        assert [d.summary.get_text() for d in options if "rc-right" in d.get("class", [])] == [q.right]
        assert [d.summary.get_text() for d in options if d.p.get_text().startswith("Right. ")] == [q.right]


def test_as_plain_text_the_options_stand_without_the_answers():
    lines = repr(rc.quiz("bounds")).splitlines()
    assert len(lines) == 5 * 4
    assert lines[0].startswith("1. For some kernel W/F is 40 µs")
    assert lines[1].startswith("   a) ")
    assert "Right" not in repr(rc.quiz("bounds"))


def test_text_is_escaped():
    from roofcourse.quizzes import Question, Quiz

    q = Question(ask="Is a < b?", right="<b>", praise="Yes & no.", wrong={"x": "y."})
    assert "Is a &lt; b?<details" in Quiz("t", (q,))._repr_html_()
    assert "<summary>&lt;b&gt;</summary><p>Right. Yes &amp; no.</p>" in Quiz("t", (q,))._repr_html_()


def test_a_quiz_that_is_not_there_is_refused():
    with pytest.raises(LookupError, match="there is no quiz 'roofs'; there are bounds, intensity, ridge"):
        rc.quiz("roofs")


def test_the_quiz_is_the_function_whatever_was_imported_first():
    import roofcourse.quizzes

    assert rc.quiz is roofcourse.quizzes.quiz
