"""Columns of dates: their orders, their features, and what is no date."""

import io
from dataclasses import replace

import numpy as np
import pytest

from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.tables.dates import DateRecipe, DateSurvey, day_number
from agfmc.tables.points import TableEncoder
from agfmc.tables.reading import open_table
from agfmc.tables.survey import survey_table
from agfmc.tables.types import ColumnRoles


@pytest.mark.parametrize(
    "word, order, days",
    [
        ("1970-01-01", "year first", 0),
        ("1970/1/2", "year first", 1),
        ("1969-12-31T12:00", "year first", -0.5),
        ("1970-01-01 06:00:00.000", "year first", 0.25),
        ("1970-01-01T06:00Z", "year first", 0.25),
        ("1970-01-01T06:00+06:00", "year first", 0),
        ("2.1.1970", "day first", 1),
        ("01/02/1970", "month first", 1),
        ("1970-02-30", "year first", None),
        ("1970-01-01 24:00", "year first", None),
        ("1970-01/02", "year first", None),
        ("13/13/1970", "day first", None),
        ("1970-01-01x", "year first", None),
        ("19700101", "year first", None),
        ("٢1.1.1970", "day first", None),
        ("1970-01-01 12:60", "year first", None),
    ],
)
def test_days(word, order, days):
    assert day_number(word, order) == days


@pytest.mark.parametrize(
    "words, order",
    [
        (["2024-01-05", "2024-03-01"], "year first"),
        (["31.01.2024", "01.02.2024"], "day first"),
        (["01/31/2024", "02/01/2024"], "month first"),
        (["01/02/2024", "02/02/2024"], None),
        (["2024-01-05", "unknown"], None),
        (["2024-01-05"], None),
    ],
)
def test_the_order_of_a_column(words, order):
    survey = DateSurvey()
    for word in words:
        survey.add([word])
    recipe = survey.recipe()
    assert (recipe and recipe.order) == order


def test_features():
    recipe = DateRecipe("year first", 19723, ("hour", "weekday"))  # 2024-01-01, a Monday
    values = recipe.values(["2024-01-01", "2024-01-02T06:00", "no"])
    np.testing.assert_allclose(values[0], [0, 0, 1, 0, 1], atol=1e-9)
    np.testing.assert_allclose(values[1, :3], [1.25, 1, 0], atol=1e-9)
    np.testing.assert_allclose(
        values[1, 3:], [np.sin(2.5 * np.pi / 7), np.cos(2.5 * np.pi / 7)], atol=1e-9
    )
    assert np.isnan(values[2]).all()
    # as frames have them; not ambiguous, whatever the order in training
    of_day_first = replace(recipe, order="day first")
    np.testing.assert_array_equal(
        of_day_first.values(["02.01.2024", "2024-01-02 00:00:00"])[:, 0], [1, 1]
    )
    assert np.isnan(recipe.values(["02.01.2024"])).all()
    assert len(recipe.features("d")) == 5
    assert recipe.text(1.25) == "2024-01-02 06:00" and recipe.text(np.nan) == ""


def points_of(text, roles=ColumnRoles()):
    with open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table:
        recipe = survey_table(table, roles).recipe
        encoder = TableEncoder(table, recipe)
        return recipe, np.concatenate(
            [encoder.points(block) for block in table.blocks(encoder.requested)]
        )


def test_a_column_of_a_table():
    rows = [f"2024-01-{day:02},{day % 2},{day * day}" for day in range(1, 29)]
    rows[3] = ",0,16"
    with pytest.warns(
        AgfmcWarning,
        match="'when' has dates, year first: its features are the "
        "number of days, and weekday as sine and cosine",
    ):
        recipe, x = points_of("\n".join(["when,class,x", *rows]), ColumnRoles(missing="indicator"))
    assert recipe.features == (
        "when",
        "when: sine of the weekday",
        "when: cosine of the weekday",
        "when is missing",
        "x",
    )
    np.testing.assert_array_equal(np.delete(x[:, 0], 3), np.delete(np.arange(28), 3))
    assert np.isnan(x[3, 0]) and x[3, 1:].tolist() == [0, 0, 1, 16]
    with open_table("-", stdin=io.BytesIO(b"when,x\n2024-02-01,1\nsoon,2\n")) as table:
        encoder = TableEncoder(table, recipe)
        with pytest.raises(
            DataError,
            match="-?:?3: column 'when': expected a date, year first, as in training, found 'soon'",
        ):
            [encoder.points(block) for block in table.blocks(encoder.requested)]


def test_dates_that_are_named_as_categories_are_words():
    text = "d,class\n" + "2024-01-05,a\n2024-01-06,b\n" * 3
    recipe, _ = points_of(text, ColumnRoles(categorical=("d",)))
    assert recipe.features == ("d=2024-01-05", "d=2024-01-06")
