"""Number formats: how many bytes one element takes, and what people call them.

Only the storage size enters the roofline model. ``tf32`` stores 4 bytes like ``fp32``: it changes how matrix units
multiply, not what memory moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True)
class Precision:
    """One number format.

    ``bytes_per_element`` is the payload alone (bytes); ``nvfp4`` also carries one scale byte per 16 elements, which the
    counting rules of :mod:`roofcourse.work` add where they apply. ``torch_name`` is the attribute of ``torch`` that
    stores it, or ``None`` where torch has no such dtype.
    """

    name: str
    bytes_per_element: float
    label: str
    torch_name: str | None

    def __str__(self) -> str:
        return self.name


PRECISIONS: dict[str, Precision] = {
    p.name: p
    for p in (
        Precision("fp64", 8.0, "FP64", "float64"),
        Precision("fp32", 4.0, "FP32", "float32"),
        Precision("tf32", 4.0, "TF32", "float32"),
        Precision("fp16", 2.0, "FP16", "float16"),
        Precision("bf16", 2.0, "BF16", "bfloat16"),
        Precision("fp8_e4m3", 1.0, "FP8", "float8_e4m3fn"),
        Precision("int8", 1.0, "INT8", "int8"),
        Precision("nvfp4", 0.5, "NVFP4", None),
    )
}

_ALIASES = {
    "double": "fp64",
    "float64": "fp64",
    "f64": "fp64",
    "single": "fp32",
    "float": "fp32",
    "float32": "fp32",
    "f32": "fp32",
    "half": "fp16",
    "float16": "fp16",
    "f16": "fp16",
    "bfloat16": "bf16",
    "fp8": "fp8_e4m3",
    "e4m3": "fp8_e4m3",
    "float8_e4m3fn": "fp8_e4m3",
    "fp4": "nvfp4",
}


def precision(name: str | Precision) -> Precision:
    """Look a precision up by the name people write (``"fp16"``, ``"half"``, ``"fp8"``, ``"torch.bfloat16"``).

    Raises ``ValueError`` with the known names when there is no such precision.
    """
    if isinstance(name, Precision):
        return name
    if not isinstance(name, str):
        raise ValueError(f"a precision is a name such as 'fp16', not {name!r}; known: {', '.join(PRECISIONS)}")
    key = name.strip().lower().removeprefix("torch.").replace("-", "_")
    key = _ALIASES.get(key, key)
    if key in PRECISIONS:
        return PRECISIONS[key]
    near = get_close_matches(key, [*PRECISIONS, *_ALIASES], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"unknown precision {name!r}{hint} Known: {', '.join(PRECISIONS)}")
