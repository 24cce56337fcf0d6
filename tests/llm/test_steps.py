"""Records of decode steps: what follows from them, and the file that keeps them."""

import json
from dataclasses import replace

import pytest

import roofcourse as rc
from roofcourse.llm.steps import (
    SCHEMA,
    DecodeRun,
    TimedStep,
    TimedSteps,
    read_decode,
    verdicts,
    write_decode,
)
from roofcourse.texttable import four

STEP = TimedStep(
    device="cuda",
    model="qwen2.5-7b",
    layers=28,
    layers_of=28,
    precision="bf16",
    batch=8,
    prompt_length=1024,
    mode="static",
    seconds=12e-3,
    spread=0.01,
    bound=5e-3,
    bound_part="weights",
    bound_bytes=14.6e9,
    timer="device events",
    stopped="stable",
    samples=(12e-3, 12.1e-3),
    kernel_seconds=8e-3,
    by_kind={"linear layers": 6e-3, "attention": 1.5e-3, "copies": 0.5e-3, "the rest": 0.0},
)


def test_the_gap_is_split_in_two():
    assert STEP.gap == pytest.approx(7e-3)
    assert STEP.outside_seconds == pytest.approx(4e-3)  # 12 ms, of which 8 in kernels
    assert STEP.tokens_per_second == pytest.approx(8 / 12e-3)
    assert STEP.stable
    assert STEP.suspect is None
    assert replace(STEP, seconds=4.7e-3).suspect.startswith("faster than its bound")
    assert replace(STEP, kernel_seconds=None).outside_seconds is None


def test_profiled_kernels_longer_than_the_step():
    x = replace(STEP, kernel_seconds=13e-3)
    assert x.outside_seconds == 0
    assert "no split" in verdicts([x])[0]


def test_all_layers_are_derived_from_two_depths():
    # 10 layers 12 ms, 4 layers 6 ms: 1 ms a layer, 2 ms besides; 28 layers are 30 ms
    cut = replace(STEP, layers=10, shallow=(4, 6e-3))
    assert not cut.whole
    assert cut.whole_seconds == pytest.approx(30e-3)
    assert STEP.whole_seconds == STEP.seconds
    assert replace(cut, shallow=None).whole_seconds is None


def test_verdicts_say_where_the_time_goes():
    graph = replace(STEP, mode="graph", seconds=8.5e-3)
    said = verdicts([STEP, graph])
    assert said[0] == (
        "batch 8, prompt 1024, static: 7 ms above the bound, 4 ms of it outside kernels; most time in kernels: "
        "linear layers, 6 of 8 ms"
    )
    # 3.5 of 7 ms
    assert said[-1] == (
        "batch 8, prompt 1024: the same kernels launched at once take 8.5 instead of 12 ms: launching is 50% of the "
        "time above the bound"
    )


def test_series():
    steps = TimedSteps([STEP, replace(STEP, batch=1)])
    assert steps.at(batch=1).batch == 1
    assert len(steps.where(mode="static")) == 2
    with pytest.raises(LookupError, match="no decode steps have batch = 2; there are: qwen2.5-7b bf16, batch 8"):
        steps.at(batch=2)
    with pytest.raises(ValueError, match="decode steps have no field 'size'"):
        steps.where(size=1)
    assert (
        "    8    1024  static       12     666.7           5         42%                8             4    1.0%"
        in (repr(steps))
    )
    assert "<td>666.7</td>" in steps._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"), [(0.017694, "0.01769"), (14.39, "14.39"), (56543.2, "56,543"), (999.96, "1000")]
)
def test_four_figures(value, text):
    assert four(value) == text


# --- the file ---------------------------------------------------------------------------------------------------------

RUN = DecodeRun(
    2,
    {"key": "cuda", "name": "Some GPU", "utc": "2026-01-01T00:00:00Z", "torch": "2", "threads": 1},
    {"key": "qwen2.5-7b", "name": "Qwen2.5-7B", "precision": "bf16", "layers": 28, "layers_of": 28},
    {"precision": "bf16", "peak": 8e14, "bandwidth": 3e12},
    TimedSteps([STEP, replace(STEP, batch=1, shallow=(4, 6e-3), layers=10)]),
    (("batch 1, prompt 128, graph", "no GPU"),),
    False,
)


