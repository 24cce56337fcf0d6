"""``roofcourse report``: a page to hand in, or Markdown for an issue or a pull request."""

from __future__ import annotations

from pathlib import Path

from . import parser

_DESCRIPTION = """\
Write what a run file says as one page: the machine, its rooflines, the points that `roofcourse place --save` put into
it with their explanations, and how all of it was measured. The HTML page needs no network and no other file; it holds
the run file itself.
"""

_EXAMPLES = """\
examples:
  roofcourse measure --quick -o run.json                              the ceilings of this machine
  roofcourse place my_kernels.py:step --save run.json                 a point of your own
  roofcourse report run.json -o report.html                           a page to hand in
  roofcourse report run.json -o report.md --title "Exercise 9, Ada"   for an issue or a pull request
"""


def add(commands) -> None:
    this = parser(
        commands, "report", help="write a run file as a page to hand in", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    this.add_argument("run_file", metavar="RUN", help="a file that `roofcourse measure` or `place --save` wrote")
    this.add_argument("-o", "--output", metavar="FILE", help=".html or .md (default: the run's name, .html)")
    this.add_argument("--title", help="the heading (default: the machine's name)")
    this.add_argument("--overwrite", action="store_true", help="replace the report if there is one")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..report import write_report

    out = Path(arguments.output or f"{Path(arguments.run_file).stem or 'report'}.html")
    print(write_report(arguments.run_file, out, title=arguments.title, overwrite=arguments.overwrite), flush=True)
    return 0
