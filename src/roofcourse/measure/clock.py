"""The timing protocol: how long one call takes, and how sure that is. It knows no torch; it is handed what to call.

*Warm*: one sample is a batch of back-to-back calls between two marks, so the queue of a GPU stays full and inputs that
fit in a cache stay there. *Cold*: before each call the caches are filled with other data, outside the timed span.

Marks are device events where the device has them (the device stamps its own time, on the stream that does the work)
and readings of the host's clock after waiting for the device elsewhere. ``Timing.timer`` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from . import statistics
from .checks import Fault
from .stopping import StopRule

#: Raised whenever a change of the protocol makes new numbers incomparable with old ones.
METHOD_VERSION = 2

#: Length of one warm sample: long enough for the marks' own cost not to matter.
SAMPLE_SECONDS = 0.02
#: Calls that are not counted: the first ones pay for compilation, allocation and the choice of a kernel.
#: At least three, and 25 ms (in samples); a call of half a second and more warms up once.
WARM_UP_CALLS = 3
WARM_UP = 1.25
LONG_WARM_UP_SECONDS = 0.5
#: Launches that may wait in a device's queue in cold timing; a queue has an end, and then launching blocks.
COLD_IN_FLIGHT = 8


class Watch(Protocol):
    """What the protocol needs of a device: any :class:`~.device.Device` has it."""

    timer: str
    sample_seconds: float

    def now(self) -> float:
        """The host's clock, in seconds."""

    def span(self, launch: Callable[[], object]) -> float:
        """Seconds from a mark before ``launch()`` to a mark after all it launched."""

    def spans(self, before: Callable[[], object], launch: Callable[[], object], count: int) -> list[float]:
        """``count`` times: ``before()``, then ``launch()`` in a span of its own."""


@dataclass(frozen=True)
class Timing:
    """Time of one call: ``median`` and quartiles in seconds, the raw ``samples`` (seconds a call), how it stopped."""

    samples: tuple[float, ...]
    calls_per_sample: int
    stopped: str
    cache_state: str = "warm"
    timer: str = "host clock"

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def spread(self) -> float:
        """Interquartile range divided by the median."""
        return statistics.spread(self.samples)


def time_kernel(
    watch: Watch,
    call: Callable[[], object],
    rule: StopRule,
    *,
    flush: Callable[[], object] | None = None,
    between: Callable[[], object] = lambda: None,
) -> Timing:
    """Time ``call`` until ``rule`` says stop: warm, or cold if ``flush`` is given (it must displace every cache).

    ``between`` is called after each sample, outside the timed spans (to read clocks and temperatures, say). Raises
    :class:`~.checks.Fault` if no time passes (the call does nothing, or nothing waits for its end), and if device
    events see much less time than the host does (the events are not on the stream that does the work).
    """

    def repeat(calls: int) -> float:
        def launch():
            for _ in range(calls):
                call()

        return watch.span(launch)

    sample_seconds, warm_up = watch.sample_seconds, WARM_UP * watch.sample_seconds
    spent, calls = 0.0, 1
    for _ in range(WARM_UP_CALLS):
        spent += repeat(1)
        if spent > LONG_WARM_UP_SECONDS:
            break
    # Double the batch until it is long enough to predict from; this warms the shape up as well.
    while True:
        before = watch.now()
        inside = repeat(calls)
        outside = watch.now() - before
        spent += outside
        if spent >= warm_up and (inside >= sample_seconds / 4 or outside >= sample_seconds):
            break
        if inside <= 0 and calls >= 1024:
            raise Fault("no sync", f"{calls} calls took no time: the call does nothing, or nothing waits for its end")
        calls = calls * 2 if inside < sample_seconds / 4 else calls
    if inside <= 0.5 * outside and outside >= sample_seconds / 4 and watch.timer == "device events":
        raise Fault(
            "wrong stream",
            f"the device's events saw {inside * 1e6:.3g} µs of work that kept the host waiting {outside * 1e6:.3g} µs: "
            "the events are not on the stream that does the work",
        )
    once = inside / calls
    calls = 1 if flush else max(1, round(sample_seconds / once))

    samples: list[float] = []
    noise: list[float] = []
    start = watch.now()
    while True:
        if flush is None:
            samples.append(repeat(calls) / calls)
        else:
            samples += watch.spans(flush, call, COLD_IN_FLIGHT if watch.timer == "device events" else 1)
        between()
        if min(samples) <= 0:
            raise Fault("no sync", f"{calls} calls took no time: the call does nothing, or nothing waits for its end")
        noise.append(statistics.spread(samples))
        stopped = rule.verdict(samples, noise, sum(samples) * calls, watch.now() - start)
        if stopped:
            return Timing(tuple(samples), calls, stopped, "cold" if flush else "warm", watch.timer)
