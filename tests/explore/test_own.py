"""A reader's run file on an explorer: the same device in the browser and in Python; one sentence for a wrong file."""

from __future__ import annotations

import json
import math
from itertools import combinations
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


#: Every rule once: suspect and unstable points, unknown spread, two programs, points of other sizes, cold points.
TRICKY = run(
    moved("triad", 0.05, implementation="torch"),  # 1.2e9 bytes: 24 GB/s
    moved("triad", 0.04, implementation="numba"),  # 30 GB/s
    moved("copy", 0.01, suspect="80 GB/s cannot be"),
    moved("triad", 0.07, elements=2 * 10**8, suspect="half of it in a cache"),  # the largest, and sets no size
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


#: Roofs of FP16 only, and what a launch takes: of the kernels of the levers explorer, three.
HALF = run(
    moved("triad", 0.04),
    *(moved("copy", 1.37e-6 + i * 8e3 / 1e11, elements=i * 10**3) for i in (1, 2, 4, 8)),
    product(4096, 0.02, precision="fp16"),
)
WITHOUT_PRODUCTS = (
    moved("triad", 0.04),
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
    first, second, third = own.values()
    assert own_device(TRICKY, "run", {"a": second, "b": third}).colour == "device-cpu"  # the first that is free
    assert own_device(TRICKY, "run", {"a": first, "b": third}).colour == "spare-1"
    assert [d.colour for d in own_devices([TRICKY] * 7).values()][4:] == ["spare-4", "device-cpu", "spare-1"]
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


def test_padding_takes_a_run_in_python(one_line):
    mine = rc.bench("local", "bundled")
    roof, x = mine.device.roofline("fp32"), mine.m_sweep("fp32").at(m=8)
    state = {"device": "cpu", "precision": "fp32", "m": 8, "tile": 16}
    v = explore.compute("padding", state, run=mine)
    assert v["flop"] == 2 * 8 * 4096**2  # N = K of this run's sweep
    assert v["seconds"] == x.seconds
    assert v["padded_seconds"] == 2 * 16 * 4096**2 / roof.peak  # past the ridge point
    assert v["percent"] == pytest.approx(100 * v["padded_seconds"] / x.seconds)
    assert v["sentence"].startswith(
        "8 rows in blocks of 16: an AMD EPYC in FP32 executes 16, 2 times the useful work. "
    )
    said = {m: explore.compute("padding", {**state, "m": m}, run=TRICKY)["sentence"] for m in (2, 16, 64)}
    assert said[2].endswith("This point is unstable: its samples scattered.")
    assert said[16].endswith("Measured: 100\u00a0µs. Suspect: twice the peak.")
    assert "unstable" not in said[64]
    assert not explore.compute("padding", {**state, "precision": "fp64"}, run=mine)["measured"]  # squares only
    assert kinds.get("padding").start(own_device(read_run(RECORDED), "run", {}), {"precision": "fp16"}) == {
        "precision": "fp32",
        "device": "cpu",
    }
    with one_line(LookupError) as caught:
        kinds.get("padding").start(own_device(run(*WITHOUT_PRODUCTS), "run", {}), {"precision": "fp16"})
    assert str(caught.value).endswith("measure with --only bandwidth,matmul,m-sweep")


def test_levers_take_a_run_in_python(one_line):
    mine = rc.bench("local", "bundled")
    launch, vector = mine.launch_overhead().overhead, mine.device.roofline("fp32", "vector")
    v = explore.compute("levers", {"device": "cpu", "levers": "deep"}, run=mine)
    naive, tiled = 4 * (2 * 4096**3 + 4096**2), 4 * (2 * 4096**3 / 512 + 4096**2)  # bytes
    assert v["before_seconds"] == pytest.approx(launch + 2 * naive / vector.bandwidth, rel=1e-12)
    least = max(2 * 4096**3 / vector.peak, tiled / vector.bandwidth)
    assert v["after_seconds"] == pytest.approx(launch + 2 * least, rel=1e-12)
    v = explore.compute("levers", {"device": "cpu", "levers": "matrix"}, run=mine)
    assert not v["available"]  # no TF32 on this machine
    assert v["sentence"].endswith("was not measured in this run. Choose others, or another device.")
    v = explore.compute("levers", {"device": "cpu", "kernel": "layer", "levers": "fp8"}, run=mine)
    assert not any(key.startswith(("before", "after")) for key in v)
    assert v["sentence"].endswith(
        "its roof, FP16, was not measured in this run. Choose another kernel, or another device."
    )
    start = kinds.get("levers").start
    state = {"kernel": "product", "levers": "deep"}
    assert start(own_device(HALF, "run", {}), state) == {"kernel": "attention", "levers": "none", "device": "cpu"}
    with one_line(LookupError) as caught:
        start(own_device(TRICKY, "run", {}), state)
    assert "A CPU: this run has none of the roofs that these kernels need: measure with --only" in str(caught.value)
    with one_line(LookupError) as caught:
        start(own_device(run(moved("triad", 0.04), product(4096, 1.2)), "run", {}), state)
    assert "A CPU: this run does not say what a launch takes: measure with --only" in str(caught.value)


def test_remarks_on_doubtful_points():
    said = {
        m: explore.compute("m_sweep", {"device": "cpu", "precision": "fp32", "m": m}, run=TRICKY)["sentence"]
        for m in (2, 8, 16)
    }
    assert said[2].endswith("The run was unstable: its interquartile range was 30\u00a0% of the median.")
    assert said[8].endswith("The run was unstable.")
    assert said[16].endswith("Suspect: twice the peak.")


def test_the_widget_shows_a_run_and_refuses_a_broken_one(one_line, tmp_path):
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
    w = rc.explore.padding(device=mine.device)
    assert w.state == {"m": 2, "tile": 32, "precision": "fp64", "device": "cpu"}
    w = rc.explore.levers(device=rc.bench(run=write_run(HALF, tmp_path / "half.json")).device)
    assert w.state == {"kernel": "attention", "device": "cpu", "reaches": 50, "levers": "none"}
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


@pytest.fixture(scope="module")
def half(tmp_path_factory) -> Path:
    return write_run(HALF, tmp_path_factory.mktemp("runs") / "half.json")


def near(browser, python) -> bool:
    if isinstance(python, dict):
        return browser.keys() == python.keys() and all(near(browser[k], v) for k, v in python.items())
    if isinstance(python, (list, tuple)):
        return len(browser) == len(python) and all(near(b, v) for b, v in zip(browser, python, strict=True))
    return math.isclose(browser, python, rel_tol=1e-9) if isinstance(python, (int, float)) else browser == python


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["m_sweep", "ridge", "measurement", "bounds", "intensity", "padding", "levers"])
@pytest.mark.parametrize("path", [*RUNS, "tricky", "half"], ids=lambda p: getattr(p, "stem", p))
def test_browser_and_python_read_the_same_device(open_page, kind, path, tricky, half):
    path = {"tricky": tricky, "half": half}.get(path, path)
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
@pytest.mark.parametrize("path", [RECORDED, "tricky", "half"], ids=lambda p: getattr(p, "stem", p))
def test_browser_and_python_compute_the_same(open_page, path, tricky, half):
    refused = {"tricky": ["levers"], "half": ["ridge"]}.get(path, [])
    path = {"tricky": tricky, "half": half}.get(path, path)
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
        "padding": [
            {"device": "cpu", "precision": p, "m": m, "tile": tile}
            for p in names
            for m in (*rows[:-2], 1024)
            for tile in kinds.get("padding").TILES
        ],
        "levers": [
            {"device": "cpu", "kernel": kernel.name, "levers": list(chosen), "reaches": reaches}
            for kernel in kinds.get("levers").KERNELS
            for size in range(len(kernel.levers) + 1)
            for chosen in combinations(kernel.levers, size)
            for reaches in kinds.get("levers").REACHES
        ],
    }
    own = own_devices(path)
    for kind, wanted in states.items():
        if kind in refused:
            continue
        wanted = [kinds.complete(kind, s, own) for s in wanted]
        page = open_page((kind, {}))
        drop(page, path)
        page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
        got = page.page.evaluate(
            """([kind, states]) => states.map((state) =>
              window.roofcourse.compute(kind, window.roofcourse.explorers[0].spec, state))""",
            [kind, wanted],
        )
        for state, browser in zip(wanted, got, strict=True):
            python = kinds.get(kind).compute(state, *kinds.extra(kind, own))  # the file is read once
            assert browser.keys() == python.keys(), state
            for key, value in python.items():
                same = math.isclose(browser[key], value, rel_tol=1e-9) if isinstance(value, float) else None
                assert browser[key] == value if same is None else same, (state, key, browser[key], value)
        assert python == explore.compute(kind, state, run=path)


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
@pytest.mark.parametrize(
    ("field", "value"),
    [("seconds", -1), ("seconds", "1"), ("bytes", 0), ("flop", -2), ("spread", "wide"), ("stable", 1), ("kernel", 3)],
)
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


