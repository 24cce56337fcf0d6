"""The bundled data: twelve cards, what was timed on them, and the ceilings that follow.

Every ceiling is recomputed here from the timed kernels by the study's own rule; no peak is stored twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from . import inference
from .precision import PRECISIONS, Precision
from .precision import precision as _precision
from .records import Measurement, Measurements
from .roofline import Roofline
from .tables import DataError, read
from .work import Work

#: A read kernel may set B from this working set on: well past the largest L2 (126.5 MiB, B300).
SMALLEST_BANDWIDTH_SET = 256 * 2**20
#: The M sweep: X (m, 8192) times A (8192, 8192).
SWEEP_SIZE = 8192


@cache
def measurements() -> Measurements:
    """All 1818 timed kernels, each with what the study flagged about it."""
    shape = ("device", "kernel", "precision", "cache_state", "m", "n", "k", "elements", "fma_per_element")
    flagged = {}
    for row in read("warnings"):
        if row["warning"] == "spread":
            flagged[tuple(row[c] for c in shape)] = row["value"]
    out = []
    for row in read("measurements"):
        spread = flagged.get(tuple(row[c] for c in shape))
        note = None
        if spread is not None:
            note = f"unstable: the samples' interquartile range is {100 * spread:.0f} % of their median"
        out.append(
            Measurement(
                **{c: row[c] for c in shape},
                work=Work(row["flop"], row["bytes"]),
                seconds=row["seconds"],
                working_set_bytes=row["working_set_bytes"],
                spread=spread,
                stable=spread is None,
                note=note,
                source="rooflines_2026",
            )
        )
    return Measurements(out)


@dataclass(frozen=True)
class Device:
    """One card of the catalogue. Sizes in bytes, power in watts; ``None`` where the source has no figure."""

    key: str
    name: str
    reported_name: str
    vendor: str
    memory_bytes: int
    multiprocessors: int
    l2_bytes: int
    power_limit_watts: float | None
    year: int | None
    aliases: tuple[str, ...] = ()
    source: str = "rooflines_2026"

    def measurements(self, kernel=None, precision=None, cache_state=None) -> Measurements:
        """What was timed on this card, narrowed to one kernel, precision or cache state."""
        wanted = {"kernel": kernel, "precision": precision and _precision(precision).name, "cache_state": cache_state}
        return _of_device(self.key).where(**{k: v for k, v in wanted.items() if v is not None})

    @property
    def bandwidth(self) -> float:
        """B in bytes/s, by the study's rule: the best of large reads (256 MiB or more) and the FMA kernel at R = 1."""
        return _bandwidth(self.key).bytes_per_s

    @property
    def precisions(self) -> tuple[str, ...]:
        """The precisions whose matrix products were timed, from the widest to the narrowest."""
        timed = {x.precision for x in self.measurements("gemm")}
        return tuple(p for p in PRECISIONS if p in timed)

    def roofline(self, precision: str | Precision = "fp16", path: str = "gemm") -> Roofline:
        """The measured roofline of one precision on one path.

        ``path="gemm"``: F is the best stable warm matrix product. ``path="vector"``: F is the plateau of the FMA sweep,
        the vector units, without matrix units (``fp32`` and ``fp64``). Raises ``LookupError`` in one line if this card
        has none.
        """
        return _roofline(self.key, _precision(precision).name, path)

    def nominal(self, precision: str | Precision = "fp16", path: str = "gemm") -> Roofline:
        """The roofline that the manufacturer's figures give: kind ``"nominal"``, never mixed with measured ones.

        Raises ``LookupError`` in one line if no figure is at hand.
        """
        from .second_sources import nominal

        return nominal(self, precision, path)

    def ceilings(self) -> tuple[Roofline, ...]:
        """Every roofline of this card: one for each precision and path that was measured."""
        vector = dict.fromkeys(x.precision for x in self.measurements("fma"))
        return tuple(
            self.roofline(p, path)
            for path, names in (("gemm", self.precisions), ("vector", [p for p in PRECISIONS if p in vector]))
            for p in names
        )

    def m_sweep(self, precision: str | Precision = "fp16") -> Measurements:
        """Warm matrix products with N = K = 8192 and M = 1, 2, 4 ... 2048, 8192 (from 16 for fp8 and nvfp4)."""
        found = self._gemm(precision).where(n=SWEEP_SIZE, k=SWEEP_SIZE)
        return Measurements(sorted(found, key=lambda x: x.m))

    def matmul_sweep(self, precision: str | Precision = "fp16") -> Measurements:
        """Warm square matrix products, n = 256 to 8192."""
        return Measurements(sorted((x for x in self._gemm(precision) if x.m == x.n == x.k), key=lambda x: x.m))

    def _gemm(self, precision) -> Measurements:
        found = self.measurements("gemm", precision, "warm")
        if not found:
            raise LookupError(_no_path(self, _precision(precision).name, "gemm"))
        return found

    def working_set_sweep(self, kernel: str = "copy") -> Measurements:
        """``copy``, ``add``, ``triad`` (FP32, warm) by working set, from KiB to hundreds of MiB, or ``read_reduce``."""
        known = ("copy", "add", "triad", "read_reduce")
        if kernel not in known:
            raise ValueError(f"unknown kernel {kernel!r} for a working-set sweep; known: {', '.join(known)}")
        return Measurements(sorted(self.measurements(kernel), key=lambda x: x.working_set_bytes))

    def fma_sweep(self, precision: str | Precision = "fp32") -> Measurements:
        """The FMA kernel, R = 1 to 2048 dependent FMAs an element, 512 MiB of reads and writes."""
        found = self.measurements("fma", precision)
        if not found:
            raise LookupError(_no_path(self, _precision(precision).name, "vector"))
        return Measurements(sorted(found, key=lambda x: x.fma_per_element))

    def decode_steps(self) -> tuple[inference.DecodeStep, ...]:
        """Decode steps of Qwen2.5-7B in BF16 timed on this card, by batch and prompt length.

        Raises ``LookupError`` in one line for a card on which no language model was run.
        """
        return inference.decode_steps(self.key)

    def decode_step(self, batch: int, prompt_length: int) -> inference.DecodeStep:
        """The step of one batch and prompt length. Raises ``LookupError`` naming what was timed if it was not."""
        found = [s for s in self.decode_steps() if (s.batch, s.prompt_length) == (batch, prompt_length)]
        if not found:
            there = ", ".join(f"{s.batch} x {s.prompt_length}" for s in self.decode_steps())
            raise LookupError(f"no step of batch {batch} and prompt {prompt_length} on {self.name}; timed are: {there}")
        return found[0]

    def layer_counters(
        self, phase: str | None = None, *, batch: int | None = None, prompt_length: int | None = None, linear=False
    ) -> tuple[inference.LayerCounter, ...]:
        """Hardware counters of layer 14 of Qwen2.5-7B, module by module, narrowed to a phase, batch or prompt length.

        ``linear=True``: the seven matrix products alone. Raises ``LookupError`` in one line where nothing was read.
        """
        if phase not in (None, *inference.PHASES):
            raise ValueError(f"unknown phase {phase!r}: {' or '.join(map(repr, inference.PHASES))}")
        wanted = {"phase": phase, "batch": batch, "prompt_length": prompt_length}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        every = inference.layer_counters(self.key)
        found = [x for x in every if all(getattr(x, name) == value for name, value in wanted.items())]
        if not found:
            there = dict.fromkeys((x.phase, x.batch, x.prompt_length) for x in every)
            listed = ", ".join(f"{phase} {batch} x {prompt}" for phase, batch, prompt in there)
            raise LookupError(f"no counters of that kind on {self.name}; there are: {listed}")
        return tuple(x for x in found if x.module in inference.LINEAR or not linear)

    def __str__(self) -> str:
        return f"{self.name} ({self.reported_name})"


