"""Record the functions of chapter 9 under the ceilings of this machine, as the run that stands in on its page.

    python tools/record_kernels.py              # writes data/runs/cpu_epyc_genoa_kernels.json
    python tools/record_kernels.py --rounds 6   # more rounds, where the machine cannot be made idle

A minute on two idle cores. Everything is measured in each of two rounds, and the fastest time of each kernel counts:
other programs only ever slow one down. The functions are those that the chapter defines. What the chapter says of them
is checked first: if the recording shows something else, nothing is written.
"""

from __future__ import annotations

import argparse
import ast
import sys
from dataclasses import replace

import nbformat
import run_notebooks

import roofcourse as rc
from roofcourse import workbench
from roofcourse.bench import RECORDED_KERNELS, Recorded
from roofcourse.measure.checks import UNUSABLE
from roofcourse.records import write_run
from roofcourse.tables import data_folder

NOTEBOOK = run_notebooks.ROOT / "notebooks" / "09_your_kernel.ipynb"
SQUARE = (4096, 4096)
#: Name of the point, function, shapes, the point whose neighbour it is, the point whose work it shares.
CALLS = (
    ("layer", "product", ((2048, 2048), (2048, 2048)), None, None),
    ("tiny_4", "product", ((4, 4), (4, 4)), None, None),
    ("tiny", "product", ((8, 8), (8, 8)), "tiny_4", None),
    ("softmax", "softmax", (SQUARE,), None, None),
    ("fused", "fused", (SQUARE,), None, None),
    ("reused", "reused", (SQUARE, SQUARE), None, "fused"),
)
#: A noisy point of a short kernel is taken again: it costs little, and one interruption spoils it.
ATTEMPTS, SHORT = 8, 1e-3


def functions() -> dict[str, tuple]:
    """Every function that a code cell of the chapter defines, and its text."""
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    found: dict[str, tuple] = {}
    for cell in cells:
        if cell.cell_type != "code":
            continue
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.FunctionDef):
                space: dict = {}
                exec(ast.unparse(node), space)
                found[node.name] = (space[node.name], ast.unparse(node))
    return found


def wrong(points: dict) -> list[str]:
    """What the chapter says of these points and the recording does not show."""
    gain = points["softmax"].seconds / points["fused"].seconds
    further = points["fused"].seconds / points["reused"].seconds
    claims = {
        "the layer is at its roof": points["layer"].explanation.verdict == "none",
        "the tiny product is launch-bound": points["tiny"].explanation.verdict == "launch",
        "the softmax in steps is far below its roof": points["softmax"].explanation.share < 0.25,
        "one kernel instead of five wins a factor of 2 or more": gain >= 2,
        "memory that is there wins as much again": further >= 1.5,
    }
    return [claim for claim, holds in claims.items() if not holds]


def session(known: dict):
    """The ceilings of this machine, measured anew, and the chapter's points under them."""
    mine = rc.bench("local", "live", quick=True)
    roofs = mine.device.roofline("fp32"), mine.device.roofline("fp32", "vector")
    line = mine.launch_overhead()
    print(f"{mine.device.name}: {', '.join(map(str, roofs))}; a call costs {line.overhead * 1e6:.3g} µs", flush=True)
    points: dict = {}
    for name, function, shapes, neighbour, like in CALLS:
        sweep = (points[neighbour],) if neighbour else ()
        work = points[like].work if like else None
        for _ in range(ATTEMPTS):
            points[name] = mine.place(known[function][0], *shapes, name=name, sweep=sweep, work=work)
            if points[name].stable or points[name].seconds > SHORT:
                break
        print(f"{name:8} {points[name].seconds * 1e6:12,.2f} µs", flush=True)
    return mine, points


def fastest(several):
    """Of measurements of the same kernel the one of the shortest time; doubtful ones only if there are no others."""
    return min(several, key=lambda x: (doubtful(getattr(x, "measurement", x)), x.seconds))


def doubtful(x: rc.Measurement) -> bool:
    return bool(x.suspect) or (not x.stable and (x.spread is None or x.spread > UNUSABLE))


def together(sessions) -> tuple[Recorded, dict]:
    """One run of all rounds, and its points under the ceilings of all rounds."""
    by_kernel: dict[tuple, list] = {}
    for mine, _ in sessions:
        for x in mine.points:
            by_kernel.setdefault((x.kernel, x.precision, x.cache_state, x.shape, x.implementation), []).append(x)
    mine = sessions[0][0]
    whole = Recorded(mine.record(rc.Measurements(fastest(xs) for xs in by_kernel.values())))
    roofs, line = whole.device.ceilings(), whole.launch_overhead()
    launch = line.overhead if line.overhead > 0 and line.r2 >= 0.9 else None
    points = {}
    for name, _, _, neighbour, _ in CALLS:
        best = fastest([found[name] for _, found in sessions])
        roof = whole.device.roofline(best.roofline.precision, best.roofline.path)
        sweep = (points[neighbour].measurement,) if neighbour else ()
        points[name] = replace(best, roofline=roof, roofs=roofs, launch=launch, sweep=sweep)
    return whole, points


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=2)
    known, path = functions(), data_folder() / "runs" / RECORDED_KERNELS
    rounds = parser.parse_args().rounds
    whole, points = together([session(known) for _ in range(rounds)])
    for point in points.values():
        print(point.explanation.opening)
    missed = wrong(points)
    if missed:
        print(f"not shown: {'; '.join(missed)}\n{path.name} was left as it is: record again when the machine is idle")
        return 1
    told = {name: workbench.facts(known[function][1], shapes) for name, function, shapes, _, _ in CALLS}
    machine = {**whole.machine, "functions": told, "rounds": rounds}
    kept = tuple(point.to_dict() for point in points.values())
    print(write_run(replace(whole.run, machine=machine, placed=kept), path, overwrite=True))
    return 0


if __name__ == "__main__":
    sys.exit(main())
