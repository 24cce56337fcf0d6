"""The charts of chapter 7: spans, points and percentages where they belong, and words for those who do not see them."""

import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")

import roofcourse as rc
from roofcourse.timeline import Span, Timeline, launched

CHAINS = rc.bench("local", "bundled").load_chains()


def words_of(figure) -> list[str]:
    root = ET.fromstring(figure.svg)
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


def bars_of(figure) -> list[tuple[float, float]]:
    """(left, width) of the spans, without the empty lanes behind them."""
    (axes,) = figure.figure.axes
    found = []
    for patch in axes.patches:
        if patch.get_zorder() == 3:
            corners = patch.get_path().vertices.reshape(
                -1, 5, 2
            )  # five corners a span, all spans of a kind in one path
            found += [(round(box[0, 0], 6), round(box[1, 0] - box[0, 0], 6)) for box in corners]
    return found


def test_spans_stand_where_they_ran():
    figure = rc.plot.timeline({"long": launched(5e-6, 1e-6, 2), "short": launched(1e-6, 2e-6, 2)}, title="two")
    # microseconds: CPU 0-1, 1-2, GPU 1-6, 6-11; then CPU 0-2, 2-4, GPU 2-3, 4-5
    assert bars_of(figure) == [(0, 1), (1, 1), (1, 5), (6, 5), (0, 2), (2, 2), (2, 1), (4, 1)]
    shown = words_of(figure)
    assert {"long: 11.0\u00a0µs", "short: 5.0\u00a0µs", "send", "kernel", "time (µs), by the model"} <= set(shown)
    assert "busy 91\u00a0%" in shown  # the GPU: 10 of 11 µs
    assert figure.alt.startswith("two. Timelines, by the model.")
    assert "short: 5.00 µs, 4 spans, CPU busy 80 %, GPU busy 40 %; by kind send 4.00 µs; kernel 2.00 µs." in figure.alt
    # Each kind is named in its first span that has room, once a lane: not by colour alone.
    assert words_of(figure).count("kernel") == 3  # in both GPU lanes and in the key


def test_a_measured_timeline_is_not_called_a_model():
    figure = rc.plot.timeline(rc.bench("local", "bundled").timeline("small"))
    assert "time (µs)" in words_of(figure)
    assert "model" not in figure.alt
    assert {"layer_norm", "matmul", "gelu", "add"} <= set(words_of(figure))


def test_of_many_kinds_the_longest_have_a_colour():
    spans = tuple(Span(name, "CPU", i * 1e-6, 1e-6 / (i + 1)) for i, name in enumerate("abcdefg"))
    shown = words_of(rc.plot.timeline(Timeline(spans, 8e-6, "measured live")))
    assert {"a", "b", "c", "d", "other"} <= set(shown)
    assert "e" not in shown


def test_times_that_are_compared_end_with_the_same_digit():
    shown = words_of(rc.plot.timeline({"long": launched(20e-6, 5e-6, 8), "short": launched(2e-6, 5e-6, 8)}))
    assert {"long: 165\u00a0µs", "short: 42\u00a0µs"} <= set(shown)  # 5 + 8 * 20, and 8 * 5 + 2 µs
    shown = words_of(rc.plot.timeline({"long": launched(6e-3, 50e-6, 1), "short": launched(60e-6, 6e-6, 1)}))
    assert {"long: 6.05\u00a0ms", "short: 0.066\u00a0ms"} <= set(shown)  # not 0.07: two digits at least


def test_a_thin_span_is_seen():
    """At least one pixel wide, inside the lane, and without the edge that would cover it."""
    spans = (Span("long", "CPU", 0, 998e-6), Span("short", "CPU", 998e-6, 1e-6), Span("last", "CPU", 999e-6, 1e-6))
    (axes,) = rc.plot.timeline(Timeline(spans, 1e-3, "measured live")).figure.axes
    drawn = [p for p in axes.patches if p.get_zorder() == 3]
    pixel = 1e3 / axes.get_window_extent().width  # µs
    boxes = [patch.get_path().vertices.reshape(-1, 5, 2)[0] for patch in drawn]
    edges = [(box[:, 0].min(), box[:, 0].max()) for box in boxes]
    assert pixel > 1.5  # so 1 µs is less than a pixel
    assert edges == [
        pytest.approx((0, 998)),
        pytest.approx((min(998, 1e3 - pixel), min(998, 1e3 - pixel) + pixel)),
        pytest.approx((1e3 - pixel, 1e3)),
    ]
    assert [patch.get_linewidth() for patch in drawn] == [0.5, 0, 0]


