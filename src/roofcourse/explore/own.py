"""A run file as a device of the explorers, beside the cards of the catalogue.

``js/run.js`` does the same in a browser, with the same names, for a file that a reader drops on an explorer; a browser
test compares the two on every bundled run. Ceilings follow the rules of :mod:`roofcourse.bench`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .. import palette
from ..bench import Machine, Recorded
from ..precision import PRECISIONS, Precision
from ..records import Run, parse_run, read_run
from ..roofline import Roofline

#: The colours of own devices, in the order in which they come: the reader's machine, then further ones.
COLOURS = (palette.device(None), *palette.SPARE)
#: Letters of a name in a sentence, and beside a roof in a chart.
NAME, LABEL = 40, 13


@dataclass(frozen=True)
class OwnDevice:
    """A machine with the ceilings and the points of one run; answers as a card of the catalogue does.

    ``bandwidth`` in bytes/s; ``roofs``: (precision, path) to roofline; ``rows``: precision to N = K and the measured
    ``(M, seconds, spread, suspect)``, where the spread is 0 for a stable point and -1 for an unstable one without it.
    ``series``: kernel to its points, for the explorer of what a benchmark measures.
    """

    key: str
    name: str
    label: str
    date: str
    colour: str
    bandwidth: float
    l2_bytes: float
    roofs: dict[tuple[str, str], Roofline]
    rows: dict[str, tuple[int, list[tuple]]]
    bench: Recorded

    @property
    def precisions(self) -> tuple[str, ...]:
        return tuple(p for p, path in self.roofs if path == "gemm")

    def roofline(self, precision: str | Precision, path: str = "gemm") -> Roofline:
        """Raises ``LookupError`` in one line if the run has no such ceiling."""
        name = precision.name if isinstance(precision, Precision) else precision
        if (name, path) not in self.roofs:
            raise LookupError(f"{self.name} has no measured {name} {path} ceiling")
        return self.roofs[name, path]

    def ceilings(self) -> tuple[Roofline, ...]:
        return tuple(self.roofs.values())

    def spec(self) -> dict:
        """What every kind of explorer tells the browser about an own device."""
        return {
            "key": self.key,
            "name": self.name,
            "label": self.label,
            "own": self.date,
            "bandwidth": self.bandwidth,
            "colour": self.colour,
        }


def run_of(source) -> tuple[Run, str]:
    """The run behind a path, a run, ``rc.bench(...)``, or its ``.device``, and what to call it in an error.

    Raises ``ValueError`` in one line if it is none of these, or a broken file.
    """
    if isinstance(source, OwnDevice):
        return source.bench.run, source.name
    if isinstance(source, Run):
        return source, source.machine["name"]
    if isinstance(source, (str, os.PathLike)):
        return read_run(source), str(source)
    if isinstance(source, Machine):
        return run_of(source._bench)
    if isinstance(source, Recorded):
        return run_of(source.run)
    if hasattr(source, "record") and hasattr(source, "points"):  # live: what has been measured so far
        return run_of(source.record(source.points))
    raise ValueError(f"a run is the path of a run file, or rc.bench(run=...), not {source!r}")


def is_own(device) -> bool:
    """Whether this is a measured machine and not a card of the catalogue or its name."""
    return isinstance(device, (Machine, Recorded, Run, OwnDevice)) or hasattr(device, "record")


def own_devices(sources) -> dict[str, OwnDevice]:
    """One source or several, as devices by their keys. Raises ``ValueError`` or ``LookupError`` in one line."""
    if sources is None:
        return {}
    several = isinstance(sources, Iterable) and not isinstance(sources, (str, os.PathLike))
    own: dict[str, OwnDevice] = {}
    for source in sources if several else [sources]:
        run, name = run_of(source)
        device = own_device(run, name, own)
        own[device.key] = device
    return own


def from_text(text: str, file: str, own: dict[str, OwnDevice]) -> OwnDevice:
    """The device of a run file's text, with a key that is not in ``own``."""
    return own_device(parse_run(text, file), file, own)


def own_device(run: Run, file: str, own: dict[str, OwnDevice]) -> OwnDevice:
    """The device of a run. Raises ``LookupError`` in one line if nothing in it makes a roof."""
    bench = Recorded(run)
    machine = bench.device
    try:
        roofs = {(r.precision, r.path): r for r in machine.ceilings()}
    except LookupError:  # no bandwidth
        roofs = {}
    if not roofs:
        raise LookupError(
            f"{file}: no roof can be drawn from this run: measure with --only bandwidth,matmul,m-sweep (or more)"
        )
    key = unused_key(str(run.key), (*_catalogue_keys(), *own))
    name = clean_name(str(run.machine["name"]))
    rows = {p: _rows(bench, p) for p, path in roofs if path == "gemm"}
    return OwnDevice(
        key=key,
        name=name,
        label=cut(name, LABEL),
        date=str(run.machine["utc"])[:10],
        colour=_colour([device.colour for device in own.values()]),
        bandwidth=machine.bandwidth,
        l2_bytes=float(run.machine.get("last_level_cache_bytes") or 0),
        roofs={k: replace(r, device=key, label=f"{name} {_words(*k)}") for k, r in roofs.items()},
        rows=rows,
        bench=bench,
    )


def _colour(taken: list[str]) -> str:
    """The first that no other own device has; with all of them taken, from the beginning again."""
    return next((c.name for c in COLOURS if c.name not in taken), COLOURS[len(taken) % len(COLOURS)].name)


def _words(precision: str, path: str) -> str:
    return PRECISIONS[precision].label + (" vector" if path == "vector" else "")


def _catalogue_keys() -> tuple[str, ...]:
    from ..catalogue import devices

    return tuple(d.key for d in devices())


def _rows(bench: Recorded, precision: str) -> tuple[int, list[tuple]]:
    """N = K of the run's M sweep, and its points; (0, []) without one."""
    try:
        sweep = bench.m_sweep(precision)
    except LookupError:
        return 0, []
    found = {x.m: x for x in sweep}  # of two at the same M the later one
    return sweep[0].n, [(m, x.seconds, _spread(x), x.suspect or "") for m, x in found.items()]


def _spread(x) -> float:
    return 0 if x.stable else (x.spread or -1)


def clean_name(name: str) -> str:
    """``"Intel(R) Xeon(R) CPU @ 2.20GHz"`` -> ``"Intel Xeon"``: what a sentence needs of a machine's name."""
    short = re.sub(r"\((?:R|TM|C)\)", "", name, flags=re.IGNORECASE)
    short = re.sub(r"\s+(?:CPU\s+)?@.*$", "", short)
    short = re.sub(r"\b(?:Processor|\d+-Core|NVIDIA|GeForce)\b", "", short, flags=re.ASCII)
    short = re.sub(r"\s+", " ", short).strip()
    return cut(short or name, NAME)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def unused_key(wanted: str, taken: Iterable[str]) -> str:
    """A key for addresses and states that no other device has: ``"cpu"``, then ``"cpu-2"``."""
    base = re.sub(r"[^a-z0-9-]", "-", wanted.lower()) or "run"
    taken, key, count = set(taken), base, 1
    while key in taken:
        count += 1
        key = f"{base}-{count}"
    return key
