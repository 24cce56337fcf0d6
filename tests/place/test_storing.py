"""Placed points in run files: added, kept by everything that writes the file, and never at another machine's cost."""

from __future__ import annotations

import errno
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from roofcourse.measure.clock import METHOD_VERSION
from roofcourse.measure.session import Session
from roofcourse.measure.stopping import StopRule
from roofcourse.place import where
from roofcourse.place.point import Operator, Point
from roofcourse.place.store import placed, save
from roofcourse.records import Measurement, Measurements, Run, read_run, write_run
from roofcourse.roofline import Roofline
from roofcourse.work import Work

MACHINE = {"key": "cpu", "name": "Toy", "utc": "2026-01-02T03:04:05Z", "torch": "2.0", "threads": 2}
ROOF = Roofline(1e9, 1e9, "cpu", "fp32", "vector", "measured", "Toy FP32 vector")


def toy(name="relu", seconds=1e-3) -> Point:
    m = Measurement("cpu", name, "fp32", Work(1e5, 8e5), seconds, kind="measured live", source="this session")
    return Point(m, "formula", ROOF, operators=(Operator(name, 1, 1e5, 8e5, "formula", "float32"),), machine="Toy")


def measured(kernel="copy", elements=8) -> Measurement:
    return Measurement("cpu", kernel, "fp32", Work(0, 1e3), 1e-6, elements=elements, kind="measured live")


def test_a_file_is_made_and_then_grows(tmp_path):
    path = tmp_path / "run.json"
    assert save(toy("one"), path, MACHINE, [measured()]) == 1
    assert save(toy("two"), path, MACHINE, [measured(), measured(elements=16)]) == 2
    run = read_run(path)
    assert [p.name for p in placed(run)] == ["one", "two"]
    assert list(run.measurements.elements) == [8, 16]  # what was there is not there twice
    assert run.complete
    assert placed(run)[0].explanation.percent == pytest.approx(80)


def test_nothing_that_was_in_the_file_is_lost(tmp_path):
    path = tmp_path / "run.json"
    before = Run(METHOD_VERSION, MACHINE, Measurements([measured("gemm"), measured()]), (("fp8", "none"),), False)
    write_run(before, path)
    save(toy(), path, MACHINE)
    after = read_run(path)
    assert after.measurements == before.measurements or len(after.measurements) == 2
    assert (after.refusals, after.complete, after.machine) == (before.refusals, False, MACHINE)


def test_a_saved_point_says_when_it_was_placed(tmp_path):
    path = tmp_path / "run.json"
    save(replace(toy("dated"), utc="2026-02-03T04:05:06Z"), path, MACHINE)
    save(toy("undated"), path, MACHINE)
    assert [p.measurement.source for p in placed(path)] == ["placed 2026-02-03T04:05:06Z", "this session"]


def test_a_session_that_goes_on_keeps_the_placed_points(tmp_path):
    path = tmp_path / "run.json"
    save(toy(), path, MACHINE)
    session = Session(device=object(), rule=StopRule(), machine=MACHINE)
    session.resume(read_run(path))
    session.points.append(measured())
    write_run(session.run(complete=True), path, overwrite=True)
    assert [p.name for p in placed(read_run(path))] == ["relu"]
    assert len(read_run(path).measurements) == 1


def test_another_machine_is_refused_and_the_file_stays(tmp_path):
    path = tmp_path / "run.json"
    save(toy(), path, MACHINE)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"is of another machine \(name 'Toy', here 'Other'\)"):
        save(toy(), path, MACHINE | {"name": "Other"})
    assert path.read_bytes() == before


def test_times_with_one_thread_do_not_stand_under_ceilings_with_two(tmp_path):
    path = tmp_path / "run.json"
    save(toy(), path, MACHINE)
    one = MACHINE | {"threads": 1}
    with pytest.raises(ValueError, match="run.json was measured with 2 threads, and torch has 1 here"):
        save(toy(), path, one)
    with pytest.raises(ValueError, match="run.json was measured with 2 threads, and torch has 1 here"):
        where.recorded(path, one)
    assert where.recorded(path, MACHINE).machine == MACHINE


def test_a_broken_file_is_refused_and_stays(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"schema": "roofcourse-run/2", "mach')
    with pytest.raises(ValueError, match="cut short"):
        save(toy(), path, MACHINE)
    assert path.read_text().endswith('"mach')
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        save(toy(), tmp_path / "nowhere" / "run.json", MACHINE)


def test_points_saved_at_the_same_time_are_all_kept(tmp_path):
    pytest.importorskip("fcntl")
    path = tmp_path / "run.json"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: save(toy(f"p{n}"), path, MACHINE), range(24)))
    assert sorted(p.name for p in placed(read_run(path))) == sorted(f"p{n}" for n in range(24))
    assert list(tmp_path.iterdir()) == [path]  # no temporary file stays behind


def test_a_file_system_without_locks_keeps_a_point_as_well(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def unknown(folder, how):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    path = tmp_path / "run.json"
    save(toy("one"), path, MACHINE)
    save(toy("two"), path, MACHINE)
    assert [p.name for p in placed(path)] == ["one", "two"]


def test_a_run_without_placed_points_is_written_as_before(tmp_path):
    path = write_run(Run(METHOD_VERSION, MACHINE, Measurements([measured()])), tmp_path / "run.json")
    assert "placed" not in json.loads(path.read_text())
    assert read_run(path).placed == ()
