"""Count, time, place: the parts of ``rc.place`` put together."""

from __future__ import annotations

import math
import os
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path

from .. import words as number
from ..measure import checks
from ..measure.clock import METHOD_VERSION, time_kernel
from ..measure.point import MINIMUM_SAMPLES
from ..measure.settings import tf32
from ..measure.stopping import QUICK
from ..measure.support import refusal
from ..precision import PRECISIONS
from ..precision import precision as _precision
from ..records import Evidence, Measurement
from ..work import Work
from . import pages, where
from .count import Count, count
from .point import Point


def place_function(
    fn,
    args,
    *,
    precision,
    name,
    bench,
    run,
    work,
    counted_bytes,
    report,
    report_kernel,
    report_calls,
    sweep,
    gradients,
) -> Point:
    """See :func:`roofcourse.place`."""
    if not callable(fn):
        raise ValueError(f"place needs a function and its arguments, as in rc.place(torch.relu, x), not {fn!r:.60}")
    if bench is not None and run is not None:
        raise ValueError("take the ceilings from a bench or from a run file, not from both")
    wanted = None if precision is None else _precision(precision).name
    if counted_bytes is not None and not (math.isfinite(counted_bytes) and counted_bytes > 0):
        raise ValueError(f"counted_bytes must be a positive number of bytes, not {counted_bytes!r}")
    profiled = _profiled(report, report_kernel, report_calls, work, counted_bytes)
    torch = _torch()
    eager, compiled = _eager(fn)
    with _grad(torch, gradients):
        counted = count(lambda: eager(*args))
    done, source = _work(counted, work, counted_bytes if profiled is None else profiled.dram_bytes)
    if profiled is not None and profiled.flop is not None:
        done = Work(profiled.flop, profiled.dram_bytes)
    here = where.live(where.kind_of(counted.places)) if bench is None or not bench.live else bench
    roofs_of = where.recorded(run, here.machine) if run is not None else bench or here
    if profiled is not None and here.where != "cuda":
        raise ValueError(
            f"a report of Nsight Compute is of an NVIDIA card, and this function runs on {here.where}: move its tensors"
        )
    if bench is not None:  # (a live one too: torch may have another number of threads by now)
        where.same_machine(bench.machine, here.hardware.manifest(), "the bench")
    own = _own_precision(torch, counted, here)
    placed = wanted or own
    path = "gemm" if counted.matrix_flop >= 0.5 * done.flop and done.flop else "vector"
    if profiled is not None and profiled.flop and profiled.path:  # what the instructions say, not the operators' names
        placed, path = wanted or profiled.precision, profiled.path
    try:
        roof, notes = where.ceiling(roofs_of.device, placed, path)
    except LookupError as reason:
        if run is None:
            raise
        roofs_of = here
        roof, notes = where.ceiling(here.device, placed, path)
        notes = [f"{Path(run).name}: {reason}; the ceiling was measured now.", *notes]
    if own == "fp32" and path == "gemm" and here.where != "cpu":
        with suppress(LookupError):  # cards without TF32 units have no such roof to show
            roofs_of.device.roofline("tf32")
    timing, telemetry = _time(torch, here.hardware, lambda: fn(*args), own, gradients)
    new_bytes, new_seconds = _new_memory(torch, here, lambda: fn(*args), gradients)
    noisy = checks.unstable(timing.samples, MINIMUM_SAMPLES)
    measurement = Measurement(
        device=here.where,
        kernel=name or _name(fn),
        precision=own,
        work=done,
        seconds=timing.median,
        **dict(zip(("m", "n", "k"), counted.product, strict=True) if counted.product else ()),
        working_set_bytes=counted.bytes or None,
        spread=timing.spread if len(timing.samples) > 1 else None,
        stable=noisy is None,
        note=noisy or checks.limited(telemetry),
        kind="measured live",
        source="this session",
        suspect=checks.throttled(telemetry),
        evidence=Evidence(
            METHOD_VERSION,
            timing.samples,
            timing.calls_per_sample,
            timing.timer,
            timing.stopped,
            None,
            telemetry.clock_hz,
            telemetry.power_watts,
            telemetry.temperature_celsius,
            telemetry.throttle,
        ),
    )
    return Point(
        measurement,
        source,
        roof,
        roofs=_known_roofs(roofs_of, here),
        operators=counted.operators,
        launch=_launch(roofs_of),
        cache_bytes=here.machine.get("last_level_cache_bytes"),
        multiprocessors=here.machine.get("multiprocessors"),
        compiled=compiled,
        notes=(
            *notes,
            *_by_report(profiled, counted),
            *_remarks(counted, source, compiled, wanted, own),
            *_busy(here),
        ),
        machine=here.machine["name"],
        new_bytes=new_bytes,
        new_seconds=new_seconds,
        utc=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        sweep=tuple(getattr(x, "measurement", x) for x in sweep),
    )


