"""Timelines: the model of an asynchronous launch, worked by hand; what counts as busy; the file."""

import random

import pytest

import roofcourse as rc
from roofcourse.timeline import Span, Timeline, launched, read_timelines, write_timelines


def times(timeline, lane):
    return [(round(s.start, 9), round(s.end, 9)) for s in timeline.on(lane)]


def test_long_kernels_hide_the_calls():
    t = launched(5.0, 1.0, 3)
    assert times(t, "CPU") == [(0, 1), (1, 2), (2, 3)]
    assert times(t, "GPU") == [(1, 6), (6, 11), (11, 16)]  # the first waits for its call, the others for a kernel
    assert t.seconds == 16
    assert (t.busy("GPU"), t.busy("CPU")) == (15, 3)


def test_short_kernels_wait_for_the_calls():
    t = launched(1.0, 5.0, 3)
    assert times(t, "GPU") == [(5, 6), (10, 11), (15, 16)]
    assert t.seconds == 16
    assert t.busy("GPU") == 3
    assert [round(g.seconds) for g in t.gaps("GPU")] == [5, 4, 4]


def test_waiting_for_each_kernel_hides_nothing():
    t = launched(5.0, 1.0, 3, wait=True)
    assert times(t, "CPU") == [(0, 1), (6, 7), (12, 13)]
    assert t.seconds == 18  # the sum of all calls and all kernels


def test_kernels_of_different_lengths_run_in_order():
    t = launched([4.0, 1.0, 1.0], 2.0)
    assert times(t, "GPU") == [(2, 6), (6, 7), (7, 8)]
    assert (t.kind, t.lanes) == ("model", ("CPU", "GPU"))


def test_overlapping_spans_count_once_and_the_end_counts_as_a_gap():
    spans = (Span("a", "CPU", 1, 3), Span("b", "CPU", 2, 1), Span("c", "CPU", 6, 1))
    t = Timeline(spans, 10, "model")
    assert [(g.start, g.end) for g in t.gaps("CPU")] == [(0, 1), (4, 6), (7, 10)]
    assert t.busy("CPU") == 4
    assert "CPU busy 40 %" in repr(t)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: launched(1.0, 0.0, 3), "positive times"),
        (lambda: launched(1.0, 1.0), "at least one kernel"),
        (lambda: launched([1.0, -1.0], 1.0), "positive times"),
        (lambda: Timeline((), 1.0, "model"), "has no spans"),
        (lambda: Timeline((Span("a", "CPU", 0, 2),), 1.0, "model", "short"), "'short' ends at 1 s, but something ran"),
    ],
)
def test_what_is_no_timeline_is_refused_in_one_line(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_a_lane_that_is_not_there():
    with pytest.raises(LookupError, match="nothing ran on 'GPU' in this timeline; it has CPU"):
        Timeline((Span("a", "CPU", 0, 1),), 1.0, "model").on("GPU")


def test_a_file_gives_back_what_was_written(tmp_path):
    two = Timeline((Span("add", "CPU", 0, 2e-6),), 3e-6, "measured live", "t", "m", 2e-6, "s")
    made = {"one": launched(5e-6, 1e-6, 2), "two": two}
    path = write_timelines(made, tmp_path / "t.json")
    back = read_timelines(path)
    assert back["two"] == made["two"]
    assert back["one"].seconds == pytest.approx(11e-6)
    assert back["one"].plain_seconds is None


def test_what_is_rounded_to_nanoseconds_still_ends_with_the_whole(tmp_path):
    dice = random.Random(0)
    made = {
        str(i): launched([dice.uniform(1e-7, 1e-5) for _ in range(dice.randint(1, 9))], dice.uniform(1e-7, 1e-5))
        for i in range(500)
    }
    back = read_timelines(write_timelines(made, tmp_path / "t.json"))
    for name, t in made.items():
        assert back[name].seconds == pytest.approx(t.seconds, abs=0.51e-9)
        for written, read in zip(t.spans, back[name].spans, strict=True):
            assert (read.start, read.end) == pytest.approx((written.start, written.end), abs=0.51e-9)
    # By hand: 1.4 ns of call and 1.4 of kernel end at 2.8, so the kernel is written from 1 to 3 ns.
    two = launched(1.4e-9, 1.4e-9, 1)
    (kernel,) = read_timelines(write_timelines({"a": two}, tmp_path / "t.json"))["a"].on("GPU")
    assert (kernel.start, kernel.seconds) == pytest.approx((1e-9, 2e-9))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not a file of timelines"),
        ('{"timelines": {}}', "field 'schema' is missing"),
        ('{"schema": "x"}', "this version of roofcourse reads 'roofcourse-timeline/1'"),
        ('{"schema": "roofcourse-timeline/1", "timelines": {"a": {"spans": [[1]]}}}', "not a file of timelines"),
    ],
)
def test_a_broken_file_is_refused_in_one_line(tmp_path, text, words):
    path = tmp_path / "t.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as caught:
        read_timelines(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match=r"none\.json: no such file$"):
        read_timelines(tmp_path / "none.json")
    with pytest.raises(ValueError, match=r" is a folder, not a file of timelines$"):
        read_timelines(tmp_path)
    path.write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"t\.json: not a file of timelines \(.*can't decode"):
        read_timelines(path)


def test_the_recorded_timelines():
    mine = rc.bench("local", "bundled")
    small, large = mine.timeline("small"), mine.timeline("large")
    for t in (small, large):
        assert [s.name for s in t.spans] == ["layer_norm", "matmul", "gelu", "matmul", "add"] * 3
        assert t.lanes == ("CPU",)
        assert t.kind == "measured live"
        assert t.machine == mine.machine["name"]
    # Large operators leave no room for gaps; small ones do.
    assert large.busy("CPU") / large.seconds > 0.9 > small.busy("CPU") / small.seconds
    with pytest.raises(ValueError, match="unknown size 'huge' of the program; there are: small, large"):
        mine.timeline("huge")


def test_a_card_and_a_run_file_have_none():
    with pytest.raises(LookupError, match="no timeline of H100 was published"):
        rc.bench("h100", "bundled").timeline()
    from roofcourse.bench import Recorded
    from roofcourse.records import Run

    run = Run(2, {"key": "cpu", "name": "Another CPU", "utc": "2026-11-30T09:00:00Z"}, rc.Measurements())
    for ask in ("cached_products", "load_chains", "timeline"):
        with pytest.raises(LookupError, match="this run has no|a run file holds no"):
            getattr(Recorded(run), ask)()
        with pytest.raises(LookupError, match="H100"):
            getattr(rc.bench("h100", "bundled"), ask)()
