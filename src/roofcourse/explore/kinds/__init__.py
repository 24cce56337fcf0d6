"""The kinds of explorer: one module each, found by name. Its twin for the browser is ``js/kinds/<name>.js``.

A kind is a module with

* ``LABEL``: what it is called in a sentence;
* ``DEFAULTS``: its state, key to value;
* ``check(key, value)``: the value as the state keeps it, or a one-line error;
* ``compute(state)``: the numbers and the sentence, a flat dict;
* ``spec()``: what the browser needs to compute the same;
* ``stand_in(state)``: an SVG for a page without JavaScript.

A kind with ``OWN = True`` also shows machines that the reader measured: its ``check``, ``compute``, ``spec`` and
``stand_in`` take one more argument, a dict of :class:`~..own.OwnDevice` by key; ``start(device, state)`` is the state
that shows one that has just come.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType


def names() -> tuple[str, ...]:
    """The kinds there are."""
    return tuple(sorted(m.name for m in iter_modules(__path__) if not m.name.startswith("_")))


def get(name: str) -> ModuleType:
    """The module of a kind. Raises ``ValueError`` naming the kinds there are."""
    if name not in names():
        raise ValueError(f"no explorer of kind {name!r}; there are: {', '.join(names())}")
    return import_module(f".{name}", __name__)


def extra(name: str, own: dict) -> tuple:
    """What to hand to the functions of this kind beside their own arguments: the own devices, or nothing.

    Raises ``ValueError`` if there are own devices and the kind shows none.
    """
    if not own:
        return ()
    if not getattr(get(name), "OWN", False):
        raise ValueError(f"the explorer {name} shows the cards of the catalogue only")
    return (own,)


def complete(name: str, state: dict, own: dict | None = None) -> dict:
    """``state`` checked, with the defaults for what it leaves out. Raises ``ValueError`` for a key it does not have."""
    kind, more = get(name), extra(name, own or {})
    unknown = sorted(set(state) - set(kind.DEFAULTS))
    if unknown:
        raise ValueError(f"the explorer {name} has no {', '.join(unknown)}; its state is: {', '.join(kind.DEFAULTS)}")
    return {key: kind.check(key, state.get(key, default), *more) for key, default in kind.DEFAULTS.items()}
