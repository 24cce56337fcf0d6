"""The formulas exist twice: a real browser must compute what Python computes, to 1e-9, and say the same sentence."""

from __future__ import annotations

import math

import pytest
from kind_cases import STATES

from roofcourse import explore
from roofcourse.explore import kinds

pytestmark = pytest.mark.browser

TOLERANCE = 1e-9


@pytest.mark.parametrize("kind", explore.kind_names())
def test_browser_and_python_agree(open_page, kind):
    states = [kinds.complete(kind, state) for state in STATES[kind]()]
    assert len(states) >= 300
    page = open_page((kind, {}))
    got = page.page.evaluate(
        "({ kind, spec, states }) => states.map((state) => window.roofcourse.compute(kind, spec, state))",
        {"kind": kind, "spec": kinds.get(kind).spec(), "states": states},
    )
    for state, browser in zip(states, got, strict=True):
        python = explore.compute(kind, state)
        assert browser.keys() == python.keys(), state
        for key, value in python.items():
            if isinstance(value, float):
                near = math.isclose(browser[key], value, rel_tol=TOLERANCE, abs_tol=TOLERANCE * (kind == "ridge"))
                assert near, (state, key, browser[key], value)
            else:
                assert browser[key] == value, (state, key)


@pytest.mark.parametrize("kind", explore.kind_names())
def test_the_spec_on_the_page_is_the_one_of_the_package(open_page, kind):
    page = open_page((kind, {}))
    assert page.page.evaluate("window.roofcourse.explorers[0].spec") == kinds.get(kind).spec()
