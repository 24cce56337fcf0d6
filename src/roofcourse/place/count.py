"""Run a function once and count, operator by operator, the FLOP it does and the bytes it must at least move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .formulas import PICKING, flop
from .point import Operator
from .views import View, covered, view


@dataclass(frozen=True)
class Count:
    """What a function does: its ``operators`` in order of first call, and the traffic of the whole.

    ``bytes``: what enters from outside and is read, what leaves and is written, each once; 0 if no tensor does.
    ``torch_flop``: what torch's FlopCounterMode says by itself. ``matrix_flop``: FLOP in matrix products, convolutions
    and attention. ``precision``: of the operators with most FLOP, or bytes. ``product``: (m, n, k) if one matrix
    product of real numbers is all. ``places``: where the tensors lie, as torch names it. ``unknown_bytes``: a size
    could not be read.
    """

    operators: tuple[Operator, ...]
    bytes: float
    torch_flop: float
    matrix_flop: float
    precision: str | None
    product: tuple[int, int, int] | None = None
    places: tuple[str, ...] = ()
    unknown_bytes: bool = False

    @property
    def flop(self) -> float:
        return sum(o.flop or 0 for o in self.operators)

    @property
    def calls(self) -> int:
        """Operator calls that do anything: on a device, about as many kernels."""
        return sum(o.calls for o in self.operators)

    @property
    def uncounted(self) -> tuple[Operator, ...]:
        return tuple(o for o in self.operators if o.flop is None or o.bytes is None)


def effective_bytes(tensor) -> int | None:
    """Bytes of the distinct elements of a tensor (an expanded one has fewer than its shape says); ``None``: unknown."""
    try:
        storage = tensor.untyped_storage().nbytes()
    except (NotImplementedError, RuntimeError):  # sparse, or a wrapper without memory of its own
        return None
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= size if stride else min(size, 1)
    return min(elements * tensor.element_size(), storage)


def count(call: Callable[[], object]) -> Count:
    """Run ``call`` once under torch's dispatch, counting. The function really runs, with all it does."""
    from torch.utils.flop_counter import FlopCounterMode

    ledger = _Ledger()
    with FlopCounterMode(display=False) as torchs, _mode(ledger, dict(torchs.flop_registry)):
        result = call()
    ledger.returned(result)
    return ledger.close(float(torchs.get_total_flops()))


def _mode(ledger: _Ledger, formulas: dict):
    from torch.utils._python_dispatch import TorchDispatchMode

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            before = {id(t): effective_bytes(t) for t in _tensors((args, kwargs))}
            out = func(*args, **kwargs)
            amount, by = flop(func, args, kwargs, out, formulas)
            ledger.called(func, args, kwargs, out, amount, by, before)
            return out

    return Mode()


def _tensors(x) -> list:
    import torch
    from torch.utils._pytree import tree_leaves

    return [t for t in tree_leaves(x) if isinstance(t, torch.Tensor)]


#: Operators that overwrite their first argument without reading it.
_OVERWRITE = frozenset(("copy_", "fill_", "zero_", "uniform_", "normal_", "bernoulli_", "random_"))
#: Operators that touch no memory.
_SILENT = frozenset(
    "empty empty_like empty_strided new_empty new_empty_strided set_ resize_ is_same_size".split()  # noqa: SIM905
)


#: Storages by their place: of each the views that were touched, with the bytes touched of each.
_Book = dict[int, dict[View, float]]


