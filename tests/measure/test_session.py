"""Whole sessions on a made-up device: right ceilings, kept points, resuming, refusals."""

import pytest

import roofcourse as rc
from roofcourse.bench import Live, Recorded
from roofcourse.measure import plan, support
from roofcourse.measure.clock import METHOD_VERSION
from roofcourse.measure.fake import PEAKS, VECTOR_PEAKS, FakeDevice
from roofcourse.measure.session import Session, go, key
from roofcourse.measure.spec import Spec
from roofcourse.measure.stopping import StopRule
from roofcourse.records import Run, read_run, write_run

RULE = StopRule(minimum_seconds=0.005, patience_seconds=0.3)


def session(device, **options):
    return Session(device, RULE, device.manifest(), **options)


def whole(device, *only, quick=True):
    s = session(device)
    steps = list(go(s, plan.whole(device, quick, only)))
    return s, steps


def test_it_recovers_the_overhead_and_the_bandwidth_within_two_percent():
    live = Live(quick=True, device=FakeDevice(overhead=4.5e-6, bandwidth=2.5e12, noise=0.01), rule=RULE)
    line = live.launch_overhead()
    assert line.overhead == pytest.approx(4.5e-6, rel=0.02)
    assert line.bandwidth == pytest.approx(2.5e12, rel=0.02)
    assert line.r2 > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_it_recovers_b_and_f_within_one_percent(seed):
    live = Live(quick=True, device=FakeDevice(noise=0.01, seed=seed, overhead=1e-6), rule=RULE)
    assert live.device.bandwidth == pytest.approx(3e12, rel=0.01)
    for precision, peak in PEAKS.items():
        assert live.device.roofline(precision).peak == pytest.approx(peak, rel=0.01)
    for precision, peak in VECTOR_PEAKS.items():
        assert live.device.roofline(precision, "vector").peak == pytest.approx(peak, rel=0.01)
    assert {(r.precision, r.path) for r in live.device.ceilings()} == {
        *((p, "gemm") for p in PEAKS),
        *((p, "vector") for p in VECTOR_PEAKS),
    }


def test_a_quick_session_has_every_part_and_estimates_its_end():
    device = FakeDevice()
    s, steps = whole(device)
    assert s.refusals == {}
    assert {x.kernel for x in s.points} == {
        *("read_reduce", "write", "copy", "add", "triad", "gemm", "fma", "gemm_loop", "gemm_batched")
    }
    assert steps[0].done == 0
    assert steps[0].total == len(s.points) == steps[-1].done
    assert steps[0].seconds_left > 0 == steps[-1].seconds_left
    assert s.run().machine["proof"].startswith("proved")
    assert all(x.evidence.method_version == METHOD_VERSION for x in s.points)
    assert all(len(x.evidence.samples) >= 10 for x in s.points)


def test_parts_can_be_chosen():
    s, _ = whole(FakeDevice(), "launch")
    assert {x.kernel for x in s.points} == {"copy"}
    with pytest.raises(ValueError, match="unknown part 'speed'; parts: bandwidth, matmul, fma, "):
        plan.whole(FakeDevice(), True, ("speed",))


def test_every_finished_point_is_saved_and_a_run_can_be_resumed(tmp_path):
    path = tmp_path / "run.json"
    device = FakeDevice()
    first = session(device, save=lambda run: write_run(run, path, overwrite=True))
    steps = go(first, plan.whole(device, True, ("bandwidth",)))
    for _ in range(3):
        next(steps)
    steps.close()  # Ctrl-C
    kept = read_run(path)
    assert (len(kept.measurements), kept.complete) == (2, False)

    second = session(FakeDevice())
    second.resume(kept)
    list(go(second, plan.whole(second.device, True, ("bandwidth",))))
    assert len(second.points) == 5
    assert second.points[:2] == list(kept.measurements)


def test_runs_of_another_method_or_machine_do_not_merge():
    s = session(FakeDevice())
    with pytest.raises(ValueError, match="runs of method versions 2 and 1 do not merge"):
        s.resume(Run(1, s.machine, rc.Measurements()))
    with pytest.raises(ValueError, match="runs of different machines do not merge: name is 'Fake GPU' in one and 'X'"):
        s.resume(Run(METHOD_VERSION, {**s.machine, "name": "X"}, rc.Measurements()))


def test_no_memory_for_one_kernel_does_not_end_the_session():
    device = FakeDevice(free=2**30)
    s = session(device)
    assert s.take(Spec("copy", "fp32", elements=2**30)) is None
    assert s.refusals["copy fp32"].endswith("needs 8.6 GB, 1.1 GB are free")
    assert s.take(Spec("copy", "fp32", elements=2**20)) is not None


def test_a_fault_throws_the_point_away_and_says_so():
    lines = []
    s = session(FakeDevice(fault="TF32 on"), say=lines.append)
    list(go(s, plan.whole(s.device, True, ("matmul",))))
    assert "fp32" not in {x.precision for x in s.points}
    assert "turn TF32 off" in s.refusals["gemm fp32: TF32 on"]
    assert len([x for x in lines if "TF32" in x]) == 1  # once, not for each size


