"""The commands of ``roofcourse``, one module each, in the order in which ``--help`` lists them.

A module has ``add(commands)``, which makes its parser and gives it ``run`` by ``set_defaults(run=run)``, and
``run(arguments)``, which returns the exit status. It loads what it needs when it runs: ``--help`` stays quick.
"""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter

#: Names of the modules.
NAMES = ("devices", "doctor", "measure", "plot", "place", "report", "decode", "ncu")


def parser(commands, name: str, *, help: str, description: str, epilog: str = "") -> ArgumentParser:
    """A parser of one command, its texts left as they are written."""
    return commands.add_parser(
        name, help=help, description=description, epilog=epilog, formatter_class=RawDescriptionHelpFormatter
    )
