"""Language models under the roof: bytes and FLOP of prefill and decode, their bounds, and a live decode step.

``model`` and the bounds need NumPy alone; the live step needs ``pip install 'roofcourse[llm]'``.
"""

from __future__ import annotations

from .bound import StepBound, decode_bound, prefill_bound
from .formats import FORMATS, WeightFormat, weight_format
from .model import LinearLayer, Model, model, models

__all__ = [
    "FORMATS",
    "LinearLayer",
    "Model",
    "StepBound",
    "WeightFormat",
    "decode_bound",
    "model",
    "models",
    "prefill_bound",
    "weight_format",
]
