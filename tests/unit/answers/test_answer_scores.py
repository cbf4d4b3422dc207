"""Answers joined with the truth: whatever the order of rows and columns."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.files.csv import csv_line, csv_lines
from agfmc.answers.result_tables import AnswerSource, load_answers

NAMES = ["b", "a", "10"]


def write(path, header, rows):
    path.write_bytes(csv_line(header) + csv_lines([*zip(*rows)]))
    return str(path)


@given(st.permutations(range(7)), st.permutations(range(7)), st.permutations(range(4)))
def test_rows_are_joined_by_their_ids(tmp_path_factory, one, other, columns):
    folder = tmp_path_factory.mktemp("join")
    p = np.eye(3)[[0, 1, 2, 0, 1, 2, 0]] * 0.7 + 0.1
    truth = [0, 1, 2, 1, 2, 0, 0]
    header = ["class", *(f"p:{name}" for name in NAMES)]
    rows = [[NAMES[p[i].argmax()], *map(repr, p[i].tolist())] for i in range(7)]
    answers = write(
        folder / "a.csv",
        ["id", "half", *(header[at] for at in columns)],
        [[str(i // 2), str(i % 2), *(rows[i][at] for at in columns)] for i in one],
    )
    data = write(
        folder / "d.csv",
        ["half", "kind", "id"],
        [[str(i % 2), NAMES[truth[i]], str(i // 2)] for i in other],
    )
    results, names = load_answers(AnswerSource(answers, "kind", data))
    assert names == tuple(header[at][2:] for at in columns if at)
    order = [NAMES.index(name) for name in names]
    assert results.k == 3 and results.labels.tolist() == [0, 1, 2]
    assert [names[label] for label in results.truth] == [NAMES[truth[i]] for i in one]
    assert [names[label] for label in results.result] == [rows[i][0] for i in one]
    assert results.p.tolist() == p[np.ix_(one, order)].tolist()
    assert results.winner.tolist() == p[one].max(axis=1).tolist()


def test_classes_without_columns_are_in_their_natural_order(tmp_path):
    rows = [["10", "9"], ["9", "9"], ["", "100"], ["9.0", "9"]]
    path = write(tmp_path / "a.csv", ["class", "truth"], rows)
    with pytest.warns(AgfmcWarning, match="'100' is none of the answers': 1 row counts as wrong$"):
        results, names = load_answers(AnswerSource(path, "truth"))
    assert names == ("9", "10", "100") and results.k is None and results.p is None
    assert results.truth.tolist() == [0, 0, 2, 0] and results.result.tolist() == [1, 0, -1, 0]
    results, names = load_answers(AnswerSource(path, "truth", names=("100", "10", "9")))
    assert names == ("100", "10", "9") and results.k == 3


@pytest.mark.parametrize("header", [["class", "p:Ost", "p:West"], ["class"]])
def test_true_classes_are_compared_without_case_as_in_training(tmp_path, header):
    rows = [["Ost", "0.9", "0.1"], ["West", "0.1", "0.9"], ["West", "0.1", "0.9"]]
    path = write(tmp_path / "a.csv", header, [row[: len(header)] for row in rows])
    data = write(tmp_path / "d.csv", ["place"], [["ost"], ["WEST"], ["Ost"]])
    source = AnswerSource(path, None, data, label="place")
    with pytest.warns(
        AgfmcWarning,
        match=r"the true class 'WEST' \(and 1 more\) is none of the answers': 2 rows count as wrong.*; "
        "'WEST' differs from 'West' in case or blanks alone: the recipe, or the model, of training "
        "with `fold_case` makes them one",
    ):
        load_answers(source)
    results, names = load_answers(replace(source, fold_case=True))
    assert names == ("Ost", "West") and results.truth.tolist() == [0, 1, 0]
    write(tmp_path / "d.csv", ["place"], [["ost"], ["WEST"], ["west"]])
    with pytest.raises(
        DataError, match="no answer is one .* differs from 'West' in case or blanks"
    ):
        load_answers(source)


def test_the_column_of_true_classes_is_found_without_case(tmp_path):
    path = write(tmp_path / "a.csv", ["class"], [["Ost"], ["West"]])
    data = write(tmp_path / "d.csv", ["place", "x"], [["ost", "1"], ["west", "2"]])
    with pytest.warns(AgfmcWarning, match="the true classes are those of column 'place'"):
        results, _ = load_answers(AnswerSource(path, None, data, fold_case=True))
    assert results.truth.tolist() == [0, 1]


def test_a_column_named_set_is_one_of_sets_behind_class_and_p_alone(tmp_path):
    path = write(tmp_path / "a.csv", ["class", "truth", "set"], [["x", "x", "test"]] * 2)
    results, names = load_answers(AnswerSource(path, "truth"))
    assert results.sets is None and names == ("x",)
    path = write(
        tmp_path / "b.csv",
        ["class", "p", "set", "truth"],
        [["x", "0.5", "x | y", "y"], ["x", "0.5", "", "x"]],
    )
    results, names = load_answers(AnswerSource(path, "truth"))
    assert names == ("x", "y")
    assert results.sets.size.tolist() == [2, 0] and results.sets.holds.tolist() == [True, False]


def test_the_input_has_the_truth_in_a_column_of_the_answers_name(tmp_path):
    path = write(tmp_path / "a.csv", ["input:class", "class"], [["x", "y"], ["y", "x"]])
    results, _ = load_answers(AnswerSource(path, "class"))
    assert results.truth.tolist() == [0, 1] and results.result.tolist() == [1, 0]


def test_more_values_than_there_are_classes(tmp_path):
    path = write(tmp_path / "a.csv", ["class", "truth"], [[str(i), str(i)] for i in range(10_001)])
    with pytest.raises(DataError, match="look not like classes"):
        load_answers(AnswerSource(path, "truth"))
