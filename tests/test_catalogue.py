"""The bundled data: complete, and equal to what the study published."""

import csv
import json
import shutil

import numpy as np
import pytest

import roofcourse as rc
from roofcourse.catalogue import ceiling_sources, measurements
from roofcourse.tables import DataError, data_folder, package, read, sources


def test_the_whole_study_is_here():
    rows = {r["name"]: len(read(r["name"])) for r in package()["resources"]}
    assert rows["measurements"] == len(measurements()) == 1818
    assert rows["ceilings"] == 59
    assert rows["devices"] == len(rc.devices()) == 12
    assert rows["decode"] == 64
    assert rows["layer_counters"] == 168
    assert rows["attention_kernels"] == 16 + 15 + 15
    assert rows["telemetry"] == 16 + 53
    assert rows["warnings"] == 26


def test_the_log_of_clock_and_power():
    h100 = [(r["power_watts"], r["sm_clock_hz"] / 1e6) for r in read("telemetry") if r["device"] == "h100"]
    # At 690 of its 700 W the H100 runs at 1500 MHz; below 600 W it never leaves 1980.
    assert max(h100) == (689.9, 1500)
    assert {clock for watts, clock in h100 if 300 < watts < 600} == {1980}
    rtx = [r["sm_clock_hz"] / 1e6 for r in read("telemetry") if r["device"] == "rtx4080" and r["at_seconds"] > 46]
    assert (min(rtx), max(rtx)) == (2775, 2790)


def test_every_flagged_point_is_a_measured_one():
    shape = ("device", "kernel", "precision", "cache_state", "m", "n", "k", "elements", "fma_per_element")
    timed = {tuple(r[c] for c in shape) for r in read("measurements")}
    assert all(tuple(r[c] for c in shape) in timed for r in read("warnings"))
    spread = [r for r in read("warnings") if r["warning"] == "spread"]
    assert sum(not x.stable for x in measurements()) == len(spread) == 21


def test_points_above_the_roof_are_those_the_study_flagged():
    above = {
        (x.device, x.precision, x.m)
        for d in rc.devices()
        for p in d.precisions
        for x in d.measurements("gemm", p, "warm")
        if x.flop_per_s > 1.1 * d.roofline(p).attainable(x.intensity)
    }
    assert above == {(r["device"], r["precision"], r["m"]) for r in read("warnings") if r["warning"] == "above_roof"}


@pytest.mark.parametrize("row", read("ceilings"), ids=lambda r: f"{r['device']}-{r['precision']}")
def test_recomputed_ceilings_equal_the_published_ones(row):
    roof = rc.device(row["device"]).roofline(row["precision"])
    assert roof.bandwidth == pytest.approx(row["bandwidth_bytes_per_s"], rel=1e-5)
    assert roof.peak == pytest.approx(row["peak_flop_per_s"], rel=1e-5)
    assert roof.ridge_point == pytest.approx(row["ridge_flop_per_byte"], rel=1e-5)
    bandwidth, peak = ceiling_sources(row["device"], row["precision"])
    assert (bandwidth.kernel, bandwidth.elements) == (row["bandwidth_kernel"], row["bandwidth_elements"])
    assert (peak.m, peak.n, peak.k) == (row["peak_m"], row["peak_n"], row["peak_k"])


def test_ridge_points_to_one_decimal():
    fp16 = {"h100": 255.3, "h200": 175.9, "v100": 123.0, "a100": 175.5, "b300": 279.3, "mi100": 132.9, "mi210": 101.3}
    for name, ridge in {**fp16, "rtx4080": 157.6}.items():
        assert round(rc.device(name).roofline("fp16").ridge_point, 1) == ridge


