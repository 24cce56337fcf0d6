"""The main explorer: one product X (M, 8192) times A (8192, 8192) on every device, under the rooflines.

``compute`` and its sentence are written twice, here and in ``js/kinds/m_sweep_model.js``; a browser test compares them.
"""

from __future__ import annotations

from functools import cache

from ... import words as fmt
from ...catalogue import SWEEP_SIZE, Device, devices
from ...precision import PRECISIONS, Precision
from ...work import gemm
from ..model import rows_at_intensity
from ..own import OwnDevice
from ..standin import sweep_figure
from . import _common

LABEL = "the M sweep"
LARGEST_M = 8192
OWN = True
DEFAULTS = {"m": 16, "precision": "fp16", "device": "h100"}

#: From this percentage on a point counts as above the roof; less is rounding.
ABOVE = 100.5
#: B is a lower bound good to 2 to 5 %: a memory-bound point may stand above the slope by as much.
BANDWIDTH_MARGIN = 105
#: Bytes up to this multiple of the L2 can, when the kernel is repeated, come partly from it.
L2_REACH = 1.1


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "m":
        return _common.check_whole("m", value, 1, LARGEST_M)
    return _common.check_device(value, own) if key == "device" else _common.check_precision(value)


def point(card: Device | OwnDevice, precision: Precision, m: int) -> dict:
    """Everything about one product of the sweep, in SI units; keys that do not apply are left out."""
    n = _common.size_of(card, precision.name)
    work = gemm(m, n, n, precision)
    v = {
        "m": m,
        "flop": work.flop,
        "bytes": work.bytes,
        "intensity": work.intensity,
        "available": False,
        "measured": False,
    }
    if precision.name not in card.precisions:
        return v
    roof = card.roofline(precision)
    v |= {
        "available": True,
        "peak": roof.peak,
        "bandwidth": roof.bandwidth,
        "ridge_point": roof.ridge_point,
        "attainable": roof.attainable(work.intensity),
        "compute_seconds": roof.compute_time(work),
        "memory_seconds": roof.memory_time(work),
        "bound_seconds": roof.time(work),
        "bound": roof.bound(work),
    }
    sample = next((x for x in samples(card, precision.name) if x[0] == m), None)
    if sample is None:
        return v
    _, seconds, spread, *suspect = sample
    v |= {
        "measured": True,
        "unstable": spread != 0 or suspect != [],
        "seconds": seconds,
        "flop_per_s": work.flop / seconds,
        "bytes_per_s": work.bytes / seconds,
        "percent_of_bandwidth": 100 * (work.bytes / seconds) / roof.bandwidth,
        "percent_of_roof": 100 * (work.flop / seconds) / v["attainable"],
    }
    if spread > 0:
        v["spread"] = spread
    if suspect:
        v["suspect"] = suspect[0]
    v["above_roof"] = _why_above_roof(v, card.l2_bytes)
    return v


def samples(card: Device | OwnDevice, precision: str) -> list[list]:
    """The measured points as the browser gets them: [M, seconds, spread, suspect]; a spread of 0 is that of a stable
    point, one of -1 not known; the last is there only if a check has doubts."""
    if isinstance(card, OwnDevice):
        return [[*x[:3], *filter(None, x[3:])] for x in card.rows[precision][1]]
    return _catalogue_samples(card, precision)


@cache
def _catalogue_samples(card: Device, precision: str) -> list[list]:
    return [[x.m, x.seconds, x.spread if not x.stable else 0] for x in card.m_sweep(precision)]


