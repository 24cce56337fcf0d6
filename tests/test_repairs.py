"""What the extension does to a page's body: lighter code of the same look, and repairs of the stock theme."""

from __future__ import annotations

import course
import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer


def repaired(body: str) -> str:
    context = {"body": body}
    course.repair_body(context)
    return context["body"]


@pytest.mark.parametrize(
    ("code", "lighter"),
    [
        ("a = b.c(2)", 'a = b.c(<span class="mi">2</span>)'),
        # prefix, text, brace: one string; what stands in the braces is code again
        (
            'f"{x * 2:.0f} µs"',
            '<span class="s2">f"{</span>x * <span class="mi">2</span><span class="s2">:.0f} µs"</span>',
        ),
        ("'a' + \"b\"", '<span class="s1">\'a\'</span> + <span class="s2">"b"</span>'),
    ],
)
def test_code_is_lighter_and_reads_the_same(code, lighter):
    stock = (
        highlight(code, PythonLexer(), HtmlFormatter(nowrap=True)).strip().replace("&quot;", '"').replace("&#39;", "'")
    )
    assert repaired(stock) == lighter
    assert BeautifulSoup(repaired(stock), "html.parser").get_text() == code


def test_an_empty_heading_of_a_table_is_an_ordinary_cell():
    assert repaired("<tr><th><p></p></th><th><p>M</p></th></tr>") == "<tr><td></td><th><p>M</p></th></tr>"


def test_a_summary_says_what_it_shows():
    stock = '<summary aria-label="Toggle hidden content"><span>Show the code</span></summary>'
    assert repaired(stock) == "<summary><span>Show the code</span></summary>"
