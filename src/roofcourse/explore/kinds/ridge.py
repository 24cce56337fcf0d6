"""The explorer of chapter 3: rooflines of any cards and paths; at a movable intensity, which is higher and how sure.

``compute`` and its sentence are written twice, here and in ``js/kinds/ridge_model.js``; a browser test compares them.
"""

from __future__ import annotations

from functools import cache

from ... import palette
from ... import words as fmt
from ...catalogue import device, devices
from ...precision import PRECISIONS
from ...precision import precision as _precision
from ...roofline import Roofline
from ...second_sources import peak_range
from ..own import OwnDevice
from ..standin import lowest_throughput, own_swatch
from ..standin_roofs import roofs_figure
from . import _common

LABEL = "rooflines compared"
INTENSITY_RANGE = (0.1, 1e4)
SEPARATOR = "~"  # a link may carry it as it is
MOST = 12
OWN = True

#: Two roofs are told apart only if they differ by more than this (percent) on top of what their sources differ by:
#: B is a lower bound good to 2 to 5 %, and F of one card moves as much with the shape of the product.
MARGIN = 5

DEFAULTS = {"intensity": 100.0, "roofs": "h100.fp16~h200.fp16"}


def name_of(roof: Roofline) -> str:
    """How the state calls a roof: ``"h100.fp16"``, ``"h100.fp32.vector"``."""
    return f"{roof.device}.{roof.precision}" + (".vector" if roof.path == "vector" else "")


def _roof(name: str, own: dict) -> Roofline:
    """The roof of a name. Raises ``ValueError`` or ``LookupError`` in one line."""
    key, _, rest = name.partition(".")
    precision, _, path = rest.partition(".")
    if not rest or path not in ("", "vector"):
        raise ValueError(f"a roof is written device.precision or device.precision.vector (h100.fp16), not {name!r}")
    return _common.card(key, own).roofline(_precision(precision), path or "gemm")


def check(key: str, value, own: dict | None = None):
    """One value of the state, as it is kept. Raises ``ValueError`` or ``LookupError`` in one line."""
    if key == "intensity":
        return _common.check_positive("intensity", value, *INTENSITY_RANGE, "FLOP/byte")
    parts = [value] if isinstance(value, Roofline) else value
    parts = parts.split(SEPARATOR) if isinstance(parts, str) else list(parts)
    own = own or {}
    names = [name_of(p if isinstance(p, Roofline) else _roof(p, own)) for p in parts]
    if not 1 <= len(names) <= MOST or len(set(names)) < len(names):
        raise ValueError(f"roofs are from 1 to {MOST} different rooflines, not {len(names)}: {', '.join(names)}")
    return SEPARATOR.join(_known(n, own) for n in names)


def _known(name: str, own: dict) -> str:
    _roof(name, own)  # a Roofline of a machine that is not among the devices: say so here
    return name


def title(roof: Roofline, own: dict) -> str:
    """``"H100 FP32 vector"``"""
    return f"{_common.card(roof.device, own).name} {_label(roof)}"


def _label(roof: Roofline) -> str:
    return PRECISIONS[roof.precision].label + (" vector" if roof.path == "vector" else "")


def _peaks(roof: Roofline, own: dict) -> tuple[float, float]:
    """The lowest and the highest F that anybody measured: of a run there is one."""
    return (roof.peak, roof.peak) if roof.device in own else peak_range(roof.device, roof.precision, roof.path)


