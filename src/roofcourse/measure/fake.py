"""A device that does not exist, whose bandwidth, peaks, launch overhead and faults are known: the protocol's own test.

Time passes only here, by a model: a launch costs the host ``launch_cost``; the device works through its queue, and a
kernel takes ``overhead + max(W / F, Q / B)``, with some noise. So a whole session takes milliseconds, needs no GPU,
and has a right answer. :func:`plant` makes one of the twelve faults of :data:`~.checks.FAULTS`.
"""

from __future__ import annotations

import html
import random
from dataclasses import dataclass, replace

from ..work import Work
from . import support
from .checks import ERROR_WINDOW, FAULTS, Fault
from .device import Device
from .point import measure
from .spec import MOVING, Kernel, Operand, Spec
from .stopping import StopRule
from .support import Unavailable
from .telemetry import Telemetry

MIB = 2**20
#: FLOP/s of matrix products and of the FMA sweep, near those of a large GPU of 2023.
PEAKS = {"fp64": 6e13, "fp32": 5e13, "tf32": 4e14, "bf16": 8e14, "fp16": 8e14, "fp8_e4m3": 1.4e15, "int8": 1.4e15}
VECTOR_PEAKS = {"fp64": 3e13, "fp32": 6e13}


class FakeDevice(Device):
    """See the module. ``missing``: precision -> why it does not run. ``fault``: a name of ``FAULTS``, or ``None``."""

    def __init__(
        self,
        *,
        kind: str = "cuda",
        name: str = "Fake GPU",
        bandwidth: float = 3e12,
        peaks: dict[str, float] = PEAKS,
        vector_peaks: dict[str, float] = VECTOR_PEAKS,
        overhead: float = 2e-6,
        launch_cost: float = 1e-6,
        noise: float = 0.001,
        cache: int = 50 * MIB,
        cache_bandwidth: float | None = None,
        capability=(9, 0),
        missing: dict[str, str] | None = None,
        free: int = 80 * 2**30,
        fault: str | None = None,
        seed: int = 0,
    ) -> None:
        if fault is not None and fault not in FAULTS:
            raise ValueError(f"unknown fault {fault!r}; known: {', '.join(FAULTS)}")
        self.kind, self.name, self.capability, self.fault = kind, name, capability, fault
        self.true_bandwidth, self.peaks, self.vector_peaks = bandwidth, dict(peaks), dict(vector_peaks)
        self.overhead, self.launch_cost, self.noise = overhead, launch_cost, noise
        self.last_level_cache, self.missing = cache, dict(missing or {})
        self.cache_bandwidth = cache_bandwidth or bandwidth
        self.timer = "device events" if kind in ("cuda", "rocm", "xpu") and fault != "no sync" else "host clock"
        self._free, self._random = free, random.Random(seed)
        self._now = self._idle_from = 0.0
        self._cold = False
        self._launched = 0
        self.restored = True
        self.sample_seconds = 5e-4  # the model's noise does not need longer ones, and each call is work for Python

    # -- time -----------------------------------------------------------------------------------------------------

    def now(self) -> float:
        return self._now

    def _wait(self) -> None:
        self._now = max(self._now, self._idle_from)

    def synchronise(self) -> None:
        self._now += 1e-7
        if self.fault != "no sync":
            self._wait()

    def _mark(self) -> float:
        """An event: the device stamps it when it gets there; on another stream, at once."""
        return self._now if self.fault == "wrong stream" else max(self._now, self._idle_from)

    def span(self, launch) -> float:
        if self.timer == "host clock":
            return super().span(launch)
        self.synchronise()
        start = self._mark()
        launch()
        end = self._mark()
        self.synchronise()
        return end - start

    def spans(self, before, launch, count):
        if self.timer == "host clock":
            return super().spans(before, launch, count)
        out = []
        self.synchronise()
        for _ in range(count):
            before()
            start = self._mark()
            launch()
            out.append(self._mark() - start)
        self.synchronise()
        return out

    def _run(self, seconds: float) -> None:
        self._now += self.launch_cost
        slower = 1 + self.noise * self._random.gauss(0, 1)
        if self.fault == "throttle":
            self._launched += 1
            slower *= 1 + min(0.6, self._launched / 2000)
        self._idle_from = max(self._now, self._idle_from) + seconds * max(slower, 0.1)

    def flush(self) -> None:
        self._run(2 * self.cache / self.true_bandwidth)
        self._cold = True

    # -- facts ----------------------------------------------------------------------------------------------------

    def free_bytes(self) -> int:
        return self._free

    def telemetry(self) -> Telemetry:
        if self.fault == "throttle":
            return Telemetry(1.1e9, 1.7e9, 700.0, 90.0, "a thermal slowdown (hardware)")
        return Telemetry(1.7e9, 1.7e9, 500.0, 60.0)

    def settings(self, precision: str):
        return _Settings(self)

    def manifest(self) -> dict:
        return {"key": self.kind, "name": self.name, "utc": "2026-01-01T00:00:00Z", "torch": "none", "threads": 1}

    # -- kernels --------------------------------------------------------------------------------------------------

    def seconds(self, spec: Spec, *, cold: bool = False) -> float:
        """What the model says: the right answer for this kernel."""
        work = spec.work
        inside = work.bytes <= self.last_level_cache and not cold
        bandwidth = self.cache_bandwidth if inside else self.true_bandwidth
        peaks = self.vector_peaks if spec.m is None else self.peaks
        peak = peaks.get(spec.precision, float("inf")) if work.flop and spec.kernel not in MOVING else float("inf")
        calls = spec.batch if spec.kernel == "gemm_loop" else 1
        return calls * self.overhead + max(work.bytes / bandwidth, work.flop / peak)

    def build(self, spec: Spec) -> Kernel:
        if spec.precision in self.missing:
            raise Unavailable(self.missing[spec.precision])
        if spec.m is not None:
            reason = support.refusal(self.kind, spec.precision, self.name, self.capability)
            if reason:
                raise Unavailable(reason)
        elif spec.kernel == "fma" and spec.precision not in self.vector_peaks:
            raise Unavailable(f"{self.name}: the FMA sweep is measured in {', '.join(self.vector_peaks)}")
        if spec.work.bytes > self._free:
            raise Unavailable(f"{spec.title} needs {spec.work.bytes / 1e9:.1f} GB, {self._free / 1e9:.1f} GB are free")
        return self._kernel(spec)

    def _kernel(self, spec: Spec) -> Kernel:
        fault, work = self.fault, spec.work
        stored, claimed, counted, error = work.bytes, work, work.flop, self._error(spec)
        seconds = {cold: self.seconds(spec, cold=cold) for cold in (False, True)}
        if fault == "elided work":
            seconds, error = dict.fromkeys(seconds, self.overhead), float("nan")
        elif fault == "bytes x 2":
            claimed = Work(work.flop, 2 * work.bytes)
        elif fault == "FLOP / 2":
            claimed = Work(work.flop / 2, work.bytes)
        elif fault == "upcast":
            stored, seconds = 2 * work.bytes, {c: 2 * s for c, s in seconds.items()}
        elif fault == "TF32 on" and spec.precision == "fp32" and spec.m is not None:
            error = 4e-4
            seconds = dict.fromkeys(seconds, self.overhead + max(work.bytes / self.true_bandwidth, work.flop / 4e14))
        elif fault == "zeros":
            seconds = {c: s / 1.07 for c, s in seconds.items()}  # what less switching gave on an H100
        elif fault == "arrays on the CPU":
            seconds = {c: 40 * s for c, s in seconds.items()}
        place = "cpu" if fault == "arrays on the CPU" else self.kind

        def call() -> None:
            self._run(seconds[self._cold])
            self._cold = False

        def fetch() -> None:
            self._wait()
            self._now += 1e-6

        half = int(stored / 2)
        operands = (Operand("in", half, place, fault != "zeros"), Operand("out", int(stored) - half, place))
        return Kernel(spec, call, fetch, lambda: error, operands, claimed, counted, spec.implementation or "model")

    def _error(self, spec: Spec) -> float:
        if spec.m is None:
            return 0.0
        low, high = ERROR_WINDOW[spec.precision]
        return (low * high) ** 0.5 if low else high / 2


