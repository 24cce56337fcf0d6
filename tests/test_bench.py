"""One interface for bundled, recorded and live measurements."""

import inspect
import math
import sys
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse import bench as bench_function
from roofcourse.bench import Recorded
from roofcourse.measure.spec import Spec
from roofcourse.measure.stopping import StopRule
from roofcourse.records import Run, read_run, write_run

bench_module = sys.modules["roofcourse.bench"]


def test_bundled_answers_with_the_catalogue():
    b = rc.bench("H100 SXM", "bundled")
    assert b.device is rc.device("h100")
    assert b.m_sweep("fp16") == rc.device("h100").m_sweep("fp16")
    assert b.bandwidth().kernel.tolist() == ["read_reduce", "copy", "add", "triad"]
    assert repr(b) == "Bundled data: NVIDIA H100 80GB HBM3, measured by Sitong Zhang, 2026."
    assert 'data-rc-source="bundled"' in b._repr_html_()


def test_without_a_gpu_auto_is_bundled(monkeypatch):
    monkeypatch.setattr(bench_module, "_local_gpu", lambda: None)
    assert rc.bench().device.key == "h100"
    assert rc.bench("rtx4080").device.key == "rtx4080"
    assert type(rc.bench("local")).__name__ == "Recorded"


def test_the_recorded_run_stands_in_for_this_machine():
    b = rc.bench("local", "bundled")
    assert b.notice().startswith("Recorded run: AMD EPYC, 2 cores, torch 2.13.0, 2026-")
    assert 'Set source = "live"' in b.notice()
    roof = b.device.roofline("fp32")
    usable = [x for p in ("fp32", "fp64") for x in b.bandwidth(p) if x.stable or x.spread <= 0.25]
    assert roof.bandwidth == max(x.bytes_per_s for x in usable)
    assert roof.peak >= max(x.flop_per_s for x in b.matmul_sweep("fp32") if x.stable)
    assert b.matmul_sweep("fp32").m.tolist()[:4] == [256, 512, 1024, 2048]
    assert b.m_sweep("fp32").m.tolist()[:4] == [1, 2, 4, 8]
    assert {x.precision for x in b.bandwidth("fp64")} == {"fp64"}
    with pytest.raises(LookupError, match=r"this run has no fp16 matrix products; it has fp32"):
        b.m_sweep("fp16")
    with pytest.raises(LookupError, match="AMD EPYC has no measured fp16 gemm ceiling; matrix products measured: fp32"):
        b.device.roofline("fp16")


def test_a_run_file_is_a_device_of_its_own(tmp_path):
    recorded = rc.bench("local", "bundled").run
    b = rc.bench(run=write_run(recorded, tmp_path / "run.json"))
    assert b.device.name == "AMD EPYC"
    assert b.matmul_sweep().seconds.tolist() == recorded.measurements.where(kernel="gemm").seconds.tolist()[:4]
    with pytest.raises(ValueError, match="no such file"):
        rc.bench(run=tmp_path / "missing.json")


def test_of_points_of_two_sizes_the_largest_that_is_believed_counts():
    """A run that was gone on with while less memory was free: the first, larger arrays were suspect."""

    def triad(elements, rate, **fields):
        work = rc.triad(elements)
        return rc.Measurement("cpu", "triad", "fp32", work, work.bytes / rate, elements=elements, **fields)

    def best(*points):
        return Recorded(Run(2, {"key": "cpu", "name": "A CPU"}, rc.Measurements(points))).device.bandwidth

    large, small, least = triad(10**9, 9e10, suspect="throttle"), triad(10**8, 8e10), triad(10**7, 1e11)
    assert best(large, small, least) == 8e10
    assert best(triad(10**9, 7e10), small) == 7e10
    with pytest.raises(LookupError, match="A CPU has no measured bandwidth"):
        best(large, triad(10**8, 8e10, suspect="throttle"))


def test_refusals_are_one_line(monkeypatch):
    with pytest.raises(ValueError, match="unknown source 'cloud'; choose one of auto, bundled, live"):
        rc.bench(source="cloud")
    with pytest.raises(LookupError, match="no device 'h1000'"):
        rc.bench("h1000", "bundled")
    monkeypatch.setattr(bench_module, "_local_gpu", lambda: None)
    monkeypatch.setattr(bench_module, "find_spec", lambda name: object())
    with pytest.raises(ValueError, match=r"^this machine has no GPU, not H100 .*: use device='local'"):
        rc.bench("h100", "live")
    monkeypatch.setattr(bench_module, "_local_gpu", lambda: "NVIDIA H100 PCIe")
    with pytest.raises(ValueError, match="this machine has NVIDIA H100 PCIe, not H100"):
        rc.bench("h100", "live")
    monkeypatch.setattr(bench_module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"source 'live' needs torch: pip install 'roofcourse\[live\]'"):
        rc.bench("local", "live")


def test_the_function_is_not_hidden_by_its_module():
    assert rc.bench is bench_function


