"""Is every page made from what is in the tree now? Names the pages that are not, and says so in its exit status.

    python tools/fresh.py        # after `make book`

An executed notebook (book/notebooks/) and a page of the site (book/_build/html) each carry a hash of their source, the
package, the data and the pinned versions: rc-inputs in the notebook's metadata, <meta name="rc-inputs"> in the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import build_book
import run_notebooks

ROOT = Path(__file__).resolve().parents[1]
META = re.compile(r'<meta name="rc-inputs" content="([0-9a-f]{64})"')


def wanted(source: Path, root: Path) -> set[str]:
    """The hashes that a page may carry: of a notebook there are two, on bundled data and measured on this machine."""
    if source.suffix != ".ipynb":
        return {run_notebooks.fingerprint(source, {}, root)}
    notebook = root / "notebooks" / source.name
    return {run_notebooks.fingerprint(notebook, p, root) for p in (run_notebooks.BUNDLED, run_notebooks.LIVE)}


def stale(book: Path = ROOT / "book", root: Path = ROOT) -> list[str]:
    """What is not made from ``root`` as it is now: executed notebooks, pages of the site, or the site as a whole."""
    html, found = book / "_build" / "html", []
    pages = build_book.sources(book)
    pages |= {f"notebooks/{p.stem}": book / "notebooks" / p.name for p in (root / "notebooks").glob("*.ipynb")}
    for name, source in sorted(pages.items()):
        if not source.exists():
            found.append(f"{name}: not executed")
            continue
        current = wanted(source, root)
        if source.suffix == ".ipynb" and run_notebooks.stamped(source) not in current:
            found.append(f"{source.name}: executed from other inputs")
        page = html / f"{name}.html"
        carried = META.search(page.read_text(encoding="utf-8")) if page.exists() else None
        if carried is None:
            found.append(f"{name}.html: {'carries no hash' if page.exists() else 'not built'}")
        elif carried[1] not in current:
            found.append(f"{name}.html: built from other inputs")
    stamp = book / "_build" / "site.sha256"
    if not found and (not stamp.exists() or stamp.read_text() != build_book.inputs_hash(book, root)):
        found.append("the site: its styles, its configuration or its tools have changed since it was built")
    return found


def main() -> None:
    found = stale()
    if found:
        sys.exit("not fresh (make book):\n  " + "\n  ".join(found))
    print("every page is made from what is in the tree")


if __name__ == "__main__":
    main()
