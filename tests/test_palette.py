"""The palette keeps its promises: contrast, colour-blind readers, greyscale, one meaning per colour."""

from __future__ import annotations

import ast
import itertools
import math
import sys
from pathlib import Path

import pytest

from roofcourse import palette
from roofcourse.plot.style import MARKERS

STUDY_DEVICES = [
    "v100-16",
    "v100-32",
    "v100-32-pcie",
    "a100",
    "h100",
    "h200",
    "h200-mig",
    "b300",
    "gh200",
    "mi100",
    "mi210",
    "rtx4080",
]
#: The eight cards that the course's figures set side by side most often.
EIGHT = ["v100-32", "a100", "h100", "h200", "b300", "mi100", "mi210", "rtx4080"]

#: Machado, Oliveira, Fernandes 2009, severity 1.0: linear RGB as seen with each deficiency.
VISION = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(colour: str) -> list[float]:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def oklab(rgb) -> tuple[float, float, float]:
    """Linear RGB -> OKLab (Ottosson 2020)."""
    r, g, b = rgb
    long = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
    middle = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    short = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def seen(colour: str, vision: str) -> tuple[float, float, float]:
    rgb = linear(colour)
    mixed = [sum(row[i] * rgb[i] for i in range(3)) for row in VISION[vision]]
    return oklab([min(max(c, 0.0), 1.0) for c in mixed])


def closest(colours: dict[str, str], vision: str) -> tuple[float, str, str]:
    views = {key: seen(colour, vision) for key, colour in colours.items()}
    return min((math.dist(views[a], views[b]), a, b) for a, b in itertools.combinations(views, 2))


def test_the_distance_used_here_is_right():
    # OKLab of sRGB red is (0.62796, 0.22486, 0.12585), of white (1, 0, 0): the reference values of the colour space.
    assert oklab(linear("#ff0000")) == pytest.approx((0.62796, 0.22486, 0.12585), abs=2e-5)
    assert oklab(linear("#ffffff")) == pytest.approx((1, 0, 0), abs=1e-4)
    # with deuteranopia pure red and a dark yellow are closer than with normal sight
    red, olive = "#c0392b", "#7d6608"
    assert math.dist(seen(red, "deuteranopia"), seen(olive, "deuteranopia")) < 0.5 * math.dist(
        seen(red, "normal"), seen(olive, "normal")
    )


def test_contrast_matches_hand_worked_values():
    assert palette.contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert palette.contrast("#ffffff", "#ffffff") == pytest.approx(1.0)
    # #777777: ((119/255 + 0.055)/1.055)^2.4 = 0.18447; 1.05/0.23447 = 4.478
    assert palette.contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_devices_can_be_told_apart(theme, vision):
    """The eight cards of the main figures by colour alone; all thirteen with the help of their marker."""
    colours = {key: getattr(swatch, theme) for key, swatch in palette.DEVICES.items()}
    distance, a, b = closest({key: colours[key] for key in EIGHT}, vision)
    assert distance >= 0.08, f"{a} and {b} in {theme} with {vision}: {distance:.3f}"
    distance, a, b = closest(colours, vision)
    assert distance >= 0.05, f"{a} and {b} in {theme} with {vision}: {distance:.3f}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_precisions_matrices_and_bars_can_be_told_apart(theme, vision):
    precisions = {key: getattr(swatch, theme) for key, swatch in palette.PRECISIONS.items()}
    distance, a, b = closest(precisions, vision)
    assert distance >= 0.08, f"{a} and {b} in {theme} with {vision}: {distance:.3f}"
    for together in (["matrix-a", "matrix-b", "matrix-c"], ["memory", "compute"]):
        distance, a, b = closest({name: getattr(palette.role(name), theme) for name in together}, vision)
        assert distance >= 0.08, f"{a} and {b} in {theme} with {vision}: {distance:.3f}"


def test_every_device_and_precision_has_its_own_marker():
    for table in (palette.DEVICES, palette.PRECISIONS):
        markers = [swatch.marker for swatch in table.values()]
        assert len(set(markers)) == len(markers)
        assert set(markers) <= set(MARKERS)


def test_nvidia_data_centre_cards_darken_by_generation_in_both_themes():
    ramp = ["v100-32", "a100", "h100", "h200"]
    for theme in ("light", "dark"):
        lightness = [seen(getattr(palette.device(key), theme), "normal")[0] for key in ramp]
        assert lightness == sorted(lightness, reverse=True)


def test_marks_have_contrast_3_and_words_4_5_on_every_background():
    decoration = {"grid", "faint", "surface"}
    for swatch in palette.swatches():
        if swatch.name in decoration:
            continue
        assert palette.contrast(swatch.light, palette.LIGHT_BACKGROUND) >= 3, swatch
        assert palette.contrast(swatch.light_text, palette.LIGHT_BACKGROUND) >= 4.5, swatch
        for background in palette.DARK_BACKGROUNDS:
            assert palette.contrast(swatch.dark, background) >= 3, swatch
            assert palette.contrast(swatch.dark_text, background) >= 4.5, swatch


def test_what_is_drawn_as_the_page_has_the_colour_of_a_page():
    """The site's dark pages are #121212: a hollow mark or a piece of paper of another colour would show as a box."""
    assert palette.role("surface").dark == "#121212"
    assert palette.role("surface").dark in palette.DARK_BACKGROUNDS


def test_a_light_colour_means_one_thing():
    """Figures are drawn in the light colours and handed over to CSS variables by value."""
    seen_before: dict[str, str] = {}
    for swatch in palette.swatches():
        for colour in {swatch.light, swatch.light_text}:
            assert seen_before.setdefault(colour, swatch.name) == swatch.name


def test_lookups():
    assert list(palette.DEVICES)[:12] == STUDY_DEVICES
    assert palette.device("h100") is palette.DEVICES["h100"]
    assert palette.device("local") is palette.device(None) is palette.device("cpu")
    assert palette.device("some-new-card") in palette.SPARE
    assert palette.device("some-new-card") is palette.device("some-new-card")
    assert palette.precision("fp8") is palette.precision("fp8_e4m3")
    with pytest.raises(ValueError, match=r"fp13.*fp64"):
        palette.precision("fp13")
    with pytest.raises(ValueError, match=r"nothing.*ink"):
        palette.role("nothing")


def test_css_defines_light_and_dark():
    rules = palette.css(".box", {"--rc-device-h100"})
    assert rules.startswith(".box{--rc-device-h100:#3c5795}")
    assert 'html[data-theme="dark"] .box' in rules
    assert "--rc-device-h100:#6995f6" in rules
    everything = palette.css()
    for key in STUDY_DEVICES:
        assert f"--rc-device-{key}:" in everything
        assert f"--rc-device-{key}-text:" in everything


def test_only_the_standard_library_is_imported():
    tree = ast.parse(Path(palette.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import)]
    names = {alias.name.split(".")[0] for node in imports for alias in node.names}
    names |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert names <= set(sys.stdlib_module_names)
