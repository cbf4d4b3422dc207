"""LIBSVM text: lossless, in any blocks and chunks, every bad line refused with its number."""

import functools
import io
import os

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.data import libsvm
from agfmc.core.lazy_points import is_lazy
from agfmc.data.libsvm import iter_svm, read_svm, read_svm_labels, store_svm, svm_lines
from agfmc.data.types import InputFormat
from data_files import write_svm

FLOATS = st.floats(allow_nan=False, allow_infinity=False)


def read(text, missing=None, **options):
    return read_svm("-", InputFormat("svm", missing), stdin=io.BytesIO(text), **options)


def chunks(text, missing=None, **options):
    return list(iter_svm("-", InputFormat("svm", missing), stdin=io.BytesIO(text), **options))


def table(text):
    """The same points by the plainest means, for numeric labels."""
    lines = [line.split(b"#")[0].split() for line in text.split(b"\n")]
    lines = [line for line in lines if line]
    entries = [{int(i): float(v) for i, v in (e.split(b":") for e in line[1:])} for line in lines]
    d = max((i for e in entries for i in e), default=0)
    return [[e.get(j + 1, 0.0) for j in range(d)] for e in entries], [float(l[0]) for l in lines]


SPACES = st.sampled_from([" ", "\t", "  ", " \t"])
VALUES = st.sampled_from(["1", "-2.5", "+3e2", ".5", "4.", "0", "1E-3", "123456789012345678"])


@st.composite
def svm_files(draw):
    """Correct text in all the shapes that are allowed."""
    out = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["point", "point", "point", "blank", "comment"]))
        line = draw(st.sampled_from(["", " "]))
        if kind == "comment":
            line += "# 1:2 x"
        elif kind == "point":
            line += draw(st.sampled_from(["1", "+1", "1.0", "-3", "0", "20e1"]))
            for i in sorted(draw(st.sets(st.integers(1, 12), max_size=6))):
                line += draw(SPACES) + f"{i}:" + draw(VALUES)
            line += draw(st.sampled_from(["", " ", "#c", " # 5:6"]))
        out.append(line)
    out.append("7 1:2")
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return (end.join(out) + draw(st.sampled_from(["", end]))).encode()


@given(svm_files(), st.integers(1, 80), st.integers(1, 5))
def test_every_allowed_shape_in_any_blocks(text, block, rows):
    x, y = table(text)
    got = read(text, block=block)
    assert np.array_equal(got.x, x) and np.array_equal(got.y, y)
    parts = chunks(text, rows=rows, d=12, block=block)
    assert all(0 < len(part) <= rows and part.shape[1] == 12 for part in parts)
    joined = np.concatenate(parts)
    assert np.array_equal(joined[:, : got.x.shape[1]], x) and not joined[:, got.x.shape[1] :].any()


@given(svm_files(), st.binary(min_size=1, max_size=3), st.data())
def test_damage_is_refused_or_harmless(text, junk, data):
    """Whatever the bytes are, it is a table or a DataError, and blocks do not matter."""
    place = data.draw(st.integers(0, len(text)))
    text = text[:place] + junk + text[place:]

    def outcome(block):
        try:
            got = read(text, block=block, limit_bytes=1 << 20)
        except DataError as error:
            return str(error)
        return got.x.tolist(), got.y.tolist(), got.names

    whole = outcome(1 << 20)
    assert isinstance(whole, tuple) == isinstance(outcome(7), tuple)
    if isinstance(whole, tuple):
        assert whole == outcome(7)


def test_words_are_numbered_in_sorted_order():
    text = b"pear 1:1\napple 1:2\n\xc3\xa4pfel 2:3\npear\n"
    for block in (3, 1000):
        got = read(text, block=block)
        assert got.names == ("apple", "pear", "äpfel") and got.y.tolist() == [1, 0, 2, 1]
        assert got.x.tolist() == [[1, 0], [2, 0], [0, 3], [0, 0]]


def test_words_may_be_numbered_by_names_from_elsewhere():
    got = read(b"b 1:1\na 1:2\n", names=("b", "c", "a"))
    assert got.y.tolist() == [0, 2] and got.names == ("b", "c", "a")
    with pytest.raises(DataError, match="standard input:3: the label 'd' is not among the names"):
        read(b"b 1:1\n\nd 1:2\n", names=("b", "c"))


MARGINS = b"1 1:1\n+1 1:2\n-2 1:3\n1.0 1:4\n1e0 1:5\n-10 1:6\n-0 1:7\n.50 1:8\n"


