"""Each rule on a case whose answer is worked out by hand: a roof of 1000 FLOP/s and 100 bytes/s, ridge point 10."""

from __future__ import annotations

import pytest

import roofcourse as rc
from roofcourse.explain import evidence
from roofcourse.records import Evidence, Measurement
from roofcourse.roofline import Roofline
from roofcourse.work import Work

ROOF = Roofline(1000.0, 100.0, None, "fp32", "gemm", "measured", "Toy FP32")


def point(flop, moved, seconds, kernel="gemm", **more) -> Measurement:
    return Measurement("toy", kernel, more.pop("precision", "fp32"), Work(flop, moved), seconds, **more)


def samples(*seconds, **more) -> Evidence:
    return Evidence(2, tuple(seconds), 1, "host clock", "stable", **more)


def verdict(x, *args, **facts):
    return rc.explain(x, facts.pop("roof", ROOF), *args, **facts).verdict


def standings(x, *args, **facts):
    return {r.name: r.standing for r in rc.explain(x, facts.pop("roof", ROOF), *args, **facts).reasons}


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1.0, "none"), (1 / 0.91, "none"), (1 / 0.89, "undetermined"), (1 / 1.04, "none")]
)
def test_nothing_is_needed_from_90_to_105_percent_of_the_roof(seconds, expected):
    assert verdict(point(10, 100, seconds)) == expected


def test_share_bound_and_gains():
    e = rc.explain(point(100, 100, 4.0), ROOF)  # memory needs 1 s, arithmetic 0.1 s
    assert (e.percent, e.bound) == (25.0, "memory")
    assert (e.to_roof.factor, e.to_next_roof.factor) == (4.0, pytest.approx(40.0))
    flat = rc.explain(point(4000, 100, 8.0), ROOF)  # arithmetic 4 s, memory 1 s
    assert (flat.percent, flat.bound) == (50.0, "compute")
    assert (flat.to_roof.factor, flat.to_next_roof.factor) == (2.0, 8.0)


def test_the_next_roof_of_a_compute_bound_product_is_the_next_higher_ceiling_of_narrower_numbers():
    wide = Roofline(1500.0, 100.0, None, "fp64", "gemm")
    vector = Roofline(1200.0, 100.0, None, "fp32", "vector")
    tf32 = Roofline(8000.0, 100.0, None, "tf32", "gemm")
    e = rc.explain(point(4000, 100, 4.0), ROOF, roofs=(ROOF, wide, vector, tf32))
    assert e.to_roof is None
    assert e.to_next_roof.factor == 4.0  # at 8000 FLOP/s memory takes over: 1 s of 4
    assert "TF32 matrix products" in e.to_next_roof.up_to
    assert "TF32 matrix products reach" in e.try_next[0]


def test_a_launch_is_shown_by_a_size_that_makes_no_difference():
    small, large = point(1, 1, 2.0, m=1, n=1, k=1), point(8, 4, 2.05, m=2, n=2, k=2)
    e = rc.explain(small, ROOF, [small, large])
    assert (e.verdict, e.reasons[0].standing) == ("launch", "shown")
    assert "n = 2 takes 2.05" in e.reasons[0].evidence
    # On the slope of an M sweep time is flat and the bytes are as well: no launch.
    row, rows = point(2, 100, 2.0, m=1, n=7, k=7), point(4, 101, 2.0, m=2, n=7, k=7)
    assert verdict(row, [row, rows]) == "undetermined"


def test_a_launch_is_likely_if_it_and_the_roof_give_the_time():
    assert standings(point(10, 100, 2.0), launch=0.85) == {"launch": "likely"}  # 1 + 0.85 is 92 % of 2
    assert standings(point(10, 100, 2.0), launch=0.5) == {"launch": "possible"}  # 1.5 of 2
    assert standings(point(10, 100, 2.0), launch=0.1) == {}
    assert standings(point(10, 10, 2.0), launch=1.1) == {"launch": "likely"}  # more than half of the time
    assert standings(point(10, 100, 2.0), launch=0.17, kernels=5)["launch"] == "likely"  # five starts


def test_a_kernel_is_to_blame_if_another_one_does_more_in_less_time():
    small, large = point(10, 100, 2.0, m=1, n=7, k=7), point(40, 101, 1.5, m=4, n=7, k=7)
    e = rc.explain(small, ROOF, [small, large])
    assert (e.verdict, e.reasons[0].standing) == ("kernel", "shown")
    assert "M = 4 does 4 times the arithmetic" in e.reasons[0].evidence
    # A neighbour that is only 4 % faster, or not trusted, shows nothing.
    assert verdict(small, [point(40, 101, 1.92, m=4, n=7, k=7)]) == "undetermined"
    assert verdict(small, [point(40, 101, 1.5, m=4, n=7, k=7, stable=False)]) == "undetermined"
    assert verdict(small, [point(40, 101, 1.5, m=4, n=7, k=7, precision="fp16")]) == "undetermined"


