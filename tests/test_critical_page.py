"""The page about reading the data: its figures come out as they were worked by hand, and a slip is refused."""

import json
import re

import critical_page
import pytest
from expressions import evaluate

CHECKS = {
    "Two rooflines that cross": ["245", "788", "756", "785", "12 %", "802", "815", "39 %"],
    "The bandwidth that sets B": ["3,189", "4,496", "3.4", "4.7", "3.18", "4.48"],
    "The KV cache at long prompts": ["3.8 GB", "1.2 ms", "42 ms", "8.8 times", "16 times", "25.0", "32.3"],
    "The time above the decode bound": ["89, 71 and 92 %"],
    "Padding on the B300": ["31 % of F", "21 % of B", "6.89 ms", "84 % of F"],
    "M = 2 and M = 4 on an H100": ["58", "50"],
    "The A100's ridge point": ["295", "1,682", "175"],
    "One percent of the peak": ["1.03 %"],
    "A kernel that only writes": ["268 MB", "0.25 to 0.50"],
    "The intensity of decode": ["0.50 in FP32", "1.00 in FP16", "2.00 in FP8"],
    "The products of training": ["175"],
    "One F for each card": ["802", "825", "897", "12 %"],
    "More than the stated peak": ["97.5", "107 %"],
    "FP64 on the AMD cards": ["50 and 100 %", "49 and 90 %", "72 and 69 %"],
    "The profiler's two percentages": ["89 % of B and 6 % of F", "3 % and 1 %"],
    "FP8 against FP16": ["1.67", "1.72", "1.79", "1.60", "1.97"],
    "Scattered reads": ["asks for 8 times", "makes it 16"],
    "Where hidden latency moves a point": ["I of 128 FLOP/byte before and 128 after"],
    "The range of one card's ridge points": ["10.7", "427"],
}


@pytest.mark.parametrize("title", CHECKS)
def test_figures(title):
    row = next(r for r in critical_page.rows() if r["title"] == title)
    text = " ".join(critical_page.fill(row[key]) for key in ("claim", "shows", "says"))
    for words in CHECKS[title]:
        assert words in text


def test_every_row_computes_what_the_data_show():
    for row in critical_page.rows():
        assert set(row) == {"title", "chapter", "claim", "shows", "says"}
        assert critical_page.FIGURE.search(row["shows"]), row["title"]


def test_the_page_has_every_row_and_no_expression_left():
    page = critical_page.page()
    assert len(re.findall(r"^## \d+\. ", page, re.M)) == len(critical_page.rows())
    assert "{" not in page
    assert "*Chapter: [The ridge point](../notebooks/03_ridge_point.ipynb)*" in page


def test_every_chapter_that_a_row_names_is_there():
    for row in critical_page.rows():
        found = critical_page.CHAPTERS[row["chapter"]]
        if found is not None:
            title, name = found
            notebook = json.loads((critical_page.ROOT / f"notebooks/{name}.ipynb").read_text(encoding="utf-8"))
            assert "".join(notebook["cells"][0]["source"]).startswith(f"# {title}\n")


def test_a_slip_in_an_expression_is_refused():
    with pytest.raises(ValueError, match=r"not an \{expression : decimals\} in 'F is \{h100\}'"):
        critical_page.fill("F is {h100}")
    with pytest.raises(NameError):
        critical_page.fill("{nothing : 1}")
    assert critical_page.fill("{-1234.56 : 1}") == "−1,234.6"
    assert evaluate("gb(h100.bandwidth)") == pytest.approx(3084.84, abs=0.005)
