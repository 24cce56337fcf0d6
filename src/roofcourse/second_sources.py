"""What others state or measured about the cards: nominal roofs, further values of F, memory levels.

The study's own measurements are in :mod:`roofcourse.catalogue`. Here a figure is compared with, never mixed into them:
every value carries its kind and its source.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from .catalogue import Device, ceiling_sources, device
from .precision import PRECISIONS
from .precision import precision as _precision
from .records import Measurement, Measurements
from .roofline import Roofline
from .tables import read
from .work import Work, gemm

#: From the manufacturer outwards: of two sources the nearer one is taken.
STANDINGS = ("vendor", "via vendor", "vendor tool", "press", "secondary")
STUDY = "rooflines_2026"

#: Working sets between these fractions of the L2 are served by it: smaller ones partly by the L1, larger by memory.
L2_PART = (0.25, 0.6)
#: Reads of this size or more come from memory: four times the largest L2 of the catalogue.
SMALLEST_MEMORY_SET = 512 * 2**20


@dataclass(frozen=True)
class PeakSource:
    """One value of F: ``peak`` in FLOP/s, how it was got, and whether it was measured or stated (``kind``).

    ``source`` is a key of ``data/sources.json``. ``stable`` is false for a measured point whose samples scattered too
    much to set a ceiling.
    """

    peak: float
    source: str
    method: str
    kind: str = "measured"
    stable: bool = True


@dataclass(frozen=True)
class MemoryLevel:
    """One level of a card's memory, by a kernel that only reads: ``bandwidth`` in bytes/s, a median over ``points``."""

    name: str
    bandwidth: float
    points: int


def nominal(card: Device | str, precision="fp16", path: str = "gemm") -> Roofline:
    """The roofline that the manufacturer's figures give, of kind ``"nominal"``.

    Of several sources the one nearest to the manufacturer counts (see :data:`STANDINGS`). Raises ``LookupError`` in one
    line if no figure is at hand.
    """
    d, name = device(card), _precision(precision).name
    peaks = _nominal_peaks(d.key)
    if (name, path) not in peaks:
        have = ", ".join(f"{p} ({way})" for p, way in peaks) or "none at all"
        raise LookupError(f"no nominal {name} ({path}) figure of the {d.name} is at hand; there are: {have}")
    bandwidth = _nearest(_rows_of("nominal_memory", d.key), "bandwidth_bytes_per_s")
    label = f"{d.name} {PRECISIONS[name].label}" + (" vector" if path == "vector" else "") + ", nominal"
    return Roofline(peaks[name, path], bandwidth["bandwidth_bytes_per_s"], d.key, name, path, "nominal", label)


def peak_sources(card: Device | str, precision="fp16", path: str = "gemm") -> tuple[PeakSource, ...]:
    """Every value of F that is at hand for one card, precision and path: measured ones first, the nominal one last.

    The study's value comes first. A point of the study that was faster, but too unsteady to set F, is listed with
    ``stable=False``. Raises ``LookupError`` if the study did not measure this path.
    """
    d, name = device(card), _precision(precision).name
    roof = d.roofline(name, path)
    _, best = ceiling_sources(d.key, name, path)
    found = [PeakSource(roof.peak, STUDY, f"best stable {_how(best)}")]
    found += [
        PeakSource(x.flop_per_s, STUDY, f"{_how(x)}, not stable: spread {100 * x.spread:.0f} %", stable=False)
        for x in d.measurements("gemm" if path == "gemm" else "fma", name)
        if not x.stable and x.flop_per_s > roof.peak and x.cache_state != "cold"
    ]
    if path == "gemm":
        for key in gemm_sets(d):
            x = max(gemm_sweep(key).where(precision=name), key=lambda x: x.flop_per_s, default=None)
            if x:
                method = f"short runs, {_library(key)}, {_how(x)}"
                found.append(PeakSource(x.flop_per_s, "aiconfigurator", method))
        long = [r for r in _rows_of("sustained", d.key) if r["precision"] == name and r["flop_per_s"]]
        if long:
            r = max(long, key=lambda r: r["flop_per_s"])
            method = f"after 10,000 warm-up products, cuBLASLt, {r['m']}x{r['n']}x{r['k']}"
            found.append(PeakSource(r["flop_per_s"], "azure_ai_benchmarking", method))
    if (name, path) in _nominal_peaks(d.key):
        row = _nearest(_peak_rows(d.key, name, path), "peak_flop_per_s")
        method = f"stated ({row['standing']})" + (f": {row['rule']}" if row["rule"] else "")
        found.append(PeakSource(row["peak_flop_per_s"], "datasheets", method, kind="nominal"))
    return tuple(found)


def peak_range(card: Device | str, precision="fp16", path: str = "gemm") -> tuple[float, float]:
    """The lowest and the highest F (FLOP/s) that anybody measured here; equal where there is one value only."""
    measured = [s.peak for s in peak_sources(card, precision, path) if s.kind == "measured"]
    return min(measured), max(measured)


@cache
def gemm_sets(card: Device | str | None = None) -> tuple[str, ...]:
    """The sets of matrix products by aiconfigurator: all, or those of one card of the catalogue."""
    rows = _table("gemm_latency") if card is None else _rows_of("gemm_latency", device(card).key)
    return tuple(dict.fromkeys(r["set"] for r in rows))


