"""Records of measurements: one timed kernel, a series of them, and a run of one machine with its JSON file."""

from __future__ import annotations

import html
import json
import os
import stat
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from .files import check_output, read_text
from .precision import precision as _precision
from .texttable import table
from .work import Rates, Work

#: What this version writes. Version 1 had no evidence and no refusals; it is still read.
SCHEMA = "roofcourse-run/2"
READABLE = ("roofcourse-run/1", SCHEMA)

# Shape of a kernel: what does not apply stays None.
SHAPE = ("m", "n", "k", "elements", "fma_per_element", "batch")


@dataclass(frozen=True)
class Evidence:
    """How a live measurement came about, so that anyone can judge it later. What could not be read is ``None``.

    ``samples``: raw times of one call, in seconds, each the mean of ``calls_per_sample`` back-to-back calls.
    ``timer``: ``"device events"`` or ``"host clock"``. ``stopped``: why sampling ended. ``error``: relative error of
    the result against FP64, checked before the timing. Clock in Hz, power in watts, temperature in degrees Celsius.
    """

    method_version: int
    samples: tuple[float, ...]
    calls_per_sample: int
    timer: str
    stopped: str
    error: float | None = None
    clock_hz: float | None = None
    power_watts: float | None = None
    temperature_celsius: float | None = None
    throttle: str | None = None

    @property
    def quartiles(self) -> tuple[float, float]:
        """First and third quartile of the samples, in seconds."""
        low, high = np.percentile(self.samples, [25, 75])
        return float(low), float(high)


@dataclass(frozen=True)
class Measurement(Rates):
    """One timed kernel.

    ``work``: its FLOP and bytes by formula. ``seconds``: the median time of one call. ``spread``: interquartile range
    divided by the median (no unit), ``None`` where the source did not record it. ``stable``: False if the source found
    the spread too wide to trust the point as a ceiling; ``note`` says why. ``kind``: ``"measured live"``,
    ``"measured"`` or ``"derived"`` (worked out from a measured one; ``note`` says what is supposed). ``source``: key of
    ``data/sources.json``, or the run it belongs to. ``implementation``: what ran it, where there is a choice
    (``"torch"``, ``"numba"``, ``"triton"``). ``suspect``: why the number cannot be right, if a check says so; such a
    point never sets a ceiling. ``evidence``: samples and circumstances of a live measurement.
    """

    device: str
    kernel: str
    precision: str
    work: Work
    seconds: float
    cache_state: str = "warm"
    m: int | None = None
    n: int | None = None
    k: int | None = None
    elements: int | None = None
    fma_per_element: int | None = None
    batch: int | None = None
    working_set_bytes: float | None = None
    spread: float | None = None
    stable: bool = True
    note: str | None = None
    kind: str = "measured"
    source: str = ""
    implementation: str | None = None
    suspect: str | None = None
    evidence: Evidence | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.seconds, (int, float)) and 0 < self.seconds < float("inf")):
            raise ValueError(f"seconds must be positive and finite, not {self.seconds!r} ({self.label})")

    @property
    def shape(self) -> str:
        """``"16x8192x8192"`` for a matrix product, ``"134217728"`` or ``"67108864, R = 4"`` for the rest."""
        if self.m is not None:
            return (f"{self.batch} of " if self.batch is not None else "") + f"{self.m}x{self.n}x{self.k}"
        return f"{self.elements}" + (f", R = {self.fma_per_element}" if self.fma_per_element is not None else "")

    @property
    def label(self) -> str:
        return f"{self.device} {self.kernel} {self.precision} {self.shape}"


