"""The kernel itself, in a module of its own: Triton reads its source, and importing this needs Triton."""

import triton
import triton.language as tl


@triton.jit
def fma(source, out, n, turns, a, b, TURN: tl.constexpr, BLOCK: tl.constexpr):
    """out = source, then ``turns * TURN`` times x = x * a + b. ``a`` and ``b`` must be exact in FP32."""
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(source + at, mask=at < n)
    for _ in range(turns):
        for _ in tl.static_range(TURN):
            x = x * a + b  # one FMA: the compiler fuses the two
    tl.store(out + at, x, mask=at < n)