def _torch():
    try:
        import torch
    except ImportError:
        raise ValueError("place needs torch: pip install 'roofcourse[live]'") from None
    return torch


def _eager(fn) -> tuple[object, bool]:
    """The function before torch.compile, which hides its operators, and whether it was compiled."""
    for name in ("_orig_mod", "_torchdynamo_orig_callable"):
        inner = getattr(fn, name, None)
        if inner is not None:
            return inner, True
    return fn, False


@contextmanager
def _grad(torch, gradients: bool):
    with torch.inference_mode(False), torch.enable_grad() if gradients else torch.no_grad():
        yield


def _work(counted: Count, work, counted_bytes) -> tuple[Work, str]:
    """FLOP and bytes of the point, and where the bytes come from. Raises ``ValueError`` if there are none."""
    if work is not None and not isinstance(work, Work):
        raise ValueError(f"work must be a roofcourse.Work, such as rc.gemm(64, 64, 64), not {work!r:.60}")
    flop = counted.flop if work is None else work.flop
    if counted_bytes is not None:
        return Work(flop, counted_bytes), "counters"
    if work is not None:
        return work, "given"
    if counted.bytes <= 0:
        raise ValueError(
            "torch saw no tensor enter or leave this function, so its bytes are not known: "
            "pass work=rc.Work(flop, bytes), or counted_bytes from a profiler"
        )
    return Work(flop, counted.bytes), "formula"


def _profiled(report, kernel, calls, work, counted_bytes):
    """What the counters of a report say of one call; ``None`` without a report. Raises in one line what cannot be."""
    if report is None:
        if kernel is not None or calls != 1:
            raise ValueError("report_kernel and report_calls say what to take of a report: name it with report=")
        return None
    if work is not None or counted_bytes is not None:
        raise ValueError("a report has the work and the bytes: leave out work= and counted_bytes=")
    from .. import counters

    if isinstance(report, (str, os.PathLike)):
        report = counters.read_report(report)
    found = counters.of_one_call(report, kernel, calls)
    if not found.dram_bytes:
        raise ValueError(f"no byte of {found.name} in the report crossed the memory: without traffic there is no point")
    return found


def _by_report(profiled, counted: Count) -> list[str]:
    """What the profiler counted, beside the formulas."""
    if profiled is None:
        return []
    kernels = "1 kernel" if profiled.launches == 1 else f"{profiled.launches} kernels"
    out = [f"the profiler saw {kernels} a call, {number.time3(profiled.seconds)} in them one at a time."]
    if profiled.flop is None:
        out.append(f"FLOP by formula: {profiled.note or 'the report does not count them all'}.")
    else:
        by = "as given for its kernels" if profiled.flop_source == "formula" else "by instructions that ran"
        out.append(f"FLOP {by}; by formula it would be {number.flop(counted.flop)}.")
    return out


def _own_precision(torch, counted: Count, here) -> str:
    """What the function computes in. FP32 on a GPU is TF32 where the caller's switches, or torch's, allow it."""
    own = counted.precision or "fp32"
    if own != "fp32" or here.where not in ("cuda", "rocm") or not counted.matrix_flop:
        return own
    hardware = here.hardware
    if refusal(here.where, "tf32", hardware.name, getattr(hardware, "capability", None)):
        return own
    products, convolutions = tf32(torch)
    convolved = sum(o.flop or 0 for o in counted.operators if "conv" in o.name)
    if convolved > 0.5 * counted.matrix_flop:
        return "tf32" if convolutions and here.where == "cuda" else own  # (the switch is cuDNN's)
    return "tf32" if products else own


