"""What the chart functions accept, turned into plain lists, with one-line errors for everything else."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from .. import palette
from ..precision import PRECISIONS
from ..roofline import Roofline
from ..words import significant
from ..work import Work


@dataclass(frozen=True)
class Point:
    """One measured kernel as a chart needs it: I in FLOP/byte, P in FLOP/s, time in s, traffic rate in bytes/s."""

    intensity: float
    flop_per_s: float
    bytes_per_s: float
    seconds: float
    device: str | None
    precision: str | None
    stable: bool
    record: object

    @property
    def derived(self) -> bool:
        """Whether it was worked out from a measurement and a supposition."""
        return getattr(self.record, "kind", "") == "derived"


def roofs(value, who: str) -> list[Roofline]:
    """One Roofline or several. Raises ValueError for anything else and for none at all."""
    items = [value] if isinstance(value, Roofline) else _listed(value)
    if items is None or any(not isinstance(item, Roofline) for item in items):
        wrong = value if items is None else next(item for item in items if not isinstance(item, Roofline))
        raise ValueError(f"{who} needs Rooflines such as rc.device('h100').roofline('fp16'), not {_short(wrong)}")
    if not items:
        raise ValueError(f"{who} needs at least one Roofline, and was given none")
    return items


def points(value, who: str) -> list[Point]:
    """None, one measurement, or several (Measurements, lists of them). A measurement has `work` and `seconds`."""
    if value is None:
        return []
    if hasattr(value, "seconds") and hasattr(value, "work") and not _is_series(value):
        return [_point(value, who)]
    items = list(value.values()) if isinstance(value, Mapping) else _listed(value)
    if items is None:
        raise ValueError(f"{who} draws measurements such as rc.device('h100').m_sweep('fp16'), not {_short(value)}")
    out: list[Point] = []
    for item in items:
        out += points(item, who) if _is_series(item) else [_point(item, who)]
    return out


def works(value, who: str) -> dict[str, Work]:
    """A Work, or a mapping from names to Works."""
    if value is None:
        return {}
    if isinstance(value, Work):
        value = {"": value}
    if not isinstance(value, Mapping) or any(not isinstance(work, Work) for work in value.values()):
        raise ValueError(f"{who} needs a Work or a dict such as {{'axpy': rc.axpy(n)}}, not {_short(value)}")
    if not value:
        raise ValueError(f"{who} needs at least one Work, and was given none")
    for name, work in value.items():
        if not isinstance(work.flop, float):
            raise ValueError(f"{who} draws one number per bar, but the Work {name!r} holds an array")
    return dict(value)


def sweeps(value, who: str) -> dict[str, list[Point]]:
    """A series of measurements, several, or a mapping from names to series: name -> points, one name per series.

    A series is split by device and precision, so that `rc.device("h100").measurements("copy")` is one sweep.
    """
    if isinstance(value, Mapping):
        return {str(name): points(series, who) for name, series in value.items()}
    found = points(value, who)
    if not found:
        raise ValueError(f"{who} needs measurements, and was given none")
    groups: dict[tuple, list[Point]] = {}
    for point in found:
        groups.setdefault((point.device, point.precision, getattr(point.record, "kernel", None)), []).append(point)
    devices, precisions, kernels = ({group[i] for group in groups} for i in range(3))
    names = {}
    for device, precision, kernel in groups:
        parts = [device_name(device)] if len(devices) > 1 or len(groups) == 1 else []
        parts += [precision_name(precision)] if len(precisions) > 1 else []
        parts += [str(kernel)] if len(kernels) > 1 else []
        names[device, precision, kernel] = " ".join(parts)
    return {names[group]: series for group, series in groups.items()}


def device_name(key: str | None) -> str:
    """The short name of a device key: "H100"; a key that the catalogue does not have stays as it is."""
    from ..catalogue import devices

    if key is None or key in palette.OWN:
        return "this machine"
    return next((device.name for device in devices() if device.key == key), key)


def precision_name(name: str | None) -> str:
    return PRECISIONS[name].label if name in PRECISIONS else str(name or "")


def measured(found: list[Point]) -> str:
    """Key words for measured points: "measured, bundled data" or "measured, run of 2026-11-30"."""
    origins = dict.fromkeys(_origin(point) for point in found)
    return ", ".join(["measured", " and ".join(origins)]) if "" not in origins else "measured"


def sources(found: list[Point]) -> str:
    """A sentence for alternative text: where the points come from; empty where the records do not say."""
    from ..tables import sources as known

    table = known()
    names = dict.fromkeys(getattr(point.record, "source", "") for point in found)
    said = [f"{table[n]['title']}, {table[n]['who']}" if n in table else n for n in names if n]
    return f"Source: {'; '.join(said)}." if said else ""


def _origin(point: Point) -> str:
    source = str(getattr(point.record, "source", "") or "")
    if getattr(point.record, "kind", "") == "measured live":
        return source.split("T")[0] or "live"
    return "bundled data" if source else ""


def flop_unit(highest: float) -> tuple[float, str]:
    """The unit of a throughput axis that reaches this value in FLOP/s."""
    return (1e12, "TFLOP/s") if highest >= 1e12 else (1e9, "GFLOP/s")


def time_unit(middle: float) -> tuple[float, str]:
    """The unit of a time axis about this value in seconds."""
    return next((u for u in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")) if middle >= u[0]), (1e-9, "ns"))


def roof_name(roof: Roofline) -> str:
    """What a roofline is called where nothing else is around."""
    if roof.label:
        return roof.label
    parts = [device_name(roof.device) if roof.device else "", precision_name(roof.precision)]
    parts += ["vector"] if roof.path == "vector" else []
    return " ".join(part for part in parts if part) or "roofline"


def short_names(items: list[Roofline]) -> list[str]:
    """The parts of the names in which these rooflines differ: devices, or precisions, or both.

    Where one device has a vector roof and a product's in one precision, both are called so."""
    if len(items) == 1:
        return [roof_name(items[0])]
    if any(not roof.device or not roof.precision for roof in items):
        return [roof_name(roof) for roof in items]
    many_devices = len({roof.device for roof in items}) > 1
    many_precisions = len({roof.precision for roof in items}) > 1
    many_paths = many_precisions or len({roof.path for roof in items}) > 1
    names = []
    for roof in items:
        parts = [device_name(roof.device)] if many_devices else []
        parts += [precision_name(roof.precision)] if many_precisions or not many_devices else []
        name = " ".join(parts)
        twins = {each.path for each in items if (each.device, each.precision) == (roof.device, roof.precision)}
        path = {"vector": "vector", "gemm": "product"}[roof.path] if twins == {"vector", "gemm"} else ""
        path = path or ("vector" if roof.path == "vector" and many_paths else "")
        # "H100 product", but "this machine, product"
        names.append(f"{name}{', ' if ' ' in name else ' '}{path}" if path else name)
    # a nominal and a measured roof of one card, say: fall back to what sets them apart
    if len(set(names)) < len(names):
        names = [roof_name(roof) for roof in items]
    if len(set(names)) < len(names):
        names = [f"{name} ({roof.kind})" if roof.kind else name for name, roof in zip(names, items, strict=True)]
    return names


