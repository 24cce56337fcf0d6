"""Sphinx extension of the course: explorers on pages, vendored scripts, and repairs of the stock theme.

Everything that a page loads is copied into the site, so that it works from a folder (file://) with no network.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import explorers
import figures
import questions
from docutils import nodes
from markers import MARKER
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

# Not under _static/: Jupyter Book 1 puts each script that it finds there on each page, and MathJax weighs 2 MB.
VENDOR = Path(__file__).resolve().parents[1] / "_vendor"
EMPTY_HEADING = re.compile(r"<th([^>]*)>\s*(?:<p>\s*</p>)?\s*</th>")
MEASURING = "appendix/measure"
EXPLORER = re.compile(r'data-rc-explorer="(\w+)"')
# Names, punctuation and spaces of code look like the text around them; operators may as well. Their spans were a
# quarter of a page.
PLAIN_CODE = re.compile(r'<span class="(?:n|nn|nx|o|p|w)">([^<]*)</span>')
# The parts of a string (its prefix, the braces in it) have the string's colour, so that one span is enough for a run.
STRING_PARTS = re.compile(r'(?:<span class="(?:s1|s2|sa|si)">[^<]*</span>){2,}')
SPAN = re.compile(r"<[^>]*>")
# A link's words say again, to no style sheet, that they are a reference.
LINK_WORDS = re.compile(r'<span class="std std-(?:ref|doc)">([^<]*)</span>')


class AnyOption(dict):
    """An option spec that takes every option: which ones an explorer has is for its own module to say."""

    def __missing__(self, key):
        return lambda text: text or ""

    def __bool__(self):
        return True


def parse_value(text: str):
    """`16` and `1.5e9` are numbers, all else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class ExplorerDirective(SphinxDirective):
    """An interactive explorer on a Markdown page: the same HTML that `rc.explore.KIND(...)` leaves in a notebook."""

    required_arguments = 1
    option_spec = AnyOption()

    def run(self) -> list[nodes.Node]:
        from roofcourse.explore import static_html

        kind, state = self.arguments[0], {key: parse_value(text) for key, text in self.options.items()}
        try:
            html = static_html(kind, state)
        except (LookupError, TypeError, ValueError) as error:
            raise self.error(f"explorer {kind}: {error}") from None
        return [nodes.raw("", html, format="html")]


def copy_vendored(app: Sphinx) -> None:
    if app.builder.format == "html":
        shutil.copytree(VENDOR, Path(app.outdir) / "_static" / "vendor", dirs_exist_ok=True)


def strip_markers(app: Sphinx, docname: str, source: list[str]) -> None:
    source[0] = MARKER.sub("", source[0])


def add_explorers(app: Sphinx, context: dict) -> None:
    """The script of the explorers that a page has, and their style; nothing on a page without one."""
    kinds = sorted(set(EXPLORER.findall(context.get("body", ""))))
    if not kinds:
        return
    context["body"] = explorers.share_devices(context["body"])
    if MEASURING in app.env.found_docs:  # where a reader learns to make the run file that an explorer takes
        address = f' data-rc-measuring="{context["pathto"](MEASURING)}"'
        context["body"] = EXPLORER.sub(lambda m: m[0] + address, context["body"])
    from roofcourse import explore

    static = Path(app.outdir) / "_static"
    script = f"{'-'.join(kinds)}.roofcourse.js"
    for name, text in ((script, explore.bundle(*kinds)), ("roofcourse.css", explore.css())):
        if not (static / name).exists():
            (static / name).write_text(text, encoding="utf-8")
    app.add_js_file(script, loading_method="defer")
    app.add_css_file("roofcourse.css")


def add_questions(app: Sphinx, pagename: str, context: dict) -> None:
    """The forms of the exercises and the quiz that a page has; nothing on a page without one."""
    scripts, styles = questions.write(context.get("body", ""), pagename, Path(app.outdir) / "_static")
    for name in scripts:  # in this order: the answers, then what reads them
        app.add_js_file(name, loading_method="defer")
    for name in styles:
        app.add_css_file(name)


def read_inputs(app: Sphinx) -> None:
    """The hash of what each page is made from, as tools/build_book.py says; without that file, no page carries one."""
    said = Path(app.srcdir) / "_build" / "inputs.json"
    app.rc_inputs = json.loads(said.read_text(encoding="utf-8")) if said.exists() else {}


def add_inputs(app: Sphinx, pagename: str, context: dict) -> None:
    if inputs := app.rc_inputs.get(pagename):
        context["metatags"] = context.get("metatags", "") + f'<meta name="rc-inputs" content="{inputs}" />'


def drop_thebe(context: dict) -> None:
    """sphinx-thebe comes with Jupyter Book 1. Unused here, it declares a constant twice (an error on each page)."""
    files = context.get("script_files")
    if files is None:
        return

    def is_thebe(script) -> bool:
        body = (getattr(script, "attributes", None) or {}).get("body") or ""
        return "thebe" in str(getattr(script, "filename", "")).lower() or "thebe" in body.lower()

    files[:] = [script for script in files if not is_thebe(script)]


def repair_body(context: dict) -> None:
    """What the theme and myst-nb write into a page's body that a screen reader stumbles over."""
    body = context.get("body")
    if body is None:
        return
    # The label hides what the summary shows ("Show code cell source"): WCAG 2.5.3, label in name.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    # docutils marks a bibliography with roles that ARIA has dropped, in a list whose children are no items.
    body = body.replace('<div role="list" class="citation-list">', '<div class="citation-list">')
    body = body.replace(' role="doc-biblioentry"', "")
    body = PLAIN_CODE.sub(r"\1", body)
    body = LINK_WORDS.sub(r"\1", body)
    body = STRING_PARTS.sub(lambda run: f'<span class="s2">{SPAN.sub("", run[0])}</span>', body)
    # A table whose first column needs no name: an empty cell, not a heading that says nothing.
    context["body"] = EMPTY_HEADING.sub(r"<td\1></td>", body)


def separate_figures(app: Sphinx, context: dict) -> None:
    body = context.get("body")
    if body is not None:
        pathto = context["pathto"]
        folder = Path(app.outdir) / "_images"
        context["body"] = figures.separate(body, folder, lambda name: pathto(f"_images/{name}", True))


def finish_page(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if app.builder.format != "html":
        return
    add_inputs(app, pagename, context)
    add_explorers(app, context)
    add_questions(app, pagename, context)
    separate_figures(app, context)
    drop_thebe(context)
    repair_body(context)


def setup(app: Sphinx) -> dict:
    app.add_directive("explorer", ExplorerDirective)
    app.connect("builder-inited", copy_vendored)
    app.connect("builder-inited", read_inputs)
    app.connect("source-read", strip_markers)
    app.connect("html-page-context", finish_page, priority=900)  # after the theme and sphinx-thebe
    return {"parallel_read_safe": True, "parallel_write_safe": True}
