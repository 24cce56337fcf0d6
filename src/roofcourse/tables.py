"""Reading the bundled tables, and refusing a broken row.

``data/datapackage.json`` (the Frictionless format) says what each column holds: type, unit, range, key. One reader
applies it to every table, so that a wrong value is named by file, row, column and rule wherever it stands.
"""

from __future__ import annotations

import csv
import json
import math
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent


class DataError(ValueError):
    """A row of a table breaks a rule. The message names file, row, column and rule."""


def data_folder() -> Path:
    """``roofcourse/data`` in an installed wheel, ``data/`` at the top of a source tree."""
    for folder in (HERE / "data", HERE.parents[1] / "data"):
        if (folder / "datapackage.json").is_file():
            return folder
    raise DataError(f"the bundled data are missing: no datapackage.json in {HERE / 'data'}; reinstall roofcourse")


@cache
def sources() -> dict[str, dict[str, str]]:
    """Who measured what, how, and under which licence, by source key."""
    return json.loads((data_folder() / "sources.json").read_text(encoding="utf-8"))


def package(folder: Path | None = None) -> dict:
    """The description of all tables, as read from ``datapackage.json``."""
    return json.loads(((folder or data_folder()) / "datapackage.json").read_text(encoding="utf-8"))


def _integer(text: str) -> int:
    return int(text)


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text]


_PARSE = {"string": str, "integer": _integer, "number": _number, "boolean": _boolean}


def _cell(text: str, field: dict, where: str):
    rules = field.get("constraints", {})
    unit = f" in {field['unit']}" if "unit" in field else ""
    if text == "":
        if rules.get("required"):
            raise DataError(f"{where}: missing value; the rule: {field['type']}{unit}, required")
        return None
    try:
        value = _PARSE[field["type"]](text)
    except (ValueError, KeyError):
        raise DataError(f"{where}: {text!r} is not a {field['type']}{unit}") from None
    if "enum" in rules and value not in rules["enum"]:
        raise DataError(f"{where}: {text!r} is not one of {', '.join(rules['enum'])}")
    for rule, broken, words in (
        ("minimum", lambda limit: value < limit, "at least"),
        ("maximum", lambda limit: value > limit, "at most"),
        ("exclusiveMinimum", lambda limit: value <= limit, "more than"),
    ):
        if rule in rules and broken(rules[rule]):
            raise DataError(f"{where}: {text} is out of range; the rule: {words} {rules[rule]:g}{unit} (wrong unit?)")
    return value


def read(name: str, folder: Path | None = None) -> list[dict]:
    """The rows of one table as dictionaries of typed values (``None`` where a cell is empty).

    Raises :class:`DataError` naming file, row (line of the file), column and rule for: a missing, extra or renamed
    column, a missing value, a value of the wrong type or out of range, a duplicate key, a device that is not in
    ``devices.csv``, and a measurement whose bandwidth times time is not its bytes.
    """
    folder = folder or data_folder()
    resource = {r["name"]: r for r in package(folder)["resources"]}[name]
    fields, path = resource["schema"]["fields"], resource["path"]
    names, key = [f["name"] for f in fields], resource["schema"]["primaryKey"]
    rows: list[dict] = []
    seen: dict[tuple, int] = {}
    with open(folder / path, newline="", encoding="utf-8") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        for got, want in zip([*header, *[""] * len(names)], [*names, *[""] * len(header)], strict=False):
            if got != want:
                raise DataError(f"data/{path}, row 1: column {got!r} where {want!r} belongs (the name gives the unit)")
        for line, cells in enumerate(reader, start=2):
            if len(cells) != len(names):
                raise DataError(f"data/{path}, row {line}: {len(cells)} cells where {len(names)} belong")
            row = {
                f["name"]: _cell(text, f, f"data/{path}, row {line}, column {f['name']}")
                for f, text in zip(fields, cells, strict=True)
            }
            identity = tuple(row[k] for k in key)
            if identity in seen:
                raise DataError(f"data/{path}, row {line}, columns {', '.join(key)}: same key as row {seen[identity]}")
            seen[identity] = line
            rows.append(row)
    if resource["schema"].get("foreignKeys"):
        known = {row["device"] for row in read("devices", folder)}
        for line, row in enumerate(rows, start=2):
            if row["device"] not in known:
                raise DataError(f"data/{path}, row {line}, column device: {row['device']!r} is not in data/devices.csv")
    if {"bytes", "seconds", "bytes_per_s"} <= set(names):
        for line, row in enumerate(rows, start=2):
            # Time and bandwidth were transcribed apart, to six or seven digits.
            if abs(row["bytes_per_s"] * row["seconds"] / row["bytes"] - 1) > 1e-5:
                raise DataError(
                    f"data/{path}, row {line}, column bytes_per_s: bytes_per_s x seconds is "
                    f"{row['bytes_per_s'] * row['seconds']:.6g}, not the {row['bytes']:.6g} of column bytes"
                )
    return rows
