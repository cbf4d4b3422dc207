"""Text of answers: cells, quotes, JSON, the same digits on every way."""

import csv
import gzip
import io
import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays

from agfmc.core.errors import DataError, UsageError
from agfmc.core.rows import by_name
from agfmc.answers.columns import open_answers
from agfmc.answers.text_table import AnswerText, Part
from agfmc.files.kinds import answer_format, ANSWER_FORMATS

WORDS = ("a,b", 'say "c"', "100%")
CLASS = Part("word", "class")
CSV = ANSWER_FORMATS[0]
P = Part("numbers", "probabilities", WORDS, "p:")


def whole(text, heads, columns, values):
    return text.header(heads) + text.lines(heads, columns, text.format_answers(values))


@given(
    arrays(
        np.float64,
        (3, 3),
        elements=st.one_of(
            st.floats(-2, 2),
            st.integers(-(10**7), 10**7).map(lambda i: i / 1e6 + 5e-7),
            st.floats(-1e300, 1e300),
        ),
    )
)
def test_numbers_have_the_digits_of_python(values):
    text = AnswerText(WORDS, (P,), CSV)
    lines = "".join(text.format_answers([values])).splitlines()
    assert lines == ["".join(f",{value:.6f}" for value in row) for row in values.tolist()]


@pytest.mark.parametrize("name, mark", [("a.csv", ","), ("a.tsv", "\t")])
def test_cells_are_read_back(name, mark):
    ids = ["", " x ", 'q"', "two\nlines", "a,b", "t\tab", "é", "=1", "\r"]
    numbers = np.array([0, 1, 2, -1, 0, 1, 2, 0, 1])
    p = np.arange(27.0).reshape(9, 3) / 27
    text = AnswerText(WORDS, (CLASS, P), answer_format(name))
    found = list(
        csv.reader(
            io.StringIO(whole(text, ("i,d", "row"), [ids, range(1, 10)], [numbers, p]), newline=""),
            delimiter=mark,
        )
    )
    assert found[0] == ["i,d", "row", "class", "p:a,b", 'p:say "c"', "p:100%"]
    assert [row[0] for row in found[1:]] == ids
    assert [row[1] for row in found[1:]] == list(map(str, range(1, 10)))
    assert [row[2] for row in found[1:]] == [WORDS[i] if i >= 0 else "" for i in numbers]
    assert [row[3:] for row in found[1:]] == [[f"{value:.6f}" for value in row] for row in p]


def test_lines_of_json():
    parts = (
        CLASS,
        Part("number", "p"),
        P,
        Part("set", "set"),
        Part("ranked", "top", ("1", "2"), "class"),
    )
    text = AnswerText(WORDS, parts, answer_format("a.jsonl"))
    p = np.array([[0.25, 0.5, 0.25], [np.nan, 0, -np.inf]])
    sets = np.array([[True, False, True], [False] * 3])
    lines = whole(
        text,
        ("100%", "row"),
        [['"', "ü"], range(3, 5)],
        [
            np.array([1, -1]),
            np.array([0.5, np.inf]),
            p,
            sets,
            (np.array([[1, 0], [2, 1]]), p[:, 1:]),
        ],
    ).splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "100%": '"',
            "row": 3,
            "class": 'say "c"',
            "p": 0.5,
            "probabilities": {"a,b": 0.25, 'say "c"': 0.5, "100%": 0.25},
            "set": ["a,b", "100%"],
            "top": [{"class": 'say "c"', "p": 0.5}, {"class": "a,b", "p": 0.25}],
        },
        {
            "100%": "ü",
            "row": 4,
            "class": None,
            "p": None,
            "probabilities": {"a,b": None, 'say "c"': 0, "100%": None},
            "set": [],
            "top": [{"class": "100%", "p": 0}, {"class": 'say "c"', "p": None}],
        },
    ]


def test_sets_and_pairs_in_columns():
    parts = Part("set", "set"), Part("ranked", "top", ("1", "2"), "class")
    text = AnswerText(("ant", "b;e,e"), parts, CSV)
    sets = np.array([[True, True], [False, False], [False, True]])
    top = np.array([[0, 1], [1, 0], [0, 1]]), np.array([[0.75, 0.25]] * 3)
    assert whole(text, ("id",), [["x", "y", "z"]], [sets, top]) == (
        "id,set,class1,p1,class2,p2\n"
        'x,"ant | b;e,e",ant,0.750000,"b;e,e",0.250000\n'
        'y,,"b;e,e",0.750000,ant,0.250000\n'
        'z,"b;e,e",ant,0.750000,"b;e,e",0.250000\n'
    )


def test_names_that_would_be_two_in_a_set_are_refused():
    with pytest.raises(UsageError, match="the name 'a | b' cannot stand in a set"):
        AnswerText(("a | b", "c"), (Part("set", "set"),), CSV)
    assert AnswerText(("a | b", "c"), (CLASS,), CSV).names == ["class"]
    AnswerText(("a | b", "c"), (Part("set", "set"),), answer_format("a.jsonl"))


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.csv.gz"
    text = AnswerText(WORDS, (CLASS,), CSV)
    for _ in range(2):
        with text.opened(str(path), ["id"], None) as add:
            add([["x"]], ["\n"])
        assert gzip.decompress(path.read_bytes()) == b"id,class\nx\n"
        with pytest.raises(DataError), text.opened(str(path), ["id"], None) as add:
            add([["y"]], ["\n"])
            raise DataError("a row is wrong")
        assert [one.name for one in tmp_path.iterdir()] == ["a.csv.gz"]


@pytest.mark.parametrize(
    "name", [f"a{ending}" for form in ANSWER_FORMATS for ending in form.endings]
)
def test_every_format_is_written_and_read(name, tmp_path):
    form, path = answer_format(name), str(tmp_path / name)
    if not form.is_text:
        pytest.importorskip("pyarrow")
    p, sets = np.array([[0.25, 0.5, 0.25], [1, 0, 0]]), np.array([[True, False, True], [False] * 3])
    table = by_name(form.writer)(WORDS, (CLASS, P, Part("set", "set")), form)
    with table.opened(path, ["id"], None) as add:
        for rows in (slice(0, 1), slice(1, 2)):
            add(
                [["one", "two"][rows]],
                table.format_answers([np.array([2, -1])[rows], p[rows], sets[rows]]),
            )
    with open_answers(path) as answers:
        cells = answers.read(
            {
                "id": "text",
                "class": "words",
                "set": "set",
                **dict.fromkeys([f"p:{word}" for word in WORDS], "number"),
            }
        ).cells
    assert cells["id"] == ["one", "two"] and cells["set"] == [(WORDS[0], WORDS[2]), ()]
    assert [(*cells["class"].words, None)[code] for code in cells["class"].codes] == ["100%", None]
    np.testing.assert_array_equal([cells[f"p:{word}"] for word in WORDS], p.T)
