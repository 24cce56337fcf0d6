"""Levers: what they count, what they predict, and the recorded run that stands in."""

import subprocess
import sys
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse import levers
from roofcourse.bench import Recorded
from roofcourse.records import Run

#: A core with B = 10 GB/s and F = 100 GFLOP/s in FP32 and BF16: its ridge point is 10 FLOP/byte.
CORE = {(p, path): rc.Roofline(1e11, 1e10, "cpu", p, path) for p in ("fp32", "bf16") for path in ("gemm", "vector")}


def measured(kernel, seconds=1.0, precision="fp32", device="cpu", **shape):
    work = levers.counted(kernel, precision, **shape)
    return rc.Measurement(device, kernel, precision, work, seconds, **shape)


def pair(name, *points, roofs=CORE):
    return levers.lever(name, points, roofs)


# ---- what is counted


def test_five_passes_over_a_chain_against_one():
    chain = measured("chain_steps", elements=1000)
    assert (chain.work.flop, chain.work.bytes) == (5 * 1000, 5 * 2 * 4 * 1000)
    fused = measured("chain_fused", elements=1000)
    assert (fused.work.flop, fused.work.bytes) == (5 * 1000, 2 * 4 * 1000)
    assert [s.bytes for s in levers.steps(chain)] == [8000] * 5
    assert levers.steps(fused) == (fused.work,)


def test_the_steps_of_attention_add_up_to_its_count():
    x = measured("attention_steps", m=64, n=128, k=16, batch=4)
    scores, softmax, product = levers.steps(x)
    assert scores.flop + product.flop == x.work.flop == 4 * 4 * 64 * 128 * 16
    assert scores.bytes + softmax.bytes + product.bytes == x.work.bytes
    # Scores: 4 heads of (64 + 128) x 16 numbers in, 64 x 128 out, 4 bytes each.
    assert scores.bytes == 4 * (4 * (64 + 128) * 16 + 4 * 64 * 128)
    assert (softmax.flop, softmax.bytes) == (0, 2 * 4 * 4 * 64 * 128)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="^no lever has a kernel 'magic'$"):
        levers.counted("magic", "fp32")


# ---- what is predicted


def test_what_a_prediction_comes_from_fits_a_line_of_a_phone():
    said = {name: [r.because, *(r.on_gpu or ())[1:]] for name, r in levers.RECIPES.items()}
    assert [name for name, lines in said.items() if max(map(len, lines)) > 46] == []


def test_fusing_is_predicted_by_the_bytes():
    lever = pair("fuse", measured("chain_steps", 4.0, elements=1000), measured("chain_fused", elements=1000))
    assert lever.predicted == pytest.approx(5)
    assert lever.gain == 4
    assert lever.prediction() == "predicted 5 times as fast:\nthe bytes of five passes against those of one"
    first, second = lever.percent_of_roof()
    assert first == pytest.approx(100 * 40_000 / 1e10 / 4.0)
    assert second == pytest.approx(100 * 8000 / 1e10)


def test_rows_are_predicted_a_row():
    one, many = (measured("rows", t, m=m, n=4096, k=4096) for m, t in ((1, 1.0), (16, 4.0)))
    lever = pair("rows", many, one)
    # One row is bound by 4 (4096^2 + 2 x 4096) bytes; sixteen have I = 7.9, still under the slope.
    bound_one, bound_many = 4 * (4096**2 + 2 * 4096) / 1e10, 4 * (4096**2 + 32 * 4096) / 1e10
    assert lever.predicted == pytest.approx(16 * bound_one / bound_many)
    assert lever.gain == 4
    assert lever.points == rc.Measurements((one, many))


