"""Twelve ways to be wrong, and what gives each of them away. Pure: facts in, a :class:`Fault` or a sentence out.

A *fault* makes the number worthless, so nothing is timed (or kept). A *suspicion* leaves the number in the file, marked
with its likely cause, and keeps it out of every ceiling. Being *unstable* means that the number may be right but too
few or too scattered samples stand behind it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..roofline import Roofline
from . import statistics
from .telemetry import POWER_LIMIT

#: The planted faults of the tests and of the chapter on measuring, by name, with what each does to the number.
FAULTS = {
    "no sync": "the clock stops before the device has finished: far too fast",
    "wrong stream": "the events are recorded where nothing runs: far too fast",
    "arrays on the CPU": "the arrays never went to the GPU: the wrong processor is timed",
    "zeros": "all-zero inputs draw less power, so clocks stay higher: some percent too fast",
    "elided work": "the result is never produced: far too fast",
    "bytes x 2": "traffic counted twice: bandwidth doubled on paper",
    "FLOP / 2": "a multiply-add counted as one: half the throughput on paper",
    "TF32 on": "FP32 products run with 10 bits of fraction: fast, and not FP32",
    "upcast": "the arrays are stored wider than claimed: twice the traffic, half the speed",
    "working set in cache": "the arrays fit in the last-level cache: the cache is timed, not memory",
    "throttle": "the device lowers its clock while it is measured: slower and slower",
    "one sample": "a single number: nothing says how far the next one would be off",
}

#: Relative error of a correct product of random matrices, per precision: more is wrong, less is another precision.
#: FP32 keeps 24 bits; TF32 rounds its inputs to 11, which leaves about 3e-4; FP16 and BF16 round their output to 11
#: and 8 bits; FP8 inputs are exact here and its output is BF16; integers are exact.
ERROR_WINDOW = {
    "fp64": (0.0, 1e-12),
    "fp32": (2e-9, 2e-5),
    "tf32": (4e-5, 3e-3),
    "fp16": (3e-5, 5e-3),
    "bf16": (2e-4, 3e-2),
    "fp8_e4m3": (2e-4, 3e-2),
    "int8": (0.0, 0.0),
}
#: Sums and maps, in the precision they are stored in.
VECTOR_ERROR = {"fp64": 1e-13, "fp32": 5e-6, "fp16": 1e-2, "bf16": 5e-2}

#: A ceiling's arrays must be this many times the last-level cache.
CACHE_FACTOR = 8
#: Above this multiple of a ceiling, or of the nominal figure, a number is not believed.
BELIEVABLE = 1.05
#: Spread (interquartile range / median) above which a point is unstable, and above which it is of no use.
UNSTABLE, UNUSABLE = 0.10, 0.25
#: A clock below this part of the default one is throttled; so is a kernel that got this much slower while timed.
LOW_CLOCK, SLOWER = 0.75, 0.15


class Fault(ArithmeticError):
    """The number would be wrong, for a known reason. ``name`` is one of :data:`FAULTS`; the text is one line."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def inspect(kernel, kind: str) -> None:
    """Compare a kernel's arrays with what it claims, before anything runs. Raises :class:`Fault`."""
    title = kernel.spec.title
    strayed = sorted({o.place for o in kernel.operands if o.place != kind})
    if strayed:
        raise Fault(
            "arrays on the CPU", f"{title}: its arrays are on {', '.join(strayed)}, not on {kind}: create them there"
        )
    if any(o.varied is False for o in kernel.operands):
        raise Fault("zeros", f"{title}: an input has the same value everywhere: use random numbers")
    stored, formula = sum(o.bytes for o in kernel.operands), kernel.spec.work.bytes
    if abs(stored / formula - 1) > 0.01:
        raise Fault(
            "upcast",
            f"{title}: its arrays take {stored:,.0f} bytes where {kernel.spec.precision} takes {formula:,.0f}: "
            "they are stored in another precision",
        )
    if abs(kernel.work.bytes / stored - 1) > 0.01:
        raise Fault(
            "bytes x 2",
            f"{title}: {kernel.work.bytes:,.0f} bytes are claimed, its arrays have {stored:,.0f}: count each once",
        )
    counted = kernel.counted_flop
    if counted is not None and abs(kernel.work.flop - counted) > 0.01 * counted:
        raise Fault(
            "FLOP / 2",
            f"{title}: {kernel.work.flop:,.0f} FLOP are claimed, counting gives {counted:,.0f}: a multiply-add is 2",
        )


