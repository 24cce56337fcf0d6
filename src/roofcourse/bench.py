"""``bench(device, source)``: the one interface of the notebooks. Bundled, recorded and live answer the same calls.

* a card of the catalogue (``"h100"``): the study's bundled measurements;
* ``"local"``: the machine the notebook runs on. Live, it is measured now (needs torch; a GPU if there is one, else the
  CPU). Otherwise a run recorded on a CPU and shipped with the package stands in, and says so.

Every kind has ``device`` (its ceilings), ``bandwidth()``, ``matmul_sweep(precision)``, ``m_sweep(precision)``,
``fma_sweep(precision)``, ``working_set_sweep()``, ``launch_overhead()``, ``small_products()`` and ``lever(name)``.
"""

from __future__ import annotations

import html
from contextlib import suppress
from functools import cached_property
from importlib.util import find_spec

from . import levers as _levers
from . import workbench
from .catalogue import Device
from .catalogue import device as _device
from .measure.checks import UNUSABLE
from .measure.spec import MOVING, memory_size
from .measure.statistics import Line, fit_line
from .precision import PRECISIONS
from .precision import precision as _precision
from .records import Measurement, Measurements, Run, read_run
from .roofline import Roofline
from .tables import data_folder, sources
from .timeline import Timeline, read_timelines

SOURCES = ("auto", "bundled", "live")
#: Of the kernels that move data, those of the study of the bundled cards: it has no "write".
BUNDLED_MOVING = ("read_reduce", "copy", "add", "triad")
#: The run that stands in for "this machine" where nothing is measured.
RECORDED = "cpu_epyc_genoa.json"
#: Its memory levels, recorded apart.
RECORDED_CACHES = "cpu_epyc_genoa_caches.json"
#: The same product by different loops, on one core of it.
RECORDED_LOOPS = "cpu_epyc_genoa_loops.json"
#: Many small products on it, in as many calls and in one.
RECORDED_SMALL = "cpu_epyc_genoa_small.json"
#: Levers, before and after, on one core of another CPU, with the roofs of that core.
RECORDED_LEVERS = "cpu_epyc_genoa_levers.json"
#: Products that fit in a cache, and chains of loads from memory: of a later machine of the same maker.
RECORDED_LIMITS = "cpu_epyc_genoa_limits.json"
#: A small program under the profiler, on that later machine.
RECORDED_TIMELINES = "cpu_epyc_genoa_timelines.json"
#: The functions of chapter 9, placed under the ceilings of their own session.
RECORDED_KERNELS = "cpu_epyc_genoa_kernels.json"


