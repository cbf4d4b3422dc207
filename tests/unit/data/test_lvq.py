"""LVQ text: lossless, in any blocks and chunks, every bad line refused with its number."""

import io

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.data.lvq import iter_lvq, read_lvq
from agfmc.data.types import InputFormat
from data_files import write_lvq


def read(text, how=None, **options):
    return read_lvq("-", InputFormat("lvq", **(how or {})), stdin=io.BytesIO(text), **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("lvq")


def test_comments_blank_lines_and_words():
    for block in (1, 1000):
        got = read(b"# c\n 2 \n\n1 2 b\r\n3\t4.5 a # x\n1 1 b", block=block)
        assert got.x.tolist() == [[1, 2], [3, 4.5], [1, 1]]
        assert got.y.tolist() == [1, 0, 1] and got.names == ("a", "b")


def test_words_by_names_from_elsewhere(folder):
    write_lvq(folder / "w.lvq", np.eye(2), [1, 0], names=("x", "y"))
    assert (folder / "w.lvq").read_text() == "2\n1.0 0.0 y\n0.0 1.0 x\n"
    assert read_lvq(folder / "w.lvq", names=("z", "y", "x")).y.tolist() == [1, 2]
    [x] = iter_lvq(folder / "w.lvq")
    assert x.tolist() == np.eye(2).tolist()


@pytest.mark.parametrize("block", [1, 1 << 20])
def test_labels_with_a_fraction_are_names_in_the_order_of_their_values(block):
    with pytest.warns(AgfmcWarning, match="labels -1, 0.5, 2 are taken as names"):
        got = read(b"1\n7 +2\n8 -1\n9 2.0\n6 0.50\n", block=block)
    assert got.names == ("-1", "0.5", "2") and got.y.tolist() == [2, 0, 2, 1]
    assert read(b"1\n7 +2\n", names=got.names).y.tolist() == [2]


@pytest.mark.parametrize(
    "text, how, line, message",
    [
        (b"", {}, None, "no points"),
        (b"2\n", {}, None, "no points"),
        (b"2 3\n1 2 3\n", {}, 1, "first line must be the number of features alone"),
        (b"2 3\n1 2 3\n", {}, 1, "alone, found .*; `no_header` where there is no such line"),
        (b"1 1:2 2:3\n", {}, 1, "alone, found .*; it looks like LIBSVM text"),
        (
            b"a,b,c\n1,2,x\n",
            {},
            1,
            "alone, found .*; it looks like a table with commas: .* `table2agf - base`",
        ),
        (b"a\tb\n1\tx\n", {"header": False}, 1, "'a' is not a finite number; .* with tabs: "),
        (b"1,2,x\n", {"header": False}, 1, "no values; it looks like a table with commas"),
        (b"1; 2; x\n", {"header": False}, 1, "'1;' is not a finite number; .* with semicolons"),
        (b"1 1:2 2:3\n", {"header": False}, 1, "'1:2' is not a finite number; .* LIBSVM text"),
        (b"1 2,5 3\n", {"header": False}, 1, "'2,5' is not a finite number$"),
        (b"0\n1\n", {}, 1, "first line"),
        (b"-2\n1 2 3\n", {}, 1, "first line"),
        (b"\n2.0\n1 2 3\n", {}, 2, "first line"),
        (b"99999999999\n1 2 3\n", {}, 1, "first line"),
        (b"999999999\n1 2 3\n", {}, 2, "3 columns, where 999999999 values"),
        (b"2\n1 2 3\n1 2\n", {}, 3, "2 columns, where 2 values and a label"),
        (b"2\n1 2 3 4\n", {}, 2, "4 columns"),
        (b"2\n1 2 3\n", {"labels": False}, 2, "3 columns, where 2 values were"),
        (b"1 2 3\n1 2\n", {"header": False}, 2, "2 columns"),
        (b"1\n", {"header": False}, 1, "no values"),
        (b"2\n1 nan 3\n", {}, 2, "'nan' is not a finite number"),
        (b"2\n1 1e999 3\n", {}, 2, "'1e999' is not a finite number"),
        (b"2\n1 2,5 3\n", {}, 2, "'2,5' is not a finite number"),
        (b"2\n1 2 3\n1 2 a\n", {}, 3, "the label 'a' is not a number, but the first one is"),
        (b"2\n1 2 a\n1 2 3\n", {}, 3, "is a number, but the first one is a word"),
        (b"2\n1 2 1e99\n", {}, 2, "'1e99' is not a whole number"),
        (b"2\n1 2 1e99\n1 2\n", {}, 2, "'1e99' is not a whole number"),
        (b"2\n1 2\n1 2 1.5\n", {}, 2, "2 columns"),
        (b"2\n1 2 a\x01\n", {}, 2, "control character"),
        (b"2\n1 2 3\n\x02\n", {}, 3, "control character"),
        (b"2\n1 2 \0\n", {}, 2, "not text"),
    ],
)
def test_a_file_that_cannot_be(text, how, line, message):
    for block in (1, 1 << 20):
        with pytest.raises(DataError, match=message) as caught:
            read(text, how, block=block)
        assert caught.value.line == line


def test_a_width_that_the_model_has_not():
    with pytest.raises(DataError, match="has 2 features, the model needs 3"):
        list(iter_lvq("-", d=3, stdin=io.BytesIO(b"2\n1 2 0\n")))
    with pytest.raises(
        DataError, match="has 2 features, the model needs 3; `labels=False` where .* no labels"
    ):
        list(iter_lvq("-", InputFormat("lvq", header=False), d=3, stdin=io.BytesIO(b"1 2 0\n")))


def test_points_that_cannot_be_written(folder):
    path = folder / "never.lvq"
    for args, message in [
        ((np.ones((2, 1)), [0]), "1 labels for 2 points"),
        ((np.array([[1], [np.nan]]), [0, 1]), "row 2 has NaN"),
    ]:
        with pytest.raises(DataError, match=message):
            write_lvq(path, *args)
    assert not path.exists()
