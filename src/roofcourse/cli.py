"""The command ``roofcourse``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from . import __version__
from .catalogue import Device, device, devices
from .measure.report import table
from .precision import PRECISIONS

_EXAMPLES = """\
examples:
  roofcourse devices                 every card of the catalogue, with B, F and the ridge point in FP16
  roofcourse devices h200            all ceilings of one card, and where the numbers come from
  roofcourse doctor                  what this machine can measure, and what is missing
  roofcourse measure --quick         this machine's roofline in a minute, into run.json
  roofcourse plot run.json           the chart of that run, into run.svg
"""

_MEASURE = """\
Measure the roofline of this machine: memory bandwidth, matrix products in every precision, the FMA sweep, the M sweep,
caches, launch overhead. Every result is checked before its time counts. Each finished point is in the file at once:
Ctrl-C loses nothing, and --resume goes on from there.
"""

_MEASURE_EXAMPLES = """\
examples:
  roofcourse measure --quick                     30 s on a GPU, 60 s on two CPU cores
  roofcourse measure -o mine.json                everything, with more samples: some minutes
  roofcourse measure --resume -o mine.json       go on after an interruption
  roofcourse measure --only bandwidth,matmul     two parts only
  roofcourse measure --device cpu                the CPU, even if there is a GPU

parts for --only:
{parts}
then:
  roofcourse plot mine.json
  python -c "import roofcourse as rc; print(rc.bench(run='mine.json').device.ceilings())"
"""


def _parser() -> argparse.ArgumentParser:
    from .measure.plan import PARTS
    from .measure.support import KINDS

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="roofcourse",
        description="What bounds a GPU kernel: moving data or doing arithmetic. Measured data and the roofline model.",
        epilog=_EXAMPLES,
        formatter_class=raw,
    )
    parser.add_argument("--version", action="version", version=f"roofcourse {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    listing = commands.add_parser(
        "devices",
        help="list the measured cards, or all ceilings of one",
        description="List the cards of the catalogue; with a NAME, every ceiling of that card and its source.",
    )
    listing.add_argument(
        "name", nargs="?", metavar="NAME", help="a key or a name people write: h100, 'H100 SXM', 'rtx 4080'"
    )

    parts = "\n".join(f"  {name:12} {what}" for name, what in PARTS.items())
    measuring = commands.add_parser(
        "measure",
        help="measure the roofline of this machine",
        description=_MEASURE,
        epilog=_MEASURE_EXAMPLES.format(parts=parts),
        formatter_class=raw,
    )
    measuring.add_argument("--quick", action="store_true", help="fewer and smaller points")
    measuring.add_argument("--device", metavar="KIND", help=f"one of {', '.join(KINDS)} (default: the best there is)")
    measuring.add_argument("--only", metavar="PARTS", default="", help="parts to measure, with commas between them")
    measuring.add_argument(
        "-o", "--output", metavar="FILE", default="run.json", help="the run file (default: run.json)"
    )
    measuring.add_argument("--resume", action="store_true", help="go on with the run file, measuring what is missing")
    measuring.add_argument("--overwrite", action="store_true", help="replace the run file if there is one")

    doctor = commands.add_parser(
        "doctor",
        help="what this machine can measure, what is missing, what to install",
        description="Try every kind of device and precision once, with small arrays, and say what works.",
    )
    doctor.add_argument("--device", metavar="KIND", help="examine this kind of device")

    plotting = commands.add_parser(
        "plot",
        help="draw the roofline of a run file",
        description="Draw the ceilings and sweeps of a run file as a chart.",
        epilog="examples:\n  roofcourse plot run.json\n  roofcourse plot run.json -o mine.png\n"
        "  roofcourse plot run.json --text      the tables and a picture of characters, without matplotlib",
        formatter_class=raw,
    )
    plotting.add_argument("run", metavar="RUN", help="a file that `roofcourse measure` wrote")
    plotting.add_argument("-o", "--output", metavar="FILE", help=".svg, .pdf or .png (default: the run's name, .svg)")
    plotting.add_argument("--overwrite", action="store_true", help="replace the chart if there is one")
    plotting.add_argument("--text", action="store_true", help="print the report instead of drawing a chart")
    return parser


def _list_devices() -> str:
    rows = [("key", "reported name", "B (GB/s)", "F FP16 (TFLOP/s)", "ridge (FLOP/byte)")]
    for d in devices():
        roof = d.roofline("fp16")
        rows.append(
            (
                d.key,
                d.reported_name,
                f"{d.bandwidth / 1e9:,.0f}",
                f"{roof.peak / 1e12:,.1f}",
                f"{roof.ridge_point:,.1f}",
            )
        )
    return (
        table(rows)
        + "\n\nAll measured (B: large reads; F: matrix products). `roofcourse devices NAME` shows every ceiling."
    )


def _show_device(d: Device) -> str:
    from .tables import sources

    rows = [("precision", "path", "F (TFLOP/s)", "ridge (FLOP/byte)")]
    rows += [
        (PRECISIONS[r.precision].label, r.path, f"{r.peak / 1e12:,.4g}", f"{r.ridge_point:,.4g}") for r in d.ceilings()
    ]
    source = sources()[d.source]
    power = f"{d.power_limit_watts:g} W" if d.power_limit_watts else "power limit not recorded"
    return (
        f"{d}\n{d.memory_bytes / 2**30:.1f} GiB, {d.multiprocessors} multiprocessors, L2 {d.l2_bytes / 2**20:g} MiB, "
        f"{power}\nB = {d.bandwidth / 1e9:,.0f} GB/s\n\n{table(rows)}\n\n"
        f"Measured by {source['who']}, {source['when']}; licence {source['licence']}.\n{source['method']}"
    )


def _measure(arguments) -> int:
    from .measure.command import measure_machine

    only = tuple(word.strip() for word in arguments.only.split(",") if word.strip())
    return measure_machine(
        kind=arguments.device,
        quick=arguments.quick,
        only=only,
        out=Path(arguments.output),
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        say=lambda text: print(text, flush=True),
    )


def _plot(arguments) -> int:
    from .measure.command import chart, report
    from .records import read_run

    run = read_run(arguments.run)
    if arguments.text:
        print(report(run), flush=True)
        return 0
    out = Path(arguments.output or Path(arguments.run).with_suffix(".svg").name)
    if out.exists() and not arguments.overwrite:
        raise FileExistsError(f"{out} exists: choose another name (-o), or --overwrite it")
    print(chart(run).save(out), flush=True)
    return 0


def _run(arguments) -> int:
    if arguments.command == "measure":
        return _measure(arguments)
    if arguments.command == "plot":
        return _plot(arguments)
    if arguments.command == "doctor":
        from .measure.doctor import examine

        print(examine(arguments.device), flush=True)
        return 0
    print(_show_device(device(arguments.name)) if arguments.name else _list_devices(), flush=True)
    return 0


def main(argv: list[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 2
    try:
        return _run(arguments)
    except (LookupError, ValueError, ImportError, OSError, ArithmeticError) as error:
        if isinstance(error, BrokenPipeError):  # the reader of a pipe left: `roofcourse devices | head -1`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        # LookupError, not KeyError: its text is the message itself.
        print(f"roofcourse: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("roofcourse: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
