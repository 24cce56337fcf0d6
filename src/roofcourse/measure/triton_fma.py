"""The FMA sweep on a GPU, in Triton: R dependent FMAs on each element, all in registers, one read and one write.

Each program of 1024 elements is 128 threads with 8 elements each: eight independent chains a thread, which hides the
latency of an FMA. Run so far: by Triton's interpreter on a CPU (the tests). Not yet on a GPU.
"""

from __future__ import annotations

from importlib.util import find_spec

from . import kernels
from .spec import Kernel, Spec
from .support import Unavailable

BLOCK, WARPS = 1024, 4
#: FMAs written out in one turn of the loop, so that counting the turns costs little.
UNROLL = 16


def jitted():
    """The kernel, compiled for the device at its first launch. Raises ``Unavailable`` without Triton."""
    if find_spec("triton") is None:
        raise Unavailable("the FMA sweep on a GPU needs Triton (it comes with torch on Linux): pip install triton")
    from . import triton_kernel

    return triton_kernel.fma


def build(device, spec: Spec) -> Kernel:
    """The sweep's kernel for one R (a power of two, or a multiple of 16) on this device."""
    if spec.precision == "fp64" and device.kind == "xpu" and not getattr(device.properties, "has_fp64", True):
        raise Unavailable(f"{device.name} has no FP64: measure the FMA sweep in fp32")
    function, torch = jitted(), device.torch
    n, repeats = spec.elements, spec.fma_per_element
    turn = min(repeats, UNROLL)
    if repeats % turn:
        raise Unavailable(f"{spec.title}: R must be below {UNROLL} or a multiple of it")
    source = kernels.long_vector(device, spec.precision, n, seed=0)
    out = torch.empty_like(source)
    grid = (-(-n // BLOCK),)

    def call() -> None:
        function[grid](
            source, out, n, repeats // turn, kernels.FMA_A, kernels.FMA_B, TURN=turn, BLOCK=BLOCK, num_warps=WARPS
        )

    def error() -> float:
        out.fill_(float("nan"))
        call()
        step = max(1, n // kernels.LOOK)
        x = source[::step].cpu().double().numpy()
        for _ in range(repeats):
            x = x * kernels.FMA_A + kernels.FMA_B
        return kernels.relative_error(out[::step].cpu().double().numpy(), x)

    call()  # compiles
    operands = (kernels.operand(device, source, "in"), kernels.operand(device, out, "out"))
    return Kernel(spec, call, lambda: out[-1:].cpu(), error, operands, spec.work, 2.0 * repeats * n, "triton")
