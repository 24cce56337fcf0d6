"""Record the decode steps of chapter 6 on one core, as the run that stands in where nothing is measured.

    python tools/record_decode.py [rounds]       # writes data/runs/cpu_epyc_genoa_decode.json

One core, so that no thread waits for another. Everything is measured in several rounds (3 unless told otherwise), and
of each step and each roof the fastest round counts: what else runs on the machine can only slow it down. Run it on an
idle machine all the same; a round takes some minutes, most of them for the compiler. An earlier recording of the same
machine is kept where it was faster.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numba
import torch

from roofcourse.bench import Live
from roofcourse.llm import decode_bound, model, sources
from roofcourse.llm.decode import DecodeSession, modes_for, precision_for
from roofcourse.llm.steps import in_order, read_decode, write_decode
from roofcourse.measure.device import open_device
from roofcourse.measure.stopping import QUICK
from roofcourse.roofline import Roofline
from roofcourse.tables import data_folder


class Roofs:
    """The highest bandwidth and the highest peak of all rounds, answering as a machine does."""

    name, memory_bytes = "this machine", None

    def __init__(self, precision: str) -> None:
        self.precisions, self.peak, self.bandwidth = (precision,), 0.0, 0.0

    def again(self, device) -> None:
        seen = Live(quick=True, device=device).device.roofline(self.precisions[0])
        self.peak, self.bandwidth = max(self.peak, seen.peak), max(self.bandwidth, seen.bandwidth)

    def roofline(self, precision: str) -> Roofline:
        return Roofline(self.peak, self.bandwidth, "cpu", precision, "gemm", "measured")


def main(rounds: int) -> int:
    torch.set_num_threads(1)
    numba.set_num_threads(1)
    path = data_folder() / "runs" / sources.RECORDED
    device = open_device("cpu")
    precision, whole = precision_for(device), model(sources.MODEL)
    roofs, best, earlier = Roofs(precision), {}, None
    if path.exists():
        earlier = read_decode(path)
        roofs.peak, roofs.bandwidth = earlier.roofs["peak"], earlier.roofs["bandwidth"]
        best = {x.key: x for x in earlier.steps}
    for turn in range(rounds):
        roofs.again(device)
        session = DecodeSession(whole, device, roofs, precision=precision, rule=QUICK, say=print)
        if earlier is not None:
            session.run().same_as(earlier)
        for key in wanted(device, compiled=turn == rounds - 1):
            step = session.take(*key)
            if step is not None and (key not in best or step.seconds < best[key].seconds):
                best[key] = step
                print(f"{turn + 1}: {step.label}: {step.seconds * 1e3:.4g} ms, spread {step.spread:.1%}", flush=True)
            kept = [replace(x, **bounds(x, whole, roofs)) for x in best.values()]
            run = replace(session.run(complete=True), steps=in_order(kept))
            write_decode(run, path, overwrite=True)
    print(run.steps)
    return 0


def wanted(device, *, compiled: bool) -> list[tuple[int, int, str]]:
    """Batch, prompt length and mode. The compiler takes minutes for each length: once, for the short prompt alone."""
    plain = [m for m in modes_for(device) if m != "compiled"]
    keys = [(b, p, m) for p in sources.PROMPTS for b in sources.BATCHES for m in plain]
    return keys + [(b, sources.PROMPTS[0], "compiled") for b in sources.BATCHES if compiled]


def bounds(x, whole, roofs: Roofs) -> dict:
    """The bound of a step under the roofs of all rounds."""
    found = decode_bound(whole, roofs, x.batch, x.prompt_length, x.precision, x.precision)
    return {"bound": found.seconds, "bound_part": found.part}


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 3))
