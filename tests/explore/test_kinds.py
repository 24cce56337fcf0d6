"""What holds for every kind of explorer, in a real browser: it shows what Python computes, and everybody can use it."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest
from kind_cases import CLOSE, LINKS, MOVES
from voices import listen

from roofcourse import explore
from roofcourse.tables import data_folder

pytestmark = pytest.mark.browser

KINDS = explore.kind_names()
RECORDED = data_folder() / "runs" / "cpu_epyc_genoa.json"

# Set controls one after the other; after each move the state, the readings, and the words of the chart that collide.
WALK = """(moves) => {
  const overlaps = %s;
  const control = (name) => document.querySelector(`[data-rc-control="${name}"]`);
  const put = (name, value) => {
    const node = control(name);
    if (node.type === 'checkbox') {
      if (node.checked !== value) node.click();
      return;
    }
    node.value = value;
    node.dispatchEvent(new Event(node.tagName === 'SELECT' ? 'change' : 'input'));
  };
  return moves.map((move) => {
    for (const [name, value] of Object.entries(move)) put(name, value);
    const shown = [...document.querySelectorAll('[data-rc-value]')]
      .filter((node) => node.dataset.rcExact && node.checkVisibility({ visibilityProperty: true }));
    return {
      state: window.roofcourse.explorers[0].state(),
      sentence: document.querySelector('[data-rc-sentence]').textContent,
      values: Object.fromEntries(shown.map(({ dataset }) => [dataset.rcValue, Number(dataset.rcExact)])),
      dashes: [...document.querySelectorAll('.rc-tile:not([hidden]) .rc-number')]
        .filter((node) => node.textContent === '–').map((node) => node.dataset.rcValue),
      absent: [...document.querySelectorAll('option:checked')].some((node) => node.textContent.endsWith('(no data)')),
      collisions: overlaps(),
      wide: document.documentElement.scrollWidth > window.innerWidth,
    };
  });
}"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_shows_what_python_computes_without_collisions(open_page, kind):
    page = open_page((kind, {}))
    names = set()
    for width, height in ((1280, 900), (768, 900), (390, 900), (844, 390)):  # at the end a telephone on its side
        page.resize(width, height)
        sizes = "nodes => nodes.map((node) => parseFloat(getComputedStyle(node).fontSize))"
        assert min(page.page.locator("svg.rc-chart text").evaluate_all(sizes)) >= 11
        for move, seen in zip(MOVES[kind], page.page.evaluate(WALK % page.OVERLAPS, MOVES[kind]), strict=True):
            v = explore.compute(kind, seen["state"])
            assert seen["sentence"] == v["sentence"], move
            for name, number in seen["values"].items():
                wanted = v.get(name, seen["state"].get(name))
                assert number == pytest.approx(wanted, rel=1e-9, abs=1e-9), (move, name)
            for name in seen["dashes"]:
                assert v.get(name) is None, (move, name)
            if not v.get("available", True):
                assert seen["absent"] or kind == "levers", move
            assert seen["collisions"] == [], (width, height, move)
            assert not seen["wide"], (width, move)
            names |= set(seen["values"])
    assert len(names) >= 3  # the tiles, at the least


@pytest.mark.parametrize("kind", KINDS)
def test_a_link_opens_its_state(open_page, kind):
    asked, key, wrong = LINKS[kind]
    page = open_page((kind, {}), fragment=f"#explorer={kind}&{asked}")
    state = page.page.evaluate("window.roofcourse.explorers[0].state()")
    assert {name: str(value) for name, value in state.items()} == dict(pair.split("=") for pair in asked.split("&"))
    assert page.sentence() == explore.compute(kind, state)["sentence"]
    link = page.page.get_by_role("link", name="link to this view")
    assert sorted(link.get_attribute("href").split("&")) == sorted(f"#explorer={kind}&{asked}".split("&"))
    assert page.page.locator(".rc-note").is_hidden()
    page.page.evaluate("(hash) => { location.hash = hash; }", f"#explorer={kind}&{key}={wrong}")
    page.page.get_by_text(f"The link asked for {key} = {wrong}: there is no such view").wait_for()
    assert page.page.evaluate("window.roofcourse.explorers[0].state()") == state


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(open_page, theme, width):
    """All kinds on one page, everything unfolded, each with a reader's machine too."""
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(*CLOSE, *((kind, {}) for kind in KINDS), theme=theme, width=width)
    for nth in range(len(CLOSE), len(CLOSE) + len(KINDS)):
        page.page.locator(".rc-explorer").nth(nth).locator('[data-rc-control="run"]').set_input_files(RECORDED)
    page.page.wait_for_function(
        f"window.roofcourse.explorers.slice({len(CLOSE)}).every((one) => one.spec.devices.length === 13)"
    )
    page.unfold()
    found = Axe().run(page.page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]][:2]) for v in found] == []
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width


