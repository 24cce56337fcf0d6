"""Functions placed by the shapes of their tensors: live on a made-up device, and as they were recorded."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import record_kernels as recording

import roofcourse as rc
from roofcourse import workbench
from roofcourse.bench import RECORDED_KERNELS, Live, Recorded
from roofcourse.measure.fake import FakeDevice
from roofcourse.measure.stopping import StopRule
from roofcourse.place.store import placed
from roofcourse.records import read_run
from roofcourse.tables import data_folder

RUN = read_run(data_folder() / "runs" / RECORDED_KERNELS)
MIB = 2**20


def product(x, a):
    # The same as the chapter's, laid out in another way.
    return (
        x
        @ a
    )  # fmt: skip


# --- live -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bench():
    pytest.importorskip("torch")
    fake = FakeDevice(kind="cpu", name="Fake CPU", bandwidth=1e10, noise=0.0, overhead=1e-6, cache=MIB)
    fake.place = "cpu"  # where torch makes the tensors
    return Live(quick=True, device=fake, rule=StopRule(10, 0.0, 1.0, 0.0, 1.0))


def test_live_the_function_gets_random_tensors_of_these_shapes(bench):
    seen = []

    def add(x, y):
        bench.hardware._run(1e-3)
        seen.append((x, y))
        return x + y

    point = bench.place(add, (512, 256), (256,), name="sum")
    x, y = seen[0]
    assert (tuple(x.shape), tuple(y.shape), str(y.dtype)) == ((512, 256), (256,), "torch.float32")
    assert float(x.std()) == pytest.approx(1, abs=0.02)  # random, not zeros
    assert point.name == "sum"
    assert point.work.flop == 512 * 256
    assert point.work.bytes == 4 * (2 * 512 * 256 + 256)
    assert point.roofline.bandwidth == pytest.approx(1e10, rel=0.01)


def test_live_the_work_can_be_given_and_neighbours_too(bench):
    def double(x):
        bench.hardware._run(1e-3)
        return x + x

    first = bench.place(double, (128, 128), precision="fp64")
    assert first.precision == "fp64"
    second = bench.place(double, (256, 256), work=rc.Work(5.0, 7.0), sweep=[first])
    assert (second.work.flop, second.work.bytes, second.byte_source) == (5.0, 7.0, "given")
    assert second.sweep == (first.measurement,)


def test_a_card_of_the_catalogue_places_nothing():
    with pytest.raises(LookupError, match=r"no function of yours was timed on H100; use bench\('local'\)"):
        rc.bench("h100", "bundled").place(product, (8, 8), (8, 8))


# --- recorded ---------------------------------------------------------------------------------------------------------


def test_recorded_points_come_back_whatever_the_layout():
    mine = rc.bench("local", "bundled")
    tiny = mine.place(product, (8, 8), (8, 8), name="tiny")
    assert tiny == next(p for p in placed(RUN) if p.name == "tiny")
    assert tiny.work.flop == 2 * 8**3
    smaller = mine.place(product, (4, 4), (4, 4), name="tiny_4")
    beside = mine.place(product, (8, 8), (8, 8), name="tiny", sweep=[smaller])
    assert beside == replace(tiny, sweep=(smaller.measurement,))
    assert beside.sweep[0].work.flop == 2 * 4**3


def test_what_was_not_recorded_is_refused_in_one_line():
    mine = rc.bench("local", "bundled")
    with pytest.raises(ValueError, match="^place needs a function and the shapes of its tensors, not 'layer'$"):
        mine.place("layer")
    with pytest.raises(LookupError, match=r"^product was not recorded; there are layer, .*: set source = 'live'"):
        mine.place(product, (8, 8), (8, 8))
    with pytest.raises(LookupError, match=r"^tiny was recorded with tensors of 8x8 and 8x8: set"):
        mine.place(product, (8, 8), (8, 16), name="tiny")

    def other(x, a):
        return a @ x

    with pytest.raises(LookupError, match=r"^tiny was recorded in another form than it has here: set"):
        mine.place(other, (8, 8), (8, 8), name="tiny")
    with pytest.raises(LookupError, match=r"^the text of len is not to be had"):
        mine.place(len, (8, 8), (8, 8), name="tiny")


def test_a_run_file_of_a_reader_answers_for_itself(tmp_path):
    text = json.dumps({**json.loads((data_folder() / "runs" / RECORDED_KERNELS).read_text()), "placed": []})
    (tmp_path / "run.json").write_text(text.replace('"functions"', '"others"'))
    with pytest.raises(LookupError, match="tiny was not recorded; there are no functions"):
        rc.bench(run=tmp_path / "run.json").place(product, (8, 8), (8, 8), name="tiny")


# --- the recording of chapter 9 ---------------------------------------------------------------------------------------


def test_the_recording_is_of_the_functions_that_the_chapter_defines():
    known, told = recording.functions(), RUN.machine["functions"]
    assert list(told) == [name for name, *_ in recording.CALLS] == [p.name for p in placed(RUN)]
    for name, function, shapes, _, _ in recording.CALLS:
        assert told[name] == workbench.facts(known[function][1], shapes), name


def test_points_and_ceilings_are_of_one_session():
    roofs = Recorded(RUN).device.ceilings()
    for point in placed(RUN):
        assert point.roofline in roofs
        assert point.machine == RUN.machine["name"]
        assert point.utc[:10] == RUN.machine["utc"][:10]


def test_the_recording_shows_what_the_chapter_says():
    assert recording.wrong({p.name: p for p in _with_neighbours()}) == []


def _with_neighbours():
    known = {p.name: p for p in placed(RUN)}
    neighbour = {name: beside for name, _, _, beside, _ in recording.CALLS if beside}
    for name, point in known.items():
        sweep = (known[neighbour[name]].measurement,) if name in neighbour else ()
        yield replace(point, sweep=sweep)


def test_what_the_chapter_says_is_checked_before_a_recording_is_kept():
    points = {p.name: p for p in placed(RUN)}
    slow = replace(points["fused"], measurement=replace(points["fused"].measurement, seconds=1.0))
    missed = recording.wrong({**points, "fused": slow})
    assert "one kernel instead of five wins a factor of 2 or more" in missed
    assert recording.fastest([slow, points["fused"]]) is points["fused"]


# --- the exercises ----------------------------------------------------------------------------------------------------


def test_the_verdicts_of_the_exercises_are_those_of_explain():
    """Exercise 9.4 and 9.5 describe points in words; here they are made, and asked about."""
    roof = rc.Roofline(1e14, 1e12, "somewhere", "fp32", "vector", "measured", "Somewhere FP32")

    def norm(elements, share, kernel="layer_norm"):
        work = rc.elementwise(elements, "fp32", flop_per_element=8)
        return rc.Measurement("somewhere", kernel, "fp32", work, roof.time(work) / share, elements=elements)

    small = norm(2**16, 0.06)
    double = replace(norm(2**17, 0.12), seconds=small.seconds)
    large = norm(2**22, 0.85)
    assert rc.explain(small, roof, [small, double, large]).verdict == "launch"
    assert rc.explain(norm(2**26, 0.45), roof).verdict == "undetermined"
