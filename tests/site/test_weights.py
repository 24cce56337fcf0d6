"""No page is heavy: a reader on a train opens it too."""

from __future__ import annotations

import weights


def test_every_page_is_within_its_budget(site):
    assert [w for w in weights.weights(site) if not w.within] == []


def test_the_weights_are_those_of_the_files(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "_images").mkdir()
    (tmp_path / "_static" / "ridge.roofcourse.js").write_text("a" * 1000)
    (tmp_path / "_static" / "theme.js").write_text("b" * 5000)
    for name, size in (("wide.svg", 70), ("narrow.svg", 30), ("dark.svg", 700)):
        (tmp_path / "_images" / name).write_text("c" * size)
    page = (
        '<script src="_static/ridge.roofcourse.js?v=1"></script><script src="_static/theme.js"></script>'
        '<picture class="rc-light"><source srcset="_images/narrow.svg"/><img src="_images/wide.svg"/></picture>'
        '<picture class="rc-dark"><img src="_images/dark.svg"/></picture><img src="_images/wide.svg"/>'
    )
    (tmp_path / "index.html").write_text(page)
    found = weights.weight(tmp_path, "index.html")
    assert (found.html, found.own) == (len(page), 1070)
    assert found.script < 60  # a thousand equal letters
    assert found.within
