"""The explorer of chapter 8: a kernel under a device's roofs, the levers applied to it, and where it moves.

All of it is the model: W and Q are counted, the roofs and the launch are the device's measured ones. ``compute`` and
its sentence are written twice, here and in ``js/kinds/levers_model.js``; a browser test compares them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from ... import loopnest, work
from ... import words as fmt
from ...bench import Bundled
from ...catalogue import device, devices
from ...work import Work
from ..own import OwnDevice
from ..standin_levers import levers_figure, throughput_axis
from . import _common

LABEL = "levers"
OWN = True
DEFAULTS = {"kernel": "product", "device": "h100", "reaches": 50, "levers": "none"}
#: What a kernel may reach of its bound before anything is done, in percent.
REACHES = (100, 50, 25)
#: A gain below this factor is called none.
WORTH = 1.05
#: The launches are what bounds a kernel where they take more than this part of its time.
MOSTLY = 0.5

#: Name in the state, words, and language: "less" (bytes), "compute", "both", "lose" (less).
LEVERS = (
    ("fuse", "fuse into one pass", "less"),
    ("together", "store each field together", "less"),
    ("block", "tiles of 64", "less"),
    ("deep", "tiles of 512", "less"),
    ("rows16", "batch 16 rows", "less"),
    ("rows256", "batch 256 rows", "less"),
    ("skip", "skip the padding, a quarter", "less"),
    ("half", "numbers of 2 bytes", "less"),
    ("fp8", "FP8", "both"),
    ("matrix", "matrix units", "compute"),
    ("winograd", "Winograd's algorithm", "compute"),
    ("causal", "skip the masked half", "compute"),
    ("batch", "one batched call", "lose"),
    ("better", "reach the roof", "lose"),
)
ORDER = tuple(name for name, _, _ in LEVERS)
#: Words of a roof, by the path in the data.
PATHS = {"fp32.vector": "FP32 vector", "tf32": "TF32", "fp16": "FP16", "fp8_e4m3": "FP8"}


@dataclass(frozen=True)
class Start:
    """A kernel to begin with. ``count(chosen)`` gives (work, launches, path) with those levers applied."""

    name: str
    label: str
    words: str
    levers: tuple[str, ...]
    count: Callable[[frozenset], tuple[Work, float, str]]


NUMBERS, SIZE, TOKENS, HIDDEN = 2**26, 4096, 4096, 8192


def _chain(chosen: frozenset) -> tuple[Work, float, str]:
    passes = 1 if "fuse" in chosen else 5
    each = work.elementwise(NUMBERS, "fp16" if "half" in chosen else "fp32", flop_per_element=0)
    share = 0.75 if "skip" in chosen else 1.0
    return share * Work(5.0 * NUMBERS, passes * each.bytes), float(passes), "fp32.vector"


def _field(chosen: frozenset) -> tuple[Work, float, str]:
    size = 2 if "half" in chosen else 4
    return Work(NUMBERS - 1.0, NUMBERS * float(size if "together" in chosen else 8 * size)), 1.0, "fp32.vector"


def _attention(chosen: frozenset) -> tuple[Work, float, str]:
    fused = "fuse" in chosen
    return (
        work.attention(1, 32, TOKENS, TOKENS, 128, "fp16", fused=fused, causal="causal" in chosen),
        1.0 if fused else 3.0,
        "fp16",
    )


def _small(chosen: frozenset) -> tuple[Work, float, str]:
    name = "fp8_e4m3" if "fp8" in chosen else "fp16"
    return 1000 * work.gemm(256, 256, 256, name), 1.0 if "batch" in chosen else 1000.0, name


def _layer(chosen: frozenset) -> tuple[Work, float, str]:
    rows = 256 if "rows256" in chosen else 16 if "rows16" in chosen else 1
    name = "fp8_e4m3" if "fp8" in chosen else "fp16"
    return 1 / rows * work.gemm(rows, HIDDEN, HIDDEN, name), 1 / rows, name


def _conv(chosen: frozenset) -> tuple[Work, float, str]:
    whole = work.conv2d(32, 256, 256, 56, 56, precision="fp16" if "half" in chosen else "fp32")
    # F(2 x 2, 3 x 3): 16 multiplications make 4 results instead of 36. Its extra additions are not counted.
    return Work(whole.flop / (2.25 if "winograd" in chosen else 1.0), whole.bytes), 1.0, _units(chosen)


def _product(chosen: frozenset) -> tuple[Work, float, str]:
    name = "fp16" if "half" in chosen else "fp32"
    tile = 512 if "deep" in chosen else 64
    order = "blocked" if chosen & {"block", "deep"} else "naive"
    return loopnest.work(order, SIZE, SIZE, SIZE, name, tile), 1.0, _units(chosen)


def _units(chosen: frozenset) -> str:
    if "matrix" not in chosen:
        return "fp32.vector"
    return "fp16" if "half" in chosen else "tf32"


KERNELS = (
    Start(
        "chain",
        "elementwise chain, five steps",
        "A chain of five elementwise steps on 67 million FP32 numbers",
        ("fuse", "skip", "half", "better"),
        _chain,
    ),
    Start(
        "field",
        "one field of many records",
        "Adding up one FP32 field of 67 million records of 32 bytes",
        ("together", "half", "better"),
        _field,
    ),
    Start(
        "attention",
        "attention, written out",
        "Attention of 32 heads over 4096 tokens in FP16, written out",
        ("fuse", "causal", "better"),
        _attention,
    ),
    Start(
        "small",
        "a thousand small products",
        "A thousand FP16 products of 256, a call each",
        ("fp8", "batch", "better"),
        _small,
    ),
    Start(
        "layer",
        "a layer, per token",
        "A token through an 8192 × 8192 layer in FP16",
        ("rows16", "rows256", "fp8", "better"),
        _layer,
    ),
    Start(
        "conv",
        "a 3 × 3 convolution",
        "A 3 × 3 convolution of 32 images, 56 × 56 with 256 channels in and out, in FP32",
        ("half", "matrix", "winograd", "better"),
        _conv,
    ),
    Start(
        "product",
        "a product, loops as written",
        "A product of 4096 in FP32, with its loops as written",
        ("block", "deep", "half", "matrix", "better"),
        _product,
    ),
)


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "device":
        return _common.check_device(value, own)
    if key == "kernel":
        names = [k.name for k in KERNELS]
        if value not in names:
            raise ValueError(f"kernel is one of {', '.join(names)}, not {value!r}")
        return value
    if key == "reaches":
        if isinstance(value, bool) or value not in REACHES:
            raise ValueError(f"reaches is one of {', '.join(map(str, REACHES))} percent, not {value!r}")
        return int(value)
    asked = [] if value in ("none", "", ()) else value.split("~") if isinstance(value, str) else list(value)
    unknown = [str(name) for name in asked if name not in ORDER]
    if unknown:
        raise ValueError(f"no lever {unknown[0]!r}; there are: {', '.join(ORDER)}")
    return "~".join(name for name in ORDER if name in asked) or "none"


@cache
def device_spec(key: str) -> dict:
    """One card as the browser gets it: B, F by path, and what a launch takes."""
    d = device(key)
    peaks = {"fp32.vector": d.roofline("fp32", "vector").peak}
    peaks |= {p: d.roofline(p).peak for p in ("tf32", "fp16", "fp8_e4m3") if p in d.precisions}
    return {**_common.device_spec(d), "launch": Bundled(d).launch_overhead().overhead, "peaks": peaks}


def own_spec(d: OwnDevice) -> dict:
    """A run's device in the same form, with the paths that it has. Raises ``LookupError`` in one line without a launch
    or without any of the paths."""
    peaks = {"fp32.vector": d.roofs[("fp32", "vector")].peak} if ("fp32", "vector") in d.roofs else {}
    peaks |= {p: d.roofs[(p, "gemm")].peak for p in PATHS if (p, "gemm") in d.roofs}
    try:
        launch = d.bench.launch_overhead().overhead
    except (LookupError, ValueError):
        launch = 0.0
    ask = "measure with --only bandwidth,working-set,fma,matmul"
    if launch <= 0:
        raise LookupError(f"{d.name}: this run does not say what a launch takes: {ask}")
    if not any(_path(kernel) in peaks for kernel in KERNELS):
        raise LookupError(f"{d.name}: this run has none of the roofs that these kernels need: {ask}")
    return {**d.spec(), "launch": launch, "peaks": peaks}


def _path(start: Start) -> str:
    """The roof that a kernel needs before anything is done."""
    return rows(start.name)[""][3]


def _spec_of(key: str, own: dict | None) -> dict:
    return own_spec(own[key]) if own and key in own else device_spec(key)


def start(d: OwnDevice, state: dict) -> dict:
    """The state that shows a device that has just come, with a kernel whose first roof it has."""
    peaks = own_spec(d)["peaks"]
    if _path(_start(state["kernel"])) in peaks:
        return {**state, "device": d.key}
    return {**state, "device": d.key, "kernel": next(k.name for k in KERNELS if _path(k) in peaks), "levers": "none"}


@cache
def rows(name: str) -> dict[str, list]:
    """[W, Q, launches, path] of a kernel for every set of its levers, by their names joined with a tilde."""
    start = _start(name)
    counted = [lever for lever in start.levers if lever != "better"]
    out = {}
    for size in range(len(counted) + 1):
        for chosen in combinations(counted, size):
            load, launches, path = start.count(frozenset(chosen))
            out["~".join(chosen)] = [float(load.flop), float(load.bytes), launches, path]
    return out


def _start(name: str) -> Start:
    return next(k for k in KERNELS if k.name == name)


def spec(own: dict | None = None) -> dict:
    """What the browser needs: the devices, the levers, and each kernel's counts with every set of them."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(own_spec(d) for d in own.values())]}


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [device_spec(d.key) for d in devices()],
        "levers": [{"name": name, "label": label, "language": language} for name, label, language in LEVERS],
        "paths": PATHS,
        "kernels": [
            {"name": k.name, "label": k.label, "words": k.words, "levers": list(k.levers), "rows": rows(k.name)}
            for k in KERNELS
        ],
    }


