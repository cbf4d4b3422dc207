"""Hints for what comes where text or points are expected: one line that names the way."""

import gzip
import io
import os
import threading
from pathlib import Path

import pytest

from agfmc.core.errors import DataError
from agfmc.data.reading import iter_points, read_labels
from agfmc.files.number_text import (
    blocks,
    foreign_line,
    foreign_start,
    is_svm,
    kind_of_file,
    table_line,
)
from agfmc.files.opening import open_input
from agfmc.data.libagf import read_cls, read_con, read_vec
from agfmc.data.types import InputFormat

TABLES = [
    (b"id,sepal length,kind", "commas"),
    (b"5.1,3.5,setosa", "commas"),
    (b"1, 2, x", "commas"),
    (b'"a b","c d"', "commas"),
    (b"a;b c;d", "semicolons"),
    (b"5,1;3,5;x", "semicolons"),
    (b"a b|c d|e", "bars"),
    (b"a\tb c\t", "tabs"),
    (b"1,2020-01-01 12:30:00,x", "commas"),
    (b"1,12:30,1:5", "commas"),
]


@pytest.mark.parametrize("line, marks", TABLES)
def test_lines_of_tables(line, marks):
    found = foreign_line(line, "t.txt")
    assert found == table_line(line, "t.txt") and "\n" not in found
    assert found == (
        f"it looks like a table with {marks}: training and classification read it "
        'without `kind="svm"` and `kind="lvq"`, and `table2agf t.txt base` makes it binary'
    )


@pytest.mark.parametrize(
    "line", [b"", b"1 2 3 x", b"1,5 2,5 3", b"1\t2\tx", b"1 2,5", b"setosa", b"a b c", b"1.5 x"]
)
def test_lines_that_are_no_table(line):
    assert foreign_line(line, "t") == ""


@pytest.mark.parametrize("line", [b"1 1:2 2:3", b"x 7:-1.5e3", b"1 1:2, 2:3,"])
def test_lines_of_libsvm_text(line):
    assert foreign_line(line, "t") == 'it looks like LIBSVM text (`kind="svm"`, svm2agf)'
    assert table_line(line, "t") == ""


STARTS = [
    (b"PAR1\x15\x04", "a Parquet table"),
    (b"ARROW1\0\0", "an Arrow table"),
    (b"FEA1\0\0", "an Arrow table"),
    (gzip.compress(b"a,b\n1,2\n" * 9, mtime=0), "compressed: `gunzip` it, or if it is a table, tr"),
]


def test_binary_columns_are_not_read_from_gzip(tmp_path):
    for read, name in (read_cls, "x.cls.gz"), (read_con, "x.con.gz"):
        (tmp_path / name).write_bytes(gzip.compress(bytes(400), mtime=0).ljust(40, b"\0"))
        with pytest.raises(DataError, match="it is compressed: `gunzip` it"):
            read(str(tmp_path / name))
    column = b"\x1f\x8b\x08\0" * 3  # labels that begin as gzip does
    (tmp_path / "x.cls").write_bytes(column)
    assert read_cls(str(tmp_path / "x.cls")).tolist() == [0x088B1F] * 3


@pytest.mark.parametrize("data, kind", STARTS)
def test_tables_that_are_no_text(data, kind, tmp_path):
    way = f"it is {kind}.*read it without .*, and `table2agf .*x.vec base`"
    path = str(tmp_path / "x.vec")
    (tmp_path / "x.vec").write_bytes(data)
    with pytest.raises(DataError, match=f"is not a .vec file; {way}"):
        read_vec(path)
    if data.startswith(b"\x1f\x8b"):  # which is undone for text, once
        (tmp_path / "x.vec").write_bytes(gzip.compress(data))
    for text in ("svm", "lvq"):
        for read in (read_labels, lambda *words: list(iter_points(*words))):
            with pytest.raises(DataError, match=f"is not text; {way}"):
                read(path, InputFormat(text))
    (tmp_path / "x.vec").rename(tmp_path / "y")
    with pytest.raises(DataError, match=f"there is no .*y.cls; it is {kind}"):
        read_labels(str(tmp_path / "y"))


def test_labels_alone_with_a_tab_behind_are_no_table():
    got = read_labels("-", InputFormat("svm"), stdin=io.BytesIO(b"1\t\n2 1:3\n2\t\n"))
    assert got == ({1: 1, 2: 2}, {})
    assert read_labels("-", InputFormat("svm"), stdin=io.BytesIO(b"1\t\n2\t\n"))[0] == {1: 1, 2: 1}


def test_the_start_of_text_is_no_table():
    assert not any(foreign_start(data, "x") for data in (b"", b"PAR", b"1 1:2"))
    file = io.BytesIO(b"PARTS 1:2\n")
    file.name = "x"
    assert list(blocks(file)) == [(b"PARTS 1:2\n", 1)]


@pytest.mark.parametrize(
    "head, kind",
    [
        *((line + b"\n1", "table") for line, _ in TABLES),
        *((data, "table") for data, _ in STARTS[:-1]),
        (b"PK\x03\x04" + bytes(40), "table"),  # the reader of tables says what it is
        ("a,b\n1,2\n".encode("utf-16"), "table"),
        (b"\xef\xbb\xbf#id,x,kind\n1,2,a\n", "table"),
        (b"# points\n2\n1.5 2 red\n", "lvq"),
        (b"3\n1 2 3\n", "lvq"),
        (b"1 1:2\n", "svm"),
        (b"1 2 3 x\n", ""),  # LVQ text without its first line
        (b'"-c 1" 0 / 1;\n{0 1}\n', ""),
        (b'# names: a, b\n"" {"" 0 / 1; {0 1} 2}\n', ""),
        (b'{"labels": [0, 1], "contingency": [[1, 2], [3, 4]]}\n', ""),
        (b"0 1 50 3 40 2\n", ""),  # errors of pairs
        (bytes([2, 0, 0, 0]) + b",,,,;;;;", ""),
        (b"", ""),
    ],
)
def test_the_first_bytes_tell_the_kind_of_data(head, kind, tmp_path):
    for name, data in (("x", head), ("x.gz", gzip.compress(head))):
        (tmp_path / name).write_bytes(data)
        assert kind_of_file(str(tmp_path / name)) == kind


def test_a_pipe_begins_again_with_the_bytes_that_were_looked_at(tmp_path):
    path, text = str(tmp_path / "pipe"), b"a,b\n" + b"1,2\n" * 40_000
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: Path(path).write_bytes(text))
    writer.start()
    assert kind_of_file(path) == "table"
    with open_input(path) as file:
        assert file.read() == text
    writer.join()


@pytest.mark.parametrize(
    "text, known",
    [
        ("1 1:2 3:-4e-1\n", True),
        ("# data\n\nred\n-1 2:nan # odd\n", True),
        ("1 1:2 3:4", True),
        ("1 2 3:4\n", False),
        ("1\n2\n", False),
        ("", False),
        ('"" 0 / 1; {0 1}\n', False),
        ("a,b\n1:2,3:4\n", False),
        ("1 1:2" * 20000, True),
        ("\0\1 \2:\3\n", False),
    ],
)
def test_libsvm_text_is_known_by_its_first_line_with_a_feature(text, known, tmp_path):
    for name, data in (("x", text.encode()), ("x.gz", gzip.compress(text.encode()))):
        (tmp_path / name).write_bytes(data)
        assert is_svm(str(tmp_path / name)) is known
