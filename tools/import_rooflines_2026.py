"""Turn the CSV files of the 2026 roofline study into this project's tables: SI units, one key per row.

    python tools/import_rooflines_2026.py FOLDER

FOLDER holds the study's files (folder roofline/data of its repository, at the commit in data/sources.json).

Decimal arithmetic: a value of 0.00204384 ms becomes 0.00000204384 s with not one digit changed.
"""

from __future__ import annotations

import csv
import sys
from decimal import Decimal
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"

# What the study does not say in a column: the vendor, the short name, and the names people write for a card.
# Years are those the study's text states.
DEVICES = {
    "v100-16": ("V100 16GB", "NVIDIA", "2017", "V100-16GB|Tesla V100-SXM2-16GB|V100 SXM2 16GB"),
    "v100-32": ("V100", "NVIDIA", "2017", "V100|V100-32GB|V100 SXM2|V100 SXM2 32GB|Tesla V100"),
    "v100-32-pcie": ("V100 PCIe", "NVIDIA", "2017", "V100 PCIe 32GB"),
    "a100": ("A100", "NVIDIA", "", "A100 SXM|A100 SXM4|A100 80GB|A100-80GB|A100 SXM4 80GB|NVIDIA A100"),
    "h100": ("H100", "NVIDIA", "", "H100 SXM|H100 SXM5|H100 80GB|H100-80GB|H100 SXM5 80GB|NVIDIA H100|H100 80GB HBM3"),
    "h200": ("H200", "NVIDIA", "", "H200 SXM|H200 141GB|H200 SXM5"),
    "h200-mig": ("H200 MIG 3g", "NVIDIA", "", "H200 MIG|H200 MIG 3g.71gb|MIG 3g.71gb"),
    "b300": ("B300", "NVIDIA", "2025", "B300 SXM|B300 SXM6|NVIDIA B300"),
    "gh200": ("GH200", "NVIDIA", "", "GH200 144GB|GH200 144G|Grace Hopper"),
    "mi100": ("MI100", "AMD", "2020", "Instinct MI100"),
    "mi210": ("MI210", "AMD", "2022", "Instinct MI210"),
    "rtx4080": ("RTX 4080", "NVIDIA", "", "RTX4080|GeForce RTX 4080|4080"),
}
VECTOR_KERNELS = {"copy", "add", "triad", "read_reduce", "fma"}
#: What tells the kernels of decode attention apart in their long names; the first that fits counts.
ATTENTION_KERNELS = (
    "CatArrayBatchedCopy_contig",
    "CatArrayBatchedCopy",
    "direct_copy_kernel_cuda",
    "flash_fwd_splitkv_combine_kernel",
    "flash_fwd_splitkv_kernel",
    "flash_fwd_kernel",
    "neg_kernel_cuda",
    "MulFunctor",
    "CUDAFunctor_add",
)
KEY = ["device", "kernel", "precision", "cache_state", "m", "n", "k", "elements", "fma_per_element"]


def scaled(text: str, factor) -> str:
    """``text`` times ``factor``, exactly, in plain decimals without trailing zeros; nothing stays nothing."""
    if text == "":
        return ""
    value = format(Decimal(text) * Decimal(factor), "f")
    return value.rstrip("0").rstrip(".") if "." in value else value


def shape(kernel: str, m: str, n: str, k: str, fma: str) -> dict[str, str]:
    """The study keeps a vector's length in column n; here it is ``elements``, and what does not apply is empty."""
    if kernel in VECTOR_KERNELS:
        return {"m": "", "n": "", "k": "", "elements": n, "fma_per_element": fma if kernel == "fma" else ""}
    return {"m": m, "n": n, "k": k, "elements": "", "fma_per_element": ""}


def devices(row):
    name, vendor, year, aliases = DEVICES[row["target"]]
    power = row["power_limit"].removesuffix(" W")
    return {
        "device": row["target"],
        "name": name,
        "reported_name": row["reported_name"],
        "vendor": vendor,
        "year": year,
        "memory_bytes": scaled(row["memory_gib"], 2**30),
        "multiprocessors": row["multiprocessors"],
        "l2_bytes": scaled(row["l2_mib"], 2**20),
        # The study has no figure for the AMD cards ("see ROCm raw telemetry").
        "power_limit_watts": scaled(power, 1) if power[0].isdigit() else "",
        "aliases": aliases,
    }