def place(card: dict, row: list, reaches: float) -> dict | None:
    """Where a kernel stands on a card: its time by the model and its point; ``None`` if the card lacks the path."""
    flop, moved, launches, path = row
    if path not in card["peaks"]:
        return None
    peak, bandwidth = card["peaks"][path], card["bandwidth"]
    start, least = launches * card["launch"], max(flop / peak, moved / bandwidth)
    seconds = start + least * 100 / reaches
    kind = "launch" if start > MOSTLY * seconds else "memory" if moved / bandwidth > flop / peak else "compute"
    return {
        "flop": flop,
        "bytes": moved,
        "intensity": flop / moved,
        "seconds": seconds,
        "flop_per_s": flop / seconds,
        "percent": 100 * least / seconds,
        "bound": kind,
        "path": path,
        "peak": peak,
    }


def walk(state: dict, own: dict | None = None) -> list[dict | None]:
    """The places of a kernel: before, and after each of the chosen levers that it has, in their order.

    Without the first one there is nothing to compare with, and all are ``None``.
    """
    start, card = _start(state["kernel"]), _spec_of(state["device"], own)
    done: list[str] = []
    out = [place(card, rows(start.name)[""], state["reaches"])]
    if out == [None]:
        return out * (1 + len(_chosen(state)))
    for lever in _chosen(state):
        done.append(lever)
        out.append(_place(card, start, done, state["reaches"]))
    return out


