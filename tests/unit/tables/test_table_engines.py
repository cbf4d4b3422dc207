"""Both engines of text tables give the same, in values, words, lines and errors."""

import io
import math
import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcError
from agfmc.tables.text import Words
from agfmc.tables.reading import open_table
from agfmc.tables import reading as table_module
from agfmc.tables.types import TableFormat

pytest.importorskip("pyarrow")

NUMBERS = (
    "1",
    "-2",
    "+5",
    "0.1",
    ".5",
    "5.",
    "1e3",
    "1E-7",
    "-0",
    " 7 ",
    "\t8",
    "9 ",
    "007",
    "123456789012345678901",
    "0.30000000000000004",
    "2.2250738585072011e-308",
    "1e-400",
)
ODD = (
    "1e400",
    "inf",
    "-Infinity",
    "NAN",
    "-nan",
    "1_0",
    "0x1",
    "1e",
    ".",
    "+",
    "--1",
    "1 2",
    "3,5",
    "\u0661",
    "1\u00a0",
    "1d3",
    "1f",
    "true",
    "1\x0b",
    "\x0c2",
    "1;",
    "-999.0",
    " -999",
    "+-1",
)
BLANK = ("", "NA", "NaN", "null", "?", " ", "  ", " NA", "NA ", "  NA", "\tNA", "-999")
WORDS = (
    "red",
    " red",
    "red ",
    "b\u00e4r",
    "\u732b",
    "a b",
    'say "x"',
    "new\nline",
    "cr\rlf\r\n",
    '"',
    '""',
    "\U0001f431",
    "'",
    "#",
    "x" * 40,
    "\ufeff",
    "\u2028",
    "\x1f",
)
PIECES = ("", "a", '"', '""', ",", ";", "\n", "\r", "\r\n", " ", "\0", "1", "\u00e4")


def outcome(data, kinds, form, **options):
    """What comes out of a table: names, columns with their kinds and bits, lines; or the error."""
    out = []
    try:
        with open_table("-", form, io.BytesIO(data), **options) as table:
            out.append(table.names)
            wanted = {i: kinds[i % len(kinds)] for i in range(0, len(table.names))}
            for block in table.blocks({} if kinds == ["none"] else wanted):
                out.append(block.numbers().tolist())
                assert len(out[-1]) == block.rows
                out += [bits(block[i]) for i in wanted if kinds != ["none"]]
    except AgfmcError as error:
        assert "\n" not in str(error) and str(error).startswith("standard input")
        out.append(str(error))
    return out


def bits(column):
    if isinstance(column, Words):
        assert column.codes.dtype == np.int32
        return "words", column.words, column.codes.tolist()
    if isinstance(column, np.ndarray):
        assert column.dtype == np.float64 and not np.isinf(column).any()
        return "numbers", ["" if math.isnan(x) else struct.pack("d", x) for x in column.tolist()]
    assert all(type(cell) is str for cell in column)
    return "text", column


def made(rng):
    """(bytes of a table, kinds of its columns, its format, the size of blocks)."""
    columns = int(rng.integers(1, 5))
    rows = int(rng.integers(0, 12))
    delimiter = rng.choice(list(",,;;\t\t|| :0#'"))
    quotes = rng.random() < 0.85
    pools = [POOLS[int(rng.integers(len(POOLS)))] for _ in range(columns)]
    breaks = ["\n", "\r\n", "\r"][int(rng.integers(3))]
    lines = [[f"c{i}" for i in range(columns)]]
    for _ in range(rows):
        lines.append([pool[int(rng.integers(len(pool)))] for pool in pools])
        if rng.random() < 0.03:
            lines[-1] = lines[-1][1:] or ["1", "2"]
    text = ""
    for cells in lines:
        text += delimiter.join(written(cell, delimiter, quotes, rng) for cell in cells)
        text += breaks * (1 + (rng.random() < 0.1))
        if rng.random() < 0.02:
            text += "\r\n"
    if rng.random() < 0.2:
        text = text[:-1]
    kinds = list(
        rng.choice(["number", "either", "words", "text"], columns, p=[0.15, 0.5, 0.2, 0.15])
    )
    form = TableFormat(
        None if rng.random() < 0.5 else str(delimiter),
        bool(rng.random() < 0.9),
        quotes,
        BLANKS[int(rng.integers(len(BLANKS)))],
    )
    data = b"\xef\xbb\xbf" * (rng.random() < 0.1) + text.encode()
    return data, ["none"] if rng.random() < 0.03 else kinds, form, int(rng.choice([1, 5, 30, 9999]))


POOLS = (
    NUMBERS,
    NUMBERS,
    NUMBERS + BLANK,
    NUMBERS + BLANK[:5],
    NUMBERS + ODD,
    WORDS,
    WORDS + BLANK,
    NUMBERS[:5] * 9 + ODD[:2],
    BLANK,
    NUMBERS + WORDS[:1] + ("NA",),
)
BLANKS = (TableFormat().blanks, TableFormat().blanks, ("NA", "-999"), ())


def written(cell, delimiter, quotes, rng):
    if not quotes:
        return cell.translate({10: "n", 13: "r", ord(delimiter): "d"})
    if rng.random() < 0.2 or any(mark in cell for mark in ('"', "\n", "\r", delimiter)):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def agree(data, kinds, form, block):
    plain = outcome(data, kinds, form, block=block, engine="csv")
    assert outcome(data, kinds, form, block=block, engine="arrow") == plain
    return plain


@given(st.integers(0, 2**32))
def test_engines_agree(seed):
    for i in range(10):
        agree(*made(np.random.default_rng([seed, i])))


@pytest.mark.long
def test_the_made_tables_are_of_all_kinds(monkeypatch):
    """Many are read to the end, most blocks by PyArrow; the errors of the others are many."""
    done = []
    converted = table_module.text_columns
    monkeypatch.setattr(
        table_module,
        "text_columns",
        lambda *arguments: done.append(converted(*arguments)) or done[-1],
    )
    found = [agree(*made(np.random.default_rng([7, i]))) for i in range(200)]
    errors = [out[-1].split(": ", 1)[1][:12] for out in found if isinstance(out[-1], str)]
    assert 40 < len(errors) < 100 and len(set(errors)) >= 4
    assert sum(one is not None for one in done) > len(done) / 2 > 200
    columns = [column for one in done if one for column in one[1].values()]
    for kind in (np.ndarray, Words, list):
        assert sum(isinstance(column, kind) for column in columns) > 50


@given(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1, 2, 3, 100]),
    st.sampled_from(["number", "either", "words", "text"]),
)
def test_engines_agree_on_rubbish(text, quotes, named, block, kind):
    form = TableFormat(",", False, quotes)
    data = ("a,b\n" * named + text).encode()
    whole = agree(data, [kind], form, 1000)
    part = agree(data, [kind], form, block)
    assert isinstance(part[-1], str) == isinstance(whole[-1], str)
    if isinstance(whole[-1], str):
        assert part[-1] == whole[-1]