def test_a_fused_kernel_past_the_ridge_point_gains_less_than_its_bytes():
    shape = {"m": 512, "n": 512, "k": 128, "batch": 8}
    lever = pair("attention", measured("attention_steps", **shape), measured("attention_fused", **shape))
    before = sum(
        max(flop / 1e11, moved / 1e10)
        for flop, moved in (
            (2 * 8 * 512 * 512 * 128, 4 * 8 * (2 * 512 * 128 + 512 * 512)),
            (0, 2 * 4 * 8 * 512 * 512),
            (2 * 8 * 512 * 512 * 128, 4 * 8 * (2 * 512 * 128 + 512 * 512)),
        )
    )
    assert lever.predicted == pytest.approx(before / (4 * 8 * 512 * 512 * 128 / 1e11))
    assert lever.predicted < lever.before.work.bytes / lever.after.work.bytes


@pytest.mark.parametrize(
    ("name", "before", "after", "factor"),
    [
        ("units", {"kernel": "fma_scalar", "batch": 1}, {"kernel": "fma_wide", "batch": 16}, 16),
        ("latency", {"kernel": "fma_chain", "batch": 1}, {"kernel": "fma_scalar", "batch": 1}, 8),
    ],
)
def test_levers_that_keep_the_bytes(name, before, after, factor):
    shape = {"elements": 1024, "fma_per_element": 512}
    lever = pair(name, measured(**before, **shape), measured(**after, **shape))
    assert lever.predicted == factor
    assert lever.before.intensity == lever.after.intensity == 2 * 512 / 8


def test_strided_reads_move_a_line_or_a_sector():
    for device, factor in (("cpu", 16), ("cuda", 8)):
        points = [
            measured("read_strided", 1.0, device=device, elements=100),
            measured("read_together", 2.0, device=device, elements=1600),
        ]
        lever = pair("stride", *points)
        assert lever.predicted == factor
        assert lever.gain == 8  # sixteen times the numbers in twice the time


def test_batching_is_predicted_as_a_bound():
    shape = {"m": 16, "n": 16, "k": 16, "batch": 256}
    lever = pair("batch", measured("gemm_loop", 1e-3, **shape), measured("gemm_batched", 1e-4, **shape))
    # 3 x 16^2 numbers each, I = 2.7: under the slope.
    assert lever.predicted == pytest.approx(1e-3 / (256 * 3 * 256 * 4 / 1e10))
    assert lever.prediction().startswith("predicted at most ")


def test_a_shorter_format_has_a_roof_of_its_own():
    points = [measured("square", 2.0, p, m=64, n=64, k=64) for p in ("fp32", "bf16")]
    lever = pair("format", *points)
    assert lever.predicted == 2
    assert [roof.precision for roof in lever.roofs] == ["fp32", "bf16"]
    with pytest.raises(LookupError, match="^no gemm roof was measured for bf16$"):
        pair("format", *points, roofs={k: v for k, v in CORE.items() if k[0] == "fp32"})


def test_on_a_gpu_a_shorter_format_gains_what_the_two_roofs_say():
    # A card of 50 TFLOP/s in FP32, without matrix units, and 800 in BF16, with them; both points at 90 % of their roof.
    card = {(p, "gemm"): rc.Roofline(peak, 1e12, "card", p, "gemm") for p, peak in (("fp32", 5e13), ("bf16", 8e14))}
    flop = 2 * 8192**3
    points = [
        measured("square", flop / (0.9 * card[p, "gemm"].peak), p, device="cuda", m=8192, n=8192, k=8192)
        for p in ("fp32", "bf16")
    ]
    lever = pair("format", *points, roofs=card)
    assert lever.predicted == pytest.approx(16)
    assert lever.gain == pytest.approx(16)
    assert lever.prediction() == "predicted 16 times as fast:\nthe two roofs"
    # The same formats on a CPU share their units: a register holds twice as many.
    assert pair("format", *(replace(x, device="cpu") for x in points), roofs=card).predicted == 2


def test_what_is_missing_is_said_in_one_line():
    with pytest.raises(LookupError, match="^no lever 'luck'; there are: fuse, attention, block"):
        pair("luck")
    with pytest.raises(LookupError, match="^the lever 'fuse' was not measured here; measured are: none$"):
        pair("fuse", measured("chain_steps", elements=10))
    with pytest.raises(LookupError, match="^no bandwidth of one core was measured with these levers$"):
        levers.core_roofs(rc.Measurements())
    with pytest.raises(LookupError, match="no levers were timed on H100"):
        rc.bench("h100", "bundled").lever("fuse")


