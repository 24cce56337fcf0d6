"""The figures: right values in the drawing, words for those who do not see it, labels on nothing, the same bytes."""

from __future__ import annotations

import errno
import html
import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")

from matplotlib.colors import to_rgba

import roofcourse as rc
from roofcourse import palette, records
from roofcourse.plot import reading
from roofcourse.plot.labels import Box, Label, place, spread
from roofcourse.plot.style import LAYOUTS, NARROW, WIDE, log_axis, number, style, text_size
from roofcourse.plot.svg import tidy, variables_used
from roofcourse.second_sources import read_sweep

H100 = rc.device("h100")
EIGHT = [rc.device(key) for key in ("v100", "a100", "h100", "h200", "b300", "mi100", "mi210", "rtx4080")]
ROOF = H100.roofline("fp16")
BOTH = [rc.device(key).working_set_sweep("copy") for key in ("h100", "h200")]


def words_of(figure) -> list[str]:
    """All words in the wide drawing."""
    root = ET.fromstring(figure.svg)
    return ["".join(e.itertext()) for e in root.iter("{http://www.w3.org/2000/svg}text")]


def lines_of(figure):
    """The data of all drawn lines with two ends or more: (x, y) arrays in the axes' units."""
    (axes,) = figure.figure.axes
    return [line.get_xydata() for line in axes.lines]


def every_kind():
    parts = {"X": 2 * 16 * 8192, "A": 2 * 8192**2, "Y": 2 * 16 * 8192}
    yield rc.plot.roofline(ROOF, H100.m_sweep("fp16"))
    yield rc.plot.roofline([d.roofline("fp16") for d in EIGHT])
    yield rc.plot.roofline(H100.ceilings())
    yield rc.plot.bounds(rc.gemm(16, 8192, 8192, "fp16"), ROOF)
    yield rc.plot.m_sweep([d.m_sweep("fp16") for d in EIGHT], [d.roofline("fp16") for d in EIGHT])
    yield rc.plot.ridge_points([d.roofline("fp16") for d in EIGHT])
    yield rc.plot.peak_against_bandwidth([d.roofline("fp16") for d in EIGHT])
    yield rc.plot.traffic({"M = 16": parts})
    yield rc.plot.intensity(8192, 8192, "fp16", roofs=ROOF)
    yield rc.plot.working_set(H100.working_set_sweep("copy"), ROOF, levels={"L2": H100.l2_bytes})
    sweep, roof = H100.fma_sweep("fp32"), H100.roofline("fp32", "vector")
    yield rc.plot.fma_times(sweep, roof, lines=("max", "sum"), labelled=(64,))
    yield rc.plot.bars({"study": 802e12, "second": (825e12, 756e12, 850e12)}, "TFLOP/s", scale=1e12)


@pytest.fixture(scope="module")
def all_figures():
    return list(every_kind())


# values in the drawing


def test_the_roof_passes_through_the_ridge_point():
    figure = rc.plot.roofline(ROOF)
    corner = (ROOF.ridge_point, ROOF.peak / 1e12)
    roof = next(line for line in lines_of(figure) if len(line) == 3)
    assert roof[1] == pytest.approx(corner)
    assert roof[0, 1] == pytest.approx(ROOF.bandwidth * roof[0, 0] / 1e12)
    assert roof[2, 1] == pytest.approx(ROOF.peak / 1e12)


def test_measured_points_are_where_they_were_measured_and_hollow_if_unstable():
    sweep = rc.device("h200").m_sweep("fp16")
    assert not all(sweep.stable)
    (axes,) = rc.plot.roofline(rc.device("h200").roofline("fp16"), sweep).figure.axes
    drawn = [line for line in axes.lines if line.get_marker() == "s"]
    assert len(drawn) == len(sweep)
    for line, point in zip(drawn, sweep, strict=True):
        assert line.get_xydata()[0] == pytest.approx((point.intensity, point.flop_per_s / 1e12))
        hollow = line.get_markerfacecolor() == palette.role("surface").light
        assert hollow is not point.stable


def test_what_is_derived_has_a_mark_of_its_own():
    """Neither filled, as what was measured, nor hollow, as what was not stable."""
    measured = rc.device("rtx4080").m_sweep("fp64").at(m=2)
    work = rc.Work(16 * measured.work.flop, measured.work.bytes)
    derived = replace(measured, work=work, kind="derived", note="if 32 rows are executed")
    figure = rc.plot.roofline(rc.device("rtx4080").roofline("fp64"), [measured, derived], labels=["2 rows", "32 rows"])
    (axes,) = figure.figure.axes
    shapes = {line.get_marker(): line.get_xydata()[0] for line in axes.lines if line.get_marker() in ("*", "+")}
    # 2 * 32 * 8192^2 FLOP in 6.889 ms are 623 GFLOP/s; 16 times the FLOP on the same bytes
    assert shapes["+"] == pytest.approx((16 * measured.intensity, 623.4), rel=1e-3)
    assert shapes["*"] == pytest.approx((measured.intensity, 623.4 / 16), rel=1e-3)
    assert {"measured, bundled data", "derived: if 32 rows are executed"} <= set(words_of(figure))
    assert "1 measured point of RTX 4080 FP64" in figure.alt
    assert "Derived, not measured: 32 rows, 623 GFLOP/s at 8.00 FLOP/byte." in figure.alt


def test_the_answer_is_written_on_the_chart():
    words = words_of(rc.plot.roofline(ROOF))
    assert "ridge point 255 FLOP/byte" in words
    assert "F = 788 TFLOP/s" in words
    assert "B = 3\u202f085 GB/s" in words
    assert {"memory-bound", "compute-bound"} <= set(words)


def test_the_key_shows_the_mark_of_the_points():
    """A star where all points are stars; a disc only where there are several shapes."""
    small = rc.device("rtx4080")

    def keys(figure):
        return [x.get_marker() for x in figure.figure.lines + figure.figure.artists if x.get_marker() != "None"]

    assert keys(rc.plot.roofline(small.roofline("fp16"), small.m_sweep("fp16"))) == ["*"]
    assert keys(rc.plot.m_sweep(small.m_sweep("fp16"))) == ["*"]
    two = [*small.m_sweep("fp16"), *H100.m_sweep("fp16")]
    assert keys(rc.plot.roofline([small.roofline("fp16"), ROOF], two)) == ["o"]


def test_several_roofs_are_named_at_their_ends():
    words = words_of(rc.plot.roofline([d.roofline("fp16") for d in EIGHT]))
    for device in EIGHT:
        assert device.name in words
    assert "F" in words  # above the values: they are the heights of the roofs
    assert number(rc.device("b300").roofline("fp16").peak / 1e12) in words


