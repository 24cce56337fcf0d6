"""The memory levels of this machine: what is read, that it was really read, and the run that stands in."""

import pytest

import roofcourse as rc

torch = pytest.importorskip("torch", reason="live measurements need torch")


def test_sizes_span_the_caches():
    from roofcourse.measure.caches import sizes

    assert sizes("cpu", 32 * 2**20)[:3] == [2**14, 2**15, 2**16]
    assert sizes("cpu", 32 * 2**20)[-1] == 2**28  # eight times the last cache
    assert sizes("cpu", 2**28)[-1] == 2**30
    assert sizes("cuda", 50 * 2**20)[0] == 2**20


def test_a_point_counts_what_was_read(monkeypatch):
    from roofcourse.measure import caches

    monkeypatch.setattr(caches, "sizes", lambda where, cache: [2**14, 2**16])
    before = torch.get_num_threads()
    points = list(caches.sweep("cpu", None))
    assert torch.get_num_threads() == before
    assert [x.working_set_bytes for x in points] == [2**14, 2**16]
    for x in points:
        passes = caches.CALL_BYTES / x.working_set_bytes
        assert x.work.bytes == caches.CALL_BYTES
        assert x.work.flop == passes * (x.elements - 1)
        assert 1e8 < x.bytes_per_s < 1e13
        assert x.kernel == "read_again"
        assert x.stable == (x.spread <= 0.1)


def test_a_wrong_sum_is_refused(monkeypatch):
    from roofcourse.measure import caches

    monkeypatch.setattr(caches.torch, "sum", lambda rows, dim, out: out.fill_(1.0))
    with pytest.raises(ArithmeticError, match="reading 16384 bytes on cpu gave the sum 1"):
        caches._point("cpu", 2**14)


def test_a_recorded_run_stands_in():
    sweep = rc.bench("local", "bundled").cache_sweep()
    assert len(sweep) >= 10
    assert (sweep.working_set_bytes[1:] == 2 * sweep.working_set_bytes[:-1]).all()
    # The nearest cache is several times as fast as memory, whatever else the machine was doing.
    assert sweep[0].bytes_per_s > 3 * sweep[-1].bytes_per_s
    # The reads from a cache never set B.
    assert rc.bench("local", "bundled").device.bandwidth < sweep[0].bytes_per_s
