"""The facts that the rules look at: one point, one roof, its neighbours, and what else is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ..measure.spec import PRODUCTS
from ..records import Measurement
from ..roofline import Roofline

#: From this share of the roof on nothing needs a reason: B is known to 2 to 5 %, F to about as much.
AT_ROOF = 0.90
#: Above this share of the roof a number is not believed without a reason (as in measuring).
ABOVE_ROOF = 1.05


@dataclass(frozen=True)
class Case:
    """A point under a roof. Times in seconds, sizes in bytes, clocks in Hz; what is not known is ``None`` or empty."""

    point: Measurement
    roof: Roofline
    sweep: tuple[Measurement, ...] = ()
    launch: float | None = None
    roofs: tuple[Roofline, ...] = ()
    cache_bytes: float | None = None
    multiprocessors: int | None = None
    tile: tuple[int, int] | None = None
    counted_bytes: float | None = None
    kernel_seconds: float | None = None
    kernels: int | None = None
    operator_seconds: float | None = None
    clock_hz: float | None = None
    reference_clock_hz: float | None = None
    path: str | None = None
    new_bytes: float | None = None
    new_seconds: float | None = None
    reused_seconds: float | None = None

    @property
    def seconds(self) -> float:
        return self.point.seconds

    @cached_property
    def memory_time(self) -> float:
        """Q / B."""
        return self.roof.memory_time(self.point.work)

    @cached_property
    def compute_time(self) -> float:
        """W / F."""
        return self.roof.compute_time(self.point.work)

    @property
    def roof_time(self) -> float:
        """The lower bound of the time: the longer of the two."""
        return max(self.memory_time, self.compute_time)

    @property
    def share(self) -> float:
        """Lower bound of the time divided by the time: 1 at the roof."""
        return self.roof_time / self.seconds

    @property
    def bound(self) -> str:
        """``"memory"`` or ``"compute"``: the longer of the two times."""
        return "memory" if self.memory_time > self.compute_time else "compute"

    @property
    def intensity(self) -> float:
        """I, in FLOP/byte."""
        return self.point.work.intensity

    @property
    def working_set(self) -> float:
        """Bytes that the kernel goes over again and again; those of its formula where no other number is known."""
        return getattr(self.point, "working_set_bytes", None) or self.point.work.bytes

    @property
    def own_path(self) -> str | None:
        """Which units the kernel uses, where that is known."""
        if self.path:
            return self.path
        kernel = getattr(self.point, "kernel", None)
        return "gemm" if kernel in PRODUCTS else "vector" if kernel == "fma" else None

    @cached_property
    def _alike(self) -> tuple[Measurement, ...]:
        """The other points of the sweep in the same precision and cache state."""
        mine = self.point
        return tuple(
            x
            for x in self.sweep
            if x is not mine
            and x != mine
            and x.precision == getattr(mine, "precision", x.precision)
            and x.cache_state == getattr(mine, "cache_state", x.cache_state)
        )

    @cached_property
    def neighbours(self) -> tuple[Measurement, ...]:
        """Those of them that can be trusted: the evidence."""
        return tuple(x for x in self._alike if x.stable and not x.suspect)

    @property
    def left_out(self) -> tuple[Measurement, ...]:
        """Those that cannot: unstable or suspect."""
        return tuple(x for x in self._alike if not x.stable or x.suspect)

    def share_of(self, other: Measurement) -> float:
        """Share of this roof that another point reaches."""
        return self.roof.time(other.work) / other.seconds
