"""One measurement from beginning to end: build, inspect, check the result, time, judge, record."""

from __future__ import annotations

from ..records import Evidence, Measurement
from ..roofline import Roofline
from . import checks
from .checks import Fault
from .clock import METHOD_VERSION, Timing, time_kernel
from .spec import Kernel, Spec
from .stopping import StopRule
from .telemetry import Telemetry

#: Samples behind any number that is to be trusted, whatever rule the caller chose.
MINIMUM_SAMPLES = 10
#: A sensor is read at most this often (seconds): reading takes time, and its values change slowly.
SENSOR_SECONDS = 0.2
#: Rounds of the proof that waiting works, and how far off a ratio must stay to be called a fault, not noise.
PROOF_ROUNDS, SURE = 7, 1.5


def measure(
    device,
    spec: Spec,
    rule: StopRule,
    *,
    ceiling: bool = False,
    limits: Roofline | None = None,
    build=None,
) -> Measurement:
    """Time one kernel. ``ceiling``: the result is meant as memory bandwidth. ``limits``: the most this device can do.

    Raises :class:`~.support.Unavailable` if the device cannot do it, :class:`~.checks.Fault` if the number would be
    wrong for a known reason. Settings of torch are put back, whatever happens.
    """
    with device.settings(spec.precision):
        kernel = (build or device.build)(spec)
        checks.inspect(kernel, device.kind)
        error = kernel.error()
        checks.check_error(kernel, error)
        prove(device, kernel)
        sensors = _Sensors(device)
        flush = device.flush if spec.cache_state == "cold" else None
        timing = time_kernel(device, kernel.call, rule, flush=flush, between=sensors.read)
        sensors.read(force=True)
    return record(device, kernel, timing, error, sensors.worst, ceiling=ceiling, limits=limits)


class _Sensors:
    """The worst reading while something is timed."""

    def __init__(self, device) -> None:
        self._device, self._last = device, float("-inf")
        self.worst = Telemetry()

    def read(self, *, force: bool = False) -> None:
        now = self._device.now()
        if force or now - self._last >= SENSOR_SECONDS:
            self.worst = self.worst.worst(self._device.telemetry())
            self._last = now


def prove(device, kernel: Kernel) -> None:
    """Once for a device: waiting for it really waits (see :func:`~.checks.proof`). Leaves a note in ``device.proof``.

    Raises :class:`~.checks.Fault` if it surely does not. A busy machine can blur the proof; then the note says so.
    """
    if getattr(device, "proof", None):
        return

    def launches(count: int, finish) -> float:
        device.synchronise()
        kernel.fetch()
        start = device.now()
        for _ in range(count):
            kernel.call()
        finish()
        return device.now() - start

    launches(2, kernel.fetch)
    once = launches(1, kernel.fetch)
    count = max(1, min(1000, round(device.sample_seconds / max(once, 1e-6))))
    short = long = float("inf")
    for _ in range(PROOF_ROUNDS):
        short = min(short, launches(count, device.synchronise))
        long = min(long, launches(2 * count, kernel.fetch))
        doubt = checks.proof(short, long)
        if doubt is None:
            device.proof = f"proved: 2N launches took {long / short:.2f} times as long as N"
            return
    ratio = long / short if short > 0 else float("inf")
    # A CPU's calls return when they have finished; there the proof fails only by what else runs.
    if device.kind != "cpu" and not 2 / SURE < ratio < 2 * SURE:
        raise Fault("no sync", f"{device.name}: {doubt}")
    device.proof = f"not proved on this busy machine: {doubt}"


def record(
    device,
    kernel: Kernel,
    timing: Timing,
    error: float | None,
    telemetry: Telemetry,
    *,
    ceiling: bool = False,
    limits: Roofline | None = None,
) -> Measurement:
    """The record of a timing, with what the checks say about it."""
    spec, work = kernel.spec, kernel.work
    flop_per_s, bytes_per_s = work.flop / timing.median, work.bytes / timing.median
    doubts = [
        checks.too_small(work.bytes, device.last_level_cache) if ceiling else None,
        checks.suspicion(
            flop_per_s=flop_per_s,
            bytes_per_s=bytes_per_s,
            working_set=work.bytes,
            cache=device.last_level_cache,
            limits=limits,
        ),
        checks.throttled(telemetry),
    ]
    suspect = "; ".join(d for d in doubts if d) or None
    noisy = checks.unstable(timing.samples, MINIMUM_SAMPLES)
    return Measurement(
        device=device.kind,
        kernel=spec.kernel,
        precision=spec.precision,
        work=work,
        seconds=timing.median,
        cache_state=spec.cache_state,
        m=spec.m,
        n=spec.n,
        k=spec.k,
        elements=spec.elements,
        fma_per_element=spec.fma_per_element,
        batch=spec.batch,
        working_set_bytes=work.bytes,
        spread=timing.spread if len(timing.samples) > 1 else None,
        stable=noisy is None,
        note=noisy or checks.limited(telemetry),
        kind="measured live",
        source="this session",
        implementation=kernel.implementation,
        suspect=suspect,
        evidence=Evidence(
            METHOD_VERSION,
            timing.samples,
            timing.calls_per_sample,
            timing.timer,
            timing.stopped,
            error,
            telemetry.clock_hz,
            telemetry.power_watts,
            telemetry.temperature_celsius,
            telemetry.throttle,
        ),
    )
