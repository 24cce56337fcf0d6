"""What the CPU is: name, caches, memory, threads. Read from the system, no package needed."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from pathlib import Path

_CPUS = Path("/sys/devices/system/cpu")
_UNIT = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def _sysctl(name: str) -> str | None:
    """One value on macOS; ``None`` elsewhere."""
    if platform.system() != "Darwin":
        return None
    done = subprocess.run(["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _cpuinfo(field: str) -> str | None:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # not Linux
        return None
    found = re.search(rf"^{field}\s*:\s*(.+)$", text, re.M)
    return found.group(1).strip() if found else None


def name() -> str:
    return _cpuinfo("model name") or _sysctl("machdep.cpu.brand_string") or platform.processor() or platform.machine()


def flags() -> frozenset[str]:
    """Instruction sets as Linux names them (``avx2``, ``avx512f``); empty where it does not say."""
    return frozenset((_cpuinfo("flags") or _cpuinfo("Features") or "").split())


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def last_level_cache(folder: Path = _CPUS) -> int | None:
    """Bytes of last-level cache that the cores of this process can reach together; ``None`` where nobody says.

    A chip can have several (one for each group of cores): each is counted once, by the cores that share it.
    """
    level, caches = 0, {}
    for core in sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else ():
        for index in folder.glob(f"cpu{core}/cache/index*"):
            try:
                here, kind = int((index / "level").read_text()), (index / "type").read_text().strip()
                number, unit = re.fullmatch(r"(\d+)([KMG]?)", (index / "size").read_text().strip()).groups()
                shared = (index / "shared_cpu_list").read_text().strip()
            except (OSError, ValueError, AttributeError):
                continue  # a virtual machine may leave some of these files out
            if kind == "Instruction" or here < level:
                continue
            if here > level:
                level, caches = here, {}
            caches[shared] = int(number) * _UNIT[unit]
    if caches:
        return sum(caches.values())
    size = _sysctl("hw.l3cachesize") or _sysctl("hw.perflevel0.l2cachesize") or _sysctl("hw.l2cachesize")
    return int(size) if size else None


def memory() -> int | None:
    """Bytes of memory in the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


def free_memory() -> int | None:
    """Bytes that new arrays may take: Linux's own estimate, narrowed by the limit of a container; else half of all."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="utf-8")
    except OSError:
        whole = memory()
        return whole // 2 if whole else None
    found = re.search(r"^MemAvailable:\s*(\d+) kB", text, re.M)
    free = int(found.group(1)) * 1024 if found else None
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
        # Files that were read lately count as used, and give way when the room is needed: less those, as Docker does.
        cached = re.search(r"^inactive_file (\d+)$", Path("/sys/fs/cgroup/memory.stat").read_text(), re.M)
        used -= min(used, int(cached.group(1))) if cached else 0
    except (OSError, ValueError):  # no such limit
        return free
    return min(free, limit - used) if free else limit - used


def edge_past_the_cache() -> int:
    """Edge of a square FP32 matrix of at least twice the last-level cache: 4096, 8192 or, at most, 16384."""
    size = 4096
    while size < 16384 and 4 * size**2 < 2 * (last_level_cache() or 0):
        size *= 2
    return size
