"""What to measure: lists of :class:`~.spec.Spec`, sized to the device. Pure arithmetic on what a device is.

A *part* answers one question (``--only`` names them). Sizes double or quadruple, from where the launch decides to
where memory or the arithmetic does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from ..records import Measurement
from . import support
from .checks import CACHE_FACTOR
from .spec import MOVING, Spec

MIB = 2**20
#: Vector kernels on a CPU work in blocks: every block size divides this number of elements.
GRAIN = 768


@dataclass(frozen=True)
class Part:
    """Specs that belong together. ``ceiling``: their best sets the memory bandwidth B."""

    name: str
    title: str
    specs: tuple[Spec, ...]
    ceiling: bool = False


def _bytes_each(precision: str) -> int:
    return {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2}[precision]


def _elements(size: float, precision: str) -> int:
    """At least this many bytes, in whole blocks."""
    return math.ceil(size / _bytes_each(precision) / GRAIN) * GRAIN


def array_bytes(device, quick: bool, before: int | None = None) -> int:
    """Size of one FP32 array for memory bandwidth: 8 x the last-level cache or more, unless memory is too small for
    three of FP64.

    A GPU gets at least 512 MiB (quick) or 1 GiB, so that a pass takes long against a launch; a CPU 128 MiB.
    ``before``: the size in a run that is gone on with. It stays if it is large enough, and where memory sets the size:
    another amount is free every time, and points of two sizes are not each other's.
    """
    least = 128 * MIB if device.kind == "cpu" else (512 if quick else 1024) * MIB
    free = device.free_bytes()
    wanted = max(CACHE_FACTOR * device.cache, least)
    size = wanted if free is None else min(wanted, max(free // 10, MIB))
    return size if before is None or before < wanted == size else before


def array_of(points: Iterable[Measurement]) -> int | None:
    """Size of one FP32 array in the memory bandwidth of a run (bytes); ``None`` if it has none."""
    # A copy comes in many sizes.
    sizes = [x.elements for x in points if x.kernel in MOVING and x.kernel != "copy" and x.cache_state == "warm"]
    return max(sizes, default=0) * _bytes_each("fp32") or None


def implementations(device) -> tuple[str | None, ...]:
    """What can run the kernels that move data: on a CPU torch and numba, and the better one counts."""
    return ("torch", "numba") if device.kind == "cpu" else (None,)


def bandwidth(device, precision: str, quick: bool, before: int | None = None) -> tuple[Spec, ...]:
    """Read, write, copy, add and triad on large arrays: as many elements in every precision, so that a wider format
    moves more bytes for the same FLOP. ``before``: see :func:`array_bytes`."""
    n = _elements(array_bytes(device, quick, before), "fp32")
    return tuple(Spec(k, precision, elements=n, implementation=i) for k in MOVING for i in implementations(device))


def working_set(device, quick: bool, cache_state: str = "warm") -> tuple[Spec, ...]:
    """A copy, from KiB to well past the last-level cache: each cache shows as a step."""
    low, high = 16 * 1024, max(8 * device.cache, 256 * MIB if device.kind == "cpu" else 1024 * MIB)
    free = device.free_bytes()
    high = high if free is None else min(high, free // 4)
    step = 4 if quick else 2
    sizes = [low * step**i for i in range(64) if low * step**i <= high]
    implementation = "torch" if device.kind == "cpu" else None
    # One array is read and one written: half of the working set each.
    return tuple(
        Spec("copy", "fp32", elements=s // 8, cache_state=cache_state, implementation=implementation) for s in sizes
    )


def launch(device) -> tuple[Spec, ...]:
    """Copies small enough for the launch to matter, for the line T = a + V/b."""
    implementation = "torch" if device.kind == "cpu" else None
    sizes = [2**i for i in range(14, 20)] if device.kind == "cpu" else [2**i for i in range(16, 25, 2)]
    return tuple(Spec("copy", "fp32", elements=s // 8, implementation=implementation) for s in sizes)


def largest_launch_volume(kind: str, cache: int | None) -> float:
    """Copies up to this many bytes belong to the launch line: beyond, another level of memory sets the slope."""
    return 2.0**19 if kind == "cpu" else float(min(cache or 2**24, 2**25))


def squares(device, precision: str, quick: bool) -> tuple[Spec, ...]:
    """Square products, 256 to 8192 (to 4096 on a CPU; fewer in a quick run)."""
    if device.kind == "cpu":
        sizes = (256, 512, 1024, 2048) if quick else (256, 512, 1024, 2048, 4096)
    else:
        sizes = (1024, 4096, 8192) if quick else (256, 512, 1024, 2048, 4096, 8192)
    return tuple(Spec("gemm", precision, m=n, n=n, k=n) for n in sizes)


def sweep_size(device, precision: str) -> int:
    """N = K of the M sweep: 8192 on a GPU; on a CPU the power of two that makes A twice the last-level cache."""
    if device.kind != "cpu":
        return 8192
    size = {"fp64": 8, "fp32": 4, "tf32": 4, "bf16": 2, "fp16": 2}.get(precision, 1)
    return next((n for n in (2048, 4096, 8192) if n * n * size >= 2 * device.cache), 8192)


def rows(device, precision: str, quick: bool) -> tuple[Spec, ...]:
    """X (M, K) times A (K, N) with M doubling: from a product that memory bounds to one that arithmetic bounds."""
    n = sweep_size(device, precision)
    if device.kind == "cpu":
        sizes = [2**i for i in range(7 if quick else 10)]
    else:
        sizes = [2**i for i in range(0, 13, 2 if quick else 1)] + [8192]
    low = {"fp8_e4m3": 16, "int8": 32}.get(precision, 1) if device.kind != "cpu" else 1
    return tuple(Spec("gemm", precision, m=m, n=n, k=n) for m in sizes if m >= low)


def fma(device, precision: str, quick: bool, before: int | None = None) -> tuple[Spec, ...]:
    """R = 1 to 2048 FMAs on each element of arrays that come from memory. ``before``: see :func:`array_bytes`."""
    if device.kind == "cpu":
        total, top = array_bytes(device, quick, before), 256 if quick else 2048
        implementation = "numba"
    else:
        total, top, implementation = 512 * MIB, 2048, "triton"
    n = _elements(total / 2, precision)
    every = [2**i for i in range(12) if 2**i <= top]
    # Quick: every second one, and the last. It goes first: the plateau is the ceiling, and the time may end before it.
    chosen = sorted({*every[::2], top}, reverse=True) if quick else every
    return tuple(Spec("fma", precision, elements=n, fma_per_element=r, implementation=implementation) for r in chosen)


def many_small(device, quick: bool) -> tuple[Spec, ...]:
    """The same small products in as many calls, and in one batched call: from where the call takes nearly all of the
    time to where the product does."""
    cpu = device.kind == "cpu"
    count, sizes, precision = (256, (8, 16, 32, 64, 128), "fp32") if cpu else (1024, (16, 64, 256), "fp16")
    chosen = sizes[1::2] if quick else sizes
    ways = ("gemm_loop", "gemm_batched")
    return tuple(Spec(way, precision, m=n, n=n, k=n, batch=count) for n in chosen for way in ways)


#: Parts by the name that ``--only`` takes, and the question each answers.
PARTS = {
    "bandwidth": "how fast memory is: read, write, copy, add, triad",
    "matmul": "how fast matrix products get, in every precision",
    "fma": "the vector units: 1 to 2048 multiply-adds a number",
    "m-sweep": "from one row to many: where the ridge point lies",
    "working-set": "caches: a copy from KiB to past the last-level cache",
    "launch": "what starting a kernel costs",
    "small": "many small products, one call each or one for all",
}


def whole(device, quick: bool, only: tuple[str, ...] = (), measured: Iterable[Measurement] = ()) -> tuple[Part, ...]:
    """A whole session, the most important parts first. ``measured``: the points of a run that is gone on with.

    Raises ``ValueError`` for an unknown name in ``only``.
    """
    unknown = [name for name in only if name not in PARTS]
    if unknown:
        raise ValueError(f"unknown part {unknown[0]!r}; parts: {', '.join(PARTS)}")

    before = array_of(measured)

    def of(precisions, make, *size):
        return tuple(s for p in precisions for s in make(device, p, quick, *size))

    moved = ("fp32",) if quick else ("fp32", "fp64")
    swept = ("fp32",) if device.kind == "cpu" else (("fp16",) if quick else support.PRODUCTS)
    caches = working_set(device, quick) + (() if quick else working_set(device, quick, "cold"))
    found = {
        "bandwidth": Part("bandwidth", "memory bandwidth", of(moved, bandwidth, before), ceiling=True),
        "matmul": Part("matmul", "square matrix products", of(("fp32", *_others()), squares)),
        "fma": Part("fma", "FMA sweep", of(("fp32",) if quick else support.MULTIPLIED, fma, before)),
        "m-sweep": Part("m-sweep", "M sweep", of(swept, rows)),
        "working-set": Part("working-set", "working-set sweep", caches),
        "launch": Part("launch", "launch overhead", launch(device)),
        "small": Part("small", "many small products", many_small(device, quick)),
    }
    return tuple(part for name, part in found.items() if not only or name in only)


def _others() -> tuple[str, ...]:
    return tuple(p for p in support.PRODUCTS if p != "fp32")
