"""The part of ``js/model.js`` that has no other home in the package; for the rest see :mod:`roofcourse.roofline`."""

from __future__ import annotations

from ..precision import Precision


def rows_at_intensity(ridge: float, n: int, k: int, precision: Precision, largest: int) -> float | None:
    """The M (a real number) at which X (M, k) times A (k, n) has the arithmetic intensity ``ridge`` (FLOP/byte).

    ``None`` where no M up to ``largest`` has it. Solves ``2 M n k = ridge * bytes(M)`` with the bytes of
    :func:`roofcourse.gemm`, which are ``per_row * M + fixed + per_tile * ceil(M / 128)``.
    """
    per_row, fixed, per_tile = _traffic(n, k, precision)
    slope = 2 * n * k - ridge * per_row  # FLOP per row, less what the row's own bytes cost at the ridge
    if slope <= 0:
        return None
    tiles = 1
    while tiles * 128 < largest + 128:
        m = ridge * (fixed + per_tile * tiles) / slope
        if per_tile == 0 or m <= tiles * 128:
            return m if m <= largest else None
        tiles += 1
    return None


def _traffic(n: int, k: int, precision: Precision) -> tuple[float, float, float]:
    if precision.name == "fp8_e4m3":
        return k + 2 * n, k * n + 8, 0
    if precision.name == "nvfp4":
        return 0.5 * k + 2 * n, 0.5 * k * n + k * n / 16, 8 * k
    size = precision.bytes_per_element
    return size * (k + n), size * k * n, 0
