"""From a Hugging Face ``config.json`` to the parts of the model: one short function for each family of models.

A key that a config leaves out takes the default of Transformers (:data:`DEFAULTS`, compared with the library by a
test); ``Config.defaulted`` lists those. What has no default, and every family that is not here, is refused by name.
Layer names are those of Transformers, except that experts are named one by one (``expert_up_proj``), however the
library packs them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from .parts import Attention, Block, Linear

_LLAMA = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": None,
    "head_dim": None,
    "attention_bias": False,
    "mlp_bias": False,
    "tie_word_embeddings": False,
}
_QWEN2 = {
    "vocab_size": 151936,
    "hidden_size": 4096,
    "intermediate_size": 22016,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "head_dim": None,
    "tie_word_embeddings": False,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_window_layers": 28,
    "layer_types": None,
}
_MISTRAL = _LLAMA | {"intermediate_size": 14336, "num_key_value_heads": 8, "sliding_window": 4096}
_GEMMA2 = {
    "vocab_size": 256000,
    "hidden_size": 2304,
    "intermediate_size": 9216,
    "num_hidden_layers": 26,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 256,
    "attention_bias": False,
    "tie_word_embeddings": True,
    "sliding_window": 4096,
    "layer_types": None,
}
_DEEPSEEK = {
    "vocab_size": 102400,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "moe_intermediate_size": 1407,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "attention_bias": False,
    "tie_word_embeddings": False,
    "first_k_dense_replace": 0,
    "n_routed_experts": 64,
    "n_shared_experts": 2,
    "num_experts_per_tok": None,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}

#: What Transformers takes for a key that a config leaves out, by ``model_type``. ``None``: from other keys, or refused.
DEFAULTS: dict[str, dict] = {
    "llama": _LLAMA,
    "mistral": {k: v for k, v in _MISTRAL.items() if k not in ("attention_bias", "mlp_bias")},
    "mixtral": {k: v for k, v in _MISTRAL.items() if k not in ("attention_bias", "mlp_bias")}
    | {"sliding_window": None, "num_local_experts": 8, "num_experts_per_tok": 2},
    "qwen2": _QWEN2,
    "qwen2_moe": _QWEN2
    | {
        "hidden_size": 2048,
        "intermediate_size": 5632,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "num_key_value_heads": 16,
        "qkv_bias": True,
        "moe_intermediate_size": 1408,
        "shared_expert_intermediate_size": 5632,
        "num_experts": 60,
        "num_experts_per_tok": 4,
        "decoder_sparse_step": 1,
        "mlp_only_layers": None,
    },
    "qwen3": _QWEN2 | {"head_dim": 128, "attention_bias": False},
    "qwen3_moe": {k: v for k, v in _QWEN2.items() if k not in ("max_window_layers", "layer_types")}
    | {
        "hidden_size": 2048,
        "intermediate_size": 6144,
        "num_hidden_layers": 24,
        "num_key_value_heads": 4,
        "attention_bias": False,
        "moe_intermediate_size": 768,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "decoder_sparse_step": 1,
        "mlp_only_layers": None,
    },
    "gemma2": _GEMMA2,
    "gemma3_text": _GEMMA2 | {"vocab_size": 262208},
    "phi3": {k: v for k, v in _LLAMA.items() if k not in ("attention_bias", "mlp_bias")}
    | {"vocab_size": 32064, "hidden_size": 3072, "intermediate_size": 8192, "sliding_window": None},
    "gpt2": {
        "vocab_size": 50257,
        "n_positions": 1024,
        "n_embd": 768,
        "n_layer": 12,
        "n_head": 12,
        "n_inner": None,
        "tie_word_embeddings": True,
    },
    "starcoder2": {
        "vocab_size": 49152,
        "hidden_size": 3072,
        "intermediate_size": 12288,
        "num_hidden_layers": 30,
        "num_attention_heads": 24,
        "num_key_value_heads": 2,
        "head_dim": None,
        "use_bias": True,
        "sliding_window": None,
        "tie_word_embeddings": True,
    },
    "deepseek_v2": _DEEPSEEK,
    "deepseek_v3": _DEEPSEEK
    | {
        "vocab_size": 129280,
        "hidden_size": 7168,
        "intermediate_size": 18432,
        "moe_intermediate_size": 2048,
        "num_hidden_layers": 61,
        "num_attention_heads": 128,
        "first_k_dense_replace": 3,
        "n_routed_experts": 256,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
    },
    "gpt_oss": {
        "vocab_size": 201088,
        "hidden_size": 2880,
        "intermediate_size": 2880,
        "num_hidden_layers": 36,
        "num_attention_heads": 64,
        "num_key_value_heads": 8,
        "head_dim": 64,
        "attention_bias": True,
        "num_local_experts": 128,
        "num_experts_per_tok": 4,
        "sliding_window": 128,
        "layer_types": None,
        "tie_word_embeddings": False,
    },
}
#: Two spellings of one key, as Transformers takes both.
_SPELLINGS = {
    "qwen3_moe": {"num_local_experts": "num_experts"},
    "mixtral": {"num_experts": "num_local_experts"},
    "gpt_oss": {"num_experts": "num_local_experts"},
    "deepseek_v2": {"num_experts": "n_routed_experts"},
    "deepseek_v3": {"num_experts": "n_routed_experts", "num_local_experts": "n_routed_experts"},
    "gpt2": {
        "hidden_size": "n_embd",
        "num_hidden_layers": "n_layer",
        "num_attention_heads": "n_head",
        "max_position_embeddings": "n_positions",
    },
}
_MAY_BE_ZERO = ("first_k_dense_replace", "max_window_layers", "sliding_window", "n_shared_experts")


@dataclass
class Config:
    """A config with the family's defaults behind it. ``defaulted``: the keys that were asked for and not there."""

    family: str
    given: dict
    where: str
    defaulted: list[str] = field(default_factory=list)

    def get(self, key: str):
        """The value, or Transformers' default."""
        if key in self.given:
            return self.given[key]
        value = DEFAULTS[self.family].get(key)
        if value is not None and key not in self.defaulted:
            self.defaulted.append(key)
        return value

    def size(self, key: str, otherwise: int | None = None) -> int:
        """A whole number of 1 or more (or 0 where that has a meaning)."""
        value = self.get(key)
        if value is None:
            value = otherwise
        if value is None:
            raise ValueError(f"{self.where}: key {key!r} is missing (Transformers has no default for {self.family})")
        if isinstance(value, bool) or not isinstance(value, int) or value < (0 if key in _MAY_BE_ZERO else 1):
            raise ValueError(f"{self.where}: key {key!r} must be a whole number of 1 or more, not {value!r}")
        return value

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if not isinstance(value, bool):
            raise ValueError(f"{self.where}: key {key!r} must be true or false, not {value!r}")
        return value

    @property
    def head_dim(self) -> int:
        """The explicit one, else hidden size over heads."""
        hidden, heads = self.size("hidden_size"), self.size("num_attention_heads")
        if self.get("head_dim") is None and hidden % heads:
            raise ValueError(
                f"{self.where}: key 'head_dim' is missing, and hidden_size {hidden} is no multiple of the {heads} heads"
            )
        return self.size("head_dim", hidden // heads)

    @property
    def kv_heads(self) -> int:
        heads = self.size("num_attention_heads")
        kv = self.size("num_key_value_heads", heads)
        if heads % kv:
            raise ValueError(f"{self.where}: num_attention_heads {heads} is no multiple of num_key_value_heads {kv}")
        return kv


@dataclass(frozen=True)
class Parts:
    """A whole model: tables that are looked up (elements), blocks of layers, final norm, output head."""

    hidden: int
    vocabulary: int
    blocks: tuple[Block, ...]
    final_norm: int
    tied: bool
    positions: int = 0


def parts(config: Config) -> Parts:
    """The parts of the model that a config describes. Raises ``ValueError`` in one line, naming the key."""
    return _BUILD[config.family](config)


def _blocks(layers: list[tuple]) -> tuple[Block, ...]:
    """Layers that are alike together, in the order of their first appearance."""
    return tuple(Block(count, *layer) for layer, count in Counter(layers).items())


def _windows(c: Config, sliding) -> list[int | None]:
    """The window of each layer: by ``layer_types`` where the config has it, else by the family's own rule."""
    count = c.size("num_hidden_layers")
    types = c.given.get("layer_types")
    if types is not None:
        if not isinstance(types, list) or len(types) != count:
            raise ValueError(f"{c.where}: key 'layer_types' must be a list of {count} names, one for each layer")
        if unknown := set(types) - {"sliding_attention", "full_attention"}:
            raise ValueError(f"{c.where}: layer type {min(map(str, unknown))!r} is not known")
        sliding = [t == "sliding_attention" for t in types].__getitem__
    chosen = [bool(sliding(i)) for i in range(count)]
    if not any(chosen) or (c.get("sliding_window") is None and types is None):
        return [None] * count
    return [c.size("sliding_window") if s else None for s in chosen]


def _grouped_attention(c: Config, window) -> Attention:
    d, kv = c.head_dim, c.kv_heads
    return Attention(c.size("num_attention_heads"), d, d, 2 * kv * d, window)


def _projections(c: Config, qkv_bias: bool, out_bias: bool) -> tuple[Linear, ...]:
    h, d, heads, kv = c.size("hidden_size"), c.head_dim, c.size("num_attention_heads"), c.kv_heads
    return (
        Linear("q_proj", h, heads * d, qkv_bias),
        Linear("k_proj", h, kv * d, qkv_bias),
        Linear("v_proj", h, kv * d, qkv_bias),
        Linear("o_proj", heads * d, h, out_bias),
    )


def _gated(h: int, inner: int, prefix: str = "", **how) -> tuple[Linear, ...]:
    return (
        Linear(f"{prefix}gate_proj", h, inner, **how),
        Linear(f"{prefix}up_proj", h, inner, **how),
        Linear(f"{prefix}down_proj", inner, h, **how),
    )


def _decoder(
    c: Config, *, qkv_bias=False, out_bias=False, mlp_bias=False, norms=2, head_norms=0, sliding=None
) -> Parts:
    """Llama and its relatives: four projections and a gated MLP, RMS norms."""
    h = c.size("hidden_size")
    linears = _projections(c, qkv_bias, out_bias) + _gated(h, c.size("intermediate_size"), bias=mlp_bias)
    vectors = norms * h + head_norms * c.head_dim
    windows = _windows(c, sliding) if sliding else [None] * c.size("num_hidden_layers")
    layers = [(linears, _grouped_attention(c, w), vectors) for w in windows]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


def _llama(c: Config) -> Parts:
    bias = c.flag("attention_bias")
    return _decoder(c, qkv_bias=bias, out_bias=bias, mlp_bias=c.flag("mlp_bias"))


def _mistral(c: Config) -> Parts:
    return _decoder(c, sliding=lambda i: True)


def _qwen_window(c: Config):
    """Sliding layers come last, and only if the config switches them on."""
    on = c.flag("use_sliding_window")
    return lambda i: on and i >= c.size("max_window_layers")


def _qwen2(c: Config) -> Parts:
    return _decoder(c, qkv_bias=True, sliding=_qwen_window(c))


def _qwen3(c: Config) -> Parts:
    bias = c.flag("attention_bias")
    return _decoder(c, qkv_bias=bias, out_bias=bias, head_norms=2, sliding=_qwen_window(c))


def _gemma2(c: Config) -> Parts:
    bias = c.flag("attention_bias")
    return _decoder(c, qkv_bias=bias, out_bias=bias, norms=4, sliding=lambda i: (i + 1) % 2)


def _gemma3(c: Config) -> Parts:
    bias = c.flag("attention_bias")
    key = "sliding_window_pattern" if "sliding_window_pattern" in c.given else "_sliding_window_pattern"
    every = c.size(key, 6)
    return _decoder(c, qkv_bias=bias, out_bias=bias, norms=4, head_norms=2, sliding=lambda i: (i + 1) % every)


def _phi3(c: Config) -> Parts:
    h, d, heads, kv = c.size("hidden_size"), c.head_dim, c.size("num_attention_heads"), c.kv_heads
    inner = c.size("intermediate_size")
    linears = (
        Linear("qkv_proj", h, (heads + 2 * kv) * d),
        Linear("o_proj", heads * d, h),
        Linear("gate_up_proj", h, 2 * inner),
        Linear("down_proj", inner, h),
    )
    layers = [(linears, _grouped_attention(c, w), 2 * h) for w in _windows(c, lambda i: True)]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


def _gpt2(c: Config) -> Parts:
    h, heads = c.size("n_embd"), c.size("n_head")
    if h % heads:
        raise ValueError(f"{c.where}: n_embd {h} is no multiple of n_head {heads}")
    inner = c.size("n_inner", 4 * h)
    linears = (
        Linear("c_attn", h, 3 * h, True),
        Linear("c_proj", h, h, True),
        Linear("c_fc", h, inner, True),
        Linear("mlp_c_proj", inner, h, True),
    )
    attention = Attention(heads, h // heads, h // heads, 2 * h)
    layers = [(linears, attention, 4 * h)] * c.size("n_layer")  # two layer norms, each with weight and bias
    positions = c.size("n_positions")
    return Parts(h, c.size("vocab_size"), _blocks(layers), 2 * h, c.flag("tie_word_embeddings"), positions)


def _starcoder2(c: Config) -> Parts:
    h, inner, bias = c.size("hidden_size"), c.size("intermediate_size"), c.flag("use_bias")
    linears = (*_projections(c, bias, bias), Linear("c_fc", h, inner, bias), Linear("c_proj", inner, h, bias))
    layers = [(linears, _grouped_attention(c, w), 4 * h) for w in _windows(c, lambda i: True)]
    return Parts(h, c.size("vocab_size"), _blocks(layers), 2 * h, c.flag("tie_word_embeddings"))


def _experts(c: Config, key: str, inner: int, *, bias: bool = False, wide: bool = False) -> tuple[Linear, ...]:
    """A router and the experts that it chooses from."""
    h, count, per_token = c.size("hidden_size"), c.size(key), c.size("num_experts_per_tok")
    if per_token > count:
        raise ValueError(f"{c.where}: num_experts_per_tok {per_token} is more than the {count} experts ({key})")
    router = Linear("router", h, count, bias, router=True, wide=wide)
    return (router, *_gated(h, inner, "expert_", bias=bias, experts=count, per_token=per_token))


def _mixtral(c: Config) -> Parts:
    h = c.size("hidden_size")
    linears = _projections(c, False, False) + _experts(c, "num_local_experts", c.size("intermediate_size"))
    layers = [(linears, _grouped_attention(c, w), 2 * h) for w in _windows(c, lambda i: True)]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


def _qwen_moe(c: Config, projections, vectors: int, sliding, shared: tuple[Linear, ...] = ()) -> Parts:
    """Every ``decoder_sparse_step``-th layer has experts, except those of ``mlp_only_layers``."""
    h = c.size("hidden_size")
    sparse = (*_experts(c, "num_experts", c.size("moe_intermediate_size")), *shared)
    dense = _gated(h, c.size("intermediate_size"))
    only, step = c.get("mlp_only_layers") or [], c.size("decoder_sparse_step")
    if not isinstance(only, list):
        raise ValueError(f"{c.where}: key 'mlp_only_layers' must be a list of layer numbers, not {only!r}")
    layers = [
        (
            projections + (sparse if i not in only and (i + 1) % step == 0 else dense),
            _grouped_attention(c, window),
            vectors,
        )
        for i, window in enumerate(_windows(c, sliding))
    ]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


def _qwen2_moe(c: Config) -> Parts:
    h = c.size("hidden_size")
    shared = _gated(h, c.size("shared_expert_intermediate_size"), "shared_expert_")
    shared += (Linear("shared_expert_gate", h, 1, router=True),)
    return _qwen_moe(c, _projections(c, c.flag("qkv_bias"), False), 2 * h, _qwen_window(c), shared)


def _qwen3_moe(c: Config) -> Parts:
    bias, on = c.flag("attention_bias"), c.flag("use_sliding_window")
    return _qwen_moe(c, _projections(c, bias, bias), 2 * c.size("hidden_size") + 2 * c.head_dim, lambda i: on)


def _deepseek(c: Config, *, router_vectors: bool) -> Parts:
    """Multi-head latent attention: one compressed vector and one rotary key are cached, for all heads together."""
    h, heads, bias = c.size("hidden_size"), c.size("num_attention_heads"), c.flag("attention_bias")
    nope, rope, value = c.size("qk_nope_head_dim"), c.size("qk_rope_head_dim"), c.size("v_head_dim")
    latent = c.size("kv_lora_rank")
    if c.given.get("moe_layer_freq", 1) != 1:
        raise ValueError(f"{c.where}: moe_layer_freq {c.given['moe_layer_freq']!r} is not supported, only 1")
    if c.get("q_lora_rank") is None:
        query, query_norm = (Linear("q_proj", h, heads * (nope + rope)),), 0
    else:
        query_norm = c.size("q_lora_rank")
        query = (Linear("q_a_proj", h, query_norm, bias), Linear("q_b_proj", query_norm, heads * (nope + rope)))
    projections = (
        *query,
        Linear("kv_a_proj_with_mqa", h, latent + rope, bias),
        Linear("kv_b_proj", latent, heads * (nope + value)),
        Linear("o_proj", heads * value, h, bias),
    )
    attention = Attention(heads, nope + rope, value, latent + rope, latent=(latent + rope, latent))
    inner = c.size("moe_intermediate_size")
    sparse = _experts(c, "n_routed_experts", inner, wide=True)  # Transformers keeps the router in FP32
    if c.get("n_shared_experts"):
        sparse += _gated(h, inner * c.size("n_shared_experts"), "shared_expert_")
    dense = _gated(h, c.size("intermediate_size"))
    vectors, first = 2 * h + query_norm + latent, c.size("first_k_dense_replace")
    more = c.size("n_routed_experts") if router_vectors else 0  # V3 corrects the router's scores, expert by expert
    layers = [
        (projections + dense, attention, vectors)
        if i < first
        else (projections + sparse, attention, vectors + more, more)
        for i in range(c.size("num_hidden_layers"))
    ]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


def _gpt_oss(c: Config) -> Parts:
    h, bias = c.size("hidden_size"), c.flag("attention_bias")
    linears = _projections(c, bias, bias)
    linears += _experts(c, "num_local_experts", c.size("intermediate_size"), bias=True)
    vectors = 2 * h + c.size("num_attention_heads")  # one attention sink for each head
    layers = [(linears, _grouped_attention(c, w), vectors) for w in _windows(c, lambda i: (i + 1) % 2)]
    return Parts(h, c.size("vocab_size"), _blocks(layers), h, c.flag("tie_word_embeddings"))


_BUILD = {
    "llama": _llama,
    "mistral": _mistral,
    "mixtral": _mixtral,
    "qwen2": _qwen2,
    "qwen2_moe": _qwen2_moe,
    "qwen3": _qwen3,
    "qwen3_moe": _qwen3_moe,
    "gemma2": _gemma2,
    "gemma3_text": _gemma3,
    "phi3": _phi3,
    "gpt2": _gpt2,
    "starcoder2": _starcoder2,
    "deepseek_v2": lambda c: _deepseek(c, router_vectors=False),
    "deepseek_v3": lambda c: _deepseek(c, router_vectors=True),
    "gpt_oss": _gpt_oss,
}
#: Every ``model_type`` that is known here.
FAMILIES = tuple(_BUILD)


def text_part(given: dict) -> dict:
    """The config of the language model: the text part of a config of text and images, else all of it."""
    if not isinstance(given.get("text_config"), dict):
        return given
    inherited = {k: v for k, v in given.items() if k == "tie_word_embeddings"}
    return inherited | given["text_config"]


def config_of(given: dict, where: str) -> Config:
    """A checked config. A config of text and images is taken by its text part.

    Raises ``ValueError`` in one line for a config without ``model_type``, or of a family that is not known here.
    """
    if not isinstance(given, dict):
        raise ValueError(f"{where}: a config is a dictionary (the content of config.json), not {type(given).__name__}")
    given = text_part(given)
    family = given.get("model_type")
    if family is None:
        raise ValueError(f"{where}: key 'model_type' is missing; it names the family, one of {', '.join(FAMILIES)}")
    if not isinstance(family, str) or family not in _BUILD:
        raise ValueError(f"{where}: model_type {family!r} is not known here; known: {', '.join(FAMILIES)}")
    spelling = _SPELLINGS.get(family, {})
    given = {spelling.get(k, k) if spelling.get(k, k) not in given else k: v for k, v in given.items()}
    return Config(family, given, where)
