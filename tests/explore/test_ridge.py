"""The explorer of chapter 3: its numbers and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds
from roofcourse.explore.kinds import ridge


def ridge_values(*roofs, at=100.0):
    return explore.compute("ridge", {"roofs": roofs, "intensity": at} if roofs else {"intensity": at})


# ---- what it says


def test_left_of_both_ridge_points_bandwidth_decides():
    v = ridge_values(at=10)
    assert (v["highest"], v["next"], v["verdict"]) == ("h200.fp16", "h100.fp16", "higher")
    assert v["attainable"] == pytest.approx(10 * 4295.1e9, rel=1e-4)
    assert v["percent_above"] == pytest.approx(39.2, abs=0.1)
    assert v["sentence"] == (
        "At I\u00a0=\u00a010.0\u00a0FLOP/byte the H200 FP16 has the highest roof, 43.0\u00a0TFLOP/s: 39\u00a0% above "
        "the H100 FP16, more than the uncertainty. Both are memory-bound there, so B decides."
    )


def test_h100_and_h200_have_no_sure_crossing():
    v = ridge_values(at=1000)
    assert v["highest"] == "h100.fp16"
    assert v["verdict"] == "equal"
    assert v["crossing"] == pytest.approx(244.954, abs=1e-3)
    # The H200's faster, unsteady product moves it: 785.1 TFLOP/s / 3084.8 GB/s.
    assert v["crossing_last"] == pytest.approx(785.107e12 / 3084.846e9, rel=1e-5)
    # In BF16 the order is the other way round, and with the values of F that others measured they may cross or not.
    v = ridge_values("h100.bf16", "h200.bf16", at=1000)
    assert v["highest"] == "h200.bf16"
    assert v["verdict"] == "equal"
    assert "crossing" not in v
    assert "crossing_last" not in v
    assert v["crossing_first"] == pytest.approx(264.18, abs=0.01)
    assert "F of the H100 BF16 was measured from 802 to 897\u00a0TFLOP/s." in v["sentence"]


def test_paths_of_one_card_share_their_slope():
    v = ridge_values("h100.fp32.vector", "h100.fp16", "h100.fp8", at=50)
    assert v["verdict"] == "same"
    assert v["percent_above"] == 0
    assert "the H100 in FP16 and FP8 are one slope" in v["sentence"]
    assert v["bound:h100.fp32.vector"] == "compute"
    v = ridge_values("h100.fp32.vector", "h100.fp16", at=50)
    assert (v["highest"], v["verdict"]) == ("h100.fp16", "higher")
    assert "The first is memory-bound there, the second compute-bound." in v["sentence"]


def test_one_roof_and_many():
    v = ridge_values("a100.fp16", at=300)
    assert v["verdict"] == "alone"
    assert "compute-bound, right of its ridge point, 175\u00a0FLOP/byte." in v["sentence"]
    v = ridge_values("mi100.fp16", "mi210.fp16", "rtx4080.fp16", "v100-32.fp16", at=1000)
    assert (v["highest"], v["verdict"], v["equal_count"]) == ("mi210.fp16", "equal", 1)
    v = ridge_values("h100.fp16", "h200.fp16", "gh200.fp16", at=1000)
    assert v["verdict"] == "equal"
    assert "equal to it within the uncertainty are: H200 FP16 and GH200 FP16" in v["sentence"]


def test_roofs_can_be_given_as_objects_and_aliases():
    roofs = [rc.device("h100").roofline("fp32", path="vector"), "V100.fp16"]
    assert kinds.complete("ridge", {"roofs": roofs})["roofs"] == "h100.fp32.vector~v100-32.fp16"
    assert kinds.complete("ridge", {"roofs": roofs[0]})["roofs"] == "h100.fp32.vector"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"roofs": "h100"}, "a roof is written device.precision or device.precision.vector"),
        ({"roofs": "h100.fp16.tensor"}, "not 'h100.fp16.tensor'"),
        ({"roofs": "mi210.fp8"}, "MI210 has no measured fp8_e4m3"),
        ({"roofs": "h1000.fp16"}, "no device 'h1000'"),
        ({"roofs": "h100.fp16~h100.half"}, "roofs are from 1 to 12 different rooflines, not 2"),
        ({"roofs": []}, "not 0"),
        ({"intensity": 0}, "intensity is a number from 0.1 to 10000 FLOP/byte"),
        ({"roofs": rc.Roofline(1e12, 1e11, device="mine", precision="fp32")}, "no device 'mine'"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("ridge", state)
    assert words in str(caught.value)


def test_presets_are_states_of_their_own():
    for preset in ridge.presets():
        state = {key: preset[key] for key in ("roofs", "intensity")}
        assert kinds.complete("ridge", state) == state


def test_every_roof_can_be_chosen():
    names = [ridge.name_of(r) for d in rc.devices() for r in d.ceilings()]
    listed = [f"{d['key']}.{path}" for d in ridge.spec()["devices"] for path in d["roofs"]]
    assert listed == names
    assert len(names) == 59 + 24


# ---- in the browser


def shows(page, state: dict) -> dict:
    v = explore.compute("ridge", state)
    for name in ("attainable", "percent_above", "crossing", "intensity"):
        assert page.shown(name) == (pytest.approx(v[name], rel=1e-9, abs=1e-9) if name in v else None), name
    assert page.sentence() == v["sentence"]
    return v


@pytest.mark.browser
def test_every_control_by_keyboard(open_page):
    page = open_page(("ridge", {}))
    shows(page, {})
    slider = page.control("intensity")
    slider.focus()
    slider.press("End")
    shows(page, {"intensity": 1e4})
    slider.press("Home")
    shows(page, {"intensity": 0.1})
    slider.press("PageUp")
    shows(page, {"intensity": 1.0})
    slider.press("ArrowRight")
    v = shows(page, {"intensity": 1.05})
    assert slider.get_attribute("aria-valuetext") == "I = 1.05\u00a0FLOP/byte"
    assert v["verdict"] == "higher"
    for preset in ridge.presets():
        page.control("preset").select_option(label=preset["label"])
        shows(page, {"roofs": preset["roofs"], "intensity": preset["intensity"]})
        names = preset["roofs"].split("~")
        assert page.page.locator(".rc-roofs [data-roof]").count() == len(names)
        for name in names:
            assert page.control(name).is_checked()


@pytest.mark.browser
def test_check_boxes_choose_roofs(open_page):
    page = open_page(("ridge", {}))
    page.page.get_by_text("Choose rooflines (2 of 83 shown)").click()
    box = page.page.get_by_role("checkbox", name="A100 TF32", exact=True)
    box.focus()
    box.press("Space")
    shows(page, {"roofs": "h100.fp16~h200.fp16~a100.tf32"})
    assert page.control("preset").input_value() == ""
    page.page.get_by_role("checkbox", name="H100 FP16", exact=True).press("Space")
    box.press("Space")
    shows(page, {"roofs": "h200.fp16"})
    last = page.page.get_by_role("checkbox", name="H200 FP16", exact=True)
    last.press("Space")
    assert last.is_checked()
    assert page.page.get_by_text("One roof at least has to stay.").is_visible()
    page.control("preset").select_option(label="eight cards in FP16")
    for name in ("H100 BF16", "H200 BF16", "B300 BF16", "A100 BF16"):
        page.page.get_by_role("checkbox", name=name, exact=True).check()
    thirteenth = page.page.get_by_role("checkbox", name="MI210 BF16", exact=True)
    thirteenth.press("Space")
    assert not thirteenth.is_checked()
    assert page.page.get_by_text("At most 12 roofs fit.").is_visible()


@pytest.mark.browser
def test_the_choice_opens_where_the_ticks_are(open_page):
    page = open_page(("ridge", {"roofs": ("h100.bf16", "h200.fp8_e4m3")}), width=320)
    page.page.get_by_text("Choose rooflines").click()
    expect(page.control("h100.bf16")).to_be_in_viewport(ratio=1)  # the sixth column of nine, in a box that shows three
    scroller, name = (
        page.page.locator(".rc-choose .rc-scroll"),
        page.page.get_by_role("rowheader", name="H100", exact=True),
    )
    assert scroller.evaluate("node => node.scrollLeft") > 0
    assert name.bounding_box()["x"] == scroller.bounding_box()["x"]  # whose boxes they are stays in sight


@pytest.mark.browser
def test_the_mouse_moves_the_intensity(open_page):
    page = open_page(("ridge", {}))
    box = page.page.locator("svg.rc-chart").bounding_box()
    before = page.shown("intensity")
    page.page.mouse.click(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    after = page.shown("intensity")
    assert after > before
    shows(page, {"intensity": after})


@pytest.mark.browser
def test_a_tap_moves_the_intensity_to_the_finger(open_page):
    page = open_page(("ridge", {}), width=390, touch=True)
    box = page.page.locator("svg.rc-chart").bounding_box()
    left, right = (round(box["x"] + box["width"] * share) for share in (0.3, 0.6))  # a finger has whole pixels
    middle = round(box["y"] + box["height"] / 2)
    page.page.mouse.click(right, middle)
    by_mouse = page.shown("intensity")
    page.page.touchscreen.tap(left, middle)
    assert page.shown("intensity") < by_mouse
    page.page.touchscreen.tap(right, middle)
    assert page.shown("intensity") == by_mouse


@pytest.mark.browser
def test_crossings_are_marked_and_the_table_agrees(open_page):
    page = open_page(("ridge", {"intensity": 300.0}))
    mark = page.page.locator(".rc-crossing")
    assert mark.count() == 1
    assert float(mark.get_attribute("data-rc-exact")) == pytest.approx(244.954, abs=1e-3)
    page.open_table("The roofs as a table")
    rows = page.page.locator(".rc-foot tbody tr").all_text_contents()
    assert rows == ["H100 FP16788once3.08\u00a0TB/s255788compute", "H200 FP16756756 to 7854.30\u00a0TB/s176756compute"]


@pytest.mark.browser
@pytest.mark.parametrize("preset", ridge.presets(), ids=lambda p: p["label"])
def test_the_stand_in_is_small_and_needs_no_script(open_page, preset):
    state = {key: preset[key] for key in ("roofs", "intensity")}
    html = explore.static_html("ridge", state)
    svg = html[html.index("<svg") : html.index("</svg>")]
    assert len(svg.encode()) <= 12 * 1024
    page = open_page(("ridge", state), javascript=False, width=390)
    assert page.page.locator("svg[role=img]").is_visible()
    assert page.sentence() == explore.compute("ridge", state)["sentence"]
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
