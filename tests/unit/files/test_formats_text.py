"""Decimals from text, and probabilities to text and back: the digits are Python's own."""

from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.data.printed import read_probabilities
from agfmc.files import number_text as module
from agfmc.answers.libagf_text import format_points


def read(words):
    return module.numbers(np.frombuffer(b" ".join(words), np.uint8), len(words))


DIGITS = st.text("0123456789", min_size=0, max_size=19)
PLAIN = (
    st.tuples(st.sampled_from(["", "+", "-"]), DIGITS, st.sampled_from(["", "."]), DIGITS)
    .map("".join)
    .filter(lambda word: any(c.isdigit() for c in word))
)
ANY = st.one_of(
    PLAIN,
    PLAIN,
    PLAIN,
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(
        [
            "1e5",
            "-2.5E-3",
            "123456789012345",
            "1234567890123456",
            "-0",
            "0.000000000000001",
            "-.999999999999999",
        ]
    ),
)


@given(st.lists(ANY, min_size=1, max_size=40))
def test_numbers_are_those_of_python_to_the_last_bit(words):
    found = read([word.encode() for word in words])
    assert found.tobytes() == np.array([float(word) for word in words]).tobytes()


@pytest.mark.parametrize("size", [1, 20000])
@pytest.mark.parametrize("form", ["%.6g", "%d", "%.17g", "%.3e", "%.15f"])
def test_many_numbers_of_one_kind(size, form):
    x = np.random.default_rng(size).normal(size=size) * 1000
    if form == "%.15f":
        x = 9.01 + x % 0.9  # digits beyond 2^53
    words = [(form % value).encode() for value in x]
    assert np.array_equal(read(words), [float(word) for word in words])


@pytest.mark.parametrize(
    "bad",
    [
        b"x",
        b".",
        b"-",
        b"+-1",
        b"1-2",
        b"1.2.3",
        b"--1",
        b"1,5",
        b"0x1",
        b"nan",
        b"inf",
        b"1e999",
        b"1:2",
        b"\xb12",
        b"1_0",
        b"1e",
        b"/",
        b"1" * 400,
    ],
)
@pytest.mark.parametrize("others", [0, 1, 50, 10000])
def test_what_is_no_number_is_found_anywhere(bad, others):
    words = [b"1.5"] * others
    for place in {0, others // 2, others}:
        assert read(words[:place] + [bad] + words[place:]) is None


def expected(values, classes=None):
    return "".join(
        "".join(" %9.6f" % v for v in row) + ("" if classes is None else "% 4d" % classes[i]) + "\n"
        for i, row in enumerate(values.tolist())
    ).encode()


TIES = [i * 1e-6 + 5e-7 for i in range(12)] + [0.5, 0.1234565, 0.9999995, 1.0000005, 9.9999995]


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(0, 6), st.integers(0, 4)),
        elements=st.one_of(
            st.floats(0, 1),
            st.floats(-12, 12),
            st.floats(),
            st.sampled_from(TIES + [-0.0, 0.0]),
            st.integers(-2 * 10**7, 2 * 10**7).map(lambda i: (i + 0.5) * 1e-6),
        ),
    ),
    st.booleans(),
    st.sampled_from([(0, 9), (0, 2**31 - 1), (-1, 1)]),
    st.integers(0, 99),
)
def test_is_what_python_prints(values, told, limits, seed):
    classes = np.random.default_rng(seed).integers(*limits, len(values), endpoint=True)
    classes = classes.astype(np.int32) if told else None
    assert format_points(values, classes) == expected(values, classes)


def test_a_million_numbers_at_once():
    values = np.random.default_rng(0).uniform(-9.9999, 9.9999, (2000, 50))
    classes = np.arange(2000, dtype=np.int32)
    assert format_points(values, classes) == expected(values, classes)


@pytest.mark.parametrize(
    "values",
    [
        [[0.0, -0.0]],
        [[-1e-9, 1e-9]],
        [[np.nan, 0.5]],
        [[np.inf, -np.inf]],
        [[1e300, -1e300]],
        [[10.0, -10.0]],
        [[9.9999994, -9.9999994]],
        [[5e-7, 1.5e-6]],
        [[]],
    ],
)
def test_odd_values(values):
    values = np.array(values)
    assert format_points(values, np.array([3])) == expected(values, [3])


def test_nothing_to_print():
    assert format_points(np.empty((0, 3)), np.empty(0, dtype=np.int32)) == b""
    assert format_points(np.empty((0, 3))) == b""


@pytest.mark.parametrize(
    "text, words",
    [
        (
            "",
            'holds no probabilities: of a tree `tree="path"` prints that of the class',
        ),
        ("labels 0 1\n", "holds no probabilities"),
        ("\n", ":1: expected numbers, found a blank line"),
        ("labels\n.5 .5 0\n", ":1: expected labels after"),
        ("0.5 0.5 0\n\n0.5 0.5 1\n", ":2: expected numbers, found a blank line"),
        ("0.5 0.5 0\n0.5 0.5\n", ":2: expected 3 numbers as in line 1, found 2"),
        ("0.5 0.5 0\n0.5 x 1\n", ":2: expected a finite number, found 'x'"),
        ("0.5 0.5 0\n0.5 nan 1\n", ":2: expected a finite number, found 'nan'"),
        ("0.5 0.5 0\n0.5 inf 1\n", ":2: expected a finite number, found 'inf'"),
        (
            "0.5 0\n0.5 1\n",
            ":1: expected at least 2 probabilities and a class in each line, found 2 "
            'numbers (what `tree="path"` prints; `tree="full"` prints all)',
        ),
        (
            "0.5 0.5 0\n0.5 0.5 0.5\n",
            ":2: expected a class label, a whole number of 32 bits, found 0.5"
            "; the output of svm-predict, or of `top` or `stop`, has another form",
        ),
        ("0.5 0.5 99999999999\n", ":1: expected a class label"),
        ("labels 0 x\n.5 .5 0\n", ":1: expected a finite number, found 'x'"),
        (
            "labels 0 1.5\n.5 .5 0\n",
            ":1: expected a class label, a whole number of 32 bits, found 1.5",
        ),
        ("labels 0 1 2\n.5 .5 0\n", ":2: the first line names 3 classes, but the next one has 2"),
        ("labels 0 1\n.5 .5 0\n.5 .5 .1\n", ":3: expected a class label"),
        ("\u00e9 1 2\n", "expected probabilities as text"),
    ],
)
def test_broken_tables(tmp_path, text, words):
    path = tmp_path / "p"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(DataError) as caught:
        read_probabilities(str(path))
    assert words in str(caught.value) and str(caught.value).startswith(str(path))
