"""The figures: right values in the drawing, words for those who do not see it, labels on nothing, the same bytes."""

from __future__ import annotations

import html
import itertools
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="figures need matplotlib (the extra 'book')")

import roofcourse as rc
from roofcourse import palette
from roofcourse.plot.labels import Box, Label, place, spread
from roofcourse.plot.style import NARROW, WIDE, number, style, text_size
from roofcourse.plot.svg import tidy, variables_used

H100 = rc.device("h100")
EIGHT = [rc.device(key) for key in ("v100", "a100", "h100", "h200", "b300", "mi100", "mi210", "rtx4080")]
ROOF = H100.roofline("fp16")


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
    yield rc.plot.fma_times(H100.fma_sweep("fp32"), H100.roofline("fp32", "vector"), lines=("max", "sum"))
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


def test_the_answer_is_written_on_the_chart():
    words = words_of(rc.plot.roofline(ROOF))
    assert "ridge point 255 FLOP/byte" in words
    assert "F = 788 TFLOP/s" in words
    assert "B = 3\u202f085 GB/s" in words
    assert {"memory-bound", "compute-bound"} <= set(words)


def test_several_roofs_are_named_at_their_ends():
    words = words_of(rc.plot.roofline([d.roofline("fp16") for d in EIGHT]))
    for device in EIGHT:
        assert device.name in words
    assert number(rc.device("b300").roofline("fp16").peak / 1e12) in words


def test_nominal_roofs_are_dashed():
    nominal = rc.Roofline(312e12, 2039e9, device="a100", precision="fp16", kind="nominal", label="A100 datasheet")
    figure = rc.plot.roofline([nominal, rc.device("a100").roofline("fp16")])
    dashed = [line for line in figure.figure.axes[0].lines if line.is_dashed() and len(line.get_xydata()) == 3]
    assert len(dashed) == 1
    assert dashed[0].get_ydata()[-1] == pytest.approx(312)
    assert any("nominal" in text for text in words_of(figure))
    assert "A100 datasheet (nominal): peak F 312 TFLOP/s" in figure.alt


def test_crossing_and_its_range():
    first, second = ROOF, rc.device("h200").roofline("fp16")
    figure = rc.plot.roofline([first, second], crossing=True)
    # H200's F over H100's B: 756 / 3.085 = 245
    assert "cross at I = 245" in words_of(figure)
    figure = rc.plot.roofline([first, second], crossing=True, bands={first: (788e12, 800e12), second: (700e12, 756e12)})
    low = 700e12 / first.bandwidth
    assert any(f"from {number(low)}" in text for text in words_of(figure))


def test_bounds_bars_have_the_models_lengths():
    work = rc.gemm(16, 8192, 8192, "fp16")
    figure = rc.plot.bounds(work, ROOF)
    lengths = [bar.get_width() for bar in figure.figure.axes[0].patches]
    assert lengths == pytest.approx([work.flop / ROOF.peak * 1e6, work.bytes / ROOF.bandwidth * 1e6])
    assert "43.7\u00a0µs, memory-bound" in words_of(figure)


def test_m_sweep_draws_the_model_and_percent_of_it():
    figure = rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF)
    model = next(line for line in lines_of(figure) if len(line) == 40)
    for m, tflops in model[::7]:
        work = rc.gemm(m, 8192, 8192, "fp16")
        assert tflops == pytest.approx(ROOF.attainable(work.intensity) / 1e12)
    percent = rc.plot.m_sweep(H100.m_sweep("fp16"), ROOF, show="percent")
    first = H100.m_sweep("fp16")[0]
    share = 100 * first.flop_per_s / ROOF.attainable(first.intensity)
    assert f"{share:.1f} % at M = 1," in percent.alt


def test_intensity_marks_where_the_ridge_is_reached():
    figure = rc.plot.intensity(8192, 8192, "fp16", roofs=ROOF)
    # the check value of the data: M = 271.9 on an H100 in FP16
    assert "M = 272" in words_of(figure)
    # I = M/(1 + 2M/8192) = 0.9 M at M = 8192/18
    assert "at M = 455" in figure.alt


def test_fma_times_draws_the_longer_time_and_the_sum():
    roof, sweep = H100.roofline("fp32", "vector"), H100.fma_sweep("fp32")
    figure = rc.plot.fma_times(sweep, roof, lines=("max", "sum"))
    assert {"max(W/F, Q/B)", "W/F + Q/B"} <= set(words_of(figure))
    longer, both = (line for line in lines_of(figure) if len(line) > 2)
    for (r, time), (_, total) in list(zip(longer, both, strict=True))[::9]:
        work = rc.fma_sweep(2**26, r, "fp32")
        assert time == pytest.approx(1e6 * roof.time(work))
        assert total == pytest.approx(1e6 * (work.flop / roof.peak + work.bytes / roof.bandwidth))
    # F/B = 19.9 FLOP/byte, 2R FLOP on 8 bytes: R = 79.7 at the corner
    assert "equal at 79.7 multiply-adds" in figure.alt
    alone = rc.plot.fma_times(sweep, roof, lines=())
    assert all(len(line) == 1 for line in lines_of(alone))


def test_a_figure_says_where_its_points_come_from():
    bundled = rc.plot.roofline(ROOF, H100.m_sweep("fp16"))
    assert "measured, bundled data" in words_of(bundled)
    assert "Source: Rooflines of twelve GPUs (2026)" in bundled.alt
    bench = rc.bench("local", "bundled")
    recorded = rc.plot.m_sweep(bench.m_sweep("fp32"), bench.device.roofline("fp32"))
    assert any(re.fullmatch(r"measured, run of \d{4}-\d\d-\d\d", text) for text in words_of(recorded))
    assert "this machine" in words_of(recorded)
    assert "throughput P (GFLOP/s)" in words_of(recorded)


def test_ridge_points_are_ranked():
    bars = rc.plot.ridge_points([d.roofline("fp16") for d in EIGHT]).figure.axes[0].patches
    lengths = [bar.get_width() for bar in bars]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[0] == pytest.approx(279.3, abs=0.05)
    assert lengths[-1] == pytest.approx(101.3, abs=0.05)


def test_traffic_stacks_to_the_total():
    figure = rc.plot.traffic({"M = 8192": {"X": 1e6, "A": 2e6, "Y": 1e6}}, share=True)
    bars = figure.figure.axes[0].patches
    assert [bar.get_width() for bar in bars] == pytest.approx([25, 50, 25])
    assert "A 2.00 MB (50 %)" in figure.alt


def test_working_set_levels():
    figure = rc.plot.working_set(H100.working_set_sweep("copy"), ROOF, levels={"L2": 50 * 2**20})
    assert "L2, 50 MiB" in words_of(figure)
    assert "B 3085 GB/s" in figure.alt


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
