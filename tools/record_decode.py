"""Record the decode steps of chapter 6 on this machine, as the run that stands in where nothing is measured.

    python tools/record_decode.py            # writes data/runs/cpu_epyc_genoa_decode.json

Run it on an idle machine: some minutes on two cores, most of them for the compiler. The spreads are kept, so that a busy
moment shows; the roofs are measured three times, and the highest count, so that one busy moment does not lower them.
"""

from __future__ import annotations

import sys

from roofcourse.bench import Live
from roofcourse.llm import sources
from roofcourse.llm.command import decode_machine
from roofcourse.llm.decode import precision_for
from roofcourse.measure.device import open_device
from roofcourse.roofline import Roofline
from roofcourse.tables import data_folder


def highest_roofs(device, precision: str):
    """The machine of the session with the highest bandwidth and of that with the highest peak, as one."""
    roofs = [Live(quick=True, device=device).device.roofline(precision) for _ in range(3)]
    return Highest(max(r.bandwidth for r in roofs), max(r.peak for r in roofs), precision)


class Highest:
    def __init__(self, bandwidth: float, peak: float, precision: str) -> None:
        self.name, self.bandwidth, self.memory_bytes = "this machine", bandwidth, None
        self.precisions = (precision,)
        self._roof = Roofline(peak, bandwidth, "cpu", precision, "gemm", "measured")

    def roofline(self, precision: str) -> Roofline:
        return self._roof


def main() -> int:
    device = open_device("cpu")
    return decode_machine(
        model=sources.MODEL,
        batches=sources.BATCHES,
        prompts=sources.PROMPTS,
        device=device,
        machine=highest_roofs(device, precision_for(device)),
        out=data_folder() / "runs" / sources.RECORDED,
        overwrite=True,
    )


if __name__ == "__main__":
    sys.exit(main())