@pytest.mark.parametrize("block", [1, 12, 1 << 20])
@pytest.mark.parametrize("reader", [read_svm, read_svm_labels])
def test_labels_with_a_fraction_are_names_in_the_order_of_their_values(block, reader):
    with pytest.warns(
        AgfmcWarning,
        match="standard input: labels -10, -2, 0, 0.5, 1 are taken as "
        "names of the classes 0, 1, 2, 3, 4",
    ):
        got = reader("-", stdin=io.BytesIO(MARGINS), block=block)
    y, names = got if reader is read_svm_labels else (got.y, got.names)
    assert names == ("-10", "-2", "0", "0.5", "1") and y.dtype == np.int32
    assert y.tolist() == [4, 4, 1, 4, 4, 0, 2, 3]


def test_values_are_looked_up_among_names_that_are_numbers():
    names = ("1", "-10", "-2", "0", "0.5")
    for block in (1, 1000):
        assert read(MARGINS, block=block, names=names).y.tolist() == [0, 0, 2, 0, 0, 1, 3, 4]
    assert read(b"+1 1:1\n", names=("-1", "0", "1")).y.tolist() == [2]
    for text, listed, word in (
        (b"1 1:1\n3 1:1\n", names, "3"),
        (b"1 1:1\n.5 1:1\n", "ab", ".5"),
        (b"1 1:1\n-1 1:1\n", "ab", "-1"),
    ):
        with pytest.raises(DataError, match=f"input:2: the label '{word}' is not among the names"):
            read(text, names=tuple(listed))
    with pytest.raises(DataError, match="the names '1' and '1.0' are one number"):
        read(b"1 1:1\n", names=("1", "-1", "1.0"))


def test_names_that_all_could_be_labels_are_no_values():
    assert read(b"0 1:1\n1 1:2\n", names=("10", "5")).y.tolist() == [0, 1]


def test_a_continuous_quantity_is_no_label():
    rows = [b"%d.5 1:1\n" % i for i in range(21)]
    with pytest.raises(DataError, match="21 different labels in 41 points .* float_to_class"):
        read(b"".join(rows + rows[1:]))
    with pytest.warns(
        AgfmcWarning,
        match=r"21 labels, 0.5, 1.5, 2.5, 3.5, ..., 20.5, are taken as "
        r"names of the classes 0 to 20 \(of a continuous",
    ):
        assert len(read(b"".join(rows + rows)).names) == 21
    with pytest.raises(DataError, match="10001 different"):
        read(b"".join(b"%d.5 1:1\n" % i for i in range(10001)) * 3)
    with pytest.warns(AgfmcWarning, match="labels 0.5, 1.5 are"):  # few are no quantity
        assert len(read(b"".join(rows[:2])).names) == 2


def test_labels_of_points_in_chunks_may_be_anything():
    [x] = chunks(b"b 1:1\n1.5 1:2\n? 1:3\n", d=2)
    assert x.tolist() == [[1, 0], [2, 0], [3, 0]]


def test_absent_features_are_what_was_asked_for():
    text = b"0 2:5\n1 1:1\n2 1:0 2:0 3:1\n"
    for block in (6, 1000):
        assert read(text, missing=-9.5, block=block).x.tolist() == [
            [-9.5, 5, -9.5],
            [1, -9.5, -9.5],
            [0, 0, 1],
        ]
    [x] = chunks(text, missing=7, d=4)
    assert x.tolist() == [[7, 5, 7, 7], [1, 7, 7, 7], [0, 0, 1, 7]]


def test_chunks_without_a_width_are_as_wide_as_they_must_be():
    parts = chunks(b"0 1:1\n1 3:1\n", d=None, block=6)
    assert [part.shape for part in parts] == [(1, 1), (1, 3)]


def test_chunks_do_not_wait_for_the_end_of_a_pipe(pipe_of):
    text = b"".join(b"%d 1:%d\n" % (i % 2, i) for i in range(3000))
    got = list(iter_svm("-", rows=700, d=1, stdin=pipe_of(text)))
    assert [len(x) for x in got] == [700, 700, 700, 700, 200]
    assert np.concatenate(got).ravel().tolist() == list(range(3000))


