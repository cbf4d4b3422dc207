"""Rows as CSV, read back by the reader of tables and by Python's module csv."""

import csv
import io

from hypothesis import given, strategies as st

from agfmc.files.csv import csv_line, csv_lines
from agfmc.tables.reading import open_table
from agfmc.tables.types import TableFormat

CELLS = st.text(st.sampled_from(list('ab,;"\n\r\t é')), max_size=4)


@given(
    st.lists(st.lists(CELLS, min_size=2, max_size=2), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
)
def test_every_cell_comes_back(rows, delimiter):
    text = csv_lines(list(zip(*rows)), delimiter)
    assert text == b"".join(csv_line(row, delimiter) for row in rows)
    assert list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter)) == rows
    with open_table("-", TableFormat(delimiter, header=False), io.BytesIO(text)) as table:
        cells = [block[at] for block in table.blocks({0: "text", 1: "text"}) for at in (0, 1)]
    assert [list(row) for row in zip(*cells)] == rows


def test_the_bytes():
    assert csv_line(["a b", 'say "x"', "1,5", ""]) == b'a b,"say ""x""","1,5",\n'
    assert csv_line([""]) == b'""\n'
