"""The timing protocol: how long one call takes, and how sure that is. It knows no torch; it is handed what to call.

One sample is a batch of back-to-back calls between two synchronised readings of the clock, long enough (see
``SAMPLE_SECONDS``) for the clock's own cost not to matter. Samples are taken until there are enough of them and they
agree, or until time runs out; the result says which.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: Raised whenever a change of the protocol makes new numbers incomparable with old ones.
METHOD_VERSION = 1

SAMPLE_SECONDS = 0.02
MINIMUM_SAMPLES = 10
STABLE_SPREAD = 0.005


@dataclass(frozen=True)
class Timing:
    """Time of one call: ``median`` and quartiles in seconds, the raw ``samples`` (seconds a call), how it stopped."""

    samples: tuple[float, ...]
    calls_per_sample: int
    stopped: str

    @property
    def median(self) -> float:
        return float(np.median(self.samples))

    @property
    def spread(self) -> float:
        """Interquartile range divided by the median."""
        low, high = np.percentile(self.samples, [25, 75])
        return float((high - low) / self.median)


def time_call(
    call: Callable[[], object],
    synchronise: Callable[[], object],
    *,
    limit_seconds: float = 2.0,
    sample_seconds: float = SAMPLE_SECONDS,
    minimum_samples: int = MINIMUM_SAMPLES,
    clock: Callable[[], float] = time.perf_counter,
) -> Timing:
    """Time ``call``; ``synchronise`` must return only when everything launched so far has finished.

    Warm state: the calls of a sample follow each other without a pause, so inputs that fit in a cache stay there.
    Stops when at least ``minimum_samples`` were taken and their relative spread is below 0.5 %, or when
    ``limit_seconds`` have passed (``stopped`` then says so). Raises ``ArithmeticError`` if no time passes at all, which
    means that ``synchronise`` waits for nothing or that ``call`` does nothing.
    """

    def batch(calls: int) -> float:
        synchronise()
        start = clock()
        for _ in range(calls):
            call()
        synchronise()
        return clock() - start

    batch(2)  # the first calls pay for compilation, allocation and kernel choice
    once = max(batch(1), 1e-9)
    calls = max(1, round(sample_seconds / once))
    batch(calls)
    samples: list[float] = []
    start = clock()
    while True:
        samples.append(batch(calls) / calls)
        timing = Timing(tuple(samples), calls, "stable")
        if not timing.median > 0:
            raise ArithmeticError(f"{calls} calls took no time: the call does nothing, or nothing waits for its end")
        if len(samples) >= minimum_samples and timing.spread < STABLE_SPREAD:
            return timing
        if len(samples) >= 3 and clock() - start > limit_seconds:
            return Timing(tuple(samples), calls, f"time limit of {limit_seconds:g} s; spread {timing.spread:.1%}")
