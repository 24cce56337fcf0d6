"""``roofcourse place``: one function of torch, or one of your own, under the roof of this machine."""

from __future__ import annotations

import warnings
from functools import partial
from pathlib import Path

from . import parser

_DESCRIPTION = """\
Run a function with random tensors: count its FLOP and bytes, time it, put it under the roof of this machine, and say
why it is where it is. The ceilings are measured first (on two CPU cores half a minute, on a GPU less), or taken from
a run file.
"""

_EXAMPLES = """\
examples:
  roofcourse place torch.nn.functional.softmax --shape 4096x4096 --with dim=-1
  roofcourse place torch.matmul --shape 16x8192 --shape 8192x8192 --precision bf16
  roofcourse place torch.relu --shape 4096x4096 --run run.json      ceilings from `roofcourse measure`
  roofcourse place my_kernels.py:rms_norm --shape 4096x4096         a function of your own: it gets the tensors
  roofcourse place my_kernels.py:step                               one that makes its own
  roofcourse place torch.relu --shape 4096x4096 --save run.json     add the point to a run file (made if missing)
then:
  roofcourse report run.json -o report.html
"""


def add(commands) -> None:
    this = parser(
        commands,
        "place",
        help="place a function under the roof of this machine, and explain it",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    this.add_argument("function", metavar="FUNCTION", help="torch.nn.functional.softmax, or file.py:function")
    this.add_argument(
        "--shape", action="append", default=[], metavar="4096x4096", help="one tensor argument; repeat it"
    )
    this.add_argument("--precision", default="fp32", help="of the tensors: fp64, fp32 (default), tf32, bf16, fp16")
    this.add_argument("--with", dest="keywords", action="append", default=[], metavar="NAME=VALUE", help="a keyword")
    this.add_argument("--device", metavar="KIND", help="cuda, rocm, xpu, mps or cpu (default: the best there is)")
    this.add_argument("--name", help="what to call the point (default: the function's name)")
    this.add_argument("--run", dest="ceilings", metavar="RUN", help="take the ceilings from this run file")
    this.add_argument(
        "--save", metavar="RUN", help="add the point to this run file; its ceilings are used if it has any"
    )
    this.add_argument("--counted-bytes", type=float, metavar="BYTES", help="memory traffic by a profiler's counters")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..place import naming, place
    from ..place.store import save
    from ..place.where import live

    fn = naming.function(arguments.function)
    tensors = naming.tensors(arguments.shape, arguments.precision, live(arguments.device).hardware.place)
    given = naming.keywords(arguments.keywords)
    call = partial(fn, **given) if given else fn
    name = arguments.name or getattr(fn, "__name__", arguments.function)
    saved = Path(arguments.save) if arguments.save else None
    ceilings = arguments.ceilings or (saved if saved is not None and saved.exists() else None)
    wanted = "tf32" if arguments.precision == "tf32" else None
    if ceilings is None:
        print("Measuring the ceilings of this machine first (--run takes them from a run file) …", flush=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            point = place(
                call, *tensors, name=name, precision=wanted, run=ceilings, counted_bytes=arguments.counted_bytes
            )
        except (RuntimeError, TypeError, NotImplementedError) as error:  # the function's own refusal of its arguments
            first = str(error).strip().splitlines()[0]
            raise ValueError(f"{arguments.function} does not run on these arguments: {first}") from error
    kept = ""
    if saved is not None:  # before anything is printed: a closed pipe must not lose the point
        here = live(point.device)  # where it ran, which may not be the best device there is
        count = save(point, saved, here.machine, here.points)
        kept = f"\nSaved to {saved}: {count} placed point{'s' if count > 1 else ''}"
    print(point, flush=True)
    for line in dict.fromkeys(str(w.message).splitlines()[0] for w in caught):
        print(f"torch says: {line}", flush=True)
    if kept:
        print(kept, flush=True)
    return 0
