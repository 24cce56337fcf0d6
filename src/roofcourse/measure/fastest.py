"""The fastest of many samples as the time of a record, for kernels timed beside whatever else the machine does.

Other programs can only make a sample longer, so the fastest one says the most about the kernel; the spread of all of
them says how much the others did.
"""

from __future__ import annotations

from collections.abc import Sequence

from .statistics import spread

#: A point whose samples scatter more is not trusted to set a ceiling.
STABLE_SPREAD = 0.1


def fastest(samples: Sequence[float], how: str = "") -> dict:
    """``seconds``, ``spread``, ``stable`` and ``note`` of a :class:`~roofcourse.Measurement`, from samples in seconds.

    ``how``: what the note adds, such as ``"on one core"``.
    """
    note = ", ".join(filter(None, (f"best of {len(samples)}", how)))
    return {"seconds": min(samples), **scatter(samples, note)}


def scatter(samples: Sequence[float], note: str = "") -> dict:
    """``spread``, ``stable`` and ``note`` alone, for a record whose time is another one of its samples.

    ``note``: what it says in any case.
    """
    wide = spread(samples)
    stable = wide <= STABLE_SPREAD
    doubt = "" if stable else f"unstable: spread {100 * wide:.1f} %"
    return {"spread": wide, "stable": stable, "note": "; ".join(filter(None, (note, doubt))) or None}
