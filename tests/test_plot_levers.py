"""The charts of levers: points where they were measured, predictions told apart, the whole decision chart in words."""

import xml.etree.ElementTree as ET

import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")

import roofcourse as rc
from roofcourse.levers import QUESTIONS
from roofcourse.words import significant, time3

MINE = rc.bench("local", "bundled")


def words_of(svg: str) -> list[str]:
    root = ET.fromstring(svg)
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", MINE.levers())
def test_a_move_goes_from_before_to_after(name):
    lever = MINE.lever(name)
    figure = rc.plot.move(lever)
    (axes,) = figure.figure.axes
    dots = [line for line in axes.lines if len(line.get_xdata()) == 1]
    marks = [line.get_xydata()[0] for line in dots]
    assert len(marks) == 2
    for mark, x in zip(marks, lever.points, strict=True):
        assert mark == pytest.approx((x.intensity, x.flop_per_s / 1e9))
    hollow = [
        line.get_markerfacecolor() != line.get_markeredgecolor() for line in axes.lines if len(line.get_xdata()) == 1
    ]
    assert hollow == [not x.stable for x in lever.points]
    # Each roof has its corner at the ridge point.
    corners = [(line.get_xdata()[1], line.get_ydata()[1]) for line in axes.lines if len(line.get_xdata()) == 3]
    for roof in lever.roofs:
        assert (pytest.approx(roof.ridge_point), pytest.approx(roof.peak / 1e9)) in corners
    shown = " ".join(words_of(figure.svg))
    names = (lever.recipe.before, lever.recipe.after)
    # three digits each, for they are compared: 8.00 predicted beside 7.03, 8.03 ms beside 1.14
    assert f"Predicted {significant(lever.predicted, 3)} times as fast" in figure.alt
    assert figure.alt.startswith(f"{lever.title}: {significant(lever.gain, 3)} times as fast")
    assert all(f"{name}: {time3(x.seconds)}" in shown for name, x in zip(names, lever.points, strict=True))


def test_gains_stand_beside_their_predictions():
    levers = [MINE.lever(name) for name in ("fuse", "stride", "rows")]
    figure = rc.plot.gains(levers)
    (axes,) = figure.figure.axes
    strokes = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|"]
    points = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "d"]
    assert strokes == pytest.approx([x.predicted for x in levers])
    assert points == pytest.approx([x.gain for x in levers])
    assert [x.title for x in levers] == [w for w in words_of(figure.svg) if w in {x.title for x in levers}]
    assert "Fuse an elementwise chain: predicted 5.00, measured 3.20;" in figure.alt
    assert {"3.20", "16.2", "4.31"} <= set(words_of(figure.svg))


def test_a_point_at_its_prediction_does_not_hide_it():
    lever = MINE.lever("stride")  # 16 predicted, 16.2 measured
    (axes,) = rc.plot.gains([lever]).figure.axes
    (stroke,) = (line for line in axes.lines if line.get_marker() == "|")
    (point,) = (line for line in axes.lines if line.get_marker() == "d")
    # a diamond's corners are half the root of two of its size from its middle
    assert stroke.get_markersize() > 1.5 * 2**0.5 * point.get_markersize()


@pytest.mark.parametrize(("name", "side"), [("fuse", "right"), ("attention", "left")])
def test_a_measured_gain_has_its_value_beside_its_own_point(name, side):
    """Fusing gained less than predicted, fused attention more: neither value may stand beside the prediction."""
    lever = MINE.lever(name)
    assert (lever.gain < lever.predicted) == (side == "right")
    (axes,) = rc.plot.gains([lever]).figure.axes
    (value,) = (text for text in axes.texts if text.get_text() not in {lever.title})
    point = axes.transData.transform((lever.gain, 0))[0]
    assert value.get_horizontalalignment() == side
    assert value.xyann[0] - point == pytest.approx(-10 if side == "right" else 10)


def test_the_decision_chart_says_everything_in_both_drawings():
    figure = rc.plot.what_next()
    for layout in ("wide", "narrow"):
        shown = " ".join(words_of(figure._raw[layout]))
        for q in QUESTIONS:
            for text in (q.ask, q.why, q.answer, *q.levers):
                assert text in shown, (layout, text)
    for q in QUESTIONS:
        assert q.ask in figure.alt
        assert q.answer in figure.alt


def test_words_of_the_decision_chart_stay_in_their_boxes():
    from roofcourse.plot.style import LAYOUTS, style

    for layout in LAYOUTS:
        with style(layout):
            drawn = rc.plot.what_next()._draw(layout)
            drawn.canvas.draw()
            (axes,) = drawn.axes
            boxes = [patch.get_window_extent() for patch in axes.patches]
            assert len(boxes) == 2 * len(QUESTIONS)
            for i, one in enumerate(boxes):
                assert 0 <= one.x0
                assert one.x1 <= layout.width
                assert not any(one.overlaps(other) for other in boxes[:i])
            for text in axes.texts:
                if text.get_text() in ("", "yes", "no", "no: go on"):
                    continue
                words = text.get_window_extent()
                assert 0 <= words.x0
                assert words.x1 <= layout.width
                home = [b for b in boxes if b.y0 <= (words.y0 + words.y1) / 2 <= b.y1 and b.x0 <= words.x0 <= b.x1]
                for box in home:
                    assert words.x1 <= box.x1 + 0.5, text.get_text()
                    assert box.y0 - 0.5 <= words.y0, text.get_text()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rc.plot.move("fuse"), r"^rc\.plot\.move needs a lever such as bench\.lever\('fuse'\), not 'fuse'$"),
        (lambda: rc.plot.gains([]), r"^rc\.plot\.gains needs levers"),
        (lambda: rc.plot.gains([1]), r"^rc\.plot\.gains needs levers"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(call, words):
    with pytest.raises(ValueError, match=words):
        call()
