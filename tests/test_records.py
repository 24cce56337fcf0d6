"""Measurements, their columns, and run files."""

import json
import os
import stat
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse.records import SCHEMA, Evidence, Run, differences, read_run, write_run

POINT = rc.Measurement("cpu", "gemm", "fp32", rc.gemm(2, 8, 16, "fp32"), 0.5, m=2, n=8, k=16, spread=0.01)
OTHER = rc.Measurement("cpu", "copy", "fp32", rc.copy(100), 0.25, elements=100, stable=False, note="unstable: noise")
RUN = Run(1, {"key": "cpu", "name": "A CPU", "utc": "2026-11-30T09:00:00Z"}, rc.Measurements([POINT, OTHER]))


def test_derived_values():
    assert POINT.flop_per_s == 2 * 2 * 8 * 16 / 0.5
    assert POINT.bytes_per_s == 4 * (32 + 128 + 16) / 0.5
    assert POINT.intensity == 512 / 704
    assert POINT.shape == "2x8x16"
    assert OTHER.shape == "100"


def test_samples_and_circumstances_are_kept(tmp_path):
    evidence = Evidence(2, (1.0, 2.0, 3.0, 4.0, 5.0), 7, "device events", "stable", 1e-7, clock_hz=1.7e9)
    assert evidence.quartiles == (2.0, 4.0)
    point = replace(POINT, evidence=evidence, suspect="too fast", implementation="torch", batch=3)
    back = read_run(write_run(Run(2, RUN.machine, rc.Measurements([point])), tmp_path / "run.json")).measurements[0]
    assert (back.evidence, back.suspect, back.implementation, back.batch) == (evidence, "too fast", "torch", 3)
    assert back.shape == "3 of 2x8x16"


def test_runs_merge_only_if_they_can_be_compared():
    both = RUN.merged(Run(1, RUN.machine, rc.Measurements([POINT]), (("gemm fp8", "no units"),), complete=False))
    assert (len(both.measurements), both.refusals, both.complete) == (3, (("gemm fp8", "no units"),), False)
    with pytest.raises(ValueError, match="method versions 1 and 2 do not merge"):
        RUN.merged(Run(2, RUN.machine, rc.Measurements()))
    with pytest.raises(ValueError, match="different machines do not merge: name is 'A CPU' in one and 'B CPU'"):
        RUN.merged(Run(1, {**RUN.machine, "name": "B CPU"}, rc.Measurements()))


CPU = {"key": "cpu", "name": "A CPU", "torch": "2.1", "threads": 2, "cores": 4, "last_level_cache_bytes": 2**25}
GPU = {"key": "cuda", "name": "A GPU", "torch": "2.1", "threads": 2, "multiprocessors": 132, "device_hash": "a1"}


@pytest.mark.parametrize(
    ("machine", "fact", "other"),
    [
        (CPU, "threads", 1),
        (CPU, "cores", 8),
        (CPU, "name", "B CPU"),
        (CPU, "last_level_cache_bytes", 2**24),
        (GPU, "device_hash", "b2"),  # two cards of one machine
        (GPU, "multiprocessors", 114),
        (GPU, "key", "rocm"),
    ],
)
def test_what_tells_machines_apart(machine, fact, other):
    there = machine | {fact: other}
    assert differences(there, machine) == [(fact, other, machine[fact])]
    with pytest.raises(ValueError, match=f"different machines do not merge: {fact} is "):
        Run(1, machine, rc.Measurements()).merged(Run(1, there, rc.Measurements()))


def test_what_does_not_tell_machines_apart():
    assert differences(CPU, CPU) == []
    assert differences({k: v for k, v in CPU.items() if k != "threads"}, CPU) == []  # an older file does not say
    assert differences(GPU, GPU | {"threads": 8}) == []  # those of the host
    assert differences(CPU, CPU | {"torch": "2.2"}) == []
    assert differences(CPU, CPU | {"torch": "2.2"}, "torch") == [("torch", "2.1", "2.2")]
    with pytest.raises(ValueError, match="do not merge: torch is '2.1' in one and '2.2' in the other"):
        Run(1, CPU, rc.Measurements()).merged(Run(1, CPU | {"torch": "2.2"}, rc.Measurements()))