def test_what_would_take_minutes_is_not_tried():
    slow = FakeDevice(kind="cpu", peaks={**PEAKS, "bf16": 1e8, "tf32": 1e12}, capability=None)
    s, _ = whole(slow, "matmul")
    assert s.points
    assert not [x for x in s.points if x.precision == "bf16" and x.m > 512]
    assert "a call would take about" in s.refusals["gemm bf16"]


def test_one_wrong_bandwidth_is_marked_and_sets_no_ceiling():
    device = FakeDevice()
    s, _ = whole(device, "bandwidth")
    honest = s.bandwidth()
    device.true_bandwidth *= 3  # from here on everything looks three times too fast
    point = s.take(Spec("fma", "fp32", elements=2**28, fma_per_element=1))
    assert point.suspect.startswith("2.98 x the bandwidth")
    assert s.bandwidth() == honest


def test_the_budget_shortens_what_is_left():
    device = FakeDevice(noise=0.2)  # never stable: each point takes all its patience
    s = session(device)
    list(go(s, plan.whole(device, True, ("bandwidth",)), budget_seconds=0.5))
    assert s.points[0].evidence.stopped.startswith(("time limit of 0.1", "noise"))  # a fifth of it

    s = session(device)
    list(go(s, plan.whole(device, True, ("bandwidth",)), budget_seconds=0.0))
    assert s.refusals["time"] == "5 points: the 0 s of a quick run were up; --resume goes on"


def test_the_device_is_warmed_up_and_both_speeds_are_noted():
    device = FakeDevice(noise=0.0)
    s = session(device)
    s.warm_up(Spec("gemm", "fp16", m=4096, n=4096, k=4096), 2.0)
    note = s.machine["warm_up"]
    assert note["sustained_flop_per_s"] == pytest.approx(8e14, rel=0.02)
    assert note["burst_flop_per_s"] == pytest.approx(8e14, rel=0.02)
    assert note["seconds"] < 2.0  # steady at once


def test_specs_of_a_plan_are_each_measured_once():
    for device in (FakeDevice(), FakeDevice(kind="cpu", cache=32 * 2**20)):
        for quick in (True, False):
            for part in plan.whole(device, quick):
                keys = [(key(x), x.implementation) for x in part.specs]
                assert len(keys) == len(set(keys))


def test_arrays_for_bandwidth_are_past_the_cache_unless_memory_is_short():
    device = FakeDevice(cache=100 * 2**20)
    assert plan.array_bytes(device, True) == 800 * 2**20
    assert plan.array_bytes(FakeDevice(cache=2**20), True) == 512 * 2**20
    assert plan.array_bytes(FakeDevice(kind="cpu", cache=32 * 2**20), True) == 256 * 2**20
    assert plan.array_bytes(FakeDevice(cache=100 * 2**20, free=10**9), True) == 10**8
    wide, narrow = (plan.bandwidth(device, p, True)[0] for p in ("fp64", "fp32"))
    assert wide.elements == narrow.elements
    assert 0 <= narrow.elements - 800 * 2**20 // 4 < plan.GRAIN
    assert wide.work.bytes == pytest.approx(2 * narrow.work.bytes)


CAPABILITY = {"cuda": (7, 0), "rocm": "gfx90a", "xpu": None, "mps": None, "cpu": None}


@pytest.mark.parametrize("kind", support.KINDS)
@pytest.mark.parametrize("precision", support.PRODUCTS)
def test_every_cell_gives_a_result_or_one_line(kind, precision):
    missing = {"fp8_e4m3": "torch has no FP8 product here: measure bf16"} if kind == "xpu" else {}
    device = FakeDevice(kind=kind, capability=CAPABILITY[kind], missing=missing)
    s = session(device)
    point = s.take(Spec("gemm", precision, m=1024, n=1024, k=1024))
    if point is None:
        (reason,) = s.refusals.values()
        assert "\n" not in reason
        assert ":" in reason or ";" in reason  # what is missing, and what to run instead
    else:
        assert point.flop_per_s > 0
        assert not s.refusals


def test_a_newer_card_has_no_refusals():
    for kind, capability in (("cuda", (9, 0)), ("rocm", "gfx942:sramecc+:xnack-")):
        assert {support.refusal(kind, p, "card", capability) for p in support.PRODUCTS} == {None}
    assert "compute capability is 7.0: measure fp16" in support.refusal("cuda", "bf16", "V100", (7, 0))
    assert support.refusal("cuda", "nvfp4", "B300", (10, 3)).startswith("nvfp4 matrix products are not measured live")


def test_a_recorded_session_answers_like_the_live_one(tmp_path):
    device = FakeDevice()
    live = Live(quick=True, device=device, rule=RULE)
    sweep, roof, line = live.m_sweep("fp16"), live.device.roofline("fp16"), live.launch_overhead()
    read_run_back = Recorded(read_run(write_run(live.record(live.points), tmp_path / "run.json")))
    assert read_run_back.m_sweep("fp16").seconds.tolist() == sweep.seconds.tolist()
    assert read_run_back.device.roofline("fp16").peak == roof.peak
    assert read_run_back.launch_overhead() == line
    assert read_run_back.bandwidth().seconds.tolist() == live.bandwidth().seconds.tolist()
    assert read_run_back.run.measurements[0].evidence == live.points[0].evidence
    with pytest.raises(LookupError, match="this run has no fp64 matrix products; it has fp16"):
        read_run_back.m_sweep("fp64")
