"""The command ``roofcourse``."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from . import __version__
from .commands import NAMES

_EXAMPLES = """\
examples:
  roofcourse devices                 every card of the catalogue, with B, F and the ridge point in FP16
  roofcourse devices h200            all ceilings of one card, and where the numbers come from
  roofcourse doctor                  what this machine can measure, and what is missing
  roofcourse measure --quick         this machine's roofline in a minute, into run.json
  roofcourse plot run.json           the chart of that run, into run.svg
  roofcourse place torch.relu --shape 4096x4096      a function under the roof of this machine, explained
  roofcourse report run.json         that run, and the functions placed in it, as one page to hand in
  roofcourse decode --bound --device h100 --batch 1,64     the most tokens a second that a language model can reach
  roofcourse ncu report.csv --device h100            kernels under the roof, by the traffic that the card counted
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="roofcourse",
        description="What bounds a GPU kernel: moving data or doing arithmetic. Measured data and the roofline model.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"roofcourse {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name in NAMES:
        import_module(f".commands.{name}", __package__).add(commands)
    return parser


def main(argv: list[str] | None = None) -> int:
    for stream in (sys.stdout, sys.stderr):  # a terminal without µ or … shows ?, and loses no result
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    parser = _parser()
    arguments = parser.parse_args(argv)
    if not hasattr(arguments, "run"):
        parser.print_help()
        return 2
    try:
        return arguments.run(arguments)
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
