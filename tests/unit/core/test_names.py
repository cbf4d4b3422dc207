"""Names that files can hold: one function says which, before any work and in every writer."""

import numpy as np
import pytest

import agfmc
from agfmc.control.build import from_rows
from agfmc.control.write import format_tree
from agfmc.core.errors import AgfmcError, DataError, ModelError
from agfmc.core.text import name_fault
from agfmc.data.class_names import read_names
from agfmc.data.libsvm import read_svm
from agfmc.tables.ids import RowIds
from agfmc.tables.memory import table_in_memory
from agfmc.tables.recipe_file import format_recipe
from agfmc.tables.words import column_names
from agfmc.tables.types import ColumnRecipe, TableFormat, TableRecipe

BREAK = "it has a line break"
ODD = "b\n# decoder: vote"


@pytest.mark.parametrize(
    "name, of_class, of_model, of_column",
    [
        ("b c", None, None, None),
        ("\udcff", None, None, "it has a character that UTF-8 has not"),
        ("\ud800", *["it has a character that UTF-8 has not"] * 3),
        (ODD, BREAK, BREAK, None),
        ("a\rb", None, None, None),
        ("a\u2028b", None, None, None),
        ("a\0", *["it has a NUL"] * 3),
        (" a", "blanks around it would be lost", None, None),
        ("", "it is empty", None, None),
    ],
    ids=repr,
)
def test_which_names_can_be_written(name, of_class, of_model, of_column):
    faults = [name_fault(name, kind) for kind in ("class", "model", "column")]
    assert faults == [of_class, of_model, of_column]


def test_names_are_refused_where_they_are_read(tmp_path):
    text, names = tmp_path / "a.svm", tmp_path / "a.names"
    text.write_text("a 1:1\nb\u2028 1:2\n", encoding="utf-8")
    names.write_bytes(b"a\n\n")
    for read, path, fault in (
        (read_svm, text, "blanks around it would be lost"),
        (read_names, names, "it is empty"),
    ):
        with pytest.raises(DataError, match=f"a.[a-z]*:2: .*: {fault}"):
            read(str(path))
    with pytest.raises(DataError, match="column 2, .*: it has a NUL"):
        column_names(["a", "b\0"], "t.parquet")
    for end, wrong in (("\n", False), ("\0", True)):
        table = table_in_memory([{"id": "1\n"}, {"id": f"2{end}"}], TableFormat())
        ids, (block,) = RowIds(table, (0,)), table.blocks({0: "text"})
        if wrong:
            with pytest.raises(DataError, match="row 2: the id .* it has a NUL"):
                ids.add(block)
        else:
            ids.add(block)


@pytest.mark.parametrize("part", ["classes", "control"])
def test_python_refuses_them_before_any_work(part):
    x, y = np.arange(8.0).reshape(4, 2), [0, 0, 1, 1]
    control = from_rows([((0,), (1,))], [0, 1], {1: ODD} if part == "control" else {})
    if part == "classes":
        y = ["a", "a", ODD, ODD]
    with pytest.raises(AgfmcError, match=BREAK):
        agfmc.train(control, x, y)


def test_writers_refuse_them():
    with pytest.raises(ModelError, match=BREAK):
        format_tree(from_rows([((0,), (1,))], [0, 1], {1: ODD}))
    with pytest.raises(DataError, match=BREAK):
        format_recipe(TableRecipe((ColumnRecipe("x", None, None),), "label", ("a", ODD)))
