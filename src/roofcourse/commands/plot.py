"""``roofcourse plot``: the chart of a run file."""

from __future__ import annotations

from pathlib import Path

from . import parser


def add(commands) -> None:
    this = parser(
        commands,
        "plot",
        help="draw the roofline of a run file",
        description="Draw the ceilings and sweeps of a run file as a chart.",
        epilog="examples:\n  roofcourse plot run.json\n  roofcourse plot run.json -o mine.png\n"
        "  roofcourse plot run.json --text      the tables and a picture of characters, without matplotlib",
    )
    this.add_argument("run_file", metavar="RUN", help="a file that `roofcourse measure` wrote")
    this.add_argument("-o", "--output", metavar="FILE", help=".svg, .pdf or .png (default: the run's name, .svg)")
    this.add_argument("--overwrite", action="store_true", help="replace the chart if there is one")
    this.add_argument("--text", action="store_true", help="print the report instead of drawing a chart")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..files import check_output
    from ..measure.command import chart, report
    from ..records import read_run

    recorded = read_run(arguments.run_file)
    if arguments.text:
        if arguments.output:
            raise ValueError(f"-o names a chart, and --text prints: leave one out, or write > {arguments.output}")
        print(report(recorded), flush=True)
        return 0
    out = Path(arguments.output or Path(arguments.run_file).with_suffix(".svg").name)
    check_output(out)
    if out.exists() and not arguments.overwrite:
        raise FileExistsError(f"{out} exists: choose another name (-o), or --overwrite it")
    print(chart(recorded).save(out), flush=True)
    return 0
