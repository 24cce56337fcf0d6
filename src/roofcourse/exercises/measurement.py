"""Chapter 4: measuring bandwidth, launch overhead and peaks."""

from __future__ import annotations

from ..bench import bench
from ..catalogue import device
from ..exercise import Choice, Function, Mistake, Number
from ..second_sources import nominal


def slope_of_two(volume_1: float, seconds_1: float, volume_2: float, seconds_2: float) -> float:
    """Bandwidth in bytes/s from the difference of two calls: what both pay once falls out."""
    return (volume_2 - volume_1) / (seconds_2 - seconds_1)


def _read_slope(key: str) -> float:
    small, large = device(key).working_set_sweep("read_reduce")[-2:]
    return slope_of_two(small.work.bytes, small.seconds, large.work.bytes, large.seconds)


def _half_volume(key: str, times: float) -> float:
    """Mebibytes that take ``times`` the launch overhead of a card."""
    line = bench(key, "bundled").launch_overhead()
    return times * line.overhead * line.bandwidth / 2**20


def _vector_peak(key: str, precision: str) -> float:
    return device(key).roofline(precision, path="vector").peak


def _fp64_of_fp32() -> float:
    return 100 * _vector_peak("mi210", "fp64") / _vector_peak("mi210", "fp32")


def _of_nominal(key: str, precision: str) -> float:
    return 100 * _vector_peak(key, precision) / nominal(key, precision, "vector").peak


def _r_at_ridge(key: str, precision: str, bytes_per_element: float) -> float:
    """R doubled is the FLOP of an element; it is read once and written once."""
    return device(key).roofline(precision, path="vector").ridge_point * bytes_per_element


def _next_to_corner() -> tuple[int, int]:
    """The R of the H100's FP64 series to the left and to the right of the ridge point."""
    corner = _r_at_ridge("h100", "fp64", 8)
    measured = [x.fma_per_element for x in device("h100").fma_sweep("fp64")]
    return max(r for r in measured if r < corner), min(r for r in measured if r > corner)


LEFT, RIGHT = _next_to_corner()


EXERCISES = (
    Function(
        key="4.1",
        reference=slope_of_two,
        cases=((1e6, 3e-6, 3e6, 5e-6), (2.5e8, 9e-5, 5e8, 1.7e-4), (4.0, 3.0, 10.0, 5.0)),
        nudge="What is the same in both calls, and what would make it go away?",
        hint="Both calls pay the same fixed cost. Divide the difference of the volumes by the difference of the times.",
        praise="The fixed cost is in both times, so it falls out of the difference.",
        mistakes=(
            (
                lambda v, t, w, u: w / u,
                "That is the rate of the larger call, with its launch still inside.",
            ),
            (
                lambda v, t, w, u: (v + w) / (t + u),
                "Adding the calls adds their fixed costs as well. Subtract one from the other.",
            ),
            (
                lambda v, t, w, u: (u - t) / (w - v),
                "That is seconds for a byte. The bandwidth is bytes a second.",
            ),
        ),
    ),
    Number(
        key="4.2",
        answer=lambda: _read_slope("gh200") / 1e9,
        unit="GB/s",
        nudge="Two calls that pay the same launch: what differs between them is bytes and time.",
        hint="Take the two largest reads, rc.device('gh200').working_set_sweep('read_reduce')[-2:], and their slope.",
        praise="Some percent above the B of the catalogue, as for its sister, the H200.",
        mistakes=(
            Mistake(
                lambda: device("gh200").bandwidth / 1e9,
                "That is B, the rate of the largest read. Its launch is still inside.",
            ),
            Mistake(
                lambda: _read_slope("h200") / 1e9,
                "That is the H200.",
            ),
        ),
        tolerance=0.005,
    ),
    Number(
        key="4.3",
        answer=lambda: _half_volume("h100", 9),
        unit="MiB",
        nudge="If the launch is a tenth of the time, what is the rest, and how many times the launch is it?",
        hint="T = a + V/b, and a is to be a tenth of T. So V/b is the other nine tenths. A MiB is 2**20 bytes.",
        praise="Below that size more than a tenth of the time has nothing to do with the bytes.",
        mistakes=(
            Mistake(
                lambda: _half_volume("h100", 10),
                "You made a a tenth of V/b. It is to be a tenth of the whole time, a + V/b.",
            ),
            Mistake(
                lambda: _half_volume("h100", 9) * 2**20 / 1e6,
                "The bytes are right, but a MiB is 2**20 bytes, not 10**6.",
            ),
            Mistake(
                lambda: _half_volume("h100", 1),
                "There the launch is half of the time. It is to be a tenth.",
            ),
        ),
    ),
    Choice(
        key="4.4",
        answer=lambda: "tf32 on",
        options=("tf32 on", "zeros", "no sync", "bytes x 2"),
        nudge="Three of these faults do not touch the result. Which one does?",
        hint="The result is checked against FP64. What does an error of 3e-4 say about the digits that were kept?",
        praise="An FP32 product is wrong by about 1e-6. Three digits are what TF32 keeps.",
        wrong={
            "zeros": "Zeros gain some percent, not a factor of eight, and their product is exactly right.",
            "no sync": "A clock that stops too early leaves the result as precise as it was.",
            "bytes x 2": "Bytes counted twice raise the bandwidth on paper. A throughput counts FLOP.",
        },
    ),
    Number(
        key="4.5",
        answer=lambda: _of_nominal("mi210", "fp64"),
        unit="percent",
        nudge="Two values for the same format: one from the sweep, one from the datasheet.",
        hint="Divide the measured F, roofline('fp64', path='vector'), by that of nominal('fp64', path='vector').",
        praise=f"The FP32 flat part comes closer to its nominal value: hence the {_fp64_of_fp32():.0f} % between them.",
        mistakes=(
            Mistake(
                _fp64_of_fp32,
                "That is FP64 as a part of the measured FP32. Asked is a part of the nominal FP64.",
            ),
            Mistake(
                lambda: _of_nominal("mi210", "fp32"),
                "That is FP32.",
            ),
            Mistake(
                lambda: _of_nominal("mi100", "fp64"),
                "That is the MI100.",
            ),
        ),
    ),
    Number(
        key="4.6",
        answer=lambda: _r_at_ridge("h100", "fp64", 8),
        unit="multiply-adds",
        nudge="At which intensity is the corner, and how does I depend on R when a number has 8 bytes?",
        hint="R multiply-adds are 2 R FLOP; an FP64 number moves 8 bytes in and 8 out. Set I equal to the ridge point.",
        praise=f"R = {LEFT} of the measured series is left of the corner, and R = {RIGHT} right of it.",
        mistakes=(
            Mistake(
                lambda: _r_at_ridge("h100", "fp64", 4),
                "You counted 8 bytes for each number. An FP64 number has 8, and moves twice: in and out.",
            ),
            Mistake(
                lambda: _r_at_ridge("h100", "fp64", 16),
                "You counted one FLOP for a multiply-add. It is two.",
            ),
            Mistake(
                lambda: device("h100").roofline("fp64", path="vector").ridge_point,
                "That is the ridge point in FLOP/byte. Asked is R.",
            ),
        ),
    ),
)