@pytest.mark.parametrize(
    "text, line, message",
    [
        (b"1 1:2\n\n# c\n1 0:3\n", 4, "index 0"),
        (b"1 2:1 1:2", 1, "index 1 comes after 2"),
        (b"1 2:1\n1 1:1 1:2", 2, "index 1 comes twice"),
        (b"1 1:nan", 1, "'nan' of feature 1 is not a finite number"),
        (b"1 1:2 2:-inf", 1, "'-inf' of feature 2"),
        (b"1 1:1e400", 1, "1e400"),
        (b"1 1:0x10", 1, "0x10"),
        (b"1 1:1_0", 1, "1_0"),
        (b"1 1:1-2", 1, "'1-2'"),
        (b"1 1:+-1", 1, r"'\+-1'"),
        (b"1 1:1e", 1, "'1e'"),
        (b"1 1:1,5", 1, "'1,5'"),
        (b"1 1:2:3", 1, "'2:3'"),
        (b"1 1: 2", 1, "the value ''"),
        (b"1 :2", 1, "'' is not the index"),
        (b"1 -1:2", 1, "'-1' is not the index"),
        (b"1 +1:2", 1, "is not the index"),
        (b"1 a:2", 1, "'a' is not the index"),
        (b"1 1.5:2", 1, "'1.5' is not the index"),
        (b"1 qid:3 1:2", 1, "'qid' is not the index"),
        (b"1 1:2 3", 1, "'3' is not index:value"),
        (b"1 2 3", 1, "'2' is not index:value; values without indices are LVQ text"),
        (b"a, b, c", 1, "'b,' is not index:value; it looks like a table with commas"),
        (
            b"\na,b,c\n1,2,x",
            2,
            "expected LIBSVM text; it looks like a table with commas: training and",
        ),
        (b"1,1 12:30,x", 1, "'30,x' of feature 12 is .*; it looks like a table with commas"),
        (b"a|b\n1|2", 1, "it looks like a table with bars"),
        (b"a\tb c\n", 1, "'b' is not index:value; it looks like a table with tabs"),
        (b"a;b;c\n1;2;x", 1, "it looks like a table with semicolons"),
        (b"0 1:1\r1 1:1\r", 1, "'1' is not index:value"),
        (b"1 99999999999:2", 1, "too large"),
        (b"1 1:1\n2 99999999:2", 2, "99999999 make a table of 1.49 GiB, above the limit of"),
        (b"1:2 2:3", 1, "no label"),
        (b"1 1:2\nx:1 1:2", 2, "no label"),
        (b"1 1:2\n4294967296 1:2", 2, "not a whole number of 32 bits"),
        (b"1e400 1:1", 1, "not a whole number"),
        (b"nan 1:1", 1, "not a whole number"),
        (b"1 1:2\na 1:2", 2, "'a' is not a number, but the first one is"),
        (b"a 1:2\n1 1:2", 2, "'1' is a number, but the first one is a word"),
        (b"a 1:2\nnan 1:2", 2, "is a number"),
        (b"1,3 1:2\n2 1:2", 1, "several labels in one row: '1,3'"),
        (b"1 1:2\n2,-3,4 1:2", 2, "several labels in one row: '2,-3,4'"),
        (b"a" * 300 + b" 1:2", 1, "300 letters"),
        (b"a\x01 1:2", 1, "control character"),
        (b"1 1:1\n\x01\n1 1:1\n", 2, "control character"),
        (b"1 \x1f 1:1\n", 1, "control character"),
        (b"1 1:2\n1e99 1:1\n1 1:1 1:1\n", 2, "'1e99' is not a whole"),
        (b"1 1:2 1:1\n0.5 1:1\n", 1, "comes twice"),
        (b"1 1:2\n\0", 2, "not text"),
        (b"", None, "no points"),
        (b"\n# only this\n \n", None, "no points"),
        (b"1\n2\n", None, "no features"),
    ],
)
def test_a_file_that_cannot_be(text, line, message, tmp_path):
    path = tmp_path / "bad.svm"
    path.write_bytes(text)
    for read_all in (read_svm, functools.partial(store_svm, least=0), store_svm):
        for block in (2, 1 << 20):
            with pytest.raises(DataError, match=message) as caught:
                read_all(path, limit_bytes=1 << 20, block=block)
            assert caught.value.line == line and str(caught.value.file) == str(path)


@given(svm_files(), st.integers(1, 80), st.integers(0, 300), st.sampled_from([None, -7.5]))
def test_a_table_in_a_file_is_the_table(text, block, least, missing):
    expected = read(text, missing)
    got = store_svm(
        "-", InputFormat("svm", missing), stdin=io.BytesIO(text), least=least, block=block
    )
    assert is_lazy(got.x) == (expected.x.nbytes > least)
    assert np.asarray(got.x).tobytes() == expected.x.tobytes()
    assert got.y.tobytes() == expected.y.tobytes() and got.names == expected.names


def test_rows_that_move_apart_are_not_lost(monkeypatch):
    monkeypatch.setattr(libsvm, "_AT_ONCE", 10)  # two rows of the widest
    lines = [f"{n} {n % d + 1}:{n + 1}\n" for d in (1, 2, 2, 5) for n in range(7)]
    text = "".join(lines).encode()
    got = store_svm("-", stdin=io.BytesIO(text), least=0, block=20)
    assert np.asarray(got.x).tobytes() == read(text).x.tobytes()


