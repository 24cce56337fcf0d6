"""What a model stores, reads and computes: worked by hand, and against what its publishers state."""

import json

import numpy as np
import pytest

import roofcourse as rc
from roofcourse.tables import data_folder

# --- Qwen2.5-7B by hand ---------------------------------------------------------------------------------------------
# 28 layers, hidden 3584, 28 query heads and 4 KV heads of 128, MLP 18944, vocabulary 152064, not tied, q, k, v biased.
H, KV, INNER, VOCABULARY, LAYERS = 3584, 512, 18944, 152064, 28
LAYER = (H * H + H) + 2 * (H * KV + KV) + H * H + 3 * H * INNER + 2 * H
EMBEDDING = VOCABULARY * H


@pytest.fixture(scope="module")
def qwen():
    return rc.llm.model("qwen2.5-7b")


def test_the_four_figures_of_the_course(qwen):
    assert f"{qwen.bytes_stored('bf16') / 1e9:.2f}" == "15.23"
    assert f"{qwen.embedding_bytes('bf16') / 1e9:.2f}" == "1.09"
    assert f"{qwen.bytes_read_per_step(1, 'bf16') / 1e9:.2f}" == "14.14"
    assert qwen.kv_bytes_per_token("bf16") == 57_344 == 2 * LAYERS * KV * 2


def test_parameters_by_hand(qwen):
    assert qwen.parameter_count == LAYERS * LAYER + 2 * EMBEDDING + H == 7_615_616_512
    assert qwen.bytes_stored("bf16") == 2 * 7_615_616_512
    assert qwen.bytes_stored("fp32") == 4 * 7_615_616_512
    assert qwen.bytes_read_per_step(1) == 2 * (LAYERS * LAYER + EMBEDDING + H)
    assert qwen.bytes_read_per_step(64) == qwen.bytes_read_per_step(1)  # no experts: the batch does not matter
    assert qwen.layers == LAYERS
    assert not qwen.tied


def test_linear_layers_of_a_decode_step(qwen):
    layers = {x.name: x for x in qwen.linear_layers(batch=8, phase="decode")}
    assert [*layers] == ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"]
    k = layers["k_proj"]
    assert (k.m, k.k, k.n, k.count) == (8, 3584, 512, 28)
    assert k.work.flop == 2 * 8 * 3584 * 512
    assert k.work.bytes == 2 * (3584 * 512 + 512) + 2 * 8 * (3584 + 512)  # weights and bias; input and output
    up = layers["up_proj"]  # without a bias it is the package's matrix product
    assert up.work == rc.gemm(8, 18944, 3584, "bf16")
    assert up.total.flop == 28 * up.work.flop
    assert (layers["lm_head"].m, layers["lm_head"].n, layers["lm_head"].count) == (8, 152064, 1)


def test_linear_layers_of_a_prefill(qwen):
    layers = {x.name: x for x in qwen.linear_layers(batch=4, prompt_length=1024, phase="prefill")}
    assert layers["q_proj"].m == 4096
    assert layers["lm_head"].m == 4  # one token of each prompt goes on


def test_flop(qwen):
    a_token = LAYERS * (2 * H * H + 2 * H * KV + 3 * H * INNER)
    assert qwen.linear_flop(8) == 2 * 8 * (a_token + EMBEDDING)
    assert qwen.linear_flop(2, 100, "prefill") == 2 * (200 * a_token + 2 * EMBEDDING)
    for phase in ("decode", "prefill"):
        listed = sum(x.total.flop for x in qwen.linear_layers(2, 100, phase))
        assert qwen.linear_flop(2, 100, phase) == listed
    # one query against 101 tokens; 100 queries of a causal prefill see 1 + 2 + ... + 100 tokens
    assert qwen.attention_flop(3, 100) == 3 * 28 * 28 * 4 * 128 * 101
    assert qwen.attention_flop(3, 100, "prefill") == 3 * 28 * 28 * 4 * 128 * 5050
    one_layer = rc.attention(3, 28, 100, 100, 128, "bf16", kv_heads=4, causal=True)
    assert qwen.attention_flop(3, 100, "prefill") == 28 * one_layer.flop


# --- the bundled ones -----------------------------------------------------------------------------------------------