class Measurements(Sequence):
    """An immutable series of :class:`Measurement`; columns are NumPy arrays, one value a measurement.

    Any field or property of a measurement is a column: ``sweep.seconds`` (s), ``sweep.intensity`` (FLOP/byte),
    ``sweep.flop_per_s``, ``sweep.m``. ``sweep.at(m=16)`` is the one measurement there.
    """

    def __init__(self, items: Iterable[Measurement] = ()) -> None:
        self._items = tuple(items)

    def __getitem__(self, index):
        return Measurements(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __add__(self, other: Iterable[Measurement]) -> Measurements:
        return Measurements((*self._items, *other))

    def __eq__(self, other) -> bool:
        return isinstance(other, Measurements) and self._items == other._items

    def __hash__(self) -> int:
        return hash(self._items)

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_") or name not in _COLUMNS:
            raise AttributeError(f"measurements have no column {name!r}; columns: {', '.join(_COLUMNS)}")
        return np.array([getattr(x, name) for x in self._items])

    def where(self, **wanted) -> Measurements:
        """The measurements whose fields equal these values: ``where(kernel="gemm", precision="fp16", stable=True)``."""
        for name in wanted:
            if name not in _COLUMNS:
                raise ValueError(f"measurements have no column {name!r}; columns: {', '.join(_COLUMNS)}")
        return Measurements(x for x in self if all(getattr(x, k) == v for k, v in wanted.items()))

    def at(self, **wanted) -> Measurement:
        """The one measurement with these fields. Raises ``LookupError``, naming what there is, if not one fits."""
        found = self.where(**wanted)
        if len(found) == 1:
            return found[0]
        asked = ", ".join(f"{k} = {v}" for k, v in wanted.items())
        if found:
            raise LookupError(f"{len(found)} measurements have {asked}: name more fields")
        there = "; ".join(f"{k}: {', '.join(map(str, dict.fromkeys(getattr(x, k) for x in self)))}" for k in wanted)
        raise LookupError(f"nothing was measured at {asked}; measured are {there or 'no points at all'}")

    def _rows(self) -> list[list[str]]:
        return [
            [
                x.device,
                f"{x.kernel} {x.shape}",
                _precision(x.precision).label,
                f"{x.intensity:,.4g}",
                f"{x.seconds * 1e6:,.4g}",
                f"{x.flop_per_s / 1e12:,.4g}",
                f"{x.bytes_per_s / 1e9:,.4g}",
                (f"suspect: {x.suspect}" if x.suspect else x.note) or ("" if x.stable else "unstable"),
            ]
            for x in self
        ]

    _HEAD = ("device", "kernel", "precision", "I (FLOP/byte)", "time (µs)", "TFLOP/s", "GB/s", "note")

    def __repr__(self) -> str:
        return table([self._HEAD, *self._rows()], left=len(self._HEAD))

    def _repr_html_(self) -> str:
        return html_table(self._HEAD, self._rows())


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A plain table that reads well in a notebook and on the site; numbers are set to the right by its style sheet."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(r, "td") for r in rows)
    return f'<table class="rc-table"><thead>{line(head, "th")}</thead><tbody>{body}</tbody></table>'


_COLUMNS = (*Measurement.__dataclass_fields__, "flop_per_s", "bytes_per_s", "intensity", "shape")


#: Facts of a manifest that tell machines apart; virtual ones often share a name.
_TELLING = (
    "key",
    "name",
    "cores",
    "threads",
    "multiprocessors",
    "last_level_cache_bytes",
    "vector_instructions",
    "device_hash",
)


def differences(there: dict, here: dict, *more: str) -> list[tuple[str, object, object]]:
    """What tells two manifests apart: facts with their values there and here; none if they are of the same machine.

    ``more``: facts that have to agree besides those of the machine. A fact that one of them lacks tells nothing. The
    threads of torch set the pace of a CPU alone.
    """
    pairs = ((fact, there.get(fact), here.get(fact)) for fact in (*_TELLING, *more))
    return [
        (fact, one, other)
        for fact, one, other in pairs
        if None not in (one, other) and one != other and (fact != "threads" or here.get("key") == "cpu")
    ]


@dataclass(frozen=True)
class Run:
    """What one machine measured in one session: the ``machine`` (a manifest), the method's version, the points.

    ``refusals``: pairs of what was asked for and the one line that says why it is not there. ``complete`` is False
    while the session still runs, and stays so if it was interrupted. ``placed``: the points that ``rc.place`` saved,
    as plain facts (:meth:`roofcourse.Point.from_dict` reads them).
    """

    method_version: int
    machine: dict
    measurements: Measurements
    refusals: tuple[tuple[str, str], ...] = ()
    complete: bool = True
    placed: tuple[dict, ...] = ()

    @property
    def key(self) -> str:
        return self.machine["key"]

    def merged(self, other: Run) -> Run:
        """These points and the other run's. Raises ``ValueError`` unless machine and method version are the same."""
        if self.method_version != other.method_version:
            raise ValueError(
                f"runs of method versions {self.method_version} and {other.method_version} do not merge: "
                "their numbers are not comparable; measure again"
            )
        for fact, one, two in differences(self.machine, other.machine, "torch"):
            raise ValueError(
                f"runs of different machines do not merge: {fact} is {one!r} in one and {two!r} in the other"
            )
        refusals = dict.fromkeys((*self.refusals, *other.refusals))
        points = self.measurements + other.measurements
        whole = self.complete and other.complete
        return Run(self.method_version, self.machine, points, tuple(refusals), whole, (*self.placed, *other.placed))


def write_run(run: Run, path: str | os.PathLike, *, overwrite: bool = False) -> Path:
    """Write a run as JSON: into a temporary file first, then renamed, so that a crash leaves the old file whole.

    Raises ``FileExistsError`` in one line if ``path`` exists and ``overwrite`` is false.
    """
    head = {
        "schema": SCHEMA,
        "method_version": run.method_version,
        "complete": run.complete,
        "machine": run.machine,
        "refusals": [{"what": what, "why": why} for what, why in run.refusals],
    }
    lists = {"measurements": [_row(x) for x in run.measurements]}
    if run.placed:
        lists["placed"] = list(run.placed)
    return write_text(path, json_rows(head, **lists), overwrite=overwrite)


def json_rows(head: dict, **lists: list[dict]) -> str:
    """JSON that reads well: the fields of ``head``, then each list with one row a line."""
    text = json.dumps(head, indent=1, ensure_ascii=False)[:-2]
    for name, rows in lists.items():
        lines = ",\n".join("  " + json.dumps(row, ensure_ascii=False) for row in rows)
        text += f',\n "{name}": [\n{lines}\n ]'
    return text + "\n}\n"


def write_text(path: str | os.PathLike, text: str, *, overwrite: bool = False) -> Path:
    """Write a file whole or not at all: into a temporary one first, then renamed, so that a crash leaves the old one.

    A file that is replaced keeps its mode, and a symbolic link stays one. Raises ``FileExistsError`` in one line if
    ``path`` exists and ``overwrite`` is false, ``OSError`` where nothing can be written.
    """
    return write_bytes(path, text.encode(), overwrite=overwrite)


def write_bytes(path: str | os.PathLike, content: bytes, *, overwrite: bool = False) -> Path:
    """The same as :func:`write_text` for bytes, such as those of a picture."""
    path = Path(path)
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} exists: choose another name, or pass overwrite=True")
    check_output(path)
    target = path.resolve()
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644  # a result is meant to be shared
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, mode)  # mkstemp makes it private
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def _row(x: Measurement) -> dict:
    row = {f: getattr(x, f) for f in _STORED if getattr(x, f) is not None}
    row |= {"flop": x.work.flop, "bytes": x.work.bytes}
    if x.evidence is not None:
        row["evidence"] = {k: v for k, v in asdict(x.evidence).items() if v is not None}
    return row


