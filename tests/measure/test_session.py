"""Whole sessions on a made-up device: right ceilings, kept points, resuming, refusals."""

from types import SimpleNamespace

import pytest

import roofcourse as rc
from roofcourse.bench import Live, Recorded
from roofcourse.measure import plan, support
from roofcourse.measure.clock import METHOD_VERSION
from roofcourse.measure.fake import MIB, PEAKS, VECTOR_PEAKS, FakeDevice
from roofcourse.measure.session import Session, go, key
from roofcourse.measure.spec import MOVING, Spec
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


@pytest.mark.parametrize(
    ("mib", "precision", "n"),
    # FP32, N = 2048, 4096, 8192: A takes 16, 64, 256 MiB, and that is to be twice the cache.
    [(8, "fp32", 2048), (9, "fp32", 4096), (32, "fp32", 4096), (33, "fp32", 8192), (500, "fp32", 8192),
     (16, "fp64", 2048), (17, "fp64", 4096), (4, "bf16", 2048), (5, "bf16", 4096)],
)  # fmt: skip
def test_the_matrix_of_the_m_sweep_is_twice_the_cache_of_a_cpu(mib, precision, n):
    device = FakeDevice(kind="cpu", cache=mib * MIB)
    assert plan.sweep_size(device, precision) == n
    assert {(s.n, s.k) for s in plan.rows(device, precision, True)} == {(n, n)}
    assert plan.sweep_size(FakeDevice(cache=mib * MIB), precision) == 8192  # a GPU


def test_a_working_set_sweep_takes_a_quarter_of_the_free_memory():
    def largest(free):
        return max(s.work.bytes for s in plan.working_set(FakeDevice(kind="cpu", cache=MIB, free=free), False))

    assert largest(64 * MIB) == 16 * MIB
    assert largest(2**40) == 256 * MIB  # enough for a CPU with a small cache


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


def test_when_the_time_ends_every_part_has_had_its_share(monkeypatch):
    built = []

    class Slow(FakeDevice):
        """Every kernel takes a second to prepare, whatever its measurement is allowed: large arrays on a CPU."""

        def build(self, spec):
            built.append(spec)
            return super().build(spec)

    monkeypatch.setattr("roofcourse.measure.session.time", SimpleNamespace(monotonic=lambda: float(len(built))))
    s = session(Slow(noise=0.0))
    parts = plan.whole(s.device, True)
    total = len({key(spec) for part in parts for spec in part.specs})
    titles = [step.title for step in go(s, parts, budget_seconds=total // 2)]
    assert len(built) == total // 2 + 1
    for part in parts:
        done = len(part.specs) - len(s.missing(part.specs))
        assert abs(done - len(part.specs) / 2) <= 1, part.name
    # Of the FMA sweep the plateau comes first: a point of the slope would look like a ceiling.
    assert "R = 2048" in next(x for x in titles if "R = " in x)
    # Without an end the parts are measured one after the other.
    s = session(FakeDevice(noise=0.0))
    order = [step.title for step in go(s, parts)]
    assert order[: len(parts[0].specs)] == [spec.title for spec in parts[0].specs]


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
    short = FakeDevice(cache=100 * 2**20, free=10**9)
    assert plan.array_bytes(short, True, before=2 * 10**8) == 2 * 10**8  # more was free when the run began
    assert plan.array_bytes(short, True, before=5 * 10**7) == 5 * 10**7  # less was
    assert plan.array_bytes(device, True, before=10**8) == 800 * 2**20  # now there is enough for what is wanted
    assert plan.array_bytes(device, True, before=2**30) == 2**30  # a full run, gone on with by a quick one
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


class WideIsFaster(FakeDevice):
    """FP64 arrays move at 4 TB/s where FP32 ones move at 3, as on some CPUs."""

    def seconds(self, spec, *, cold=False):
        wide = spec.precision == "fp64" and spec.kernel in MOVING
        return self.overhead + spec.work.bytes / 4e12 if wide else super().seconds(spec, cold=cold)


def test_one_machine_has_one_bandwidth(tmp_path):
    live = Live(quick=True, device=WideIsFaster(noise=0), rule=RULE)

    def recorded():
        return Recorded(read_run(write_run(live.record(live.points), tmp_path / "run.json", overwrite=True))).device

    first = live.device.bandwidth
    assert first == pytest.approx(3e12, rel=0.01)
    assert {x.precision for x in live.points} == {"fp32"}  # FP64 is not measured for it
    live.m_sweep("fp16")
    live.working_set_sweep()
    assert live.device.bandwidth == recorded().bandwidth == first
    live.bandwidth("fp64")
    assert live.device.bandwidth == recorded().bandwidth == pytest.approx(4e12, rel=0.01)
    assert live.device.roofline("fp16").bandwidth == live.device.bandwidth


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
