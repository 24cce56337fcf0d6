"""A function of the reader's, placed under a roof: what it does, how long it took, and what that means."""

from __future__ import annotations

import html
import re
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property

from .. import words as number
from ..explain import Explanation, explain
from ..precision import PRECISIONS
from ..records import Evidence, Measurement, html_table
from ..roofline import Roofline
from ..texttable import table
from ..work import Rates, Work

#: What the bytes of a point are, by source.
BYTE_SOURCES = {
    "formula": "by formula: each input and output of the whole once, a lower bound of the traffic",
    "counters": "by the profiler's counters: what moved between memory and chip",
    "given": "as given by the caller",
}
#: What the book calls torch's dtypes; one that it has no name for keeps torch's.
_FORMATS = {p.torch_name: p.label for p in reversed(PRECISIONS.values())}  # float32: FP32, and not TF32 after it
_COUNTED_BY = {
    "torch": "torch's formula",
    "formula": "our formula",
    "none": "no arithmetic",
    "not counted": "not counted",
}


@dataclass(frozen=True)
class Operator:
    """All calls of one operator of torch. ``flop`` is ``None`` where nobody could count them, ``counted_by`` who did:
    ``"torch"``, ``"formula"``, ``"none"`` (no arithmetic) or ``"not counted"``. ``bytes``: each input and output of
    every call once; ``None`` where a size is not known."""

    name: str
    calls: int
    flop: float | None
    bytes: float | None
    counted_by: str
    dtype: str


