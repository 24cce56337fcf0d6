"""``roofcourse doctor``: what this machine can measure, what is missing, and what to install."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from ..precision import PRECISIONS
from ..texttable import table
from . import checks, cpu, support
from .device import Device, missing, open_device
from .spec import Spec
from .support import Unavailable

#: Package -> (its module, what it is for, how to get it).
PACKAGES = {
    "torch": ("torch", "every measurement", "pip install 'roofcourse[live]'"),
    "numba": ("numba", "CPU: FMA sweep, bandwidth with stores past the cache", "pip install 'roofcourse[live]'"),
    "triton": ("triton", "GPU: FMA sweep", "comes with torch on Linux with a GPU"),
    "nvidia-ml-py": ("pynvml", "NVIDIA: clock, power, temperature", "pip install nvidia-ml-py"),
    "transformers": ("transformers", "decode steps of language models", "pip install 'roofcourse[llm]'"),
    "matplotlib": ("matplotlib", "charts", "pip install 'roofcourse[book]'"),
}


def packages() -> list[tuple[str, str, str]]:
    """Package, its version or "missing", what it is for or how to get it."""
    rows = []
    for name, (module, purpose, how) in PACKAGES.items():
        if find_spec(module) is None:
            rows.append((name, "missing", f"{purpose}; {how}"))
            continue
        try:
            found = version(name)
        except PackageNotFoundError:  # built from source, or another package of the same module
            found = "present"
        rows.append((name, found, purpose))
    return rows


def can(device: Device, spec: Spec) -> str | None:
    """Build and run a kernel once and check its result: ``None`` if all is well, else the reason in one line."""
    try:
        with device.settings(spec.precision):
            kernel = device.build(spec)
            checks.inspect(kernel, device.kind)
            checks.check_error(kernel, kernel.error())
    except (Unavailable, checks.Fault) as reason:
        return str(reason)
    return None


def cells(device: Device) -> list[tuple[str, str]]:
    """For every precision and for the FMA sweep: "ok", or why not."""
    rows = []
    for precision in support.PRODUCTS:
        reason = can(device, Spec("gemm", precision, m=256, n=256, k=256))
        rows.append((f"matrix product {PRECISIONS[precision].label}", reason or "ok"))
    for precision in support.MULTIPLIED:
        reason = can(device, Spec("fma", precision, elements=768 * 64, fma_per_element=16))
        rows.append((f"FMA sweep {PRECISIONS[precision].label}", reason or "ok"))
    return rows


def examine(kind: str | None = None) -> str:
    """The whole report. Without torch it says so and what to install; it raises for an unknown kind only."""
    size, cache = cpu.memory(), cpu.last_level_cache()
    parts = [
        f"CPU: {cpu.name()}, {cpu.cores()} cores"
        + (f", {size / 2**30:.0f} GiB memory" if size else "")
        + (f", last-level cache {cache / 2**20:.0f} MiB" if cache else ", last-level cache unknown"),
        table(packages(), left=3),
    ]
    if find_spec("torch") is None:
        parts.append("Nothing can be measured without torch. The bundled data, charts and chapters work as they are.")
        return "\n\n".join(parts)
    import torch

    from .torch_device import kinds

    here = kinds(torch)
    parts.append(table([(k, "ok" if k in here else missing(torch, k, here).split(": ", 1)[1]) for k in support.KINDS]))
    device = open_device(kind)
    sensors = device.telemetry().note
    parts.append(
        f"{device.name} ({device.kind}), timed by {device.timer}"
        + ("; its code has been tested on made-up devices only so far" if device.kind in support.UNTRIED else "")
        + (f"\n{sensors}" if sensors else "")
        + f"\n{table(cells(device))}"
    )
    return "\n\n".join(parts)
