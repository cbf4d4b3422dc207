"""Weights in files: text and binary, of samples and of classes."""

import io
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import DataError
from agfmc.data.weights import (
    format_weights,
    read_class_weights,
    read_weights,
    weights_beside,
    weights_bytes,
)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_text_and_binary_say_the_same(rng=np.random.default_rng(1)):
    w = rng.integers(0, 9, 5000) / 8
    Path("w").write_text("\ufeff# of 2026\r\n\n" + "".join(format_weights(w)) + "\n")
    Path("w.wgt").write_bytes(weights_bytes(w))
    assert Path("w.wgt").read_bytes() == w.astype("<f4").tobytes()
    for name in ("w", "w.wgt"):
        found = read_weights(name, 5000)
        assert found.dtype == np.float64 and (found == w).all()
    assert read_weights("-", 2, stdin=io.BytesIO(b"1\n2")).tolist() == [1, 2]


def test_text_keeps_all_digits(rng=np.random.default_rng(2)):
    w = np.append(rng.exponential(size=300) * 10.0 ** rng.integers(-200, 200, 300), [0, 1e15, 7])
    Path("w").write_text("".join(format_weights(w)))
    assert (read_weights("w") == w).all()


def test_what_single_precision_cannot_hold():
    for value, words in ((1e-60, "too small for single precision"), (1e60, "too large")):
        with pytest.raises(DataError, match=f"row 7.*{words}|{words}"):
            weights_bytes(np.array([1.0, value]), "b.wgt", 6)


def test_a_long_file_is_refused_before_it_is_read():
    with open("b.wgt", "wb") as file:
        file.truncate(1 << 40)  # no bytes on the disk
    with pytest.raises(DataError, match="larger than 4 MiB: expected the weights of 3 points"):
        read_weights("b.wgt", 3)
    with pytest.raises(DataError, match="larger than .* MiB"):
        read_weights("b.wgt")


def test_the_file_beside_points():
    assert weights_beside("b") is None and weights_beside("-") is None
    Path("b.wgt").write_bytes(b"")
    assert weights_beside("b") == "b.wgt"


def test_weights_of_classes():
    Path("c").write_text("# classes\n\n3 2.5\nred, dark 1e1  # a name\r\n\u00e4\t.5\n")
    assert read_class_weights("c") == {"3": 2.5, "red, dark": 10, "\u00e4": 0.5}
    for text, words in (
        ("a\n", "c:1: expected the label or name"),
        ("a 0\n", "from 1e-100 to 1e[+]100, found '0'"),
        ("\na 1e300\n", "c:2: .*found '1e300'"),
        ("a -1\n", "found '-1'"),
        ("a 1\nb nan\n", "c:2: .*found 'nan'"),
        ("a 1\na 1\n", "c:2: class 'a' is there twice"),
        ("", "has no weights of"),
    ):
        Path("c").write_text(text)
        with pytest.raises(DataError, match=words):
            read_class_weights("c")
