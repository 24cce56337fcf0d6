"""What the kinds share: checks of their state, and the devices as the browser gets them."""

from __future__ import annotations

from functools import cache
from numbers import Integral

from ... import palette
from ...catalogue import SWEEP_SIZE, Device, device, devices
from ...precision import PRECISIONS, precision

SOURCE = "Sitong Zhang, rooflines 2026"


@cache
def precisions() -> tuple[str, ...]:
    """The precisions that at least one device has a measured roof for, from the widest to the narrowest."""
    present = {name for d in devices() for name in d.precisions}
    return tuple(name for name in PRECISIONS if name in present)


def check_device(value, own: dict | None = None) -> str:
    """The key of a card of the catalogue, or of one of the reader's own devices."""
    if own and (key := getattr(value, "key", value)) in own:
        return key
    return device(value).key


def peaks_spec(d) -> dict:
    """A device with its F by precision, for the kinds that need no more of it."""
    about = d.spec() if hasattr(d, "spec") else device_spec(d)
    return {**about, "peaks": {p: d.roofline(p).peak for p in d.precisions if p in precisions()}}


def start_with_peaks(d, state: dict) -> dict:
    """The state that shows an own device that has just come, in a precision that it has."""
    known = [p for p in d.precisions if p in precisions()]
    if not known:
        ask = "measure with --only bandwidth,matmul"
        raise LookupError(f"{d.name}: this run has no roof of a matrix product: {ask}")
    wanted = next((p for p in (state["precision"], "fp32") if p in known), known[0])
    return {**state, "device": d.key, "precision": wanted}


def start_with_sweep(d, state: dict) -> dict:
    """The state that shows an own device that has just come: in the precision chosen, or one with an M sweep."""
    known = [p for p in d.precisions if p in precisions()]
    if not known:
        ask = "measure with --only bandwidth,matmul,m-sweep"
        raise LookupError(f"{d.name}: this run has no roof of a matrix product: {ask}")
    swept = [p for p in known if d.rows[p][1]]
    wanted = state["precision"] if state["precision"] in known else (swept or known)[0]
    return {**state, "device": d.key, "precision": wanted}


def size_of(d, precision: str) -> int:
    """N = K of a device's M sweep; that of the cards where it has none."""
    return (d.rows.get(precision, (0,))[0] if hasattr(d, "rows") else 0) or SWEEP_SIZE


def card(key: str, own: dict):
    """The device of a checked key."""
    return own[key] if key in own else device(key)


def check_precision(value) -> str:
    name = precision(value).name
    if name not in precisions():
        raise ValueError(
            f"no device of the catalogue has a measured roof for {name}; there are: {', '.join(precisions())}"
        )
    return name


def check_whole(name: str, value, low: int, high: int) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or not low <= value <= high:
        raise ValueError(f"{name} is a whole number from {low} to {high}, not {value!r}")
    return int(value)


def check_positive(name: str, value, low: float, high: float, unit: str) -> float:
    number = float(value) if isinstance(value, (int, float, Integral)) and not isinstance(value, bool) else float("nan")
    if not low <= number <= high:
        raise ValueError(f"{name} is a number from {low:g} to {high:g} {unit}, not {value!r}")
    return number


def precision_spec() -> list[dict]:
    return [
        {"name": name, "label": PRECISIONS[name].label, "bytes": PRECISIONS[name].bytes_per_element}
        for name in precisions()
    ]


def device_spec(d: Device) -> dict:
    """What every kind tells the browser about a device; ``colour`` is the name of its swatch in the palette."""
    return {"key": d.key, "name": d.name, "bandwidth": d.bandwidth, "colour": palette.device(d.key).name}
