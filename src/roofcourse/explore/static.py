"""The static form of an explorer: what a page contains before, or instead of, the script."""

from __future__ import annotations

import hashlib
import json
from html import escape

from .. import palette
from . import kinds


def static_html(kind: str, state: dict | None = None, *, element_id: str | None = None, own: dict | None = None) -> str:
    """One explorer as HTML: its data and state as JSON, and a figure with a sentence that the script replaces.

    The same for a cell's output and for a page's directive, and the same on every run. Without ``element_id`` the id
    comes from the state. ``own``: measured machines to show beside the cards, by key. Raises ``ValueError`` or
    ``LookupError`` in one line for a wrong kind, key or value.
    """
    module = kinds.get(kind)
    more = kinds.extra(kind, own or {})
    full = kinds.complete(kind, state or {}, own)
    page = {"spec": _short(module.spec(*more)), "state": full}
    data = json.dumps(page, separators=(",", ":"), ensure_ascii=False)
    # "<" could end the script element early; JSON may write it as an escape.
    data = data.replace("<", "\\u003c")
    if element_id is None:
        digest = hashlib.sha256(json.dumps(full, sort_keys=True).encode()).hexdigest()[:8]
        element_id = f"rc-{kind.replace('_', '-')}-{digest}"
    sentence = module.compute(full, *more)["sentence"]
    colour = _colour(full, own or {})
    return (
        f'<div class="rc-explorer" data-rc-explorer="{escape(kind)}" id="{escape(element_id)}" style="{colour}">'
        f'<script type="application/json">{data}</script>'
        f'{module.stand_in(full, *more)}<p class="rc-sentence" data-rc-sentence>{escape(sentence)}</p></div>'
    )


def _colour(state: dict, own: dict) -> str:
    """The chosen device's colours as custom properties, for the stand-in (the script sets them anew)."""
    key = state.get("device")
    name = f"--rc-{own[key].colour}" if key in own else palette.device(key).variable
    return f"--rc-device:var({name});--rc-device-text:var({name}-text)"


def _short(x):
    """Whole numbers without their ".0", which JavaScript does not tell apart: pages are to be light."""
    if isinstance(x, dict):
        return {key: _short(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [_short(value) for value in x]
    return int(x) if isinstance(x, float) and x.is_integer() and abs(x) < 2**53 else x
