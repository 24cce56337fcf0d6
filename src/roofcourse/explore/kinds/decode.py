"""The explorer of chapter 6: the lower bound of a decode step, its parts, and the measured step if there is one.

Python asks :func:`roofcourse.llm.decode_bound`; the browser computes the same from a few coefficients of each model
(``js/kinds/decode_model.js``). A browser test compares them, sentence and all.
"""

from __future__ import annotations

from functools import cache

from ... import inference, llm, palette
from ... import words as fmt
from ...catalogue import Device, devices
from ...llm.formats import WeightFormat, cache_bytes, weight_format
from ...precision import PRECISIONS
from ..own import OwnDevice
from ..standin_decode import decode_figure
from . import _common

LABEL = "the least time of a decode step"
OWN = True
#: Weight formats and KV formats to choose from: the name, and its words in a sentence.
WEIGHTS = ("fp32", "bf16", "fp8_e4m3", "int8", "int4", "mxfp4")
CACHES = {"bf16": "BF16", "fp8_e4m3": "FP8", "int8": "INT8", "int4": "INT4"}
LARGEST = {"batch": 4096, "prompt_length": 131072}
DEFAULTS = {
    "model": "qwen2.5-7b",
    "device": "h100",
    "batch": 8,
    "prompt_length": 1024,
    "weight_precision": "bf16",
    "kv_precision": "bf16",
}
PARTS = {"weights": "the weights", "kv": "the KV cache", "activations": "the activations", "compute": "the arithmetic"}


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "device":
        return _common.check_device(value, own)
    if key in LARGEST:
        return _common.check_whole(key, value, 1, LARGEST[key])
    if key == "model":
        found = llm.model(value)
        if found not in llm.models():
            raise ValueError(f"the explorer shows the bundled models only; for {found.name} ask rc.llm.decode_bound")
        return found.key
    if key == "weight_precision":
        name = weight_format(value).name
        known = WEIGHTS
    else:
        name = "int4" if str(value).lower() == "int4" else _precision_name(value)
        known = tuple(CACHES)
    if name not in known:
        raise ValueError(f"{key} is one of {', '.join(known)}, not {value!r}")
    return name


def _precision_name(value) -> str:
    from ...precision import precision

    return precision(value).name


@cache
def model_spec(key: str) -> dict:
    """One model as the browser gets it.

    ``stored``, ``fixed``: bytes of all parameters, and of those that every step reads, by weight format. ``experts``:
    groups of experts, of which a step reads E (1 - (1 - p/E)^batch): [E, p, bytes of one by format]. ``attention``:
    [window or 0, KV elements a token, FLOP a token seen]. ``linear_flop``: FLOP a token. ``rows``: elements that enter
    and leave the step for each request.
    """
    m = llm.model(key)
    forms = {name: weight_format(name) for name in WEIGHTS if name != "mxfp4" or m.sparse}
    groups: dict[tuple[int, int], dict[str, float]] = {}
    for b in m.blocks:
        for x in b.linears:
            if x.experts:
                of = groups.setdefault((x.experts, x.per_token), dict.fromkeys(forms, 0.0))
                for name, form in forms.items():
                    of[name] += b.count * x.bytes(form)
    # One token touches p of E experts: what is left of its reading is read in every step.
    touched = {name: sum(p * of[name] for (_, p), of in groups.items()) for name in forms}
    windows: dict[int, list[float]] = {}
    for b in m.blocks:
        a = b.attention
        of = windows.setdefault(a.window or 0, [0.0, 0.0])
        of[0] += b.count * a.cached
        of[1] += b.count * a.flop_per_pair("decode")
    return {
        "key": m.key,
        "name": m.name,
        "stored": {name: float(m.bytes_stored(form)) for name, form in forms.items()},
        "fixed": {name: float(m.bytes_read(1, form)) - touched[name] for name, form in forms.items()},
        "experts": [[count, used, of] for (count, used), of in groups.items()],
        "attention": [[window, cached, flop] for window, (cached, flop) in windows.items()],
        "linear_flop": float(m.linear_flop()),
        "rows": m.parts.hidden + m.parts.vocabulary,
    }


