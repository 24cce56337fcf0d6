"""The explorer of chapter 4: what a benchmark measures, by working set (memory) or by multiply-adds R (FMA sweep).

``compute`` and its sentence are written twice, here and in ``js/kinds/measurement_model.js``; a browser test compares
them.
"""

from __future__ import annotations

import math
from functools import cache

from ... import words as fmt
from ...bench import Bundled
from ...catalogue import Device, device, devices
from ...measure.checks import CACHE_FACTOR
from ..own import OwnDevice
from ..standin_measurement import measurement_figure
from . import _common

LABEL = "what a benchmark measures"
#: Name in the state, words of the list, words of a sentence. The first four only move data.
KERNELS = (
    ("copy", "copy", "a copy"),
    ("add", "add", "an add"),
    ("triad", "triad", "a triad"),
    ("read_reduce", "read and sum", "a reading sum"),
    ("fma_fp32", "FMA sweep, FP32", "FP32"),
    ("fma_fp64", "FMA sweep, FP64", "FP64"),
)
MOVING = ("copy", "add", "triad", "read_reduce")
OWN = True
#: No series has more points: twelve are the most of a card, a reader's own run may have more.
POINTS = 24
DEFAULTS = {"kernel": "copy", "device": "h100", "point": 7}

#: From this multiple of the L2 on, hardly anything of one pass is left in it for the next: the protocol's own rule.
PAST_CACHE = CACHE_FACTOR
#: The launch is what is timed where it takes more than this part of the time.
MOSTLY = 0.5


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "device":
        return _common.check_device(value, own)
    if key == "point":
        return _common.check_whole("point", value, 1, POINTS)
    names = [name for name, _, _ in KERNELS]
    if value not in names:
        raise ValueError(f"kernel is one of {', '.join(names)}, not {value!r}")
    return value


def _point(at: float, x) -> list:
    return [at, float(x.work.flop), float(x.work.bytes), x.seconds, 1 if x.suspect or not x.stable else 0]


@cache
def device_spec(key: str) -> dict:
    """One card as the browser gets it. A point: working set (bytes) or R, FLOP, bytes, seconds, unstable (0 or 1)."""
    d = device(key)
    line = Bundled(d).launch_overhead()
    series = {k: [_point(float(x.working_set_bytes), x) for x in d.working_set_sweep(k)] for k in MOVING}
    series |= {f"fma_{p}": [_point(x.fma_per_element, x) for x in d.fma_sweep(p)] for p in ("fp32", "fp64")}
    return {
        **_common.device_spec(d),
        "l2": float(d.l2_bytes),
        "launch": line.overhead,
        "launch_bandwidth": line.bandwidth,
        "peaks": {f"fma_{p}": d.roofline(p, path="vector").peak for p in ("fp32", "fp64")},
        "series": series,
    }


def own_spec(d: OwnDevice) -> dict:
    """A run's device, with the series that the run has. ``launch`` is 0 where too few small copies were timed."""
    series, peaks = {}, {}
    for kernel in MOVING:
        points = _measured(d.bench.working_set_sweep, kernel)
        sized = [x for x in points or () if x.working_set_bytes]
        if sized:
            series[kernel] = [_point(float(x.working_set_bytes), x) for x in sized][:POINTS]
    for precision in ("fp32", "fp64"):
        points = _measured(d.bench.fma_sweep, precision)
        if points and (precision, "vector") in d.roofs:
            series[f"fma_{precision}"] = [_point(x.fma_per_element, x) for x in points][:POINTS]
            peaks[f"fma_{precision}"] = d.roofline(precision, "vector").peak
    line = _measured(d.bench.launch_overhead)
    known = line is not None and line.overhead > 0
    return {
        **d.spec(),
        "l2": d.l2_bytes,
        "launch": line.overhead if known else 0.0,
        "launch_bandwidth": line.bandwidth if known else d.bandwidth,
        "peaks": peaks,
        "series": series,
    }


def _measured(call, *arguments):
    """What was measured, ``None`` where a run has too little for it."""
    try:
        return call(*arguments)
    except (LookupError, ValueError):
        return None


