"""The charts of prefill and decode: values where they belong, words for those who do not see them."""

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")
from matplotlib.text import Text

import roofcourse as rc
from roofcourse.plot import drawing
from roofcourse.plot.decode import _joint_name
from roofcourse.plot.labels import Box, Label, place
from roofcourse.plot.style import LAYOUTS, style

H100, H200 = rc.device("h100"), rc.device("h200")
ROOF = H100.roofline("bf16")
DECODE = H100.layer_counters("decode", batch=1, linear=True)


def words_of(figure) -> list[str]:
    root = ET.fromstring(figure.svg)
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


def runs_through(line, points) -> bool:
    return np.shape(line.get_xydata()) == np.shape(points) and np.allclose(line.get_xydata(), points)


def marks(axes) -> list:
    return [line for line in axes.lines if line.get_marker() not in ("", "None", None, "|")]


def test_layers_stand_at_their_measured_traffic():
    figure = rc.plot.layers(ROOF, DECODE)
    (axes,) = figure.figure.axes
    points = [line.get_xydata()[0] for line in marks(axes)]
    assert len(points) == 7
    for (x, y), counter in zip(points, DECODE, strict=True):
        assert (x, y) == pytest.approx((counter.flop / counter.dram_bytes, counter.flop / counter.seconds / 1e12))
    # the three sizes of matrix stand apart, and those of one size share a label
    assert {"k, v", "q, o", "gate, up, down"} <= set(words_of(figure))
    assert "ridge point 260" in words_of(figure)
    assert "k 0.472 TFLOP/s at 0.994 FLOP/byte" in figure.alt


def test_phases_and_batches_have_shapes_of_their_own():
    every = [x for x in H100.layer_counters(linear=True) if x.prompt_length == 1024]
    figure = rc.plot.layers(ROOF, every)
    shapes = {line.get_marker() for line in marks(figure.figure.axes[0])}
    assert len(shapes) == 4
    assert {"decode, batch 1", "decode, batch 8", "prefill, batch 1 × 1024"} <= set(words_of(figure))
    # marks that stand together are named by those that do not
    # and, where two batches share a corner, by their batch: on paper there is room to say it
    assert "batch 1: all but k, v" in words_of(figure)
    seven = ("q", "k", "v", "o", "gate", "up", "down")
    assert [_joint_name(part, seven) for part in (seven, seven[3:], ("v", "k"))] == [
        "all seven",
        "o, gate, up, down",
        "k, v",
    ]


@pytest.mark.parametrize("key", ["h100", "rtx4080"])
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_each_label_is_nearest_to_marks_of_its_own_or_tied_to_them(key, layout, monkeypatch):
    """A reader takes the nearest words for the name of a mark."""
    placed = []

    def seen(labels, *others):
        placed.extend(zip(labels, place(labels, *others), strict=True))
        return [found for _, found in placed]

    card = rc.device(key)
    figure = rc.plot.layers(
        card.roofline("bf16"), [x for x in card.layer_counters(linear=True) if x.prompt_length == 1024]
    )
    monkeypatch.setattr(drawing, "place", seen)
    with style(layout):
        figure._draw(layout)

    def away(box: Box, label: Label) -> float:
        marks = [Box.around(label.x, label.y, label.radius), *label.also]
        gaps = [(max(m.x0 - box.x1, box.x0 - m.x1, 0), max(m.y0 - box.y1, box.y0 - m.y1, 0)) for m in marks]
        return min(float(np.hypot(*gap)) for gap in gaps)

    assert sum(1 + len(label.also) for label, _ in placed) == {"h100": 28, "rtx4080": 14}[key]  # all marks are named
    for label, where in placed:
        nearest = min(away(where.box, other) for other, _ in placed if other is not label)
        clear = away(where.box, label) < nearest
        assert clear or (where.leader and nearest >= 24), label.text


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_the_name_of_a_region_stands_in_it(layout):
    short = [x for x in H100.layer_counters(linear=True) if x.prompt_length == 1024]
    with style(layout):
        figure = rc.plot.layers(ROOF, short)._draw(layout)
        (axes,) = figure.axes
        (name,) = (t for t in figure.findobj(Text) if t.get_text().startswith("compute"))
        box = name.get_window_extent()
    edge = axes.transData.transform((ROOF.ridge_point, 1))[0]
    assert edge < box.x0
    assert box.x1 < axes.get_window_extent().x1


