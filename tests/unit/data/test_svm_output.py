"""What svm-predict writes: three forms, and every line that cannot be."""

import io
from unittest.mock import patch

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.data.printed import read_svm_output

NAMED = b"labels 5 -1 2\n-1 0.25 0.5 0.25\n5 0.75 0.125 0.125\n"


def read(text):
    data = text if isinstance(text, bytes) else text.encode()
    with patch("sys.stdin", io.TextIOWrapper(io.BytesIO(data))):
        return read_svm_output("-")


def test_labels_in_their_own_order():
    told = read(NAMED)
    assert told.labels == (5, -1, 2)
    assert told.classes.dtype == np.int32 and told.classes.tolist() == [-1, 5]
    assert told.p.tolist() == [[0.25, 0.5, 0.25], [0.75, 0.125, 0.125]]


def test_without_labels():
    told = read("3\n-1\n+2\n1.0\n")
    assert told.labels is None and told.p is None and told.classes.tolist() == [3, -1, 2, 1]
    assert read("1234567\n1e5\n").classes.tolist() == [1234567, 100000]
    assert read("labels 1000001 2\n1000001 1e-06 .5\n").classes.tolist() == [1000001]
    told = read("3 0.5\n0 1\n")
    assert told.labels is None and told.p.tolist() == [[0.5], [1]]
    assert told.classes.tolist() == [3, 0]


def test_from_a_file(tmp_path):
    (tmp_path / "out").write_bytes(NAMED)
    assert read_svm_output(str(tmp_path / "out")).labels == (5, -1, 2)


@pytest.mark.parametrize("text", [NAMED.replace(b"\n", b"\r\n"), NAMED.rstrip(), NAMED + b"\n \n"])
def test_ends_of_lines(text):
    assert read(text).p.tolist() == read(NAMED).p.tolist()


BAD = [
    ("", None, "holds no results"),
    ("\n\n", None, "holds no results"),
    ("labels 0 1\n", None, "holds no results"),
    ("labels\n0\n", 1, "labels after the word"),
    ("labels 0 0\n0 1 0\n", 1, "different labels"),
    ("labels 0 x\n0 1 0\n", 1, "found 'x'"),
    ("labels 0 1.5\n0 1 0\n", 1, "found 1.5"),
    ("labels normal outlier\n", 1, "'normal'"),
    ("labels 0 1\n0 0.5\n", 2, "expected 3 numbers as in line 1, found 2"),
    ("labels 0 1\n0 0.5 0.5\n2 0.5 0.5\n", 3, "'2' is not among the labels"),
    ("labels 0 1\n0 0.5 nan\n", 2, "found 'nan'"),
    ("labels 0 1\n0 0.5 inf\n", 2, "'inf'"),
    ("labels 0 1\n0 -0.5 0.5\n", 2, "found -0.5"),
    ("0 1.5\n", 1, "found 1.5"),
    ("labels 0 1\n0 1.5 -0.5\n", 2, "from 0 to 1, found 1.5"),
    ("labels 0 1\n0 0.5 0.5\n\n1 0.5 0.5\n", 3, "blank line"),
    ("\nlabels 0 1\n", 1, "blank"),
    ("\n0\n", 1, "blank"),
    ("0\n\n\n1\n", 2, "blank"),
    ("0 1 2\n", 1, "without a first line `labels ...`.* found 3"),
    ("0\n1 0.5\n", 2, "expected 1 numbers"),
    ("0 0.5\n1\n", 2, "expected 2 numbers"),
    ("0\n1.5\n", 2, "whole number .* found 1.5"),
    ("0\n3e9\n", 2, "found 3e.09"),
    ("0\n1-2\n", 2, "found '1-2'"),
    ("0\nword\n", 2, "found 'word'"),
    ("0\n1e999\n", 2, "1e999"),
    ("1.23457e+06\n", 1, "class '1.23457e.06' may be rounded, .*svm2agf -U"),
    ("0 0.5\n1E6 0.5\n", 2, "class '1E6' may be rounded"),
    ("0\n-2e+06\n", 2, "'-2e.06' may be"),
    ("labels 1234567 2\n2 .5 .5\n1.23457e+06 .5 .5\n", 3, "'1.23457e.06' may be rounded"),
    ("labels 1000000 2\n2 1e-06 .5\n1e+06 .5 .5\n", 3, "'1e.06' may be rounded"),
    ("0\n0\0\n", 2, "found what is not text"),
    ("0 0.5\n1 1e999\n", 2, "found '1e999'"),
]


@pytest.mark.parametrize("text, line, message", BAD, ids=[repr(text) for text, _, _ in BAD])
def test_what_cannot_be(text, line, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text)
    assert (caught.value.file, caught.value.line) == ("-", line)
