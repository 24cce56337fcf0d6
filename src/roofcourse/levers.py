"""Levers: changes that make a kernel faster. Each is a before and an after, with the gain that the model predicts.

A lever belongs to one of three languages:

* ``"move less"``: fewer bytes for the same work. Under the slope the point moves to the right;
* ``"compute better"``: units or formats with a higher flat part. The point moves up, or under another roof;
* ``"lose less"``: the same FLOP and bytes with less waiting or waste. The point moves straight up.

The predictions here see the work, the bytes and the roofs, never the times of the pair (batching, whose gain is a
bound, sees the time before). A program of several kernels cannot overlap them, so its bound is the sum of theirs.
Nothing is measured here: :mod:`roofcourse.measure.levers` does, and run files keep what it found.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from . import loopnest, work
from .precision import PRECISIONS
from .records import Measurement, Measurements
from .roofline import Roofline
from .work import Work

#: Steps of the elementwise chain: y = max(a x + b, 0) ^ 2 - c, one operation each.
CHAIN_STEPS = 5
#: Bytes of a cache line on the CPUs of today, and of a sector of NVIDIA's memory, the least that is moved.
LINE_BYTES, SECTOR_BYTES = 64, 32
#: FMA in flight that keep a core busy: each takes about four cycles, and two start in one.
FMA_IN_FLIGHT = 8
#: What a run of levers holds besides the pairs: kernels that set the roofs of one core.
SLOPE_KERNELS = ("core_read", "core_copy", "core_triad")
FLAT_KERNELS = ("core_gemm", "core_fma", "square", "fma_wide")


@dataclass(frozen=True)
class Recipe:
    """What is done in a lever, before anyone measures it. ``ways``: kernel and precision (``None``: any), before and
    after. ``predict(before, after, roofs)`` is the factor by which a unit of the result should get faster, ``because``
    what it comes from. ``on_gpu``: these two on a GPU, where they are others."""

    name: str
    title: str
    language: str
    direction: str
    before: str
    after: str
    ways: tuple[tuple[str, str | None], tuple[str, str | None]]
    predict: Callable[[Measurement, Measurement, tuple[Roofline, Roofline]], float]
    because: str
    at_most: bool = False
    on_gpu: tuple[Callable[[Measurement, Measurement, tuple[Roofline, Roofline]], float], str] | None = None


@dataclass(frozen=True)
class Lever:
    """A lever on one machine: two measured kernels, the roof over each, and the gain by the model.

    ``predicted`` and ``gain`` are factors in time for the same amount of result: 2 means twice as fast.
    """

    recipe: Recipe
    before: Measurement
    after: Measurement
    roofs: tuple[Roofline, Roofline]

    @property
    def name(self) -> str:
        return self.recipe.name

    @property
    def title(self) -> str:
        return self.recipe.title

    @property
    def predicted(self) -> float:
        """The factor that the model gives, from counted work and the roofs."""
        predict, _ = self._model
        return predict(self.before, self.after, self.roofs)

    @property
    def because(self) -> str:
        """What the predicted factor comes from, in words."""
        return self._model[1]

    @property
    def _model(self) -> tuple[Callable, str]:
        r = self.recipe
        return (r.predict, r.because) if self.before.device == "cpu" or r.on_gpu is None else r.on_gpu

    @property
    def gain(self) -> float:
        """The measured factor in time, for the same amount of result."""
        return self.before.seconds / self.after.seconds * results(self.after) / results(self.before)

    @property
    def points(self) -> Measurements:
        """Both kernels, to be drawn."""
        return Measurements((self.before, self.after))

    def percent_of_roof(self) -> tuple[float, float]:
        """How much of its roof each of the two reaches."""
        pairs = zip((self.before, self.after), self.roofs, strict=True)
        return tuple(100 * roof.time(x.work) / x.seconds for x, roof in pairs)

    def prediction(self) -> str:
        """What to read before the measured gain: the factor, and what it comes from."""
        most = "at most " if self.recipe.at_most else ""
        return f"predicted {most}{self.predicted:.3g} times as fast:\n{self.because}"

    def __repr__(self) -> str:
        first, second = self.percent_of_roof()
        return (
            f"{self.title}: {self.prediction()}\nmeasured {self.gain:.3g}: "
            f"{_time(self.before.seconds)} to {_time(self.after.seconds)}, {first:.0f} and {second:.0f} % of the roof"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def results(x: Measurement) -> float:
    """How much of the result one call makes: rows, or numbers that were read; all else does the same both times."""
    if x.kernel in ("read_strided", "read_together"):
        return float(x.elements)
    return float(x.m) if x.kernel == "rows" else 1.0


def steps(x: Measurement) -> tuple[Work, ...]:
    """The kernels that one call consists of, each with its FLOP and bytes. One, for most."""
    if x.kernel == "chain_steps":
        return (work.elementwise(x.elements, x.precision, flop_per_element=1),) * CHAIN_STEPS
    if x.kernel == "attention_steps":
        queries, keys, dim, heads = x.m, x.n, x.k, x.batch
        s = PRECISIONS[x.precision].bytes_per_element
        scores = heads * queries * keys * s
        # Scores: Q and K in, scores out. Softmax: scores in, shares out, no FLOP counted. Then shares and V in.
        product = 2.0 * heads * queries * keys * dim
        inputs, output = heads * (queries + keys) * dim * s, heads * queries * dim * s
        return (
            Work(product, inputs + scores),
            Work(0.0, 2.0 * scores),
            Work(product, scores + heads * keys * dim * s + output),
        )
    return (x.work,)


def bound(x: Measurement, roof: Roofline) -> float:
    """The least time of one call in seconds: the sum over its kernels, since one starts when another has ended."""
    return sum(roof.time(step) for step in steps(x))


def counted(kernel: str, precision: str, **shape) -> Work:
    """W and Q of one call of a lever's kernel, by the counting rules of :mod:`roofcourse.work`.

    Raises ``ValueError`` for a kernel that is not of a lever.
    """
    if kernel in ("chain_steps", "chain_fused"):
        n = shape["elements"]
        once = 1 if kernel == "chain_fused" else CHAIN_STEPS
        moved = work.elementwise(n, precision, flop_per_element=0).bytes * once
        return Work(float(CHAIN_STEPS * n), moved)
    if kernel in ("attention_steps", "attention_fused"):
        m, n, k, heads = (shape[key] for key in ("m", "n", "k", "batch"))
        return work.attention(1, heads, m, n, k, precision, fused=kernel == "attention_fused")
    if kernel in ("gemm_rows", "gemm_blocked"):
        return loopnest.work(kernel.removeprefix("gemm_"), shape["m"], shape["n"], shape["k"], precision)
    if kernel == "gemv":
        return work.gemv(shape["n"], shape["k"], precision)
    if kernel in ("rows", "square", "core_gemm"):
        return work.gemm(shape["m"], shape["n"], shape["k"], precision)
    if kernel in ("gemm_loop", "gemm_batched"):
        return shape["batch"] * work.gemm(shape["m"], shape["n"], shape["k"], precision)
    if kernel.startswith("fma_") or kernel == "core_fma":
        return work.fma_sweep(shape["elements"], shape["fma_per_element"], precision)
    if kernel in ("read_strided", "read_together"):
        # As the program sees it: every number once. What a strided read moves besides is the loss.
        return work.reduction(shape["elements"], precision)
    if kernel in ("launches", "graph"):
        return shape["batch"] * work.elementwise(shape["elements"], precision, flop_per_element=1)
    if kernel in ("core_read", "core_copy", "core_triad"):
        rule = {"core_read": work.reduction, "core_copy": work.copy, "core_triad": work.triad}[kernel]
        return rule(shape["elements"], precision)
    raise ValueError(f"no lever has a kernel {kernel!r}")


def _by_bounds(before: Measurement, after: Measurement, roofs) -> float:
    """The ratio of the two bounds, for the same amount of result."""
    return bound(before, roofs[0]) / bound(after, roofs[1]) * results(after) / results(before)


def _by_bytes(before: Measurement, after: Measurement, roofs) -> float:
    return before.work.bytes / after.work.bytes


def _by_width(before: Measurement, after: Measurement, roofs) -> float:
    """A register of the same width holds more of the shorter numbers."""
    return PRECISIONS[before.precision].bytes_per_element / PRECISIONS[after.precision].bytes_per_element


def _by_room(before: Measurement, after: Measurement, roofs) -> float:
    """All the room there is: from the measured time before to the bound after."""
    return before.seconds / bound(after, roofs[1])


def _unit(x: Measurement) -> float:
    """The least that memory moves for one number, in bytes: a sector on a GPU, a line on a CPU."""
    return LINE_BYTES if x.device == "cpu" else SECTOR_BYTES


def _by_lines(before: Measurement, after: Measurement, roofs) -> float:
    return _unit(before) / PRECISIONS[before.precision].bytes_per_element


RECIPES: dict[str, Recipe] = {
    r.name: r
    for r in (
        Recipe(
            "fuse",
            "Fuse an elementwise chain",
            "move less",
            "right",
            "five steps, each a pass over memory",
            "one pass",
            (("chain_steps", None), ("chain_fused", None)),
            _by_bounds,
            "the bytes of five passes against those of one",
        ),
        Recipe(
            "attention",
            "Fuse attention",
            "move less",
            "right",
            "written out: product, softmax, product",
            "one fused call",
            (("attention_steps", None), ("attention_fused", None)),
            _by_bounds,
            "three bounds added up, against that of one",
        ),
        Recipe(
            "block",
            "Block a matrix product",
            "move less",
            "right",
            "a row of Y at a time",
            "tiles of 64",
            (("gemm_rows", None), ("gemm_blocked", None)),
            _by_bounds,
            "bytes of both orders, until the ridge point",
        ),
        Recipe(
            "shorter",
            "Shorten the numbers of a matrix-vector product",
            "move less",
            "right",
            "FP64",
            "FP32",
            (("gemv", "fp64"), ("gemv", "fp32")),
            _by_bytes,
            "half the bytes",
        ),
        Recipe(
            "rows",
            "Batch the rows of a layer",
            "move less",
            "right",
            "1 row at a time",
            "16 rows at a time",
            (("rows", None), ("rows", None)),
            _by_bounds,
            "weights read once, until the ridge point",
        ),
        Recipe(
            "units",
            "Use wide units",
            "compute better",
            "up",
            "one number at a time",
            "a whole register",
            (("fma_scalar", None), ("fma_wide", None)),
            lambda before, after, roofs: float(after.batch),
            "numbers in a register",
        ),
        Recipe(
            "format",
            "Give a square product a shorter format",
            "compute better",
            "another roof",
            "FP32",
            "BF16",
            (("square", "fp32"), ("square", "bf16")),
            _by_width,
            "twice as many numbers in a register or unit",
            # FP32 runs without matrix units there and BF16 with them: the width of a number says little.
            on_gpu=(_by_bounds, "the two roofs"),
        ),
        Recipe(
            "latency",
            "Keep more in flight",
            "lose less",
            "up",
            "each multiply-add waits for the one before",
            "sixteen chains side by side",
            (("fma_chain", None), ("fma_scalar", None)),
            lambda before, after, roofs: float(FMA_IN_FLIGHT),
            "4 cycles for each, 2 start in one: 8 in flight",
        ),
        Recipe(
            "stride",
            "Read numbers that lie together",
            "lose less",
            "up",
            "one number of each line",
            "every number of a line",
            (("read_strided", None), ("read_together", None)),
            _by_lines,
            "a line is moved whole, however little is used",
        ),
        Recipe(
            "batch",
            "Batch small products",
            "lose less",
            "up",
            "a call for each",
            "one call for all",
            (("gemm_loop", None), ("gemm_batched", None)),
            _by_room,
            "from the loop's time down to the bound",
            at_most=True,
        ),
        Recipe(
            "graph",
            "Replay a CUDA graph",
            "lose less",
            "up",
            "a launch for each kernel",
            "one launch of a recorded graph",
            (("launches", None), ("graph", None)),
            _by_room,
            "from the launches' time down to the bound",
            at_most=True,
        ),
    )
}


def recipe(name: str) -> Recipe:
    """Raises ``LookupError`` in one line for a lever that does not exist."""
    if name not in RECIPES:
        raise LookupError(f"no lever {name!r}; there are: {', '.join(RECIPES)}")
    return RECIPES[name]


def names(points: Iterable[Measurement]) -> tuple[str, ...]:
    """The levers that these measurements have both kernels of."""
    points = Measurements(points)
    return tuple(name for name, r in RECIPES.items() if all(_find(points, r)))


def lever(name: str, points: Iterable[Measurement], roofs: dict[tuple[str, str], Roofline] | None = None) -> Lever:
    """A lever from measured points. ``roofs``: by precision and path; left out, the points of one core make them.

    Raises ``LookupError`` in one line where there is no such lever, or its points are missing.
    """
    points, r = Measurements(points), recipe(name)
    before, after = _find(points, r)
    if before is None or after is None:
        there = ", ".join(names(points)) or "none"
        raise LookupError(f"the lever {name!r} was not measured here; measured are: {there}")
    over = core_roofs(points) if roofs is None else roofs
    return Lever(r, before, after, tuple(_over(over, x) for x in (before, after)))


def _find(points: Measurements, r: Recipe) -> tuple[Measurement | None, Measurement | None]:
    found = []
    for kernel, precision in r.ways:
        there = [x for x in points if x.kernel == kernel and precision in (None, x.precision)]
        found.append(there)
    if r.name == "rows":  # one kernel in two sizes
        ordered = sorted(found[0], key=lambda x: x.m)
        return (ordered[0], ordered[-1]) if len(ordered) > 1 else (None, None)
    return tuple(there[0] if there else None for there in found)


def path(x: Measurement) -> str:
    """Which units a lever's kernel runs on: ``"vector"``, or ``"gemm"`` for matrix products."""
    return "vector" if x.kernel.startswith(("fma_", "chain_", "read_", "launches", "graph")) else "gemm"


