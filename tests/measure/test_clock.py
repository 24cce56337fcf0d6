"""The timing protocol on a machine whose clock we own: it must find the time that was built in."""

import random

import pytest

from roofcourse.measure.clock import time_call


class Machine:
    """A fake device: each call is queued and takes ``seconds``; time passes only in ``synchronise``."""

    def __init__(self, seconds, *, first=0.0, noise=0.0, seed=0):
        self.now, self.queued = 0.0, 0
        self.seconds, self.first, self.noise = seconds, first, noise
        self.calls = self.synchronised = 0
        self.random = random.Random(seed)

    def call(self):
        self.calls += 1
        self.queued += 1

    def synchronise(self):
        self.synchronised += 1
        if self.queued:
            slow = self.first if self.calls == self.queued else 0.0  # the very first batch pays for compilation
            self.now += slow + self.queued * self.seconds * (1 + self.noise * self.random.uniform(-1, 1))
        self.queued = 0

    def clock(self):
        return self.now


def run(machine, **options):
    return time_call(machine.call, machine.synchronise, clock=machine.clock, **options)


def test_it_finds_the_time_of_a_call():
    timing = run(Machine(seconds=1e-3, first=5.0))
    assert timing.median == pytest.approx(1e-3)
    assert timing.stopped == "stable"
    assert len(timing.samples) == 10
    assert timing.calls_per_sample == 20  # 20 ms a sample
    assert timing.spread == pytest.approx(0, abs=1e-9)


def test_a_slow_call_is_timed_one_by_one_and_the_limit_is_kept():
    timing = run(Machine(seconds=1.0), limit_seconds=2.0)
    assert timing.calls_per_sample == 1
    assert timing.median == pytest.approx(1.0)
    assert len(timing.samples) == 3
    assert timing.stopped == "time limit of 2 s; spread 0.0%"


def test_noise_is_reported_not_hidden():
    timing = run(Machine(seconds=1e-3, noise=0.3), limit_seconds=1.0)
    assert timing.stopped.startswith("time limit of 1 s; spread ")
    # uniform noise of +-30 %: the middle half of the samples spans about 30 % of the median
    assert timing.spread == pytest.approx(0.3, abs=0.1)
    assert timing.median == pytest.approx(1e-3, rel=0.1)


def test_without_synchronising_there_would_be_nothing_to_see():
    machine = Machine(seconds=1e-3)
    with pytest.raises(ArithmeticError, match="calls took no time: the call does nothing, or nothing waits"):
        time_call(machine.call, lambda: None, clock=machine.clock, sample_seconds=1e-9)
    assert machine.queued > 0