# Parameters as the repositories of the models state them for their checkpoints.
PUBLISHED = {
    "gpt2": 124_439_808,
    "qwen2.5-0.5b": 494_032_768,
    "gemma-3-1b": 999_885_952,
    "starcoder2-3b": 3_030_371_328,
    "phi-3-mini": 3_821_079_552,
    "llama-2-7b": 6_738_415_616,
    "mistral-7b": 7_241_732_096,
    "qwen2.5-7b": 7_615_616_512,
    "llama-3.1-8b": 8_030_261_248,
    "qwen3-8b": 8_190_735_360,
    "gemma-2-9b": 9_241_705_984,
    "deepseek-v2-lite": 15_706_484_224,
    "gpt-oss-20b": 20_914_757_184,
    "qwen3-30b-a3b": 30_532_122_624,
    "mixtral-8x7b": 46_702_792_704,
    "llama-3.3-70b": 70_553_706_496,
    "deepseek-v3": 671_026_419_200,
}


def test_bundled_models():
    assert {m.key: m.parameter_count for m in rc.llm.models()} == PUBLISHED
    assert [m.key for m in rc.llm.models()] == [*PUBLISHED]  # smallest first


def test_every_bundled_file_says_where_it_is_from():
    files = sorted((data_folder() / "models").glob("*.json"))
    assert len(files) == len(PUBLISHED)
    for path in files:
        facts = json.loads(path.read_text())
        assert facts["source"].endswith(", config.json")
        assert facts["checked"]
        # None where no stated count was found to compare with
        assert facts["parameters"] in (PUBLISHED[path.stem], None)
        assert rc.llm.model(path.stem).source == facts["source"]


def test_tied_embedding_is_stored_once_and_read():
    m = rc.llm.model("Qwen2.5-0.5B")
    assert m.tied
    assert m.bytes_read_per_step(1) == m.bytes_stored() == 988_065_536


def test_grouped_heads_shrink_the_cache():
    # Llama-2-7B caches 32 heads of 128, Llama-3.1-8B 8 of them; both have 32 layers.
    assert rc.llm.model("llama-2-7b").kv_bytes_per_token() == 2 * 32 * 32 * 128 * 2 == 524_288
    assert rc.llm.model("llama-3.1-8b").kv_bytes_per_token() == 131_072
    assert rc.llm.model("llama-3.1-8b").kv_bytes_per_token("fp8") == 65_536
    assert rc.llm.model("llama-3.1-8b").kv_bytes_per_token("int4") == 32_768


def test_latent_attention_caches_one_vector_for_all_heads():
    assert rc.llm.model("deepseek-v3").kv_bytes_per_token() == 61 * (512 + 64) * 2


def test_gpt2_reads_neither_table_but_the_head():
    m = rc.llm.model("gpt2")  # tied: the token table is the head; of the position table a token needs one row
    assert m.bytes_stored("fp32") - m.bytes_read_per_step(1, "fp32") == 4 * 1024 * 768


def test_windows_bound_the_cache():
    m = rc.llm.model("mistral-7b")
    assert m.kv_cache_bytes(1000) == 1000 * 131_072
    assert m.kv_cache_bytes(9000) == 4096 * 131_072
    gemma = rc.llm.model("gemma-3-1b")  # 26 layers, every sixth sees everything: 4 of them
    a_layer = 2 * 1 * 256 * 2
    assert gemma.kv_cache_bytes(2000) == a_layer * (4 * 2000 + 22 * 512)
    # 600 queries in a layer with a window of 512: 1 + 2 + ... + 512, then 88 times 512
    pairs = 4 * 600 * 601 / 2 + 22 * (512 * 513 / 2 + 88 * 512)
    assert gemma.attention_flop(1, 600, "prefill") == pairs * 4 * 4 * 256


# --- experts --------------------------------------------------------------------------------------------------------


def test_experts_touched_by_a_batch():
    m = rc.llm.model("mixtral-8x7b")  # 8 experts, 2 for a token
    expert = 3 * 4096 * 14336
    rest = m.bytes_read_per_step(1) - 32 * 2 * expert * 2
    assert rest == 2 * (32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 8 * 4096 + 2 * 4096) + 32000 * 4096 + 4096)
    # two tokens: 8 x (1 - (3/4)^2) = 3.5 experts on average
    assert m.bytes_read_per_step(2) == rest + 32 * 3.5 * expert * 2
    np.testing.assert_allclose(
        m.bytes_read_per_step([1, 2, 10_000]), [rest + 32 * e * expert * 2 for e in (2, 3.5, 8)], rtol=1e-12
    )


