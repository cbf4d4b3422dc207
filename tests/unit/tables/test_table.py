"""Tables in text: records, cells, names, and what is said of bad ones."""

import gzip
import io
import os
import time

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.tables import reading, words
from agfmc.tables.words import number_of, Words
from agfmc.tables.reading import open_table
from agfmc.tables.types import TableFormat
from own_warnings import no_own_warnings, own_warnings, texts_of


def read(data, wanted="either", name="-", form=TableFormat(), **options):
    """(names, [column per name as a list], numbers of rows); words for codes, None if missing."""
    with open_table(name, form, io.BytesIO(data), **options) as table:
        kinds = {i: wanted for i in range(len(table.names))} if isinstance(wanted, str) else wanted
        columns, rows = {i: [] for i in kinds}, []
        for block in table.blocks(kinds):
            rows += [block.number(i) for i in range(block.rows)]
            for i, column in columns.items():
                column += plain(block[i])
                assert len(column) == len(rows)
        return table.names, [columns[i] for i in kinds], rows


def plain(column):
    if isinstance(column, Words):
        assert list(column.words) == sorted(set(column.words)) and column.codes.dtype == np.int32
        return [None if code < 0 else column.words[code] for code in column.codes]
    if isinstance(column, np.ndarray):
        assert column.dtype == np.float64
        return [None if np.isnan(value) else value for value in column.tolist()]
    return column


def wrong(data, *arguments, **options):
    with pytest.raises(DataError) as caught:
        read(data, *arguments, **options)
    return str(caught.value).removeprefix("standard input:").strip()


def test_a_small_table():
    data = b'id,colour, size \r\n1,red,2.5\r\n\r\n 2 ,NA,?\r\n+3," dark, blue ",-.5e1\r\n'
    for block in (40, 1000):
        assert read(data, block=block) == (
            ("id", "colour", "size"),
            [[1, 2, 3], ["red", None, "dark, blue"], [2.5, None, -5]],
            [1, 2, 3],
        )
    assert read(data, {0: "text", 2: "words"})[1] == [["1", " 2 ", "+3"], ["2.5", None, "-.5e1"]]


def test_blocks_have_numbers_where_all_their_cells_are():
    parts = []
    text = b"a\n" + b"1\n" * 40 + b"x\n" + b"2\n" * 40
    with open_table("-", stdin=io.BytesIO(text), block=64) as table:
        for block in table.blocks({0: "either"}):
            parts += plain(block[0])
    # once there are words, there are no numbers more
    assert parts[0] == 1.0 and parts[40:] == ["x"] + ["2"] * 40


@pytest.mark.parametrize(
    "cell, number",
    [
        ("1", 1),
        (" +7\t", 7),
        (".5", 0.5),
        ("5.", 5),
        ("1e3", 1000),
        ("1E-400", 0),
        ("1_000", None),
        ("1e400", None),
        ("inf", None),
        ("nan", None),
        ("0x1", None),
        ("", None),
        ("\u0661", None),
        ("1\n", None),
        ("1\u00a0", None),
        (".", None),
        ("1d3", None),
        ("--1", None),
        ("1 2", None),
    ],
)
def test_what_a_number_is(cell, number):
    assert number_of(cell) == number
    column = ["3", cell]
    missing = cell in ("nan", "")
    expected = ["3", cell.strip(" \t")] if number is None and not missing else [3, number]
    data = "".join(f'"{cell}",\n' for cell in ("a", *column)).replace(",", ",b", 1)
    assert read(data.encode(), {0: "either"})[1][0] == expected


def test_blanks_are_missing_with_blanks_around_them():
    form = TableFormat(blanks=("-999", "none"))
    assert read(b"a,b\n-999,none\n -999 , none\n-999.0,\n", form=form)[1] == [
        [None, None, None],
        [None, None, ""],
    ]


@pytest.mark.parametrize(
    "data, names",
    [
        (b"a;b\n3,5;x\n2,1;y\n", ("a", "b")),
        (b"a\tb,c\n1\t2\n", ("a", "b,c")),
        (b"a|b\n1|2\n", ("a", "b")),
        (b"a\n1\n", ("a",)),
        (b'"a;b",c\n"1;2",3\n', ("a;b", "c")),
        (b"a,b c,d\n1;1,2;2,3;3\n", ("a", "b c", "d")),
        (b"a, b;c\n1\n2;3\n4;5\n", ("a, b", "c")),
    ],
)
def test_the_delimiter_is_guessed(data, names):
    with open_table("-", TableFormat(decimal="."), io.BytesIO(data)) as table:
        assert table.names == names


