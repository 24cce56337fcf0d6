"""The charts of what is counted: values where they belong, words for those who do not see them."""

import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")

import roofcourse as rc
from roofcourse.plot.style import LAYOUTS, style

SQUARE = rc.bench("local", "bundled").loop_orders()


def words_of(figure) -> list[str]:
    root = ET.fromstring(figure.svg)
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


def test_operations_stand_at_their_intensity():
    works = {"fill": rc.elementwise(8, "fp32", flop_per_element=0, reads=0), "add": rc.add(8), "axpy": rc.axpy(8)}
    roof = rc.Roofline(2e12, 1e11, label="a card")
    figure = rc.plot.operations(works, roof, title="three")
    (axes,) = figure.figure.axes
    ticks = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"]
    assert ticks == pytest.approx([1 / 12, 1 / 6])
    arrows = [line for line in axes.lines if line.get_marker() == "<"]
    assert len(arrows) == 1  # I = 0 has no place on a logarithmic axis
    assert any(list(line.get_xdata()) == [20, 20] for line in axes.lines)
    assert "ridge point, a card: 20" in words_of(figure)
    assert figure.alt.startswith("three. Operations")
    assert "fill 0; add 0.0833; axpy 0.167." in figure.alt
    assert "Ridge point of a card: 20." in figure.alt


def test_a_value_left_of_its_mark_stands_where_the_stem_has_ended():
    """Right of I = 16 is no room before the ridge point at 20; the stem would run through a value on the left."""
    works = {"right": rc.Work(1, 1), "left": rc.Work(16, 1)}
    figure = rc.plot.operations(works, rc.Roofline(2e12, 1e11, label="a card"))
    for layout in LAYOUTS:
        with style(layout):
            (axes,) = figure._draw(layout).axes
        stems = [line for line in axes.lines if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1]
        ends = [axes.transData.transform(line.get_xydata()[1])[0] for line in stems]
        texts = {t.get_text(): t.get_window_extent() for t in axes.texts}
        assert stems[0].get_xdata()[1] == 1  # up to its mark, the value follows
        assert ends[0] < texts["1"].x0
        assert ends[1] <= texts["16"].x0 - 4
        assert texts["16"].x1 < axes.transData.transform((16, 0))[0]


def test_traffic_and_time_stand_at_counted_bytes_and_measured_seconds():
    figure = rc.plot.traffic_and_time(SQUARE)
    (axes,) = figure.figure.axes
    marks = [line for line in axes.lines if line.get_marker() not in ("", "None", None)]
    assert len(marks) == 4
    for line, x in zip(marks, SQUARE, strict=True):
        assert line.get_xydata()[0] == pytest.approx((x.work.bytes / 1e6, x.seconds * 1e3))
        hollow = line.get_markerfacecolor() != line.get_markeredgecolor()
        assert hollow == (not x.stable)
    # Every diagonal is one rate: MB divided by ms is GB/s, a power of ten.
    for line in axes.lines:
        if len(line.get_xdata()) == 2:
            rates = line.get_xdata() / line.get_ydata()
            assert rates[0] == pytest.approx(rates[1])
            assert round(rates[0], 6) in (0.001, 0.01, 0.1, 1, 10, 100, 1000)
    shown = words_of(figure)
    assert {"traffic Q, counted (MB)", "time T, measured (ms)"} <= set(shown)
    assert {text.split(",")[0] for text in shown} >= {"naive", "row by row", "blocked", "library"}
    assert "library: 11.1 MB counted" in figure.alt
    assert {"naive, 975\u00a0ms", "blocked, 72.0\u00a0ms"} <= set(shown)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rc.plot.operations({}), "rc.plot.operations needs at least one Work"),
        (lambda: rc.plot.operations({"fill": rc.Work(0, 8)}), "every operation has I = 0"),
        (lambda: rc.plot.operations(3), "rc.plot.operations needs a Work or a dict"),
        (lambda: rc.plot.traffic_and_time([]), "rc.plot.traffic_and_time needs measurements, and was given none"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_same_chart_gives_the_same_bytes():
    draw = lambda: rc.plot.operations({"add": rc.add(8)}, rc.device("h100").roofline("fp32"))._repr_html_()  # noqa: E731
    assert draw() == draw()
    assert rc.plot.traffic_and_time(SQUARE)._repr_html_() == rc.plot.traffic_and_time(SQUARE)._repr_html_()
