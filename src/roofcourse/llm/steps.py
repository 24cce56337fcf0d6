"""Decode steps that were timed: their records, and the file that keeps them. Nothing here measures or needs torch."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from ..files import read_text
from ..records import differences, html_table, json_rows, write_text
from ..texttable import four, table

SCHEMA = "roofcourse-decode/1"
#: How a step is run; see :mod:`roofcourse.llm.decode`.
MODES = {
    "eager": "operator by operator, the cache grown by copying: what Transformers does unless told otherwise",
    "static": "operator by operator, the cache written in place",
    "graph": "the same kernels as static, sent to the GPU at once as a CUDA graph",
    "compiled": "torch.compile: fused kernels (on a GPU with mode reduce-overhead, which adds CUDA graphs)",
}
#: A step this much faster than its bound is not believed: roofs are good to a few percent.
BELIEVED = 0.95
#: Kinds of kernels by what they do.
KINDS = ("linear layers", "attention", "copies", "the rest")


def config_text(config) -> str:
    """A config as text, the same whether it was read from a file or given as a dictionary, in whatever order."""
    return json.dumps(config, sort_keys=True, default=str)


@dataclass(frozen=True)
class TimedStep:
    """One decode step of a model with random weights, timed.

    ``layers`` of ``layers_of`` decoder layers were run: fewer where the machine is too small for all. ``seconds``: the
    median time of one step; ``spread``: interquartile range over median (``None`` where the source has none);
    ``stable``: whether that is at most 10 %.
    ``bound``: lower bound of this very step (these layers) in seconds, from roofs measured on this machine;
    ``bound_part``: what binds. ``kernel_seconds``: time in kernels by torch's profiler, ``by_kind`` what they did
    (seconds); ``None`` where the profiler was not used. ``shallow``: layers and seconds of a step with fewer layers,
    for :attr:`whole_seconds`.
    """

    device: str
    model: str
    layers: int
    layers_of: int
    precision: str
    batch: int
    prompt_length: int
    mode: str
    seconds: float
    spread: float | None
    bound: float
    bound_part: str
    bound_bytes: float
    timer: str | None = None
    stopped: str | None = None
    samples: tuple[float, ...] = field(repr=False, default=())
    kernel_seconds: float | None = None
    by_kind: dict[str, float] = field(repr=False, default_factory=dict)
    shallow: tuple[int, float] | None = None
    kind: str = "measured live"
    source: str = ""

    @property
    def stable(self) -> bool:
        return self.spread is None or self.spread <= 0.1

    @property
    def suspect(self) -> str | None:
        """Why the numbers cannot all be right: a step faster than its bound has roofs from a worse moment."""
        if self.seconds >= BELIEVED * self.bound:
            return None
        return "faster than its bound: the roofs were measured at a worse moment, or the bytes are counted wrong"

    @property
    def tokens_per_second(self) -> float:
        """Tokens of all sequences together."""
        return self.batch / self.seconds

    @property
    def gap(self) -> float:
        """Seconds above the bound."""
        return self.seconds - self.bound

    @property
    def outside_seconds(self) -> float | None:
        """Seconds of the step in which no kernel ran; 0 if the profiled kernels took longer than the step without."""
        return None if self.kernel_seconds is None else max(0.0, self.seconds - self.kernel_seconds)

    @property
    def whole(self) -> bool:
        """Whether all layers of the model were run."""
        return self.layers == self.layers_of

    @property
    def whole_seconds(self) -> float | None:
        """Time of a step with all layers: measured, or *derived* as T = a + b x layers from the two depths measured.

        ``None`` where only one depth was.
        """
        if self.whole:
            return self.seconds
        if self.shallow is None:
            return None
        depth, seconds = self.shallow
        return self.seconds + (self.seconds - seconds) / (self.layers - depth) * (self.layers_of - self.layers)

    @property
    def key(self) -> tuple:
        return (self.batch, self.prompt_length, self.mode)

    @property
    def label(self) -> str:
        part = "" if self.whole else f" ({self.layers} of {self.layers_of} layers)"
        return f"{self.model}{part} {self.precision}, batch {self.batch}, prompt {self.prompt_length}, {self.mode}"


class TimedSteps(Sequence):
    """An immutable series of :class:`TimedStep`, shown as a table."""

    def __init__(self, items: Iterable[TimedStep] = ()) -> None:
        self._items = tuple(items)

    def __getitem__(self, index):
        return TimedSteps(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other) -> bool:
        return isinstance(other, TimedSteps) and self._items == other._items

    def __hash__(self) -> int:
        return hash(tuple((x.key, x.seconds) for x in self))

    def where(self, **wanted) -> TimedSteps:
        """The steps whose fields equal these values: ``where(mode="eager", batch=1)``."""
        known = {f.name for f in fields(TimedStep)}
        for name in wanted:
            if name not in known:
                raise ValueError(f"decode steps have no field {name!r}; fields: {', '.join(sorted(known))}")
        return TimedSteps(x for x in self if all(getattr(x, k) == v for k, v in wanted.items()))

    def at(self, **wanted) -> TimedStep:
        """The one step with these fields. Raises ``LookupError`` if not exactly one fits."""
        found = self.where(**wanted)
        if len(found) == 1:
            return found[0]
        asked = ", ".join(f"{k} = {v}" for k, v in wanted.items())
        there = "; ".join(x.label for x in self) or "none at all"
        raise LookupError(f"{len(found) or 'no'} decode steps have {asked}; there are: {there}")

    HEAD = (
        "batch",
        "prompt",
        "mode",
        "ms/step",
        "tokens/s",
        "bound (ms)",
        "bound/step",
        "in kernels (ms)",
        "outside (ms)",
        "spread",
    )

    def rows(self) -> list[list[str]]:
        def ms(value):
            return "" if value is None else four(value * 1e3)

        return [
            [
                f"{x.batch}",
                f"{x.prompt_length}",
                x.mode,
                ms(x.seconds),
                four(x.tokens_per_second),
                ms(x.bound),
                f"{x.bound / x.seconds:.0%}",
                ms(x.kernel_seconds),
                ms(x.outside_seconds),
                "" if x.spread is None else f"{x.spread:.1%}",
            ]
            for x in self
        ]

    def __repr__(self) -> str:
        return table([self.HEAD, *self.rows()], left=0)

    def _repr_html_(self) -> str:
        return html_table(self.HEAD, self.rows())


def in_order(steps: Iterable[TimedStep]) -> TimedSteps:
    """By prompt length, batch and mode."""
    return TimedSteps(sorted(steps, key=lambda x: (x.prompt_length, x.batch, list(MODES).index(x.mode))))


def verdicts(steps: Iterable[TimedStep]) -> list[str]:
    """Where the time above the bound goes, one sentence for each step that the profiler saw, and for each pair of a
    step sent kernel by kernel and the same sent at once."""
    steps, out = list(steps), []
    for x in steps:
        if x.kernel_seconds is None:
            continue
        head = f"batch {x.batch}, prompt {x.prompt_length}, {x.mode}: {x.gap * 1e3:.4g} ms above the bound"
        if x.kernel_seconds > x.seconds:
            out.append(f"{head}; the profiled kernels take longer than the step does without the profiler: no split")
            continue
        largest = max(x.by_kind, key=x.by_kind.get)
        out.append(
            f"{head}, {x.outside_seconds * 1e3:.4g} ms of it outside kernels; most time in kernels: {largest}, "
            f"{x.by_kind[largest] * 1e3:.4g} of {x.kernel_seconds * 1e3:.4g} ms"
        )
    for x in steps:
        for y in steps:
            if (x.batch, x.prompt_length, x.mode, y.mode) == (y.batch, y.prompt_length, "static", "graph"):
                share = (x.seconds - y.seconds) / x.gap
                out.append(
                    f"batch {x.batch}, prompt {x.prompt_length}: the same kernels launched at once take "
                    f"{y.seconds * 1e3:.4g} instead of {x.seconds * 1e3:.4g} ms: launching is {share:.0%} of the time "
                    "above the bound"
                )
    return out


@dataclass(frozen=True)
class DecodeRun:
    """Decode steps of one model on one machine. ``roofs``: what the bounds rest on (precision, peak, bandwidth)."""

    method_version: int
    machine: dict
    model: dict
    roofs: dict
    steps: TimedSteps
    refusals: tuple[tuple[str, str], ...] = ()
    complete: bool = True

    def same_as(self, other: DecodeRun) -> None:
        """Raises ``ValueError`` in one line unless the other run is of the same machine, model and method."""
        if self.method_version != other.method_version:
            raise ValueError(
                f"runs of method versions {self.method_version} and {other.method_version} do not merge: measure again"
            )
        model = ((f, other.model.get(f), self.model.get(f)) for f in ("key", "precision", "layers"))
        for name, theirs, mine in (*differences(other.machine, self.machine, "torch"), *model):
            if mine != theirs:
                raise ValueError(f"the file is of another machine or model: {name} is {theirs!r} there, {mine!r} here")
        mine, theirs = (run.model.get("config") or {} for run in (self, other))
        for name in {**mine, **theirs}:
            if config_text(mine.get(name)) != config_text(theirs.get(name)):
                raise ValueError(f"the file is of another model: {name} in its config is not the same there and here")


def write_decode(run: DecodeRun, path: str | os.PathLike, *, overwrite: bool = False) -> Path:
    """Write a run as JSON, atomically. Raises ``FileExistsError`` if ``path`` exists and ``overwrite`` is false."""
    head = {
        "schema": SCHEMA,
        "method_version": run.method_version,
        "complete": run.complete,
        "machine": run.machine,
        "model": run.model,
        "roofs": run.roofs,
        "refusals": [{"what": what, "why": why} for what, why in run.refusals],
    }
    rows = [{k: v for k, v in asdict(x).items() if k not in ("kind", "source")} for x in run.steps]
    return write_text(path, json_rows(head, steps=rows), overwrite=overwrite)


def read_decode(path: str | os.PathLike) -> DecodeRun:
    """Read a run. Raises ``ValueError`` in one line if the file is not a whole one of this kind."""
    try:
        data = json.loads(read_text(path, "a file of decode steps"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a file of decode steps, or cut short ({error})") from None
    schema = data.get("schema") if isinstance(data, dict) else None
    if schema != SCHEMA:
        newer = "; a newer roofcourse wrote it" if str(schema).startswith("roofcourse-decode/") else ""
        raise ValueError(f"{path}: schema {schema!r}, where decode steps have {SCHEMA!r}{newer}")
    try:
        source = f"run of {data['machine']['utc']}"
        steps = [_step(row, source) for row in data["steps"]]
        refusals = tuple((r["what"], r["why"]) for r in data["refusals"])
        return DecodeRun(
            data["method_version"],
            data["machine"],
            data["model"],
            data["roofs"],
            TimedSteps(steps),
            refusals,
            data["complete"],
        )
    except KeyError as error:
        raise ValueError(f"{path}: broken file of decode steps: field {error} is missing") from None
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{path}: broken file of decode steps: {error}") from None


def _step(row: dict, source: str) -> TimedStep:
    shallow = row.get("shallow")
    step = TimedStep(**{**row, "samples": tuple(row["samples"]), "shallow": shallow and tuple(shallow)})
    return replace(step, source=source)
