"""``roofcourse ncu``: kernels under the roof, with the bytes that the card counted."""

from __future__ import annotations

import math

from . import parser

_DESCRIPTION = """\
Read a report of Nsight Compute (ncu --csv --page raw) and place its kernels under the roofline of a card: FLOP per byte
that really crossed the memory, and the share of the roof that is reached. Base or scaled units, with or without the
profiler's own lines.
"""

_EXAMPLES = """\
examples:
  roofcourse ncu --how                                   the profiler's command, and what to do about permissions
  roofcourse ncu --how python train.py --steps 3         the same for this program
  roofcourse ncu report.csv --device h100
  roofcourse ncu report.csv --run run.json --sum         under the roofs that `roofcourse measure` found here
  roofcourse ncu report.csv --device h100 --flop gemm=2*16*8192*8192 --precision bf16
  roofcourse ncu --bundled --device h200                 the counters that come with the course
"""


def add(commands) -> None:
    from argparse import REMAINDER

    this = parser(
        commands,
        "ncu",
        help="place kernels by the traffic that Nsight Compute counted",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    this.add_argument("report", nargs="?", metavar="REPORT", help="the CSV file")
    this.add_argument("--device", metavar="NAME", help="a card of the catalogue: h100")
    this.add_argument("--run", metavar="FILE", dest="run_file", help="a run file instead of a card")
    this.add_argument("--precision", metavar="NAME", help="place all kernels under the matrix roof of this precision")
    this.add_argument(
        "--flop",
        metavar="NAME=FLOP",
        action="append",
        default=[],
        help="FLOP of one launch of the kernels whose name contains NAME; a product is allowed: gemm=2*16*8192*8192",
    )
    this.add_argument("--sum", action="store_true", help="launches of the same kernel in one line")
    this.add_argument("--bundled", action="store_true", help="the course's own counters of --device instead of a file")
    this.add_argument("--how", nargs=REMAINDER, metavar="COMMAND", help="print the profiler's command (for COMMAND)")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from .. import counters

    if arguments.how is not None:
        print(counters.how(" ".join(arguments.how) or "python script.py"), flush=True)
        return 0
    machine = _machine(arguments)
    if arguments.bundled:
        kernels = counters.bundled(machine)
    elif arguments.report:
        kernels = counters.read_report(arguments.report)
    else:
        raise ValueError("name a report (roofcourse ncu report.csv --device h100), or see how to make one: --how")
    for text in arguments.flop:
        kernels = _given(kernels, *_flop(text))
    print(_table(kernels.by_name() if arguments.sum else kernels, machine, arguments.precision), flush=True)
    return 0


def _machine(arguments):
    from ..bench import bench
    from ..catalogue import device

    if arguments.run_file and arguments.bundled:
        raise ValueError("--bundled has the counters of a card: name it with --device, and leave out --run")
    if arguments.run_file and arguments.device:
        raise ValueError("--device and --run both name the roofs: leave out one")
    if arguments.run_file:
        return bench(run=arguments.run_file).device
    if not arguments.device:
        raise ValueError(
            "name the card (--device h100; `roofcourse devices` lists them) or a run file (--run run.json)"
        )
    return device(arguments.device)


def _flop(text: str) -> tuple[str, float]:
    """``"gemm=2*16*8192*8192"``."""
    name, sign, product = text.partition("=")
    try:
        value = math.prod(float(factor) for factor in product.split("*"))
    except ValueError:
        value = 0.0
    if not (sign and name and 0 < value < math.inf):
        raise ValueError(f"--flop takes NAME=FLOP, FLOP a number or a product (gemm=2*16*8192*8192), not {text!r}")
    return name, value


def _given(kernels, name: str, flop: float):
    from ..counters import KernelCounters

    if not any(name in x.name for x in kernels):
        raise LookupError(f"--flop: no kernel of the report has {name!r} in its name")
    return KernelCounters(x.with_flop(flop) if name in x.name else x for x in kernels)


def _table(kernels, machine, precision: str | None) -> str:
    from ..counters import place, short
    from ..texttable import four, table

    rows = [
        ("kernel", "under", "launches", "time (µs)", "DRAM (MB)", "GB/s", "I (FLOP/byte)", "TFLOP/s", "of the roof")
    ]
    placed = place(kernels, machine, precision)
    for x, roof, share in placed:
        under = f"{roof.precision} {roof.path}, {roof.bound(x.intensity)}" if roof else "B"
        rows.append(
            (
                short(x.name),
                under,
                f"{x.launches}",
                four(x.seconds * 1e6),
                four(x.dram_bytes / 1e6),
                four(x.bytes_per_s / 1e9),
                four(x.intensity) if roof else "",
                four(x.flop_per_s / 1e12) if roof else "",
                f"{share:.0%}",
            )
        )
    seconds, moved = sum(x.seconds for x in kernels), sum(x.dram_bytes for x in kernels)
    out = [
        f"{machine.name}: B = {machine.bandwidth / 1e9:,.0f} GB/s",
        "",
        table(rows, left=2),
        "",
        f"All {sum(x.launches for x in kernels)} launches: {four(seconds * 1e6)} µs in kernels, "
        f"{four(moved / 1e6)} MB; {moved / seconds / machine.bandwidth:.0%} of B",
        "Bytes by hardware counters. Times under the profiler, which runs kernels one at a time.",
    ]
    notes = dict.fromkeys(x.note for x in kernels if x.note)
    out += [f"Under B alone: {note}" for note in notes]
    cached = [x for x in kernels if not x.dram_bytes]
    if cached:
        names = ", ".join(dict.fromkeys(short(x.name) for x in cached))
        out.append(f"Under B alone: no byte of {names} crossed the memory, which leaves no intensity")
    unknown = [x for x, roof, _ in placed if x.flop and x.dram_bytes and roof is None]
    unnamed = [x for x in unknown if precision is None and x.precision is None]
    if unnamed:
        names = ", ".join(dict.fromkeys(short(x.name) for x in unnamed))
        out.append(f"Under B alone: the report does not show the precision of {names}: give it with --precision")
    missing = [f"{precision} gemm" if precision else f"{x.precision} {x.path}" for x in unknown if x not in unnamed]
    if missing:
        kinds = ", ".join(dict.fromkeys(missing))
        out.append(f"Under B alone: {machine.name} has no measured roof for {kinds}; --precision names another")
    if any(share > 1.05 for _, _, share in placed):
        out.append("Above the roof: traffic served by a cache, another clock, or another card than the one named")
    return "\n".join(out)
