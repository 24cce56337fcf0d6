"""The runner: what it refuses, what it leaves in a page, and when it runs a notebook again."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import run_notebooks as runner
from notebooks.make import PARAMETERS, code, notebook, text

ROOT = Path(__file__).resolve().parents[2]
WIDGET_CELL = """
from IPython.display import display
display({"application/vnd.jupyter.widget-view+json": {"model_id": "abc"}, "text/plain": "Slider()"}, raw=True)
"""


def refusal(source: Path, tmp_path: Path, parameters: dict | None = None, **options) -> str:
    with pytest.raises(runner.NotebookError) as caught:
        runner.run(source, tmp_path / "pages", {**runner.BUNDLED, **(parameters or {})}, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert not (tmp_path / "pages" / source.name).exists()
    return message


def page(source: Path, out: Path, parameters: dict | None = None):
    runner.run(source, out, {**runner.BUNDLED, **(parameters or {})})
    return nbformat.read(out / source.name, as_version=4)


# --- refused before anything runs -------------------------------------------------------------------------------------


def test_no_parameters_cell(tmp_path):
    source = notebook(tmp_path, code("1 + 1"), parameters=None)
    assert refusal(source, tmp_path).startswith("small.ipynb: no cell tagged 'parameters', exactly one is needed")


def test_two_parameters_cells(tmp_path):
    source = notebook(tmp_path, code('device = "a100"', "parameters"))
    assert "2 cells tagged 'parameters'" in refusal(source, tmp_path)


def test_unknown_parameter(tmp_path):
    message = refusal(notebook(tmp_path), tmp_path, {"devise": "h200"})
    assert message == (
        "small.ipynb, cell 1: unknown parameter 'devise', the parameters cell has: device, precision, source, quick"
    )


def test_parameter_missing_in_the_notebook(tmp_path):
    source = notebook(tmp_path, parameters='device = "h100"')
    assert "unknown parameter 'precision', the parameters cell has: device" in refusal(source, tmp_path)


def test_parameters_cell_with_more_than_constants(tmp_path):
    source = notebook(tmp_path, parameters=PARAMETERS + "\nimport os")
    assert refusal(source, tmp_path).endswith(
        "cell 1: the parameters cell holds 'import os', only 'name = constant' is allowed there"
    )


def test_output_left_in_the_source(tmp_path):
    cell = code("1 + 1")
    cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "2"}, execution_count=1)]
    message = refusal(notebook(tmp_path, text("Words."), cell), tmp_path)
    assert message == (
        "small.ipynb, cell 3: an output is left in the source: run 'nbstripout --keep-id notebooks/small.ipynb'"
    )


def test_not_a_notebook(tmp_path):
    (tmp_path / "small.ipynb").write_text("words")
    assert refusal(tmp_path / "small.ipynb", tmp_path) == "small.ipynb: not a notebook (not JSON)"


# --- refused while it runs, or for what it shows ----------------------------------------------------------------------


def test_failing_cell_is_named_by_the_authors_number(tmp_path):
    source = notebook(tmp_path, text("Words."), code('raise ValueError("no such card\\nsecond line")'))
    assert refusal(source, tmp_path) == "small.ipynb, cell 3: ValueError: no such card"


def test_failing_cell_before_the_parameters(tmp_path):
    source = notebook(tmp_path, code("1 / 0"), code(PARAMETERS, "parameters"), parameters=None)
    assert refusal(source, tmp_path) == "small.ipynb, cell 1: ZeroDivisionError: division by zero"


def test_endless_cell_is_stopped_and_named(tmp_path):
    source = notebook(tmp_path, code("import time\nwhile True:\n    time.sleep(1)"))
    message = refusal(source, tmp_path, timeout=8)
    assert message.startswith("small.ipynb: stopped after ")
    assert message.endswith(" s, in cell 2 (limit 8 s)")


def test_dead_kernel(tmp_path):
    source = notebook(tmp_path, code("import os\nos._exit(1)"))
    assert refusal(source, tmp_path) == "small.ipynb: the kernel died, in cell 2 (out of memory?)"


def test_kernel_that_never_answers(tmp_path, monkeypatch):
    def silent(*args, start_timeout, **kwargs):
        raise RuntimeError(f"Kernel didn't respond in {start_timeout} seconds")

    monkeypatch.setattr(runner.papermill, "execute_notebook", silent)
    message = refusal(notebook(tmp_path), tmp_path)
    assert message == "small.ipynb: the kernel did not start within 180 s (machine too busy?)"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            WIDGET_CELL,
            "shows a widget that is dead without a kernel: give it a static form or tag the cell 'live-only'",
        ),
        ("import sys\nprint('careful', file=sys.stderr)", "writes to stderr: careful"),
        ("object()", "which differs between machines or runs: print something else"),
        ("import sys\nprint(sys.prefix)", "which differs between machines or runs: print something else"),
    ],
)
def test_output_that_no_page_can_have(tmp_path, source, reason):
    message = refusal(notebook(tmp_path, code(source)), tmp_path)
    assert message.startswith("small.ipynb, cell 2: ")
    assert message.endswith(reason)


def test_command_line_stops_with_one_line(tmp_path):
    notebook(tmp_path / "sources", code("undefined_name"))
    command = [sys.executable, str(ROOT / "tools" / "run_notebooks.py"), "--notebooks", str(tmp_path / "sources")]
    done = subprocess.run([*command, "--out", str(tmp_path / "pages")], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == "stopped: small.ipynb, cell 2: NameError: name 'undefined_name' is not defined\n"


def test_command_line_names_an_unknown_notebook(tmp_path):
    command = [sys.executable, str(ROOT / "tools" / "run_notebooks.py"), "--notebooks", str(tmp_path), "77_nothing"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("no notebook named 77_nothing in ")


# --- what a page holds ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rich_source(tmp_path_factory):
    """One notebook with everything that has to go, or to stay."""
    figure = (
        "import matplotlib.pyplot as plt\nplt.rcParams['svg.hashsalt'] = 'course'\n"
        "%config InlineBackend.figure_formats = ['svg']\nplt.plot([1, 2], [3, 4])\nplt.show()"
    )
    static_widget = WIDGET_CELL.replace('"text/plain"', '"text/html": "<p>static</p>", "text/plain"')
    return notebook(
        tmp_path_factory.mktemp("rich"),
        text('A copy takes 47 µs<!--= us(h100.m_sweep("bf16")[0].seconds) --> here.'),
        code("device, precision, quick"),
        code(static_widget),
        code(WIDGET_CELL, "live-only"),
        code(figure, "hide-input"),
    )


@pytest.fixture(scope="module")
def rich_page(rich_source, tmp_path_factory):
    out = tmp_path_factory.mktemp("pages")
    return page(rich_source, out, {"device": "rtx4080", "precision": "fp8_e4m3"}), out / rich_source.name


def test_injected_cell_is_gone_and_the_parameters_show_what_ran(rich_page):
    nb, _ = rich_page
    assert [cell.cell_type for cell in nb.cells] == ["code", "markdown", "code", "code", "code", "code"]
    assert nb.cells[0].source == PARAMETERS.replace("h100", "rtx4080").replace("fp16", "fp8_e4m3")
    assert nb.cells[2].outputs[0].data["text/plain"] == "('rtx4080', 'fp8_e4m3', True)"


def test_marker_comments_are_gone(rich_page):
    assert rich_page[0].cells[1].source == "A copy takes 47 µs here."


def test_widget_keeps_its_static_form_only(rich_page):
    assert dict(rich_page[0].cells[3].outputs[0].data) == {"text/html": "<p>static</p>", "text/plain": "Slider()"}


def test_live_only_cell_shows_a_note(rich_page):
    (output,) = rich_page[0].cells[4].outputs
    assert "needs a running kernel" in output.data["text/html"]
    assert "widget" not in str(output)


def test_no_paths_times_or_papermill_in_the_page(rich_page):
    raw = rich_page[1].read_text()
    for word in ("papermill", "injected-parameters", "start_time", "iopub", '"model_id": "', str(ROOT), "/tmp/"):
        assert word not in raw
    assert rich_page[0].metadata.language_info == {"name": "python", "pygments_lexer": "ipython3"}
    assert [c.execution_count for c in rich_page[0].cells if c.cell_type == "code"] == [1, 2, 3, 4, 5]


def test_two_runs_give_the_same_bytes(rich_source, rich_page, tmp_path):
    page(rich_source, tmp_path, {"device": "rtx4080", "precision": "fp8_e4m3"})
    assert (tmp_path / rich_source.name).read_bytes() == rich_page[1].read_bytes()


def test_a_line_sent_in_two_pieces_is_one_line(tmp_path):
    made = page(
        notebook(tmp_path, code('print("51.1 µs", end="", flush=True)\nprint(", in gaps 15.0 µs")')), tmp_path / "pages"
    )
    assert [output.text for output in made.cells[1].outputs] == ["51.1 µs, in gaps 15.0 µs\n"]


def test_values_keep_the_comments_beside_them():
    source = 'device = "h100"  # the card\nquick = True'
    assert runner.write_values(source, {"device": "b300"}) == 'device = "b300"  # the card\nquick = True'


def test_pages_of_removed_notebooks_go(tmp_path):
    for name in ("old.ipynb", "old.ipynb.sha256", "kept.ipynb"):
        (tmp_path / name).write_text("")
    runner.remove_strays([Path("kept.ipynb")], tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["kept.ipynb"]


# --- when a notebook runs again ---------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small project, with papermill replaced by a counter: how often does it run?"""
    root = tmp_path / "project"
    for name in ("src/roofcourse/model.py", "src/roofcourse/explore/chart.js", "data/devices.csv", "constraints.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("one")
    source = notebook(root / "notebooks", code("1 + 1"))
    runs = []

    def execute(path, parameters, timeout):
        runs.append(parameters)
        return nbformat.read(path, as_version=4)

    monkeypatch.setattr(runner, "execute", execute)

    def build(**parameters) -> bool:
        before = len(runs)
        again = runner.run(source, root / "pages", {**runner.BUNDLED, **parameters}, root=root)
        assert again == (len(runs) > before)
        return again

    return root, build


def test_nothing_changed_runs_nothing(tree):
    root, build = tree
    assert build()
    assert not build()
    for file in root.rglob("*"):  # a fresh checkout: same content, new times
        file.touch()
    (root / "README.md").write_text("not part of any page")
    (root / "src/roofcourse/__pycache__").mkdir()
    (root / "src/roofcourse/__pycache__/model.pyc").write_text("compiled")
    assert not build()


@pytest.mark.parametrize(
    "name", ["src/roofcourse/model.py", "src/roofcourse/explore/chart.js", "data/devices.csv", "constraints.txt"]
)
def test_change_of_a_file_runs_again_once(tree, name):
    root, build = tree
    assert build()
    (root / name).write_text("two")
    assert build()
    assert not build()


def test_new_or_renamed_file_runs_again(tree):
    root, build = tree
    assert build()
    (root / "data/devices.csv").rename(root / "data/cards.csv")
    assert build()


def test_change_of_the_notebook_runs_again(tree):
    root, build = tree
    assert build()
    notebook(root / "notebooks", code("1 + 2"))
    assert build()
    assert not build()


def test_change_of_a_parameter_runs_again(tree):
    _, build = tree
    assert build()
    assert build(device="h200")
    assert not build(device="h200")


def test_page_that_was_edited_or_removed_is_made_again(tree):
    root, build = tree
    assert build()
    made = root / "pages" / "small.ipynb"
    made.write_text(made.read_text() + "\n")
    assert build()
    shutil.rmtree(root / "pages")
    assert build()