class _Settings:
    """Notes whether what was set was put back."""

    def __init__(self, device: FakeDevice) -> None:
        self._device = device

    def __enter__(self) -> None:
        self._device.restored = False

    def __exit__(self, *what) -> None:
        self._device.restored = True


@dataclass(frozen=True)
class Outcome:
    """One planted fault. ``shown`` and ``true``: bytes/s or FLOP/s as a careless benchmark shows it and as it is.

    ``unit`` says which. ``caught``: what the protocol says about it, or ``None`` if it noticed nothing.
    """

    fault: str
    shown: float
    true: float
    unit: str
    caught: str | None


def plant(fault: str) -> tuple[FakeDevice, Spec, StopRule]:
    """A device, a kernel and a rule that together make this fault. Raises ``ValueError`` for an unknown name."""
    device = FakeDevice(fault=fault, cache_bandwidth=8e12)
    spec = Spec("gemm", "fp32", m=4096, n=4096, k=4096)
    if fault in ("no sync", "wrong stream", "bytes x 2", "arrays on the CPU"):
        spec = Spec("copy", "fp32", elements=2**27)
    elif fault == "working set in cache":
        spec = Spec("copy", "fp32", elements=2**21)
    elif fault == "upcast":
        spec = Spec("gemm", "fp16", m=4096, n=4096, k=4096)
    rule = StopRule(1, 0.0, 1.0, 0.0, 0.0) if fault == "one sample" else StopRule(minimum_seconds=0.1)
    return device, spec, rule


