"""Record the loop orders on this machine, as the run that stands in where nothing is measured.

    python tools/record_loops.py            # writes data/runs/cpu_epyc_genoa_loops.json

Run it on an idle machine.
"""

from __future__ import annotations

from pathlib import Path

import roofcourse as rc
from roofcourse.bench import RECORDED_LOOPS
from roofcourse.records import write_run

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    bench = rc.bench("local", "live")
    sweeps = [bench.loop_orders(shape) for shape in ("square", "wide")]
    path = write_run(bench.record(*sweeps), ROOT / "data" / "runs" / RECORDED_LOOPS, overwrite=True)
    for x in (x for sweep in sweeps for x in sweep):
        speed = f"{x.flop_per_s / 1e9:6.2f} GFLOP/s {x.bytes_per_s / 1e9:7.2f} GB/s counted"
        print(f"{x.kernel:13} {x.shape:14} {x.seconds * 1e3:9.2f} ms {speed} {x.note or ''}")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
