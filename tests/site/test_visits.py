"""The tests' own eye: a page may be left before all of it has come, and nothing that is missing may pass for that."""

from __future__ import annotations

import pytest
from visits import Visit

pytestmark = pytest.mark.browser

LEFT_EARLY = """async (url) => {
  const left = new AbortController();
  const asked = fetch(url, { signal: left.signal });
  left.abort();
  await asked.catch(() => {});
}"""


@pytest.mark.parametrize(("asked", "missed"), [("_static/favicon.svg", []), ("_static/gone.svg", ["_static/gone.svg"])])
def test_what_is_broken_off_must_be_there(chromium, addresses, asked, missed):
    base = addresses["http"]
    context = chromium.new_context()
    seen = Visit(context.new_page(), base, scripts=True)
    page = seen.goto("search.html")
    with page.expect_event("requestfailed", lambda request: request.url == base + asked):
        page.evaluate(LEFT_EARLY, base + asked)
    context.close()
    assert seen.problems == []
    assert seen.missed() == [base + url for url in missed]
