"""The live panel, driven by a device that does not exist: what a press measures, what Stop keeps, what errors say."""

from __future__ import annotations

import subprocess
import sys

import pytest

import roofcourse as rc
from roofcourse.bench import RECORDED
from roofcourse.measure.fake import FakeDevice
from roofcourse.tables import data_folder

pytest.importorskip("ipywidgets")
pytest.importorskip("anywidget")


def said(panel) -> str:
    text = panel.message.value
    assert text.startswith('<span role="status">')
    assert "Traceback" not in text
    assert "\n" not in text
    return text.removeprefix('<span role="status">').removesuffix("</span>")


def test_a_press_adds_this_machine_to_the_chart_and_the_point_to_its_sweep():
    panel = rc.panel(m=64, precision="fp16", hardware=FakeDevice(noise=0))
    assert panel.measure_button.description == "Measure M = 64 in FP16"
    assert panel.explorer.own == {}
    panel.measure(wait=True)
    assert panel.explorer.state == {"m": 64, "precision": "fp16", "device": "cuda"}
    entry = panel.explorer.spec["devices"][-1]
    assert (entry["key"], entry["name"], len(panel.explorer.spec["devices"])) == ("cuda", "Fake GPU", 13)
    # 2 us, and 2 (64 * 8192 + 8192^2 + 64 * 8192) bytes at 3 TB/s
    ((_, seconds, spread),) = [x for x in entry["roofs"]["fp16"]["sweep"] if x[0] == 64]
    assert seconds == pytest.approx(2e-6 + 136_314_880 / 3e12, rel=0.01)
    assert spread == 0
    # 0.54 GB copied at 3 TB/s and 2 us: what the fake device's memory gives
    assert entry["bandwidth"] == pytest.approx(3e12, rel=0.02)
    assert entry["roofs"]["fp16"]["peak"] == pytest.approx(8e14, rel=0.02)
    assert said(panel) == "Fake GPU, FP16, M = 64, N = K = 8192: 47.5\u00a0µs, 181\u00a0TFLOP/s."
    assert panel.explorer.values["seconds"] == seconds
    assert panel.measure_button.disabled is False
    assert panel.stop_button.disabled is True


def test_a_second_press_measures_one_more_product_and_the_same_one_anew():
    panel = rc.panel(m=64, precision="fp16", hardware=FakeDevice())
    panel.measure(wait=True)
    before = len(panel.run.measurements)
    panel.explorer.m = 100
    panel.measure(wait=True)
    assert len(panel.run.measurements) == before + 1
    panel.measure(wait=True)
    assert len(panel.run.measurements) == before + 1
    rows = [x[0] for x in panel.explorer.spec["devices"][-1]["roofs"]["fp16"]["sweep"]]
    assert rows == [64, 100, 8192]  # the largest square counts as a row of the sweep as well
    assert list(panel.explorer.own) == ["cuda"]


def test_all_rows():
    panel = rc.panel(precision="fp32", hardware=FakeDevice())
    panel.measure(rows=True, wait=True)
    rows = [x[0] for x in panel.explorer.spec["devices"][-1]["roofs"]["fp32"]["sweep"]]
    assert rows == [1, 4, 16, 64, 256, 1024, 4096, 8192]
    assert said(panel) == "Fake GPU, FP32: 8 points of the M sweep measured."


def test_stop_keeps_the_points_measured_so_far():
    class Interrupted(FakeDevice):
        builds = 0

        def build(self, spec):
            self.builds += 1
            if self.builds == 4:
                panel.stop()
            return super().build(spec)

    panel = rc.panel(m=64, precision="fp16", hardware=Interrupted())
    panel.measure(wait=True)
    assert said(panel) == "Stopped; 3 points kept."
    assert len(panel.run.measurements) == 3
    assert panel.error is None
    assert panel.measure_button.disabled is False
    panel.measure(wait=True)  # goes on, and does not measure the three again
    assert panel.explorer.device == "cuda"
    assert panel.explorer.values["measured"] is True


