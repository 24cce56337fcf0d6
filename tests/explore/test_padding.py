"""The explorer of chapter 7: its numbers and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds
from roofcourse.explore.kinds import padding

PRECISIONS = ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]
TILES = [1, 8, 16, 32, 64, 128, 256, 512]


def values(**state) -> dict:
    return explore.compute("padding", state)


# ---- what it says


def test_two_rows_in_a_block_of_32_in_fp64_on_a_consumer_card():
    v = values()
    assert (v["m"], v["executed"], v["useful_percent"]) == (2, 32, 6.25)
    assert v["executed_flop"] == 2 * 32 * 8192 * 8192
    # 2 * 32 * 8192^2 FLOP over 8 * (8192^2 + 2 * 2 * 8192) bytes
    assert v["padded_intensity"] == pytest.approx(4294967296 / 537133056)
    assert v["padded_seconds"] == pytest.approx(4294967296 / 0.7417605e12, rel=1e-6)
    assert v["bound_seconds"] == pytest.approx(537133056 / 661.42385e9, rel=1e-6)
    assert (v["effect"], v["padded_bound"], v["fit"]) == ("costs", "compute", "accounts")
    assert v["percent"] == pytest.approx(84.05, abs=0.01)
    # 6.88931 ms at 0.74176 TFLOP/s, 2 * 8192^2 FLOP a row
    assert v["rows_possible"] == pytest.approx(38.07, abs=0.01)
    assert v["sentence"] == (
        "2 rows in blocks of 32: an RTX 4080 in FP64 executes 32, 16 times the useful work. The padded intensity is "
        "8.00\u00a0FLOP/byte, past the ridge point (1.12), so padding costs time: at least 5.8\u00a0ms instead of "
        "812\u00a0µs. Measured: 6.9\u00a0ms, of which this bound accounts for 84\u00a0%."
    )


def test_the_same_padding_is_free_left_of_the_ridge_point():
    v = values(precision="fp16")
    assert v["padded_intensity"] == pytest.approx(31.98, abs=0.01)
    assert (v["effect"], v["padded_seconds"]) == ("free", v["bound_seconds"])
    assert "so padding costs nothing: moving the bytes takes 203\u00a0µs in any case" in v["sentence"]


def test_how_high_a_block_may_be_before_two_rows_pay_for_it():
    """Chapter 7 asks it of a B300 in FP16: 256 rows are left of the ridge point (279), 512 are past it."""
    free, costs = (values(device="b300", precision="fp16", tile=tile) for tile in (256, 512))
    # 2 * 8192^2 FLOP a row over 2 * (8192^2 + 2 * 2 * 8192) bytes
    assert free["padded_intensity"] == pytest.approx(256 / (1 + 4 / 8192))
    assert (free["effect"], costs["effect"]) == ("free", "costs")
    assert costs["padded_seconds"] / costs["bound_seconds"] == pytest.approx(511.75 / costs["ridge_point"], rel=1e-5)


def test_every_decade_of_time_has_its_line():
    svg = explore.static_html("padding", {})
    assert all(f">{words}<" in svg for words in ("1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms"))


def test_a_block_that_is_too_high_is_ruled_out_by_the_time():
    v = values(tile=64)
    assert v["fit"] == "ruled out"
    assert "too short for 64 rows at F" in v["sentence"]
    assert values(device="b300", precision="fp32", tile=128)["fit"] == "ruled out"
    assert values(device="b300", precision="fp32", tile=128)["rows_possible"] == pytest.approx(102.6, abs=0.1)


def test_a_bound_that_accounts_for_a_part_says_so():
    v = values(device="b300", precision="fp32", m=32)
    assert (v["fit"], v["effect"]) == ("partly", "none")
    assert v["percent"] == pytest.approx(31, abs=0.1)
    assert "executes no row in vain" in v["sentence"]
    assert v["sentence"].endswith("this bound accounts for 31\u00a0%; the rest has another reason.")


def test_bytes_from_a_cache():
    v = values(precision="fp8", m=32)
    assert v["fit"] == "cache"
    assert v["sentence"].endswith("less than the bytes take from memory: a cache served a part of them.")


def test_without_blocks_nothing_is_padded():
    v = values(tile=1, m=5)
    assert (v["executed"], v["effect"]) == (5, "none")
    assert v["padded_intensity"] == v["intensity"]
    assert not v["measured"]
    assert "without blocks" in v["sentence"]
    assert v["sentence"].endswith("This number of rows was not measured.")


@pytest.mark.parametrize(
    ("m", "tile", "executed"), [(1, 32, 32), (32, 32, 32), (33, 32, 64), (1000, 256, 1024), (7, 1, 7)]
)
def test_rows_are_rounded_up_to_whole_blocks(m, tile, executed):
    assert padding.executed_rows(m, tile) == executed


def test_a_precision_that_a_device_lacks():
    v = values(device="mi210", precision="fp8")
    assert not v["available"]
    assert v["sentence"].startswith("FP8 was not measured on the MI210")


def test_every_time_is_inside_the_axes():
    from roofcourse.explore.standin_padding import SECONDS

    for d in rc.devices():
        for p in d.precisions:
            for m in (1, 1024):
                for tile in (1, 512):
                    v = padding.point(d, rc.precision(p), m, tile)
                    for key in ("bound_seconds", "padded_seconds", "seconds"):
                        assert SECONDS[0] < v.get(key, 1e-3) < SECONDS[1], (d.key, p, m, key)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"m": 0}, "m is a whole number from 1 to 1024, not 0"),
        ({"m": 1025}, "1025"),
        ({"tile": 7}, "tile is one of 1, 8, 16, 32, 64, 128, 256, 512 rows, not 7"),
        ({"tile": True}, "not True"),
        ({"precision": "int8"}, "int8"),
        ({"rows": 3}, "has no rows; its state is: m, tile, precision, device"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("padding", state)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "state", [{}, {"tile": 8, "m": 1}, {"device": "mi210", "precision": "fp8"}, {"device": "b300", "m": 3}, {"m": 1024}]
)
def test_stand_in_is_a_small_picture_with_an_alternative_text(state):
    svg = re.search(r"<svg.*?</svg>", explore.static_html("padding", state), re.DOTALL)[0]
    assert len(svg.encode()) <= 24 * 1024
    root = ET.fromstring(svg)
    assert values(**state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


# ---- in the browser


NUMBERS = ["executed", "useful_percent", "padded_intensity", "padded_seconds", "seconds", "rows_possible"]


def shows(page, **state) -> dict:
    v = kinds.get("padding").compute(kinds.complete("padding", state))
    shown = page.readings()
    assert shown["sentence"] == v["sentence"]
    for name in NUMBERS:
        assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), name
    return v


@pytest.mark.browser
def test_rows_by_keyboard_and_exactly(open_page):
    page = open_page(("padding", {}))
    slider = page.control("m")
    shows(page)
    for press, m in (("Home", 1), ("ArrowRight", 2), ("PageUp", 16), ("End", 1024), ("ArrowLeft", 512)):
        slider.press(press)
        shows(page, m=m)
    page.control("m_exact").fill("33")
    shows(page, m=33)
    page.control("m_exact").fill("2000")
    assert page.page.get_by_text("M is a whole number from 1 to 1024.").is_visible()
    shows(page, m=33)
    slider.press("Home")
    shows(page, m=1)


@pytest.mark.browser
def test_blocks_devices_and_the_table(open_page):
    page = open_page(("padding", {}))
    page.open_table("The measured rows as a table")
    for tile in ("1", "64"):
        page.control("tile").select_option(tile)
        for device, precision in (("b300", "fp32"), ("mi210", "fp8_e4m3"), ("h100", "fp8_e4m3")):
            page.control("device").select_option(device)
            page.control("precision").select_option(precision)
            v = shows(page, tile=int(tile), device=device, precision=precision)
            rows = page.page.locator(".rc-table tbody tr")
            measured = [x.m for x in rc.device(device).m_sweep(precision) if x.m <= 1024] if v["available"] else []
            assert [int(text) for text in rows.locator("th").all_text_contents()] == measured