def test_figures_of_the_documents():
    h100, h200 = rc.device("h100"), rc.device("h200")
    assert h100.roofline("fp16").crossing(h200.roofline("fp16")) == pytest.approx(245, abs=0.5)
    assert h200.bandwidth / h100.bandwidth == pytest.approx(1.39, abs=0.005)
    # Table 4: FP32 by matrix product 51.9, by FMA 61.5; FP64 by matrix units 64.2; by FMA the ridge point is 10.7.
    assert h100.roofline("fp32").peak == pytest.approx(51.9e12, rel=1e-3)
    assert h100.roofline("fp32", path="vector").peak == pytest.approx(61.5e12, rel=1e-3)
    assert h100.roofline("fp64").peak == pytest.approx(64.2e12, rel=1e-3)
    assert h100.roofline("fp64", path="vector").ridge_point == pytest.approx(10.7, abs=0.05)
    # Table 6: M = 2048 reaches 788 TFLOP/s and 577 GB/s.
    point = h100.m_sweep("fp16").at(m=2048)
    assert point.flop_per_s == pytest.approx(788e12, rel=1e-3)
    assert point.bytes_per_s == pytest.approx(577e9, rel=1e-3)


def test_sweeps():
    sweep = rc.device("h100").m_sweep("fp16")
    assert sweep.m.tolist() == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192]
    assert rc.device("b300").m_sweep("nvfp4").m.tolist() == [16, 32, 64, 128, 256, 512, 1024, 2048, 8192]
    assert rc.device("h100").matmul_sweep("fp16").n.tolist() == [256, 512, 1024, 2048, 4096, 8192]
    assert rc.device("h100").fma_sweep("fp32").fma_per_element.tolist() == [2**i for i in range(12)]
    copies = rc.device("rtx4080").working_set_sweep("copy")
    assert (np.diff(copies.working_set_bytes) > 0).all()
    assert copies.at(working_set_bytes=2**25).bytes_per_s == pytest.approx(2600e9, rel=0.005)  # L2
    with pytest.raises(ValueError, match="known: copy, add, triad"):
        rc.device("h100").working_set_sweep("gemm")


def test_precisions_and_missing_ones():
    assert rc.device("b300").precisions == ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "nvfp4")
    assert rc.device("v100").precisions == ("fp64", "fp32", "fp16")
    assert [(r.precision, r.path) for r in rc.device("v100").ceilings()] == [
        ("fp64", "gemm"),
        ("fp32", "gemm"),
        ("fp16", "gemm"),
        ("fp64", "vector"),
        ("fp32", "vector"),
    ]
    with pytest.raises(LookupError, match=r"^MI210 has no measured fp8_e4m3 matrix product; measured: fp64 \(gemm\)"):
        rc.device("mi210").roofline("fp8")
    with pytest.raises(LookupError, match="MI210 has no measured fp8_e4m3"):
        rc.device("mi210").m_sweep("fp8")
    with pytest.raises(LookupError, match="no measured fp16 FMA sweep"):
        rc.device("h100").roofline("fp16", path="vector")
    with pytest.raises(ValueError, match="unknown path 'tensor'"):
        rc.device("h100").roofline("fp16", path="tensor")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("h100", "h100"),
        ("H100 SXM", "h100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("rtx 4080", "rtx4080"),
        ("NVIDIA GeForce RTX 4080", "rtx4080"),
        ("v100", "v100-32"),
        ("Tesla V100-SXM2-16GB", "v100-16"),
        ("V100 PCIe", "v100-32-pcie"),
        ("A100-80GB", "a100"),
        ("NVIDIA H200", "h200"),
        ("NVIDIA H200 MIG 3g.71gb", "h200-mig"),
        ("GH200", "gh200"),
        ("AMD Instinct MI210", "mi210"),
    ],
)
def test_names_people_write(written, key):
    assert rc.device(written).key == key


@pytest.mark.parametrize(
    "other",
    ["H100 PCIe", "NVIDIA H100 PCIe", "H100 NVL", "H200 NVL", "A100 PCIe", "A100 40GB", "RTX 4080 SUPER", "h20"],
)
def test_another_card_is_never_taken_for_one_of_these(other):
    with pytest.raises(LookupError, match=f"no device '{other}' in the catalogue; nearest: "):
        rc.device(other)


