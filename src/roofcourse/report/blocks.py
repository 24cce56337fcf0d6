"""What a report is made of: sections of paragraphs, tables, lists and one or two charts; no markup."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    words: str


@dataclass(frozen=True)
class Table:
    """``caption`` says what it shows; the first ``left`` columns are words, the rest numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


@dataclass(frozen=True)
class Items:
    """A list: pairs of a term, which may be empty, and what is said of it."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Chart:
    """A figure of :mod:`roofcourse.plot`, or without matplotlib the same drawn with characters."""

    caption: str
    figure: object = None
    characters: str = ""


@dataclass(frozen=True)
class Section:
    title: str
    blocks: tuple
    level: int = 2


@dataclass(frozen=True)
class Report:
    """A whole report. ``data``: the text of the run file it was made from."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    data: str
