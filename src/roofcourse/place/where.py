"""The machine that a function runs on, and its ceilings: measured now and remembered, or taken from a run file."""

from __future__ import annotations

from functools import cache

from ..precision import PRECISIONS
from ..records import differences, read_run
from ..roofline import Roofline


def live(kind: str | None = None):
    """This machine (its best device, if no kind is named), with what has been measured on it so far; on a CPU with
    as many threads as torch has now.

    Raises ``LookupError`` in one line without torch, and for a kind of device that is not here.
    """
    from ..measure.device import open_device

    kind = kind or open_device().kind
    return _opened(kind, _threads() if kind == "cpu" else None)


def _threads() -> int | None:
    try:
        import torch
    except ImportError:  # open_device says so
        return None
    return torch.get_num_threads()


@cache
def _opened(kind: str, threads: int | None):
    from ..bench import Live
    from ..measure.device import open_device

    return Live(quick=True, device=open_device(kind))


def kind_of(places: tuple[str, ...]) -> str | None:
    """The kind of device that tensors of these places lie on; ``None`` for none. Raises ``ValueError`` for several."""
    import torch

    on = [p for p in dict.fromkeys(places) if p != "meta"]
    if len(on) > 1 and "cpu" in on:
        on.remove("cpu")  # a scalar or an index that came along
    if len(on) > 1:
        raise ValueError(f"the tensors lie on {', '.join(on)}: place a function that stays on one device")
    if not on:
        return None
    return "rocm" if on[0] == "cuda" and getattr(torch.version, "hip", None) else on[0]


def recorded(path, machine: dict):
    """The ceilings of a run file. Raises ``ValueError`` if it is of another machine than this one."""
    from ..bench import Recorded

    found = read_run(path)
    same_machine(found.machine, machine, str(path))
    return Recorded(found)


def same_machine(there: dict, here: dict, what: str) -> None:
    """Raises ``ValueError`` in one line if two manifests are of different machines, or of other threads on one."""
    for fact, one, other in differences(there, here):
        if fact == "threads":
            raise ValueError(
                f"{what} was measured with {one} threads, and torch has {other} here: its ceilings are not these "
                f"(OMP_NUM_THREADS={one} sets them)"
            )
        raise ValueError(
            f"{what} is of another machine ({fact} {one!r}, here {other!r}): its ceilings are not this machine's"
        )


def ceiling(device, precision: str, path: str) -> tuple[Roofline, list[str]]:
    """The roof of a precision and a path, or the nearest that there is, and what to say about it.

    Raises ``LookupError`` in one line if the machine has none.
    """
    label = PRECISIONS[precision].label
    wide = "fp64" if precision == "fp64" else "fp32"
    tries = [(precision, path)]
    if path == "vector":
        # The vector units are measured in FP64 and FP32; narrower numbers run on the FP32 ones, or twice as fast.
        tries += [(wide, "vector"), (precision, "gemm"), (wide, "gemm")]
    else:
        tries += [("fp32", "gemm")] if precision == "tf32" else []
    first = None
    for p, way in tries:
        try:
            roof = device.roofline(p, way)
        except LookupError as reason:
            first = first or reason
            continue
        if (p, way) == (precision, path):
            return roof, []
        which = "the vector units" if way == "vector" else "matrix products"
        return roof, [
            f"no {label} ceiling of the {'vector' if path == 'vector' else 'matrix'} units was measured: "
            f"that of {PRECISIONS[p].label} on {which} stands in."
        ]
    raise first
