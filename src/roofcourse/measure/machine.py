"""What this machine is: the manifest that goes with every number measured on it. No host name, no user name."""

from __future__ import annotations

import os
import platform
import re
from datetime import UTC, datetime
from pathlib import Path


def _cpu_name() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.M)
    return found.group(1).strip() if found else platform.machine()


def _cpu_cache_bytes() -> int | None:
    """The largest cache that /sys lists for the first core, in bytes; ``None`` where the system does not say."""
    sizes = []
    for file in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        number, unit = re.fullmatch(r"(\d+)([KM]?)", file.read_text().strip()).groups()
        sizes.append(int(number) * {"": 1, "K": 2**10, "M": 2**20}[unit])
    return max(sizes, default=None)


def manifest(torch, where: str) -> dict:
    """Facts about the machine and the software, for a run file. ``where`` is ``"cpu"`` or ``"cuda"``."""
    facts = {
        "key": where,
        "utc": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "architecture": platform.machine(),
    }
    if where == "cuda":
        card = torch.cuda.get_device_properties(0)
        return {
            **facts,
            "name": card.name,
            "memory_bytes": card.total_memory,
            "multiprocessors": card.multi_processor_count,
            "last_level_cache_bytes": getattr(card, "L2_cache_size", None),
            "cuda": torch.version.cuda,
        }
    return {
        **facts,
        "name": _cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "threads": torch.get_num_threads(),
        "last_level_cache_bytes": _cpu_cache_bytes(),
        "vector_instructions": torch.backends.cpu.get_cpu_capability(),
        "matrix_library": "MKL" if torch.backends.mkl.is_available() else "other",
    }
