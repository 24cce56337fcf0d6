"""The explorer of chapter 8: its counts and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import math
import random
import re
import xml.etree.ElementTree as ET
from itertools import combinations

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds
from roofcourse.explore.kinds import levers

SHOWN = ["before_seconds", "after_seconds", "gain"]


def values(**state) -> dict:
    return explore.compute("levers", state)


# ---- what it says


def test_a_product_with_its_loops_as_written():
    v = values()
    # 2 x 4096^3 FLOP; each of them reads 4 bytes; and 4096^2 results are written.
    assert v["before_flop"] == 2 * 4096**3
    assert v["before_bytes"] == 4 * (2 * 4096**3 + 4096**2)
    h100 = rc.device("h100")
    least = v["before_bytes"] / h100.bandwidth
    assert v["before_seconds"] == pytest.approx(2 * least + v["launch_seconds"], rel=1e-12)
    assert v["gain"] == 1
    assert (v["next"], v["count"], v["before_bound"]) == ("deep", 0, "memory")
    assert v["sentence"] == (
        "A product of 4096 in FP32, with its loops as written, on an H100, takes 356\u00a0ms by the model: "
        "memory-bound, at 50\u00a0% of its roof. Next, the most to gain: tiles of 512, 79.7 times."
    )


def test_tiles_move_it_right_and_matrix_units_then_help():
    tiles = values(levers=["block"])
    # A tile of 64 reads 2 n^3 / 64 numbers, and writes n^2.
    assert tiles["after_bytes"] == 4 * (2 * 4096**3 / 64 + 4096**2)
    assert "moves right and up; now it is memory-bound" in tiles["sentence"]
    # Under the slope a higher roof gains nothing; with deep tiles it does.
    assert values(levers=["block", "matrix"])["gain:matrix"] == pytest.approx(1, abs=1e-12)
    deep = values(levers=["deep", "matrix"])
    assert deep["gain:matrix"] > 6
    assert (deep["after_path"], deep["after_bound"]) == ("tf32", "memory")


def test_reaching_the_roof_moves_straight_up():
    v = values(kernel="conv", levers="better", reaches=25)
    assert v["after_intensity"] == v["before_intensity"]
    assert v["after_flop_per_s"] == pytest.approx(4 * v["before_flop_per_s"], rel=0.01)
    assert "The point moves up;" in v["sentence"]


def test_launches_are_the_bound_of_small_products():
    v = values(kernel="small", levers="batch")
    assert v["before_bound"] == "launch"
    work = rc.gemm(256, 256, 256, "fp16")
    h100 = rc.device("h100")
    bound = 1000 * h100.roofline("fp16").time(work)
    assert v["before_seconds"] == pytest.approx(1000 * v["launch_seconds"] + 2 * bound, rel=1e-12)
    assert v["after_seconds"] == pytest.approx(v["launch_seconds"] + 2 * bound, rel=1e-12)


def test_a_field_of_records_moves_a_whole_sector():
    v = values(kernel="field", levers="together")
    assert v["before_bytes"] / v["after_bytes"] == 8


def test_shorter_numbers_move_a_compute_bound_product_to_the_left_never():
    v = values(kernel="conv", levers="winograd")
    assert v["before_flop"] / v["after_flop"] == pytest.approx(2.25)
    assert v["after_intensity"] < v["before_intensity"]


def test_a_card_without_the_roof():
    v = values(device="mi210", kernel="layer", levers="fp8")
    assert not v["available"]
    assert "gain" not in v
    assert v["sentence"].endswith("need a roof that was not measured on this card. Choose others, or another card.")


def test_levers_of_another_kernel_do_nothing():
    assert values(kernel="chain", levers="winograd")["count"] == 0


def test_every_kernel_has_all_sets_of_its_levers():
    for start in levers.KERNELS:
        counted = [name for name in start.levers if name != "better"]
        assert len(levers.rows(start.name)) == 2 ** len(counted)
        assert set(start.levers) <= set(levers.ORDER)
        assert start.levers == tuple(sorted(start.levers, key=levers.ORDER.index))


def test_every_place_fits_the_axes():
    from roofcourse.explore.standin_levers import INTENSITY, THROUGHPUT

    for d in rc.devices():
        card = levers.device_spec(d.key)
        for start in levers.KERNELS:
            for row in levers.rows(start.name).values():
                for reaches in levers.REACHES:
                    p = levers.place(card, row, reaches)
                    if p is not None:
                        assert INTENSITY[0] < p["intensity"] < INTENSITY[1]
                        assert THROUGHPUT[0] < p["flop_per_s"] < THROUGHPUT[1]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"kernel": "fft"}, "kernel is one of chain, field, attention, small, layer, conv, product, not 'fft'"),
        ({"reaches": 60}, "reaches is one of 100, 50, 25 percent, not 60"),
        ({"levers": "fuse~luck"}, "no lever 'luck'; there are: fuse, together"),
        ({"device": "h101"}, "h100"),
        ({"rows": 3}, "has no rows; its state is: kernel, device, reaches, levers"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("levers", state)
    assert words in str(caught.value)


def test_levers_are_kept_in_one_order():
    assert kinds.complete("levers", {"levers": ["matrix", "block"]})["levers"] == "block~matrix"
    assert kinds.complete("levers", {"levers": ""})["levers"] == "none"


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"levers": "deep~half~matrix~better"},
        {"kernel": "layer", "levers": "fp8", "device": "mi210"},
        {"kernel": "small", "levers": "fp8~batch", "device": "b300", "reaches": 25},
    ],
)
def test_stand_in_is_a_small_picture_with_an_alternative_text(state):
    svg = re.search(r"<svg.*?</svg>", explore.static_html("levers", state), re.DOTALL)[0]
    assert len(svg.encode()) <= 12 * 1024
    root = ET.fromstring(svg)
    assert values(**state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


# ---- in the browser


def states() -> list[dict]:
    dice = random.Random(8)
    out = []
    for d in rc.devices():
        for start in levers.KERNELS:
            for size in (0, 1, 2, len(start.levers)):
                for chosen in combinations(start.levers, size):
                    out.append({"device": d.key, "kernel": start.name, "levers": list(chosen),
                                "reaches": dice.choice(levers.REACHES)})  # fmt: skip
    return [kinds.complete("levers", s) for s in out]


@pytest.mark.browser
def test_browser_and_python_agree(open_page):
    page = open_page(("levers", {}))
    wanted = states()
    assert len(wanted) >= 300
    got = page.page.evaluate(
        "({ spec, states }) => states.map((state) => window.roofcourse.compute('levers', spec, state))",
        {"spec": levers.spec(), "states": wanted},
    )
    for state, browser in zip(wanted, got, strict=True):
        python = explore.compute("levers", state)
        assert browser.keys() == python.keys(), state
        for key, value in python.items():
            if isinstance(value, float):
                assert math.isclose(browser[key], value, rel_tol=1e-9), (state, key, browser[key], value)
            else:
                assert browser[key] == value, (state, key)


def shows(page, **state) -> dict:
    v = values(**state)
    shown = page.readings()
    assert shown["sentence"] == v["sentence"]
    for name in SHOWN:
        assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), name
    return v


@pytest.mark.browser
def test_every_lever_by_keyboard(open_page):
    page = open_page(("levers", {}))
    shows(page)
    for start in levers.KERNELS:
        page.control("kernel").select_option(start.name)
        chosen = []
        for i, name in enumerate(start.levers, start=1):
            box = page.control(f"lever{i}")
            assert levers.label(name) in box.evaluate("node => node.closest('label').textContent")
            box.press("Space")
            chosen.append(name)
            shows(page, kernel=start.name, levers=chosen)
        page.control("lever1").press("Space")
        shows(page, kernel=start.name, levers=chosen[1:])
        assert [page.control(f"lever{i}").is_visible() for i in range(1, 6)] == [
            i <= len(start.levers) for i in range(1, 6)
        ]
    page.control("reaches").select_option("25")
    shows(page, kernel="product", levers=list(levers._start("product").levers[1:]), reaches=25)


@pytest.mark.browser
def test_the_table_walks_the_same_way(open_page):
    page = open_page(("levers", {"levers": "block~matrix"}))
    page.page.get_by_text("The steps as a table").click()
    rows = [[c.text_content() for c in row.locator("th,td").all()] for row in page.page.locator("tbody tr").all()]
    assert [row[0] for row in rows] == ["before", "tiles of 64", "matrix units"]
    assert rows[1][1:5] == ["move less", "137\u00a0GFLOP", "8.66\u00a0GB", "15.9"]
    assert rows[2][5] == "TF32"
    assert rows[2][7] == "× 1.00"


@pytest.mark.browser
def test_a_link_opens_its_state(open_page):
    fragment = "#explorer=levers&kernel=layer&device=h200&reaches=100&levers=rows16~fp8"
    page = open_page(("levers", {}), fragment=fragment)
    shows(page, kernel="layer", device="h200", reaches=100, levers="rows16~fp8")
    assert page.page.get_by_role("link", name="link to this view").get_attribute("href") == fragment
    page = open_page(("levers", {}), fragment="#explorer=levers&levers=luck&kernel=conv")
    shows(page, kernel="conv")
    assert page.page.get_by_text("The link asked for levers = luck").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_accessible_and_within_the_page(open_page, theme, width):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(("levers", {"levers": "deep~half~matrix~better"}), theme=theme, width=width)
    page.page.get_by_text("The steps as a table").click()
    found = Axe().run(page.page).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]][:2]) for v in found] == []
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width


OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll('svg.rc-chart text')].filter((n) => n.textContent !== '')
    .map((n) => ({ text: n.textContent, box: n.getBoundingClientRect() }));
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (x > 0.5 && y > 2.5) found.push([a.text, b.text, x, y]);
  }));
  const edge = document.documentElement.clientWidth;
  for (const { text, box } of boxes) if (box.left < -0.5 || box.right > edge + 0.5) found.push([text, 'edge']);
  return found;
}"""


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_labels_do_not_collide(open_page, width):
    page = open_page(("levers", {}), width=width)
    for device in ("h100", "b300", "rtx4080", "mi210"):
        page.control("device").select_option(device)
        for start in levers.KERNELS:
            page.control("kernel").select_option(start.name)
            assert page.page.evaluate(OVERLAPS) == [], (device, start.name)
            for i in range(1, len(start.levers) + 1):
                page.control(f"lever{i}").press("Space")
                assert page.page.evaluate(OVERLAPS) == [], (device, start.name, i)