def measurements(row):
    return {
        "device": row["target"],
        "kernel": row["kernel"],
        "precision": row["precision"],
        "cache_state": row["cache_state"],
        **shape(row["kernel"], row["m"], row["n"], row["k"], row["fma_per_element"]),
        "flop": row["flop"],
        "bytes": row["bytes"],
        "working_set_bytes": row["working_set_bytes"],
        "seconds": scaled(row["median_ms"], "0.001"),
        "bytes_per_s": scaled(row["gb_per_s"], 10**9),
    }


def warnings(row):
    kernel, precision, state, m, n, k, fma = row["case"].split(":")
    return {
        "device": row["target"],
        "kernel": kernel,
        "precision": precision,
        "cache_state": state,
        **shape(kernel, m, n, k, fma),
        "warning": {"IQR/median > 10%": "spread", "Above empirical reference by >10%": "above_roof"}[row["warning"]],
        "value": scaled(row["value"], 1),
    }


def ceilings(row):
    m, n, k = row["compute_case"].split("x")
    bandwidth = row["bandwidth_case"].split(":")
    return {
        "device": row["target"],
        "precision": row["precision"],
        "bandwidth_bytes_per_s": scaled(row["bandwidth_gb_per_s"], 10**9),
        "peak_flop_per_s": scaled(row["peak_tflop_per_s"], 10**12),
        "ridge_flop_per_byte": row["ridge_flop_per_byte"],
        "bandwidth_kernel": bandwidth[0],
        "bandwidth_elements": bandwidth[-1],
        "peak_m": m,
        "peak_n": n,
        "peak_k": k,
    }


def decode(row):
    return {
        "device": row["target"],
        "model": "qwen2.5-7b",
        "precision": "bf16",
        "run": row["run"],
        "eligible": {"1": "true", "0": "false"}[row["reference_eligible"]],
        "batch": row["batch"],
        "prompt_length": row["prompt_length"],
        "prefill_seconds": scaled(row["gpu_prefill_ms"], "0.001"),
        "step_seconds": scaled(row["gpu_tpot_ms"], "0.001"),
        "step_iqr_seconds": scaled(row["gpu_tpot_ms_iqr"], "0.001"),
        "wall_step_seconds": scaled(row["wall_tpot_ms"], "0.001"),
        "wall_sequence_seconds": scaled(row["wall_sequence_ms"], "0.001"),
        "tokens_per_second": row["tokens_per_second"],
        "peak_memory_bytes": scaled(row["peak_allocated_gib"], 2**30),
    }


def layer_counters(row):
    return {
        "device": row["target"],
        "model": "qwen2.5-7b",
        "precision": "bf16",
        "batch": row["batch"],
        "prompt_length": row["prompt_length"],
        "phase": row["phase"],
        "module": row["module"],
        "kernel_count": row["kernel_count"],
        "dram_bytes": row["dram_bytes"],
        "l2_bytes": row["l2_bytes"],
        "kernel_seconds": scaled(row["profiled_kernel_ns"], "1e-9"),
        "flop": row["nominal_flops"],
    }


def attention_kernels(row):
    if (row["phase"], row["module"]) != ("decode", "attention"):
        return None
    return {
        "device": "h100",
        "batch": row["batch"],
        "prompt_length": row["prompt_length"],
        "kernel_id": row["kernel_id"],
        "kernel": next(name for name in ATTENTION_KERNELS if name in row["kernel"]),
        "dram_bytes": str(int(row["dram__bytes_read.sum"]) + int(row["dram__bytes_write.sum"])),
        "kernel_seconds": scaled(row["gpu__time_duration.sum"], "1e-9"),
    }


def telemetry(row):
    return {
        "device": {"NVIDIA H100 80GB HBM3": "h100", "NVIDIA GeForce RTX 4080": "rtx4080"}[row["name"]],
        "at_seconds": scaled(row["t_s"], 1),
        "power_watts": scaled(row["power.draw [W]"], 1),
        "sm_clock_hz": scaled(row["clocks.current.sm [MHz]"], 10**6),
    }


TABLES = [devices, measurements, warnings, ceilings, decode, layer_counters, attention_kernels, telemetry]
#: Tables that are made of files of other names.
FILES = {
    "attention_kernels.csv": ["raw/counters/h100/run-1/kernels.csv"],
    "telemetry.csv": [f"raw/bench/{card}/run-1/telemetry.csv" for card in ("h100", "rtx4080")],
}


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for convert in TABLES:
        name = f"{convert.__name__}.csv"
        rows = []
        for path in FILES.get(name, [name]):
            with open(Path(sys.argv[1]) / path, newline="", encoding="utf-8") as file:
                rows += [done for row in csv.DictReader(file) if (done := convert(row))]
        with open(DATA / name, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"data/{name}: {len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
