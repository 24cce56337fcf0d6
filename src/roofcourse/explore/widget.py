"""The explorers as live widgets (anywidget): the same front end as on a page, with the state shared with Python."""

from __future__ import annotations

import anywidget
import traitlets

from . import kinds
from .bundle import css, esm
from .static import static_html


class Explorer(anywidget.AnyWidget):
    """A live explorer. Subclasses add one trait for each key of their kind's state; every trait can be read and set."""

    _css = css()

    kind = traitlets.Unicode(read_only=True).tag(sync=True)
    spec = traitlets.Dict(read_only=True).tag(sync=True)

    @property
    def state(self) -> dict:
        """The current state: key to value."""
        return {key: getattr(self, key) for key in kinds.get(self.kind).DEFAULTS}

    @property
    def values(self) -> dict:
        """The numbers of the current state, in SI units, and the sentence (see :func:`roofcourse.explore.compute`)."""
        return kinds.get(self.kind).compute(self.state)

    def static_html(self) -> str:
        """The explorer in its current state for a page without Python."""
        return static_html(self.kind, self.state)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        # Plain text (a terminal, a reader without HTML) gets the sentence, not the address of an object.
        return {**data, "text/plain": self.values["sentence"], "text/html": self.static_html()}, metadata


def _trait(default) -> traitlets.TraitType:
    """Checked by the kind, which accepts aliases: hence no type here."""
    return traitlets.Any(default).tag(sync=True)


def create(kind: str, state: dict) -> Explorer:
    """A widget of this kind. A wrong value raises ``ValueError`` or ``LookupError`` in one line, now and later."""
    module = kinds.get(kind)
    full = kinds.complete(kind, state)

    def check(self, proposal):
        return module.check(proposal["trait"].name, proposal["value"])

    members = {key: _trait(default) for key, default in module.DEFAULTS.items()}
    members["_check_state"] = traitlets.validate(*module.DEFAULTS)(check)
    members["__doc__"] = Explorer.__doc__
    members["_esm"] = esm(kind)
    widget_class = type("".join(part.capitalize() for part in kind.split("_")), (Explorer,), members)
    widget = widget_class(**full)
    widget.set_trait("kind", kind)
    widget.set_trait("spec", module.spec())
    return widget
