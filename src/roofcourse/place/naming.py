"""A function and its arguments from the words of a command line."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import math
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from ..measure.support import one_line
from ..precision import precision as _precision
from ..texttable import four


def function(name: str) -> Callable:
    """``"torch.nn.functional.softmax"``, ``"package.module:function"`` or ``"file.py:function"``.

    Raises ``ValueError`` in one line if there is none of that name, if it cannot be called, or if its module does not
    run.
    """
    module, colon, inside = name.rpartition(":")
    if colon and module.endswith(".py"):
        found = _from_file(Path(module))
    elif colon:
        found = _import(module, name)
    else:
        words = name.split(".")
        found, inside = None, name
        for n in range(len(words) - 1, 0, -1):
            try:
                found = importlib.import_module(".".join(words[:n]))
            except ModuleNotFoundError as error:
                if error.name and not ".".join(words[:n]).startswith(error.name):
                    raise ValueError(f"{name}: importing it needs {error.name!r}, which is not installed") from None
                continue
            except (Exception, SystemExit) as error:
                raise ValueError(f"{name}: {_fault(error)}") from error
            inside = ".".join(words[n:])
            break
        if found is None:
            raise ValueError(f"{name}: no such function; write package.function, or file.py:function for your own")
    for word in inside.split("."):
        if not hasattr(found, word):
            raise ValueError(f"{name}: {getattr(found, '__name__', found)} has no {word!r}")
        found = getattr(found, word)
    if not callable(found) or isinstance(found, type):
        raise ValueError(f"{name} is no function: wrap it in one, in a file of your own, and name it file.py:function")
    return found


def _from_file(path: Path):
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # as for a script: what lies beside it can be imported
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script ends itself where it has no main guard
        if sys.modules.get(path.stem) is module:
            del sys.modules[path.stem]
        raise ValueError(f"{path}: {_fault(error)}") from error
    return module


def _fault(error: BaseException) -> str:
    """What is wrong with a module that does not run, and in which line."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"line {error.lineno} of {Path(error.filename).name} is no Python: {error.msg}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith("<frozen")]
    at = frames[-1]  # where it was raised: in the module, or in what that calls
    return f"it does not run ({Path(at.filename).name}, line {at.lineno}): {type(error).__name__}: {one_line(error)}"


def _import(module: str, name: str):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(f"{name}: no module {error.name!r}") from None
    except (Exception, SystemExit) as error:
        raise ValueError(f"{name}: {_fault(error)}") from error


def shape(word: str) -> tuple[int, ...]:
    """``"4096x4096"`` is ``(4096, 4096)``. Raises ``ValueError`` in one line."""
    try:
        sizes = tuple(int(part) for part in word.lower().split("x"))
    except ValueError:
        sizes = ()
    if not sizes or any(n < 1 for n in sizes):
        raise ValueError(f"a shape is sizes with x between them, such as 4096x4096, not {word!r}")
    return sizes


def tensors(shapes: list[str], precision: str, place: str, free: int | None = None) -> list:
    """One random tensor for each shape, in this precision, on this device of torch. ``free``: bytes that they may take.

    Raises ``ValueError`` in one line for a shape that is none, for a precision that torch does not store, and for more
    than the memory holds.
    """
    import torch

    wanted = _precision(precision)
    if wanted.torch_name is None or wanted.name in ("int8", "fp8_e4m3"):
        raise ValueError(f"no random numbers in {wanted.name}: choose one of fp64, fp32, tf32, bf16, fp16")
    generator = torch.Generator(place).manual_seed(0)
    dtype = getattr(torch, wanted.torch_name)
    sizes = [shape(word) for word in shapes]
    need = sum(math.prod(size) for size in sizes) * wanted.bytes_per_element
    much = f"{' and '.join(shapes)} in {wanted.name} takes {four(need / 1e9)} GB"
    if free is not None and need > free:
        raise ValueError(f"{much}, and {four(free / 1e9)} GB are free: choose smaller shapes")
    try:
        return [torch.randn(size, generator=generator, device=place, dtype=dtype) for size in sizes]
    except (RuntimeError, TypeError, OverflowError) as error:  # no memory, or a size that no tensor has
        raise ValueError(f"{much}: choose smaller shapes ({one_line(error)})") from error


def keywords(words: list[str]) -> dict:
    """``["dim=-1", "approximate=tanh"]`` is ``{"dim": -1, "approximate": "tanh"}``: Python literals, or text.

    Raises ``ValueError`` in one line for a word without ``=``.
    """
    out = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.isidentifier():
            raise ValueError(f"--with takes name=value, such as --with dim=-1, not {word!r}")
        try:
            out[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            out[key] = value
    return out
