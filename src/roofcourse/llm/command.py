"""The command ``roofcourse decode``: bounds of decode steps on a card, or steps timed on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..files import check_output
from ..measure.device import Device, open_device
from ..measure.progress import Progress
from ..measure.report import flop_rate
from ..measure.session import Step
from ..measure.stopping import FULL, QUICK
from ..precision import precision as _precision
from ..roofline import Roofline
from ..texttable import four, table
from .bound import StepBound, decode_bound, prefill_bound
from .decode import DecodeSession, Stepper, fitting_layers, modes_for, precision_for
from .model import Model, models
from .model import model as _model
from .steps import MODES, DecodeRun, read_decode, verdicts, write_decode

#: Precisions of a timed step.
RUN_IN = ("bf16", "fp16", "fp32")
#: Exit status after Ctrl-C, by custom.
INTERRUPTED = 130
#: First guess at how long one step of a session takes to set up and measure (seconds).
FIRST_GUESS = 5.0


def list_models() -> str:
    """The bundled models as a table."""
    rows = [("key", "family", "parameters", "layers", "bf16 (GB)", "read a step, batch 1 (GB)", "KV a token (KiB)")]
    rows += [
        (
            m.key,
            m.family,
            f"{m.parameter_count / 1e9:,.2f} billion",
            f"{m.layers}",
            f"{m.bytes_stored() / 1e9:,.2f}",
            f"{m.bytes_read_per_step(1) / 1e9:,.2f}",
            f"{m.kv_bytes_per_token() / 1024:,.4g}",
        )
        for m in models()
    ]
    return table(rows) + "\n\nAny config.json of these families works as well: --model path/to/config.json"


def bounds(
    model: str,
    device,
    batches: Sequence[int],
    prompts: Sequence[int],
    *,
    weights: str = "bf16",
    kv: str = "bf16",
    phase: str = "decode",
) -> str:
    """Lower bounds of every batch and prompt length as a table, and when the weights stop being what binds."""
    bound = decode_bound if phase == "decode" else prefill_bound
    whole = _model(model)
    steps = [bound(whole, device, b, p, weights, kv) for p in prompts for b in batches]
    first = steps[0]
    head = [
        "batch",
        "prompt",
        "weights (ms)",
        "KV cache (ms)",
        "activations (ms)",
        "arithmetic (ms)",
        "step at least (ms)",
    ]
    rows = [[*head, "tokens/s at most", "binds", "memory (GB)", "fits"]]
    rows += [_bound_row(x) for x in steps]
    fits = "" if first.memory_bytes is None else f", memory {first.memory_bytes / 1e9:,.1f} GB"
    kinds = "" if first.compute_precision == first.weight_precision else f" (arithmetic in {first.compute_precision})"
    out = [
        f"{whole}, weights {first.weight_precision}{kinds}, KV cache {first.kv_precision}",
        f"{first.device}: B = {first.roofline.bandwidth / 1e9:,.0f} GB/s, F = {flop_rate(first.roofline.peak)}, "
        f"{first.roofline.kind}{fits}",
        "",
        table(rows, left=0),
        "",
    ]
    for p, x in zip(prompts, steps[:: len(batches)], strict=True):  # of each prompt the first batch
        what = {"kv": "reading the KV cache", "compute": "the arithmetic"}.get(
            x.part_after_weights, "moving activations"
        )
        out.append(
            f"prompt {p}: from batch {x.batch_where_weights_stop:,} on, {what} takes at least as long as reading the "
            "weights"
        )
    out.append(
        "A bound, not a forecast: no step is faster than this by more than B is uncertain, a few percent; real ones "
        "are slower. Memory is parameters and KV cache alone."
    )
    if whole.sparse:
        out.append("Experts read: the expected number under uniform routing; skewed routing reads fewer.")
    if whole.defaulted:
        out.append(f"Keys that the config leaves out, taken as Transformers does: {', '.join(whole.defaulted)}.")
    return "\n".join(out)


def _bound_row(x: StepBound) -> list[str]:
    milliseconds = [x.weights_seconds, x.kv_seconds, x.activations_seconds, x.compute_seconds, x.seconds]
    return [
        f"{x.batch}",
        f"{x.prompt_length}",
        *(four(s * 1e3) for s in milliseconds),
        four(x.tokens_per_second),
        {"kv": "KV cache", "compute": "arithmetic"}.get(x.part, x.part),
        four(x.memory_needed / 1e9),
        "" if x.fits is None else "yes" if x.fits else "no",
    ]


def decode_machine(
    *,
    model: str,
    batches: Sequence[int],
    prompts: Sequence[int],
    modes: Sequence[str] = (),
    kind: str | None = None,
    precision: str | None = None,
    layers: int | None = None,
    quick: bool = False,
    out: Path,
    resume: bool = False,
    overwrite: bool = False,
    say: Callable[[str], object] = print,
    device: Device | None = None,
    machine=None,
    stepper: Callable[[Model, Device, str], Stepper] = Stepper,
    progress: Progress | None = None,
) -> int:
    """Time decode steps on this machine into the file ``out``; print a table. Returns the exit status.

    ``machine`` has the roofs (measured first unless given). Raises ``ValueError``, ``LookupError`` or ``OSError`` in
    one line, before anything is measured, for what cannot be.
    """
    whole = _model(model)
    name = precision and _run_in(precision)
    check_output(out)
    earlier = read_decode(out) if resume and out.exists() else None
    if out.exists() and not resume and not overwrite:
        raise FileExistsError(f"{out} exists: go on with it (--resume), choose another name (-o), or --overwrite it")
    for mode in modes:
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}; there are: {', '.join(MODES)}")
    device = device or open_device(kind)
    progress = progress or Progress()
    name = name or precision_for(device)
    elsewhere = "measure into another file (-o), or --overwrite it"
    if earlier is not None:
        pairs = (("model", earlier.model["key"], whole.key), ("precision", earlier.model["precision"], name))
        for what, there, here in pairs:
            if there != here:
                raise ValueError(
                    f"{out}: its {what} is {there}, here it is {here}; go on with --{what} {there}, or {elsewhere}"
                )
    depth = layers if layers is not None else earlier and earlier.model["layers"]
    if depth is None:
        depth = fitting_layers(whole, device, max(batches), max(prompts), name)
    whole.with_layers(depth)  # refuses a depth that the model does not have, before anything is measured
    say(f"{whole} in {name}, random weights, on {device.name}")
    if depth < whole.layers:
        say(
            f"This machine runs {depth} of its {whole.layers} layers (with the whole embedding and head). Times and "
            "bounds are of those; the time of all layers is derived from two depths, and marked so."
        )
    if earlier is not None:
        machine = GivenRoofs(earlier)  # the bounds of one file rest on the same roofs
    if machine is None:
        say("Measuring the roofs of this machine first: bandwidth and matrix products")
        machine = _roofs(device, quick)
    roof = machine.roofline(name)
    say(f"B = {roof.bandwidth / 1e9:,.4g} GB/s, F = {flop_rate(roof.peak)}")
    session = DecodeSession(
        whole,
        device,
        machine,
        precision=name,
        layers=depth,
        rule=QUICK if quick else FULL,
        save=lambda run: write_decode(run, out, overwrite=True),
        say=progress.say,
        stepper=stepper,
    )
    if earlier is not None:
        try:
            session.run().same_as(earlier)
        except ValueError as reason:
            raise ValueError(f"{out}: {reason}; {elsewhere}") from None
        session.steps = list(earlier.steps)
    work = session.missing(batches, prompts, modes or modes_for(device))
    say(f"{len(work)} steps to measure" + (f", {len(session.steps)} already in {out}" if earlier else ""))
    status, start = 0, time.monotonic()
    with progress:
        try:
            for done, (batch, prompt, mode) in enumerate(work):
                each = (time.monotonic() - start) / done if done else FIRST_GUESS
                title = f"batch {batch}, prompt {prompt}, {mode}"
                progress.show(Step(title, done, len(work), each * (len(work) - done)))
                session.take(batch, prompt, mode)
        except KeyboardInterrupt:
            status = INTERRUPTED
    run = session.run(complete=status == 0)
    if not run.steps:
        say("Nothing was measured." + "".join(f"\n  {what}: {why}" for what, why in run.refusals))
        return status or 1
    write_decode(run, out, overwrite=True)
    say("\n" + closing(run) + f"\n\nWritten: {out}")
    if status:
        say(f"Interrupted. To go on: roofcourse decode --resume -o {out} with the same model, batches and prompts")
    return status


def _run_in(name: str) -> str:
    """The precision of a timed step by the name people write. Raises ``ValueError`` for one that no model runs in."""
    try:
        found = _precision(name).name
    except ValueError:  # a format of weights (int4), or a slip
        found = name
    if found not in RUN_IN:
        raise ValueError(
            f"a decode step runs in {', '.join(RUN_IN[:-1])} or {RUN_IN[-1]}, not {name!r}; for weights in another "
            "format: --bound --weights fp8"
        )
    return found


class GivenRoofs:
    """The roofs of an earlier run, answering as a machine does."""

    def __init__(self, run: DecodeRun) -> None:
        self.name, self.memory_bytes = run.machine["name"], run.machine.get("memory_bytes")
        self.precisions, self.bandwidth = (run.roofs["precision"],), run.roofs["bandwidth"]
        self._key, self._peak = run.machine["key"], run.roofs["peak"]

    def roofline(self, precision: str) -> Roofline:
        """Raises ``LookupError`` for another precision than that of the run."""
        if precision not in self.precisions:
            raise LookupError(f"the run has roofs for {self.precisions[0]} alone, not for {precision}")
        return Roofline(self._peak, self.bandwidth, self._key, precision, "gemm", "measured")


def _roofs(device: Device, quick: bool):
    """This machine's ceilings, measured when they are asked for."""
    from ..bench import Live

    return Live(quick=quick, device=device).device