def padded(*rows_and_seconds, flop=1000):
    return [point(flop * m, 100, t, m=m, n=7, k=7) for m, t in rows_and_seconds]


def test_padding_accounts_for_a_flat_time_only_if_the_executed_rows_fill_it():
    # 4 rows are 4000 FLOP, 4 s at F: 80 % of 5 s. The fifth row needs another tile.
    good = padded((1, 5.0), (2, 5.0), (4, 5.0), (8, 10.0))
    e = rc.explain(good[0], ROOF, good)
    assert (e.verdict, e.reasons[0].standing) == ("padding", "shown")
    assert "1 to 4 rows all take 5.00" in e.reasons[0].evidence
    assert "80\u00a0% of F" in e.reasons[0].evidence
    assert standings(good[0], good[:3]) == {"padding": "likely", "kernel": "possible"}  # no larger one seen
    # The same time is only a third of F: flat, and far from the roof all the same.
    far = padded((1, 12.0), (2, 12.0), (4, 12.0), (8, 24.0))
    assert verdict(far[0], far) == "undetermined"
    assert standings(far[0], far)["padding"] == "possible"
    # The border: 4 s at F are 71 or 69 % of the time.
    for part, standing in ((0.71, "shown"), (0.69, "possible")):
        rows = padded(*((m, 4 / part) for m in (1, 2, 4)), (8, 8 / part))
        assert standings(rows[0], rows)["padding"] == standing
    # Left of the ridge point padded rows cost nothing: 4 rows are 40 FLOP on 100 bytes, I = 0.4.
    left = padded((1, 5.0), (2, 5.0), (4, 5.0), (8, 10.0), flop=10)
    assert "padding" not in standings(left[0], left)
    # So too where the rows would fill the time: 800 FLOP in 1.14 s are 70 % of F, but the 100 bytes take longer.
    near = padded((1, 1.14), (2, 1.14), (4, 1.14), flop=200)
    assert "padding" not in standings(near[0], near)


def test_above_the_memory_roof_a_cache_is_likely_only_if_the_data_nearly_fit():
    x = point(10, 100, 0.5)
    assert standings(x, cache_bytes=100) == {"cache": "likely"}
    assert standings(x, cache_bytes=70) == {"bytes": "possible"}
    assert standings(x) == {"cache": "possible"}
    assert verdict(x) == "undetermined"


def test_no_cache_lifts_a_compute_bound_point():
    assert standings(point(4000, 100, 3.0), cache_bytes=100) == {"ceiling": "possible"}
    noisy = point(4000, 100, 3.0, stable=False)
    assert standings(noisy, cache_bytes=100) == {"ceiling": "likely"}


def test_counters_overrule_the_formula():
    e = rc.explain(point(10, 100, 10.0), ROOF, counted_bytes=800)
    assert (e.verdict, e.reasons[0].standing) == ("bytes", "shown")
    assert "8 times the 100" in e.reasons[0].evidence
    assert "at 80\u00a0% of the roof" in e.reasons[0].evidence
    less = rc.explain(point(10, 100, 0.5), ROOF, counted_bytes=40)
    assert (less.verdict, less.reasons[0].standing) == ("cache", "shown")
    assert "the rest came from a cache. A profiler that repeats a kernel finds there what" in less.reasons[0].evidence
    assert rc.explain(point(10, 100, 10.0), ROOF, counted_bytes=110).verdict == "undetermined"


def test_another_path_is_shown_by_its_own_roof():
    tf32 = Roofline(8000.0, 100.0, None, "tf32", "gemm", "measured", "Toy TF32")
    x = point(40000, 100, 41.0)  # 98 % of FP32's 1000 FLOP/s, 12 % of TF32's
    e = rc.explain(x, tf32, roofs=(ROOF, tf32))
    assert (e.verdict, e.reasons[0].standing) == ("path", "shown")
    assert "TF32" in e.reasons[0].evidence
    assert "98\u00a0%" in e.reasons[0].evidence
    # Far from its own roof as well: the path is not the account.
    assert rc.explain(point(40000, 100, 100.0), tf32, roofs=(ROOF, tf32)).verdict == "undetermined"


