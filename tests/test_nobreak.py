"""Numbers that stay with their units: the exact text of what a page becomes."""

from __future__ import annotations

import nobreak
import pytest
from docutils import nodes
from docutils.core import publish_doctree
from docutils.utils import new_document


def shown(text: str) -> str:
    """A no-break space as an underscore, which no text below has."""
    return text.replace("\N{NO-BREAK SPACE}", "_")


@pytest.mark.parametrize(
    ("text", "glued"),
    [
        ("takes 47 µs, 96 % of it", "takes 47_µs, 96_% of it"),
        ("3,085 GB/s and 788\nTFLOP/s", "3,085_GB/s and 788_TFLOP/s"),
        ("at 0.5 FLOP/byte, 128 KiB, 2 MB, 1.98 GHz, 700 W", "at 0.5_FLOP/byte, 128_KiB, 2_MB, 1.98_GHz, 700_W"),
        ("8192 × 8192 × 64 and M × N", "8192_×_8192_×_64 and M_×_N"),
        ("up to M = 256, N = K = 8192, M < 64", "up to M_=_256, N_=_K_=_8192, M_<_64"),
        ("2 bytes or 16 bits a number, 40 tokens/s", "2_bytes or 16_bits a number, 40_tokens/s"),
        ("Chapter 7, and chapters 1 to 3", "Chapter_7, and chapters 1 to 3"),
        # words and names are no units, and a unit without a number has nothing to stay with
        ("16 rows, 3 matrices, 2 Bs, 5 streams", "16 rows, 3 matrices, 2 Bs, 5 streams"),
        ("GB/s, and % of the roof × 2", "GB/s, and % of the roof × 2"),
        ("the H100 s", "the H100_s"),
        ("a kernel's bytes, 'quoted'", "a kernel’s bytes, 'quoted'"),
    ],
)
def test_what_is_glued(text, glued):
    assert shown(nobreak.glue(text)) == glued


def transformed(source: str) -> nodes.document:
    document = publish_doctree(source)
    nobreak.NoBreak(document).run()
    return document


def test_text_of_a_page_and_not_its_code():
    lines = [
        "5 %",
        "===",
        "",
        "**47** µs, ``47 µs``, *96* %, :math:`10^{9}` bytes, :math:`47 µs`",
        "",
        "::",
        "",
        "    47 µs",
    ]
    document = transformed("\n".join([*lines, "", "- 5 GB/s"]))
    title, first, block, items = document.children
    assert title.astext() == "5 %"
    assert shown(first.astext()) == "47_µs, 47 µs, 96_%, 10^{9} bytes, 47 µs"
    assert block.astext() == "47 µs"
    assert shown(items.astext()) == "5_GB/s"


def test_short_code_stays_on_one_line():
    document = transformed('``"no sync"`` and ``fast``, ``roofcourse measure --quick --out mine.json``')
    codes = list(document.findall(nodes.literal))
    assert [code["classes"] for code in codes] == [["rc-short"], [], []]


def test_a_formula_keeps_the_punctuation_that_follows_it():
    document = transformed("At :math:`x`, (:math:`y`); :math:`z` and :math:`F`: **that** :math:`B`.")
    (text,) = document.children
    held = [node for node in text.children if isinstance(node, nodes.inline)]
    assert [node.astext() for node in held] == ["x,", "y);", "F:", "B."]
    assert [len(list(node.findall(nodes.math))) for node in held] == [1, 1, 1, 1]
    assert all(node["classes"] == [] for node in held)  # 18 of them on one page count
    assert text.astext() == "At x, (y); z and F: that B."


def raw(html: str) -> str:
    document = new_document("")
    document += nodes.raw("", html, format="html")
    nobreak.NoBreak(document).run()
    (node,) = document.children
    assert (node["format"], node.rawsource) == ("html", "" if node.astext() == html else node.astext())
    return shown(node.astext())


def test_html_of_a_cell_if_it_is_text():
    assert raw('<p title="5 %"><b>47</b> µs of 8 × 8</p>') == '<p title="5 %"><b>47</b>_µs of 8_×_8</p>'
    assert (
        raw("<li>in 50 µs<p>Half the time: 5 <em>%</em></p></li>")
        == "<li>in 50_µs<p>Half the time: 5_<em>%</em></p></li>"
    )
    for kept in (
        '<div data-rc-explorer="m_sweep"><p>47 µs</p></div>',
        "<svg><text>47 µs</text></svg>",
        "<p><code>47 µs</code></p>",
        '<script type="application/json">{"a": "47 µs"}</script>',
    ):
        assert raw(kept) == kept
