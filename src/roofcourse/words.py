"""Numbers as a reader wants them. ``js/format.js`` has the same rules, digit for digit; a browser test compares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

THIN = "\u202f"  # narrow no-break space, inside 1 000
SPACE = "\u00a0"  # no-break space, between a number and its unit

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_TIME = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
_BYTES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
_FLOP = ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP"), (1e3, "kFLOP"), (1.0, "FLOP"))
_RATE = ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"))


def significant(value: float, count: int) -> str:
    """Plain decimal notation with ``count`` significant digits of a value >= 0; every digit of a whole part is kept.

    Halves round up and the value is taken exactly, as in JavaScript's ``toPrecision`` (Python's ``%g`` rounds to even).
    """
    if value == 0:
        return "0"
    exact = Decimal(value)
    decimals = max(0, count - 1 - exact.adjusted())
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    if decimals and rounded.adjusted() > exact.adjusted():  # 9.996 became 10.00: one digit less after the point
        decimals -= 1
        rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    return f"{rounded:,f}".replace(",", THIN)


def in_powers(value: float, count: int) -> str:
    """As :func:`significant`, with a power of ten where that would be a row of noughts: 1.00 · 10¹²."""
    if 1e-3 <= value < 1e6:
        return significant(value, count)
    rounded = Context(prec=count, rounding=ROUND_HALF_UP).create_decimal(Decimal(value))
    digits, exponent = f"{rounded:.{count - 1}e}".split("e")
    return f"{digits}{SPACE}·{SPACE}10{str(int(exponent)).translate(_RAISED)}"


def _scaled(value: float, units: Sequence[tuple[float, str]], count: int) -> str:
    factor, unit = next((u for u in units if value >= u[0]), units[-1])
    return f"{significant(value / factor, count)}{SPACE}{unit}"


def time(seconds: float) -> str:
    """Two digits: enough for a time in a sentence."""
    return _scaled(seconds, _TIME, 2)


def time3(seconds: float) -> str:
    """Three digits, as in a readout."""
    return _scaled(seconds, _TIME, 3)


def nbytes(value: float) -> str:
    return _scaled(value, _BYTES, 3)


def flop(value: float) -> str:
    return _scaled(value, _FLOP, 3)


def rate(bytes_per_second: float) -> str:
    return _scaled(bytes_per_second, _RATE, 3)


def tflops(flop_per_second: float) -> str:
    return f"{significant(flop_per_second / 1e12, 3)}{SPACE}TFLOP/s"


def percent(value: float) -> str:
    return f"{significant(value, 2)}{SPACE}%"


def percent3(value: float) -> str:
    """Three digits, for shares of a whole."""
    return f"{significant(value, 3)}{SPACE}%"


def intensity(value: float) -> str:
    return f"{significant(value, 3)}{SPACE}FLOP/byte"


def with_article(name: str) -> str:
    """``"an H100"``, ``"a V100"``: by the sound of the first letter's name; a word such as "Fake" is read as a word."""
    return f"{'an' if re.match('[AEFHILMNORSX](?![a-z])|[AEIO]', name) else 'a'} {name}"


def listed(words: Sequence[str]) -> str:
    """``"FP64, FP32 and FP16"``"""
    return "".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} and {words[-1]}"
