"""How long an explorer takes to answer one step of a control, on the built site, against one frame of 16 ms.

    make bench            # or: python benchmarks/explorers.py, after make book

A step is what one key press costs the page: the script, and the layout that it makes necessary, with the table of the
data open. Each kind is taken to the device (or the preset) at which its steps are slowest. Of fifty steps the lower
quartile is held against the budget: it is the page's own time, while the median also holds what else the machine does.
Painting is left out: it depends on the screen, and happens in the browser's own threads. Run it on an idle machine.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "site"))
from site_pages import EXPLORERS  # noqa: E402  (which page shows which kind)

HTML = ROOT / "book" / "_build" / "html"
BUDGET = 16.0  # milliseconds: a frame at 60 Hz
STEPS = 50
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu"]

# Steps of every slider (or, where there is none, of the boxes) of an explorer: milliseconds of each.
STEP = """({ root, steps }) => {
  const sliders = [...root.querySelectorAll("input[type='range']")].filter((node) => !node.disabled);
  const boxes = [...root.querySelectorAll("input[type='checkbox']")].filter((node) => node.checkVisibility());
  const controls = sliders.length > 0 ? sliders : boxes;
  const settle = () => root.getBoundingClientRect().height + document.documentElement.scrollHeight;
  const taken = [];
  for (let i = 0; i < steps; i += 1) {
    const node = controls[i % controls.length];
    const turn = Math.floor(i / controls.length);
    const whole = Math.max(Math.floor(Number(node.max)), 1);
    settle();
    const start = performance.now();
    if (node.type === "range") {
      node.value = (1 + turn * Math.ceil(whole / 13)) % (whole + 1);
      node.dispatchEvent(new Event("input", { bubbles: true }));
    } else {
      node.click();
    }
    settle();
    taken.push(performance.now() - start);
  }
  return taken;
}"""


def steps(page: Page, nth: int, count: int) -> list[float]:
    root = page.locator("[data-rc-explorer]").nth(nth).element_handle()
    return page.evaluate(STEP, {"root": root, "steps": count})


def slowest(page: Page, nth: int) -> str:
    """Leave the explorer at the device, or the preset, whose steps are slowest; its name."""
    root = page.locator("[data-rc-explorer]").nth(nth)
    select = root.locator("[data-rc-control='device'], [data-rc-control='preset']").first
    taken = {}
    for option in select.locator("option:not([value=''])").evaluate_all("nodes => nodes.map((node) => node.value)"):
        select.select_option(option)
        taken[option] = statistics.median(steps(page, nth, 8))
    name = max(taken, key=taken.get)
    select.select_option(name)
    return select.locator("option:checked").inner_text()


def main() -> None:
    if not (HTML / "index.html").exists():
        sys.exit("no site to measure: run make book")
    executable = shutil.which("chromium")
    if executable is None:
        sys.exit("chromium is missing: apt-get install chromium")
    places = {kind: (name, kinds.index(kind)) for name, kinds in reversed(EXPLORERS.items()) for kind in kinds}
    over = []
    print(f"milliseconds of {STEPS} steps, script and layout; budget {BUDGET:g}")
    print(f"{'explorer':<14}{'at':<26}{'lower quartile':>15}{'median':>10}{'most':>10}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        for kind, (name, nth) in sorted(places.items()):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto((HTML / name).as_uri())
            page.wait_for_function("window.roofcourse !== undefined && window.roofcourse.explorers.length > 0")
            page.evaluate(
                "document.querySelectorAll('[data-rc-explorer] details').forEach((node) => { node.open = true; })"
            )
            at = slowest(page, nth)
            taken = steps(page, nth, STEPS)
            low = statistics.quantiles(taken, n=4)[0]
            print(f"{kind:<14}{at:<26.25}{low:>15.1f}{statistics.median(taken):>10.1f}{max(taken):>10.1f}")
            over += [kind] if low > BUDGET else []
            page.close()
        browser.close()
    if over:
        sys.exit(f"slower than a frame: {', '.join(over)}")


if __name__ == "__main__":
    main()
