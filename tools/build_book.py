"""Build the site: run the notebooks that changed, write the data page, and have Jupyter Book make book/_build/html.

python tools/build_book.py          # bundled data
python tools/build_book.py --live   # measured on this machine
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import critical_page
import data_page
import run_notebooks
import weights

ROOT = Path(__file__).resolve().parents[1]
BOOK = ROOT / "book"


def inputs_hash(book: Path, root: Path = ROOT) -> str:
    """Hash of all that the site is made from (executed pages included: they lie under book/)."""
    h = hashlib.sha256()
    files = [(p.relative_to(book), p) for p in run_notebooks.files_under(book)]
    files = [(name, p) for name, p in files if "_build" not in name.parts]
    for folder in ("src", "data", "tools"):
        files += [(p.relative_to(root), p) for p in run_notebooks.files_under(root / folder)]
    for name, path in [*files, (Path("constraints.txt"), root / "constraints.txt")]:
        h.update(f"\0{name}\0".encode())
        h.update(hashlib.sha256(path.read_bytes()).digest())
    return h.hexdigest()


def sources(book: Path) -> dict[str, Path]:
    """What Sphinx makes a page of, by the page's name: appendix/data, notebooks/01_bounds."""
    files = [p for p in run_notebooks.files_under(book) if p.suffix in (".md", ".ipynb")]
    names = {p.relative_to(book).with_suffix(""): p for p in files}
    return {name.as_posix(): p for name, p in names.items() if not any(part.startswith("_") for part in name.parts)}


def page_inputs(source: Path, root: Path = ROOT) -> str | None:
    """Hash of what a page of the site is made from: an executed notebook carries it, for Markdown it is worked out."""
    return run_notebooks.stamped(source) if source.suffix == ".ipynb" else run_notebooks.fingerprint(source, {}, root)


def name_cell(warning: str) -> str:
    """myst-nb says `01_bounds.ipynb:520003:` for a place in cell 52 (its line count varies): say the cell."""
    return re.sub(r"\.ipynb:(\d+)\d{4}:", r".ipynb, cell \1:", warning)


def build_site(book: Path = BOOK) -> bool:
    """Make the site anew unless nothing has changed; True when it was made.

    Always the whole site: after a build that failed on a warning, an incremental one does not repeat the warning and
    passes. The whole takes seconds.
    """
    build = book / "_build"
    stamp, log = build / "site.sha256", build / "build.log"
    wanted = inputs_hash(book)
    if stamp.exists() and stamp.read_text() == wanted and (build / "html" / "index.html").exists():
        return False
    for old in (build / "html", build / ".doctrees"):
        shutil.rmtree(old, ignore_errors=True)
    build.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    # The extension writes each into its page: <meta name="rc-inputs">. tools/fresh.py compares.
    inputs = {name: page_inputs(source) for name, source in sources(book).items()}
    (build / "inputs.json").write_text(json.dumps(inputs, indent=1))
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", "-W", "-n", "--keep-going", str(book)]
    with log.open("w") as out:
        # One fixed date, or each build would differ from the one before it.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600", "NO_COLOR": "1"}
        done = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment)
    if done.returncode:
        lines = run_notebooks.ANSI.sub("", log.read_text()).splitlines()
        told = [name_cell(line) for line in lines if "WARNING" in line or "ERROR" in line] or lines[-15:]
        sys.exit("Jupyter Book stopped (a warning is an error here):\n  " + "\n  ".join(told) + f"\nall it said: {log}")
    stamp.write_text(wanted)
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--live", action="store_true", help="measure on this machine instead of reading bundled data")
    parser.add_argument("--started", type=float, default=time.time(), help="when the command began (Unix time)")
    arguments = parser.parse_args()
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    print(f"notebooks, {'measured on this machine' if arguments.live else 'on bundled data'}:", flush=True)
    pages = BOOK / "notebooks"
    run_notebooks.remove_strays(notebooks, pages)
    try:
        run_notebooks.run_all(notebooks, pages, run_notebooks.LIVE if arguments.live else run_notebooks.BUNDLED)
    except run_notebooks.NotebookError as error:
        sys.exit(f"stopped: {error}")
    data_page.write(BOOK / "appendix" / "data.md")
    critical_page.write(BOOK / "appendix" / "critical.md")
    print("site", end=" ", flush=True)
    if build_site():
        print("built; its pages, heaviest first:\n" + weights.table(weights.weights(BOOK / "_build" / "html")))
    else:
        print("unchanged")
    print(f"\nThe course is ready. Open {BOOK / '_build' / 'html' / 'index.html'}")
    print(f"({time.time() - arguments.started:.0f} s)")


if __name__ == "__main__":
    main()