@pytest.fixture(scope="module")
def live():
    pytest.importorskip("torch", reason="live measurements need torch")
    from roofcourse.bench import Live
    from roofcourse.measure.device import open_device

    return Live(quick=True, device=open_device("cpu"), rule=StopRule(3, 0.0, 1.0, 0.0, 1.0))


def test_a_live_product_is_counted_checked_and_timed(live):
    x = live._session.take(Spec("gemm", "fp32", m=8, n=64, k=32))
    assert x.work == rc.gemm(8, 64, 32, "fp32")
    assert (x.kind, x.device, x.implementation) == ("measured live", "cpu", "torch")
    assert 0 < x.seconds < 1
    assert not math.isnan(x.spread)
    assert x.evidence.timer == "host clock"
    assert 1e-9 < x.evidence.error < 1e-5
    assert live.points.at(m=8) is x


def test_a_live_run_can_be_written_and_read_back(live, tmp_path):
    points = rc.Measurements([live._session.take(Spec("gemm", "fp32", m=n, n=n, k=n)) for n in (32, 64)])
    path = write_run(live.record(points), tmp_path / "run.json")
    back = read_run(path)
    assert back.measurements.seconds.tolist() == points.seconds.tolist()
    assert back.measurements.work.tolist() == points.work.tolist()
    assert [x.evidence for x in back.measurements] == [x.evidence for x in points]
    assert len(back.machine) >= 20
    # facts about the machine, none about its owner
    import getpass
    import socket
    from pathlib import Path

    text = path.read_text(encoding="utf-8")
    assert socket.gethostname() not in text
    assert getpass.getuser() not in text
    assert str(Path.home()) not in text


def test_a_live_bench_answers_with_the_machine(live):
    assert live.notice().startswith(f"Live: {live.machine['name']}, torch ")
    assert 'data-rc-source="live"' in live._repr_html_()
    assert str(live.device) == live.machine["name"]
    assert live.time(sum, [1, 2]).median < 1e-3


def test_what_this_machine_cannot_do_is_one_line(live):
    with pytest.raises(LookupError, match="no tf32 matrix products on .*: TF32 is a format of GPU matrix units"):
        live.matmul_sweep("tf32")
    with pytest.raises(LookupError, match="no nvfp4 matrix products on .*: nvfp4 .* are not measured live"):
        live.matmul_sweep("nvfp4")
    with pytest.raises(ValueError, match="unknown path 'diagonal'"):
        live.device.roofline("fp32", "diagonal")


def test_bundled_cards_answer_the_same_calls():
    b = rc.bench("h100", "bundled")
    line = b.launch_overhead()
    assert line.overhead == pytest.approx(2.0e-6, rel=0.1)  # the smallest copy takes 2.07 us, hardly any of it traffic
    assert line.bandwidth > b.device.bandwidth  # these copies stay in the L2
    assert b.fma_sweep("fp32") == rc.device("h100").fma_sweep("fp32")
    assert b.working_set_sweep("triad") == rc.device("h100").working_set_sweep("triad")
    with pytest.raises(LookupError, match="many small products were not timed on H100"):
        b.small_products()


def test_every_bench_answers_the_same_calls():
    def calls(kind):
        return {n: inspect.signature(f).parameters for n, f in inspect.getmembers(kind, callable) if n[0] != "_"}

    live = calls(bench_module.Live)
    del live["record"]  # what was measured, as a run
    del live["bandwidth_points"], live["peak_points"], live["core_roofs"]  # for the ceilings, not for a notebook
    for kind in (bench_module.Bundled, Recorded):
        answered = calls(kind)
        assert set(live) - set(answered) == set(), kind
        for name, wanted in live.items():
            rest = any(p.kind is p.VAR_KEYWORD for p in answered[name].values())
            assert rest or list(answered[name]) == list(wanted), (kind, name)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda b: b.bandwidth("fp64"), "fp64 arrays were not moved on H100; there is bandwidth('fp32')"),
        (
            lambda b: b.working_set_sweep("copy", "cold"),
            "no cold sweep was timed on H100; there is cache_state='warm'",
        ),
        (lambda b: b.cache_sweep(), "reads by cache were not timed on H100; there is working_set_sweep('copy')"),
        (lambda b: b.loop_orders(), "loop orders were not timed on H100; use bench('local') for that"),
        (lambda b: b.time(sum, [1]), "nothing new is timed on H100; use bench('local', 'live') for that"),
    ],
)
def test_what_a_card_of_the_catalogue_lacks_is_one_line(ask, said):
    with pytest.raises(LookupError) as caught:
        ask(rc.bench("h100", "bundled"))
    assert str(caught.value) == said


def test_what_a_card_has_whatever_it_is_called_with():
    b = rc.bench("h100", "bundled")
    assert b.bandwidth("fp32") == b.bandwidth()
    assert b.working_set_sweep("copy", "warm") == b.working_set_sweep()
    assert b.levers() == ()


def test_what_a_recorded_run_lacks_is_one_line():
    b = rc.bench("local", "bundled")
    with pytest.raises(LookupError, match="^this run has no fp16 bandwidth; it has fp64, fp32$"):
        b.bandwidth("fp16")
    with pytest.raises(LookupError, match=r"^a recorded run times nothing new: use bench\('local', 'live'\)"):
        b.time(sum, [1])


