"""The formulas exist twice: a real browser must compute what Python computes, to 1e-9, and say the same sentence."""

from __future__ import annotations

import math
import random

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds

pytestmark = pytest.mark.browser

TOLERANCE = 1e-9


def sweep_states() -> list[dict]:
    """Every device and precision (measured or not) at measured, unmeasured and odd M."""
    dice = random.Random(1)
    precisions = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]
    states = []
    for d in rc.devices():
        for p in precisions:
            for m in [1, 2, 16, 64, 512, 2048, 4096, 8192, dice.randint(1, 8192)]:
                states.append({"device": d.key, "precision": p, "m": m})
    return states


def bounds_states() -> list[dict]:
    dice = random.Random(2)
    devices = [d.key for d in rc.devices()]
    precisions = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]
    states = []
    for _ in range(300):
        flop, moved = 10 ** dice.uniform(6, 15), 10 ** dice.uniform(3, 12)
        states.append(
            {"flop": flop, "bytes": moved, "device": dice.choice(devices), "precision": dice.choice(precisions)}
        )
    for d in rc.devices():  # at the ridge point and just beside it
        for p in d.precisions:
            ridge = d.roofline(p).ridge_point
            states += [
                {"flop": ridge * 1e9 * f, "bytes": 1e9, "device": d.key, "precision": p} for f in (1, 1.02, 0.98)
            ]
    return states


@pytest.mark.parametrize(
    ("kind", "states"), [("m_sweep", sweep_states()), ("bounds", bounds_states())], ids=["m_sweep", "bounds"]
)
def test_browser_and_python_agree(open_page, kind, states):
    states = [kinds.complete(kind, s) for s in states]
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
                assert math.isclose(browser[key], value, rel_tol=TOLERANCE), (state, key, browser[key], value)
            else:
                assert browser[key] == value, (state, key)


@pytest.mark.parametrize("kind", explore.kind_names())
def test_the_spec_on_the_page_is_the_one_of_the_package(open_page, kind):
    page = open_page((kind, {}))
    assert page.page.evaluate("window.roofcourse.explorers[0].spec") == kinds.get(kind).spec()
