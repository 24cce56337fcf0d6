"""The report of a run: what it says, that it needs nothing else, and that it is well made."""

from __future__ import annotations

import base64
import json
import re
from html.parser import HTMLParser

import pytest

from roofcourse.cli import main
from roofcourse.place.point import Operator, Point
from roofcourse.place.store import save
from roofcourse.records import Measurement, Run, read_run, write_run
from roofcourse.report import write_report
from roofcourse.tables import data_folder
from roofcourse.work import Work

RUN = data_folder() / "runs" / "cpu_epyc_genoa.json"


def _point(machine, roofs, name, work, seconds, **more) -> Point:
    m = Measurement("cpu", name, "fp32", work, seconds, spread=0.02, kind="measured live", source="this session")
    return Point(m, "formula", roofs["fp32", "vector"], roofs=tuple(roofs.values()), machine=machine["name"], **more)


@pytest.fixture(scope="module")
def run_file(tmp_path_factory):
    """The recorded run, with three placed points whose times are made up."""
    from roofcourse.bench import Recorded

    path = tmp_path_factory.mktemp("report") / "run.json"
    run = read_run(RUN)
    write_run(run, path)
    roofs = {(r.precision, r.path): r for r in Recorded(run).device.ceilings()}
    operators = (Operator("mul", 1, 1e6, 8e6, "formula", "float32"), Operator("_svd", 1, None, 8e6, "not counted", ""))
    for point in (
        _point(run.machine, roofs, "relu_<b>", Work(1e6, 8e6), 1.03e-4, operators=operators, notes=("a | b & <c>",)),
        _point(run.machine, roofs, "copy", Work(0, 8e6), 1e-3),
        _point(run.machine, roofs, "chain", Work(2e6, 8e6), 1e-3, operators=operators[:1] * 3),
    ):
        save(point, path, run.machine)
    return path


@pytest.fixture(scope="module")
def page(run_file):
    return write_report(run_file, run_file.with_name("report.html")).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def words(run_file):
    return write_report(run_file, run_file.with_name("report.md")).read_text(encoding="utf-8")


class _Reader(HTMLParser):
    """Tags that are open, what is fetched, headings, and the text."""

    VOID = ("meta", "br", "link", "img", "input", "path", "use", "circle", "line", "rect", "polyline", "image", "stop")

    def __init__(self) -> None:
        super().__init__()
        self.open, self.fetched, self.headings, self.text, self.tables = [], [], [], "", []

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.fetched += [v for k, v in found.items() if k in ("src", "href", "xlink:href") and not v.startswith("#")]
        if tag in ("h1", "h2", "h3"):
            self.headings.append(int(tag[1]))
        if tag == "table":
            self.tables.append(0)
        if tag == "caption":
            self.tables[-1] += 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.fetched += [v for k, v in attributes if k in ("src", "href", "xlink:href") and not v.startswith("#")]

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def read(page):
    reader = _Reader()
    reader.feed(page)
    return reader


def test_the_page_is_whole_and_fetches_nothing(page, read):
    assert read.open == []
    assert [u for u in read.fetched if not u.startswith("data:")] == []
    assert "<script" not in page
    assert "@import" not in page
    assert "url(http" not in page
    assert "default-src 'none'" in page
    assert len(page) < 200_000


def test_the_page_is_readable_by_everyone(page, read):
    assert '<html lang="en">' in page
    assert 'name="viewport"' in page
    assert "prefers-color-scheme:dark" in page
    assert read.headings[0] == 1
    assert read.headings.count(1) == 1
    assert all(b - a <= 1 for a, b in zip(read.headings, read.headings[1:], strict=False))
    assert read.tables
    assert set(read.tables) == {1}  # every table has its caption
    assert page.count('role="region" tabindex="0"') == len(read.tables)  # a wide table scrolls, by keyboard as well
    assert 'class="rc-figure" role="img" aria-label="Roofline chart' in page