def test_the_roofs_of_a_core_are_the_best_of_their_kernels():
    points = rc.Measurements(
        [
            measured("core_read", 1e-3, elements=1001),  # 4 MB/s
            measured("core_copy", 1e-3, elements=1000),  # 8 MB/s
            measured("core_gemm", 1e-3, m=10, n=10, k=10),  # 2 MFLOP/s
            measured("core_fma", 1e-3, elements=100, fma_per_element=50, batch=8),  # 10 MFLOP/s
            measured("core_gemm", 1e-3, "fp64", m=10, n=10, k=10),
        ]
    )
    roofs = levers.core_roofs(points)
    assert roofs["fp32", "vector"].bandwidth == pytest.approx(8e6)
    assert roofs["fp32", "gemm"].peak == pytest.approx(1e7)
    assert roofs["fp64", "gemm"].peak == pytest.approx(2e6)


# ---- the recorded run


def test_the_recorded_run_has_every_lever_of_a_cpu():
    mine = rc.bench("local", "bundled")
    assert mine.levers() == tuple(name for name in levers.RECIPES if name != "graph")
    with pytest.raises(LookupError, match="^the lever 'graph' was not measured here"):
        mine.lever("graph")
    for name in mine.levers():
        lever = mine.lever(name)
        assert max(lever.percent_of_roof()) < 105, name
        assert lever.gain > 1.1, name
        for x in lever.points:
            shape = {k: getattr(x, k) for k in ("m", "n", "k", "elements", "fma_per_element", "batch")}
            assert x.work == levers.counted(x.kernel, x.precision, **{k: v for k, v in shape.items() if v is not None})


def test_the_arrays_of_the_recorded_run_are_larger_than_its_caches():
    mine = rc.bench("local", "bundled")
    cache = mine.lever_run.machine["last_level_cache_bytes"]
    for name in ("fuse", "attention", "block", "shorter", "rows"):
        assert mine.lever(name).before.work.bytes >= 2 * cache, name
    assert 4 * mine.lever("stride").after.elements >= 4 * cache


def test_another_machine_does_not_borrow_them():
    other = Run(2, {"key": "cpu", "name": "Another CPU", "cores": 2, "utc": "2026-11-30T09:00:00Z"}, rc.Measurements())
    assert Recorded(other).levers() == ()
    with pytest.raises(LookupError, match="was not measured here; measured are: none"):
        Recorded(other).lever("fuse")


def test_a_recorded_run_needs_neither_numba_nor_torch():
    code = """
import sys
sys.modules["numba"] = sys.modules["torch"] = None
import roofcourse as rc
print(round(rc.bench("local", "bundled").lever("fuse").predicted, 6))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5.0\n"


# ---- the way from a point to the next thing


def test_every_answer_with_an_example_opens_a_state_of_the_explorer():
    from roofcourse import explore

    gained = []
    for q in levers.QUESTIONS:
        if q.example is not None:
            v = explore.compute("levers", q.example)
            assert v["count"] == len(q.example["levers"].split("~"))
            gained.append((v["before_bound"], v["gain"]))
    assert [bound for bound, _ in gained] == ["launch", "compute", "memory", "compute"]
    assert all(gain > 2 for _, gain in gained)


def test_the_questions_can_be_opened_without_a_script():
    from roofcourse import explore

    shown = explore.what_next()
    assert shown._repr_html_().count("<details>") == len(levers.QUESTIONS)
    assert "<script" not in shown._repr_html_()
    assert (
        'href="#explorer=levers&amp;kernel=chain&amp;device=h100&amp;reaches=100&amp;levers=fuse"'
        in shown._repr_html_()
    )
    assert "4. Is it under the slope? Memory-bound: move less." in repr(shown)
