"""When to stop taking samples, and how to say why. Pure: it sees samples and elapsed times, never a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .statistics import settled, spread


@dataclass(frozen=True)
class StopRule:
    """Enough samples, enough device time, and samples that agree (or a noise that no longer changes).

    ``patience_seconds``: after it, a measurement that is still noisy ends as soon as it has the samples it needs.
    ``cap_seconds``: after it, it ends whatever it has.
    """

    minimum_samples: int = 10
    minimum_seconds: float = 0.5
    stable_spread: float = 0.005
    patience_seconds: float = 3.0
    cap_seconds: float = 15.0

    def verdict(self, samples: Sequence[float], noise: Sequence[float], timed: float, elapsed: float) -> str | None:
        """Why to stop now, or ``None`` to go on.

        ``noise``: the spread after each sample so far. ``timed``: device seconds inside the samples. ``elapsed``:
        seconds since the first sample began, all included.
        """
        few = len(samples) < self.minimum_samples
        short = timed < self.minimum_seconds
        wide = len(samples) < 2 or spread(samples) >= self.stable_spread
        if not few and not short:
            if not wide:
                return "stable"
            if settled(noise):
                return f"noise is known: spread {100 * spread(samples):.1f} %"
        if elapsed >= self.cap_seconds or (elapsed >= self.patience_seconds and not few):
            unmet = []
            if few:
                unmet.append(f"only {len(samples)} of {self.minimum_samples} samples")
            if short:
                unmet.append(f"only {timed:.2g} of {self.minimum_seconds:g} s timed")
            if wide and len(samples) > 1:
                unmet.append(f"spread {100 * spread(samples):.1f} %, not below {100 * self.stable_spread:.1f} %")
            limit = self.cap_seconds if elapsed >= self.cap_seconds else self.patience_seconds
            return f"time limit of {limit:g} s: " + (", ".join(unmet) or "all conditions just met")
        return None


#: One whole roofline in minutes, and one in a minute on two CPU cores.
FULL = StopRule()
QUICK = StopRule(minimum_seconds=0.1, patience_seconds=0.3, cap_seconds=3.0)
