"""Each explorer as it is heard, and as it is used by keyboard: order, names, values, table, focus, no motion."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page
from site_pages import EXPLORERS
from test_explorers import agrees, explorer, open_details
from test_pages import AXE, violations

pytestmark = pytest.mark.browser


@dataclass(frozen=True)
class Case:
    """A state of one kind, and what is heard of it.

    ``controls``: role, name and value, in order. ``caption``: of the table of its data. ``shown``: the readouts whose
    text stands in that table. ``key``: the control that a key is then pressed on, and the key; ``then``: its new value.
    """

    state: str
    controls: tuple[str, ...]
    caption: str
    shown: tuple[str, ...]
    key: tuple[str, str]
    then: str


RUN = "button: Your own machine: choose the run.json of roofcourse measure, or drop it here"
CASES = {
    "m_sweep": Case(
        "m=64&precision=bf16&device=h200",
        (
            "slider: M, rows of the input, 1 to 8192 = M = 64 rows",
            "spinbutton: M, exact = 64",
            "combobox: Precision = BF16",
            "combobox: Device = H200",
            RUN,
        ),
        "H200, BF16, N = K = 8192, warm",
        ("seconds", "intensity"),
        ("m", "ArrowRight"),
        "M = 128 rows",
    ),
    "bounds": Case(
        "flop=2000000000000&bytes=1000000000&precision=fp64&device=a100",
        (
            "combobox: Try a kernel = your own W and Q",
            "combobox: Precision = FP64",
            "combobox: Device = A100",
            "slider: Work W = W = 2.00 TFLOP",
            "slider: Traffic Q = Q = 1.00 GB",
            RUN,
        ),
        "A100, FP64: the longer of the two times bounds the kernel",
        ("bound_seconds", "flop", "bytes"),
        ("bytes", "PageUp"),
        "Q = 10.0 GB",
    ),
    "intensity": Case(
        "m=512&n=4096&k=1024&precision=fp8_e4m3&device=h100",
        (
            "combobox: Try a shape = your own sizes",
            "combobox: Precision = FP8",
            "combobox: Device = H100",
            "slider: M, rows of X = M = 512 rows",
            "spinbutton: M, exact = 512",
            "slider: N, columns of A = N = 4096 columns",
            "spinbutton: N, exact = 4096",
            "slider: K, summed over = K = 1024 terms",
            "spinbutton: K, exact = 1024",
            RUN,
        ),
        "FP8, each matrix moved once",
        ("bytes",),
        ("k", "ArrowRight"),
        "K = 2048 terms",
    ),
    "ridge": Case(
        "intensity=30&roofs=a100.fp16~b300.bf16",
        (
            "combobox: Compare = your own choice",
            "slider: Arithmetic intensity I = I = 30.0 FLOP/byte",
            RUN,
        ),
        "at I = 30.0 FLOP/byte; differences of up to 5 % do not count",
        ("attainable",),
        ("intensity", "PageUp"),
        "I = 302 FLOP/byte",
    ),
    "measurement": Case(
        "kernel=copy&device=rtx4080&point=9",
        (
            "combobox: Kernel = copy",
            "combobox: Device = RTX 4080",
            "slider: Working set = 512 MiB",
            RUN,
        ),
        "RTX 4080, copy",
        ("seconds",),
        ("point", "Home"),
        "8 KiB",
    ),
    "decode": Case(
        "model=qwen2.5-7b&device=h200&batch=4&prompt_length=2048&weight_precision=bf16&kv_precision=bf16",
        (
            "combobox: Model = Qwen2.5-7B",
            "combobox: Device = H200",
            "combobox: Weights = BF16",
            "combobox: KV cache = BF16",
            "slider: Batch, requests at a time = 4 requests",
            "spinbutton: Batch = 4",
            "slider: Prompt, tokens of each request = 2 048 tokens",
            "spinbutton: Prompt = 2048",
            RUN,
        ),
        "Qwen2.5-7B on H200, batch 4, 2 048 tokens each",
        ("seconds",),
        ("batch", "ArrowRight"),
        "8 requests",
    ),
    "padding": Case(
        "m=16&tile=32&precision=fp64&device=rtx4080",
        (
            "slider: M, useful rows, 1 to 1024 = M = 16 rows",
            "spinbutton: M, exact = 16",
            "combobox: Block = 32 rows",
            "combobox: Precision = FP64",
            "combobox: Device = RTX 4080",
            RUN,
        ),
        "RTX 4080, FP64, blocks of 32, N = K = 8192, warm",
        ("padded_seconds", "seconds"),
        ("m", "ArrowRight"),
        "M = 32 rows",
    ),
    "levers": Case(
        "kernel=product&device=a100&reaches=50&levers=none",
        (
            "combobox: Kernel = a product, loops as written",
            "combobox: Device = A100",
            "combobox: Before, it reaches = 50 % of its roof",
            "checkbox: tiles of 64 move less = off",
            "checkbox: tiles of 512 move less = off",
            "checkbox: numbers of 2 bytes move less = off",
            "checkbox: matrix units compute better = off",
            "checkbox: reach the roof lose less = off",
            RUN,
        ),
        "a product, loops as written, on A100: each line with the levers above it",
        ("after_seconds",),
        ("lever1", "Space"),
        "on",
    ),
}
#: The first page that shows a kind, and which of its explorers that is.
PLACE = {kind: (name, kinds.index(kind)) for name, kinds in reversed(EXPLORERS.items()) for kind in kinds}

VALUES = """node => [...node.querySelectorAll("[data-rc-control]")].filter((n) => n.checkVisibility()).map((n) => [
  n.dataset.rcControl,
  n.type === "range" ? n.getAttribute("aria-valuetext") : n.type === "checkbox" ? (n.checked ? "on" : "off")
    : n.tagName === "SELECT" ? n.selectedOptions[0].textContent : n.type === "file" ? "" : n.value,
])"""
SPACES = str.maketrans("\u00a0\u202f", "  ")


def opened(visit, kind: str, **how) -> tuple[Page, Locator, int]:
    name, nth = PLACE[kind]
    page = visit(f"{name}#explorer={kind}&{CASES[kind].state}", **how)
    return page, explorer(page, nth), nth


def outline(root: Locator) -> list[str]:
    """What is heard of an explorer, part by part."""
    return [line[2:].lstrip("'") for line in root.aria_snapshot().splitlines() if line.startswith("- ")]


def heard(root: Locator) -> list[str]:
    """Its controls in the order of the accessibility tree, named as there, with their values."""
    control = re.compile(r"\s*- '?(slider|spinbutton|combobox|checkbox|button) \"([^\"]+)\"")
    found = [control.match(line) for line in root.aria_snapshot().splitlines()]
    names = [
        (m[1], m[2]) for m in found if m and not re.match(r"M = \d+: ", m[2])
    ]  # the points of a chart are no controls
    values = root.evaluate(VALUES)
    joined = [
        f"{role}: {name}" + (f" = {value}" if value else "")
        for (role, name), (_, value) in zip(names, values, strict=True)
    ]
    return [text.translate(SPACES) for text in joined]


def table_of(root: Locator) -> Locator:
    """The table of the data; in the ridge explorer the controls are a table too, before it."""
    return root.locator(".rc-table:not(.rc-choose) table").first


def follows(root: Locator, case: Case) -> str:
    """The table of the data has the numbers of the readouts; its text."""
    text = table_of(root).inner_text().translate(SPACES)
    for name in case.shown:
        number = root.locator(f'[data-rc-value="{name}"]').inner_text().translate(SPACES)
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.])", text), f"{name}: {number} is not in the table"
    return text


def sounds_right(page: Page, root: Locator, nth: int, kind: str) -> None:
    """Controls, what the picture shows, the sentence, the readouts, the table, the reader's own file."""
    case = CASES[kind]
    assert heard(root) == list(case.controls)
    parts = outline(root)
    roles = " ".join(re.match(r"\w+", part)[0] for part in parts)
    order = r"group (group )?(img|group) paragraph( term definition)+ paragraph link group status"  # status: the voice
    order += r"( text button paragraph)?"
    assert re.fullmatch(order, roles), roles
    assert parts[0].startswith('group "Controls: ')
    agrees(page, nth, kind)
    open_details(page)
    assert table_of(root).locator("caption").inner_text().translate(SPACES) == case.caption
    before = follows(root, case)
    control, key = case.key
    root.locator(f'[data-rc-control="{control}"]').press(key)
    assert dict(root.evaluate(VALUES))[control].translate(SPACES) == case.then
    agrees(page, nth, kind)
    assert follows(root, case) != before or root.locator("tr[aria-current]").count() == 1


