"""What the explorers say, against values worked by hand or read from the data."""

from __future__ import annotations

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore.kinds import m_sweep
from roofcourse.explore.kinds.bounds import kernels
from roofcourse.explore.model import rows_at_intensity


def sweep(device="h100", precision="fp16", m=16):
    return explore.compute("m_sweep", {"device": device, "precision": precision, "m": m})


def test_a_memory_bound_point():
    v = sweep()
    # 2 * 16 * 8192 * 8192 FLOP; 2 bytes * (16 * 8192 + 8192 * 8192 + 16 * 8192)
    assert v["flop"] == 2_147_483_648
    assert v["bytes"] == 134_742_016
    assert v["intensity"] == pytest.approx(15.9377, rel=1e-5)
    assert v["bound"] == "memory"
    assert v["bound_seconds"] == pytest.approx(134_742_016 / 3084.846e9, rel=1e-5)
    measured = rc.device("h100").m_sweep("fp16").at(m=16)
    assert v["seconds"] == measured.seconds
    assert v["percent_of_roof"] == pytest.approx(100 * v["bound_seconds"] / measured.seconds)
    assert v["percent_of_bandwidth"] == pytest.approx(v["percent_of_roof"])  # memory-bound: the same share
    assert v["sentence"] == (
        "At M = 16 an H100 in FP16 takes 49\u00a0µs: memory-bound. Moving 135\u00a0MB at 3.08\u00a0TB/s takes at least "
        "44\u00a0µs; the arithmetic alone would take 2.7\u00a0µs."
    )


def test_ridge_point_and_its_m():
    v = sweep()
    assert v["ridge_point"] == pytest.approx(255.3165, rel=1e-5)
    # M * 8192 / (2 M + 8192) = 255.3169 FLOP/byte
    assert v["ridge_m"] == pytest.approx(255.3169 * 8192 / (8192 - 2 * 255.3169), rel=1e-6)
    assert v["ridge_m"] == pytest.approx(272.29, abs=0.005)
    # B300 FP64: the ridge is left of M = 1.
    assert sweep("b300", "fp64")["ridge_m"] < 1


@pytest.mark.parametrize("precision", ["fp64", "fp32", "fp16", "fp8_e4m3", "nvfp4"])
@pytest.mark.parametrize("ridge", [0.2, 20, 250, 650])
def test_rows_at_intensity_is_the_inverse_of_the_counting_rule(precision, ridge):
    p = rc.precision(precision)
    m = rows_at_intensity(ridge, 8192, 8192, p, 8192)
    # The tile of the NVFP4 scales makes the count a step function of ceil(M / 128).
    assert m is not None
    assert rc.gemm(m, 8192, 8192, p).intensity == pytest.approx(ridge, rel=1e-12)


def test_no_m_reaches_an_intensity_beyond_the_largest_product():
    # FP64, M = 8192: 2 * 8192 / (3 * 8) = 682.7 FLOP/byte is the most there is.
    assert rows_at_intensity(690, 8192, 8192, rc.precision("fp64"), 8192) is None
    assert rows_at_intensity(1e6, 8192, 8192, rc.precision("fp64"), 8192) is None


@pytest.mark.parametrize(
    ("device", "precision", "m", "reason"),
    [
        ("rtx4080", "fp8", 16, "l2"),
        ("rtx4080", "fp8", 32, "l2"),
        ("rtx4080", "fp8", 64, "l2"),
        ("b300", "fp8", 64, "l2"),  # 68 MB in an L2 of 133 MB
        ("h200", "fp16", 8192, "unstable"),
        ("b300", "nvfp4", 2048, "unstable"),
        ("b300", "nvfp4", 8192, "unstable"),
        ("h100", "fp64", 1, "bandwidth"),
        ("h200-mig", "fp64", 1, "bandwidth"),
        ("h100", "fp16", 16, ""),
    ],
)
def test_reason_of_a_point_above_the_roof(device, precision, m, reason):
    v = sweep(device, precision, m)
    assert v["above_roof"] == reason
    assert (v["percent_of_roof"] > 100) == (reason != "")


def test_every_point_above_the_roof_has_a_reason_that_the_data_allow():
    unknown = []
    for d in rc.devices():
        for precision in d.precisions:
            for x in d.m_sweep(precision):
                v = m_sweep.point(d, rc.precision(precision), x.m)
                assert v["above_roof"] in ("", "l2", "unstable", "bandwidth", "unknown")
                if v["above_roof"] == "unknown":
                    unknown.append((d.key, precision, x.m))
    assert unknown == []