def test_expert_layers():
    m = rc.llm.model("mixtral-8x7b")
    up = next(x for x in m.linear_layers(batch=2) if x.name == "expert_up_proj")
    assert (up.count, up.m) == (32 * 3.5, pytest.approx(4 / 3.5, rel=1e-15))  # 4 rows on 3.5 experts
    assert up.total.flop == pytest.approx(32 * 2 * 2 * 2 * 4096 * 14336, rel=1e-15)  # two tokens, two experts each
    assert m.active_parameters == 12_879_925_248 - 131_072_000  # as published for a token, less the input table


def test_shared_experts_always_run():
    layers = {x.name: x for x in rc.llm.model("deepseek-v2-lite").linear_layers(batch=1)}
    assert (layers["expert_up_proj"].count, layers["expert_up_proj"].m) == (26 * 6, 1)
    assert (layers["shared_expert_up_proj"].count, layers["shared_expert_up_proj"].n) == (26, 2 * 1408)
    assert layers["up_proj"].count == 1  # the first layer is dense


# --- weight-only quantisation -----------------------------------------------------------------------------------------


def test_quantised_bytes_by_hand(qwen):
    matrices = [(H, H), (H, KV), (H, KV), (H, H), (H, INNER), (H, INNER), (INNER, H)]
    weights = LAYERS * sum(k * n for k, n in matrices)
    outputs = LAYERS * sum(n for _, n in matrices)
    rest = 2 * (qwen.parameter_count - weights)
    assert qwen.bytes_stored("int8") == rest + weights + 2 * outputs  # a 16-bit scale for each output
    assert qwen.bytes_stored("fp8") == rest + weights + 4 * 7 * LAYERS  # a 4-byte scale for each matrix
    # 4 bits each; for 128 of them a 16-bit scale and a 4-bit zero point
    assert qwen.bytes_stored("int4") == rest + weights / 2 + weights / 128 * 2.5 == 5_570_747_392
    assert qwen.bytes_stored("int4_g64") == rest + weights / 2 + weights / 64 * 2.5
    assert qwen.bytes_stored("int4") - qwen.bytes_read_per_step(1, "int4") == 2 * EMBEDDING


def test_groups_that_do_not_divide_the_row():
    form = rc.llm.weight_format("int4")
    assert form.matrix_bytes(129, 10) == 129 * 10 / 2 + 10 * 2 * 2.5  # two groups an output


def test_mxfp4_is_for_experts():
    oss = rc.llm.model("gpt-oss-20b")
    experts = 24 * 32 * 3 * 2880 * 2880
    assert oss.bytes_stored("mxfp4") == experts * 4.25 / 8 + 2 * (oss.parameter_count - experts) == 13_761_264_768
    with pytest.raises(ValueError, match="mxfp4 is for models with experts, and Qwen2.5-7B has none"):
        rc.llm.model("qwen2.5-7b").bytes_stored("mxfp4")


def test_unknown_format():
    with pytest.raises(ValueError, match="unknown weight format 'int3'; known: fp64, fp32"):
        rc.llm.weight_format("int3")


# --- configs ----------------------------------------------------------------------------------------------------------


def test_a_config_file_a_folder_and_a_dictionary(tmp_path):
    config = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "intermediate_size": 96}
    config |= {"num_attention_heads": 4, "vocab_size": 100}
    folder = tmp_path / "Small-Llama"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    expected = 2 * (4 * 64 * 64 + 3 * 64 * 96 + 2 * 64) + 2 * 100 * 64 + 64
    for given in (config, folder, folder / "config.json", str(folder)):
        assert rc.llm.model(given).parameter_count == expected
    read = rc.llm.model(folder)
    assert (read.name, read.key) == ("Small-Llama", "small-llama")
    assert "tie_word_embeddings" in read.defaulted  # said, not silent
    assert "hidden_size" not in read.defaulted


