"""Figures in prose: each literal carries an invisible marker with the expression that gives it.

    takes 47 µs<!--= us(h100.m_sweep("bf16")[0].seconds) -->
    four percent<!--= 100 * (a / b - 1) @ 4 -->            a spelled number: its digits stand after the @

The literal is the last number before the marker; it must equal the expression to the digits that it shows.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from expressions import evaluate as evaluate

ROOT = Path(__file__).resolve().parents[1]
MARKER = re.compile(r"<!--=\s*(?P<expression>.+?)\s*(?:@\s*(?P<spelled>[\d.,]+)\s*)?-->", re.S)
#: The units in which a device is measured. (Bytes and KiB are left out: most of them are counted, or are sizes that the
#: text chooses.)
UNIT = (
    r"(?:[kMGTP]?B/s|[MGTP]?FLOP/s|FLOP/byte|[nµm]?s|[MGT]i?B|tokens/s|tokens (?:a|per) second|[MG]Hz|W"
    r"|%|percent|times)"
)
DEVICE_FIGURE = re.compile(
    rf"(?<![\w.,^/])(?P<number>\d[\d,]*(?:\.\d+)?)(?P<mark>\ue000)?[\s\u00a0\u202f]{UNIT}(?![\w/])(?P<after>.?)"
)
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.S)
GENERATED = ("critical.md", "data.md")  # written by tools/ out of the data, whose tests are others
LITERAL = re.compile(r"(\d[\d,]*(?:\.\d+)?)\D{0,24}$")


def texts() -> list[tuple[str, str]]:
    """(where, Markdown) for every piece of prose: notebook cells and pages of the book."""
    out = []
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                out.append((f"{path.name}, cell {cell['id']}", "".join(cell["source"])))
    for path in sorted((ROOT / "book").glob("*.md")) + sorted((ROOT / "book" / "appendix").glob("*.md")):
        out.append((path.name, path.read_text(encoding="utf-8")))
    out.append(("README.md", (ROOT / "README.md").read_text(encoding="utf-8")))
    return out


def figures(text: str) -> list[tuple[str, str]]:
    """(literal, expression) for every marker. Raises ``ValueError`` for a marker with no number before it."""
    out = []
    for m in MARKER.finditer(text):
        literal = m["spelled"]
        if literal is None:
            # Earlier markers hold digits of their own: look only at what a reader sees.
            seen = MARKER.sub("", text[: m.start()])
            found = LITERAL.search(seen)
            if found is None:
                raise ValueError(f"no number stands before the marker of {m['expression']!r}")
            literal = found[1]
        out.append((literal, m["expression"]))
    return out


def unmarked(text: str) -> list[str]:
    """Numbers with a device's unit and no marker, as they stand in the text: ``["47 µs"]``. Code is passed over."""
    seen = CODE.sub("", MARKER.sub("\ue000", text))
    return [
        re.sub(r"\s", " ", m[0].removesuffix(m["after"]))
        for m in DEVICE_FIGURE.finditer(seen)
        if m["mark"] is None and m["after"] != "\ue000"
    ]


def agrees(literal: str, value: float) -> bool:
    """Whether ``value``, rounded to the decimals that ``literal`` shows, is ``literal``."""
    digits = literal.replace(",", "")
    decimals = len(digits.partition(".")[2])
    return abs(float(digits) - value) <= 0.5 * 10**-decimals * (1 + 1e-9)
