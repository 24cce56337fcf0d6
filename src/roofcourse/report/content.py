"""What a report says about a run: the machine, its rooflines, the placed points, and how all of it was measured."""

from __future__ import annotations

from importlib.util import find_spec

from .. import __version__
from .. import words as number
from ..bench import Recorded
from ..measure import report as closing
from ..place.point import BYTE_SOURCES, Point
from ..place.store import placed
from ..precision import PRECISIONS
from ..records import Run
from .blocks import Chart, Items, Report, Section, Table, Text

#: Facts of the manifest that a reader wants first, and what to call them.
_FACTS = {
    "name": "Processor",
    "kind": "Kind of device",
    "cpu": "Host processor",
    "cores": "Cores",
    "threads": "Threads",
    "multiprocessors": "Multiprocessors",
    "memory_bytes": "Memory",
    "last_level_cache_bytes": "Last-level cache",
    "power_limit_watts": "Power limit",
    "driver": "Driver",
    "cuda": "CUDA",
    "hip": "HIP",
    "torch": "torch",
    "matrix_library": "Matrix library",
    "vector_instructions": "Vector instructions",
    "python": "Python",
    "roofcourse": "roofcourse",
    "system": "System",
    "surroundings": "Surroundings",
    "load_average": "Load when it started",
    "utc": "Started (UTC)",
}
_METHOD = (
    "Each kernel runs warm: a batch of back-to-back calls between two marks, until the samples agree or the time is "
    "up; the time of one call is the median. The benchmarks take random numbers, and their results were checked "
    "against more precise ones before their times counted. A placed function is the reader's own: its result was not "
    "checked.",
    "F is the best matrix product, or for the vector units the flat part of the FMA sweep; B the best of the kernels "
    "that only move data, on arrays past the caches. A kernel of W FLOP and Q bytes takes at least max(W/F, Q/B); its "
    "percent of the roof is that bound divided by its time.",
)


def report(run: Run, data: str, title: str | None = None) -> Report:
    """The report of a run; ``data`` is the text of its file. Raises ``ValueError`` for a broken placed point."""
    bench = Recorded(run)
    points = placed(run)
    name = run.machine.get("name", run.key)
    sections = [_short(points, bench), _machine(run), _rooflines(run, bench)]
    sections.append(Section("Placed points", (_placed_text(points),)))
    sections += [_point(p, n) for n, p in enumerate(points, 1)]
    sections.append(_method(run, bench))
    versions = f"roofcourse {run.machine.get('roofcourse') or __version__}, torch {run.machine.get('torch', 'unknown')}"
    return Report(
        title or f"Roofline report: {name}",
        f"Measured on {str(run.machine.get('utc', 'an unknown date'))[:10]} with {versions}",
        tuple(s for s in sections if s.blocks),
        data,
    )


def _short(points: tuple[Point, ...], bench) -> Section:
    said = []
    roofs = _ceilings(bench)
    if roofs:
        best = max(roofs, key=lambda r: r.peak)
        label = PRECISIONS[best.precision].label
        fastest = f"its best ceiling is {closing.flop_rate(best.peak)} ({label})"
        said.append(Text(f"Memory gives {best.bandwidth / 1e9:,.4g} GB/s; {fastest}."))
    if points:
        said.append(Items(tuple((p.name, _verdict(p)) for p in points)))
    return Section("In short", tuple(said))


def _verdict(p: Point) -> str:
    e = p.explanation
    reason = "no reason determined" if not e.determined else e.reasons[0].title
    return f"{_percent(e.share)} of the {e.bound} roof; {reason}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.2g} %"


def _machine(run: Run) -> Section:
    rows = [(label, _fact(key, run.machine[key])) for key, label in _FACTS.items() if run.machine.get(key) is not None]
    return Section("The machine", (Table("What was measured, and with what", ("Fact", "Value"), tuple(rows), left=2),))


def _fact(key: str, value) -> str:
    if key == "memory_bytes":
        return f"{value / 2**30:.3g} GiB"
    if key == "last_level_cache_bytes":
        return f"{value / 2**20:.4g} MiB"
    if key == "power_limit_watts":
        return f"{value:g} W"
    return str(value)


