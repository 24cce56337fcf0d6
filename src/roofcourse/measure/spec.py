"""What is to be timed (:class:`Spec`), and what a device makes of it (:class:`Kernel`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import work as count
from ..precision import PRECISIONS
from ..work import Work

#: Kernels that move data and do next to no arithmetic: (arrays read, arrays written).
MOVING = {"read_reduce": (1, 0), "write": (0, 1), "copy": (1, 1), "add": (2, 1), "triad": (2, 1)}
#: Matrix products: one; ``batch`` of them in one call; ``batch`` of them in as many calls.
PRODUCTS = ("gemm", "gemm_batched", "gemm_loop")


@dataclass(frozen=True)
class Spec:
    """One kernel to time. Sizes are counts of elements; ``implementation`` is ``None`` where there is no choice."""

    kernel: str
    precision: str
    m: int | None = None
    n: int | None = None
    k: int | None = None
    elements: int | None = None
    fma_per_element: int | None = None
    batch: int | None = None
    cache_state: str = "warm"
    implementation: str | None = None

    def __post_init__(self) -> None:
        if self.kernel not in (*MOVING, *PRODUCTS, "fma"):
            raise ValueError(f"unknown kernel {self.kernel!r}; known: {', '.join((*MOVING, *PRODUCTS, 'fma'))}")
        if self.precision not in PRECISIONS:
            raise ValueError(f"unknown precision {self.precision!r}; known: {', '.join(PRECISIONS)}")

    @property
    def work(self) -> Work:
        """FLOP and bytes by the counting rules of :mod:`roofcourse.work`."""
        if self.kernel == "gemm":
            return count.gemm(self.m, self.n, self.k, self.precision)
        if self.kernel in PRODUCTS:
            return self.batch * count.gemm(self.m, self.n, self.k, self.precision)
        if self.kernel == "write":
            return count.elementwise(self.elements, self.precision, flop_per_element=0, reads=0)
        if self.kernel == "read_reduce":
            return count.reduction(self.elements, self.precision)
        if self.kernel == "fma":
            return count.fma_sweep(self.elements, self.fma_per_element, self.precision)
        return getattr(count, self.kernel)(self.elements, self.precision)

    @property
    def title(self) -> str:
        """``"copy FP32, 67,108,864 elements"``, ``"gemm BF16 16x8192x8192"``: for progress lines and refusals."""
        label = PRECISIONS[self.precision].label
        if self.m is not None:
            size = f"{self.m}x{self.n}x{self.k}" + (f", {self.batch} of them" if self.batch else "")
        else:
            size = f"{self.elements:,} elements" + (f", R = {self.fma_per_element}" if self.fma_per_element else "")
        return f"{self.kernel} {label} {size}" + (f" ({self.implementation})" if self.implementation else "")


@dataclass(frozen=True)
class Operand:
    """One array of a kernel as the array itself describes it: the checks compare this with the formula.

    ``role``: ``"in"`` or ``"out"``. ``bytes``: its size in memory. ``place``: the kind of device it lives on.
    ``varied``: whether its values differ from each other (``None`` for an output).
    """

    role: str
    bytes: int
    place: str
    varied: bool | None = None


@dataclass(frozen=True)
class Kernel:
    """A spec made ready on a device. Nothing here has been timed yet.

    ``call`` launches it once and may return before it has finished; ``fetch`` brings one number of its result to the
    host, which cannot return earlier. ``error`` clears the result, runs the kernel and gives the relative error
    against FP64. ``work``: what its author says it does; ``counted_flop``: FLOP counted some other way, or ``None``.
    """

    spec: Spec
    call: Callable[[], object]
    fetch: Callable[[], object]
    error: Callable[[], float]
    operands: tuple[Operand, ...]
    work: Work
    counted_flop: float | None = None
    implementation: str | None = None


def memory_size(points) -> int | None:
    """Elements of the arrays that show memory, among points of kernels that move data; ``None`` without any.

    Copies come in many sizes, for the working-set sweep; the others in one, or in several where a run was gone on with
    while more or less memory was free. Of those the largest counts that has a point which is not suspect.
    """
    sizes = [x for x in points if x.kernel != "copy"]
    return max((x.elements for x in [x for x in sizes if not x.suspect] or sizes), default=None)
