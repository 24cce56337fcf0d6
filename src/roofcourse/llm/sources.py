"""Decode steps from wherever a bench has them: the study's, a recorded run, or this machine now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..inference import decode_steps
from ..tables import data_folder
from .bound import decode_bound
from .model import model as _model
from .steps import DecodeRun, TimedStep, TimedSteps, config_text, read_decode

#: The run that stands in where nothing is measured. tools/record_decode.py writes it.
RECORDED = "cpu_epyc_genoa_decode.json"
#: What a live bench times unless told otherwise: a model that any machine can hold.
MODEL, BATCHES, PROMPTS = "qwen2.5-0.5b", (1, 8), (128, 1024)


def of_card(card, model=None, batch=None, prompt=None, modes=None) -> TimedSteps:
    """The study's steps on a card of the catalogue: mode ``eager``, without a profile; the bound by our own formula.

    Raises ``LookupError`` in one line for a card, a model or a step that was not timed.
    """
    steps = []
    for x in decode_steps(card.key):
        bound = decode_bound(x.model, card, x.batch, x.prompt_length, x.precision, x.precision)
        steps.append(
            TimedStep(
                device=card.key,
                model=x.model,
                layers=bound.model.layers,
                layers_of=bound.model.layers,
                precision=x.precision,
                batch=x.batch,
                prompt_length=x.prompt_length,
                mode="eager",
                seconds=x.seconds,
                spread=None,
                bound=bound.seconds,
                bound_part=bound.part,
                bound_bytes=float(bound.bytes),
                kind="measured",
                source=x.source,
            )
        )
    return chosen(steps, model, batch, prompt, modes, f"on {card.name}")


def recorded_run() -> DecodeRun:
    """The recorded run that ships with the package."""
    return read_decode(data_folder() / "runs" / RECORDED)


def recorded(model=None, batch=None, prompt=None, modes=None) -> TimedSteps:
    """Its steps, narrowed."""
    run = recorded_run()
    return chosen(run.steps, model, batch, prompt, modes, f"in the recorded run of {run.machine['name']}")


def chosen(steps: Iterable[TimedStep], model, batch, prompt, modes, where: str) -> TimedSteps:
    """The steps asked for. Raises ``LookupError``, naming what there is, if one of them is missing."""
    steps = list(steps)
    there = TimedSteps(steps)
    name = None if model is None else _model(model).key
    if name is not None and name not in {x.model for x in steps}:
        have = ", ".join(dict.fromkeys(x.model for x in steps))
        raise LookupError(f"no decode step of {name} was timed {where}; timed is {have}")
    wanted = [("batch", _several(batch)), ("prompt_length", _several(prompt)), ("mode", _several(modes))]
    for field, values in wanted:
        have = dict.fromkeys(getattr(x, field) for x in steps)
        for value in values or ():
            if value not in have:
                raise LookupError(
                    f"no decode step with {field} {value} was timed {where}; there are {', '.join(map(str, have))}"
                )
    return TimedSteps(
        x for x in there if all(values is None or getattr(x, field) in values for field, values in wanted)
    )


def live(hardware, machine, *, quick: bool, rule, sessions: dict, model=None, batch=None, prompt=None, modes=None):
    """Steps timed on this machine now; what was timed before in ``sessions`` (by model) is not timed again.

    A model is its key and its config: two configs of one family may have the same name.

    Raises ``LookupError`` with the reason if not one of them could be timed.
    """
    from .decode import DecodeSession, fitting_layers, modes_for, precision_for

    whole = _model(model or MODEL)
    batches, prompts = _several(batch) or BATCHES, _several(prompt) or PROMPTS
    # Compiling takes minutes on a CPU: a quick bench leaves it out unless it is asked for.
    usual = [m for m in modes_for(hardware) if not (quick and hardware.kind == "cpu" and m == "compiled")]
    names = _several(modes) or usual
    this = (whole.key, config_text(whole.config))
    if this not in sessions:
        precision = precision_for(hardware)
        depth = fitting_layers(whole, hardware, max(batches), max(prompts), precision)
        sessions[this] = DecodeSession(whole, hardware, machine, precision=precision, layers=depth, rule=rule)
    session = sessions[this]
    for key in session.missing(batches, prompts, names):
        session.take(*key)
    found = TimedSteps(
        x for x in session.run().steps if x.batch in batches and x.prompt_length in prompts and x.mode in names
    )
    if not found:
        reason = next(iter(session.refusals.values()), "not measured")
        raise LookupError(f"no decode step of {whole.name} on {hardware.name}: {reason}")
    return found


def _several(value) -> Sequence | None:
    """One value or several, as a tuple."""
    if value is None:
        return None
    return (value,) if isinstance(value, (int, str)) else tuple(value)