def spec(own: dict | None = None) -> dict:
    """What the browser needs: each device's B, L2, launch overhead and series, and the kernels to choose from."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(own_spec(d) for d in own.values())]}


def start(d: OwnDevice, state: dict) -> dict:
    """The state that shows a device that has just come, with a kernel that its run has."""
    series = own_spec(d)["series"]
    if not series:
        ask = "measure with --only bandwidth,working-set,fma"
        raise LookupError(f"{d.name}: this run has none of these kernels: {ask}")
    kernel = state["kernel"] if state["kernel"] in series else next(iter(series))
    return {**state, "device": d.key, "kernel": kernel}


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [device_spec(d.key) for d in devices()],
        "kernels": [{"name": name, "label": label, "words": words} for name, label, words in KERNELS],
    }


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence about them; keys that do not apply are left out."""
    card = _common.card(state["device"], own or {})
    s = own_spec(card) if isinstance(card, OwnDevice) else device_spec(card.key)
    kernel = state["kernel"]
    points = s["series"].get(kernel, [])
    if not points:
        return {"number": 0, "points": 0, "bandwidth": s["bandwidth"], "sentence": _absent(card, kernel, s["series"])}
    number = min(state["point"], len(points))  # a shorter series ends before this one did
    at, flop, moved, seconds, unstable = points[number - 1]
    v = {
        "number": number,
        "points": len(points),
        "bytes": moved,
        "seconds": seconds,
        "bytes_per_s": moved / seconds,
        "bandwidth": s["bandwidth"],
        "percent_of_b": 100 * moved / seconds / s["bandwidth"],
        "unstable": bool(unstable),
    }
    if kernel in MOVING:
        v |= {"working_set": at, "l2": s["l2"], "launch_seconds": s["launch"]}
        v["percent_launch"] = 100 * min(1.0, s["launch"] / seconds)
        if s["launch"] / seconds > MOSTLY:
            v["region"] = "launch"
        elif at <= s["l2"]:
            v["region"] = "l2"
        else:
            v["region"] = "memory" if at >= PAST_CACHE * s["l2"] else "partly"
    else:
        peak = s["peaks"][kernel]
        intensity = flop / moved
        roof = min(peak, s["bandwidth"] * intensity)
        v |= {
            "r": at,
            "intensity": intensity,
            "peak": peak,
            "flop_per_s": flop / seconds,
            "attainable": roof,
            "percent_of_roof": 100 * flop / seconds / roof,
            "ridge_r": at * peak / s["bandwidth"] / intensity,
            "bound": "memory" if s["bandwidth"] * intensity < peak else "compute",
        }
    v["sentence"] = _sentence(card, kernel, v)
    return v


def size(value: float) -> str:
    """``"64 KiB"``, ``"512 MiB"``: whole numbers, halves rounded up."""
    unit, name = (2**20, "MiB") if value >= 2**20 else (2**10, "KiB")
    return f"{math.floor(value / unit + 0.5)}{fmt.SPACE}{name}"


def _absent(card: OwnDevice, kernel: str, series: dict) -> str:
    label = {name: label for name, label, _ in KERNELS}
    have = fmt.listed([label[name] for name in label if name in series])
    return f"This run of {fmt.with_article(card.name)} has no {label[kernel]}. It has: {have}."


def _sentence(card: Device | OwnDevice, kernel: str, v: dict) -> str:
    words = next(w for name, _, w in KERNELS if name == kernel)
    level = "last-level cache" if isinstance(card, OwnDevice) else "L2"
    on = f"On {fmt.with_article(card.name)}"
    took = fmt.time(v["seconds"])
    share = fmt.percent(v["percent_of_b"])
    doubt = " This point is unstable: its samples scattered." if v["unstable"] else ""
    if kernel in MOVING:
        cache_size = size(v["l2"])
        why = {
            "launch": f"A launch alone takes about {fmt.time(v['launch_seconds'])}: that is what was timed here.",
            "l2": f"The arrays fit into the {level} ({cache_size}): this is not yet memory bandwidth.",
            "partly": f"The arrays are less than {PAST_CACHE} times the {level} ({cache_size}): "
            "it may still serve a part.",
            "memory": f"The arrays are far larger than the {level} ({cache_size}): this is memory bandwidth.",
        }[v["region"]]
        return (
            f"{on}, {words} with a working set of {size(v['working_set'])} takes {took}: "
            f"{fmt.rate(v['bytes_per_s'])}, {share} of B. {why}{doubt}"
        )
    limit = "slope" if v["bound"] == "memory" else "flat part"
    return (
        f"{on} in {words}, R = {v['r']} multiply-adds a number take {took}: {fmt.tflops(v['flop_per_s'])}, "
        f"{fmt.percent(v['percent_of_roof'])} of the roof, which is the {limit} here. "
        f"The bytes moved at {fmt.rate(v['bytes_per_s'])}, {share} of B.{doubt}"
    )


def stand_in(state: dict, own: dict | None = None) -> str:
    """The chart of one state as an SVG that needs no script."""
    card = _common.card(state["device"], own or {})
    shown = own_spec(card) if isinstance(card, OwnDevice) else device_spec(card.key)
    return measurement_figure(shown, state["kernel"], compute(state, own))
