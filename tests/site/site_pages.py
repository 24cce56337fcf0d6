"""What the site consists of, read from the book's sources."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]


def contents() -> list[str]:
    """Pages of the table of contents, in its order, as paths of HTML files."""
    toc = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text())
    files = [toc["root"], *(chapter["file"] for part in toc["parts"] for chapter in part["chapters"])]
    return [f"{file}.html" for file in files]


PAGES = contents()
OWN = ["genindex.html", "search.html"]  # what Sphinx adds

# The explorers of each page and the controls of each: one that vanished, or came unannounced, is a failure.
CONTROLS = {
    "m_sweep": ["m", "m_exact", "precision", "device"],
    "bounds": ["kernel", "precision", "device", "flop", "bytes"],
}
EXPLORERS = {"index.html": ["m_sweep"], "notebooks/01_bounds.html": ["bounds"]}
