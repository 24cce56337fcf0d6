"""Record the memory levels of this machine, as the run that stands in where nothing is measured.

    python tools/record_caches.py            # writes data/runs/cpu_epyc_genoa_caches.json

Run it on an idle machine.
"""

from __future__ import annotations

from pathlib import Path

import roofcourse as rc
from roofcourse.bench import RECORDED_CACHES
from roofcourse.records import write_run

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    bench = rc.bench("local", "live")
    sweep = bench.cache_sweep()
    path = write_run(bench.record(sweep), ROOT / "data" / "runs" / RECORDED_CACHES, overwrite=True)
    for x in sweep:
        print(f"{x.working_set_bytes / 2**10:10,.0f} KiB {x.bytes_per_s / 1e9:8.1f} GB/s {x.note or ''}")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
