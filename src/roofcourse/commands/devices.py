"""``roofcourse devices``: the cards of the catalogue, or all ceilings of one."""

from __future__ import annotations

from ..catalogue import Device, device, devices
from ..precision import PRECISIONS
from ..texttable import table
from . import parser


def add(commands) -> None:
    this = parser(
        commands,
        "devices",
        help="list the measured cards, or all ceilings of one",
        description="List the cards of the catalogue; with a NAME, every ceiling of that card and its source.",
    )
    this.add_argument(
        "name", nargs="?", metavar="NAME", help="a key or a name people write: h100, 'H100 SXM', 'rtx 4080'"
    )
    this.set_defaults(run=run)


def run(arguments) -> int:
    print(_one(device(arguments.name)) if arguments.name else _all(), flush=True)
    return 0


def _all() -> str:
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


def _one(d: Device) -> str:
    from ..tables import sources

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
