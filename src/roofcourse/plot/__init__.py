"""The figures of the book: one function per kind of chart. Each returns a `Figure` that shows itself in a notebook."""

from __future__ import annotations

from .figure import Figure
from .rooflines import roofline
from .style import style

__all__ = ["Figure", "roofline", "style"]
