"""The built site in a real browser, over http and from its folder, with everything else blocked."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import serve
from playwright.sync_api import Browser, Page
from visits import Visit

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "book" / "_build" / "html"


@pytest.fixture(scope="session")
def site() -> Path:
    """Folder of the site, made from what is in the tree now (nothing is done when it is current)."""
    done = subprocess.run([sys.executable, ROOT / "tools" / "build_book.py"], capture_output=True, text=True)
    if done.returncode:
        pytest.fail(f"the site cannot be built: {done.stdout}{done.stderr}", pytrace=False)
    return HTML


@pytest.fixture(scope="session")
def addresses(site: Path) -> Iterator[dict[str, str]]:
    """Where the site is, by way of reaching it."""
    with serve.server(site) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield {"http": serve.address(http), "file": site.as_uri() + "/"}
        http.shutdown()


@pytest.fixture
def visit(chromium: Browser, addresses: dict[str, str]) -> Iterator:
    """`visit("index.html", way="file", scheme="dark", width=390)` opens a page. At the end of a test no page that it
    opened may have logged an error, missed a file or asked for anything outside the site."""
    contexts, visits = [], []

    def open_page(path: str, way="file", scheme="light", width=1280, javascript=True) -> Page:
        context = chromium.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            java_script_enabled=javascript,
            reduced_motion="reduce",
            service_workers="block",
        )
        contexts.append(context)
        visits.append(Visit(context.new_page(), addresses[way], scripts=javascript))
        return visits[-1].goto(path)

    yield open_page
    for context in contexts:
        context.close()
    assert [problem for v in visits for problem in v.problems] == []
    assert [url for v in visits for url in v.missed()] == []
    assert [url for v in visits for url in v.outside] == []
