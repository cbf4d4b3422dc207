"""The same points, labels, ordinates and names whatever the format they are in."""

import io
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.data.class_names import names_bytes, read_names
from agfmc.data.reading import iter_points, read_labels, read_training
from agfmc.data.libsvm import read_svm
from agfmc.data.lvq import read_lvq
from agfmc.data.libagf import con_bytes
from agfmc.data.types import InputFormat
from data_files import write_cls, write_lvq, write_svm, write_vec

X = np.array([[1, 2, 0], [0.5, 0, 3], [4, 4, -4], [0, 0, 1]], np.float32)
Y = np.array([4, 0, 2, 4], np.int32)


@pytest.fixture
def base(tmp_path):
    base = tmp_path / "a"
    write_vec(f"{base}.vec", X)
    write_cls(f"{base}.cls", Y)
    write_svm(f"{base}.svm", X, Y)
    write_lvq(f"{base}.lvq", X, Y)
    return str(base)


def file_of(base, kind, points=False):
    return base + {"binary": ".vec" if points else "", "svm": ".svm", "lvq": ".lvq"}[kind]


@pytest.mark.parametrize("kind", ["binary", "svm", "lvq"])
def test_all_kinds_hold_the_same(base, kind):
    data = read_training(file_of(base, kind), InputFormat(kind))
    assert np.array_equal(data.x, X) and np.array_equal(data.y, Y) and data.names is None
    assert data.x.dtype == (np.float32 if kind == "binary" else np.float64)
    assert data.y.dtype == np.int32
    assert str(data) == "Dataset: 4 points, 3 features, 3 classes"
    assert read_labels(file_of(base, kind), InputFormat(kind)) == ({0: 1, 2: 1, 4: 2}, {})


@pytest.mark.parametrize("kind", ["binary", "svm", "lvq"])
def test_points_in_chunks_from_a_file_and_a_pipe(base, kind, pipe_of):
    path = file_of(base, kind, points=True)
    with open(path, "rb") as file:
        stdin = pipe_of(file.read())
    for source in ({"path": path}, {"path": "-", "stdin": stdin}):
        parts = list(iter_points(form=InputFormat(kind), rows=3, d=3, **source))
        assert [part.shape for part in parts] == [(3, 3), (1, 3)]
        assert np.array_equal(np.concatenate(parts), X)


@pytest.mark.parametrize(
    "kind, message",
    [
        ("binary", "has 3 features, the model needs 2"),
        ("lvq", "has 3 features, the model needs 2"),
    ],
)
def test_points_wider_than_the_model(base, kind, message):
    with pytest.raises(DataError, match=message):
        list(iter_points(file_of(base, kind, points=True), InputFormat(kind), d=2))


def test_svm_points_may_be_narrower_than_the_model(base):
    [x] = iter_points(base + ".svm", InputFormat("svm", -1), d=5)
    assert x.shape == (4, 5) and x[0].tolist() == [1, 2, -1, -1, -1]


def test_names_beside_binary_data(base):
    Path(base + ".names").write_bytes(names_bytes(["a", "b", "c", "d", "e"]))
    assert read_training(base).names == ("a", "b", "c", "d", "e")
    assert read_labels(base)[1] == {0: "a", 1: "b", 2: "c", 3: "d", 4: "e"}
    Path(base + ".names").write_bytes(names_bytes(["a", "b", "c", "d"]))
    for read in (read_training, read_labels):
        with pytest.raises(DataError, match="label 4 has no name: there are 4 names"):
            read(base)


@pytest.mark.parametrize("kind", ["svm", "lvq"])
def test_words_become_names(tmp_path, kind):
    path = tmp_path / "w"
    write = write_svm if kind == "svm" else write_lvq
    write(path, X, Y, names=tuple("edcba"))
    data = read_training(path, InputFormat(kind))
    assert data.names == ("a", "c", "e") and data.y.tolist() == [0, 2, 1, 0]
    assert read_labels(path, InputFormat(kind)) == ({0: 2, 1: 1, 2: 1}, {0: "a", 1: "c", 2: "e"})


@pytest.mark.parametrize("kind", ["binary", "svm", "lvq"])
def test_labels_below_zero(base, kind):
    write_cls(base + ".cls", Y - 1)
    write_svm(base + ".svm", X, Y - 1)
    write_lvq(base + ".lvq", X, Y - 1)
    with pytest.warns(AgfmcWarning, match="labels -1, 1, 3 are taken as names"):
        data = read_training(file_of(base, kind), InputFormat(kind))
    assert data.y.tolist() == [2, 0, 1, 2] and data.names == ("-1", "1", "3")
    with pytest.warns(AgfmcWarning, match="labels -1, 1, 3 are taken as names"):
        assert read_labels(file_of(base, kind), InputFormat(kind)) == (
            {0: 1, 1: 1, 2: 2},
            {0: "-1", 1: "1", 2: "3"},
        )
    with pytest.raises(DataError, match=r"row 2 has label -1|'-1' is not among"):
        read_training(file_of(base, kind), InputFormat(kind), names=("a", "b", "c", "d"))
    data = read_training(file_of(base, kind), InputFormat(kind), negative=True)
    assert data.y.tolist() == [3, -1, 1, 3]


