"""Joins the modules of ``js/`` into one script: no bundler, no minifier, so that what a browser runs can be read.

Each file is an ordinary ES module. Joining removes the ``import`` lines, the word ``export``, the comments (a
reader of the code finds them in ``js/``) and what no kind on the page uses, in the order in which the modules need
each other. A name that two modules declare, or an import that leads nowhere, is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from .. import palette
from . import kinds

HERE = Path(__file__).parent
KINDS = "kinds/"

_IMPORT = re.compile(r'^import (?:\{(?P<names>[^}]*)\} from )?"(?P<path>[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:function|const|let|class)\b)", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://.*|/\*\*(?:.|\n)*?\*/)\n", re.MULTILINE)
# After code, and without a quotation mark, so that it cannot be the end of a text.
_REMARK = re.compile(r"(?<=[;,{}()\[\]]) +// [^\n\"'`]*$", re.MULTILINE)
_PART = re.compile(r"^(?=\w)", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_TOP_LEVEL = re.compile(r"^(?:export )?(?:function|const|let|class) (\w+)", re.MULTILINE)


class BundleError(RuntimeError):
    """The modules do not fit together."""


def modules() -> dict[str, str]:
    """Path below ``js/`` to source, for every module."""
    root = HERE / "js"
    return {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in sorted(root.rglob("*.js"))}


def join(sources: dict[str, str], entries: list[str], keep: Iterable[str] = ()) -> str:
    """The source of ``entries`` and of all they import, each once, in order of need, as one scope without imports.

    Declarations that nothing which runs leads to are left out, but for the names of ``keep``: those who load the
    script ask for them.
    """
    order: list[str] = []
    owner: dict[str, str] = {}

    def visit(name: str, wanted_by: str, path: tuple[str, ...]) -> None:
        if name not in sources:
            raise BundleError(f"js/{wanted_by} imports {name}, which does not exist")
        if name in path:
            raise BundleError(f"js/{name} imports itself, by way of {' -> '.join(path[path.index(name) :])}")
        if name in order:
            return
        for match in _IMPORT.finditer(sources[name]):
            target = _resolve(name, match["path"])
            visit(target, name, (*path, name))
            for item in filter(None, (x.strip() for x in (match["names"] or "").split(","))):
                if not re.search(
                    rf"^export (?:function|const|let|class) {re.escape(item)}\b", sources[target], re.MULTILINE
                ):
                    raise BundleError(f"js/{name} imports {item!r}, which js/{target} does not export")
        for declared in _TOP_LEVEL.findall(sources[name]):
            if declared in owner:
                raise BundleError(f"js/{owner[declared]} and js/{name} both declare {declared!r}: rename one")
            owner[declared] = name
        order.append(name)

    for entry in entries:
        visit(entry, "bundle", ())
    bodies = {}
    for name in order:
        body = _REMARK.sub("", _COMMENT.sub("", _EXPORT.sub("", _IMPORT.sub("", sources[name]))))
        left = re.search(r"^(import|export)\b.*", body, re.MULTILINE)
        if left:
            raise BundleError(
                f"js/{name}: cannot join {left[0]!r}; use 'import {{ a, b }} from \"./x.js\";' and named exports"
            )
        bodies[name] = body
    used = _used((part for body in bodies.values() for part in _PART.split(body)), keep)
    parts = []
    for name, body in bodies.items():
        kept = "".join(part for part in _PART.split(body) if _declared(part) in used)
        parts.append(f"// ---- {name}\n{kept.strip()}\n")
    return "\n".join(parts)


def _declared(part: str) -> str:
    """The name that a part of the top level declares; none for one that runs."""
    match = _TOP_LEVEL.match(part)
    return match[1] if match else ""


def _used(parts: Iterable[str], keep: Iterable[str]) -> set[str]:
    """The declared names that the parts which run mention, those to keep, and what all these mention in turn."""
    mentions: dict[str, set[str]] = {}
    for part in parts:
        mentions.setdefault(_declared(part), set()).update(_NAME.findall(part))
    used = {"", *keep}
    fresh = set(used)
    while fresh:
        fresh = {name for by in fresh for name in mentions.get(by, ()) if name in mentions} - used
        used |= fresh
    return used


def _resolve(importer: str, path: str) -> str:
    parts = importer.split("/")[:-1]
    for step in path.split("/"):
        if step == "..":
            if not parts:
                raise BundleError(f"js/{importer} imports {path!r}, outside js/")
            parts.pop()
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def _entries(wanted: tuple[str, ...]) -> list[str]:
    """The module of each wanted kind, of every kind when none is named."""
    return [f"{KINDS}{kind}.js" for kind in wanted or kinds.names()]


@cache
def esm(*wanted: str) -> str:
    """The front end of these kinds (all by default) for anywidget: an ES module with ``export default { render }``."""
    return join(modules(), [*_entries(wanted), "render.js"], keep=["render"]) + "\nexport default { render };\n"


@cache
def bundle(*wanted: str) -> str:
    """The front end of these kinds (all by default) with its host for pages without Python.

    One classic script, so that it also runs from ``file://``; a page loads the kinds that it shows and no others.
    """
    return f'(() => {{\n"use strict";\n\n{join(modules(), [*_entries(wanted), "host_static.js"])}}})();\n'


def _colours() -> set[str]:
    """The custom properties that the front end uses: all devices, and the roles named in the style sheet."""
    used = set(re.findall(r"var\((--rc-[\w-]+)", (HERE / "explorer.css").read_text(encoding="utf-8")))
    return {name for name in palette.variables() if name in used or name.startswith(("--rc-device-", "--rc-spare-"))}


@cache
def css() -> str:
    """The style sheet of the explorers, for both hosts: the palette's colours, light and dark, then the rules."""
    colours = palette.css(".rc-explorer", _colours())
    return colours + "\n" + (HERE / "explorer.css").read_text(encoding="utf-8")