def _why_above_roof(v: dict, l2_bytes: float) -> str:
    """A reason only where the data allow one: "" for a point under the roof, "unknown" where they do not."""
    if v["percent_of_roof"] < ABOVE:
        return ""
    if v["bound"] == "memory" and v["bytes"] <= L2_REACH * l2_bytes:
        return "l2"
    if v["unstable"]:
        return "unstable"
    if v["bound"] == "memory" and v["percent_of_roof"] <= BANDWIDTH_MARGIN:
        return "bandwidth"
    return "unknown"


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state and the sentence about them."""
    card, precision = _common.card(state["device"], own or {}), PRECISIONS[state["precision"]]
    v = point(card, precision, state["m"])
    if v["available"]:
        n = _common.size_of(card, precision.name)
        rows = rows_at_intensity(v["ridge_point"], n, n, precision, LARGEST_M)
        if rows is not None:
            v["ridge_m"] = rows
    v["sentence"] = _sentence(card, precision, v)
    return v


def _sentence(card: Device | OwnDevice, precision: Precision, v: dict) -> str:
    name = precision.label
    if not v["available"]:
        others = fmt.listed([PRECISIONS[p].label for p in _common.precisions() if p in card.precisions])
        return f"{name} was not measured on the {card.name}, so it has no {name} roof here. Measured on it: {others}."
    n = _common.size_of(card, precision.name)
    size = "" if n == SWEEP_SIZE else f" and N = K = {n}"
    subject = f"At M = {v['m']}{size} {fmt.with_article(card.name)} in {name} takes"
    if v["measured"]:
        first = f"{subject} {fmt.time(v['seconds'])}: {v['bound']}-bound."
    else:
        least = fmt.time(v["bound_seconds"])
        first = f"{subject} at least {least} (not measured; the model's lower bound): {v['bound']}-bound."
    arithmetic, traffic = fmt.time(v["compute_seconds"]), fmt.time(v["memory_seconds"])
    # A point above the roof took less than the model's least time: then the model's number is only a calculation.
    above = v.get("above_roof", "") != ""
    if v["bound"] == "memory":
        takes = f"would take {traffic} by the model" if above else f"takes at least {traffic}"
        second = (
            f"Moving {fmt.nbytes(v['bytes'])} at {fmt.rate(v['bandwidth'])} {takes}; "
            f"the arithmetic alone would take {arithmetic}."
        )
    else:
        take = f"would take {arithmetic} by the model" if above else f"take at least {arithmetic}"
        second = (
            f"{fmt.flop(v['flop'])} at {fmt.tflops(v['peak'])} {take}; "
            f"moving the {fmt.nbytes(v['bytes'])} alone would take {traffic}."
        )
    return " ".join(filter(None, (first, second, _remark(card, v))))


def _remark(card: Device | OwnDevice, v: dict) -> str:
    """What a reader should know before trusting the point: why it is above the roof, far below it, or unsteady."""
    if not v["measured"]:
        return ""
    if "suspect" in v:
        return f"Suspect: {v['suspect']}."
    unsteady = ""
    if "spread" in v:
        unsteady = f"The run was unstable: its interquartile range was {fmt.percent(100 * v['spread'])} of the median."
    elif v["unstable"]:
        unsteady = "The run was unstable."
    own = isinstance(card, OwnDevice)
    share = fmt.percent(v["percent_of_roof"])
    if v["above_roof"] == "l2":
        cache_size, level = fmt.nbytes(card.l2_bytes), "last-level cache" if own else "L2 cache"
        fits = v["bytes"] <= card.l2_bytes
        fit = f"fit in the {level} ({cache_size})" if fits else f"are about as many as the {level} holds ({cache_size})"
        return (
            f"That is {share} of the roof: the {fmt.nbytes(v['bytes'])} {fit}, "
            "so a repeated run can read part of them from there instead of memory."
        )
    if v["above_roof"] == "unstable":
        return f"{unsteady} So it did not set the peak, and it stands at {share} of the roof that steadier points set."
    if v["above_roof"] == "bandwidth":
        good = "" if own else f", good to 2 to 5{fmt.SPACE}%"
        return f"That is a little above the roof ({share}): B is a measured lower bound{good}."
    if v["above_roof"] == "unknown":
        return f"That is {share} of the roof; these data do not say why."
    if unsteady:
        return unsteady
    if v["percent_of_roof"] < 50:
        return f"At {share} of the roof, most of the time goes to something that neither bound counts."
    return ""


def spec(own: dict | None = None) -> dict:
    """What the browser needs: precisions, and each device's B, F and sweep (see :func:`samples`)."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(_own_spec(d) for d in own.values())]}


@cache
def _catalogue_spec() -> dict:
    return {
        "n": SWEEP_SIZE,
        "k": SWEEP_SIZE,
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [
            {
                **_common.device_spec(d),
                "l2_bytes": d.l2_bytes,
                "roofs": {p: {"peak": d.roofline(p).peak, "sweep": samples(d, p)} for p in d.precisions},
            }
            for d in devices()
        ],
    }


def _own_spec(d: OwnDevice) -> dict:
    known = [p for p in d.precisions if p in _common.precisions()]
    return {
        **d.spec(),
        "l2_bytes": d.l2_bytes,
        "roofs": {p: {"peak": d.roofline(p).peak, "sweep": samples(d, p), "n": _common.size_of(d, p)} for p in known},
    }


start = _common.start_with_sweep


def stand_in(state: dict, own: dict | None = None) -> str:
    """The chart of one state as an SVG that needs no script."""
    own = own or {}
    values = compute(state, own)
    return sweep_figure(
        spec(own), state, values, lambda key, name, m: point(_common.card(key, own), PRECISIONS[name], m)
    )
