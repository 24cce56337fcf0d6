"""The CPU's vector kernels: right results, and the instructions that were meant."""

import math
import platform
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest

numba = pytest.importorskip("numba", reason="vector kernels need numba")

from roofcourse.measure import checks, cpu, plan, vector  # noqa: E402
from roofcourse.measure.spec import MOVING, Spec  # noqa: E402
from roofcourse.measure.support import Unavailable  # noqa: E402

N = 768 * 5

here = pytest.mark.skipif(
    not ({"avx2", "avx512f"} & cpu.flags() or platform.machine() in ("aarch64", "arm64")), reason="needs AVX2 or Arm"
)


@here
def test_a_sum_is_checked_over_all_of_a_long_array():
    n = math.ceil(2.5 * vector.TILE / plan.GRAIN) * plan.GRAIN
    ready = vector.build(None, Spec("read_reduce", "fp32", elements=n, implementation="numba"))
    assert ready.error() < 1e-6  # a slice left out: 1e-4 and more


@here
@pytest.mark.parametrize("kernel", MOVING)
@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_moving_kernels(kernel, precision):
    ready = vector.build(None, Spec(kernel, precision, elements=N, implementation="numba"))
    checks.inspect(ready, "cpu")
    checks.check_error(ready, ready.error())
    assert ready.implementation == "numba"


@here
@pytest.mark.parametrize("r", [1, 2, 7, 2048])
@pytest.mark.parametrize("precision", ["fp32", "fp64"])
def test_the_fma_sweep(precision, r):
    ready = vector.build(None, Spec("fma", precision, elements=N, fma_per_element=r))
    checks.inspect(ready, "cpu")
    checks.check_error(ready, ready.error())


@here
def test_one_fma_too_few_is_noticed():
    right = vector.build(None, Spec("fma", "fp32", elements=N, fma_per_element=64))
    fewer = vector.build(None, Spec("fma", "fp32", elements=N, fma_per_element=63))
    x = [np.random.default_rng(0).standard_normal(N, np.float32).astype(np.float64)]
    difference = vector.relative_error(vector._expected(fewer.spec, x, N), vector._expected(right.spec, x, N))
    assert difference > checks.VECTOR_ERROR["fp32"]


def test_the_width_follows_the_cpu():
    assert vector.width(frozenset({"avx2", "fma"}), "x86_64") == vector.Width(32, 12)
    assert vector.width(frozenset({"avx2", "fma", "avx512f"}), "x86_64").bytes == 64
    assert vector.width(frozenset({"neon"}), "arm64").bytes == 16
    with pytest.raises(Unavailable, match="need a CPU with AVX2 and FMA, AVX-512, or 64-bit Arm"):
        vector.width(frozenset({"sse2"}), "x86_64")


def assembly(kind: str, cpu_name: str, width: vector.Width, bits: int) -> str:
    """The kernel compiled for another CPU of the x86-64 family, as text."""
    from llvmlite import binding, ir

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    element = ir.FloatType() if bits == 32 else ir.DoubleType()
    i64, module = ir.IntType(64), ir.Module()
    module.triple = "x86_64-unknown-linux-gnu"
    pointer = ir.VectorType(element, width.bytes * 8 // bits).as_pointer()
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [pointer] * 3 + [i64] * 2 + [element] * 2), "kernel")
    builder = ir.IRBuilder(function.append_basic_block())
    in1, in2, out, blocks, repeats, a, b = function.args
    vector.emit(builder, kind, element, width, (in1, in2, out), blocks, repeats, a, b)
    builder.ret_void()
    machine = binding.Target.from_triple(module.triple).create_target_machine(cpu=cpu_name, opt=3)
    return machine.emit_assembly(binding.parse_assembly(str(module)))


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    ("cpu_name", "width", "register"),
    [("haswell", vector.Width(32, 12), "%ymm"), ("skylake-avx512", vector.Width(64, 16), "%zmm")],
)
def test_the_fma_loop_is_nothing_but_fmas_in_full_registers(cpu_name, width, register, bits):
    lines = assembly("fma", cpu_name, width, bits).splitlines()
    fmas = [i for i, x in enumerate(lines) if "vfmadd" in x]
    assert len(fmas) == width.chains
    assert all(register in lines[i] for i in fmas)
    # one after the other: nothing is loaded, stored or copied in between
    assert fmas[-1] - fmas[0] == width.chains - 1
    assert all("(" not in lines[i] for i in fmas)


