"""roofcourse: what bounds the speed of a GPU kernel, moving data or doing arithmetic.

The roofline model, the measured data of twelve GPUs, live benchmarks, charts and explorers behind the course.
Importing it loads NumPy and the standard library only; charts, explorers and benchmarks load what they need when used.
"""

from __future__ import annotations

from importlib import import_module

from .bench import bench
from .catalogue import Device, device, devices
from .exercise import check, hint
from .explain import Explanation, explain
from .place import Point, place, placed
from .precision import PRECISIONS, Precision, precision
from .records import Measurement, Measurements
from .roofline import Roofline
from .second_sources import memory_levels, peak_range, peak_sources
from .work import (
    Work,
    add,
    attention,
    axpy,
    conv2d,
    copy,
    elementwise,
    fft,
    fma_sweep,
    gemm,
    gemv,
    reduction,
    stencil,
    triad,
)

__version__ = "0.1.0"

# Loaded at first use: each pulls in more than NumPy, or is not needed to use the model and the data.
_LAZY = {
    "counters": ".counters",
    "llm": ".llm",
    "loopnest": ".loopnest",
    "timeline": ".timeline",
    "plot": ".plot",
    "explore": ".explore",
}

# The same for a function: its module has another name, so that importing it does not hide the function.
_LAZY_FUNCTIONS = {
    "panel": ".panels",
    "quiz": ".quizzes",
}

__all__ = [
    "PRECISIONS",
    "Device",
    "Explanation",
    "Measurement",
    "Measurements",
    "Point",
    "Precision",
    "Roofline",
    "Work",
    "add",
    "attention",
    "axpy",
    "bench",
    "check",
    "conv2d",
    "copy",
    "device",
    "devices",
    "elementwise",
    "explain",
    "fft",
    "fma_sweep",
    "gemm",
    "gemv",
    "hint",
    "memory_levels",
    "peak_range",
    "peak_sources",
    "place",
    "placed",
    "precision",
    "reduction",
    "stencil",
    "triad",
    *_LAZY,
    *_LAZY_FUNCTIONS,
]


def __getattr__(name: str):
    if name in _LAZY_FUNCTIONS:
        return getattr(import_module(_LAZY_FUNCTIONS[name], __name__), name)
    target = _LAZY.get(name)
    if target is None:
        raise AttributeError(f"module 'roofcourse' has no attribute {name!r}")
    return import_module(target, __name__)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY, *_LAZY_FUNCTIONS})
