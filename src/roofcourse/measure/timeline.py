"""A small program under torch's profiler: what ran when, as a :class:`~roofcourse.timeline.Timeline`.

On a GPU the profiler sees both sides: the CPU that sends kernels, and the device that runs them. On a CPU there is one
side, and the operators run where they are called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median

import torch

from ..timeline import Span, Timeline
from .settings import quiet_profiler

#: Width of the program's matrices by size and kind of device: operators of microseconds, and of a millisecond.
WIDTHS = {"small": {"cpu": 64, "cuda": 256}, "large": {"cpu": 2048, "cuda": 8192}}
LAYERS = 3
#: How often the program runs before, without, and with the profiler.
WARM, PLAIN, PROFILED = 20, 41, 11
STEP = "roofcourse step"


def record(where: str, size: str, machine: str, source: str = "this session") -> Timeline:
    """The step of median length out of those profiled. On a CPU one thread runs it, so that no other is waited for.

    ``size``: ``"small"`` or ``"large"``. Raises ``ValueError`` for another one, ``LookupError`` for a kind of device
    that is not read here.
    """
    if size not in WIDTHS:
        raise ValueError(f"unknown size {size!r} of the program; there are: {', '.join(WIDTHS)}")
    if where not in ("cpu", "cuda"):
        raise LookupError(f"the timeline is read from torch's profiler on CPU and CUDA devices, not on {where}")
    threads = torch.get_num_threads()
    if where == "cpu":
        torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            run = program(where, WIDTHS[size][where])
            for _ in range(WARM):
                run()
            plain = median(_timed(run) for _ in range(PLAIN))
            events = _profile(run, where)
    finally:
        torch.set_num_threads(threads)
    spans, seconds = median_step(events)
    title = f"{LAYERS} layers, width {WIDTHS[size][where]}"
    return Timeline(spans, seconds, "measured live", title, machine, plain, source)


def program(where: str, width: int) -> Callable[[], None]:
    """One row through a few layers (normalise, multiply, activate, multiply, add); returns when the device is done."""
    kind = {"device": where, "dtype": torch.float16 if where == "cuda" else torch.float32}
    dice = torch.Generator(where).manual_seed(0)
    weights = [
        [torch.randn(width, width, generator=dice, **kind) / width**0.5 for _ in range(2)] for _ in range(LAYERS)
    ]
    x0 = torch.randn(1, width, generator=dice, **kind)
    synchronise = torch.cuda.synchronize if where == "cuda" else lambda: None

    def run() -> None:
        x = x0
        for first, second in weights:
            y = torch.nn.functional.layer_norm(x, (width,))
            y = torch.nn.functional.gelu(y @ first)
            x = x + y @ second
        synchronise()

    return run


def median_step(events: Sequence) -> tuple[tuple[Span, ...], float]:
    """Spans and length (s) of the step of median length, from its first call to its last.

    ``events``: as of ``torch.profiler.profile().events()``. On the CPU an operator counts as a whole, without the
    operators that it calls itself. Raises ``LookupError`` if the profiler saw no step.
    """
    cpu = [e for e in events if not _on_device(e)]
    steps = sorted((e for e in cpu if e.name == STEP), key=lambda e: e.time_range.end - e.time_range.start)
    if not steps or not any(e.cpu_parent is steps[len(steps) // 2] for e in cpu):
        raise LookupError("torch's profiler recorded no step of the program")
    step = steps[len(steps) // 2]
    calls = [e for e in cpu if e.cpu_parent is step]
    inside = (step.time_range.start, step.time_range.end)
    kernels = [e for e in events if _on_device(e) and e.name != STEP and inside[0] <= e.time_range.start < inside[1]]
    # The edges of the step are the profiler's own work.
    begin = min(e.time_range.start for e in calls)
    end = max(e.time_range.end for e in (*calls, *kernels))
    spans = [_span(e, lane, begin) for lane, found in (("CPU", calls), ("GPU", kernels)) for e in found]
    return tuple(sorted(spans, key=lambda s: (s.start, s.lane))), (end - begin) * 1e-6


def _on_device(event) -> bool:
    return event.device_type != torch.autograd.DeviceType.CPU


def _span(event, lane: str, begin: float) -> Span:
    """The profiler counts microseconds."""
    start, end = event.time_range.start, event.time_range.end
    return Span(event.name.removeprefix("aten::"), lane, (start - begin) * 1e-6, (end - start) * 1e-6)


def _timed(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _profile(run: Callable[[], None], where: str) -> Sequence:
    quiet_profiler()
    from torch.profiler import ProfilerActivity, profile, record_function

    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if where == "cuda" else [])]
    with profile(activities=activities) as seen:
        for _ in range(PROFILED):
            with record_function(STEP):
                run()
    return seen.events()
