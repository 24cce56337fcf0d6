"""Notebooks to take along and the buttons that open them elsewhere."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import build_book
import downloads
import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from IPython.core.inputtransformer2 import TransformerManager
from sphinx.errors import ConfigError

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/someone/course"


def notebook() -> dict:
    cells = [
        nbformat.v4.new_markdown_cell(
            "# A page\n\n134 MB<!--= mb(8192 * 8192 * 2) -->, [memory-bound](../appendix/glossary.md#memory-bound), "
            "[chapter 2](02_next.ipynb), [out](https://example.org/a), [here](#a-page), [**bold** words](../index.md)."
        ),
        nbformat.v4.new_code_cell("x = 1\nx", metadata={"tags": []}),
    ]
    cells[1].execution_count = 3
    cells[1].outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "1"}, execution_count=3)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return json.loads(nbformat.writes(nbformat.v4.new_notebook(cells=cells, metadata=kernel)))


def alone(**settings) -> nbformat.NotebookNode:
    copy = downloads.alone(notebook(), "notebooks", "# install", **settings)
    nb = nbformat.reads(json.dumps(copy), as_version=4)
    nbformat.validate(nb)
    return nb


def test_copy_has_no_outputs_and_says_first_what_to_install():
    nb = alone()
    assert [cell.source.splitlines()[0] for cell in nb.cells] == ["# install", "# A page", "x = 1"]
    assert [(c.outputs, c.execution_count) for c in nb.cells if c.cell_type == "code"] == [([], None)] * 2
    assert nb.cells[2].source == "x = 1\nx"
    assert nb.cells[2].metadata == {}
    assert notebook()["cells"][1]["outputs"]  # what is on the page stays as it is


def test_links_are_words_where_the_site_has_no_address():
    assert alone().cells[1].source.split("\n\n")[1] == (
        "134 MB, memory-bound, chapter 2, [out](https://example.org/a), [here](#a-page), **bold** words."
    )


def test_links_lead_to_the_site_where_it_has_one():
    text = alone(site="https://course.example/").cells[1].source
    assert "[memory-bound](https://course.example/appendix/glossary.html#memory-bound)" in text
    assert "[chapter 2](https://course.example/notebooks/02_next.html)" in text
    assert "[**bold** words](https://course.example/index.html)" in text


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"wheel": "roofcourse-0.1.0-py3-none-any.whl"},
         "pip install ./roofcourse-0.1.0-py3-none-any.whl matplotlib anywidget"),
        ({}, "pip install . matplotlib anywidget"),
    ],
)  # fmt: skip
def test_first_cell_without_a_repository(settings, line):
    lines = downloads.first_cell(**settings).splitlines()
    assert f"#     {line}" in lines
    assert f"# %{line}" in lines  # without its "# " what Colab takes
    assert all(text.startswith("#") for text in lines)  # run as it is, it does nothing


INSTALL = f"install git+{REPOSITORY} matplotlib anywidget"


@pytest.mark.parametrize(
    ("colab", "installed", "run", "said"),
    [
        (True, False, [("pip", INSTALL)], ""),
        (True, True, [("pip", INSTALL)], ""),  # an older one perhaps
        (False, True, [], ""),
        (False, False, [], f"Install the package first: pip {INSTALL}\n"),
    ],
)
def test_first_cell_installs_on_colab_and_only_there(colab, installed, run, said, monkeypatch, capsys):
    cell = TransformerManager().transform_cell(downloads.first_cell(REPOSITORY, "unused.whl"))
    assert f"#     pip {INSTALL}\n" in cell
    found = []
    shell = types.SimpleNamespace(run_line_magic=lambda magic, line: found.append((magic, line)))
    if colab:
        monkeypatch.setitem(sys.modules, "google.colab", types.ModuleType("google.colab"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if installed else None)
    exec(cell, {"get_ipython": lambda: shell})
    assert (found, capsys.readouterr().out) == (run, said)


def test_every_notebook_of_the_course_gives_a_valid_copy_without_relative_links():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        copy = downloads.alone(json.loads(path.read_text()), "notebooks", "# install")
        nbformat.validate(nbformat.reads(json.dumps(copy), as_version=4))
        text = "\n".join("".join(cell["source"]) for cell in copy["cells"] if cell["cell_type"] == "markdown")
        assert "](../" not in text, path.name
        assert ".ipynb" not in text, path.name
        assert "<!--=" not in text, path.name


# --- on a site --------------------------------------------------------------------------------------------------------


def build(tmp_path: Path, **settings: str) -> Path:
    """A site of a first page and one notebook, with the book's own machinery."""
    book = tmp_path / "book"
    shutil.copytree(ROOT / "book", book, ignore=shutil.ignore_patterns("_build", "notebooks", "appendix", "*.md"))
    config = book / "_config.yml"
    text = config.read_text()
    for name, value in settings.items():
        text, found = re.subn(rf"(?m)^(    {name}: ).*$", rf"\g<1>{value}", text)
        assert found == 1
    config.write_text(text)
    (book / "_toc.yml").write_text("format: jb-book\nroot: index\nchapters:\n- file: notebooks/01_page\n")
    (book / "index.md").write_text("# A book\n\nWords.\n")
    (book / "notebooks").mkdir()
    page = notebook()
    page["cells"][0]["source"] = "# A page\n\n[the first page](../index.md)"
    (book / "notebooks" / "01_page.ipynb").write_text(json.dumps(page))
    build_book.build_site(book)
    return book / "_build" / "html"


def buttons(html: Path, page: str) -> dict[str, str]:
    soup = BeautifulSoup((html / page).read_text(), "html.parser")
    links = soup.select(".article-header-buttons .dropdown-menu a")
    return {" ".join(a.get_text().split()): a["href"] for a in links}


