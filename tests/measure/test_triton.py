"""The GPU's FMA kernel, run by Triton's own interpreter on the CPU where Triton is installed; its text where not."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import roofcourse.measure
from roofcourse.measure import kernels

KERNEL = Path(roofcourse.measure.__file__).with_name("triton_kernel.py")

CHECK = """
import torch
from roofcourse.measure import checks, triton_fma
from roofcourse.measure.spec import Spec
from roofcourse.measure.torch_device import TorchDevice

device = TorchDevice(torch, "cpu")
for precision in ("fp32", "fp64"):
    for r in (1, 8, 64):
        kernel = triton_fma.build(device, Spec("fma", precision, elements=3000, fma_per_element=r))
        checks.inspect(kernel, "cpu")
        checks.check_error(kernel, kernel.error())
        print(precision, r)
"""


@pytest.mark.skipif(find_spec("triton") is None, reason="Triton is not installed (it comes with torch for CUDA)")
def test_the_kernel_is_right():
    done = subprocess.run(
        [sys.executable, "-c", CHECK], capture_output=True, text=True, env={**os.environ, "TRITON_INTERPRET": "1"}
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["fp32", "1", "fp32", "8", "fp32", "64", "fp64", "1", "fp64", "8", "fp64", "64"]


def test_its_factors_are_exact_in_fp32():
    """Triton passes numbers as FP32, also to an FP64 kernel."""
    import numpy as np

    assert float(np.float32(kernels.FMA_A)) == kernels.FMA_A
    assert float(np.float32(kernels.FMA_B)) == kernels.FMA_B
    # x stays between where it starts and 1
    assert kernels.FMA_A + kernels.FMA_B == 1


def test_its_text_reads_once_writes_once_and_multiplies_in_between():
    text = KERNEL.read_text(encoding="utf-8")
    body = text.split('"""')[-1]  # past the two docstrings
    assert len(re.findall(r"tl\.load", body)) == len(re.findall(r"tl\.store", body)) == 1
    assert body.index("tl.load") < body.index("x = x * a + b") < body.index("tl.store")
    assert "for _ in range(turns)" in body
    assert "tl.static_range(TURN)" in body


@pytest.mark.skipif(find_spec("triton") is not None, reason="Triton is installed")
def test_without_triton_the_reason_is_one_line():
    from roofcourse.measure import triton_fma
    from roofcourse.measure.support import Unavailable

    with pytest.raises(Unavailable, match="needs Triton .* pip install triton"):
        triton_fma.jitted()