def test_the_page_says_what_was_measured(read):
    for part in ("In short", "The machine", "Its rooflines", "Placed points", "How it was measured"):
        assert part in read.text
    assert "Memory gives 82.02 GB/s; its best ceiling is 227.6 GFLOP/s (FP32)." in read.text
    assert "1. relu_<b> (FP32)" in read.text  # escaped: a name cannot make markup
    # 8 MB at 82.02 GB/s are 97.5 µs, 95 % of 103.
    assert "95 % of the memory roof; none needed: it is at the roof." in read.text
    assert "by formula: each input and output of the whole once" in read.text
    assert "copy did no FLOP and cannot stand on a logarithmic axis" in read.text
    assert "not counted" in read.text
    assert "method version" in read.text


def test_the_run_file_is_in_the_page(page, run_file):
    packed = re.search(r'href="data:application/json;base64,([^"]+)"', page).group(1)
    assert json.loads(base64.b64decode(packed)) == json.loads(run_file.read_text(encoding="utf-8"))


def test_the_same_run_makes_the_same_page(page, words, run_file):
    again = write_report(run_file, run_file.with_name("again.html"))
    assert again.read_text(encoding="utf-8") == page
    assert write_report(run_file, run_file.with_name("again.md")).read_text(encoding="utf-8") == words


def test_markdown_has_the_same_content_and_well_formed_tables(words):
    assert words.startswith("# Roofline report: AMD EPYC\n")
    assert "## Its rooflines" in words
    assert "### 1. relu\\_&lt;b> (FP32)" in words
    assert "a | b & &lt;c>" in words
    assert "227.6 GFLOP/s" in words
    tables = [block for block in words.split("\n\n") if block.startswith("|")]
    assert len(tables) == 7  # machine, ceilings, three points, two lists of operators
    for table in tables:
        bars = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(bars) == 1, table
    assert "\u00a0" not in words


def test_no_matplotlib_no_figure_but_a_picture_of_characters(run_file, monkeypatch):
    from roofcourse.report import content

    monkeypatch.setattr(content, "find_spec", lambda name: None)
    page = write_report(run_file, run_file.with_name("plain.html")).read_text(encoding="utf-8")
    assert '<pre role="img" aria-label="The measured roofs' in page
    assert "FLOP/byte" in page
    assert "```text" in write_report(run_file, run_file.with_name("plain.md")).read_text(encoding="utf-8")


def test_a_run_without_points_says_how_to_add_one(tmp_path):
    text = write_report(RUN, tmp_path / "r.md").read_text(encoding="utf-8")
    assert "None yet. `roofcourse place torch.relu --shape 4096x4096 --save run.json` adds one" in text


def test_a_run_without_ceilings_still_makes_a_report(tmp_path):
    run = read_run(RUN)
    bare = Run(run.method_version, run.machine, run.measurements[:0])
    path = write_run(bare, tmp_path / "bare.json")
    text = write_report(path, tmp_path / "bare.md").read_text(encoding="utf-8")
    assert "This run has no ceilings: `roofcourse measure` adds them." in text


def test_the_command(run_file, tmp_path, capsys):
    out = tmp_path / "mine.html"
    assert main(["report", str(run_file), "-o", str(out), "--title", "Exercise 9, Ada"]) == 0
    assert capsys.readouterr().out.strip() == str(out)
    assert "<h1>Exercise 9, Ada</h1>" in out.read_text(encoding="utf-8")
    assert main(["report", str(run_file), "-o", str(out)]) == 1
    assert "exists: choose another name (-o), or --overwrite it" in capsys.readouterr().err
    assert main(["report", str(run_file), "-o", str(out), "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "nowhere.json", "-o", "x.html"], "nowhere.json: no such file"),
        (["report", str(RUN), "-o", "x.pdf"], "x.pdf: a report is written as .html or .md"),
        (["report", str(RUN), "-o", "nowhere/x.html"], "there is no folder nowhere"),
        (["report", "."], ". is a folder, not a run file"),
        (["report", "/"], "/ is a folder, not a run file"),
    ],
)
def test_the_command_refuses_in_one_line(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_in_a_browser(chromium, run_file, page, scheme, width):
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    tab = context.new_page()
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(run_file.with_name("report.html").as_uri())
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert [u for u in asked if not u.startswith(("file:", "data:"))] == []
    found = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
    assert found == [], [(v["id"], v["nodes"][0]["html"]) for v in found]
    shown = tab.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shown == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 18, 18)"}[scheme]
    context.close()