def closing(run: DecodeRun) -> str:
    """The table of a run, where the gaps come from, what the whole model would take, and what was not measured."""
    parts = [repr(run.steps)]
    if said := verdicts(run.steps):
        parts.append("Above the bound\n" + "\n".join(f"  {x}" for x in said))
    cut = [x for x in run.steps if not x.whole and x.whole_seconds is not None]
    if cut:
        rows = [("batch", "prompt", "mode", f"all {cut[0].layers_of} layers, derived (ms)")]
        rows += [(f"{x.batch}", f"{x.prompt_length}", x.mode, four(x.whole_seconds * 1e3)) for x in cut]
        deep = f"{cut[0].shallow[0]} and {cut[0].layers} layers"
        parts.append(f"Derived, not measured: T = a + b x layers from {deep}\n" + table(rows, left=0))
    noisy = [x for x in run.steps if not x.stable]
    care = [f"{len(noisy)} of {len(run.steps)} steps scatter by more than 10 %"] if noisy else []
    care += [f"{x.label}: {x.suspect}" for x in run.steps if x.suspect]
    if care:
        parts.append("Be careful\n" + "\n".join(f"  {x}" for x in care))
    if run.refusals:
        parts.append("Not measured\n" + "\n".join(f"  {what}: {why}" for what, why in run.refusals))
    return "\n\n".join(parts)
