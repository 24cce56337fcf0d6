"""What chapter 7 measures: products that a cache holds, chains of loads, a program under the profiler."""

from types import SimpleNamespace

import numpy as np
import pytest

import roofcourse as rc
from roofcourse.bench import RECORDED_LIMITS
from roofcourse.records import read_run
from roofcourse.tables import data_folder

torch = pytest.importorskip("torch", reason="live measurements need torch")


# ---- products that a cache holds


def test_sizes_go_past_the_last_cache():
    from roofcourse.measure.cached import sizes

    assert sizes(32 * 2**20) == [256, 512, 1024, 2048, 4096, 8192]
    assert sizes(2**28)[-1] == 16384  # 1 GiB, four times the cache
    assert sizes(None)[-1] == 8192


def test_a_product_counts_its_bytes(monkeypatch):
    from roofcourse.measure import cached

    monkeypatch.setattr(cached, "QUICK_SECONDS", 0)
    (x,) = cached.on_cpu(None, quick=True, widths=(64,))
    assert (x.kernel, x.shape, x.precision) == ("product_again", "1x64x64", "fp32")
    assert x.work.flop == 2 * 64 * 64
    assert x.work.bytes == 4 * (64 * 64 + 2 * 64)
    assert "best of 7" in x.note
    assert x.stable == (x.spread <= 0.1)


def test_a_wrong_product_is_not_timed(monkeypatch):
    from roofcourse.measure import cached

    monkeypatch.setattr(torch, "mm", lambda x, a, out: out.fill_(0))
    with pytest.raises(ArithmeticError, match="the product 1x64x64 is wrong: relative error 1"):
        cached.on_cpu(None, quick=True, widths=(64,))


def test_a_gpu_is_asked_for_matrices_of_2_to_512_mib():
    from roofcourse.measure.cached import specs

    assert [2 * s.n * s.k / 2**20 for s in specs()] == [2, 8, 32, 128, 512]
    assert {(s.kernel, s.m) for s in specs()} == {("gemm", 16)}


def test_on_a_gpu_the_protocol_times_them():
    from roofcourse.bench import Live
    from roofcourse.measure.fake import FakeDevice

    found = Live(quick=True, device=FakeDevice(noise=0)).cached_products()
    assert [(x.m, x.n, x.kernel, x.precision) for x in found] == [
        (16, n, "gemm", "fp16") for n in (1024, 2048, 4096, 8192, 16384)
    ]
    # This device has no cache: the largest comes near its 3 TB/s, the smallest waits for its launch of 2 µs.
    assert found[-1].bytes_per_s == pytest.approx(3e12, rel=0.02)
    assert found[0].seconds == pytest.approx(2e-6 + found[0].work.bytes / 3e12, rel=0.05)


# ---- chains of loads


@pytest.fixture(scope="module")
def chains():
    pytest.importorskip("numba")
    from roofcourse.measure import chains

    return chains


def test_the_ring_visits_every_line_once(chains):
    following, order = chains.ring(1000)
    at, seen = 0, set()
    for _ in range(1000):
        seen.add(at)
        at = int(following[at])
    assert at == 0
    assert seen == {8 * i for i in range(1000)}  # one whole number in each line of eight
    assert following[order[0] * 8] == order[1] * 8 or following[order[1] * 8] == order[0] * 8


def test_the_chase_takes_the_steps_it_is_told(chains):
    following = np.array([3, 0, 1, 2], np.int64)  # 0 -> 3 -> 2 -> 1 -> 0
    at = np.array([0, 2], np.int64)
    chains.chase(following, at, 6)  # three steps of each chain
    assert at.tolist() == [1, 3]


def test_a_record_counts_a_line_for_each_load(chains, monkeypatch):
    monkeypatch.setattr(chains, "QUICK_LOADS", 4096)
    points = chains.sweep(None, quick=True, size=2**16, chains=(1, 4))
    assert [(x.batch, x.elements, x.work.bytes, x.work.flop) for x in points] == [
        (1, 4096, 64 * 4096, 0),
        (4, 4096, 64 * 4096, 0),
    ]
    assert {x.working_set_bytes for x in points} == {2**16}


