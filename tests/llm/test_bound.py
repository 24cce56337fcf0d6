"""The lower bound of a step, worked by hand, and below every step that was measured."""

import numpy as np
import pytest

import roofcourse as rc
from roofcourse.llm.bound import PARTS
from roofcourse.tables import read

READ = 14_141_238_272  # bytes of Qwen2.5-7B that a decode step reads in bf16


@pytest.fixture(scope="module")
def h100():
    return rc.device("h100").roofline("bf16")


def test_decode_on_an_h100_by_hand(h100):
    step = rc.llm.decode_bound("qwen2.5-7b", "h100", 8, 1024)
    assert step.weights_bytes == READ
    assert f"{step.weights_seconds * 1e3:.2f}" == "4.58"
    assert step.kv_bytes == 8 * 1025 * 57_344
    assert step.activations_bytes == 8 * 2 * (3584 + 152_064)
    linear = 2 * 8 * (28 * (2 * 3584**2 + 2 * 3584 * 512 + 3 * 3584 * 18944) + 3584 * 152_064)
    assert step.flop == linear + 8 * 28 * 28 * 4 * 128 * 1025
    assert step.compute_seconds == pytest.approx(step.flop / h100.peak, rel=1e-15)
    assert step.seconds == pytest.approx(step.bytes / h100.bandwidth, rel=1e-15)
    assert (step.bound, step.part) == ("memory", "weights")
    assert step.tokens_per_second == pytest.approx(8 / step.seconds, rel=1e-15)
    assert step.memory_needed == 15_231_233_024 + 8 * 1025 * 57_344
    assert step.fits
    assert h100.time(step.work) == step.seconds


def test_parts_add_up():
    step = rc.llm.decode_bound("qwen2.5-7b", "h100", [1, 64, 4096], [[128], [4096]])
    assert [*step.parts] == [*PARTS]
    np.testing.assert_allclose(
        step.memory_seconds, step.weights_seconds + step.kv_seconds + step.activations_seconds, rtol=1e-15
    )
    assert (step.seconds >= np.maximum(step.memory_seconds, step.compute_seconds)).all()
    assert step.seconds.shape == step.part.shape == step.fits.shape == step.batch_where_weights_stop.shape == (2, 3)


def test_arrays_hold_what_single_steps_give():
    many = rc.llm.decode_bound("mixtral-8x7b", "h200", [1, 8], [[128], [4096]], "int8", "fp8")
    for i, prompt in enumerate((128, 4096)):
        for j, batch in enumerate((1, 8)):
            one = rc.llm.decode_bound("mixtral-8x7b", "h200", batch, prompt, "int8", "fp8")
            for name in ("seconds", "kv_bytes", "weights_bytes", "flop", "part", "fits", "batch_where_weights_stop"):
                assert getattr(many, name)[i, j] == getattr(one, name), name