def test_a_tsv_has_tabs(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a,b\tc,d\n1,2\t3\n")
    with open_table(path) as table:
        assert table.names == ("a,b", "c,d")
    with open_table(path, TableFormat(",")) as table:
        assert table.names == ("a", "b\tc", "d")


def test_names_and_numbers_of_columns():
    assert read(b"1,x\n2,y\n", form=TableFormat(header=False)) == (
        ("1", "2"),
        [[1, 2], ["x", "y"]],
        [1, 2],
    )
    assert read(b"\xef\xbb\xbf,a\n1,2\n")[0] == ("row", "a")
    with pytest.warns(AgfmcWarning, match="columns from 3 on have no name in the header"):
        assert read(b"a,b,, \n1,2,,\n", {0: "number"})[0] == ("a", "b", "3", "4")


def test_lone_carriage_returns_end_lines():
    data = b'a,b\r\r1,2\r3,"4\r\n5"\r6,7'
    for block in (20, 100):
        assert read(data, {0: "number", 1: "words"}, block=block) == (
            ("a", "b"),
            [[1, 3, 6], ["2", "4\r\n5", "7"]],
            [1, 2, 3],
        )


def test_quotes_may_be_part_of_cells():
    form = TableFormat(quotes=False)
    assert read(b'a,b\n5" pipe,"x\n', form=form)[1] == [['5" pipe'], ['"x']]


@pytest.mark.parametrize(
    "data, message",
    [
        (b"", "expected a table, found no line"),
        (b"\n\r\n", "expected a table, found no line"),
        (b"a,b\n", "the table has no rows"),
        (
            b"1,2\n3,4\n",
            "the first row holds numbers: `header=False` where there are no names",
        ),
        (b"a,b,a\n1,2,3\n", "columns 1 and 3 have the same name 'a'"),
        (
            b"a,,b\n1,2,3\n",
            "column 2 has no name in the header: expected one line with the name of each column",
        ),
        (b"a,b\n1,2\n\n1,2,3\n", "row 2: 3 cells, expected 2 as in the header"),
        (b"a,b\n1\n", "row 1: 1 cell, expected 2 as in the header"),
        (
            b"a,b\n1,2,3\n",
            "row 1: 3 cells, expected 2 as in the header; write.table of R leaves out the "
            "name of the column of row names: with col.names = NA it does not",
        ),
        (
            b'a,b\n1,2\n3,"4\n5,6\n7,8\n',
            "row 2: a quote that opens here is not closed; `quotes=False` where quotes are a part "
            "of the cells",
        ),
        (
            b'a,b\n1,2\n"3,4\n5,6\n7,8\n',
            "row 2: a quote that opens here is not closed; `quotes=False` where quotes are a part "
            "of the cells",
        ),
        (
            b'a,"b\n1,2\n',
            "1: cannot split the first row into cells (unexpected end of data); `quotes=False` where "
            "quotes are a part of the cells",
        ),
        (
            b"a,b\n\xc3\xa4,2\n\xe4,2\n",
            "3: is not text in UTF-8: `encoding` names that which it is in",
        ),
        (
            b"a,b\n1,2\n\x81,2\n",
            "3: is not text in UTF-8: `encoding` names that which it is in",
        ),
        (
            b"a,b\n1,2\n\0,2\n",
            "3: is not text: it holds a NUL (`encoding` names that of UTF-16 without its mark)",
        ),
        (b"PK\x03\x04\n", "is a spreadsheet or an archive: save the table as CSV"),
        (
            b"BZh91AY&SY\n",
            "is compressed in another way than by gzip, which alone is read: unpack it",
        ),
        (
            b"a\n1\n" + b"x" * 65_537 + b"\n",
            "row 2: a cell of column 'a' has more than 65536 bytes",
        ),
    ],
)
def test_bad_tables(data, message):
    for block in (30, 1 << 20):
        if block > 30 or len(data) < 100:
            assert wrong(data, block=block) == message


@pytest.mark.parametrize(
    "data, names, words",
    [
        ("a,ä\n1,ö\n".encode("utf-8-sig"), ("a", "ä"), ["ö"]),
        ("a,ä\n1,ö\n".encode("utf-16"), ("a", "ä"), ["ö"]),
        (b"\xfe\xff" + "a,ä\n1,ö\n".encode("utf-16-be"), ("a", "ä"), ["ö"]),
        (("a,b\n" + "1,x\n" * 200_000 + "2,ö\n").encode(), ("a", "b"), None),
    ],
)
def test_encodings_that_tell_themselves(data, names, words):
    with no_own_warnings():
        table = read(data, {1: "words"})
    assert table[0] == names and table[1][0][-1] == "ö"


@pytest.mark.parametrize("rows", [0, 200_000])
def test_other_text_is_windows_1252_and_said_to_be(rows):
    data = ("a,b\n" + "1,x\n" * rows + "2,ö€\n").encode("windows-1252")
    with own_warnings() as told:
        with open_table("-", stdin=io.BytesIO(data), again=True) as table:
            for _ in range(2):
                assert [plain(block[1]) for block in table.blocks({1: "words"})][-1][-1] == "ö€"
    (text,) = texts_of(told)
    assert text.startswith("standard input: is read as windows-1252, as it is not in UTF-8")
    form = TableFormat(encoding="latin-1")
    with no_own_warnings():
        assert read("a,b\n1,ö\n".encode("latin-1"), form=form)[1][1] == ["ö"]
    with pytest.raises(UsageError, match="there is no encoding 'none'"):
        TableFormat(encoding="none")


def test_a_line_that_names_the_delimiter():
    assert read(b"sep=|\r\na,b|c\r\n1|2\r\n")[:2] == (("a,b", "c"), [[1], [2]])


def test_quotes_within_a_cell_are_a_part_of_it():
    assert read(b'a,b\n5" pipe,x"y"\n"a ""b""",c\n')[1] == [['5" pipe', 'a "b"'], ['x"y"', "c"]]


@pytest.mark.parametrize(
    "cell, message",
    [
        (b"x", "row 2: expected a number in column 'b', found 'x'"),
        (b"1_0", "row 2: expected a number in column 'b', found '1_0'"),
        (
            b'"3,5"',
            "row 2: expected a number in column 'b', found '3,5': a decimal has a point, 3.5",
        ),
        (b"y" * 70, f"row 2: expected a number in column 'b', found '{'y' * 60}...'"),
    ],
)
def test_words_where_numbers_are_expected(cell, message):
    assert wrong(b"a,b\n1,\n2," + cell + b"\nz,3\n", "number") == message
    assert read(b"a,b\n1,\n2," + cell + b"\n", {0: "number"})[1] == [[1, 2]]


def test_the_first_bad_row_is_told_whatever_is_wrong_with_it():
    data = b'a,b\n1,2\n3,x\n4\n5,6,7\n"\n'
    for block in (20, 100):
        message = wrong(data, "number", block=block)
        assert message == "row 2: expected a number in column 'b', found 'x'"
        message = wrong(data, "text", block=block)
        assert message == "row 3: 1 cell, expected 2 as in the header"


def test_a_row_has_a_limit():
    message = wrong(b'a\n1\n"' + b"x\n" * 600 + b'"\n', block=100)
    assert message == "row 2: a row from here on is longer than 0 KiB, or its quote is not closed"


def test_gzip_is_known_by_its_bytes(tmp_path):
    path = tmp_path / "a.csv.gz"
    for data in (
        b"a,b\n1,2\n",
        gzip.compress(b"a,b\n1,2\n"),
        gzip.compress(b"a,b\n") + gzip.compress(b"1,2\n"),
    ):
        path.write_bytes(data)
        assert read(b"", name=path)[1] == [[1], [2]]


def test_damaged_gzip():
    data = gzip.compress(bytes(range(97, 120)) + b",b\n" + os.urandom(99).hex().encode() + b",2\n")
    assert wrong(data[:-9]).startswith("is damaged, or not complete: ")
    assert wrong(data[:30] + b"\xff\xff\xff" + data[33:]).startswith("is damaged, or not")
    assert wrong(data + b"more").startswith("is damaged, or not complete: ")


def test_a_gzip_bomb(monkeypatch):
    from agfmc.files import opening as module

    monkeypatch.setattr(module, "_BOMB", 1 << 20)
    data = gzip.compress(b"a,b\n" + b"1,2\n" * 500_000)
    assert "grows more than 200 times, beyond 1 MiB" in wrong(data, {})


def test_a_table_is_read_again(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n1,x\n2,y\n")
    for zipped in (False, True):
        if zipped:
            path.write_bytes(gzip.compress(path.read_bytes()))
        for name, stdin in ((path, None), ("-", io.BytesIO(path.read_bytes()))):
            with open_table(name, stdin=stdin, again=True, block=20) as table:
                assert len(list(zip(table.blocks({0: "number"}), range(1)))) == 1
                for _ in range(2):
                    assert [plain(block[1]) for block in table.blocks({1: "words"})] == [["x", "y"]]


def test_a_stream_is_read_once():
    with open_table("-", stdin=io.BytesIO(b"a,b\n1,x\n2,y\n")) as table:
        assert len(list(table.blocks({}))) == 1
        with pytest.raises(UsageError, match="only once"):
            list(table.blocks({}))


def test_places():
    with open_table("-", stdin=io.BytesIO(b'a,b\n"1\n",x\n\n2,y\n')) as table:
        (block,) = table.blocks({0: "words"})
        assert table.counted == "row" and block.number(1) == 2
        assert str(block.error(0, "no")) == "standard input: row 1: no"


@pytest.mark.parametrize("header", [True, False])
def test_a_table_of_too_many_columns(header, monkeypatch):
    monkeypatch.setattr(words, "_MOST_COLUMNS", 3)
    assert "has 4 columns: expected 3 or fewer" in wrong(
        b"a,b,c,d\n1,2,3,x\n", {}, form=TableFormat(header=header)
    )


def test_decimal_commas():
    text = b"x;y;z;class\n1,5;2,5;w1;a\n-,5;3;1,5;b\n2,5E-1;NA;7;a\n"
    message = (
        r"decimals have commas, as in column 'x' \("
        r"`decimal=\".\"` says that they have points\)"
    )
    with pytest.warns(AgfmcWarning, match=message):
        found = read(text)
    with no_own_warnings():
        assert (
            read(text, form=TableFormat(decimal=","))
            == found
            == read(text.replace(b",", b".").replace(b";", b","))
        )
        read(text, form=TableFormat(decimal="."))
        read(b"x;y\n1,5;a\n1.5;b\n1.5;c\n")
    for form in (TableFormat(";", decimal=","), TableFormat("\t", decimal=",")):
        with pytest.raises(
            DataError, match="row 2: expected a number in column 'x', found '1.234'"
        ):
            read(
                b"x;y\n1,5;2\n1.234;5\n".replace(b";", form.delimiter.encode()), "number", form=form
            )
    with pytest.raises(UsageError, match="`decimal`: expected a point or a comma, found ';'"):
        TableFormat(decimal=";")


@pytest.mark.parametrize("is_whole", [True, False])
def test_no_thread_reads_ahead_behind_the_last_block(is_whole, tmp_path, monkeypatch):
    """One that is within the file when Python ends lets the process end by a fault."""
    path = tmp_path / "rows.csv"
    path.write_text("x,y\n" + "1,2\n" * 4000)
    reads = []

    def read(stream, size, read=reading._Joined.read):
        time.sleep(0.01)
        data = read(stream, size)
        reads.append(len(data))
        return data

    monkeypatch.setattr(reading._Joined, "read", read)
    with reading.open_table(path, block=1024) as table:
        blocks = table.blocks({0: "number"})
        next(blocks)
        if is_whole:
            assert sum(block.rows for block in blocks) > 3000
        blocks.close()
        count = len(reads)
        time.sleep(0.05)
    assert len(reads) == count


@pytest.mark.parametrize("wrap", [lambda data: data, gzip.compress])
def test_lines_of_rows(tmp_path, wrap):
    """Rows may take several lines, and blank lines are no rows."""
    path = tmp_path / "t.csv"
    path.write_bytes(wrap(b'sep=;\na;b\n\n1;"x\ny"\n2;z\r\n\n3;"u"\n'))
    with open_table(str(path)) as table:
        list(table.blocks({0: "number"}))
        assert [table.line_of(row) for row in (1, 2, 3, 4)] == [4, 6, 8, None]