def test_a_static_page_with_an_own_device_stands_without_a_script():
    own = own_devices(RECORDED)
    html = explore.static_html("m_sweep", {"device": "cpu", "precision": "fp32"}, own=own)
    assert "AMD EPYC, FP32" in html
    assert "--rc-device:var(--rc-device-cpu)" in html
    html = explore.static_html("ridge", {"roofs": "cpu.fp32~h100.fp16"}, own=own)
    assert "AMD EPYC FP32" in html
    html = explore.static_html("padding", {"device": "cpu", "precision": "fp32"}, own=own)
    assert "AMD EPYC, FP32" in html
    html = explore.static_html("levers", {"device": "cpu", "levers": "deep"}, own=own)
    assert "AMD EPYC, FP32 vector" in html
    html = explore.static_html("levers", {"device": "cpu", "kernel": "layer"}, own=own)
    assert "no such roof measured" in html


def test_the_axes_are_longer_where_an_own_device_needs_it():
    from roofcourse.explore.standin_levers import throughput_axis
    from roofcourse.explore.standin_padding import SECONDS, seconds_axis

    assert seconds_axis() == SECONDS == (3e-7, 0.5)
    assert seconds_axis([1e-3, 1.4]) == (3e-7, 10)
    assert seconds_axis([2e-7]) == (1e-7, 0.5)
    times = kinds.get("padding").times(own_device(read_run(RECORDED), "run", {}))
    assert times[1] == 2 * 1024 * 8192**2 / rc.bench("local", "bundled").device.roofline("fp64").peak  # 1.46 s
    assert throughput_axis() == (1e9, 1e16)
    # 82 GB/s times 1/32 FLOP/byte times a quarter is 0.64 GFLOP/s.
    assert throughput_axis(d.spec() for d in own_devices(RECORDED).values()) == (1e8, 1e16)