def compute(state: dict, own: dict | None = None) -> dict:
    """The numbers of one state, in SI units, and the sentence. A roof's own numbers have its name behind a colon."""
    at = state["intensity"]
    own = own or {}
    roofs = [_roof(n, own) for n in state["roofs"].split(SEPARATOR)]
    v = {"intensity": at, "count": len(roofs)}
    rows = []
    for r in roofs:
        low, high = (Roofline(f, r.bandwidth) for f in _peaks(r, own))
        row = {"roof": r, "title": title(r, own), "name": name_of(r), "at": r.attainable(at), "bound": r.bound(at)}
        row |= {"low": low.attainable(at), "high": high.attainable(at), "peaks": (low.peak, high.peak)}
        rows.append(row)
        v |= {
            f"ridge_point:{row['name']}": r.ridge_point,
            f"attainable:{row['name']}": row["at"],
            f"low:{row['name']}": row["low"],
            f"high:{row['name']}": row["high"],
            f"bound:{row['name']}": row["bound"],
        }
    first = max(rows, key=lambda row: row["at"])
    v |= {
        "highest": first["name"],
        "attainable": first["at"],
        "bound": first["bound"],
        "ridge_point": first["roof"].ridge_point,
    }
    others = [row for row in rows if row is not first]
    rivals = [row for row in others if row["high"] * (1 + MARGIN / 100) >= first["low"]]
    v["verdict"] = "alone" if not others else "equal" if rivals else "higher"
    second = max(rivals or others, key=lambda row: row["at"], default=None)
    if second:
        above = 100 * (first["at"] / second["at"] - 1)
        v |= {"next": second["name"], "percent_above": above, "equal_count": len(rivals)}
        if rivals and all(_on_one_slope(first, row) for row in rivals):
            v["verdict"] = "same"
        v |= _crossing(first, second)
    v["sentence"] = _sentence(v, first, second, rivals)
    return v


def _on_one_slope(first: dict, second: dict) -> bool:
    return first["roof"].device == second["roof"].device and first["bound"] == second["bound"] == "memory"


def _crossing(first: dict, second: dict) -> dict:
    """Where the two roofs cross, and from where to where with other values of F; keys that do not apply are left out.

    ``crossing_last`` is left out when for some values of F the roofs do not cross at all.
    """
    out = {}
    where = first["roof"].crossing(second["roof"])
    if where is not None:
        out["crossing"] = where
    a, b = first["roof"].bandwidth, second["roof"].bandwidth
    found = [Roofline(f, a).crossing(Roofline(g, b)) for f in first["peaks"] for g in second["peaks"]]
    cross = [x for x in found if x is not None]
    if cross:
        out["crossing_first"] = min(cross)
        if len(cross) == len(found):
            out["crossing_last"] = max(cross)
    return out


def _sentence(v: dict, first: dict, second: dict | None, rivals: list[dict]) -> str:
    place = f"At I{fmt.SPACE}={fmt.SPACE}{fmt.intensity(v['intensity'])}"
    name, top = first["title"], fmt.tflops(first["at"])
    if second is None:
        side = "left" if first["bound"] == "memory" else "right"
        ridge = fmt.intensity(first["roof"].ridge_point)
        return (
            f"{place} the roof of the {name} is at {top}: {first['bound']}-bound, {side} of its ridge point, {ridge}."
        )
    if v["verdict"] == "same":
        card = first["title"].removesuffix(f" {_label(first['roof'])}")
        labels = fmt.listed([_label(row["roof"]) for row in (first, *rivals)])
        return f"{place} the roofs of the {card} in {labels} are one slope, {top}: its B decides."
    other = second["title"]
    if v["verdict"] == "higher":
        above = fmt.percent(v["percent_above"])
        lead = f"{place} the {name} has the highest roof, {top}: {above} above the {other}, more than the uncertainty."
        return f"{lead} {_why(first, second)}"
    if len(rivals) == 1:
        by = fmt.percent(v["percent_above"])
        known = _measured_range(second) + _measured_range(first)
        return (
            f"{place} the {name}, {top}, and the {other} are equal within the uncertainty: they differ by {by}.{known}"
        )
    equal = fmt.listed([row["title"] for row in rivals])
    return f"{place} the {name} has the highest roof, {top}, but equal to it within the uncertainty are: {equal}."