def test_the_corner_needs_both_neighbours_near_their_roofs():
    def at(r, seconds):
        return point(100 * r, 100, seconds, "fma", fma_per_element=r)

    roof = Roofline(1000.0, 100.0, None, "fp32", "vector")
    sweep = [at(2, 1.05), at(10, 1.4), at(40, 4.1)]  # I = 2, 10 (the ridge point), 40
    assert verdict(sweep[1], sweep, roof=roof) == "corner"
    sagging = [at(2, 1.3), at(10, 1.4), at(40, 4.1)]  # the slope is as far off: no corner
    assert verdict(sagging[1], sagging, roof=roof) == "undetermined"
    # Slower than moving first and computing then: worse than no overlap at all.
    slow = [at(2, 1.05), at(10, 2.2), at(40, 4.1)]
    assert verdict(slow[1], slow, roof=roof) == "undetermined"


def test_waves_by_hand():
    # 512 x 8192 in tiles of 128 x 128: 4 x 64 = 256 tiles; on 76 multiprocessors 3.37 rounds, 4 are paid for.
    w = evidence.waves(512, 8192, 76)
    assert (w.tiles, w.waves, w.efficiency) == (256, pytest.approx(256 / 76), pytest.approx(256 / 76 / 4))
    assert evidence.waves(129, 128, 2).tiles == 2
    x = point(4000, 100, 4.76, m=512, n=8192, k=1)  # 84 % of the roof
    assert standings(x, multiprocessors=76) == {"waves": "possible"}  # the tile is only assumed
    assert standings(x, multiprocessors=76, tile=(128, 128)) == {"waves": "likely"}
    assert standings(x, multiprocessors=64) == {}  # 256 tiles fill 4 rounds of 64


def test_time_outside_the_kernels():
    x = point(10, 100, 10.0, "step")
    assert standings(x, kernel_seconds=3.0) == {"host": "shown"}  # 7 of the 9 seconds above the bound
    assert standings(x, kernel_seconds=8.0) == {"host": "likely"}  # 2 of 9: a part of it
    assert standings(x, kernel_seconds=9.5) == {}
    assert standings(x, kernels=100) == {"host": "possible"}  # nobody looked


def test_separate_operators_account_for_the_time_only_if_their_own_bound_does():
    x = point(10, 100, 4.0, "chain")
    found = standings(x, operator_seconds=3.5, kernels=3)
    assert found["operators"] == "likely"
    assert standings(x, operator_seconds=1.5, kernels=3)["operators"] == "possible"  # explains 1.5 of 4 s
    assert standings(x, operator_seconds=2.84, kernels=3)["operators"] == "likely"  # 71 %
    assert standings(x, operator_seconds=2.76, kernels=3)["operators"] == "possible"  # 69 %
    assert "operators" not in standings(x, operator_seconds=1.2, kernels=3)  # one kernel would need 1 s


def test_new_memory_needs_an_account_or_the_experiment():
    x = point(10, 100, 5.0)  # the roof asks for 1 s: 4 s are to be explained
    assert standings(x, new_bytes=64) == {"new memory": "possible"}  # a count, and no time
    assert standings(x, new_bytes=9) == {}  # less than a tenth of the traffic
    assert standings(x, new_bytes=64, new_seconds=3.0) == {"new memory": "likely"}  # 3 of the 4
    assert standings(x, new_bytes=64, new_seconds=1.9) == {"new memory": "possible"}
    assert standings(x, new_bytes=64, new_seconds=0.4) == {}
    assert standings(x, new_bytes=64, new_seconds=4.5) == {"new memory": "possible"}  # 1 + 4.5 is more than 5
    shown = rc.explain(x, ROOF, new_bytes=64, reused_seconds=2.0)
    assert [(r.name, r.standing) for r in shown.reasons] == [("new memory", "shown")]
    assert "takes 2.00" in shown.reasons[0].evidence
    assert "out=" in shown.try_next[0]
    assert standings(x, new_bytes=64, new_seconds=3.0, reused_seconds=4.0) == {"new memory": "possible"}
    assert standings(x, new_bytes=64, new_seconds=3.0, reused_seconds=4.8) == {}  # the experiment overrules
    assert verdict(point(10, 100, 1.05), new_bytes=64, new_seconds=0.9) == "none"  # at the roof nothing is needed


def test_neighbours_that_are_left_out_are_named():
    mine = point(10, 100, 2.0, m=1, n=7, k=7)
    noisy = [point(40, 101, 1.5, m=m, n=7, k=7, stable=False) for m in (4, 5)]
    told = rc.explain(mine, ROOF, [mine, *noisy, point(20, 100, 2.0, m=2, n=7, k=7)]).caveats
    assert told[0] == "2 of 3 neighbours are unstable or suspect and left out as evidence (M = 4, M = 5)."
    assert not any("left out" in x for x in rc.explain(mine, ROOF, [mine]).caveats)


