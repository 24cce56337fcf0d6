"""Run notebooks/*.ipynb with papermill and write clean, executed pages for the book.

    python tools/run_notebooks.py
    python tools/run_notebooks.py --out book/_build/runs/rtx4080 -p device rtx4080 -p precision fp8_e4m3 01_bounds

A notebook runs again when its source, the package, the data, constraints.txt, this file or the parameters have changed
since its page was written, and only then: NAME.ipynb.sha256 beside each page holds the hash of all of them, and so does
the page itself (rc-inputs in its metadata, and on the site in a meta element; tools/fresh.py compares).
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import logging
import os
import re
import sys
import tempfile
import threading
import time
from pathlib import Path

import nbformat
import papermill
import psutil
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "book" / "_ext"))

import markers  # noqa: E402

NAMES = ("device", "precision", "source", "quick")  # the parameters that every notebook has
BUNDLED = {"device": "h100", "precision": "fp16", "source": "bundled", "quick": True}
START_SECONDS = 180  # a kernel starts in two seconds on an idle machine
# The cards of a page stay those of the catalogue; its live experiments find this machine by themselves.
LIVE = {**BUNDLED, "source": "live"}
TIMEOUT = 600  # seconds for one notebook: ten times what a slow one takes
# Sockets of the file system: two kernels that start together can pick the same TCP port, and one then waits for ever.
KERNEL = Config({"KernelManager": {"transport": "ipc"}})

WIDGET = "application/vnd.jupyter.widget-view+json"
NEEDS_KERNEL = (
    '<p class="rc-needs-kernel">This cell needs a running kernel: open the notebook in JupyterLab '
    "(<code>make lab</code>) to use it.</p>"
)
STAMP = "rc-inputs"  # in a page's metadata: fingerprint() of what it was made from
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
ANSI = re.compile(r"\x1b\[[0-9;]*m")


class NotebookError(Exception):
    """Why a notebook cannot become a page, in one line: notebook, cell, reason."""


def at(name: str, number: int, reason: str) -> NotebookError:
    return NotebookError(f"{name}, cell {number}: {reason}")


# --- before the run ---------------------------------------------------------------------------------------------------


def find_parameters(name: str, nb) -> tuple[int, dict]:
    """Index of the one cell tagged 'parameters', and the defaults that it assigns."""
    tagged = [i for i, cell in enumerate(nb.cells) if "parameters" in cell.metadata.get("tags", [])]
    if len(tagged) != 1:
        found = "no cell" if not tagged else f"{len(tagged)} cells"
        raise NotebookError(
            f"{name}: {found} tagged 'parameters', exactly one is needed (assigning {', '.join(NAMES)})"
        )
    (index,) = tagged
    defaults = {}
    for statement in ast.parse(nb.cells[index].source).body:
        try:
            (target,) = statement.targets
            defaults[target.id] = ast.literal_eval(statement.value)
        except (AttributeError, ValueError):
            reason = f"the parameters cell holds '{ast.unparse(statement)}', only 'name = constant' is allowed there"
            raise at(name, index + 1, reason) from None
    return index, defaults


def check_source(name: str, nb, parameters: dict) -> None:
    """Refuse a notebook that papermill would run without a word, or with the wrong values."""
    for number, cell in enumerate(nb.cells, 1):
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count):
            raise at(name, number, f"an output is left in the source: run 'nbstripout --keep-id notebooks/{name}'")
    index, defaults = find_parameters(name, nb)
    for key in parameters:
        if key not in defaults:
            raise at(name, index + 1, f"unknown parameter '{key}', the parameters cell has: {', '.join(defaults)}")


# --- the run ----------------------------------------------------------------------------------------------------------


def environment(scratch: Path) -> dict[str, str]:
    """What a kernel must not take from the person who builds: start-up files, hash seed, today's date in a figure."""
    profile = scratch / "ipython" / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    # a failing cell reaches us by itself; the kernel's own remarks (on being interrupted, say) only clutter the message
    (profile / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 50\n")
    return {"IPYTHONDIR": str(scratch / "ipython"), "PYTHONHASHSEED": "0", "SOURCE_DATE_EPOCH": "0"}


def execute(path: Path, parameters: dict, timeout: float):
    """The executed notebook, as papermill leaves it."""
    name, started, overdue = path.name, time.monotonic(), threading.Event()

    def stop():  # a cell that never ends cannot be asked to: end its kernel, and nbclient sees that it died
        overdue.set()
        for child in psutil.Process().children(recursive=True):
            child.kill()

    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / name
        ours = environment(Path(scratch))
        before = {key: os.environ.get(key) for key in ours}
        os.environ.update(ours)
        timer = threading.Timer(timeout, stop)
        timer.start()
        try:
            papermill.execute_notebook(
                str(path), str(page), parameters=parameters, cwd=scratch, kernel_name="python3", language="python",
                progress_bar=False, log_output=False, start_timeout=START_SECONDS, config=KERNEL,
                # a kernel sends what is printed in pieces cut by the clock; the book's own merging breaks a line there
                coalesce_streams=True,
            )  # fmt: skip
            return nbformat.read(page, as_version=4)
        except papermill.PapermillExecutionError as error:
            number = error.cell_index + 1 - injected_before(page, error.cell_index)
            lines = ANSI.sub("", str(error.evalue)).strip().splitlines() or ["(no message)"]
            raise at(name, number, f"{error.ename}: {lines[0]}") from None
        except DeadKernelError:
            number = last_started_cell(page)
            where = f", in cell {number}" if number else ""
            if overdue.is_set():
                spent = time.monotonic() - started
                raise NotebookError(f"{name}: stopped after {spent:.0f} s{where} (limit {timeout:g} s)") from None
            raise NotebookError(f"{name}: the kernel died{where} (out of memory?)") from None
        except RuntimeError as error:  # jupyter_client's word for a kernel that does not answer
            if "respond" not in str(error):
                raise
            raise NotebookError(
                f"{name}: the kernel did not start within {START_SECONDS} s (machine too busy?)"
            ) from None
        finally:
            timer.cancel()
            for key, value in before.items():
                os.environ.pop(key) if value is None else os.environ.__setitem__(key, value)


def injected_before(page: Path, index: int) -> int:
    """How many cells before `index` papermill put in: a cell number in a message is the author's, not papermill's."""
    cells = [c for c in nbformat.read(page, as_version=4).cells if "papermill-error-cell-tag" not in tags(c)]
    return sum("injected-parameters" in tags(cell) for cell in cells[:index])


def last_started_cell(page: Path) -> int | None:
    """Number of the last cell that papermill started. (It calls a cell completed even when its kernel died.)"""
    cells = nbformat.read(page, as_version=4).cells if page.exists() else []
    started = [i for i, c in enumerate(cells) if c.metadata.get("papermill", {}).get("status", "pending") != "pending"]
    return started[-1] + 1 - injected_before(page, started[-1]) if started else None


def tags(cell) -> list[str]:
    return cell.metadata.get("tags", [])


# --- after the run ----------------------------------------------------------------------------------------------------


def write_values(source: str, parameters: dict) -> str:
    """The parameters cell with the values that were used, so that the page shows what ran."""
    lines = source.splitlines()
    for statement in ast.parse(source).body:
        name, node = statement.targets[0].id, statement.value
        if name in parameters and ast.literal_eval(node) != parameters[name]:
            new = parameters[name]
            text = f'"{new}"' if isinstance(new, str) else repr(new)
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = line[: node.col_offset] + text + line[node.end_col_offset :]
    return "\n".join(lines)


def clean_output(name: str, number: int, cell, output, unwanted: list[str]):
    """One output without anything that differs from run to run, or a refusal."""
    if output.output_type == "stream" and output.name == "stderr":
        raise at(name, number, f"writes to stderr: {output.text.strip().splitlines()[0]}")
    data = output.get("data", {})
    if WIDGET in data:
        if "text/html" not in data:
            reason = "shows a widget that is dead without a kernel: give it a static form or tag the cell 'live-only'"
            raise at(name, number, reason)
        del data[WIDGET]  # model ids are random; the text/html form stays
    text = output.get("text", "") + "".join(v for k, v in data.items() if k.startswith("text/"))
    for bad in [u for u in unwanted if u in text] + ADDRESS.findall(text):
        raise at(name, number, f"shows '{bad}', which differs between machines or runs: print something else")
    output.get("metadata", {}).pop("papermill", None)
    return output


def clean(name: str, nb, parameters: dict):
    """The executed notebook as a page: no paths, times, random ids, injected cell, markers or dead widgets."""
    nb.cells = [cell for cell in nb.cells if "injected-parameters" not in tags(cell)]
    nb.metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "pygments_lexer": "ipython3"},
    }
    # short prefixes such as "/" would match anything
    unwanted = [str(p) for p in (ROOT, Path.home(), tempfile.gettempdir(), sys.prefix) if len(str(p)) > 3]
    count = 0
    for number, cell in enumerate(nb.cells, 1):
        for key in ("papermill", "execution"):
            cell.metadata.pop(key, None)
        if cell.cell_type == "markdown":
            # Beside a notebook the book lies in ../book/; a page lies in the book already.
            cell.source = markers.MARKER.sub("", cell.source).replace("](../book/", "](../")
        if cell.cell_type != "code":
            continue
        count += 1
        cell.execution_count = count
        if "live-only" in tags(cell):
            cell.outputs = [nbformat.v4.new_output("display_data", {"text/html": NEEDS_KERNEL})]
        cell.outputs = [clean_output(name, number, cell, output, unwanted) for output in cell.outputs]
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = count
    index, _ = find_parameters(name, nb)
    nb.cells[index].source = write_values(nb.cells[index].source, parameters)
    return nb


