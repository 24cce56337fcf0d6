"""``rc.place``: any torch function, counted, timed, and placed under the roofs of this machine, with an explanation.

``count`` runs it once and counts, ``formulas`` say what one operator does, ``views`` which bytes it touches, ``where``
gives the machine its ceilings, ``point`` is the result, ``store`` puts it into a run file.
"""

from __future__ import annotations

from .point import BYTE_SOURCES, Operator, Point

__all__ = ["BYTE_SOURCES", "Operator", "Point", "place", "placed"]


def placed(run) -> tuple[Point, ...]:
    """The points that ``roofcourse place --save`` put into a run file (its path), in that order.

    Raises ``ValueError`` in one line for a broken file or point.
    """
    from .store import placed as points

    return points(run)


def place(
    fn,
    *args,
    precision=None,
    name=None,
    bench=None,
    run=None,
    work=None,
    counted_bytes=None,
    report=None,
    report_kernel=None,
    report_calls=1,
    sweep=(),
    gradients=False,
) -> Point:
    """Count what ``fn(*args)`` does, time it on this machine, and put it under its roof. Works on a CPU.

    FLOP: torch's formulas, with ours where it counts nothing or too much (elementwise operators, attention on the CPU,
    causal attention). Bytes: what enters and is read and what leaves and is written, each once; for every operator as
    well. Time: the protocol of :mod:`roofcourse.measure`, warm. The function runs many times, with all it does.

    ``precision``: the roof to stand under (default: what most of its FLOP are done in). ``run``: take the ceilings from
    this run file of the same machine (path); else they are measured now, quickly, and remembered; or ``bench``: what
    ``rc.bench("local", "live")`` gave. ``work``: a :class:`~roofcourse.Work` to use instead of counting, for a function
    that torch cannot see into. ``counted_bytes``: memory traffic by a profiler's counters. ``report``: a report of
    Nsight Compute (its path, or what ``rc.counters.read_report`` gave) of this function with these arguments: its bytes
    count, and its FLOP where it has them all; ``report_kernel``: of its kernels only those with this in their names;
    ``report_calls``: how many calls were profiled. ``sweep``: points of the
    same function at other sizes, as evidence. ``gradients``: let it build a graph and call ``backward``.

    Returns a :class:`Point`: ``work``, ``seconds``, ``byte_source``, ``operators``, ``explanation``; ``print`` it.
    Raises ``ValueError`` or ``LookupError`` in one line where something is missing; what ``fn`` raises passes through.
    """
    from .placing import place_function

    return place_function(
        fn,
        args,
        precision=precision,
        name=name,
        bench=bench,
        run=run,
        work=work,
        counted_bytes=counted_bytes,
        report=report,
        report_kernel=report_kernel,
        report_calls=report_calls,
        sweep=sweep,
        gradients=gradients,
    )
