"""The checkers behind the exercises: a right answer passes, a typical mistake is named, an untouched stub gets a hint.

An answer is computed from the model and the data when it is checked, so it stays right when they change.
"""

from __future__ import annotations

import html
import math
import numbers
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

#: One module of exercises for each chapter, by the number before the dot.
CHAPTERS = {
    "1": "bounds",
    "2": "intensity",
    "3": "ridge",
    "4": "measurement",
    "5": "m_sweep",
    "6": "decode",
    "7": "limits",
    "8": "levers",
}


@dataclass(frozen=True)
class Verdict:
    """What the checker says. ``passed`` is ``None`` while nothing has been answered."""

    passed: bool | None
    message: str

    def __bool__(self) -> bool:
        return self.passed is True

    def __repr__(self) -> str:
        return {True: "Right. ", False: "Not yet. ", None: "Your turn. "}[self.passed] + self.message

    def _repr_html_(self) -> str:
        name = {True: "right", False: "wrong", None: "open"}[self.passed]
        return f'<p class="rc-verdict" data-rc-verdict="{name}">{html.escape(repr(self))}</p>'


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer: its value, computed as the right one is, and what it tells about the thinking."""

    value: Callable[[], object]
    message: str


@dataclass(frozen=True)
class Number:
    """An exercise whose answer is a number in ``unit``, right within ``tolerance`` (relative)."""

    key: str
    answer: Callable[[], float]
    unit: str
    hint: str
    praise: str
    mistakes: tuple[Mistake, ...] = ()
    tolerance: float = 0.01

    def check(self, given) -> Verdict:
        if isinstance(given, bool) or not isinstance(given, numbers.Real):
            return Verdict(False, f"The answer is one number in {self.unit}; this is {type(given).__name__}.")
        right = self.answer()
        if math.isclose(given, right, rel_tol=self.tolerance):
            return Verdict(True, self.praise)
        for m in self.mistakes:
            if math.isclose(given, m.value(), rel_tol=self.tolerance):
                return Verdict(False, m.message)
        if given > 0 and right > 0:
            power = math.log10(given / right)
            if abs(power - round(power)) < self.tolerance / 2 and round(power):
                return Verdict(
                    False, f"The digits are right, the unit is off by 10^{round(power)}: answer in {self.unit}."
                )
        return Verdict(False, self.hint)


@dataclass(frozen=True)
class Choice:
    """An exercise whose answer is one of a few words."""

    key: str
    answer: Callable[[], str]
    options: tuple[str, ...]
    hint: str
    praise: str
    wrong: dict[str, str] = field(default_factory=dict)

    def check(self, given) -> Verdict:
        if not isinstance(given, str) or given.strip().lower() not in self.options:
            return Verdict(False, f"Answer with one of: {', '.join(map(repr, self.options))}.")
        word = given.strip().lower()
        if word == self.answer():
            return Verdict(True, self.praise)
        return Verdict(False, self.wrong.get(word, self.hint))


@dataclass(frozen=True)
class Function:
    """An exercise whose answer is a function; it is called with each of ``cases`` and compared with ``reference``."""

    key: str
    reference: Callable
    cases: tuple[tuple, ...]
    hint: str
    praise: str
    mistakes: tuple[tuple[Callable, str], ...] = ()

    def check(self, given) -> Verdict:
        if not callable(given):
            return Verdict(False, f"The answer is a function; this is {type(given).__name__}.")
        results = []
        for case in self.cases:
            try:
                results.append(given(*case))
            except Exception as error:  # the reader's own code: whatever it raises is the finding to report
                shown = ", ".join(f"{x:g}" for x in case)
                return Verdict(False, f"Called with ({shown}) it raised {type(error).__name__}: {error}")
        if all(x is None or x is ... for x in results):
            return Verdict(None, self.hint)
        if self._same(results, self.reference):
            return Verdict(True, self.praise)
        for wrong, message in self.mistakes:
            if self._same(results, wrong):
                return Verdict(False, message)
        for case, got in zip(self.cases, results, strict=True):
            if not self._close(got, self.reference(*case)):
                shown = ", ".join(f"{x:g}" for x in case)
                return Verdict(False, f"For ({shown}) it gives {got!r}; {self.hint[0].lower()}{self.hint[1:]}")
        raise AssertionError(f"exercise {self.key}: the cases differ as a whole but not one by one")

    @staticmethod
    def _close(got, want) -> bool:
        return isinstance(got, numbers.Real) and math.isclose(got, want, rel_tol=1e-9)

    def _same(self, results, function) -> bool:
        return all(self._close(got, function(*case)) for got, case in zip(results, self.cases, strict=True))


@cache
def exercises() -> dict[str, Number | Choice | Function]:
    """All exercises of the course by key, ``"1.2"`` for the second of chapter 1."""
    out: dict[str, Number | Choice | Function] = {}
    for chapter, module in CHAPTERS.items():
        for e in import_module(f".exercises.{module}", __package__).EXERCISES:
            if not e.key.startswith(f"{chapter}.") or e.key in out:
                raise ValueError(f"exercise {e.key!r} in exercises/{module}.py: a key is '{chapter}.N', each once")
            out[e.key] = e
    return out


def check(key: str, answer=...) -> Verdict:
    """Check the answer to an exercise. ``...`` or ``None`` (an untouched stub) returns the hint and raises nothing.

    Raises ``LookupError`` in one line for an exercise that does not exist.
    """
    if key not in exercises():
        raise LookupError(f"there is no exercise {key!r}; there are {', '.join(exercises())}")
    e = exercises()[key]
    if answer is ... or answer is None:
        return Verdict(None, e.hint)
    return e.check(answer)
