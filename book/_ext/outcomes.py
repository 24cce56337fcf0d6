"""The directive `{outcomes}`: what each chapter teaches and what it needs, in the chapters' own words.

Read from the first cell of each notebook, so that a course plan and the chapters cannot say different things.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEAD = re.compile(
    r"# (?P<title>[^\n]+)\n\n\*\*After this chapter you can\*\*\n\n(?P<outcomes>- .*?)\n\n(?P<needs>You need .*)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Outcomes:
    """What one chapter says of itself: Markdown, with links as the notebook has them."""

    title: str
    outcomes: tuple[str, ...]
    needs: str


def outcomes(notebook: dict) -> Outcomes:
    """From a notebook's first cell. Raises ValueError when it is not in the form that every chapter opens with."""
    text = re.sub(r"<!--=.*?-->", "", "".join(notebook["cells"][0]["source"]), flags=re.DOTALL)
    match = HEAD.match(text)
    if match is None:
        raise ValueError("the first cell has no title, 'After this chapter you can' and 'You need'")
    points = re.split(r"^- ", match["outcomes"], flags=re.MULTILINE)[1:]
    needs = match["needs"].split("\n\n")[0]
    return Outcomes(match["title"], tuple(" ".join(p.split()) for p in points), " ".join(needs.split()))


class OutcomesDirective(SphinxDirective):
    """All chapters of the book, each with its outcomes; takes no argument."""

    def run(self) -> list[nodes.Node]:
        lines = []
        for path in sorted((Path(self.env.srcdir) / "notebooks").glob("[0-9]*.ipynb")):
            self.env.note_dependency(str(path))
            try:
                chapter = outcomes(json.loads(path.read_text(encoding="utf-8")))
            except ValueError as error:
                raise self.error(f"{path.name}: {error}") from None
            number = int(path.stem.split("_")[0])
            needs = re.sub(r"\]\((\d\d_)", r"](../notebooks/\1", chapter.needs)
            lines += [
                f"**[Chapter {number}: {chapter.title}](../notebooks/{path.name}).** {needs} Afterwards you can",
                "",
            ]
            lines += [f"- {point}" for point in chapter.outcomes]
            lines.append("")
        box = nodes.container(classes=["rc-outcomes"])
        self.state.nested_parse(StringList(lines, source=self.env.docname), self.content_offset, box)
        return box.children


def setup(app: Sphinx) -> dict:
    app.add_directive("outcomes", OutcomesDirective)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