def _time(torch, hardware, call, precision, gradients):
    # On an NVIDIA GPU the caller's switches hold, which ``precision`` was read from; one function may have two.
    with (
        nullcontext() if hardware.kind == "cuda" else hardware.settings(precision),
        _grad(torch, gradients) if gradients else torch.inference_mode(),
    ):
        before = hardware.telemetry()
        timing = time_kernel(hardware, call, QUICK)
    return timing, before.worst(hardware.telemetry())


#: Less new memory than this in a call is not worth a word (a page is 4 KiB).
_LITTLE = 2**20


def _new_memory(torch, here, call, gradients) -> tuple[float | None, float | None]:
    """Bytes that each call touches for the first time, and the seconds that this takes here; ``None`` if unknown."""
    if here.where != "cpu":
        return None, None
    with _grad(torch, gradients) if gradients else torch.inference_mode():
        size = pages.touched(call)
    return size, pages.touch_seconds(size) if size is not None and size >= _LITTLE else None


def _name(fn) -> str:
    fn = getattr(fn, "func", fn)  # functools.partial
    name = getattr(fn, "__name__", None) or type(fn).__name__
    return "function" if name == "<lambda>" else name


def _known_roofs(roofs_of, here) -> tuple:
    """The ceilings that were measured already: asking a live machine for all would measure them."""
    device = roofs_of.device
    if not getattr(roofs_of, "live", False):
        return tuple(device.ceilings())
    points = roofs_of.points
    kernels = (("gemm", "gemm"), ("vector", "fma"))
    known = [(p, path) for path, kernel in kernels for p in PRECISIONS if points.where(kernel=kernel, precision=p)]
    return tuple(device.roofline(p, path) for p, path in known)


def _launch(roofs_of) -> float | None:
    """Seconds to start a kernel; ``None`` where it was lost in the noise or not measured."""
    try:
        line = roofs_of.launch_overhead()
    except (LookupError, ValueError):
        return None
    return line.overhead if line.overhead > 0 and line.r2 >= 0.9 else None


def _busy(here) -> list[str]:
    """On a CPU other programs take a part of every time."""
    cores = here.machine.get("cores")
    if here.where != "cpu" or not cores or not hasattr(os, "getloadavg"):
        return []
    load = os.getloadavg()[0]
    # The function itself keeps every core busy; more than that is somebody else.
    return (
        [f"the machine is busy (load {load:.1f} on {cores} cores): its times are too long."]
        if load > 1.5 * cores
        else []
    )


def _remarks(counted: Count, source: str, compiled: bool, wanted, own) -> list[str]:
    out = []
    for o in counted.uncounted if source != "given" else ():
        what = "FLOP" if o.flop is None else "bytes"
        calls = "1 call" if o.calls == 1 else f"{o.calls} calls"
        out.append(f"could not count the {what} of {o.name} ({calls}): they count as 0.")
    if counted.unknown_bytes:
        out.append("the size of some tensors could not be read: their bytes count as 0.")
    if not counted.operators:
        out.append("torch saw no operator: whatever this function computes is hidden from it.")
    if compiled:
        out.append("the operators are those before torch.compile: what it fused is one kernel now.")
    ours = counted.flop - counted.torch_flop
    if ours and counted.operators:
        said = f"torch's own counter says {number.flop(counted.torch_flop)}"
        what = "elementwise operators, reductions and attention"
        if any(o.name == "_int_mm" or "complex" in o.dtype for o in counted.operators):
            what += ", and products of complex numbers or INT8 counted whole"
        out.append(f"{said}; {number.flop(counted.flop)} with {what}.")
    if source == "counters" and counted.bytes:
        out.append(f"by formula it would move {number.nbytes(counted.bytes)}.")
    if wanted and wanted != own:
        out.append(f"it computes in {PRECISIONS[own].label}; the roof asked for is that of {PRECISIONS[wanted].label}.")
    return out
