"""``roofcourse measure``, ``plot`` and ``doctor``, on a made-up device."""

import io
import json
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse import files
from roofcourse.bench import Recorded
from roofcourse.cli import main
from roofcourse.measure import command, doctor, plan
from roofcourse.measure import device as devices
from roofcourse.measure.fake import PEAKS, FakeDevice
from roofcourse.measure.progress import Progress, left
from roofcourse.measure.report import bandwidths, closing, draw
from roofcourse.measure.session import Step
from roofcourse.measure.spec import MOVING
from roofcourse.place import store
from roofcourse.place.point import Point
from roofcourse.records import Measurement, Measurements, Run, read_run, write_run
from roofcourse.roofline import Roofline
from roofcourse.texttable import table


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


def interrupted_after(device, count: int):
    """Ctrl-C when more kernels than that are built. Returns how it builds without it."""
    build, built = device.build, []

    def interrupt(spec):
        built.append(spec)
        if len(built) > count:
            raise KeyboardInterrupt
        return build(spec)

    device.build = interrupt
    return build


def test_an_interrupted_run_is_kept_and_resumed(fake, tmp_path, capsys):
    path = tmp_path / "run.json"
    build = interrupted_after(fake, 4)
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


def test_the_words_to_go_on_are_the_same(fake, tmp_path, capsys):
    def interrupt(spec):
        if spec.elements:  # the warm-up is a product
            raise KeyboardInterrupt
        return build(spec)

    build, path = fake.build, tmp_path / "my run.json"
    assert main(["measure", "--only", "matmul,launch", "--quick", "-o", str(path)]) == 0  # something to keep
    fake.build = interrupt
    words = ["measure", "--quick", "--only", "bandwidth,launch", "--device", "CUDA", "-o", str(path), "--resume"]
    assert main(words) == 130
    assert capsys.readouterr().out.endswith(
        f"roofcourse measure --resume -o '{path}' --quick --device cuda --only bandwidth,launch\n"
    )


def test_each_point_is_announced_once(fake, tmp_path, monkeypatch, capsys):
    """The launch line and the working-set sweep share their copies of 2 to 16 MiB."""
    totals = []
    monkeypatch.setattr(Progress, "show", lambda self, step: totals.append(step.total))
    assert main(["measure", "--quick", "--only", "working-set,launch", "-o", str(tmp_path / "run.json")]) == 0
    sets, launches = [2**14 * 4**i for i in range(9)], [2**i for i in range(16, 25, 2)]
    count = len({*sets, *launches})
    assert capsys.readouterr().out.startswith(f"Fake GPU: {count} points to measure\n")
    assert set(totals) == {count}


def test_a_run_whose_bandwidth_points_are_all_suspect_is_reported(fake, tmp_path, monkeypatch, capsys):
    """1 GiB free: arrays of a tenth. Triad moves 322 MB, not 8 x the cache of 50 MiB."""
    fake._free, path = 2**30, tmp_path / "run.json"
    assert main(["measure", "--quick", "--only", "bandwidth", "-o", str(path)]) == 0
    out = capsys.readouterr().out
    assert "<- B" not in out
    assert out.count("suspect\n") == 5
    assert "no memory bandwidth yet, so no roofs: every point of it so far is suspect" in out
    triad = "suspect: cuda triad fp32 26843904 (model): working set too small: 6.1 x the last-level cache, 8 x needed"
    assert triad in out
    assert out.endswith(f"Written: {path}\n")
    assert main(["plot", str(path), "--text"]) == 0
    assert "no memory bandwidth yet" in capsys.readouterr().out


def test_an_interrupted_run_without_a_bandwidth_says_how_to_go_on(fake, tmp_path, capsys):
    fake._free = 2**30
    interrupted_after(fake, 3)
    assert main(["measure", "--quick", "--only", "bandwidth", "-o", str(tmp_path / "run.json")]) == 130
    out = capsys.readouterr().out
    assert "no memory bandwidth yet" in out
    assert "Interrupted. To go on: roofcourse measure --resume" in out