def tabbed(page: Page, root: Locator) -> list[str]:
    """The controls that the Tab key reaches from the first one, in its order."""
    root.locator("[data-rc-control]").first.focus()
    order = []
    for _ in range(60):
        name, inside = page.evaluate(
            "[document.activeElement.dataset.rcControl, document.activeElement.closest('.rc-explorer') !== null]"
        )
        if not inside:
            break
        order += [name] if name else []
        page.keyboard.press("Tab")
    return order


# Each thing that takes the focus, with the width of the ring around it and the contrast of the ring with the page. A
# point of a chart has a ring of its own.
RINGS = """(root) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data]
      .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const takers = root.querySelectorAll("input, select, summary, a[href], button, [tabindex='0']");
  return [...takers].filter((node) => node.checkVisibility()).map((node) => {
    node.focus({ preventScroll: true }); // or the header lies on a control, and axe takes offence
    const point = node.querySelector(":scope > .rc-target");
    const { outlineStyle, outlineWidth, outlineColor, stroke, strokeWidth } = getComputedStyle(point || node);
    const [low, high] = [light(point ? stroke : outlineColor), ground].sort((a, b) => a - b);
    return {
      what: node.dataset.rcControl || node.ariaLabel || node.textContent,
      focused: document.activeElement === node,
      width: parseFloat(point ? strokeWidth : outlineStyle === "none" ? 0 : outlineWidth),
      contrast: (high + 0.05) / (low + 0.05),
    };
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", CASES)
def test_a_used_explorer_is_in_order(visit, kind, scheme):
    """In a state that no page starts with: what is heard, where Tab leads, that the focus can be seen, axe-core."""
    page, root, nth = opened(visit, kind, scheme=scheme)
    if scheme == "light":
        visible = [name for name, _ in root.evaluate(VALUES)]
        assert tabbed(page, root) == visible
        sounds_right(page, root, nth, kind)
    open_details(page)
    page.keyboard.press("Tab")  # what is focused from here on is focused by keyboard
    for ring in root.evaluate(RINGS):
        assert ring["focused"], ring
        assert ring["width"] >= 2, ring
        assert ring["contrast"] >= 3, ring  # WCAG 1.4.11
    root.evaluate("node => { node.id = 'rc-under-test'; }")
    options = AXE if scheme == "light" else {"runOnly": ["color-contrast"]}
    assert violations(page, options, "#rc-under-test") == []


def test_every_kind_has_a_case():
    assert set(CASES) == set(PLACE)


MOVING = """[...document.querySelectorAll("*")].map((node) => getComputedStyle(node))
  .filter((style) => style.animationName !== "none" || style.transitionProperty !== "none")
  .filter((style) => /[1-9]/.test(style.transitionDuration + style.animationDuration)).length"""


def test_who_asks_for_less_motion_gets_none(visit):
    page = visit(PLACE["m_sweep"][0])
    assert page.evaluate(MOVING) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(MOVING) > 0  # the theme fades in what it shows: the test can see motion
