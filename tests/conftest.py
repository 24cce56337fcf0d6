"""What tests of several folders share: one browser, started last."""

from __future__ import annotations

from collections.abc import Iterator

import browser
import pytest

from roofcourse.measure.settings import quiet_profiler

quiet_profiler()  # whichever test of a process uses the profiler first


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-baselines", action="store_true", help="take the pictures of test_looks.py anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: the quick ones speak first, and Playwright's event loop runs until the session ends, which
    the notebooks' kernels would have to share. Two processes (pytest -n 2) each get theirs in this order."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


#: Letters drawn alike whatever the machine's settings for fonts say: test_looks.py compares pictures.
LETTERS = ["--font-render-hinting=none", "--disable-lcd-text"]


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """One browser for all tests; each test opens its own page."""
    from playwright.sync_api import sync_playwright

    executable = browser.executable()
    if executable is None:
        pytest.fail("chromium is missing: apt-get install chromium, or run pytest -m 'not browser'", pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=[*browser.FLAGS, *LETTERS])
        yield launched
        launched.close()
