"""One interface for bundled, recorded and live measurements."""

import math
import sys

import pytest

import roofcourse as rc
from roofcourse import bench as bench_function
from roofcourse.records import read_run, write_run

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
    assert roof.bandwidth == max(x.bytes_per_s for p in ("fp32", "fp64") for x in b.bandwidth(p) if x.stable)
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
    return rc.bench("local", "live", quick=True)


def test_a_live_product_is_counted_checked_and_timed(live):
    from roofcourse.measure.kernels import matmul

    x = matmul(live.where, "fp32", 8, 64, 32, 0.05)
    assert x.work == rc.gemm(8, 64, 32, "fp32")
    assert x.kind == "measured live"
    assert 0 < x.seconds < 1
    assert not math.isnan(x.spread)
    with pytest.raises(ValueError, match="fp8_e4m3 matrix products are not measured live"):
        matmul(live.where, "fp8", 8, 8, 8, 0.05)


def test_a_wrong_product_is_never_timed(live, monkeypatch):
    import torch

    from roofcourse.measure import kernels

    monkeypatch.setattr(torch, "matmul", lambda x, a, out: out.zero_())
    with pytest.raises(ArithmeticError, match=r"fp32 product 8x64x32 on .* is wrong: relative error 1"):
        kernels.matmul(live.where, "fp32", 8, 64, 32, 0.05)


def test_a_live_run_can_be_written_and_read_back(live, tmp_path):
    from roofcourse.measure.kernels import matmul

    points = rc.Measurements([matmul(live.where, "fp32", n, n, n, 0.05) for n in (32, 64)])
    back = read_run(write_run(live.record(points), tmp_path / "run.json"))
    assert back.measurements.seconds.tolist() == points.seconds.tolist()
    assert back.measurements.work.tolist() == points.work.tolist()
    # facts about the machine, none about its owner
    import getpass
    import socket

    text = (tmp_path / "run.json").read_text(encoding="utf-8")
    assert socket.gethostname() not in text
    assert getpass.getuser() not in text