def test_labels_of_another_number_than_points(base):
    write_cls(base + ".cls", Y[:3])
    with pytest.raises(DataError, match="a.cls: has 3 labels, but there are 4 points"):
        read_training(base)


def test_points_without_labels(base, tmp_path):
    (tmp_path / "a.cls").unlink()
    assert read_training(base, InputFormat(labels=False)).y is None
    write_lvq(base + ".lvq", X, header=False)
    bare = InputFormat("lvq", header=False, labels=False)
    data = read_training(base + ".lvq", bare)
    assert data.y is None and np.array_equal(data.x, X)
    [x] = iter_points(base + ".lvq", bare, d=3)
    assert np.array_equal(x, X)


def test_what_makes_no_sense(base):
    for read in (read_training, read_labels):
        with pytest.raises(UsageError, match="pipe"):
            read("-")
    with pytest.raises(UsageError, match="no kind"):
        InputFormat("csv")
    with pytest.raises(DataError, match="cannot read: No such file"):
        read_training(base + "x")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("names")


def test_windows_ends_and_a_last_line_without_end(folder):
    (folder / "b.names").write_bytes(b"red\r\ndark blue\r\n\xff")
    assert read_names(folder / "b.names") == ("red", "dark blue", "\udcff")


@pytest.mark.parametrize(
    "data, line, message",
    [
        (b"", None, "no names"),
        (b"a\n\nb\n", 2, "empty"),
        (b"a\nb\na\n", 3, "two classes, 0 and 2, have the same name, 'a'"),
    ],
)
def test_names_that_cannot_be(folder, data, line, message):
    (folder / "c.names").write_bytes(data)
    with pytest.raises(DataError, match=message) as caught:
        read_names(folder / "c.names")
    assert caught.value.line == line


@pytest.mark.parametrize("names", [["a\nb"], [" a"], [""], ["a", "a"], [], ["a\0"]])
def test_names_that_cannot_be_written(folder, names):
    with pytest.raises(DataError):
        names_bytes(names, folder / "d.names")
    assert not (folder / "d.names").exists()


X_ORDINATES = np.array([[1, 0], [0.5, 3], [0, 0.25]])
Y_ORDINATES = np.array([-1.5, 3, 1 / 3])


@pytest.mark.parametrize("kind", ["binary", "svm", "lvq"])
def test_ordinates_of_any_kind(tmp_path, kind):
    base = str(tmp_path / "a")
    write_vec(base + ".vec", X_ORDINATES)
    Path(base + ".dat").write_bytes(con_bytes(Y_ORDINATES))
    write_svm(base + ".svm", X_ORDINATES, Y_ORDINATES)
    write_lvq(base + ".lvq", X_ORDINATES, Y_ORDINATES)
    data = read_training(
        base + {"binary": ""}.get(kind, f".{kind}"), InputFormat(kind, ordinates=True)
    )
    want = Y_ORDINATES.astype(np.float32) if kind == "binary" else Y_ORDINATES
    assert data.y.tobytes() == want.tobytes() and data.y.dtype == want.dtype
    assert np.array_equal(data.x, X_ORDINATES) and data.names is None


@pytest.mark.parametrize("block", [1, 1000])
@pytest.mark.parametrize(
    "text, line, message",
    [
        (b"1:0\n", 1, "no label|columns"),
        (b"x 1:1\n", 1, "ordinate 'x'"),
        (b"1.5 1:1\nnan 1:1\n", 2, "ordinate 'nan'"),
        (b"1e999 1:1\n", 1, "ordinate '1e999'"),
        (b"1.5 1:x\n", 1, "'x'"),
    ],
)
def test_ordinates_that_cannot_be(text, line, message, block):
    lvq = b"".join(
        b" ".join([*row.replace(b"1:", b"").split()[1:], row.split()[0]]) + b"\n"
        for row in text.splitlines()
    )
    for read, kind, lines, head in ((read_svm, "svm", text, 0), (read_lvq, "lvq", b"1\n" + lvq, 1)):
        with pytest.raises(DataError, match=message) as caught:
            read("-", InputFormat(kind, ordinates=True), stdin=io.BytesIO(lines), block=block)
        assert caught.value.line == line + head


def test_points_alone_may_come_from_a_pipe(tmp_path, pipe_of):
    write_vec(tmp_path / "a.vec", X_ORDINATES)
    content = (tmp_path / "a.vec").read_bytes()
    data = read_training("-", InputFormat(labels=False), stdin=pipe_of(content))
    assert np.array_equal(data.x, X_ORDINATES) and data.y is None
    with pytest.raises(UsageError, match="pipe"):
        read_training("-", InputFormat(ordinates=True))


@pytest.mark.parametrize(
    "name, data, message",
    [
        (
            "a.xlsx",
            b"PK\x03\x04" + bytes(40),
            "there is no .*a.xlsx.vec; it is a spreadsheet or an archive: save the table as CSV",
        ),
        ("a.xls", b"\xd0\xcf\x11\xe0" + bytes(40), "it is a spreadsheet"),
        ("a.txt", b"a,b,class\n1,2,x\n", "it looks like a table with commas: .* without `kind="),
        ("a.XLSX", None, "there is no such file, and no .*a.XLSX.vec of binary data"),
    ],
)
def test_tables_that_are_none_by_their_names(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(DataError, match=message):
        read_training(str(tmp_path / name))
