"""Notebooks to take along, and buttons that open them elsewhere.

The download of a notebook page is a copy without outputs that runs by itself: its first cell says what to install, and
its links lead to the site, or are plain words where the site has no address. The buttons for Binder and Colab appear
once `rc_repository` in book/_config.yml says where the repository is; that is the one place. Binder opens the notebook
of the repository, in the environment of .binder/. Colab has no environment: it opens the copy, whose first cell
installs, on the branch that carries the built site.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from markers import MARKER
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
GITHUB = "https://github.com/"
REPOSITORY = re.compile(re.escape(GITHUB) + r"[\w.-]+/[\w.-]+")
BINDER, COLAB = "https://mybinder.org", "https://colab.research.google.com"
#: What the notebooks import beside the package, which itself needs NumPy only.
ALSO = "matplotlib anywidget"
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
LINE = "pip install {what} {also}"
NEEDS = "# This notebook runs by itself, with Python 3.11 or later, once its package is installed:"
MEASURING = '# To measure with source = "live": torch and numba as well.'


# --- the copy ---------------------------------------------------------------------------------------------------------


def first_cell(repository: str = "", wheel: str = "") -> str:
    """What to install: from the repository where its address is known, else from the wheel that the site offers, else
    from a copy of the course.

    From the repository the cell installs by itself on Colab. Run anywhere else it installs nothing.
    """
    if repository:
        return on_colab(LINE.format(what=f"git+{repository}", also=ALSO))
    if wheel:
        what = f"./{wheel}"
        where = ["# The package (.whl) is in the same menu of the page as this notebook: put it beside the notebook."]
    else:
        what, where = ".", ["# In the folder of the course, where its pyproject.toml is."]
    line = LINE.format(what=what, also=ALSO)
    colab = "# On Colab" + (" upload the package first (Files, on the left), then" if wheel else "")
    return "\n".join(
        [
            NEEDS,
            f"#     {line}",
            *where,
            f'{colab} remove the "# " of the next line and run this cell:',
            f"# %{line}",
            MEASURING,
        ]
    )


def on_colab(line: str) -> str:
    return "\n".join(
        [
            NEEDS,
            f"#     {line}",
            "# On Colab this cell does it. Elsewhere it installs nothing.",
            MEASURING,
            "import importlib.util",
            "import sys",
            "",
            'if "google.colab" in sys.modules:',
            f"    %{line}",
            'elif importlib.util.find_spec("roofcourse") is None:',
            f'    print("Install the package first: {line}")',
        ]
    )


def outside(target: str, folder: str, site: str) -> str | None:
    """Where a link of a page leads from outside the site; None when there is no such place."""
    if re.match(r"[a-z]+:", target):
        return target
    if target.startswith("#"):
        return target
    if not site:
        return None
    path, _, fragment = target.partition("#")
    parts: list[str] = [] if not folder else folder.split("/")
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part != ".":
            parts.append(part)
    address = re.sub(r"\.(?:md|ipynb)$", ".html", "/".join(parts))
    return f"{site.rstrip('/')}/{address}" + (f"#{fragment}" if fragment else "")


def relink(text: str, folder: str, site: str) -> str:
    def link(match: re.Match) -> str:
        target = outside(match[2], folder, site)
        return match[1] if target is None else f"[{match[1]}]({target})"

    return LINK.sub(link, text)


def alone(notebook: dict, folder: str, install: str, site: str = "") -> dict:
    """The notebook of a page of ``folder`` as a file that needs nothing beside it: no outputs, ``install`` in front."""
    cells = []
    for cell in notebook["cells"]:
        cell = {**cell, "metadata": {k: v for k, v in cell["metadata"].items() if v}}
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            cell |= {"outputs": [], "execution_count": None}
        else:
            source = relink(MARKER.sub("", source), folder, site)
        cell["source"] = source.splitlines(keepends=True)
        cells.append(cell)
    first = {"cell_type": "code", "id": "install", "metadata": {}, "outputs": [], "execution_count": None}
    return {**notebook, "cells": [{**first, "source": install.splitlines(keepends=True)}, *cells]}


# --- on the site ------------------------------------------------------------------------------------------------------


def set_buttons(app: Sphinx, config: Config) -> None:
    """The theme's own launch buttons, when there is a repository to launch from."""
    repository = config.rc_repository.rstrip("/").removesuffix(".git")
    if not repository:
        return
    if not REPOSITORY.fullmatch(repository):
        raise ConfigError(
            f"rc_repository is '{config.rc_repository}': Colab opens https://github.com/OWNER/NAME only; "
            "give such an address, or leave it empty"
        )
    config.rc_repository = repository
    config.html_theme_options = {
        **config.html_theme_options,
        "repository_url": repository,
        "repository_branch": config.rc_branch,
        "path_to_docs": "",  # a page notebooks/NAME is the file notebooks/NAME.ipynb of the repository
        "launch_buttons": {
            "notebook_interface": "jupyterlab",
            "binderhub_url": BINDER,
            "colab_url": COLAB if config.rc_pages_branch else "",
        },
    }


