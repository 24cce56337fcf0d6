"""A number and its unit stay on one line: 96 %, 3,085 GB/s, 8192 × 8192, M = 256, chapter 7.

The sources have plain spaces, which anybody can type. When a page is made they become no-break spaces, in what is
read as text: not in code, formulas, drawings or explorers. Headings keep theirs, for the search compares them letter by
letter; words of the text it takes apart at both.

After a formula a browser ends a line even before a comma, whatever characters stand between. So a formula and the
punctuation that follows it come into one element, which site.css keeps on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

NO_BREAK = "\N{NO-BREAK SPACE}"
UNIT = (
    r"(?:%|°C|(?:[kMGTP]|[KMGT]i)?B(?:/s)?|[MGTP]?FLOP(?:/s|/byte)?|bytes?(?:/s|/FLOP)?|bits?|tokens?/s"
    r"|[nµm]?s|[kMG]?Hz|W)"
)
#: Each group is one space. Every match is as long as what takes its place.
GLUE = re.compile(
    rf"(?<=\d)(\s)(?={UNIT}(?![\w/]))"  # 47 µs
    r"|(?:(?<=\d)|(?<=\b[A-Z]))(\s)×(\s)(?=\d|[A-Z]\b)"  # 8192 × 8192, M × N
    r"|(?<=\b[A-Z])(\s)[=<>≤≥](\s)(?=\d|[A-Z]\s[=<>≤≥]\s\d)"  # M = 256, N = K = 8192
    r"|(?<=\b[Cc]hapter)(\s)(?=\d)"
)
CLOSING = re.compile(r"[:;.,)!?]+")
APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")
TAG = re.compile(r"(<[^>]*>)")
#: Tags inside a line; at any other one a text ends.
INLINE = re.compile(r"</?(?:a|abbr|b|em|i|span|strong|sub|sup)\b")
#: Raw HTML that is more than text: drawings and explorers, code, scripts.
NO_TEXT = re.compile(r"<(?:svg|script|style|pre|code|textarea)\b|data-rc-explorer")
SHORT = 20  #: Letters of code that fit any line.
OPAQUE = (nodes.literal, nodes.math, nodes.raw)
BLOCKS = (nodes.FixedTextElement, nodes.title, nodes.math_block, nodes.raw, nodes.comment)


def glue(text: str) -> str:
    """The text with no-break spaces where a line must not end, and with apostrophes as Markdown sets them."""
    return GLUE.sub(lambda m: re.sub(r"\s", NO_BREAK, m[0]), APOSTROPHE.sub("’", text))


def glue_parts(parts: Iterable[str]) -> list[str]:
    """`glue` for a text in parts: in **47** µs the space and the number stand in different ones."""
    parts = list(parts)
    whole, out, start = glue("".join(parts)), [], 0
    for part in parts:
        out.append(whole[start : start + len(part)])
        start += len(part)
    return out


def glue_html(html: str) -> str:
    """`glue` for what a cell left as HTML, if it is text: a quiz, a table, what a checker says."""
    if NO_TEXT.search(html):
        return html
    parts = TAG.split(html)
    glued = glue_parts(["" if INLINE.match(part) else part for part in parts])
    return "".join(part if part.startswith("<") else text for part, text in zip(parts, glued, strict=True))


def seen(node: nodes.Node) -> str:
    """What stands before a unit, if it is text. (A browser ends a line after a formula, whatever space follows.)"""
    if isinstance(node, nodes.math):
        return "\N{OBJECT REPLACEMENT CHARACTER}"
    return "" if isinstance(node, nodes.raw) else node.astext()


def pieces(block: nodes.Node) -> Iterable[nodes.Node]:
    """The text nodes of a block in their order, and what between them has no text of its own to change."""
    for child in block.children:
        if isinstance(child, (nodes.Text, *OPAQUE)):
            yield child
        else:
            yield from pieces(child)


def hold(formula: nodes.math) -> None:
    """Bring a formula and the punctuation that follows it into one element; it has no class, to be short."""
    parent, after = formula.parent, formula.next_node(descend=False, siblings=True)
    if not isinstance(after, nodes.Text) or not (closing := CLOSING.match(after)):
        return
    parent.replace(after, [nodes.Text(after[closing.end() :])] if closing.end() < len(after) else [])
    parent.replace(formula, held := nodes.inline())
    held += [formula, nodes.Text(closing[0])]


class NoBreak(SphinxPostTransform):
    default_priority = 900  # when references have their words and cells their outputs

    def run(self, **kwargs) -> None:
        for block in list(self.document.findall(nodes.TextElement)):
            if isinstance(block, BLOCKS) or isinstance(block.parent, nodes.TextElement):
                continue
            parts = list(pieces(block))
            for node, text in zip(parts, glue_parts(map(seen, parts)), strict=True):
                if isinstance(node, nodes.Text) and text != node:
                    node.parent.replace(node, nodes.Text(text))
        for formula in list(self.document.findall(nodes.math)):
            hold(formula)
        for code in self.document.findall(nodes.literal):
            if " " in code.astext() and len(code.astext()) <= SHORT:  # its frame would be cut in two
                code["classes"].append("rc-short")
        for raw in list(self.document.findall(nodes.raw)):
            if raw.get("format") == "html" and (html := glue_html(raw.astext())) != raw.astext():
                raw.parent.replace(raw, nodes.raw(html, html, **raw.attributes))


def setup(app: Sphinx) -> dict:
    app.add_post_transform(NoBreak)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
