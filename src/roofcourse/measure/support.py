"""Which precision runs on which kind of device: ask (this table), then try, then say why not. One line each."""

from __future__ import annotations

from collections.abc import Callable

#: Kinds of device, in the order in which one is chosen when nobody says.
KINDS = ("cuda", "rocm", "xpu", "mps", "cpu")
#: Kinds whose code has met made-up devices only, so far.
UNTRIED = ("cuda", "rocm", "xpu", "mps")
#: Precisions of matrix products that can be measured live, widest first.
PRODUCTS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8_e4m3", "int8")
#: Precisions of the kernels that only move data, and of the FMA sweep.
MOVED = ("fp64", "fp32", "bf16", "fp16")
MULTIPLIED = ("fp64", "fp32")


class Unavailable(LookupError):
    """This device cannot do that. The text is one line: what is missing, and what to run instead."""


def refusal(kind: str, precision: str, name: str, capability: tuple[int, int] | str | None = None) -> str | None:
    """Why matrix products of this precision cannot run, from what is known beforehand; ``None``: worth a try.

    ``capability``: compute capability of an NVIDIA card, e.g. ``(9, 0)``; architecture of an AMD card, e.g.
    ``"gfx942"``; ``None`` where there is neither.
    """
    if precision not in PRODUCTS:
        return f"{precision} matrix products are not measured live: choose one of {', '.join(PRODUCTS)}"
    return _REFUSE.get(kind, lambda *_: None)(precision, name, capability)


def _cuda(precision: str, name: str, capability) -> str | None:
    needed, units, instead = {
        "tf32": ((8, 0), "TF32 units (Ampere or newer)", "fp16"),
        "bf16": ((8, 0), "BF16 units (Ampere or newer)", "fp16"),
        "fp16": ((5, 3), "FP16 arithmetic (compute capability 5.3)", "fp32"),
        "fp8_e4m3": ((8, 9), "FP8 units (Ada or Hopper, compute capability 8.9, or newer)", "fp16"),
        "int8": ((7, 5), "INT8 matrix units (Turing or newer)", "fp16"),
    }.get(precision, ((0, 0), "", ""))
    if capability is not None and capability < needed:
        return f"{name} has no {units}; its compute capability is {capability[0]}.{capability[1]}: measure {instead}"
    return None


def _rocm(precision: str, name: str, capability) -> str | None:
    architecture = (capability or "").split(":")[0]
    having = {"tf32": ("gfx942", "gfx950"), "fp8_e4m3": ("gfx942", "gfx950", "gfx1200", "gfx1201")}.get(precision)
    if having and architecture and architecture not in having:
        label = "TF32" if precision == "tf32" else "FP8"
        return f"{name} ({architecture}) has no {label} matrix units; an MI300 (gfx942) or newer has: measure bf16"
    return None


def _xpu(precision: str, name: str, capability) -> str | None:
    return None


def _mps(precision: str, name: str, capability) -> str | None:
    if precision == "fp64":
        return f"{name}: Metal has no FP64; measure fp64 with --device cpu"
    if precision in ("tf32", "fp8_e4m3", "int8"):
        return f"{name}: torch has no {precision} matrix product on MPS: measure fp16 or fp32"
    return None


def _cpu(precision: str, name: str, capability) -> str | None:
    if precision == "tf32":
        return f"{name}: TF32 is a format of GPU matrix units; a CPU has none: measure fp32"
    return None


_REFUSE: dict[str, Callable] = {"cuda": _cuda, "rocm": _rocm, "xpu": _xpu, "mps": _mps, "cpu": _cpu}


def one_line(error: BaseException) -> str:
    """The first line of an error's text, shortened: a library's refusal fit to show."""
    text = (str(error).strip() or type(error).__name__).splitlines()[0]
    return text if len(text) <= 160 else text[:157] + "..."
