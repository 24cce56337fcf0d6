"""Numbers and names in the sentences of an explanation."""

from __future__ import annotations

from ..precision import PRECISIONS
from ..roofline import Roofline
from ..words import nbytes as size
from ..words import significant
from ..words import time3 as time
from .case import Case

__all__ = ["binary", "path_name", "percent", "roof_name", "shape", "size", "throughput", "time"]


def percent(share: float) -> str:
    """``0.718`` is ``"72 %"``; whole percent from 10 on, two digits below."""
    value = 100 * share
    return f"{value:.0f}\u00a0%" if value >= 9.95 else f"{significant(value, 2)}\u00a0%"


def throughput(flop_per_s: float) -> str:
    factor, unit = (1e12, "TFLOP/s") if flop_per_s >= 1e11 else (1e9, "GFLOP/s")
    return f"{significant(flop_per_s / factor, 3)}\u00a0{unit}"


def binary(size_bytes: float) -> str:
    """Sizes of caches: ``"64 MiB"``."""
    for factor, unit in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size_bytes >= factor:
            return f"{significant(size_bytes / factor, 3)}\u00a0{unit}"
    return f"{size_bytes:.0f}\u00a0B"


def path_name(roof: Roofline) -> str:
    """``"FP32 matrix products"``, ``"FP32 multiply-adds on the vector units"``, as far as the roof says."""
    label = PRECISIONS[roof.precision].label if roof.precision else ""
    what = {"gemm": "matrix products", "vector": "multiply-adds on the vector units"}.get(roof.path or "", "operations")
    return f"{label} {what}".strip()


def roof_name(case: Case) -> str:
    return "memory roof" if case.bound == "memory" else "compute roof"


def shape(x) -> str:
    """A neighbour in a sentence: ``"M = 8"``, ``"R = 64"``, ``"n = 512"``, ``"k_proj"``."""
    if x.m is not None:
        return f"n = {x.m}" if x.m == x.n == x.k else f"M = {x.m}"
    if x.fma_per_element is not None:
        return f"R = {x.fma_per_element}"
    return f"{x.kernel} of {x.elements} elements" if x.elements else x.kernel
