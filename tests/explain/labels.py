"""The labelled points: read the two files, and find each point in the bundled data."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

import roofcourse as rc
from roofcourse import catalogue
from roofcourse.bench import RECORDED_KERNELS
from roofcourse.records import Measurement, Measurements
from roofcourse.tables import data_folder, read
from roofcourse.work import Work

HERE = Path(__file__).parent
#: Qwen2.5-7B in BF16: bytes read in a step, bytes of KV cache per token and layers (chapter 6 works them out).
STEP_BYTES, KV_BYTES, LAYERS = 14.14e9, 57344, 28
LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


@dataclass(frozen=True)
class Label:
    id: str
    device: str
    series: str
    precision: str
    at: dict
    roof: dict
    context: str
    right: list
    source: str
    why: str

    def roofline(self):
        return _machine(self.device).roofline(self.roof["precision"], self.roof["path"])

    def sweep(self) -> Measurements:
        """The series that the point was measured in; for a linear layer, all seven of them; else none."""
        d = _machine(self.device)
        if self.series in ("m_sweep", "matmul_sweep", "fma_sweep"):
            return getattr(d, self.series)(self.precision)
        if self.series in ("copy", "read_reduce"):
            return d.working_set_sweep(self.series)
        if self.series == "small":
            return rc.bench("local", "bundled").small_products()
        if self.series == "layer" and self.at["module"] in LINEAR:
            return Measurements(_layer(self.device, **{**self.at, "module": name}) for name in LINEAR)
        return Measurements()

    def point(self) -> Measurement:
        if self.series == "layer":
            return _layer(self.device, **self.at)
        if self.series == "step":
            return _step(self.device, **self.at)
        return self.sweep().at(**self.at)

    def launch(self) -> float:
        """Launch overhead in seconds: the line through the small copies."""
        local = self.device == "cpu"
        return rc.bench("local" if local else self.device, "bundled").launch_overhead().overhead

    def counted_bytes(self) -> float | None:
        """Memory traffic by the counters, for the module whose formula bytes are the KV cache."""
        return _layer_row(self.device, **self.at)["dram_bytes"] if self.at.get("module") == "attention" else None


def _machine(key: str):
    return rc.bench("local", "bundled").device if key == "cpu" else catalogue.device(key)


def _layer_row(device, module, batch, prompt_length, phase) -> dict:
    wanted = {"device": device, "module": module, "batch": batch, "prompt_length": prompt_length, "phase": phase}
    (row,) = (r for r in read("layer_counters") if all(r[k] == v for k, v in wanted.items()))
    return row


def _layer(device, **at) -> Measurement:
    row = _layer_row(device, **at)
    if at["module"] == "attention":  # by formula: the KV cache of one layer; two products of 28 heads of 128
        pairs = at["batch"] * 28 * at["prompt_length"]
        work = Work(4 * 128 * pairs, KV_BYTES / LAYERS * at["batch"] * at["prompt_length"])
    else:
        work = Work(row["flop"], row["dram_bytes"])
    return Measurement(device, at["module"], "bf16", work, row["kernel_seconds"], source="rooflines_2026")


def _step(device, batch, prompt_length) -> Measurement:
    wanted = {"device": device, "batch": batch, "prompt_length": prompt_length, "eligible": True}
    row = next(r for r in read("decode") if all(r[k] == v for k, v in wanted.items()))  # the first of its runs
    moved = STEP_BYTES + KV_BYTES * batch * prompt_length
    return Measurement(device, "decode_step", "bf16", Work(STEP_BYTES * batch, moved), row["step_seconds"])


def labels(half: str) -> list[Label]:
    """Half ``"a"`` or ``"b"`` of the labelled set."""
    with open(HERE / f"labelled_{half}.toml", "rb") as file:
        return [Label(**row) for row in tomllib.load(file)["label"]]


def explained(label: Label):
    """The explanation of a label's point, with what its context grants."""
    point, roof = label.point(), label.roofline()
    if label.context == "none":
        return rc.explain(point, roof)
    facts = {"counted_bytes": label.counted_bytes()}
    return rc.explain(point, roof, label.sweep(), label.launch(), device=_machine(label.device), **facts)


@dataclass(frozen=True)
class Kernel:
    """A recorded kernel of chapter 9, what was counted of it, and the point that does its work without new memory."""

    point: str
    new_bytes: float
    there: str
    right: list
    why: str

    def explained(self):
        placed = {p.name: p for p in rc.placed(data_folder() / "runs" / RECORDED_KERNELS)}
        mine = placed[self.point]
        there = placed[self.there].seconds if self.there else None
        return rc.explain(
            mine,
            mine.roofline,
            [placed["tiny_4"]] if self.point == "tiny" else (),
            mine.launch,
            kernels=sum(o.calls for o in mine.operators),
            operator_seconds=mine.operator_seconds,
            new_bytes=self.new_bytes,
            reused_seconds=there,
        )


def kernels() -> list[Kernel]:
    """Half ``"c"``: new memory."""
    with open(HERE / "labelled_c.toml", "rb") as file:
        return [Kernel(**row) for row in tomllib.load(file)["label"]]


def outcome(label: Label) -> str:
    """``"right"``, ``"missed"`` (undetermined where a reason is known), or ``"confidently wrong"``."""
    verdict = explained(label).verdict
    if verdict in label.right:
        return "right"
    return "missed" if verdict == "undetermined" else "confidently wrong"


def figures(half: str) -> dict[str, int]:
    """How many of a half come out how."""
    found = [outcome(x) for x in labels(half)]
    return {name: found.count(name) for name in ("right", "missed", "confidently wrong")}