def test_going_on_keeps_the_size_of_the_arrays(fake, tmp_path, capsys):
    """Where memory sets it, another amount is free every time: the points of one size are gone on with."""
    fake._free, path = 8 * 10**9, tmp_path / "run.json"  # a tenth: 0.8 GB of the 1.07 GB that are wanted
    words = ["measure", "--only", "bandwidth", "--resume", "-o", str(path)]
    build = fake.build

    def interrupt(spec):
        if spec.precision == "fp64":
            raise KeyboardInterrupt
        return build(spec)

    fake.build = interrupt
    assert main(words) == 130
    fake.build, fake._free = build, 7 * 10**9
    assert main(words) == 0
    assert "Fake GPU: 5 points to measure, 5 already in" in " ".join(capsys.readouterr().out.split())
    run = read_run(path)
    (elements,) = set(run.measurements.elements)
    assert elements == 200_000_256  # 0.8 GB in FP32, in whole blocks of 768
    best = max(x.bytes_per_s for x in run.measurements)
    assert Recorded(run).device.bandwidth == best


def test_what_is_placed_into_the_file_meanwhile_is_kept(fake, tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    words = ["measure", "--quick", "-o", str(path), "--only"]

    def place_when(now, name):
        def show(self, step):
            if now(step):
                mine = Measurement("cuda", name, "fp32", rc.Work(10, 20), 1e-6, kind="measured live")
                store.save(Point(mine, "formula", Roofline(1e12, 1e11)), path, fake.manifest())

        monkeypatch.setattr(Progress, "show", show)

    def names():
        return [point.name for point in store.placed(path)]

    place_when(lambda step: step.done == 0, "before the first point")  # there is no file yet
    assert main([*words, "bandwidth"]) == 0
    assert names() == ["before the first point"]
    place_when(lambda step: step.title == "done", "after the last point")
    assert main([*words, "matmul", "--resume"]) == 0
    assert names() == ["before the first point", "after the last point"]
    place_when(lambda step: step.done == 2, "between two points")
    assert main([*words, "bandwidth", "--overwrite"]) == 0
    assert names() == ["between two points"]  # those of the file that was replaced are gone


def test_an_interrupted_run_is_whole_when_all_that_it_was_asked_for_is_there(fake, tmp_path):
    path = tmp_path / "run.json"
    words = ["measure", "--quick", "-o", str(path)]
    refused = (("gemm fp8_e4m3", "Fake GPU has no FP8 units: measure fp16"),)
    build = interrupted_after(fake, 12)
    assert main(words) == 130
    assert not read_run(path).complete
    fake.build = build
    *most, last = plan.PARTS
    for part in (*most, most[0]):
        assert main([*words, "--resume", "--only", part]) == 0
        assert not read_run(path).complete  # the last part is still missing
    interrupted = path.read_bytes()
    for rest in (["--only", last], []):
        path.write_bytes(interrupted)
        assert main([*words, "--resume", *rest]) == 0
        assert (read_run(path).complete, read_run(path).refusals) == (True, refused)
    # Of a whole run a part more or again leaves the reasons of the others.
    assert main([*words, "--resume", "--only", "launch"]) == 0
    assert (read_run(path).complete, read_run(path).refusals) == (True, refused)


def test_a_reason_goes_when_what_it_kept_away_is_measured(fake, tmp_path):
    path = tmp_path / "run.json"
    words = ["measure", "--quick", "-o", str(path), "--resume"]
    assert main([*words, "--only", "matmul"]) == 0
    run = read_run(path)
    assert [what for what, _ in run.refusals] == ["gemm fp8_e4m3"]
    late = ("time", "3 points: the 24 s of a quick run were up; --resume goes on")
    write_run(replace(run, refusals=(*run.refusals, late)), path, overwrite=True)
    fake.missing.clear()  # a newer torch, say
    assert main([*words, "--only", "matmul"]) == 0
    assert read_run(path).refusals == (late,)
    assert main(words) == 0
    assert read_run(path).refusals == ()


def test_an_interrupted_part_is_whole_by_itself(fake, tmp_path):
    path = tmp_path / "run.json"
    words = ["measure", "--quick", "-o", str(path), "--only", "bandwidth"]
    build = interrupted_after(fake, 3)
    assert main(words) == 130
    assert (read_run(path).complete, read_run(path).machine["parts"]) == (False, "bandwidth")
    fake.build = build
    assert main([*words, "--resume"]) == 0
    assert read_run(path).complete


def test_a_best_point_that_scatters_says_so():
    def moved(kernel, seconds, **fields):
        work = rc.copy(10**8) if kernel == "copy" else rc.triad(10**8)
        return Measurement("cpu", kernel, "fp32", work, seconds, elements=10**8, **fields)

    points = Measurements([moved("copy", 0.04), moved("triad", 0.04, stable=False, spread=0.2)])
    bench = Recorded(Run(2, {"key": "cpu", "name": "A CPU", "utc": "2026-12-01"}, points))
    _, copy, triad = bandwidths(bench).splitlines()
    assert copy.split() == ["copy", "FP32", "20", "-"]  # 0.8 GB in 0.04 s
    assert triad.split() == ["triad", "FP32", "30", "-", "20.0%", "<-", "B,", "unstable"]


@pytest.mark.parametrize("words", [["measure"], ["decode"], ["plot", "{run}"], ["report", "{run}"]])
def test_where_nothing_can_be_written_is_seen_first(words, run, fake, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fake, "build", lambda spec: pytest.fail("something was measured"))
    path = write_run(run, tmp_path / "run.json", overwrite=True)
    words = [word.format(run=path) for word in words]
    out = tmp_path / "new.html"
    access = lambda folder, mode: folder != tmp_path  # noqa: E731
    monkeypatch.setattr(files.os, "access", access)
    assert main([*words, "-o", str(out)]) == 1
    said = capsys.readouterr()
    assert said.err == f"roofcourse: {out}: the folder {tmp_path} cannot be written to: choose another\n"
    assert main([*words, "-o", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"roofcourse: {tmp_path} is a folder: name a file in it\n"
    assert said.out == ""


def test_of_a_link_the_folder_of_its_file_counts(tmp_path, monkeypatch):
    inside, link = tmp_path / "inside", tmp_path / "run.json"
    inside.mkdir()
    link.symlink_to(inside / "mine.json")
    monkeypatch.setattr(files.os, "access", lambda folder, mode: folder != inside)
    with pytest.raises(PermissionError, match="inside cannot be written to"):
        files.check_output(link)
    files.check_output(tmp_path / "other.json")


def test_a_run_of_another_machine_is_not_gone_on_with(fake, tmp_path, capsys):
    path = tmp_path / "run.json"
    assert main(["measure", "--quick", "--only", "launch", "-o", str(path)]) == 0
    data = json.loads(path.read_text(encoding="utf-8"))
    data["machine"]["name"] = "Another GPU"
    path.write_text(json.dumps(data), encoding="utf-8")
    before = path.read_bytes()
    assert main(["measure", "--quick", "--resume", "-o", str(path)]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"roofcourse: {path}: runs of different machines do not merge: name is 'Fake GPU' in one")
    assert err.endswith("; measure into another file (-o), or --overwrite it\n")
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
    assert main(["plot", "mine.json", "--text", "-o", "text.txt"]) == 1
    assert "-o names a chart, and --text prints" in capsys.readouterr().err


def test_the_report_needs_no_matplotlib(run, tmp_path, monkeypatch, capsys):
    path = write_run(run, tmp_path / "mine.json")
    assert main(["plot", str(path), "--text"]) == 0
    out = capsys.readouterr().out
    assert out.strip() == closing(Recorded(run))
    peak = max(x.flop_per_s for x in run.measurements.where(kernel="gemm", precision="fp32"))
    assert peak == pytest.approx(50e12, rel=0.005)  # what the made-up card does, with its noise
    assert f"\n  H  FP32, {peak / 1e12:.4g} TFLOP/s\n" in out


def test_a_run_whose_bandwidth_is_suspect_says_so(run):
    doubtful = [replace(x, suspect="too fast") if x.kernel in MOVING else x for x in run.measurements]
    text = closing(Recorded(replace(run, measurements=Measurements(doubtful))))
    table, *rest = text.split("\n\n")
    assert table.startswith("Memory bandwidth\n")
    assert "<- B" not in table
    assert [line.split()[-1] for line in table.splitlines()[2:]] == ["suspect"] * len(MOVING)
    assert not any(part.startswith("Compute ceilings") for part in rest)
    assert "suspect: cuda " in rest[-1]
    assert rest[-1].count(": too fast") == 5


def test_a_picture_of_characters():
    text = draw([Roofline(1e12, 1e11, precision="fp32", path="gemm")], [(1.0, 9e10), (1000.0, 9e11)], 40, 8)
    lines = text.splitlines()
    assert lines[-1] == "  A  FP32, 1 TFLOP/s"
    assert sum(line.count("o") for line in lines[:8]) == 2
    slope = [line.index("/") for line in lines[:8] if "/" in line.split("|")[-1] and "|" in line]
    assert slope == sorted(slope, reverse=True)  # rises to the right
    assert table([("a", "b", "1"), ("aa", "b", "22")]) == "a   b   1\naa  b  22"
