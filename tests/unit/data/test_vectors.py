"""Binary files: bytes, chunks, pipes, text in their place, and limits of memory."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from agfmc.core.errors import DataError
from agfmc.core import memory
from agfmc.data import libagf
from agfmc.data.libagf import (
    cls_bytes,
    con_bytes,
    read_cls,
    read_con,
    read_std,
    read_vec,
    VecReader,
    VecWriter,
    write_std,
)
from data_files import write_cls, write_vec

FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
TABLES = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=FLOATS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("vectors")


def vec(d, values):
    return struct.pack(f"<i{len(values)}f", d, *values)


@given(TABLES, st.integers(1, 12))
def test_chunks_joined_are_the_whole(folder, x, rows):
    path = folder / "x.vec"
    write_vec(path, x)
    for source in ({"path": path}, {"path": "-", "stdin": io.BytesIO(path.read_bytes())}):
        chunks = list(VecReader(rows=rows, **source))
        assert all(len(chunk) == rows for chunk in chunks[:-1])
        assert 0 < len(chunks[-1]) <= rows
        assert np.concatenate(chunks).tobytes() == x.tobytes()


def test_a_pipe_gives_its_width_before_its_points(pipe_of):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    with VecReader("-", 3, stdin=pipe_of(vec(3, x.ravel()))) as reader:
        assert (reader.d, reader.n) == (3, None) and [len(chunk) for chunk in reader] == [3, 1]
    assert np.array_equal(read_vec("-", stdin=pipe_of(vec(3, x.ravel()))), x)


def test_big_pieces_of_a_pipe_are_put_together(monkeypatch, pipe_of):
    monkeypatch.setattr(libagf, "_PIECE", 5)
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    assert np.array_equal(read_vec("-", stdin=pipe_of(vec(3, x.ravel()))), x)


def test_the_chunks_may_be_changed(folder):
    write_vec(folder / "x.vec", np.ones((3, 2)))
    for x in (*VecReader(folder / "x.vec", 2), read_vec(folder / "x.vec")):
        x += 1


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "no header"),
        (b"\1\0\0", "no header"),
        (vec(2, []), "has no rows"),
        (vec(0, [1]), "says 0 features"),
        (vec(-2, [1, 2]), "says -2 features"),
        (vec(2, [1, 2, 3]), "16 bytes are not a header and whole rows of 2"),
        (vec(2, [1, 2]) + b"\0", "whole rows of 2"),
        (vec(2**31 - 1, [1, 2]), "whole rows of 2147483647"),
        (b"1 1:2\n", 'looks like text, expected points .*`kind="svm"`, LVQ text with'),
        (b"1,2\n", "looks like text"),
        (b"2\n", "looks like text"),
        (vec(2, [1, 2, 3, np.nan]), r"feature 1 \(from 0\) of row 2 is NaN"),
        (vec(1, [1, -np.inf]), r"row 2 is an infinite"),
    ],
)
def test_a_vec_file_that_cannot_be(folder, data, message):
    path = folder / "bad.vec"
    path.write_bytes(data)
    for read in (read_vec, lambda p: read_vec(p, mmap=True), lambda p: list(VecReader(p, 1))):
        with pytest.raises(DataError, match=message) as caught:
            read(path)
        assert caught.value.file == str(path) or caught.value.file == path


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "no header"),
        (vec(2, []), "has no rows"),
        (b"1 1:2\n", "looks like text"),
        (vec(2, [1, 2, 3]), "ends in the middle of row 1"),
        (vec(2**31 - 1, [1, 2]), "its header says 2147483647 features"),
        (vec(2**26, [1, 2]), "ends in the middle of row 0"),
        (vec(2, [1, 2, 3, 4, 5, np.nan]), "feature 1 .from 0. of row 3 is NaN"),
    ],
)
def test_a_vec_pipe_that_cannot_be(data, message):
    with pytest.raises(DataError, match=message):
        list(VecReader("-", 2, stdin=io.BytesIO(data)))


def test_points_that_cannot_be_written(folder):
    path = folder / "never.vec"
    for x, message in [
        (np.array([[1.0], [np.nan]]), r"row 2 is NaN"),
        (np.array([[1.0, 2.0], [3.0, 1e39]]), "feature 1 .from 0. of row 2"),
    ]:
        with pytest.raises(DataError, match=message):
            write_vec(path, x)
    assert not path.exists()


def test_the_writer_counts_rows_over_its_chunks():
    out = io.BytesIO()
    out.name = "out"
    writer = VecWriter(out, 2)
    writer.write(np.ones((3, 2)))
    with pytest.raises(DataError, match="feature 0 .from 0. of row 5"):
        writer.write(np.array([[1, 1], [np.inf, 1]]))
    writer.write(np.zeros((1, 2)))
    assert out.getvalue() == vec(2, [1, 1, 1, 1, 1, 1, 0, 0])


def test_columns_that_cannot_be(folder):
    path = folder / "bad.cls"
    for data, n, message in [
        (b"", None, "has no labels"),
        (b"\1\0\0", None, "3 bytes are not whole labels"),
        (struct.pack("<2i", 1, 2), 3, "has 2 labels, but there are 3 points"),
        (struct.pack("<3i", 1, 2, -4), 3, r"row 3 has label -4"),
    ]:
        path.write_bytes(data)
        with pytest.raises(DataError, match=message):
            read_cls(path, n)
    path.write_bytes(struct.pack("<2f", 1, np.nan))
    with pytest.raises(DataError, match=r"row 2 is NaN"):
        read_con(path)


@pytest.mark.parametrize(
    "text",
    ["0\n1\n", "0\r\n1\r\n", "1\n2\n0\n", "a,b\n0,Zürich\n", "0 1 0", "-1 +1 " * 11, "0 1 " * 16],
)
def test_text_is_not_taken_for_labels(folder, text):
    path = folder / "labels.txt"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match="looks like text, .*svmout2agf .*labels.txt base"):
        read_cls(path)


@pytest.mark.parametrize("text", ["0.5\n1.5\n", "0.25\n1\n2.5\n", " ".join(map(str, range(70)))])
def test_text_is_not_taken_for_numbers(folder, text):
    path = folder / "numbers.txt"
    path.write_bytes(text.encode())
    with pytest.raises(DataError, match="looks like text, .*float32.*svm2agf -L"):
        read_con(path)


def test_a_normalisation_is_not_text(folder):
    (folder / "m.mbc").write_text("m-00 0 / 1;\n{ 0 1 }\n")
    with pytest.raises(DataError, match="looks like text, expected a normalisation"):
        read_std(folder / "m.mbc")


@given(arrays(np.int32, st.integers(1, 200), elements=st.integers(-100, 150_000_000)))
def test_labels_are_never_taken_for_text(folder, y):
    write_cls(folder / "y.cls", y)
    assert np.array_equal(read_cls(folder / "y.cls", negative=True), y)


def test_numbers_of_four_letters_are_numbers(folder):
    for text in (b"1234", b"KLM?" * 100, b"\nab?mn\n?"):  # the same rating for all points, say
        (folder / "v.con").write_bytes(text)
        assert read_con(folder / "v.con").tobytes() == text


@pytest.mark.parametrize(
    "y, message",
    [
        ([0, 2**31], "row 7"),
        ([-(2**31) - 1], "row 6"),
        ([0.5], "whole numbers"),
        ([np.nan], "whole numbers"),
    ],
)
def test_labels_that_cannot_be_written(y, message):
    with pytest.raises(DataError, match=message):
        cls_bytes(np.array(y), start=5)


def test_confidences_that_cannot_be_written():
    with pytest.raises(DataError, match=r"out.con: row 7 is NaN"):
        con_bytes(np.array([0, np.nan]), "out.con", 5)


def test_reference_files_are_written_as_they_were(segment, folder):
    x = read_vec(segment / "trn.vec")
    write_vec(folder / "x.vec", x)
    assert (folder / "x.vec").read_bytes() == (segment / "trn.vec").read_bytes()
    assert len(read_cls(segment / "trn.cls", len(x))) == len(x)
    std = read_std(segment / "trn.std")
    assert std.matrix.shape == (18, 18) and std.mean.shape == (18,) and std.dropped == ()
    write_std(folder / "s.std", std)
    assert (folder / "s.std").read_bytes() == (segment / "trn.std").read_bytes()


def test_a_std_file_knows_what_was_dropped(folder):
    path = folder / "a.std"
    path.write_bytes(vec(3, [2, 0, 5, 0, 0, 7, 0, 4, 1]))
    std = read_std(path)
    assert std.dropped == (1,) and np.array_equal(std.mean, [5, 7, 1])
    assert np.array_equal(std.apply(np.array([[6, 0, 3]])), [[2, 8]])


def test_a_std_file_without_features(folder):
    path = folder / "a.std"
    path.write_bytes(vec(1, [2, 0, 5]))
    with pytest.raises(DataError, match="leaves no features"):
        read_std(path)


def test_the_same_std_is_refused_for_points_of_another_width(folder):
    path = folder / "a.std"
    path.write_bytes(vec(2, [2, 5]))
    with pytest.raises(DataError, match="the data have 3 features, the normalisation needs 1"):
        read_std(path).apply(np.ones((2, 3)))


@pytest.mark.parametrize("name", ["memory.max", "memory/memory.limit_in_bytes"])
@pytest.mark.parametrize(
    "text, wanted",
    [
        ("1048576\n", 1 << 19),
        ("max\n", None),
        ("", None),
        ("9223372036854771712\n", None),
        ("\xff", None),
    ],
)
def test_the_limit_of_the_control_group(tmp_path, monkeypatch, name, text, wanted):
    monkeypatch.setattr(memory, "_GROUP", str(tmp_path / "none"))
    machine = memory.memory_limit.__wrapped__()
    monkeypatch.setattr(memory, "_GROUP", str(tmp_path))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text(text, encoding="latin-1")
    assert memory.memory_limit.__wrapped__() == (wanted or machine) > 0


def test_points_in_a_file_fit_in_memory_or_are_mapped(tmp_path, monkeypatch):
    path, x = str(tmp_path / "x.vec"), np.ones((10, 4))
    write_vec(path, x)
    monkeypatch.setattr(libagf, "memory_limit", lambda: 160)
    assert read_vec(path).shape == (10, 4)
    monkeypatch.setattr(libagf, "memory_limit", lambda: 159)
    with pytest.raises(DataError, match="x.vec: cannot read: larger than"):
        read_vec(path)
    assert np.array_equal(read_vec(path, mmap=True), x)


@pytest.mark.parametrize("read", [read_vec, libagf.read_std])
def test_the_file_for_which_there_is_no_memory_is_named(tmp_path, monkeypatch, read):
    path = str(tmp_path / "x.vec")
    write_vec(path, np.ones((10, 4)))

    def empty(*_):
        raise MemoryError

    monkeypatch.setattr(libagf.np, "empty", empty)
    with pytest.raises(DataError, match="x.vec: cannot read: there is not enough memory"):
        read(path)
