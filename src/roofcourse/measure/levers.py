"""Before and after of each lever, timed in turns: on one core of a CPU, or on a GPU.

One core, so that nothing waits for other threads and one roof holds for all. Every result is checked before its time
counts. The two ways of a lever take turns, so that a busy moment of the machine does not hit one of them alone.

Run on real hardware so far: the CPU. The ways of a GPU are tested on a CPU's torch, the graph on none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import torch

from .. import levers
from ..records import Measurement
from . import cpu
from .fastest import fastest
from .kernels import FMA_A, FMA_B, normal
from .settings import measuring
from .support import Unavailable, one_line

#: How long the ways of one lever take turns, and how often they do so at least.
SECONDS, QUICK_SECONDS = 4.0, 1.2
ROUNDS = 5
#: Levers that are loops of a CPU; on a machine with a GPU they run on its CPU too.
ON_THE_CPU = ("block", "units", "latency")
#: Largest relative error of a right result.
TOLERANCE = {"fp64": 1e-9, "fp32": 1e-4, "tf32": 2e-3, "fp16": 2e-2, "bf16": 2e-2}
#: Heads, tokens and numbers a head of the attention; multiply-adds on each number; rows of a batch.
HEADS, TOKENS, HEAD_DIM = 8, 2048, 64
R, FMA_ELEMENTS = 512, 2**14
BATCH_ROWS = 16
#: Edge of the square products, and of the small ones with their number.
SQUARE, SMALL, SMALL_COUNT = 1024, 16, 256
#: Kernels in the graph.
GRAPH_KERNELS = 50
#: The least elements of the chain, and sectors of the strided read, on a GPU.
GPU_CHAIN, GPU_SECTORS = 2**26, 2**24


@dataclass(frozen=True)
class Way:
    """One way to do something: ``call`` does it once, ``error`` does it and gives the relative error."""

    kernel: str
    precision: str
    call: Callable[[], object]
    error: Callable[[], float]
    implementation: str
    shape: dict = field(default_factory=dict)


def on_one_core(name: str, *, quick: bool) -> list[Measurement]:
    """Both kernels of a lever on one CPU core. Raises :class:`~.support.Unavailable` in one line if that cannot be."""
    if name not in ON_A_CORE:
        raise Unavailable(f"the lever {name!r} needs a GPU: a CPU has no launches to record")
    with _one_thread():
        return _take(ON_A_CORE[name](), "cpu", quick, _host_span)


def core_roofs(*, quick: bool) -> list[Measurement]:
    """The kernels that set the roofs of one core."""
    with _one_thread():
        return [x for way in _roof_ways() for x in _take([way], "cpu", quick, _host_span)]


def on_device(device, name: str, *, quick: bool) -> list[Measurement]:
    """Both kernels of a lever on a GPU. Raises :class:`~.support.Unavailable` in one line if that cannot be."""
    if name not in ON_A_GPU:
        raise Unavailable(f"the lever {name!r} is not measured on a GPU")
    with device.settings("fp32"):
        try:
            return _take(ON_A_GPU[name](device), device.kind, quick, device.span)
        except (RuntimeError, NotImplementedError, TypeError, ImportError) as error:
            # What torch raises for a kernel or a compiler that is not there: its first line is the reason.
            raise Unavailable(f"the lever {name!r} does not run on {device.name}: {one_line(error)}") from error
        finally:
            device.release()


# -- timing ---------------------------------------------------------------------------------------------------------


@contextmanager
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with measuring(torch, "fp32"):
            yield
    finally:
        torch.set_num_threads(before)


def _host_span(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _take(ways: Sequence[Way], where: str, quick: bool, span) -> list[Measurement]:
    for way in ways:
        error = way.error()
        if not error <= TOLERANCE[way.precision]:
            raise ArithmeticError(f"{way.kernel} in {way.precision} is wrong: relative error {error:.2g}")
    samples: list[list[float]] = [[] for _ in ways]
    limit, start = (QUICK_SECONDS if quick else SECONDS), time.perf_counter()
    while time.perf_counter() - start < limit or len(samples[0]) < ROUNDS:
        for way, taken in zip(ways, samples, strict=True):
            taken.append(span(way.call))
    return [_record(way, taken, where) for way, taken in zip(ways, samples, strict=True)]


def _record(way: Way, samples: list[float], where: str) -> Measurement:
    work = levers.counted(way.kernel, way.precision, **way.shape)
    return Measurement(
        device=where,
        kernel=way.kernel,
        precision=way.precision,
        work=work,
        **way.shape,
        working_set_bytes=float(work.bytes),
        **fastest(samples, "on one core" if where == "cpu" else ""),
        kind="measured live",
        source="this session",
        implementation=way.implementation,
    )


def _relative(got, want) -> float:
    got, want = (np.asarray(x, dtype=np.float64) for x in (got, want))
    return float(np.linalg.norm(got - want) / np.linalg.norm(want))


# -- ways in torch, on any device -----------------------------------------------------------------------------------


class _Torch:
    """Where the ways of torch run: the place, and what it is called there."""

    def __init__(self, place: str) -> None:
        self.torch, self.place = torch, place

    def normal(self, precision: str, *shape: int, seed: int = 0):
        return normal(self, precision, *shape, seed=seed)


def _chain(x, y):
    """y = max(a x + b, 0) ^ 2 - c, a step and a pass over memory at a time."""
    torch.mul(x, 1.5, out=y)
    torch.add(y, 0.5, out=y)
    torch.clamp_min(y, 0.0, out=y)
    torch.mul(y, y, out=y)
    torch.sub(y, 1.0, out=y)


def _chain_expected(x: np.ndarray) -> np.ndarray:
    return np.maximum(1.5 * x.astype(np.float64) + 0.5, 0.0) ** 2 - 1.0


def _chain_ways(t: _Torch, n: int, fused, implementation: str) -> list[Way]:
    x = t.normal("fp32", n)
    y = torch.empty_like(x)
    look = slice(None, None, max(1, n // 4096))

    def error(call) -> Callable[[], float]:
        def check() -> float:
            y.fill_(float("nan"))
            call()
            return _relative(y[look].cpu().numpy(), _chain_expected(x[look].cpu().numpy()))

        return check

    def step_by_step() -> None:
        _chain(x, y)

    def at_once() -> None:
        fused(x, y)

    shape = {"elements": n}
    return [
        Way("chain_steps", "fp32", step_by_step, error(step_by_step), "torch", shape),
        Way("chain_fused", "fp32", at_once, error(at_once), implementation, shape),
    ]


def _attention_ways(t: _Torch, precision: str, heads: int = HEADS, tokens: int = TOKENS) -> list[Way]:
    q, k, v = (t.normal(precision, 1, heads, tokens, HEAD_DIM, seed=i) for i in range(3))
    scale = HEAD_DIM**-0.5
    out: dict[str, torch.Tensor] = {}

    def written_out() -> None:
        out["y"] = torch.softmax((q * scale) @ k.transpose(-1, -2), -1) @ v

    def fused() -> None:
        out["y"] = torch.nn.functional.scaled_dot_product_attention(q, k, v)

    def error(call) -> Callable[[], float]:
        def check() -> float:
            call()
            scores = (q[0, -1, -4:].double() @ k[0, -1].double().T) * scale
            return _relative(out["y"][0, -1, -4:].cpu().double(), (torch.softmax(scores, -1) @ v[0, -1].double()).cpu())

        return check

    shape = {"m": tokens, "n": tokens, "k": HEAD_DIM, "batch": heads}
    return [
        Way("attention_steps", precision, written_out, error(written_out), "torch", shape),
        Way("attention_fused", precision, fused, error(fused), "torch", shape),
    ]


def _product_way(t: _Torch, kernel: str, precision: str, m: int, n: int, k: int) -> Way:
    x, a = t.normal(precision, m, k), t.normal(precision, k, n, seed=1)
    y = torch.empty(m, n, dtype=x.dtype, device=t.place)

    def call() -> None:
        torch.mm(x, a, out=y)

    def error() -> float:
        y.fill_(float("nan"))
        call()
        return _relative(y[-1:, :64].double().cpu(), (x[-1:].double() @ a[:, :64].double()).cpu())

    return Way(kernel, precision, call, error, "torch", {"m": m, "n": n, "k": k})


def _gemv_way(t: _Torch, precision: str, size: int) -> Way:
    a, x = t.normal(precision, size, size), t.normal(precision, size, seed=1)
    y = torch.empty(size, dtype=a.dtype, device=t.place)

    def call() -> None:
        torch.mv(a, x, out=y)

    def error() -> float:
        y.fill_(float("nan"))
        call()
        return _relative(y[:64].double().cpu(), (a[:64].double() @ x.double()).cpu())

    return Way("gemv", precision, call, error, "torch", {"m": 1, "n": size, "k": size})


def _batch_ways(t: _Torch, precision: str, n: int = SMALL, count: int = SMALL_COUNT) -> list[Way]:
    x, a = (t.normal(precision, count, n, n, seed=i) for i in range(2))
    y = torch.empty_like(x)
    triples = list(zip(x, a, y, strict=True))

    def loop() -> None:
        for left, right, result in triples:
            torch.mm(left, right, out=result)

    def together() -> None:
        torch.bmm(x, a, out=y)

    def error(call) -> Callable[[], float]:
        def check() -> float:
            y.fill_(float("nan"))
            call()
            return _relative(y.double().cpu(), (x.double() @ a.double()).cpu())

        return check

    shape = {"m": n, "n": n, "k": n, "batch": count}
    return [
        Way("gemm_loop", precision, loop, error(loop), "torch", shape),
        Way("gemm_batched", precision, together, error(together), "torch", shape),
    ]


# -- one core of a CPU ----------------------------------------------------------------------------------------------

_CORE = _Torch("cpu")


def _numba():
    try:
        import numba
    except ModuleNotFoundError:
        raise Unavailable("this lever needs numba: pip install 'roofcourse[live]'") from None
    return numba


def _long() -> int:
    """Elements of an FP32 array of four times the last-level cache, and of 128 MiB at least."""
    return max(2**25, 1 << ((cpu.last_level_cache() or 0) - 1).bit_length())


def _fuse() -> list[Way]:
    numba = _numba()

    @numba.njit(fastmath={"contract"}, nogil=True)
    def fused(x, y):
        for i in range(x.size):
            t = max(np.float32(1.5) * x[i] + np.float32(0.5), np.float32(0.0))
            y[i] = t * t - np.float32(1.0)

    return _chain_ways(_CORE, _long(), lambda x, y: fused(x.numpy(), y.numpy()), "numba")


def _block() -> list[Way]:
    _numba()
    from .loops import LOOPS

    m, size = 32, cpu.edge_past_the_cache()
    dice = np.random.default_rng(0)
    x = dice.standard_normal((m, size), dtype=np.float32)
    a = dice.standard_normal((size, size), dtype=np.float32)
    y = np.empty((m, size), dtype=np.float32)
    want = x.astype(np.float64) @ a[:, :64].astype(np.float64)

    def way(kernel: str) -> Way:
        loop = LOOPS[kernel][0]

        def error() -> float:
            y.fill(np.nan)
            loop(x, a, y)
            return _relative(y[:, :64], want)

        return Way(kernel, "fp32", lambda: loop(x, a, y), error, "numba", {"m": m, "n": size, "k": size})

    return [way("gemm_rows"), way("gemm_blocked")]


def _fma_way(kernel: str, width: int, chains: int) -> Way:
    """R multiply-adds on each number: ``width`` bytes of numbers an instruction, ``chains`` of them side by side."""
    from .vector import Width, _aligned, compiled

    run = compiled("fma", "fp32", Width(width, chains))
    x, y = (_aligned(FMA_ELEMENTS, np.float32) for _ in range(2))
    x[:] = np.random.default_rng(0).standard_normal(FMA_ELEMENTS, dtype=np.float32)
    blocks = FMA_ELEMENTS * 4 // (width * chains)

    def call() -> None:
        run(x.ctypes.data, x.ctypes.data, y.ctypes.data, blocks, R, np.float32(FMA_A), np.float32(FMA_B))

    def error() -> float:
        y.fill(np.nan)
        call()
        want = x.astype(np.float64)
        for _ in range(R):
            want = want * FMA_A + FMA_B
        return _relative(y, want)

    shape = {"elements": FMA_ELEMENTS, "fma_per_element": R, "batch": width // 4}
    return Way(kernel, "fp32", call, error, "numba", shape)


def _register() -> int:
    """Bytes of a vector register."""
    from .vector import width

    return width(cpu.flags(), os.uname().machine if hasattr(os, "uname") else "").bytes


def _units() -> list[Way]:
    _numba()
    return [_fma_way("fma_scalar", 4, 16), _fma_way("fma_wide", _register(), 8)]


def _latency() -> list[Way]:
    _numba()
    return [_fma_way("fma_chain", 4, 1), _fma_way("fma_scalar", 4, 16)]


def _stride() -> list[Way]:
    numba = _numba()
    per_line = levers.LINE_BYTES // 4
    x = np.random.default_rng(0).random(2**20, dtype=np.float32)
    x = np.tile(x, 2 * _long() // x.size)

    # In the order written: with "fastmath" the compiler would gather, which is slower than what is to be shown.
    @numba.njit(nogil=True)
    def strided(x, step):
        total = np.float64(0)
        for i in range(0, x.size, step):
            total += x[i]
        return total

    @numba.njit(fastmath=True, nogil=True)
    def together(x):
        total = np.float32(0)
        for i in range(x.size):
            total += x[i]
        return total

    def way(kernel: str, call, part: np.ndarray) -> Way:
        def error() -> float:
            return _relative([call()], [part.sum(dtype=np.float64)])

        return Way(kernel, "fp32", call, error, "numba", {"elements": part.size})

    return [
        way("read_strided", lambda: strided(x, per_line), x[::per_line]),
        way("read_together", lambda: together(x), x),
    ]


def _roof_ways():
    """What sets B and F of one core; one at a time, as each takes memory."""
    from . import vector

    _numba()
    n, wide = _long(), _register()
    arrays = [vector._aligned(n, np.float32) for _ in range(3)]
    tile = np.random.default_rng(0).standard_normal(2**20, dtype=np.float32)
    for array in arrays:
        array.reshape(-1, tile.size)[:] = tile
    first, second, out = (a.ctypes.data for a in arrays)
    expected = {
        "read_reduce": lambda: np.float64(tile.sum(dtype=np.float64) * (n // tile.size)),
        "copy": lambda: arrays[0][:4096],
        "triad": lambda: arrays[0][:4096] + vector.TRIAD * arrays[1][:4096],
    }
    for kernel, kind in (("core_read", "read_reduce"), ("core_copy", "copy"), ("core_triad", "triad")):
        run = vector.compiled(kind, "fp32", vector.Width(wide, 8))

        def call(run=run) -> None:
            run(first, second, out, n * 4 // (wide * 8), 1, np.float32(1), np.float32(1))

        def error(call=call, kind=kind) -> float:
            arrays[2][:4096] = np.nan
            call()
            if kind == "read_reduce":
                # Of numbers of both signs little is left in a sum: compare with the sum of their sizes.
                off = abs(float(arrays[2][: wide // 4].sum(dtype=np.float64)) - float(expected[kind]()))
                return off / float(np.abs(tile).sum(dtype=np.float64) * (n // tile.size))
            return _relative(arrays[2][:4096], expected[kind]())

        yield Way(kernel, "fp32", call, error, "numba", {"elements": n})
    yield _fma_way("core_fma", wide, 8)
    for precision in ("fp32", "fp64", "bf16"):
        yield _product_way(_CORE, "core_gemm", precision, SQUARE, SQUARE, SQUARE)


ON_A_CORE: dict[str, Callable[[], list[Way]]] = {
    "fuse": _fuse,
    "attention": lambda: _attention_ways(_CORE, "fp32"),
    "block": _block,
    "shorter": lambda: [_gemv_way(_CORE, p, cpu.edge_past_the_cache()) for p in ("fp64", "fp32")],
    "rows": lambda: [
        _product_way(_CORE, "rows", "fp32", m, cpu.edge_past_the_cache(), cpu.edge_past_the_cache())
        for m in (1, BATCH_ROWS)
    ],
    "units": _units,
    "format": lambda: [_product_way(_CORE, "square", p, SQUARE, SQUARE, SQUARE) for p in ("fp32", "bf16")],
    "latency": _latency,
    "stride": _stride,
    "batch": lambda: _batch_ways(_CORE, "fp32"),
}


# -- a GPU ----------------------------------------------------------------------------------------------------------


def _gpu_fuse(device) -> list[Way]:
    n = max(GPU_CHAIN, 1 << (device.cache - 1).bit_length())

    def formula(x, y):
        t = torch.clamp_min(1.5 * x + 0.5, 0.0)
        y.copy_(t * t - 1.0)

    return _chain_ways(_Torch(device.place), n, torch.compile(formula), "torch.compile")


def _gpu_stride(device) -> list[Way]:
    per_sector = levers.SECTOR_BYTES // 4
    x = _Torch(device.place).normal("fp32", max(GPU_SECTORS, device.cache // 4), per_sector).square_()
    out = torch.empty((), device=device.place)

    def way(kernel: str, view: torch.Tensor) -> Way:
        def call() -> None:
            torch.sum(view, 0, out=out)

        def error() -> float:
            call()
            return _relative([float(out)], [float(view.cpu().double().sum())])

        return Way(kernel, "fp32", call, error, "torch", {"elements": view.numel()})

    return [way("read_strided", x[:, 0]), way("read_together", x.reshape(-1))]


def _gpu_graph(device) -> list[Way]:
    if device.kind not in ("cuda", "rocm"):
        raise Unavailable(f"the lever 'graph' needs CUDA or ROCm, not {device.kind}")
    x = _Torch(device.place).normal("fp32", 4096)
    start = x.clone()

    def launches() -> None:
        for _ in range(GRAPH_KERNELS):
            x.mul_(1.0001)

    side = torch.cuda.Stream()  # a graph is recorded from a stream of its own, after a warm-up there
    with torch.cuda.stream(side):
        launches()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launches()

    def error(call) -> Callable[[], float]:
        def check() -> float:
            x.copy_(start)
            call()
            return _relative(x.cpu(), start.cpu().double() * 1.0001**GRAPH_KERNELS)

        return check

    shape = {"elements": 4096, "batch": GRAPH_KERNELS}
    return [
        Way("launches", "fp32", launches, error(launches), "torch", shape),
        Way("graph", "fp32", graph.replay, error(graph.replay), "CUDA graph", shape),
    ]


ON_A_GPU: dict[str, Callable[..., list[Way]]] = {
    "fuse": _gpu_fuse,
    "attention": lambda d: _attention_ways(_Torch(d.place), "fp16", heads=32, tokens=4096),
    "shorter": lambda d: [_gemv_way(_Torch(d.place), p, 8192) for p in ("fp64", "fp32")],
    "rows": lambda d: [_product_way(_Torch(d.place), "rows", "fp16", m, 8192, 8192) for m in (1, BATCH_ROWS)],
    "format": lambda d: [_product_way(_Torch(d.place), "square", p, 4096, 4096, 4096) for p in ("fp32", "bf16")],
    "stride": _gpu_stride,
    "batch": lambda d: _batch_ways(_Torch(d.place), "fp16", 256, 1024),
    "graph": _gpu_graph,
}