class _Ledger:
    """The books: which memory came from outside, which was made inside, and what each operator touched."""

    def __init__(self) -> None:
        self.rows: dict[tuple, list] = {}
        self.made: set[int] = set()  # memory allocated inside
        self.known: dict[int, object] = {}  # what keeps every place taken, so that none is used twice
        self.read: _Book = {}
        self.written: _Book = {}
        self.left: _Book = {}
        self.unknown = False
        self.products: list[tuple | None] = []
        self.places: dict[str, None] = {}

    def called(self, func, args, kwargs, out, amount, by, before) -> None:
        inputs, outputs = _tensors((args, kwargs)), _tensors(out)
        self.places |= dict.fromkeys(t.device.type for t in outputs)
        name = func.overloadpacket.__name__
        mutated = self._mutated(func, args, kwargs)
        places = {_place(t) for t in inputs}
        if (
            name in _SILENT
            or func.is_view
            or (by == "none" and not mutated and outputs and all(_place(t) in places for t in outputs))
        ):
            for t in outputs:
                if _place(t) not in places:
                    self._make(t)
            return
        # (what out= names is written as a new result is)
        made = [t for t in outputs if _place(t) not in places] + (mutated if _out_names(func) else [])
        picked = sum(effective_bytes(t) or 0 for t in made)
        sizes: list[float | None] = []
        touched: _Book = {}
        for i, t in enumerate(_tensors((args, {k: v for k, v in kwargs.items() if k not in _out_names(func)}))):
            if i == 0 and name in _OVERWRITE:
                continue
            n = picked if name in PICKING and i == 0 else before[id(t)]
            if n is None:
                sizes.append(None)
            else:
                _enter(touched, t, n)
            self._note(self.read, t, n)
        sizes += [covered(views) for views in touched.values()]
        for t in outputs:
            if _place(t) not in places:
                sizes.append(effective_bytes(t))
                self._make(t)
        for t in mutated:
            sizes.append(effective_bytes(t))
            self._note(self.written, t, sizes[-1])
        moved = None if None in sizes else sum(sizes)
        kinds = [t for t in (*outputs, *inputs) if t.is_floating_point() or t.is_complex()] or outputs or inputs
        widest = str(kinds[0].dtype).removeprefix("torch.") if kinds else ""
        if inputs and (by == "torch" or name == "_int_mm"):  # a product's precision is that of what it multiplies
            widest = str(max(inputs, key=lambda t: t.numel()).dtype).removeprefix("torch.")
            self._multiplied(name, args, outputs)
        key = (name.removesuffix("_") if not name.startswith("_") else name, widest, by)
        row = self.rows.setdefault(key, [0, 0.0, 0.0])
        row[0] += 1
        row[1] = None if row[1] is None or amount is None else row[1] + amount
        row[2] = None if row[2] is None or moved is None else row[2] + moved

    @staticmethod
    def _mutated(func, args, kwargs) -> list:
        out = []
        for i, a in enumerate(func._schema.arguments):
            if a.alias_info is not None and a.alias_info.is_write:
                value = args[i] if i < len(args) else kwargs.get(a.name)
                out += _tensors(value)
        return out

    def _multiplied(self, name, args, outputs) -> None:
        two = {"mm": args[:2], "_int_mm": args[:2], "addmm": args[1:3]}.get(name)
        real = two is not None and not two[0].is_complex()  # a complex one is not the product of a sweep
        self.products.append((two[0].shape[0], two[1].shape[1], two[0].shape[1]) if real else None)

    def _make(self, t) -> None:
        self._know(t)
        self.made.add(_place(t))

    def _know(self, t) -> None:
        if _place(t) not in self.known:
            self.known[_place(t)] = _hold(t)

    def _note(self, book: _Book, t, n: float | None) -> None:
        if _place(t) in self.made:
            return
        if n is None:
            self.unknown = True
            return
        self._know(t)
        _enter(book, t, n)

    def returned(self, result) -> None:
        """What was made inside and leaves is written; a view of an input is not."""
        for t in _tensors(result):
            if _place(t) in self.made and (n := effective_bytes(t)) is not None:
                _enter(self.left, t, n)

    def close(self, torch_flop: float) -> Count:
        operators = tuple(
            Operator(name, calls, amount, moved, by, dtype)
            for (name, dtype, by), (calls, amount, moved) in self.rows.items()
        )
        moved = sum(covered(views) for book in (self.read, self.written, self.left) for views in book.values())
        matrix = sum(o.flop or 0 for o in operators if o.counted_by == "torch" or _is_matrix(o.name))
        product = self.products[0] if len(self.products) == 1 else None
        precision, places = _precision(operators), tuple(self.places)
        return Count(operators, moved, torch_flop, matrix, precision, product, places, self.unknown)


def _is_matrix(name: str) -> bool:
    return "attention" in name or name in ("mv", "addmv", "_int_mm")


def _place(t) -> int:
    try:
        return t.untyped_storage()._cdata
    except (NotImplementedError, RuntimeError):
        return id(t)


def _hold(t):
    """What keeps a storage's place from being given to another, without keeping its memory."""
    from torch.multiprocessing.reductions import StorageWeakRef

    try:
        return StorageWeakRef(t.untyped_storage())
    except (NotImplementedError, RuntimeError):  # a tensor without a storage is its own place
        return t


def _enter(book: _Book, t, n: float) -> None:
    views = book.setdefault(_place(t), {})
    views[view(t)] = max(views.get(view(t), 0), n)


def _out_names(func) -> set[str]:
    """Arguments that are only written."""
    return {a.name for a in func._schema.arguments if a.is_out}


_NAMES = {
    "float64": "fp64",
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "fp8_e4m3",
    "complex64": "fp32",
    "complex128": "fp64",
    "int8": "int8",
}


def _precision(operators) -> str | None:
    """The precision that most FLOP, or else most bytes, were done in."""
    for weight in ("flop", "bytes"):
        totals: dict[str, float] = {}
        for o in operators:
            if o.dtype in _NAMES:
                totals[_NAMES[o.dtype]] = totals.get(_NAMES[o.dtype], 0) + (getattr(o, weight) or 0)
        if totals and max(totals.values()) > 0:
            return max(totals, key=totals.get)
    return None


__all__ = ["Count", "Operator", "count", "effective_bytes"]
