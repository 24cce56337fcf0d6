"""Every term of the glossary is linked from a chapter, and every such link leads to a term."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(\.\./book/appendix/glossary\.md#([\w-]+)\)")


def terms() -> dict[str, str]:
    """Anchor to heading, as the site and GitHub make anchors: lower case, no punctuation, hyphens for blanks."""
    text = (ROOT / "book/appendix/glossary.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-"): h for h in headings}


def linked() -> set[str]:
    found = set()
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                found.update(LINK.findall("".join(cell["source"])))
    return found


def test_links_and_terms_are_the_same_set():
    assert {anchor: name for anchor, name in terms().items() if anchor not in linked()} == {}
    assert linked() - set(terms()) == set()


def test_the_terms_are_in_order():
    names = [name.lower() for name in terms().values()]
    assert names == sorted(names)
