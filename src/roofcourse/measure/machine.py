"""The manifest: what was measured, with which software, under which limits. No host name, no user name, no path."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from . import cpu

#: Environment variables that change how fast a library is.
_TUNING = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_BLAS_PREFER_CUBLASLT",
    "TORCH_BLAS_PREFER_HIPBLASLT",
    "PYTORCH_TUNABLEOP_ENABLED",
    "CUBLAS_WORKSPACE_CONFIG",
    "ROCBLAS_USE_HIPBLASLT",
    "HSA_OVERRIDE_GFX_VERSION",
)


def installed(package: str) -> str | None:
    """The version of a package, or ``None``."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _surroundings() -> str:
    """``"WSL"``, ``"container"``, ``"virtual machine"``, or ``"bare metal or unknown"``."""
    if "microsoft" in platform.release().lower():
        return "WSL"
    if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists():
        return "container"
    return "virtual machine" if "hypervisor" in cpu.flags() else "bare metal or unknown"


def command_line(arguments: list[str] | None = None) -> str:
    """The command, without its output file or any other path: a path can tell who ran it."""
    words = sys.argv if arguments is None else arguments
    return " ".join([Path(words[0]).name if words else "", *[w for w in words[1:] if not {"/", "\\"} & set(w)]]).strip()


def manifest(device, *, now: datetime | None = None) -> dict:
    """Facts for a run file; ``None`` where the system does not say."""
    torch = device.torch
    facts = {
        "key": device.kind,
        "name": device.name,
        "kind": device.kind,
        "utc": (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "roofcourse": installed("roofcourse"),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "numpy": installed("numpy"),
        "numba": installed("numba"),
        "triton": installed("triton"),
        "system": platform.system(),
        "kernel": platform.release().partition("-")[0],  # the suffix names a build, and may name its owner
        "architecture": platform.machine(),
        "surroundings": _surroundings(),
        "cpu": cpu.name(),
        "cores": cpu.cores(),
        "threads": torch.get_num_threads(),
        "last_level_cache_bytes": device.last_level_cache,
        "timer": device.timer,
        "seed": 0,
        "environment": {k: os.environ[k] for k in _TUNING if k in os.environ},
        "load_average": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "command": command_line(),
        **device.facts,
    }
    if device.kind == "cpu":
        return {
            **facts,
            "memory_bytes": cpu.memory(),
            "vector_instructions": torch.backends.cpu.get_cpu_capability(),
            "matrix_library": "MKL" if torch.backends.mkl.is_available() else "other",
        }
    card = device.properties
    uuid = getattr(card, "uuid", None)
    facts |= {
        "memory_bytes": getattr(card, "total_memory", None),
        "multiprocessors": getattr(card, "multi_processor_count", None),
        "architecture_name": str(device.capability) if device.capability else None,
        # Tells two cards of one machine apart without naming either.
        "device_hash": hashlib.sha256(str(uuid).encode()).hexdigest()[:12] if uuid else None,
    }
    if device.kind == "cuda":
        facts |= {"cuda": torch.version.cuda, "matrix_library": f"cuBLAS of CUDA {torch.version.cuda}"}
    if device.kind == "rocm":
        facts |= {"hip": torch.version.hip, "matrix_library": f"hipBLAS of ROCm {torch.version.hip}"}
    return facts
