"""``roofcourse doctor``: what this machine can measure."""

from __future__ import annotations

from . import parser


def add(commands) -> None:
    this = parser(
        commands,
        "doctor",
        help="what this machine can measure, what is missing, what to install",
        description="Try every kind of device and precision once, with small arrays, and say what works. What does\n"
        "not has a reason beside it, and what to install. It takes some seconds and writes nothing.\n",
        epilog="examples:\n  roofcourse doctor\n  roofcourse doctor --device cuda     why a GPU is not found\n"
        "then:\n  roofcourse measure --quick\n",
    )
    this.add_argument(
        "--device",
        metavar="KIND",
        type=str.lower,
        help="one of cuda, rocm, xpu, mps, cpu (default: the best there is)",
    )
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..measure.doctor import examine

    print(examine(arguments.device), flush=True)
    return 0
