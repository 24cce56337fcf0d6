"""Counting the traffic of a matrix product by the order of its loops: what one memory and one small fast memory move.

The machine is a model. Memory holds X (m, k), A (k, n) and Y (m, n). Arithmetic needs its numbers in a *fast memory* of
a given number of elements. Whatever is not there is moved there, element by element, and results are moved back.

Three orders of the same 2mnk FLOP:

* ``"naive"``: one element of Y after the other, each a sum over k. Only the sum stays in fast memory;
* ``"rows"``: one row of Y after the other. The row stays, and all of A streams past it;
* ``"blocked"``: one square tile of Y after the other, each from tiles of X and A.

They differ only in how large a part of Y stays while it is computed, so one formula counts them all
(:func:`traffic`). ``"perfect"`` is its end: all of Y stays, and each matrix moves once.

:func:`simulate` runs the loops of an order, one access at a time, against a fast memory that drops what was used
longest ago. Tests hold the formula to it. No counters of a real machine are read here: a real one has caches in
several levels, moves lines of 64 or 128 bytes, and so moves something else.

Source of the naive and the perfect count: "Roofline: locating GPU bottlenecks by arithmetic intensity" (2026),
sections 2, 4 and 5. That no order needs less than a multiple of mnk / sqrt(size of the fast memory): J.-W. Hong and
H. T. Kung, "I/O complexity: the red-blue pebble game", STOC 1981.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from .precision import Precision
from .precision import precision as _precision
from .work import Work

ORDERS = ("naive", "rows", "blocked", "perfect")
#: Rows and columns of a square tile, where nothing else is said.
BLOCK = 64

#: One access: matrix, row, column, and whether it writes.
Access = tuple[str, int, int, bool]


@dataclass(frozen=True)
class Traffic:
    """Elements moved between memory and fast memory: of X and of A read, of Y written (and read again)."""

    x: int
    a: int
    y: int

    @property
    def total(self) -> int:
        return self.x + self.a + self.y

    def bytes(self, precision: str | Precision = "fp32") -> float:
        """The same in bytes."""
        return self.total * _precision(precision).bytes_per_element


def tile(order: str, m: int, n: int, block: int = BLOCK) -> tuple[int, int]:
    """Rows and columns of the part of Y that stays in fast memory while it is computed.

    Raises ``ValueError`` in one line for an order that does not exist and for sizes that are not positive.
    """
    _positive(m=m, n=n, block=block)
    if order not in ORDERS:
        raise ValueError(f"no loop order {order!r}; there are: {', '.join(ORDERS)}")
    return {
        "naive": (1, 1),
        "rows": (1, n),
        "blocked": (min(block, m), min(block, n)),
        "perfect": (m, n),
    }[order]


def traffic(order: str, m: int, n: int, k: int, block: int = BLOCK) -> Traffic:
    """Elements that an order moves, if its tile of Y and nothing more stays in fast memory.

    With a tile of r rows and c columns: X is read once for every column of tiles, A once for every row of tiles, Y is
    written once: ``m k ceil(n / c) + k n ceil(m / r) + m n``. For n = m = k and square tiles of b that is
    ``2 n^3 / b + n^2``.
    """
    _positive(k=k)
    rows, columns = tile(order, m, n, block)
    return Traffic(x=m * k * ceil(n / columns), a=k * n * ceil(m / rows), y=m * n)


def work(order: str, m: int, n: int, k: int, precision: str | Precision = "fp32", block: int = BLOCK) -> Work:
    """W and the counted Q of an order: the same 2mnk FLOP for all of them, and its own bytes."""
    return Work(2 * m * n * k, traffic(order, m, n, k, block).bytes(precision))


def fast_memory(order: str, m: int, n: int, block: int = BLOCK) -> int:
    """Elements of fast memory with which :func:`traffic` can be had: the tile, one column of X beside it, one of A.

    A cache needs more, since it does not know what will be used again.
    """
    rows, columns = tile(order, m, n, block)
    return rows * columns + rows + 1


def accesses(order: str, m: int, n: int, k: int, block: int = BLOCK) -> Iterator[Access]:
    """Every access to X, A and Y in the order in which the loops make it. A running sum is in a register: no access."""
    _positive(k=k)
    if order == "naive":
        for i in range(m):
            for j in range(n):
                for p in range(k):
                    yield "x", i, p, False
                    yield "a", p, j, False
                yield "y", i, j, True
        return
    rows, columns = tile(order, m, n, block)
    depth = min(block, k) if order == "blocked" else 1 if order == "perfect" else k
    for i0 in range(0, m, rows):
        for j0 in range(0, n, columns):
            here = range(i0, min(i0 + rows, m)), range(j0, min(j0 + columns, n))
            for i in here[0]:
                for j in here[1]:
                    yield "y", i, j, True  # the tile starts at zero
            for p0 in range(0, k, depth):
                for i in here[0]:
                    for p in range(p0, min(p0 + depth, k)):
                        yield "x", i, p, False
                        for j in here[1]:
                            yield "a", p, j, False
                            yield "y", i, j, True


def simulate(order: str, m: int, n: int, k: int, capacity: int, block: int = BLOCK) -> Traffic:
    """Elements moved when the loops run against a fast memory of ``capacity`` elements that drops the least recently
    used one.

    A read of something that is not there moves it in. A write does not (it replaces the whole element), but what was
    written moves out when it is dropped, or at the end. Meant for small sizes: it walks through every access.
    """
    _positive(capacity=capacity)
    held: OrderedDict[tuple[str, int, int], bool] = OrderedDict()  # element -> written since it came
    moved = {"x": 0, "a": 0, "y": 0}
    touched: set[tuple[str, int, int]] = set()
    for name, row, column, writes in accesses(order, m, n, k, block):
        element = (name, row, column)
        if element in held:
            held.move_to_end(element)
            held[element] |= writes
            continue
        # A sum that was dropped half done has to come back before it can grow.
        if not writes or element in touched:
            moved[name] += 1
        touched.add(element)
        held[element] = writes
        if len(held) > capacity:
            (dropped, *_), dirty = held.popitem(last=False)
            moved[dropped] += dirty
    for (name, *_), dirty in held.items():
        moved[name] += dirty
    return Traffic(**moved)


def _positive(**sizes: int) -> None:
    for name, value in sizes.items():
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name} is a whole number of at least 1, not {value!r}")
