"""The static form of an explorer: what a page contains before, or instead of, the script."""

from __future__ import annotations

import hashlib
import json
from html import escape

from .. import palette
from . import kinds


def static_html(kind: str, state: dict | None = None, *, element_id: str | None = None) -> str:
    """One explorer as HTML: its data and state as JSON, and a figure with a sentence that the script replaces.

    The same for a cell's output and for a page's directive, and the same on every run. Without ``element_id`` the id
    comes from the state. Raises ``ValueError`` or ``LookupError`` in one line for a wrong kind, key or value.
    """
    module = kinds.get(kind)
    full = kinds.complete(kind, state or {})
    data = json.dumps({"spec": module.spec(), "state": full}, separators=(",", ":"), ensure_ascii=False)
    # "<" could end the script element early; JSON may write it as an escape.
    data = data.replace("<", "\\u003c")
    if element_id is None:
        digest = hashlib.sha256(json.dumps(full, sort_keys=True).encode()).hexdigest()[:8]
        element_id = f"rc-{kind.replace('_', '-')}-{digest}"
    sentence = module.compute(full)["sentence"]
    return (
        f'<div class="rc-explorer" data-rc-explorer="{escape(kind)}" id="{escape(element_id)}" style="{_colour(full)}">'
        f'<script type="application/json">{data}</script>'
        f'{module.stand_in(full)}<p class="rc-sentence" data-rc-sentence>{escape(sentence)}</p></div>'
    )


def _colour(state: dict) -> str:
    """The chosen device's colours as custom properties, for the stand-in (the script sets them anew)."""
    name = palette.device(state.get("device")).variable
    return f"--rc-device:var({name});--rc-device-text:var({name}-text)"