def test_nominal_roofs_are_dashed():
    nominal = rc.Roofline(312e12, 2039e9, device="a100", precision="fp16", kind="nominal", label="A100 datasheet")
    figure = rc.plot.roofline([nominal, rc.device("a100").roofline("fp16")])
    dashed = [line for line in figure.figure.axes[0].lines if line.is_dashed() and len(line.get_xydata()) == 3]
    assert len(dashed) == 1
    assert dashed[0].get_ydata()[-1] == pytest.approx(312)
    assert any("nominal" in text for text in words_of(figure))
    assert "A100 datasheet (nominal): peak F 312 TFLOP/s" in figure.alt


def test_a_common_slope_is_drawn_once():
    """Dashes drawn over each other would fill their gaps: one line in one width, up to the highest ridge."""
    roofs = [
        rc.Roofline(peak, 2e12, "a100", precision, kind="nominal", path=path)
        for precision, peak, path in (("fp32", 19.5e12, "vector"), ("tf32", 156e12, "gemm"), ("fp16", 312e12, "gemm"))
    ]
    (axes,) = rc.plot.roofline(roofs, xlim=(1, 2000)).figure.axes
    rising = [line for line in axes.lines if np.ptp(line.get_ydata()) > 1]
    assert [line.get_xydata().tolist() for line in rising] == [[[1, 2], [156, 312]]]
    assert (rising[0].is_dashed(), rising[0].get_linewidth()) == (True, 2.4)
    flat = [line.get_xydata().tolist() for line in axes.lines if len(line.get_xdata()) == 2 and line not in rising]
    assert flat == [[[r.ridge_point, r.peak / 1e12], [2000, r.peak / 1e12]] for r in roofs]
    # two machines with two roofs each: two slopes, in their own colours
    pairs = [d.roofline("fp32", path) for d in (H100, rc.device("a100")) for path in ("gemm", "vector")]
    (axes,) = rc.plot.roofline(pairs).figure.axes
    colours = [line.get_color() for line in axes.lines if np.ptp(line.get_ydata()) > 1]
    assert colours == [palette.device(key).light for key in ("h100", "a100")]
    # what cannot be told apart is one slope, wherever it would be rounded to
    near = [rc.Roofline(1e13, 3.08449e12, "a100", "fp32"), rc.Roofline(1e14, 3.08451e12, "a100", "tf32")]
    (axes,) = rc.plot.roofline(near).figure.axes
    assert len([line for line in axes.lines if np.ptp(line.get_ydata()) > 1]) == 1


def test_crossing_and_its_range():
    first, second = ROOF, rc.device("h200").roofline("fp16")
    figure = rc.plot.roofline([first, second], crossing=True)
    # H200's F over H100's B: 756 / 3.085 = 245
    assert "cross at I = 245" in words_of(figure)
    figure = rc.plot.roofline([first, second], crossing=True, bands={first: (788e12, 800e12), second: (700e12, 756e12)})
    low = 700e12 / first.bandwidth
    assert any(f"from {number(low)}" in text for text in words_of(figure))
    # The words say the same. H100 at 800 and H200 at 700 TFLOP/s: 700 / 3.085 = 227; at 788 and 756: 245.
    assert "cross at 245 FLOP/byte; within the bands anywhere from 227 to 245." in figure.alt
    assert "Its F is between 700 and 756 by source." in figure.alt


@pytest.mark.parametrize(
    "bands", [None, {ROOF: (784e12, 832e12), rc.device("h200").roofline("fp16"): (756e12, 850e12)}]
)
def test_the_words_of_a_crossing_lie_on_no_roof(bands):
    """In the drawing for a phone the slopes run where the words used to stand."""
    figure = rc.plot.roofline([ROOF, rc.device("h200").roofline("fp16")], crossing=True, bands=bands)
    for layout in LAYOUTS:
        with style(layout):
            (axes,) = figure._draw(layout).axes
        (words,) = (t for t in axes.texts if "cross at" in t.get_text())
        box = Box(*words.get_window_extent().extents)
        assert box.inside(Box(*axes.get_window_extent().extents))
        for line in axes.lines:
            corners = axes.transData.transform(line.get_xydata())
            upright = len(set(line.get_xdata())) == 1  # where they cross: the words stand beside it
            assert upright or not any(box.crossed_by(*ends) for ends in itertools.pairwise(corners)), layout.name


def test_words_below_a_roof_lie_on_none_of_its_upright_lines():
    """Works, the ridge point and the two regions share the foot of the chart; the last tick keeps its whole label."""
    works = {"few rows": rc.gemm(7, 4096, 4096), "16 rows": rc.gemm(16, 8192, 8192), "128": rc.gemm(128, 8192, 8192)}
    named = {f"{name}: I\u00a0=\u00a0{number(float(work.intensity))}" for name, work in works.items()}
    figure = rc.plot.roofline(ROOF, H100.m_sweep("fp16")[2:4], works=works, xlim=(1, 1000))
    for layout in LAYOUTS:
        with style(layout):
            drawn = figure._draw(layout)
        (axes,) = drawn.axes
        uprights = [line for line in axes.lines if len(line.get_xdata()) == 2 and len(set(line.get_xdata())) == 1]
        assert len(uprights) == 4
        texts = [t for t in axes.texts if t.get_text() and not t.get_rotation()]
        shown = {t.get_text().replace("-\n", "-").replace("\n", " ") for t in texts}
        assert shown > {"memory-bound", *named}
        for text in texts:
            if layout is NARROW and text.get_text().replace("\n", " ") in named:
                continue  # on a phone a name may have no other room than across its neighbour's line
            box = Box(*text.get_window_extent().extents)
            for line in uprights:
                ends = axes.transData.transform(line.get_xydata())
                assert not box.crossed_by(*ends), (layout.name, text.get_text())
        last = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text() == number(1000)]
        assert [box.x1 <= layout.width for box in last] == [True]


def test_a_work_called_like_a_roof_ends_there_and_says_how_high():
    """A100 by its datasheet, 2.0 TB/s: 50 FLOP/byte are 19.5 in FP32 and 100 in TF32, 100 are 200 in FP16."""
    roofs = [
        rc.Roofline(peak, 2e12, "a100", precision, kind="nominal", path=path)
        for precision, peak, path in (("fp32", 19.5e12, "vector"), ("tf32", 156e12, "gemm"), ("fp16", 312e12, "gemm"))
    ]
    once, half = rc.Work(50.0, 1.0), rc.Work(50.0, 0.5)
    figure = rc.plot.roofline(roofs, works={"FP32": once, "TF32": once, "FP16": half, "some": half})
    uprights = [line for line in lines_of(figure) if len(line) == 2 and line[0, 0] == line[1, 0]]
    tops = [(line[1, 0], line[1, 1]) for line in uprights]
    # what is called like no roof reaches the highest
    assert tops == [pytest.approx(v) for v in ((50, 19.5), (50, 100), (100, 200), (100, 200))]
    assert {"FP32: 19.5 TFLOP/s", "TF32: 100 TFLOP/s", "FP16: 200 TFLOP/s", "some: I\u00a0=\u00a0100"} <= set(
        words_of(figure)
    )
    assert "counted: I = W/Q" in words_of(figure)  # the key of the upright lines
    assert "counted: I = W/Q" not in words_of(rc.plot.roofline(roofs))
    assert "FP32 has an intensity of 50.0 FLOP/byte, and reaches at most 19.5 TFLOP/s." in figure.alt
    assert "some has an intensity of 100 FLOP/byte." in figure.alt


