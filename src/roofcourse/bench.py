"""``bench(device, source)``: the one interface of the notebooks. Bundled, recorded and live answer the same calls.

* a card of the catalogue (``"h100"``): the study's bundled measurements;
* ``"local"``: the machine the notebook runs on. Live, it is measured now (needs torch; a GPU if there is one, else the
  CPU). Otherwise a run recorded on a CPU and shipped with the package stands in, and says so.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec

from .catalogue import Device
from .catalogue import device as _device
from .precision import PRECISIONS
from .precision import precision as _precision
from .records import Measurement, Measurements, Run, read_run
from .roofline import Roofline
from .tables import data_folder, sources

SOURCES = ("auto", "bundled", "live")
#: Kernels that move data and do next to no arithmetic.
MOVING = ("read_reduce", "copy", "add", "triad")
#: The run that stands in for "this machine" where nothing is measured.
RECORDED = "cpu_epyc_milan.json"
#: Its memory levels, recorded apart.
RECORDED_CACHES = "cpu_epyc_milan_caches.json"


def bench(device: str = "auto", source: str = "auto", *, quick: bool = False, run=None):
    """Choose what the measurements of a notebook come from.

    ``device``: a catalogue key, ``"local"``, or ``"auto"`` (the local GPU where it is measured live, else the H100 of
    the catalogue). ``source``: ``"bundled"``, ``"live"``, or ``"auto"`` (live if this machine has a GPU, else bundled).
    ``quick`` takes fewer and smaller points. ``run``: the path of a run file, read instead of measuring.

    Raises ``ValueError`` in one line for an unknown source, for ``"live"`` without torch, and for ``"live"`` with a
    card of the catalogue that this machine does not have; ``LookupError`` for an unknown device.
    """
    if run is not None:
        return Recorded(read_run(run))
    if source not in SOURCES:
        raise ValueError(f"unknown source {source!r}; choose one of {', '.join(SOURCES)}")
    local = device in ("local", "auto")
    card = None if local else _device(device)
    if source == "bundled" or (source == "auto" and _local_gpu() is None):
        if device == "local":
            return Recorded(read_run(data_folder() / "runs" / RECORDED))
        return Bundled(card or _device("h100"))
    if find_spec("torch") is None:
        raise ValueError("source 'live' needs torch: pip install 'roofcourse[live]', or use source='bundled'")
    if local:
        return Live("cuda" if _local_gpu() else "cpu", quick=quick)
    here = _local_gpu() or "no GPU"
    try:
        same = _device(here) == card
    except LookupError:  # a card that the catalogue does not have
        same = False
    if same:
        return Live("cuda", quick=quick)
    if source == "auto":
        return Bundled(card)
    raise ValueError(f"this machine has {here}, not {card}: use device='local' to measure it, or source='bundled'")


def _local_gpu() -> str | None:
    """Name of the first GPU that torch can use; ``None`` without torch or without a GPU."""
    if find_spec("torch") is None:
        return None
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else None


class _Notice:
    """Says, in the notebook and on the page, where the numbers come from."""

    live = False

    def notice(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self.notice()

    def _repr_html_(self) -> str:
        name = "live" if self.live else "bundled"
        return f'<p class="rc-notice" data-rc-source="{name}">{html.escape(self.notice())}</p>'


class Bundled(_Notice):
    """A card of the catalogue."""

    def __init__(self, card: Device) -> None:
        self.device = card

    def notice(self) -> str:
        who = sources()[self.device.source]["who"]
        return f"Bundled data: {self.device.reported_name}, measured by {who}, 2026."

    def m_sweep(self, precision: str = "fp16") -> Measurements:
        return self.device.m_sweep(precision)

    def matmul_sweep(self, precision: str = "fp16") -> Measurements:
        return self.device.matmul_sweep(precision)

    def bandwidth(self) -> Measurements:
        """Read, copy, add and triad in FP32, each on its largest arrays."""
        return Measurements(self.device.working_set_sweep(kernel)[-1] for kernel in MOVING)


@dataclass(frozen=True)
class Machine:
    """A machine that was measured as a whole: its name, what was timed, and the ceilings that follow."""

    key: str
    name: str
    points: Measurements = field(repr=False)

    @property
    def bandwidth(self) -> float:
        """B in bytes/s: the best of the kernels that only move data."""
        return max(x.bytes_per_s for x in self.points if x.kernel in MOVING and x.stable)

    def roofline(self, precision: str = "fp32", path: str = "gemm") -> Roofline:
        """Roofline with F from the best stable matrix product. Raises ``LookupError`` if none was measured."""
        name = _precision(precision).name
        timed = self.points.where(kernel="gemm", precision=name, stable=True) if path == "gemm" else ()
        if not timed:
            have = ", ".join(dict.fromkeys(x.precision for x in self.points.where(kernel="gemm"))) or "nothing"
            raise LookupError(f"{self.name} has no measured {name} {path} ceiling; matrix products measured: {have}")
        best = max(timed, key=lambda x: x.flop_per_s)
        label = f"{self.name} {PRECISIONS[name].label}"
        return Roofline(best.flop_per_s, self.bandwidth, self.key, name, path, "measured", label)


class Recorded(_Notice):
    """A run file read back: a machine of its own."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.machine = run.machine
        self.device = Machine(run.key, run.machine["name"], run.measurements)

    def notice(self) -> str:
        m = self.run.machine
        size = f"{m['cores']} cores, " if "cores" in m else ""
        return (
            f"Recorded run: {m['name']}, {size}torch {m['torch'].split('+')[0]}, {m['utc'][:10]}. "
            'Set source = "live" to measure your own machine.'
        )

    def bandwidth(self, precision: str = "fp32") -> Measurements:
        return Measurements(x for x in self.device.points.where(precision=precision) if x.kernel in MOVING)

    def matmul_sweep(self, precision: str = "fp32") -> Measurements:
        return Measurements(x for x in self._gemm(precision) if x.m == x.n == x.k)

    def m_sweep(self, precision: str = "fp32") -> Measurements:
        return Measurements(sorted((x for x in self._gemm(precision) if x.n == x.k != x.m), key=lambda x: x.m))

    def cache_sweep(self) -> Measurements:
        """Read bandwidth of one core by working set, from the nearest cache to memory, as recorded."""
        found = self.device.points.where(kernel="read_again")
        return found or read_run(data_folder() / "runs" / RECORDED_CACHES).measurements

    def _gemm(self, precision: str) -> Measurements:
        found = self.device.points.where(kernel="gemm", precision=_precision(precision).name)
        if not found:
            have = ", ".join(dict.fromkeys(x.precision for x in self.device.points.where(kernel="gemm")))
            raise LookupError(f"this run has no {_precision(precision).name} matrix products; it has {have}")
        return found