# --- what has changed -------------------------------------------------------------------------------------------------


def files_under(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def fingerprint(notebook: Path, parameters: dict, root: Path = ROOT) -> str:
    """Hash of all that decides a page's content: its source, the package, the data, the pinned versions, this file
    and the form of the markers that it drops."""
    h = hashlib.sha256(json.dumps(parameters, sort_keys=True).encode())
    shared = [root / "constraints.txt", *files_under(root / "src"), *files_under(root / "data")]
    for label, path in [
        ("notebook", notebook),
        ("runner", Path(__file__)),
        ("markers", Path(markers.__file__)),
        *((str(p.relative_to(root)), p) for p in shared),
    ]:
        h.update(f"\0{label}\0".encode())
        h.update(hashlib.sha256(path.read_bytes()).digest())
    return h.hexdigest()


def stamped(page: Path) -> str | None:
    """The hash that a page carries of what it was made from; none in a notebook that did not come from here."""
    return json.loads(page.read_text(encoding="utf-8"))["metadata"].get(STAMP)


def is_current(page: Path, wanted: str) -> bool:
    """Whether the page was made from exactly this, and is still the file that was written."""
    stamp = page.with_name(page.name + ".sha256")
    if not (page.exists() and stamp.exists()):
        return False
    return stamp.read_text().split() == [wanted, hashlib.sha256(page.read_bytes()).hexdigest()]


# --- all together -----------------------------------------------------------------------------------------------------


def run(notebook: Path, out: Path, parameters: dict, timeout: float = TIMEOUT, root: Path = ROOT) -> bool:
    """Bring one page up to date; True when that meant running the notebook."""
    page, wanted = out / notebook.name, fingerprint(notebook, parameters, root)
    if is_current(page, wanted):
        return False
    try:
        nb = nbformat.read(notebook, as_version=4)
    except nbformat.reader.NotJSONError:
        raise NotebookError(f"{notebook.name}: not a notebook (not JSON)") from None
    check_source(notebook.name, nb, parameters)
    nb = clean(notebook.name, execute(notebook, parameters, timeout), parameters)
    nb.metadata[STAMP] = wanted
    out.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, page)
    page.with_name(page.name + ".sha256").write_text(f"{wanted}\n{hashlib.sha256(page.read_bytes()).hexdigest()}\n")
    return True


