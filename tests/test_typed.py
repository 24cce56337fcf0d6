"""No device figure is typed in what quizzes and exercises say: each is computed from the data, and here worked by hand.

In the prose a marker stands behind a figure (tests/prose.py); Python can compute it where it is said.
"""

from __future__ import annotations

import ast
import inspect
import re
from importlib import import_module

import pytest

import roofcourse as rc
from roofcourse.exercise import CHAPTERS, Choice, exercises
from roofcourse.exercises import bounds, decode, limits

#: A number with a unit, or with decimals: in the source it would be a figure that somebody typed.
FIGURE = re.compile(
    r"(?<![\w.*^/-])\d[\d,]*(?:\.\d+)?\s?(?:[µmn]?s\b|[kMGT]i?B\b|bytes?\b|[GTM]?B/s|[GT]?FLOP|%|percent\b|watts?\b)"
    r"|(?<![\w.,-])\d[\d,]*\.\d+(?!\w|\.\d)"
)
GIVEN = "the exercise gives it"
COUNTED = "the size of a number, or what is counted with it"
ARITHMETIC = "from what the exercise gives"

#: Module of exercises -> what may be typed there, and why.
ALLOWED = {
    "bounds": {"4 bytes": COUNTED, "8 bytes": COUNTED, "12 bytes": COUNTED, "2 bytes": COUNTED, "100 %": "the whole"},
    "measurement": {"8 bytes": COUNTED},
    "m_sweep": {"97 %": GIVEN, "3 %": ARITHMETIC},
    "limits": {"38 %": GIVEN, "12 %": GIVEN, "600 ns": GIVEN, "40 %": ARITHMETIC},
    "levers": {
        "95 %": GIVEN,
        "2.25": GIVEN,
        "16 bytes": GIVEN,
        "32 bytes": "a sector, of any card of NVIDIA",
        "64 bytes": "a line of a CPU's cache",
        "128 bytes": "a line of the cache, of any card of NVIDIA",
    },
    "your_kernel": {"1 s": "a step of any length would do", "0.7 s": ARITHMETIC, "0.3 s": GIVEN, "0.3": GIVEN},
}


def typed(source: str) -> set[str]:
    """Figures in the strings of a module, leaving out the keys of its exercises."""
    tree = ast.parse(source)
    keys = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.keyword) and n.arg == "key"}
    texts = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and id(n) not in keys]
    return {m[0] for text in texts if isinstance(text, str) for m in FIGURE.finditer(text)}


@pytest.mark.parametrize("package", ["quizzes", "exercises"])
@pytest.mark.parametrize("name", CHAPTERS.values())
def test_no_device_figure_is_typed(package, name):
    allowed = set(ALLOWED.get(name, {})) if package == "exercises" else set()
    assert typed(inspect.getsource(import_module(f"roofcourse.{package}.{name}"))) == allowed


def test_a_typed_figure_would_be_found():
    assert all(
        FIGURE.search(text) for text in ("takes 47 µs", "3,085 GB/s", "788 TFLOP/s", "6 %", "12.5 ms.", "is 16.8.")
    )
    others = (
        "16 rows",
        "an H100",
        "FP16 has",
        "I = 1024 tokens",
        "RTX 4080.",
        "Qwen2.5-7B",
        "Llama-3.1-8B",
        "chapter 5.",
    )
    assert not any(FIGURE.search(text) for text in others)
    assert typed('Number(key="1.1", hint=f"It is {x:.1f} %, not 7 %.")') == {"7 %"}


@pytest.mark.parametrize(
    ("key", "said"),
    [
        # 3 * 4 * 2**28 bytes
        ("1.1", "make 3.2 GB"),
        # 64 / 4 / (1 + 64 / 8192), and 51.9e12 / 3084.8e9
        ("2.5", "gives 15.9 FLOP/byte, and the ridge point is 16.8."),
        ("2.5", "a tile of 64 stops"),
        # FP64 over FP32 of the MI210's FMA sweep
        ("4.5", "the 77 % between"),
        # the A100, FP16: F = 295.2 TFLOP/s, B = 1682 GB/s
        ("3.1", "175 is the FP16 value"),
        # R = 8 * I at the ridge point is 85
        ("4.6", "R = 64 of the measured series is left of the corner, and R = 128 right of it."),
        # 14.14e9 / (57,344 * 4096) = 60.2
        ("6.4", "from batch 61 on"),
        # 11.6 ms less the 11.2 that are given, and less 14.14e9 / 3084.8e9
        ("6.8", "0.4 ms with them. Most of the 7 ms"),
        # 4.738 ms at F over 2 * 8192**2 FLOP is 37.2
        ("7.3", "Flat up to 32 and room for 37: blocks of 32 rows fit, and none of more than 37."),
        # 16 * 2 / 2 * (1 - a little), and 51.9e12 / 3084.8e9
        ("7.4", "16.0 is left of 16.8"),
    ],
)
def test_figures_of_replies_are_those_of_the_data(key, said):
    e = exercises()[key]
    wrong = e.wrong.values() if isinstance(e, Choice) else [m.message for m in e.mistakes]
    assert any(said in text for text in (e.praise, *wrong))


def test_what_replies_claim_in_words_is_so():
    h100, h200, b300 = rc.device("h100"), rc.device("h200"), rc.device("b300")
    vector = h100.roofline("fp32", path="vector")
    assert 100 < vector.memory_time(bounds.AXPY) / vector.compute_time(bounds.AXPY) < 130  # 1.1: over a hundred times
    assert 100 / exercises()["5.1"].answer() - 1 == pytest.approx(1 / 6, abs=0.01)  # a sixth of the throughput
    assert 1e6 * b300.m_sweep("fp32").at(m=2).seconds == pytest.approx(200, rel=0.01)  # 5.6: two hundred µs
    assert 200 < exercises()["6.1"].answer() < 400  # a few hundred tokens
    assert exercises()["7.1"].answer() / (limits._fp8().work.bytes / 1e6) == pytest.approx(0.5, abs=0.02)  # about half
    # 7.4: free on an H100, not on an H200
    assert h200.roofline("fp32").ridge_point < limits._padded() < h100.roofline("fp32").ridge_point
    assert decode.GRAPH == 11.2
