"""The checks on numbers that every formula of the model makes before it computes."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real

import numpy as np


def number(value, name: str, unit: str | None, *, zero: bool):
    """Return ``value`` as a float or a float64 array, or raise one ``ValueError`` that names it.

    ``unit`` is for the message, ``None`` for a count. ``zero`` says whether 0 is allowed. Negative numbers, NaN,
    infinities and things that are not numbers never are.
    """
    need = ("zero or more" if zero else "positive") + (f" ({unit})" if unit else "")
    try:
        given = np.asarray(value)
        if not _numbers(given):
            raise TypeError
        array = given.astype(np.float64)
    except OverflowError:  # a whole number of more than 308 digits
        raise ValueError(f"{name} must be finite and {need}, not larger than a float can be") from None
    except (TypeError, ValueError):
        within = f" in {unit}" if unit else ""
        shown = " ".join(repr(value).split())  # an array breaks its lines
        raise ValueError(f"{name} must be a number{within}, not {shown}") from None
    wrong = ~np.isfinite(array) | (array < 0) | (False if zero else array == 0)
    if np.any(wrong):
        worst = array[wrong].flat[0] if array.ndim else array[()]
        raise ValueError(f"{name} must be finite and {need}, not {worst:g}")
    return float(array) if array.ndim == 0 else array


def _numbers(array: np.ndarray) -> bool:
    """Whether every element is a real number: of NumPy's, or of Python's where those are too long or are fractions."""
    if array.dtype.kind == "O":
        return all(isinstance(x, (Real, Decimal)) and not isinstance(x, bool) for x in array.flat)
    return array.dtype.kind in "iuf"