def bench(device: str = "auto", source: str = "auto", *, quick: bool = False, run=None):
    """Choose what the measurements of a notebook come from.

    ``device``: a catalogue key, ``"local"``, or ``"auto"`` (the local GPU where it is measured live, else the H100 of
    the catalogue). ``source``: ``"bundled"``, ``"live"``, or ``"auto"`` (live if this machine has a GPU, else bundled).
    ``quick`` takes fewer and smaller points. ``run``: the path of a run file, read instead of measuring: a device of
    its own, beside those of the catalogue.

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
            return Recorded(read_run(data_folder() / "runs" / RECORDED), stands_in=True)
        return Bundled(card or _device("h100"))
    if find_spec("torch") is None:
        raise ValueError("source 'live' needs torch: pip install 'roofcourse[live]', or use source='bundled'")
    if local:
        return Live(quick=quick)
    here = _local_gpu() or "no GPU"
    try:
        same = _device(here) == card
    except LookupError:  # a card that the catalogue does not have
        same = False
    if same:
        return Live(quick=quick)
    if source == "auto":
        return Bundled(card)
    raise ValueError(f"this machine has {here}, not {card}: use device='local' to measure it, or source='bundled'")


def _is_square(shape: str) -> bool:
    if shape not in ("square", "wide"):
        raise ValueError(f"no shape {shape!r} of loop orders; there are: square, wide")
    return shape == "square"


def _local_gpu() -> str | None:
    """Name of the first GPU that torch can use; ``None`` without torch or without a GPU."""
    if find_spec("torch") is None:
        return None
    import torch

    if torch.cuda.is_available():
        return torch.cuda.get_device_name(0)
    xpu = getattr(torch, "xpu", None)
    if xpu is not None and xpu.is_available():
        return xpu.get_device_name(0)
    return "Apple GPU" if torch.backends.mps.is_available() else None


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

    def bandwidth(self, precision: str = "fp32") -> Measurements:
        """Read, copy, add and triad in FP32, each on its largest arrays; ``LookupError`` for other precisions."""
        name = _precision(precision).name
        if name != "fp32":
            raise LookupError(f"{name} arrays were not moved on {self.device.name}; there is bandwidth('fp32')")
        return Measurements(self.device.working_set_sweep(kernel)[-1] for kernel in BUNDLED_MOVING)

    def working_set_sweep(self, kernel: str = "copy", cache_state: str = "warm") -> Measurements:
        """``kernel`` in FP32 by working set. Raises ``LookupError`` for cold caches."""
        if cache_state != "warm":
            raise LookupError(f"no {cache_state} sweep was timed on {self.device.name}; there is cache_state='warm'")
        return self.device.working_set_sweep(kernel)

    def fma_sweep(self, precision: str = "fp32") -> Measurements:
        return self.device.fma_sweep(precision)

    def launch_overhead(self) -> Line:
        """The line T = a + V/b through the small copies: ``overhead`` a in seconds, ``bandwidth`` b in bytes/s."""
        return _launch_line(self.working_set_sweep("copy"), "gpu", self.device.l2_bytes)

    def small_products(self) -> Measurements:
        """Raises ``LookupError``: the study timed no batched products."""
        raise LookupError(f"many small products were not timed on {self.device.name}; use bench('local') for that")

    def decode(self, model=None, batch=None, prompt=None, modes=None):
        """The study's decode steps of Qwen2.5-7B, narrowed to some batches and prompt lengths.

        Raises ``LookupError`` in one line for a card, a model or a step that was not timed.
        """
        from .llm import sources as decoded

        return decoded.of_card(self.device, model, batch, prompt, modes)

    def levers(self) -> tuple[str, ...]:
        """None: the study timed no pairs."""
        return ()

    def cache_sweep(self) -> Measurements:
        """Raises ``LookupError``: the study read no cache by itself."""
        raise LookupError(f"reads by cache were not timed on {self.device.name}; there is working_set_sweep('copy')")

    def loop_orders(self, shape: str = "square") -> Measurements:
        """Raises ``LookupError``: the study ran no loops of a CPU."""
        raise LookupError(f"loop orders were not timed on {self.device.name}; use bench('local') for that")

    def time(self, call, *arguments, **named):
        """Raises ``LookupError``: a function runs on the machine that is there."""
        raise LookupError(f"nothing new is timed on {self.device.name}; use bench('local', 'live') for that")

    def lever(self, name: str) -> _levers.Lever:
        """Raises ``LookupError``: the study timed no pairs."""
        raise LookupError(f"no levers were timed on {self.device.name}; use bench('local') for that")

    def cached_products(self) -> Measurements:
        """Raises ``LookupError``: the study multiplied by one size of matrix, see ``m_sweep``."""
        raise LookupError(f"matrices of many sizes were not timed on {self.device.name}; use bench('local') for that")

    def load_chains(self) -> Measurements:
        """Raises ``LookupError``: the study timed no chains of loads."""
        raise LookupError(f"chains of loads were not timed on {self.device.name}; use bench('local') for that")

    def timeline(self, size: str = "small") -> Timeline:
        """Raises ``LookupError``: the study published no timelines."""
        raise LookupError(f"no timeline of {self.device.name} was published; use bench('local') for that")

    def place(self, fn, *shapes, **options):
        """Raises ``LookupError``: a function runs on the machine that is there."""
        raise LookupError(f"no function of yours was timed on {self.device.name}; use bench('local') for that")


class Machine:
    """A machine that was measured as a whole, answering as a card of the catalogue does.

    ``key``, ``name``; ``points``: what has been measured so far. Where the machine is measured live, asking for a
    ceiling measures it.
    """

    def __init__(self, key: str, name: str, bench) -> None:
        self.key, self.name, self._bench = key, name, bench
        facts = bench.machine
        self.memory_bytes, self.l2_bytes = facts.get("memory_bytes"), facts.get("last_level_cache_bytes")
        self.power_limit_watts = facts.get("power_limit_watts")

    def __repr__(self) -> str:
        return f"Machine({self.key!r}, {self.name!r})"

    def __str__(self) -> str:
        return self.name

    @property
    def reported_name(self) -> str:
        return self.name

    @property
    def points(self) -> Measurements:
        return self._bench.points

    @property
    def bandwidth(self) -> float:
        """B in bytes/s: the best of the kernels that only move data, on arrays past the caches."""
        none = f"{self.name} has no measured bandwidth"
        return _best(self._bench.bandwidth_points(), "bytes_per_s", none).bytes_per_s

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions whose matrix products have been measured, from the widest to the narrowest."""
        timed = {x.precision for x in self.points.where(kernel="gemm")}
        return tuple(p for p in PRECISIONS if p in timed)

    def measurements(self, kernel=None, precision=None, cache_state=None) -> Measurements:
        """What has been timed so far, narrowed to one kernel, precision or cache state."""
        wanted = {"kernel": kernel, "precision": precision and _precision(precision).name, "cache_state": cache_state}
        return self.points.where(**{k: v for k, v in wanted.items() if v is not None})

    def roofline(self, precision: str = "fp32", path: str = "gemm") -> Roofline:
        """Roofline with F from the best matrix product, or with ``path="vector"`` from the plateau of the FMA sweep.

        Unstable and suspect points set no ceiling while there are others. Raises ``LookupError`` in one line if
        nothing of the kind was or can be measured.
        """
        if path not in ("gemm", "vector"):
            raise ValueError(f"unknown path {path!r}: 'gemm' (matrix product) or 'vector' (FMA on the vector units)")
        name = _precision(precision).name
        kernel = "gemm" if path == "gemm" else "fma"
        have = ", ".join(dict.fromkeys(x.precision for x in self.points.where(kernel=kernel))) or "nothing"
        what = "matrix products" if path == "gemm" else "FMA sweeps"
        none = f"{self.name} has no measured {name} {path} ceiling; {what} measured: {have}"
        best = _best(self._bench.peak_points(name, path), "flop_per_s", none)
        label = f"{self.name} {PRECISIONS[name].label}" + (" vector" if path == "vector" else "")
        return Roofline(best.flop_per_s, self.bandwidth, self.key, name, path, "measured", label)

    def ceilings(self) -> tuple[Roofline, ...]:
        """One roofline for each precision and path that was measured. Raises ``LookupError`` without a bandwidth."""
        _ = self.bandwidth
        vector = {x.precision for x in self.points.where(kernel="fma")}
        timed = [(p, "gemm") for p in self.precisions] + [(p, "vector") for p in PRECISIONS if p in vector]
        found = []
        for name, path in timed:
            with suppress(LookupError):  # cold or suspect points alone make no roof
                found.append(self.roofline(name, path))
        return tuple(found)

    def m_sweep(self, precision: str = "fp32") -> Measurements:
        return self._bench.m_sweep(precision)

    def matmul_sweep(self, precision: str = "fp32") -> Measurements:
        return self._bench.matmul_sweep(precision)

    def fma_sweep(self, precision: str = "fp32") -> Measurements:
        return self._bench.fma_sweep(precision)

    def working_set_sweep(self, kernel: str = "copy") -> Measurements:
        return self._bench.working_set_sweep(kernel)


