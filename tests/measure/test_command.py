"""``roofcourse measure``, ``plot`` and ``doctor``, on a made-up device."""

import io
import json

import pytest

import roofcourse as rc
from roofcourse.bench import Recorded
from roofcourse.cli import main
from roofcourse.measure import command, doctor
from roofcourse.measure import device as devices
from roofcourse.measure.fake import PEAKS, FakeDevice
from roofcourse.measure.progress import Progress, left
from roofcourse.measure.report import closing, draw, table
from roofcourse.measure.session import Step
from roofcourse.records import read_run, write_run
from roofcourse.roofline import Roofline


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def fake(monkeypatch):
    """The command finds a made-up GPU without FP8; its seconds are short, so that a session takes a moment."""
    made = FakeDevice(missing={"fp8_e4m3": "Fake GPU has no FP8 units: measure fp16"}, overhead=1e-6)
    monkeypatch.setattr(command, "open_device", lambda kind: made)
    monkeypatch.setattr(command, "QUICK", command.replace(command.QUICK, minimum_seconds=0.002))
    monkeypatch.setattr(command, "WARM_UP_GPU", (0.01, 0.01))
    return made


def test_a_quick_run_is_measured_written_and_reported(fake, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["measure", "--quick"]) == 0
    out = capsys.readouterr()
    assert out.err == ""  # no terminal: no progress
    run = read_run("run.json")
    assert run.complete
    assert run.machine["quick"] is True
    assert rc.bench(run="run.json").device.bandwidth == pytest.approx(3e12, rel=0.01)
    for precision in set(PEAKS) - {"fp8_e4m3"}:
        assert rc.bench(run="run.json").device.roofline(precision).peak == pytest.approx(PEAKS[precision], rel=0.01)
    assert "<- B" in out.out
    assert "FP32 vector" in out.out
    assert "gemm fp8_e4m3: Fake GPU has no FP8 units: measure fp16" in out.out
    assert "Starting a kernel costs 1" in out.out
    assert out.out.endswith("Written: run.json\n")
    assert "Be careful" not in out.out


def test_nothing_is_overwritten_by_accident(fake, tmp_path, capsys):
    path = tmp_path / "mine.json"
    path.write_text("precious", encoding="utf-8")
    assert main(["measure", "-o", str(path)]) == 1
    err = capsys.readouterr().err
    assert "mine.json exists: go on with it (--resume), choose another name (-o), or --overwrite it" in err
    assert err.count("\n") == 1
    # a file that is no run cannot be gone on with, and stays as it is
    assert main(["measure", "--resume", "-o", str(path)]) == 1
    assert "not a run file, or cut short" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == "precious"
    assert main(["measure", "-o", str(tmp_path / "no" / "run.json")]) == 1
    assert "there is no folder" in capsys.readouterr().err


def test_an_interrupted_run_is_kept_and_resumed(fake, tmp_path, capsys):
    path = tmp_path / "run.json"
    build, built = fake.build, []

    def interrupt(spec):
        built.append(spec)
        if len(built) > 4:
            raise KeyboardInterrupt
        return build(spec)

    fake.build = interrupt
    assert main(["measure", "--quick", "--only", "bandwidth", "-o", str(path)]) == 130
    out = capsys.readouterr().out
    assert "Interrupted. To go on: roofcourse measure --resume -o" in out
    kept = read_run(path)
    assert (len(kept.measurements), kept.complete) == (3, False)  # one build was for warming up

    fake.build = build
    assert main(["measure", "--quick", "--only", "bandwidth", "--resume", "-o", str(path)]) == 0
    assert "2 points to measure, 3 already in" in " ".join(capsys.readouterr().out.split())
    whole = read_run(path)
    assert (len(whole.measurements), whole.complete) == (5, True)
    assert whole.measurements[:3] == kept.measurements


