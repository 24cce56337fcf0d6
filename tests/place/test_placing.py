"""Placing on a made-up device whose time, bandwidth and peaks are known. x takes 4 MiB, y 16 KiB."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

import roofcourse as rc  # noqa: E402
from roofcourse.bench import Live  # noqa: E402
from roofcourse.measure.fake import FakeDevice  # noqa: E402
from roofcourse.measure.stopping import StopRule  # noqa: E402
from roofcourse.place import Point, placing, where  # noqa: E402

RULE = StopRule(10, 0.0, 1.0, 0.0, 1.0)
MIB = 2**20
x, y = torch.ones(1024, 1024), torch.ones(64, 64)


@pytest.fixture(scope="module")
def bench():
    fake = FakeDevice(kind="cpu", name="Fake CPU", bandwidth=1e10, noise=0.0, overhead=1e-6, cache=MIB)
    return Live(quick=True, device=fake, rule=RULE)


def taking(bench, seconds, call):
    """``call``, after which the made-up device is busy for so long."""

    def run(*args):
        bench.hardware._run(seconds)
        return call(*args)

    return run


def test_a_memory_bound_function_against_its_roof(bench):
    # 8 MiB at 10 GB/s are 0.839 ms.
    point = rc.place(taking(bench, 2e-3, torch.relu), x, name="relu", bench=bench)
    assert point.work.flop == 1024**2
    assert point.work.bytes == 8 * MIB
    assert point.byte_source == "formula"
    assert point.seconds == pytest.approx(2e-3, rel=0.01)
    assert point.roofline.path == "vector"
    assert point.roofline.bandwidth == pytest.approx(1e10, rel=0.01)
    assert point.explanation.percent == pytest.approx(42, abs=1)
    assert point.explanation.bound == "memory"
    assert point.stable


def test_new_memory_is_counted_by_its_pages():
    """A result of 64 MiB is 16384 pages of 4 KiB in every call; into memory that is there, none."""
    pytest.importorskip("resource", reason="the system does not count pages")
    large = torch.ones(4096, 4096)
    there = torch.empty_like(large)
    with torch.inference_mode():
        assert placing.pages.touched(lambda: torch.relu(large)) == pytest.approx(64 * MIB, abs=MIB)
        assert placing.pages.touched(lambda: torch.clamp(large, min=0, out=there)) < MIB


@pytest.mark.parametrize(("new", "old", "difference"), [(5, 2, 3), (2, 5, 0)])
def test_the_first_touch_is_what_filling_takes_longer_than_again(monkeypatch, new, old, difference):
    spans = [new, new, 90, old, old, 70]  # three of each; the median leaves out an interruption
    clock = iter([t for span in spans for t in (0, span)])
    monkeypatch.setattr(placing.pages.time, "perf_counter", lambda: next(clock))
    assert placing.pages.touch_seconds(4096) == difference


def test_a_product_goes_under_the_matrix_roof(bench):
    point = rc.place(taking(bench, 2e-3, torch.matmul), y, y, bench=bench)
    assert point.roofline.path == "gemm"
    # Its memory is so slow that the largest product, 2048 cubed, is bound by it: 50.3 MB at 10 GB/s.
    assert point.roofline.peak == pytest.approx(2 * 2048**3 / (3 * 2048**2 * 4 / 1e10), rel=0.01)
    assert (point.measurement.m, point.measurement.n, point.measurement.k) == (64, 64, 64)
    assert point.work.flop == 2 * 64**3


def test_of_a_complex_product_it_says_what_torch_leaves_out(bench):
    z = torch.ones(64, 64, dtype=torch.complex64)
    point = rc.place(taking(bench, 2e-3, torch.matmul), z, z, bench=bench)
    assert (point.work.flop, point.precision, point.roofline.path) == (8 * 64**3, "fp32", "gemm")
    assert "says 524 kFLOP; 2.10 MFLOP with" in str(point).replace("\u00a0", " ")
    assert "reductions and attention, and products of complex numbers or INT8 counted whole." in str(point)


def test_what_is_printed_always_says_where_the_bytes_come_from(bench):
    text = str(rc.place(taking(bench, 2e-3, torch.relu), x, bench=bench)).replace("\u00a0", " ")
    assert "bytes: by formula: each input and output of the whole once, a lower bound" in text
    assert "relu" in text.splitlines()[-1]
    assert "torch's own counter says 0 FLOP; 1.05 MFLOP with elementwise operators, reductions and attention." in text
    counted = rc.place(taking(bench, 2e-3, torch.relu), x, bench=bench, counted_bytes=1e7)
    assert (counted.byte_source, counted.work.bytes) == ("counters", 1e7)
    assert "by the profiler's counters" in str(counted)
    assert "by formula it would move 8.39" in str(counted)


def test_a_chain_of_operators_is_told_from_one_kernel(bench):
    # Three operators move 24 MiB: 2.52 ms apart, 0.84 ms together.
    point = rc.place(taking(bench, 2.7e-3, lambda t: (t * 2 + 1).relu()), x, name="chain", bench=bench)
    assert point.operator_seconds == pytest.approx(3 * 8 * MIB / 1e10, rel=0.01)
    assert point.explanation.verdict == "operators"
    assert "3 operators one after the other" in point.explanation.reasons[0].evidence


def test_narrow_numbers_on_the_ordinary_units_stand_under_the_fp32_ones_and_it_is_said(bench):
    point = rc.place(taking(bench, 2e-3, torch.relu), x.to(torch.bfloat16), bench=bench)
    assert (point.precision, point.roofline.precision, point.roofline.path) == ("bf16", "fp32", "vector")
    assert "no BF16 ceiling of the vector units was measured" in point.notes[0]


def test_work_can_be_given_where_torch_sees_nothing(bench):
    hidden = taking(bench, 2e-3, lambda: None)
    with pytest.raises(ValueError, match="torch saw no tensor enter or leave"):
        rc.place(hidden, bench=bench)
    point = rc.place(hidden, work=rc.axpy(10**6), bench=bench, name="axpy")
    assert point.work == rc.axpy(10**6)
    assert point.byte_source == "given"
    assert "torch saw no operator" in " ".join(point.notes)


def test_what_could_not_be_counted_is_said(bench):
    point = rc.place(taking(bench, 2e-3, torch.linalg.svd), torch.eye(8), bench=bench)
    assert "could not count the FLOP of _linalg_svd (1 call): they count as 0." in point.notes


def test_settings_are_put_back_and_errors_pass_through(bench):
    before = torch.get_float32_matmul_precision(), torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    def broken(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        rc.place(broken, x, bench=bench)
    rc.place(taking(bench, 2e-3, torch.relu), x, bench=bench)
    assert (torch.get_float32_matmul_precision(), torch.is_inference_mode_enabled(), torch.is_grad_enabled()) == before


def test_gradients_on_request(bench):
    weight = torch.ones(64, 8, requires_grad=True)

    def step(t):
        weight.grad = None
        (t @ weight).sum().backward()
        return weight.grad

    point = rc.place(taking(bench, 2e-3, step), y, bench=bench, gradients=True)
    assert {o.name for o in point.operators} >= {"mm", "sum"}
    assert sum(o.flop for o in point.operators if o.name == "mm") == 2 * 2 * 64 * 64 * 8


def counter(name, flop, moved, **more):
    from roofcourse.counters import KernelCounter

    return KernelCounter(name, 1e-3, moved, flop=flop, precision="fp32", path="vector", **more)


@pytest.fixture(scope="module")
def card():
    fake = FakeDevice(kind="cuda", bandwidth=1e10, noise=0.0, overhead=1e-6, cache=MIB)
    return Live(quick=True, device=fake, rule=RULE)


def test_a_report_of_the_profiler_gives_flop_and_bytes(card):
    # Two calls were profiled, of two kernels each, after the one that filled x.
    kernels = [counter("fill", 0.0, 5e6), *[counter("relu_elementwise", 3e6, 8e6), counter("relu_tail", 1e6, 2e6)] * 2]
    seen = {"report": kernels, "report_kernel": "relu", "report_calls": 2}
    point = rc.place(taking(card, 2e-3, torch.relu), x, bench=card, **seen)
    assert (point.work.flop, point.work.bytes) == (4e6, 1e7)
    assert point.byte_source == "counters"
    assert (point.roofline.precision, point.roofline.path) == ("fp32", "vector")
    assert point.explanation.percent == pytest.approx(50, abs=1)  # 10 MB at 10 GB/s are 1 ms of 2
    assert "the profiler saw 2 kernels a call, 2.00 ms in them one at a time." in str(point).replace("\u00a0", " ")
    assert "FLOP by instructions that ran; by formula it would be 1.05 MFLOP" in str(point).replace("\u00a0", " ")


def test_flop_that_a_report_does_not_count_are_those_of_the_formula(card):
    kernels = [counter("relu", None, 9e6, note="matrix units ran")]
    point = rc.place(taking(card, 2e-3, torch.relu), x, bench=card, report=kernels)
    assert (point.work.flop, point.work.bytes) == (1024**2, 9e6)
    assert "FLOP by formula: matrix units ran." in str(point)


def test_flop_given_for_a_kernel_do_not_say_what_units_did_them(card):
    """The report does not show the precision: it is that of the operator, on the path that the operator takes."""
    from roofcourse.counters import KernelCounter

    kernels = [KernelCounter("gemm", 1e-3, 9e6, note="matrix units ran").with_flop(5e5)]
    point = rc.place(taking(card, 2e-3, torch.matmul), y, y, bench=card, report=kernels)
    assert (point.work.flop, point.precision, point.roofline.path) == (5e5, "fp32", "gemm")
    assert "FLOP as given for its kernels; by formula it would be 524 kFLOP" in str(point).replace("\u00a0", " ")


def test_a_report_that_does_not_belong_gets_one_line(bench, card):
    kernels = [counter("relu", 1.0, 9e6)] * 3
    for ceilings, words, kind, message in (
        (bench, {"report": kernels}, ValueError, "is of an NVIDIA card, and this function runs on cpu"),
        (card, {"report": kernels, "report_kernel": "gemm"}, LookupError, "in its name; there are: relu"),
        (card, {"report": kernels, "report_calls": 2}, ValueError, "3 launches, which is no whole number"),
        (card, {"report": kernels, "report_calls": 0}, ValueError, "of 0 calls"),
        (card, {"report": [counter("relu", 1.0, 0.0)]}, ValueError, "no byte of all kernels in the report crossed"),
        (card, {"report": kernels, "counted_bytes": 1.0}, ValueError, "leave out work= and counted_bytes="),
        (card, {"report_calls": 2}, ValueError, "name it with report="),
        (card, {"report": "nowhere.csv"}, ValueError, "nowhere.csv: no such file"),
    ):
        with pytest.raises(kind, match=message) as refusal:
            rc.place(torch.relu, x, bench=ceilings, **words)
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: rc.place(3, bench=b), "place needs a function"),
        (lambda b: rc.place(torch.relu, x, bench=b, precision="fp99"), "unknown precision"),
        (lambda b: rc.place(torch.relu, x, bench=b, counted_bytes=0), "counted_bytes must be a positive number"),
        (lambda b: rc.place(torch.relu, x, bench=b, work=7), "work must be a roofcourse.Work"),
        (lambda b: rc.place(torch.relu, x, bench=b, run="run.json"), "from a bench or from a run file"),
    ],
)
def test_wrong_arguments_get_one_line(bench, call, message):
    with pytest.raises(ValueError, match=message) as refusal:
        call(bench)
    assert "\n" not in str(refusal.value)


def test_neighbours_are_evidence_for_placed_points(bench):
    wide = rc.place(taking(bench, 1e-3, lambda t: t @ t), y, bench=bench, name="mm")
    slow = rc.place(taking(bench, 2e-3, lambda t: t[:32] @ t), y, bench=bench, name="mm", sweep=[wide])
    assert slow.explanation.verdict == "kernel"
    assert "n = 64 does 2 times the arithmetic" in slow.explanation.reasons[0].evidence


def test_a_point_survives_the_way_through_a_file(bench):
    point = rc.place(taking(bench, 2e-3, lambda t: (t * 2).relu()), x, bench=bench, name="two")
    again = Point.from_dict(json.loads(json.dumps(point.to_dict())))
    assert again == replace(point, sweep=())
    assert str(again) == str(point)
    assert again.explanation == point.explanation


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("measurement"), "field 'measurement' is missing"),
        (lambda d: d.update(colour="red"), "unexpected keyword"),
        (lambda d: d.update(byte_source="guess"), "byte_source must be one of"),
    ],
)
def test_a_broken_saved_point_gets_one_line(bench, change, message):
    facts = rc.place(taking(bench, 2e-3, torch.relu), x, bench=bench).to_dict()
    change(facts)
    with pytest.raises(ValueError, match=message):
        Point.from_dict(facts)


def test_a_compiled_function_is_counted_as_it_was_before():
    def relu(t):
        return torch.relu(t)

    assert placing._eager(torch.compile(relu, backend="eager")) == (relu, True)
    layer = torch.nn.Linear(4, 4)
    assert placing._eager(torch.compile(layer, backend="eager")) == (layer, True)
    assert placing._eager(relu) == (relu, False)


def test_fp32_products_on_a_gpu_are_shown_the_tf32_roof():
    fake = FakeDevice(noise=0.0, bandwidth=3e12, overhead=1e-6)
    gpu = Live(quick=True, device=fake, rule=RULE)
    point = rc.place(taking(gpu, 1e-3, torch.matmul), y, y, bench=gpu)
    assert "tf32" in {r.precision for r in point.roofs}


def convolve(t):
    return torch.nn.functional.conv1d(t[None], torch.ones(8, 64, 3))


def own_precision(call, kind="cuda", capability=(9, 0)):
    gpu = Live(quick=True, device=FakeDevice(kind=kind, capability=capability), rule=RULE)
    return placing._own_precision(torch, placing.count(lambda: call(y)), gpu)


def test_convolutions_on_a_gpu_run_in_tf32_unless_switched_off(monkeypatch):
    assert own_precision(lambda t: t @ t) == "fp32"
    assert own_precision(convolve) == "tf32"  # 2 x 8 x 64 x 3 x 62 FLOP
    assert own_precision(lambda t: (convolve(t), t @ t)) == "fp32"  # 190,464 FLOP and 2 x 64^3 = 524,288
    assert own_precision(convolve, capability=(7, 5)) == "fp32"  # no such units
    assert own_precision(convolve, kind="rocm", capability="gfx942") == "fp32"  # no cuDNN
    assert own_precision(convolve, kind="cpu") == "fp32"
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    assert own_precision(convolve) == "fp32"
    torch.set_float32_matmul_precision("high")
    try:
        assert own_precision(lambda t: t @ t) == "tf32"
        assert own_precision(convolve) == "fp32"
    finally:
        torch.set_float32_matmul_precision("highest")


def test_a_convolution_stands_under_the_tf32_roof(bench):
    gpu = Live(quick=True, device=FakeDevice(noise=0.0, bandwidth=3e12, overhead=1e-6), rule=RULE)
    point = rc.place(taking(gpu, 1e-3, convolve), y, bench=gpu)
    assert (point.precision, point.roofline.precision, point.roofline.path) == ("tf32", "tf32", "gemm")


def test_the_callers_switches_hold_on_an_nvidia_gpu_while_it_is_timed():
    """A net with convolutions in TF32 and a product in FP32 is timed as it runs."""
    gpu = Live(quick=True, device=FakeDevice(noise=0.0, bandwidth=3e12, overhead=1e-6), rule=RULE)
    gpu.hardware.settings = lambda precision: pytest.fail("one precision for both")
    timing, _ = placing._time(torch, gpu.hardware, taking(gpu, 1e-3, lambda: convolve(y)), "tf32", False)
    assert timing.median == pytest.approx(1e-3, rel=0.01)


@pytest.mark.skipif(not hasattr(torch.backends.cuda.matmul, "fp32_precision"), reason="the old switches only")
def test_the_new_switch_of_torch_is_read_too(bench):
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    products.fp32_precision = "tf32"
    try:
        assert own_precision(lambda t: t @ t) == "tf32"
        fresh = Live(quick=True, device=bench.hardware, rule=RULE)
        assert rc.place(taking(fresh, 2e-3, torch.matmul), y, y, bench=fresh).precision == "fp32"  # on a CPU
    finally:
        products.fp32_precision = before


def test_the_ceilings_of_another_machine_are_refused():
    elsewhere = rc.bench("local", "bundled")
    elsewhere.machine["name"] = "Somebody else's"
    with pytest.raises(ValueError, match="the bench is of another machine"):
        rc.place(torch.relu, y, bench=elsewhere)


def test_ceilings_are_those_of_as_many_threads_as_torch_has():
    before = torch.get_num_threads()
    old = where.live("cpu")
    assert where.live("cpu") is old
    mine = Live(quick=True, device=old.hardware, rule=RULE)
    torch.set_num_threads(before + 1)
    try:
        new = where.live("cpu")
        assert (old.machine["threads"], new.machine["threads"]) == (before, before + 1)
        with pytest.raises(ValueError, match=f"measured with {before} threads, and torch has {before + 1} here"):
            rc.place(torch.relu, y, bench=mine)
    finally:
        torch.set_num_threads(before)
    assert where.live("cpu") is old


def test_a_placed_point_can_be_explained_again(bench):
    point = rc.place(taking(bench, 2e-3, torch.relu), x, bench=bench)
    again = rc.explain(point, point.roofline, path="vector")
    assert again.percent == point.explanation.percent
