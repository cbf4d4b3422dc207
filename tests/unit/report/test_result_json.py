"""Results of experiments in JSON: what is wrong is told in one line, with its place."""

import copy
import json

import pytest
from hostile_readers import COMPARISON, SEARCH

from agfmc.core.errors import DataError
from agfmc.report.result_json import read_comparison, read_search


def changed(value, place, new):
    value = copy.deepcopy(value)
    *way, last = place
    inner = value
    for key in way:
        inner = inner[key]
    if new is None and isinstance(last, str):
        del inner[last]
    else:
        inner[last] = new
    return value


@pytest.mark.parametrize(
    "value, place, new, message",
    [
        (
            COMPARISON,
            ("rows", 0, "brier", "pooled"),
            "0.5",
            r'rows\[0\]\.brier\.pooled: expected a number, found "0.5"',
        ),
        (
            COMPARISON,
            ("rows", 0, "brier", "values", 1),
            True,
            r"values\[1\]: expected a number, found",
        ),
        (COMPARISON, ("rows", 0, "brier", "mean"), 10**19, None),
        (COMPARISON, ("rows", 0, "brier", "mean"), 1e200, r"expected a number, found 1e\+200"),
        (COMPARISON, ("rows", 0, "brier"), None, r"rows\[0\]: there is no 'brier'"),
        (
            COMPARISON,
            ("rows", 0, "difference", "brier", "sd"),
            [1],
            r"brier\.sd: expected a number",
        ),
        (COMPARISON, ("rows",), {}, r"rows: expected a list"),
        (COMPARISON, ("by",), "size", r"by: expected a score \(brier, cost\), found \"size\""),
        (COMPARISON, ("by",), "cost", r"rows\[0\]: there is no 'cost'"),
        (COMPARISON, ("points",), -1, r"points: expected a whole number, found -1"),
        (COMPARISON, ("data",), "\ud800", r"data: expected text, found"),
        (
            SEARCH,
            ("partitions", 0, "best"),
            7,
            r"partitions\[0\]\.best: expected the place of one of "
            "the 1 points, found 7",
        ),
        (SEARCH, ("partitions", 0, "points", 0, "score"), 0, None),
        (SEARCH, ("partitions", 0, "points", 0, "log2g"), 1e9, r"expected an exponent of 2, found"),
        (SEARCH, ("partitions", 0, "points", 0, "log2r"), 3, None),
        (SEARCH, ("partitions", 0, "left", 0), 2**40, r"left\[0\]: expected a class label"),
        (SEARCH, ("complete",), 1, r"complete: expected true or false, found 1"),
        (SEARCH, ("whole", "common"), "x" * 90, r"found \"x{36}\.\.\.$"),
    ],
)
def test_places_of_what_is_wrong(tmp_path, value, place, new, message):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(changed(value, place, new)))
    read = read_comparison if value is COMPARISON else read_search
    if message is None:
        read(path, ["brier"], ["cost"])
        return
    with pytest.raises(DataError, match=message) as error:
        read(path, ["brier"], ["cost"])
    assert "\n" not in str(error.value) and error.value.file == str(path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("", r"r\.json:1: expected JSON, as tune_m --json FILE writes it: Expecting value"),
        (
            '{"data":\n NaN}',
            "expected JSON, as tune_m --json FILE writes it: it holds something else",
        ),
        ('{"data": 1, "data": 2}', "it holds something else"),
        ("[" * 100_000, "it holds something else"),
        ("9" * 100, "it holds something else"),
        ("[]", "expected what tune_m --json FILE writes: expected an object"),
        (" " * (16 * 2**20 + 1), "larger than 16 MiB"),
    ],
)
def test_what_is_no_result(tmp_path, text, message):
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_search(path, ["brier"])


def test_keys_that_nobody_knows_are_not_read(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**COMPARISON, "script": "<script>"}))
    assert read_comparison(path, ["brier"]) == COMPARISON
