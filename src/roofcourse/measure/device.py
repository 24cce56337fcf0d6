"""One interface to whatever computes: NVIDIA, AMD, Intel and Apple GPUs, the CPU, and a made-up device for tests.

Run on real hardware so far: the CPU. Written for, and tested on fakes only: CUDA, ROCm, XPU, MPS.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec

from .clock import SAMPLE_SECONDS
from .spec import Kernel, Spec
from .support import KINDS, Unavailable
from .telemetry import Telemetry

#: Where the size of the last-level cache is not known, this much is assumed (bytes), so that arrays are large enough.
ASSUMED_CACHE = 64 * 2**20


class Device(ABC):
    """What the protocol needs to know and do. Sizes in bytes; what is not known is ``None``."""

    kind: str
    name: str
    timer: str = "host clock"
    sample_seconds: float = SAMPLE_SECONDS
    last_level_cache: int | None = None
    nominal_bandwidth: float | None = None

    @abstractmethod
    def build(self, spec: Spec) -> Kernel:
        """Make a kernel ready: arrays made, code compiled, nothing timed. Raises :class:`~.support.Unavailable`."""

    @abstractmethod
    def synchronise(self) -> None:
        """Return when everything launched so far has finished."""

    def now(self) -> float:
        return time.perf_counter()

    def span(self, launch: Callable[[], object]) -> float:
        """Seconds from a mark before ``launch()`` to a mark after all it launched."""
        self.synchronise()
        start = self.now()
        launch()
        self.synchronise()
        return self.now() - start

    def spans(self, before: Callable[[], object], launch: Callable[[], object], count: int) -> list[float]:
        """``count`` times: ``before()``, then ``launch()`` in a span of its own."""
        out = []
        for _ in range(count):
            before()
            out.append(self.span(launch))
        return out

    @abstractmethod
    def flush(self) -> None:
        """Fill every cache with other data: write at least twice the last-level cache."""

    @abstractmethod
    def free_bytes(self) -> int | None:
        """Memory that new arrays may take now."""

    def nominal_peak(self, precision: str) -> float | None:
        """FLOP/s by the data sheet at the highest clock, if known."""
        return None

    def telemetry(self) -> Telemetry:
        return Telemetry(note="not readable")

    def settings(self, precision: str) -> AbstractContextManager:
        """Settings under which this precision is really used, restored on leaving."""
        return nullcontext()

    def manifest(self) -> dict:
        """Facts about the device for a run file."""
        return {"key": self.kind, "name": self.name}

    def release(self) -> None:  # noqa: B027
        """Give memory that is no longer used back to the system."""

    @property
    def cache(self) -> int:
        """Last-level cache to plan with: the known size, else an assumed one."""
        return self.last_level_cache or ASSUMED_CACHE


def open_device(kind: str | None = None) -> Device:
    """The device of this kind, or the best there is. Raises :class:`~.support.Unavailable` in one line."""
    if kind is not None and kind not in KINDS:
        raise Unavailable(f"unknown kind of device {kind!r}; choose one of {', '.join(KINDS)}")
    if find_spec("torch") is None:
        raise Unavailable("measuring needs torch, which is not installed: pip install 'roofcourse[live]'")
    import torch

    from .torch_device import TorchDevice, kinds

    here = kinds(torch)
    if kind is None:
        kind = here[0]
    if kind not in here:
        raise Unavailable(missing(torch, kind, here))
    return TorchDevice(torch, kind)


def missing(torch, kind: str, here: tuple[str, ...]) -> str:
    """Why there is no device of this kind, and what to do, in one line."""
    build = {
        "cuda": ("an NVIDIA GPU", torch.version.cuda is not None, "a CUDA build of torch"),
        "rocm": ("an AMD GPU", getattr(torch.version, "hip", None) is not None, "a ROCm build of torch"),
        "xpu": ("an Intel GPU", getattr(torch.version, "xpu", None) is not None, "an XPU build of torch"),
        "mps": ("Apple silicon with macOS", torch.backends.mps.is_built(), "torch for macOS"),
    }[kind]
    what, built, need = build
    none = "torch sees no such device (is its driver installed?)"
    why = none if built else f"this torch ({torch.__version__}) is not {need}"
    return f"{kind} needs {what}: {why}; available here: {', '.join(here)}"