def swatch_of(roof_or_point, items: list) -> palette.Swatch:
    """Colour by device; by precision where all of one device."""
    many_devices = len({item.device for item in items}) > 1
    many_precisions = len({item.precision for item in items}) > 1
    if many_precisions and not many_devices and roof_or_point.precision in PRECISIONS:
        return palette.precision(roof_or_point.precision)
    return palette.device(roof_or_point.device)


def three(value: float) -> str:
    """Three significant digits, for alternative text."""
    return significant(value, 3)


def _is_series(value) -> bool:
    return isinstance(value, (list, tuple)) or (hasattr(value, "__len__") and hasattr(value, "__getitem__"))


def _listed(value) -> list | None:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return None
    return list(value)


def _point(item, who: str) -> Point:
    work, seconds = getattr(item, "work", None), getattr(item, "seconds", None)
    if not isinstance(work, Work) or not isinstance(seconds, (int, float)):
        raise ValueError(f"{who} draws measurements such as rc.device('h100').m_sweep('fp16'), not {_short(item)}")
    if not (0 < seconds < math.inf):
        raise ValueError(f"{who} cannot draw a time of {seconds!r} s: times are positive and finite")
    return Point(
        intensity=float(work.intensity),
        flop_per_s=float(work.flop / seconds),
        bytes_per_s=float(work.bytes / seconds),
        seconds=float(seconds),
        device=getattr(item, "device", None),
        precision=getattr(item, "precision", None),
        stable=bool(getattr(item, "stable", True)),
        record=item,
    )


def _short(value) -> str:
    text = repr(value)
    text = text.splitlines()[0] if text else text
    return text if len(text) <= 60 else text[:57] + "..."
