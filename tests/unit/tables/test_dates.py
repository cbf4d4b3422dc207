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
from own_warnings import own_warnings, texts_of


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
        ("6:00", "time of day", 0.25),
        ("18:00:00.0", "time of day", 0.75),
        ("6:00 PM", "time of day", 0.75),
        ("12:00 a.m.", "time of day", 0),
        ("24:00", "time of day", None),
        ("13:00 am", "time of day", None),
        ("12:60", "time of day", None),
        ("36:00:00", "duration", 1.5),
        ("1 day, 12:00:00", "duration", 1.5),
        ("-1 days +12:00:00", "duration", -0.5),  # as pandas and Python write minus 12 hours
        ("P1DT12H", "duration", 1.5),
        ("PT43200S", "duration", 0.5),
        ("P", "duration", None),
        ("36:00", "duration", None),  # of hours, or of minutes
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
        (["9:05", "21:30:10"], "time of day"),
        (["9:05:00", "21:30:10"], "time of day"),
        (["9:05:00", "36:00:10"], "duration"),
        (["9:05", "36:00:10"], None),
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


def test_features_of_times():
    recipe = DateRecipe("time of day", 0, ("hour",))
    np.testing.assert_allclose(
        recipe.values(["0:00", "6:00", "21:30:30", "25:00"]),
        [
            [0, 0, 1],
            [360, 1, 0],
            [1290.5, np.sin(np.pi * 1290.5 / 720), np.cos(np.pi * 1290.5 / 720)],
            [np.nan] * 3,
        ],
        atol=1e-9,
    )
    assert recipe.features("t") == ("t", "t: sine of the hour", "t: cosine of the hour")
    assert recipe.text(1290) == "21:30"
    recipe = DateRecipe("duration", 0, ())
    np.testing.assert_allclose(
        recipe.values(["0:01:30.5", "P1D", "x"])[:, 0], [90.5, 86400, np.nan]
    )
    assert recipe.text(90_061) == "25:01:01" and recipe.features("t") == ("t",)


def test_the_day_of_the_year():
    survey = DateSurvey()
    survey.add(["2023-01-02", "2023-12-04"])  # both Mondays
    recipe = survey.recipe()
    assert recipe.cycles == ("day of the year",)
    survey.add(["2021-07-02"])
    recipe = survey.recipe()
    assert recipe == DateRecipe("year first", 18810, ("weekday", "day of the year"), 19695)
    values = recipe.values(["2021-07-02", "2022-07-02", "2022-01-01"])
    np.testing.assert_allclose(values[0, 3:], values[1, 3:], atol=0.01)  # a year later
    np.testing.assert_allclose(values[2, 3:], [0, 1], atol=0.02)
    assert recipe.features("d")[3:] == (
        "d: sine of the day of the year",
        "d: cosine of the day of the year",
    )
    short = DateSurvey()
    short.add(["2023-01-02", "2023-10-02"])
    assert short.recipe().cycles == ()


def test_the_years_of_training():
    recipe = DateRecipe("year first", 19000, (), 19400)  # 2022-01-08 to 2023-02-12
    low, high = recipe.limits
    days = recipe.values(["2021-12-31T23:59", "2022-01-01", "2023-12-31T23:59", "2024-01-01"])[:, 0]
    assert ((days < low) | (days > high)).tolist() == [True, False, False, True]
    assert recipe.years == "2022 to 2023"
    assert DateRecipe("year first", 19000, ()).limits == (-np.inf, np.inf)  # of earlier versions


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
            match="row 2: column 'when': expected a date, year first, as in training, found 'soon'",
        ):
            [encoder.points(block) for block in table.blocks(encoder.requested)]


def test_dates_that_are_named_as_categories_are_words():
    text = "d,class\n" + "2024-01-05,a\n2024-01-06,b\n" * 3
    recipe, _ = points_of(text, ColumnRoles(categorical=("d",)))
    assert recipe.features == ("d=2024-01-05", "d=2024-01-06")


def test_columns_of_times():
    text = "clock,took,day,class\n" + "".join(
        f"{row % 24}:{row:02},{row}:00:00,20{row % 4 + 20}-0{row % 9 + 1}-11,{row % 2}\n"
        for row in range(50)
    )
    with own_warnings() as told:
        recipe, x = points_of(text)
    said = texts_of(told)[0]
    for part in (
        "'clock' has times of day: its features are the minutes since midnight, and hour as sine and "
        "cosine",
        "'took' has durations: its feature is the number of seconds",
        "'day' has dates, year first: its features are the number of days, and weekday, day of the "
        "year as sine and cosine",
    ):
        assert part in said
    assert len(recipe.features) == 3 + 1 + 5
    assert x[30, 0] == 390 and x[30, 3] == 108_000
    with open_table("-", stdin=io.BytesIO(b"clock,took,day\n25:00,1:00:00,2020-01-01\n")) as table:
        encoder = TableEncoder(table, recipe)
        with pytest.raises(DataError, match="'clock': expected a time of day, as in training"):
            [encoder.points(block) for block in table.blocks(encoder.requested)]


def test_new_dates_beyond_the_years_of_training_are_counted():
    rows = [f"20{21 + row % 3}-0{row % 9 + 1}-11,{row % 4 / 2},{row % 2}" for row in range(40)]
    recipe, _ = points_of("\n".join(["when,x,class", *rows]))
    new = b"when,x\n2020-12-31,1\n2021-01-01,1\n2023-12-31,1\n2024-01-01,1\n2030-05-05,1\n"
    with open_table("-", stdin=io.BytesIO(new)) as table:
        encoder = TableEncoder(table, recipe)
        for block in table.blocks(encoder.requested):
            encoder.points(block)
        with own_warnings() as told:
            encoder.warn_of_cells()
    assert [text.removeprefix("standard input: ") for text in texts_of(told)] == [
        "column 'when' has 1 cell with dates before the years of training, 2021 to 2023, first "
        "'2020-12-31' in row 1; column 'when' has 2 cells with dates after the years of training, "
        "2021 to 2023, first '2024-01-01' in row 4"
    ]
