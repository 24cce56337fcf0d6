"""The live decode step, on tiny models on the CPU, and the session and the command around it on a made-up stepper."""

import importlib.util
import math
import re
from contextlib import contextmanager
from functools import partial

import pytest

import roofcourse as rc
from roofcourse.cli import main
from roofcourse.llm import decode
from roofcourse.llm.command import GivenRoofs, closing, decode_machine
from roofcourse.llm.decode import DecodeSession, Stepper, fitting_layers, kind_of_kernel, kind_of_operator
from roofcourse.llm.sources import live
from roofcourse.llm.steps import read_decode
from roofcourse.measure.fake import FakeDevice
from roofcourse.measure.stopping import StopRule
from roofcourse.measure.support import Unavailable

TINY = {
    "model_type": "qwen2",
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
FAST = StopRule(3, 0.0, 1.0, 0.0, 0.0)


class Roofs:
    """A machine with two known roofs."""

    name, bandwidth, precisions, memory_bytes = "made up", 1e11, ("bf16", "fp32"), None

    def roofline(self, precision):
        return rc.Roofline(1e12, 1e11, precision=precision)


# --- a stepper that takes a known time -----------------------------------------------------------------------------


class MadeUp:
    """One step takes 1 ms and 2 ms a layer; graphs save 0.5 ms, compiling fails."""

    def __init__(self, model, device, precision):
        self.model, self.device, self.depth = model, device, model.layers

    @contextmanager
    def layers(self, count):
        self.depth, before = count, self.depth
        yield
        self.depth = before

    def seconds(self, mode):
        return 1e-3 + 2e-3 * self.depth - (0.5e-3 if mode == "graph" else 0)

    def step(self, mode, batch, prompt_length):
        if mode == "compiled":
            raise Unavailable("no compiler")
        return lambda: self.device._run(self.seconds(mode))

    def profile(self, step):
        return {"linear layers": 1e-3, "attention": 0.5e-3, "copies": 0.0, "the rest": 0.0}


class Device(FakeDevice):
    class torch:
        class no_grad:
            def __enter__(self):
                pass

            def __exit__(self, *what):
                pass


@pytest.fixture
def session():
    def make(**how):
        return DecodeSession(
            rc.llm.model("qwen2.5-7b"), Device(), Roofs(), precision="bf16", rule=FAST, stepper=MadeUp, **how
        )

    return make


def test_a_step_of_known_time(session):
    x = session().take(8, 1024, "static")
    assert x.seconds == pytest.approx(57e-3, rel=0.02)  # 1 ms and 28 times 2 ms
    assert x.bound == rc.llm.decode_bound("qwen2.5-7b", Roofs(), 8, 1024).seconds
    assert x.kernel_seconds == pytest.approx(1.5e-3)
    assert x.whole
    assert x.shallow is None


def test_a_cut_model_is_measured_at_two_depths(session):
    x = session(layers=10).take(1, 128, "static")
    assert (x.layers, x.layers_of, x.shallow[0]) == (10, 28, 5)
    assert x.seconds == pytest.approx(21e-3, rel=0.02)
    assert x.shallow[1] == pytest.approx(11e-3, rel=0.02)
    assert x.whole_seconds == pytest.approx(57e-3, rel=0.05)  # derived, and right
    cut = rc.llm.model("qwen2.5-7b").with_layers(10)
    assert x.bound == rc.llm.decode_bound(cut, Roofs(), 1, 128).seconds  # of the layers that ran


def test_a_mode_that_fails_is_noted_and_the_rest_goes_on(session):
    s = session()
    assert s.take(1, 128, "compiled") is None
    assert s.take(1, 128, "graph").seconds == pytest.approx(56.5e-3, rel=0.02)
    run = s.run(complete=True)
    assert run.refusals == (("batch 1, prompt 128, compiled", "no compiler"),)
    assert s.missing([1], [128], ["compiled", "graph"]) == [(1, 128, "compiled")]
    assert "no compiler" in closing(run)


class Small(Device):
    """2 GB of memory are free."""

    def free_bytes(self):
        return 2_000_000_000


def test_layers_that_fit():
    seven = rc.llm.model("qwen2.5-7b")
    assert fitting_layers(seven, FakeDevice(), 1, 128, "bf16") == 28
    # 0.6 of 2 GB do not hold embedding and head (2.18 GB)
    with pytest.raises(Unavailable, match="one layer with embedding and head takes 2.6 GB in bf16"):
        fitting_layers(seven, Small(), 1, 128, "bf16")
    one = rc.llm.model("gemma-3-1b")  # 0.6 GB of embedding, 52 MB a layer
    layers = fitting_layers(one, Small(), 1, 128, "bf16")
    assert one.with_layers(layers).bytes_stored() < 1.2e9 < one.with_layers(layers + 2).bytes_stored()


def test_a_session_writes_resumes_and_says_what_it_derived(tmp_path):
    out, said = tmp_path / "decode.json", []
    how = {"model": "qwen2.5-7b", "batches": (1, 8), "prompts": (128,), "out": out, "say": said.append, "layers": 10}
    how |= {"device": Device(), "machine": Roofs(), "stepper": MadeUp, "quick": True}
    assert decode_machine(**how, modes=("static",)) == 0
    assert [x.key for x in read_decode(out).steps] == [(1, 128, "static"), (8, 128, "static")]
    assert "runs 10 of its 28 layers" in said[1]
    assert "Derived, not measured: T = a + b x layers from 5 and 10 layers" in said[-1]
    with pytest.raises(FileExistsError, match="go on with it \\(--resume\\)"):
        decode_machine(**how)
    said.clear()
    assert decode_machine(**how, modes=("static", "graph"), resume=True) == 0
    assert "2 steps to measure, 2 already in" in said[3]
    run = read_decode(out)
    assert run.roofs == {"precision": "bf16", "peak": 1e12, "bandwidth": 1e11}
    again = GivenRoofs(run)
    assert again.roofline("bf16").ridge_point == 10
    with pytest.raises(LookupError, match="roofs for bf16 alone, not for fp32"):
        again.roofline("fp32")
    assert run.complete
    assert len(run.steps) == 4
    again = re.escape(str(out)) + ": the file is of another machine or model: layers is 10 there, 9 here; measure into"
    with pytest.raises(ValueError, match=again):
        decode_machine(**{**how, "layers": 9}, resume=True)
    with pytest.raises(
        ValueError,
        match="decode.json: its model is qwen2.5-7b, here it is gpt2; go on with --model qwen2.5-7b, or measure",
    ):
        decode_machine(**{**how, "model": "gpt2", "layers": None}, resume=True)
    with pytest.raises(
        ValueError, match="decode.json: its precision is bf16, here it is fp16; go on with --precision bf16"
    ):
        decode_machine(**how, precision="half", resume=True)
    assert len(read_decode(out).steps) == 4  # untouched


def test_two_configs_of_one_name_are_timed_each(monkeypatch):
    monkeypatch.setattr(decode, "DecodeSession", partial(DecodeSession, stepper=MadeUp))
    sessions: dict = {}
    how = {"quick": True, "rule": FAST, "sessions": sessions, "batch": 1, "prompt": 16, "modes": "static"}
    for size in (4096, 1024, 4096):
        config = {"model_type": "llama", "hidden_size": size, "num_hidden_layers": 2}
        (step,) = live(Device(), Roofs(), model=config, **how)
        assert step.model == "llama"
        assert step.bound == rc.llm.decode_bound(config, Roofs(), 1, 16).seconds
    assert len(sessions) == 2  # the third was timed before


def test_interrupted_sessions_keep_their_steps(tmp_path):
    class Impatient(MadeUp):
        def step(self, mode, batch, prompt_length):
            if batch == 8:
                raise KeyboardInterrupt
            return super().step(mode, batch, prompt_length)

    out, said = tmp_path / "decode.json", []
    status = decode_machine(
        model="qwen2.5-7b", batches=(1, 8), prompts=(128,), modes=("static",), out=out, say=said.append, quick=True,
        device=Device(), machine=Roofs(), stepper=Impatient,
    )  # fmt: skip
    assert status == 130
    run = read_decode(out)
    assert [x.batch for x in run.steps] == [1]
    assert not run.complete
    assert "roofcourse decode --resume" in said[-1]


def test_wrong_words_before_anything_is_measured(tmp_path):
    how = {"batches": (1,), "prompts": (1,), "out": tmp_path / "x.json", "say": lambda text: None}
    with pytest.raises(ValueError, match="unknown mode 'fast'; there are: eager, static, graph, compiled"):
        decode_machine(model="gpt2", modes=("fast",), **how)
    for layers in (0, 13):
        with pytest.raises(ValueError, match=f"GPT-2 has 12 layers: choose 1 to 12, not {layers}"):
            decode_machine(model="gpt2", layers=layers, device=Device(), **how)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        decode_machine(model="gpt2", **{**how, "out": tmp_path / "none" / "x.json"})


# --- names of kernels -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nvjet_tst_64x8_64x16_1x2_h_bz_TNT", "linear layers"),
        ("ampere_bf16_s16816gemm_bf16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn", "linear layers"),
        ("void gemv2T_kernel_val<int, int, __nv_bfloat16>", "linear layers"),
        ("fmha_cutlassF_bf16_aligned_64x128_rf_sm80", "attention"),
        ("void pytorch_flash::flash_fwd_splitkv_kernel<...>", "attention"),
        ("void at::native::(anonymous namespace)::CatArrayBatchedCopy<...>", "copies"),
        ("void at::native::index_copy_kernel_impl", "copies"),
        ("Memcpy DtoD (Device -> Device)", "copies"),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor>", "the rest"),
        ("triton_red_fused_add_mean_mul_pow_rsqrt_0", "the rest"),
    ],
)
def test_kernels_of_a_gpu(name, kind):
    assert kind_of_kernel(name) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aten::mm", "linear layers"),
        ("aten::addmm", "linear layers"),
        ("mkldnn::_linear_pointwise", "linear layers"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "attention"),
        ("aten::cat", "copies"),
        ("aten::index_copy_", "copies"),
        ("aten::mul", "the rest"),
        ("graph_0_cpp_fused_add_mul_0", "the rest"),
        ("aten::view", None),
        ("aten::linear", None),
        ("aten::transpose", None),
        ("Torch-Compiled Region: 0/0", None),
    ],
)
def test_operators_of_a_cpu(name, kind):
    assert kind_of_operator(name) == kind


