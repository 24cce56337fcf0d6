"""Record what chapter 7 shows of this machine, as the runs that stand in where nothing is measured.

    python tools/record_limits.py

writes data/runs/cpu_epyc_genoa_limits.json (products that fit in a cache, chains of loads) and
data/runs/cpu_epyc_genoa_timelines.json (a small program under the profiler). Run it on an idle machine.
"""

from __future__ import annotations

from pathlib import Path

import roofcourse as rc
from roofcourse.bench import RECORDED_LIMITS, RECORDED_TIMELINES
from roofcourse.records import write_run
from roofcourse.timeline import write_timelines

RUNS = Path(__file__).resolve().parents[1] / "data" / "runs"


def main() -> None:
    bench = rc.bench("local", "live")
    products, chains = bench.cached_products(), bench.load_chains()
    timelines = {size: bench.timeline(size) for size in ("small", "large")}
    write_run(bench.record(products, chains), RUNS / RECORDED_LIMITS, overwrite=True)
    write_timelines(timelines, RUNS / RECORDED_TIMELINES)
    for x in products:
        print(f"{x.shape:16} {x.work.bytes / 2**20:8.2f} MiB {x.bytes_per_s / 1e9:7.1f} GB/s {x.note}")
    for x in chains:
        print(f"{x.batch:2} chains {x.seconds / x.elements * 1e9:7.1f} ns {x.bytes_per_s / 1e9:6.2f} GB/s {x.note}")
    for t in timelines.values():
        print(t, f"{t.plain_seconds * 1e6:.1f} µs without the profiler")


if __name__ == "__main__":
    main()