def test_a_run_of_the_first_schema_is_still_read(tmp_path):
    data = json.loads(write_run(RUN, tmp_path / "new.json").read_text(encoding="utf-8"))
    old = {k: v for k, v in data.items() if k not in ("complete", "refusals")} | {"schema": "roofcourse-run/1"}
    back = read_run(_file(tmp_path, json.dumps(old)))
    assert back.measurements.seconds.tolist() == [0.5, 0.25]
    assert (back.refusals, back.complete) == ((), True)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), None])
def test_a_time_must_be_a_time(seconds):
    with pytest.raises(ValueError, match="seconds must be positive and finite"):
        rc.Measurement("cpu", "copy", "fp32", rc.copy(1), seconds, elements=1)


def test_a_series_has_columns_and_finds_points():
    both = rc.Measurements([POINT, OTHER])
    assert both.seconds.tolist() == [0.5, 0.25]
    assert both.stable.tolist() == [True, False]
    assert both.where(kernel="copy") == rc.Measurements([OTHER])
    assert both.at(m=2) is POINT
    assert len(both[:1] + both) == 3
    with pytest.raises(LookupError, match=r"^nothing was measured at m = 4096; measured are m: 1, 2, 4, 8"):
        rc.device("h100").m_sweep("fp16").at(m=4096)
    with pytest.raises(LookupError, match="2 measurements have device = cpu: name more fields"):
        both.at(device="cpu")
    with pytest.raises(ValueError, match="no column 'colour'"):
        both.where(colour="red")
    with pytest.raises(AttributeError, match="no column 'colour'"):
        _ = both.colour


def test_a_series_prints_as_a_table():
    text = repr(rc.device("h100").m_sweep("fp16")[:1])
    assert text.splitlines()[1].split() == ["h100", "gemm", "1x8192x8192", "FP16", "0.9998", "46.7", "2.874", "2,875"]
    assert "<td>46.7</td>" in rc.device("h100").m_sweep("fp16")[:1]._repr_html_()
    assert (
        "&lt;b&gt;" in rc.Measurements([rc.Measurement("<b>", "copy", "fp32", rc.copy(1), 1, elements=1)])._repr_html_()
    )


