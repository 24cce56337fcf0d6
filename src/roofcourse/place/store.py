"""Placed points in a run file: added one by one, atomically; nothing that is in the file is lost."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from ..files import alone, check_output
from ..records import SHAPE, Measurements, Run, read_run, write_run
from .point import Point
from .where import same_machine


def save(point: Point, path: str | os.PathLike, machine: dict, measured=()) -> int:
    """Add ``point`` to the run file at ``path``; make the file if there is none. Returns how many points it now holds.

    ``machine``: the manifest of this machine. ``measured``: what was timed for the ceilings; what the file lacks of it
    is added. Raises ``ValueError`` in one line, and changes nothing, for a broken file and for one of another machine.
    """
    from ..measure.clock import METHOD_VERSION

    path = Path(path)
    check_output(path)
    with alone(path):
        run = Run(METHOD_VERSION, machine, Measurements(measured), placed=(point.to_dict(),))
        there = check_file(path, machine)
        if there is not None:
            # The file's own manifest stays, and its measurements.
            same_machine(there.machine, machine, str(path))
            known = {_same(x) for x in there.measurements}
            new = Measurements(x for x in measured if _same(x) not in known)
            run = replace(there.merged(replace(run, measurements=new)), complete=there.complete)
        write_run(run, path, overwrite=True)
    return len(run.placed)


def check_file(path: str | os.PathLike, machine: dict) -> Run | None:
    """The run that is in the file, which a point can be added to as far as is known before it is timed; ``None`` where
    there is no file yet.

    Of ``machine`` only the version of torch is looked at: which device a function runs on is seen when it runs. Raises
    ``ValueError`` or ``OSError`` in one line.
    """
    from ..measure.clock import METHOD_VERSION

    path = Path(path)
    check_output(path)
    if not path.exists():
        return None
    there = read_run(path)
    for what, before, now in (
        ("by method version", there.method_version, METHOD_VERSION),
        ("with torch", there.machine.get("torch"), machine.get("torch")),
    ):
        if None not in (before, now) and before != now:
            raise ValueError(f"{path} was measured {what} {before}, here is {now}: save to another file")
    return there


def placed(run: Run | str | os.PathLike) -> tuple[Point, ...]:
    """The placed points of a run or of a run file, as they were saved, each with its date as its source.

    Raises ``ValueError`` in one line for a broken one.
    """
    found = run if isinstance(run, Run) else read_run(run)
    return tuple(_dated(Point.from_dict(facts)) for facts in found.placed)


def _dated(point: Point) -> Point:
    """The session in which it was placed is not the one that reads it."""
    if not point.utc or point.measurement.source != "this session":
        return point
    return replace(point, measurement=replace(point.measurement, source=f"placed {point.utc}"))


def _same(x) -> tuple:
    """What makes two measurements the same point."""
    return (*(getattr(x, name) for name in ("kernel", "precision", "cache_state", *SHAPE)), x.implementation)