def test_every_device_and_its_source():
    assert [d.key for d in rc.devices()][3:6] == ["a100", "h100", "h200"]
    h100 = rc.device("h100")
    assert h100.l2_bytes == 50 * 2**20
    assert h100.multiprocessors == 132
    assert h100.power_limit_watts == 700
    assert rc.device("mi100").power_limit_watts is None
    assert sources()[h100.source]["commit"].startswith("272851cde683")
    for source in sources().values():
        assert source["licence"]
        if "licence_file" in source:
            assert (data_folder() / source["licence_file"]).read_text(encoding="utf-8").strip()


# Validation: a copy of the data with one thing broken; the message must name file, row, column and rule.


@pytest.fixture
def broken(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    for name in ("datapackage.json", "devices.csv", "measurements.csv"):
        shutil.copy(data_folder() / name, folder / name)

    def change(row, column, value):
        path = folder / "measurements.csv"
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        if row == 1:
            rows[0][rows[0].index(column)] = value
        elif column is None:
            rows[row - 1] = list(rows[value - 1])
        else:
            rows[row - 1][rows[0].index(column)] = value
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        return folder

    return change


@pytest.mark.parametrize(
    ("row", "column", "value", "message"),
    [
        (
            17,
            "seconds",
            "",
            "data/measurements.csv, row 17, column seconds: missing value; the rule: number in s, required",
        ),
        (17, "seconds", "fast", "row 17, column seconds: 'fast' is not a number in s"),
        (17, "seconds", "nan", "row 17, column seconds: 'nan' is not a number in s"),
        # milliseconds where seconds belong: far below a second they still contradict the bandwidth
        (2, "seconds", "0.00204384", "row 2, column bytes_per_s: bytes_per_s x seconds is 8.19.*e.06, not the 8192"),
        (
            9,
            "seconds",
            "178",
            r"row 9, column seconds: 178 is out of range; the rule: at most 10 in s \(wrong unit\?\)",
        ),
        (
            5,
            "bytes_per_s",
            "671.286",
            r"row 5, column bytes_per_s: 671.286 is out of range; .* in bytes/s \(wrong unit\?\)",
        ),
        (5, "precision", "fp12", "row 5, column precision: 'fp12' is not one of fp64, fp32"),
        (5, "m", "1.5", "row 5, column m: '1.5' is not a integer"),
        (5, "device", "h1000", "row 5, column device: 'h1000' is not in data/devices.csv"),
        (3, None, 2, "row 3, columns device, kernel, .*: same key as row 2"),
        (1, "seconds", "median_ms", "row 1: column 'median_ms' where 'seconds' belongs"),
    ],
)
def test_a_broken_row_is_named(broken, row, column, value, message):
    with pytest.raises(DataError, match=message) as caught:
        read("measurements", broken(row, column, value))
    assert "\n" not in str(caught.value)


def test_an_extra_cell_is_named(broken):
    folder = broken(2, "m", "")
    path = folder / "measurements.csv"
    path.write_text(path.read_text(encoding="utf-8") + "h100,1\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 1820: 2 cells where 14 belong"):
        read("measurements", folder)


def test_every_column_states_what_it_is():
    for resource in package()["resources"]:
        assert resource["kind"] in ("measured", "derived", "nominal")
        assert resource["source"] in sources()
        for field in resource["schema"]["fields"]:
            assert field["description"], field["name"]
            for unit in ("seconds", "bytes", "flop", "watts"):
                if field["type"] != "string" and unit in field["name"].split("_"):
                    assert "unit" in field or field["name"] == "tokens_per_second", (resource["name"], field["name"])
    assert json.loads((data_folder() / "datapackage.json").read_text(encoding="utf-8"))["licenses"]
