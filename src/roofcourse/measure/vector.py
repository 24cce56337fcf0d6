"""CPU kernels made of vector instructions: read, write, copy, add, triad, and the FMA sweep. Needs numba.

A compiler that turns a Python loop into vector instructions chooses their width and how many results are in flight;
LLVM's default on a CPU with 512-bit vectors is to use 256 bits, which halves the peak. So the loops are written down
as LLVM's own instructions here: vectors of the CPU's full width, enough independent ones in flight, and stores that
bypass the cache where a result is not read again. numba compiles them and lets go of Python's lock while they run.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec

import numpy as np

from . import cpu
from .kernels import FMA_A, FMA_B, LOOK, TILE, relative_error, sum_error
from .spec import MOVING, Kernel, Operand, Spec
from .support import Unavailable

NUMPY_TYPE = {"fp32": np.float32, "fp64": np.float64}
#: Scalar of the triad, and the value that "write" writes.
TRIAD, WRITTEN = 3.0, 1.5


@dataclass(frozen=True)
class Width:
    """Vector registers of this CPU: their size in bytes, and how many independent results to keep in flight.

    An FMA takes about four cycles and two start in each, so eight must be in flight; registers are left for the two
    factors and the loop.
    """

    bytes: int
    chains: int


def width(flags: frozenset[str], machine: str) -> Width:
    """From the instruction sets that the system names."""
    if "avx512f" in flags:
        return Width(64, 16)
    if "avx2" in flags and "fma" in flags:
        return Width(32, 12)
    if machine in ("aarch64", "arm64"):
        return Width(16, 16)
    raise Unavailable("vector kernels need a CPU with AVX2 and FMA, AVX-512, or 64-bit Arm")


def emit(builder, kind: str, element, vector: Width, pointers, blocks, repeats, a, b) -> None:
    """Write the loop of one kernel with an ``llvmlite`` builder.

    ``element``: LLVM type of a number. ``pointers``: two inputs and the output, as vector pointers, aligned to a
    vector. One block is ``vector.chains`` vectors. ``repeats``, ``a``, ``b``: R and the factors of the FMA sweep.
    """
    from llvmlite import ir

    size = 4 if isinstance(element, ir.FloatType) else 8
    lanes = vector.bytes // size
    wide, i64, i32 = ir.VectorType(element, lanes), ir.IntType(64), ir.IntType(32)
    reads, writes = MOVING.get(kind, (1, 1))
    module = builder.module
    name = f"llvm.fma.v{lanes}f{8 * size}"
    fma = module.globals.get(name) or ir.Function(module, ir.FunctionType(wide, [wide] * 3), name)

    def everywhere(value):
        one = builder.insert_element(ir.Constant(wide, ir.Undefined), value, ir.Constant(i32, 0))
        zeros = ir.Constant(ir.VectorType(i32, lanes), [0] * lanes)
        return builder.shuffle_vector(one, ir.Constant(wide, ir.Undefined), zeros)

    def constant(value):
        return ir.Constant(wide, [ir.Constant(element, value)] * lanes)

    all_a, all_b = everywhere(a), everywhere(b)
    start = builder.block
    loop, done = builder.append_basic_block("blocks"), builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed(">", blocks, ir.Constant(i64, 0)), loop, done)

    builder.position_at_end(loop)
    block = builder.phi(i64)
    block.add_incoming(ir.Constant(i64, 0), start)
    sums = []
    if kind == "read_reduce":
        for _ in range(vector.chains):
            total = builder.phi(wide)
            total.add_incoming(constant(0.0), start)
            sums.append(total)
    first = builder.mul(block, ir.Constant(i64, vector.chains))
    places = [builder.add(first, ir.Constant(i64, i)) for i in range(vector.chains)]
    inputs = [[builder.load(builder.gep(p, [i]), align=vector.bytes) for i in places] for p in pointers[:reads]]
    if kind == "write":
        results = [constant(WRITTEN)] * vector.chains
    elif kind == "add":
        results = [builder.fadd(x, y) for x, y in zip(*inputs, strict=True)]
    elif kind == "triad":
        results = [builder.call(fma, [y, constant(TRIAD), x]) for x, y in zip(*inputs, strict=True)]
    elif kind == "read_reduce":
        results = [builder.fadd(total, x) for total, x in zip(sums, inputs[0], strict=True)]
    elif kind == "fma":
        results = _fma_loop(builder, fma, inputs[0], repeats, all_a, all_b)
    else:
        results = inputs[0]
    if writes:
        for i, value in zip(places, results, strict=True):
            store = builder.store(value, builder.gep(pointers[2], [i]), align=vector.bytes)
            if kind != "fma":
                # Past the cache: a plain store would first read the line it overwrites.
                store.set_metadata("nontemporal", module.add_metadata([ir.Constant(i32, 1)]))
    following = builder.add(block, ir.Constant(i64, 1))
    end = builder.block
    block.add_incoming(following, end)
    for total, value in zip(sums, results if sums else (), strict=True):
        total.add_incoming(value, end)
    builder.cbranch(builder.icmp_signed("<", following, blocks), loop, done)

    builder.position_at_end(done)
    if sums:
        total = constant(0.0)
        for value in results:
            last = builder.phi(wide)
            last.add_incoming(constant(0.0), start)
            last.add_incoming(value, end)
            sums.append(last)
        for last in sums[vector.chains :]:
            total = builder.fadd(total, last)
        builder.store(total, pointers[2], align=vector.bytes)
    builder.fence("seq_cst")


def _fma_loop(builder, fma, values, repeats, a, b):
    """``repeats`` dependent FMAs on each of several vectors, all in registers."""
    from llvmlite import ir

    before = builder.block
    loop, after = builder.append_basic_block("fma"), builder.append_basic_block("fma_done")
    builder.branch(loop)
    builder.position_at_end(loop)
    count = builder.phi(repeats.type)
    count.add_incoming(ir.Constant(repeats.type, 0), before)
    chains = []
    for value in values:
        chain = builder.phi(value.type)
        chain.add_incoming(value, before)
        chains.append(chain)
    results = [builder.call(fma, [chain, a, b]) for chain in chains]
    following = builder.add(count, ir.Constant(repeats.type, 1))
    for chain, result in zip(chains, results, strict=True):
        chain.add_incoming(result, loop)
    count.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, repeats), loop, after)
    builder.position_at_end(after)
    return results


@cache
def compiled(kind: str, precision: str, vector: Width):
    """The kernel as a function ``(in1, in2, out, blocks, R, a, b)`` of addresses and counts; it holds no lock."""
    if find_spec("numba") is None:
        raise Unavailable("vector kernels on the CPU need numba: pip install 'roofcourse[live]'")
    import numba
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    number = numba.from_dtype(np.dtype(NUMPY_TYPE[precision]))
    arguments = (types.int64,) * 5 + (number, number)

    @intrinsic
    def body(typing, in1, in2, out, blocks, repeats, a, b):
        def generate(context, builder, signature, values):
            element = ir.FloatType() if precision == "fp32" else ir.DoubleType()
            wide = ir.VectorType(element, vector.bytes // np.dtype(NUMPY_TYPE[precision]).itemsize)
            pointers = [builder.inttoptr(v, wide.as_pointer()) for v in values[:3]]
            emit(builder, kind, element, vector, pointers, *values[3:])
            return context.get_dummy_value()

        return types.void(*arguments), generate

    def run(in1, in2, out, blocks, repeats, a, b):
        body(in1, in2, out, blocks, repeats, a, b)

    return numba.njit(types.void(*arguments), nogil=True)(run)


class Team:
    """Threads that stay: part i of every job runs on thread i, so memory is used by the core that touched it first."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._jobs = [queue.SimpleQueue() for _ in range(size - 1)]
        for i, jobs in enumerate(self._jobs, start=1):
            threading.Thread(target=self._work, args=(i, jobs), daemon=True, name=f"roofcourse-{i}").start()

    def _work(self, i: int, jobs: queue.SimpleQueue) -> None:
        while True:
            job, ended, bell = jobs.get()
            try:
                job(i)
                ended.append(None)
            except BaseException as error:
                ended.append(error)
            bell.put(None)

    def run(self, job) -> None:
        """``job(0)`` ... ``job(size - 1)``, at the same time; returns, or raises, when all have finished."""
        ended: list[BaseException | None] = []  # of this job alone, as is its bell: no other job waits for them
        bell: queue.SimpleQueue = queue.SimpleQueue()
        for jobs in self._jobs:
            jobs.put((job, ended, bell))
        try:
            job(0)
            for _ in self._jobs:
                bell.get()
        finally:  # after Ctrl-C, here or in a job, the others still work on arrays that the caller would let go of
            while len(ended) < len(self._jobs):
                time.sleep(0.001)
        for error in ended:
            if error is not None:
                raise error