@cache
def devices() -> tuple[Device, ...]:
    """The cards of the catalogue, in the study's order."""
    return tuple(
        Device(
            key=row["device"],
            aliases=tuple(row["aliases"].split("|")),
            **{
                c: row[c]
                for c in (
                    "name",
                    "reported_name",
                    "vendor",
                    "memory_bytes",
                    "multiprocessors",
                    "l2_bytes",
                    "power_limit_watts",
                    "year",
                )
            },
        )
        for row in read("devices")
    )


def _plain(name: str) -> str:
    """``"NVIDIA H100 80GB HBM3"`` -> ``"h10080gbhbm3"``: case, blanks and the maker's name do not tell cards apart."""
    return re.sub(r"nvidia|geforce|amd|instinct|[^a-z0-9]", "", name.lower())


@cache
def _names() -> dict[str, Device]:
    """Every accepted spelling. A name is matched whole, never by a part: "H200" must not find an H100."""
    out: dict[str, Device] = {}
    for d in devices():
        for name in (d.key, d.name, d.reported_name, *d.aliases):
            owner = out.setdefault(_plain(name), d)
            if owner is not d:
                raise DataError(f"data/devices.csv, column aliases: {name!r} names both {owner.key} and {d.key}")
    return out


def device(name: str | Device) -> Device:
    """A card by key or by the names people write: ``"h100"``, ``"H100 SXM"``, ``"NVIDIA H100 80GB HBM3"``.

    Raises ``LookupError`` with the nearest names if there is no such card.
    """
    if isinstance(name, Device):
        return name
    if not isinstance(name, str):
        raise LookupError(f"a device is a name such as 'h100', not {name!r}")
    found = _names().get(_plain(name))
    if found:
        return found
    near = dict.fromkeys(_names()[n].key for n in get_close_matches(_plain(name), _names(), n=5, cutoff=0.5))
    hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(d.key for d in devices())}"
    raise LookupError(f"no device {name!r} in the catalogue; {hint}. `roofcourse devices` lists them all")