def _best(points: Measurements, by: str, none: str) -> Measurement:
    """The highest of the trustworthy points: not suspect, and usable if any is. Raises ``LookupError(none)``.

    Usable: stable, or unstable with a spread that was measured and is at most a quarter. On a busy machine a short
    kernel is often the only stable one, and it would make a ceiling far too low.
    """
    believed = [x for x in points if not x.suspect]
    usable = [x for x in believed if x.stable or (x.spread is not None and x.spread <= UNUSABLE)]
    if not believed:
        raise LookupError(none)
    return max(usable or believed, key=lambda x: getattr(x, by))


def _each_best(points) -> Measurements:
    """Of points that differ in their implementation only, the fastest."""
    best: dict[tuple, Measurement] = {}
    for x in points:
        same = (x.kernel, x.precision, x.cache_state, x.shape)
        if same not in best or x.seconds < best[same].seconds:
            best[same] = x
    return Measurements(best.values())


def _one_program(points) -> list[Measurement]:
    """Of points by several programs, those of the one that ran the most sizes; among equals, the fastest.

    A sweep shows the machine: a size that another program ran would be a step that no cache makes.
    """
    by_program: dict = {}
    for x in points:
        by_program.setdefault(x.implementation, []).append(x)
    return max(by_program.values(), key=lambda xs: (len(xs), max(x.bytes_per_s for x in xs)), default=[])


