"""The command ``roofcourse measure``: a whole session with progress, a run file, and a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from ..files import alone, check_output
from ..records import Run, read_run, write_run
from . import plan, support
from .device import Device, open_device
from .progress import Progress
from .session import Session, go
from .spec import Spec
from .stopping import FULL, QUICK

#: Seconds that a quick run may take, loading included: measuring gets a little less.
QUICK_BUDGET = {"cpu": 50.0}
QUICK_BUDGET_GPU = 24.0
#: Warm-up of the device before anything counts (seconds): quick, full.
WARM_UP = {"cpu": (0.5, 5.0)}
WARM_UP_GPU = (2.0, 30.0)
#: Exit status after Ctrl-C, by custom.
INTERRUPTED = 130


def measure_machine(
    *,
    kind: str | None = None,
    quick: bool = False,
    only: tuple[str, ...] = (),
    out: Path,
    resume: bool = False,
    overwrite: bool = False,
    say: Callable[[str], object] = print,
    device: Device | None = None,
    progress: Progress | None = None,
) -> int:
    """Measure this machine into the run file ``out``; print a report. Returns the exit status: 0, or 130 after Ctrl-C.

    Raises ``ValueError``, ``LookupError`` or ``OSError`` in one line, before anything is measured, for what cannot be.
    """
    earlier = _earlier(out, resume, overwrite)
    device = device or open_device(kind)
    progress = progress or Progress()
    parts = plan.whole(device, quick, only, earlier.measurements if earlier else ())
    session = Session(device, QUICK if quick else FULL, device.manifest(), say=progress.say)
    session.machine["quick"] = quick
    owed = _owed(earlier, only)
    later = plan.whole(device, quick, owed, earlier.measurements) if owed else ()
    session.machine["parts"] = ",".join(name for name in plan.PARTS if not only or name in (*only, *owed))
    session.save = _saver(session, out, replaced=earlier is None and out.exists())
    if earlier is not None:
        try:
            session.resume(earlier)
        except ValueError as reason:
            raise ValueError(f"{out}: {reason}; measure into another file (-o), or --overwrite it") from None
    todo = session.missing(spec for part in parts for spec in part.specs)
    session.forget(todo)
    if not only:
        session.refusals.pop("time", None)  # all that it kept from being measured is tried now
    there = f", {len(session.points)} already in {out}" if earlier else ""
    say(f"{device.name}: {len(todo)} points to measure{there}")
    if device.kind in support.UNTRIED:
        say(f"(The code for {device.kind} has been tested on made-up devices only so far; please report what you see.)")
    index = 0 if quick else 1
    budget = QUICK_BUDGET.get(device.kind, QUICK_BUDGET_GPU) if quick else None
    status = 0
    with progress:
        try:
            size = 1024 if device.kind == "cpu" else 4096
            session.warm_up(Spec("gemm", "fp32", m=size, n=size, k=size), WARM_UP.get(device.kind, WARM_UP_GPU)[index])
            for step in go(session, parts, budget_seconds=budget):
                progress.show(step)
        except KeyboardInterrupt:
            status = INTERRUPTED
    run = session.run(complete=status == 0 and not session.owes(spec for part in later for spec in part.specs))
    if not run.measurements:
        say("Nothing was measured." + "".join(f"\n  {what}: {why}" for what, why in run.refusals))
        return status or 1
    session.save(run)
    say("\n" + report(run))
    say(f"\nWritten: {out}")
    if status:
        same = [*(["--quick"] if quick else []), *(["--device", kind] if kind else [])]
        same += ["--only", ",".join(only)] if only else []
        say(" ".join(["Interrupted. To go on: roofcourse measure --resume -o", shlex.quote(str(out)), *same]))
    return status


def _owed(earlier: Run | None, only: tuple[str, ...]) -> tuple[str, ...]:
    """The parts that an interrupted run was to have and that are not asked for now: without them it stays one."""
    if earlier is None or earlier.complete or not only:
        return ()
    wanted = earlier.machine.get("parts")  # where the file does not say: all
    return tuple(n for n in plan.PARTS if n not in only and (wanted is None or n in wanted.split(",")))


def _saver(session: Session, out: Path, *, replaced: bool) -> Callable[[Run], object]:
    """What writes the run so far, and keeps the points that `place --save` has put into the file meanwhile.

    ``replaced``: the file that is there now is not gone on with, so that its points are not kept.
    """

    def save(run: Run) -> None:
        nonlocal replaced
        with alone(out):
            if not replaced and out.exists():
                session.placed = read_run(out).placed
            write_run(replace(run, placed=session.placed), out, overwrite=True)
        replaced = False

    return save


def _earlier(out: Path, resume: bool, overwrite: bool) -> Run | None:
    """The run to go on with. Raises if the file is there and is not meant, or is meant and cannot be used."""
    check_output(out)
    if resume:
        return read_run(out) if out.exists() else None
    if out.exists() and not overwrite:
        raise FileExistsError(f"{out} exists: go on with it (--resume), choose another name (-o), or --overwrite it")
    return None


def report(run: Run) -> str:
    from ..bench import Recorded
    from .report import closing

    return closing(Recorded(run))


def chart(run: Run):
    """The roofline figure of a run (needs matplotlib): its ceilings, its M sweep and its FMA sweep.

    Raises ``LookupError`` if the run has no ceiling to draw.
    """
    from .. import plot
    from ..bench import Recorded

    bench = Recorded(run)
    roofs = list(bench.device.ceilings())
    if not roofs:
        raise LookupError("this run has no ceiling to draw: measure with --only bandwidth,matmul")
    points = [x for x in run.measurements if x.kernel in ("gemm", "fma") and not x.suspect and x.cache_state == "warm"]
    precisions = [p for p in ("fp16", "fp32") if any(x.precision == p and x.m == 1 for x in points)]
    chosen = [x for x in points if x.precision in precisions[:1] or x.kernel == "fma"] or points
    swept = [x for x in chosen if x.m is None or not x.m == x.n == x.k]
    return plot.roofline(roofs, swept or chosen, title="")
