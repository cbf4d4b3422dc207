"""Numbers on command lines and in options: what other programs would read as the same number."""

import pytest

from agfmc.cli.options import finite_number, whole_number
from agfmc.learners.neighbours import NeighbourOptions
from agfmc.errors import UsageError
from agfmc.numerals import numeral

ODD = ["1_000", "1_0.5", "٣", "३.5", "²", "１２", "", " ", "a", "0x10", "--1"]


@pytest.mark.parametrize("word, whole, value", [
    ("12", True, 12), ("-3", True, -3), ("+4", True, 4), ("007", True, 7),
    ("12", False, 12.0), ("-1e-3", False, -0.001), (".5", False, 0.5), ("5.", False, 5.0)])
def test_numbers(word, whole, value):
    got = numeral(word, whole)
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("word", ODD)
def test_what_is_no_number(word, whole):
    with pytest.raises(ValueError):
        numeral(word, whole)


@pytest.mark.parametrize("word", ODD)
def test_options_of_commands(word):
    for kind in (whole_number(0), finite_number):
        with pytest.raises(Exception, match="expected a .*number, found"):
            kind(word)


@pytest.mark.parametrize("word", ["1_0", "٣", "１２"])
def test_training_options(word):
    from agfmc.learners.protocol import parse_options

    for parse, text in ((parse_options, f"-c {word}"), (NeighbourOptions.parse, f"-k {word}")):
        with pytest.raises(UsageError, match="expected a .*number, found"):
            parse(text)
