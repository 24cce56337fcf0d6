"""A reader's run file on an explorer: the same device in the browser and in Python; one sentence for a wrong file."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.explore import kinds
from roofcourse.explore.own import clean_name, own_device, own_devices
from roofcourse.records import SCHEMA, Run, read_run, write_run
from roofcourse.tables import data_folder

RUNS = sorted((data_folder() / "runs").glob("*.json"))
RECORDED = data_folder() / "runs" / "cpu_epyc_genoa.json"
MACHINE = {"key": "cpu", "name": "A CPU", "utc": "2026-11-30T09:00:00Z", "last_level_cache_bytes": 1000}


def product(m, seconds, n=4096, precision="fp32", **fields):
    return rc.Measurement("cpu", "gemm", precision, rc.gemm(m, n, n, precision), seconds, m=m, n=n, k=n, **fields)


def moved(kernel, seconds, elements=10**8, **fields):
    work = rc.copy(elements) if kernel == "copy" else rc.triad(elements)
    fields = {"working_set_bytes": work.bytes, **fields}
    return rc.Measurement("cpu", kernel, "fp32", work, seconds, elements=elements, **fields)


def run(*points, **machine):
    return Run(2, {**MACHINE, **machine}, rc.Measurements(points))


#: Every rule once: suspect and unstable points, unknown spread, two programs, copies of other sizes, cold points.
TRICKY = run(
    moved("triad", 0.05, implementation="torch"),  # 1.2e9 bytes: 24 GB/s
    moved("triad", 0.04, implementation="numba"),  # 30 GB/s
    moved("copy", 0.01, suspect="80 GB/s cannot be"),
    *(moved("copy", 2e-6 + i * 8e5 / 1e11, elements=i * 10**5) for i in (1, 2, 4)),  # in a cache: no memory bandwidth
    *(moved("copy", 1.37e-6 + i * 8e3 / 1e11, elements=i * 10**3) for i in (1, 2, 4, 8)),  # T = 1.37 us + V / 100 GB/s
    product(1, 0.003),
    product(2, 0.0031, stable=False, spread=0.3),
    product(4, 0.0032, stable=False, spread=0.2, note="noisy"),
    product(8, 0.0033, stable=False),
    product(16, 0.0001, suspect="twice the peak"),
    product(32, 0.02, cache_state="cold"),
    product(2048, 0.4, stable=False, spread=0.3),  # the fastest, and too scattered to set a roof
    product(4096, 1.2),
    product(64, 0.01, n=2048),
    product(64, 0.03),
    product(64, 0.031, implementation="other"),
    product(128, 0.004, precision="bf16", n=8192),
    product(128, 1.0, precision="int8", n=8192),
    rc.Measurement("cpu", "fma", "fp64", rc.fma_sweep(10**6, 64, "fp64"), 0.001, elements=10**6, fma_per_element=64),
)


def test_names_of_machines_as_a_sentence_needs_them():
    assert clean_name("Intel(R) Xeon(R) CPU @ 2.20GHz") == "Intel Xeon"
    assert clean_name("Intel(R) Core(TM) i7-8700 CPU @ 3.20GHz") == "Intel Core i7-8700"
    assert clean_name("AMD EPYC 9654 96-Core Processor") == "AMD EPYC 9654"
    assert clean_name("NVIDIA GeForce RTX 4090") == "RTX 4090"
    assert clean_name("Processor") == "Processor"
    assert clean_name("x" * 50) == "x" * 39 + "…"


def test_the_ceilings_are_those_of_the_bench_module():
    own = own_device(TRICKY, "run", {})
    machine = rc.bench.__globals__["Recorded"](TRICKY).device
    assert own.bandwidth == machine.bandwidth == 1.2e9 / 0.04
    assert list(own.roofs) == [("fp32", "gemm"), ("bf16", "gemm"), ("int8", "gemm"), ("fp64", "vector")]
    for (precision, path), roof in own.roofs.items():
        assert roof.peak == machine.roofline(precision, path).peak
    # Neither the suspect point nor the one with a spread of 30 %, nor the one of unknown spread: the large square.
    assert own.roofline("fp32").peak == 2 * 4096**3 / 1.2
    assert own.rows["fp32"] == (
        4096,
        [
            (1, 0.003, 0, ""),
            (2, 0.0031, 0.3, ""),
            (4, 0.0032, 0.2, ""),
            (8, 0.0033, -1, ""),
            (16, 0.0001, 0, "twice the peak"),
            (64, 0.031, 0, ""),
            (2048, 0.4, 0.3, ""),
            (4096, 1.2, 0, ""),
        ],
    )


def test_two_runs_of_one_machine_get_keys_of_their_own():
    own = own_devices([TRICKY, RECORDED, rc.bench(run=RECORDED)])
    assert list(own) == ["cpu", "cpu-2", "cpu-3"]
    assert [d.colour for d in own.values()] == ["device-cpu", "spare-1", "spare-2"]
    assert own_devices(run(*TRICKY.measurements, key="h100")).keys() == {"h100-2"}  # not the card of the catalogue


def test_what_a_run_may_be(tmp_path, one_line):
    path = write_run(TRICKY, tmp_path / "run.json")
    for source in (path, str(path), TRICKY, rc.bench(run=path), rc.bench(run=path).device):
        assert list(own_devices(source)) == ["cpu"]
    with one_line(ValueError):
        own_devices(3)
    with one_line(ValueError):
        own_devices(tmp_path / "missing.json")
    with one_line(LookupError) as caught:
        own_devices(run(product(1, 1)))
    assert "no roof can be drawn from this run: measure with --only bandwidth,matmul,m-sweep" in str(caught.value)


def test_the_explorers_take_a_run_in_python(one_line):
    mine = rc.bench("local", "bundled")
    v = explore.compute("m_sweep", {"device": "cpu", "precision": "fp32", "m": 32}, run=mine)
    x = mine.m_sweep("fp32").at(m=32)
    assert v["seconds"] == x.seconds
    assert v["flop"] == x.work.flop
    assert v["percent_of_roof"] == pytest.approx(100 * mine.device.roofline("fp32").time(x.work) / x.seconds)
    assert v["sentence"].startswith("At M = 32 and N = K = 4096 an AMD EPYC in FP32 takes 14\u00a0ms: ")
    v = explore.compute("ridge", {"roofs": "cpu.fp32~cpu.fp32.vector~h100.fp16", "intensity": 1e3}, run=mine)
    assert v["ridge_point:cpu.fp32"] == mine.device.roofline("fp32").ridge_point
    assert v["attainable:cpu.fp32.vector"] == mine.device.roofline("fp32", "vector").peak
    with one_line(LookupError):
        explore.compute("m_sweep", {"device": "cpu"})
    with one_line(ValueError):
        explore.compute("padding", {}, run=mine)


def test_remarks_on_doubtful_points():
    said = {
        m: explore.compute("m_sweep", {"device": "cpu", "precision": "fp32", "m": m}, run=TRICKY)["sentence"]
        for m in (2, 8, 16)
    }
    assert said[2].endswith("The run was unstable: its interquartile range was 30\u00a0% of the median.")
    assert said[8].endswith("The run was unstable.")
    assert said[16].endswith("Suspect: twice the peak.")


def test_the_widget_shows_a_run_and_refuses_a_broken_one(one_line):
    pytest.importorskip("anywidget")
    mine = rc.bench("local", "bundled")
    w = rc.explore.m_sweep(device=mine.device)
    assert w.state == {"m": 16, "precision": "fp32", "device": "cpu"}  # the first precision with a sweep
    assert len(w.spec["devices"]) == 13
    assert '"own":"2026-11-30"' in w.static_html()
    w = rc.explore.m_sweep(run=RECORDED)
    assert w.device == "h100"
    w.device = "cpu"
    before = w.state
    w.take_run("{", "x.json")
    assert w.note.startswith("x.json: not a run file, or cut short")
    assert w.state == before
    w = rc.explore.ridge()
    w.take_run(RECORDED.read_text(encoding="utf-8"), "run.json")
    assert w.roofs == "h100.fp16~h200.fp16~cpu.fp64~cpu.fp32~cpu.fp64.vector~cpu.fp32.vector"
    with one_line(LookupError):
        rc.explore.m_sweep(device="cpu")


# ---- in the browser


def drop(page, path, nth: int = 0) -> None:
    page.control("run", nth).set_input_files(path)


def spec_of(page) -> dict:
    return page.page.evaluate("window.roofcourse.explorers[0].spec")


@pytest.fixture(scope="module")
def tricky(tmp_path_factory) -> Path:
    return write_run(TRICKY, tmp_path_factory.mktemp("runs") / "tricky.json")


def near(browser, python) -> bool:
    if isinstance(python, dict):
        return browser.keys() == python.keys() and all(near(browser[k], v) for k, v in python.items())
    if isinstance(python, (list, tuple)):
        return len(browser) == len(python) and all(near(b, v) for b, v in zip(browser, python, strict=True))
    return math.isclose(browser, python, rel_tol=1e-9) if isinstance(python, (int, float)) else browser == python


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["m_sweep", "ridge", "measurement", "bounds", "intensity"])
@pytest.mark.parametrize("path", [*RUNS, "tricky"], ids=lambda p: getattr(p, "stem", p))
def test_browser_and_python_read_the_same_device(open_page, kind, path, tricky):
    path = tricky if path == "tricky" else path
    module = kinds.get(kind)
    page = open_page((kind, {}))
    before = spec_of(page)
    drop(page, path)
    try:
        own = own_devices(path)
        wanted = module.start(next(iter(own.values())), kinds.complete(kind, {}))
    except (LookupError, ValueError) as error:  # a run without a roof, or recorded for something else
        page.page.locator(".rc-note").get_by_text(str(error).rpartition("/")[2]).wait_for()
        assert spec_of(page) == before
        return
    page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
    assert near(spec_of(page)["devices"][-1], module.spec(own)["devices"][-1])
    assert page.page.evaluate("window.roofcourse.explorers[0].state()") == wanted
    assert page.sentence() == explore.compute(kind, wanted, run=path)["sentence"]


@pytest.mark.browser
@pytest.mark.parametrize("path", [RECORDED, "tricky"], ids=lambda p: getattr(p, "stem", p))
def test_browser_and_python_compute_the_same(open_page, path, tricky):
    path = tricky if path == "tricky" else path
    rows = [1, 2, 3, 4, 8, 16, 32, 64, 100, 512, 4096, 8192]
    names = [p["name"] for p in kinds.get("m_sweep").spec()["precisions"]]
    states = {
        "m_sweep": [{"device": "cpu", "precision": p, "m": m} for p in names for m in rows],
        "ridge": [
            {"intensity": 10 ** (i / 10), "roofs": f"h100.fp16~cpu.fp32~{other}"}
            for i in range(-10, 41)
            for other in ("cpu.fp64.vector", "v100.fp64")
        ],
        "bounds": [
            {"device": "cpu", "precision": p, "flop": 10.0**f, "bytes": 10.0**b}
            for p in names
            for f in range(6, 16)
            for b in range(3, 13)
        ],
        "intensity": [{"device": "cpu", "precision": p, "m": m} for p in names for m in rows],
        "measurement": [
            {"device": "cpu", "kernel": kernel, "point": point}
            for kernel, _, _ in kinds.get("measurement").KERNELS
            for point in range(1, 13)
        ],
    }
    for kind, wanted in states.items():
        wanted = [kinds.complete(kind, s, own_devices(path)) for s in wanted]
        page = open_page((kind, {}))
        drop(page, path)
        page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
        got = page.page.evaluate(
            """([kind, states]) => states.map((state) =>
              window.roofcourse.compute(kind, window.roofcourse.explorers[0].spec, state))""",
            [kind, wanted],
        )
        for state, browser in zip(wanted, got, strict=True):
            python = explore.compute(kind, state, run=path)
            assert browser.keys() == python.keys(), state
            for key, value in python.items():
                same = math.isclose(browser[key], value, rel_tol=1e-9) if isinstance(value, float) else None
                assert browser[key] == value if same is None else same, (state, key, browser[key], value)


def texts() -> dict[str, str]:
    good = json.loads(RECORDED.read_text(encoding="utf-8"))
    whole = json.dumps(good)

    def changed(act) -> str:
        data = json.loads(whole)
        act(data)
        return json.dumps(data)

    return {
        "empty": "",
        "cut short": whole[:2000],
        "a list": "[1]",
        "foreign": '{"schema": "other/1"}',
        "no schema": '{"name": "package"}',
        "newer": changed(lambda d: d.update(schema="roofcourse-run/9")),
        "no machine": f'{{"schema": "{SCHEMA}"}}',
        "no key": changed(lambda d: d["machine"].pop("key")),
        "no name": changed(lambda d: d["machine"].pop("name")),
        "no utc": changed(lambda d: d["machine"].pop("utc")),
        "no measurements": changed(lambda d: d.pop("measurements")),
        "no version": changed(lambda d: d.pop("method_version")),
        "no flop": changed(lambda d: d["measurements"][3].pop("flop")),
        "no points": changed(lambda d: d.update(measurements=[])),
    }


@pytest.mark.browser
@pytest.mark.parametrize("name", texts())
def test_a_wrong_file_is_one_sentence_and_nothing_is_lost(open_page, tmp_path, name):
    path = tmp_path / "some run.json"
    path.write_text(texts()[name], encoding="utf-8")
    with pytest.raises((ValueError, LookupError)) as caught:
        own_devices(path)
    wanted = str(caught.value).replace(str(path), path.name).partition(" (Expecting")[0].partition(" (Unterm")[0]
    page = open_page(("m_sweep", {"m": 64}))
    before = page.readings(), spec_of(page)
    drop(page, path)
    page.page.locator(".rc-note").get_by_text("some run.json: ").wait_for()
    assert page.page.locator(".rc-note").text_content() == wanted
    assert (page.readings(), spec_of(page)) == before
    drop(page, RECORDED)  # a good one afterwards
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    assert not page.page.locator(".rc-note").is_visible()


@pytest.mark.browser
@pytest.mark.parametrize(("field", "value"), [("seconds", -1), ("seconds", "1"), ("bytes", 0), ("flop", -2)])
def test_a_wrong_number_is_named(open_page, tmp_path, field, value):
    data = json.loads(RECORDED.read_text(encoding="utf-8"))
    data["measurements"][0][field] = value
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(ValueError, match=f"run.json: broken run file: {field} must be"):
        read_run(path)
    page = open_page(("m_sweep", {}))
    drop(page, path)
    page.page.locator(".rc-note").get_by_text(f"run.json: broken run file: {field} must be").wait_for()


DROP = """([selector, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], "mine.json", { type: "application/json" }));
  const target = document.querySelector(selector);
  for (const name of ["dragover", "drop"]) {
    const event = new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true });
    target.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error(`${name} would leave the page`);
    const marked = document.querySelector(".rc-explorer").classList.contains("rc-dropping");
    if (marked !== (name === "dragover")) throw new Error(`${name}: ${marked}`);
  }
}"""


@pytest.mark.browser
def test_a_file_dropped_on_the_chart_counts(open_page):
    page = open_page(("m_sweep", {"m": 32, "precision": "fp16"}), fragment="#explorer=m_sweep&m=64")
    page.page.evaluate(DROP, [".rc-stage svg", RECORDED.read_text(encoding="utf-8")])
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    assert page.control("device").locator("option").last.text_content() == "AMD EPYC (run of 2026-11-30)"
    assert page.control("run").evaluate("node => node.files[0].name") == "mine.json"
    assert page.control("m").get_attribute("aria-valuetext") == "M = 64 rows"  # what was chosen stays
    assert page.page.locator(".rc-own text").text_content() == "AMD EPYC"
    assert page.page.locator(".rc-mark").count() == 7
    page.page.locator("summary").first.click()
    page.page.locator("caption").get_by_text("AMD EPYC (run of 2026-11-30), FP32, N = K = 4096, warm").wait_for()
    assert page.page.locator(".rc-table tbody tr").count() == 7
    # Whoever opens the address does not have the file: a view of it has none.
    assert not page.page.get_by_text("link to this view").is_visible()
    page.control("m").press("ArrowLeft")
    page.page.wait_for_timeout(400)
    assert "cpu" not in page.fragment()
    page.control("device").select_option("h200")
    page.page.wait_for_function("location.hash.includes('device=h200')")
    assert page.page.get_by_text("link to this view").is_visible()


@pytest.mark.browser
def test_the_file_button_says_where_a_file_goes(open_page):
    page = open_page(("m_sweep", {}))
    button = page.control("run")
    words = button.evaluate("node => document.getElementById(node.getAttribute('aria-describedby')).textContent")
    assert words == "Your browser reads it: nothing is uploaded, and nothing is kept."
    button.focus()
    with page.page.expect_file_chooser() as chooser:
        button.press("Enter")
    chooser.value.set_files(RECORDED)
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    assert page.page.evaluate("document.activeElement.dataset.rcControl") == "run"  # where the reader was


@pytest.mark.browser
def test_further_runs_stand_beside_each_other(open_page, tricky):
    page = open_page(("m_sweep", {"precision": "fp32"}))
    drop(page, RECORDED)
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    drop(page, tricky)
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu-2'")
    assert [d["name"] for d in spec_of(page)["devices"][-2:]] == ["AMD EPYC", "A CPU"]
    assert page.page.evaluate("getComputedStyle(document.querySelector('.rc-roof path')).stroke") == "rgb(138, 109, 0)"


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_labels_of_an_own_device_do_not_collide(open_page, width, tmp_path):
    from test_page import OVERLAPS

    long = replace(read_run(RECORDED), machine={**read_run(RECORDED).machine, "name": "A Very Long Name Of A Machine"})
    path = write_run(long, tmp_path / "long.json")
    for kind in ("m_sweep", "ridge", "measurement", "bounds", "intensity"):
        page = open_page((kind, {}), width=width)
        drop(page, path)
        page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
        assert page.page.evaluate("document.documentElement.scrollWidth") <= width
        for m in (1, 16, 64, 8192) if kind == "m_sweep" else (1,):
            if kind == "m_sweep":
                page.control("m_exact").fill(str(m))
            found = page.page.evaluate(f"() => {{ {OVERLAPS} return overlaps(); }}")
            assert found == [], m


@pytest.mark.browser
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_page, theme):
    from axe_playwright_python.sync_playwright import Axe

    page = open_page(("m_sweep", {}), theme=theme)
    drop(page, RECORDED)
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    found = Axe().run(page.page, context=".rc-explorer")
    assert found.violations_count == 0, found.generate_report()


def test_a_static_page_with_an_own_device_stands_without_a_script():
    own = own_devices(RECORDED)
    html = explore.static_html("m_sweep", {"device": "cpu", "precision": "fp32"}, own=own)
    assert "AMD EPYC, FP32" in html
    assert "--rc-device:var(--rc-device-cpu)" in html
    html = explore.static_html("ridge", {"roofs": "cpu.fp32~h100.fp16"}, own=own)
    assert "AMD EPYC FP32" in html