@cache
def team(size: int, process: int) -> Team:
    """One team per process (``process``: its id; threads do not survive a fork)."""
    return Team(size)


def _aligned(count: int, dtype) -> np.ndarray:
    """An array that starts at a multiple of 64 bytes, its memory not touched yet."""
    size = count * np.dtype(dtype).itemsize
    raw = np.empty(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size].view(dtype)


def build(device, spec: Spec) -> Kernel:
    """A vector kernel on all cores of this process. Raises ``Unavailable`` without numba, or for other precisions."""
    if spec.precision not in NUMPY_TYPE:
        raise Unavailable(f"vector kernels on the CPU are measured in fp32 and fp64, not in {spec.precision}")
    vector = width(cpu.flags(), os.uname().machine if hasattr(os, "uname") else "")
    dtype = NUMPY_TYPE[spec.precision]
    run = compiled(spec.kernel, spec.precision, vector)
    block = vector.bytes * vector.chains // np.dtype(dtype).itemsize
    n, crew = spec.elements, team(cpu.cores(), os.getpid())
    if n % block:
        raise Unavailable(f"{spec.title}: vector kernels need a multiple of {block} elements")
    reads, writes = MOVING.get(spec.kernel, (1, 1))
    inputs = [_aligned(n, dtype) for _ in range(reads)]
    # A read leaves one vector of partial sums per thread, each in cache lines of its own.
    out = _aligned(n if writes else crew.size * 256 // np.dtype(dtype).itemsize, dtype)
    blocks = n // block
    parts = [(blocks * i // crew.size, blocks * (i + 1) // crew.size) for i in range(crew.size)]
    tiles = [np.random.default_rng(seed).standard_normal(min(n, TILE), dtype) for seed in range(reads)]

    def fill(i: int) -> None:
        low, high = (x * block for x in parts[i])
        for array, tile in zip(inputs, tiles, strict=True):
            for at in range(low, high, tile.size):
                part = array[at : min(at + tile.size, high)]
                part[:] = tile[: part.size]
        if writes:
            out[low:high] = np.nan

    crew.run(fill)
    size = np.dtype(dtype).itemsize
    addresses = [x.ctypes.data for x in (*inputs, *[inputs[0] if inputs else out] * (2 - reads), out)]
    repeats, a, b = spec.fma_per_element or 1, dtype(FMA_A), dtype(FMA_B)

    def part(i: int) -> None:
        low, high = parts[i]
        shift = low * block * size
        where = addresses[2] + (shift if writes else i * 256)
        run(addresses[0] + shift, addresses[1] + shift, where, high - low, repeats, a, b)

    def call() -> None:
        crew.run(part)

    def error() -> float:
        out.fill(np.nan)
        call()
        if not writes:
            lanes = vector.bytes // size
            got = sum(float(out[i * 256 // size :][:lanes].sum(dtype=np.float64)) for i in range(crew.size))
            return sum_error(got, (inputs[0][i : i + TILE].astype(np.float64) for i in range(0, n, TILE)))
        step = max(1, n // LOOK)
        read = [x[::step].astype(np.float64) for x in inputs]
        got = out[::step].astype(np.float64)
        return relative_error(got, _expected(spec, read, got.size))

    operands = [Operand("in", x.nbytes, "cpu", bool((x[:LOOK] != x[0]).any())) for x in inputs]
    operands.append(Operand("out", out.nbytes if writes else size, "cpu"))
    flop = {"read_reduce": n - 1, "write": 0, "copy": 0, "add": n, "triad": 2 * n}.get(spec.kernel, 2 * repeats * n)
    return Kernel(spec, call, lambda: float(out[-1]), error, tuple(operands), spec.work, flop, "numba")


def _expected(spec: Spec, read: list[np.ndarray], count: int) -> np.ndarray:
    """The right result in FP64, at the places that are looked at."""
    if spec.kernel == "write":
        return np.full(count, WRITTEN)
    if spec.kernel == "copy":
        return read[0]
    if spec.kernel == "add":
        return read[0] + read[1]
    if spec.kernel == "triad":
        return read[0] + TRIAD * read[1]
    x = read[0]
    for _ in range(spec.fma_per_element):
        x = x * FMA_A + FMA_B
    return x