# --- the real thing, tiny -------------------------------------------------------------------------------------------

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None,
    reason="needs torch and transformers: pip install 'roofcourse[llm]'",
)
quiet = pytest.mark.filterwarnings("ignore")  # warnings of torch and Transformers are not ours


@pytest.fixture(scope="module")
def cpu():
    from roofcourse.measure.device import open_device

    return open_device("cpu")


@needs_transformers
@quiet
@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.parametrize("family", ["qwen2", "llama", "gemma3_text", "gpt2", "mixtral", "deepseek_v3", "gpt_oss"])
def test_steps_start_from_the_same_cache_each_time(family, mode, cpu):
    from test_transformers import small

    stepper = Stepper(rc.llm.model(small(family)), cpu, "fp32")
    step = stepper.step(mode, 2, 5)
    first = step().clone()
    assert first.shape == (2, 1, 96)
    for _ in range(3):
        assert stepper.torch.equal(step(), first)  # a cache that grew would change the result


@needs_transformers
@quiet
def test_of_text_and_images_the_text_part_runs(cpu):
    from test_transformers import small

    text = small("gemma3_text")
    both = rc.llm.model({"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 32}})
    stepper = Stepper(both, cpu, "fp32")
    assert sum(p.numel() for p in stepper.network.parameters()) == both.parameter_count
    with stepper.layers(1):
        assert stepper.step("eager", 1, 2)().shape == (1, 1, 96)


@needs_transformers
@quiet
def test_both_caches_give_the_same_numbers(cpu):
    stepper = Stepper(rc.llm.model(TINY), cpu, "fp32")
    eager, static = (stepper.step(mode, 2, 9)() for mode in ("eager", "static"))
    stepper.torch.testing.assert_close(eager, static)


@needs_transformers
@quiet
@pytest.mark.parametrize(
    "family", ["qwen2", "llama", "mistral", "qwen3", "gemma2", "gemma3_text", "phi3", "gpt2", "starcoder2"]
)
def test_a_step_in_place_never_waits_for_a_value(family, cpu):
    """Or a CUDA graph could not hold it: a value that the host reads cannot be recorded."""
    from test_transformers import small

    torch = pytest.importorskip("torch")
    stepper = Stepper(rc.llm.model(small(family)), cpu, "fp32")
    step = stepper.step("static", 2, 5)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as seen:
        step()
    names = {event.key for event in seen.key_averages()}
    assert "aten::index_copy_" in names
    assert names.isdisjoint({"aten::item", "aten::_local_scalar_dense", "aten::nonzero", "aten::is_nonzero"})


@needs_transformers
@quiet
def test_weights_are_random_and_fill_the_model(cpu):
    stepper = Stepper(rc.llm.model(TINY), cpu, "bf16")
    weights = [p for p in stepper.network.parameters() if p.ndim > 1]
    assert sum(p.numel() * p.element_size() for p in stepper.network.parameters()) == rc.llm.model(TINY).bytes_stored()
    for p in weights:
        assert p.float().std().item() == pytest.approx(0.02, rel=0.1)
        assert not stepper.torch.equal(p[0], p[1])


@needs_transformers
@quiet
def test_fewer_layers_run_and_come_back(cpu):
    stepper = Stepper(rc.llm.model(TINY), cpu, "fp32")
    ran = []
    for layer in stepper.network.model.layers:
        layer.register_forward_hook(lambda *_: ran.append(1))
    for count in (2, 4):
        with stepper.layers(count):
            step = stepper.step("static", 1, 3)
            ran.clear()
            step()
            assert len(ran) == count
    assert len(stepper.network.model.layers) == stepper.network.config.num_hidden_layers == 4


@needs_transformers
@quiet
def test_a_profile_finds_the_kinds(cpu):
    stepper = Stepper(rc.llm.model(TINY), cpu, "fp32")
    kinds = stepper.profile(stepper.step("eager", 2, 64))
    assert set(kinds) == {"linear layers", "attention", "copies", "the rest"}
    assert all(0 < seconds < 1 for seconds in kinds.values())


@needs_transformers
@quiet
def test_modes_that_need_something_else(cpu, monkeypatch):
    stepper = Stepper(rc.llm.model(TINY), cpu, "fp32")
    with pytest.raises(Unavailable, match="mode 'graph' needs a CUDA or ROCm GPU"):
        stepper.step("graph", 1, 1)
    monkeypatch.setattr(decode, "compiler", lambda: None)
    with pytest.raises(Unavailable, match="needs a C\\+\\+ compiler"):
        stepper.step("compiled", 1, 1)
    assert decode.modes_for(cpu) == ("eager", "static")
    with pytest.raises(Unavailable, match="torch has no number format for nvfp4"):
        Stepper(rc.llm.model(TINY), cpu, "nvfp4")


@needs_transformers
@quiet
@pytest.mark.skipif(decode.compiler() is None, reason="torch.compile on a CPU needs a C++ compiler")
def test_compiled_gives_the_same_numbers(cpu):
    stepper = Stepper(rc.llm.model({**TINY, "num_hidden_layers": 1}), cpu, "fp32")
    compiled, static = (stepper.step(mode, 2, 9) for mode in ("compiled", "static"))
    first = compiled().clone()
    stepper.torch.testing.assert_close(first, static(), rtol=1e-3, atol=1e-4)
    assert stepper.torch.equal(compiled(), first)


@needs_transformers
@quiet
def test_a_whole_session_on_this_machine(cpu, tmp_path):
    s = DecodeSession(rc.llm.model(TINY), cpu, Roofs(), precision="fp32", rule=FAST)
    x = s.take(2, 16, "eager")
    run = s.run()
    assert math.isfinite(x.seconds)
    assert run.machine["transformers"]
    assert run.model["config"] == TINY
    assert x.bound == rc.llm.decode_bound(TINY, Roofs(), 2, 16, "fp32", "fp32").seconds


# --- the command: bounds ---------------------------------------------------------------------------------------------


def test_bounds_on_the_command_line_are_those_of_the_package(capsys):
    assert main(["decode", "--bound", "--device", "h100", "--batch", "1,512", "--prompt", "1024"]) == 0
    out = capsys.readouterr().out
    for batch in (1, 512):
        b = rc.llm.decode_bound("qwen2.5-7b", "h100", batch, 1024)
        row = next(line for line in out.splitlines() if line.split()[:2] == [str(batch), "1024"])
        cells = row.split()
        shown = [float(c.replace(",", "")) for c in cells[2:8]]
        parts = [b.weights_seconds, b.kv_seconds, b.activations_seconds, b.compute_seconds, b.seconds]
        assert shown[:5] == pytest.approx([s * 1e3 for s in parts], rel=5e-4)
        assert shown[5] == pytest.approx(b.tokens_per_second, rel=5e-4)
    assert "from batch 241 on, reading the KV cache takes at least as long as reading the weights" in out


def test_a_prompt_of_any_length_has_its_bound(capsys):
    """A number this long is no longer whole as a float; the KV cache is what is read, at any batch."""
    prompt = 10**26 - 1
    assert main(["decode", "--bound", "--device", "h100", "--batch", "1,2", "--prompt", f"128,{prompt}"]) == 0
    out = capsys.readouterr().out
    assert "prompt 128: from batch " in out
    assert f"prompt {prompt}: from batch 1 on, reading the KV cache takes at least as long as reading" in out


def test_prefill_formats_and_models(capsys):
    words = ["decode", "--prefill", "--device", "h200", "--model", "mixtral-8x7b", "--weights", "int4", "--kv", "fp8"]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "weights int4 (arithmetic in bf16), KV cache fp8" in out
    assert "uniform routing" in out
    assert main(["decode", "--models"]) == 0
    assert "qwen2.5-7b        qwen2          7.62 billion      28" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--bound"], "a bound needs a card: --device h100"),
        (["--device", "h100"], "H100 is a card of the catalogue: add --bound"),
        (["--bound", "--device", "h100", "--batch", "0"], "--batch takes whole numbers of 1 or more"),
        (["--bound", "--device", "h100", "--prompt", "1.5"], "--prompt takes whole numbers of 1 or more"),
        (["--bound", "--device", "h100", "--model", "none"], "no model 'none'"),
        (["--bound", "--device", "h100", "--weights", "int3"], "unknown weight format 'int3'"),
        (["--bound", "--device", "h100", "--kv", "int3"], "unknown precision 'int3'"),
        (["--weights", "int4"], "--weights belongs to --bound; a timed step has random weights"),
        (["--kv", "bf16"], "--kv belongs to --bound"),
        (["--bound", "--device", "h100", "--layers", "3"], "--layers belongs to a timed step"),
        (["--bound", "--device", "h100", "--layers", "0"], "--layers belongs to a timed step"),
        (["--prefill", "--device", "h100", "-o", "x.json"], "--output belongs to a timed step"),
        (["--precision", "fp8"], "a decode step runs in bf16, fp16 or fp32, not 'fp8'; for weights in another format"),
        (["--precision", "bf61"], "a decode step runs in bf16, fp16 or fp32, not 'bf61'"),
    ],
)
def test_wrong_words_get_one_line(words, message, capsys):
    assert main(["decode", *words]) == 1
    err = capsys.readouterr().err
    assert err.startswith("roofcourse: ")
    assert message in err
    assert err.count("\n") == 1
