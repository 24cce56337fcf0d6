"""The download menu of a notebook page, on the real site."""

from __future__ import annotations

import json
import zipfile

import downloads
import pytest
from site_pages import PAGES, ROOT

pytestmark = pytest.mark.browser
NOTEBOOKS = [name for name in PAGES if name.startswith("notebooks/")]


def test_a_notebook_and_its_package_are_saved(visit, site):
    page = visit("notebooks/01_bounds.html", way="http")
    saved = {}
    for name in ("Notebook (.ipynb)", "Its package (.whl)"):
        page.get_by_role("button", name="Download this page").click()  # the menu closes when something is chosen
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        saved[download.value.suggested_filename] = download.value.path()
    assert set(saved) == {"01_bounds.ipynb", next((site / "_downloads").glob("*.whl")).name}
    notebook = json.loads(saved.pop("01_bounds.ipynb").read_text(encoding="utf-8"))
    (wheel,) = saved
    assert f"./{wheel} " in "".join(notebook["cells"][0]["source"])  # the file as it is called once it is saved
    assert "roofcourse/data/devices.csv" in zipfile.ZipFile(saved[wheel]).namelist()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_downloads_are_the_pages_without_outputs(site, name):
    saved = json.loads((site / "_sources" / name).with_suffix(".ipynb").read_text(encoding="utf-8"))
    page = json.loads((ROOT / "book" / name).with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert len(saved["cells"]) == len(page["cells"]) + 1
    code = [cell for cell in saved["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert [c["source"] for c in code[1:]] == [
        "".join(c["source"]).splitlines(keepends=True) for c in page["cells"] if c["cell_type"] == "code"
    ]
    assert not any(downloads.MARKER.search("".join(cell["source"])) for cell in saved["cells"])
