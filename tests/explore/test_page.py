"""The explorers in a real browser, from file:// with everything else blocked."""

from __future__ import annotations

import itertools

import pytest

import roofcourse as rc
from roofcourse import explore

pytestmark = pytest.mark.browser

POWERS = [2**i for i in range(14)]


def agrees(page, kind: str, state: dict, nth: int = 0) -> dict:
    """The displayed numbers and the sentence of the nth explorer are those of Python."""
    v = explore.compute(kind, state)
    names = {
        "m_sweep": ["seconds", "bound_seconds", "flop_per_s", "percent_of_roof", "bytes_per_s", "intensity"],
        "bounds": ["flop", "bytes", "compute_seconds", "memory_seconds", "bound_seconds", "intensity", "ridge_point"],
    }[kind]
    shown = page.readings(nth)
    assert shown.pop("sentence") == v["sentence"]
    assert shown.keys() == set(names)
    for name in names:
        assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), name
    return v


# ---- m_sweep: each control


def test_the_slider_visits_all_powers_of_two_by_keyboard(open_page):
    page = open_page(("m_sweep", {"m": 16}))
    slider = page.control("m")
    slider.focus()
    slider.press("Home")
    for m in POWERS:
        assert slider.get_attribute("aria-valuetext") == f"M = {m} {'row' if m == 1 else 'rows'}"
        assert page.control("m_exact").input_value() == str(m)
        agrees(page, "m_sweep", {"m": m})
        slider.press("ArrowRight")
    agrees(page, "m_sweep", {"m": 8192})  # and stays at the end
    slider.press("ArrowLeft")
    agrees(page, "m_sweep", {"m": 4096})
    slider.press("Home")
    agrees(page, "m_sweep", {"m": 1})
    slider.press("PageUp")
    agrees(page, "m_sweep", {"m": 8})
    slider.press("End")
    agrees(page, "m_sweep", {"m": 8192})


def test_arrows_go_to_the_next_power_of_two_from_any_m(open_page):
    page = open_page(("m_sweep", {"m": 100}))
    agrees(page, "m_sweep", {"m": 100})
    page.control("m").press("ArrowRight")
    agrees(page, "m_sweep", {"m": 128})
    page.control("m_exact").fill("100")
    agrees(page, "m_sweep", {"m": 100})
    page.control("m").press("ArrowDown")
    agrees(page, "m_sweep", {"m": 64})


def test_the_slider_follows_the_mouse(open_page):
    page = open_page(("m_sweep", {"m": 1}))
    box = page.control("m").bounding_box()
    page.page.mouse.click(box["x"] + box["width"] * 0.99, box["y"] + box["height"] / 2)
    agrees(page, "m_sweep", {"m": 8192})
    page.page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] / 2)
    assert page.control("m_exact").input_value() in ("64", "128")


@pytest.mark.parametrize("wrong", ["0", "8193", "2.5", "", "-4"])
def test_a_wrong_m_is_said_and_changes_nothing(open_page, wrong):
    page = open_page(("m_sweep", {"m": 16}))
    box = page.control("m_exact")
    box.fill(wrong)
    assert box.get_attribute("aria-invalid") == "true"
    assert page.page.get_by_text("M is a whole number from 1 to 8192.").is_visible()
    agrees(page, "m_sweep", {"m": 16})
    box.blur()
    assert box.input_value() == "16"
    assert box.get_attribute("aria-invalid") == "false"


def test_every_device_and_precision(open_page):
    page = open_page(("m_sweep", {"m": 64}))
    devices = [d.key for d in rc.devices()]
    options = page.control("device").locator("option")
    assert [o.get_attribute("value") for o in options.all()] == devices
    precisions = [o.get_attribute("value") for o in page.control("precision").locator("option").all()]
    assert precisions == ["fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4"]
    pairs = list(itertools.product(devices, precisions))
    readings = page.page.evaluate(
        """(pairs) => pairs.map(([device, precision]) => {
          for (const [name, value] of [['device', device], ['precision', precision]]) {
            const select = document.querySelector(`[data-rc-control="${name}"]`);
            select.value = value;
            select.dispatchEvent(new Event('change'));
          }
          const chosen = document.querySelector('[data-rc-control="precision"]').selectedOptions[0].textContent;
          const values = [...document.querySelectorAll('[data-rc-value]')]
            .map(({ dataset }) => [dataset.rcValue, dataset.rcExact === '' ? null : Number(dataset.rcExact)]);
          const sentence = document.querySelector('[data-rc-sentence]').textContent;
          return { chosen, sentence, ...Object.fromEntries(values) };
        })""",
        pairs,
    )
    for (device, precision), shown in zip(pairs, readings, strict=True):
        v = explore.compute("m_sweep", {"m": 64, "device": device, "precision": precision})
        assert shown["sentence"] == v["sentence"]
        assert shown["chosen"].endswith("(no data)") == (not v["available"])
        for name in ("seconds", "bound_seconds", "flop_per_s", "percent_of_roof", "bytes_per_s", "intensity"):
            assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), (device, precision, name)


