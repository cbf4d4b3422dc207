"""Forms of numbers: what cells are in one form, what is refused, what stays words."""

import math
from collections import Counter

import pytest

from agfmc.tables.number_forms import (
    FormSurvey,
    is_missing,
    is_named_date,
    NumberForm,
    read_number,
)

MINUS, BLANK = "\u2212", "\u00a0"


def surveyed(cells):
    survey = FormSurvey()
    survey.add(Counter(cells), Counter(cells).values())
    return survey


@pytest.mark.parametrize(
    "cells, decimal, form, numbers",
    [
        (["6.5 kg", "7kg"], ".", NumberForm("kg"), [6.5, 7]),
        (["45%", "4 %"], ".", NumberForm("%"), [45, 4]),
        (["$5", "-$ 7"], ".", NumberForm("$", True), [5, -7]),
        (["EUR 5", "EUR 1e3"], ".", NumberForm("EUR", True), [5, 1000]),
        (["3 m\u00b2", "1.5 m\u00b2"], ".", NumberForm("m\u00b2"), [3, 1.5]),
        (["1,000", "12"], ".", NumberForm(thousands=","), [1000, 12]),
        (["1,000", "12"], ",", NumberForm(decimal=","), [1, 12]),
        (["1,000", "1,5"], ".", NumberForm(decimal=","), [1, 1.5]),
        (["1.000,5", "2.000"], ".", NumberForm(thousands=".", decimal=","), [1000.5, 2000]),
        ([f"1{BLANK}000", f"{MINUS}5"], ".", NumberForm(thousands=" "), [1000, -5]),
        (["1'000", "+5"], ".", NumberForm(thousands="'"), [1000, 5]),
        (["0,125", "1,250"], ".", NumberForm(decimal=","), [0.125, 1.25]),
        ([f"{BLANK}5", ".5"], ".", NumberForm(), [5, 0.5]),
        (["1", "k.A.", "-"], ".", NumberForm(blanks=("-", "k.A.")), [1, math.nan, math.nan]),
    ],
)
def test_one_form(cells, decimal, form, numbers):
    assert surveyed(cells).form(decimal) == form
    assert form.values(cells)[:, 0].tolist() == pytest.approx(numbers, nan_ok=True)


def test_limits_are_features():
    form = surveyed(["<0,05", "0,1", ">100", "\u22655"]).form(".")
    assert form == NumberForm(decimal=",", limits=("<", ">"))
    assert form.features("x") == ("x", "x below", "x above")
    assert form.values(["<0,05", "0,1", ">100"]).tolist() == [
        [0.05, 1, 0],
        [0.1, 0, 0],
        [100, 0, 1],
    ]
    assert NumberForm(limits=("<",)).values([">5", "<5"]).tolist() == [[math.inf, 0], [5, 1]]


@pytest.mark.parametrize(
    "cells",
    [
        ["site 3", "site 4"],
        ["12a", "13a"],
        ["12a", "13b"],
        ["12 Main", "13 Elm", "1 Oak", "2 Ash", "3 Fir", "4 Yew"] * 9,
        ["2024-05-31", "2024-06-01"],
        ["9:05", "10:15"],
        ["079 123 45 67", "1.2.3"],
        ["<5", ">=5"],
        ["red", "blue"],
        ["-", "none"],
        ["5 m 3", "6"],
    ],
)
def test_words_stay_words(cells):
    assert surveyed(cells).form(".") is None and surveyed(cells).faults() == []


@pytest.mark.parametrize(
    "cells, wrong, text",
    [
        (["6.5 kg", "7 kg", "512 g"], "512 g", 'in another unit than "6.5 kg" (1 kg is 1000 g)'),
        (["1.5 m", "3 km", "2 m"], "3 km", 'in another unit than "1.5 m" (1 km is 1000 m)'),
        (["45%", "4%", "0.45"], "0.45", 'in another unit than "45%" (100 % are 1)'),
        (["1.5 ft", "2 ft", "3.5 m"], "3.5 m", 'in another unit than "1.5 ft": write'),
        (["1,5", "2,5", "2.5"], "2.5", 'has other marks in its digits than "1,5"'),
        (["1,877", "2,345", "3.456", "7"], "3.456", 'has other marks in its digits than "1,877"'),
        ([*map(str, range(30)), "much"], "much", "is no number, as other cells are"),
    ],
)
def test_faults(cells, wrong, text):
    survey = surveyed(cells)
    assert survey.form(".") is None
    (fault,) = survey.faults()
    assert [cell for cell in cells if fault.is_wrong(cell)] == [wrong]
    assert text in fault.text


def test_new_cells():
    form = NumberForm("kg", thousands=",", blanks=("-",))
    cells = ["1,500 kg", "-", "7", "7 g", "1.500,5 kg", "much", "none"]
    assert form.values(cells)[:, 0].tolist() == pytest.approx(
        [1500, math.nan, *[math.inf] * 5], nan_ok=True
    )
    # a number of a program, where it cannot be anything else
    assert NumberForm(decimal=",").values(["2.5"]).tolist() == [[2.5]]
    assert NumberForm(decimal=",", thousands=".").values(["2.5"]).tolist() == [[math.inf]]


@pytest.mark.parametrize("limit", ["", "<"])
@pytest.mark.parametrize("unit, before", [("", False), ("kg", False), ("$", True)])
@pytest.mark.parametrize("decimal", ".,")
def test_cells_of_a_form_are_read_by_it(unit, before, decimal, limit):
    form = NumberForm(unit, before, decimal=decimal, limits=("<",))
    assert form.values([form.cell("-2.25", limit)]).tolist() == [[-2.25, limit == "<"]]


def test_days_of_spreadsheets():
    dates = NumberForm(serial=True).dates(["45000", "45000.25", "7", "x"])
    assert dates == ["2023-03-15 00:00", "2023-03-15 06:00", "7", "x"]
    names = ["date", "Start Date", "birthDate", "Datum", "data", "update", "candidates", "dates"]
    assert list(filter(is_named_date, names)) == ["date", "Start Date", "birthDate", "Datum"]


def test_what_means_a_missing_value():
    words = ["k.A.", "K. A.", "N/A", "na", "none", "--", "...", "Missing", f" {BLANK}- "]
    assert all(map(is_missing, words))
    assert not any(map(is_missing, ["", "no", "kA1", "n.d.", "0"]))


def test_what_is_no_number():
    for cell in (
        "",
        "kg",
        "1.2.3",
        "1,00,000",
        "\u0664",
        "1 kg 2",
        "$5 kg",
        "5-6",
        "=5",
        "0x1",
        "1_000",
    ):
        assert read_number(cell) is None, cell


def test_forms_in_words():
    form = NumberForm("kg", False, ".", ",", ("-",), ("<", ">"))
    assert form.words == "unit kg; thousands 1.000; decimal commas; limits < and >; missing: -"
    assert NumberForm().words == ""
