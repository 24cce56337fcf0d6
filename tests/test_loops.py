"""The loops that are timed: right products, the bytes of their order, and the recorded run that stands in."""

import sys

import numpy as np
import pytest

import roofcourse as rc
from roofcourse import loopnest

ORDER = {"gemm_naive": "naive", "gemm_rows": "rows", "gemm_blocked": "blocked", "gemm_library": "perfect"}


@pytest.fixture(scope="module")
def loops():
    pytest.importorskip("numba")
    from roofcourse.measure import loops

    return loops


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 5, 4), (64, 64, 64), (70, 65, 130)])
@pytest.mark.parametrize("kernel", ORDER)
def test_every_loop_multiplies(loops, kernel, shape):
    m, n, k = shape
    dice = np.random.default_rng(1)
    x, a = dice.standard_normal((m, k), np.float32), dice.standard_normal((k, n), np.float32)
    y = np.full((m, n), np.nan, np.float32)
    loops.LOOPS[kernel][0](x, a, y)
    assert y == pytest.approx(x.astype(float) @ a.astype(float), rel=1e-4, abs=1e-4)


def test_a_timed_loop_carries_the_bytes_of_its_order(loops):
    points = list(loops.sweep(40, 30, 20))
    assert [x.kernel for x in points] == list(ORDER)
    for x in points:
        assert x.work == loopnest.work(ORDER[x.kernel], 40, 30, 20, "fp32")
        assert x.seconds > 0
        assert (x.m, x.n, x.k, x.kind) == (40, 30, 20, "measured live")


def test_a_wrong_product_is_not_timed(loops, monkeypatch):
    monkeypatch.setitem(loops.LOOPS, "gemm_rows", (lambda x, a, y: y.fill(0), "rows", "numba"))
    with pytest.raises(ArithmeticError, match="the product 4x4x4 of gemm_rows is wrong: relative error 1"):
        list(loops.sweep(4, 4, 4, ("gemm_rows",)))


def test_the_number_of_threads_is_put_back(loops):
    import torch

    before = torch.get_num_threads()
    list(loops.sweep(4, 4, 4, ("gemm_library",)))
    assert torch.get_num_threads() == before


def test_the_recorded_run_has_both_shapes():
    mine = rc.bench("local", "bundled")
    square, wide = mine.loop_orders(), mine.loop_orders("wide")
    assert [x.kernel for x in square] == list(ORDER)
    assert [x.kernel for x in wide] == ["gemm_rows", "gemm_blocked", "gemm_library"]
    for x in (*square, *wide):
        assert x.work == loopnest.work(ORDER[x.kernel], x.m, x.n, x.k, "fp32")
        assert x.spread is not None
    assert {(x.m, x.n, x.k) for x in square} == {(960, 960, 960)}
    assert {x.m for x in wide} == {32}
    # A of the wide product is at least twice the last-level cache: it has to come from memory.
    assert 4 * wide[0].n * wide[0].k >= 2 * mine.run.machine["last_level_cache_bytes"]


def test_an_unknown_shape_is_refused():
    with pytest.raises(ValueError, match=r"^no shape 'tall' of loop orders; there are: square, wide$"):
        rc.bench("local", "bundled").loop_orders("tall")


def test_a_recorded_run_needs_neither_numba_nor_torch():
    import subprocess

    code = """
import sys
sys.modules["numba"] = sys.modules["torch"] = None
import roofcourse as rc
print(len(rc.bench("local", "bundled").loop_orders()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "4\n"
