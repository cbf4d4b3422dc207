"""Files of pair errors: what is read, what is made of it, what is refused."""

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agfmc.errors import DataError
from agfmc.formats import confusions
from agfmc.formats.confusions import format_pair_errors, PairErrors, read_pair_errors

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
    assert found.labels == (2, 4, 7)
    assert found.n.tolist() == [[0, 20, 20], [5, 0, 5], [10, 9, 0]]
    assert found.errors.tolist() == [[0, 0, 3], [5, 0, 2], [1, 0, 0]]
    e = found.error_rates()
    off = ~np.eye(3, dtype=bool)
    assert e[off] == pytest.approx([1 / 22, 4 / 22, 6 / 7, 3 / 7, 2 / 12, 1 / 11])
    assert found.class_counts().tolist() == [20, 5, 10]
    h = found.shares()
    assert h[2, 1, 0] == pytest.approx(.7) and h[2, 0, 1] == pytest.approx(.3)
    assert np.count_nonzero(h != .5) == 2
    # some of the classes, in another order
    assert found.error_rates([7, 2])[0, 1] == e[2, 0]
    assert found.shares([7, 2, 4])[0, 2, 1] == pytest.approx(.7)
    assert found.class_counts([7, 4]).tolist() == [9, 5]


def test_a_file_without_third_classes():
    found = parsed(b"0 1 5 1 6 2")
    assert found.irrelevant is None and found.wins is None and found.shares() is None
    assert found.error_rates()[0, 1] == pytest.approx(2 / 7)


def test_third_classes_may_come_first():
    assert parsed(b"2 1 0 4 1\n0 1 5 1 6 2\n0 2 5 1 6 2\n").shares()[2, 1, 0] == \
        pytest.approx(2 / 6)


def test_shares_are_complements():
    h = parsed(GOOD).shares()
    assert h == pytest.approx(1 - h.transpose(0, 2, 1), abs=1e-15)


def test_missing_pairs_are_named_where_they_are_needed():
    found = parsed(b"0 1 5 1 6 2\n1 2 5 1 6 2\n")
    assert found.error_rates([1, 2]).shape == (2, 2)
    for labels, text in ((None, "of the pair 0 2"), ([2, 0], "of the pair 2 0"),
                         ([1, 5], "of class 5")):
        with pytest.raises(DataError, match=text) as caught:
            found.error_rates(labels)
        assert caught.value.file == "-"


@st.composite
def counted(draw):
    k = draw(st.integers(2, 5))
    labels = sorted(draw(st.sets(st.integers(0, 50), min_size=k, max_size=k)))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    n = rng.integers(1, 40, size=(k, k))
    np.fill_diagonal(n, 0)
    errors = rng.integers(0, n + 1)
    if not draw(st.booleans()) or k < 3:
        return PairErrors(tuple(labels), n, errors)
    irrelevant, wins = np.zeros((2, k, k, k), dtype=np.int64)
    for t in range(k):
        for i in range(k):
            for j in range(i + 1, k):
                if t not in (i, j) and (t or i == 1):
                    count = rng.integers(1, 30)
                    irrelevant[t, i, j] = irrelevant[t, j, i] = count
                    wins[t, i, j] = rng.integers(0, count + 1)
                    wins[t, j, i] = count - wins[t, i, j]
    return PairErrors(tuple(labels), n, errors, irrelevant, wins)


@given(counted())
def test_what_is_written_is_read(errors):
    found = parsed(format_pair_errors(errors).encode())
    assert found.labels == errors.labels
    for name in ("n", "errors", "irrelevant", "wins"):
        a, b = getattr(found, name), getattr(errors, name)
        assert (a is None and b is None) or np.array_equal(a, b), name


@pytest.mark.parametrize("text, line, message", [
    (b"", None, "no errors of any pair"),
    (b"# nothing\n\n", None, "no errors of any pair"),
    (b"0 1 5 1 6 2\n0 1 5 1\n", 2, "found 4 words"),
    (b"0 1 5 1 6 2 3\n", 1, "found 7 words"),
    (b"x\n", 1, "found 1 word$"),
    (b"\n0 a 5 1 6 2\n", 2, "expected a whole number, found 'a'"),
    (b"0 1 5 -1 6 2\n", 1, "found '-1'"),
    (b"0 1 5 1.0 6 2\n", 1, "found '1.0'"),
    (b"0 1 5 \xb2 6 2\n", 1, "expected a whole number"),
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
])
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
