"""Decimals from text: the float64 that Python finds, and None for what is no number."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from agfmc.formats import text as module


def read(words, alone=True):
    text = np.frombuffer(bytearray(b"\n" + b" ".join(words) + b"\n"), np.uint8)
    length = np.array([len(word) for word in words])
    end = np.cumsum(length + 1)
    return module.values(text, end - length, end, alone)


DIGITS = st.text("0123456789", min_size=0, max_size=19)
PLAIN = st.tuples(st.sampled_from(["", "+", "-"]), DIGITS, st.sampled_from(["", "."]), DIGITS) \
    .map("".join).filter(lambda word: any(c.isdigit() for c in word))
ANY = st.one_of(PLAIN, PLAIN, PLAIN, st.floats(allow_nan=False, allow_infinity=False).map(repr),
                st.sampled_from(["1e5", "-2.5E-3", "123456789012345", "1234567890123456", "-0",
                                 "0.000000000000001", "-.999999999999999"]))


@given(st.lists(ANY, min_size=1, max_size=40), st.booleans())
@settings(deadline=None, max_examples=80)
def test_numbers_are_those_of_python_to_the_last_bit(words, alone):
    found = read([word.encode() for word in words], alone)
    assert found.tobytes() == np.array([float(word) for word in words]).tobytes()


@pytest.mark.parametrize("size", [1, 5, 8191, 8192, 8193, 20000])
@pytest.mark.parametrize("form", ["%.6g", "%d", "%.17g", "%.3e", "%.15f"])
def test_many_numbers_of_one_kind(size, form):
    x = np.random.default_rng(size).normal(size=size) * 1000
    if form == "%.15f":
        x = 9.01 + x % 0.9  # digits beyond 2^53
    words = [(form % value).encode() for value in x]
    assert np.array_equal(read(words), [float(word) for word in words])


@pytest.mark.parametrize("bad", [b"x", b".", b"-", b"+-1", b"1-2", b"1.2.3", b"--1", b"1,5", b"0x1",
                                 b"nan", b"inf", b"1e999", b"1:2", b"\xb12", b"1_0", b"1e", b"/",
                                 b"1" * 400])
@pytest.mark.parametrize("others", [0, 1, 50, 10000])
def test_what_is_no_number_is_found_anywhere(bad, others):
    words = [b"1.5"] * others
    for place in {0, others // 2, others}:
        for alone in (True, False):
            assert read(words[:place] + [bad] + words[place:], alone) is None
