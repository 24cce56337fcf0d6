"""Write the appendix page "Reading the data critically" from data/critical.toml; its numbers are computed here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from expressions import evaluate

from roofcourse.tables import data_folder

ROOT = Path(__file__).resolve().parents[1]
FIGURE = re.compile(r"\{(?P<expression>[^{}]+?) : (?P<decimals>\d)\}")

#: What a row calls a chapter -> its title and its file.
CHAPTERS = {
    "arithmetic intensity": ("Arithmetic intensity", "02_arithmetic_intensity"),
    "ridge point": ("The ridge point", "03_ridge_point"),
    "measurement": ("How to measure", "04_measurement"),
    "M sweep": ("The M sweep", "05_m_sweep"),
    "prefill and decode": ("Prefill and decode", "06_prefill_decode"),
    "limits": ("The limits of the model", "07_limits"),
    "going faster": ("Going faster", "08_going_faster"),
    "everywhere": None,
}

INTRO = """\
# Reading the data critically

This course follows [two documents](references.md) and leans on the measurements behind one of them. Here is every place
where a plain retelling would have been wrong or too strong: what is claimed, what the data show, and what the course
says instead. The numbers on this page are computed from the tables in `data/` whenever it is made.

A reader who can spot these has learnt the model.
"""


def rows() -> list[dict[str, str]]:
    """The rows as they stand in the file: title, chapter, claim, shows, says."""
    with open(data_folder() / "critical.toml", "rb") as file:
        return tomllib.load(file)["row"]


def figure(expression: str, decimals: int) -> str:
    """The value of an expression, with thousands set apart and a proper minus sign."""
    return f"{evaluate(expression):,.{decimals}f}".replace("-", "\N{MINUS SIGN}")


def fill(text: str) -> str:
    """The text with every ``{expression : decimals}`` computed. Raises ``ValueError`` for a brace that is none."""
    out = FIGURE.sub(lambda m: figure(m["expression"], int(m["decimals"])), text.strip())
    if "{" in out or "}" in out:
        raise ValueError(f"data/critical.toml: not an {{expression : decimals}} in {out[:80]!r}")
    return out


def chapter(name: str) -> str:
    """Where the course speaks of it, as a link."""
    found = CHAPTERS[name]
    return "*Everywhere*" if found is None else f"*Chapter: [{found[0]}](../notebooks/{found[1]}.ipynb)*"


def page() -> str:
    parts = [INTRO]
    for number, row in enumerate(rows(), 1):
        claim, shows, says = (fill(row[key]) for key in ("claim", "shows", "says"))
        parts.append(
            f"## {number}. {row['title']}\n\n{chapter(row['chapter'])}\n\n**The claim.** {claim}\n\n"
            f"**The data.** {shows}\n\n**This course.** {says}"
        )
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write(path: Path) -> None:
    """Write the page, leaving the file alone when it already says this."""
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "book" / "appendix" / "critical.md")
