"""Small notebooks for the runner's tests, made in code: a notebook on disk would carry outputs sooner or later."""

from __future__ import annotations

import zlib
from pathlib import Path

import nbformat

PARAMETERS = 'device = "h100"\nprecision = "fp16"\nsource = "bundled"\nquick = True'


def code(source: str, *tags: str):
    cell = nbformat.v4.new_code_cell(source, id=f"c{zlib.crc32(source.encode())}")
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def text(source: str):
    return nbformat.v4.new_markdown_cell(source, id="text")


def notebook(folder: Path, *cells, name: str = "small.ipynb", parameters: str | None = PARAMETERS) -> Path:
    """A notebook of these cells, with a parameters cell first unless told otherwise."""
    first = [] if parameters is None else [code(parameters, "parameters")]
    nb = nbformat.v4.new_notebook(cells=[*first, *cells])
    nb.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, folder / name)
    return folder / name