def check_error(kernel, error: float) -> None:
    """The result is right, and as precise as it claims: no less, and no more. Raises :class:`Fault`."""
    spec, title = kernel.spec, kernel.spec.title
    product = spec.m is not None
    low, high = ERROR_WINDOW[spec.precision] if product else (0.0, VECTOR_ERROR[spec.precision])
    if not error <= high:
        inside = ERROR_WINDOW["tf32"][0] <= error <= ERROR_WINDOW["tf32"][1]
        if product and spec.precision == "fp32" and inside:
            raise Fault("TF32 on", f"{title}: relative error {error:.1e} is that of TF32, not of FP32: turn TF32 off")
        raise Fault("elided work", f"{title}: the result is wrong: relative error {error:.2g}, not {high:g} at most")
    if error < low:
        what = "TF32 was not used" if spec.precision == "tf32" else "it was computed or stored in a wider precision"
        raise Fault("upcast", f"{title}: relative error {error:.1e} is too small for {spec.precision}: {what}")


def unstable(samples: Sequence[float], minimum_samples: int) -> str | None:
    """Why these samples should not set a ceiling, or ``None``."""
    if len(samples) < minimum_samples:
        return f"unstable: only {len(samples)} of {minimum_samples} samples"
    wide, slower = statistics.spread(samples), statistics.drift(samples)
    if wide > UNUSABLE:
        return f"unusable: the middle half of the samples spans {wide:.0%}"
    if slower > SLOWER:
        return f"unstable: {slower:.0%} slower at the end than at the start (throttling, or another program)"
    if wide > UNSTABLE:
        return f"unstable: the middle half of the samples spans {wide:.0%}"
    return None


def throttled(telemetry) -> str | None:
    """What the device says about a clock lowered by heat or by a fault, or ``None``.

    At its power limit a card lowers its clock as it is meant to: that is its sustained speed, and :func:`limited` says
    so. (A drift of the samples shows throttling too: see :func:`unstable`.)
    """
    reasons = [r for r in telemetry.reasons if r != POWER_LIMIT]
    if reasons:
        return f"throttle: the device reports {', '.join(reasons)}"
    clock, default = telemetry.clock_hz, telemetry.default_clock_hz
    if clock and default and clock < LOW_CLOCK * default and not limited(telemetry):
        return f"throttle: it ran at {clock / 1e6:.0f} MHz, {clock / default:.0%} of the default clock"
    return None


def limited(telemetry) -> str | None:
    """That a card ran at its power limit, or ``None``: no fault, but other cards of the kind may have other limits."""
    if POWER_LIMIT not in telemetry.reasons:
        return None
    at = f" at {telemetry.clock_hz / 1e6:.0f} MHz" if telemetry.clock_hz else ""
    return f"ran into its power limit{at}"


def suspicion(
    *, flop_per_s: float, bytes_per_s: float, working_set: float, cache: float | None, limits: Roofline | None
) -> str | None:
    """The likely cause if a number is above what is possible, or ``None``.

    ``limits``: the ceilings that this machine has, measured or nominal. Data that fit in the last-level cache may
    well be faster than memory: that is no suspicion, unless the number claims to be memory bandwidth.
    """
    if limits is None:
        return None
    in_cache = cache is not None and working_set < CACHE_FACTOR * cache
    if bytes_per_s > BELIEVABLE * limits.bandwidth and not in_cache:
        share = bytes_per_s / limits.bandwidth
        return f"{share:.2f} x the bandwidth: bytes counted that never move, a missing wait, or data from a cache"
    if flop_per_s > BELIEVABLE * limits.peak:
        share = flop_per_s / limits.peak
        return f"{share:.2f} x the peak: FLOP counted that are never done, a missing wait, or a lower precision"
    return None


def too_small(working_set: float, cache: float | None) -> str | None:
    """Arrays too small to show memory bandwidth: what to say, or ``None``."""
    if cache is not None and working_set < CACHE_FACTOR * cache:
        times = working_set / cache
        need = f"{CACHE_FACTOR} x needed for a memory ceiling"
        return f"working set too small: {times:.2g} x the last-level cache, {need}"
    return None


def proof(once: float, twice: float) -> str | None:
    """Whether waiting for the device works: 2N launches ended by fetching a result take twice N ended by a wait.

    ``once``: seconds of N launches and a ``synchronise``. ``twice``: seconds of 2N launches and the fetch of one
    number of the result, which cannot arrive early. Returns ``None`` if the ratio is 2 within 10 %, else what is wrong.
    """
    ratio = twice / once if once > 0 else float("inf")
    if abs(ratio - 2) <= 0.2:
        return None
    return f"twice the launches took {ratio:.3g} times as long, not 2: the wait for the device may not wait"
