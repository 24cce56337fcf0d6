"""Timelines: what a CPU and a GPU did when, as spans; where nothing ran, as gaps.

A timeline is recorded by a profiler (:mod:`roofcourse.measure.timeline`) or worked out by :func:`launched`, the model
of an asynchronous launch. Both are drawn by ``rc.plot.timeline``. Times are in seconds from the start of the timeline.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .files import read_text
from .records import write_text

SCHEMA = "roofcourse-timeline/1"


@dataclass(frozen=True)
class Span:
    """One thing that ran: its name, the lane it ran on (``"CPU"`` or ``"GPU"``), its start and its length in s."""

    name: str
    lane: str
    start: float
    seconds: float

    @property
    def end(self) -> float:
        return self.start + self.seconds


@dataclass(frozen=True)
class Timeline:
    """What ran in ``seconds``, span by span. ``kind``: ``"measured live"``, or ``"model"`` where it was worked out.

    ``title``: the program in words. ``machine``: what it ran on. ``plain_seconds``: the time of the same program with
    the profiler off, where that was measured. ``source``: the session that it belongs to.
    """

    spans: tuple[Span, ...]
    seconds: float
    kind: str
    title: str = ""
    machine: str = ""
    plain_seconds: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if not self.spans:
            raise ValueError(f"the timeline {self.title!r} has no spans: nothing ran, or nothing was recorded")
        last = max(span.end for span in self.spans)
        if not 0 < last <= self.seconds * (1 + 1e-9):
            raise ValueError(
                f"the timeline {self.title!r} ends at {self.seconds:g} s, but something ran until {last:g}"
            )

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes that something ran on: the CPU first."""
        return tuple(lane for lane in ("CPU", "GPU") if any(span.lane == lane for span in self.spans))

    def on(self, lane: str) -> tuple[Span, ...]:
        """The spans of one lane, in order of their start. Raises ``LookupError`` where nothing ran on it."""
        found = sorted((span for span in self.spans if span.lane == lane), key=lambda span: (span.start, span.end))
        if not found:
            raise LookupError(f"nothing ran on {lane!r} in this timeline; it has {', '.join(self.lanes)}")
        return tuple(found)

    def gaps(self, lane: str) -> tuple[Span, ...]:
        """The stretches of the whole time in which nothing ran on this lane."""
        now, out = 0.0, []
        for span in self.on(lane):
            if span.start > now:
                out.append(Span("gap", lane, now, span.start - now))
            now = max(now, span.end)
        if now < self.seconds:
            out.append(Span("gap", lane, now, self.seconds - now))
        return tuple(out)

    def busy(self, lane: str) -> float:
        """Seconds in which something ran on this lane; what overlaps counts once."""
        return self.seconds - sum(gap.seconds for gap in self.gaps(lane))

    def __repr__(self) -> str:
        parts = [f"{lane} busy {100 * self.busy(lane) / self.seconds:.0f} %" for lane in self.lanes]
        return f"Timeline({self.title!r}, {self.seconds * 1e6:,.1f} µs, {self.kind}: {', '.join(parts)})"


def launched(
    kernel_seconds: float | Sequence[float], call_seconds: float, count: int | None = None, *, wait: bool = False
) -> Timeline:
    """The model of an asynchronous launch: a CPU sends kernels to the queue of a GPU, which runs them in order.

    ``kernel_seconds``: the time of each kernel, or of all ``count`` of them. ``call_seconds``: what the CPU needs to
    send one. A kernel starts when it has been sent and the one before it has ended. ``wait``: whether the CPU waits for
    each kernel before it sends the next (a program that reads every result at once). Raises ``ValueError`` in one line
    for times that are not positive.
    """
    kernels = [float(kernel_seconds)] * (count or 0) if isinstance(kernel_seconds, (int, float)) else [*kernel_seconds]
    if not kernels or min(kernels) <= 0 or call_seconds <= 0:
        raise ValueError("a timeline needs at least one kernel, and positive times for kernels and calls")
    spans, cpu, gpu = [], 0.0, 0.0
    for i, seconds in enumerate(kernels, 1):
        spans.append(Span(f"send {i}", "CPU", cpu, call_seconds))
        cpu += call_seconds
        start = max(cpu, gpu)
        spans.append(Span(f"kernel {i}", "GPU", start, seconds))
        gpu = start + seconds
        cpu = gpu if wait else cpu
    return Timeline(tuple(spans), gpu, "model", f"{len(kernels)} kernels")


def write_timelines(timelines: dict[str, Timeline], path: str | os.PathLike) -> Path:
    """Write timelines by name as JSON; times in the file are in nanoseconds."""
    rows = {
        name: {
            "title": t.title,
            "kind": t.kind,
            "machine": t.machine,
            "source": t.source,
            "ns": _ns(t.seconds),
            "plain_ns": None if t.plain_seconds is None else _ns(t.plain_seconds),
            "spans": [_row(s, t.seconds) for s in t.spans],
        }
        for name, t in timelines.items()
    }
    text = json.dumps({"schema": SCHEMA, "timelines": rows}, indent=1, ensure_ascii=False) + "\n"
    return write_text(path, text, overwrite=True)


def read_timelines(path: str | os.PathLike) -> dict[str, Timeline]:
    """Read what :func:`write_timelines` wrote. Raises ``ValueError`` in one line if it is not a whole such file."""
    try:
        text = read_text(path, "a file of timelines")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not a file of timelines ({error})") from None
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError(f"schema {data['schema']!r}; this version of roofcourse reads {SCHEMA!r}")
        return {
            name: Timeline(
                spans=tuple(Span(n, lane, start / 1e9, ns / 1e9) for n, lane, start, ns in row["spans"]),
                seconds=row["ns"] / 1e9,
                kind=row["kind"],
                title=row["title"],
                machine=row["machine"],
                plain_seconds=None if row["plain_ns"] is None else row["plain_ns"] / 1e9,
                source=row["source"],
            )
            for name, row in data["timelines"].items()
        }
    except KeyError as error:
        raise ValueError(f"{path}: not a whole file of timelines: field {error} is missing") from None
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of timelines ({error})") from None


def _row(span: Span, whole: float) -> list:
    """Both ends are rounded, and the length is what is between them: rounded by itself it could pass the whole."""
    start, end = _ns(span.start), min(_ns(span.end), _ns(whole))
    return [span.name, span.lane, start, end - start]


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
