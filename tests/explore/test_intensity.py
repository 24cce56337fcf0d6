"""The explorer of chapter 2: its numbers and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import random
import re
import xml.etree.ElementTree as ET

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore.kinds import intensity

PRECISIONS = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]
SHOWN = ["intensity", "flop", "bytes", "percent_x", "percent_a", "percent_y", "percent_scales"]


def values(**state) -> dict:
    return explore.compute("intensity", state)


# ---- what it says


def test_a_linear_layer_of_sixteen_tokens():
    v = values()
    assert v["flop"] == 2 * 16 * 8192 * 8192
    # 2 bytes times 16 x 8192, 8192 x 8192 and 16 x 8192
    assert (v["bytes_x"], v["bytes_a"], v["bytes_y"], v["bytes_scales"]) == (262_144, 134_217_728, 262_144, 0)
    assert v["bytes"] == 134_742_016
    assert v["percent_a"] == pytest.approx(99.6109, abs=1e-4)
    assert v["largest"] == "a"
    assert v["bound"] == "memory"
    assert v["sentence"] == (
        "X (16 × 8192) times A (8192 × 8192) in FP16 is 2.15\u00a0GFLOP and moves 135\u00a0MB: "
        "I\u00a0=\u00a015.9\u00a0FLOP/byte. A takes 99.6\u00a0% of the traffic. "
        "An H100 asks for 255\u00a0FLOP/byte in FP16: memory-bound there."
    )


def test_a_square_shares_its_traffic_equally():
    v = values(m=4096, n=4096, k=4096, precision="fp32")
    assert v["intensity"] == pytest.approx(4096 / 6)
    assert v["percent_x"] == v["percent_y"] == pytest.approx(100 / 3)
    assert "X, A and Y take 33.3\u00a0% of the traffic each." in v["sentence"]
    assert v["bound"] == "compute"


def test_where_a_layer_meets_the_ridge_point():
    assert values(m=272)["bound"] == "balanced"
    assert "the same within 1\u00a0%, balanced." in values(m=272)["sentence"]
    assert values(m=265)["bound"] == "memory"
    assert values(m=280)["bound"] == "compute"


def test_narrow_formats_write_wider_results_and_move_scales():
    v = values(m=8192, precision="fp8")
    assert (v["bytes_x"], v["bytes_a"], v["bytes_y"], v["bytes_scales"]) == (2**26, 2**26, 2**27, 8)
    assert v["largest"] == "y"
    v = values(m=1, precision="nvfp4", device="b300")
    # One row is padded to 128 rows of scales: 128 x 8192 / 16, and 8192 x 8192 / 16 for A.
    assert v["bytes_scales"] == 65_536 + 4_194_304
    assert "Block scales" not in v["sentence"]
    assert "The block scales take" in values(m=1, n=1, k=4096, precision="nvfp4", device="b300")["sentence"]


def test_a_precision_that_a_device_lacks():
    v = values(precision="fp8", device="mi210")
    assert not v["available"]
    assert "ridge_point" not in v
    assert v["sentence"].endswith("FP8 was not measured on the MI210, so it has no FP8 ridge point here.")


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_parts_add_up_to_the_counted_bytes(precision):
    dice = random.Random(5)
    for _ in range(50):
        m, n, k = (round(2 ** dice.uniform(0, 14)) for _ in range(3))
        moved = intensity.parts(m, n, k, rc.precision(precision))
        assert sum(moved.values()) == pytest.approx(rc.gemm(m, n, k, precision).bytes, rel=1e-12)


def test_every_state_fits_the_axis():
    ends = [values(m=a, n=b, k=c, precision=p)["intensity"] for p in PRECISIONS for a, b, c in
            [(1, 1, 1), (1, 1, 16384), (16384, 16384, 1), (16384, 16384, 16384)]]  # fmt: skip
    assert min(ends) > 0.05
    assert max(ends) < 20000


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"m": 0}, "m is a whole number from 1 to 16384, not 0"),
        ({"n": 16385}, "n is a whole number from 1 to 16384, not 16385"),
        ({"k": 2.5}, "k is a whole number from 1 to 16384, not 2.5"),
        ({"precision": "int8"}, "no device of the catalogue has a measured roof for int8"),
        ({"device": "h101"}, "h100"),
        ({"rows": 3}, "has no rows; its state is: m, n, k, precision, device"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("intensity", state)
    assert words in str(caught.value)


@pytest.mark.parametrize("state", [{}, {"m": 8192, "precision": "nvfp4", "device": "b300"}, {"m": 1, "n": 1, "k": 1},
                                   {"device": "mi210", "precision": "fp8"}])  # fmt: skip
def test_stand_in_is_a_small_picture_with_an_alternative_text(state):
    svg = re.search(r"<svg.*?</svg>", explore.static_html("intensity", state), re.DOTALL)[0]
    assert len(svg.encode()) <= 12 * 1024
    root = ET.fromstring(svg)
    assert values(**state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


# ---- in the browser


def shows(page, **state) -> dict:
    v = values(**state)
    shown = page.readings()
    assert shown["sentence"] == v["sentence"]
    for name in SHOWN:
        assert shown[name] == pytest.approx(v[name], rel=1e-9), name
    return v


@pytest.mark.browser
def test_every_size_by_keyboard_and_by_number(open_page):
    page = open_page(("intensity", {}))
    state = {"m": 16, "n": 8192, "k": 8192}
    shows(page, **state)
    for key, unit in (("m", "rows"), ("n", "columns"), ("k", "terms")):
        slider = page.control(key)
        slider.focus()
        for press, size in (("Home", 1), ("ArrowRight", 2), ("PageUp", 16), ("End", 16384), ("ArrowLeft", 8192)):
            slider.press(press)
            state[key] = size
            assert slider.get_attribute("aria-valuetext") == f"{key.upper()} = {size} {unit}"
            shows(page, **state)
        page.control(f"{key}_exact").fill("100")
        state[key] = 100
        shows(page, **state)
        slider.press("ArrowRight")
        state[key] = 128
        shows(page, **state)
        assert page.control(f"{key}_exact").input_value() == "128"


@pytest.mark.browser
@pytest.mark.parametrize("wrong", ["0", "16385", "2.5", ""])
def test_a_wrong_size_is_said_and_changes_nothing(open_page, wrong):
    page = open_page(("intensity", {}))
    box = page.control("n_exact")
    box.fill(wrong)
    assert box.get_attribute("aria-invalid") == "true"
    said = page.page.get_by_text("N is a whole number from 1 to 16384.")
    assert said.is_visible()
    shows(page)
    box.blur()
    assert box.input_value() == "8192"
    assert not said.is_visible()


@pytest.mark.browser
def test_shapes_precisions_and_devices(open_page):
    page = open_page(("intensity", {}))
    for shape in intensity.SHAPES:
        page.control("shape").select_option(label=shape["label"])
        shows(page, **{key: shape[key] for key in "mnk"})
    page.control("shape").select_option(label="linear layer, 16 tokens")
    for device in ("h100", "b300", "mi210"):
        page.control("device").select_option(device)
        for precision in PRECISIONS:
            page.control("precision").select_option(precision)
            v = shows(page, device=device, precision=precision)
            chosen = page.control("precision").locator("option:checked").text_content()
            assert chosen.endswith("(no data)") == (not v["available"])
    page.control("m").press("End")
    assert page.control("shape").input_value() == ""


@pytest.mark.browser
def test_the_bar_is_the_traffic_and_the_table_agrees(open_page):
    page = open_page(("intensity", {"m": 4096}))
    v = values(m=4096)
    widths = {p: float(page.page.locator(f"rect.rc-part-{p}").first.get_attribute("width")) for p in ("x", "a", "y")}
    for part, width in widths.items():
        assert 100 * width / sum(widths.values()) == pytest.approx(v[f"percent_{part}"], abs=0.1)
    page.open_table("The traffic as a table")
    rows = [[c.text_content() for c in row.locator("th,td").all()] for row in page.page.locator("tbody tr").all()]
    assert rows[0] == ["X, read", "4096 × 8192", "33\u202f554\u202f432", "67.1\u00a0MB", "25.0\u00a0%"]
    assert rows[1][4] == "50.0\u00a0%"
    assert rows[-1] == ["all", "", "", "268\u00a0MB", "100\u00a0%"]
