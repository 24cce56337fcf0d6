"""Every marked figure in the prose equals what the data give."""

import pytest
from prose import agrees, evaluate, figures, texts

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