@cache
def gemm_sweep(key: str) -> Measurements:
    """One set of aiconfigurator's products in BF16, N = K = 8192, ascending M: to compare with ``Device.m_sweep``.

    Raises ``LookupError`` naming the sets there are.
    """
    rows = sorted((r for r in _table("gemm_latency") if r["set"] == key), key=lambda r: r["m"])
    if not rows:
        raise LookupError(f"there is no set {key!r}; there are: {', '.join(gemm_sets())}")
    return Measurements(
        Measurement(
            device=r["devices"] or r["card"],
            kernel="gemm",
            precision=r["precision"],
            work=gemm(r["m"], r["n"], r["k"], r["precision"]),
            seconds=r["seconds"],
            m=r["m"],
            n=r["n"],
            k=r["k"],
            source="aiconfigurator",
        )
        for r in rows
    )


def read_cards() -> tuple[str, ...]:
    """The cards of the read bandwidths, by the name their source gives."""
    return tuple(dict.fromkeys(r["card"] for r in _table("read_bandwidth")))


@cache
def read_sweep(card: str) -> Measurements:
    """Read bandwidth of a card by working set. ``card`` is a name of :func:`read_cards` or a key of the catalogue.

    Raises ``LookupError`` naming the cards there are.
    """
    rows = [r for r in _table("read_bandwidth") if card in (r["card"], *_keys(r))]
    if not rows:
        raise LookupError(f"no read bandwidth of {card!r}; there are: {', '.join(read_cards())}")
    return Measurements(
        Measurement(
            device=r["devices"] or r["card"],
            kernel="read",
            precision="fp64",
            work=Work(0.0, r["working_set_bytes"]),
            seconds=r["working_set_bytes"] / r["bytes_per_s"],
            working_set_bytes=r["working_set_bytes"],
            spread=r["spread"],
            stable=r["spread"] <= 0.1,
            note=None if r["spread"] <= 0.1 else f"unstable: spread {100 * r['spread']:.0f} %",
            source="gpu_benches",
        )
        for r in sorted(rows, key=lambda r: r["working_set_bytes"])
    )


def memory_levels(card: str) -> tuple[MemoryLevel, MemoryLevel]:
    """The L2 and the memory of a card by its read bandwidths: medians over the working sets that each level serves.

    Rule: L2 from a quarter to six tenths of its size, memory from 512 MiB on, stable points only. Raises
    ``LookupError`` where there are no reads of the card, or the size of its L2 is not at hand.
    """
    sweep = read_sweep(card)
    row = next(r for r in _table("read_bandwidth") if card in (r["card"], *_keys(r)))
    size = _l2_bytes(row)
    low, high = (part * size for part in L2_PART)
    stable = [x for x in sweep if x.stable]
    l2 = [x.bytes_per_s for x in stable if low <= x.working_set_bytes <= high]
    memory = [x.bytes_per_s for x in stable if x.working_set_bytes >= SMALLEST_MEMORY_SET]
    return tuple(MemoryLevel(n, float(np.median(v)), len(v)) for n, v in (("L2", l2), ("memory", memory)))


def _l2_bytes(row: dict) -> int:
    """As the driver reports it for a card of the catalogue, else as the maker states it."""
    if _keys(row):
        return device(_keys(row)[0]).l2_bytes
    form = row["card"]
    forms = {"A100 80GB": ("A100 SXM4 80GB",)}.get(form, (form,))  # the chip has one L2, whatever the form of its card
    stated = [r for r in _table("nominal_memory") if r["l2_bytes"] and r["card"] in forms]
    if not stated:
        raise LookupError(f"the size of the L2 of the {form} is not at hand, so its levels cannot be told apart")
    return stated[0]["l2_bytes"]


def _how(x: Measurement) -> str:
    return f"product {x.shape}" if x.kernel == "gemm" else f"FMA sweep at R = {x.fma_per_element}"


def _library(key: str) -> str:
    return next(r["library"] for r in _table("gemm_latency") if r["set"] == key)


def _keys(row: dict) -> tuple[str, ...]:
    return tuple(filter(None, (row["devices"] or "").split("|")))


@cache
def _table(name: str) -> tuple[dict, ...]:
    return tuple(read(name))


@cache
def _rows_of(name: str, key: str) -> tuple[dict, ...]:
    return tuple(r for r in _table(name) if key in _keys(r))


def _peak_rows(key: str, precision: str, path: str) -> list[dict]:
    return [r for r in _rows_of("nominal_peaks", key) if (r["precision"], r["path"]) == (precision, path)]


def _nearest(rows, column: str) -> dict:
    """The row with this column whose source is nearest to the manufacturer; the first of equals."""
    return min((r for r in rows if r[column] is not None), key=lambda r: STANDINGS.index(r["standing"]))


@cache
def _nominal_peaks(key: str) -> dict[tuple[str, str], float]:
    pairs = dict.fromkeys((r["precision"], r["path"]) for r in _rows_of("nominal_peaks", key))
    order = [(p, path) for path in ("gemm", "vector") for p in PRECISIONS if (p, path) in pairs]
    return {(p, path): _nearest(_peak_rows(key, p, path), "peak_flop_per_s")["peak_flop_per_s"] for p, path in order}
