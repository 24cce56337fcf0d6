"""Chapter 2: arithmetic intensity."""

from __future__ import annotations

import math

from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..loopnest import work as loops
from ..work import gemm


def _ridge_a100() -> float:
    return device("a100").roofline("fp16").ridge_point


def _rows(n: float, intensity: float) -> float:
    """M at which an FP16 layer with N = K = n has this intensity: I = M / (1 + 2 M / n), solved for M."""
    return intensity / (1 - 2 * intensity / n)


def _ridge_h100() -> float:
    return device("h100").roofline("fp32").ridge_point


def _blocked(tile: int) -> float:
    return loops("blocked", 4096, 4096, 4096, "fp32", tile).intensity


def _tile() -> int:
    """The smallest power of two that takes a blocked FP32 product of 4096 to the ridge point of an H100."""
    return next(b for b in (2**i for i in range(13)) if _blocked(b) >= _ridge_h100())


def gemm_intensity(m: float, n: float, k: float, size: float) -> float:
    return 2 * m * n * k / (size * (m * k + k * n + m * n))


EXERCISES = (
    Number(
        key="2.1",
        answer=lambda: 1 / 3,
        unit="FLOP/byte",
        nudge="Follow one element: what is computed, what is read, what is written?",
        hint="For one element: how many FLOP is a multiplication and an addition, and how many FP16 numbers move?",
        praise="Two FLOP for three numbers of two bytes. The constant 3 stays in a register and costs nothing.",
        mistakes=(
            Mistake(
                lambda: 1 / 6,
                "Half of it. Either the multiply-add was counted as one FLOP, or the numbers as four bytes.",
            ),
            Mistake(
                lambda: 1 / 2,
                "One array is missing. x and y are both read, and z is written: three numbers of two bytes.",
            ),
            Mistake(lambda: 1 / 4, "The constant 3 is in a register, it does not come from memory for each element."),
        ),
    ),
    Function(
        key="2.2",
        reference=gemm_intensity,
        cases=((16.0, 8192.0, 8192.0, 2.0), (512.0, 512.0, 512.0, 4.0), (1.0, 300.0, 200.0, 8.0), (7.0, 5.0, 3.0, 1.0)),
        nudge="W above, Q below. Three matrices move; each has its own two sizes.",
        hint="Return 2 m n k divided by size times the elements of X (m, k), A (k, n) and Y (m, n).",
        praise="That is the whole derivation: 2mnk above, three matrices below.",
        mistakes=(
            (
                lambda m, n, k, s: m * n * k / (s * (m * k + k * n + m * n)),
                "Half of it: each of the mnk steps is a multiplication and an addition, two FLOP.",
            ),
            (
                lambda m, n, k, s: 2 * m * n * k / (s * (m * k + k * n)),
                "Y is missing in the bytes: writes count.",
            ),
            (
                lambda m, n, k, s: 2 * m * n * k / (m * k + k * n + m * n),
                "That is FLOP per element. Multiply the elements by their size in bytes.",
            ),
            (lambda m, n, k, s: 2 * m / s, "That is the limit for few rows. Count all three matrices."),
        ),
    ),
    Number(
        key="2.3",
        answer=lambda: _rows(4096, _ridge_a100()),
        unit="rows",
        nudge="I is a little less than M here, so the answer is a little more than the ridge point.",
        hint="In FP16 with N = K = 4096, I = M / (1 + M / 2048). Set it equal to the ridge point and solve for M.",
        praise="A smaller layer bends earlier, so it takes more rows than the ridge point says.",
        mistakes=(
            Mistake(_ridge_a100, "That is the ridge point itself. I is a bit less than M here: X and Y move as well."),
            Mistake(
                lambda: math.floor(_rows(4096, _ridge_a100())),
                "One short: with that many rows I is still just under the ridge point. Round up.",
            ),
            Mistake(
                lambda: _rows(8192, _ridge_a100()),
                "That is for N = K = 8192. With 4096 the matrix A is a quarter of that, and X and Y weigh more.",
            ),
        ),
        tolerance=0.004,  # less than one row
    ),
    Number(
        key="2.4",
        answer=lambda: gemm(8192, 8192, 8192, "fp8").intensity / gemm(8192, 8192, 8192, "fp16").intensity,
        unit="times",
        nudge="Which of the three matrices get smaller in FP8, and which does not?",
        hint="Compare rc.gemm(8192, 8192, 8192, 'fp8').intensity with the one for 'fp16'.",
        praise="Only the inputs shrink. Y stays at two bytes, and in a square product it was a third of the traffic.",
        mistakes=(
            Mistake(
                lambda: 2.0, "That would be right if Y shrank too. Its elements stay at two bytes: look at the counts."
            ),
            Mistake(
                lambda: gemm(8192, 8192, 8192, "fp16").intensity / gemm(8192, 8192, 8192, "fp8").intensity,
                "Upside down: fewer bytes for the same FLOP make the intensity larger.",
            ),
        ),
    ),
    Number(
        key="2.5",
        answer=_tile,
        unit="rows and columns of a tile",
        nudge="In a blocked product I grows with the side of the tile. How far does it have to grow?",
        hint="Try powers of two in rc.loopnest.work('blocked', 4096, 4096, 4096, 'fp32', block=b).intensity.",
        praise=f"About b/4 FLOP/byte in FP32: a tile of {_tile() // 2} stops just short of this ridge point.",
        mistakes=(
            Mistake(
                lambda: _tile() / 2,
                f"Close: that tile gives {_blocked(_tile() // 2):.1f} FLOP/byte, and the ridge point is "
                f"{_ridge_h100():.1f}.",
            ),
            Mistake(lambda: _tile() * 2, "That is enough, but a smaller power of two is enough as well."),
        ),
        tolerance=1e-9,
    ),
    Number(
        key="2.6",
        answer=lambda: 8 / 3,
        unit="times",
        nudge="Only arrays that pass between memory and chip count. Which of them need not, in one kernel?",
        hint="Count the arrays that each of the three kernels reads and writes, then those of the one kernel.",
        praise="Eight arrays against three. The intermediate results never needed to exist in memory.",
        mistakes=(
            Mistake(
                lambda: 3.0, "Three kernels became one, but they do not move the same number of arrays. Count those."
            ),
            Mistake(lambda: 5 / 2, "You counted reads only: five against two. Writes count."),
            Mistake(lambda: 3 / 8, "Upside down: how many times *fewer* bytes does the fused kernel move?"),
        ),
    ),
    Choice(
        key="2.7",
        answer=lambda: "undefined",
        options=("zero", "doubled", "undefined"),
        nudge="Write down W and Q as this profiler sees them.",
        hint="What are W and Q of this kernel if only reads are counted? Then divide.",
        praise="0/0. With its writes counted, Q is the array and I is zero: as memory-bound as a kernel can be.",
        wrong={
            "zero": "That is the right intensity, with the writes counted. Without them Q is zero as well.",
            "doubled": "That would need half of its traffic to be reads. A fill reads nothing.",
        },
    ),
)