def test_the_values_at_the_ends_have_as_many_digits():
    """30 beside 12.5 would say less than was measured."""
    cards = [rc.device(key) for key in ("h100", "h200", "rtx4080")]
    steps = {d.name: [s for s in d.decode_steps() if s.prompt_length == 128] for d in cards}
    assert {"12.5", "11.8", "30.0", "at batch 16"} <= set(words_of(rc.plot.decode_steps(steps)))


def test_steps_by_batch_with_their_bounds():
    steps = [s for s in H100.decode_steps() if s.prompt_length == 128]
    figure = rc.plot.decode_steps({"H100": steps}, {"H100": ([1, 16], [0.004, 0.005])}, title="steps")
    (axes,) = figure.figure.axes
    assert any(runs_through(line, [(1, 4), (16, 5)]) for line in axes.lines)
    assert any(runs_through(line, [(s.batch, s.seconds * 1e3) for s in steps]) for line in marks(axes))
    assert "H100: 11.6 ms at batch 1, 11.8 ms at batch 8, 12.5 ms at batch 16." in figure.alt
    assert "Its lower bound goes from 4.00 ms to 5.00 ms." in figure.alt


def test_time_a_token_is_the_step_over_the_batch():
    steps = [s for s in H100.decode_steps() if s.prompt_length == 128]
    (axes,) = rc.plot.decode_steps({"H100": steps}, per_token=True).figure.axes
    shown = next(line.get_ydata() for line in marks(axes))
    assert shown == pytest.approx([s.seconds / s.batch * 1e3 for s in steps])
    assert axes.get_yscale() == "log"


def test_lower_bounds_say_whose_they_are():
    """Not by colour alone; bounds that run together share the words."""
    steps = {d: [s for s in rc.device(d).decode_steps() if s.prompt_length == 128] for d in ("h100", "rtx4080")}
    batches = [1, 16]
    apart = {"h100": (batches, [4.6e-3, 4.7e-3]), "rtx4080": (batches, [21.4e-3, 21.5e-3])}
    assert {"bound, h100", "bound, rtx4080"} <= set(words_of(rc.plot.decode_steps(steps, apart)))
    together = {name: (batches, [4.6e-3, 4.7e-3]) for name in steps}
    assert "all bounds" in words_of(rc.plot.decode_steps(steps, together))


def test_a_bound_in_parts_beside_the_measurement():
    parts = {"weights": 0.004, "KV cache": 0.001}
    figure = rc.plot.bound_and_measured({"H100": {"batch 8": (parts, 0.012)}}, title="a step")
    (axes,) = figure.figure.axes
    bars = [v for p in axes.patches for v in (p.get_x(), p.get_width())]
    assert bars == pytest.approx([0, 4, 4, 1])
    assert [line.get_xdata()[0] for line in marks(axes)] == pytest.approx([12])
    assert "12.0\u00a0ms, 2.4 ×" in words_of(figure)
    assert "bound 5.00 ms (weights 4.00 ms, KV cache 1.00 ms), measured 12.0 ms, 2.4 times the bound." in figure.alt


def test_a_description_of_many_bars_tells_each_groups_ends():
    rows = {f"batch {b}": ({"weights": 0.004}, 0.004 * b) for b in range(1, 14)}
    figure = rc.plot.bound_and_measured({"H100": rows}, title="steps")
    assert figure.alt.endswith(
        "H100, 13 steps: from 1.0 times the bound (batch 1: bound 4.00 ms, measured 4.00 ms) "
        "to 13 times the bound (batch 13: bound 4.00 ms, measured 52.0 ms)."
    )


def test_parts_meet_where_they_are_equal():
    batch = np.array([1.0, 4, 16, 64])
    figure = rc.plot.step_parts(batch, {"weights": np.full(4, 8e-3), "KV cache, prompt 10": 1e-3 * batch})
    (axes,) = figure.figure.axes
    met = [line.get_xydata()[0] for line in axes.lines if line.get_marker() == "|"]
    assert np.allclose(met, [(8, 8)])
    assert "batch 8" in words_of(figure)
    assert "KV cache, prompt 10 takes as long as the weights at batch 8.00." in figure.alt