def test_a_lowered_clock():
    hot = point(4000, 100, 8.0, evidence=samples(8.0, throttle="a thermal slowdown (hardware)"))
    assert standings(hot) == {"throttled": "likely"}
    slow = point(4000, 100, 8.0, evidence=samples(8.0, clock_hz=0.6e9))
    assert standings(slow, reference_clock_hz=1.2e9) == {"throttled": "likely"}  # half the clock, half the roof
    assert standings(slow, reference_clock_hz=0.7e9) == {"throttled": "possible"}  # 86 %: not the account of 50 %
    drifting = point(4000, 100, 8.0, evidence=samples(*[6.0] * 4, *[8.0] * 4, *[9.0] * 4))
    assert standings(drifting) == {"throttled": "possible"}


def test_with_nothing_at_hand_nothing_is_claimed():
    e = rc.explain(point(10, 100, 3.0), ROOF)
    assert (e.verdict, e.reasons, e.determined) == ("undetermined", (), False)
    assert "neighbours" in e.try_next[0]
    assert "counters" in e.try_next[0]
    assert "Undetermined" not in str(e)
    assert "undetermined: No reason" in str(e)


def test_the_text_says_where_why_and_what_next():
    h100 = rc.device("h100")
    sweep = h100.m_sweep("fp16")
    text = str(rc.explain(sweep.at(m=4), h100.roofline("fp16"), sweep)).replace("\u00a0", " ")
    assert text.splitlines()[0] == (
        "gemm 4 × 8192 × 8192: 72 % of the memory roof (H100 FP16): 60.2 µs against a lower bound of 43.6 µs, "
        "8.92 TFLOP/s."
    )
    assert "kernel choice: M = 8 does 2 times the arithmetic on no fewer bytes in 49.9 µs, this takes 60.2 µs." in text
    assert "try next: Pad to the size that is faster" in text
    assert "best possible gain: At most 1.38 times as fast at the memory roof" in text
    assert "a lower bound of the traffic" in text


def test_html_has_the_same_sentences_escaped():
    e = rc.explain(point(10, 100, 3.0, note="a < b", stable=False), ROOF)
    assert "a &lt; b" in e._repr_html_()
    assert "<li><strong>undetermined</strong>" in e._repr_html_()


@pytest.mark.parametrize(
    ("args", "facts", "message"),
    [
        ((3, ROOF), {}, "explain needs a point"),
        ((point(1, 1, 1.0), 5), {}, "explain needs a Roofline"),
        ((point(1, 1, 1.0), ROOF), {"counted_bytes": -1}, "counted_bytes must be positive"),
        ((point(1, 1, 1.0), ROOF), {"kernel_seconds": float("nan")}, "kernel_seconds must be positive"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(args, facts, message):
    with pytest.raises(ValueError, match=message) as refusal:
        rc.explain(*args, **facts)
    assert "\n" not in str(refusal.value)


def test_explaining_measures_nothing(monkeypatch):
    from roofcourse.measure import session

    monkeypatch.setattr(session.Session, "take", lambda *a, **k: pytest.fail("measured"))
    bench = rc.bench("local", "bundled")
    sweep = bench.matmul_sweep("fp32")
    rc.explain(sweep[-1], bench.device.roofline("fp32"), sweep, bench.launch_overhead(), device=bench.device)


def test_close_to_the_roof_a_launch_must_be_most_of_what_is_left():
    # 89 % of the roof, and a start of 3 % of the time: together 92 %, but three quarters of the gap are something else.
    assert verdict(point(10, 100, 1.12), launch=0.03) == "undetermined"
    assert verdict(point(10, 100, 1.12), launch=0.08) == "launch"


def test_a_corner_is_deepest_at_the_ridge_point():
    def at(r, seconds):
        return point(100 * r, 100, seconds, "fma", fma_per_element=r)

    roof = Roofline(1000.0, 100.0, None, "fp32", "vector")
    rounded = [at(2, 1.05), at(12, 1.7), at(20, 2.3), at(40, 4.1)]  # 71 % at 1.2, 87 % at 2 times the ridge point
    assert verdict(rounded[2], rounded, roof=roof) == "corner"
    plateau = [at(2, 1.05), at(12, 1.4), at(20, 2.3), at(40, 4.1)]  # 86 and 87 %: flat, and then at the roof
    assert verdict(plateau[2], plateau, roof=roof) == "undetermined"
