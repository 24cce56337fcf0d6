"""The checks on numbers that every formula of the model makes before it computes."""

from __future__ import annotations

import numpy as np


def number(value, name: str, unit: str, *, zero: bool):
    """Return ``value`` as a float or a float64 array, or raise one ``ValueError`` that names it.

    ``zero`` says whether 0 is allowed. Negative numbers, NaN, infinities and things that are not numbers never are.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number in {unit}, not {value!r}") from None
    if isinstance(value, (bool, str)):
        raise ValueError(f"{name} must be a number in {unit}, not {value!r}")
    wrong = ~np.isfinite(array) | (array < 0) | (False if zero else array == 0)
    if np.any(wrong):
        worst = array[wrong].flat[0] if array.ndim else array[()]
        need = "zero or more" if zero else "positive"
        raise ValueError(f"{name} must be finite and {need} ({unit}), not {worst:g}")
    return float(array) if array.ndim == 0 else array
