"""What to try next, and the most that can be gained: to the roof above, and to the one after it."""

from __future__ import annotations

from ..precision import PRECISIONS
from ..roofline import Roofline
from . import wording as say
from .case import AT_ROOF, Case
from .explanation import Gain, Reason

_FOR = {
    "launch": "Do more in each launch: batch small calls, fuse what follows, or record a graph.",
    "operators": "Fuse the operators (torch.compile, or a kernel of your own): what lies between stays on the chip.",
    "kernel": "Pad to the size that is faster, or try another library or a tuned kernel for this shape.",
    "padding": "Fill the tile: batch more rows into one product, or use a kernel with a smaller tile.",
    "cache": "Nothing to repair: place it again with measured bytes, or on the slope of that cache.",
    "corner": "Move away from the ridge point, or overlap better (more bytes in flight, deeper pipelines).",
    "bytes": "Find what moves the extra bytes (copies, layouts, spills) and remove it; the formula is the target.",
    "ceiling": "Measure the ceiling again before judging this point.",
    "waves": "Choose a size, or a tile, that fills whole rounds; or split the inner dimension (split-K).",
    "host": "Take the host out of the way: a CUDA graph, torch.compile, fewer and larger kernels.",
    "new memory": "Keep the memory: write the result into a tensor that is there (out=, in place), or reuse a pool.",
    "throttled": "Measure at a steady clock first; then judge.",
}


def _paths(case: Case) -> str:
    """What lifts the flat part, from the ceilings that are known."""
    higher = _higher(case)
    if higher is None:
        return "Do fewer operations; no higher ceiling that it could use was measured on this machine."
    best = f"{say.path_name(higher)} reach {say.throughput(higher.peak)}"
    return f"Do fewer operations, or move to a higher ceiling: {best}."


def _higher(case: Case) -> Roofline | None:
    """The next higher ceiling of the machine, by 10 % or more, for numbers as wide or narrower.

    A matrix product moves to matrix products only: its own units are the vector units already, or better.
    """
    found = [r for r in case.roofs if r.peak >= 1.1 * case.roof.peak and _narrower(r, case.roof)]
    if case.own_path == "gemm":
        found = [r for r in found if r.path == "gemm"]
    return min(found, key=lambda r: r.peak, default=None)


def _narrower(other: Roofline, this: Roofline) -> bool:
    if other.precision is None or this.precision is None:
        return True
    return PRECISIONS[other.precision].bytes_per_element <= PRECISIONS[this.precision].bytes_per_element


def try_next(case: Case, reasons: tuple[Reason, ...], verdict: str) -> tuple[str, ...]:
    """What to do, in order: about the verdict, then about the roof."""
    out = []
    if verdict == "path":
        out.append("Place it under its own roof; to reach this one, use the units or the precision that it belongs to.")
    elif verdict in _FOR:
        out.append(_FOR[verdict])
    elif verdict == "undetermined":
        tests = [r.test for r in reasons if r.standing == "possible"]
        out.append(f"Find the reason first: {tests[0]}" if tests else _more_evidence(case))
    if case.share >= AT_ROOF and verdict in ("none", "undetermined"):
        out.append(
            "Move fewer bytes: fuse it with its neighbours, store a narrower precision, or reuse what was read."
            if case.bound == "memory"
            else _paths(case)
        )
    return tuple(out)


def _more_evidence(case: Case) -> str:
    missing = []
    if not case.sweep:
        missing.append("its neighbours (a sweep over one size)")
    if case.launch is None:
        missing.append("the launch overhead")
    if case.counted_bytes is None:
        missing.append("the memory traffic by the profiler's counters")
    return "Find the reason first. What would help: " + ", ".join(missing or ["a profile of the kernel"]) + "."


def to_roof(case: Case) -> Gain | None:
    if case.share >= AT_ROOF:
        return None
    return Gain(1 / case.share, f"at the {say.roof_name(case)}")


def to_next_roof(case: Case) -> Gain | None:
    """Past the roof above: a memory-bound kernel by moving fewer bytes, until arithmetic bounds it; a compute-bound one
    on the next higher ceiling, until memory bounds it."""
    if case.bound == "memory":
        if not case.compute_time:
            return None
        return _worth(Gain(case.seconds / case.compute_time, "at the compute roof, if it moved far fewer bytes"))
    higher = _higher(case)
    if higher is not None:
        limit = max(higher.compute_time(case.point.work), case.memory_time)
        return _worth(Gain(case.seconds / limit, f"by {say.path_name(higher)}, with the bytes it moves now"))
    return _worth(Gain(case.seconds / case.memory_time, "at the memory roof, if it did far fewer operations"))


def _worth(gain: Gain) -> Gain | None:
    return gain if gain.factor > 1.01 else None
