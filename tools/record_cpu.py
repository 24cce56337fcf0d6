"""Record the run that stands in for "this machine" on pages built without measuring: data/runs/cpu_epyc_genoa.json.

    python tools/record_cpu.py

Run it on an idle machine: a minute on two cores. The other recordings have scripts of their own beside this one.
"""

from __future__ import annotations

import sys

import roofcourse as rc
from roofcourse.bench import RECORDED
from roofcourse.records import write_run
from roofcourse.tables import data_folder


def main() -> int:
    live = rc.bench("local", "live", quick=True)
    points = {}
    for sweep in (
        live.bandwidth("fp32"),
        live.bandwidth("fp64"),
        live.matmul_sweep("fp32"),
        live.matmul_sweep("fp64"),
        live.m_sweep("fp32"),
        live.fma_sweep("fp32"),
        live.fma_sweep("fp64"),
        live.working_set_sweep("copy"),
    ):
        for x in sweep:
            # Sweeps share points: the largest copy is in two of them.
            points[x.kernel, x.precision, x.shape] = x
    path = write_run(live.record(rc.Measurements(points.values())), data_folder() / "runs" / RECORDED, overwrite=True)
    unstable = sum(not x.stable for x in points.values())
    print(f"{path}: {len(points)} points, {unstable} unstable")
    return 0


if __name__ == "__main__":
    sys.exit(main())
