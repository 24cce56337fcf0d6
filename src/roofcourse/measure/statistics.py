"""Medians, spreads, and the straight line T = a + V/b. Pure functions of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def median(samples: Sequence[float]) -> float:
    """The middle sample; for an even number of them, the mean of the two in the middle."""
    return float(np.median(samples))


def spread(samples: Sequence[float]) -> float:
    """Interquartile range divided by the median: how far the middle half of the samples is apart (no unit).

    Quartiles ignore the few samples that an interruption made slow; a standard deviation would not.
    """
    low, middle, high = np.percentile(samples, [25, 50, 75])
    return float((high - low) / middle)


def drift(samples: Sequence[float]) -> float:
    """Median of the last third divided by the median of the first, less 1: 0.2 is 20 % slower at the end.

    Fewer than nine samples do not show a drift: 0.
    """
    third = len(samples) // 3
    return median(samples[-third:]) / median(samples[:third]) - 1 if third >= 3 else 0.0


def settled(estimates: Sequence[float], *, last: int = 16, relative: float = 0.05) -> bool:
    """Whether an estimate has stopped changing: its last values differ by less than ``relative`` of their mean.

    More samples would not make a noisy measurement quieter then; its spread is known, and that is the result.
    """
    if len(estimates) < 2 * last:
        return False
    tail = np.asarray(estimates[-last:])
    mean = float(tail.mean())
    return mean == 0 or float(tail.std()) < relative * mean


#: Growth of the times below this part of them is what rounding leaves of none.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Line:
    """``T = overhead + V / bandwidth``: seconds, and bytes/s. ``r2``: how much of the variation the line explains."""

    overhead: float
    bandwidth: float
    r2: float

    def seconds(self, volume: float) -> float:
        """Time of a call that moves ``volume`` bytes, in seconds."""
        return self.overhead + volume / self.bandwidth


def fit_line(volumes: Sequence[float], seconds: Sequence[float]) -> Line:
    """Fit T = a + V/b to calls that move ``volumes`` bytes in ``seconds``.

    The squared *relative* errors are made least: sizes span decades, and absolute errors would let the largest call
    decide alone. Raises ``ValueError`` for fewer than three different volumes, and if time does not grow with volume.
    """
    v, t = np.asarray(volumes, float), np.asarray(seconds, float)
    if v.shape != t.shape or np.unique(v).size < 3:
        raise ValueError(f"a line needs at least three different volumes with one time each, not {np.unique(v).size}")
    # Divide each equation a + V/b = T by its T: the right-hand side becomes 1.
    overhead, slope = np.linalg.lstsq(np.column_stack([1 / t, v / t]), np.ones_like(t), rcond=None)[0]
    if not slope * np.ptp(v) > ROUNDING * t.max():
        raise ValueError("the time does not grow with the volume: larger arrays are needed to see the bandwidth")
    left = float((((overhead + slope * v) - t) ** 2).sum())
    return Line(float(overhead), float(1 / slope), 1 - left / float(((t - t.mean()) ** 2).sum()))
