"""Measurements, their columns, and run files."""

import json
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse.records import SCHEMA, Evidence, Run, read_run, write_run

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
