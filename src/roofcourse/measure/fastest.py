"""The fastest of many samples as the time of a record, for kernels timed beside whatever else the machine does.

Other programs can only make a sample longer, so the fastest one says the most about the kernel; the spread of all of
them says how much the others did.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: A point whose samples scatter more is not trusted to set a ceiling.
STABLE_SPREAD = 0.1


def fastest(samples: Sequence[float], how: str = "") -> dict:
    """``seconds``, ``spread``, ``stable`` and ``note`` of a :class:`~roofcourse.Measurement`, from samples in seconds.

    ``how``: what the note adds, such as ``"on one core"``.
    """
    low, middle, high = np.percentile(samples, [25, 50, 75])
    spread = float((high - low) / middle)
    note = ", ".join(filter(None, (f"best of {len(samples)}", how)))
    stable = spread <= STABLE_SPREAD
    return {
        "seconds": min(samples),
        "spread": spread,
        "stable": stable,
        "note": note if stable else f"{note}; unstable: spread {spread:.1%}",
    }
