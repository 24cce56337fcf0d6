"""The drawings as images of their own: one for each width and colour scheme, and nothing lost on the way."""

from __future__ import annotations

import re

import figures
import pytest

import roofcourse as rc
from roofcourse.palette import DEVICES


@pytest.fixture(scope="module")
def page() -> str:
    return f"<p>before</p>{rc.plot.roofline(rc.device('h100').roofline('fp16'))._repr_html_()}<p>after</p>"


def test_a_figure_becomes_four_images_with_its_words(page, tmp_path):
    out = figures.separate(page, tmp_path, lambda name: f"../{name}")
    assert out.startswith("<p>before</p>")
    assert out.endswith("<p>after</p>")
    assert "<svg" not in out
    alt = re.search(r'aria-label="([^"]*)"', page)[1]
    assert out.count(f'alt="{alt}"') == 2
    addresses = re.findall(r'(?:src|srcset)="\.\./([^"]+)"', out)
    assert sorted(addresses) == sorted(p.name for p in tmp_path.iterdir())
    assert len(set(addresses)) == 4
    narrow, wide = addresses[:2]
    assert 'viewBox="0 0 350 ' in (tmp_path / narrow).read_text()
    assert 'width="700"' in (tmp_path / wide).read_text()


def test_the_colours_are_those_of_the_scheme(page, tmp_path):
    out = figures.separate(page, tmp_path, str)
    light, dark = (re.search(rf'<picture class="rc-{s}">.*?src="([^"]+)"', out)[1] for s in ("light", "dark"))
    h100 = DEVICES["h100"]
    assert h100.light in (tmp_path / light).read_text()
    assert h100.dark in (tmp_path / dark).read_text()
    assert h100.light not in (tmp_path / dark).read_text()
    assert "var(" not in (tmp_path / light).read_text() + (tmp_path / dark).read_text()


def test_the_same_figure_twice_is_one_set_of_files(page, tmp_path):
    figures.separate(page + page, tmp_path, str)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_figure_that_cannot_be_taken_out_stops_the_build(page, tmp_path):
    changed = page.replace('class="rc-narrow"', 'class="rc-small"')
    with pytest.raises(ValueError, match="1 figures on the page, 0 of them"):
        figures.separate(changed, tmp_path, str)
