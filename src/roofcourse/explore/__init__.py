"""The interactive explorers: one front end for pages without Python and for JupyterLab.

``static_html``, ``compute``, ``bundle`` and ``css`` need NumPy and the standard library only. ``m_sweep``,
``bounds``, ``decode``, ``intensity``, ``levers``, ``measurement``, ``padding`` and ``ridge`` make live widgets and need
anywidget (``pip install 'roofcourse[book]'``).
"""

from __future__ import annotations

from . import kinds
from .bundle import bundle, css, esm
from .decision import Decision
from .static import static_html

__all__ = [
    "bounds",
    "bundle",
    "compute",
    "css",
    "decode",
    "esm",
    "intensity",
    "kind_names",
    "levers",
    "m_sweep",
    "measurement",
    "padding",
    "ridge",
    "static_html",
    "what_next",
]


def kind_names() -> tuple[str, ...]:
    """The kinds of explorer there are."""
    return kinds.names()


def compute(kind: str, state: dict | None = None, run=None) -> dict:
    """What an explorer shows in one state: a flat dict of numbers (SI units), names and the sentence.

    ``state`` may leave keys out (the kind's defaults stand in) and names may be aliases. ``run``: run files, or what
    ``rc.bench`` gave, as devices beside the cards. Raises ``ValueError`` or
    ``LookupError`` in one line for a kind, a key or a value that does not exist.
    """
    own = _own(run)
    return kinds.get(kind).compute(kinds.complete(kind, state or {}, own), *kinds.extra(kind, own))


def m_sweep(device="h100", precision=None, m: int = 16, run=None):
    """The main explorer as a live widget: one matrix product of M rows under the rooflines of all devices.

    ``run``: the path of a run file of ``roofcourse measure``, what ``rc.bench`` gave, or several of these: each is a
    device of its own beside the cards. ``device`` may be one too, and is then chosen (``rc.bench("local").device``).
    ``precision``: ``"fp16"`` where nothing is said, or the first that the chosen run has.

    Its traits ``m``, ``precision`` and ``device`` can be read and set; ``values`` has the numbers of the current state.
    """
    own, state = _started("m_sweep", run, {"device": device, "precision": precision, "m": m})
    return _widget("m_sweep", own, **state)


def bounds(device="h100", precision=None, flop: float | None = None, bytes: float | None = None, run=None):
    """Two bars, W/F and Q/B: the longer one is the lower bound of the time. ``flop`` is W, ``bytes`` is Q.

    ``run``, and a measured machine as ``device``, as in :func:`m_sweep`. Traits ``flop``, ``bytes``,
    ``precision`` and ``device`` can be read and set.
    """
    given = {key: value for key, value in (("flop", flop), ("bytes", bytes)) if value is not None}
    own, state = _started("bounds", run, {"device": device, "precision": precision})
    return _widget("bounds", own, **state, **given)


def decode(
    model="qwen2.5-7b", device="h100", batch: int = 8, prompt_length: int = 1024, weight_precision=None,
    kv_precision="bf16", run=None,
):  # fmt: skip
    """The least time of one decode step of a bundled model: its parts, its place under the roof, whether it fits.

    The arguments are those of :func:`roofcourse.llm.decode_bound`, and traits that can be read and set. ``run``, and a
    measured machine as ``device``, as in :func:`m_sweep`. ``weight_precision``: ``"bf16"`` where nothing is said, or
    the first format that the chosen run can multiply.
    """
    own, device = _with_device(run, device)
    state = {
        "model": model,
        "device": device,
        "batch": batch,
        "prompt_length": prompt_length,
        "weight_precision": weight_precision or "bf16",
        "kv_precision": kv_precision,
    }
    if device in own and weight_precision is None:
        state = kinds.get("decode").start(own[device], state)
    return _widget("decode", own, **state)


def intensity(device="h100", precision=None, m: int = 16, n: int = 8192, k: int = 8192, run=None):
    """The arithmetic intensity of X (M, K) times A (K, N), and the share of each matrix in the traffic.

    ``run``, and a measured machine as ``device``, as in :func:`m_sweep`. Traits ``m``, ``n``,
    ``k``, ``precision`` and ``device`` can be read and set.
    """
    own, state = _started("intensity", run, {"device": device, "precision": precision})
    return _widget("intensity", own, **state, m=m, n=n, k=k)