def test_two_roofs_of_one_precision_say_which_is_the_product():
    mine = rc.bench("local", "bundled").device
    pairs = [device.roofline("fp32", path) for device in (mine, H100) for path in ("gemm", "vector")]
    names = ["this machine, product", "this machine, vector", "H100 product", "H100 vector"]
    assert reading.short_names(pairs) == names
    # FP16 has no vector roof here: nothing to tell it from
    ceilings = [H100.roofline("fp16"), H100.roofline("fp32"), H100.roofline("fp32", "vector")]
    assert reading.short_names(ceilings) == ["FP16", "FP32 product", "FP32 vector"]
    assert reading.short_names(ceilings[::2]) == ["FP16", "FP32 vector"]


@pytest.mark.parametrize(
    "figure",
    [
        rc.plot.fma_times(H100.fma_sweep("fp32"), H100.roofline("fp32", "vector"), labelled=(1, 64)),
        rc.plot.roofline(H100.ceilings(), works={"16 rows": rc.gemm(16, 8192, 8192)}),
        rc.plot.traffic_and_time(rc.bench("local", "bundled").loop_orders()),
        rc.plot.layers(H100.roofline("bf16"), [x for x in H100.layer_counters(linear=True) if x.prompt_length == 1024]),
    ],
    ids=["times", "roofline", "traffic", "layers"],
)
def test_no_gridline_runs_through_words(figure):
    """Behind words the grid ends, under all else that is drawn: a piece of the page around the whole word."""
    for layout in LAYOUTS:
        with style(layout):
            (axes,) = figure._draw(layout).axes
        papers = [c for c in axes.collections if c.get_zorder() == 0.8]
        assert {tuple(c.get_facecolor()[0]) for c in papers} == {to_rgba(palette.role("surface").light)}
        # a tint lies on the paper, which would be a hole in it otherwise
        assert all(x.get_zorder() > 0.8 for x in (*axes.patches, *axes.collections) if x not in papers)
        boxes = [c.get_paths()[0].get_extents(c.get_transform()) for c in papers]
        area, (low, floor) = axes.get_window_extent(), (axes.get_xlim()[0], axes.get_ylim()[0])
        xs = [axes.transData.transform((x, floor))[0] for x in axes.get_xticks()]
        ys = [axes.transData.transform((low, y))[1] for y in axes.get_yticks()]
        for text in axes.texts:
            words = text.get_window_extent()
            if not text.get_text() or text.get_rotation() or not area.contains(words.x0, words.y0):
                continue
            if any(words.x0 < x < words.x1 for x in xs) or any(words.y0 < y < words.y1 for y in ys):
                left, right, down, up = words.x0, words.x1, words.y0 + 0.1, words.y1 - 0.1
                assert any(b.contains(left, down) and b.contains(right, up) for b in boxes), text.get_text()


def test_the_name_of_a_slope_lies_on_no_point():
    figure = rc.plot.roofline(
        [H100.roofline(p) for p in ("fp64", "fp32", "fp16")],
        [*H100.m_sweep("fp64"), *H100.m_sweep("fp32"), *H100.m_sweep("fp16")],
        labels=None,
    )
    for layout in LAYOUTS:
        with style(layout):
            (axes,) = figure._draw(layout).axes
        (name,) = (t for t in axes.texts if t.get_text().startswith("B = "))
        width, height = text_size(name.get_text(), layout.small, "bold")
        angle = np.radians(name.get_rotation())
        for line in axes.lines:
            if len(line.get_xdata()) > 1:
                continue
            dx, dy = axes.transData.transform(line.get_xydata()[0]) - name.xy
            along, up = dx * np.cos(angle) + dy * np.sin(angle), dy * np.cos(angle) - dx * np.sin(angle)
            assert not (0 < along < width and 0 < up < 0.7 * height), layout.name


def test_bounds_bars_have_the_models_lengths():
    work = rc.gemm(16, 8192, 8192, "fp16")
    figure = rc.plot.bounds(work, ROOF)
    lengths = [bar.get_width() for bar in figure.figure.axes[0].patches]
    assert lengths == pytest.approx([work.flop / ROOF.peak * 1e6, work.bytes / ROOF.bandwidth * 1e6])
    assert "43.7\u00a0µs, memory-bound" in words_of(figure)


def test_m_sweep_draws_the_model_and_percent_of_it():
    figure = rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF)
    model = next(line for line in lines_of(figure) if len(line) == 41)
    for m, tflops in model[::7]:
        work = rc.gemm(m, 8192, 8192, "fp16")
        assert tflops == pytest.approx(ROOF.attainable(work.intensity) / 1e12)
    percent = rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF, show="percent")
    first = H100.m_sweep("fp16")[0]
    share = 100 * first.flop_per_s / ROOF.attainable(first.intensity)
    assert f"{share:.1f} % at M = 1," in percent.alt


def test_the_lines_of_an_m_sweep_bend_at_their_own_corners():
    """M* is 272 for an H100 in FP16 (788 TFLOP/s over 3085 GB/s, N = K = 8192), between two of 40 places."""
    pair = [H100, rc.device("b300")]
    figure = rc.plot.m_sweep([d.m_sweep("fp16") for d in pair], [d.roofline("fp16") for d in pair])
    lines = [line for line in lines_of(figure) if len(line) == 41]
    assert len(lines) == 2
    for device, line in zip(pair, lines, strict=True):
        roof = device.roofline("fp16")
        (corner,) = (row for row in line if row[0] == pytest.approx(roof_corner(roof)))
        assert corner[1] == pytest.approx(roof.peak / 1e12)
    assert roof_corner(ROOF) == pytest.approx(272.3, abs=0.05)


def roof_corner(roof, n=8192):
    """M with W/F = Q/B for N = K = n in two-byte numbers: 2Mn^2 / F = 2(2Mn + n^2) / B."""
    return n * roof.ridge_point / (n - 2 * roof.ridge_point)


def test_the_values_at_the_right_end_say_what_they_are_of():
    figure = rc.plot.m_sweep([d.m_sweep("fp16") for d in EIGHT])
    for layout in LAYOUTS:
        with style(layout):
            (axes,) = figure._draw(layout).axes
        (heading,) = (t for t in axes.texts if t.get_text() == "at M = 8192")
        box = heading.get_window_extent()
        others = [t.get_window_extent() for t in axes.texts if t is not heading and t.get_text()]
        assert not any(box.overlaps(other) for other in others)
        assert box.y1 <= layout.height - 4 - layout.text  # below the title
    short = [x for x in H100.m_sweep("fp16") if x.m <= 2048]
    mixed = rc.plot.m_sweep({"short": short, "B300": rc.device("b300").m_sweep("fp16")})
    assert "at the last M" in words_of(mixed)
    # three digits, as these values are compared: 96.0 beside 100
    percent = rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF, show="percent")
    assert "96.0" in words_of(percent)


