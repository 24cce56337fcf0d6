"""The explorer of chapter 7: M useful rows in a kernel that works in blocks of rows, and what the padding costs.

``compute`` and its sentence are written twice, here and in ``js/kinds/padding_model.js``; a browser test compares them.
"""

from __future__ import annotations

from functools import cache

from ... import palette
from ... import words as fmt
from ...catalogue import SWEEP_SIZE, Device, device, devices
from ...precision import PRECISIONS, Precision
from ...work import gemm
from ..own import OwnDevice
from ..standin import own_swatch
from ..standin_padding import padding_figure, seconds_axis
from . import _common

LABEL = "padding to a block of rows"
OWN = True
LARGEST_M = 1024
#: Rows of a block that can be chosen; 1 pads nothing.
TILES = (1, 8, 16, 32, 64, 128, 256, 512)
DEFAULTS = {"m": 2, "tile": 32, "precision": "fp64", "device": "rtx4080"}

#: F and B are measured and good to some percent: by so much a time may be shorter than its bound.
MARGIN = 1.05
#: From this share of the measured time on (percent), the padded bound accounts for it.
ACCOUNTS = 75


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "m":
        return _common.check_whole("m", value, 1, LARGEST_M)
    if key == "tile":
        if isinstance(value, bool) or value not in TILES:
            raise ValueError(f"tile is one of {', '.join(map(str, TILES))} rows, not {value!r}")
        return int(value)
    return _common.check_device(value, own) if key == "device" else _common.check_precision(value)


