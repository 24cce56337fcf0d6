"""Record many small products on this machine, as the run that stands in where nothing is measured.

    python tools/record_small.py            # writes data/runs/cpu_epyc_genoa_small.json

Run it on an idle machine.
"""

from __future__ import annotations

from pathlib import Path

import roofcourse as rc
from roofcourse.bench import RECORDED_SMALL
from roofcourse.records import write_run

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    bench = rc.bench("local", "live")
    products = bench.small_products()
    path = write_run(bench.record(products), ROOT / "data" / "runs" / RECORDED_SMALL, overwrite=True)
    for x in products:
        each = x.seconds / x.batch * 1e6
        print(f"{x.kernel:13} {x.shape:18} {each:8.2f} us each {x.flop_per_s / 1e9:7.1f} GFLOP/s {x.note or ''}")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
