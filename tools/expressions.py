"""What an expression behind a figure may use: in the prose (tests) and on the page about reading the data.

Every card by its key, the package, the units shown to readers, and the few sums over tables that the text speaks of.
"""

from __future__ import annotations

from math import log
from statistics import median

import roofcourse as rc
from roofcourse import second_sources, tables


def counted(device: str, phase: str, module: str, batch: int, prompt_length: int, per: str) -> float:
    """FLOP of one module under the profiler, per byte or second of the named counter."""
    row = _counters(device, phase, batch, prompt_length, module)[0]
    return row["flop"] / row[per]


def layer_seconds(device: str, batch: int, prompt_length: int, module: str | None = None) -> float:
    """Profiled kernel time of all 28 layers in one decode step, in seconds: 28 times that of layer 14."""
    return 28 * sum(r["kernel_seconds"] for r in _counters(device, "decode", batch, prompt_length, module))


def attention_bytes(device: str, batch: int, prompt_length: int) -> float:
    """Bytes that the attention module of all 28 layers moves in one decode step, by the counters."""
    return 28 * _counters(device, "decode", batch, prompt_length, "attention")[0]["dram_bytes"]


def kernels(batch: int, prompt_length: int, *names: str) -> float:
    """Time in seconds of an H100's attention kernels of these names (default: all) in layer 14 of one decode step."""
    wanted = {"batch": batch, "prompt_length": prompt_length}
    rows = [r for r in tables.read("attention_kernels") if wanted.items() <= r.items()]
    return sum(r["kernel_seconds"] for r in rows if not names or r["kernel"] in names)


def clock_log(device: str, start: float = 0.0) -> list[dict]:
    """The lines of a card's log of clock and power, from a second on."""
    return [r for r in tables.read("telemetry") if r["device"] == device and r["at_seconds"] >= start]


def _counters(device, phase, batch, prompt_length, module=None) -> list[dict]:
    wanted = {"device": device, "phase": phase, "batch": batch, "prompt_length": prompt_length}
    wanted |= {"module": module} if module else {}
    return [r for r in tables.read("layer_counters") if wanted.items() <= r.items()]


def step(device: str, batch: int, prompt_length: int) -> float:
    """Time of one decode step in seconds, the median over the runs that count."""
    wanted = {"device": device, "batch": batch, "prompt_length": prompt_length, "eligible": True}
    return median(r["step_seconds"] for r in tables.read("decode") if wanted.items() <= r.items())


def kv_bytes(batch: int, prompt_length: int) -> int:
    """KV cache of Qwen2.5-7B: keys and values, 28 layers, 4 heads of 128 numbers of 2 bytes, for each token."""
    return 2 * 28 * 4 * 128 * 2 * batch * prompt_length


def layer(card, phase: str, module: str, batch: int, prompt_length: int):
    """One module of layer 14 under the profiler, as a record of the card."""
    found = card.layer_counters(phase, batch=batch, prompt_length=prompt_length)
    return next(x for x in found if x.module == module)


def of_roof(counter) -> float:
    """Percent of the BF16 roof that a profiled linear layer reaches, at its measured intensity."""
    roof = rc.device(counter.device).roofline("bf16")
    return 100 * counter.flop_per_s / roof.attainable(counter.intensity)


def read_slope(card) -> float:
    """Bandwidth in bytes/s from the difference of the two largest reads: what a launch costs falls out."""
    first, second = card.working_set_sweep("read_reduce")[-2:]
    return (second.work.bytes - first.work.bytes) / (second.seconds - first.seconds)


def corner(card) -> float:
    """Share of the FP32 vector roof that the point of the FMA sweep next to the ridge point reaches."""
    roof = card.roofline("fp32", path="vector")
    near = min(card.fma_sweep("fp32"), key=lambda x: abs(log(x.intensity / roof.ridge_point)))
    return roof.time(near.work) / near.seconds


def babelstream(card: str, test: str) -> float:
    """Azure's BabelStream result in bytes/s."""
    rows = [r for r in tables.read("sustained") if (r["devices"], r["test"]) == (card, f"babelstream_{test}")]
    return rows[0]["bytes_per_s"]


def ridge_rows(device: str, precision: str) -> float:
    """Rows M at which the product of the M sweep reaches the ridge point; "cpu" is the recorded processor."""
    state = {"device": device, "precision": precision}
    return rc.explore.compute("m_sweep", state, run=rc.bench("local", "bundled"))["ridge_m"]


def other_gemm(set_name: str, m: int) -> float:
    """Time in seconds of one product of aiconfigurator's sets."""
    return second_sources.gemm_sweep(set_name).at(m=m).seconds


NAMES = {d.key.replace("-", "_"): d for d in rc.devices()} | {
    "rc": rc,
    "v100": rc.device("v100"),
    "us": lambda seconds: seconds * 1e6,
    "ms": lambda seconds: seconds * 1e3,
    "gb": lambda size: size / 1e9,
    "mb": lambda size: size / 1e6,
    "tera": lambda rate: rate / 1e12,
    "attention_bytes": attention_bytes,
    "bound": rc.llm.decode_bound,
    "babelstream": babelstream,
    "clock_log": clock_log,
    "corner": corner,
    "counted": counted,
    "kernels": kernels,
    "kv_bytes": kv_bytes,
    "layer": layer,
    "layer_seconds": layer_seconds,
    "lever": lambda name: rc.bench("local", "bundled").lever(name),
    "model": rc.llm.model,
    "of_roof": of_roof,
    "other_gemm": other_gemm,
    "read_slope": read_slope,
    "recorded": rc.bench("local", "bundled"),
    "ridge_rows": ridge_rows,
    "step": step,
}


def evaluate(expression: str) -> float:
    """The value of an expression. The text is the project's own, read from its own files."""
    return float(eval(expression, dict(NAMES)))
