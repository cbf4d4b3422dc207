"""Numbers and intervals as text."""

import pytest

from agfmc.report.words import cut, interval, percent, signed


@pytest.mark.parametrize(
    "bounds, text",
    [
        (None, ""),
        ((0.1, 0.25), "0.1000 to 0.2500"),
        ((3.52e-5, 0.0338), "0.0000 to 0.0338"),
        ((-0.02, 1e-6), "\u22120.0200 to 0.0000"),
        ((1e-6, 2e-6), "1.00e\u221206 to 2.00e\u221206"),
        ((0.0, 0.0), "0.0000 to 0.0000"),
    ],
)
def test_small_bounds_beside_larger_ones_have_their_digits(bounds, text):
    assert interval(bounds) == text


def test_intervals_in_percent():
    assert interval((0.00001, 0.5), percent) == "0.0\u202f% to 50.0\u202f%"


def test_names_are_cut_in_one_line_and_keep_their_narrow_spaces():
    assert cut(" a\n\t b\u202f% ") == "a b\u202f%"
    assert cut("x" * 50 + "end") == "x" * 26 + "\u2026" + "x" * 10 + "end"


@pytest.mark.parametrize(
    "value, text", [(0.0267, "+0.0267"), (-0.5, "\u22120.5000"), (0.0, "0.0000"), (None, None)]
)
def test_differences_have_their_sign(value, text):
    assert signed(value) == text
