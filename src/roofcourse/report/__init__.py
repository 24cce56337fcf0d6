"""A report of a run to hand in: one HTML page that needs nothing else, or Markdown for an issue or a pull request.

``content`` says what, as plain ``blocks``; ``page`` and ``markdown`` write them.
"""

from __future__ import annotations

from pathlib import Path

KINDS = (".html", ".md")


def write_report(run_file, out, *, title: str | None = None, overwrite: bool = False) -> Path:
    """Make the report of a run file at ``out``, ending in .html or .md. Returns the path.

    Raises ``ValueError`` for another ending and for a broken run file, ``FileExistsError`` if ``out`` exists and
    ``overwrite`` is false, ``OSError`` for a folder that is not there or cannot be written to: one line each.
    """
    from ..files import check_output
    from ..records import read_run, write_text
    from .content import report

    out = Path(out)
    check_output(out)
    kind = out.suffix.lower()
    if kind not in KINDS:
        raise ValueError(f"{out}: a report is written as {' or '.join(KINDS)}")
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
    return write_text(out, text, overwrite=overwrite)
