"""Sets of classes as text."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import DataError
from agfmc.answers.libagf_text import format_sets, read_sets


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    path = tmp_path_factory.mktemp("sets") / "out.sets"

    def inner(text):
        path.write_bytes(text)
        return read_sets(str(path))

    return inner


def test_what_is_written(read):
    for text in (b"0 2\n-\n17\n", b"0 2\n-\n17", b" 0\t2 \r\n-\r\n17\r\n"):
        sets = read(text)
        assert sets.size.tolist() == [2, 0, 1] and sets.labels.tolist() == [0, 2, 17]
    assert read(b"-\n").labels.tolist() == []


@given(st.integers(1, 9), st.lists(st.integers(0, 511), min_size=1))
def test_format_reads_back(read, k, bits):
    sets = np.array([[bool(number >> j & 1) for j in range(k)] for number in bits])
    labels = np.arange(k) * 3 + 1
    found = read(format_sets(sets, labels))
    np.testing.assert_array_equal(found.size, sets.sum(axis=1))
    np.testing.assert_array_equal(found.labels, labels[np.nonzero(sets)[1]])


@given(st.lists(st.lists(st.integers(0, 2**31 - 1), unique=True), min_size=1))
def test_round_trip(read, sets):
    text = "".join(f"{' '.join(map(str, labels)) or '-'}\n" for labels in sets)
    told = read(text.encode())
    assert told.size.tolist() == [len(labels) for labels in sets]
    assert told.labels.tolist() == [label for labels in sets for label in labels]


@pytest.mark.parametrize(
    "text, line, words",
    [
        (b"0 1\n\n2\n", 2, "found a blank line"),
        (b"0\n1 1\n", 2, "found one twice"),
        (b"0 -\n", 1, "found '-'"),
        (b"0\n-1\n", 2, "expected a class label, found '-1'"),
        (b"1.0\n", 1, "found '1.0'"),
        (b"00\n", 1, "found '00'"),
        (b"\xd9\xa1\n", 1, "\\xd9"),
        (b"2147483648\n", 1, "found '2147483648'"),
        (b"9" * 5000, 1, "found '99999999999999999999'"),
        (b"", None, "holds no sets"),
        (b"\n", 1, "found a blank line"),
    ],
)
def test_what_is_refused(read, text, line, words):
    with pytest.raises(DataError) as caught:
        read(text)
    assert words in str(caught.value) and caught.value.line == line
