"""A function and its arguments from the words of a command line."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

from ..precision import precision as _precision


def function(name: str) -> Callable:
    """``"torch.nn.functional.softmax"``, ``"package.module:function"`` or ``"file.py:function"``.

    Raises ``ValueError`` in one line if there is none of that name, or if it cannot be called.
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
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


def _import(module: str, name: str):
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(f"{name}: no module {error.name!r}") from None


def shape(word: str) -> tuple[int, ...]:
    """``"4096x4096"`` is ``(4096, 4096)``. Raises ``ValueError`` in one line."""
    try:
        sizes = tuple(int(part) for part in word.lower().split("x"))
    except ValueError:
        sizes = ()
    if not sizes or any(n < 1 for n in sizes):
        raise ValueError(f"a shape is sizes with x between them, such as 4096x4096, not {word!r}")
    return sizes


def tensors(shapes: list[str], precision: str, place: str) -> list:
    """One random tensor for each shape, in this precision, on this device of torch.

    Raises ``ValueError`` in one line for a shape that is none and for a precision that torch does not store.
    """
    import torch

    wanted = _precision(precision)
    if wanted.torch_name is None or wanted.name in ("int8", "fp8_e4m3"):
        raise ValueError(f"no random numbers in {wanted.name}: choose one of fp64, fp32, tf32, bf16, fp16")
    generator = torch.Generator(place).manual_seed(0)
    dtype = getattr(torch, wanted.torch_name)
    return [torch.randn(shape(word), generator=generator, device=place, dtype=dtype) for word in shapes]


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
