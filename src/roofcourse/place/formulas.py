"""FLOP of one operator call: by torch's own formula where it has one that holds, by ours where it counts 0 or too much.

The conventions, beside those of :mod:`roofcourse.work`: a comparison, a square root, a division, an exponential or any
other function of one number counts as 1. What only moves, casts or indexes counts as 0, and so does integer arithmetic
outside of matrix products (where, as in :func:`roofcourse.work.gemm`, it is counted in OP).
torch counts matrix products, convolutions and attention; it counts attention on the CPU and the product of INT8 as 0,
causal attention as if every query saw every key, and complex products as if they were real.
"""

from __future__ import annotations

import math

#: FLOP an element of the output, for pointwise operators that take more than one.
POINTWISE = {
    "addcmul": 3,
    "addcdiv": 3,
    "lerp": 3,
    "sigmoid": 3,  # exp, add, divide (the sign is free)
    "silu": 4,  # sigmoid, multiply
    "gelu": 5,  # divide, erf, add, two multiplications
    "softplus": 3,
    "mish": 5,
    "elu": 3,
    "hardswish": 4,
    "clamp": 2,
}
#: Pointwise by torch's tags, and nothing but data movement.
MOVING = frozenset(
    """clone copy _to_copy to fill zero contiguous detach lift_fresh where masked_fill alias view_copy
    expand_copy""".split()  # noqa: SIM905
)
#: FLOP an element of the input, for operators that go over it several times.
OVER_INPUT = {
    "sum": 1,
    "mean": 1,
    "prod": 1,
    "amax": 1,
    "amin": 1,
    "max": 1,
    "min": 1,
    "argmax": 1,
    "argmin": 1,
    "cumsum": 1,
    "cumprod": 1,
    "var": 4,  # sum; subtract, square, add
    "std": 4,
    "var_mean": 4,
    "norm": 2,
    "linalg_vector_norm": 2,
    "logsumexp": 4,
    "_softmax": 5,  # maximum, subtract, exp, add, divide
    "_log_softmax": 5,  # maximum, subtract, exp, add, subtract
    "softmax": 5,  # these two with out=
    "log_softmax": 5,
    "native_layer_norm": 8,  # mean 1, variance 3, normalise 2, scale and shift 2
    "native_group_norm": 8,
    "native_batch_norm": 8,
    "_native_batch_norm_legit": 8,
    "_fused_rms_norm": 4,  # square, add, two multiplications
    "mse_loss": 3,
    "dot": 2,
    "vdot": 2,
}
#: Operators that move data and do no arithmetic, beside the views.
NONE = frozenset(
    """empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like ones ones_like full full_like
    new_zeros new_ones new_full arange scalar_tensor cat stack index select_copy index_select gather scatter embedding
    slice_scatter select_scatter copy_ fill_ zero_ index_put index_put_ repeat repeat_interleave roll flip
    constant_pad_nd _unsafe_view _reshape_alias unfold as_strided resize_ set_ _local_scalar_dense tril triu
    split_with_sizes_copy im2col col2im pixel_shuffle pixel_unshuffle channel_shuffle nonzero masked_select sort topk
    bernoulli_ uniform_ normal_ random_ rand randn randint rand_like randn_like native_dropout
    isfinite isnan item is_same_size eq ne lt le gt ge any all bitwise_and bitwise_or bitwise_not logical_and
    logical_or logical_not""".split()  # noqa: SIM905
)
#: What is read is what is picked out, not the whole table.
PICKING = frozenset(("embedding", "index", "index_select", "gather", "masked_select"))


def attention_flop(query, key, value, causal: bool) -> int:
    """Both products of softmax(Q K^T) V, for the pairs that are seen; shapes ``(batch, heads, tokens, dimension)``.

    ``causal`` as torch means it: query i sees the keys 0 to i. Grouped heads cost what full ones cost.
    """
    batch, heads, queries, width = query.shape[-4:] if query.ndim >= 4 else (1, *query.shape)
    keys, out = key.shape[-2], value.shape[-1]
    if causal:
        whole = min(queries, keys)
        pairs = whole * (whole + 1) // 2 + (queries - whole) * keys
    else:
        pairs = queries * keys
    return 2 * batch * heads * pairs * (width + out)