def test_where_the_weights_stop():
    # KV alone: the smallest batch with batch x 1025 x 57344 >= the weights
    step = rc.llm.decode_bound("qwen2.5-7b", "h100", 1, 1024)
    assert step.batch_where_weights_stop == -(-READ // (1025 * 57_344)) == 241
    assert step.part_after_weights == "kv"
    # with a short prompt the arithmetic is the next: batch x FLOP of a sequence / F >= Q / B
    step = rc.llm.decode_bound("qwen2.5-7b", "h100", 1, 16)
    assert step.batch_where_weights_stop == int(np.ceil(step.weights_seconds / step.compute_seconds))
    assert step.part_after_weights == "compute"


@pytest.mark.parametrize("model", ["qwen2.5-7b", "mixtral-8x7b", "deepseek-v3", "gemma-3-1b"])
@pytest.mark.parametrize("prompt", [1, 700, 100_000])
def test_weights_are_longest_before_and_not_after(model, prompt):
    stop = rc.llm.decode_bound(model, "h200", 1, prompt).batch_where_weights_stop
    at = rc.llm.decode_bound(model, "h200", stop, prompt).parts
    assert at.pop("weights") <= max(at.values())
    if stop > 1:
        before = rc.llm.decode_bound(model, "h200", stop - 1, prompt).parts
        assert before.pop("weights") > max(before.values())


def test_prefill_by_hand(h100):
    step = rc.llm.prefill_bound("qwen2.5-7b", "h100", 4, 1024)
    model = rc.llm.model("qwen2.5-7b")
    assert step.flop == model.linear_flop(4, 1024, "prefill") + model.attention_flop(4, 1024, "prefill")
    assert step.kv_bytes == 4096 * 57_344  # written once
    assert step.seconds == pytest.approx(step.flop / h100.peak, rel=1e-15)
    assert (step.bound, step.part) == ("compute", "compute")
    assert step.tokens_per_second == pytest.approx(4096 / step.seconds, rel=1e-15)


def test_windows_bound_the_cache_of_a_step():
    # Mistral-7B sees 4096 tokens, itself included; 131072 bytes of KV for each
    assert rc.llm.decode_bound("mistral-7b", "h100", 2, 9000).kv_bytes == 2 * 4096 * 131_072
    assert rc.llm.prefill_bound("mistral-7b", "h100", 2, 9000).kv_bytes == 2 * 4096 * 131_072
    assert rc.llm.decode_bound("mistral-7b", "h100", 2, 100).kv_bytes == 2 * 101 * 131_072
    assert rc.llm.decode_bound("mistral-7b", "h100", 2, 100, kv_precision="fp8").kv_bytes == 101 * 131_072


def test_activations_between_layers_are_asked_for():
    plain = rc.llm.decode_bound("qwen2.5-7b", "h100", 16, 128)
    through = rc.llm.decode_bound("qwen2.5-7b", "h100", 16, 128, activations="layers")
    # inputs and outputs: q, k, v, o, gate, up, down; then the head
    a_row = 28 * (2 * 3584 + 2 * (3584 + 512) + 2 * 3584 + 3 * (3584 + 18944)) + 3584 + 152_064
    assert through.activations_bytes == 16 * 2 * (3584 + a_row)
    assert plain.activations_bytes < through.activations_bytes
    with pytest.raises(ValueError, match="unknown activations 'all'"):
        rc.llm.decode_bound("qwen2.5-7b", "h100", activations="all")


def test_precision_of_the_arithmetic():
    assert rc.llm.decode_bound("qwen2.5-7b", "h100", weight_precision="fp8").compute_precision == "fp8_e4m3"
    assert rc.llm.decode_bound("qwen2.5-7b", "a100", weight_precision="fp8").compute_precision == "bf16"
    assert rc.llm.decode_bound("qwen2.5-7b", "h100", weight_precision="int4").compute_precision == "bf16"
    assert rc.llm.decode_bound("qwen2.5-7b", "v100").compute_precision == "fp16"  # has no bf16
    form = rc.llm.WeightFormat("fp8_test", "FP8", 8, ("fp8_e4m3",))
    with pytest.raises(LookupError, match="V100 has no measured matrix product for fp8_test weights"):
        rc.llm.decode_bound("qwen2.5-7b", "v100", weight_precision=form)


def test_memory_of_the_card():
    assert rc.llm.decode_bound("qwen2.5-7b", "rtx4080", 1, 128).fits  # 15.2 of 16.7 GB
    assert not rc.llm.decode_bound("qwen2.5-7b", "rtx4080", 16, 4096).fits
    assert not rc.llm.decode_bound("llama-3.3-70b", "h100").fits
    assert rc.llm.decode_bound("llama-3.3-70b", "h100", weight_precision="int4").fits


def test_bound_is_below_every_measured_step():
    rows = read("decode")
    assert len(rows) == 64
    for row in rows:
        step = rc.llm.decode_bound(row["model"], row["device"], row["batch"], row["prompt_length"], row["precision"])
        assert step.seconds < row["step_seconds"], row
        prefill = rc.llm.prefill_bound(row["model"], row["device"], row["batch"], row["prompt_length"])
        assert prefill.seconds < row["prefill_seconds"], row
        assert step.memory_needed < row["peak_memory_bytes"], row


def test_sentence():
    text = str(rc.llm.decode_bound("qwen2.5-7b", "h100", 1, 128))
    assert text == (
        "Qwen2.5-7B on H100, decode, batch 1, prompt 128: at least 4.587 ms a step, at most 218 tokens/s; "
        "the weights bind"
    )