def test_text_part_of_a_config_of_text_and_images():
    text = rc.llm.model("gemma-3-1b").config
    both = {"model_type": "gemma3", "text_config": text, "vision_config": {"hidden_size": 1152}}
    assert rc.llm.model(both).parameter_count == rc.llm.model("gemma-3-1b").parameter_count


def test_a_model_of_text_and_images_is_cut_in_its_text_part():
    text = {**rc.llm.model("gemma-3-1b").config, "layer_types": ["sliding_attention", "full_attention"] * 13}
    both = rc.llm.model({"model_type": "gemma3", "text_config": text, "vision_config": {"num_hidden_layers": 27}})
    cut = both.with_layers(2)
    assert (both.layers, cut.layers) == (26, 2)
    assert cut.bytes_stored() == rc.llm.model("gemma-3-1b").with_layers(2).bytes_stored()
    assert cut.config["text_config"]["layer_types"] == ["sliding_attention", "full_attention"]
    assert cut.config["vision_config"] == {"num_hidden_layers": 27}
    assert text["num_hidden_layers"] == both.config["text_config"]["num_hidden_layers"] == 26  # as they were


def test_a_key_that_a_family_does_not_look_at_may_hold_anything():
    plain = rc.llm.model({"model_type": "llama"}).with_layers(2)
    assert rc.llm.model({"model_type": "llama", "layer_types": 7}).with_layers(2).blocks == plain.blocks


REFUSED = [
    ({"hidden_size": 64}, "key 'model_type' is missing"),
    ({"model_type": "mamba"}, "model_type 'mamba' is not known here; known: llama, "),
    ({"model_type": ["llama"]}, "model_type ['llama'] is not known here"),
    ({"model_type": "deepseek_v2"}, "key 'num_experts_per_tok' is missing"),
    (
        {"model_type": "llama", "hidden_size": "4096"},
        "key 'hidden_size' must be a whole number of 1 or more, not '4096'",
    ),
    ({"model_type": "llama", "num_hidden_layers": 0}, "key 'num_hidden_layers' must be a whole number"),
    ({"model_type": "llama", "hidden_size": 100}, "key 'head_dim' is missing, and hidden_size 100 is no multiple"),
    (
        {"model_type": "llama", "num_key_value_heads": 5},
        "num_attention_heads 32 is no multiple of num_key_value_heads 5",
    ),
    ({"model_type": "qwen2", "layer_types": ["full_attention"]}, "key 'layer_types' must be a list of 32 names"),
    ({"model_type": "llama", "tie_word_embeddings": "yes"}, "key 'tie_word_embeddings' must be true or false"),
    (
        {"model_type": "gemma3_text", "sliding_window_pattern": "6"},
        "key 'sliding_window_pattern' must be a whole number of 1 or more, not '6'",
    ),
    (
        {"model_type": "gemma3_text", "_sliding_window_pattern": 0},
        "key '_sliding_window_pattern' must be a whole number of 1 or more, not 0",
    ),
    (
        {"model_type": "qwen3_moe", "mlp_only_layers": 3},
        "key 'mlp_only_layers' must be a list of layer numbers, not 3",
    ),
    ({"model_type": "mixtral", "num_experts_per_tok": 9}, "num_experts_per_tok 9 is more than the 8 experts"),
    ({"model_type": "deepseek_v3", "moe_layer_freq": 2}, "moe_layer_freq 2 is not supported"),
]


@pytest.mark.parametrize(("config", "message"), REFUSED)
def test_refusals_name_the_key_in_one_line(config, message):
    with pytest.raises(ValueError, match=".+") as caught:
        rc.llm.model(config)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_name_and_broken_file(tmp_path):
    with pytest.raises(LookupError, match="no model 'qwen-7b'.*nearest: qwen"):
        rc.llm.model("qwen-7b")
    broken = tmp_path / "config.json"
    broken.write_text('{"model_type": ')
    with pytest.raises(ValueError, match="not a config.json"):
        rc.llm.model(broken)


def test_wrong_phase_and_batch(qwen):
    with pytest.raises(ValueError, match="unknown phase 'train'"):
        qwen.linear_layers(1, 1, "train")
    with pytest.raises(ValueError, match="batch must be finite and positive"):
        qwen.linear_layers(0)
