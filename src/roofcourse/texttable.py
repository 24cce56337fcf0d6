"""Tables of plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]], left: int = 2) -> str:
    """Columns set flush: the first ``left`` to the left, numbers to the right."""
    width = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(r, width, strict=True))
        ).rstrip()
        for r in rows
    )


def four(value: float) -> str:
    """Four figures, never an exponent for large numbers: ``"0.01769"``, ``"14.39"``, ``"56,543"``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