def test_achieved_bandwidth_has_b_on_its_flat_part():
    flat = "B = 3\u202f085 GB/s"
    assert flat in words_of(rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF, show="bytes_per_s"))
    assert flat not in words_of(rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF))
    # a roof lower than what was measured: there the points stand where the words would be
    low = rc.Roofline(ROOF.peak, 2.6e12, device="h100", precision="fp16")
    crossed = rc.plot.m_sweep(H100.m_sweep("fp16"), low, show="bytes_per_s")
    assert "B = 2\u202f600 GB/s" not in words_of(crossed)


def test_unstable_points_are_seen_above_stable_ones():
    """H200 at M = 8192 is unstable and all but where the H100 is; it must neither be hidden nor hide it."""
    pair = [H100, rc.device("h200")]
    for highlight, inside in (("h100", "none"), (None, palette.role("surface").light)):
        (axes,) = rc.plot.m_sweep([d.m_sweep("fp16") for d in pair], highlight=highlight).figure.axes
        marks = [line for line in axes.lines if line.get_marker() in "os"]
        (hollow,) = (line for line in marks if line.get_markerfacecolor() != line.get_markeredgecolor())
        assert hollow.get_xdata().tolist() == [8192]
        assert hollow.get_markerfacecolor() == inside
        assert all(hollow.get_zorder() > line.get_zorder() for line in marks if line is not hollow)


def test_the_hollow_mark_of_the_key_has_the_shape_of_the_unstable_points():
    h200 = rc.device("h200")
    both = [x for d in (H100, h200) for x in d.m_sweep("fp16")]
    roofs = [H100.roofline("fp16"), h200.roofline("fp16")]
    for figure in (rc.plot.roofline(roofs, both), rc.plot.m_sweep(both)):
        drawn = figure.figure
        keys = [x for x in [*drawn.lines, *drawn.artists] if x.get_marker() not in ("None", None)]
        hollow = {x.get_marker() for x in keys if x.get_markerfacecolor() != x.get_markeredgecolor()}
        assert hollow == {"s"}  # of the H200: all of the H100 is stable


def test_intensity_marks_where_the_ridge_is_reached():
    figure = rc.plot.intensity(8192, 8192, "fp16", roofs=ROOF)
    # the check value of the data: M = 271.9 on an H100 in FP16
    assert "M = 272" in words_of(figure)
    # I = M/(1 + 2M/8192) = 0.9 M at M = 8192/18
    assert "at M = 455" in figure.alt
    # 4096 is never reached, and both drawings say so
    assert [f"{sign} 4\u202f096" in figure._raw[name] for name, sign in (("wide", "at most"), ("narrow", "≤"))] == [
        True
    ] * 2