class Live(_Notice):
    """This machine, measured when asked and then remembered."""

    live = True

    def __init__(self, where: str, *, quick: bool) -> None:
        import torch

        from .measure.machine import manifest

        self.where = where
        self.quick = quick
        self.machine = manifest(torch, where)
        self._limit = 0.5 if quick else 3.0
        self._sweeps: dict[tuple[str, str], Measurements] = {}

    def notice(self) -> str:
        m = self.machine
        return f"Live: {m['name']}, torch {m['torch']}, {m['utc'][:10]}. The numbers below were timed on this machine."

    @cached_property
    def device(self) -> Machine:
        """This machine with its ceilings in fp32: measuring them takes some seconds the first time."""
        return Machine(self.where, self.machine["name"], self.bandwidth() + self.matmul_sweep("fp32"))

    def bandwidth(self, precision: str = "fp32") -> Measurements:
        """Read, copy, add and triad on arrays well past the last-level cache, in fp32 or fp64."""
        from .measure.kernels import bandwidth

        cache = self.machine["last_level_cache_bytes"]
        return self._once(("bandwidth", precision), lambda: bandwidth(self.where, precision, cache, self._limit))

    def matmul_sweep(self, precision: str = "fp32") -> Measurements:
        top = (2048 if self.quick else 4096) if self.where == "cpu" else 8192
        shapes = [(n, n, n) for n in (256, 512, 1024, 2048, 4096, 8192) if n <= top]
        return self._once(("square", precision), lambda: self._matmul(precision, shapes))

    def m_sweep(self, precision: str = "fp32") -> Measurements:
        """X (m, n) times A (n, n), with A well past the last-level cache; m doubles from 1."""
        n, top = (8192, 4096) if self.where != "cpu" else (self._sweep_size(precision), 64 if self.quick else 512)
        shapes = [(2**i, n, n) for i in range(13) if 2**i <= top]
        return self._once(("rows", precision), lambda: self._matmul(precision, shapes))

    def _sweep_size(self, precision: str) -> int:
        """Smallest power of two from 4096 to 8192 for which A is at least four times the last-level cache."""
        cache = self.machine["last_level_cache_bytes"] or 2**25
        return 4096 if 4096**2 * _precision(precision).bytes_per_element >= 4 * cache else 8192

    def _matmul(self, precision: str, shapes):
        from .measure.kernels import matmul

        for shape in shapes:
            yield matmul(self.where, precision, *shape, self._limit)

    def cache_sweep(self) -> Measurements:
        """Read bandwidth by working set, from the nearest cache to memory; on a CPU that of one core."""
        from .measure.caches import sweep

        return self._once(("caches",), lambda: sweep(self.where, self.machine["last_level_cache_bytes"]))

    def _once(self, key, points) -> Measurements:
        if key not in self._sweeps:
            self._sweeps[key] = Measurements(points())
        return self._sweeps[key]

    def record(self, *sweeps: Measurements) -> Run:
        """A run with these measurements, to write with :func:`roofcourse.records.write_run`."""
        from .measure.clock import METHOD_VERSION

        points: list[Measurement] = [x for s in sweeps for x in s]
        return Run(METHOD_VERSION, self.machine, Measurements(points))
