"""Against Transformers: the bytes of the state dict of a model built on torch's meta device, and torch's count of
the FLOP of a small one. Every family, in every form that its config can take.
"""

import importlib.util

import pytest

import roofcourse as rc
from roofcourse.llm.families import DEFAULTS, FAMILIES

if importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch and transformers: pip install 'roofcourse[llm]'", allow_module_level=True)

import torch
from torch.utils.flop_counter import FlopCounterMode

pytestmark = pytest.mark.filterwarnings("default")  # the library's own deprecations are not ours

SMALL = {
    "vocab_size": 96,
    "hidden_size": 32,
    "intermediate_size": 40,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 12,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
MOE = {"num_experts": 6, "num_local_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
LATENT = {
    **MOE,
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "n_group": 2,
    "topk_group": 1,
    "kv_lora_rank": 16,
    "q_lora_rank": 20,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 6,
    "first_k_dense_replace": 1,
    "num_key_value_heads": 4,
}
GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 96}


def small(family: str, **changes) -> dict:
    """A config of this family with tiny sizes; a change to ``None`` of a key that is not there leaves it out."""
    base = GPT2 if family == "gpt2" else SMALL
    if family in ("deepseek_v2", "deepseek_v3"):
        base = {**SMALL, **LATENT}
        del base["num_experts"], base["num_local_experts"], base["head_dim"]
    elif family in ("mixtral", "gpt_oss"):
        base = {**SMALL, "num_local_experts": 6, "num_experts_per_tok": 2}
    elif family in ("qwen2_moe", "qwen3_moe"):
        base = {**SMALL, **{k: v for k, v in MOE.items() if k != "num_local_experts"}}
    out = {"model_type": family, **base, **changes}
    return {k: v for k, v in out.items() if v != "left out"}


FORMS = [
    *(small(f) for f in FAMILIES),
    *(small(f, tie_word_embeddings=True) for f in FAMILIES),
    *(small(f, head_dim="left out") for f in ("llama", "mistral", "qwen2", "qwen3_moe", "phi3", "starcoder2")),
    *(small(f, num_key_value_heads=4) for f in ("llama", "qwen3", "gemma2", "phi3", "gpt_oss")),
    small("llama", num_key_value_heads="left out"),
    small("llama", attention_bias=True, mlp_bias=True),
    *(
        small(f, attention_bias=True)
        for f in ("qwen3", "qwen3_moe", "gemma2", "gemma3_text", "deepseek_v2", "deepseek_v3")
    ),
    small("gpt_oss", attention_bias=False),
    small("starcoder2", use_bias=False),
    small("qwen2_moe", qkv_bias=False, shared_expert_intermediate_size=28),
    *(small(f, mlp_only_layers=[0]) for f in ("qwen2_moe", "qwen3_moe")),
    *(small(f, decoder_sparse_step=2) for f in ("qwen2_moe", "qwen3_moe")),
    *(small(f, q_lora_rank=None) for f in ("deepseek_v2", "deepseek_v3")),
    *(small(f, first_k_dense_replace=3) for f in ("deepseek_v2", "deepseek_v3")),
    small("gpt2", n_inner=50),
    small("gpt2", tie_word_embeddings=False),
    small("qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1),
    small("mistral", sliding_window=4),
]


def name_of(form: dict) -> str:
    plain = small(form["model_type"])
    return form["model_type"] + "".join(f" {k}={form.get(k)}" for k in {**plain, **form} if form.get(k) != plain.get(k))


def build(config: dict, dtype, device: str):
    from transformers import AutoConfig, AutoModelForCausalLM

    made = AutoConfig.for_model(**config)
    with torch.device(device):
        # Experts one by one: torch does not count the FLOP of the grouped product that the library takes else.
        return AutoModelForCausalLM.from_config(made, dtype=dtype, experts_implementation="eager").eval()


def bytes_of_state(model) -> int:
    """Bytes of the state dict, a tensor that stands in it under two names counted once."""
    tied = set(model.all_tied_weights_keys)
    return sum(t.numel() * t.element_size() for name, t in model.state_dict().items() if name not in tied)


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_bytes_of_every_family(form):
    ours = rc.llm.model(form)
    assert ours.bytes_stored("bf16") == bytes_of_state(build(form, torch.bfloat16, "meta"))


@pytest.mark.parametrize("key", [m.key for m in rc.llm.models()])
def test_bytes_of_every_bundled_model(key):
    ours = rc.llm.model(key)
    assert ours.bytes_stored("bf16") == bytes_of_state(build(ours.config, torch.bfloat16, "meta"))


@pytest.mark.parametrize("family", [f for f in FAMILIES if f != "deepseek_v2"])  # its experts per token have none
def test_defaults_of_a_config_with_nothing_in_it(family):
    # Two layers, so that a model with experts is built in a moment; all else is left to the defaults.
    config = {"model_type": family, "n_layer" if family == "gpt2" else "num_hidden_layers": 2}
    assert rc.llm.model(config).bytes_stored() == bytes_of_state(build(config, torch.bfloat16, "meta"))


def test_a_config_that_leaves_most_to_the_defaults():
    """As the published ones of Gemma 3 with images do: the text part names five sizes, the rest is the library's."""
    text = {"model_type": "gemma3_text", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34}
    text["sliding_window"] = 1024
    ours = rc.llm.model({"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 1152}})
    assert {"vocab_size", "num_attention_heads", "num_key_value_heads", "head_dim"} <= set(ours.defaulted)
    assert ours.bytes_stored() == bytes_of_state(build(text, torch.bfloat16, "meta"))


@pytest.mark.parametrize("family", FAMILIES)
def test_defaults_are_those_of_the_library(family):
    from transformers import CONFIG_MAPPING

    theirs = CONFIG_MAPPING[family]
    for key, value in DEFAULTS[family].items():
        assert value == getattr(theirs, key, None), key


def count_linear_flop(model, ids, *, cache=None, **how) -> int:
    """FLOP of one call by torch's counter: of the operators that linear layers use, not of those of attention."""
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(ids, cache=cache, use_cache=True, **how)
    counted = {str(op): flop for op, flop in counter.get_flop_counts()["Global"].items()}
    assert set(counted) <= {*LINEAR, *ATTENTION}
    return sum(flop for op, flop in counted.items() if op in LINEAR)


LINEAR = ("aten.mm", "aten.addmm")
ATTENTION = ("aten.bmm", "aten.baddbmm", "aten._scaled_dot_product_flash_attention_for_cpu")
BATCH, PROMPT = 2, 7


def some_tokens() -> torch.Tensor:
    return torch.randint(3, 90, (BATCH, PROMPT), generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_flop_of_a_prefill(form):
    ours, model = rc.llm.model(form), build(form, torch.float32, "cpu")
    last = count_linear_flop(model, some_tokens(), logits_to_keep=1)
    assert ours.linear_flop(BATCH, PROMPT, "prefill") == last
    assert ours.linear_flop(BATCH, PROMPT, "prefill", logits="all") == count_linear_flop(model, some_tokens())


@pytest.mark.parametrize("form", FORMS, ids=name_of)
def test_flop_of_a_decode_step(form):
    ours, model, ids = rc.llm.model(form), build(form, torch.float32, "cpu"), some_tokens()
    with torch.no_grad():
        cache = model(ids[:, :-1], use_cache=True).cache
    counted = count_linear_flop(model, ids[:, -1:], cache=cache)
    if form["model_type"] in ("deepseek_v2", "deepseek_v3"):
        # Transformers expands the whole compressed cache with kv_b_proj; ours computes on it as it lies.
        expand = next(x for x in ours.linear_layers() if x.name == "kv_b_proj")
        counted -= (PROMPT - 1) * BATCH * 2 * expand.k * expand.n * expand.count
    assert ours.linear_flop(BATCH, PROMPT, "decode") == counted