def test_unstable_points_are_hollow_and_say_why(open_page):
    page = open_page(("m_sweep", {"device": "b300", "precision": "nvfp4", "m": 8192}))
    marks = page.page.locator(".rc-mark")
    hollow = {m.get_attribute("data-m") for m in marks.all() if m.get_attribute("data-unstable") == "true"}
    assert hollow == {"2048", "8192"}
    paper, device = "rgb(255, 255, 255)", page.page.locator(".rc-roof path").evaluate("n => getComputedStyle(n).stroke")
    fill = "n => getComputedStyle(n).fill"
    assert page.page.locator('.rc-mark[data-m="2048"] .rc-spot').evaluate(fill) == paper
    assert page.page.locator('.rc-mark[data-m="1024"] .rc-spot').evaluate(fill) == device
    assert page.page.locator(".rc-chosen").evaluate(fill) == paper
    page.page.locator('.rc-mark[data-m="2048"]').hover()
    hint = page.page.locator(".rc-hint")
    assert hint.is_visible()
    assert "unstable, interquartile range 14\u00a0% of the median" in hint.text_content()
    assert "interquartile range was 20\u00a0% of the median" in page.sentence()


def test_points_above_the_roof_stand_above_it(open_page):
    page = open_page(("m_sweep", {"device": "rtx4080", "precision": "fp8", "m": 32}))
    y = float(page.page.locator(".rc-chosen").get_attribute("cy"))
    gap = page.page.locator(".rc-gap").get_attribute("d")
    roof_y = float(gap.removeprefix("M").split("V")[0].split()[1])
    assert y < roof_y
    assert page.shown("percent_of_roof") == pytest.approx(183, abs=0.5)


NAMES = """() => [...document.querySelectorAll('.rc-shade .rc-bound')]
  .filter((node) => getComputedStyle(node).visibility !== 'hidden').map((node) => node.dataset.bound)"""


@pytest.mark.parametrize("width", [320, 344, 360, 375, 390, 412, 1280])
def test_one_region_has_a_name_only_while_the_point_is_there(open_page, width):
    page = open_page(("m_sweep", {}), width=width)
    for precision in ("fp16", "fp64", "nvfp4"):
        page.control("precision").select_option(precision)
        for d in rc.devices():
            page.control("device").select_option(d.key)
            for m in ("1", "8192"):
                page.control("m_exact").fill(m)
                bound = explore.compute("m_sweep", {"device": d.key, "precision": precision, "m": int(m)}).get("bound")
                names = set(page.page.evaluate(NAMES))
                assert names in (set(), {bound}, {"memory", "compute"}) if bound else names == set(), (d.key, m)
                if precision == "fp16":
                    assert bound in names, (d.key, m)


@pytest.mark.parametrize("width", [320, 344, 360, 375, 390, 412])
def test_numbers_of_the_axis_stand_apart(open_page, width):
    page = open_page(("m_sweep", {}), width=width)
    foot = page.page.evaluate(
        """() => {
          const boxes = [...document.querySelectorAll('.rc-grid text[text-anchor=middle]:not(.rc-title)')]
            .map((node) => node.getBoundingClientRect());
          return boxes.map((box) => [box.left, box.right]);
        }"""
    )
    assert len(foot) in (3, 6)
    assert all(b[0] - a[1] > 6 for a, b in itertools.pairwise(foot)), foot


def test_axes_hold_still(open_page):
    page = open_page(("m_sweep", {}))

    def grid():
        return page.page.locator(".rc-grid").evaluate("n => n.innerHTML")

    before = grid()
    page.control("m").press("End")
    page.control("device").select_option("b300")
    page.control("precision").select_option("fp64")
    assert grid() == before


def test_points_are_one_tab_stop_and_choose_m(open_page):
    page = open_page(("m_sweep", {"m": 16}))
    page.control("device").focus()
    page.page.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.page.evaluate(focused).startswith("M = 16: 49.1")
    assert page.page.locator(".rc-hint").is_visible()
    page.page.keyboard.press("ArrowRight")
    assert page.page.evaluate(focused).startswith("M = 32: ")
    agrees(page, "m_sweep", {"m": 16})  # looking is not choosing
    page.page.keyboard.press("Enter")
    agrees(page, "m_sweep", {"m": 32})
    page.page.keyboard.press("Escape")
    assert not page.page.locator(".rc-hint").is_visible()
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.textContent") == "link to this view"


def test_a_click_on_a_label_chooses_the_device(open_page):
    page = open_page(("m_sweep", {}))
    page.page.locator(".rc-others text", has_text="MI210").click()
    agrees(page, "m_sweep", {"device": "mi210"})
    assert page.control("device").input_value() == "mi210"