def point(kernel="gemm", seconds=1.0, **fields):
    work = rc.gemm(64, 64, 64, "fp32") if kernel == "gemm" else rc.copy(1000)
    size = {"m": 64, "n": 64, "k": 64} if kernel == "gemm" else {"elements": 1000}
    return rc.Measurement("cpu", kernel, "fp32", work, seconds, **{**size, **fields})


def recorded(*points):
    return Recorded(Run(2, {"key": "cpu", "name": "A CPU", "utc": "2026-11-30T09:00:00Z"}, rc.Measurements(points)))


def test_suspect_and_unstable_points_set_no_ceiling():
    memory = point("triad", 1e-6)
    device = recorded(memory, point(seconds=3), point(seconds=2, stable=False), point(seconds=1, suspect="x")).device
    assert device.roofline().peak == 2 * 64**3 / 3
    near = recorded(memory, point(seconds=3), point(seconds=2, stable=False, spread=0.2)).device
    assert near.roofline().peak == 2 * 64**3 / 2
    far = recorded(memory, point(seconds=3), point(seconds=2, stable=False, spread=0.3)).device
    assert far.roofline().peak == 2 * 64**3 / 3
    noisy = recorded(memory, point(seconds=2, stable=False), point(seconds=1, suspect="too fast")).device
    assert noisy.roofline().peak == 2 * 64**3 / 2  # nothing better there
    with pytest.raises(LookupError, match="A CPU has no measured fp32 gemm ceiling"):
        _ = recorded(memory, point(suspect="too fast")).device.roofline()
    with pytest.raises(LookupError, match="A CPU has no measured bandwidth"):
        _ = recorded(point()).device.bandwidth


def test_a_precision_of_suspect_points_alone_takes_no_roof_from_the_others():
    memory, wrong = point("triad", 1e-6), replace(point(suspect="too fast"), precision="fp64")
    ceilings = recorded(memory, point(seconds=3), wrong).device.ceilings()
    assert [(r.precision, r.path, r.peak) for r in ceilings] == [("fp32", "gemm", 2 * 64**3 / 3)]
    with pytest.raises(LookupError, match="A CPU has no measured bandwidth"):
        recorded(point()).device.ceilings()


def test_of_two_programs_the_faster_counts():
    b = recorded(point("triad", 2e-6, implementation="torch"), point("triad", 1e-6, implementation="numba"))
    assert b.bandwidth().at(kernel="triad").implementation == "numba"


def test_of_two_programs_with_as_many_sizes_the_faster_makes_the_sweep():
    sizes = {"elements": 1000, "working_set_bytes": 8000.0}
    slow, fast = (point("copy", t, implementation=i, **sizes) for t, i in ((2e-6, "torch"), (1e-6, "numba")))
    for order in ((slow, fast), (fast, slow)):
        assert recorded(*order).working_set_sweep() == rc.Measurements([fast])
    second = point("copy", 4e-6, implementation="torch", elements=2000, working_set_bytes=16000.0)
    assert recorded(fast, slow, second).working_set_sweep() == rc.Measurements([slow, second])  # more sizes go first


def test_a_run_says_why_something_is_missing():
    run = Run(2, recorded().machine, rc.Measurements([point()]), (("gemm fp8_e4m3", "it has no FP8 units"),), False)
    b = Recorded(run)
    assert "interrupted" in b.notice()
    with pytest.raises(LookupError, match=r"no fp8_e4m3 matrix products; it has fp32 \(it has no FP8 units\)"):
        b.matmul_sweep("fp8")
    with pytest.raises(LookupError, match="this run has no fp32 FMA sweep; it has gemm"):
        b.fma_sweep()
    with pytest.raises(LookupError, match="this run has no copy sweep"):
        b.launch_overhead()


def test_a_readers_run_never_borrows_what_was_recorded_elsewhere(tmp_path):
    from roofcourse.records import Run

    stand_in = rc.bench("local", "bundled")
    assert len(stand_in.cache_sweep()) > 0
    assert len(stand_in.loop_orders("wide")) > 0
    own = Run(stand_in.run.method_version, stand_in.run.machine, stand_in.run.measurements.where(kernel="copy"))
    b = rc.bench(run=write_run(own, tmp_path / "run.json"))
    for call, what in (
        (b.cache_sweep, "cache sweep"),
        (b.loop_orders, "loop orders"),
        (b.small_products, "small products"),
    ):
        with pytest.raises(LookupError, match=f"this run has no {what}; it has copy"):
            call()


def test_a_working_set_sweep_is_one_program_over_all_sizes():
    """The recorded CPU copied its largest array with another program (for B): no step of the sweep."""
    mine = rc.bench("local", "bundled")
    sweep = mine.working_set_sweep()
    assert {x.implementation for x in sweep} == {"torch"}
    assert {x.implementation for x in mine.points.where(kernel="copy", precision="fp32")} == {"torch", "numba"}
    assert [x.working_set_bytes // 1024 for x in sweep] == [16 * 4**i for i in range(8)]
