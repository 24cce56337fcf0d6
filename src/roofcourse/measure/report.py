"""What a run says, as text: the closing tables, and a roofline drawn with characters. It measures nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..precision import PRECISIONS
from ..roofline import Roofline
from ..texttable import table
from .spec import MOVING, memory_size

#: A store through the cache first reads the line it overwrites: traffic of a kernel with that read counted, relative
#: to the traffic by formula. GPUs and stores past the cache do without.
WRITE_ALLOCATE = {"write": 2.0, "copy": 3 / 2, "add": 4 / 3, "triad": 4 / 3}


def flop_rate(value: float) -> str:
    """``"787.6 TFLOP/s"``, ``"132 GFLOP/s"``."""
    unit, name = (1e12, "TFLOP/s") if value >= 1e12 else (1e9, "GFLOP/s")
    return f"{value / unit:,.4g} {name}"


def percent(spread: float | None) -> str:
    return "" if spread is None else f"{spread:.1%}"


def bandwidths(bench) -> str:
    """Every kernel that moves data, on the arrays that may set B; the best named."""
    cpu = bench.machine["key"] == "cpu"
    moved = [x for x in bench.points if x.kernel in MOVING and x.cache_state == "warm"]
    size = {p: memory_size([x for x in moved if x.precision == p]) for p in PRECISIONS}
    points = [x for x in moved if x.elements == size[x.precision]]
    if not points:
        return ""
    best = _if_possible(lambda: bench.device.bandwidth)  # none where every point is suspect: the table says so
    head = ["kernel", "by", "GB/s", *(["GB/s if a store reads first"] if cpu else []), "spread", ""]
    rows = [head]
    for x in points:
        allocated = (
            f"{x.bytes_per_s * WRITE_ALLOCATE.get(x.kernel, 1) / 1e9:,.4g}" if x.implementation == "torch" else "-"
        )
        marks = ["<- B"] if x.bytes_per_s == best else []
        marks += ["suspect"] if x.suspect else [] if x.stable else ["unstable"]
        rows.append(
            [f"{x.kernel} {PRECISIONS[x.precision].label}", x.implementation or "", f"{x.bytes_per_s / 1e9:,.4g}"]
            + ([allocated] if cpu else [])
            + [percent(x.spread), ", ".join(marks)]
        )
    return table(rows)


def ceilings(bench) -> str:
    """Every ceiling with the kernel that set it."""
    rows = [["ceiling", "set by", "F", "ridge point", "spread", ""]]
    for roof in bench.device.ceilings():
        kernel = "gemm" if roof.path == "gemm" else "fma"
        points = bench.points.where(kernel=kernel, precision=roof.precision)
        point = next(x for x in points if x.flop_per_s == roof.peak)
        rows.append(
            [
                PRECISIONS[roof.precision].label + (" vector" if roof.path == "vector" else ""),
                f"{point.kernel} {point.shape}",
                flop_rate(roof.peak).replace("FLOP", "OP" if roof.precision == "int8" else "FLOP"),
                f"{roof.ridge_point:,.4g} FLOP/byte",
                percent(point.spread),
                "" if point.stable else "noisy",
            ]
        )
    return table(rows) if len(rows) > 1 else ""


def small_products(bench) -> str:
    """The same small products in as many calls and in one: time of one product, and what one call for all gains."""
    points = bench.small_products()
    rows = [["small products", "", "a call each", "one call", "gain"]]
    for n in sorted({x.n for x in points}):
        ways = {x.kernel: x for x in points if x.n == n}
        if len(ways) == 2:
            loop, one = ways["gemm_loop"], ways["gemm_batched"]
            each, together = (f"{x.seconds / x.batch * 1e6:.3g} µs" for x in (loop, one))
            what = f"{loop.batch} of {n}x{n}x{n} {PRECISIONS[loop.precision].label}"
            rows.append([what, "", each, together, f"x {loop.seconds / one.seconds:.2g}"])
    return table(rows) if len(rows) > 1 else ""


def closing(bench) -> str:
    """The whole report of a run: tables, picture, launch overhead, refusals, and what to be careful about."""
    parts = []
    for title, text in (
        ("Memory bandwidth", bandwidths(bench)),
        ("Compute ceilings", _if_possible(lambda: ceilings(bench))),
        ("", _if_possible(lambda: small_products(bench))),
        ("", _if_possible(lambda: picture(bench))),
    ):
        if text:
            parts.append(f"{title}\n{text}" if title else text)
    line = _if_possible(bench.launch_overhead)
    if line:
        fit = f"T = a + V/b over small copies, R² = {line.r2:.4f}"
        known = f"Starting a kernel costs {line.overhead * 1e6:.3g} µs ({fit})."
        parts.append(known if line.r2 >= 0.9 else f"What starting a kernel costs was lost in the noise ({fit}).")
    run = bench.run
    if run.refusals:
        parts.append("Not measured\n" + "\n".join(f"  {what}: {why}" for what, why in run.refusals))
    care = cautions(bench)
    if care:
        parts.append("Be careful\n" + "\n".join(f"  {x}" for x in care))
    return "\n\n".join(parts)


def cautions(bench) -> list[str]:
    """What a reader of the numbers has to know."""
    run, out = bench.run, []
    if bench.bandwidth_points() and _if_possible(lambda: bench.device.bandwidth) is None:
        out.append(
            "no memory bandwidth yet, so no roofs: every point of it so far is suspect; --resume measures what is "
            "missing, and if nothing is, mend the cause below and measure again with --overwrite"
        )
    noisy = [x for x in run.measurements if not x.stable]
    if noisy:
        out.append(
            f"noisy: {len(noisy)} of {len(run.measurements)} points scatter by more than 10 % or have few samples"
        )
    out += [f"suspect: {_who(x)}: {x.suspect}" for x in run.measurements if x.suspect][:5]
    proof = run.machine.get("proof")
    if proof and not proof.startswith("proved"):
        out.append(proof)
    load, cores = run.machine.get("load_average"), run.machine.get("cores")
    if load and cores and load > 0.5 * cores:
        out.append(f"the machine was busy: load {load:g} on {cores} cores when it started")
    if not run.complete:
        out.append("interrupted: the run holds the points measured until then")
    return out


def _who(x) -> str:
    """A point by its label, and by what ran it where there is a choice."""
    return x.label + (f" ({x.implementation})" if x.implementation else "")


def _if_possible(make):
    """What is made, or ``None`` where a run has too little for it."""
    try:
        return make()
    except (LookupError, ValueError):
        return None


def picture(bench, width: int = 68, height: int = 15) -> str:
    """The rooflines with characters: ``/`` and ``_`` for the highest roof, letters for the others, ``o`` for points."""
    roofs = sorted(bench.device.ceilings(), key=lambda r: -r.peak)
    if not roofs:
        return ""
    swept = [x for x in bench.points if x.kernel in ("gemm", "fma") and x.work.flop and not x.suspect]
    return draw(roofs, [(x.intensity, x.flop_per_s) for x in swept], width, height)


def draw(roofs: Sequence[Roofline], points: Sequence[tuple[float, float]], width: int, height: int) -> str:
    """Both axes logarithmic; each roof keeps its letter, at its flat part."""
    xs = [r.ridge_point for r in roofs] + [i for i, _ in points]
    low, high = math.log10(min(xs) / 4), math.log10(max(xs) * 4)
    top = math.log10(max([r.peak for r in roofs] + [p for _, p in points]) * 1.2)
    ys = [r.attainable(10**low) for r in roofs] + [p for _, p in points]
    bottom = math.log10(min(ys) / 1.2)
    grid = [[" "] * width for _ in range(height)]

    def row(value: float) -> int:
        return min(height - 1, max(0, round((top - math.log10(value)) / (top - bottom) * (height - 1))))

    def column(intensity: float) -> int:
        return min(width - 1, max(0, round((math.log10(intensity) - low) / (high - low) * (width - 1))))

    for roof in reversed(roofs):
        for c in range(width):
            intensity = 10 ** (low + (high - low) * c / (width - 1))
            grid[row(roof.attainable(intensity))][c] = "-" if intensity >= roof.ridge_point else "/"
    for intensity, value in points:
        grid[row(value)][column(intensity)] = "o"
    for i, roof in enumerate(roofs):  # each in a column of its own: roofs can be as high as each other
        grid[row(roof.peak)][width - 1 - 2 * (len(roofs) - 1 - i)] = chr(ord("A") + i)
    names = [
        f"  {chr(ord('A') + i)}  {PRECISIONS[r.precision].label}{' vector' if r.path == 'vector' else ''}, "
        f"{flop_rate(r.peak)}"
        for i, r in enumerate(roofs)
    ]
    frame = [f"{flop_rate(10**top):>14} |" + "".join(grid[0]).rstrip()]
    frame += [" " * 15 + "|" + "".join(line).rstrip() for line in grid[1:-1]]
    frame += [f"{flop_rate(10**bottom):>14} |" + "".join(grid[-1]).rstrip(), " " * 15 + "+" + "-" * width]
    left, right = f"{10**low:.2g}", f"{10**high:,.0f} FLOP/byte"
    frame.append(" " * 16 + left + right.rjust(width - len(left)))
    return "\n".join([*frame, *names])