def _ceilings(bench) -> tuple:
    try:
        return bench.device.ceilings()
    except LookupError:  # a run with no bandwidth: there is no roof to show
        return ()


def _rooflines(run: Run, bench) -> Section:
    roofs = _ceilings(bench)
    if not roofs:
        return Section("Its rooflines", (Text("This run has no ceilings: `roofcourse measure` adds them."),))
    rows = tuple(
        (
            PRECISIONS[r.precision].label,
            "matrix products" if r.path == "gemm" else "vector units",
            closing.flop_rate(r.peak),
            f"{r.bandwidth / 1e9:,.4g} GB/s",
            f"{r.ridge_point:,.4g} FLOP/byte",
        )
        for r in roofs
    )
    head = ("Precision", "Path", "F", "B", "Ridge point F/B")
    table = Table("Measured ceilings", head, rows, left=2)
    return Section("Its rooflines", (_chart(run, bench, roofs), table))


def _chart(run: Run, bench, roofs) -> Chart:
    points = [p for p in placed(run) if p.work.flop]
    caption = "The measured roofs" + (", and the placed points under them" if points else "")
    if find_spec("matplotlib") is None:
        return Chart(caption, characters=closing.picture(bench))
    from .. import plot

    records = [p.measurement for p in points]
    figure = plot.roofline(list(roofs), records or None, labels=[p.name for p in points] if points else None, title="")
    return Chart(caption, figure)


def _placed_text(points) -> Text:
    if not points:
        return Text(
            "None yet. `roofcourse place torch.relu --shape 4096x4096 --save run.json` adds one, and so does "
            "a function of your own: `roofcourse place my_file.py:function --save run.json`."
        )
    silent = [p.name for p in points if not p.work.flop]
    also = f" {', '.join(silent)} did no FLOP and cannot stand on a logarithmic axis." if silent else ""
    return Text(f"{len(points)} placed, in the order in which they were saved.{also}")


def _point(p: Point, place: int) -> Section:
    w, m = p.work, p.measurement
    facts = (
        ("Work W", number.flop(w.flop)),
        ("Traffic Q", f"{number.nbytes(w.bytes)}, {BYTE_SOURCES[p.byte_source]}"),
        ("Intensity I", number.intensity(w.intensity)),
        ("Time T", number.time3(p.seconds) + ("" if m.spread is None else f", spread {100 * m.spread:.1f} %")),
        ("Lower bound of T", number.time3(p.roofline.time(w))),
        ("Throughput", closing.flop_rate(p.flop_per_s) if w.flop else "no FLOP"),
        ("Achieved bandwidth", number.rate(p.bytes_per_s)),
        ("Roof", _roof(p.roofline)),
        ("When (UTC)", p.utc or "not recorded"),
    )
    (_, opening), *said = (x for x in p.lines() if x[0] not in ("counted", "bytes"))
    blocks = [Text(opening), Items(tuple(said)), Table(f"{p.name}: the numbers", ("Quantity", "Value"), facts, left=2)]
    if p.operators:
        rows = tuple(tuple(r) for r in p._rows())
        blocks.append(Table(f"{p.name}: operator by operator", p._HEAD, rows, left=2))
    return Section(f"{place}. {p.name} ({PRECISIONS[p.precision].label})", tuple(blocks), level=3)


def _roof(r) -> str:
    ridge = number.intensity(r.ridge_point)
    return f"{r.label or 'measured'}: F {closing.flop_rate(r.peak)}, B {number.rate(r.bandwidth)}, ridge point {ridge}"


def _method(run: Run, bench) -> Section:
    m = run.machine
    blocks = [Text(words) for words in _METHOD]
    facts = [("method version", str(run.method_version)), ("clock", str(m.get("timer", "not recorded")))]
    facts += [("waiting for the device", m["proof"])] if m.get("proof") else []
    facts += [("command", f"`{m['command']}`")] if m.get("command") else []
    blocks.append(Items(tuple(facts)))
    care = closing.cautions(bench)
    if care:
        blocks += [Text("To be careful about:"), Items(tuple(("", c) for c in care))]
    if run.refusals:
        blocks += [Text("Not measured:"), Items(run.refusals)]
    return Section("How it was measured", tuple(blocks))
