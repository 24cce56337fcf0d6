"""The timing protocol on a machine whose clock we own: it must find the time that was built in."""

import random

import pytest

from roofcourse.measure.checks import Fault
from roofcourse.measure.clock import time_kernel
from roofcourse.measure.device import Device
from roofcourse.measure.fake import FakeDevice
from roofcourse.measure.spec import Spec
from roofcourse.measure.stopping import StopRule


class Machine:
    """A fake device: each call is queued and takes ``seconds``; time passes only in ``synchronise``."""

    timer, sample_seconds, span, spans = Device.timer, Device.sample_seconds, Device.span, Device.spans

    def __init__(self, seconds, *, first=0.0, noise=0.0, seed=0):
        self.passed, self.queued = 0.0, 0
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
            self.passed += slow + self.queued * self.seconds * (1 + self.noise * self.random.uniform(-1, 1))
        self.queued = 0

    def now(self):
        return self.passed


def run(machine, seconds=2.0):
    return time_kernel(machine, machine.call, StopRule(10, 0.0, 0.005, seconds, seconds))


def test_it_finds_the_time_of_a_call():
    timing = run(Machine(seconds=1e-3, first=5.0))
    assert timing.median == pytest.approx(1e-3)
    assert timing.stopped == "stable"
    assert len(timing.samples) == 10
    assert timing.calls_per_sample == 20  # 20 ms a sample
    assert timing.spread == pytest.approx(0, abs=1e-9)
    assert (timing.timer, timing.cache_state) == ("host clock", "warm")


def test_noise_is_reported_not_hidden():
    machine = Machine(seconds=1e-3, noise=0.3)
    rule = StopRule(minimum_seconds=0, patience_seconds=0.3, cap_seconds=1)
    timing = time_kernel(machine, machine.call, rule)
    assert timing.stopped.startswith("time limit of 0.3 s: spread ")
    assert timing.stopped.endswith("%, not below 0.5 %")
    # uniform noise of +-30 %: the middle half of the samples spans about 30 % of the median
    assert timing.spread == pytest.approx(0.3, abs=0.15)
    assert timing.median == pytest.approx(1e-3, rel=0.2)


def test_a_noise_that_no_longer_changes_ends_it():
    timing = run(Machine(seconds=1e-3, noise=0.3), seconds=60)
    assert timing.stopped.startswith("noise is known: spread ")
    assert 32 <= len(timing.samples) < 1000


def test_without_synchronising_there_would_be_nothing_to_see():
    machine = Machine(seconds=1e-3)
    machine.synchronise = lambda: None
    with pytest.raises(Fault, match="calls took no time: the call does nothing, or nothing waits") as caught:
        time_kernel(machine, machine.call, RULE)
    assert caught.value.name == "no sync"
    assert machine.queued > 0


RULE = StopRule(minimum_seconds=0, stable_spread=0.005)


def test_warm_and_cold_are_two_numbers():
    # The array fits in a cache three times as fast as memory: 8 MiB read and written.
    device = FakeDevice(bandwidth=1e12, cache_bandwidth=3e12, overhead=1e-6, noise=0.0)
    kernel = device.build(Spec("copy", "fp32", elements=2**20))
    warm = time_kernel(device, kernel.call, RULE)
    cold = time_kernel(device, kernel.call, RULE, flush=device.flush)
    assert warm.median == pytest.approx(1e-6 + 2**23 / 3e12, rel=1e-2)
    assert cold.median == pytest.approx(1e-6 + 2**23 / 1e12, rel=1e-2)  # neither the flush nor the launch is in it
    assert (warm.cache_state, cold.cache_state) == ("warm", "cold")
    assert cold.calls_per_sample == 1
    assert warm.timer == cold.timer == "device events"


def test_the_launch_is_hidden_behind_a_full_queue():
    device = FakeDevice(overhead=2e-6, launch_cost=1.5e-6, noise=0.0, bandwidth=1e15)
    kernel = device.build(Spec("copy", "fp32", elements=16))
    assert time_kernel(device, kernel.call, RULE).median == pytest.approx(2e-6, rel=1e-2)


def test_events_on_another_stream_are_noticed():
    device = FakeDevice(fault="wrong stream")
    kernel = device.build(Spec("copy", "fp32", elements=2**26))
    with pytest.raises(Fault, match="the events are not on the stream that does the work"):
        time_kernel(device, kernel.call, RULE)


class HalfSeen:
    """Events that see this part of the time that a call of 1 ms keeps the host waiting."""

    timer, sample_seconds = "device events", 0.01

    def __init__(self, part):
        self.part, self.time = part, 0.0

    def now(self):
        return self.time

    def call(self):
        self.time += 1e-3

    def span(self, launch):
        start = self.time
        launch()
        return self.part * (self.time - start)


def test_events_that_see_less_than_half_of_the_time_are_on_another_stream():
    for part in (0.45, 0.1):
        watch = HalfSeen(part)
        with pytest.raises(Fault, match="not on the stream that does the work") as caught:
            time_kernel(watch, watch.call, RULE)
        assert caught.value.name == "wrong stream"
    watch = HalfSeen(0.55)  # a host that does something else as well
    assert time_kernel(watch, watch.call, RULE).median == pytest.approx(0.55e-3)
