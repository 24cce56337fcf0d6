"""The command ``roofcourse place`` on a made-up device: what it prints and keeps, and one line for each wrong word."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from roofcourse import files  # noqa: E402
from roofcourse.bench import Live  # noqa: E402
from roofcourse.cli import main  # noqa: E402
from roofcourse.measure.clock import METHOD_VERSION, Timing  # noqa: E402
from roofcourse.measure.fake import FakeDevice  # noqa: E402
from roofcourse.measure.stopping import StopRule  # noqa: E402
from roofcourse.place import placing, store, where  # noqa: E402
from roofcourse.place.store import placed  # noqa: E402
from roofcourse.records import Measurements, Run, read_run, write_run  # noqa: E402


@pytest.fixture(scope="module")
def bench():
    fake = FakeDevice(kind="cpu", name="Fake CPU", bandwidth=1e10, noise=0.0, overhead=1e-6, cache=2**20)
    fake.place = "cpu"
    return Live(quick=True, device=fake, rule=StopRule(10, 0.0, 1.0, 0.0, 1.0))


@pytest.fixture(autouse=True)
def made_up(bench, monkeypatch):
    """Every function takes 2 ms."""
    monkeypatch.setattr(where, "live", lambda kind=None: bench)
    monkeypatch.setattr(placing, "time_kernel", lambda *a: Timing((2e-3,) * 10, 1, "stable"))


def test_a_quick_look(capsys):
    words = ["place", "torch.nn.functional.softmax", "--shape", "64x32", "--precision", "fp32", "--with", "dim=-1"]
    assert main(words) == 0
    out = capsys.readouterr().out.replace("\u00a0", " ")
    assert out.startswith("Measuring the ceilings of this machine first (--run takes them from a run file)")
    assert "\nsoftmax: 0.082 % of the memory roof" in out  # 16 kB at 10 GB/s are 1.64 µs
    assert "bytes: by formula" in out
    assert "_softmax  FP32               1" in out


def test_what_torch_warns_of_is_passed_on(capsys):
    assert main(["place", "torch.nn.functional.softmax", "--shape", "8x8"]) == 0
    assert "torch says: Implicit dimension choice for softmax has been deprecated" in capsys.readouterr().out


def test_errors_and_warnings_without_a_word_are_named(tmp_path, capsys):
    (tmp_path / "wordless_for_a_test.py").write_text(
        "import warnings\n\ndef fails(x):\n    raise RuntimeError\n\n"
        "def warns(x):\n    warnings.warn('', UserWarning)\n    return x + 1\n"
    )
    own = tmp_path / "wordless_for_a_test.py"
    assert main(["place", f"{own}:fails", "--shape", "8"]) == 1
    assert f"{own}:fails does not run on these arguments: RuntimeError\n" in capsys.readouterr().err
    assert main(["place", f"{own}:warns", "--shape", "8"]) == 0
    assert "torch says: UserWarning\n" in capsys.readouterr().out


def test_points_are_saved_one_after_the_other(tmp_path, capsys):
    path = tmp_path / "run.json"
    assert main(["place", "torch.relu", "--shape", "8x8", "--save", str(path)]) == 0
    assert main(["place", "torch.exp", "--shape", "8x8", "--save", str(path), "--name", "mine"]) == 0
    out = capsys.readouterr().out
    assert f"Saved to {path}: 1 placed point\n" in out
    assert f"Saved to {path}: 2 placed points\n" in out
    assert out.count("Measuring the ceilings") == 1  # the file has them the second time
    run = read_run(path)
    assert [p.name for p in placed(run)] == ["relu", "mine"]
    assert {"copy", "fma"} <= set(run.measurements.kernel)
    assert str(tmp_path) not in path.read_text()  # a path can tell who ran it


def test_a_closed_pipe_loses_no_point(tmp_path, monkeypatch):
    path = tmp_path / "run.json"

    def closed(text="", *args, **kwargs):
        if str(text).startswith("cpu relu"):
            raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    monkeypatch.setattr("os.dup2", lambda *a: None)
    main(["place", "torch.relu", "--shape", "8x8", "--save", str(path)])
    assert [p.name for p in placed(read_run(path))] == ["relu"]


def test_where_nothing_can_be_saved_is_seen_before_anything_is_timed(tmp_path, monkeypatch, capsys):
    path = tmp_path / "run.json"
    assert main(["place", "torch.relu", "--shape", "8x8", "--save", str(path)]) == 0
    kept = path.read_text()
    monkeypatch.setattr(placing, "time_kernel", lambda *a: pytest.fail("it was timed"))
    words = ["place", "torch.exp", "--shape", "8x8", "--save", str(path)]
    for old, new, said in (
        ('"torch": "none"', '"torch": "2.12.0"', "was measured with torch 2.12.0, here is none: save to another file"),
        ('"method_version": 2', '"method_version": 1', "was measured by method version 1, here is 2: save to another"),
    ):
        assert old in kept
        path.write_text(kept.replace(old, new))
        capsys.readouterr()
        assert main(words) == 1
        assert f"{path} {said}" in capsys.readouterr().err
    monkeypatch.setattr(files.os, "access", lambda folder, mode: False)
    assert main(words) == 1
    assert f"the folder {tmp_path} cannot be written to" in capsys.readouterr().err


def test_a_point_that_cannot_be_saved_is_shown(tmp_path, monkeypatch, capsys):
    def full(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr(store, "save", full)
    assert main(["place", "torch.relu", "--shape", "8x8", "--save", str(tmp_path / "run.json")]) == 1
    said = capsys.readouterr()
    assert "\nrelu: " in said.out
    assert "Saved" not in said.out
    assert said.err == "roofcourse: No space left on device\n"


def test_a_file_without_ceilings_has_them_measured_and_says_so(bench, tmp_path, capsys):
    path = write_run(Run(METHOD_VERSION, bench.machine, Measurements()), tmp_path / "run.json")
    assert main(["place", "torch.relu", "--shape", "8x8", "--save", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"{path} has no ceilings: measuring those of this machine first")
    assert main(["place", "torch.relu", "--shape", "8x8", "--run", str(path)]) == 0
    assert "measuring" not in capsys.readouterr().out.casefold()


@pytest.mark.parametrize(
    ("raised", "said"),
    [("KeyError(helper.WORD)", "KeyError: 'oops'"), ("SystemExit", "SystemExit"), ("SystemExit(0)", "SystemExit: 0")],
)
def test_what_a_function_raises_is_named(raised, said, tmp_path, capsys):
    own = tmp_path / "raising_for_a_test.py"
    own.write_text(f"import helper_for_a_test as helper\ndef f(x):\n    raise {raised}\n")
    (tmp_path / "helper_for_a_test.py").write_text("WORD = 'oops'\n")
    assert main(["place", f"{own}:f", "--shape", "8x8"]) == 1
    assert capsys.readouterr().err == f"roofcourse: {own}:f does not run on these arguments: {said}\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("with torch.enable_grad():\n        return torch.autograd.grad((x * 2).sum(), x)", "RuntimeError: "),
        (
            "calls.append(1)\n    if len(calls) > 1:\n        raise RuntimeError('spent')\n    return x",
            "RuntimeError: spent\n",
        ),
    ],
    ids=["a gradient inside", "the second call"],
)
def test_what_fails_later_is_one_line_as_well(tmp_path, capsys, body, said):
    own = tmp_path / "later_for_a_test.py"
    own.write_text(f"import torch\ncalls = []\ndef f(x):\n    {body}\n")
    assert main(["place", f"{own}:f", "--shape", "8x8"]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"roofcourse: {own}:f does not run on these arguments: {said}")
    assert err.count("\n") == 1


def test_a_run_of_another_machine_gives_no_ceilings(tmp_path, capsys):
    from roofcourse.tables import data_folder

    other = data_folder() / "runs" / "cpu_epyc_genoa.json"
    assert main(["place", "torch.relu", "--shape", "8x8", "--run", str(other)]) == 1
    said = capsys.readouterr().err
    assert "is of another machine (name 'AMD EPYC', here 'Fake CPU'): its ceilings are not this machine's" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["torch.relu"], "torch.relu does not run on these arguments: TypeError: relu() missing 1 required positional"),
        (["torch.relu", "--shape", "999999x999999"], "in fp32 takes 4,000 GB, and 85.9 GB are free: choose smaller"),
        (["torch.matmul", "--shape", "3x4", "--shape", "3x4"], "shapes cannot be multiplied"),
        (["torch.relu", "--shape", "3y4"], "such as 4096x4096"),
        (["torch.relu", "--shape", "4", "--precision", "fp99"], "unknown precision"),
        (["torch.relu", "--shape", "4", "--with", "dim"], "--with takes name=value"),
        (["torch.relu", "--shape", "4", "--counted-bytes", "-1"], "counted_bytes must be a positive number"),
        (["torch.relu", "--shape", "4", "--report", "nowhere.csv"], "nowhere.csv: no such file"),
        (["torch.relu", "--shape", "4", "--kernel", "relu"], "name it with --report"),
        (["torch.relu", "--shape", "4", "--save", "nowhere/run.json"], "there is no folder nowhere"),
    ],
)
def test_wrong_words_get_one_line(words, message, capsys):
    assert main(["place", *words]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


def test_help_teaches(capsys):
    with pytest.raises(SystemExit) as done:
        main(["place", "--help"])
    assert done.value.code == 0
    said = capsys.readouterr().out
    assert "roofcourse place my_kernels.py:rms_norm --shape 4096x4096" in said
    assert "roofcourse place torch.relu --shape 4096x4096 --report report.csv" in said
