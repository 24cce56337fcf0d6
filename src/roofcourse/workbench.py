"""A reader's functions under the roof, by the shapes of their tensors: placed now, or as they were recorded.

``bench.place(fn, *shapes)`` answers from here. Live, the function gets random tensors of these shapes and goes through
:func:`roofcourse.place`. Recorded, a run file answers that holds the points, and in its manifest the text of every
function and its shapes: a function that was changed since is refused, for its point would be another one's.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from dataclasses import replace

from .records import Run

Shapes = tuple[tuple[int, ...], ...]


def text_of(fn: Callable) -> str:
    """The text of a function without comments and layout: two functions with the same one do the same.

    Raises ``LookupError`` in one line if Python cannot show it (a builtin, or typed in at a plain prompt).
    """
    try:
        return plain(inspect.getsource(fn))
    except (OSError, TypeError, SyntaxError):
        name = getattr(fn, "__name__", repr(fn))
        raise LookupError(f"the text of {name} is not to be had: place it live, with source='live'") from None


def plain(source: str) -> str:
    """Python text in one form, whoever laid it out."""
    return ast.unparse(ast.parse(textwrap.dedent(source)))


def facts(source: str, shapes: Shapes) -> dict:
    """What a run's manifest keeps of a placed function, under ``functions``, by the name of its point."""
    return {"source": plain(source), "shapes": [list(shape) for shape in shapes]}


def live(bench, fn: Callable, shapes: Shapes, *, precision: str, name: str | None, work, sweep):
    """Place ``fn`` with random tensors of these shapes on the machine of ``bench``, under its ceilings."""
    from .place import place
    from .place.naming import tensors

    words = ["x".join(str(n) for n in shape) for shape in shapes]
    made = tensors(words, precision, bench.hardware.place, bench.hardware.free_bytes())
    return place(fn, *made, name=name, bench=bench, work=work, sweep=sweep)


def recorded(run: Run, fn: Callable, shapes: Shapes, *, name: str | None, sweep):
    """The point of ``fn`` in this run. Raises ``LookupError`` in one line if it was not placed, or not in this form."""
    from .place.store import placed

    if not callable(fn):
        raise ValueError(f"place needs a function and the shapes of its tensors, not {fn!r:.60}")
    name = name or getattr(fn, "__name__", repr(fn))
    known = run.machine.get("functions", {})
    how = "set source = 'live' to place it on your machine"
    if name not in known:
        raise LookupError(f"{name} was not recorded; there are {', '.join(known) or 'no functions'}: {how}")
    if known[name]["shapes"] != [list(shape) for shape in shapes]:
        there = " and ".join("x".join(map(str, shape)) for shape in known[name]["shapes"])
        raise LookupError(f"{name} was recorded with tensors of {there}: {how}")
    if known[name]["source"] != text_of(fn):
        raise LookupError(f"{name} was recorded in another form than it has here: {how}")
    found = next(point for point in placed(run) if point.name == name)
    return replace(found, sweep=tuple(getattr(x, "measurement", x) for x in sweep))
