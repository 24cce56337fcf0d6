"""The explorer of chapter 2: one product X (M, K) times A (K, N), any sizes: its intensity, and which matrix makes Q.

``compute`` and its sentence are written twice, here and in ``js/kinds/intensity_model.js``; a browser test compares
them.
"""

from __future__ import annotations

from functools import cache
from math import ceil

from ... import palette
from ... import words as fmt
from ...catalogue import Device, devices
from ...precision import PRECISIONS, Precision
from ...work import gemm
from ..standin import own_swatch
from ..standin_intensity import intensity_figure
from . import _common

LABEL = "the intensity of a matrix product"
SIZES = ("m", "n", "k")
LARGEST = 16384
OWN = True
DEFAULTS = {"m": 16, "n": 8192, "k": 8192, "precision": "fp16", "device": "h100"}

#: An intensity within this fraction of the ridge point is called equal to it.
BALANCE = 0.01
#: What the traffic is made of, as it is called.
PARTS = {"x": "X", "a": "A", "y": "Y", "scales": "the block scales"}

SHAPES = (
    {"label": "linear layer, 1 token", "m": 1, "n": 8192, "k": 8192},
    {"label": "linear layer, 16 tokens", "m": 16, "n": 8192, "k": 8192},
    {"label": "linear layer, 4096 tokens", "m": 4096, "n": 8192, "k": 8192},
    {"label": "square, 512 each way", "m": 512, "n": 512, "k": 512},
    {"label": "square, 8192 each way", "m": 8192, "n": 8192, "k": 8192},
    {"label": "narrow A, 8192 × 16", "m": 8192, "n": 16, "k": 8192},
    {"label": "column times row (K = 1)", "m": 8192, "n": 8192, "k": 1},
    {"label": "row times column (M = N = 1)", "m": 1, "n": 1, "k": 16384},
)


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key in SIZES:
        return _common.check_whole(key, value, 1, LARGEST)
    return _common.check_device(value, own) if key == "device" else _common.check_precision(value)


def parts(m: int, n: int, k: int, precision: Precision) -> dict[str, float]:
    """Bytes of X, A, Y and the block scales, which :func:`roofcourse.gemm` adds up."""
    x, a, y = m * k, k * n, m * n
    if precision.name == "fp8_e4m3":
        return {"x": x, "a": a, "y": 2 * y, "scales": 8}
    if precision.name == "nvfp4":
        return {"x": 0.5 * x, "a": 0.5 * a, "y": 2 * y, "scales": (ceil(m / 128) * 128 * k + a) / 16}
    s = precision.bytes_per_element
    return {"x": s * x, "a": s * a, "y": s * y, "scales": 0}


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence about them; keys that do not apply are left out."""
    card, precision = _common.card(state["device"], own or {}), PRECISIONS[state["precision"]]
    sizes = {key: state[key] for key in SIZES}
    work = gemm(**sizes, precision=precision)
    moved = parts(**sizes, precision=precision)
    v = {**sizes, "flop": work.flop, "bytes": work.bytes, "intensity": work.intensity}
    v |= {f"bytes_{part}": float(size) for part, size in moved.items()}
    v |= {f"percent_{part}": 100 * size / work.bytes for part, size in moved.items()}
    v["largest"] = max(moved, key=lambda part: moved[part])  # of equal ones the first
    v["available"] = precision.name in card.precisions
    if v["available"]:
        ridge = card.roofline(precision).ridge_point
        ratio = work.intensity / ridge
        v["ridge_point"] = ridge
        v["bound"] = "balanced" if abs(ratio - 1) <= BALANCE else "memory" if ratio < 1 else "compute"
    v["sentence"] = _sentence(card, precision, v)
    return v


def _sentence(card: Device, precision: Precision, v: dict) -> str:
    name, intensity = precision.label, fmt.intensity(v["intensity"])
    first = (
        f"X ({v['m']} × {v['k']}) times A ({v['k']} × {v['n']}) in {name} is {fmt.flop(v['flop'])} and moves "
        f"{fmt.nbytes(v['bytes'])}: I\u00a0=\u00a0{intensity}."
    )
    share = v[f"percent_{v['largest']}"]
    same = [p for p in PARTS if v[f"bytes_{p}"] == v[f"bytes_{v['largest']}"]]
    if len(same) > 1:
        second = f"{fmt.listed([PARTS[p] for p in same])} take {fmt.percent3(share)} of the traffic each."
    else:
        subject = PARTS[v["largest"]]
        second = (
            f"{subject[0].upper()}{subject[1:]} {'take' if v['largest'] == 'scales' else 'takes'} "
            f"{fmt.percent3(share)} of the traffic."
        )
    if not v["available"]:
        return f"{first} {second} {name} was not measured on the {card.name}, so it has no {name} ridge point here."
    asks = f"{fmt.with_article(card.name)} asks for {fmt.intensity(v['ridge_point'])} in {name}"
    asks = asks[0].upper() + asks[1:]
    if v["bound"] == "balanced":
        return f"{first} {second} {asks}: the same within 1{fmt.SPACE}%, balanced."
    return f"{first} {second} {asks}: {v['bound']}-bound there."


def spec(own: dict | None = None) -> dict:
    """What the browser needs: each device's B and F by precision, and the shapes to try."""
    if not own:
        return _catalogue_spec()
    return {
        **_catalogue_spec(),
        "devices": [*_catalogue_spec()["devices"], *(_common.peaks_spec(d) for d in own.values())],
    }


start = _common.start_with_peaks


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [_common.peaks_spec(d) for d in devices()],
        "shapes": list(SHAPES),
    }


def stand_in(state: dict, own: dict | None = None) -> str:
    """The traffic and the intensity of one state as an SVG that needs no script."""
    own = own or {}
    ridges = [
        (d.key, d.name, d.roofline(state["precision"]).ridge_point)
        for d in (*devices(), *own.values())
        if state["precision"] in d.precisions
    ]
    key = state["device"]
    colour = own_swatch(own[key].colour) if key in own else palette.device(key)
    return intensity_figure(compute(state, own), key, ridges, colour.light)
