"""The explorer of chapter 6: its numbers and sentences, the browser's twin, and every control by keyboard."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

import roofcourse as rc
from roofcourse import explore
from roofcourse.cli import main
from roofcourse.explore import kinds
from roofcourse.explore.kinds import decode
from roofcourse.explore.own import own_devices
from roofcourse.tables import data_folder

SHOWN = [
    "percent_weights",
    "percent_kv",
    "percent_activations",
    "memory_seconds",
    "compute_seconds",
    "seconds",
    "tokens_per_second",
    "intensity",
    "batch_where_weights_stop",
    "memory_needed",
    "measured_seconds",
]


def values(**state) -> dict:
    return explore.compute("decode", state)


# ---- what it says


def test_eight_requests_on_an_h100():
    v = values()
    # 14.14 GB of weights; 57 344 bytes for each of 8 x 1025 tokens; B = 3085 GB/s
    assert v["weights_bytes"] == pytest.approx(14.14e9, rel=1e-4)
    assert v["kv_bytes"] == 57344 * 8 * 1025
    assert v["memory_seconds"] == v["seconds"] == pytest.approx((14.1412e9 + 0.4702e9 + 0.0025e9) / 3084.84e9, rel=1e-4)
    assert v["attention_intensity"] == pytest.approx(7)  # 28 query heads over 4 KV heads, 2 FLOP over 2 bytes
    assert v["linear_intensity"] == pytest.approx(8, rel=1e-3)
    assert v["measured_seconds"] == rc.device("h100").decode_step(8, 1024).seconds
    assert v["sentence"] == (
        "On an H100, one step of Qwen2.5-7B (weights in BF16, KV cache in BF16) for 8 requests of 1\u202f024 tokens "
        "takes at least 4.74\u00a0ms: at most 1\u202f689 tokens/s. The weights are 97\u00a0% of the 14.6\u00a0GB "
        "that it moves. Measured: 16.0\u00a0ms, 3.4 times the bound. Weights and KV cache need 15.7\u00a0GB of its "
        "85.0\u00a0GB of memory."
    )


def test_the_same_answer_as_the_package():
    state = {"model": "mixtral-8x7b", "device": "h200", "batch": 5, "prompt_length": 700, "weight_precision": "int4"}
    bound = rc.llm.decode_bound("mixtral-8x7b", "h200", 5, 700, "int4", "bf16")
    v = values(**state)
    assert (v["seconds"], v["tokens_per_second"]) == (bound.seconds, bound.tokens_per_second)
    assert (v["fits"], v["batch_where_weights_stop"]) == (bound.fits, bound.batch_where_weights_stop)


@pytest.mark.parametrize(("model", "device", "batch", "weights", "kv"), [
    ("qwen2.5-7b", "h100", 37, "bf16", "bf16"),
    ("mixtral-8x7b", "b300", 4, "fp8", "fp8"),
    ("gpt2", "rtx4080", 1, "int4", "int4"),
])  # fmt: skip
def test_the_command_line_gives_the_same_answer(model, device, batch, weights, kv, capsys):
    asked = ["--model", model, "--device", device, "--batch", str(batch), "--prompt", "700"]
    assert main(["decode", "--bound", *asked, "--weights", weights, "--kv", kv]) == 0
    said = capsys.readouterr().out
    v = values(model=model, device=device, batch=batch, prompt_length=700, weight_precision=weights, kv_precision=kv)
    (row,) = [line.split() for line in said.splitlines() if line.split()[:2] == [str(batch), "700"]]
    assert f"{v['seconds'] * 1e3:,.4g}" in row
    assert f"{v['tokens_per_second']:,.4g}" in row
    assert f"from batch {v['batch_where_weights_stop']:,} on" in said


def test_measured_steps_stand_only_where_they_were_measured():
    assert values(batch=16, prompt_length=4096)["times_bound"] == pytest.approx(9.4, abs=0.05)
    for change in ({"batch": 4}, {"prompt_length": 2048}, {"device": "a100"}, {"kv_precision": "fp8"},
                   {"weight_precision": "int8"}, {"model": "llama-3.1-8b"}):  # fmt: skip
        v = values(**change)
        assert not v["measured"]
        assert "measured_seconds" not in v
        assert "Measured" not in v["sentence"]
    assert sum(len(found) for found in decode.measured()["steps"].values()) == 23


def test_arithmetic_and_the_cache_can_take_over():
    v = values(batch=1024, prompt_length=16, weight_precision="bf16")
    assert (v["bound"], v["part"]) == ("compute", "compute")
    assert "The arithmetic, " in v["sentence"]
    v = values(batch=64, prompt_length=8192)
    assert (v["bound"], v["part"]) == ("memory", "kv")
    assert "The KV cache is 68\u00a0% of the 44.2\u00a0GB that it moves." in v["sentence"]


def test_what_does_not_fit_says_so():
    v = values(model="llama-3.3-70b", device="rtx4080", batch=1, prompt_length=1)
    assert v["fits"] is False
    assert v["sentence"].endswith(
        "But weights and KV cache need 141\u00a0GB, and it has 16.7\u00a0GB: they do not fit."
    )
    assert "for one request of 1 token takes" in v["sentence"]


def test_a_format_that_a_model_does_not_have():
    v = values(weight_precision="mxfp4")
    assert v == {
        "batch": 8,
        "prompt_length": 1024,
        "available": False,
        "sentence": "MXFP4 experts: a format for models with experts, and Qwen2.5-7B has none. "
        "Choose INT4 for its weights.",
    }
    assert values(model="gpt-oss-20b", weight_precision="mxfp4")["available"]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({"batch": 0}, "batch is a whole number from 1 to 4096, not 0"),
        ({"prompt_length": 131073}, "prompt_length is a whole number from 1 to 131072, not 131073"),
        ({"device": "h101"}, "h100"),
        ({"model": "qwen9"}, "qwen"),
        (
            {"weight_precision": "fp64"},
            "weight_precision is one of fp32, bf16, fp8_e4m3, int8, int4, mxfp4, not 'fp64'",
        ),
        ({"kv_precision": "fp32"}, "kv_precision is one of bf16, fp8_e4m3, int8, int4, not 'fp32'"),
        ({"rows": 3}, "has no rows; its state is: model, device, batch"),
    ],
)
def test_wrong_states_are_refused_in_one_line(state, words, one_line):
    with one_line(ValueError, LookupError) as caught:
        explore.compute("decode", state)
    assert words in str(caught.value)


@pytest.mark.parametrize("state", [{}, {"batch": 4096, "prompt_length": 131072}, {"weight_precision": "mxfp4"},
                                   {"model": "gpt2", "device": "b300", "batch": 1}])  # fmt: skip
def test_stand_in_is_a_small_picture_with_an_alternative_text(state):
    svg = re.search(r"<svg.*?</svg>", explore.static_html("decode", state), re.DOTALL)[0]
    assert len(svg.encode()) <= 12 * 1024
    root = ET.fromstring(svg)
    assert values(**state)["sentence"] in root.get("aria-label")
    width, height = (float(x) for x in root.get("viewBox").split()[2:])
    for text in root.iter("text"):
        assert 0 <= float(text.get("x")) <= width
        assert 0 <= float(text.get("y")) <= height


# ---- in the browser


def shows(page, **state) -> dict:
    v = values(**state)
    shown = page.readings()
    assert shown["sentence"] == v["sentence"]
    if v["available"]:
        for name in SHOWN:
            assert shown[name] == (pytest.approx(v[name], rel=1e-9) if name in v else None), name
    return v


@pytest.mark.browser
def test_batch_and_prompt_by_keyboard(open_page):
    page = open_page(("decode", {}))
    shows(page)
    batch, prompt = page.control("batch"), page.control("prompt_length")
    assert batch.get_attribute("aria-valuetext") == "8 requests"
    for press, value in (("ArrowRight", 16), ("PageUp", 128), ("End", 4096), ("Home", 1)):
        batch.press(press)
        shows(page, batch=value)
    prompt.press("ArrowLeft")
    shows(page, batch=1, prompt_length=512)
    page.control("batch_exact").fill("37")
    shows(page, batch=37, prompt_length=512)
    page.control("prompt_length_exact").fill("0")
    assert page.page.get_by_text("Prompt is a whole number from 1 to 131072.").is_visible()
    shows(page, batch=37, prompt_length=512)
    page.control("prompt_length_exact").fill("3000")
    shows(page, batch=37, prompt_length=3000)


@pytest.mark.browser
def test_models_devices_and_formats(open_page):
    page = open_page(("decode", {}))
    for model in ("gpt2", "mixtral-8x7b", "deepseek-v3"):
        page.control("model").select_option(model)
        for weights in ("bf16", "int4", "mxfp4"):
            page.control("weight_precision").select_option(weights)
            shows(page, model=model, weight_precision=weights)
    page.control("device").select_option("b300")
    page.control("kv_precision").select_option("fp8_e4m3")
    shows(page, model="deepseek-v3", weight_precision="mxfp4", device="b300", kv_precision="fp8")


@pytest.mark.browser
def test_the_table_has_the_parts_and_the_measured_steps(open_page):
    page = open_page(("decode", {}))
    page.open_table("The step as a table")
    text = page.page.locator(".rc-table").inner_text()
    assert "the KV cache\t470\u00a0MB\t152\u00a0µs\t3.22\u00a0%" in text
    assert "16\t4\u202f096\t5.80\u00a0ms\t54.8\u00a0ms\t9.4 times" in text
    page.control("device").select_option("a100")
    assert "Measured steps" not in page.page.locator(".rc-table").inner_text()


# ---- the reader's own machine


def test_an_own_machine_has_the_bound_of_its_own_roofs():
    mine = rc.bench("local", "bundled")
    v = explore.compute("decode", {"device": "cpu", "weight_precision": "fp32", "batch": 1}, run=mine)
    bound = rc.llm.decode_bound("qwen2.5-7b", mine.device, 1, 1024, "fp32")
    assert (v["seconds"], v["compute_precision"], v["fits"]) == (bound.seconds, "FP32", False)
    assert v["bandwidth"] == mine.device.bandwidth
    assert v["sentence"].startswith(
        "On an AMD EPYC, one step of Qwen2.5-7B (weights in FP32, KV cache in BF16) for one "
    )
    v = explore.compute("decode", {"device": "cpu"}, run=mine)
    assert not v["available"]
    assert v["sentence"] == (
        "BF16 weights are multiplied in BF16 or FP16, and no such product was measured on AMD EPYC: "
        "choose other weights."
    )


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1280])
def test_a_run_file_shows_the_readers_machine(open_page, width):
    path = data_folder() / "runs" / "cpu_epyc_genoa.json"
    own = own_devices(path)
    page = open_page(("decode", {}), width=width)
    page.control("run").set_input_files(path)
    page.page.wait_for_function("window.roofcourse.explorers[0].spec.devices.length === 13")
    device = page.page.evaluate("window.roofcourse.explorers[0].spec.devices[12]")
    wanted = decode.spec(own)["devices"][12]
    assert device.keys() == wanted.keys()
    assert device["peaks"] == pytest.approx(wanted["peaks"])
    assert (device["memory"], device["name"]) == (wanted["memory"], "AMD EPYC")
    chosen = page.page.evaluate("window.roofcourse.explorers[0].state()")
    assert chosen == decode.start(own["cpu"], kinds.complete("decode", {}))
    assert page.page.get_by_text("link to this view").is_hidden()
    for model in ("gpt2", "qwen2.5-7b", "deepseek-v3"):
        page.control("model").select_option(model)
        for weights in ("fp32", "bf16"):
            page.control("weight_precision").select_option(weights)
            for batch in (1, 64, 4096):
                page.control("batch_exact").fill(str(batch))
                state = {**chosen, "model": model, "weight_precision": weights, "batch": batch}
                v = explore.compute("decode", state, run=path)
                shown = page.readings()
                assert shown["sentence"] == v["sentence"]
                if v["available"]:
                    assert shown["seconds"] == pytest.approx(v["seconds"], rel=1e-9)
                assert page.collisions() == [], state


def test_a_run_without_products_is_refused_in_one_line(one_line):
    bare = SimpleNamespace(name="A machine", key="cpu", precisions=("int8",))
    with one_line(LookupError) as caught:
        decode.start(bare, kinds.complete("decode", {}))
    assert "A machine: this run has no roof of a matrix product in fp32, bf16 or fp16" in str(caught.value)
