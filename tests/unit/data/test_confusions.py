"""Contingency tables and errors of pairs: read as they are, or refused with the line."""

from __future__ import annotations

import io
import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.data import confusions
from agfmc.data.confusions import holds_confusions, read_confusions, read_pair_errors

TABLE = {"points": 9, "labels": [4, 2, 7], "contingency": [[3, 0, 1], [2, 1, 0], [0, 0, 2]]}
PAIRS = "# i j\n\n2 4  10 1  5 2\n2 7 10 0 4 4\n4 7 5 0 4 1 # end\n"


def saved(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_a_table(tmp_path):
    found = read_confusions(saved(tmp_path, " \n" + json.dumps(TABLE, indent=1)))
    assert found.labels == (2, 4, 7) and found.alternatives == 3
    assert found.errors.tolist() == [[1, 2, 0], [0, 3, 1], [0, 0, 2]]
    assert found.samples.tolist() == [[3] * 3, [4] * 3, [2] * 3]


def test_rejected_points_are_passed_over(tmp_path):
    table = {"labels": [0, 1], "contingency": [[5, 1, 4], [0, 2, 0]]}
    found = read_confusions(saved(tmp_path, json.dumps(table)))
    assert found.errors.tolist() == [[5, 1], [0, 2]] and found.samples[0].tolist() == [6, 6]


def test_errors_of_pairs(tmp_path):
    found = read_confusions(saved(tmp_path, PAIRS))
    assert found.labels == (2, 4, 7) and found.alternatives == 2
    assert found.errors.tolist() == [[0, 1, 0], [2, 0, 0], [4, 1, 0]]
    assert found.samples.tolist() == [[0, 10, 10], [5, 0, 5], [4, 4, 0]]


@pytest.mark.parametrize(
    "text", [json.dumps(TABLE), PAIRS, PAIRS + "#" * 200000]
)  # more than what is looked at first
def test_standard_input_and_pipes(tmp_path, text):
    expected = read_confusions(saved(tmp_path, text))
    found = read_confusions("-", stdin=io.BytesIO(text.encode()))
    assert found.labels == expected.labels and np.array_equal(found.errors, expected.errors)
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: Path(pipe).write_text(text))
    writer.start()
    assert holds_confusions(pipe) and np.array_equal(read_confusions(pipe).errors, expected.errors)
    writer.join()


@pytest.mark.parametrize(
    "text, holds",
    [
        (json.dumps(TABLE), True),
        (PAIRS, True),
        ("{", True),
        ("1 2 3 4 5", True),
        ("", False),
        ("# 1 2 3 4 5\n", False),
        ("1 1:2.5\n", False),
        ("20\n1 2 3 4 5", False),
        ("a-00 0 / 1;\n{0 1}", False),
        (b"\x14\0\0\0{", False),
        ("1 2 3 4 -5", False),
    ],
)
def test_which_files_hold_confusions(tmp_path, text, holds):
    assert holds_confusions(saved(tmp_path, text)) == holds


def test_which_names_do(tmp_path):
    assert holds_confusions("-") and not holds_confusions(str(tmp_path))
    assert not holds_confusions(str(tmp_path / "nothing")) and not holds_confusions("a\0b")