def test_512_bit_vectors_stay_whole():
    """The compiler's preference for 256 bits on these CPUs must not split them."""
    assert "%ymm" not in assembly("triad", "skylake-avx512", vector.Width(64, 16), 32)


@pytest.mark.parametrize("kind", ["write", "copy", "add", "triad"])
def test_results_go_past_the_cache(kind):
    text = assembly(kind, "haswell", vector.Width(32, 12), 32)
    assert text.count("vmovntps") == 12
    assert "vmovaps\t%ymm" not in text.split("vmovntps")[1]


def test_a_team_runs_every_part_and_passes_errors_on():
    team = vector.Team(3)
    seen = []
    team.run(seen.append)
    assert sorted(seen) == [0, 1, 2]

    def fail(i):
        if i == 2:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        team.run(fail)
    team.run(seen.append)  # and goes on working
    assert len(seen) == 6


@pytest.mark.parametrize("interrupted", ["its own part", "waiting for the others"])
def test_after_ctrl_c_a_team_has_stopped(interrupted):
    """Arrays may go away when their job is over: no thread may still be at work on them, or on those of the next."""
    team, ended = vector.Team(3), []

    def job(i):
        if i == 0 and interrupted == "its own part":
            raise KeyboardInterrupt
        if i == 1 and interrupted != "its own part":
            time.sleep(0.02)  # the others are being waited for
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        if i:
            time.sleep(0.1)
            ended.append(i)

    with pytest.raises(KeyboardInterrupt):
        team.run(job)
    assert sorted(ended) == [1, 2]

    def slow(i):
        time.sleep(0.1 * i)
        ended.append(i)

    team.run(slow)  # and goes on working
    assert sorted(ended) == [0, 1, 1, 2, 2]


def test_refusals():
    with pytest.raises(Unavailable, match="vector kernels on the CPU are measured in fp32 and fp64, not in bf16"):
        vector.build(None, Spec("copy", "bf16", elements=N))


# -- what the CPU is ----------------------------------------------------------------------------------------------


def test_caches_of_a_chip_with_several_are_added(tmp_path, monkeypatch):
    monkeypatch.setattr(cpu.os, "sched_getaffinity", lambda pid: {0, 1, 2}, raising=False)

    def write(core, index, level, size, shared, kind="Unified"):
        folder = tmp_path / f"cpu{core}" / "cache" / f"index{index}"
        folder.mkdir(parents=True)
        for name, text in (("level", level), ("size", size), ("shared_cpu_list", shared), ("type", kind)):
            (folder / name).write_text(f"{text}\n")

    for core, shared in ((0, "0-1"), (1, "0-1"), (2, "2-3")):
        write(core, 0, 1, "32K", str(core), "Instruction")
        write(core, 2, 2, "512K", str(core))
        write(core, 3, 3, "32M", shared)
    assert cpu.last_level_cache(tmp_path) == 64 * 2**20  # two, although three cores see one


def test_memory_is_read():
    assert cpu.cores() >= 1
    assert cpu.name()
    assert cpu.free_memory() > 0


@pytest.mark.parametrize(
    ("used", "inactive", "free"),
    # In GiB, of the 8 of a container. Files that were read are in what is used, and give way.
    [(8, 6, 6), (3, 0, 5), (3, None, 5), (1, 2, 8)],
)
def test_files_that_were_read_take_no_memory(monkeypatch, used, inactive, free):
    gib = 2**30
    files = {
        "/proc/meminfo": f"MemTotal: {200 * gib // 1024} kB\nMemAvailable: {100 * gib // 1024} kB\n",
        "/sys/fs/cgroup/memory.max": f"{8 * gib}\n",
        "/sys/fs/cgroup/memory.current": f"{used * gib}\n",
        "/sys/fs/cgroup/memory.stat": "anon 5\n" + ("" if inactive is None else f"inactive_file {inactive * gib}\n"),
    }
    monkeypatch.setattr(Path, "read_text", lambda self, encoding=None: files[self.as_posix()])
    assert cpu.free_memory() == free * gib


@pytest.mark.parametrize(
    ("mib", "edge"),
    # FP32: 4096 rows and columns take 64 MiB, 8192 take 256.
    [(None, 4096), (32, 4096), (33, 8192), (128, 8192), (129, 16384), (4096, 16384)],
)
def test_a_matrix_of_twice_the_cache(monkeypatch, mib, edge):
    monkeypatch.setattr(cpu, "last_level_cache", lambda: mib and mib * 2**20)
    assert cpu.edge_past_the_cache() == edge
