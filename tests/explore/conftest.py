"""Fixtures of the explorers' tests: pages of static HTML and the bundle, in a browser with the network blocked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from roofcourse import explore

PAGE = """<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Explorers</title>
<style>
html {{ background: #fff; color: #222832; --pst-color-background: #fff }}
html[data-theme="dark"] {{ background: #14181e; color: #ced6dd; --pst-color-background: #14181e }}
body {{ margin: 0 auto; max-width: 48rem; padding: 1rem; font-family: sans-serif }}
</style>
<style>{css}</style>
</head>
<body><main><h1>Explorers</h1>{body}</main>
<script>{script}</script></body></html>"""


# Words of a chart that lie over each other, or reach past the window.
OVERLAPS = """() => [...document.querySelectorAll('svg.rc-chart')].flatMap((chart) => {
  const boxes = [...chart.querySelectorAll('text')]
    .filter((n) => n.textContent !== '' && getComputedStyle(n).visibility !== 'hidden')
    .map((n) => ({ text: n.textContent, box: n.getBoundingClientRect() }));
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    const x = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const y = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (x > 0.5 && y > 2.5) found.push([a.text, b.text, x, y]); // line boxes may touch, words may not
  }));
  const edge = document.documentElement.clientWidth;
  for (const { text, box } of boxes) if (box.left < -0.5 || box.right > edge + 0.5) found.push([text, 'edge']);
  return found;
})"""
# Every chart has been drawn for the width that it has now.
SETTLED = """() => [...document.querySelectorAll('.rc-stage')].every((stage) =>
  Number(stage.querySelector('svg').getAttribute('width')) === Math.floor(stage.clientWidth))"""


class Explorers:
    """A page with explorers in a browser, and what a test asks of it."""

    OVERLAPS = OVERLAPS

    def __init__(self, page) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("console", lambda m: self.problems.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.problems.append(str(e)))
        page.route(re.compile(r"^(?!file:|data:)"), self._block)

    def _block(self, route) -> None:
        self.problems.append(f"asked for {route.request.url}")
        route.abort()

    def control(self, name: str, nth: int = 0):
        return self.page.locator(f'[data-rc-control="{name}"]').nth(nth)

    def shown(self, name: str, nth: int = 0) -> float | None:
        """The exact number behind a displayed value, ``None`` where none is displayed."""
        exact = self.page.locator(f'[data-rc-value="{name}"]').nth(nth).get_attribute("data-rc-exact")
        return float(exact) if exact else None

    def sentence(self, nth: int = 0) -> str:
        return self.page.locator("[data-rc-sentence]").nth(nth).text_content()

    def readings(self, nth: int = 0) -> dict:
        """All exact numbers of the nth explorer and its sentence, read at once."""
        return (
            self.page.locator(".rc-explorer")
            .nth(nth)
            .evaluate(
                """(root) => Object.fromEntries([
              ['sentence', root.querySelector('[data-rc-sentence]').textContent],
              ...[...root.querySelectorAll('[data-rc-value]')].map(({ dataset }) =>
                [dataset.rcValue, dataset.rcExact === '' ? null : Number(dataset.rcExact)]),
            ])"""
            )
        )

    def collisions(self) -> list:
        """Pairs of words in the charts that overlap, and words that reach past the edge of the window."""
        return self.page.evaluate(OVERLAPS)

    def settle(self) -> None:
        self.page.wait_for_function(SETTLED)

    def resize(self, width: int, height: int = 900) -> None:
        self.page.set_viewport_size({"width": width, "height": height})
        self.settle()

    def open_table(self, title: str) -> None:
        """Unfold the table of this title by a click, and wait until it is filled: the browser tells a moment later."""
        self.page.get_by_text(title).click()
        self.page.locator(".rc-table[open] caption").first.wait_for()

    def unfold(self) -> None:
        """Open all that can be unfolded, and wait until it is filled."""
        self.page.locator(".rc-explorer details").evaluate_all(
            "nodes => nodes.forEach((node) => { node.open = true; })"
        )
        self.page.wait_for_function(
            "[...document.querySelectorAll('.rc-foot details')].every((node) => node.querySelector('caption') !== null)"
        )

    def fragment(self) -> str:
        return self.page.evaluate("location.hash")


@pytest.fixture
def open_page(chromium, tmp_path: Path) -> Iterator[Callable[..., Explorers]]:
    """``open_page((kind, state), ..., width=1280, theme="light", fragment="", javascript=True)`` from ``file://``.

    At the end of the test no page may have logged an error or asked for anything that is not a file.
    """
    opened: list[tuple] = []

    def open_(*items, width=1280, theme="light", fragment="", javascript=True, fold=False, touch=False) -> Explorers:
        body = "\n<p>Some text.</p>\n".join(explore.static_html(kind, state) for kind, state in items)
        if fold:
            body = f'<details class="fold"><summary>unfold</summary>{body}</details>'
        path = tmp_path / f"page{len(opened)}.html"
        html = PAGE.format(theme=theme, css=explore.css(), body=body, script=explore.bundle())
        path.write_text(html, encoding="utf-8")
        viewport = {"width": width, "height": 900}
        context = chromium.new_context(viewport=viewport, java_script_enabled=javascript, has_touch=touch)
        explorers = Explorers(context.new_page())
        opened.append((context, explorers))
        explorers.page.goto(path.as_uri() + fragment)
        if javascript:
            explorers.page.wait_for_function(f"document.querySelectorAll('.rc-live').length === {len(items)}")
        return explorers

    yield open_
    for context, explorers in opened:
        context.close()
        assert explorers.problems == []


@pytest.fixture
def one_line():
    """``with one_line(ValueError) as caught``: the error that a reader gets is one line."""

    @contextmanager
    def expect(*errors: type[Exception]):
        with pytest.raises(errors) as caught:
            yield caught
        text = str(caught.value)
        assert text, "an error without words"
        assert "\n" not in text

    return expect
