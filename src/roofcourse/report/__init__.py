"""A report of a run to hand in: one HTML page that needs nothing else, or Markdown for an issue or a pull request.

``content`` says what, as plain ``blocks``; ``page`` and ``markdown`` write them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

KINDS = (".html", ".md")


def write_report(run_file, out, *, title: str | None = None, overwrite: bool = False) -> Path:
    """Make the report of a run file at ``out``, ending in .html or .md. Returns the path.

    Raises ``ValueError`` for another ending and for a broken run file, ``FileExistsError`` if ``out`` exists and
    ``overwrite`` is false, ``FileNotFoundError`` for a folder that is not there: one line each.
    """
    from ..records import read_run
    from .content import report

    out = Path(out)
    kind = out.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"{out}: a report is written as {' or '.join(KINDS)}")
    if not out.resolve().parent.is_dir():
        raise FileNotFoundError(f"{out}: there is no folder {out.parent}")
    if out.exists() and not overwrite:
        raise FileExistsError(f"{out} exists: choose another name (-o), or --overwrite it")
    run = read_run(run_file)
    made = report(run, Path(run_file).read_text(encoding="utf-8"), title)
    if kind == ".html":
        from .page import page

        text = page(made)
    else:
        from .markdown import markdown

        text = markdown(made)
    handle, temporary = tempfile.mkstemp(dir=out.resolve().parent, prefix=f".{out.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes it private; a report is meant to be shared
        os.replace(temporary, out)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return out