def levers(device="h100", kernel=None, levers="none", reaches: int = 50, run=None):
    """A kernel, the levers applied to it, and where its point moves; all of it by the model, with measured roofs.

    ``kernel``: ``"product"`` where nothing is said, or the first that the chosen run has a roof for; ``"chain"``,
    ``"field"``, ``"attention"``, ``"small"``, ``"layer"`` or ``"conv"``.
    ``levers``: names, as a list or joined with a tilde; those that the kernel does not have do nothing. ``reaches``:
    how much of its roof the kernel reaches before, in percent: 100, 50 or 25. All are traits that can be read and set.
    ``run``, and a measured machine as ``device``, as in :func:`m_sweep`.
    """
    own, device = _with_device(run, device)
    state = {"device": device, "kernel": kernel or "product", "reaches": reaches, "levers": levers}
    if device in own and kernel is None:
        state = kinds.get("levers").start(own[device], state)
    return _widget("levers", own, **state)


def what_next() -> Decision:
    """The decision chart as questions to open one after the other; it needs no script."""
    return Decision()


def measurement(device="h100", kernel: str = "copy", point: int = 7, run=None):
    """What a benchmark measures: bandwidth by working set, or the FMA sweep by R, one point of the series chosen.

    ``kernel``: ``"copy"``, ``"add"``, ``"triad"``, ``"read_reduce"``, ``"fma_fp32"`` or ``"fma_fp64"``; ``point``: from
    1, the smallest; past the end of a series its last one counts. All three are traits that can be read and set.
    ``run``: run files, or what ``rc.bench`` gave, as devices beside the cards; ``device`` may be one of these.
    """
    own, device = _with_device(run, device)
    return _widget("measurement", own, device=device, kernel=kernel, point=point)


def padding(device="rtx4080", precision=None, m: int = 2, tile: int = 32, run=None):
    """M useful rows in a kernel that works in blocks of ``tile`` rows: executed work, padded intensity, bound and time.

    ``tile``: 1 (no blocks), 8, 16, 32, 64, 128, 256 or 512. ``precision``: ``"fp64"`` where nothing is said, or one
    that the chosen run has. ``run``, and a measured machine as ``device``, as in :func:`m_sweep`. Traits ``m``,
    ``tile``, ``precision`` and ``device`` can be read and set.
    """
    own, device = _with_device(run, device)
    state = {"device": device, "precision": precision or "fp64", "m": m, "tile": tile}
    if device in own and precision is None:
        state = kinds.get("padding").start(own[device], state)
    return _widget("padding", own, **state)


def ridge(roofs=("h100.fp16", "h200.fp16"), intensity: float = 100.0, run=None):
    """Several rooflines, and at a movable intensity (FLOP/byte) which of them is higher, by how much, and how sure.

    ``roofs``: rooflines of the catalogue, as objects or as names (``"h100.fp16"``, ``"h100.fp32.vector"``).
    ``run``: run files, or what ``rc.bench`` gave, as devices beside the cards; their rooflines may be among ``roofs``
    (``"cpu.fp32"``). Traits ``roofs`` and ``intensity`` can be read and set.
    """
    return _widget("ridge", _own(run), roofs=roofs, intensity=intensity)


def _own(run) -> dict:
    if run is None:
        return {}
    from .own import own_devices

    return own_devices(run)


def _started(kind: str, run, state: dict):
    """Own devices by key, and the state with a precision: FP16, or one that the chosen run has."""
    own, device = _with_device(run, state["device"])
    full = {**state, "device": device, "precision": state["precision"] or "fp16"}
    if device in own and state["precision"] is None:
        full = kinds.get(kind).start(own[device], full)
    return own, full


def _with_device(run, device):
    """Own devices by key, and the key of the chosen device, which may be a measured machine itself."""
    own = _own(run)
    if isinstance(device, str) or not hasattr(device, "m_sweep"):
        return own, device
    from .own import is_own, own_devices

    if not is_own(device):
        return own, device
    own = own_devices([*own.values(), device])
    return own, list(own)[-1]


def _widget(kind: str, own: dict | None = None, **state):
    try:
        import anywidget  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name != "anywidget":
            raise
        raise ModuleNotFoundError(
            f"rc.explore.{kind} needs anywidget: pip install 'roofcourse[book]' (static_html works without it)"
        ) from None
    from .widget import create

    return create(kind, state, own)