@cache
def _of_device(key: str) -> Measurements:
    return measurements().where(device=key)


@cache
def _bandwidth(key: str) -> Measurement:
    reads = [x for x in _of_device(key).where(kernel="read_reduce") if x.working_set_bytes >= SMALLEST_BANDWIDTH_SET]
    return max((*reads, *_of_device(key).where(kernel="fma", fma_per_element=1)), key=lambda x: x.bytes_per_s)


def _no_path(d: Device, precision: str, path: str) -> str:
    have = ", ".join(f"{r.precision} ({r.path})" for r in d.ceilings())
    what = "matrix product" if path == "gemm" else "FMA sweep"
    return f"{d.name} has no measured {precision} {what}; measured: {have}"


@cache
def _roofline(key: str, precision: str, path: str) -> Roofline:
    d = device(key)
    if path not in ("gemm", "vector"):
        raise ValueError(f"unknown path {path!r}: 'gemm' (matrix product) or 'vector' (FMA on the vector units)")
    timed = _of_device(key).where(precision=precision)
    if path == "gemm":
        timed = timed.where(kernel="gemm", cache_state="warm", stable=True)
    else:
        timed = timed.where(kernel="fma", stable=True)
    if not timed:
        raise LookupError(_no_path(d, precision, path))
    best = max(timed, key=lambda x: x.flop_per_s)
    label = f"{d.name} {PRECISIONS[precision].label}" + (" vector" if path == "vector" else "")
    # Kind "measured": two measured numbers; their quotient, the ridge point, is derived.
    return Roofline(best.flop_per_s, d.bandwidth, key, precision, path, "measured", label)


def ceiling_sources(key: str, precision: str, path: str = "gemm") -> tuple[Measurement, Measurement]:
    """The two measurements that set a roofline: the one of B and the one of F."""
    roof = device(key).roofline(precision, path)
    timed = _of_device(device(key).key).where(precision=roof.precision, stable=True)
    return _bandwidth(roof.device), next(x for x in timed if x.flop_per_s == roof.peak)
