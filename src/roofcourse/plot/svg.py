"""From matplotlib's SVG to the book's: small, stable, and in the colours of the page it stands on.

Pure functions on text. matplotlib draws with the light colours of the palette; here each of them becomes a CSS variable
with the light colour as its fallback, so that one drawing follows light and dark.
"""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET

from .. import palette

_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_URL = re.compile(r"url\(#([^)]+)\)")
#: matplotlib writes these although they are what SVG does anyway.
_DEFAULTS = {
    "stroke-linecap: butt",
    "stroke-linejoin: round",
    "text-anchor: start",
    "font-weight: 400",
    "fill: none none",
}

#: The site's and JupyterLab's own font where there is one; the system's interface font elsewhere.
FONT = (
    "var(--pst-font-family-base,var(--jp-ui-font-family,"
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif))"
)
PLAIN_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def tidy(svg: str, prefix: str, *, themed: bool) -> str:
    """One `<svg>` element, without XML header, to put into a page (`themed`) or into a file of its own.

    svg: what matplotlib's SVG backend wrote, text as text; prefix: begins every id, so that the ids of two drawings
    on one page differ; themed: colours become CSS variables, and the element carries no size of its own.
    """
    root = ET.fromstring(svg)
    _, _, width, height = root.get("viewBox").split()
    body = ET.Element("g")
    for child in root:
        _copy(child, body)
    names = _referenced(body)
    ids = {old: f"{prefix}{i}" for i, old in enumerate(names)}
    for element in body.iter():
        _rename(element, ids)
        _slim(element, themed, in_defs=element.tag == "path" and "id" in element.attrib)
    _share_styles(body)
    attributes = {"viewBox": f"0 0 {_short(width)} {_short(height)}", "stroke-linejoin": "round"}
    if not themed:
        attributes |= {
            "xmlns": "http://www.w3.org/2000/svg",
            "width": _short(width),
            "height": _short(height),
            "font-family": PLAIN_FONT,
        }
    out = ET.Element("svg", attributes)
    out.extend(body)
    return ET.tostring(out, encoding="unicode", short_empty_elements=True).replace(" />", "/>")


def standalone(svg: str, colours: dict[str, str]) -> str:
    """A themed drawing as a file of its own, to be shown as an image: it cannot see the page's variables.

    colours: CSS variable -> "#rrggbb"; a variable that is not among them gets its fallback, the light colour.
    """
    body = re.sub(r"var\((--rc-[a-z0-9-]+),(#[0-9a-f]{6})\)", lambda m: colours.get(m[1], m[2]), svg)
    _, _, width, height = re.search(r'viewBox="([^"]+)"', body)[1].split()
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="{PLAIN_FONT}" '
    return re.sub(r'^<svg (?:class="[^"]*" )?(?:aria-hidden="true" )?', head, body)


def variables_used(svg: str) -> set[str]:
    """The CSS variables that a themed drawing refers to."""
    return set(re.findall(r"var\((--rc-[a-z0-9-]+)", svg))


def _copy(element: ET.Element, into: ET.Element) -> None:
    """Copy without metadata, without groups that say nothing, and without the name space in the tag."""
    tag = element.tag.removeprefix(_SVG)
    if not isinstance(element.tag, str) or tag in ("metadata", "style"):
        return
    attributes = {key: value for key, value in element.attrib.items() if key != _HREF}
    if _HREF in element.attrib:
        attributes["href"] = element.attrib[_HREF]
    if tag == "defs" and all(child.tag == f"{_SVG}style" for child in element):
        return
    if tag == "g" and not set(attributes) - {"id"}:
        for child in element:
            _copy(child, into)
        return
    copy = ET.SubElement(into, tag, attributes)
    copy.text = element.text if tag in ("text", "tspan") else None
    for child in element:
        _copy(child, copy)


def _referenced(body: ET.Element) -> list[str]:
    """The ids that something points to, in the order of their first use."""
    found: dict[str, None] = {}
    for element in body.iter():
        for value in element.attrib.values():
            for name in _URL.findall(value):
                found.setdefault(name)
        if "href" in element.attrib:
            found.setdefault(element.attrib["href"].removeprefix("#"))
    return list(found)