@pytest.mark.browser
@pytest.mark.parametrize(("kind", "control", "key"), [("padding", "tile", "64"), ("levers", "reaches", "25")])
def test_a_file_on_padding_and_levers(open_page, kind, control, key):
    page = open_page((kind, {}))
    drop(page, RECORDED)
    page.page.wait_for_function("window.roofcourse.explorers[0].state().device === 'cpu'")
    assert page.control("device").locator("option").last.text_content() == "AMD EPYC (run of 2026-11-30)"
    page.page.locator("summary").first.click()
    page.page.locator("caption").get_by_text("AMD EPYC (run of 2026-11-30)").wait_for()
    page.page.locator(".rc-legend").get_by_text("run of 2026-11-30").wait_for()
    page.control(control).select_option(key)
    state = page.page.evaluate("window.roofcourse.explorers[0].state()")
    assert page.sentence() == explore.compute(kind, state, run=RECORDED)["sentence"]
    if kind == "padding":
        page.control("precision").select_option("fp32")
        for points in (".rc-table tbody tr", "circle.rc-full, circle.rc-open:not(.rc-chosen)"):
            assert page.page.locator(points).count() == 7
    else:
        page.control("kernel").select_option("layer")  # FP16, which this machine has no roof for
        assert page.page.locator(".rc-absent").text_content() == "no such roof measured"
        assert page.shown("before_seconds") is None
    page.page.wait_for_timeout(400)
    assert "cpu" not in page.fragment()
    assert not page.page.get_by_text("link to this view").is_visible()
    page.control("device").select_option("h200")
    page.page.wait_for_function("location.hash.includes('device=h200')")
    assert page.page.get_by_text("link to this view").is_visible()
    assert "H200" in page.sentence()


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["padding", "levers"])
def test_a_broken_file_on_padding_and_levers_is_one_sentence(open_page, tmp_path, kind):
    path = tmp_path / "cut.json"
    path.write_text(RECORDED.read_text(encoding="utf-8")[:2000], encoding="utf-8")
    page = open_page((kind, {}))
    before = page.readings(), spec_of(page)
    drop(page, path)
    page.page.locator(".rc-note").get_by_text("cut.json: not a run file, or cut short").wait_for()
    assert (page.readings(), spec_of(page)) == before