def test_a_run_is_read_as_it_was_written(tmp_path):
    path = write_decode(RUN, tmp_path / "decode.json")
    read = read_decode(path)
    source = "run of 2026-01-01T00:00:00Z"
    assert read.steps == TimedSteps(replace(x, source=source) for x in RUN.steps)
    assert (read.machine, read.model, read.roofs, read.refusals) == (RUN.machine, RUN.model, RUN.roofs, RUN.refusals)
    assert not read.complete
    with pytest.raises(FileExistsError, match="decode.json exists"):
        write_decode(RUN, path)


BROKEN = [
    ("{", "not a file of decode steps, or cut short"),
    ("[]", "schema None, where decode steps have"),
    (json.dumps({"schema": "roofcourse-run/2"}), "schema 'roofcourse-run/2', where decode steps have"),
    (json.dumps({"schema": "roofcourse-decode/9"}), "a newer roofcourse wrote it"),
    (json.dumps({"schema": SCHEMA}), "field 'machine' is missing"),
    (
        json.dumps({"schema": SCHEMA, "machine": {"utc": ""}, "steps": [{"samples": [], "colour": 1}]}),
        "broken file of decode steps: ",
    ),
]


@pytest.mark.parametrize(("text", "message"), BROKEN)
def test_broken_files_are_one_line(text, message, tmp_path):
    path = tmp_path / "decode.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=".+") as caught:
        read_decode(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_runs_of_others_do_not_merge():
    RUN.same_as(RUN)
    with pytest.raises(ValueError, match="name is 'Other' there, 'Some GPU' here"):
        RUN.same_as(replace(RUN, machine={**RUN.machine, "name": "Other"}))
    cpu = replace(RUN, machine={**RUN.machine, "key": "cpu", "threads": 2})
    with pytest.raises(ValueError, match="threads is 1 there, 2 here"):
        cpu.same_as(replace(cpu, machine={**cpu.machine, "threads": 1}))
    with pytest.raises(ValueError, match="layers is 4 there, 28 here"):
        RUN.same_as(replace(RUN, model={**RUN.model, "layers": 4}))
    with pytest.raises(ValueError, match="runs of method versions 2 and 1 do not merge"):
        RUN.same_as(replace(RUN, method_version=1))


def test_two_configs_of_one_name_are_two_models():
    def of(**config):
        return replace(RUN, model={**RUN.model, "key": "llama", "config": {"model_type": "llama", **config}})

    of(hidden_size=1024, eos=(1, 2)).same_as(of(eos=[1, 2], hidden_size=1024))  # as a file gives it back
    with pytest.raises(ValueError, match="another model: hidden_size in its config is not the same there and here"):
        of(hidden_size=1024).same_as(of(hidden_size=4096))
    with pytest.raises(ValueError, match="another model: head_dim in its config is not the same"):
        of().same_as(of(head_dim=64))


# --- benches ----------------------------------------------------------------------------------------------------------


def test_the_study_answers_with_the_same_records():
    steps = rc.bench("h100").decode(batch=[1, 8], prompt=1024)
    assert [(x.batch, x.mode, x.kind) for x in steps] == [(1, "eager", "measured"), (8, "eager", "measured")]
    assert steps[0].seconds == pytest.approx((0.01145947 + 0.01151267) / 2)  # the median of two runs
    assert steps[0].bound == rc.llm.decode_bound("qwen2.5-7b", "h100", 1, 1024).seconds
    assert steps[0].kernel_seconds is None
    assert len(rc.bench("rtx4080").decode()) == 5


def test_what_the_study_did_not_time():
    bench = rc.bench("h100")
    with pytest.raises(LookupError, match="no decode step with batch 3 was timed on H100; there are 1, 8, 16"):
        bench.decode(batch=3)
    with pytest.raises(LookupError, match="no decode step of gpt2 was timed on H100; timed is qwen2.5-7b"):
        bench.decode("gpt2")
    with pytest.raises(LookupError, match="no language model was timed on a100"):
        rc.bench("a100").decode()