def _chosen(state: dict) -> list[str]:
    own = _start(state["kernel"]).levers
    return [lever for lever in state["levers"].split("~") if lever in own]


def _place(card: dict, start: Start, done: list[str], reaches: float) -> dict | None:
    key = "~".join(lever for lever in start.levers if lever in done and lever != "better")
    return place(card, rows(start.name)[key], 100 if "better" in done else reaches)


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence about them; keys that do not apply are left out."""
    start, chosen, places = _start(state["kernel"]), _chosen(state), walk(state, own)
    card = _spec_of(state["device"], own)
    before, after = places[0], places[-1]
    v = {"count": len(chosen), "available": after is not None, "launch_seconds": card["launch"]}
    v |= {f"before_{key}": value for key, value in (before or {}).items()}
    if after is None:
        v["sentence"] = _sentence(start, card, v, chosen)
        return v
    v |= {f"after_{key}": value for key, value in after.items()}
    v["gain"] = before["seconds"] / after["seconds"]
    for lever, first, second in zip(chosen, places, places[1:], strict=False):
        if first is not None and second is not None:
            v[f"gain:{lever}"] = first["seconds"] / second["seconds"]
    most = 1.0
    for lever in start.levers:
        there = None if lever in chosen else _place(card, start, [*chosen, lever], state["reaches"])
        if there is not None and after["seconds"] / there["seconds"] > most:
            most = after["seconds"] / there["seconds"]
            v["next"], v["next_gain"] = lever, most
    v["sentence"] = _sentence(start, card, v, chosen)
    return v


def label(lever: str) -> str:
    return next(words for name, words, _ in LEVERS if name == lever)


def _bound(kind: str) -> str:
    return "bound by its launches" if kind == "launch" else f"{kind}-bound"


def _sentence(start: Start, card: dict, v: dict, chosen: list[str]) -> str:
    on = f"{start.words}, on {fmt.with_article(card['name'])}"
    where, kind = ("in this run", "device") if "own" in card else ("on this card", "card")
    if "before_seconds" not in v:
        roof = PATHS[_path(start)]
        return f"{on}: its roof, {roof}, was not measured {where}. Choose another kernel, or another {kind}."
    if not v["available"]:
        return f"{on}: these levers need a roof that was not measured {where}. Choose others, or another {kind}."
    if not chosen:
        launches = ", launches included" if v["before_bound"] == "launch" else ""
        first = (
            f"{on}, takes {fmt.time3(v['before_seconds'])} by the model: {_bound(v['before_bound'])}, "
            f"at {fmt.percent(v['before_percent'])} of its roof{launches}."
        )
    else:
        ways = []
        if v["after_intensity"] > 1.01 * v["before_intensity"]:
            ways.append("right")
        if v["after_intensity"] < 0.99 * v["before_intensity"]:
            ways.append("left")
        if v["after_flop_per_s"] > 1.01 * v["before_flop_per_s"]:
            ways.append("up")
        if v["after_flop_per_s"] < 0.99 * v["before_flop_per_s"]:
            ways.append("down")
        if v["after_path"] != v["before_path"]:
            ways.append(f"under the roof of {PATHS[v['after_path']]}")
        moved = f"The point moves {fmt.listed(ways)}" if ways else "The point stays where it is"
        first = (
            f"{on}: {fmt.time3(v['before_seconds'])} before, {fmt.time3(v['after_seconds'])} after, "
            f"{fmt.significant(v['gain'], 3)} times as fast by the model. "
            f"{moved}; now it is {_bound(v['after_bound'])}."
        )
    if v.get("next_gain", 1.0) < WORTH:
        return f"{first} None of the levers left here would gain five percent."
    return f"{first} Next, the most to gain: {label(v['next'])}, {fmt.significant(v['next_gain'], 3)} times."


def stand_in(state: dict, own: dict | None = None) -> str:
    """The chart of one state as an SVG that needs no script."""
    axis = throughput_axis(d.spec() for d in (own or {}).values())
    return levers_figure(_spec_of(state["device"], own), walk(state, own), PATHS, compute(state, own), axis)