def _rename(element: ET.Element, ids: dict[str, str]) -> None:
    if "id" in element.attrib:
        if element.attrib["id"] in ids:
            element.attrib["id"] = ids[element.attrib["id"]]
        else:
            del element.attrib["id"]
    for key, value in element.attrib.items():
        element.attrib[key] = _URL.sub(lambda m: f"url(#{ids[m[1]]})", value)
    if "href" in element.attrib:
        element.attrib["href"] = "#" + ids[element.attrib["href"].removeprefix("#")]


def _slim(element: ET.Element, themed: bool, *, in_defs: bool) -> None:
    digits = 2 if in_defs else 1  # a marker's own outline is a few units wide: a tenth would show
    for key in ("d", "x", "y", "width", "height", "points"):
        if key in element.attrib:
            element.attrib[key] = _path(element.attrib[key], digits)
    if "transform" in element.attrib:
        transform = _NUMBER.sub(lambda m: _short(m[0], 1), element.attrib["transform"])
        if transform.startswith(("rotate(-0 ", "rotate(0 ")):
            del element.attrib["transform"]
        else:
            element.attrib["transform"] = transform
    if "style" in element.attrib:
        style = _style(element.attrib.pop("style"), themed, words=element.tag in ("text", "tspan"))
        if style:
            element.attrib["style"] = style


def _share_styles(parent: ET.Element) -> None:
    """matplotlib repeats a mark's style at every place where the mark is used: say it once for a run of them."""
    children = list(parent)
    for child in children:
        _share_styles(child)
        parent.remove(child)
    for style, run in itertools.groupby(children, lambda e: e.attrib.get("style") if e.tag == "use" else None):
        members = list(run)
        if style is None or len(members) < 2:
            parent.extend(members)
            continue
        for member in members:
            del member.attrib["style"]
        ET.SubElement(parent, "g", {"style": style}).extend(members)


def _path(value: str, digits: int) -> str:
    text = _NUMBER.sub(lambda m: _short(m[0], digits), " ".join(value.split()))
    text = re.sub(r" ?([A-Za-z]) ?", r"\1", text)
    return text.replace(" -", "-")


def _style(style: str, themed: bool, *, words: bool) -> str:
    kept = []
    for rule in style.split(";"):
        name, _, value = (part.strip() for part in rule.partition(":"))
        if not name or name == "font-family" or f"{name}: {value}" in _DEFAULTS:
            continue
        if name == "font":  # "700 13px 'DejaVu Sans', ...": keep weight and size, the page chooses the family
            size = re.search(r"[\d.]+px", value)[0]
            weight = re.match(r"\d00\b", value)
            kept += [f"font-size:{size}"] + ([f"font-weight:{weight[0]}"] if weight and weight[0] != "400" else [])
            continue
        if name != "font-size":
            value = _NUMBER.sub(lambda m: _short(m[0], 2), value)
        if themed:
            value = _COLOUR.sub(lambda m: _variable(m[0], words), value)
        kept.append(f"{name}:{value}")
    return ";".join(kept)


def _variable(colour: str, words: bool) -> str:
    """`var(--rc-device-h100,#3c5795)` for a colour of the palette; any other colour stays as it is."""
    name = (_TEXT if words else _MARK).get(colour)
    return colour if name is None else f"var({name},{colour})"


# A word's colour is looked up among the readable variants first: for many swatches both variants are one colour in
# light and two in dark.
_MARK = {swatch.light_text: f"{swatch.variable}-text" for swatch in palette.swatches()} | {
    swatch.light: swatch.variable for swatch in palette.swatches()
}
_TEXT = {swatch.light: swatch.variable for swatch in palette.swatches()} | {
    swatch.light_text: f"{swatch.variable}-text" for swatch in palette.swatches()
}


def _short(number: str, digits: int = 1) -> str:
    text = f"{float(number):.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
