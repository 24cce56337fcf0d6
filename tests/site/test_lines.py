"""Where lines end on a phone: not between a number and its unit."""

from __future__ import annotations

import nobreak
import pytest
from site_pages import PAGES
from visits import resize

pytestmark = pytest.mark.browser
#: Numbers with a unit whose first and last letter are on two lines, in what is read as text.
PARTED = r"""(unit) => {
  const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
  const [whole, parted] = [[], []];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const parent = node.parentElement;
    if (parent.closest("h1, h2, h3, pre, code, .math, script, svg, [data-rc-explorer], .rc-answer")) continue;
    for (const found of node.data.matchAll(new RegExp(`\\d\\s(?:${unit})(?![\\w/])|\\d\\s×\\s\\d`, "g"))) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const tops = [...range.getClientRects()].map((box) => Math.round(box.top));
      if (tops.length) (new Set(tops).size === 1 ? whole : parted).push(found[0]);
    }
  }
  return [whole, parted];
}"""


#: Punctuation after a formula that begins a line, and how much punctuation stands after formulas.
BEGUN = r"""() => {
  const [begun, all] = [[], []];
  for (const formula of document.querySelectorAll("article span.math")) {
    const after = formula.nextSibling;
    if (after?.nodeType !== Node.TEXT_NODE || !/^[:;.,)!?]/.test(after.data)) continue;
    const range = document.createRange();
    range.setStart(after, 0);
    range.setEnd(after, 1);
    const [box] = range.getClientRects();
    if (box === undefined) continue; // folded
    all.push(after.data);
    if (box.left < formula.getBoundingClientRect().right - 2) begun.push(formula.parentElement.textContent);
  }
  return [begun, all.length];
}"""


@pytest.mark.parametrize(("name", "least"), [("02_arithmetic", 30), ("06_prefill", 12), ("09_your", 4)])
def test_no_line_begins_with_the_comma_after_a_formula(visit, name, least):
    page = visit(next(page for page in PAGES if name in page), width=390)
    for width in (320, 360, 390, 412, 600, 844, 1280):
        resize(page, width)
        begun, count = page.evaluate(BEGUN)
        assert begun == [], width
        assert count >= least


def test_no_number_of_chapter_1_parts_from_its_unit(visit):
    page = visit(next(name for name in PAGES if "01_bounds" in name), width=390)
    whole, parted = page.evaluate(PARTED, nobreak.UNIT)
    assert parted == []
    assert {"3 µs", "5 GB/s", "2 × 8"} <= {text.replace(nobreak.NO_BREAK, " ") for text in whole}