def test_fma_times_draws_the_longer_time_and_the_sum():
    roof, sweep = H100.roofline("fp32", "vector"), H100.fma_sweep("fp32")
    figure = rc.plot.fma_times(sweep, roof, lines=("max", "sum"))
    assert {"max(W/F, Q/B)", "W/F + Q/B"} <= set(words_of(figure))
    longer, both = (line for line in lines_of(figure) if len(line) > 2)
    for (r, time), (_, total) in list(zip(longer, both, strict=True))[::9]:
        work = rc.fma_sweep(2**26, r, "fp32")
        assert time == pytest.approx(1e6 * roof.time(work))
        assert total == pytest.approx(1e6 * (work.flop / roof.peak + work.bytes / roof.bandwidth))
    # the sum is not the model: thinner, and with words of its own in the key
    model, after = (x for x in figure.figure.artists + figure.figure.lines if len(x.get_xdata()) == 2)
    assert (model.get_color(), after.get_color()) == (palette.role("ink").light, palette.role("accent").light)
    assert after.get_linewidth() < model.get_linewidth()
    assert {"model", "if one came after the other"} <= set(words_of(figure))
    # F/B = 19.9 FLOP/byte, 2R FLOP on 8 bytes: R = 79.7 at the corner
    assert "equal at 79.7 multiply-adds" in figure.alt
    alone = rc.plot.fma_times(sweep, roof, lines=(), labelled=(1, 64))
    assert all(len(line) == 1 for line in lines_of(alone))
    assert {"183 µs", "191 µs"} <= set(words_of(alone))


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_labelled_time_stands_nearest_to_its_own_point(layout):
    roof, sweep = H100.roofline("fp32", "vector"), H100.fma_sweep("fp32")
    with style(layout):
        (axes,) = rc.plot.fma_times(sweep, roof, lines=("max", "sum"), labelled=(64,))._draw(layout).axes
    (box,) = (t.get_window_extent() for t in axes.texts if t.get_text() == "191 µs")
    middle = np.array([(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2])
    places = {x.fma_per_element: axes.transData.transform((x.fma_per_element, x.seconds * 1e6)) for x in sweep}
    assert min(places, key=lambda r: np.hypot(*(places[r] - middle))) == 64


def test_a_figure_says_where_its_points_come_from():
    bundled = rc.plot.roofline(ROOF, H100.m_sweep("fp16"))
    assert "measured, bundled data" in words_of(bundled)
    assert "Source: Rooflines of twelve GPUs (2026)" in bundled.alt
    bench = rc.bench("local", "bundled")
    recorded = rc.plot.m_sweep(bench.m_sweep("fp32"), bench.device.roofline("fp32"))
    assert any(re.fullmatch(r"measured, run of \d{4}-\d\d-\d\d", text) for text in words_of(recorded))
    assert "this machine" in words_of(recorded)
    assert "throughput P (GFLOP/s)" in words_of(recorded)


def test_two_origins_with_marks_of_their_own_have_two_entries_in_the_key():
    mine = rc.bench("local", "bundled")
    own, card = mine.fma_sweep("fp32"), H100.fma_sweep("fp32")
    roofs = [d.roofline("fp32", "vector") for d in (mine.device, H100)]
    for figure in (rc.plot.roofline(roofs, [*own, *card]), rc.plot.working_set([mine.working_set_sweep(), *BOTH])):
        said = [text for text in words_of(figure) if text.startswith("measured, ") and "unstable" not in text]
        assert len(said) == 2
        assert "measured, bundled data" in said
        assert any(re.fullmatch(r"measured, run of \d{4}-\d\d-\d\d", text) for text in said)
    # one origin: one entry, whatever its shapes
    assert words_of(rc.plot.working_set(BOTH)).count("measured, bundled data") == 1


def test_ridge_points_are_ranked():
    bars = rc.plot.ridge_points([d.roofline("fp16") for d in EIGHT]).figure.axes[0].patches
    lengths = [bar.get_width() for bar in bars]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == pytest.approx(279.3, abs=0.05)
    assert lengths[-1] == pytest.approx(101.3, abs=0.05)


def test_what_is_nominal_is_called_so_in_words():
    bars = rc.plot.bars({"study": 802e12, "datasheet": 990e12}, "TFLOP/s", scale=1e12, nominal=["datasheet"])
    assert "study 802 TFLOP/s; datasheet 990 TFLOP/s (nominal)." in bars.alt


def test_bars_have_three_digits_and_a_colour_without_a_meaning():
    figure = rc.plot.bars({"one": 64.0e-6, "other": 65.94e-6}, "µs", scale=1e-6, quantity="time T")
    assert {"64.0 µs", "65.9 µs", "time T (µs)"} <= set(words_of(figure))
    assert "one 64.0 µs; other 65.9 µs." in figure.alt
    colours = {patch.get_facecolor() for patch in figure.figure.axes[0].patches}
    assert colours == {to_rgba(palette.role("muted").light)}


def test_traffic_stacks_to_the_total():
    figure = rc.plot.traffic({"M = 8192": {"X": 1e6, "A": 2e6, "Y": 1e6}}, share=True)
    bars = figure.figure.axes[0].patches
    assert [bar.get_width() for bar in bars] == pytest.approx([25, 50, 25])
    assert "A 2.00 MB (50 %)" in figure.alt


def test_working_set_levels():
    figure = rc.plot.working_set(H100.working_set_sweep("copy"), ROOF, levels={"L2": 50 * 2**20})
    assert "L2, 50 MiB" in words_of(figure)
    assert "B 3085 GB/s" in figure.alt


def test_a_working_set_sweep_ends_with_its_memory_not_with_its_last_point():
    """The H100 PCIe of gpu-benches reads at 1981 GB/s from memory (the median); its last point alone dipped to 1764."""
    figure = rc.plot.working_set({"H100 PCIe": read_sweep("H100 PCIe")})
    memory = rc.memory_levels("H100 PCIe")[1]
    assert {number(memory.bandwidth / 1e9), "median from 512 MiB"} <= set(words_of(figure))
    assert number(1764) not in words_of(figure)
    assert figure.alt.count("1764 GB/s at 4.66 GiB, median 1981 GB/s from 512 MiB.") == 1
    # a sweep that ends earlier shows its last point, and says at which size
    short = [x for x in H100.working_set_sweep("copy") if x.working_set_bytes <= 128 * 2**20]
    assert {number(short[-1].bytes_per_s / 1e9), "at 128 MiB"} <= set(words_of(rc.plot.working_set(short)))
    # the study's copies have one point in memory: no median
    assert "at 512 MiB" in words_of(rc.plot.working_set(H100.working_set_sweep("copy")))


def test_a_name_stands_at_the_height_of_its_value():
    """The H100 PCIe at its median and not at its last point, which lies on the A100's; no leaders are needed then."""
    cards = {"A100": read_sweep("A100 80GB"), "H100 PCIe": read_sweep("H100 PCIe")}
    (axes,) = rc.plot.working_set(cards).figure.axes
    (name,) = (t for t in axes.texts if t.get_text() == "H100 PCIe")
    height = axes.transData.transform((1e9, rc.memory_levels("H100 PCIe")[1].bandwidth / 1e9))[1]
    assert name.xyann[1] == pytest.approx(height, abs=3)
    assert not [t for t in axes.texts if t.arrow_patch]


def test_the_leader_of_a_series_that_ends_early_starts_at_its_last_point():
    h200 = rc.device("h200")
    sweeps = {"copy": h200.working_set_sweep("copy"), "read": read_sweep("h200")}
    (axes,) = rc.plot.working_set(sweeps).figure.axes
    last = max(sweeps["copy"], key=lambda x: x.working_set_bytes)
    x, y = axes.transData.transform((last.working_set_bytes, last.work.bytes / last.seconds / 1e9))
    leaders = [t.xy for t in axes.texts if t.arrow_patch and t.xy[0] < axes.get_window_extent().x1]
    assert leaders == [pytest.approx((x + 6.5, y))]  # right of its mark


def test_a_lone_working_set_sweep_says_how_much_faster_its_fastest_point_is():
    products = rc.bench("local", "bundled").cached_products()
    # 55.0 GB/s at 258 KiB, 20.0 at 256 MiB
    assert products[0].bytes_per_s / products[-1].bytes_per_s == pytest.approx(2.75, abs=0.01)
    figure = rc.plot.working_set(products)
    said = "55.0 GB/s, 2.8 × the 20.0"
    assert {said, "20.0"} <= set(words_of(figure))
    several = rc.plot.working_set([products, H100.working_set_sweep("copy")])
    assert not any("×" in text for text in words_of(several))
    level = [x for x in products if x.bytes_per_s < 22e9]  # no point is clearly faster
    assert not any("×" in text for text in words_of(rc.plot.working_set(level)))


# words, bytes, sizes


def test_every_figure_says_in_words_what_it_shows(all_figures):
    for figure in all_figures:
        assert len(figure.alt) > 50
        assert re.search(r"\d", figure.alt)
        page = figure._repr_html_()
        assert 'role="img"' in page
        assert html.unescape(re.search(r'aria-label="([^"]+)"', page)[1]) == figure.alt
        title = ET.fromstring(figure.svg).find("{http://www.w3.org/2000/svg}title")
        assert title.text == figure.alt


def test_alternative_text_of_a_roofline_names_device_f_and_b():
    alt = rc.plot.roofline(ROOF, H100.m_sweep("fp16")).alt
    assert "H100 FP16: peak F 788 TFLOP/s, bandwidth B 3085 GB/s, ridge point 255 FLOP/byte." in alt
    assert "13 measured points of H100 FP16: from 2.87 TFLOP/s at 1.00 FLOP/byte" in alt


def test_two_renders_are_the_same_bytes(all_figures, tmp_path):
    for first, second in zip(all_figures, every_kind(), strict=True):
        assert first._repr_html_() == second._repr_html_()
        assert first.svg == second.svg
    figure = all_figures[0]
    for kind in ("svg", "pdf", "png"):
        one, two = figure.save(tmp_path / f"one.{kind}"), figure.save(tmp_path / f"two.{kind}")
        assert one.read_bytes() == two.read_bytes()
        assert len(one.read_bytes()) > 1000


def test_figures_are_small_well_formed_and_have_no_repeated_ids(all_figures):
    ids = []
    for figure in all_figures:
        page = figure._repr_html_()
        assert len(page.encode()) <= 60_000
        for svg in re.findall(r"<svg.*?</svg>", page, flags=re.S):
            ET.fromstring(svg)
            ids += re.findall(r' id="([^"]+)"', svg)
            assert set(re.findall(r'href="#([^"]+)"', svg)) <= set(ids)
        ET.fromstring(figure.svg)
    assert len(ids) == len(set(ids))


def test_colours_follow_the_page(all_figures):
    for figure in all_figures:
        page = figure._repr_html_()
        drawings = "".join(re.findall(r"<svg.*?</svg>", page, flags=re.S))
        bare = re.sub(r"var\(--rc-[a-z0-9-]+,#[0-9a-f]{6}\)", "", drawings)
        assert re.findall(r"#[0-9a-f]{6}\b", re.sub(r"(url\(#|\"#|id=\")[^\")]+", "", bare)) == []
        defined = set(re.findall(r"(--rc-[a-z0-9-]+):", page))
        assert variables_used(page) <= defined
        assert "font-family" not in drawings
        assert "var(" not in figure.svg


def test_a_phone_gets_its_own_drawing_with_readable_words(all_figures):
    for figure in all_figures:
        page = figure._repr_html_()
        narrow = re.search(r'<svg class="rc-narrow".*?</svg>', page, flags=re.S)[0]
        assert re.search(r'viewBox="0 0 350 ', narrow)
        sizes = [float(size) for size in re.findall(r"font-size:([\d.]+)px", narrow)]
        assert min(sizes) >= 11


def test_tidy_removes_what_would_leak_into_the_page():
    raw = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 20">'
        '<metadata><a/></metadata><defs><style type="text/css">*{stroke-linejoin: round}</style></defs>'
        '<g id="figure_1"><defs><path id="m1" d="M 0 0 \nL 1.23456 2 \nz\n" style="fill: #1b1f24"/></defs>'
        '<use xlink:href="#m1" x="1.26" y="2.04" style="fill: #1b1f24"/></g></svg>'
    )
    out = tidy(raw, "p-", themed=True)
    assert "<style" not in out
    assert "metadata" not in out
    assert '<path id="p-0" d="M0 0L1.23 2z" style="fill:var(--rc-ink,#1b1f24)"/>' in out
    assert 'href="#p-0"' in out
    assert 'x="1.3"' in out


