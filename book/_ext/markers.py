"""Markers beside figures in a text, which say how a test recomputes them. They are not for readers."""

import re

MARKER = re.compile(r"<!--=.*?-->", re.DOTALL)
