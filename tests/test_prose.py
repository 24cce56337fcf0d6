"""Every marked figure in the prose equals what the data give."""

import pytest
from prose import GENERATED, agrees, evaluate, figures, texts, unmarked
from unmarked import ALLOWED, RECOMPUTED

MARKED = [(where, literal, expression) for where, text in texts() for literal, expression in figures(text)]


@pytest.mark.parametrize(("where", "literal", "expression"), MARKED)
def test_a_figure_in_prose_is_what_the_data_give(where, literal, expression):
    value = evaluate(expression)
    assert agrees(literal, value), f"{where}: the text says {literal}, the data give {value:.6g} ({expression})"


def test_the_check_sees_a_wrong_figure():
    text = (
        "takes 47.3 µs<!--= us(h100.m_sweep('fp16')[0].seconds) --> "
        "at 2,875 GB/s<!--= gb(h100.m_sweep('fp16')[0].bytes_per_s) -->"
    )
    (first, time), (second, rate) = figures(text)
    assert (first, second) == ("47.3", "2,875")
    assert not agrees(first, evaluate(time))  # it is 46.7
    assert agrees("46.7", evaluate(time))
    assert agrees(second, evaluate(rate))
    assert figures("four percent<!--= 4.2 @ 4 -->") == [("4", "4.2")]
    with pytest.raises(ValueError, match="no number stands before"):
        figures("nothing<!--= 1 -->")


def test_there_are_figures_to_check():
    assert len(MARKED) >= 20


# --- figures without a marker -----------------------------------------------------------------------------------------

WHY = "a device figure without a marker: give it one (CONTRIBUTING.md), or list it in tests/unmarked.py with the reason"


def test_every_device_figure_has_a_marker_or_a_reason():
    found = {(where, figure) for where, text in texts() if where not in GENERATED for figure in unmarked(text)}
    listed = {(where, figure) for table in (ALLOWED, RECOMPUTED) for where, said in table.items() for figure in said}
    assert found - listed == set(), WHY
    assert listed - found == set(), "listed in tests/unmarked.py, and no longer in the text"


@pytest.mark.parametrize(
    ("where", "figure", "expression"),
    [(where, figure, said[1]) for where, listed in RECOMPUTED.items() for figure, said in listed.items()],
)
def test_a_figure_where_no_marker_can_stand_is_what_the_data_give(where, figure, expression):
    value = evaluate(expression)
    assert agrees(figure.split()[0], value), (
        f"{where}: the text says {figure}, the data give {value:.6g} ({expression})"
    )


def test_the_scan_sees_what_a_reader_sees():
    assert unmarked("It takes 47.3 µs, at 2,875 GB/s and 0.5\nFLOP/byte.") == ["47.3 µs", "2,875 GB/s", "0.5 FLOP/byte"]
    assert unmarked("takes 46.7 µs<!--= us(x) --> or 46.7<!--= us(x) --> µs") == []
    assert unmarked("first 46.7 µs<!--= 'at 80 GB' -->, then 50 µs") == ["50 µs"]
    assert unmarked("16 rows, 8192 columns, `time = 3 ms`, chapter 3, 3 seconds") == []
    assert unmarked("12 ms") == ["12 ms"]
    assert unmarked("64 MiB, 8 % and 5 percent; 3 times as fast") == ["64 MiB", "8 %", "5 percent", "3 times"]
