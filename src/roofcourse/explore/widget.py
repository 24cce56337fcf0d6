"""The explorers as live widgets (anywidget): the same front end as on a page, with the state shared with Python."""

from __future__ import annotations

import anywidget
import traitlets

from . import kinds
from .bundle import css, esm
from .own import OwnDevice, from_text
from .static import static_html


class Explorer(anywidget.AnyWidget):
    """A live explorer. Subclasses add one trait for each key of their kind's state; every trait can be read and set."""

    _css = css()

    kind = traitlets.Unicode(read_only=True).tag(sync=True)
    spec = traitlets.Dict(read_only=True).tag(sync=True)
    note = traitlets.Unicode("").tag(sync=True)

    #: Measured machines beside the cards: key to device.
    own: dict

    def _more(self) -> tuple:
        return kinds.extra(self.kind, self.own)

    def show_own(self, device: OwnDevice) -> None:
        """Show a measured machine beside the cards, or anew what has been measured of it since."""
        self.own = {**self.own, device.key: device}
        self.set_trait("spec", kinds.get(self.kind).spec(*self._more()))

    def choose(self, device: OwnDevice) -> None:
        """Choose a device that is shown already, and a precision that it has."""
        with self.hold_sync():
            for key, value in kinds.get(self.kind).start(device, self.state).items():
                setattr(self, key, value)

    def take_run(self, text: str, file: str) -> None:
        """Show the machine of a run file's text. A wrong file changes nothing, and ``note`` says why."""
        try:
            device = from_text(text, file, self.own)
            kinds.get(self.kind).start(device, self.state)
        except (ValueError, LookupError) as error:
            self.note = str(error)
            return
        self.note = ""
        self.show_own(device)
        self.choose(device)

    def _message(self, _, content: dict, buffers) -> None:
        """A file that a reader dropped on the explorer."""
        if content.get("what") == "run":
            self.take_run(content["text"], content["file"])

    @property
    def state(self) -> dict:
        """The current state: key to value."""
        return {key: getattr(self, key) for key in kinds.get(self.kind).DEFAULTS}

    @property
    def values(self) -> dict:
        """The numbers of the current state, in SI units, and the sentence (see :func:`roofcourse.explore.compute`)."""
        return kinds.get(self.kind).compute(self.state, *self._more())

    def static_html(self) -> str:
        """The explorer in its current state for a page without Python."""
        return static_html(self.kind, self.state, own=self.own)

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        # Plain text (a terminal, a reader without HTML) gets the sentence, not the address of an object.
        return {**data, "text/plain": self.values["sentence"], "text/html": self.static_html()}, metadata


def _trait(default) -> traitlets.TraitType:
    """Checked by the kind, which accepts aliases: hence no type here."""
    return traitlets.Any(default).tag(sync=True)


def create(kind: str, state: dict, own: dict | None = None) -> Explorer:
    """A widget of this kind, with ``own`` machines beside the cards.

    A wrong value raises ``ValueError`` or ``LookupError`` in one line, now and later.
    """
    module = kinds.get(kind)
    full = kinds.complete(kind, state, own)

    def check(self, proposal):
        return module.check(proposal["trait"].name, proposal["value"], *kinds.extra(kind, self.own))

    members = {key: _trait(default) for key, default in module.DEFAULTS.items()}
    members["_check_state"] = traitlets.validate(*module.DEFAULTS)(check)
    members["__doc__"] = Explorer.__doc__
    members["_esm"] = esm(kind)
    members["own"] = own or {}
    widget_class = type("".join(part.capitalize() for part in kind.split("_")), (Explorer,), members)
    widget = widget_class(**full)
    widget.set_trait("kind", kind)
    widget.set_trait("spec", module.spec(*kinds.extra(kind, own or {})))
    widget.on_msg(widget._message)
    return widget