def test_the_table_shows_the_sweep(open_page):
    page = open_page(("m_sweep", {"device": "h100", "precision": "fp8", "m": 512}))
    page.open_table("The sweep as a table")
    rows = page.page.locator(".rc-table tbody tr")
    sweep = rc.device("h100").m_sweep("fp8")
    assert [int(r.locator("th").text_content()) for r in rows.all()] == list(sweep.m)
    current = page.page.locator(".rc-table tr[aria-current]")
    assert current.count() == 1
    assert "unstable: IQR 14\u00a0%" in current.text_content()
    page.control("m").press("End")
    assert current.locator("th").text_content() == "8192"
    page.control("device").select_option("mi100")
    assert rows.count() == 0


# ---- bounds: each control


def test_bounds_sliders_by_keyboard(open_page):
    page = open_page(("bounds", {}))
    for key, low, high, one_up in [("flop", 1e6, 1e15, 1.05e6), ("bytes", 1e3, 1e12, 1.05e3)]:
        slider = page.control(key)
        slider.press("Home")
        assert page.shown(key) == low
        slider.press("ArrowRight")
        assert page.shown(key) == pytest.approx(one_up)
        slider.press("ArrowLeft")
        assert page.shown(key) == low
        slider.press("PageUp")
        assert page.shown(key) == pytest.approx(10 * low)
        slider.press("End")
        assert page.shown(key) == high
    assert page.control("flop").get_attribute("aria-valuetext") == "W = 1.00\u00a0PFLOP"
    assert page.control("bytes").get_attribute("aria-valuetext") == "Q = 1.00\u00a0TB"
    agrees(page, "bounds", {"flop": 1e15, "bytes": 1e12})


def test_every_slider_step_is_a_different_value(open_page):
    page = open_page(("bounds", {"flop": 1e6}))
    seen = page.control("flop").evaluate(
        """(slider) => Array.from({ length: 451 }, (_, i) => {
          if (i > 0) slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }));
          return Number(document.querySelector('[data-rc-value="flop"]').dataset.rcExact);
        })"""
    )
    assert len(seen) == 451
    assert seen == sorted(set(seen))
    assert seen[-1] == 1e15


def test_kernels_set_work_traffic_and_precision(open_page):
    page = open_page(("bounds", {}))
    from roofcourse.explore.kinds.bounds import kernels

    options = page.control("kernel").locator("option")
    assert options.all_text_contents() == ["your own W and Q", *(k["label"] for k in kernels())]
    for i, k in enumerate(kernels()):
        page.control("kernel").select_option(str(i))
        agrees(page, "bounds", {"flop": k["flop"], "bytes": k["bytes"], "precision": k["precision"]})
        assert page.control("precision").input_value() == k["precision"]
        assert page.control("kernel").input_value() == str(i)
    page.control("flop").press("ArrowRight")
    assert page.control("kernel").input_value() == ""


def test_bounds_devices_and_precisions(open_page):
    page = open_page(("bounds", {}))
    start = {k: page.shown(k) for k in ("flop", "bytes")}
    for d in rc.devices():
        page.control("device").select_option(d.key)
        for p in ("fp64", "fp16", "nvfp4"):
            page.control("precision").select_option(p)
            agrees(page, "bounds", {**start, "device": d.key, "precision": p})


def test_the_longer_bar_wins(open_page):
    page = open_page(("bounds", {"flop": 1e15, "bytes": 1e9}))

    def wins():
        bars = page.page.locator(".rc-bar").all()
        return {b.get_attribute("data-bound"): b.get_attribute("data-wins") == "true" for b in bars}

    def width(bound):
        return float(page.page.locator(f'.rc-bar[data-bound="{bound}"]').get_attribute("width"))

    assert wins() == {"compute": True, "memory": False}
    assert width("compute") > width("memory")
    page.control("flop").press("Home")
    assert wins() == {"compute": False, "memory": True}
    assert width("memory") > width("compute")


# ---- the state in the address


def test_the_explorer_of_a_link_is_scrolled_into_view(open_page):
    fragment = "#explorer=bounds&flop=1e9&bytes=1e9"
    page = open_page(*[("m_sweep", {"m": m}) for m in (1, 2)], ("bounds", {}), fragment=fragment)
    agrees(page, "bounds", {"flop": 1e9, "bytes": 1e9}, 2)
    box = page.page.locator('[data-rc-explorer="bounds"]').bounding_box()
    assert 0 <= box["y"] < 900  # the height of the window