# labels


def test_twenty_labels_over_three_cards():
    """20 labelled points under three rooflines: no label on another, on a point, or outside the axes."""
    cards = [rc.device(key) for key in ("a100", "h100", "h200")]
    points = [p for card, count in zip(cards, (7, 7, 6), strict=True) for p in card.m_sweep("fp16")[:count]]
    assert len(points) == 20
    names = [f"{rc.device(p.device).name}, M = {p.m}" for p in points]
    figure = rc.plot.roofline([card.roofline("fp16") for card in cards], points, labels=names).figure
    (axes,) = figure.axes
    area = axes.get_window_extent()
    written = {t.get_text(): t.get_window_extent() for t in axes.texts if t.get_text() in names}
    assert set(written) == set(names)
    boxes = {name: Box(b.x0, b.y0, b.x1, b.y1) for name, b in written.items()}
    for (a, box_a), (b, box_b) in itertools.combinations(boxes.items(), 2):
        assert not box_a.overlaps(box_b), f"{a} on {b}"
    for name, box in boxes.items():
        # the axes have no line at the top and at the right: a label may stand a few pixels beyond
        assert box.inside(Box(area.x0, area.y0, area.x1 + 9, area.y1 + 7)), name
        for point in points:
            x, y = axes.transData.transform((point.intensity, point.flop_per_s / 1e12))
            assert not box.overlaps(Box.around(x, y, WIDE.marker / 2)), f"{name} on {point.label}"


@pytest.mark.parametrize("seed", range(8))
def test_placed_labels_never_collide(seed):
    rng = np.random.default_rng(seed)
    inside = Box(0, 0, 600, 400)
    labels = [
        Label(f"label {i}", x, y, 60, 12)
        for i, (x, y) in enumerate(zip(rng.uniform(20, 580, 20), rng.uniform(20, 380, 20), strict=True))
    ]
    lines = [((0, 0), (400, 300)), ((400, 300), (600, 300))]
    places = place(labels, inside, [Box(250, 150, 350, 200)], lines)
    assert places == place(labels, inside, [Box(250, 150, 350, 200)], lines)
    assert None not in places
    for a, b in itertools.combinations(places, 2):
        assert not a.box.overlaps(b.box)
    for spot in places:
        assert spot.box.inside(inside)
        assert not spot.box.overlaps(Box(250, 150, 350, 200))
        for label in labels:
            assert not spot.box.overlaps(Box.around(label.x, label.y, label.radius))


def test_a_lonely_label_stands_right_of_its_point_and_avoids_lines():
    (spot,) = place([Label("a", 100, 100, 20, 10, radius=4)], Box(0, 0, 200, 200))
    assert spot.box == Box(107, 95, 127, 105)
    assert spot.leader is None
    (spot,) = place([Label("a", 100, 100, 20, 10, radius=4)], Box(0, 0, 200, 200), lines=[((100, 100), (200, 100))])
    assert spot.box.y0 > 100


def test_a_label_beyond_a_line_is_tied_to_its_point():
    label = Label("a", 100, 100, 20, 10, radius=3)
    # right, left and below there is no room; above, 5 pixels off the mark, another line is nearer to the words
    (spot,) = place([label], Box(0, 94, 200, 200), lines=[((0, 106), (200, 106))])
    assert spot.box.y0 > 108
    assert spot.leader == ((100, 104), (100, spot.box.y0))


def test_a_label_does_not_stand_beside_the_mark_of_another():
    labels = [Label("a", 100, 100, 60, 10), Label("b", 100, 84, 10, 10)]
    roof = ((90, 104), (200, 110))  # above the upper mark, and across what stands right of it
    upper, lower = place(labels, Box(92, 0, 300, 300), lines=[roof])
    assert upper.leader
    assert upper.box.y0 > 106  # not right of the lower mark, which is nearer
    assert (lower.box.x0, lower.leader) == (107, None)


def test_a_label_without_room_is_reported():
    assert place([Label("a", 5, 5, 20, 10)], Box(0, 0, 10, 10)) == [None]
    crowd = [f"a long label that is far too long for its point {i}" * 3 for i in range(13)]
    with pytest.raises(ValueError, match=r"no room for the label .*label fewer points"):
        rc.plot.roofline(ROOF, H100.m_sweep("fp16"), labels=crowd)


def test_box_crossed_by_a_line():
    box = Box(0, 0, 10, 10)
    assert box.crossed_by((-5, 5), (15, 5))
    assert box.crossed_by((-5, -5), (15, 15))
    assert box.crossed_by((2, 2), (3, 3))
    assert not box.crossed_by((-5, 5), (-1, 5))
    assert not box.crossed_by((0, 11), (10, 11))
    assert not box.crossed_by((-5, 8), (2, 15))


def test_spread_moves_labels_apart_and_no_further():
    assert spread([10, 50], [10, 10], 0, 100) == [10, 50]
    assert spread([50, 50], [10, 10], 0, 100) == [45, 55]
    assert spread([50, 52, 54], [10, 10, 10], 0, 100) == pytest.approx([42, 52, 62])
    assert spread([0, 0], [10, 10], 0, 100) == [5, 15]
    assert spread([98, 99], [10, 10], 0, 100) == [85, 95]
    assert spread([55, 50], [10, 10], 0, 100) == pytest.approx([57.5, 47.5])
    assert spread([5, 5, 5, 5], [10, 10, 10, 10], 0, 20) == pytest.approx([2.5, 7.5, 12.5, 17.5])
    assert spread([], [], 0, 1) == []


