"""Two explorers of one kind on a page share the devices; the page's script puts them back."""

from __future__ import annotations

import json

import explorers
import pytest

from roofcourse import explore


def data(body: str) -> list[dict]:
    return [json.loads(match[3]) for match in explorers.DATA.finditer(body)]


def pair() -> str:
    one = explore.static_html("m_sweep", {"m": 1}, element_id="one")
    other = json.dumps({"key": "mine", "name": "a <machine>"}).replace("<", "\\u003c")
    two = explore.static_html("m_sweep", {"m": 16}, element_id="two").replace('"devices":[', f'"devices":[{other},')
    return one + two


def test_a_later_explorer_names_the_devices_of_the_first_by_their_place():
    before, after = data(pair()), data(explorers.share_devices(pair()))
    assert after[0] == before[0]
    assert after[1]["state"] == before[1]["state"]
    assert after[1]["spec"]["devices"] == [{"key": "mine", "name": "a <machine>"}, *range(12)]
    assert len(explorers.share_devices(pair())) < 0.7 * len(pair())


def test_other_kinds_and_single_explorers_stay_as_they_are():
    body = "".join(explore.static_html(kind) for kind in ("m_sweep", "bounds", "intensity")) + "<p>text</p>"
    assert explorers.share_devices(body) == body


def test_what_is_written_cannot_end_the_script():
    assert "<machine>" not in explorers.share_devices(pair())


@pytest.mark.browser
def test_the_script_puts_them_back(chromium):
    one = explore.static_html("m_sweep", {"m": 1}, element_id="one")
    two = explore.static_html("m_sweep", {"m": 16, "device": "b300"}, element_id="two")
    page = chromium.new_page()
    page.set_content(explorers.share_devices(one + two))
    page.add_script_tag(content=explore.bundle("m_sweep"))
    specs = page.evaluate("roofcourse.explorers.map(explorer => explorer.spec)")
    page.close()
    assert specs == [found["spec"] for found in data(one + two)]


@pytest.mark.browser
def test_the_regions_of_two_explorers_of_one_kind_have_names_of_their_own(chromium):
    page = chromium.new_page()
    page.set_content("".join(explore.static_html("m_sweep", {"m": m}, element_id=f"rc-{m}") for m in (1, 16)))
    page.add_script_tag(content=explore.bundle("m_sweep"))
    names = page.locator("[role='region']").evaluate_all("nodes => nodes.map(node => node.ariaLabel)")
    page.close()
    assert names == ["The sweep as a table", "The sweep as a table, explorer 2"]
