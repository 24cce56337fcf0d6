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
with the FLOP and bytes that an NVIDIA card counts itself, instead of formulas:
  roofcourse ncu --how python once.py                               how to profile a script that calls it once
  roofcourse place torch.relu --shape 4096x4096 --report report.csv
  roofcourse place torch.relu --shape 4096x4096 --report report.csv --kernel elementwise --calls 10
                                         only these of its kernels (not those that made the tensors), of ten calls
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
    this.add_argument(
        "--device", metavar="KIND", type=str.lower, help="cuda, rocm, xpu, mps or cpu (default: the best there is)"
    )
    this.add_argument("--name", help="what to call the point (default: the function's name)")
    this.add_argument("--run", dest="ceilings", metavar="RUN", help="take the ceilings from this run file")
    this.add_argument(
        "--save", metavar="RUN", help="add the point to this run file; its ceilings are used if it has any"
    )
    this.add_argument("--counted-bytes", type=float, metavar="BYTES", help="memory traffic by a profiler's counters")
    this.add_argument(
        "--report", metavar="CSV", help="FLOP and bytes from a report of Nsight Compute of this function, same shapes"
    )
    this.add_argument("--kernel", metavar="NAME", help="of the report only kernels with NAME in their names")
    this.add_argument("--calls", type=int, default=1, metavar="N", help="calls that the report covers (default: 1)")
    this.set_defaults(run=run)


def run(arguments) -> int:
    from ..measure.support import one_line
    from ..place import naming, place
    from ..place.store import check_file, save
    from ..place.where import live

    if arguments.report is None and (arguments.kernel is not None or arguments.calls != 1):
        raise ValueError("--kernel and --calls say what to take of a profiler's report: name it with --report")
    fn = naming.function(arguments.function)
    best = live(arguments.device)
    hardware = best.hardware
    tensors = naming.tensors(arguments.shape, arguments.precision, hardware.place, hardware.free_bytes())
    given = naming.keywords(arguments.keywords)
    call = partial(fn, **given) if given else fn
    name = arguments.name or getattr(fn, "__name__", arguments.function)
    saved = Path(arguments.save) if arguments.save else None
    ceilings = arguments.ceilings or (saved if saved is not None and saved.exists() else None)
    wanted = "tf32" if arguments.precision == "tf32" else None
    if saved is not None:
        check_file(saved, best.machine)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _try(call, tensors, arguments.function)
        if ceilings is None:
            print("Measuring the ceilings of this machine first (--run takes them from a run file) …", flush=True)
        elif not _roofs(ceilings):
            print(f"{ceilings} has no ceilings: measuring those of this machine first …", flush=True)
        try:
            point = place(
                call,
                *tensors,
                name=name,
                precision=wanted,
                run=ceilings,
                counted_bytes=arguments.counted_bytes,
                report=arguments.report,
                report_kernel=arguments.kernel,
                report_calls=arguments.calls,
            )
        except (RuntimeError, TypeError, NotImplementedError) as error:  # a function may fail in a later call only
            raise _failed(arguments.function, error) from error
    kept, lost = "", None
    if saved is not None:  # before anything is printed: a closed pipe must not lose the point
        here = live(point.device)  # where it ran, which may not be the best device there is
        try:
            count = save(point, saved, here.machine, here.points)
            kept = f"\nSaved to {saved}: {count} placed point{'s' if count > 1 else ''}"
        except (ValueError, OSError) as error:
            lost = error
    print(point, flush=True)
    for line in dict.fromkeys(one_line(w.message) for w in caught):
        print(f"torch says: {line}", flush=True)
    if kept:
        print(kept, flush=True)
    if lost:
        raise lost
    return 0


def _try(call, tensors, name: str) -> None:
    """Call it once, as it will be timed. Raises ``ValueError`` in one line that names it, whatever it raises."""
    import torch

    try:
        with torch.inference_mode():
            call(*tensors)
    except (Exception, SystemExit) as error:
        raise _failed(name, error) from error


def _failed(name: str, error: BaseException) -> ValueError:
    from ..measure.support import one_line

    kind, said = type(error).__name__, one_line(error)
    what = kind if said == kind else f"{kind}: {said}"
    return ValueError(f"{name} does not run on these arguments: {what}")


def _roofs(run_file) -> bool:
    """Whether a run file has a roof to stand under."""
    from ..bench import bench

    try:
        return bool(bench(run=run_file).device.ceilings())
    except LookupError:  # no believed bandwidth, say
        return False
