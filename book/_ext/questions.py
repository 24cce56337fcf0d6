"""Exercises and quizzes that a page of the site answers itself, without a kernel.

The outputs of `rc.check` stubs and of `rc.quiz` are places on the page; `questions.js` makes forms of them. What it
needs to know of the exercises (right answers, typical mistakes, hints) is written from `roofcourse.exercise` into a
script of the page's own, so that it stands in one place and weighs nothing in the HTML.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

from nobreak import glue

from roofcourse.exercise import Choice, Function, Number, exercises

HERE = Path(__file__).resolve().parent
SCRIPT, STYLE = "questions.roofcourse.js", "questions.roofcourse.css"
COVERS = "predictions.roofcourse.js"  # "Predict.", and what follows hidden until it is asked for
EXERCISE = re.compile(r'data-rc-exercise="([\d.]+)"')
PREDICT = "<strong>Predict"
QUIZ = re.compile(r'data-rc-quiz="\w+"')
# Keeps a reader from seeing an answer by accident. Whoever wants it can open the solution.
VEIL = 0x5A


def veil(answer: float | str) -> str:
    """An answer as text that nobody reads in passing; `unveil` of questions.js turns it back."""
    if not isinstance(answer, str):
        answer = float(answer)
    return base64.b64encode(bytes(byte ^ VEIL for byte in json.dumps(answer).encode())).decode()


def record(exercise: Number | Choice | Function) -> dict:
    """What the page needs to know of an exercise, set as the text of the page is."""
    known: dict = {"hints": [glue(hint) for hint in exercise.hints]}
    if isinstance(exercise, Function):
        return known
    known["praise"] = glue(exercise.praise)
    if isinstance(exercise, Choice):
        return known | {
            "right": veil(glue(exercise.answer())),
            "options": [glue(option) for option in exercise.options],
            "wrong": {glue(option): glue(said) for option, said in exercise.wrong.items()},
        }
    return known | {
        "right": veil(exercise.answer()),
        "asked": glue(exercise.asked),
        "unit": exercise.unit,
        "offBy": glue(exercise.off_by("{power}")),
        "tolerance": exercise.tolerance,
        "mistakes": [(veil(m.value()), glue(m.message)) for m in exercise.mistakes],
    }


def answers(keys: list[str]) -> str:
    """The script with the records of these exercises. Raises KeyError for one that does not exist."""
    records = {key: record(exercises()[key]) for key in keys}
    return f"window.roofcourseAnswers = {json.dumps(records, ensure_ascii=False, separators=(',', ':'))};\n"


def write(body: str, docname: str, static: Path) -> tuple[list[str], list[str]]:
    """Write the scripts and the style that a page's body asks for into `static`; returns their names."""
    keys = list(dict.fromkeys(EXERCISE.findall(body)))
    if not keys and not QUIZ.search(body):
        return [], []
    scripts = {SCRIPT: (HERE / "questions.js").read_text(encoding="utf-8")}
    if keys:
        scripts = {f"{docname.replace('/', '-')}.answers.roofcourse.js": answers(keys), **scripts}
    styles = {STYLE: (HERE / "questions.css").read_text(encoding="utf-8")}
    if PREDICT in body:
        scripts[COVERS] = (HERE / "predictions.js").read_text(encoding="utf-8")
    for name, text in {**scripts, **styles}.items():
        (static / name).write_text(text, encoding="utf-8")
    return list(scripts), list(styles)