def test_the_address_follows_the_reader_and_only_the_reader(open_page):
    page = open_page(("m_sweep", {"m": 16}))
    page.page.wait_for_timeout(400)
    assert page.fragment() == ""
    page.control("m").press("ArrowRight")
    page.page.wait_for_function("location.hash !== ''")
    assert page.fragment() == "#explorer=m_sweep&m=32&precision=fp16&device=h100"
    link = page.page.get_by_text("link to this view")
    assert link.get_attribute("href") == page.fragment()
    page.page.reload()
    page.page.wait_for_selector(".rc-live")
    agrees(page, "m_sweep", {"m": 32})


def test_a_changed_address_changes_the_explorer(open_page):
    page = open_page(("m_sweep", {}))
    page.page.evaluate("location.hash = '#explorer=m_sweep&m=100&precision=fp8&device=rtx4080'")
    page.page.wait_for_function("document.querySelector('[data-rc-control=m_exact]').value === '100'")
    agrees(page, "m_sweep", {"m": 100, "precision": "fp8", "device": "rtx4080"})
    page.page.evaluate("location.hash = '#some-heading'")
    agrees(page, "m_sweep", {"m": 100, "precision": "fp8", "device": "rtx4080"})


def test_wrong_parts_of_a_link_are_ignored_and_said(open_page):
    page = open_page(("m_sweep", {}), fragment="#explorer=m_sweep&m=99999&precision=<b>&device=h200&colour=red")
    agrees(page, "m_sweep", {"device": "h200"})
    note = page.page.locator(".rc-note")
    assert note.is_visible()
    assert note.text_content() == (
        "The link asked for m = 99999, precision = <b>, colour = red: there is no such view, so that part was ignored."
    )
    page.control("m").press("ArrowRight")
    assert note.is_hidden()


@pytest.mark.parametrize(
    "fragment", ["#explorer=none&m=3", "#explorer=", "#explorer=m_sweep", "#explorer=m_sweep&m=%E0%A4%A"]
)
def test_odd_links_do_no_harm(open_page, fragment):
    page = open_page(("m_sweep", {}), fragment=fragment)
    agrees(page, "m_sweep", {})


def test_explorers_on_one_page_do_not_fight(open_page):
    items = [("m_sweep", {"m": 1}), ("m_sweep", {"m": 2}), ("bounds", {})]
    page = open_page(*items, fragment="#explorer=m_sweep-2&m=64")
    assert page.control("m_exact", 0).input_value() == "1"
    assert page.control("m_exact", 1).input_value() == "64"
    page.control("m", 0).press("End")
    page.page.wait_for_function("location.hash.includes('8192')")
    assert page.fragment() == "#explorer=m_sweep&m=8192&precision=fp16&device=h100"
    assert page.control("m_exact", 1).input_value() == "64"
    page.control("m", 1).press("Home")
    page.page.wait_for_function("location.hash.startsWith('#explorer=m_sweep-2&m=1&')")
    assert page.control("m_exact", 0).input_value() == "8192"
    ids = page.page.evaluate("[...document.querySelectorAll('[id]')].map((n) => n.id)")
    assert len(ids) == len(set(ids))


# ---- for every reader


@pytest.mark.parametrize("kind", explore.kind_names())
def test_controls_have_names_and_keep_their_arrow_keys_in_jupyterlab(open_page, kind):
    page = open_page((kind, {}))
    focusable = page.page.locator(".rc-explorer :is(input, select, summary, a, [tabindex])")
    assert (
        focusable.count() > page.page.locator("[data-rc-control]").count() > 2
    )  # the controls, and the link to the view
    for node in focusable.all():
        assert node.get_attribute("data-lm-suppress-shortcuts") == "true"
    for control in page.page.locator("[data-rc-control]").all():
        assert control.evaluate("n => n.labels.length === 1 || n.getAttribute('aria-label') !== null")
    assert page.page.locator("[data-rc-sentence]").get_attribute("aria-live") is None  # the voice speaks, once
    assert page.page.locator(".rc-voice[role=status]").count() == 1
    assert page.sentence() in page.page.locator("svg.rc-chart").get_attribute("aria-label")


def test_the_chart_follows_the_width(open_page):
    page = open_page(("m_sweep", {"m": 64}), width=1280)
    page.page.set_viewport_size({"width": 390, "height": 800})
    page.page.wait_for_function("document.querySelector('svg.rc-chart').getAttribute('width') < 380")
    agrees(page, "m_sweep", {"m": 64})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("kind", explore.kind_names())
def test_an_explorer_in_a_folded_part_draws_when_it_is_unfolded(open_page, kind):
    page = open_page((kind, {}), fold=True)
    assert page.sentence() == explore.compute(kind, {})["sentence"]
    page.page.locator("details.fold > summary").click()
    page.page.wait_for_function("document.querySelector('svg.rc-chart').getAttribute('width') > 700")
    width = page.page.locator(".rc-stage").evaluate("n => n.clientWidth")
    assert float(page.page.locator("svg.rc-chart").get_attribute("width")) == width
