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
    "9": "your_kernel",
}


@dataclass(frozen=True)
class Verdict:
    """What the checker says. ``passed`` is ``None`` while nothing has been answered; ``key`` is then the exercise's.

    On a page of the course that key becomes the place of a form, in which the exercise is answered without a kernel.
    """

    passed: bool | None
    message: str
    key: str | None = None

    def __bool__(self) -> bool:
        return self.passed is True

    def __repr__(self) -> str:
        return {True: "Right. ", False: "Not yet. ", None: "Your turn. "}[self.passed] + self.message

    def _repr_html_(self) -> str:
        name = {True: "right", False: "wrong", None: "open"}[self.passed]
        place = "" if self.key is None else f' data-rc-exercise="{self.key}"'
        said = f'<p class="rc-verdict" data-rc-verdict="{name}"{place}>{html.escape(repr(self), quote=False)}</p>'
        more = () if self.key is None else _exercise(self.key).hints[1:]
        return said + "".join(_folded("Another hint", text) for text in more)


@dataclass(frozen=True)
class Hints:
    """The hints to an exercise, the gentler one first; in a notebook each is folded until it is asked for."""

    texts: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(f"Hint {number}: {text}" for number, text in enumerate(self.texts, 1))

    def _repr_html_(self) -> str:
        return "".join(_folded(f"Hint {number}", text) for number, text in enumerate(self.texts, 1))


def _folded(summary: str, text: str) -> str:
    text = html.escape(text, quote=False)
    return f'<details class="rc-hint"><summary>{summary}</summary><p>{text}</p></details>'


def _float(value: numbers.Real) -> float:
    """A number as a float: infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


class _Hinted:
    """What exercises of all kinds have: ``nudge`` says where to look, ``hint`` says the way."""

    nudge: str
    hint: str

    @property
    def hints(self) -> tuple[str, ...]:
        return (self.nudge, self.hint) if self.nudge else (self.hint,)


@dataclass(frozen=True)
class Mistake:
    """A typical wrong answer: its value, computed as the right one is, and what it tells about the thinking."""

    value: Callable[[], object]
    message: str


@dataclass(frozen=True)
class Number(_Hinted):
    """An exercise whose answer is a number in ``unit``, right within ``tolerance`` (relative).

    ``"times"`` is the unit of a factor.
    """

    key: str
    answer: Callable[[], float]
    unit: str
    hint: str
    praise: str
    mistakes: tuple[Mistake, ...] = ()
    tolerance: float = 0.01
    nudge: str = ""

    @property
    def asked(self) -> str:
        """The kind of answer, in words: ``"one number in percent"``."""
        return "one number, a factor" if self.unit == "times" else f"one number in {self.unit}"

    def off_by(self, power: int | str) -> str:
        """What is said to an answer that is a power of ten away from the right one."""
        return f"The digits are right, but off by 10^{power}: the answer is {self.asked}."

    def check(self, given) -> Verdict:
        if isinstance(given, str | tuple):  # a decimal comma makes a tuple
            return Verdict(False, f"The answer is {self.asked}. Write it plain, with a point and no quotes: 0.75.")
        if isinstance(given, bool) or not isinstance(given, numbers.Real):
            return Verdict(False, f"The answer is {self.asked}; this is {type(given).__name__}.")
        given = _float(given)
        if not math.isfinite(given):
            return Verdict(False, f"The answer is {self.asked}; this is {given}.")
        right = self.answer()
        if math.isclose(given, right, rel_tol=self.tolerance):
            return Verdict(True, self.praise)
        for m in self.mistakes:
            if math.isclose(given, m.value(), rel_tol=self.tolerance):
                return Verdict(False, m.message)
        if given % 1 and given in (float(f"{right:.1g}"), float(f"{right:.2g}")):  # a whole number may be a guess
            return Verdict(False, "That is the answer, rounded too far: give three digits.")
        if given > 0 and right > 0:
            power = math.log10(given / right)
            if abs(power - round(power)) < self.tolerance / 2 and round(power):
                return Verdict(False, self.off_by(round(power)))
        return Verdict(False, self.hint)


@dataclass(frozen=True)
class Choice(_Hinted):
    """An exercise whose answer is one of a few words."""

    key: str
    answer: Callable[[], str]
    options: tuple[str, ...]
    hint: str
    praise: str
    wrong: dict[str, str] = field(default_factory=dict)
    nudge: str = ""

    def check(self, given) -> Verdict:
        if not isinstance(given, str) or given.strip().lower() not in self.options:
            return Verdict(False, f"Answer with one of: {', '.join(map(repr, self.options))}.")
        word = given.strip().lower()
        if word == self.answer():
            return Verdict(True, self.praise)
        return Verdict(False, self.wrong.get(word, self.hint))


@dataclass(frozen=True)
class Function(_Hinted):
    """An exercise whose answer is a function; it is called with each of ``cases`` and compared with ``reference``."""

    key: str
    reference: Callable
    cases: tuple[tuple, ...]
    hint: str
    praise: str
    mistakes: tuple[tuple[Callable, str], ...] = ()
    nudge: str = ""

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
            return Verdict(None, self.hints[0], self.key)
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
        return isinstance(got, numbers.Real) and math.isclose(_float(got), want, rel_tol=1e-9)

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


def _exercise(key: str) -> Number | Choice | Function:
    if key not in exercises():
        raise LookupError(f"there is no exercise {key!r}; there are {', '.join(exercises())}")
    return exercises()[key]


def check(key: str, answer=...) -> Verdict:
    """Check the answer to an exercise. ``...`` or ``None`` (an untouched stub) gets the first hint and raises nothing.

    Raises ``LookupError`` in one line for an exercise that does not exist.
    """
    e = _exercise(key)
    if answer is ... or answer is None:
        return Verdict(None, e.hints[0], key)
    return e.check(answer)


def hint(key: str) -> Hints:
    """The hints to an exercise, before its solution: first where to look, then the way.

    Raises ``LookupError`` in one line for an exercise that does not exist.
    """
    return Hints(_exercise(key).hints)
