"""The roofline model: what bounds a kernel, and by how much. Pure arithmetic on scalars or arrays.

A kernel that does ``W`` FLOP and moves ``Q`` bytes cannot finish before both are done::

    T >= max(W / F, Q / B)        P = W / T <= min(F, B * I)        I = W / Q

with F the peak throughput and B the bandwidth of the machine. The two roofs meet at the ridge point ``I* = F / B``.

Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009, where F is "peak floating-point performance" and B "peak memory
bandwidth".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._check import number
from .work import Work


@dataclass(frozen=True)
class Roofline:
    """One compute ceiling over one memory slope.

    ``peak`` in FLOP/s, ``bandwidth`` in bytes/s, both finite and positive (else ``ValueError``). The other fields say
    where the two numbers come from: ``device`` (key of the catalogue), ``precision``, ``path`` (``"gemm"`` or
    ``"vector"``), ``kind`` (``"measured"``, ``"derived"`` or ``"nominal"``), and a ``label`` for charts.
    """

    peak: float
    bandwidth: float
    device: str | None = None
    precision: str | None = None
    path: str | None = None
    kind: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "peak", number(self.peak, "peak", "FLOP/s", zero=False))
        object.__setattr__(self, "bandwidth", number(self.bandwidth, "bandwidth", "bytes/s", zero=False))
        for name in ("peak", "bandwidth"):
            if np.ndim(getattr(self, name)):
                raise ValueError(f"{name} of one Roofline is one number; make one Roofline for each of several")

    @property
    def ridge_point(self) -> float:
        """``I* = F / B`` in FLOP/byte: below it the memory slope is the lower roof, above it the compute ceiling."""
        return self.peak / self.bandwidth

    def attainable(self, intensity):
        """``min(F, B * I)`` in FLOP/s for an arithmetic intensity in FLOP/byte (scalar or array)."""
        i = number(intensity, "arithmetic intensity", "FLOP/byte", zero=True)
        out = np.minimum(self.peak, self.bandwidth * i)
        return float(out) if np.ndim(out) == 0 else out

    def time(self, work: Work):
        """Lower bound ``max(W / F, Q / B)`` on the run time, in seconds (scalar or array, like ``work``)."""
        out = np.maximum(self.compute_time(work), self.memory_time(work))
        return float(out) if np.ndim(out) == 0 else out

    def compute_time(self, work: Work):
        """``W / F`` in seconds: how long the arithmetic alone takes at the peak."""
        return _work(work).flop / self.peak

    def memory_time(self, work: Work):
        """``Q / B`` in seconds: how long the traffic alone takes at full bandwidth."""
        return _work(work).bytes / self.bandwidth

    def bound(self, work):
        """``"memory"`` left of the ridge point, ``"compute"`` at or right of it.

        ``work`` is a :class:`~roofcourse.Work` or an arithmetic intensity in FLOP/byte. Arrays give an array of names.
        """
        if isinstance(work, Work):
            memory = np.asarray(self.memory_time(work) > self.compute_time(work))
        else:
            intensity = number(work, "arithmetic intensity", "FLOP/byte", zero=True)
            memory = np.asarray(self.bandwidth * intensity < self.peak)
        names = np.where(memory, "memory", "compute")
        return str(names) if names.ndim == 0 else names

    def crossing(self, other: Roofline) -> float | None:
        """The arithmetic intensity (FLOP/byte) at which two rooflines cross, or ``None`` if they never do.

        They cross only if one machine has the higher bandwidth and the other the higher peak; then at the intensity
        where the flat part of the first meets the slope of the second: ``F_first / B_second``.
        """
        if not isinstance(other, Roofline):
            raise ValueError(f"crossing needs another Roofline, not {other!r}")
        first, second = (self, other) if self.bandwidth >= other.bandwidth else (other, self)
        if first.bandwidth == second.bandwidth or first.peak >= second.peak:
            return None
        return first.peak / second.bandwidth

    def __str__(self) -> str:
        name = self.label or " ".join(x for x in (self.device, self.precision, self.path) if x) or "Roofline"
        return (
            f"{name}: peak {self.peak / 1e12:,.4g} TFLOP/s, bandwidth {self.bandwidth / 1e9:,.4g} GB/s, "
            f"ridge point {self.ridge_point:,.4g} FLOP/byte"
        )


def _work(value) -> Work:
    if not isinstance(value, Work):
        raise ValueError(f"a time follows from a Work, such as rc.gemm(16, 8192, 8192), not from {value!r}")
    return value
