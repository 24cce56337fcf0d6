"""The command ``roofcourse``."""

from __future__ import annotations

import argparse
import os
import sys

from . import __version__
from .catalogue import Device, device, devices
from .precision import PRECISIONS

_EXAMPLES = """\
examples:
  roofcourse devices                 every card of the catalogue, with B, F and the ridge point in FP16
  roofcourse devices h200            all ceilings of one card, and where the numbers come from
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="roofcourse",
        description="What bounds a GPU kernel: moving data or doing arithmetic. Measured data and the roofline model.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    return parser


def _table(rows: list[tuple[str, ...]]) -> str:
    """Columns set flush: the first to the left, numbers to the right."""
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(c.ljust(w) if i < 2 else c.rjust(w) for i, (c, w) in enumerate(zip(r, width, strict=True))).rstrip()
        for r in rows
    )


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
        _table(rows)
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
        f"{power}\nB = {d.bandwidth / 1e9:,.0f} GB/s\n\n{_table(rows)}\n\n"
        f"Measured by {source['who']}, {source['when']}; licence {source['licence']}.\n{source['method']}"
    )


def main(argv: list[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 2
    try:
        print(_show_device(device(arguments.name)) if arguments.name else _list_devices(), flush=True)
    except (LookupError, ValueError) as error:
        # LookupError, not KeyError: its text is the message itself.
        print(f"roofcourse: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of a pipe left: `roofcourse devices | head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
