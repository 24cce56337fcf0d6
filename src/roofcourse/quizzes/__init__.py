"""The quizzes at the ends of the chapters: five questions each, and a reply to every option.

One module for each chapter, named as in :data:`roofcourse.exercise.CHAPTERS`; its ``questions()`` computes the figures
that it mentions. Without a script an option unfolds to its reply; on a page of the course the same HTML becomes a form
with a score, which can be taken again.
"""

from __future__ import annotations

import html
import random
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from ..exercise import CHAPTERS


@dataclass(frozen=True)
class Question:
    """One question: its right option with ``praise``, and each wrong option with what is said to it."""

    ask: str
    right: str
    praise: str
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """All options, shuffled: the same question has the same order each time."""
        options = [self.right, *self.wrong]
        random.Random(self.ask).shuffle(options)
        return tuple(options)

    def reply(self, option: str) -> str:
        """What is said to an option."""
        return f"Right. {self.praise}" if option == self.right else self.wrong[option]


@dataclass(frozen=True)
class Quiz:
    """The questions of one chapter; what a notebook shows of them unfolds option by option."""

    name: str
    questions: tuple[Question, ...]

    def __repr__(self) -> str:
        lines = []
        for number, question in enumerate(self.questions, 1):
            lines.append(f"{number}. {question.ask}")
            lines += [f"   {letter}) {option}" for letter, option in zip("abcdef", question.options, strict=False)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{_text(q.ask)}{self._options(q)}</li>" for q in self.questions)
        return f'<div class="rc-quiz" data-rc-quiz="{self.name}"><ol>{items}</ol></div>'

    @staticmethod
    def _options(question: Question) -> str:
        right = {question.right: ' class="rc-right"'}
        return "".join(
            f"<details{right.get(option, '')}><summary>{_text(option)}</summary>"
            f"<p>{_text(question.reply(option))}</p></details>"
            for option in question.options
        )


def _text(text: str) -> str:
    return html.escape(text, quote=False)


@cache
def quiz(name: str) -> Quiz:
    """The quiz of a chapter, by the name of its module: ``"bounds"`` for chapter 1.

    Raises ``LookupError`` in one line for a name that has none.
    """
    if name not in CHAPTERS.values():
        raise LookupError(f"there is no quiz {name!r}; there are {', '.join(CHAPTERS.values())}")
    return Quiz(name, import_module(f".{name}", __name__).questions())
