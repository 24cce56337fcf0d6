"""The explorer of chapter 1: work W and traffic Q on a device give two least times, and the longer one is the bound.

``compute`` and its sentence are written twice, here and in ``js/kinds/bounds_model.js``; a browser test compares them.
"""

from __future__ import annotations

from functools import cache

from ... import words as fmt
from ... import work as rules
from ...catalogue import Device, devices
from ...precision import PRECISIONS, Precision
from ...work import Work
from ..standin import bars_figure
from . import _common

LABEL = "the two lower bounds of the time"
FLOP_RANGE = (1e6, 1e15)
BYTES_RANGE = (1e3, 1e12)

#: Two times within this fraction of each other are called equal.
BALANCE = 0.01


def _kernel(label: str, precision: str, work: Work) -> dict:
    return {"label": label, "precision": precision, "flop": float(work.flop), "bytes": float(work.bytes)}


@cache
def kernels() -> tuple[dict, ...]:
    """Kernels to try, counted by the rules of :mod:`roofcourse.work`."""
    attention = rules.attention(1, 32, 1, 4096, 128, "fp16", kv_heads=8)
    return (
        _kernel("add two vectors of 2²⁶ numbers (FP32)", "fp32", rules.add(2**26, "fp32")),
        _kernel("sum of 2²⁶ numbers (FP32)", "fp32", rules.reduction(2**26, "fp32")),
        _kernel("matrix × vector, 8192 × 8192 (FP16)", "fp16", rules.gemv(8192, 8192, "fp16")),
        _kernel("matrix × 16 vectors, 8192 × 8192 (FP16)", "fp16", rules.gemm(16, 8192, 8192, "fp16")),
        _kernel("matrix × matrix, 512 each way (FP16)", "fp16", rules.gemm(512, 512, 512, "fp16")),
        _kernel("matrix × matrix, 8192 each way (FP16)", "fp16", rules.gemm(8192, 8192, 8192, "fp16")),
        _kernel("matrix × matrix, 8192 each way (FP64)", "fp64", rules.gemm(8192, 8192, 8192, "fp64")),
        _kernel("FFT of 2²⁰ points, batch 64 (FP32)", "fp32", rules.fft(2**20, "fp32", batch=64, passes=2)),
        _kernel("attention of one new token over 4096 (FP16)", "fp16", attention),
    )


_START = rules.gemv(8192, 8192, "fp16")
OWN = True
DEFAULTS = {"flop": float(_START.flop), "bytes": float(_START.bytes), "precision": "fp16", "device": "h100"}


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "flop":
        return _common.check_positive("flop", value, *FLOP_RANGE, "FLOP")
    if key == "bytes":
        return _common.check_positive("bytes", value, *BYTES_RANGE, "bytes")
    return _common.check_device(value, own) if key == "device" else _common.check_precision(value)


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence about them; keys that do not apply are left out."""
    card, precision = _common.card(state["device"], own or {}), PRECISIONS[state["precision"]]
    work = Work(state["flop"], state["bytes"])
    v = {"flop": work.flop, "bytes": work.bytes, "intensity": work.intensity, "bandwidth": card.bandwidth}
    v["available"] = precision.name in card.precisions
    if not v["available"]:
        v["memory_seconds"] = work.bytes / card.bandwidth
    else:
        roof = card.roofline(precision)
        ratio = roof.memory_time(work) / roof.compute_time(work)
        v |= {
            "peak": roof.peak,
            "ridge_point": roof.ridge_point,
            "compute_seconds": roof.compute_time(work),
            "memory_seconds": roof.memory_time(work),
            "bound_seconds": roof.time(work),
            "bound": "balanced" if abs(ratio - 1) <= BALANCE else roof.bound(work),
            "factor": max(ratio, 1 / ratio),
        }
    v["sentence"] = _sentence(card, precision, v)
    return v


def _sentence(card: Device, precision: Precision, v: dict) -> str:
    name = precision.label
    traffic = fmt.time(v["memory_seconds"])
    moving = f"moving {fmt.nbytes(v['bytes'])} at {fmt.rate(v['bandwidth'])} takes at least {traffic}"
    if not v["available"]:
        others = fmt.listed([PRECISIONS[p].label for p in _common.precisions() if p in card.precisions])
        return (
            f"{name} was not measured on the {card.name}, so its F is unknown here; {moving}. Measured on it: {others}."
        )
    facts = (
        f"On {fmt.with_article(card.name)} in {name}, {fmt.flop(v['flop'])} at {fmt.tflops(v['peak'])} take at least "
        f"{fmt.time(v['compute_seconds'])}; {moving}."
    )
    least = f"T{fmt.SPACE}≥{fmt.SPACE}{fmt.time(v['bound_seconds'])}"
    if v["bound"] == "balanced":
        return f"{facts} Both take the same time, within 1{fmt.SPACE}%. Balanced, at the ridge point: {least}."
    longer = "The bytes take" if v["bound"] == "memory" else "The arithmetic takes"
    times = fmt.in_powers(v["factor"], 3 if v["factor"] < 10 else 2)
    return f"{facts} {longer} {times} times as long. Hence {v['bound']}-bound: {least}."


def spec(own: dict | None = None) -> dict:
    """What the browser needs: each device's B, its F by precision, and the kernels to try."""
    if not own:
        return _catalogue_spec()
    return {
        **_catalogue_spec(),
        "devices": [*_catalogue_spec()["devices"], *(_common.peaks_spec(d) for d in own.values())],
    }


start = _common.start_with_peaks


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [_common.peaks_spec(d) for d in devices()],
        "kernels": list(kernels()),
    }


def stand_in(state: dict, own: dict | None = None) -> str:
    """The two bars of one state as an SVG that needs no script."""
    return bars_figure(compute(state, own))
