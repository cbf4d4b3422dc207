"""Types of options."""

import argparse

import pytest

from agfmc.cli.agf_train import get_parser
from agfmc.cli.option_types import workers_of_option


@pytest.mark.parametrize(
    "text, expected",
    [("0", 0), ("4", 4), ("processes:4", "processes:4"), ("dask:a.json", "dask:a.json")],
)
def test_workers_are_a_number_or_an_executor(text, expected):
    assert workers_of_option(text) == expected


@pytest.mark.parametrize(
    "text, told",
    [
        ("-1", "-1 is out of range: expected 0 to 1024"),
        ("4x", "expected a whole number, found '4x'"),
        ("process:4", "expected a number of threads, processes:N, .* found 'process:4'"),
        ("dask:", "found 'dask:'"),
    ],
)
def test_other_words_are_no_workers(text, told):
    with pytest.raises(argparse.ArgumentTypeError, match=told):
        workers_of_option(text)


@pytest.mark.parametrize("words", [["-j", "processes:2"], ["-jprocesses:2"]])
def test_every_spelling_of_the_option_is_read(words):
    assert get_parser().parse_args([*words, "t.csv", "m.mbm"]).jobs == "processes:2"
