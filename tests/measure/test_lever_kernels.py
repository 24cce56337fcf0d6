"""The kernels of the levers: right results, right counts, and torch left as it was."""

from types import SimpleNamespace

import numpy as np
import pytest

import roofcourse as rc
from roofcourse import levers as counting


@pytest.fixture(scope="module")
def levers():
    pytest.importorskip("torch")
    pytest.importorskip("numba")
    from roofcourse.measure import levers

    return levers


@pytest.fixture
def small(levers, monkeypatch):
    """The levers on small arrays, a few rounds each."""
    monkeypatch.setattr(levers, "QUICK_SECONDS", 0)
    monkeypatch.setattr(levers, "TOKENS", 32)
    monkeypatch.setattr(levers, "SQUARE", 64)
    monkeypatch.setattr(levers, "R", 8)
    monkeypatch.setattr(levers, "FMA_ELEMENTS", 1024)
    monkeypatch.setattr(levers, "GPU_CHAIN", 1024)
    monkeypatch.setattr(levers, "GPU_SECTORS", 1024)
    monkeypatch.setattr(levers, "_long", lambda: 2**20)
    monkeypatch.setattr(levers.cpu, "edge_past_the_cache", lambda: 128)
    return levers


@pytest.fixture
def gpu(small, monkeypatch):
    """A CPU that answers as a GPU does, so that the ways of a GPU run somewhere."""
    import torch

    monkeypatch.setattr(torch, "compile", lambda formula: formula)
    monkeypatch.setitem(small.ON_A_GPU, "attention", lambda d: small._attention_ways(small._CORE, "bf16", 2, 32))
    for name, ways in (
        ("shorter", lambda d: [small._gemv_way(small._CORE, p, 64) for p in ("fp64", "fp32")]),
        ("rows", lambda d: [small._product_way(small._CORE, "rows", "bf16", m, 64, 64) for m in (1, 16)]),
        ("format", lambda d: [small._product_way(small._CORE, "square", p, 64, 64, 64) for p in ("fp32", "bf16")]),
        ("batch", lambda d: small._batch_ways(small._CORE, "bf16", 8, 4)),
    ):
        monkeypatch.setitem(small.ON_A_GPU, name, ways)
    from roofcourse.measure.settings import measuring

    return SimpleNamespace(
        kind="xpu",
        name="a GPU",
        place="cpu",
        cache=2**12,
        span=small._host_span,
        settings=lambda p: measuring(torch, p),
        release=lambda: None,
    )


def test_every_lever_of_a_core_is_right_and_counted(small):
    import torch

    before = torch.get_num_threads()
    roofs = small.core_roofs(quick=True)
    assert {x.kernel for x in roofs} == {*counting.SLOPE_KERNELS, "core_fma", "core_gemm"}
    assert {x.precision for x in roofs if x.kernel == "core_gemm"} == {"fp32", "fp64", "bf16"}
    for name, recipe in counting.RECIPES.items():
        if name == "graph":
            continue
        points = small.on_one_core(name, quick=True)
        assert [(x.kernel, x.precision) for x in points] == [(k, p or points[0].precision) for k, p in recipe.ways]
        for x in points:
            assert (x.device, x.kind) == ("cpu", "measured live")
            assert "on one core" in x.note
        lever = counting.lever(name, [*points, *roofs])
        assert lever.gain == pytest.approx(
            points[0].seconds / points[1].seconds * counting.results(points[1]) / counting.results(points[0])
        )
    assert torch.get_num_threads() == before
    assert not torch.is_inference_mode_enabled()


def test_the_shapes_of_a_core(small):
    assert [x.m for x in small.on_one_core("rows", quick=True)] == [1, 16]
    scalar, wide = small.on_one_core("units", quick=True)
    assert (scalar.batch, scalar.fma_per_element) == (1, 8)
    assert wide.batch * 4 == small._register()
    strided, together = small.on_one_core("stride", quick=True)
    assert together.elements == 16 * strided.elements


def test_a_core_has_no_graphs(small):
    from roofcourse.measure.support import Unavailable

    with pytest.raises(Unavailable, match="^the lever 'graph' needs a GPU: a CPU has no launches to record$"):
        small.on_one_core("graph", quick=True)
    mine = rc.bench("local", "live", quick=True)
    with pytest.raises(LookupError, match="^no lever 'luck'"):
        mine.lever("luck")
    if mine.where == "cpu":
        with pytest.raises(LookupError, match="^the lever 'graph' needs a GPU"):
            mine.lever("graph")


def test_a_live_bench_measures_a_lever_once(small):
    mine = rc.bench("local", "live", quick=True)
    if mine.where != "cpu":
        pytest.skip("this machine has a GPU")
    first = mine.lever("fuse")
    assert mine.lever("fuse").before is first.before
    assert "graph" not in mine.levers()
    assert {x.kernel for x in mine.core_roofs()} >= {"core_read", "core_fma"}


def test_wrong_results_are_not_timed(small, monkeypatch):
    import torch

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", lambda q, k, v: torch.zeros_like(v))
    with pytest.raises(ArithmeticError, match="attention_fused in fp32 is wrong: relative error 1"):
        small.on_one_core("attention", quick=True)
    monkeypatch.setattr(torch, "bmm", lambda x, a, out: out.fill_(0))
    with pytest.raises(ArithmeticError, match="gemm_batched in fp32 is wrong: relative error 1"):
        small.on_one_core("batch", quick=True)


def test_a_result_that_was_not_written_is_wrong(small):
    ways = small._chain_ways(small._CORE, 1024, lambda x, y: None, "nothing")
    with pytest.raises(ArithmeticError, match="chain_fused in fp32 is wrong: relative error nan"):
        small._take(ways, "cpu", True, small._host_span)


def test_the_chain_is_the_formula(levers):
    x = np.array([-1.0, 0.0, 1.0])
    # 1.5 x + 0.5 is -1, 0.5, 2; below zero it is cut; squared, less 1.
    assert levers._chain_expected(x).tolist() == [-1.0, -0.75, 3.0]


@pytest.mark.parametrize("name", ["fuse", "attention", "shorter", "rows", "format", "stride", "batch"])
def test_the_ways_of_a_gpu_are_right(small, gpu, name):
    points = small.on_device(gpu, name, quick=True)
    assert len(points) == 2
    assert {x.device for x in points} == {"xpu"}
    recipe = counting.RECIPES[name]
    assert [x.kernel for x in points] == [kernel for kernel, _ in recipe.ways]
    if name == "stride":
        assert points[1].elements == 8 * points[0].elements


def test_what_a_gpu_cannot_do_is_said(small, gpu):
    from roofcourse.measure.support import Unavailable

    with pytest.raises(Unavailable, match="^the lever 'graph' needs CUDA or ROCm, not xpu$"):
        small.on_device(gpu, "graph", quick=True)
    with pytest.raises(Unavailable, match="^the lever 'block' is not measured on a GPU$"):
        small.on_device(gpu, "block", quick=True)


def test_a_kernel_that_a_gpu_does_not_have_is_said_in_one_line(small, gpu, monkeypatch):
    import torch

    from roofcourse.measure.support import Unavailable

    def without_a_compiler(*arguments, **named):
        raise RuntimeError("no compiler for this\nand many lines more")

    monkeypatch.setattr(torch, "compile", lambda formula: without_a_compiler)
    with pytest.raises(Unavailable, match="^the lever 'fuse' does not run on a GPU: .*no compiler for this$"):
        small.on_device(gpu, "fuse", quick=True)
