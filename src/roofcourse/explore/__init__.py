"""The interactive explorers: one front end for pages without Python and for JupyterLab.

``static_html``, ``compute``, ``bundle`` and ``css`` need NumPy and the standard library only. ``m_sweep``,
``bounds``, ``intensity``, ``ridge`` and ``measurement`` make live widgets and need anywidget
(``pip install 'roofcourse[book]'``).
"""

from __future__ import annotations

from . import kinds
from .bundle import bundle, css, esm
from .static import static_html

__all__ = [
    "bounds",
    "bundle",
    "compute",
    "css",
    "esm",
    "intensity",
    "kind_names",
    "m_sweep",
    "measurement",
    "ridge",
    "static_html",
]


def kind_names() -> tuple[str, ...]:
    """The kinds of explorer there are."""
    return kinds.names()


def compute(kind: str, state: dict | None = None) -> dict:
    """What an explorer shows in one state: a flat dict of numbers (SI units), names and the sentence.

    ``state`` may leave keys out (the kind's defaults stand in) and names may be aliases. Raises ``ValueError`` or
    ``LookupError`` in one line for a kind, a key or a value that does not exist.
    """
    return kinds.get(kind).compute(kinds.complete(kind, state or {}))


def m_sweep(device="h100", precision="fp16", m: int = 16):
    """The main explorer as a live widget: one matrix product of M rows under the rooflines of all devices.

    Its traits ``m``, ``precision`` and ``device`` can be read and set; ``values`` has the numbers of the current state.
    """
    return _widget("m_sweep", device=device, precision=precision, m=m)


def bounds(device="h100", precision="fp16", flop: float | None = None, bytes: float | None = None):
    """Two bars, W/F and Q/B: the longer one is the lower bound of the time. ``flop`` is W, ``bytes`` is Q.

    Traits ``flop``, ``bytes``, ``precision`` and ``device`` can be read and set.
    """
    given = {key: value for key, value in (("flop", flop), ("bytes", bytes)) if value is not None}
    return _widget("bounds", device=device, precision=precision, **given)


def intensity(device="h100", precision="fp16", m: int = 16, n: int = 8192, k: int = 8192):
    """The arithmetic intensity of X (M, K) times A (K, N), and the share of each matrix in the traffic.

    Traits ``m``, ``n``, ``k``, ``precision`` and ``device`` can be read and set.
    """
    return _widget("intensity", device=device, precision=precision, m=m, n=n, k=k)


def measurement(device="h100", kernel: str = "copy", point: int = 7):
    """What a benchmark measures: bandwidth by working set, or the FMA sweep by R, one point of the series chosen.

    ``kernel``: ``"copy"``, ``"add"``, ``"triad"``, ``"read_reduce"``, ``"fma_fp32"`` or ``"fma_fp64"``; ``point``: from
    1, the smallest; past the end of a series its last one counts. All three are traits that can be read and set.
    """
    return _widget("measurement", device=device, kernel=kernel, point=point)


def ridge(roofs=("h100.fp16", "h200.fp16"), intensity: float = 100.0):
    """Several rooflines, and at a movable intensity (FLOP/byte) which of them is higher, by how much, and how sure.

    ``roofs``: rooflines of the catalogue, as objects or as names (``"h100.fp16"``, ``"h100.fp32.vector"``). Traits
    ``roofs`` and ``intensity`` can be read and set.
    """
    return _widget("ridge", roofs=roofs, intensity=intensity)


def _widget(kind: str, **state):
    try:
        import anywidget  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        raise ModuleNotFoundError(
            f"rc.explore.{kind} needs anywidget: pip install 'roofcourse[book]' (static_html works without it)"
        ) from None
    from .widget import create

    return create(kind, state)
