"""The figures of the book: one function per kind of chart. Each returns a `Figure` that shows itself in a notebook."""

from __future__ import annotations

from .bars import bars, bounds, peak_against_bandwidth, ridge_points, traffic
from .counting import operations, traffic_and_time
from .decode import bound_and_measured, decode_steps, layers, step_modes, step_parts
from .figure import Figure
from .levers import gains, move, what_next
from .limits import chains, hierarchy, saturation, timeline
from .rooflines import roofline
from .style import style
from .sweeps import fma_times, intensity, m_sweep, working_set

__all__ = [
    "Figure",
    "bars",
    "bound_and_measured",
    "bounds",
    "chains",
    "decode_steps",
    "fma_times",
    "gains",
    "hierarchy",
    "intensity",
    "layers",
    "m_sweep",
    "move",
    "operations",
    "peak_against_bandwidth",
    "ridge_points",
    "roofline",
    "saturation",
    "step_modes",
    "step_parts",
    "style",
    "timeline",
    "traffic",
    "traffic_and_time",
    "what_next",
    "working_set",
]