def _launch_line(copies: Measurements, kind: str, cache: int | None) -> Line:
    """The line T = a + V/b through copies that the caches hold. Raises ``LookupError`` for fewer than three."""
    from .measure.plan import largest_launch_volume

    small = [x for x in copies if x.working_set_bytes <= largest_launch_volume(kind, cache)]
    if len(small) < 3:
        raise LookupError("fewer than three small copies were measured: measure with --only launch")
    return fit_line([x.work.bytes for x in small], [x.seconds for x in small])


class _Series(_Notice):
    """The calls that a recorded run answers from its points; a live one measures first."""

    machine: dict
    points: Measurements

    def bandwidth(self, precision: str = "fp32") -> Measurements:
        """Read, write, copy, add and triad on arrays past the caches; where several programs ran one, the fastest.

        Raises ``LookupError`` in one line for a precision in which nothing was moved.
        """
        name = _precision(precision).name
        found = self._moved(name)
        if not found:
            have = ", ".join(p for p in PRECISIONS if self._moved(p)) or "none"
            raise LookupError(f"this run has no {name} bandwidth; it has {have}{self._why(f'copy {name}')}")
        return found

    def bandwidth_points(self) -> Measurements:
        """Every point that may set B: FP32 and FP64, of both what there is."""
        return self._moved("fp32") + self._moved("fp64")

    def _moved(self, name: str) -> Measurements:
        found = [x for x in self.points.where(precision=name, cache_state="warm") if x.kernel in MOVING]
        size = memory_size(found)
        return _each_best(x for x in found if x.elements == size)

    def peak_points(self, precision: str, path: str) -> Measurements:
        """Every point that may set F."""
        return self.points.where(kernel="gemm" if path == "gemm" else "fma", precision=precision, cache_state="warm")

    def matmul_sweep(self, precision: str = "fp32") -> Measurements:
        """Square matrix products, smallest first."""
        return _ordered((x for x in self._gemm(precision) if x.m == x.n == x.k), "m")

    def m_sweep(self, precision: str = "fp32") -> Measurements:
        """X (m, n) times A (n, n), m ascending."""
        found = [x for x in self._gemm(precision) if x.n == x.k]
        sizes = [x.n for x in found if x.n != x.m]
        size = max(sizes, key=sizes.count, default=None)
        return self._some(_ordered((x for x in found if x.n == size), "m"), f"{_precision(precision).name} M sweep")

    def fma_sweep(self, precision: str = "fp32") -> Measurements:
        """The FMA kernel, R ascending. Raises ``LookupError`` if it was not measured."""
        name = _precision(precision).name
        found = self.points.where(kernel="fma", precision=name)
        return self._some(_ordered(found, "fma_per_element"), f"{name} FMA sweep")

    def working_set_sweep(self, kernel: str = "copy", cache_state: str = "warm") -> Measurements:
        """``copy`` in FP32 by working set, from KiB to past the last-level cache."""
        found = self.points.where(kernel=kernel, precision="fp32", cache_state=cache_state)
        return self._some(_ordered(_one_program(found), "working_set_bytes"), f"{kernel} sweep")

    def launch_overhead(self) -> Line:
        """The line T = a + V/b through the small copies: ``overhead`` a in seconds, ``bandwidth`` b in bytes/s."""
        return _launch_line(self.working_set_sweep(), self.machine["key"], self.machine.get("last_level_cache_bytes"))

    def small_products(self) -> Measurements:
        """The same small products in as many calls (``gemm_loop``), and in one batched call (``gemm_batched``)."""
        found = [x for x in self.points if x.kernel in ("gemm_loop", "gemm_batched") and x.batch]
        return self._some(Measurements(found), "small products")

    def levers(self) -> tuple[str, ...]:
        """Names of the levers that :meth:`lever` has, or can measure, here."""
        return _levers.names(self.points)

    def lever(self, name: str) -> _levers.Lever:
        """A change to a kernel, before and after, under the roofs of the core that ran both.

        Raises ``LookupError`` in one line for a lever that does not exist, or is not to be had here.
        """
        return _levers.lever(name, self.points)

    def _gemm(self, precision: str) -> Measurements:
        name = _precision(precision).name
        found = self.points.where(kernel="gemm", precision=name, cache_state="warm")
        if not found:
            have = ", ".join(dict.fromkeys(x.precision for x in self.points.where(kernel="gemm"))) or "none"
            raise LookupError(f"this run has no {name} matrix products; it has {have}{self._why(f'gemm {name}')}")
        return found

    def _some(self, found: Measurements, what: str) -> Measurements:
        if not found:
            kernels = ", ".join(dict.fromkeys(x.kernel for x in self.points))
            raise LookupError(f"this run has no {what}; it has {kernels}")
        return found

    def _why(self, topic: str) -> str:
        """The reason that was noted for what is missing."""
        return ""


