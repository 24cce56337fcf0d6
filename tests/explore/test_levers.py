"""The explorer of chapter 8: its counts and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import product

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


def test_a_percent_of_the_roof_says_when_launches_are_in_it():
    # the reader has chosen 100 % for the kernels, and reads another percent
    v = values(kernel="small", reaches=100)
    assert "bound by its launches, at 5.8\u00a0% of its roof, launches included." in v["sentence"]
    assert "launches included" not in values(kernel="conv", reaches=100)["sentence"]


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


def test_stand_in_marks_what_is_derived_by_crosses():
    svg = explore.static_html("levers", {"levers": "block~matrix"})
    crosses = re.findall(r'class="(rc-cross[^"]*)"', svg)
    assert crosses == ["rc-cross", "rc-cross", "rc-cross rc-now"]  # before, with one lever, with both
    assert "<circle" not in svg


# ---- in the browser


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
@pytest.mark.parametrize("width", [1280, 390])
def test_derived_points_are_crosses_that_no_card_covers(open_page, width):
    page = open_page(("levers", {"levers": "block~matrix"}), width=width)
    crosses = page.page.locator("svg.rc-chart .rc-cross")
    assert [cross.get_attribute("class") for cross in crosses.all()] == ["rc-cross", "rc-cross", "rc-cross rc-now"]
    assert page.page.locator("svg.rc-chart circle").count() == 0
    shape = "node => { const { x, y, width, height } = node.getBBox(); return { x, y, width, height }; }"
    card = page.page.locator("svg.rc-chart .rc-card").evaluate(shape)
    for cross in crosses.all():
        box = cross.evaluate(shape)
        apart = [
            box[at] + box[size] <= card[at] or card[at] + card[size] <= box[at]
            for at, size in (("x", "width"), ("y", "height"))
        ]
        assert any(apart)


#: Set the boxes of a kernel; how far the word "before" then is from its own cross and from the nearest other one.
BEFORE = """([kernel, device, sets]) => {
  for (const [name, value] of [['kernel', kernel], ['device', device]]) {
    const select = document.querySelector(`[data-rc-control="${name}"]`);
    select.value = value;
    select.dispatchEvent(new Event('change'));
  }
  return sets.map((on) => {
    on.forEach((wish, i) => {
      const box = document.querySelector(`[data-rc-control="lever${i + 1}"]`);
      if (box.checked !== wish) box.click();
    });
    const word = [...document.querySelectorAll('.rc-here text')].find((node) => node.textContent === 'before');
    if (word === undefined) return null;
    const box = word.getBBox();
    const crosses = [...document.querySelectorAll('.rc-cross')].map((node) => {
      const { x, y, width, height } = node.getBBox();
      return { x: x + width / 2, y: y + height / 2 };
    });
    const far = (p) => Math.hypot(Math.max(box.x - p.x, 0, p.x - box.x - box.width),
                                  Math.max(box.y - p.y, 0, p.y - box.y - box.height));
    const apart = crosses.filter((p) => Math.hypot(p.x - crosses[0].x, p.y - crosses[0].y) > 9); // else one cross
    return [far(crosses[0]), Math.min(1e4, ...apart.map(far))];
  });
}"""


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 900), (360, 900), (844, 390)])
def test_before_stands_beside_its_own_cross(open_page, width, height):
    page = open_page(("levers", {}))
    page.resize(width, height)
    for device in ("h100", "rtx4080", "mi210"):
        for start in levers.KERNELS:
            sets = [list(on) for on in product((False, True), repeat=len(start.levers))]
            found = page.page.evaluate(BEFORE, [start.name, device, sets])
            seen = [pair for pair in found if pair is not None]
            assert len(seen) > len(sets) / 3
            assert [pair for pair in seen if pair[0] >= pair[1] or pair[0] > 45] == [], (device, start.name)


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 360])
def test_fp8_speaks_both_languages(open_page, width):
    """A layer for one token is memory-bound before and after: FP8 halves Q, and its higher roof gains nothing."""
    v = values(kernel="layer", levers="fp8")
    assert v["before_bytes"] == 2 * (8192**2 + 2 * 8192)
    assert v["after_bytes"] == 8192**2 + 8192 + 2 * 8192 + 2 * 4  # the result in FP16, and two scales
    assert v["after_flop"] == v["before_flop"]
    assert (v["before_bound"], v["after_bound"]) == ("memory", "memory")
    page = open_page(("levers", {"kernel": "layer", "levers": "fp8"}), width=width)
    label = page.page.locator(".rc-lever", has_text="FP8")
    assert label.inner_text().split("\n") == ["FP8", "move less, compute better"]
    assert label.bounding_box()["height"] < 30  # one line
    page.open_table("The steps as a table")
    assert page.page.locator(".rc-foot tbody tr").last.locator("td").last.text_content() == "move less, compute better"
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.browser
def test_the_table_walks_the_same_way(open_page):
    page = open_page(("levers", {"levers": "block~matrix"}))
    page.open_table("The steps as a table")
    rows = [[c.text_content() for c in row.locator("th,td").all()] for row in page.page.locator("tbody tr").all()]
    assert [row[0] for row in rows] == ["before", "tiles of 64", "matrix units"]
    assert rows[1][3] == "15.9"
    assert rows[1][5:] == ["137\u00a0GFLOP", "8.66\u00a0GB", "move less"]
    assert rows[2][2] == "× 1.00"  # the answer stands where a phone shows it: behind the name and the time
    assert rows[2][4] == "TF32"