def test_what_cannot_be_measured_is_one_sentence_and_the_chart_stays():
    panel = rc.panel(precision="nvfp4", hardware=FakeDevice())
    panel.measure(wait=True)
    assert said(panel).startswith("nvfp4 matrix products are not measured live: choose one of fp64, fp32")
    assert panel.explorer.own == {}

    panel = rc.panel(precision="fp8", hardware=FakeDevice(capability=(8, 0), name="Fake A100"))
    panel.measure(wait=True)
    assert said(panel).startswith("Fake A100 has no FP8 units")

    panel = rc.panel(precision="fp16", hardware=FakeDevice(missing={"fp16": "no kernel for fp16 here: measure fp32"}))
    panel.measure(wait=True)
    assert said(panel) == "no kernel for fp16 here: measure fp32."


def test_a_planted_fault_is_named_and_no_point_appears():
    panel = rc.panel(precision="fp32", hardware=FakeDevice(fault="TF32 on"))
    panel.measure(wait=True)
    assert "relative error 4.0e-04 is that of TF32, not of FP32: turn TF32 off" in said(panel)
    assert panel.explorer.own == {}


def test_an_unexpected_error_is_one_sentence_and_stays_at_hand():
    class Broken(FakeDevice):
        def build(self, spec):
            raise RuntimeError("the driver went away\n  at line 3 <b>")

    panel = rc.panel(hardware=Broken())
    panel.measure(wait=True)
    assert said(panel) == "RuntimeError: the driver went away."
    assert isinstance(panel.error, RuntimeError)
    assert panel.measure_button.disabled is False


def test_another_run_stays_beside_the_machine_that_is_measured():
    panel = rc.panel(precision="fp32", run=rc.bench("local", "bundled"), hardware=FakeDevice(kind="cpu", name="My CPU"))
    assert list(panel.explorer.own) == ["cpu"]
    panel.measure(wait=True)
    assert list(panel.explorer.own) == ["cpu", "cpu-2"]
    assert [d.name for d in panel.explorer.own.values()] == ["AMD EPYC", "My CPU"]
    assert panel.explorer.device == "cpu-2"


def test_every_machine_keeps_its_colour_whatever_is_measured_next():
    panel = rc.panel(precision="fp32", run=rc.bench("local", "bundled"), hardware=FakeDevice(kind="cpu", name="My CPU"))

    def colours():
        return [d.colour for d in panel.explorer.own.values()]

    assert colours() == ["device-cpu"]
    for m in (16, 32):
        panel.explorer.m = m
        panel.measure(wait=True)
        assert colours() == ["device-cpu", "spare-1"]

    alone = rc.panel(precision="fp32", hardware=FakeDevice(kind="cpu", name="My CPU"))
    alone.measure(wait=True)
    alone.explorer.take_run((data_folder() / "runs" / RECORDED).read_text(encoding="utf-8"), RECORDED)
    alone.measure(wait=True)
    assert {k: d.colour for k, d in alone.explorer.own.items()} == {"cpu": "device-cpu", "cpu-2": "spare-1"}


def test_without_torch_it_says_so(monkeypatch):
    from roofcourse import panels

    monkeypatch.setattr(panels, "find_spec", lambda name: None)
    panel = rc.panel()
    assert said(panel) == "Measuring needs torch, which is not installed here: pip install 'roofcourse[live]'.".replace(
        "'", "&#x27;"
    )
    assert panel.measure_button.disabled is True
    assert panel.explorer.values["measured"] is True  # the explorer works


def test_on_a_page_the_explorer_stands_in_its_place():
    data, _ = rc.panel(m=64)._repr_mimebundle_()
    assert data["text/html"].startswith('<p class="rc-notice">In Jupyter there are buttons here')
    assert data["text/html"].endswith(rc.explore.static_html("m_sweep", {"m": 64}))
    assert "application/vnd.jupyter.widget-view+json" in data


def test_making_a_panel_loads_no_torch():
    code = "import sys, roofcourse as rc; rc.panel(); assert 'torch' not in sys.modules, 'torch'"
    subprocess.run([sys.executable, "-c", code], check=True)