def test_words_fit_into_the_drawing(all_figures):
    """Every word, measured in the wide DejaVu Sans, ends inside the drawing."""
    for figure in all_figures:
        for layout in (WIDE, NARROW):
            with style(layout):
                drawn = figure._draw(layout)
            width, height = drawn.get_size_inches() * 72
            for text in [*drawn.texts, *drawn.axes[0].texts]:
                if text.get_text():
                    box = text.get_window_extent()
                    assert box.x0 >= -1, (figure.alt[:50], layout.name, text.get_text())
                    assert box.x1 <= width + 1, (figure.alt[:50], layout.name, text.get_text())
                    assert box.y0 >= -1, (figure.alt[:50], layout.name, text.get_text())
                    assert box.y1 <= height + 1, (figure.alt[:50], layout.name, text.get_text())


def test_numbers_on_ticks():
    assert [number(v) for v in (0.1, 1, 10, 47.46)] == ["0.1", "1", "10", "47.5"]
    assert [number(v) for v in (1000, 2048)] == ["1\u202f000", "2\u202f048"]


def test_text_size_is_measured_in_pixels():
    wide, _ = text_size("memory-bound", 13)
    half, _ = text_size("memory-bound", 6.5)
    assert wide == pytest.approx(2 * half, rel=0.06)
    assert 70 < wide < 110


