"""``roofcourse measure``: the roofline of this machine, into a run file."""

from __future__ import annotations

from pathlib import Path

from . import parser

_DESCRIPTION = """\
Measure the roofline of this machine: memory bandwidth, matrix products in every precision, the FMA sweep, the M sweep,
caches, launch overhead. Every result is checked before its time counts. Each finished point is in the file at once:
Ctrl-C loses nothing, and --resume goes on from there.
"""

_EXAMPLES = """\
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


def add(commands) -> None:
    from ..measure.plan import PARTS
    from ..measure.support import KINDS

    parts = "\n".join(f"  {name:12} {what}" for name, what in PARTS.items())
    this = parser(
        commands,
        "measure",
        help="measure the roofline of this machine",
        description=_DESCRIPTION,
        epilog=_EXAMPLES.format(parts=parts),
    )
    this.add_argument("--quick", action="store_true", help="fewer and smaller points")
    this.add_argument(
        "--device", metavar="KIND", type=str.lower, help=f"one of {', '.join(KINDS)} (default: the best there is)"
    )
    this.add_argument("--only", metavar="PARTS", default="", help="parts to measure, with commas between them")
    this.add_argument("-o", "--output", metavar="FILE", default="run.json", help="the run file (default: run.json)")
    this.add_argument("--resume", action="store_true", help="go on with the run file, measuring what is missing")
    this.add_argument("--overwrite", action="store_true", help="replace the run file if there is one")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..measure.command import measure_machine

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
