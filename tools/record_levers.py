"""Record the levers of chapter 8 on this machine, as the run that stands in where nothing is measured.

    python tools/record_levers.py            # writes data/runs/cpu_epyc_genoa_levers.json

Run it on an idle machine. The spreads are kept, so that a busy moment shows.
"""

from __future__ import annotations

from pathlib import Path

import roofcourse as rc
from roofcourse.bench import RECORDED_LEVERS
from roofcourse.measure import levers
from roofcourse.records import write_run

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    bench = rc.bench("local", "live")
    pairs = [rc.Measurements(levers.on_one_core(name, quick=False)) for name in bench.levers()]
    run = bench.record(bench.core_roofs(), *pairs)
    path = write_run(run, ROOT / "data" / "runs" / RECORDED_LEVERS, overwrite=True)
    for name in bench.levers():
        print(rc.bench("local", "bundled").lever(name))
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