# ---- a program under the profiler


def event(name, start, end, parent=None, device="CPU"):
    kind = getattr(torch.autograd.DeviceType, device)
    span = SimpleNamespace(start=start, end=end)
    return SimpleNamespace(name=name, time_range=span, cpu_parent=parent, device_type=kind)


def test_the_median_step_with_both_lanes():
    from roofcourse.measure.timeline import STEP, median_step

    steps = [event(STEP, 0, 100), event(STEP, 1000, 1050), event(STEP, 2000, 2060)]  # the last is the median
    inside = [event("aten::linear", 2002, 2012, steps[2]), event("aten::add", 2020, 2025, steps[2])]
    own = event("aten::addmm", 2003, 2010, inside[0])  # called by linear: part of it
    other = event("aten::add", 1002, 1008, steps[1])
    device = [
        event("gemm_kernel", 2015, 2040, device="CUDA"),
        event("gemm_kernel", 1015, 1040, device="CUDA"),
        event(STEP, 2000, 2060, device="CUDA"),
    ]
    spans, seconds = median_step([*device, own, *inside, *steps, other])
    assert seconds == pytest.approx(38e-6)  # from the first call, at 2002, to the end of the kernel, at 2040
    assert [(s.name, s.lane) for s in spans] == [("linear", "CPU"), ("gemm_kernel", "GPU"), ("add", "CPU")]
    assert [s.start for s in spans] == pytest.approx([0, 13e-6, 18e-6])
    assert [s.seconds for s in spans] == pytest.approx([10e-6, 25e-6, 5e-6])


def test_no_step_is_an_error():
    from roofcourse.measure.timeline import median_step

    with pytest.raises(LookupError, match="recorded no step"):
        median_step([event("aten::add", 0, 1)])


def test_the_program_is_seen_by_the_real_profiler(capfd):
    from roofcourse.measure.timeline import record

    before = torch.get_num_threads()
    t = record("cpu", "small", "this CPU")
    assert capfd.readouterr() == ("", "")  # a notebook shows what is written, and its page would not be stable
    assert torch.get_num_threads() == before
    assert [s.name for s in t.spans] == ["layer_norm", "matmul", "gelu", "matmul", "add"] * 3
    assert 0 < t.busy("CPU") < t.seconds
    assert t.plain_seconds > 0


@pytest.mark.parametrize(
    ("where", "size", "words"),
    [("cpu", "huge", "unknown size 'huge'"), ("xpu", "small", "on CPU and CUDA devices, not on xpu")],
)
def test_what_cannot_be_recorded_is_refused_in_one_line(where, size, words):
    from roofcourse.measure.timeline import record

    with pytest.raises((ValueError, LookupError), match=words) as caught:
        record(where, size, "")
    assert "\n" not in str(caught.value)


# ---- the runs that stand in


def test_the_recorded_products_start_above_the_roof():
    products = rc.bench("local", "bundled").cached_products()
    cache = read_run(data_folder() / "runs" / RECORDED_LIMITS).machine["last_level_cache_bytes"]
    assert (products.n[1:] == 2 * products.n[:-1]).all()
    assert products[0].bytes_per_s > products[-1].bytes_per_s
    assert products[0].work.bytes < cache < products[-1].work.bytes / 4


def test_recorded_chains_bring_more_the_more_there_are():
    chains = rc.bench("local", "bundled").load_chains()
    assert chains.batch.tolist() == [1, 2, 4, 8, 16, 32]
    assert (np.diff(chains.bytes_per_s) > 0).all()
    assert chains[2].bytes_per_s / chains[0].bytes_per_s == pytest.approx(4, rel=0.15)


def test_the_products_and_the_timelines_are_of_one_session():
    run = read_run(data_folder() / "runs" / RECORDED_LIMITS)
    timeline = rc.bench("local", "bundled").timeline("large")
    assert timeline.source == f"run of {run.machine['utc']}"
    assert {x.source for x in run.measurements} == {timeline.source}