def colab_address(repository: str, branch: str, page: str) -> str:
    """Where Colab opens the copy of a page: a file of the branch of the built site."""
    return f"{COLAB}/github/{repository.removeprefix(GITHUB)}/blob/{branch}/_sources/{page}.ipynb"


def build_wheel(app: Sphinx) -> None:
    """The package for those who download a notebook, as long as there is no address to install it from."""
    app.rc_wheel = ""
    can = (ROOT / "pyproject.toml").exists() and importlib.util.find_spec("hatchling")
    if app.builder.format != "html" or app.config.rc_repository or not can:
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if done.returncode:
            raise ConfigError(f"the package for the downloads cannot be built: {done.stderr.strip().splitlines()[-1]}")
        (wheel,) = Path(folder).glob("*.whl")
        target = Path(app.outdir) / "_downloads" / wheel.name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(wheel, target)
    app.rc_wheel = wheel.name


def name_buttons(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Say what the buttons of a notebook page give."""
    if not context.get("sourcename", "").endswith(".ipynb"):
        return
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("label") == "download-source-button":
                button |= {"text": "Notebook (.ipynb)", "tooltip": "Download this page as a notebook, without outputs"}
            if button.get("text") == "Colab":
                button["tooltip"] = "Open in Colab, where the first cell installs the package"
                button["url"] = colab_address(app.config.rc_repository, app.config.rc_pages_branch, pagename)
        if group.get("label") == "download-buttons" and app.rc_wheel:
            url = context["pathto"](f"_downloads/{app.rc_wheel}", 1)
            group["buttons"].insert(
                1,
                {
                    "type": "link",
                    "url": url,
                    "text": "Its package (.whl)",
                    "icon": "fas fa-box",
                    "tooltip": "Download the package that the notebook needs",
                    "label": "download-package-button",
                },
            )


def write_copies(app: Sphinx, exception: Exception | None) -> None:
    """Sphinx has copied each page's source for its download button: put the notebook that runs by itself there."""
    if exception or app.builder.format != "html":
        return
    sources = Path(app.outdir) / "_sources"
    install = first_cell(app.config.rc_repository, app.rc_wheel)
    for path in sorted(sources.rglob("*.ipynb")):
        folder = path.parent.relative_to(sources).as_posix().removeprefix(".")
        notebook = alone(json.loads(path.read_text(encoding="utf-8")), folder, install, app.config.rc_site)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict:
    for name, default in (
        ("rc_repository", ""),
        ("rc_branch", "main"),
        ("rc_pages_branch", "gh-pages"),
        ("rc_site", ""),
    ):
        app.add_config_value(name, default, "html", types=[str])
    app.connect("config-inited", set_buttons)
    app.connect("builder-inited", build_wheel)
    app.connect("html-page-context", name_buttons, priority=890)  # after the theme has made its buttons
    app.connect("build-finished", write_copies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