def test_a_table_that_the_disk_has_no_space_for(monkeypatch):
    text = b"1 1:1\n2 20:1\n3 1:1\n"
    monkeypatch.setattr(libsvm, "_free_bytes", lambda file: (327, "/there"))
    with pytest.raises(
        DataError,
        match="input:2: 2 points so far, with features up to 20 make a "
        "table of 2.98e-07 GiB, above the limit of 3.12e-07 GiB "
        r"that are free in /there \(TMPDIR names another folder",
    ):
        store_svm("-", stdin=io.BytesIO(text), least=0, block=7)
    resource = pytest.importorskip("resource")
    monkeypatch.undo()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        with pytest.raises(DataError, match="a temporary file: cannot write: File too large"):
            store_svm("-", stdin=io.BytesIO(text * 10_000), least=0, block=1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_no_file_is_left(monkeypatch, tmp_path):
    handles = lambda: len(os.listdir("/proc/self/fd"))
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("open files are not listed here")
    before = handles()
    got = store_svm("-", stdin=io.BytesIO(b"1 1:1\n2 2:1\n"), least=0)
    assert handles() == before + 1
    del got
    with pytest.raises(DataError):
        store_svm("-", stdin=io.BytesIO(b"1 1:1\n2 2:1\n2 2:x\n"), least=0, block=6)
    assert handles() == before


@pytest.mark.parametrize("block", [8, 1000])
def test_features_that_the_model_has_not(block):
    text = b"0 1:1\n0 1:1 4:7\n0\n0 3:2 5:1 6:1\n0 9:1\n"
    with pytest.warns(
        AgfmcWarning,
        match="^standard input: 4 values of features beyond the 3 of the model, up to 9, are ignored$",
    ):
        found = np.vstack(chunks(text, d=3, block=block))
    np.testing.assert_array_equal(found, [[1, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 2], [0, 0, 0]])


def test_an_empty_stream_of_points():
    with pytest.raises(DataError, match="no points"):
        chunks(b"# nothing\n", d=3)


def test_the_first_bad_line_is_named_in_a_long_file():
    lines = [b"%d 1:%d 2:1" % (i % 3, i) for i in range(5000)]
    lines[4321] = b"1 1:x 2:1"
    lines[4400] = b"oops"
    for block in (100, 1 << 22):
        with pytest.raises(DataError, match="standard input:4322: the value 'x'"):
            read(b"\n".join(lines), block=block)


def test_the_writer_leaves_zeros_out_and_no_digit():
    x = np.array([[0, 1.0, 0.1], [np.float32(0.1), 0, -1e300]])
    assert list(svm_lines(x, np.array([2, 0]))) == [
        "2 2:1 3:0.1\n",
        "0 1:0.10000000149011612 3:-1e+300\n",
    ]
    assert list(svm_lines(x[:1], np.array([1]), ("a", "b"))) == ["b 2:1 3:0.1\n"]


def test_points_that_cannot_be_written(tmp_path):
    path = tmp_path / "x.svm"
    x = np.ones((2, 2))
    for args, message in [
        ((x, [0]), "1 labels for 2 points"),
        ((x * [[1], [np.inf]], [0, 1]), r"row 2 has NaN or infinity"),
        ((x, [0, 1], ("a",)), "label 1 has no name"),
        ((x, [0, -1], ("a",)), "label -1 has no name"),
        ((x, [0, 1], ("a", "two words")), "cannot be a label"),
        ((x, [0, 1], ("a", "1e3")), "cannot be a label"),
        ((x, [0, 1], ("a", "1,3")), "cannot be a label"),
        ((x, [0, 1], ("a", "b:c")), "cannot be a label"),
        ((x, [0, 1], ("a", "nan")), "cannot be a label"),
        ((x, [0, 1], ("0", "1e3")), "cannot be a label"),
        ((x, [0, 1], ("a", "-1")), "cannot be a label"),
    ]:
        with pytest.raises(DataError, match=message):
            write_svm(path, *args)
    assert not path.exists()
    write_svm(path, x, [0, 1], ("b", "a"))
    got = read_svm(path, names=("b", "a"))
    assert got.y.tolist() == [0, 1] and got.x.tolist() == x.tolist()
    write_svm(path, x, [1, 0], ("-1", "0.5"))
    assert read_svm(path, names=("-1", "0.5")).y.tolist() == [1, 0]


def test_the_reference_text_is_the_reference_vectors(segment):
    from agfmc.data.libagf import read_cls, read_vec

    got = read_svm(segment / "tst.svm")
    x = read_vec(segment / "tst.vec")
    assert got.x.shape == x.shape and np.allclose(got.x, x, rtol=2e-5, atol=1e-6)
    assert np.array_equal(got.y, read_cls(segment / "tst.cls"))