def run_all(notebooks: list[Path], out: Path, parameters: dict, timeout: float = TIMEOUT, root: Path = ROOT) -> int:
    """Bring all pages up to date, with a line for each; how many notebooks ran."""
    logging.getLogger("papermill").setLevel(logging.ERROR)
    ran = 0
    for notebook in notebooks:
        started = time.monotonic()
        again = run(notebook, out, parameters, timeout, root)
        ran += again
        print(f"  {notebook.name:<32} {f'{time.monotonic() - started:5.1f} s' if again else 'unchanged'}", flush=True)
    return ran


def remove_strays(notebooks: list[Path], out: Path) -> None:
    """Pages of notebooks that are no more."""
    names = {n.name for n in notebooks}
    for page in out.glob("*.ipynb"):
        if page.name not in names:
            page.unlink()
            page.with_name(page.name + ".sha256").unlink(missing_ok=True)


def value(text: str):
    """A parameter from the command line: true, 16 and 1.5 are what they look like, all else is text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="notebooks to run, as 01_bounds (default: all)")
    parser.add_argument("--notebooks", type=Path, default=ROOT / "notebooks", help="folder of the sources")
    parser.add_argument("--out", type=Path, default=ROOT / "book" / "notebooks", help="folder for the pages")
    parser.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds for one notebook")
    arguments = parser.parse_args()
    notebooks = sorted(arguments.notebooks.glob("*.ipynb"))
    if unknown := set(arguments.names) - {n.stem for n in notebooks}:
        sys.exit(f"no notebook named {', '.join(sorted(unknown))} in {arguments.notebooks}")
    chosen = [n for n in notebooks if not arguments.names or n.stem in arguments.names]
    parameters = {**BUNDLED, **{name: value(text) for name, text in arguments.parameters}}
    print(f"notebooks with {', '.join(f'{k}={v}' for k, v in parameters.items())}", flush=True)
    try:
        run_all(chosen, arguments.out, parameters, arguments.timeout)
    except NotebookError as error:
        sys.exit(f"stopped: {error}")


if __name__ == "__main__":
    main()