# ---- what a screen reader hears


def tree(page) -> list[dict]:
    """Chromium's accessibility tree: role, name, description, value and properties of every node that is in it."""
    session = page.page.context.new_cdp_session(page.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    text = lambda node, key: node.get(key, {}).get("value", "")  # noqa: E731
    return [
        {"role": text(n, "role"), "name": text(n, "name"), "description": text(n, "description"),
         "value": text(n, "value"), **{p["name"]: p["value"].get("value") for p in n.get("properties", [])}}
        for n in nodes
        if not n["ignored"]
    ]  # fmt: skip


#: What the value of each slider sounds like: the number with what it counts or its unit.
SPOKEN = {
    "bounds": [r"W = 134\sMFLOP", r"Q = 134\sMB"],
    "decode": ["8 requests", r"1\s024 tokens"],
    "intensity": ["M = 16 rows", "N = 8192 columns", "K = 8192 terms"],
    "levers": [],
    "m_sweep": ["M = 16 rows"],
    "measurement": [r"512\sMiB"],
    "padding": ["M = 2 rows"],
    "ridge": [r"I = 100\sFLOP/byte"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_screen_reader_hears(open_page, kind):
    page = open_page((kind, {}))
    page.unfold()
    nodes = tree(page)
    sliders = [n for n in nodes if n["role"] == "slider"]
    assert len(sliders) == len(SPOKEN[kind])
    for node in sliders:
        assert len(node["name"]) > 2
        assert node["valuemin"] == 0 < node["valuemax"]
    # The tree that Chromium shows to its tools has the number of a slider only; readers get the text.
    said = page.page.locator("input[type=range]").evaluate_all("nodes => nodes.map((node) => node.ariaValueText)")
    assert all(re.fullmatch(words, text) for words, text in zip(SPOKEN[kind], said, strict=True)), said
    for role in ("combobox", "spinbutton", "checkbox", "button", "link"):
        assert all(n["name"] for n in nodes if n["role"] == role), role
    sentence = page.sentence()
    (chart,) = [n for n in nodes if n["role"] in ("image", "group") and sentence in n["name"]]
    assert chart["role"] == ("group" if kind == "m_sweep" else "image")  # its points are buttons
    tables = [n for n in nodes if n["role"] == "table"]
    captions = page.page.locator(".rc-foot caption").all_text_contents()
    assert captions
    assert [n["name"] for n in tables if n["name"] in captions] == captions
    assert sum(n["role"] == "columnheader" for n in nodes) >= 4
    assert sum(n["role"] == "rowheader" for n in nodes) >= 1
    assert sum(n["role"] == "status" and n.get("live") == "polite" for n in nodes) >= 1
    assert not [n for n in nodes if n.get("live") == "assertive"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_flood_of_changes_is_said_once(open_page, kind):
    page = open_page((kind, {}))
    listen(page.page.locator(".rc-explorer"))
    at_once = page.page.evaluate(
        """async () => {
          const slider = document.querySelector("input[type='range']");
          const boxes = [...document.querySelectorAll("[data-rc-control^='lever']")];
          for (let i = 1; i <= 60; i += 1) {
            if (slider === null) boxes[i % 2].click();
            else {
              slider.value = i % 5;
              slider.dispatchEvent(new Event('input'));
            }
          }
          await Promise.resolve(); // whatever was written has been observed
          return window.said.length;
        }"""
    )
    assert at_once == 0
    page.page.wait_for_function("window.said.length > 0")
    page.page.wait_for_timeout(700)
    assert page.page.evaluate("window.said") == [page.sentence()]
    live = page.page.locator("[aria-live], [role=status], [role=alert], output:not([aria-hidden])")
    assert [text for text in live.all_text_contents() if text] == [page.sentence()]


@pytest.mark.parametrize("kind", KINDS)
def test_tab_goes_down_the_page_and_is_seen(open_page, kind):
    page = open_page((kind, {}))
    seen = []
    while True:
        page.page.keyboard.press("Tab")
        now = page.page.evaluate(
            """() => {
              const node = document.activeElement;
              if (node.closest('.rc-explorer') === null) return null;
              const { outlineStyle, outlineWidth } = getComputedStyle(node);
              const target = node.querySelector('.rc-target'); // of a point of a chart, which has a ring of its own
              const ring = target && getComputedStyle(target).stroke !== 'none';
              const top = node.getBoundingClientRect().top + scrollY;
              const seen = ring || (outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2);
              return { top, tag: node.tagName, seen };
            }"""
        )
        if now is None:
            break
        assert now["seen"], now
        seen.append(now)
    count = page.page.locator(
        ".rc-explorer :is(input, select, a, summary):not(:disabled), .rc-mark[tabindex='0']"
    ).filter(visible=True)
    assert len(seen) == count.count()
    for before, after in pairwise(seen):  # a row at a time, then down
        assert after["top"] > before["top"] - 30, (before, after)


# ---- other eyes, other screens

#: Height in pixels, in a window of 900, of the charts that are lower in a low one; 0.6 and 0.62 of a width of 768.
HEIGHTS = {"levers": 461, "m_sweep": 476, "measurement": 420, "padding": 440, "ridge": 476}


@pytest.mark.parametrize("kind", HEIGHTS)
def test_slider_and_point_are_seen_together_in_a_low_window(open_page, kind):
    page = open_page((kind, {}))
    chart = page.page.locator("svg.rc-chart")
    assert float(chart.get_attribute("height")) == HEIGHTS[kind]
    page.resize(390)  # a chart is laid out anew when its width changes: the telephone is turned
    page.resize(844, 390)
    assert float(chart.get_attribute("height")) == 260
    control = page.control({"levers": "lever1", "ridge": "intensity", "measurement": "point"}.get(kind, "m"))
    foot = chart.locator(".rc-axis").bounding_box()["y"]
    assert foot - control.bounding_box()["y"] <= 390 - 48  # the site's header stays on top


CUT = """() => [...document.querySelectorAll('.rc-explorer :is(label, p, dt, dd, legend, summary, output)')]
  .filter((node) => node.checkVisibility() && !node.closest('.rc-scroll, .rc-voice'))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    const edge = node.closest('.rc-tile, .rc-control, .rc-explorer').getBoundingClientRect();
    const box = range.getBoundingClientRect();
    return box.right > edge.right + 1 || box.left < edge.left - 1;
  }).map((node) => node.textContent)"""


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_cut_on_320_pixels_nor_in_letters_of_twice_the_size(open_page, kind):
    page = open_page((kind, {}), width=320)  # what 1280 pixels are at a zoom of 400 %
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.page.evaluate(CUT) == []
    assert page.collisions() == []
    page.resize(1280)
    page.page.add_style_tag(content="html { font-size: 200% }")
    page.settle()
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.page.evaluate(CUT) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("forced", ["light", "dark"])
def test_forced_colours_leave_curves_and_controls_visible(open_page, theme, forced):
    """Windows' high contrast: what is drawn takes the system's colours, whatever the theme of the page."""
    page = open_page(*((kind, {}) for kind in KINDS), theme=theme)
    page.page.emulate_media(forced_colors="active", color_scheme=forced)
    faint = page.page.evaluate(
        """() => {
          const probe = document.createElement('p');
          document.body.append(probe);
          const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
          const of = (colour) => {
            probe.style.cssText = `forced-color-adjust: none; color: ${colour}`;
            return rgb(getComputedStyle(probe).color);
          };
          const linear = (c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
          const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
          const contrast = (a, b) => {
            const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
            return (x + 0.05) / (y + 0.05);
          };
          const ground = of('Canvas');
          const found = [];
          const check = (selector, property, least) => {
            const nodes = [...document.querySelectorAll(selector)].filter((node) => node.checkVisibility());
            if (nodes.length === 0) found.push([selector, 'none there']);
            for (const node of nodes) {
              const colour = getComputedStyle(node)[property];
              if (colour === 'none' || contrast(rgb(colour), ground) < least) found.push([selector, property, colour]);
            }
          };
          check('svg.rc-chart .rc-line, svg.rc-chart .rc-roof path, .rc-axis', 'stroke', 3);
          check('svg.rc-chart .rc-bar, svg.rc-chart .rc-part, .rc-useful, .rc-waste', 'stroke', 3);
          check('svg.rc-chart text:not(:empty)', 'fill', 4.5);
          check('svg.rc-chart .rc-chosen:not(.rc-open)', 'fill', 3);
          check('svg.rc-chart .rc-cross', 'stroke', 3);
          check('.rc-explorer :is(label, .rc-sentence, .rc-legend, dt, .rc-number, summary, a)', 'color', 4.5);
          check('.rc-explorer :is(select, input[type=number])', 'borderTopColor', 3);
          for (const node of document.querySelectorAll('.rc-explorer input[type=range]')) {
            const style = getComputedStyle(node); // its track and thumb are backgrounds, which would be taken away
            const colours = ['--rc-device', '--rc-edge'].map((name) => style.getPropertyValue(name));
            const pale = colours.some((colour) => contrast(of(colour), ground) < 3);
            if (style.forcedColorAdjust !== 'none' || pale) found.push(['range', colours]);
          }
          return found;
        }"""
    )
    assert faint == []


def test_nothing_moves_by_itself():
    """No need to ask who prefers reduced motion: there is none."""
    assert not re.search(r"transition|animation|@keyframes|scroll-behavior", explore.css())
    assert "requestAnimationFrame" not in explore.bundle()
    assert "smooth" not in explore.bundle()


NAME = "Intel(R) Xeon(R) Platinum 8592+ with a name of many letters"


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_can_be_read_and_do_not_collide(open_page, tmp_path, width):
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    data["machine"]["name"] = NAME
    path = tmp_path / "long.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    for kind in KINDS:
        page = open_page((kind, {}), width=width)
        page.control("run").set_input_files(path)
        page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
        title = "Intel Xeon Platinum 8592+ with a name o… (run of 2026-11-30)"
        whole = page.page.locator(".rc-whole")
        if kind == "ridge":  # its names stand in a table
            assert page.page.locator(".rc-choose th", has_text=title).count() == 1
        else:
            assert title in page.control("device").locator("option:checked").text_content()
            assert title in whole.text_content()
            page.control("device").select_option("h100")
            page.settle()
            assert "H100" not in whole.text_content()
            page.control("device").select_option("cpu")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width, kind
        assert page.collisions() == [], kind
        assert page.page.evaluate(CUT) == [], kind
        if kind == "m_sweep":
            for m in (1, 16, 64, 8192):
                page.control("m_exact").fill(str(m))
                assert page.collisions() == [], m


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_names_of_the_cards_fit_their_selects(open_page, width):
    for kind in KINDS:
        page = open_page((kind, {}), width=width)
        for select in page.page.locator('[data-rc-control="device"]').all():  # ridge has none
            for value in select.locator("option").evaluate_all("nodes => nodes.map((node) => node.value)"):
                select.select_option(value)
                shown = select.locator("option:checked").text_content()
                cut = page.page.locator(".rc-whole").text_content().split("; ")
                assert shown not in cut or "(no data)" in shown, (kind, shown)