def executed_rows(m: int, tile: int) -> int:
    """M rounded up to whole blocks."""
    return -(-m // tile) * tile


def point(card: Device | OwnDevice, precision: Precision, m: int, tile: int) -> dict:
    """Useful and executed work of one product and what they take, in SI units; keys that do not apply are left out.

    The rows that fill up a block are made on the chip: they are computed, and no bytes are moved for them.
    """
    n = _common.size_of(card, precision.name)
    work = gemm(m, n, n, precision)
    executed = executed_rows(m, tile)
    executed_flop = work.flop / m * executed
    v = {
        "m": m,
        "tile": tile,
        "executed": executed,
        "flop": work.flop,
        "executed_flop": executed_flop,
        "useful_percent": 100 * m / executed,
        "bytes": work.bytes,
        "intensity": work.intensity,
        "padded_intensity": executed_flop / work.bytes,
        "available": precision.name in card.precisions,
        "measured": False,
    }
    if not v["available"]:
        return v
    roof = card.roofline(precision)
    compute_seconds, memory_seconds = executed_flop / roof.peak, work.bytes / roof.bandwidth
    v |= {
        "peak": roof.peak,
        "bandwidth": roof.bandwidth,
        "ridge_point": roof.ridge_point,
        "bound_seconds": roof.time(work),
        "memory_seconds": memory_seconds,
        "padded_compute_seconds": compute_seconds,
        "padded_seconds": max(compute_seconds, memory_seconds),
        "padded_bound": "memory" if memory_seconds > compute_seconds else "compute",
    }
    v["effect"] = "none" if executed == m else "costs" if v["padded_seconds"] > v["bound_seconds"] else "free"
    sample = next((x for x in sweep_of(card, precision.name) if x[0] == m), None)
    if sample is None:
        return v
    _, seconds, *doubts = sample
    v |= {
        "measured": True,
        "unstable": doubts != [],
        "seconds": seconds,
        "percent": 100 * v["padded_seconds"] / seconds,
        "rows_possible": seconds * roof.peak / (work.flop / m),
    }
    if len(doubts) == 2:
        v |= {"fit": "suspect", "suspect": doubts[1]}
    elif executed > m and compute_seconds > MARGIN * seconds:
        v["fit"] = "ruled out"
    elif memory_seconds > MARGIN * seconds:
        v["fit"] = "cache"
    else:
        v["fit"] = "accounts" if v["percent"] >= ACCOUNTS else "partly"
    return v


def sweep_of(card: Device | OwnDevice, precision: str) -> list[list]:
    """The measured points as the browser gets them: [M, seconds, 1, suspect]; the 1 is there only for an unstable or
    a suspect point, the last only where a check has doubts."""
    if not isinstance(card, OwnDevice):
        return _catalogue_sweep(card.key, precision)
    rows = [x for x in card.rows[precision][1] if x[0] <= LARGEST_M]
    return [[m, seconds, *([1] if spread or why else []), *([why] if why else [])] for m, seconds, spread, why in rows]


@cache
def _catalogue_sweep(key: str, precision: str) -> list[list]:
    sweep = device(key).m_sweep(precision)
    return [[x.m, x.seconds, *([] if x.stable else [1])] for x in sweep if x.m <= LARGEST_M]


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state and the sentence about them."""
    card, precision = _common.card(state["device"], own or {}), PRECISIONS[state["precision"]]
    v = point(card, precision, state["m"], state["tile"])
    v["sentence"] = _sentence(card, precision, v)
    return v


def _sentence(card: Device | OwnDevice, precision: Precision, v: dict) -> str:
    name = precision.label
    if not v["available"]:
        others = fmt.listed([PRECISIONS[p].label for p in _common.precisions() if p in card.precisions])
        return f"{name} was not measured on the {card.name}, so it has no {name} roof here. Measured on it: {others}."
    rows = f"{v['m']} {'row' if v['m'] == 1 else 'rows'}"
    subject = f"{fmt.with_article(card.name)} in {name}"
    if v["effect"] == "none":
        blocks = "without blocks" if v["tile"] == 1 else f"in whole blocks of {v['tile']}"
        parts = [
            f"{rows} {blocks}: {subject} executes no row in vain.",
            f"The bound is {fmt.time(v['bound_seconds'])}.",
        ]
    else:
        whole, rest = divmod(v["executed"], v["m"])
        times = str(whole) if rest == 0 else fmt.significant(v["executed"] / v["m"], 2)
        parts = [f"{rows} in blocks of {v['tile']}: {subject} executes {v['executed']}, {times} times the useful work."]
        where = f"The padded intensity is {fmt.intensity(v['padded_intensity'])}"
        ridge = f"the ridge point ({fmt.significant(v['ridge_point'], 3)})"
        if v["effect"] == "costs":
            least = f"at least {fmt.time(v['padded_seconds'])} instead of {fmt.time(v['bound_seconds'])}"
            parts.append(f"{where}, past {ridge}, so padding costs time: {least}.")
        else:
            parts.append(
                f"{where}, left of {ridge}, so padding costs nothing: moving the bytes takes "
                f"{fmt.time(v['memory_seconds'])} in any case."
            )
    return " ".join([*parts, _verdict(v)])


def _verdict(v: dict) -> str:
    """What the measured time says about this height of the blocks."""
    if not v["measured"]:
        return "This number of rows was not measured."
    took = f"Measured: {fmt.time(v['seconds'])}"
    if v["fit"] == "suspect":
        return f"{took}. Suspect: {v['suspect']}."
    if v["fit"] == "ruled out":
        said = f"{took}, too short for {v['executed']} rows at F: the blocks of this kernel are not so high."
    elif v["fit"] == "cache":
        said = f"{took}, less than the bytes take from memory: a cache served a part of them."
    else:
        more = "." if v["fit"] == "accounts" else "; the rest has another reason."
        said = f"{took}, of which this bound accounts for {fmt.percent(v['percent'])}{more}"
    return said + (" This point is unstable: its samples scattered." if v["unstable"] else "")


def spec(own: dict | None = None) -> dict:
    """What the browser needs: precisions, and each device's B, F and sweep (see :func:`sweep_of`)."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(own_spec(d) for d in own.values())]}


start = _common.start_with_sweep


@cache
def _catalogue_spec() -> dict:
    return {
        "n": SWEEP_SIZE,
        "k": SWEEP_SIZE,
        "source": _common.SOURCE,
        "tiles": list(TILES),
        "precisions": _common.precision_spec(),
        "devices": [
            {
                **_common.device_spec(d),
                "roofs": {p: {"peak": d.roofline(p).peak, "sweep": sweep_of(d, p)} for p in d.precisions},
            }
            for d in devices()
        ],
    }


def own_spec(d: OwnDevice) -> dict:
    """A run's device, with N = K of each of its sweeps."""
    known = [p for p in d.precisions if p in _common.precisions()]
    roofs = {p: {"peak": d.roofline(p).peak, "sweep": sweep_of(d, p), "n": _common.size_of(d, p)} for p in known}
    return {**d.spec(), "roofs": roofs}


def times(d: OwnDevice) -> list[float]:
    """The shortest and the longest time of an own device in the chart, in seconds: its bounds and what it measured."""
    known = [p for p in d.precisions if p in _common.precisions()]
    found = [x[1] for p in known for x in sweep_of(d, p)]
    for p in known:
        found.append(point(d, PRECISIONS[p], 1, 1)["bound_seconds"])
        found.append(point(d, PRECISIONS[p], LARGEST_M, 1)["bound_seconds"])
    return [min(found), max(found)]


def stand_in(state: dict, own: dict | None = None) -> str:
    """The chart of one state as an SVG that needs no script."""
    own = own or {}
    card, precision = _common.card(state["device"], own), PRECISIONS[state["precision"]]
    measured = sweep_of(card, precision.name) if precision.name in card.precisions else []
    return padding_figure(
        card,
        precision,
        compute(state, own),
        measured,
        lambda m, tile: point(card, precision, m, tile),
        colour=own_swatch(card.colour).light if card.key in own else palette.device(card.key).light,
        seconds=seconds_axis([t for d in own.values() for t in times(d)]),
    )