def _measured_range(row: dict) -> str:
    low, high = (fmt.significant(f / 1e12, 3) for f in row["peaks"])
    return "" if low == high else f" F of the {row['title']} was measured from {low} to {high}{fmt.SPACE}TFLOP/s."


def _why(first: dict, second: dict) -> str:
    if first["bound"] == second["bound"]:
        return f"Both are {first['bound']}-bound there, so {'B' if first['bound'] == 'memory' else 'F'} decides."
    return f"The first is {first['bound']}-bound there, the second {second['bound']}-bound."


def _names(key: str) -> list[str]:
    return [name_of(r) for r in device(key).ceilings()]


@cache
def presets() -> tuple[dict, ...]:
    """Comparisons to try."""
    eight = ("v100-32", "a100", "h100", "h200", "b300", "mi100", "mi210", "rtx4080")
    out = (
        ("H100 and H200 in FP16", ("h100.fp16", "h200.fp16"), 400.0),
        ("H100 and H200 in BF16", ("h100.bf16", "h200.bf16"), 400.0),
        ("eight cards in FP16", tuple(f"{key}.fp16" for key in eight), 10.0),
        ("V100 and B300 in FP16", ("v100-32.fp16", "b300.fp16"), 150.0),
        ("H100, every path", tuple(_names("h100")), 50.0),
        ("B300, every path", tuple(_names("b300")), 50.0),
        ("A100 in FP32, TF32 and FP16", ("a100.fp32.vector", "a100.tf32", "a100.fp16"), 50.0),
        (
            "RTX 4080 and A100, FP32 and FP16",
            ("rtx4080.fp32.vector", "a100.fp32.vector", "rtx4080.fp16", "a100.fp16"),
            100.0,
        ),
    )
    return tuple({"label": label, "roofs": SEPARATOR.join(roofs), "intensity": at} for label, roofs, at in out)


def spec(own: dict | None = None) -> dict:
    """What the browser needs: each card's B, and by path F with the lowest and the highest value measured of it."""
    if not own:
        return _catalogue_spec()
    return {**_catalogue_spec(), "devices": [*_catalogue_spec()["devices"], *(_own_spec(d) for d in own.values())]}


@cache
def _catalogue_spec() -> dict:
    return {
        "source": _common.SOURCE,
        "precisions": _common.precision_spec(),
        "devices": [
            {
                **_common.device_spec(d),
                "roofs": {
                    name_of(r).partition(".")[2]: [r.peak, *peak_range(d, r.precision, r.path)] for r in d.ceilings()
                },
            }
            for d in devices()
        ],
        "presets": list(presets()),
    }


def _own_roofs(d: OwnDevice) -> list[Roofline]:
    return [r for r in d.ceilings() if r.precision in _common.precisions()]


def _own_spec(d: OwnDevice) -> dict:
    return {**d.spec(), "roofs": {name_of(r).partition(".")[2]: [r.peak] * 3 for r in _own_roofs(d)}}


def start(d: OwnDevice, state: dict) -> dict:
    """The state that shows a device that has just come: its roofs beside those that are chosen, as many as fit."""
    chosen, new = state["roofs"].split(SEPARATOR), [name_of(r) for r in _own_roofs(d)]
    if not new:
        raise LookupError(f"{d.name}: this run has no roof of a precision that is shown here")
    new = new[:MOST]
    return {**state, "roofs": SEPARATOR.join([*chosen[: MOST - len(new)], *new])}


def stand_in(state: dict, own: dict | None = None) -> str:
    """The roofs of one state as an SVG that needs no script."""
    own = own or {}
    roofs = [_roof(n, own) for n in state["roofs"].split(SEPARATOR)]
    swatches = [own_swatch(own[r.device].colour) if r.device in own else palette.device(r.device) for r in roofs]
    return roofs_figure(roofs, [title(r, own) for r in roofs], compute(state, own), swatches, lowest(own))


def lowest(own: dict) -> float:
    return lowest_throughput(d.spec() for d in own.values())
