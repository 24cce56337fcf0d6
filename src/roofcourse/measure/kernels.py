"""The timed kernels in torch; numba's and Triton's come from ``vector`` and ``triton_fma``.

Each builder makes the arrays on the device, from random normal numbers, and returns a :class:`~.spec.Kernel`: how to
launch it, how to check its result, and its arrays as they describe themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..precision import PRECISIONS
from . import support
from .spec import MOVING, PRODUCTS, Kernel, Operand, Spec
from .support import Unavailable

#: Values that are looked at when a whole array would be too many.
LOOK = 4096
#: Random numbers are drawn for this many elements of a vector, then repeated: drawing them all would take longer than
#: the measurement.
TILE = 2**22
#: Multiplier and addend of the FMA sweep: x = x * a + b goes slowly to 1, so no value overflows or gets denormal.
FMA_A, FMA_B = 0.9990234375, 0.0009765625


def build(device, spec: Spec) -> Kernel:
    """The kernel of this spec on this device. Raises :class:`~.support.Unavailable` with the reason."""
    if spec.kernel in PRODUCTS:
        return _product(device, spec)
    if spec.kernel == "fma":
        return _fma(device, spec)
    if spec.precision not in support.MOVED:
        raise Unavailable(f"{spec.kernel} is measured in {', '.join(support.MOVED)}, not in {spec.precision}")
    if spec.precision == "fp64" and device.kind == "mps":
        raise Unavailable(support.refusal("mps", "fp64", device.name))
    if spec.implementation == "numba":
        from . import vector

        return vector.build(device, spec)
    return _moving(device, spec)


def _fma(device, spec: Spec) -> Kernel:
    if spec.precision not in support.MULTIPLIED:
        raise Unavailable(f"the FMA sweep is measured in {', '.join(support.MULTIPLIED)}, not in {spec.precision}")
    if device.kind == "cpu":
        from . import vector

        return vector.build(device, spec)
    if device.kind == "mps":
        raise Unavailable("the FMA sweep needs Triton, which does not run on MPS: measure it with --device cpu")
    from . import triton_fma

    return triton_fma.build(device, spec)


def operand(device, array, role: str) -> Operand:
    """An array as it describes itself; of an input, whether its values differ."""
    place = array.device.type
    if place == device.place.split(":")[0]:
        place = device.kind  # ROCm's arrays say "cuda"
    varied = None
    if role == "in":
        flat = array.reshape(-1)
        look = flat[:: max(1, flat.numel() // LOOK)][:LOOK].float().cpu()
        varied = look.numel() == 1 or bool((look != look[0]).any())
    return Operand(role, array.numel() * array.element_size(), place, varied)


def normal(device, precision: str, *shape: int, seed: int):
    """Random normal numbers in this precision, made on the device; integers for int8. The seed fixes them."""
    torch = device.torch
    generator = torch.Generator(device=device.place).manual_seed(seed)
    dtype = getattr(torch, PRECISIONS[precision].torch_name)
    if precision == "int8":
        return torch.randint(-128, 128, shape, generator=generator, device=device.place, dtype=torch.int8)
    if precision in ("fp64", "fp32", "tf32"):
        return torch.randn(*shape, generator=generator, device=device.place, dtype=dtype)
    out = torch.empty(*shape, device=device.place, dtype=dtype)
    # In slices, so that the FP32 numbers never take more memory than the array itself.
    flat, step = out.reshape(-1), 2**26
    for i in range(0, flat.numel(), step):
        part = flat[i : i + step]
        part.copy_(torch.randn(part.numel(), generator=generator, device=device.place, dtype=torch.float32))
    return out


def long_vector(device, precision: str, n: int, *, seed: int):
    """A vector of ``n`` random normal numbers; past :data:`TILE` of them they repeat, which no memory notices."""
    torch = device.torch
    tile = normal(device, precision, min(n, TILE), seed=seed)
    out = torch.empty(n, device=device.place, dtype=tile.dtype)
    for i in range(0, n, TILE):
        part = out[i : i + TILE]
        part.copy_(tile[: part.numel()])
    return out


def _fetcher(result) -> Callable[[], object]:
    """Brings the last number of the result to the host."""
    return lambda: result.reshape(-1)[-1:].cpu()


# -- kernels that move data ---------------------------------------------------------------------------------------


def _moving(device, spec: Spec) -> Kernel:
    torch, n = device.torch, spec.elements
    reads, writes = MOVING[spec.kernel]
    inputs = [long_vector(device, spec.precision, n, seed=i) for i in range(reads)]
    dtype = getattr(torch, PRECISIONS[spec.precision].torch_name)
    out = torch.empty(n if writes else 1, device=device.place, dtype=dtype)
    call = {
        # The sum is written to ``out`` too, so every kernel leaves a result that can be checked.
        "read_reduce": lambda: torch.sum(inputs[0], 0, keepdim=True, out=out),
        "write": lambda: out.fill_(1.5),
        "copy": lambda: out.copy_(inputs[0]),
        "add": lambda: torch.add(*inputs, out=out),
        "triad": lambda: torch.add(*inputs, alpha=3.0, out=out),
    }[spec.kernel]

    def error() -> float:
        out.fill_(float("nan"))
        call()
        if spec.kernel == "read_reduce":
            return sum_error(float(out.cpu()[0]), (part.cpu().double().numpy() for part in inputs[0].split(TILE)))
        step = max(1, n // LOOK)
        read = [x[::step].cpu().double() for x in inputs]
        got = out[::step].cpu().double()
        want = {
            "write": lambda: torch.full_like(got, 1.5),
            "copy": lambda: read[0],
            "add": lambda: read[0] + read[1],
            "triad": lambda: read[0] + 3.0 * read[1],
        }[spec.kernel]()
        return relative_error(got.numpy(), want.numpy())

    operands = [operand(device, x, "in") for x in inputs] + [operand(device, out, "out")]
    counted = {"read_reduce": n - 1, "write": 0, "copy": 0, "add": n, "triad": 2 * n}[spec.kernel]
    return Kernel(spec, call, _fetcher(out), error, tuple(operands), spec.work, counted, "torch")


def relative_error(got: np.ndarray, want: np.ndarray) -> float:
    """Norm of the difference over the norm of what is right; NaN where the result holds a NaN."""
    norm = float(np.linalg.norm(want))
    return float(np.linalg.norm(got - want)) / norm if norm else float(np.linalg.norm(got))


def sum_error(got: float, slices: Iterable[np.ndarray]) -> float:
    """Error of a sum, relative to the sum of the magnitudes. ``slices``: the numbers in FP64, a slice at a time, since
    whole copies would take several times the memory of the array, and seconds."""
    exact = magnitude = 0.0
    for part in slices:
        exact += float(part.sum())
        magnitude += float(np.abs(part).sum())
    return abs(got - exact) / magnitude


# -- matrix products ----------------------------------------------------------------------------------------------


def _product(device, spec: Spec) -> Kernel:
    reason = support.refusal(device.kind, spec.precision, device.name, device.capability)
    if reason:
        raise Unavailable(reason)
    torch, (m, n, k) = device.torch, (spec.m, spec.n, spec.k)
    lead = () if spec.batch is None else (spec.batch,)
    if spec.batch is not None and spec.precision in ("fp8_e4m3", "int8"):
        raise Unavailable(f"batched products are measured in fp64 to fp16, not in {spec.precision}")
    if spec.precision in ("fp8_e4m3", "int8"):
        _aligned(device, spec)
    x = normal(device, spec.precision, *lead, m, k, seed=0)
    extra = []
    if spec.precision == "fp8_e4m3":
        a = normal(device, spec.precision, n, k, seed=1).t()  # the units want A column by column
        y = torch.empty(m, n, device=device.place, dtype=torch.bfloat16)
        one = [torch.ones((), device=device.place) for _ in range(2)]
        extra = [Operand("in", 4, device.kind) for _ in one]

        def call():
            torch._scaled_mm(x, a, one[0], one[1], out_dtype=torch.bfloat16, out=y)
    elif spec.precision == "int8":
        a = normal(device, spec.precision, k, n, seed=1)
        y = torch.empty(m, n, device=device.place, dtype=torch.int32)

        def call():
            torch._int_mm(x, a, out=y)
    else:
        a = normal(device, spec.precision, *lead, k, n, seed=1)
        y = torch.empty(*lead, m, n, device=device.place, dtype=x.dtype)
        if spec.kernel == "gemm_loop":
            triples = list(zip(x, a, y, strict=True))

            def call():
                for xi, ai, yi in triples:
                    torch.mm(xi, ai, out=yi)
        else:

            def call():
                torch.matmul(x, a, out=y)

    def error() -> float:
        y.fill_(-1 if spec.precision == "int8" else float("nan"))
        call()
        return _product_error(x, a, y)

    call()  # the trial: a device that cannot do it says so here
    device.synchronise()
    operands = (operand(device, x, "in"), operand(device, a, "in"), operand(device, y, "out"), *extra)
    return Kernel(spec, call, _fetcher(y), error, operands, spec.work, _count(spec), "torch")


def _aligned(device, spec: Spec) -> None:
    """Sizes that the FP8 and INT8 products of GPUs accept."""
    if device.kind == "cpu":
        return
    step = 16 if spec.precision == "fp8_e4m3" else 8
    low = 1 if spec.precision == "fp8_e4m3" else 17
    if spec.n % step or spec.k % step or spec.m < low:
        least = f"M of at least {low}, and " if low > 1 else ""
        raise Unavailable(f"{spec.title}: {spec.precision} products need {least}N and K in multiples of {step}")


def _product_error(x, a, y) -> float:
    """Relative error of the first and last row against FP64, on the first and last 64 columns, done on the host.

    A corner of the result costs next to nothing and still shows a wrong layout, precision or tail.
    """
    if x.ndim == 3:  # of a batch, the last product
        x, a, y = x[-1], a[-1], y[-1]
    # Widened on the host: some devices have no FP64.
    want = _wide(x[:1], x[-1:], axis=0) @ _wide(a[:, :64], a[:, -64:], axis=1)
    got = np.concatenate([_wide(row[:, :64], row[:, -64:], axis=1) for row in (y[:1], y[-1:])])
    return relative_error(got, want)


def _wide(*parts, axis: int) -> np.ndarray:
    return np.concatenate([part.cpu().double().numpy() for part in parts], axis=axis)


def _count(spec: Spec) -> float:
    """FLOP of the product by torch's own formula: a second opinion on ours."""
    from torch.utils.flop_counter import mm_flop

    return float(mm_flop((spec.m, spec.k), (spec.k, spec.n))) * (spec.batch or 1)
