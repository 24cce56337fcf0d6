"""Write the appendix page "The data and its sources" from data/ (datapackage.json, sources.json, the tables)."""

from __future__ import annotations

import csv
from pathlib import Path

import roofcourse as rc
from roofcourse import tables
from roofcourse.words import THIN, significant

ROOT = Path(__file__).resolve().parents[1]

INTRO = """\
# The data and its sources

Every figure of this course that somebody else measured stands in one of the tables below, with who measured it and how.
(What we recorded ourselves on a processor is in the run files of `data/runs`, each with its machine.) The
tables ship with the course (folder `data/`) and with the Python package. They are plain CSV in SI units; an empty cell
means that the column does not apply, or that nothing was recorded. This page is made from the tables' own description,
`data/datapackage.json`.

Three kinds of number are kept apart everywhere:

measured
: timed, or read from a hardware counter. A filled mark in a chart.

derived
: computed from measured rows by a stated rule, such as a ceiling. A line in a chart.

nominal
: what the manufacturer states. A dashed line in a chart.
"""


NO_BREAK = "\N{NO-BREAK SPACE}"


def cell(text) -> str:
    """Text that cannot break a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(header: list[str], rows: list[list], align: str) -> str:
    """A Markdown table; `align` has one letter a column, l or r."""
    rule = ["---:" if letter == "r" else ":---" for letter in align]
    return "\n".join("| " + " | ".join(map(cell, row)) + " |" for row in [header, rule, *rows])


def figures(value: float, unit: float) -> str:
    """Three significant figures of value / unit, without an exponent."""
    return significant(value / unit, 3).replace(THIN, ",")


def ceilings() -> str:
    """The roof of every card: bandwidth, and throughput of the best matrix product in each precision."""
    devices = rc.devices()
    names = [p for p in rc.PRECISIONS if any(p in d.precisions for d in devices)]
    header = ["Card", "B (GB/s)", *(rc.precision(p).label for p in names)]
    rows = []
    for d in devices:
        peaks = [figures(d.roofline(p).peak, 1e12) if p in d.precisions else "–" for p in names]
        rows.append([d.name.replace(" ", NO_BREAK), figures(d.bandwidth, 1e9), *peaks])
    return (
        "## The cards and their roofs\n\n"
        "Memory bandwidth B, and the throughput F of the best matrix product in each precision (TFLOP/s): derived\n"
        "from the measurements by the rule under *method* below. A dash: not measured on that card.\n\n"
        + table(header, rows, "l" + "r" * (len(header) - 1))
    )


def source(key: str, facts: dict) -> str:
    labels = {"changes": "changes made here"}
    named = ("who", "what", "method", "when", "where", "commit", "licence", "changes")
    facts_text = "\n\n".join(f"{labels.get(name, name)}\n: {facts[name]}" for name in named if facts.get(name))
    text = f"### {facts['title']}\n\n{facts_text}\n\nkey in the tables\n: `{key}`"
    if facts.get("licence_file"):
        licence = (tables.data_folder() / facts["licence_file"]).read_text(encoding="utf-8").strip()
        text += f"\n\n:::{{dropdown}} Licence text\n```text\n{licence}\n```\n:::"
    return text


def meaning(field: dict) -> str:
    """What stands in a column. Two columns of a table fit a phone, three do not."""
    return field["description"] + (f" ({field['unit']})" if "unit" in field else "")


def resource(facts: dict, titles: dict[str, str]) -> str:
    path = tables.data_folder() / facts["path"]
    with path.open(encoding="utf-8", newline="") as file:
        count = sum(1 for _ in csv.reader(file)) - 1
    schema = facts["schema"]
    key = ", ".join(f"`{name}`" for name in schema.get("primaryKey", []))
    fields = [[f"`{f['name']}`", meaning(f)] for f in schema["fields"]]
    return (
        f"### {facts['title']}\n\n{facts['description']}\n\n"
        f"{{download}}`{facts['path']} <../../data/{facts['path']}>`: {count:,} rows, {facts['kind']}. "
        f"Source: {titles[facts['source']]}." + (f" One row for each {key}." if key else "") + "\n\n"
        f":::{{dropdown}} Columns of {facts['path']}\n"
        + table(["column", "meaning, and its unit"], fields, "ll")
        + "\n:::"
    )


def page() -> str:
    sources, package = tables.sources(), tables.package()
    titles = {key: facts["title"] for key, facts in sources.items()}
    parts = [INTRO, ceilings(), "## Sources", *(source(key, facts) for key, facts in sources.items())]
    parts += ["## Tables", *(resource(facts, titles) for facts in package["resources"])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write(path: Path) -> None:
    """Write the page, leaving the file alone when it already says this."""
    text = page()
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(ROOT / "book" / "appendix" / "data.md")