def changed(**changes):
    return json.dumps({**TABLE, **changes})


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "expected a contingency table"),
        ("1 2 3\n", "found neither"),
        ("[1, 2]", "found neither"),
        ("{", "expected JSON: "),
        (json.dumps(TABLE) + "x", "JSON"),
        (b'{"labels": "\xff"}', "expected JSON"),
        ('{"a": ' + "[" * 200000, "recursion"),
        ("{}", "labels: this key is missing"),
        (changed(labels=5), "labels: expected a list, found 5"),
        (changed(labels=[1]), 'two classes or more in "labels", found 1'),
        (changed(labels=[1, 2, 1]), "lists class 1 twice"),
        (changed(labels=[1, 2, True]), "found true"),
        (changed(labels=[0, 1, -1]), "found -1"),
        (changed(labels=[0, 1, 2.0]), "found 2.0"),
        (changed(labels=[0, 1, "x" * 99]), 'found "xxx'),
        (changed(labels=[0, 1, 2**31]), "labels[2]: expected a whole number from 0 to 2147483647"),
        (changed(labels=list(range(1025))), "1025 classes, more than the 1024"),
        (changed(contingency=None), "contingency: expected a list, found null"),
        (changed(contingency=[[1, 2, 3]]), 'one for each of "labels", found 1'),
        (changed(contingency=[[1, 2, 3], 4, 5]), "contingency[1]: expected a list, found 4"),
        (changed(contingency=[[1, 2, 3], [1, 2], [1, 2, 3]]), "3 numbers in row 2"),
        (changed(contingency=[[1, 2, 3], [1, 2, 3, 4], [1, 2, 3]]), "or in all rows 4, found 4"),
        (
            changed(contingency=[[1, 2, 3], [1, 2, -1e3], [1, 2, 3]]),
            "[1][2]: expected a number from 0",
        ),
        (
            changed(contingency=[[1, 2, 3], [1, 2, [3]], [1, 2, 3]]),
            "[1][2]: expected a number, found",
        ),
        ('{"labels": [0, 1], "contingency": [[1, NaN], [0, 1]]}', "NaN is no number"),
        (changed(contingency=[[0] * 3] * 3), "holds no points"),
        ("1 2 3 0 5 5\n1 2 x\n", "2: expected `i j"),
        ("1 2 9 0 9 0\n1 3 9 0 9 0\n", "pair 2 3"),
    ],
)
def test_refused(tmp_path, text, message):
    path = saved(tmp_path, text)
    with pytest.raises(DataError) as found:
        read_confusions(path)
    assert message in str(found.value) and str(found.value).startswith(path + ":")
    assert len(str(found.value)) < 300


def test_more_bytes_than_a_table_has(tmp_path):
    path = saved(tmp_path, json.dumps(TABLE) + " " * (16 << 20))
    with pytest.raises(DataError, match="larger than 16 MiB"):
        read_confusions(path)


GOOD = b"""# three classes
7 2  10 1  20 3   # the larger first

2 4  20 0  5 5\r
4 7  5 2  9 0
7 4 2  8 6
"""


def parsed(text):
    return read_pair_errors("-", io.BytesIO(text))


def test_a_file():
    found = parsed(GOOD)
    assert found.labels == (2, 4, 7) and found.n.tolist() == [[0, 20, 20], [5, 0, 5], [10, 9, 0]]
    assert found.errors.tolist() == [[0, 0, 3], [5, 0, 2], [1, 0, 0]]
    e = found.error_rates()
    off = ~np.eye(3, dtype=bool)
    assert e[off] == pytest.approx([1 / 22, 4 / 22, 6 / 7, 3 / 7, 2 / 12, 1 / 11])
    assert found.class_counts().tolist() == [20, 5, 10]
    h = found.shares()
    assert h[2, 1, 0] == pytest.approx(0.7) and h[2, 0, 1] == pytest.approx(0.3)
    assert np.count_nonzero(h != 0.5) == 2
    # some of the classes, in another order
    assert found.error_rates([7, 2])[0, 1] == e[2, 0]
    assert found.shares([7, 2, 4])[0, 2, 1] == pytest.approx(0.7)
    assert found.class_counts([7, 4]).tolist() == [9, 5]


def test_a_file_without_third_classes():
    found = parsed(b"0 1 5 1 6 2")
    assert found.irrelevant is None and found.wins is None and found.shares() is None
    assert found.error_rates()[0, 1] == pytest.approx(2 / 7)


def test_third_classes_may_come_first():
    assert parsed(b"2 1 0 4 1\n0 1 5 1 6 2\n0 2 5 1 6 2\n").shares()[2, 1, 0] == pytest.approx(
        2 / 6
    )


def test_missing_pairs_are_named_where_they_are_needed():
    found = parsed(b"0 1 5 1 6 2\n1 2 5 1 6 2\n")
    assert found.error_rates([1, 2]).shape == (2, 2)
    for labels, text in (
        (None, "of the pair 0 2"),
        ([2, 0], "of the pair 2 0"),
        ([1, 5], "of class 5"),
    ):
        with pytest.raises(DataError, match=text) as caught:
            found.error_rates(labels)
        assert caught.value.file == "-"