@dataclass(frozen=True)
class Point(Rates):
    """One placed function. Times in seconds, sizes in bytes.

    ``measurement``: its work, time, spread and samples, as a record. ``byte_source``: a key of :data:`BYTE_SOURCES`.
    ``roofline``: what it stands under; ``roofs``: the ceilings of the machine that were measured. ``operators``: what
    it did, operator by operator. ``launch``: seconds to start a kernel, if known. ``compiled``: the operators are those
    before compilation. ``notes``: what could not be counted, or measured as asked. ``machine`` and ``utc``: where and
    when. ``new_bytes``: memory that each call touches for the first time, as the system counts its pages (on a
    processor only), and ``new_seconds``: what the first touch of as much takes there. ``sweep``: neighbours to judge it
    by.
    """

    measurement: Measurement
    byte_source: str
    roofline: Roofline
    roofs: tuple[Roofline, ...] = ()
    operators: tuple[Operator, ...] = ()
    launch: float | None = None
    cache_bytes: float | None = None
    multiprocessors: int | None = None
    compiled: bool = False
    notes: tuple[str, ...] = ()
    machine: str = ""
    utc: str = ""
    new_bytes: float | None = None
    new_seconds: float | None = None
    sweep: tuple[Measurement, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.byte_source not in BYTE_SOURCES:
            raise ValueError(f"byte_source must be one of {', '.join(BYTE_SOURCES)}, not {self.byte_source!r}")

    @property
    def name(self) -> str:
        """The function's, or the one it was given."""
        return self.measurement.kernel

    @property
    def work(self) -> Work:
        """Its FLOP and bytes, the latter by ``byte_source``."""
        return self.measurement.work

    @property
    def seconds(self) -> float:
        """The median time of one call."""
        return self.measurement.seconds

    @property
    def device(self) -> str:
        return self.measurement.device

    @property
    def precision(self) -> str:
        return self.measurement.precision

    @property
    def stable(self) -> bool:
        """Whether its samples agree."""
        return self.measurement.stable

    @property
    def label(self) -> str:
        return self.measurement.label.removesuffix(" None")

    @property
    def operator_seconds(self) -> float | None:
        """Lower bound of the operators one after the other, each with bytes of its own; ``None`` if that is unknown."""
        if not self.operators or self.compiled or any(o.bytes is None for o in self.operators):
            return None
        return sum(self.bound_of(o) for o in self.operators)

    def bound_of(self, operator: Operator) -> float | None:
        """Lower bound of an operator's time under this point's roof, in seconds."""
        if operator.bytes is None:
            return None
        return max((operator.flop or 0) / self.roofline.peak, operator.bytes / self.roofline.bandwidth)

    @cached_property
    def explanation(self) -> Explanation:
        """Where it stands, why, and what to try: see :func:`roofcourse.explain`."""
        calls = sum(o.calls for o in self.operators)
        return explain(
            self.measurement,
            self.roofline,
            self.sweep,
            self.launch,
            roofs=self.roofs,
            cache_bytes=self.cache_bytes,
            multiprocessors=self.multiprocessors,
            kernels=None if self.compiled else calls or None,
            operator_seconds=self.operator_seconds,
            path=self.roofline.path,
            new_bytes=self.new_bytes,
            new_seconds=self.new_seconds,
            byte_source=self.byte_source,
        )

    _HEAD = ("operator", "number format", "calls", "work", "traffic", "at least", "FLOP counted by")

    def _rows(self) -> list[list[str]]:
        rows = []
        for o in self.operators:
            bound = self.bound_of(o)
            rows.append(
                [
                    o.name,
                    _FORMATS.get(o.dtype, o.dtype),
                    f"{o.calls:,}",
                    "?" if o.flop is None else number.flop(o.flop),
                    "?" if o.bytes is None else number.nbytes(o.bytes),
                    "?" if bound is None else number.time3(bound),
                    _COUNTED_BY[o.counted_by],
                ]
            )
        return rows

    def lines(self) -> list[tuple[str, str]]:
        """The verdict: pairs of a heading and a sentence, the byte source always among them."""
        w = self.work
        count = f"{number.flop(w.flop)}, {number.nbytes(w.bytes)}, I = {number.intensity(w.intensity)}"
        said = [x for x in self.explanation.lines() if not x[1].startswith("Bytes by formula")]
        return [*said, ("counted", f"{count}."), ("bytes", f"{BYTE_SOURCES[self.byte_source]}."), *self._noted()]

    def _noted(self) -> list[tuple[str, str]]:
        spread = self.measurement.spread
        proof = self.measurement.evidence
        stopped = re.sub(r"(?<=\d)%", " %", proof.stopped) if proof else ""  # run files of before have no space there
        timed = f"{len(proof.samples)} samples, {proof.timer}, {stopped}" if proof else ""
        wide = "" if spread is None or "spread" in timed else f"; spread {100 * spread:.1f} %"
        return ([("timed", f"{timed}{wide}.")] if timed else []) + [("note", x) for x in self.notes]

    def __str__(self) -> str:
        text = "\n".join(f"{head}: {line}" if head else line for head, line in self.lines())
        if not self.operators:
            return text
        return f"{text}\n\n{table([list(self._HEAD), *self._rows()])}"

    def _repr_html_(self) -> str:
        (_, opening), *rest = self.lines()
        items = "".join(f"<li><strong>{html.escape(h)}</strong>: {html.escape(t)}</li>" for h, t in rest)
        rows = f'<div class="rc-scrolls">{html_table(self._HEAD, self._rows())}</div>' if self.operators else ""
        return f'<div class="rc-explanation"><p>{html.escape(opening)}</p><ul>{items}</ul>{rows}</div>'

    def to_dict(self) -> dict:
        """Facts only, for a run file: the explanation follows from them."""
        out = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _NESTED}
        out = {k: list(v) if isinstance(v, tuple) else v for k, v in out.items() if v not in (None, ())}
        return out | {
            "measurement": _plain(self.measurement),
            "roofline": asdict(self.roofline),
            "roofs": [asdict(r) for r in self.roofs],
            "operators": [asdict(o) for o in self.operators],
        }

    @classmethod
    def from_dict(cls, facts: dict) -> Point:
        """The point of a run file. Raises ``ValueError`` in one line if a fact is missing or wrong."""
        try:
            return cls(
                **{k: tuple(v) if k == "notes" else v for k, v in facts.items() if k not in _NESTED},
                measurement=_measurement(facts["measurement"]),
                roofline=Roofline(**facts["roofline"]),
                roofs=tuple(Roofline(**r) for r in facts.get("roofs", ())),
                operators=tuple(Operator(**o) for o in facts.get("operators", ())),
            )
        except KeyError as error:
            raise ValueError(f"broken placed point: field {error} is missing") from None
        except (TypeError, AttributeError) as error:
            raise ValueError(f"broken placed point: {error}") from None


_NESTED = ("measurement", "roofline", "roofs", "operators", "sweep")


def _plain(x: Measurement) -> dict:
    out = {k: v for k, v in asdict(x).items() if v is not None and k not in ("work", "evidence")}
    if x.evidence is not None:
        out["evidence"] = {k: v for k, v in asdict(x.evidence).items() if v is not None}
    return out | {"flop": x.work.flop, "bytes": x.work.bytes}


def _measurement(row: dict) -> Measurement:
    rest = {k: v for k, v in row.items() if k not in ("flop", "bytes", "evidence")}
    proof = row.get("evidence")
    evidence = None if proof is None else Evidence(**{**proof, "samples": tuple(proof["samples"])})
    return Measurement(work=Work(row["flop"], row["bytes"]), evidence=evidence, **rest)