# wrong input


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rc.plot.roofline(H100), "rc.plot.roofline needs Rooflines"),
        (lambda: rc.plot.roofline([]), "at least one Roofline"),
        (lambda: rc.plot.roofline(ROOF, 7), "draws measurements"),
        (lambda: rc.plot.roofline(ROOF, ["fast"]), "draws measurements"),
        (lambda: rc.plot.roofline(ROOF, highlight="h300"), "nothing drawn is called 'h300'"),
        (lambda: rc.plot.roofline(ROOF, crossing=True), "exactly two roofs"),
        (lambda: rc.plot.roofline(ROOF, xlim=(0, 10)), "xlim must be 0 < low < high"),
        (lambda: rc.plot.roofline(ROOF, H100.m_sweep("fp16"), labels=["a"]), "1 labels for 13 points"),
        (lambda: rc.plot.roofline(ROOF, H100.m_sweep("fp16"), labels="all"), "labels is 'auto'"),
        (lambda: rc.plot.roofline(ROOF, works=3), "needs a Work or a dict"),
        (lambda: rc.plot.roofline(ROOF, bands={rc.device("a100").roofline("fp16"): (1, 2)}), "not drawn"),
        (lambda: rc.plot.bounds(rc.gemm([1, 2], 8, 8), ROOF), "holds an array"),
        (lambda: rc.plot.bounds(rc.gemm(1, 8, 8), "h100"), "needs one Roofline"),
        (lambda: rc.plot.m_sweep(H100.m_sweep("fp16"), show="speed"), "show is one of"),
        (lambda: rc.plot.m_sweep(H100.working_set_sweep()), "needs matrix products"),
        (lambda: rc.plot.m_sweep(H100.matmul_sweep("fp16")), "one N and K"),
        (lambda: rc.plot.m_sweep(H100.m_sweep("bf16"), ROOF), "no roof among those given belongs to H100"),
        (lambda: rc.plot.m_sweep(H100.m_sweep("fp16"), show="percent"), "needs the roofs"),
        (lambda: rc.plot.working_set(rc.device("h100").m_sweep("fp16"), levels=3), "levels is"),
        (lambda: rc.plot.intensity(precision="fp17"), "fp17"),
        (lambda: rc.plot.intensity(m=(0, 5)), "m is"),
        (lambda: rc.plot.fma_times(H100.m_sweep("fp16"), ROOF), "needs the FMA kernel's measurements"),
        (lambda: rc.plot.fma_times(H100.fma_sweep("fp32"), ROOF, lines=("mean",)), "lines are any of"),
        (lambda: rc.plot.fma_times(H100.fma_sweep("fp32"), ROOF, labelled=(3,)), "labelled are any of 1, 2, 4"),
        (lambda: rc.plot.traffic({}), "needs"),
        (lambda: rc.plot.traffic({"a": {"X": -1}}), "bytes are finite"),
        (lambda: rc.plot.bars({}, "s"), "at least one bar"),
        (lambda: rc.plot.bars({"a": (5, 6, 7)}, "s"), "outside its own range"),
        (lambda: rc.plot.bars({"a": 5}, "s", nominal=["b"]), "no bar 'b'"),
    ],
)
def test_wrong_input_is_one_line(call, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the message is checked below
        call()
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_saving_to_the_wrong_place(tmp_path):
    figure = rc.plot.bounds(rc.gemm(1, 8, 8), ROOF)
    with pytest.raises(ValueError, match=r"saved as \.svg, \.pdf or \.png"):
        figure.save(tmp_path / "a.gif")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        figure.save(tmp_path / "nowhere" / "a.svg")


@pytest.mark.parametrize("name", ["a.svg", "a.png", "a.pdf"])
def test_where_a_chart_cannot_be_written_the_old_one_stays(name, tmp_path, monkeypatch):
    figure = rc.plot.bounds(rc.gemm(1, 8, 8), ROOF)
    path = tmp_path / name
    path.write_text("the old chart", encoding="utf-8")

    def full(*names):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(records.os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        figure.save(path)
    assert path.read_text(encoding="utf-8") == "the old chart"
    assert list(tmp_path.iterdir()) == [path]  # nor is half of the new one left


def test_words_stand_at_the_same_places_in_every_format(tmp_path):
    """A .png has twice the pixels of the .svg: each word of the chart has ink there at twice its place, or it moved."""
    from matplotlib.image import imread

    figure = rc.plot.roofline([ROOF, rc.device("h200").roofline("fp16")], H100.m_sweep("fp16"), crossing=True)
    light = imread(figure.save(tmp_path / "a.png"))[..., :3].min(axis=2)
    assert light.shape == (2 * WIDE.height, 2 * WIDE.width)
    root = ET.parse(figure.save(tmp_path / "a.svg")).getroot()
    found = 0
    for text in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y = float(text.get("x")), float(text.get("y"))  # the middle, an end or the start of the base line
        rows, columns = slice(round(2 * y) - 20, round(2 * y)), slice(max(0, round(2 * x) - 24), round(2 * x) + 24)
        assert light[rows, columns].min() < 0.55, text.text
        found += 1
    assert found > 20


def test_matplotlib_is_loaded_only_when_a_figure_is_drawn():
    code = (
        "import sys, roofcourse as rc; rc.plot; assert 'matplotlib' not in sys.modules; "
        "sys.modules['matplotlib'] = None\n"
        "try:\n rc.plot.roofline(rc.device('h100').roofline('fp16'))\n"
        "except ImportError as error:\n print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "figures need matplotlib: pip install 'roofcourse[book]'"


def test_a_run_is_a_device_beside_the_cards_in_every_chart_that_takes_one():
    mine = rc.bench("local", "bundled")
    own, sweep = mine.device, mine.m_sweep("fp32")
    both = [own.roofline("fp32"), H100.roofline("fp32")]
    figures = [
        rc.plot.roofline([*own.ceilings(), *both[1:]], [*sweep, *H100.m_sweep("fp32")], labels=None),
        rc.plot.working_set([mine.working_set_sweep(), H100.working_set_sweep("copy")]),
        rc.plot.ridge_points(both),
        rc.plot.peak_against_bandwidth(both),
        *(rc.plot.m_sweep([sweep, H100.m_sweep("fp32")], both, show=s) for s in ("flop_per_s", "seconds", "percent")),
    ]
    for figure in figures:
        assert "H100" in figure.alt
        assert "AMD EPYC" in figure.alt or "this machine" in figure.alt
        assert "<svg" in figure.svg
    # Each series with the model of its own N = K: the products of a CPU are smaller.
    first = 2 * 4096**2 / sweep.at(m=1).seconds / 1e12
    assert f"this machine, N = K = 4096: {first:.3g} TFLOP/s at M = 1" in figures[4].alt
    assert "H100, N = K = 8192: 1.46 TFLOP/s at M = 1" in figures[4].alt


def boxes_of(figure, words: str) -> list:
    """The boxes of the words in the wide drawing, in pixels."""
    return [t.get_window_extent() for t in figure.figure.axes[0].texts if t.get_text().replace("-\n", "-") == words]


def test_a_shared_slope_is_named_where_it_is_longest():
    # ridge points of the RTX 4080: FP64 1.1, FP32 58, FP16 158 FLOP/byte; from 0.1 on the longest stretch is the second
    card = rc.device("rtx4080")
    figure = rc.plot.roofline([card.roofline(p) for p in ("fp64", "fp32", "fp16")], xlim=(0.1, 5000), ylim=(2e10, 4e15))
    axes = figure.figure.axes[0]
    (box,) = boxes_of(figure, "B = 661 GB/s")
    low, high = (axes.transData.transform((card.roofline(p).ridge_point, 1))[0] for p in ("fp64", "fp32"))
    assert low - 10 < box.x0 < box.x1 < high


def test_a_long_name_takes_two_lines_on_a_phone_and_the_plot_has_the_room():
    def axes_of(name):
        roofs = [rc.Roofline(6e13, 3e12, label="H100 vector"), rc.Roofline(2e11, 8e10, label=name)]
        figure = rc.plot.roofline(roofs)
        with style(NARROW):
            return figure._draw(NARROW).axes[0]

    short, long = axes_of("this machine"), axes_of("this machine vector")
    assert "this machine\nvector" in [text.get_text() for text in long.texts]
    assert long.get_window_extent().width == short.get_window_extent().width


def test_what_stands_at_a_ridge_or_an_upright_line_lies_on_nothing_on_a_phone():
    shared = [rc.Roofline(peak, 2e12, label=name) for peak, name in ((19.5e12, "FP32 vector"), (312e12, "FP16"))]
    works = {"L2 bytes": rc.Work(flop=115, bytes=1), "memory bytes": rc.Work(flop=826, bytes=1)}
    levels = [rc.Roofline(815e12, b, label=name) for b, name in ((9.827e12, "L2"), (3.889e12, "memory"))]
    with style(NARROW):
        drawn = rc.plot.roofline(shared, xlim=(1, 2000), ylim=(1e12, 1e15))._draw(NARROW)
        (axes,) = drawn.axes
        slope = next(t for t in axes.texts if t.get_text().startswith("B ="))
        for text in (t for t in axes.texts if t.get_text().startswith("ridge")):
            assert not text.get_window_extent().overlaps(slope.get_window_extent())
        (axes,) = rc.plot.roofline(levels, works=works, xlim=(5, 3000), ylim=(3e13, 2e15))._draw(NARROW).axes
        words = {t.get_text() for t in axes.texts}
        name = next(t for t in axes.texts if t.get_text().startswith("memory\nbytes")).get_window_extent()
        upright = axes.transData.transform((826, 100))[0]
    assert upright < name.x0
    # 815 TFLOP/s over 9.827 and 3.889 TB/s
    assert {"ridge 82.9", "ridge 210", "memory\nbytes:\nI\u00a0=\u00a0826"} <= words


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_ridge_points_that_lie_close_are_told_apart(layout):
    """The ridges of this machine's vector and product roofs: each label above its own roof, in the order of these."""
    ceilings = rc.bench("local", "bundled").device.ceilings()
    with style(layout):
        (axes,) = rc.plot.roofline(ceilings)._draw(layout).axes
    found = {t.get_text(): t.get_window_extent() for t in axes.texts if t.get_text().startswith("ridge")}
    rising = sorted(ceilings, key=lambda roof: roof.peak)
    boxes = [found[f"ridge {number(roof.ridge_point)}"] for roof in rising]
    assert all(low.y1 <= high.y0 for low, high in itertools.pairwise(boxes))
    for roof, box in zip(rising, boxes, strict=True):
        x, y = axes.transData.transform((roof.ridge_point, roof.peak / 1e9))
        assert box.x1 < x
        assert (box.y0 + box.y1) / 2 > y


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_no_leader_runs_into_the_mark_of_a_ridge(layout):
    """RTX 4080, FP8: the point at M = 128 lies beside the ridge point."""
    card = rc.device("rtx4080")
    roof = card.roofline("fp8")
    with style(layout):
        (axes,) = rc.plot.roofline(roof, card.m_sweep("fp8"))._draw(layout).axes
    tick = Box.around(*axes.transData.transform((roof.ridge_point, roof.peak / 1e12)), 1, 5)
    assert "128" in {t.get_text() for t in axes.texts}
    assert not any(tick.crossed_by(t.xy, t.xyann) for t in axes.texts if t.arrow_patch)


@pytest.mark.parametrize(
    ("low", "high", "room", "ticks"),
    [
        (1, 1000, 300, [1, 10, 100, 1000]),
        (20, 700, 300, [20, 50, 100, 200, 500]),
        (400, 1000, 250, [500, 700, 1000]),
        (400, 650, 250, [400, 500, 600]),
        (14, 80, 260, [20, 30, 50, 70]),  # 60 would stand 24 pixels from 70
        (14, 80, 120, [20, 50]),
    ],
)
def test_a_short_log_axis_has_ticks_that_fit(low, high, room, ticks):
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    log_axis(axes.yaxis, low, high, room=room, least=24)
    assert list(axes.yaxis.get_major_locator()()) == pytest.approx(ticks)
