"""Columns of answers: the same cells from a table and from lines of JSON."""

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import DataError
from agfmc.answers.columns import open_answers
from agfmc.files.csv import csv_line, csv_lines

KINDS = {"id": "text", "class": "words", "p:x": "number", "set": "set"}
WORDS = st.sampled_from(["x", "y z", "caf\u00e9", 'say "a"', "a,b"])
ROWS = st.lists(
    st.tuples(
        st.text('ab"\n ,', max_size=3),
        st.none() | WORDS,
        st.none() | st.floats(-1e300, 1e300, allow_nan=False),
        st.lists(WORDS, max_size=2),
    ),
    min_size=1,
    max_size=6,
)


def read(path, kinds=KINDS):
    with open_answers(str(path)) as table:
        assert set(kinds) <= set(table.names)
        return table.read(kinds)


def plain(columns):
    """The cells as Python's own values."""
    words = columns.cells["class"]
    return (
        columns.cells["id"],
        [*words.words],
        words.codes.tolist(),
        [None if value != value else value for value in columns.cells["p:x"].tolist()],
        columns.cells["set"],
    )


@given(ROWS)
def test_a_table_and_json_have_the_same_cells(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "a.csv").write_bytes(
        csv_line([*KINDS])
        + csv_lines(
            [
                [row[0] for row in rows],
                [row[1] or "" for row in rows],
                ["" if row[2] is None else repr(row[2]) for row in rows],
                [" | ".join(row[3]) for row in rows],
            ]
        )
    )
    (folder / "a.jsonl").write_text(
        "".join(
            json.dumps(
                {"id": row[0], "class": row[1], "probabilities": {"x": row[2]}, "set": row[3]}
            )
            + "\n"
            for row in rows
        )
    )
    table, lines = read(folder / "a.csv"), read(folder / "a.jsonl")
    assert plain(table) == plain(lines)
    assert plain(table)[0] == [row[0] for row in rows]
    assert plain(table)[4] == [tuple(row[3]) for row in rows]
    assert lines.numbers.tolist() == [*range(1, len(rows) + 1)]


def test_places_of_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('id,class,p:x,set\n"a\nb",x,1,x\nc,x,2,x\n')
    columns = read(path)
    assert columns.numbers.tolist() == [1, 2]
    error = columns.error(1, "it is so")
    assert isinstance(error, DataError) and str(error) == f"{path}:4: row 2: it is so"


def test_many_blocks_have_one_list_of_words(tmp_path):
    n = 1 << 18  # several blocks
    path = tmp_path / "a.csv"
    path.write_text("class\n" + "".join(f"word{i * 7 // n}\n" for i in range(n)))
    words = read(path, {"class": "words"}).cells["class"]
    assert words.words == tuple(f"word{i}" for i in range(7))
    assert words.codes.tolist() == (np.arange(n) * 7 // n).tolist()


@pytest.mark.parametrize(
    "value, kind",
    [
        ('"1"', "number"),
        ("true", "number"),
        ("1e999", "number"),
        ("[1]", "words"),
        ("{}", "text"),
        ("null", "text"),
        ('"x"', "set"),
        ("[1]", "set"),
        ("null", "set"),
    ],
)
def test_values_of_json_that_do_not_fit(tmp_path, value, kind):
    path = tmp_path / "a.jsonl"
    path.write_text(f'\n{{"a": {value}}}\n')
    with pytest.raises(DataError, match=r"a.jsonl:2: expected a .* in 'a'"):
        read(path, {"a": kind})
