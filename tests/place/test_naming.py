"""Functions, shapes and keywords from the words of a command line, and one line for each wrong word."""

from __future__ import annotations

import math
import sys

import pytest

from roofcourse.place import naming


def test_functions_by_name():
    assert naming.function("math.sqrt") is math.sqrt
    assert naming.function("os.path.join").__name__ == "join"
    assert naming.function("math:hypot") is math.hypot


def test_a_function_of_ones_own_file(tmp_path):
    file = tmp_path / "my_kernels_for_a_test.py"
    file.write_text("def twice(x):\n    return 2 * x\n")
    assert naming.function(f"{file}:twice")(21) == 42


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("math.nope", "math has no 'nope'"),
        ("nowhere.f", "no such function; write package.function"),
        ("sqrt", "no such function"),
        ("nowhere:f", "no module 'nowhere'"),
        ("nofile.py:f", "nofile.py: no such file"),
        ("math.pi", "is no function"),
        ("collections.OrderedDict", "is no function: wrap it in one"),
    ],
)
def test_wrong_names_get_one_line(name, message):
    with pytest.raises(ValueError, match=message) as refusal:
        naming.function(name)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f(x)\n    return x\n", r"line 1 of {name}.py is no Python: expected ':'"),
        ("\ny = zz\n", r"it does not run \({name}.py, line 2\): NameError: name 'zz' is not defined"),
        ("import no_such_module_here\n", "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("raise RuntimeError\n", r"it does not run \({name}.py, line 1\): RuntimeError: RuntimeError"),
        ("import sys\nsys.exit()\n", r"it does not run \({name}.py, line 2\): SystemExit: SystemExit"),
        ("import sys\nsys.exit(2)\n", r"it does not run \({name}.py, line 2\): SystemExit: 2"),
        ("\0", "it does not run|is no Python"),
    ],
)
def test_a_file_that_does_not_run_gets_one_line(tmp_path, monkeypatch, text, message):
    stem = "broken_kernels_for_a_test"
    (tmp_path / f"{stem}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    for name in (f"{tmp_path / stem}.py:f", f"{stem}:f", f"{stem}.f"):
        if "no_such" in text and not name.endswith(".py:f"):
            continue  # said in other words
        with pytest.raises(ValueError, match=message.format(name=stem)) as refusal:
            naming.function(name)
        assert str(refusal.value).startswith(name.removesuffix(":f") if ".py" in name else name)
        assert "\n" not in str(refusal.value)
        assert stem not in sys.modules


def test_shapes():
    assert naming.shape("4096x4096") == (4096, 4096)
    assert naming.shape("8") == (8,)
    assert naming.shape("2X3x4") == (2, 3, 4)
    for wrong in ("", "4x", "4x-1", "0", "4,4", "axb"):
        with pytest.raises(ValueError, match="such as 4096x4096"):
            naming.shape(wrong)


def test_keywords_are_literals_or_text():
    assert naming.keywords(["dim=-1", "approximate=tanh", "sizes=(2, 3)"]) == {
        "dim": -1,
        "approximate": "tanh",
        "sizes": (2, 3),
    }
    for wrong in ("dim", "1a=2", "=3"):
        with pytest.raises(ValueError, match="name=value"):
            naming.keywords([wrong])


def test_tensors_have_the_shape_and_the_precision_and_differ():
    torch = pytest.importorskip("torch")
    a, b = naming.tensors(["2x3", "4"], "bf16", "cpu")
    assert (tuple(a.shape), a.dtype, tuple(b.shape)) == ((2, 3), torch.bfloat16, (4,))
    assert a.unique().numel() > 1
    for wide in ("9999999x9999999", "9" * 40):  # 200 TB, and more elements than torch can count
        with pytest.raises(ValueError, match="in bf16 takes .* GB: choose smaller shapes") as refusal:
            naming.tensors([wide], "bf16", "cpu")
        assert "\n" not in str(refusal.value)
    with pytest.raises(ValueError, match="^2x3 and 4 in fp64 takes 8e-08 GB, and 7.9e-08 GB are free: choose smaller"):
        naming.tensors(["2x3", "4"], "fp64", "cpu", 79)  # 10 numbers of 8 bytes
    with pytest.raises(ValueError, match="no random numbers in int8"):
        naming.tensors(["2"], "int8", "cpu")
