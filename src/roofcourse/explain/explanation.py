"""What an explanation says: reasons, each with its evidence and a test, what to try next, and what that can gain."""

from __future__ import annotations

import html
from dataclasses import dataclass

from ..roofline import Roofline

#: How well a reason is supported, the best first. ``shown``: the data at hand show it. ``likely``: they fit, and
#: nothing at hand fits better. ``possible``: they do not speak against it; such a reason is never the verdict.
STANDINGS = ("shown", "likely", "possible")

#: The reasons there are, and what each is called.
REASONS = {
    "none": "none needed: it is at the roof",
    "launch": "launch overhead",
    "operators": "results that go to memory between operators",
    "kernel": "kernel choice",
    "padding": "padding to a tile",
    "cache": "data from a cache",
    "path": "another path than the roof's",
    "corner": "the rounded corner at the ridge point",
    "bytes": "another traffic than the formula's",
    "ceiling": "a ceiling that is too low",
    "waves": "too few tiles for the multiprocessors",
    "new memory": "new memory, touched for the first time",
    "host": "time outside the kernels",
    "throttled": "a lowered clock",
    "undetermined": "undetermined",
}


@dataclass(frozen=True)
class Reason:
    """One reason. ``name``: a key of :data:`REASONS`. ``evidence``: the one sentence it rests on, with its numbers.
    ``test``: what would confirm it or rule it out; empty at the roof. ``standing``: one of :data:`STANDINGS`."""

    name: str
    evidence: str
    test: str
    standing: str

    @property
    def title(self) -> str:
        return REASONS[self.name]


@dataclass(frozen=True)
class Gain:
    """How much faster it could get at the most: ``factor`` times, ``up_to`` which roof."""

    factor: float
    up_to: str


def _times(factor: float) -> str:
    """Two digits from ten on, three below: a bound is no better known."""
    return f"{float(f'{factor:.2g}'):,.0f}" if factor >= 9.995 else f"{factor:.3g}"


@dataclass(frozen=True)
class Explanation:
    """Where one measured kernel stands under one roof, why, and what to try.

    ``verdict``: the first reason that is shown or likely, ``"none"`` at the roof, else ``"undetermined"``. ``share``:
    the lower bound of its time divided by its time (0.72 is 72 % of the roof). ``bound``: ``"memory"`` or
    ``"compute"``, the roof above it. ``reasons``: the best supported first, those that are only ``"possible"`` last.
    ``try_next``: sentences. ``to_roof``, ``to_next_roof``: the most that can be gained (:class:`Gain`); ``None`` where
    there is nothing to gain, or no further roof is known. ``caveats``: what weakens the numbers themselves.
    """

    title: str
    verdict: str
    share: float
    bound: str
    roofline: Roofline
    opening: str
    reasons: tuple[Reason, ...]
    try_next: tuple[str, ...]
    to_roof: Gain | None
    to_next_roof: Gain | None
    caveats: tuple[str, ...] = ()

    @property
    def percent(self) -> float:
        """Percent of the roof."""
        return 100 * self.share

    @property
    def determined(self) -> bool:
        """Whether a reason is shown or likely, or none is needed."""
        return self.verdict != "undetermined"

    @property
    def gain(self) -> str:
        """The gains in one sentence."""
        parts = [f"{_times(g.factor)} times as fast {g.up_to}" for g in (self.to_roof, self.to_next_roof) if g]
        return f"At most {', '.join(parts)}." if parts else "Nothing to gain that this model can see."

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, in order: pairs of a short heading and a sentence."""
        out = [("", self.opening)]
        for r in self.reasons:
            head = r.title if r.standing != "possible" else f"possible: {r.title}"
            out.append((head, f"{r.evidence} To check: {r.test}" if r.test else r.evidence))
        if not self.determined:
            said = "no reason is supported well enough by what was measured"
            possible = " (the possible ones are above)" if self.reasons else ""
            out.append((REASONS["undetermined"], f"{said[0].upper()}{said[1:]}{possible}."))
        out += [("try next", x) for x in self.try_next]
        out.append(("best possible gain", self.gain))
        out += [("careful", x) for x in self.caveats]
        return out

    def __str__(self) -> str:
        return "\n".join(f"{head}: {text}" if head else text for head, text in self.lines())

    def _repr_html_(self) -> str:
        (_, opening), *rest = self.lines()
        items = "".join(f"<li><strong>{html.escape(h)}</strong>: {html.escape(t)}</li>" for h, t in rest)
        return f'<div class="rc-explanation"><p>{html.escape(opening)}</p><ul>{items}</ul></div>'
