"""What was measured on a language model, as the study published it."""

import pytest

import roofcourse as rc
from roofcourse import inference
from roofcourse.tables import read

H100, H200, RTX4080 = (rc.device(key) for key in ("h100", "h200", "rtx4080"))


def test_the_steps_of_table_7():
    # first document, table 7: batch 1, prompt 128, milliseconds
    assert [round(d.decode_step(1, 128).seconds * 1e3, 2) for d in (H100, H200)] == [11.56, 11.86]
    assert round(RTX4080.decode_step(1, 128).seconds * 1e3, 1) == 24.3


def test_a_step_is_the_median_of_the_runs_that_count():
    step = H200.decode_step(1, 128)
    # runs 2, 3 and 4; run 1 was slowed by heat
    assert (step.runs, step.low, step.high) == (3, 0.01119905, 0.01204899)
    assert step.seconds == 0.01186446
    step = H100.decode_step(16, 4096)
    assert (step.runs, step.seconds) == (2, pytest.approx((0.05481967 + 0.05481028) / 2))
    assert step.tokens_per_s == pytest.approx(16 / 0.054815, rel=1e-6)


def test_prompts_are_read_far_faster_than_answers_are_written():
    assert H100.decode_step(1, 1024).prefill_seconds == pytest.approx(0.0311946, rel=1e-4)


def test_what_was_timed():
    pairs = [(s.batch, s.prompt_length) for s in H100.decode_steps()]
    assert pairs == [(b, p) for b in (1, 8, 16) for p in (128, 1024, 4096)]
    assert [(s.batch, s.prompt_length) for s in RTX4080.decode_steps()] == [
        (1, 128), (1, 1024), (1, 4096), (8, 128), (16, 128),
    ]  # fmt: skip


def test_the_counters_of_one_layer():
    found = H100.layer_counters("decode", batch=8, prompt_length=4096)
    assert len(found) == 12
    linear = H100.layer_counters("decode", batch=8, prompt_length=4096, linear=True)
    assert tuple(x.module for x in linear) == (
        "q_proj",
        "k_proj",
        "v_proj",
        "o_proj",
        "gate_proj",
        "up_proj",
        "down_proj",
    )
    gate = linear[4]
    assert gate.tokens == 8
    # 2 x 8 rows x 18944 x 3584
    assert gate.flop == 2 * 8 * 18944 * 3584
    assert gate.intensity == pytest.approx(7.83, abs=0.005)
    assert gate.bytes_per_s == pytest.approx(138764544 / 53.152e-6)
    prefill = H100.layer_counters("prefill", batch=8, prompt_length=4096, linear=True)[4]
    assert prefill.tokens == 32768
    assert prefill.flop_per_s == pytest.approx(745e12, rel=1e-3)
    assert sum(len(d.layer_counters()) for d in (H100, H200, RTX4080)) == 168


@pytest.mark.parametrize(("batch", "prompt_length"), [(1, 1024), (8, 1024), (8, 4096)])
def test_the_kernels_of_attention_add_up_to_its_counters(batch, prompt_length):
    found = H100.layer_counters("decode", batch=batch, prompt_length=prompt_length)
    (whole,) = [x for x in found if x.module == "attention"]
    wanted = {"device": "h100", "batch": batch, "prompt_length": prompt_length}
    rows = [r for r in read("attention_kernels") if wanted.items() <= r.items()]
    assert len(rows) == whole.kernel_count
    assert sum(r["dram_bytes"] for r in rows) == whole.dram_bytes
    assert sum(r["kernel_seconds"] for r in rows) == pytest.approx(whole.seconds, rel=1e-12)


def test_most_of_decode_attention_was_copying():
    rows = [r for r in read("attention_kernels") if (r["batch"], r["prompt_length"]) == (8, 4096)]
    cache = 8 * 4096 * 2 * 4 * 128 * 2  # keys and values of one layer, four heads of 128 numbers of 2 bytes
    moved = {
        name: sum(r["dram_bytes"] for r in rows if r["kernel"] == name) / cache for name in {r["kernel"] for r in rows}
    }
    # Append: read and write it. Repeat: read it, write it seven times. Attend: read that. Less what the L2 held back.
    assert moved["CatArrayBatchedCopy_contig"] == pytest.approx(1.58, abs=0.005)
    assert moved["direct_copy_kernel_cuda"] == pytest.approx(7.68, abs=0.005)
    assert moved["flash_fwd_kernel"] == pytest.approx(7.07, abs=0.005)


def test_a_module_without_flop_has_no_work():
    (attention,) = [x for x in H100.layer_counters("decode", batch=1) if x.module == "attention"]
    assert attention.flop is None
    with pytest.raises(ValueError, match="attention is no matrix product"):
        attention.work  # noqa: B018


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rc.device("a100").decode_steps(), "was timed on a100; timed are: h200, h100, rtx4080"),
        (lambda: rc.device("b300").layer_counters(), "no counters of a language model were read on b300"),
        (lambda: H100.decode_step(2, 128), "no step of batch 2 and prompt 128 on H100; timed are: 1 x 128"),
        (lambda: RTX4080.layer_counters("decode", batch=8), "of that kind on RTX 4080; there are: decode 1 x"),
        (lambda: H100.layer_counters("training"), "unknown phase 'training': 'prefill' or 'decode'"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(call, words):
    with pytest.raises((LookupError, ValueError)) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_row_is_of_one_model_in_one_format():
    for d in (H100, H200, RTX4080):
        assert {(x.model, x.precision) for x in (*d.decode_steps(), *d.layer_counters())} == {("qwen2.5-7b", "bf16")}
    assert inference.LINEAR == tuple(x.module for x in RTX4080.layer_counters("prefill", linear=True))
