"""A report as one HTML file: nothing is fetched, nothing runs; light and dark, narrow and wide, and on paper."""

from __future__ import annotations

import base64
import html

from .. import palette
from ..plot.svg import variables_used
from .blocks import Chart, Items, Report, Section, Table, Text

_STYLE = """
:root{color-scheme:light dark;--text:#1b1b1f;--quiet:#55565c;--back:#fff;--panel:#f4f5f7;--line:#c9ccd3;--link:#0b57a4}
@media screen and (prefers-color-scheme:dark){:root{--text:#e7e8ea;--quiet:#b3b6bd;--back:#121212;--panel:#212429;
--line:#44484f;--link:#8cc2ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.55 system-ui,sans-serif}
main,header,footer{max-width:60rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}h1{font-size:1.7rem;line-height:1.2;margin:0}h2{font-size:1.3rem;margin:2.2rem 0 .6rem;
border-top:1px solid var(--line);padding-top:1.2rem}h3{font-size:1.1rem;margin:1.8rem 0 .5rem}
p{margin:.6rem 0;max-width:46rem}.quiet,footer,figcaption{color:var(--quiet)}a{color:var(--link)}
ul{padding-left:1.2rem;max-width:46rem}li{margin:.35rem 0}li strong{font-weight:650}
.scroll{overflow-x:auto;margin:.8rem 0}
.scroll:focus-visible,a:focus-visible{outline:3px solid var(--link);outline-offset:2px}
table{border-collapse:collapse;font-size:.93rem}caption{text-align:left;color:var(--quiet);padding-bottom:.3rem}
th,td{padding:.3rem .8rem .3rem 0;border-bottom:1px solid var(--line);vertical-align:top;text-align:left}
th{font-weight:650}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
figure{margin:1rem 0}pre{background:var(--panel);padding:.8rem;overflow-x:auto;font-size:.8rem;line-height:1.25}
code{background:var(--panel);padding:0 .25em;border-radius:3px;overflow-wrap:anywhere}
footer{padding-top:2rem;padding-bottom:2rem;font-size:.9rem}
@media print{body{font-size:10pt}h2,h3{break-after:avoid}table,figure{break-inside:avoid}}
"""


def page(report: Report) -> str:
    """The whole file as text."""
    inside = "\n".join(_section(s) for s in report.sections)
    title = html.escape(report.title)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    packed = base64.b64encode(report.data.encode()).decode()
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>{_STYLE}{_dark_charts(inside)}</style>
</head>
<body>
<header><h1>{title}</h1><p class="quiet">{html.escape(report.subtitle)}</p></header>
<main>
{inside}
</main>
<footer><p>Made by roofcourse from a run file.
<a download="run.json" href="data:application/json;base64,{packed}">The run file itself</a> is in this page:
<code>roofcourse report run.json</code> makes the page again.</p></footer>
</body>
</html>
"""


def _dark_charts(inside: str) -> str:
    """The charts follow the reader's setting here, not the switch of the course's site."""
    used = variables_used(inside)
    dark = ";".join(f"{name}:{values[1]}" for name, values in palette.variables(used).items())
    return f"@media screen and (prefers-color-scheme:dark){{html .rc-figure{{{dark}}}}}" if dark else ""


def _section(section: Section) -> str:
    tag = f"h{section.level}"
    return f"<{tag}>{_inline(section.title)}</{tag}>\n" + "\n".join(_block(b) for b in section.blocks)


def _block(block) -> str:
    if isinstance(block, Text):
        return f"<p>{_inline(block.words)}</p>"
    if isinstance(block, Items):
        items = (f"<strong>{_inline(t)}:</strong> {_inline(w)}" if t else _inline(w) for t, w in block.pairs)
        return "<ul>" + "".join(f"<li>{x}</li>" for x in items) + "</ul>"
    if isinstance(block, Table):
        return _table(block)
    assert isinstance(block, Chart)
    label = f"<figcaption>{_inline(block.caption)}</figcaption>"
    if block.figure is not None:
        return f"<figure>{block.figure._repr_html_()}{label}</figure>"
    picture = html.escape(block.characters)
    return f'<figure><pre role="img" aria-label="{html.escape(block.caption)}">{picture}</pre>{label}</figure>'


def _table(table: Table) -> str:
    def cell(tag: str, i: int, words: str, extra: str = "") -> str:
        number = ' class="n"' if i >= table.left else ""
        return f"<{tag}{number}{extra}>{_inline(words)}</{tag}>"

    head = "".join(cell("th", i, h, ' scope="col"') for i, h in enumerate(table.head))
    rows = "".join(
        "<tr>"
        + "".join(cell("td" if i else "th", i, w, "" if i else ' scope="row"') for i, w in enumerate(r))
        + "</tr>"
        for r in table.rows
    )
    name = html.escape(table.caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{name}"><table><caption>{name}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _inline(words: str) -> str:
    """Escaped text, with `code` between back ticks."""
    parts = html.escape(words).split("`")
    if len(parts) % 2 == 0:  # a stray tick is a tick
        return html.escape(words)
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))