def test_a_run_of_another_machine_is_not_gone_on_with(fake, tmp_path, capsys):
    path = tmp_path / "run.json"
    assert main(["measure", "--quick", "--only", "launch", "-o", str(path)]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    data["machine"]["name"] = "Another GPU"
    path.write_text(json.dumps(data), encoding="utf-8")
    before = path.read_bytes()
    assert main(["measure", "--quick", "--resume", "-o", str(path)]) == 1
    assert "runs of different machines do not merge" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["measure", "--only", "speed"], "unknown part 'speed'; parts: bandwidth"),
        (["measure", "--device", "tpu"], "unknown kind of device 'tpu'; choose one of cuda, rocm, xpu, mps, cpu"),
        (["plot", "missing.json"], "missing.json: no such file"),
        (["doctor", "--device", "tpu"], "unknown kind of device 'tpu'"),
    ],
)
def test_a_wrong_word_gives_one_line(words, message, tmp_path, monkeypatch, capsys):
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    err = capsys.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_torch_the_line_says_what_to_install(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(devices, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    assert main(["measure"]) == 1
    assert capsys.readouterr().err == (
        "roofcourse: measuring needs torch, which is not installed: pip install 'roofcourse[live]'\n"
    )
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    report = doctor.examine()
    assert "torch         missing  every measurement; pip install 'roofcourse[live]'" in report
    assert report.endswith("The bundled data, charts and chapters work as they are.")


def test_progress_is_for_terminals():
    terminal, pipe = Terminal(), io.StringIO()
    step = Step("copy FP32", 3, 10, 42.4)
    for stream in (terminal, pipe):
        with Progress(stream) as progress:
            progress.show(step)
            progress.say("news")
    assert "  3/10  42 s left  copy FP32" in terminal.getvalue()
    assert "news\n" in terminal.getvalue()
    assert pipe.getvalue() == ""
    assert left(89) == "89 s left"
    assert left(200) == "3 min left"


def test_help_teaches_with_examples(capsys):
    for words, example in (
        (["measure"], "roofcourse measure --only bandwidth,matmul"),
        (["plot"], "roofcourse plot run.json -o mine.png"),
        (["doctor"], "Try every kind of device and precision once"),
    ):
        with pytest.raises(SystemExit) as done:
            main([*words, "--help"])
        assert done.value.code == 0
        assert example in capsys.readouterr().out


def test_doctor_tries_every_cell():
    cells = dict(doctor.cells(FakeDevice(missing={"fp64": "no FP64 here: measure fp32"}, capability=(7, 0))))
    assert cells["matrix product FP16"] == "ok"
    assert cells["matrix product FP64"] == cells["FMA sweep FP64"] == "no FP64 here: measure fp32"
    assert cells["matrix product BF16"].startswith("Fake GPU has no BF16 units")
    assert doctor.can(FakeDevice(fault="zeros"), command.Spec("gemm", "fp32", m=8, n=8, k=8)).endswith(
        "use random numbers"
    )


def test_doctor_on_this_machine(capsys):
    pytest.importorskip("torch")
    assert main(["doctor", "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    assert "matrix product FP32  ok" in out
    assert "TF32 is a format of GPU matrix units" in out


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("run") / "run.json"
    rule = command.replace(command.QUICK, minimum_seconds=0.002)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "QUICK", rule)
        patch.setattr(command, "WARM_UP_GPU", (0.01, 0.01))
        command.measure_machine(quick=True, out=path, device=FakeDevice(), say=lambda text: None)
    return read_run(path)


def test_a_chart_of_a_run(run, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    write_run(run, "mine.json")
    assert main(["plot", "mine.json"]) == 0
    assert capsys.readouterr().out == "mine.svg\n"
    assert (tmp_path / "mine.svg").read_text(encoding="utf-8").startswith("<svg")
    assert main(["plot", "mine.json"]) == 1
    assert "mine.svg exists: choose another name (-o), or --overwrite it" in capsys.readouterr().err
    assert main(["plot", "mine.json", "--overwrite", "-o", "mine.png"]) == 0
    assert main(["plot", "mine.json", "-o", "mine.gif"]) == 1
    assert "saved as .svg, .pdf or .png" in capsys.readouterr().err


def test_the_report_needs_no_matplotlib(run, tmp_path, monkeypatch, capsys):
    path = write_run(run, tmp_path / "mine.json")
    assert main(["plot", str(path), "--text"]) == 0
    out = capsys.readouterr().out
    assert out.strip() == closing(Recorded(run))
    assert "  H  FP32, 50 TFLOP/s" in out


def test_a_picture_of_characters():
    text = draw([Roofline(1e12, 1e11, precision="fp32", path="gemm")], [(1.0, 9e10), (1000.0, 9e11)], 40, 8)
    lines = text.splitlines()
    assert lines[-1] == "  A  FP32, 1 TFLOP/s"
    assert sum(line.count("o") for line in lines[:8]) == 2
    slope = [line.index("/") for line in lines[:8] if "/" in line.split("|")[-1] and "|" in line]
    assert slope == sorted(slope, reverse=True)  # rises to the right
    assert table([("a", "b", "1"), ("aa", "b", "22")]) == "a   b   1\naa  b  22"
