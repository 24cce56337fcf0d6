"""The decision chart as questions to open: plain HTML that needs no script, no kernel and no network."""

from __future__ import annotations

from html import escape

from ..levers import DONE, QUESTIONS, Question

_STYLE = (
    ".rc-next{max-width:760px;margin:.5rem 0 1rem}"
    ".rc-next ol{margin:0;padding-left:1.6rem}"
    ".rc-next li{margin:.35rem 0}"
    ".rc-next summary{cursor:pointer;font-weight:600}"
    ".rc-next p{margin:.3rem 0}"
    # The figure before it holds the whole chart: paper, which opens nothing, needs no second one, nor the words to it.
    "@media print{.rc-next,p:has(+.cell .rc-next){display:none}}"
)


class Decision:
    """The questions from a point to the next thing to try. Shows itself in a notebook and on the page."""

    def __repr__(self) -> str:
        lines = [f"{i}. {q.ask} {q.answer} Try: {', '.join(q.levers)}." for i, q in enumerate(QUESTIONS, start=1)]
        return "\n".join([*lines, DONE])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{_item(q)}</li>" for q in QUESTIONS)
        return f'<div class="rc-next"><style>{_STYLE}</style><ol>{items}</ol><p>{escape(DONE)}</p></div>'


def _item(q: Question) -> str:
    example = ""
    if q.example is not None:
        pairs = "&".join(f"{key}={value}" for key, value in q.example.items())
        example = f'<p><a href="#explorer=levers&amp;{escape(pairs)}">See it in the explorer</a></p>'
    return (
        f"<details><summary>{escape(q.ask)}</summary><p>You see it by this: {escape(q.why)}.</p>"
        f"<p><strong>{escape(q.answer)}</strong></p><p>Try: {escape(', '.join(q.levers))}.</p>"
        f"<p>The point moves {escape(q.moves)}.</p>{example}</details>"
    )