def test_a_meeting_between_two_batches_is_named_by_the_first_whole_batch_past_it():
    batch = np.array([1.0, 4, 16, 64])
    figure = rc.plot.step_parts(batch, {"weights": np.full(4, 8.2e-3), "KV cache, prompt 10": 1e-3 * batch})
    assert "batch 9" in words_of(figure)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rc.plot.layers(3, DECODE), "rc.plot.layers needs one Roofline"),
        (lambda: rc.plot.layers(ROOF, []), "rc.plot.layers draws layer counters"),
        (lambda: rc.plot.layers(ROOF, H100.layer_counters("decode", batch=1)), "input_norm is no matrix product"),
        (lambda: rc.plot.layers(ROOF, [DECODE[0], H200.layer_counters(linear=True)[0]]), "draws one card"),
        (lambda: rc.plot.decode_steps({}), "rc.plot.decode_steps needs"),
        (lambda: rc.plot.decode_steps({"a": H100.decode_steps()}, {"b": ([1], [1])}), "'b' belongs to no series"),
        (lambda: rc.plot.bound_and_measured({"g": {"n": ({"paper": 1}, 1)}}), "unknown part 'paper'"),
        (lambda: rc.plot.bound_and_measured({"g": {"n": ({"weights": 1}, 0)}}), "positive, in seconds"),
        (lambda: rc.plot.step_parts([1, 2], {"ink": [1, 2]}), "'ink' is no part of a step"),
        (lambda: rc.plot.step_parts([1, 2], {"weights": [1, 2, 3]}), "has 3 values for 2 batches"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(call, words):
    with pytest.raises(ValueError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_same_chart_gives_the_same_bytes():
    assert rc.plot.layers(ROOF, DECODE)._repr_html_() == rc.plot.layers(ROOF, DECODE)._repr_html_()


def timed(mode: str, seconds: float, kinds: dict, stable: bool = True) -> SimpleNamespace:
    kernels = sum(kinds.values())
    return SimpleNamespace(
        batch=1, prompt_length=1024, mode=mode, label=mode, seconds=seconds, bound=0.05, stable=stable, by_kind=kinds,
        kernel_seconds=kernels, outside_seconds=max(0.0, seconds - kernels),
    )  # fmt: skip


def test_modes_show_kernels_by_kind_and_what_is_outside_them():
    eager = timed("eager", 0.1, {"linear layers": 0.06, "copies": 0.02, "attention": 0.0, "the rest": 0.0})
    graph = timed(
        "graph", 0.07, {"linear layers": 0.06, "copies": 0.0, "attention": 0.01, "the rest": 0.0}, stable=False
    )
    figure = rc.plot.step_modes([eager, graph], title="modes")
    (axes,) = figure.figure.axes
    bars = [v for p in axes.patches for v in (p.get_x(), p.get_width())]
    assert bars == pytest.approx([0, 60, 60, 20, 80, 20, 0, 60, 60, 10])
    assert [line.get_xdata()[0] for line in marks(axes)] == pytest.approx([100, 70])
    hollow = [line.get_markerfacecolor() != line.get_markeredgecolor() for line in marks(axes)]
    assert hollow == [False, True]
    assert sum(runs_through(line, [(50, y) for y in line.get_ydata()]) for line in axes.lines) == 2
    assert {"100\u00a0ms, 2.0 ×", "70.0\u00a0ms, 1.4 ×", "batch 1, prompt 1024"} <= set(words_of(figure))
    assert "eager: 100 ms, bound 50.0 ms; linear layers 60.0 ms, copies 20.0 ms, outside kernels 20.0 ms." in figure.alt


def test_steps_that_were_not_profiled_are_refused():
    bare = timed("eager", 0.1, {})
    bare.kernel_seconds = None
    for steps, words in (([bare], "eager was not profiled"), (H100.decode_steps(), "that were timed live")):
        with pytest.raises(ValueError, match=words):
            rc.plot.step_modes(steps)
