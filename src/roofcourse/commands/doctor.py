"""``roofcourse doctor``: what this machine can measure."""

from __future__ import annotations

from . import parser


def add(commands) -> None:
    this = parser(
        commands,
        "doctor",
        help="what this machine can measure, what is missing, what to install",
        description="Try every kind of device and precision once, with small arrays, and say what works.",
    )
    this.add_argument("--device", metavar="KIND", help="examine this kind of device")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..measure.doctor import examine

    print(examine(arguments.device), flush=True)
    return 0