@pytest.mark.parametrize(
    "text, line, message",
    [
        (b"", None, "no errors of any pair"),
        (b"# nothing\n\n", None, "no errors of any pair"),
        (b"0 1 5 1 6 2\n0 1 5 1\n", 2, "found 4 words"),
        (b"0 1 5 1 6 2 3\n", 1, "found 7 words"),
        (b"x\n", 1, "found 1 word$"),
        (b"\n0 a 5 1 6 2\n", 2, "expected a whole number, found 'a'"),
        (b"0 1 5 -1 6 2\n", 1, "found '-1'"),
        (b"0 1 5 1,0 6 2\n", 1, "found '1,0'"),
        (b"0 1.0 5 1 6 2\n", 1, "expected a whole number, found '1.0'"),
        (b"0 1 5 \xb2 6 2\n", 1, "expected a number"),
        (b"0 1 nan 1 6 2\n", 1, "found 'nan'"),
        (b"0 1 1e999 1 6 2\n", 1, "larger than"),
        (b"0 1 5 5.5 6 2\n", 1, "5.5 errors on class 0, which has 5"),
        (b"0 1 5 6 6 2\n", 1, "6 errors on class 0, which has 5"),
        (b"0 1 5 1 6 7\n", 1, "7 errors on class 1, which has 6"),
        (b"0 1 0 0 6 2\n", 1, "no samples of class 0"),
        (b"3 3 5 1 6 2\n", 1, "found 3 twice"),
        (b"0 1 5 1 6 2\n# x\n1 0 5 1 6 2\n", 3, "the pair 0 1 is on line 1 too"),
        (b"0 1 5 1 6 2\n0 1 1 5 2\n", 2, "three different classes"),
        (b"0 1 5 1 6 2\n2 1 1 5 2\n", 2, "three different classes"),
        (b"0 1 5 1 6 2\n2 0 1 5 6\n", 2, "6 samples of class 2 went to class 0, but there are 5"),
        (b"0 1 5 1 6 2\n2 0 1 5 2\n", 2, "errors of class 2"),
        (b"0 1 5 1 6 2\n1 2 5 1 6 2\n1 0 2 5 2\n", 3, "errors of the pair 0 2"),
        (b"0 1 5 1 6 2\n0 2 5 1 6 2\n2 0 1 5 2\n2 1 0 5 2\n", 4, "on line 3 too"),
        (b"0 2147483648 5 1 6 2\n", 1, "is no label"),
        (b"0 1 99999999999999999999999 1 6 2\n", 1, "larger than"),
        (b"0 1 5 \x00 6 2\n", 1, "not text"),
    ],
)
def test_bad_files_are_refused_with_their_line(text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        parsed(text)
    assert (caught.value.file, caught.value.line) == ("-", line)


def test_more_classes_than_memory_should_hold(monkeypatch):
    monkeypatch.setattr(confusions, "_MOST_CLASSES", 3)
    monkeypatch.setattr(confusions, "_MOST_IRRELEVANT", 2)
    assert len(parsed(b"0 1 5 1 6 2\n1 2 5 1 6 2\n").labels) == 3
    with pytest.raises(DataError, match="holds 4 classes, more than the 3"):
        parsed(b"0 1 5 1 6 2\n2 3 5 1 6 2\n")
    with pytest.raises(DataError, match="more than the 2 .* third classes"):
        parsed(b"0 1 5 1 6 2\n1 2 5 1 6 2\n2 0 1 5 2\n")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot read"):
        read_pair_errors(tmp_path / "none")


def test_sums_of_weights_come_back(tmp_path):
    n, errors = np.array([[[0, 2.75], [1e-7, 0]], [[0, 1 / 3], [0, 0]]])
    text = confusions.format_pair_errors(confusions.PairErrors((3, 5), n, errors))
    found = read_pair_errors(saved(tmp_path, text))
    assert np.allclose(found.n, n, rtol=1e-14) and np.allclose(found.errors, errors, rtol=1e-14)
    assert found.n.dtype == np.float64 and holds_confusions(saved(tmp_path, text))
    whole = confusions.PairErrors((3, 5), n.astype(int) + 1, errors.astype(int))
    text = confusions.format_pair_errors(whole)
    assert "3 5  3 0  1 0\n" in text
    assert read_pair_errors(saved(tmp_path, text)).n.dtype == np.int64
    table = json.dumps({"labels": [0, 1], "contingency": [[5.5, 1e-3], [0, 2]]})
    assert read_confusions(saved(tmp_path, table)).errors.tolist() == [[5.5, 1e-3], [0, 2]]
