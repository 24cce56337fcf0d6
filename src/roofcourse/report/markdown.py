"""A report as Markdown, for an issue or a pull request: CommonMark with tables, no picture file beside it."""

from __future__ import annotations

from .blocks import Chart, Items, Report, Section, Table, Text


def markdown(report: Report) -> str:
    """The whole report as text."""
    parts = [f"# {_plain(report.title)}", _plain(report.subtitle)]
    parts += [_section(s) for s in report.sections]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> str:
    return "\n\n".join([f"{'#' * section.level} {_plain(section.title)}", *(_block(b) for b in section.blocks)])


def _block(block) -> str:
    if isinstance(block, Text):
        return _plain(block.words)
    if isinstance(block, Items):
        return "\n".join(f"- **{_plain(t)}:** {_plain(w)}" if t else f"- {_plain(w)}" for t, w in block.pairs)
    if isinstance(block, Table):
        marks = [":--" if i < block.left else "--:" for i in range(len(block.head))]
        rows = [[_cell(c) for c in block.head], marks, *([_cell(c) for c in r] for r in block.rows)]
        return f"{_plain(block.caption)}:\n\n" + "\n".join(f"| {' | '.join(r)} |" for r in rows)
    assert isinstance(block, Chart)
    picture = block.characters or (f"{block.figure.alt}" if block.figure is not None else "")
    return f"```text\n{picture}\n```" if block.characters else f"{_plain(block.caption)}. {_plain(picture)}"


def _cell(words: str) -> str:
    return _plain(words).replace("|", "\\|")


def _plain(words: str) -> str:
    """Names of kernels have underscores, which must not become emphasis; text between ticks stays as it is."""
    parts = words.replace("\u202f", " ").replace("\u00a0", " ").split("`")
    if len(parts) % 2 == 0:
        parts = ["`".join(parts)]
    out = [
        p if i % 2 else p.replace("\\", "\\\\").replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;")
        for i, p in enumerate(parts)
    ]
    return "`".join(out)
