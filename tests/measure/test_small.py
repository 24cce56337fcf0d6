"""Many small products in as many calls and in one: right work, right settings, and the run that stands in."""

import pytest

import roofcourse as rc
from roofcourse.bench import RECORDED, RECORDED_SMALL, Recorded
from roofcourse.measure import plan, report
from roofcourse.measure.fake import FakeDevice
from roofcourse.measure.session import Session
from roofcourse.measure.stopping import StopRule
from roofcourse.records import Run, read_run
from roofcourse.tables import data_folder


@pytest.fixture(scope="module")
def small():
    pytest.importorskip("torch")
    from roofcourse.measure import small

    return small


def test_both_ways_do_the_same_work(small, monkeypatch):
    import torch

    monkeypatch.setattr(small, "QUICK_SECONDS", 0)
    before = torch.get_num_threads()
    points = small.on_one_core(quick=True, sizes=(4, 6), count=3)
    assert torch.get_num_threads() == before
    assert [(x.kernel, x.n) for x in points] == [(k, n) for n in (4, 6) for k in ("gemm_loop", "gemm_batched")]
    for x in points:
        assert x.work.flop == 3 * 2 * x.n**3
        assert x.work.bytes == 3 * 3 * 4 * x.n**2
        assert (x.batch, x.shape, x.kind) == (3, f"3 of {x.n}x{x.n}x{x.n}", "measured live")
        assert "best of 7, on one core" in x.note


def test_wrong_products_are_not_timed(small, monkeypatch):
    import torch

    monkeypatch.setattr(torch, "bmm", lambda x, a, out: out.fill_(0))
    with pytest.raises(ArithmeticError, match="the products 4x4x4 of gemm_batched are wrong: relative error 1"):
        small.on_one_core(quick=True, sizes=(4,), count=2)


def test_a_gpu_is_asked_for_three_sizes(small):
    assert [(s.kernel, s.n, s.batch) for s in small.specs()[:2]] == [
        ("gemm_loop", 16, 1024),
        ("gemm_batched", 16, 1024),
    ]
    assert {s.work.flop for s in small.specs()} == {1024 * 2 * n**3 for n in (16, 64, 256)}


def test_a_session_takes_several_sizes():
    def sizes(kind, quick):
        specs = plan.many_small(FakeDevice(kind=kind), quick)
        assert {s.kernel for s in specs} == {"gemm_loop", "gemm_batched"}
        return sorted({s.n for s in specs})

    assert sizes("cpu", False) == [8, 16, 32, 64, 128]
    assert sizes("cpu", True) == [16, 64]
    assert sizes("cuda", False) == [16, 64, 256]


def test_the_report_compares_the_two_ways():
    """On the made-up device a call costs 2 us; 1024 products of 64 in FP16 move 25 MB, 8.4 us at 3 TB/s."""
    device = FakeDevice(noise=0, cache=0)
    session = Session(device, StopRule(minimum_seconds=0.01), device.manifest())
    for spec in plan.many_small(session.device, True):
        session.take(spec)
    lines = report.closing(Recorded(session.run(complete=True))).splitlines()
    assert lines[0].split() == ["small", "products", "a", "call", "each", "one", "call", "gain"]
    one = (2e-6 + 1024 * 3 * 64 * 64 * 2 / 3e12) / 1024 * 1e6
    each = 2 + 3 * 64 * 64 * 2 / 3e6
    assert lines[1].split()[:4] == ["1024", "of", "64x64x64", "FP16"]
    assert float(lines[1].split()[4]) == pytest.approx(each, rel=0.02)
    assert float(lines[1].split()[6]) == pytest.approx(one, rel=0.02)


def test_the_recorded_run_has_them():
    found = rc.bench("local", "bundled").small_products()
    assert {x.kernel for x in found} == {"gemm_loop", "gemm_batched"}
    assert {x.batch for x in found} == {256}
    assert sorted(set(found.n.tolist())) == [8, 16, 32, 64, 128]


def test_both_recorded_runs_are_of_one_machine():
    whole, apart = (read_run(data_folder() / "runs" / name).machine for name in (RECORDED, RECORDED_SMALL))
    for fact in ("key", "name", "cores", "last_level_cache_bytes"):
        assert whole[fact] == apart[fact]


def test_another_machine_does_not_borrow_them():
    other = Run(2, {"key": "cpu", "name": "Another CPU", "cores": 2, "utc": "2026-11-30T09:00:00Z"}, rc.Measurements())
    with pytest.raises(LookupError, match="this run has no small products"):
        Recorded(other).small_products()
