"""Figures from elsewhere: right values, kept apart by kind, each with its source."""

import pytest

import roofcourse as rc
from roofcourse import second_sources as second
from roofcourse.tables import data_folder, read, sources


def tera(found, kind="measured"):
    return [round(s.peak / 1e12, 1) for s in found if s.kind == kind]


def test_the_tables_are_whole():
    assert len(read("nominal_peaks")) == 80
    assert len(read("nominal_memory")) == 19
    assert len(read("gemm_latency")) == 21 + 5 * 74
    assert len(read("sustained")) == 41
    assert len(read("read_bandwidth")) == 108


def test_h100_bf16_has_three_measured_peaks_and_a_nominal_one():
    found = rc.peak_sources("h100", "bf16")
    assert tera(found) == [802.4, 825.3, 897.1]
    assert tera(found, "nominal") == [989.5]
    assert [s.source for s in found] == ["rooflines_2026", "aiconfigurator", "aiconfigurator", "datasheets"]
    assert found[0].method == "best stable product 2048x8192x8192"
    assert "vLLM 0.19.0" in found[2].method
    low, high = rc.peak_range("h100", "bf16")
    assert high / low == pytest.approx(1.118, abs=0.001)


def test_other_peaks():
    assert tera(rc.peak_sources("a100", "fp16")) == [295.2, 256.5]  # the study; sustained, Azure
    assert tera(rc.peak_sources("h100", "fp8")) == [1318.1, 1382.2]
    assert tera(rc.peak_sources("h200", "bf16")) == [815.0, 815.4]
    unstable = rc.peak_sources("h200", "fp16")[1]
    assert not unstable.stable
    assert unstable.peak == pytest.approx(785.1e12, rel=1e-4)
    assert "12 %" in unstable.method
    assert rc.peak_range("h200", "fp16") == (rc.device("h200").roofline("fp16").peak, unstable.peak)
    assert rc.peak_range("mi210", "bf16") == (rc.device("mi210").roofline("bf16").peak,) * 2
    assert tera(rc.peak_sources("h100", "fp32", "vector")) == [61.5]
    assert tera(rc.peak_sources("h100", "fp32", "vector"), "nominal") == [67.0]
    with pytest.raises(LookupError, match="V100 has no measured bf16"):
        rc.peak_sources("v100", "bf16")


def test_a_nominal_roof_is_of_its_own_kind():
    a100 = rc.device("a100")
    roof = a100.nominal("fp16")
    assert (roof.peak, roof.bandwidth, roof.kind, roof.path) == (312e12, 2039e9, "nominal", "gemm")
    assert roof.ridge_point == pytest.approx(153.0, abs=0.05)
    assert a100.nominal("tf32").ridge_point == pytest.approx(76.5, abs=0.05)
    assert a100.nominal("fp32", path="vector").ridge_point == pytest.approx(9.56, abs=0.005)
    # 390 TFLOP/s with sparsity / 2 / 2, and the card runs above it
    nominal = rc.device("rtx4080").nominal("fp16")
    assert nominal.peak == 97.5e12
    assert rc.device("rtx4080").roofline("fp16").peak > nominal.peak
    # the manufacturer's own page goes before copies of it
    assert rc.peak_sources("v100", "fp16")[-1].method == "stated (vendor)"
    assert rc.device("b300").nominal("fp16").bandwidth == 8000e9


@pytest.mark.parametrize(
    ("key", "precision", "words"),
    [("h200-mig", "fp16", "H200 MIG 3g is at hand; there are: none at all"), ("a100", "fp8", r"fp64 \(gemm\), tf32")],
)
def test_a_missing_nominal_figure_is_said_in_one_line(key, precision, words):
    with pytest.raises(LookupError, match=words) as caught:
        rc.device(key).nominal(precision)
    assert "\n" not in str(caught.value)


def test_gemm_sets():
    assert second.gemm_sets("h100") == ("h100_sxm_trtllm1.3.0rc10", "h100_sxm_vllm0.19.0")
    assert len(second.gemm_sets()) == 6
    sweep = second.gemm_sweep("a100_sxm_trtllm1.0.0")
    assert sweep.m.tolist()[:5] == [1, 2, 4, 8, 16]
    assert sweep[0].seconds == 0.0000879957
    assert sweep[0].work == rc.gemm(1, 8192, 8192, "bf16")
    assert sweep[0].source == "aiconfigurator"
    with pytest.raises(LookupError, match="there is no set 'h100'; there are: a100_sxm"):
        second.gemm_sweep("h100")


def test_memory_levels():
    # The documents of the course speak of about 5.4, 6.9 and 9.7 TB/s: two to three times the memory.
    for card, l2, memory in (("A100 80GB", 5.37, 1.73), ("H100 PCIe", 6.93, 1.98), ("h200", 9.83, 3.89)):
        levels = rc.memory_levels(card)
        assert [level.name for level in levels] == ["L2", "memory"]
        assert levels[0].bandwidth == pytest.approx(l2 * 1e12, rel=2e-3)
        assert levels[1].bandwidth == pytest.approx(memory * 1e12, rel=2e-3)
    # Of five sets in the MI100's memory two scattered by 12 and 13 %: the middle of 787.5, 833.8 and 879.1 counts.
    memory = rc.memory_levels("MI100")[1]
    assert (memory.points, memory.bandwidth) == (3, pytest.approx(833.8e9))
    with pytest.raises(LookupError, match="the L2 of the L40 is not at hand"):
        rc.memory_levels("L40")
    with pytest.raises(LookupError, match="no read bandwidth of 'b300'; there are: A100 80GB, H100 PCIe"):
        rc.memory_levels("b300")
    assert not second.read_sweep("MI100").at(working_set_bytes=21120 * 1024).stable
    # A PCIe card is not the catalogue's SXM card.
    with pytest.raises(LookupError, match="'h100'"):
        second.read_sweep("h100")


def test_of_two_sources_the_one_nearer_to_the_maker_is_taken():
    rows = [
        {"standing": standing, "peak": peak}
        for standing, peak in (("secondary", 1), ("vendor", None), ("press", 2), ("via vendor", 3), ("via vendor", 4))
    ]
    assert second._nearest(rows, "peak")["peak"] == 3  # the maker gives none; of equals the first
    assert second._nearest([*rows, {"standing": "vendor", "peak": 5}], "peak")["peak"] == 5


def test_cards_are_keys_of_the_catalogue_or_none():
    keys = {d.key for d in rc.devices()}
    for table in ("nominal_peaks", "nominal_memory", "gemm_latency", "sustained", "read_bandwidth"):
        for row in read(table):
            assert set(filter(None, (row["devices"] or "").split("|"))) <= keys
            if table == "sustained":
                assert (row["flop_per_s"] is None) != (row["bytes_per_s"] is None)


def test_every_source_is_named_with_its_licence():
    assert sources()["aiconfigurator"]["licence"] == "Apache-2.0"
    assert "NVIDIA" in (data_folder() / sources()["aiconfigurator"]["licence_file"]).read_text(encoding="utf-8")
    text = (data_folder() / sources()["azure_ai_benchmarking"]["licence_file"]).read_text(encoding="utf-8")
    assert text.startswith("MIT License\n\nCopyright (c) Microsoft Corporation.")
    # cited as facts: the repository's licence is named, and no text of it is passed off as ours
    assert "GPL-3.0" in sources()["gpu_benches"]["licence"]
    assert "licence_file" not in sources()["gpu_benches"]
