"""``roofcourse decode``: what bounds a decode step of a language model on a card, and how long one takes here."""

from __future__ import annotations

from pathlib import Path

from . import parser

_DESCRIPTION = """\
A decode step makes one token for each sequence of a batch. It cannot end before the weights and the KV cache have been
read and the arithmetic is done.

With --bound: the lower bound of the step on a card of the catalogue, so the most tokens per second that the model can
reach there. Without: build the model with random weights on this machine (nothing is downloaded), time the step in
several modes, and split the time above the bound into slow kernels and time outside kernels. A machine too small for
all layers runs some of them and says so.
"""

_EXAMPLES = """\
examples:
  roofcourse decode --bound --device h100 --model qwen2.5-7b --batch 1,8,64 --prompt 1024
  roofcourse decode --bound --device rtx4080 --model llama-3.1-8b --weights int4 --kv fp8
  roofcourse decode --bound --prefill --device h200 --model llama-3.3-70b --prompt 1024,8192
  roofcourse decode --models                                   the bundled models
  roofcourse decode --model qwen2.5-7b --batch 1,8,16 --prompt 128,1024    time it here, into decode.json
  roofcourse decode --model ./config.json --quick --modes eager,compiled
  roofcourse decode --resume                                   with the same words: go on after an interruption

modes:
{modes}

Is it launching that keeps a step above its bound? Run modes static and graph on a GPU: the same kernels, launched one
by one and all at once. Is it the KV cache? Compare prompts, and see how much of the kernels' time is attention and
copies.
"""


def add(commands) -> None:
    from ..llm.steps import MODES

    modes = "\n".join(f"  {name:10} {what}" for name, what in MODES.items())
    this = parser(
        commands,
        "decode",
        help="bound or time the decode step of a language model",
        description=_DESCRIPTION,
        epilog=_EXAMPLES.format(modes=modes),
    )
    this.add_argument("--model", metavar="MODEL", default="qwen2.5-7b", help="a bundled model, or a config.json")
    this.add_argument("--models", action="store_true", help="list the bundled models")
    this.add_argument("--batch", metavar="N,N", default="1,8,16", help="sequences in a step (default: 1,8,16)")
    this.add_argument("--prompt", metavar="N,N", default="128,1024", help="tokens in the KV cache (default: 128,1024)")
    this.add_argument("--device", metavar="NAME", help="with --bound a card (h100); else a kind: cuda, rocm, cpu ...")
    bound = this.add_argument_group("bounds on a card")
    bound.add_argument(
        "--bound", action="store_true", help="print the lower bound on the card --device; measure nothing"
    )
    bound.add_argument("--prefill", action="store_true", help="the bound of the prefill instead of a decode step")
    bound.add_argument("--weights", metavar="FORMAT", help="bf16 (default), fp8, int8, int4, int4_g64, mxfp4 ...")
    bound.add_argument("--kv", metavar="FORMAT", help="numbers of the KV cache: bf16 (default), fp8, int8, int4")
    live = this.add_argument_group("timing on this machine (needs pip install 'roofcourse[llm]')")
    live.add_argument("--modes", metavar="MODES", help="with commas between them (default: all that can run)")
    live.add_argument("--precision", metavar="NAME", help="bf16, fp16 or fp32 (default: bf16 where the device has it)")
    live.add_argument("--layers", metavar="N", type=int, help="run only the first N layers (default: what fits)")
    live.add_argument("--quick", action="store_true", help="fewer samples")
    live.add_argument("-o", "--output", metavar="FILE", help="the file (default: decode.json)")
    live.add_argument("--resume", action="store_true", help="go on with the file, measuring what is missing")
    live.add_argument("--overwrite", action="store_true", help="replace the file if there is one")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..llm import command

    if arguments.models:
        print(command.list_models(), flush=True)
        return 0
    batches, prompts = _counts("batch", arguments.batch), _counts("prompt", arguments.prompt)
    if arguments.bound or arguments.prefill:
        _refuse(arguments, _LIVE, "a timed step; --bound measures nothing")
        if not arguments.device:
            raise ValueError("a bound needs a card: --device h100; `roofcourse devices` lists them")
        print(
            command.bounds(
                arguments.model,
                arguments.device,
                batches,
                prompts,
                weights=arguments.weights or "bf16",
                kv=arguments.kv or "bf16",
                phase="prefill" if arguments.prefill else "decode",
            ),
            flush=True,
        )
        return 0
    _refuse(arguments, _BOUND, "--bound; a timed step has random weights and a KV cache in --precision")
    kind = arguments.device and arguments.device.lower()
    _kind(kind)
    return command.decode_machine(
        model=arguments.model,
        batches=batches,
        prompts=prompts,
        modes=_words(arguments.modes or ""),
        kind=kind,
        precision=arguments.precision,
        layers=arguments.layers,
        quick=arguments.quick,
        out=Path(arguments.output or "decode.json"),
        resume=arguments.resume,
        overwrite=arguments.overwrite,
        say=lambda text: print(text, flush=True),
    )


#: Options of one way alone, as the parser names them.
_BOUND = ("weights", "kv")
_LIVE = ("modes", "precision", "layers", "quick", "output", "resume", "overwrite")


def _refuse(arguments, names: tuple[str, ...], belong: str) -> None:
    """Raises ``ValueError`` for an option that was given and would be ignored."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value is not False:  # 0 layers were given
            raise ValueError(f"--{name} belongs to {belong}")


def _kind(name: str | None) -> None:
    """Raises ``ValueError`` for a card of the catalogue where a kind of device is meant."""
    from ..catalogue import device
    from ..measure.support import KINDS

    if name is None or name in KINDS:
        return
    try:
        card = device(name)
    except LookupError:
        return  # opening it says what is wrong
    raise ValueError(f"{card.name} is a card of the catalogue: add --bound, or measure this machine with --device cuda")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _counts(name: str, text: str) -> tuple[int, ...]:
    """``"1,8,16"`` as numbers. Raises ``ValueError`` in one line."""
    words = _words(text)
    if not words or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError(f"--{name} takes whole numbers of 1 or more with commas between them (1,8,16), not {text!r}")
    return tuple(dict.fromkeys(int(word) for word in words))