def careless(device: Device, spec: Spec, launches: int = 100) -> tuple[float, Work]:
    """What a careless benchmark does: no warm-up, no checks, one clock around some launches. Seconds a call, work."""
    kernel = device.build(spec)

    def launch() -> None:
        for _ in range(launches):
            kernel.call()

    return device.span(launch) / launches, kernel.work


def demonstrate(fault: str) -> Outcome:
    """Plant a fault, measure carelessly, then by the protocol: the numbers, and what the protocol says."""
    device, spec, rule = plant(fault)
    seconds, claimed = careless(device, spec, 1 if fault == "one sample" else 1000)
    moving = spec.kernel in MOVING
    unit = "bytes/s" if moving else "FLOP/s"
    shown = (claimed.bytes if moving else claimed.flop) / seconds
    honest = FakeDevice(cache_bandwidth=8e12)
    # What was asked for was memory, not the cache.
    asked = replace(spec, elements=2**27) if fault == "working set in cache" else spec
    true = (asked.work.bytes if moving else asked.work.flop) / honest.seconds(asked)
    try:
        point = measure(plant(fault)[0], spec, rule, ceiling=moving)
        caught = point.suspect or point.note
    except Fault as found:
        caught = str(found)
    return Outcome(fault, shown, true, unit, caught)


class Outcomes(tuple):
    """Several outcomes, shown as a table: the fault, the factor on the number, what it does, what the protocol says."""

    _HEAD = ("fault", "shown / true", "what it does", "the protocol says")

    def _rows(self) -> list[tuple[str, str, str, str]]:
        ratios = [o.shown / o.true for o in self]
        words = [f"{r:,.0f}" if r >= 10 else f"{r:.3g}" for r in ratios]
        return [(o.fault, r, FAULTS[o.fault], o.caught or "nothing") for o, r in zip(self, words, strict=True)]

    def __repr__(self) -> str:
        return "\n".join(f"{fault:22} x {ratio:6}  {caught}" for fault, ratio, _, caught in self._rows())

    def _repr_html_(self) -> str:
        # Long words in narrow columns: unlike tables of numbers, this one is set to the left and wraps.
        cell = "text-align:left;vertical-align:top;white-space:normal;padding:0.3em 0.7em 0.3em 0;"
        cell += "font-size:0.88em;line-height:1.4"
        last = f"{cell};min-width:8.5em;overflow-wrap:anywhere"  # only its long numbers may be broken

        def line(cells, tag):
            styles = [cell] * (len(cells) - 1) + [last]
            parts = zip(cells, styles, strict=True)
            return "<tr>" + "".join(f'<{tag} style="{s}">{html.escape(c)}</{tag}>' for c, s in parts) + "</tr>"

        body = "".join(line(r, "td") for r in self._rows())
        return f'<table class="rc-faults"><thead>{line(self._HEAD, "th")}</thead><tbody>{body}</tbody></table>'


def demonstrate_all() -> Outcomes:
    """All twelve faults, planted one after the other."""
    return Outcomes(demonstrate(fault) for fault in FAULTS)
