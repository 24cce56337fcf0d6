"""Live measurements on this machine.

The protocol (``clock``, ``stopping``, ``statistics``, ``checks``, ``point``, ``session``) knows no torch: it drives a
``Device``, real (``torch_device``) or made up (``fake``). Everything that needs torch, numba or Triton loads it when
it is used, so importing these modules is cheap.
"""
