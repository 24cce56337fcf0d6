"""This project's CPU measurements against its peers, in one run: interleaved rounds, medians, ratios.

    make bench            # or: python benchmarks/peers.py [--rounds 5] [--fresh 5] [--json FILE]

Peers: likwid-bench (Debian's package ``likwid``), a STREAM triad compiled here (gcc with OpenMP), and a scan of many
shapes with torch. What is not installed is left out and named. Each round runs every contender once, so that a busy
spell hits all of them. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from roofcourse.measure import cpu, plan
from roofcourse.measure.device import open_device
from roofcourse.measure.session import Session
from roofcourse.measure.stopping import QUICK
from roofcourse.records import read_run

HERE = Path(__file__).resolve().parent
#: What is compared -> the least ratio of ours to the best peer.
TARGETS = {"B": 0.95, "FMA plateau FP32": 0.85, "FMA plateau FP64": 0.85, "GEMM F": 0.98}
#: Largest spread of B and F over fresh processes on a shared CPU: (highest - lowest) / median.
REPEATABLE = 0.05
SIMD = "avx512" if "avx512f" in cpu.flags() else "avx"


def likwid(kernel: str, kilobytes: float, iterations: int | None = None) -> Callable[[], float]:
    """Bytes/s, or FLOP/s of a ``peakflops`` kernel, on all cores of this process."""

    def run() -> float:
        words = ["likwid-bench", "-t", kernel, "-w", f"N:{kilobytes:.0f}kB:{cpu.cores()}"]
        words += ["-i", str(iterations)] if iterations else []
        text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        name = "MFlops/s" if kernel.startswith("peakflops") else "MByte/s"
        return float(re.search(rf"^{name}:\s*([\d.]+)", text, re.M).group(1)) * 1e6

    return run


def likwid_kernels(*names: str) -> list[str]:
    """Those of these kernels that likwid-bench has and this CPU can run."""
    if shutil.which("likwid-bench") is None:
        return []
    listed = subprocess.run(["likwid-bench", "-a"], capture_output=True, text=True, check=True).stdout
    return [n for n in names if re.search(rf"^{n} - ", listed, re.M)]


def stream(folder: Path, elements: int) -> Callable[[], float] | None:
    """The compiled triad, or ``None`` without gcc."""
    if shutil.which("gcc") is None:
        return None
    program = folder / "stream"
    subprocess.run(
        ["gcc", "-O3", "-march=native", "-ffast-math", "-fopenmp", str(HERE / "stream.c"), "-o", str(program)],
        check=True,
    )
    return lambda: float(
        subprocess.run([program, str(elements), "10"], capture_output=True, text=True, check=True).stdout
    )


def ours(device, specs, by: str) -> Callable[[], float]:
    """The best of these specs, by the protocol of a quick run."""

    def run() -> float:
        session = Session(device, replace(QUICK, cap_seconds=15.0), device.manifest())
        points = [p for p in (session.take(s, ceiling=by == "bytes_per_s") for s in specs) if p is not None]
        return max(getattr(p, by) for p in points)

    return run


def scan(device) -> Callable[[], float]:
    """F by brute force: many shapes with torch, the median of ten calls each, and the best of these.

    Medians, as ours: the best single call of a hundred is another statistic, and on a shared CPU 2 % higher.
    """
    import torch

    sizes = (512, 1024, 1536, 2048, 3072, 4096)
    shapes = [(n, n, n) for n in sizes] + [(512, 4096, 512), (4096, 512, 4096), (2048, 4096, 1024), (1024, 2048, 4096)]

    def run() -> float:
        best = 0.0
        with torch.inference_mode():
            for m, n, k in shapes:
                x, a, y = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
                torch.matmul(x, a, out=y)
                seconds = []
                for _ in range(3 if m * n * k > 2**34 else 10):
                    start = time.perf_counter()
                    torch.matmul(x, a, out=y)
                    seconds.append(time.perf_counter() - start)
                best = max(best, 2 * m * n * k / statistics.median(seconds))
        return best

    return run


def contenders(device, folder: Path) -> dict[str, tuple[Callable, dict[str, Callable]]]:
    """What is compared -> (ours, peers by name)."""
    size = plan.array_bytes(device, True)
    fma = {p: [s for s in plan.fma(device, p, False) if s.fma_per_element == 256] for p in ("fp32", "fp64")}
    moving = [s for s in plan.bandwidth(device, "fp32", True) if s.implementation == "numba"]
    mixed = f"{SIMD}_fma"
    kernels = likwid_kernels(
        *(f"load_{SIMD}", f"store_mem_{SIMD}", f"copy_mem_{SIMD}", f"triad_mem_{mixed}", f"stream_mem_{mixed}")
    )
    peers = {f"likwid {k}": likwid(k, 3 * size / 1e3) for k in kernels}
    triad = stream(folder, size // 8)
    if triad:
        peers["compiled STREAM triad"] = triad
    peaks = {
        p: {f"likwid {k}": likwid(k, 20 * cpu.cores(), 2_000_000) for k in likwid_kernels(f"peakflops{tag}_{mixed}")}
        for p, tag in (("fp32", "_sp"), ("fp64", ""))
    }
    squares = plan.squares(device, "fp32", False)
    return {
        "B": (ours(device, moving, "bytes_per_s"), peers),
        "FMA plateau FP32": (ours(device, fma["fp32"], "flop_per_s"), peaks["fp32"]),
        "FMA plateau FP64": (ours(device, fma["fp64"], "flop_per_s"), peaks["fp64"]),
        "GEMM F": (ours(device, squares, "flop_per_s"), {"scan of shapes with torch": scan(device)}),
    }


def compare(device, rounds: int, folder: Path) -> list[dict]:
    """Every contender once a round; the ratio of a round is ours over the best peer of that round."""
    out = []
    for what, (own, peers) in contenders(device, folder).items():
        if not peers:
            out.append({"what": what, "ours": own(), "peers": {}, "ratio": None, "target": TARGETS[what]})
            continue
        values: dict[str, list[float]] = {"ours": [], **{name: [] for name in peers}}
        for turn in range(rounds):
            order = [("ours", own), *peers.items()]
            order = order[turn % len(order) :] + order[: turn % len(order)]  # nobody is always first
            for name, run in order:
                values[name].append(run())
            print(f"  {what}: round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
        best = [max(values[name][i] for name in peers) for i in range(rounds)]
        ratios = [mine / other for mine, other in zip(values["ours"], best, strict=True)]
        medians = {name: statistics.median(v) for name, v in values.items()}
        out.append(
            {
                "what": what,
                "ours": medians.pop("ours"),
                "peers": medians,
                "ratio": statistics.median(ratios),
                "ratios": ratios,
                "target": TARGETS[what],
            }
        )
    return out


def fresh(count: int, folder: Path) -> tuple[dict[str, float], float]:
    """Spread of B and F over ``count`` fresh processes, and the median seconds of one of them."""
    found: dict[str, list[float]] = {"B": [], "F FP32": []}
    seconds = []
    for i in range(count):
        out = folder / f"fresh{i}.json"
        words = [sys.executable, "-m", "roofcourse", "measure", "--quick", "--device", "cpu", "-o", str(out)]
        start = time.monotonic()
        subprocess.run([*words, "--only", "bandwidth,matmul"], check=True, stdout=subprocess.DEVNULL)
        seconds.append(time.monotonic() - start)
        from roofcourse.bench import Recorded

        roof = Recorded(read_run(out)).device.roofline("fp32")
        found["B"].append(roof.bandwidth)
        found["F FP32"].append(roof.peak)
        print(f"  fresh process {i + 1} of {count}", file=sys.stderr, flush=True)
    return {k: (max(v) - min(v)) / statistics.median(v) for k, v in found.items()}, statistics.median(seconds)


def whole(folder: Path) -> float:
    """Seconds of one quick run, from the command to the report."""
    words = [sys.executable, "-m", "roofcourse", "measure", "--quick", "--device", "cpu", "-o"]
    start = time.monotonic()
    subprocess.run([*words, str(folder / "whole.json")], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def show(results: list[dict]) -> None:
    print(f"{'what':18} {'ours':>10} {'ratio':>7} {'target':>7}   peers (medians)")
    for r in results:
        unit = 1e9
        peers = ", ".join(f"{name} {v / unit:.4g}" for name, v in r["peers"].items()) or "none installed"
        ratio = "-" if r["ratio"] is None else f"{r['ratio']:.3f}"
        verdict = "" if r["ratio"] is None else ("  ok" if r["ratio"] >= r["target"] else "  BELOW")
        print(f"{r['what']:18} {r['ours'] / unit:10.4g} {ratio:>7} {r['target']:7.2f}   {peers}{verdict}")
    print("in GB/s and GFLOP/s; ratio: ours over the best peer of the same round, median over the rounds")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fresh", type=int, default=5, help="fresh processes for the spread of B and F; 0: none")
    parser.add_argument("--json", type=Path, help="write the numbers here too")
    arguments = parser.parse_args()
    device = open_device("cpu")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = compare(device, arguments.rounds, folder)
        show(results)
        summary: dict = {"machine": device.manifest(), "results": results}
        if arguments.fresh:
            spreads, seconds = fresh(arguments.fresh, folder)
            summary |= {"spreads": spreads, "seconds_of_two_parts": seconds, "seconds_of_a_quick_run": whole(folder)}
            for what, value in spreads.items():
                verdict = "ok" if value <= REPEATABLE else "noisy machine"
                print(f"spread of {what} over {arguments.fresh} fresh processes: {value:.1%}  {verdict}")
            print(f"a whole quick roofline took {summary['seconds_of_a_quick_run']:.0f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
