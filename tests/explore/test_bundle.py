"""The front end as it ships: one scope, no outside address, small; and the joiner's own errors."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest

from roofcourse import explore, palette
from roofcourse.explore.bundle import BundleError, join, modules

LIMIT = 30 * 1024  # bytes, gzipped, script and style sheet together


@pytest.mark.parametrize("kind", explore.kind_names())
def test_weight(kind):
    weight = len(gzip.compress((explore.bundle(kind) + explore.css()).encode(), mtime=0))
    assert weight <= LIMIT, f"{weight} bytes gzipped"


def test_a_page_loads_the_kinds_it_shows_and_no_others():
    assert 'register("bounds"' in explore.bundle("bounds")
    assert 'register("m_sweep"' not in explore.bundle("bounds")
    assert re.findall(r'^register\("(\w+)"', explore.bundle(), re.MULTILINE) == list(explore.kind_names())
    assert re.findall(r'^register\("(\w+)"', explore.esm("ridge"), re.MULTILINE) == ["ridge"]


def test_no_address_outside_the_page():
    text = (explore.bundle() + explore.esm() + explore.css()).replace("http://www.w3.org/2000/svg", "")
    assert re.findall(r"(?:https?:)?//[\w-]+\.\w+", text) == []
    assert "@import" not in text
    assert "url(" not in text


def test_markup_is_never_parsed_from_strings():
    for name, source in modules().items():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", source), name


def test_classic_script_has_no_module_syntax():
    assert re.findall(r"^[ \t]*(?:import|export)\b.*", explore.bundle(), re.MULTILINE) == []
    assert re.findall(r"^[ \t]*export\b.*", explore.esm(), re.MULTILINE) == ["export default { render };"]


def test_no_class_of_an_explorer_is_styled_for_something_else():
    """The forms of the exercises once had a class of a chart's words, which then grew out of their box."""
    book = Path(__file__).resolve().parents[2] / "book"
    others = "".join(path.read_text() for path in (book / "_ext" / "questions.css", book / "_static" / "site.css"))
    bare = set(re.findall(r"(?:^|,\s*)\.(rc-[\w-]+)(?=[ ,.:{])", others, re.MULTILINE)) - {"rc-explorer"}
    assert bare, "the style sheets have been rewritten"
    assert bare & set(re.findall(r"\.(rc-[\w-]+)", explore.css())) == set()


def test_every_module_is_used():
    for name in modules():
        assert f"// ---- {name}\n" in explore.bundle(), name


def test_every_colour_of_the_style_sheet_is_defined():
    used = set(re.findall(r"var\((--rc-[\w-]+)", explore.css()))
    defined = set(re.findall(r"(--rc-[\w-]+)\s*:", explore.css()))
    set_by_script = {"--rc-device", "--rc-device-text", "--rc-filled"}
    assert used - defined - set_by_script == set()
    for swatch in palette.DEVICES.values():
        assert swatch.variable in defined


def test_join_orders_by_need_and_strips_module_syntax():
    sources = {
        "a.js": 'import { b } from "./lib/b.js";\n\nexport function a() { return b(); }\n',
        "lib/b.js": 'import { c } from "../c.js";\n\nexport const b = () => c;\n',
        "c.js": "export const c = 1;\n",
    }
    assert re.findall(r"^// ---- (.*)$", join(sources, ["a.js"]), re.MULTILINE) == ["c.js", "lib/b.js", "a.js"]
    assert "import" not in join(sources, ["a.js"])


def test_join_leaves_out_comments_and_nothing_else():
    source = "// why\n\n/** doc\n * of f\n */\nexport function f() {\n  // inside\n  return 'a; // b'; // gone\n}\n"
    source += 'f("; // c");\n'
    assert join({"a.js": source}, ["a.js"]) == "// ---- a.js\nfunction f() {\n  return 'a; // b';\n}\nf(\"; // c\");\n"


def test_join_leaves_out_what_nothing_uses():
    sources = {
        "a.js": 'import { b, unused } from "./b.js";\n\nrun(b);\n\nfunction run(f) {\n  f();\n}\n\nclass Lost {\n}\n',
        "b.js": "const one = 1;\nconst two = 2;\nexport const b = () => one;\nexport function unused() { two(); }\n",
    }
    assert join(sources, ["a.js"]) == (
        "// ---- b.js\nconst one = 1;\nconst b = () => one;\n\n// ---- a.js\nrun(b);\n\nfunction run(f) {\n  f();\n}\n"
    )


def test_all_that_the_modules_declare_is_used_by_some_kind():
    whole = explore.bundle() + explore.esm()
    for name, source in modules().items():
        for declared in re.findall(r"^(?:export )?(?:function|const|let|class) (\w+)", source, re.MULTILINE):
            assert re.search(rf"^(?:function|const|let|class) {declared}\b", whole, re.MULTILINE), (name, declared)


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        ({"a.js": 'import { b } from "./b.js";\n'}, "imports b.js, which does not exist"),
        ({"a.js": 'import { b } from "./b.js";\n', "b.js": "export const c = 1;\n"}, "'b', which js/b.js does not"),
        ({"a.js": 'import "./b.js";\nconst x = 1;\n', "b.js": "const x = 2;\n"}, "both declare 'x'"),
        ({"a.js": 'import "./b.js";\n', "b.js": 'import "./a.js";\n'}, "a.js -> b.js"),
        ({"a.js": "export default 3;\n"}, "cannot join"),
        ({"a.js": 'import "../x.js";\n'}, "outside js/"),
    ],
)
def test_join_refuses_modules_that_do_not_fit(sources, words, one_line):
    with one_line(BundleError) as caught:
        join(sources, ["a.js"])
    assert words in str(caught.value)


def test_import_and_static_html_need_no_anywidget():
    code = """
import sys
sys.modules["anywidget"] = None  # as if it were not installed
import roofcourse as rc
assert 'data-rc-explorer="m_sweep"' in rc.explore.static_html("m_sweep", {"m": 64})
assert rc.explore.bundle() and rc.explore.css() and rc.explore.compute("bounds")
loaded = {"anywidget", "traitlets", "matplotlib", "torch", "pandas"} & {k for k, v in sys.modules.items() if v}
assert not loaded, loaded
try:
    rc.explore.m_sweep()
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "roofcourse[book]" in done.stdout
    assert done.stdout.count("\n") == 1


def test_what_jupyter_asks_for_is_kept():
    """Nothing in the module itself calls render: the line that exports it comes after."""
    assert re.search(r"^function render\(", explore.esm("m_sweep"), re.MULTILINE)
