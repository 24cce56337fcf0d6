"""Every command of roofcourse that a page, a notebook or the README shows is one that the program takes."""

import re
import shlex
from pathlib import Path

import pytest
from prose import texts

from roofcourse.cli import _parser
from roofcourse.measure.command import report
from roofcourse.records import read_run

ROOT = Path(__file__).resolve().parents[1]

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(roofcourse [^`\n]+)`")
STANDS_IN = re.compile(r"…|\b[A-Z]{3,}\b")  # for something that the reader is to fill in


def shown(text: str) -> list[str]:
    """Commands in a piece of Markdown: lines of a block, joined where a backslash says so, and code in a sentence."""
    blocks = [block for language, block in FENCED.findall(text) if language != "python"]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    found = [line.partition(" # ")[0].strip() for line in lines] + INLINE.findall(text)
    return [x for x in found if x.startswith("roofcourse ") and not STANDS_IN.search(x)]


COMMANDS = sorted({(command, where) for where, text in texts() for command in shown(text)})


@pytest.mark.parametrize(("command", "where"), COMMANDS)
def test_a_command_that_is_shown_exists(command, where, capsys):
    try:
        arguments = _parser().parse_args(shlex.split(command)[1:])
    except SystemExit as end:
        pytest.fail(f"{where}: {command}: {capsys.readouterr().err.strip().splitlines()[-1]} (exit {end.code})")
    assert callable(arguments.run)


def test_the_check_finds_commands_and_sees_a_wrong_one(capsys):
    block = "roofcourse place f.py:g \\\n    --shape 4x4   # a note"
    text = f"Try `roofcourse plot run.json --txt`:\n\n```python\nx\n```\n\n```text\n{block}\n```\n"
    block, inline = shown(text)
    assert shlex.split(block) == ["roofcourse", "place", "f.py:g", "--shape", "4x4"]
    with pytest.raises(SystemExit):
        _parser().parse_args(shlex.split(inline)[1:])
    assert "--txt" in capsys.readouterr().err


def test_there_are_commands_to_check():
    assert {command.split()[1] for command, _ in COMMANDS} >= {"measure", "plot", "place", "report", "ncu", "decode"}


@pytest.mark.parametrize("heading", ["Memory bandwidth", "Compute ceilings", "Be careful"])
def test_what_the_page_quotes_is_printed_for_the_recorded_run(heading):
    """The page on measuring shows tables of the recorded processor: every line of them, "…" apart, is in its report."""
    printed = {" ".join(line.split()) for line in report(read_run(ROOT / "data/runs/cpu_epyc_genoa.json")).splitlines()}
    page = (ROOT / "book/appendix/measure.md").read_text(encoding="utf-8")
    quoted = next(block for _, block in FENCED.findall(page) if block.startswith(f"{heading}\n"))
    lines = {" ".join(line.split()) for line in quoted.splitlines()} - {"…"}
    assert len(lines) >= 3
    assert lines - printed == set()
