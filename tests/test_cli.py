"""The command line: what it prints, and that a wrong word gives one line."""

import os
import subprocess
import sys

import pytest

from roofcourse.cli import main


def test_devices_lists_every_card(capsys):
    assert main(["devices"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([x for x in lines if "NVIDIA" in x or "Tesla" in x or "AMD" in x]) == 12
    h100 = next(x for x in lines if x.startswith("h100 "))
    assert h100.split() == ["h100", "NVIDIA", "H100", "80GB", "HBM3", "3,085", "787.6", "255.3"]


def test_one_device_shows_every_ceiling_and_its_source(capsys):
    assert main(["devices", "H100 SXM"]) == 0
    out = capsys.readouterr().out
    assert "FP32       vector        61.47              19.92" in out
    assert "Measured by Sitong Zhang" in out
    assert "licence MIT" in out


def test_an_unknown_device_gets_one_line(capsys):
    assert main(["devices", "h1000"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("roofcourse: no device 'h1000' in the catalogue; nearest: ")
    assert err.count("\n") == 1


def test_help_teaches(capsys):
    assert main([]) == 2
    assert "roofcourse devices h200" in capsys.readouterr().out
    with pytest.raises(SystemExit) as done:
        main(["devices", "--help"])
    assert done.value.code == 0


def test_python_dash_m_is_the_command():
    words = [sys.executable, "-m", "roofcourse", "devices", "h100"]
    run = subprocess.run(words, capture_output=True, text=True, check=True, encoding="utf-8")
    assert "FP32       vector        61.47" in run.stdout


def test_a_terminal_of_ascii_shows_a_question_mark():
    words = [sys.executable, "-m", "roofcourse", "ncu", "--bundled", "--device", "h200"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(words, capture_output=True, text=True, check=False, encoding="ascii", env=environment)
    assert (run.returncode, run.stderr) == (0, "")
    assert "time (?s)" in run.stdout  # µs


def test_importing_loads_neither_torch_nor_matplotlib_nor_anywidget():
    code = (
        "import sys, roofcourse; print([m for m in ('torch', 'matplotlib', 'anywidget', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