def test_a_run_survives_the_round_trip(tmp_path):
    path = write_run(RUN, tmp_path / "run.json")
    back = read_run(path)
    assert back.machine == RUN.machine
    assert back.measurements[0].work == POINT.work
    assert back.measurements[1].note == "unstable: noise"
    assert back.measurements.seconds.tolist() == [0.5, 0.25]
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]  # no temporary file left


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_a_result_can_be_read_by_others(tmp_path):
    path = write_run(RUN, tmp_path / "run.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644  # a temporary file is private


@pytest.mark.skipif(os.name != "posix", reason="permissions and links are those of POSIX")
def test_a_replaced_file_keeps_its_mode_and_a_link_stays_one(tmp_path):
    folder, link = tmp_path / "results", tmp_path / "run.json"
    folder.mkdir()
    path = write_run(RUN, folder / "mine.json")
    path.chmod(0o600)
    link.symlink_to(path)
    assert write_run(Run(2, RUN.machine, RUN.measurements), link, overwrite=True) == link
    assert link.is_symlink()
    assert read_run(path).method_version == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [x.name for x in folder.iterdir()] == ["mine.json"]


def test_a_folder_is_no_file(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="is a folder, not a run file$"):
        read_run(tmp_path)
    with pytest.raises(IsADirectoryError, match="is a folder: name a file in it$"):
        write_run(RUN, tmp_path, overwrite=True)
    with pytest.raises(FileNotFoundError, match="no/run.json: there is no folder"):
        write_run(RUN, tmp_path / "no" / "run.json")
    monkeypatch.setattr("roofcourse.files.os.access", lambda folder, mode: False)
    with pytest.raises(PermissionError, match=r"run.json: the folder .* cannot be written to"):
        write_run(RUN, tmp_path / "run.json")


def test_nothing_is_overwritten_by_accident(tmp_path):
    path = write_run(RUN, tmp_path / "run.json")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists: choose another name"):
        write_run(Run(2, RUN.machine, RUN.measurements), path)
    assert path.read_bytes() == before
    write_run(Run(2, RUN.machine, RUN.measurements), path, overwrite=True)
    assert read_run(path).method_version == 2


def _file(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a run file, or cut short"),
        ('{"schema": ', "not a run file, or cut short"),
        ("[1]", "not a run file: it has no field 'schema'"),
        ('{"schema": "roofcourse-run/9"}', f"schema 'roofcourse-run/9'; this version of roofcourse reads '{SCHEMA}'"),
        ('{"schema": "roofcourse-run/9"}', "a newer roofcourse wrote it: pip install -U roofcourse"),
        ('{"schema": "other/1"}', f"schema 'other/1'; this version of roofcourse reads '{SCHEMA}'$"),
        (f'{{"schema": "{SCHEMA}", "machine": 3}}', "broken run file: "),
        (f'{{"schema": "{SCHEMA}"}}', "broken run file: field 'machine' is missing"),
    ],
)
def test_a_broken_file_gives_one_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_run(_file(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_a_wrong_value_in_a_run_is_named(tmp_path):
    data = json.loads(write_run(RUN, tmp_path / "good.json").read_text(encoding="utf-8"))
    data["measurements"][0]["seconds"] = -1
    with pytest.raises(ValueError, match="broken run file: seconds must be positive"):
        read_run(_file(tmp_path, json.dumps(data)))
    del data["measurements"][0]["flop"]
    with pytest.raises(ValueError, match="broken run file: field 'flop' is missing"):
        read_run(_file(tmp_path, json.dumps(data)))
    with pytest.raises(ValueError, match=r"other\.json: no such file$"):
        read_run(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("where", "name", "value", "words"),
    [
        ("measurement", "spread", "wide", 'spread must be zero or more, not "wide"'),
        ("measurement", "spread", True, "spread must be zero or more, not true"),
        ("measurement", "working_set_bytes", -1, "working_set_bytes must be zero or more, not -1"),
        ("measurement", "elements", "many", 'elements must be a whole number of 1 or more, not "many"'),
        ("measurement", "m", 1.5, "m must be a whole number of 1 or more, not 1.5"),
        ("measurement", "batch", 0, "batch must be a whole number of 1 or more, not 0"),
        ("measurement", "stable", "yes", 'stable must be true or false, not "yes"'),
        ("measurement", "suspect", ["x"], 'suspect must be text, not ["x"]'),
        ("measurement", "kernel", None, "kernel must be text, not null"),
        ("machine", "load_average", "high", 'load_average must be zero or more, not "high"'),
        ("machine", "cores", [2], "cores must be zero or more, not [2]"),
        ("machine", "utc", 2026, "utc must be text, not 2026"),
        ("machine", "proof", 5, "proof must be text, not 5"),  # the report looks at how it starts
        ("machine", "parts", ["launch"], 'parts must be text, not ["launch"]'),  # --resume takes it apart
    ],
)
def test_a_value_of_another_kind_is_named(tmp_path, where, name, value, words):
    data = json.loads(write_run(RUN, tmp_path / "good.json").read_text(encoding="utf-8"))
    (data["machine"] if where == "machine" else data["measurements"][0])[name] = value
    path = _file(tmp_path, json.dumps(data))
    with pytest.raises(ValueError, match="broken run file") as caught:
        read_run(path)
    assert str(caught.value) == f"{path}: broken run file: {words}"


def test_null_is_the_same_as_left_out(tmp_path):
    data = json.loads(write_run(RUN, tmp_path / "good.json").read_text(encoding="utf-8"))
    data["measurements"][0] |= {"stable": None, "spread": None, "cache_state": None}
    data["machine"] |= {"cores": None, "load_average": None}
    point = read_run(_file(tmp_path, json.dumps(data))).measurements[0]
    assert (point.stable, point.spread, point.cache_state) == (True, None, "warm")
    del data["measurements"][0]["kernel"]
    with pytest.raises(ValueError, match="broken run file: field 'kernel' is missing$"):
        read_run(_file(tmp_path, json.dumps(data)))