def spec(own: dict | None = None) -> dict:
    """What the browser needs: models, devices with B, memory and F, the formats, and the measured steps."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(_own_spec(d) for d in own.values())]}


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "models": [model_spec(m.key) for m in llm.models()],
        "devices": [
            {
                **_common.device_spec(d),
                "memory": float(d.memory_bytes),
                "peaks": {p: d.roofline(p).peak for p in d.precisions},
            }
            for d in devices()
        ],
        "weights": [
            {"name": f.name, "label": f.label, "compute": list(f.compute), "width": max(2.0, f.rest_bytes)}
            for f in map(weight_format, WEIGHTS)
        ],
        "caches": [{"name": name, "label": label, "bytes": cache_bytes(name)} for name, label in CACHES.items()],
        "measured": measured(),
    }


def _own_spec(d: OwnDevice) -> dict:
    return {
        **d.spec(),
        "memory": float(d.bench.device.memory_bytes or 0),  # 0 where the run does not say
        "peaks": {p: d.roofline(p).peak for p in d.precisions if p in _common.precisions()},
    }


def _can_compute(card: Device | OwnDevice, form: WeightFormat) -> bool:
    return any(p in card.precisions for p in form.compute)


def start(d: OwnDevice, state: dict) -> dict:
    """The state that shows a device that has just come: it is chosen, and so is a weight format that it can compute."""
    m = llm.model(state["model"])
    forms = [f for f in map(weight_format, (state["weight_precision"], *WEIGHTS)) if not f.experts_only or m.sparse]
    name = next((f.name for f in forms if _can_compute(d, f)), None)
    if name is None:
        ask = "measure with --only bandwidth,matmul"
        raise LookupError(f"{d.name}: this run has no roof of a matrix product in fp32, bf16 or fp16: {ask}")
    return {**state, "device": d.key, "weight_precision": name}


@cache
def measured() -> dict:
    """The measured steps: device to [batch, prompt length, seconds]; all of one model in one format."""
    steps = {d.key: _steps(d.key) for d in devices()}
    return {
        "model": "qwen2.5-7b",
        "precision": "bf16",
        "steps": {key: [[s.batch, s.prompt_length, s.seconds] for s in found] for key, found in steps.items() if found},
    }


def _steps(key: str) -> tuple:
    try:
        return inference.decode_steps(key)
    except LookupError:  # a card on which no model was run
        return ()


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence about them; keys that do not apply are left out."""
    m, form = llm.model(state["model"]), weight_format(state["weight_precision"])
    card = _common.card(state["device"], own or {})
    v = {"batch": state["batch"], "prompt_length": state["prompt_length"], "available": False}
    if form.experts_only and not m.sparse:
        v["sentence"] = (
            f"{form.label}: a format for models with experts, and {m.name} has none. Choose INT4 for its weights."
        )
        return v
    if not _can_compute(card, form):
        wanted = " or ".join(PRECISIONS[p].label for p in form.compute)
        v["sentence"] = (
            f"{form.label} weights are multiplied in {wanted}, and no such product was measured on {card.name}: "
            "choose other weights."
        )
        return v
    v["available"] = True
    machine = card.bench.device if isinstance(card, OwnDevice) else card
    b = llm.decode_bound(m, machine, state["batch"], state["prompt_length"], form, state["kv_precision"])
    v |= {name: float(getattr(b, name)) for name in _NUMBERS}
    v |= {
        "bandwidth": b.roofline.bandwidth,
        "peak": b.roofline.peak,
        "ridge_point": b.roofline.ridge_point,
        "compute_precision": PRECISIONS[b.compute_precision].label,
        "bound": b.bound,
        "part": b.part,
        "batch_where_weights_stop": b.batch_where_weights_stop,
        "part_after_weights": b.part_after_weights,
        "linear_intensity": m.linear_flop(v["batch"]) / b.weights_bytes,
        "attention_intensity": m.attention_flop(v["batch"], v["prompt_length"]) / b.kv_bytes,
    }
    if b.memory_bytes:
        v |= {"memory_bytes": float(b.memory_bytes), "fits": b.fits}
    v |= {f"percent_{part}": 100 * v[f"{part}_bytes"] / v["bytes"] for part in ("weights", "kv", "activations")}
    found = _measured_seconds(state)
    v["measured"] = found is not None
    if found is not None:
        v |= {"measured_seconds": found, "times_bound": found / v["seconds"]}
    v["sentence"] = _sentence(state, card.name, m.name, form.label, v)
    return v


_NUMBERS = (
    "weights_bytes",
    "kv_bytes",
    "activations_bytes",
    "bytes",
    "flop",
    "weights_seconds",
    "kv_seconds",
    "activations_seconds",
    "memory_seconds",
    "compute_seconds",
    "seconds",
    "tokens_per_second",
    "intensity",
    "memory_needed",
)


def _measured_seconds(state: dict) -> float | None:
    of = measured()
    if (state["model"], state["weight_precision"], state["kv_precision"]) != (of["model"], *[of["precision"]] * 2):
        return None
    for batch, prompt, seconds in of["steps"].get(state["device"], ()):
        if (batch, prompt) == (state["batch"], state["prompt_length"]):
            return seconds
    return None


def _sentence(state: dict, card: str, name: str, weights: str, v: dict) -> str:
    who = "one request" if v["batch"] == 1 else f"{fmt.significant(v['batch'], 1)} requests"
    tokens = f"{fmt.significant(v['prompt_length'], 1)} token{'' if v['prompt_length'] == 1 else 's'}"
    formats = f"weights in {weights}, KV cache in {CACHES[state['kv_precision']]}"
    first = (
        f"On {fmt.with_article(card)}, one step of {name} ({formats}) for {who} of {tokens} takes at least "
        f"{fmt.time3(v['seconds'])}: at most {fmt.significant(v['tokens_per_second'], 3)} tokens/s."
    )
    if v["bound"] == "compute":
        why = f"The arithmetic, {fmt.flop(v['flop'])}, takes longer than to move {fmt.nbytes(v['bytes'])}."
    else:
        part = PARTS[v["part"]]
        verb = "is" if v["part"] == "kv" else "are"
        share = fmt.percent(v[f"percent_{v['part']}"])
        why = f"{part[0].upper()}{part[1:]} {verb} {share} of the {fmt.nbytes(v['bytes'])} that it moves."
    seen = ""
    if v["measured"]:
        times = fmt.significant(v["times_bound"], 2)
        seen = f" Measured: {fmt.time3(v['measured_seconds'])}, {times} times the bound."
    needed = fmt.nbytes(v["memory_needed"])
    if "fits" not in v:
        fit = f" Weights and KV cache need {needed}."
    elif v["fits"]:
        fit = f" Weights and KV cache need {needed} of its {fmt.nbytes(v['memory_bytes'])} of memory."
    else:
        fit = f" But weights and KV cache need {needed}, and it has {fmt.nbytes(v['memory_bytes'])}: they do not fit."
    return first + " " + why + seen + fit


def stand_in(state: dict, own: dict | None = None) -> str:
    """The chart of one state as an SVG that needs no script."""
    return decode_figure(palette.device(state["device"]).light, compute(state, own))
