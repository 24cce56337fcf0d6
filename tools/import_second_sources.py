"""Turn the second sources into this project's tables: SI units, one row for each number, where it comes from beside it.

    python tools/import_second_sources.py FOLDER

FOLDER holds transcriptions of four published sources (data/sources.json names repository and commit of each):
aiconfigurator_gemm_8192.csv, azure_ai_benchmarking.csv, read_bandwidth_by_working_set.csv and datasheets.csv. Only what
the course shows is taken over. Decimal arithmetic: no digit is changed.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from import_rooflines_2026 import DATA, scaled

#: Name of a card in the transcription -> (name here, catalogue keys that it is). A source that does not say SXM or
#: PCIe, where that matters, stands for no card of the catalogue.
CARDS = {
    "V100 SXM2": ("V100 SXM2", "v100-16|v100-32"),
    "V100": ("V100", "v100-16|v100-32|v100-32-pcie"),  # the bandwidth is that of both forms
    "V100 PCIe": ("V100 PCIe", "v100-32-pcie"),
    "A100 SXM4 80GB": ("A100 SXM4 80GB", "a100"),
    "A100-SXM4-80GB": ("A100 SXM4 80GB", "a100"),
    "NVIDIA A100-SXM4-80GB": ("A100 SXM4 80GB", "a100"),
    "NVIDIA A100 80GB": ("A100 80GB", ""),
    "H100 SXM5 80GB": ("H100 SXM5 80GB", "h100"),
    "H100 80GB HBM3": ("H100 SXM5 80GB", "h100"),
    "NVIDIA H100 80GB HBM3": ("H100 SXM5 80GB", "h100"),
    "H100 PCIe": ("H100 PCIe", ""),
    "NVIDIA H100 PCIe": ("H100 PCIe", ""),
    "H200 SXM": ("H200 SXM", "h200"),
    "H200 141GB": ("H200 SXM", "h200"),
    "NVIDIA H200": ("H200 SXM", "h200"),
    "GH200 144G/141G HBM3e": ("GH200 144G", "gh200"),
    "B300 SXM (HGX)": ("B300 SXM", "b300"),
    "B300 SXM": ("B300 SXM", "b300"),
    "NVIDIA B300 SXM6 AC": ("B300 SXM", "b300"),
    "MI100": ("MI100", "mi100"),
    "AMD Instinct MI100": ("MI100", "mi100"),
    "MI210": ("MI210", "mi210"),
    "MI210 (gfx90a 104 CU 1700 MHz)": ("MI210", "mi210"),
    "AMD Instinct MI210": ("MI210", "mi210"),
    "RTX 4080": ("RTX 4080", "rtx4080"),
    "L40S": ("L40S", ""),
    "NVIDIA L40S": ("L40S", ""),
    "NVIDIA L40": ("L40", ""),
}

#: The sets of GEMM latencies that the course shows, and the library that ran them.
GEMM_SETS = {
    "a100_sxm_trtllm1.0.0": "TensorRT-LLM 1.0.0",
    "h100_sxm_trtllm1.3.0rc10": "TensorRT-LLM 1.3.0rc10",
    "h100_sxm_vllm0.19.0": "vLLM 0.19.0",
    "h200_sxm_trtllm1.3.0rc10": "TensorRT-LLM 1.3.0rc10",
    "b300_sxm_trtllm1.3.0rc10": "TensorRT-LLM 1.3.0rc10",
    "l40s_trtllm1.3.0rc15": "TensorRT-LLM 1.3.0rc15",
}

#: Column of the datasheets -> precision, path.
PEAKS = {
    "fp64_vec": ("fp64", "vector"),
    "fp64_matrix": ("fp64", "gemm"),
    "fp32_vec": ("fp32", "vector"),
    "fp32_matrix": ("fp32", "gemm"),
    "tf32_dense": ("tf32", "gemm"),
    "fp16_dense": ("fp16", "gemm"),
    "bf16_dense": ("bf16", "gemm"),
    "fp8_dense": ("fp8_e4m3", "gemm"),
    "fp4_dense": ("nvfp4", "gemm"),
}

#: How far a row is from the manufacturer, by the first words of the transcription's column ``kind``.
STANDINGS = ("vendor tool", "via vendor", "vendor", "press", "secondary")

#: The sheet states FP16 with sparsity and accumulation in FP16; the course measures dense products that accumulate in
#: FP32.
RTX_4080_SPARSE = "390"
RTX_4080_RULE = "390 TFLOP/s with sparsity / 2 (dense) / 2 (accumulation in FP32)"

V100 = "https://grokipedia.opelly.me/articles/nvidia-tesla-v100"
CORNELL = "https://cvw.cac.cornell.edu/gpu-architecture/gpu-example-tesla-v100/tesla"
#: Pages that say the same as a source of the transcription and are the better ones to name: (source, column) ->
#: (source, standing).
BETTER = {
    (V100, "fp64_vec"): (CORNELL, "secondary"),
    (V100, "fp32_vec"): (CORNELL, "secondary"),
    (V100, "fp16_dense"): ("https://www.nvidia.co.uk/data-center/tensorcore/", "vendor"),
}


def standing(kind: str) -> str:
    return next(s for s in STANDINGS if kind.startswith(s))


def datasheet_rows(rows):
    """The rows of cards that the course shows, without the RTX 4080 at base clock (another clock, no second source)."""
    for row in rows:
        shown = row["device"] in CARDS and not row["kind"].startswith("seed")
        if shown and "BASE clock" not in row["note"]:
            yield (
                row,
                {
                    "card": CARDS[row["device"]][0],
                    "devices": CARDS[row["device"]][1],
                    "standing": standing(row["kind"]),
                    "source": row["source"].strip(),
                },
            )


def nominal_peaks(folder: Path) -> list[dict]:
    out = []
    for row, where in datasheet_rows(read(folder / "datasheets.csv")):
        for column, (precision, path) in PEAKS.items():
            value, rule = scaled(row[column], 10**12), ""
            if row["device"] == "RTX 4080" and column == "fp16_dense":
                value, rule = scaled(RTX_4080_SPARSE, 10**12 // 4), RTX_4080_RULE
            source, stands = BETTER.get((where["source"], column), (where["source"], where["standing"]))
            if value:
                out.append(
                    {
                        "card": where["card"],
                        "devices": where["devices"],
                        "precision": precision,
                        "path": path,
                        "peak_flop_per_s": value,
                        "rule": rule,
                        "standing": stands,
                        "source": source,
                    }
                )
    return out


def nominal_memory(folder: Path) -> list[dict]:
    return [
        {
            "card": where["card"],
            "devices": where["devices"],
            "bandwidth_bytes_per_s": scaled(row["mem_bw_gb_s"], 10**9),
            "l2_bytes": scaled(row["l2_mib"], 2**20),
            "standing": where["standing"],
            "source": where["source"],
        }
        for row, where in datasheet_rows(read(folder / "datasheets.csv"))
        if row["mem_bw_gb_s"] or row["l2_mib"]
    ]


def gemm_latency(folder: Path) -> list[dict]:
    return [
        {
            "set": row["source"],
            "card": CARDS[row["device"]][0],
            "devices": CARDS[row["device"]][1],
            "library": GEMM_SETS[row["source"]],
            "precision": "bf16",
            "m": row["m"],
            "n": row["n"],
            "k": row["k"],
            "seconds": scaled(row["latency_ms"], "0.001"),
        }
        for row in read(folder / "aiconfigurator_gemm_8192.csv")
        if row["source"] in GEMM_SETS and row["precision"] == "bfloat16"
    ]


def sustained(folder: Path) -> list[dict]:
    out = []
    for row in read(folder / "azure_ai_benchmarking.csv"):
        m, n, k = row["shape_mxnxk"].split("x") if row["shape_mxnxk"] else ("", "", "")
        rate = scaled(row["value"], 10**12)
        gemm = row["test"].startswith("gemm")
        out.append(
            {
                "card": CARDS[row["device"]][0],
                "devices": CARDS[row["device"]][1],
                "test": row["test"],
                "precision": "fp8_e4m3" if row["precision"] == "fp8" else row["precision"],
                "m": m,
                "n": n,
                "k": k,
                "flop_per_s": rate if gemm else "",
                "bytes_per_s": "" if gemm else rate,
            }
        )
    return out


def read_bandwidth(folder: Path) -> list[dict]:
    return [
        {
            "card": CARDS[row["device"]][0],
            "devices": CARDS[row["device"]][1],
            "working_set_bytes": scaled(row["working_set_kib"], 1024),
            "bytes_per_s": scaled(row["read_gb_per_s"], 10**9),
            "spread": scaled(row["spread_percent"], "0.01"),
        }
        for row in read(folder / "read_bandwidth_by_working_set.csv")
    ]


def read(path: Path) -> list[dict]:
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


TABLES = [nominal_peaks, nominal_memory, gemm_latency, sustained, read_bandwidth]


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for convert in TABLES:
        rows = convert(Path(sys.argv[1]))
        with open(DATA / f"{convert.__name__}.csv", "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"data/{convert.__name__}.csv: {len(rows)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