def test_without_a_repository_there_is_nothing_to_launch(tmp_path):
    html = build(tmp_path)
    assert buttons(html, "notebooks/01_page.html") == {"Notebook (.ipynb)": "../_sources/notebooks/01_page.ipynb"}
    assert "launch-buttons" not in (html / "notebooks" / "01_page.html").read_text()
    saved = nbformat.read(html / "_sources" / "notebooks" / "01_page.ipynb", as_version=4)
    assert "pip install . matplotlib" in saved.cells[0].source  # this small book has no package beside it
    assert saved.cells[1].source.endswith("\n\nthe first page")
    assert [c.outputs for c in saved.cells if c.cell_type == "code"] == [[], []]


def test_one_address_gives_the_launch_buttons_and_the_way_to_install(tmp_path):
    html = build(tmp_path, rc_repository=f"{REPOSITORY}.git", rc_site="https://course.example")
    assert buttons(html, "notebooks/01_page.html") == {
        "Notebook (.ipynb)": "../_sources/notebooks/01_page.ipynb",
        "Binder": "https://mybinder.org/v2/gh/someone/course/main?urlpath=lab/tree/notebooks/01_page.ipynb",
        "Colab": "https://colab.research.google.com/github/someone/course/blob/gh-pages/_sources/notebooks/01_page.ipynb",
    }
    page = (html / "notebooks" / "01_page.html").read_text()
    assert 'title="Open in Colab, where the first cell installs the package"' in page
    assert not any("launch" in name.lower() or "Colab" in name for name in buttons(html, "index.html"))
    saved = nbformat.read(html / "_sources" / "notebooks" / "01_page.ipynb", as_version=4)
    assert saved.cells[0].source == downloads.first_cell(REPOSITORY)  # what the button of Colab opens installs there
    assert saved.cells[1].source.endswith("[the first page](https://course.example/index.html)")


def test_without_a_branch_of_the_site_there_is_no_colab(tmp_path):
    html = build(tmp_path, rc_repository=REPOSITORY, rc_branch="trunk", rc_pages_branch='""')
    assert buttons(html, "notebooks/01_page.html") == {
        "Notebook (.ipynb)": "../_sources/notebooks/01_page.ipynb",
        "Binder": "https://mybinder.org/v2/gh/someone/course/trunk?urlpath=lab/tree/notebooks/01_page.ipynb",
    }


def test_the_package_of_the_downloads_is_the_same_to_the_byte_each_time(tmp_path):
    wheels = []
    for folder in ("one", "other"):
        app = types.SimpleNamespace(
            builder=types.SimpleNamespace(format="html"),
            config=types.SimpleNamespace(rc_repository=""),
            outdir=tmp_path / folder,
        )
        downloads.build_wheel(app)
        wheels.append((tmp_path / folder / "_downloads" / app.rc_wheel).read_bytes())
    assert wheels[0] == wheels[1]


def test_pages_are_where_the_launch_buttons_look():
    """The buttons take a page's name for a path of the repository: the notebooks' folder bears the pages' name."""
    from paper import contents

    pages = [page.file for page in contents() if page.label.startswith("Chapter")]
    assert len(pages) == 9
    assert all((ROOT / f"{page}.ipynb").is_file() for page in pages)


class Settings:
    rc_branch, rc_pages_branch, html_theme_options = "main", "gh-pages", {}

    def __init__(self, repository: str):
        self.rc_repository = repository


@pytest.mark.parametrize("address", ["someone/course", "https://gitlab.com/a/b", "https://github.com/only"])
def test_an_address_that_colab_cannot_open_stops_the_build(address):
    with pytest.raises(ConfigError, match=f"rc_repository is '{address}'.*OWNER/NAME"):
        downloads.set_buttons(None, Settings(address))


# --- on Binder --------------------------------------------------------------------------------------------------------


def test_binder_installs_what_the_notebooks_need_at_the_pinned_versions(tmp_path):
    """As conda does it: the lines for pip as a file of requirements beside environment.yml, the whole tree around it.
    This environment has all that is pinned, so that only the package itself is left to install."""
    for name in ("constraints.txt", "pyproject.toml", "README.md", "LICENSE", "LICENSE-TEXT.md", "src", "data"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / ".binder").mkdir()
    environment = yaml.safe_load((ROOT / ".binder" / "environment.yml").read_text())
    assert environment["dependencies"][:2] == ["python=3.11", "pip"]
    lines = environment["dependencies"][2]["pip"]
    (tmp_path / ".binder" / "requirements.txt").write_text("\n".join(lines))
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "--disable-pip-version-check", "-r", "requirements.txt"],
        cwd=tmp_path / ".binder",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert re.findall(r"^Would install (.*)$", done.stdout, re.MULTILINE) == ["roofcourse-0.1.0"]
    for name in ("matplotlib", "anywidget", "jupyterlab", "ipykernel"):
        assert re.search(rf"^Requirement already satisfied: {name}\b", done.stdout, re.MULTILINE), name


def test_notebooks_import_nothing_but_the_package_and_numpy():
    """Which is why the first cell and Binder install no more than they do. (A function that is placed live may import
    torch when it runs; IPython is there wherever a cell runs.)"""
    found = set()
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            body = ast.parse("".join(cell["source"])).body if cell["cell_type"] == "code" else []
            for node in (n for part in body if not isinstance(part, ast.FunctionDef) for n in ast.walk(part)):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                names += [node.module] if isinstance(node, ast.ImportFrom) else []
                found |= {name.partition(".")[0] for name in names}
    assert found - set(sys.stdlib_module_names) <= {"numpy", "roofcourse", "IPython"}
    assert "roofcourse" in found
