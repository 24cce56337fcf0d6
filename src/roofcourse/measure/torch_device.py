"""Devices that torch drives: CUDA, ROCm, XPU and MPS GPUs, and the CPU.

``TorchDevice`` gets the module ``torch`` handed in, so that tests can hand in one that pretends to have a GPU.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from . import cpu, telemetry
from .device import Device
from .settings import measuring
from .spec import Kernel, Spec
from .support import Unavailable, one_line

MIB = 2**20
#: Last-level caches of AMD's chips in bytes, per die. ROCm reports one of several L2 slices, and not the memory-side
#: cache, so its own figure is no use for "fits in the cache".
_AMD_CACHE = {
    "gfx908": 8 * MIB,
    "gfx90a": 8 * MIB,
    "gfx942": 256 * MIB,
    "gfx950": 256 * MIB,
    "gfx1030": 128 * MIB,
    "gfx1100": 96 * MIB,
    "gfx1101": 64 * MIB,
    "gfx1102": 32 * MIB,
    "gfx1200": 32 * MIB,
    "gfx1201": 64 * MIB,
}
#: A flush writes at least this much, whatever the cache is said to be.
SMALLEST_FLUSH = 256 * MIB


def kinds(torch) -> tuple[str, ...]:
    """The kinds of device that this torch can use now, the best first; ``"cpu"`` is always there."""
    found = []
    if torch.cuda.is_available():
        found.append("rocm" if getattr(torch.version, "hip", None) else "cuda")
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        found.append("xpu")
    if torch.backends.mps.is_available():
        found.append("mps")
    return (*found, "cpu")


class TorchDevice(Device):
    """One device of torch: the first of its kind, which ``CUDA_VISIBLE_DEVICES`` and its like choose."""

    def __init__(self, torch, kind: str) -> None:
        self.torch, self.kind = torch, kind
        #: What torch calls it: ROCm uses CUDA's name.
        self.place = {"cuda": "cuda:0", "rocm": "cuda:0", "xpu": "xpu:0", "mps": "mps", "cpu": "cpu"}[kind]
        self.backend = {"cuda": torch.cuda, "rocm": torch.cuda, "xpu": getattr(torch, "xpu", None)}.get(kind)
        properties = self.backend.get_device_properties(0) if self.backend else None
        self.properties = properties
        self.capability: tuple[int, int] | str | None = None
        self._sensors = telemetry.Silent("clock, power and temperature are not read on this kind of device")
        if kind == "cuda":
            self.capability = (properties.major, properties.minor)
            self.last_level_cache = getattr(properties, "L2_cache_size", None)
            uuid = getattr(properties, "uuid", None)
            self._sensors = telemetry.open_nvml(f"GPU-{uuid}" if uuid else None)
        elif kind == "rocm":
            self.capability = getattr(properties, "gcnArchName", None)
            self.last_level_cache = _AMD_CACHE.get((self.capability or "").split(":")[0])
            self._sensors = telemetry.TorchSays(torch.cuda, 0)
        elif kind == "xpu":
            self.last_level_cache = getattr(properties, "last_level_cache_size", None)
        elif kind == "cpu":
            self.last_level_cache = cpu.last_level_cache()
            self._sensors = telemetry.Cpu()
        self.name = properties.name if properties else (cpu.name() if kind == "cpu" else "Apple GPU")
        self.timer = "device events" if kind in ("cuda", "rocm", "xpu") else "host clock"
        self.facts = self._sensors.facts()
        self.nominal_bandwidth = self.facts.get("nominal_bandwidth")
        self._flush_buffer = None

    # -- time -----------------------------------------------------------------------------------------------------

    def synchronise(self) -> None:
        if self.backend is not None:
            self.backend.synchronize()
        elif self.kind == "mps":
            self.torch.mps.synchronize()
        # A CPU has finished when the call returns.

    def _events(self):
        return self.backend.Event(enable_timing=True), self.backend.Event(enable_timing=True)

    def span(self, launch: Callable[[], object]) -> float:
        if self.timer == "host clock":
            return super().span(launch)
        start, end = self._events()
        self.synchronise()
        start.record()  # on the current stream, the one that torch launches on
        launch()
        end.record()
        self.synchronise()
        return start.elapsed_time(end) * 1e-3

    def spans(self, before, launch, count):
        if self.timer == "host clock":
            return super().spans(before, launch, count)
        pairs = [self._events() for _ in range(count)]
        self.synchronise()
        for start, end in pairs:
            before()  # while the device is busy with this, the host queues what follows: no launch cost inside
            start.record()
            launch()
            end.record()
        self.synchronise()
        return [start.elapsed_time(end) * 1e-3 for start, end in pairs]

    def flush(self) -> None:
        if self._flush_buffer is None:
            size = max(2 * self.cache, SMALLEST_FLUSH)
            with self.torch.inference_mode(False):  # it outlives the measurement that needed it first
                self._flush_buffer = self.torch.empty(size, dtype=self.torch.int8, device=self.place)
        self._flush_buffer.zero_()

    # -- memory ---------------------------------------------------------------------------------------------------

    def free_bytes(self) -> int | None:
        if self.kind in ("cuda", "rocm"):
            return self.backend.mem_get_info(0)[0]
        if self.kind == "xpu":
            call = getattr(self.backend, "mem_get_info", None)
            return call(0)[0] if call else self.properties.total_memory
        if self.kind == "mps":
            mps = self.torch.mps
            return mps.recommended_max_memory() - mps.current_allocated_memory()
        return cpu.free_memory()

    def release(self) -> None:
        if self.backend is not None:
            self.backend.empty_cache()
        elif self.kind == "mps":
            self.torch.mps.empty_cache()

    # -- settings and facts ---------------------------------------------------------------------------------------

    def settings(self, precision: str):
        return measuring(self.torch, precision)

    def telemetry(self) -> telemetry.Telemetry:
        return self._sensors.read()

    def manifest(self) -> dict:
        from .machine import manifest

        return manifest(self)

    # -- kernels --------------------------------------------------------------------------------------------------

    def build(self, spec: Spec) -> Kernel:
        from . import kernels

        need, free = spec.work.bytes, self.free_bytes()
        if free is not None and need > 0.8 * free:
            raise Unavailable(
                f"{spec.title} needs {need / 1e9:.1f} GB, {self.name} has {free / 1e9:.1f} GB free: use smaller arrays"
            )
        try:
            return kernels.build(self, spec)
        except Unavailable:
            raise
        except (RuntimeError, NotImplementedError, TypeError, MemoryError, AttributeError) as error:
            # What torch raises when a device has no such kernel, or no memory: its first line is the reason.
            with contextlib.suppress(Exception):
                self.release()
            raise Unavailable(f"{spec.title} does not run on {self.name}: {one_line(error)}") from error
