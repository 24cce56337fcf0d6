"""Counting rules: each value worked by hand from the rule that the docstring states."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import roofcourse as rc

SIZES = st.integers(1, 10**5)


def test_gemm_counts_each_matrix_once():
    w = rc.gemm(2, 3, 4, "fp32")  # X 2x4, A 4x3, Y 2x3
    assert w.flop == 48  # 2 * 2 * 3 * 4
    assert w.bytes == 4 * (8 + 12 + 6)


@pytest.mark.parametrize(
    ("precision", "nbytes"),
    [
        ("fp64", 8 * 26),
        ("tf32", 4 * 26),
        ("bf16", 2 * 26),
        ("fp8", 8 + 12 + 2 * 6 + 8),
        ("int8", 8 + 12 + 4 * 6),
        # payload (8 + 12)/2, output 2 * 6, scales: 128 rows * 4 / 16 = 32 for X, 12/16 for A
        ("nvfp4", 10 + 12 + 32 + 0.75),
    ],
)
def test_gemm_bytes_by_precision(precision, nbytes):
    assert rc.gemm(2, 3, 4, precision).bytes == nbytes
    assert rc.gemm(2, 3, 4, precision).flop == 48


def test_every_gemm_of_the_study_is_counted_as_the_study_counted_it():
    gemms = [x for d in rc.devices() for x in d.measurements("gemm")]
    assert len(gemms) == 1242
    for x in gemms:
        counted = rc.gemm(x.m, x.n, x.k, x.precision)
        assert (counted.flop, counted.bytes) == (x.work.flop, x.work.bytes), x.label


def test_every_vector_kernel_of_the_study_is_counted_as_the_study_counted_it():
    for d in rc.devices():
        for kernel, rule in (("copy", rc.copy), ("add", rc.add), ("triad", rc.triad)):
            for x in d.measurements(kernel):
                assert rule(x.elements, "fp32") == x.work, x.label
        for x in d.measurements("fma"):
            assert rc.fma_sweep(x.elements, x.fma_per_element, x.precision) == x.work, x.label


def test_second_document_table_in_fp32():
    n = 2**26
    assert rc.add(n).intensity == pytest.approx(1 / 12)
    assert rc.axpy(n).intensity == pytest.approx(1 / 6)
    assert rc.triad(n).intensity == pytest.approx(1 / 6)
    assert rc.reduction(n).intensity == pytest.approx(0.25, rel=1e-6)
    assert rc.gemv(8192, 8192).intensity == pytest.approx(0.5, rel=1e-3)
    assert rc.elementwise(n, flop_per_element=1).intensity == 1 / 8  # ReLU
    assert rc.gemm(4096, 4096, 4096, "fp32").intensity == pytest.approx(4096 / 6)  # 683; the document rounds to 680
    assert rc.stencil(n).intensity == pytest.approx(5 / 8)
    assert rc.stencil(n, neighbours_cached=False).intensity == pytest.approx(5 / 16)
    assert rc.fft(2**10).intensity == pytest.approx(50 / 16)
    assert rc.fft(2**20, passes=2).intensity == pytest.approx(100 / 32)


def test_first_document_table_2():
    for precision, s in (("fp64", 8), ("fp32", 4), ("fp16", 2)):
        assert rc.elementwise(1000, precision).intensity == pytest.approx(1 / s)
        n = 6000
        assert rc.gemm(n, n, n, precision).intensity == pytest.approx(2 * n / (3 * s))
        assert rc.gemm(1, 8192, 8192, precision).intensity == pytest.approx(2 / s, rel=1e-3)
        assert rc.gemm(16, 8192, 8192, precision).intensity == pytest.approx(32 / s, rel=5e-3)


def test_gemv_is_gemm_with_one_row():
    assert rc.gemv(300, 500, "fp64") == rc.gemm(1, 300, 500, "fp64")


def test_conv2d():
    w = rc.conv2d(1, 2, 3, 4, 5, kernel=3)
    assert w.flop == 2 * 4 * 5 * 3 * 2 * 9
    assert w.bytes == 4 * (2 * 20 + 3 * 2 * 9 + 3 * 20)
    # Few channels: a handful of FLOP/byte. Many: hundreds, right of an A100's FP32 ridge point of about 10.
    assert rc.conv2d(32, 3, 8, 224, 224).intensity == pytest.approx(9.8, abs=0.05)
    assert rc.conv2d(32, 256, 256, 56, 56).intensity > 500


def test_attention():
    # 1 head, 2 new tokens over 3 keys, head_dim 4: two products of 2*2*3*4 FLOP.
    w = rc.attention(1, 1, 2, 3, 4)
    assert w.flop == 96
    assert w.bytes == 2 * (2 * 8 + 2 * 12)
    unfused = rc.attention(1, 1, 2, 3, 4, fused=False)
    assert unfused.bytes - w.bytes == 2 * 4 * 6
    # Causal: the first new token sees 2 keys, the second 3.
    assert rc.attention(1, 1, 2, 3, 4, causal=True).flop == 4 * 4 * (2 + 3)
    # Grouped heads: K and V shrink, the arithmetic does not.
    grouped = rc.attention(1, 8, 1, 100, 64, kv_heads=2)
    assert grouped.flop == 4 * 8 * 100 * 64
    assert grouped.bytes == 2 * (2 * 8 * 64 + 2 * 2 * 100 * 64)
    with pytest.raises(ValueError, match="queries must not exceed keys"):
        rc.attention(1, 1, 5, 3, 4, causal=True)


def test_fma_sweep_sets_the_intensity_and_nothing_else():
    assert rc.fma_sweep(10, 1, "fp32") == rc.elementwise(10, "fp32")
    assert rc.fma_sweep(10, 2048, "fp32").intensity == 512
    assert rc.fma_sweep(10, 2048, "fp32").bytes == rc.fma_sweep(10, 1, "fp32").bytes


def test_writes_count():
    fill = rc.elementwise(100, flop_per_element=0, reads=0)
    assert (fill.flop, fill.bytes) == (0, 400)
    with pytest.raises(ValueError, match="bytes must be finite and positive"):
        rc.elementwise(100, reads=0, writes=0)


def test_m_at_which_the_h100_sweep_reaches_its_ridge_point():
    # I(M) = 2M / (2 (1 + 2M/8192)) = M / (1 + M/4096) = I*   =>   M = I* / (1 - I*/4096)
    ridge = rc.device("h100").roofline("fp16").ridge_point
    m = ridge / (1 - ridge / 4096)
    assert m == pytest.approx(272.29, abs=0.01)
    assert rc.gemm(m, 8192, 8192, "fp16").intensity == pytest.approx(ridge)
    # The study's 271.9 follows from the ridge point rounded to 255 first.
    rounded = 255 / (1 - 255 / 4096)
    assert rounded == pytest.approx(271.9, abs=0.05)


def test_works_add_and_repeat():
    a, b = rc.Work(1, 2), rc.Work(10, 20)
    assert a + b == rc.Work(11, 22)
    assert 3 * a == a * 3 == rc.Work(3, 6)
    assert rc.gemm(4, 8, 16) * 28 == rc.Work(2 * 4 * 8 * 16 * 28, 2 * (64 + 128 + 32) * 28)


def test_arrays():
    m = np.array([1, 2, 4])
    w = rc.gemm(m, 8192, 8192, "fp16")
    assert w.flop.tolist() == (2 * m * 8192 * 8192).tolist()
    assert w.intensity.shape == (3,)
    for i, one in enumerate(m):
        assert w.bytes[i] == rc.gemm(int(one), 8192, 8192, "fp16").bytes


#: What is no size: zero, a text, a truth, a part of a plane, and any array with one of these among its elements.
WRONG = [0, -3, math.nan, math.inf, 10**400, "8", None, True, 1j, [1, 0], ["1", "2"], [1, "2"], [True, True], [1, None]]
ARRAYS = [np.array([1 + 2j, 3]), np.array(["1", "2"], object), np.array([True]), np.array([1, 10**400], object)]


@pytest.mark.parametrize("wrong", [*WRONG, *ARRAYS], ids=lambda x: repr(x)[:24])
def test_wrong_sizes_are_refused_in_one_line(wrong):
    for call in (
        lambda: rc.gemm(wrong, 2, 2),
        lambda: rc.gemv(2, wrong),
        lambda: rc.elementwise(wrong),
        lambda: rc.reduction(wrong),
        lambda: rc.stencil(wrong),
        lambda: rc.fft(wrong),
        lambda: rc.conv2d(1, 1, 1, wrong, 1),
        lambda: rc.attention(1, 1, 1, wrong, 1),
        lambda: rc.fma_sweep(1, wrong),
    ):
        with pytest.raises(ValueError, match="must be") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_a_count_has_no_unit():
    with pytest.raises(ValueError, match="^m must be a number, not '16'$"):
        rc.gemm("16", 1, 1)
    with pytest.raises(ValueError, match="^m must be finite and positive, not 0$"):
        rc.gemm(0, 1, 1)


def test_whole_numbers_and_fractions_of_any_kind_are_sizes():
    for two in (2, 2.0, np.int8(2), np.float32(2), Fraction(4, 2), Decimal(2), np.array(2), np.array([2], object)[0]):
        assert rc.gemm(two, 3, 5, "fp32").flop == 60
    assert rc.gemm([2, Fraction(1, 2)], 3, 5, "fp32").flop.tolist() == [60, 15]
    assert rc.elementwise(2**70, flop_per_element=1).flop == 2.0**70


def test_unknown_precision():
    with pytest.raises(ValueError, match=r"^unknown precision 'fp99'\. Known: fp64, fp32"):
        rc.precision("fp99")
    with pytest.raises(ValueError, match=r"unknown precision 'fp12'.*Known: fp64, fp32"):
        rc.gemm(1, 1, 1, "fp12")
    with pytest.raises(ValueError, match="counted for gemm only"):
        rc.add(10, "nvfp4")


@given(SIZES, SIZES, SIZES, st.sampled_from(["fp64", "fp32", "fp16", "fp8", "int8"]))
def test_gemm_intensity_is_below_every_limit(m, n, k, precision):
    s = rc.precision(precision).bytes_per_element
    i = rc.gemm(m, n, k, precision).intensity
    for size in (m, n, k):
        assert i < 2 * size / s


@given(SIZES, SIZES, SIZES)
def test_halving_the_bytes_doubles_the_intensity(m, n, k):
    assert rc.gemm(m, n, k, "fp16").intensity == pytest.approx(2 * rc.gemm(m, n, k, "fp32").intensity)


def test_precision_names():
    assert rc.precision("fp8").name == "fp8_e4m3"
    assert rc.precision("torch.bfloat16").name == "bf16"
    assert rc.precision("half") is rc.precision("FP16")
    assert rc.precision("nvfp4").bytes_per_element == 0.5
    assert rc.precision("tf32").bytes_per_element == 4
