"""Types of tables: words as they are compared, names of features, and options that cannot be."""

import numpy as np
import pytest

from agfmc.core.errors import UsageError
from agfmc.tables.number_forms import NumberForm
from agfmc.tables.types import (
    ColumnRecipe,
    ColumnRoles,
    LARGEST,
    plain_word,
    size_of_names,
    TableFormat,
    TableRecipe,
)
from agfmc.files.kinds import is_table


@pytest.mark.parametrize(
    "cell, word",
    [
        ("red", "red"),
        (" dark red\t", "dark red"),
        ("1.0", "1"),
        ("-12.000", "-12"),
        ("3.", "3"),
        ("1.50", "1.50"),
        (".0", ".0"),
        ("1.0.0", "1.0.0"),
        ("v1.0", "v1.0"),
        ("\u0661.0", "\u0661.0"),
        ("\u00a0x", "\u00a0x"),
        ("True", "true"),
        ("FALSE", "false"),
        ("true", "true"),
        ("TruE", "TruE"),
        ("007", "007"),
        ("", ""),
    ],
)
def test_words_that_are_the_same(cell, word):
    assert plain_word(cell) == word == plain_word(word)


def test_features_have_names():
    columns = (
        ColumnRecipe("size", fill=1.5),
        ColumnRecipe("age", fill=2.0, indicator=True),
        ColumnRecipe("colour", ("blue", "red"), "red"),
        ColumnRecipe("form", ("1",), None, True),
        ColumnRecipe("lead", numbers=NumberForm(limits=("<", ">"))),
    )
    recipe = TableRecipe(columns, "kind", ("a", "b"))
    assert recipe.features == (
        "size",
        "age",
        "age is missing",
        "colour=blue",
        "colour=red",
        "form=1",
        "form is missing",
        "lead",
        "lead below",
        "lead above",
    )
    assert size_of_names(columns) >= sum(map(len, recipe.features))
    assert size_of_names((ColumnRecipe("n" * 1000, tuple(map(str, range(1000)))),)) > 1000 * 1000


def test_the_largest_number_is_that_of_single_precision():
    assert LARGEST == float(np.finfo(np.float32).max)


def test_tables_are_known_by_their_endings():
    assert is_table("A.CSV.GZ") and is_table("x/y.parquet") and not is_table("csv")
    assert not is_table("a.csv.names")


@pytest.mark.parametrize(
    "made, words",
    [
        (lambda: ColumnRoles(missing="zero"), "there is no way 'zero' to treat missing values"),
        (lambda: ColumnRoles(missing="value:"), "value:X"),
        (lambda: ColumnRoles(missing="value: "), "value:X"),
        (lambda: ColumnRoles(classes=("a", "b", "a")), "a class is named twice"),
        (lambda: TableFormat(delimiter=";;"), "expected one character"),
        (lambda: TableFormat(delimiter='"'), "neither a quote nor a line break"),
        (lambda: TableFormat(delimiter="\u00a7"), "expected one character"),
        (lambda: TableFormat(delimiter=""), "expected one character"),
    ],
)
def test_what_cannot_be(made, words):
    with pytest.raises(UsageError, match=words):
        made()


def test_what_can_be():
    assert ColumnRoles(missing="value:x").missing == "value:x"
    assert TableFormat(delimiter=" ").delimiter == " "