# What the file keeps of a measurement, besides flop, bytes and evidence; the rest follows from the run itself.
_STORED = (
    "kernel",
    "precision",
    "cache_state",
    *SHAPE,
    "working_set_bytes",
    "seconds",
    "spread",
    "stable",
    "note",
    "implementation",
    "suspect",
)


def read_run(path: str | os.PathLike) -> Run:
    """Read a run file. Raises ``ValueError`` in one line (file, what is wrong, what to do) if it is not a whole one."""
    try:
        text = read_text(path, "a run file")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a run file, or cut short ({error})") from None
    return parse_run(text, path)


def parse_run(text: str, path: str | os.PathLike) -> Run:
    """The run that a file's text holds; ``path`` is its name, for the one-line ``ValueError``.

    ``explore/js/run.js`` reads the same files by the same rules in a browser, and does not look at ``proof`` and
    ``parts``; a test compares the two.
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{path}: not a run file, or cut short ({error})") from None
    if not isinstance(data, dict) or "schema" not in data:
        raise ValueError(f"{path}: not a run file: it has no field 'schema' ({SCHEMA})")
    if data["schema"] not in READABLE:
        newer = str(data["schema"]).startswith("roofcourse-run/")
        hint = "; a newer roofcourse wrote it: pip install -U roofcourse" if newer else ""
        raise ValueError(f"{path}: schema {data['schema']!r}; this version of roofcourse reads {SCHEMA!r}{hint}")
    try:
        machine = data["machine"]
        facts = _checked(machine, _FACTS)
        rows = [_measurement(row, facts["key"], f"run of {facts['utc']}") for row in data["measurements"]]
        refusals = tuple((r["what"], r["why"]) for r in data.get("refusals", ()))
        placed = tuple(data.get("placed", ()))
        return Run(data["method_version"], machine, Measurements(rows), refusals, data.get("complete", True), placed)
    except KeyError as error:
        raise ValueError(f"{path}: broken run file: field {error} is missing") from None
    except (TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"{path}: broken run file: {error}") from None


def _measurement(row: dict, device: str, source: str) -> Measurement:
    fields = _checked(row, _FIELDS)
    work, evidence = Work(row["flop"], row["bytes"]), _evidence(row.get("evidence"))
    return Measurement(
        device, work=work, seconds=row["seconds"], kind="measured live", source=source, evidence=evidence, **fields
    )


def _checked(row: dict, kinds: dict[str, str]) -> dict:
    """The fields that ``kinds`` names, without those that are null.

    Raises ``ValueError`` for a value of another kind, ``KeyError`` where one of the :data:`_NEEDED` is missing.
    """
    if not isinstance(row, dict):
        raise ValueError("an entry is not a group of named fields")
    found = {name: row[name] for name in kinds if name in _NEEDED or row.get(name) is not None}
    for name, value in found.items():
        if not _IS[kinds[name]](value):
            raise ValueError(f"{name} must be {kinds[name]}, not {json.dumps(value, ensure_ascii=False)}")
    return found


# What the fields of a run file hold, and how that is seen. A text where a number is computed with would fail later.
_TEXT, _NUMBER, _SIZE, _TRUTH = "text", "zero or more", "a whole number of 1 or more", "true or false"
_IS = {
    _TEXT: lambda x: isinstance(x, str),
    _NUMBER: lambda x: _is_number(x) and 0 <= x < float("inf"),
    _SIZE: lambda x: _is_number(x) and x >= 1 and x % 1 == 0,
    _TRUTH: lambda x: isinstance(x, bool),
}
_FIELDS = {
    **dict.fromkeys(("kernel", "precision", "cache_state", "note", "implementation", "suspect"), _TEXT),
    **dict.fromkeys(SHAPE, _SIZE),
    **dict.fromkeys(("working_set_bytes", "spread"), _NUMBER),
    "stable": _TRUTH,
}
_FACTS = {
    **dict.fromkeys(("key", "name", "utc", "torch", "proof", "parts"), _TEXT),
    **dict.fromkeys(("cores", "load_average"), _NUMBER),
    **dict.fromkeys(("memory_bytes", "last_level_cache_bytes", "power_limit_watts"), _NUMBER),
}
_NEEDED = ("kernel", "precision", "key", "name", "utc")


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _evidence(row: dict | None) -> Evidence | None:
    return None if row is None else Evidence(**{**row, "samples": tuple(row["samples"])})