def _over(roofs: dict[tuple[str, str], Roofline], x: Measurement) -> Roofline:
    if (x.precision, path(x)) not in roofs:
        raise LookupError(f"no {path(x)} roof was measured for {x.precision}")
    return roofs[x.precision, path(x)]


def core_roofs(points: Measurements) -> dict[tuple[str, str], Roofline]:
    """The roofs of one core, from the kernels in a run of levers that set them.

    B is the best of reading, copying and triad. F of a precision is the best of the library's product and, in FP32, of
    registers full of multiply-adds: on a CPU both run on the same units.
    """
    slopes = [x.bytes_per_s for x in points if x.kernel in SLOPE_KERNELS]
    if not slopes:
        raise LookupError("no bandwidth of one core was measured with these levers")
    best: dict[str, float] = {}
    for x in points:
        if x.kernel in FLAT_KERNELS:
            best[x.precision] = max(best.get(x.precision, 0.0), x.flop_per_s)
    return {
        (p, path): Roofline(peak, max(slopes), "cpu", p, path, "measured", f"one core, {PRECISIONS[p].label}")
        for p, peak in best.items()
        for path in ("gemm", "vector")
    }


def _time(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


@dataclass(frozen=True)
class Question:
    """One step of the way from a point to the next thing to try. Asked in order, the first "yes" says what comes first.

    ``why``: how to see it. ``answer``: what it is. ``levers``: what to try. ``moves``: where the point then goes.
    ``example``: a state of the levers explorer that shows it, if there is one.
    """

    ask: str
    why: str
    answer: str
    levers: tuple[str, ...]
    moves: str
    example: dict[str, object] | None = None


#: From "where is my point" to "what next".
QUESTIONS = (
    Question(
        "Is it above the roof?",
        "well over 100 % of the roof",
        "The roof does not hold here: a cache serves part of the bytes, or the count is wrong.",
        ("measure the bytes that memory moved", "compare with the roof of the cache"),
        "nowhere yet",
    ),
    Question(
        "Does it take as long with half the FLOP and bytes?",
        "its time is a few launches, or the program takes longer than its kernels together",
        "Launches or gaps: nothing of the machine is busy.",
        ("one batched call", "fuse kernels", "replay a graph", "launch ahead"),
        "up",
        {"kernel": "small", "device": "h100", "reaches": 100, "levers": "batch"},
    ),
    Question(
        "Does it reach less than half of the roof?",
        "its percent of the roof",
        "A leak: it waits, or it wastes. Look for it first, then go on: the next two questions still hold.",
        (
            "more loads and chains in flight",
            "reads that lie together",
            "threads that take one branch",
            "shapes that fill the tile",
            "another library or version",
        ),
        "up",
        {"kernel": "conv", "device": "h100", "reaches": 25, "levers": "better"},
    ),
    Question(
        "Is it under the slope?",
        "I is left of the ridge point",
        "Memory-bound: move less.",
        ("fuse", "block", "batch rows", "shorter numbers", "skip what is zero"),
        "right, and up along the slope",
        {"kernel": "chain", "device": "h100", "reaches": 100, "levers": "fuse"},
    ),
    Question(
        "Is it under the flat part?",
        "I is right of the ridge point",
        "Compute-bound: compute better.",
        ("matrix units", "a shorter format", "fewer operations, none on padding", "shapes that fill the tile"),
        "up, under another roof; left with fewer operations",
        {"kernel": "conv", "device": "h100", "reaches": 100, "levers": "half~matrix"},
    ),
)
#: What is left when no lever is.
DONE = "At its roof, with no lever left? It is done: another algorithm or another machine comes next."
