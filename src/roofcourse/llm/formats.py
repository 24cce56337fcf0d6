"""How the weights of a model are stored: one number format, or weight-only quantisation with its scales.

Weight-only quantisation touches the matrices of the layers. The input embedding, the output head, the routers of a
mixture of experts, norms and biases stay in 16 bits, as in the published AWQ, GPTQ and MXFP4 checkpoints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..precision import precision as _precision

#: Formats that have no arithmetic of their own here: the weights become 16-bit numbers on the chip.
SIXTEEN_BIT = ("bf16", "fp16")


@dataclass(frozen=True)
class WeightFormat:
    """How one weight is stored.

    ``bits`` of a weight itself; ``group``: how many weights of one output share a scale, ``None`` for all of them
    (with ``per_matrix``, all of the whole matrix); ``scale_bytes`` and ``zero_bits`` (a zero point) for each group.
    ``rest_bytes``: bytes of an element of everything that is not quantised. ``experts_only``: only the matrices of
    experts are quantised. ``compute``: precisions in which the arithmetic may run, the preferred one first.
    """

    name: str
    label: str
    bits: float
    compute: tuple[str, ...]
    rest_bytes: float = 2.0
    quantised: bool = False
    group: int | None = None
    per_matrix: bool = False
    scale_bytes: float = 0.0
    zero_bits: float = 0.0
    experts_only: bool = False

    @property
    def wide_bytes(self) -> float:
        """Bytes of an element that a model keeps in FP32 whatever the rest is stored in."""
        return max(4.0, self.rest_bytes)

    def matrix_bytes(self, k: int, n: int) -> float:
        """Bytes of a matrix of k inputs and n outputs, its scales and zero points included. Groups run along k."""
        if not self.quantised:
            return k * n * self.bits / 8
        groups = 1 if self.per_matrix else n * (1 if self.group is None else -(-k // self.group))
        return k * n * self.bits / 8 + groups * (self.scale_bytes + self.zero_bits / 8)

    def __str__(self) -> str:
        return self.name


def _plain(name: str) -> WeightFormat:
    p = _precision(name)
    compute = {"bf16": SIXTEEN_BIT, "fp16": ("fp16",)}.get(p.name, (p.name,))
    return WeightFormat(p.name, p.label, 8 * p.bytes_per_element, compute, rest_bytes=p.bytes_per_element)


def _grouped(group: int) -> WeightFormat:
    """4-bit integers as AWQ and GPTQ store them: one 16-bit scale and one 4-bit zero point for each group."""
    name = "int4" if group == 128 else f"int4_g{group}"
    label = f"INT4, groups of {group}"
    return WeightFormat(name, label, 4, SIXTEEN_BIT, quantised=True, group=group, scale_bytes=2, zero_bits=4)


#: The formats by name. int4 in groups of 128; ``int4_g32`` and ``int4_g64`` name other groups.
FORMATS: dict[str, WeightFormat] = {
    f.name: f
    for f in (
        *(_plain(name) for name in ("fp64", "fp32", "bf16", "fp16")),
        # One 4-byte scale a matrix; the arithmetic runs in FP8 where the card has it.
        WeightFormat("fp8_e4m3", "FP8", 8, ("fp8_e4m3", *SIXTEEN_BIT), quantised=True, per_matrix=True, scale_bytes=4),
        # One 16-bit scale for each output.
        WeightFormat("int8", "INT8", 8, SIXTEEN_BIT, quantised=True, scale_bytes=2),
        _grouped(128),
        # OCP microscaling: one scale byte for 32 weights; published checkpoints use it for experts alone.
        WeightFormat(
            "mxfp4", "MXFP4 experts", 4, SIXTEEN_BIT, quantised=True, group=32, scale_bytes=1, experts_only=True
        ),
    )
}
_ALIASES = {"fp8": "fp8_e4m3", "e4m3": "fp8_e4m3", "w8a16": "int8", "w4a16": "int4", "awq": "int4", "gptq": "int4"}

#: Bytes of one number in the KV cache, where it is not a precision of the package.
_CACHE_ONLY = {"int4": 0.5}


def weight_format(name) -> WeightFormat:
    """The format by the name people write: ``"bf16"``, ``"fp8"``, ``"int8"``, ``"int4"``, ``"int4_g32"``, ``"mxfp4"``.

    Raises ``ValueError`` in one line with the known names.
    """
    if isinstance(name, WeightFormat):
        return name
    key = str(name).strip().lower().removeprefix("torch.").replace("-", "_")
    key = _ALIASES.get(key, key)
    if key in FORMATS:
        return FORMATS[key]
    if (grouped := re.fullmatch(r"int4_g(\d+)", key)) and int(grouped[1]) > 0:
        return _grouped(int(grouped[1]))
    try:
        return FORMATS[_precision(name).name]
    except (ValueError, KeyError):
        raise ValueError(f"unknown weight format {name!r}; known: {', '.join(FORMATS)}, int4_g32, int4_g64") from None


def cache_bytes(name) -> float:
    """Bytes of one number in the KV cache: any precision of the package, or ``"int4"``. Scales are not counted."""
    key = str(name).strip().lower()
    return _CACHE_ONLY[key] if key in _CACHE_ONLY else _precision(name).bytes_per_element