def test_a_point_above_the_roof_is_not_said_to_take_at_least_more_than_it_took():
    v = sweep("rtx4080", "fp8", 32)
    assert v["percent_of_roof"] == pytest.approx(183, abs=0.5)
    assert "would take 103\u00a0µs by the model" in v["sentence"]
    assert "at least" not in v["sentence"]
    assert "L2 cache holds (67.1\u00a0MB)" in v["sentence"]


def test_unstable_points_say_by_how_much():
    v = sweep("h100", "fp8", 512)
    assert v["unstable"]
    assert v["spread"] == 0.14266
    assert "unstable: its interquartile range was 14\u00a0% of the median" in v["sentence"]


@pytest.mark.parametrize(
    ("device", "precision", "m"),
    [("h100", "fp16", 4096), ("h100", "fp8", 8), ("b300", "nvfp4", 1), ("h100", "fp16", 100)],
)
def test_what_was_not_measured_is_only_the_model(device, precision, m):
    v = sweep(device, precision, m)
    assert v["available"]
    assert not v["measured"]
    assert "seconds" not in v
    assert "percent_of_roof" not in v
    assert "not measured; the model's lower bound" in v["sentence"]


def test_a_precision_that_a_device_lacks():
    v = sweep("mi210", "fp8")
    assert not v["available"]
    assert v["sentence"] == (
        "FP8 was not measured on the MI210, so it has no FP8 roof here. Measured on it: FP64, FP32, FP16 and BF16."
    )


def bounds(**state):
    return explore.compute("bounds", state)


def test_bounds_memory_compute_balanced():
    v = bounds(flop=2 * 8192.0**2, bytes=2.0 * (8192**2 + 2 * 8192), device="h100", precision="fp16")
    assert v["compute_seconds"] == pytest.approx(134217728 / 787.6119e12, rel=1e-5)
    assert v["memory_seconds"] == pytest.approx(134250496 / 3084.846e9, rel=1e-5)
    assert v["bound"] == "memory"
    assert v["bound_seconds"] == v["memory_seconds"]
    assert v["factor"] == pytest.approx(v["memory_seconds"] / v["compute_seconds"])
    assert bounds(flop=1e15, bytes=1e6)["bound"] == "compute"
    ridge = rc.device("h100").roofline("fp16").ridge_point
    assert bounds(flop=ridge * 1e9, bytes=1e9)["bound"] == "balanced"
    assert bounds(flop=ridge * 1.009e9, bytes=1e9)["bound"] == "balanced"
    assert bounds(flop=ridge * 1.011e9, bytes=1e9)["bound"] == "compute"
    assert "Balanced, at the ridge point" in bounds(flop=ridge * 1e9, bytes=1e9)["sentence"]


def test_kernels_to_try_are_counted_by_the_rules():
    first = kernels()[0]
    assert (first["flop"], first["bytes"]) == (2**26, 3 * 4 * 2**26)
    cube = next(k for k in kernels() if k["label"].startswith("matrix × matrix, 8192") and k["precision"] == "fp16")
    assert (cube["flop"], cube["bytes"]) == (2 * 8192**3, 3 * 2 * 8192**2)
    for kernel in kernels():  # each lies within the sliders
        assert 1e6 <= kernel["flop"] <= 1e15
        assert 1e3 <= kernel["bytes"] <= 1e12


@pytest.mark.parametrize(
    ("kind", "state", "words"),
    [
        ("msweep", {}, "no explorer of kind 'msweep'; there are: bounds, decode, intensity, levers, m_sweep"),
        ("m_sweep", {"m": 0}, "m is a whole number from 1 to 8192, not 0"),
        ("m_sweep", {"m": 8193}, "8193"),
        ("m_sweep", {"m": 2.5}, "2.5"),
        ("m_sweep", {"m": True}, "True"),
        ("m_sweep", {"device": "h10"}, "h100"),
        ("m_sweep", {"precision": "fp12"}, "fp12"),
        ("m_sweep", {"precision": "int8"}, "int8"),
        ("m_sweep", {"rows": 3}, "has no rows"),
        ("bounds", {"flop": -1}, "flop is a number from 1e+06 to 1e+15 FLOP"),
        ("bounds", {"bytes": float("nan")}, "nan"),
        ("bounds", {"bytes": "many"}, "many"),
    ],
)
def test_wrong_states_are_refused_in_one_line(kind, state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute(kind, state)
    assert words in str(caught.value)


def test_names_that_people_write_are_accepted():
    assert sweep("NVIDIA H100 80GB HBM3", "half", 16) == sweep()
