"""Settings of torch: those that change what a matrix product means, put back afterwards, and how much it writes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def measuring(torch, precision: str) -> Iterator[None]:
    """No gradients; FP32 products and convolutions in full FP32, or in TF32 if that is the precision. All restored on
    leaving.

    torch has old switches for TF32 and new ones, and raises where the old are read after the new were used. So the
    ones that the caller uses are used here too.
    """
    before = _old(torch)
    new = [] if before else _new(torch)
    values = [switch.fp32_precision for switch in new]
    narrow = precision == "tf32"
    if before:
        _set_old(torch, "high" if narrow else "highest", narrow)
    for switch in new:
        switch.fp32_precision = "tf32" if narrow else "ieee"
    try:
        with torch.inference_mode():
            yield
    finally:
        if before:
            _set_old(torch, *before)
        for switch, value in zip(new, values, strict=True):
            switch.fp32_precision = "none"  # what it says then comes from the switch above it
            if switch.fp32_precision != value:
                switch.fp32_precision = value


def tf32(torch) -> tuple[bool, bool]:
    """Whether FP32 matrix products, and FP32 convolutions, may run in TF32 now, on an NVIDIA GPU that has it.

    They differ unless the caller says otherwise: cuDNN convolutions may, products may not.
    """
    old = _old(torch)
    if old is not None:
        return old[0] != "highest", old[1]
    return torch.backends.cuda.matmul.fp32_precision == "tf32", torch.backends.cudnn.conv.fp32_precision == "tf32"


def _old(torch) -> tuple[str, bool] | None:
    """What the old switches say of products and convolutions; ``None`` where the caller uses the new ones."""
    try:
        return torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    except RuntimeError:
        return None


def _set_old(torch, products: str, convolutions: bool) -> None:
    torch.set_float32_matmul_precision(products)
    torch.backends.cudnn.allow_tf32 = convolutions


def _new(torch) -> list:
    """The new switches of what runs in FP32: products and convolutions."""
    backends = torch.backends
    return [backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn, backends.mkldnn.matmul]


def quiet_profiler() -> None:
    """Call it before torch's profiler is first used: some builds write a line to stderr at each start and stop."""
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
