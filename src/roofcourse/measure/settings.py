"""Settings of torch that change what a matrix product means: set for the measurement, put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def measuring(torch, precision: str) -> Iterator[None]:
    """No gradients; FP32 products in full FP32, or in TF32 if that is the precision. All restored on leaving.

    One switch only: torch has an old and a new one for TF32, and raises if both were touched.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
    try:
        with torch.inference_mode():
            yield
    finally:
        torch.set_float32_matmul_precision(before)
