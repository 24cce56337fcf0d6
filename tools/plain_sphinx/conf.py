"""The book on plain Sphinx, without Jupyter Book: sphinx-build -W -n -c tools/plain_sphinx book OUT.

The sources, the table of contents, the extension and the settings are those of the site. Only what Jupyter Book adds of
its own stands here once more: the list of extensions, and where the theme's files lie.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
sys.path[:0] = [str(BOOK / "_ext"), str(ROOT / "src")]
written = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf-8"))

project = html_title = written["title"]
author, copyright = written["author"], written["copyright"]
exclude_patterns = ["_build", *written["exclude_patterns"]]
extensions = [
    "myst_nb",
    "sphinx_external_toc",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_togglebutton",
    "sphinxcontrib.bibtex",
    "course",
    "downloads",
    "nobreak",
    "outcomes",
]
external_toc_path, external_toc_exclude_missing = "_toc.yml", written["only_build_toc_files"]
bibtex_bibfiles = [str(BOOK / name) for name in written["bibtex_bibfiles"]]
myst_enable_extensions = written["parse"]["myst_enable_extensions"]
nb_execution_mode = written["execute"]["execute_notebooks"]

settings = dict(written["sphinx"]["config"])
templates_path = [str(BOOK / folder) for folder in settings.pop("templates_path")]
html_theme_options = {
    **settings.pop("html_theme_options"),
    "home_page_in_toc": True,
    "extra_footer": written["html"]["extra_footer"],
    **{name: written["html"][name] for name in ("use_issues_button", "use_repository_button")},
}
globals().update(settings)

html_theme = "sphinx_book_theme"
html_static_path = [str(BOOK / "_static")]
html_css_files, html_js_files = ["site.css"], ["site.js"]
html_favicon = str(BOOK / written["html"]["favicon"])
html_sourcelink_suffix = ""