def _ordered(points, by: str) -> Measurements:
    return Measurements(sorted(points, key=lambda x: getattr(x, by)))


class Recorded(_Series):
    """A run file read back: a machine of its own."""

    def __init__(self, run: Run, *, stands_in: bool = False) -> None:
        self.run = run
        #: Whether it is the run shipped with the package, for which others of the same machine are at hand.
        self.stands_in = stands_in
        self.machine = run.machine
        self.points = run.measurements
        self.device = Machine(run.key, run.machine["name"], self)

    def notice(self) -> str:
        m = self.run.machine
        size = f"{m['cores']} cores, " if "cores" in m and self.run.key == "cpu" else ""
        torch = f"torch {m['torch'].split('+')[0]}, " if "torch" in m else ""
        part = "" if self.run.complete else "The run was interrupted: it holds the points measured until then. "
        return (
            f"Recorded run: {m['name']}, {size}{torch}{m['utc'][:10]}. {part}"
            'Set source = "live" to measure your own machine.'
        )

    def cache_sweep(self) -> Measurements:
        """Read bandwidth of one core by working set, from the nearest cache to memory, as recorded."""
        if self.stands_in:
            return read_run(data_folder() / "runs" / RECORDED_CACHES).measurements
        return self._some(self.points.where(kernel="read_again"), "cache sweep")

    def loop_orders(self, shape: str = "square") -> Measurements:
        """One FP32 product by different loops on one core, as recorded: ``"square"``, or ``"wide"``, where A is larger
        than the caches. The bytes are counted by :mod:`roofcourse.loopnest`."""
        square = _is_square(shape)
        points = read_run(data_folder() / "runs" / RECORDED_LOOPS).measurements if self.stands_in else self.points
        found = (x for x in points if x.kernel.startswith("gemm_") and x.batch is None and (x.m == x.n) == square)
        return self._some(Measurements(found), "loop orders")

    def small_products(self) -> Measurements:
        """The same small products in as many calls and in one batched call, as recorded.

        The machine that stands in for this one has them recorded apart, in more sizes than a session takes.
        """
        if self.stands_in:
            return read_run(data_folder() / "runs" / RECORDED_SMALL).measurements
        return super().small_products()

    def cached_products(self) -> Measurements:
        """One row times matrices of growing size, over and over, as recorded."""
        return self._some(self._limits().where(kernel="product_again"), "products that fit in a cache")

    def load_chains(self) -> Measurements:
        """Loads from memory that wait for each other, in 1 to 32 chains (``batch``) on one core, as recorded."""
        return self._some(self._limits().where(kernel="chase"), "chains of loads")

    def _limits(self) -> Measurements:
        return read_run(data_folder() / "runs" / RECORDED_LIMITS).measurements if self.stands_in else self.points

    def timeline(self, size: str = "small") -> Timeline:
        """A program of ``"small"`` or ``"large"`` operators under the profiler: what ran when, as recorded.

        Raises ``LookupError`` for a run file: it holds no timelines.
        """
        if not self.stands_in:
            raise LookupError("a run file holds no timelines: use bench('local', 'live') on that machine")
        found = read_timelines(data_folder() / "runs" / RECORDED_TIMELINES)
        if size not in found:
            raise ValueError(f"unknown size {size!r} of the program; there are: {', '.join(found)}")
        return found[size]

    def decode(self, model=None, batch=None, prompt=None, modes=None):
        """Decode steps of a language model with random weights, as recorded; see :meth:`Live.decode`.

        Raises ``LookupError`` for what was not recorded, and for a run file: it holds no decode steps.
        """
        if not self.stands_in:
            raise LookupError("a run file of `roofcourse measure` has no decode steps: see `roofcourse decode`")
        from .llm import sources as decoded

        return decoded.recorded(model, batch, prompt, modes)

    def levers(self) -> tuple[str, ...]:
        return _levers.names(self.lever_run.measurements)

    def lever(self, name: str) -> _levers.Lever:
        return _levers.lever(name, self.lever_run.measurements)

    def time(self, call, *arguments, **named):
        """Raises ``LookupError``: a recorded machine runs nothing new."""
        raise LookupError("a recorded run times nothing new: use bench('local', 'live') for that")

    def place(self, fn, *shapes, precision: str = "fp32", name: str | None = None, work=None, sweep=()):
        """The point of this function with tensors of these shapes, as it was recorded; see :meth:`Live.place`.

        ``precision`` and ``work`` are those of the recording. Raises ``LookupError`` in one line if it was not
        recorded, or in another form.
        """
        run = read_run(data_folder() / "runs" / RECORDED_KERNELS) if self.stands_in else self.run
        return workbench.recorded(run, fn, shapes, name=name, sweep=sweep)

    @property
    def lever_run(self) -> Run:
        """The run that the levers come from: this one, or the one recorded apart where this one stands in."""
        return read_run(data_folder() / "runs" / RECORDED_LEVERS) if self.stands_in else self.run

    def _why(self, topic: str) -> str:
        reasons = dict(self.run.refusals)
        return f" ({reasons[topic]})" if topic in reasons else ""


