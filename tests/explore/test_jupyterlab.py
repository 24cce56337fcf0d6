"""The explorer as a live widget: what Python refuses; round trips, a dropped run and the panel in a real JupyterLab."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import roofcourse as rc
from roofcourse.bench import RECORDED
from roofcourse.tables import data_folder

pytest.importorskip("anywidget")

START_SECONDS = 120  # a cold JupyterLab on a busy machine
FIRST_PRESS_MS = 300_000  # torch loads, numba compiles, a roof is measured: half a minute on an idle machine
STEP_MS = 90_000  # a kernel starts in seconds on an idle machine, in a minute on a busy one

SOURCE = Path(rc.__file__).resolve().parents[1]


def test_traits_are_checked_and_normalised(one_line):
    w = rc.explore.m_sweep(device="NVIDIA H200", precision="half", m=64)
    assert (w.device, w.precision, w.m) == ("h200", "fp16", 64)
    assert w.state == {"m": 64, "precision": "fp16", "device": "h200"}
    assert w.values == rc.explore.compute("m_sweep", w.state)
    with one_line(LookupError) as caught:
        w.device = "h20"
    assert "h200" in str(caught.value)
    with one_line(ValueError):
        w.m = 0
    with one_line(ValueError):
        w.precision = "fp12"
    assert w.state == {"m": 64, "precision": "fp16", "device": "h200"}  # unchanged by what was refused
    w.precision = "fp8"
    assert w.precision == "fp8_e4m3"


def test_wrong_arguments_are_refused_at_once(one_line):
    with one_line(LookupError):
        rc.explore.m_sweep(device="h20")
    with one_line(ValueError):
        rc.explore.m_sweep(m=9000)
    with one_line(ValueError):
        rc.explore.bounds(flop=-1)


def test_a_cell_output_carries_the_static_form():
    w = rc.explore.m_sweep(m=64)
    data, _ = w._repr_mimebundle_()
    assert data["text/html"] == rc.explore.static_html("m_sweep", {"m": 64})
    assert "application/vnd.jupyter.widget-view+json" in data
    w.m = 128
    assert w._repr_mimebundle_()[0]["text/html"] == rc.explore.static_html("m_sweep", {"m": 128})
    b = rc.explore.bounds(flop=1e9, bytes=1e6)
    assert b._repr_mimebundle_()[0]["text/html"] == rc.explore.static_html("bounds", {"flop": 1e9, "bytes": 1e6})


# ---- JupyterLab


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"c{i}",
                    "metadata": {},
                    "execution_count": None,
                    "outputs": [],
                    "source": s,
                }
                for i, s in enumerate(cells)
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )


@pytest.fixture(scope="module")
def lab(tmp_path_factory) -> Iterator[str]:
    """A JupyterLab of its own on 127.0.0.1, a temporary folder and a free port; yields its address."""
    tmp_path = tmp_path_factory.mktemp("lab")
    for name in ("work", "home", "runtime", "config", "data"):
        (tmp_path / name).mkdir()
    cells = (
        "import roofcourse as rc\nw = rc.explore.m_sweep(device='h100', precision='fp16', m=16)\nw",
        "print('state:', w.m, w.precision, w.device)",
        "w.m, w.precision, w.device = 64, 'bf16', 'h200'",
    )
    for name in ("explorer.ipynb", "run_file.ipynb"):  # one for each test: what one leaves the next does not meet
        (tmp_path / "work" / name).write_text(notebook(*cells), encoding="utf-8")
    cells = (
        # A cache as most machines have it: of a virtual one that says 480 MiB, eight times would take a minute.
        "from roofcourse.measure import cpu\ncpu.last_level_cache = lambda: 2**25\n"
        "import roofcourse as rc\np = rc.panel(precision='fp32', m=1)\np",
        "print('kernel free:', p.busy, p.explorer.m)",
        "print('points:', [x[0] for x in p.explorer.spec['devices'][-1]['roofs']['fp32']['sweep']], p.explorer.device)",
    )
    (tmp_path / "work" / "panel.ipynb").write_text(notebook(*cells), encoding="utf-8")
    env = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "config" / "lab"),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(SOURCE), os.environ.get("PYTHONPATH")])),
        "NO_PROXY": "127.0.0.1",
        "no_proxy": "127.0.0.1",
    }
    log = (tmp_path / "lab.log").open("w", encoding="utf-8")
    command = [
        *[sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"],
        *[
            "--IdentityProvider.token=",
            "--ServerApp.password=",
            "--LabApp.expose_app_in_browser=True",
        ],
        f"--ServerApp.root_dir={tmp_path / 'work'}",
    ]
    server = subprocess.Popen(command, env=env, stdout=log, stderr=subprocess.STDOUT, cwd=tmp_path / "work")
    try:
        yield wait_for_server(server, tmp_path)
    finally:
        server.terminate()
        try:
            server.wait(timeout=30)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        log.close()


def wait_for_server(server: subprocess.Popen, folder: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        for info in (folder / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(OSError, json.JSONDecodeError):  # not yet written, or not yet listening
                url = json.loads(info.read_text(encoding="utf-8"))["url"]
                with urllib.request.urlopen(f"{url}api/status", timeout=5) as answer:
                    if answer.status == 200:
                        return url
        time.sleep(0.2)
    log = (folder / "lab.log").read_text(encoding="utf-8")
    pytest.fail(f"JupyterLab did not start within {START_SECONDS} s:\n{log[-3000:]}", pytrace=False)


@contextlib.contextmanager
def open_notebook(lab: str, chromium, name: str):
    """A notebook in a page of its own, its cells, and a function that runs one. At the end nothing may have failed, and
    nothing may have been asked for from outside."""
    context = chromium.new_context(viewport={"width": 1280, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(STEP_MS)
    outside: list[str] = []
    errors: list[str] = []
    page.on("pageerror", lambda e: errors.append(str(e)))
    here = (lab, lab.replace("http", "ws", 1), "data:", "blob:")
    page.on("request", lambda r: None if r.url.startswith(here) else outside.append(r.url))

    def answer(dialog) -> None:
        """On a busy machine JupyterLab may say that it lost its server for a moment: press the button."""
        print("JupyterLab said:", dialog.inner_text())
        dialog.locator("button.jp-mod-accept").click()

    page.add_locator_handler(page.locator("dialog.jp-Dialog"), answer)
    try:
        page.goto(f"{lab}lab/tree/{name}?reset")
        cells = page.locator(".jp-Notebook .jp-CodeCell")
        cells.nth(2).wait_for()
        page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(state="attached")

        def run(nth: int) -> None:
            prompt = cells.nth(nth).locator(".jp-InputPrompt").first
            before = prompt.text_content()
            for _ in range(5):  # while the page is busy, a key press can get lost
                cells.nth(nth).locator(".jp-InputArea-editor").click()
                page.keyboard.press("Control+Enter")
                for _ in range(20):
                    if prompt.text_content() != before:
                        return
                    page.wait_for_timeout(250)
            pytest.fail(f"cell {nth} of {name} did not start")

        yield page, cells, run
        assert errors == []
        assert outside == []
    finally:
        context.close()


def shot(page, node, name: str) -> None:
    """A picture for a person to look at, where one is asked for."""
    if os.environ.get("ROOFCOURSE_SHOTS"):
        node.scroll_into_view_if_needed()
        page.screenshot(path=str(Path(os.environ["ROOFCOURSE_SHOTS"]) / f"{name}.png"))


@pytest.mark.browser
def test_in_jupyterlab_browser_and_python_share_the_state(lab, chromium):
    with open_notebook(lab, chromium, "explorer.ipynb") as (page, cells, run):
        run(0)
        explorer = page.locator(".rc-explorer.rc-live")
        explorer.wait_for()
        slider = explorer.locator('[data-rc-control="m"]')
        assert slider.get_attribute("aria-valuetext") == "M = 16 rows"
        assert explorer.get_by_text("link to this view").count() == 0  # an address has no state there

        shot(page, explorer, "jupyterlab")

        # Browser to Python. Command mode must not take the arrow keys: the slider keeps the focus and moves.
        slider.focus()
        slider.press("ArrowRight")
        slider.press("ArrowDown")
        slider.press("ArrowUp")
        assert slider.get_attribute("aria-valuetext") == "M = 32 rows"
        assert page.evaluate("document.activeElement.dataset.rcControl") == "m"
        explorer.locator('[data-rc-control="device"]').select_option("a100")
        run(1)
        cells.nth(1).get_by_text("state: 32 fp16 a100").wait_for()
        sentence = explorer.locator("[data-rc-sentence]")
        assert sentence.text_content() == rc.explore.compute("m_sweep", {"m": 32, "device": "a100"})["sentence"]

        # Python to browser.
        run(2)
        page.wait_for_function("document.querySelector('[data-rc-control=device]').value === 'h200'")
        assert slider.get_attribute("aria-valuetext") == "M = 64 rows"
        state = {"m": 64, "precision": "bf16", "device": "h200"}
        assert sentence.text_content() == rc.explore.compute("m_sweep", state)["sentence"]

        # Its own rules for lists and tables do not tear the readout apart: each number stands below its name.
        for tile in explorer.locator(".rc-tile").all():
            name, number = tile.locator("dt").bounding_box(), tile.locator("dd").bounding_box()
            assert number["y"] >= name["y"] + name["height"] - 1
            assert abs(number["x"] - name["x"]) < 1

        # The dark theme of JupyterLab is the explorer's too.
        light = explorer.locator(".rc-grid text").first.evaluate("n => getComputedStyle(n).fill")
        page.evaluate("document.body.dataset.jpThemeLight = 'false'")
        dark = explorer.locator(".rc-grid text").first.evaluate("n => getComputedStyle(n).fill")
        assert re.match(r"rgb\(", dark)
        assert dark != light


@pytest.mark.browser
def test_in_jupyterlab_a_run_file_becomes_a_device(lab, chromium, tmp_path):
    with open_notebook(lab, chromium, "run_file.ipynb") as (page, cells, run):
        run(0)
        explorer = page.locator(".rc-explorer.rc-live")
        explorer.wait_for()
        explorer.get_by_text("The kernel of this notebook reads it").wait_for()
        wrong = tmp_path / "wrong.json"
        wrong.write_text('{"schema": ')
        explorer.locator('[data-rc-control="run"]').set_input_files(wrong)
        explorer.locator(".rc-note").get_by_text("wrong.json: not a run file, or cut short").wait_for()
        explorer.locator('[data-rc-control="run"]').set_input_files(data_folder() / "runs" / RECORDED)
        page.wait_for_function("document.querySelector('[data-rc-control=device]').value === 'cpu'")
        run(1)
        cells.nth(1).get_by_text("state: 16 fp32 cpu").wait_for()
        v = rc.explore.compute("m_sweep", {"precision": "fp32", "device": "cpu"}, run=rc.bench("local", "bundled"))
        page.wait_for_function(
            "(text) => document.querySelector('[data-rc-sentence]').textContent === text", arg=v["sentence"]
        )
        assert not explorer.locator(".rc-note").is_visible()


@pytest.mark.browser
def test_in_jupyterlab_the_panel_measures_this_machine(lab, chromium):
    pytest.importorskip("torch", reason="live measurements need torch")
    with open_notebook(lab, chromium, "panel.ipynb") as (page, cells, run):
        run(0)
        explorer = page.locator(".rc-explorer.rc-live")
        explorer.wait_for()
        cells.nth(0).locator("select").first.select_option("CPU")

        slider = explorer.locator('[data-rc-control="m"]')
        slider.focus()
        slider.press("ArrowRight")
        slider.press("ArrowRight")
        press = page.get_by_role("button", name="Measure M = 4 in FP32")
        press.wait_for()
        shot(page, press, "panel-before")
        assert page.locator('[data-rc-control="device"] option').count() == 12
        press.click()
        page.locator(".widget-html").get_by_text("…").wait_for()
        stop = page.get_by_role("button", name="Stop")
        assert stop.is_enabled()
        shot(page, press, "panel-busy")
        run(1)  # the kernel answers while the thread measures
        cells.nth(1).get_by_text("kernel free: True 4").wait_for()

        # The point lands: this machine is a thirteenth device, chosen, and M = 4 is measured on it.
        chosen = "document.querySelector('[data-rc-control=device]').value === 'cpu'"
        page.wait_for_function(chosen, timeout=FIRST_PRESS_MS)
        page.locator(".widget-html").get_by_text("M = 4, N = K = ").wait_for()
        assert page.locator('[data-rc-control="device"] option').count() == 13
        assert float(explorer.locator('[data-rc-value="seconds"]').get_attribute("data-rc-exact")) > 0
        mark = explorer.locator('.rc-mark[data-m="4"]')
        assert mark.count() == 1
        shot(page, press, "panel")
        page.evaluate("window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
        page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
        shot(page, press, "panel-dark")

        # Stop ends the sweep at once; its points stay.
        page.get_by_role("button", name="Measure all rows").click()
        page.locator(".widget-html").get_by_text(re.compile(r"gemm FP32 (2|4|8|16|32)x")).wait_for()
        stop.click()
        page.locator(".widget-html").get_by_text("Stopped; ").wait_for()
        run(2)
        cells.nth(2).get_by_text("points: [").wait_for()
        rows = json.loads(
            re.search(r"points: (\[.*?\])", cells.nth(2).locator(".jp-OutputArea-output").text_content())[1]
        )
        assert {1, 4} <= set(rows)
        assert 64 not in rows
