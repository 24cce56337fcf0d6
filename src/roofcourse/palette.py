"""The colours and marks of the course: one home for the figures, the explorers and the page.

Standard library only. Each thing that is drawn has one `Swatch`: a colour for light pages, one for dark pages, and a
marker shape, so that it can be told apart by colour, in greyscale (shape and direct label) and by readers who see
colours differently. tests/test_palette.py holds the numbers: contrast of at least 3 to both backgrounds, and a minimum
distance in OKLab between any two devices as seen with deuteranopia, protanopia and tritanopia.

How to read the families:

- NVIDIA data-centre cards run from light teal (V100) over blue to purple (B300): newer is further along;
- AMD cards are amber and red-brown; the RTX card is pink; the reader's own machine is neutral (near black or white).

Dashes are not used to tell precisions or devices apart: in this course a dashed line always means a nominal value.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

#: The page backgrounds that the colours are made for: white, and the dark pages of the site and of JupyterLab.
LIGHT_BACKGROUND = "#ffffff"
DARK_BACKGROUNDS = ("#14181e", "#121212", "#111111")


@dataclass(frozen=True)
class Swatch:
    """One thing's colour and mark.

    name: the end of its CSS variable (`--rc-device-h100`); light, dark: "#rrggbb" for marks and lines;
    light_text, dark_text: the same hue with a contrast of at least 4.5, for words in that colour;
    marker: a shape, each with an inside: a filled mark is a measurement, a hollow one was not stable.
    """

    name: str
    light: str
    dark: str
    marker: str = "circle"

    @property
    def light_text(self) -> str:
        return _readable(self.light, LIGHT_BACKGROUND, towards=0.0)

    @property
    def dark_text(self) -> str:
        return _readable(self.dark, DARK_BACKGROUNDS[0], towards=1.0)

    @property
    def variable(self) -> str:
        """The CSS custom property that holds this colour."""
        return f"--rc-{self.name}"


#: Device key -> swatch, in the study's order; "cpu" is the reader's own machine when it is not in the catalogue.
DEVICES: dict[str, Swatch] = {
    key: Swatch(f"device-{key}", light, dark, marker)
    for key, light, dark, marker in [
        ("v100-16", "#4d7015", "#709760", "triangle-left"),
        ("v100-32", "#21a38d", "#35fade", "triangle-down"),
        ("v100-32-pcie", "#7f9362", "#a4dba2", "triangle-right"),
        ("a100", "#417e94", "#6bcae7", "triangle"),
        ("h100", "#3c5795", "#6995f6", "circle"),
        ("h200", "#4210ab", "#735ae8", "square"),
        ("h200-mig", "#7674d8", "#97a0d7", "plus"),
        ("b300", "#5c0f6f", "#9f5ea3", "diamond"),
        ("gh200", "#102f50", "#4782cf", "hexagon"),
        ("mi100", "#b67b23", "#edba3f", "pentagon"),
        ("mi210", "#7d3420", "#dc4a1a", "cross"),
        ("rtx4080", "#c6235a", "#dd778f", "star"),
        ("cpu", "#363636", "#ffffff", "thin-diamond"),
    ]
}

#: Further devices (the reader's own cards, datasheet entries) share these, chosen by name: direct labels tell them
#: apart, since nothing can promise a distinct colour to every name.
SPARE: tuple[Swatch, ...] = (
    Swatch("spare-1", "#8a6d00", "#d8c04a", "thin-diamond"),
    Swatch("spare-2", "#a3398f", "#e58ad6", "hexagon"),
    Swatch("spare-3", "#0f7f3f", "#57c785", "pentagon"),
    Swatch("spare-4", "#a8452f", "#ee8f76", "square"),
)

#: Keys of the machine that a run file is of: its kind of device.
OWN = ("local", "cuda", "rocm", "xpu", "mps", "cpu")

#: Precision name -> swatch, for a figure of one device at several precisions.
PRECISIONS: dict[str, Swatch] = {
    name: Swatch(f"precision-{name.replace('_', '-')}", light, dark, marker)
    for name, light, dark, marker in [
        ("fp64", "#462084", "#7d58d1", "plus"),
        ("fp32", "#0a8ef5", "#a3c0ff", "square"),
        ("tf32", "#036084", "#3ea5b6", "triangle"),
        ("fp16", "#0c8b72", "#47fddd", "circle"),
        ("bf16", "#929211", "#ece523", "diamond"),
        ("fp8_e4m3", "#905f04", "#e8ab6b", "triangle-down"),
        ("nvfp4", "#76140f", "#e7610c", "star"),
        ("int8", "#e054ad", "#a3556b", "pentagon"),
    ]
}

#: Everything else that has a colour: words, lines, the two regions, the matrices of a GEMM.
ROLES: dict[str, Swatch] = {
    name: Swatch(name, light, dark)
    for name, light, dark in [
        ("ink", "#1b1f24", "#e6e8ea"),  # words and the chart's own lines
        ("muted", "#57606a", "#a1a8b0"),  # second-rank words, ticks
        ("grid", "#dfe3e7", "#30363d"),  # decoration: no contrast asked of it
        ("faint", "#aab2bb", "#5c656f"),  # other devices in the background of a chart
        ("surface", "#fffffe", "#121212"),  # the page itself: inside hollow marks, behind words that cross a line
        ("accent", "#b3261e", "#ff8a80"),  # the answer of a chart, the chosen point
        ("memory", "#1b7f79", "#4fd1c5"),  # memory-bound: region tint, the bar Q/B
        ("compute", "#a8590b", "#f0a85a"),  # compute-bound: region tint, the bar W/F
        ("matrix-a", "#2f78b5", "#8fc7f5"),  # activations, M x K
        ("matrix-b", "#6a2f86", "#a163c4"),  # weights, K x N
        ("matrix-c", "#a8600d", "#e9a23c"),  # the result, M x N
        ("scales", "#6a6f76", "#8f969e"),  # block scales of narrow formats
    ]
}

#: Opacity of the two region tints over the page.
REGION_OPACITY = 0.10

#: Where a page says that it is dark: the site (pydata-sphinx-theme), JupyterLab, VS Code, Colab.
DARK_PAGE_SELECTORS = (
    'html[data-theme="dark"]',
    'body[data-jp-theme-light="false"]',
    "body.vscode-dark",
    'html[theme="dark"]',
)


def device(key: str | None) -> Swatch:
    """The swatch of a device key. None, "local" and the keys of run files ("cuda", "cpu") are the reader's machine; an
    unknown key gets one of SPARE, always the same one."""
    if key is None or key in OWN:
        return DEVICES["cpu"]
    if key in DEVICES:
        return DEVICES[key]
    return SPARE[zlib.crc32(key.encode()) % len(SPARE)]


def precision(name: str) -> Swatch:
    """The swatch of a precision ("fp8" is an alias of "fp8_e4m3"). Raises ValueError for an unknown name."""
    swatch = PRECISIONS.get({"fp8": "fp8_e4m3"}.get(name, name))
    if swatch is None:
        raise ValueError(f"no colour for precision {name!r}; there are: {', '.join(PRECISIONS)}")
    return swatch


def role(name: str) -> Swatch:
    """The swatch of a role such as "ink" or "memory". Raises ValueError for an unknown name."""
    if name not in ROLES:
        raise ValueError(f"no colour for role {name!r}; there are: {', '.join(ROLES)}")
    return ROLES[name]


def swatches() -> tuple[Swatch, ...]:
    """Every swatch there is."""
    return (*ROLES.values(), *DEVICES.values(), *SPARE, *PRECISIONS.values())


def variables(names: set[str] | None = None) -> dict[str, tuple[str, str]]:
    """CSS custom property -> (light value, dark value), for all colours or for those properties named.

    Each swatch has two: `--rc-device-h100` for marks and lines, `--rc-device-h100-text` for words.
    """
    table = {}
    for swatch in swatches():
        table[swatch.variable] = (swatch.light, swatch.dark)
        table[f"{swatch.variable}-text"] = (swatch.light_text, swatch.dark_text)
    return table if names is None else {name: value for name, value in table.items() if name in names}


def css(scope: str = ":root", names: set[str] | None = None) -> str:
    """Style rules that define the variables on `scope` for light pages, and anew where the page is dark.

    Paper is light: the dark rules hold on screens only. `scope` ":root" means the page as a whole.
    """
    table = variables(names)
    light = ";".join(f"{name}:{values[0]}" for name, values in table.items())
    dark = ";".join(f"{name}:{values[1]}" for name, values in table.items())
    where = ",".join(page if scope == ":root" else f"{page} {scope}" for page in DARK_PAGE_SELECTORS)
    return f"{scope}{{{light}}}@media screen{{{where}{{{dark}}}}}"


def luminance(colour: str) -> float:
    """Relative luminance (0 to 1) of "#rrggbb", as WCAG 2.1 defines it."""
    r, g, b = _linear(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(first: str, second: str) -> float:
    """Contrast ratio (1 to 21) of two colours, as WCAG 2.1 defines it."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _linear(colour: str) -> tuple[float, float, float]:
    """sRGB "#rrggbb" -> linear light, three numbers from 0 to 1 (IEC 61966-2-1)."""
    if len(colour) != 7 or colour[0] != "#":
        raise ValueError(f"a colour is written #rrggbb, not {colour!r}")
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)


def _hex(linear: tuple[float, float, float]) -> str:
    channels = (12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055 for c in linear)
    return "#" + "".join(f"{round(255 * min(max(c, 0.0), 1.0)):02x}" for c in channels)


def _readable(colour: str, background: str, towards: float, least: float = 4.6) -> str:
    """The colour itself when its contrast is enough for words, else mixed with black (0) or white (1) until it is."""
    if contrast(colour, background) >= least:
        return colour
    linear = _linear(colour)
    for step in range(1, 101):
        share = step / 100
        mixed = _hex(tuple((1 - share) * c + share * towards for c in linear))
        if contrast(mixed, background) >= least:
            return mixed
    raise ValueError(f"{colour} cannot be made readable on {background}")
