"""What changes the points of a table is in its programs: no field of a recipe is passed over."""

import importlib.util
from dataclasses import fields, replace

import pytest

from agfmc.deployment.c import c_program
from agfmc.deployment.onnx_graph import onnx_model
from agfmc.tables.dates import DateRecipe
from agfmc.tables.number_forms import NumberForm
from agfmc.tables.places import PairRecipe
from agfmc.tables.types import ColumnRecipe, TableFormat, TableRecipe

PLAIN = ColumnRecipe("x")
WORDS = ColumnRecipe("w", ("a", "b"))
DATE = DateRecipe("year first", 0, ())
FORM = NumberForm("kg")
PAIR = PairRecipe("x", 1)
TABLE = TableRecipe((PLAIN, WORDS), "class", tuple(f"c{label}" for label in range(20)))
# Fields of which each value gives another program: (a record, field, another value)
IN_ALL = [
    (PLAIN, "name", "y"),
    (WORDS, "categories", ("b", "a")),
    (PLAIN, "fill", 2.0),
    (PLAIN, "indicator", True),
    (PLAIN, "date", DATE),
    (WORDS, "other", "b"),
    (ColumnRecipe("x", order=("a", "b")), "order", ("b", "a")),
    (PLAIN, "numbers", NumberForm(limits=("<",))),
    (DATE, "order", "duration"),
    (DATE, "first", 7),
    (DATE, "cycles", ("weekday",)),
    (FORM, "limits", ("<",)),
    (TABLE, "columns", (WORDS, PLAIN)),
    (TABLE, "missing", "keep"),
    (TABLE, "blanks", ("?",)),
]
# of the text of a table and of its cells, which ONNX models do not see: they take numbers and words
IN_C = [
    (PLAIN, "pair", PAIR),
    (PAIR, "column", "y"),
    (PAIR, "number", 0),
    (FORM, "unit", "g"),
    (FORM, "before", True),
    (FORM, "thousands", "'"),
    (FORM, "decimal", ","),
    (FORM, "blanks", ("-",)),
    (FORM, "serial", True),
    (TABLE, "layout", TableFormat(delimiter=";")),
]
# which cells are unlike training; the columns of a table that are no features, the names that the
# model has, and how the recipe was made; words in any case, which are refused
ELSEWHERE = {
    ColumnRecipe: {"quantiles"},
    DateRecipe: {"last"},
    TableRecipe: {"label", "classes", "ids", "weight", "group", "source", "roles", "label_kind"}
    | {"fold_case"},
}


def table_of(record):
    """The recipe of a table with a record."""
    if isinstance(record, TableRecipe):
        return record
    if isinstance(record, DateRecipe):
        record = ColumnRecipe("x", date=record)
    elif isinstance(record, NumberForm):
        record = ColumnRecipe("x", numbers=record)
    elif isinstance(record, PairRecipe):
        record = ColumnRecipe("x", pair=record)
    return replace(TABLE, columns=(record, ColumnRecipe("last", ("a", "b"))))


@pytest.mark.parametrize(
    "record, field, value",
    IN_ALL + IN_C,
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_programs_read_the_field(record, field, value, random_steps):
    records = record, replace(record, **{field: value})
    first, second = (random_steps(1, table_of(record)) for record in records)
    assert c_program(first) != c_program(second)
    if importlib.util.find_spec("onnx"):
        models = [onnx_model(steps, steps.classifier._arguments[0]) for steps in (first, second)]
        assert (models[0] != models[1]) == ((record, field, value) in IN_ALL)


@pytest.mark.parametrize("record", [ColumnRecipe, DateRecipe, NumberForm, PairRecipe, TableRecipe])
def test_no_field_is_passed_over(record):
    """A new field is written into programs, or refused by `steps_of`, and named here."""
    told = {field for example, field, _ in IN_ALL + IN_C if isinstance(example, record)}
    assert {field.name for field in fields(record)} == told | ELSEWHERE.get(record, set())
