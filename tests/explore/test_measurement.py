"""The explorer of chapter 4: its numbers and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds
from roofcourse.explore.kinds import measurement

KERNELS = [name for name, _, _ in measurement.KERNELS]
MEMORY_TILES = ["seconds", "bytes_per_s", "percent_of_b"]
SWEEP_TILES = ["flop_per_s", "percent_of_roof", "intensity"]


def values(**state) -> dict:
    return explore.compute("measurement", state)


# ---- what it says


def test_the_largest_copy_of_an_h100():
    v = values()
    assert (v["number"], v["points"], v["working_set"], v["region"]) == (7, 7, 2**29, "memory")
    assert v["bytes_per_s"] == pytest.approx(2568e9, rel=1e-3)
    assert v["percent_of_b"] == pytest.approx(83.25, abs=0.05)
    assert v["sentence"] == (
        "On an H100, a copy with a working set of 512\u00a0MiB takes 209\u00a0µs: 2.57\u00a0TB/s, 83\u00a0% of B. "
        "The arrays are far larger than the L2 (50\u00a0MiB): this is memory bandwidth."
    )


@pytest.mark.parametrize(
    ("point", "region"),
    [(1, "launch"), (2, "launch"), (3, "launch"), (4, "l2"), (5, "l2"), (6, "partly"), (7, "memory")],
)
def test_regions_of_the_copies(point, region):
    # 8 KiB to 2 MiB mostly wait for the launch; 8 and 32 MiB fit into 50 MiB of L2; 128 MiB is less than four of them
    v = values(point=point)
    assert v["region"] == region
    assert ("A launch alone takes about 2.1\u00a0µs" in v["sentence"]) == (region == "launch")


def test_the_cache_of_a_consumer_card_is_far_faster_than_its_memory():
    v = values(device="rtx4080", point=5)
    assert v["region"] == "l2"
    assert v["percent_of_b"] == pytest.approx(393, abs=1)


def test_the_fma_sweep_on_both_sides_of_its_corner():
    left = values(kernel="fma_fp32", point=1)
    assert (left["r"], left["intensity"], left["bound"]) == (1, 0.25, "memory")
    assert left["percent_of_roof"] == pytest.approx(left["percent_of_b"]) == pytest.approx(95.0, abs=0.1)
    assert left["ridge_r"] == pytest.approx(79.7, abs=0.1)  # ridge point 19.9 FLOP/byte, 4 multiply-adds each
    corner = values(kernel="fma_fp32", point=7)
    assert (corner["r"], corner["bound"]) == (64, "memory")
    right = values(kernel="fma_fp32", point=12)
    assert (right["r"], right["bound"]) == (2048, "compute")
    assert right["percent_of_roof"] == pytest.approx(100, abs=1e-9)  # it sets F
    assert "the flat part here" in right["sentence"]


def test_a_shorter_series_ends_at_its_last_point():
    v = values(kernel="read_reduce", point=12)
    assert (v["number"], v["points"]) == (3, 3)
    assert {**v} == {**values(kernel="read_reduce", point=3)}


def test_an_unstable_point_says_so():
    v = values(device="v100-32", point=1)
    assert v["unstable"]
    assert v["sentence"].endswith("This point is unstable: its samples scattered.")


def test_every_point_is_inside_the_axes():
    from roofcourse.explore.standin_measurement import AXES

    for card in measurement.spec()["devices"]:
        for kernel, points in card["series"].items():
            axes = AXES["fma" if kernel.startswith("fma") else "memory"]
            for at, flop, moved, seconds, _ in points:
                rate = (flop if kernel.startswith("fma") else moved) / seconds
                assert axes["x"][0] < at < axes["x"][1]
                assert axes["y"][0] < rate < axes["y"][1], (card["key"], kernel, at)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"point": 0}, "point is a whole number from 1 to 24, not 0"),
        ({"point": 25}, "point is a whole number from 1 to 24, not 25"),
        ({"kernel": "write"}, "kernel is one of copy, add, triad, read_reduce, fma_fp32, fma_fp64, not 'write'"),
        ({"device": "h101"}, "h100"),
        ({"r": 3}, "has no r; its state is: kernel, device, point"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("measurement", state)
    assert words in str(caught.value)


@pytest.mark.parametrize("device", ["h100", "b300", "v100-32"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_stand_in_is_a_small_picture_with_an_alternative_text(device, kernel):
    state = {"kernel": kernel, "device": device, "point": 1}
    svg = re.search(r"<svg.*?</svg>", explore.static_html("measurement", state), re.DOTALL)[0]
    assert len(svg.encode()) <= 12 * 1024
    root = ET.fromstring(svg)
    assert values(**state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


# ---- in the browser


def shows(page, **state) -> dict:
    v = kinds.get("measurement").compute(kinds.complete("measurement", state))
    shown = page.readings()
    assert shown["sentence"] == v["sentence"]
    for name in [*MEMORY_TILES, *SWEEP_TILES]:
        assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), name
    return v


@pytest.mark.browser
def test_the_point_by_keyboard(open_page):
    page = open_page(("measurement", {}))
    slider = page.control("point")
    shows(page)
    assert slider.get_attribute("aria-valuetext") == "512\u00a0MiB"
    for press, point in (("Home", 1), ("ArrowRight", 2), ("PageUp", 5), ("End", 7), ("ArrowUp", 7), ("ArrowLeft", 6)):
        slider.press(press)
        shows(page, point=point)
    page.control("kernel").select_option("fma_fp32")
    shows(page, kernel="fma_fp32", point=6)
    assert slider.get_attribute("aria-valuetext") == "R = 32"
    slider.press("End")
    shows(page, kernel="fma_fp32", point=12)


@pytest.mark.browser
def test_kernels_and_devices(open_page):
    page = open_page(("measurement", {}))
    for device in [d.key for d in rc.devices()]:
        page.control("device").select_option(device)
        for kernel in KERNELS:
            page.control("kernel").select_option(kernel)
            v = shows(page, device=device, kernel=kernel, point=7)
            assert page.page.locator(".rc-tile:visible").count() == (6 if "r" in v else 3)