def test_the_flat_part_says_its_height():
    roofs = [rc.Roofline(8.15e14, 3.9e12, label="memory"), rc.Roofline(8.15e14, 9.8e12, label="L2")]
    works = {"memory": rc.Work(1e12, 1e10), "L2": rc.Work(1e12, 4e10)}
    assert "F = 815 TFLOP/s" in words_of(rc.plot.hierarchy({"layer": (0.02, works)}, roofs))


def test_each_level_has_its_point():
    roofs = [rc.Roofline(1e14, 1e12, label="memory"), rc.Roofline(1e14, 4e12, label="L2")]
    works = {"memory": rc.Work(1e12, 1e10), "L2": rc.Work(1e12, 4e10)}
    figure = rc.plot.hierarchy({"layer": (0.02, works)}, roofs, title="one")
    (axes,) = figure.figure.axes
    marks = [tuple(line.get_xydata()[0]) for line in axes.lines if line.get_marker() in ("o", "s")]
    # 1e12 FLOP in 0.02 s are 50 TFLOP/s, at 100 and at 25 FLOP/byte
    assert marks == [pytest.approx((100, 50)), pytest.approx((25, 50))]
    assert "layer: 50.0 TFLOP/s, I 100 by the memory, I 25.0 by the L2." in figure.alt
    assert {"memory, 1.00\u00a0TB/s", "L2, 4.00\u00a0TB/s", "layer"} <= set(words_of(figure))


def test_chains_stand_at_their_bandwidth():
    figure = rc.plot.chains(CHAINS)
    (axes,) = figure.figure.axes
    marks = [tuple(line.get_xydata()[0]) for line in axes.lines if len(line.get_xdata()) == 1]
    assert marks == [pytest.approx((x.batch, x.bytes_per_s / 1e9)) for x in CHAINS]
    (guide,) = [line for line in axes.lines if len(line.get_xdata()) == 2]
    assert guide.get_ydata()[1] == pytest.approx(32 * CHAINS[0].bytes_per_s / 1e9)


def test_percentages_stand_on_their_axes():
    figure = rc.plot.saturation({"a copy": (92, 1), "a product": (20, 95)})
    (axes,) = figure.figure.axes
    assert [tuple(line.get_xydata()[0]) for line in axes.lines] == [(92, 1), (20, 95)]
    assert "a copy: 92 % of B, 1.0 % of F." in figure.alt
    assert {"memory near saturation", "arithmetic near saturation", "both", "neither"} <= set(words_of(figure))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rc.plot.timeline({}), "rc.plot.timeline needs a Timeline"),
        (lambda: rc.plot.timeline(3), "rc.plot.timeline needs a Timeline"),
        (lambda: rc.plot.chains([]), "rc.plot.chains needs measurements of chains"),
        (lambda: rc.plot.chains(rc.device("h100").m_sweep("fp16")), "rc.plot.chains needs measurements of chains"),
        (lambda: rc.plot.saturation({}), "at least one kernel"),
        (lambda: rc.plot.saturation({"a": (200, 1)}), "must lie between 0 and 150"),
        (
            lambda: rc.plot.hierarchy({"a": (1, {"L2": rc.Work(1, 1)})}, [rc.Roofline(1, 1, label="memory")]),
            "'a' has the levels L2; the roofs are memory",
        ),
        (lambda: rc.plot.hierarchy({}, [rc.Roofline(1, 1, label="memory")]), "needs at least one kernel"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_same_chart_gives_the_same_bytes():
    draw = lambda: rc.plot.timeline(launched(2e-6, 1e-6, 3))._repr_html_()  # noqa: E731
    assert draw() == draw()
    assert rc.plot.chains(CHAINS)._repr_html_() == rc.plot.chains(CHAINS)._repr_html_()
