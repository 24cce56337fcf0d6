"""Twelve planted faults, each caught; and no false alarm on an honest device."""

import math

import pytest

from roofcourse.measure import checks, fake
from roofcourse.measure.checks import FAULTS, Fault
from roofcourse.measure.fake import FakeDevice
from roofcourse.measure.point import measure
from roofcourse.measure.spec import Spec
from roofcourse.measure.stopping import StopRule
from roofcourse.measure.telemetry import Telemetry
from roofcourse.roofline import Roofline

RULE = StopRule(minimum_seconds=0.005)

#: Fault -> words that the protocol must say about it.
SAID = {
    "no sync": "the wait for the device may not wait",
    "wrong stream": "not on the stream that does the work",
    "arrays on the CPU": "its arrays are on cpu, not on cuda",
    "zeros": "use random numbers",
    "elided work": "the result is wrong",
    "bytes x 2": "count each once",
    "FLOP / 2": "a multiply-add is 2",
    "TF32 on": "turn TF32 off",
    "upcast": "stored in another precision",
    "working set in cache": "x the last-level cache, 8 x needed",
    "throttle": "thermal slowdown",
    "one sample": "only 1 of 10 samples",
}


def test_every_fault_has_words():
    assert set(SAID) == set(FAULTS)
    assert len(FAULTS) == 12


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault):
    outcome = fake.demonstrate(fault)
    assert SAID[fault] in outcome.caught
    assert "\n" not in outcome.caught
    if fault == "one sample":  # right by luck: nothing says so
        assert outcome.shown == pytest.approx(outcome.true, rel=0.02)
    else:
        assert not math.isclose(outcome.shown, outcome.true, rel_tol=0.05)


@pytest.mark.parametrize("spec", [fake.plant(f)[1] for f in ("no sync", "zeros", "upcast")], ids=lambda s: s.title)
def test_an_honest_device_raises_no_alarm(spec):
    device = FakeDevice()
    point = measure(device, spec, RULE, ceiling=spec.m is None)
    assert (point.suspect, point.note, point.stable) == (None, None, True)
    assert device.proof.startswith("proved: 2N launches took 2.0")
    assert device.restored


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValueError, match="unknown fault 'gremlins'"):
        FakeDevice(fault="gremlins")


def test_settings_are_put_back_after_a_fault():
    device = FakeDevice(fault="zeros")
    with pytest.raises(Fault):
        measure(device, Spec("copy", "fp32", elements=100), RULE)
    assert device.restored


@pytest.mark.parametrize(
    ("precision", "error", "name"),
    [
        ("fp32", 3e-7, None),
        ("fp32", 4e-4, "TF32 on"),
        ("fp32", 0.5, "elided work"),
        ("fp32", 1e-16, "upcast"),
        ("tf32", 4e-4, None),
        ("tf32", 3e-7, "upcast"),  # TF32 was asked for and not used
        ("bf16", 1.6e-3, None),
        ("bf16", 3e-7, "upcast"),
        ("fp16", 2e-4, None),
        ("fp64", 1e-16, None),
        ("fp64", 1e-7, "elided work"),
        ("int8", 0.0, None),
        ("int8", 1e-9, "elided work"),
        ("fp8_e4m3", float("nan"), "elided work"),
    ],
)
def test_the_size_of_the_error_proves_the_precision(precision, error, name):
    kernel = FakeDevice().build(Spec("gemm", precision, m=64, n=64, k=64))
    if name is None:
        checks.check_error(kernel, error)
    else:
        with pytest.raises(Fault) as caught:
            checks.check_error(kernel, error)
        assert caught.value.name == name


LIMITS = Roofline(1e12, 1e11)


def suspicion(flop_per_s=0.0, bytes_per_s=0.0, working_set=1e9, cache=1e6, limits=LIMITS):
    return checks.suspicion(
        flop_per_s=flop_per_s, bytes_per_s=bytes_per_s, working_set=working_set, cache=cache, limits=limits
    )


def test_a_number_above_the_ceiling_is_suspect_and_says_why():
    assert suspicion(flop_per_s=1e12, bytes_per_s=1e11) is None
    assert suspicion(flop_per_s=1.04e12, bytes_per_s=1.04e11) is None
    assert suspicion(bytes_per_s=2e11).startswith("2.00 x the bandwidth: bytes counted that never move")
    assert suspicion(flop_per_s=3e12).startswith("3.00 x the peak: FLOP counted that are never done")
    assert suspicion(bytes_per_s=2e11, working_set=5e5) is None  # a cache may be faster than memory
    assert suspicion(bytes_per_s=2e11, limits=None) is None


def test_throttling_shows_in_three_ways():
    assert checks.throttled(Telemetry()) is None
    assert checks.throttled(Telemetry(throttle="a power brake")).endswith("a power brake")
    # a card at its power limit runs as it is meant to: said, not suspected
    full = Telemetry(1.4e9, 1.98e9, throttle="the power limit")
    assert checks.throttled(full) is None
    assert checks.limited(full) == "ran into its power limit at 1400 MHz"
    assert checks.limited(Telemetry()) is None
    both = Telemetry(throttle="the power limit, a thermal slowdown (hardware)")
    assert checks.throttled(both) == "throttle: the device reports a thermal slowdown (hardware)"
    assert "1000 MHz, 50% of the default" in checks.throttled(Telemetry(1e9, 2e9))
    assert checks.throttled(Telemetry(1.6e9, 2e9)) is None
    assert "20% slower at the end" in checks.unstable([1.0] * 4 + [1.1] * 4 + [1.2] * 4, 10)


def test_unstable_and_unusable():
    assert checks.unstable([1.0] * 10, 10) is None
    assert checks.unstable([1.0] * 9, 10) == "unstable: only 9 of 10 samples"
    assert checks.unstable([1.0, 1.15] * 12, 10) == "unstable: the middle half of the samples spans 14%"
    assert checks.unstable([1.0, 2.0] * 5, 10).startswith("unusable")


def test_the_proof_wants_twice_the_time():
    assert checks.proof(1.0, 2.0) is None
    assert checks.proof(1.0, 2.19) is None
    assert "2.3 times as long" in checks.proof(1.0, 2.3)
    assert "inf times" in checks.proof(0.0, 1.0)


def test_a_busy_machine_blurs_the_proof_without_stopping_the_measurement():
    device = FakeDevice(kind="cpu", noise=0.0)
    spec = Spec("copy", "fp32", elements=2**24)
    fetch_cost = 1e-4  # an interruption whenever a result is fetched

    def build(spec):
        kernel = FakeDevice.build(device, spec)

        def fetch():
            kernel.fetch()
            device._now += fetch_cost

        return type(kernel)(**{**kernel.__dict__, "fetch": fetch})

    measure(device, spec, RULE, build=build)
    assert device.proof.startswith("not proved on this busy machine: twice the launches took 2.")


def test_the_table_of_the_twelve_says_what_each_does_and_what_the_protocol_says():
    outcomes = fake.demonstrate_all()
    assert len(outcomes) == len(FAULTS) == 12
    assert all(o.caught for o in outcomes)
    shown = outcomes._repr_html_()
    assert shown.count("<tr>") == 13
    assert ">bytes x 2</td>" in shown
    assert FAULTS["zeros"] in shown
    lines = repr(outcomes).splitlines()
    assert len(lines) == 12
    assert lines[6].startswith("FLOP / 2               x 0.5 ")