def _attention(func, args: tuple, kwargs: dict) -> int:
    query, key, value = args[:3]
    # The backends put it at different places: the operator's own schema says where.
    at = [a.name for a in func._schema.arguments].index("is_causal")
    causal = args[at] if at < len(args) else kwargs.get("is_causal", False)
    return attention_flop(query, key, value, causal)


def flop(func, args: tuple, kwargs: dict, out, torch_formulas: dict) -> tuple[int | None, str]:
    """``(FLOP, who says so)`` of one call of an ATen operator; ``None`` if nobody can say.

    Who: ``"torch"``, ``"formula"`` (this module), ``"none"`` (no arithmetic), ``"not counted"``.
    """
    import torch

    name = func.overloadpacket.__name__
    plain = name.removesuffix("_") if not name.startswith("_") else name
    if name.startswith("_scaled_dot_product_") and not name.endswith("_backward"):
        return _attention(func, args, kwargs), "formula"
    if func.overloadpacket in torch_formulas:
        return _multiply_adds(args) * int(torch_formulas[func.overloadpacket](*args, **kwargs, out_val=out)), "torch"
    if name == "_int_mm":
        (m, k), n = args[0].shape, args[1].shape[1]
        return 2 * m * n * k, "formula"
    if func.is_view or name in NONE or plain in MOVING:
        return 0, "none"
    source = next((a for a in args if torch.is_tensor(a)), None)
    result = out if torch.is_tensor(out) else next((o for o in _flat(out) if torch.is_tensor(o)), None)
    if not any(torch.is_tensor(t) and _floats(t) for t in (*_flat(args), result)):
        return 0, "none"  # integers only
    if plain in OVER_INPUT and source is not None:
        times = _multiply_adds(args) if plain in ("dot", "vdot") else 1
        return times * OVER_INPUT[plain] * source.numel(), "formula"
    if plain == "pow" and result is not None:
        power = args[1] if len(args) > 1 else None
        times = abs(power) - 1 if isinstance(power, int) and abs(power) in (2, 3) else 1
        return times * result.numel(), "formula"
    # (torch does not tag every one of these, and few of their forms with out=)
    if (torch.Tag.pointwise in func.tags or plain in POINTWISE) and result is not None:
        alpha = kwargs.get("alpha", 1) != 1 and plain in ("add", "sub")
        return (POINTWISE.get(plain, 1) + alpha) * result.numel(), "formula"
    if name in ("mv", "addmv") and result is not None:
        matrix = args[0] if name == "mv" else args[1]
        return _multiply_adds(args) * 2 * matrix.numel(), "formula"
    if name in ("_fft_c2c", "_fft_r2c", "_fft_c2r") and source is not None:
        return _fft(source, result, args[1]), "formula"
    return None, "not counted"


def _multiply_adds(args: tuple) -> int:
    """Real multiply-adds in one of a product: four multiplications and four additions where the numbers are complex."""
    return 4 if any(t.is_complex() for t in args if hasattr(t, "is_complex")) else 1


def _fft(source, result, dims) -> int:
    """5 n log2 n for each complex transform of length n, half of that where one side is real (the usual convention)."""
    whole = max((source, result), key=lambda t: t.numel())
    real = not (source.is_complex() and result.is_complex())
    count = math.prod(whole.shape) * sum(5 * math.log2(whole.shape[d]) for d in dims if whole.shape[d] > 1)
    return round(count / 2) if real else round(count)


def _floats(t) -> bool:
    return t.is_floating_point() or t.is_complex()


def _flat(x) -> list:
    if isinstance(x, (tuple, list)):
        return [z for y in x for z in _flat(y)]
    return [x]