class Live(_Series):
    """This machine, measured when asked and then remembered.

    ``device``: a :class:`~.measure.device.Device` to measure instead of the best one that torch can use. ``rule``: when
    to stop sampling, instead of the usual one.
    """

    live = True

    def __init__(self, *, quick: bool, device=None, rule=None) -> None:
        from .measure.device import open_device
        from .measure.session import Session
        from .measure.stopping import FULL, QUICK

        self.hardware = device or open_device()
        self.where = self.hardware.kind
        self.quick = quick
        self.machine = self.hardware.manifest()
        self._session = Session(self.hardware, rule or (QUICK if quick else FULL), self.machine)
        self._sweeps: dict[tuple, Measurements] = {}
        self._decoding: dict = {}
        self._timelines: dict[str, Timeline] = {}

    def notice(self) -> str:
        m = self.machine
        return f"Live: {m['name']}, torch {m['torch']}, {m['utc'][:10]}. The numbers below were timed on this machine."

    @cached_property
    def device(self) -> Machine:
        """This machine; asking for one of its ceilings measures it."""
        return Machine(self.where, self.machine["name"], self)

    @property
    def points(self) -> Measurements:
        """Everything measured so far."""
        return Measurements(self._session.points)

    def bandwidth(self, precision: str = "fp32") -> Measurements:
        """Read, write, copy, add and triad on arrays past the caches, in fp64, fp32, bf16 or fp16.

        On a CPU torch and numba run each, and the faster one counts.
        """
        from .measure import plan

        name = _precision(precision).name
        self._measure(plan.bandwidth(self.hardware, name, self.quick), f"{name} bandwidth", ceiling=True)
        return super().bandwidth(name)

    def bandwidth_points(self) -> Measurements:
        """Every point that may set B: FP32 is measured for it, FP64 counts once ``bandwidth("fp64")`` was asked for.

        So B is that of the run which :meth:`record` makes of the same points; only that call can raise it.
        """
        self.bandwidth("fp32")
        return super().bandwidth_points()

    def peak_points(self, precision: str, path: str) -> Measurements:
        return self.matmul_sweep(precision) if path == "gemm" else self.fma_sweep(precision)

    def matmul_sweep(self, precision: str = "fp32") -> Measurements:
        from .measure import plan

        name = _precision(precision).name
        self._measure(plan.squares(self.hardware, name, self.quick), f"{name} matrix products")
        return super().matmul_sweep(name)

    def m_sweep(self, precision: str = "fp32") -> Measurements:
        """X (m, n) times A (n, n), with A past the last-level cache where it can be; m doubles from 1."""
        from .measure import plan

        name = _precision(precision).name
        self._measure(plan.rows(self.hardware, name, self.quick), f"{name} M sweep")
        return super().m_sweep(name)

    def fma_sweep(self, precision: str = "fp32") -> Measurements:
        from .measure import plan

        name = _precision(precision).name
        self._measure(plan.fma(self.hardware, name, self.quick), f"{name} FMA sweep")
        return super().fma_sweep(name)

    def working_set_sweep(self, kernel: str = "copy", cache_state: str = "warm") -> Measurements:
        from .measure import plan

        if kernel == "copy":
            self._measure(plan.working_set(self.hardware, self.quick, cache_state), "working-set sweep")
        return super().working_set_sweep(kernel, cache_state)

    def launch_overhead(self) -> Line:
        from .measure import plan

        self._measure(plan.launch(self.hardware), "launch overhead")
        copies = self.points.where(kernel="copy", precision="fp32", cache_state="warm")
        return _launch_line(_ordered(_one_program(copies), "elements"), self.where, self.hardware.last_level_cache)

    def small_products(self) -> Measurements:
        """The same small products in as many calls and in one batched call: on a CPU on one core, the best of many
        rounds; the points of a session (``roofcourse measure``) are not among them."""
        from .measure import small

        if self.where == "cpu" and getattr(self.hardware, "torch", None) is not None:
            return self._once(("small",), lambda: small.on_one_core(quick=self.quick))
        self._measure(small.specs(), "small products")
        return super().small_products()

    def cached_products(self) -> Measurements:
        """A few rows times matrices of growing size, over and over: from well inside the caches to well past them."""
        from .measure import cached

        if self.where == "cpu" and getattr(self.hardware, "torch", None) is not None:
            cache = self.machine["last_level_cache_bytes"]
            return self._once(("cached",), lambda: cached.on_cpu(cache, quick=self.quick))
        specs = cached.specs()
        self._measure(specs, "products by size of the matrix")
        wanted = {(s.m, s.n, s.k) for s in specs}
        found = self.points.where(kernel="gemm", precision=specs[0].precision, cache_state="warm")
        return _ordered((x for x in found if (x.m, x.n, x.k) in wanted), "n")

    def load_chains(self) -> Measurements:
        """Loads from memory that wait for each other, in 1 to 32 chains (``batch``), on one core of the processor.

        Raises ``ValueError`` in one line without numba.
        """
        if find_spec("numba") is None:
            raise ValueError("the chains need numba: pip install 'roofcourse[live]', or use source='bundled'")
        from .measure import chains
        from .measure.cpu import last_level_cache

        return self._once(("chains",), lambda: chains.sweep(last_level_cache(), quick=self.quick))

    def timeline(self, size: str = "small") -> Timeline:
        """A program of ``"small"`` or ``"large"`` operators under torch's profiler: what ran when."""
        from .measure.timeline import record

        if size not in self._timelines:
            self._timelines[size] = record(self.where, size, self.machine["name"], f"run of {self.machine['utc']}")
        return self._timelines[size]

    def decode(self, model=None, batch=None, prompt=None, modes=None):
        """Time decode steps of a model with random weights, sized to the machine: ``model`` as in
        :func:`roofcourse.llm.model`, one or several batches, prompt lengths and modes
        (:data:`roofcourse.llm.steps.MODES`).

        Raises ``LookupError`` with the reason if none could be timed, ``ValueError`` without transformers.
        """
        from .llm import sources as decoded

        return decoded.live(
            self.hardware,
            self.device,
            quick=self.quick,
            rule=self._session.rule,
            sessions=self._decoding,
            model=model,
            batch=batch,
            prompt=prompt,
            modes=modes,
        )

    def time(self, call, *arguments, **named):
        """Time any function of torch on this machine, warm: a :class:`~.measure.clock.Timing` with ``median`` (s)."""
        from .measure.clock import time_kernel

        with self.hardware.settings("fp32"):
            return time_kernel(self.hardware, lambda: call(*arguments, **named), self._session.rule)

    def place(self, fn, *shapes, precision: str = "fp32", name: str | None = None, work=None, sweep=()):
        """Count, time and place ``fn``, called with random tensors of these shapes: :func:`roofcourse.place`, for which
        the tensors need not be at hand. ``work`` and ``sweep`` are its own. Returns its point."""
        return workbench.live(self, fn, shapes, precision=precision, name=name, work=work, sweep=sweep)

    def _measure(self, specs, what: str, *, ceiling: bool = False) -> None:
        """Measure what is missing of these specs. Raises ``LookupError`` with the reason if none of them works."""
        for spec in self._session.missing(specs):
            self._session.take(spec, ceiling=ceiling)
        if len(self._session.missing(specs)) == len(specs):
            reasons = [self._session.refusals[t] for t in self._session.refusals if t.startswith(specs[0].kernel)]
            topic = f"{specs[0].kernel} {specs[0].precision}"
            exact = [r for t, r in self._session.refusals.items() if t.startswith(topic)]
            raise LookupError(f"no {what} on {self.hardware.name}: {(exact or reasons or ['not measured'])[0]}")

    def cache_sweep(self) -> Measurements:
        """Read bandwidth by working set, from the nearest cache to memory; on a CPU that of one core."""
        from .measure.caches import sweep

        return self._once(("caches",), lambda: sweep(self.where, self.machine["last_level_cache_bytes"]))

    def loop_orders(self, shape: str = "square") -> Measurements:
        """One FP32 product by different loops on one CPU core: ``"square"``, or ``"wide"``, where A is larger than the
        caches. The bytes are counted by :mod:`roofcourse.loopnest`. Raises ``ValueError`` in one line without numba."""
        square = _is_square(shape)
        if find_spec("numba") is None:
            raise ValueError("the loops need numba: pip install 'roofcourse[live]', or use source='bundled'")
        from .measure import loops

        run = (lambda: loops.square(quick=self.quick)) if square else loops.wide
        return self._once(("loops", shape), run)

    def levers(self) -> tuple[str, ...]:
        from .measure import levers

        here = levers.ON_A_CORE if self.where == "cpu" else {*levers.ON_A_GPU, *levers.ON_THE_CPU}
        return tuple(name for name in _levers.RECIPES if name in here)

    def lever(self, name: str) -> _levers.Lever:
        """A change to a kernel, before and after, measured now: on a GPU, or on one core of the CPU.

        Raises ``LookupError`` in one line for a lever that does not exist, or is not to be had here.
        """
        from .measure import levers
        from .measure.support import Unavailable

        _levers.recipe(name)
        try:
            if self.where == "cpu" or name in levers.ON_THE_CPU:
                found = self._once(("lever", name), lambda: levers.on_one_core(name, quick=self.quick))
                return _levers.lever(name, found + self.core_roofs())
            found = self._once(("lever", name), lambda: levers.on_device(self.hardware, name, quick=self.quick))
        except Unavailable as reason:
            raise LookupError(str(reason)) from None
        wanted = {(x.precision, _levers.path(x)) for x in found}
        return _levers.lever(name, found, {(p, path): self.device.roofline(p, path) for p, path in wanted})

    def core_roofs(self) -> Measurements:
        """The kernels that set the roofs of one CPU core, measured once."""
        from .measure import levers

        return self._once(("core roofs",), lambda: levers.core_roofs(quick=self.quick))

    def _once(self, key, points) -> Measurements:
        if key not in self._sweeps:
            self._sweeps[key] = Measurements(points())
        return self._sweeps[key]

    def record(self, *sweeps: Measurements) -> Run:
        """A run with these measurements, to write with :func:`roofcourse.records.write_run`."""
        from .measure.clock import METHOD_VERSION

        points: list[Measurement] = [x for s in sweeps for x in s]
        machine = {**self.machine, "proof": getattr(self.hardware, "proof", None)}
        return Run(METHOD_VERSION, machine, Measurements(points), tuple(self._session.refusals.items()))
