"""Many small matrix products: as many calls, or one call for all of them. What a call costs shows in the difference.

On a CPU one core runs both ways, so that no time is spent on waking other threads, and what is left is the call. On a
GPU they are timed as every other kernel is (:func:`specs`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from ..records import Measurement
from ..work import gemm
from .fastest import fastest
from .spec import Spec

#: N of the N x N products on a CPU: from where the call takes nearly all the time to where the product does.
SIZES = (8, 16, 32, 64, 128)
COUNT = 256
#: How long both ways of one size take turns, and how often they do so at least.
SECONDS, QUICK_SECONDS = 2.0, 0.5
ROUNDS = 7
#: Largest relative error of a right product in FP32.
TOLERANCE = 1e-4


def specs() -> tuple[Spec, ...]:
    """What a GPU is asked to do: 1024 products each of three sizes, in FP16."""
    ways = ("gemm_loop", "gemm_batched")
    return tuple(Spec(way, "fp16", m=n, n=n, k=n, batch=1024) for n in (16, 64, 256) for way in ways)


def on_one_core(*, quick: bool, sizes=SIZES, count: int = COUNT) -> list[Measurement]:
    """Both ways for each size in FP32, on one core. The time of a record is that of all ``count`` products, the fastest
    of its rounds: other programs can only make a run longer. Its spread is that of all rounds.

    Raises ``ArithmeticError`` in one line if a product is wrong.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            return [x for n in sizes for x in _both(n, count, QUICK_SECONDS if quick else SECONDS)]
    finally:
        torch.set_num_threads(threads)


def _both(n: int, count: int, seconds: float) -> list[Measurement]:
    dice = torch.Generator().manual_seed(0)
    x, a = (torch.randn(count, n, n, generator=dice) for _ in range(2))
    y = torch.empty(count, n, n)
    one_by_one = list(zip(x, a, y, strict=True))

    def loop() -> None:
        for left, right, result in one_by_one:
            torch.mm(left, right, out=result)

    def batched() -> None:
        torch.bmm(x, a, out=y)

    ways: dict[str, Callable[[], None]] = {"gemm_loop": loop, "gemm_batched": batched}
    want = x.double() @ a.double()
    for name, run in ways.items():
        y.fill_(float("nan"))
        run()
        error = float((y - want).norm() / want.norm())
        if not error <= TOLERANCE:
            raise ArithmeticError(f"the products {n}x{n}x{n} of {name} are wrong: relative error {error:.2g}")
    return [_record(name, n, count, samples) for name, samples in _rounds(ways, seconds).items()]


def _rounds(ways: dict[str, Callable[[], None]], seconds: float) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {name: [] for name in ways}
    start = time.perf_counter()
    while time.perf_counter() - start < seconds or len(samples["gemm_loop"]) < ROUNDS:
        for name, run in ways.items():
            before = time.perf_counter()
            run()
            samples[name].append(time.perf_counter() - before)
    return samples


def _record(kernel: str, n: int, count: int, samples: list[float]) -> Measurement:
    work = count * gemm(n, n, n, "fp32")
    return Measurement(
        device="cpu",
        kernel=kernel,
        precision="fp32",
        work=work,
        m=n,
        n=n,
        k=n,
        batch=count,
        working_set_bytes=work.bytes,
        kind="measured live",
        source="this session",
        implementation="torch",
        **fastest(samples, "on one core"),
    )
