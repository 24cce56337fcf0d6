"""What tests of several folders share: one browser, started last."""

from __future__ import annotations

from collections.abc import Iterator

import browser
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests last: the quick ones speak first, and Playwright's event loop runs until the session ends, which
    the notebooks' kernels would have to share. Two processes (pytest -n 2) each get theirs in this order."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)


@pytest.fixture(scope="session")
def chromium() -> Iterator:
    """One browser for all tests; each test opens its own page."""
    from playwright.sync_api import sync_playwright

    executable = browser.executable()
    if executable is None:
        pytest.fail("chromium is missing: apt-get install chromium, or run pytest -m 'not browser'", pytrace=False)
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=browser.FLAGS)
        yield launched
        launched.close()
