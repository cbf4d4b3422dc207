"""Places: names of columns of coordinates, cells of a grid, pairs of numbers in a cell."""

import io
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.errors import DataError, UsageError
from agfmc.data.groups import place_groups
from agfmc.tables.places import (
    grid_cells,
    metres_of,
    pair_numbers,
    PairSurvey,
    place_columns,
)
from agfmc.tables.points import filled_recipe, table_points
from agfmc.tables.reading import open_table
from agfmc.tables.recipe_file import format_recipe, read_recipe
from agfmc.tables.survey import survey_table
from agfmc.tables.types import ColumnRoles
from own_warnings import texts_of


@pytest.mark.parametrize(
    "names, found",
    [
        (("x", "lat", "lon"), ("lat", "lon", True)),
        (("Longitude", "Latitude"), ("Latitude", "Longitude", True)),
        (("location-long", "location-lat", "tag"), ("location-lat", "location-long", True)),
        (("decimalLatitude", "decimalLongitude"), ("decimalLatitude", "decimalLongitude", True)),
        (("site_lat", "site_lng"), ("site_lat", "site_lng", True)),
        (("easting", "northing"), ("easting", "northing", False)),
        (("y_utm", "x_utm"), ("x_utm", "y_utm", False)),
        (("UTM_X", "UTM_Y", "x"), ("UTM_X", "UTM_Y", False)),
        (("x_coord", "y_coord"), ("x_coord", "y_coord", False)),
        (("x", "y"), None),
        (("lat", "class"), None),
        (("plate", "long", "flat"), None),
    ],
)
def test_names_of_columns_of_places(names, found):
    assert place_columns(names) == found


def test_sizes():
    assert metres_of("10km") == 10_000 and metres_of("2.5 km") == 2500 and metres_of("500m") == 500
    for text in ("10", "km", "0km", "-1km", "1 mile", "1e400km"):
        with pytest.raises(UsageError, match="expected a length, as 10km or 500m, found"):
            metres_of(text)


def test_cells_of_degrees():
    # a degree of latitude has 111.195 km, of longitude at 60 degrees half of it
    lat = np.array([60.0, 60.0, 60.0, 60.08, -0.01])
    lon = np.array([10.01, 10.07, 10.21, 10.01, 0.01])
    cells = grid_cells(lat, lon, 10_000, True)
    assert len(set(cells)) == 4 and cells[0] == cells[1] != cells[2]
    # cells are as large everywhere, and rows in one are near
    rng = np.random.default_rng(1)
    lat, lon = rng.uniform(-80, 80, 4000), rng.uniform(0, 0.5, 4000)
    cells = np.array(grid_cells(lat, lon, 10_000, True))
    for cell in np.unique(cells)[:200]:
        inside = cells == cell
        assert 111.195 * np.ptp(lat[inside]) < 10.001
        assert 111.195 * np.ptp(lon[inside] * np.cos(np.radians(lat[inside].mean()))) < 10.2


def test_cells_of_metres():
    assert grid_cells(np.array([0, 999, 1000, -1.0]), np.array([5.0] * 4), 1000, False) == [
        "0 0",
        "0 0",
        "1 0",
        "-1 0",
    ]


def groups_of(text, size="10km"):
    with open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table:
        return place_groups(table, size)


def test_groups_of_a_table():
    assert groups_of("x,lat,lon\n1,60,10.01\n2,60,10.07\n3,60,10.21\n") == [
        "667 55",
        "667 55",
        "667 56",
    ]
    assert groups_of('x,where\n1,"60.0, 10.01"\n3,"60.0, 10.21"\n') == ["667 55", "667 56"]
    assert groups_of("easting,northing,x\n500100,5200100,1\n500100,5211000,1\n") == [
        "50 520",
        "50 521",
    ]


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "x,y\n1,2\n",
            "has no columns of places, which `group_places` needs: expected lat and lon",
        ),
        ("lat,lon\n1,2\n1,\n", "expected a place in columns 'lat' and 'lon' of every row"),
        ("lat,lon\n1,2\n1,east\n", "expected a number in column 'lon'"),
        ("lat,lon\n1,2\n91,2\n", "expected degrees, -90 to 90 and -360 to 360, in columns"),
        ('at,x\n"1.0, 2.0",1\n,1\n', "expected a place in column 'at' of every row"),
    ],
)
def test_rows_without_a_place_are_refused(text, message):
    with pytest.raises(DataError) as caught:
        groups_of(text)
    assert message in str(caught.value)


def test_pairs_of_numbers():
    words = ["47.57, 8.91", "(47.57,8.91)", "47.57;8.91", "47.57 8.91", "-47,5; +8,25", "47,5 8,25"]
    words += ["47,5, 8,25", "47, 8"]
    np.testing.assert_allclose(
        pair_numbers(words), [[47.57, 8.91]] * 4 + [[-47.5, 8.25]] + [[47.5, 8.25]] * 2 + [[47, 8]]
    )
    assert np.isinf(
        pair_numbers(["47.57", "47,5,8", "a, b", "1.5, 2.5, 3.5", "47.57 - 8.91"])
    ).all()


@pytest.mark.parametrize(
    "words, holds",
    [
        (["47.57, 8.91", "(47.5,8.25)", "47; 9"], True),
        (["47,57; 8,91", "47,5 8,25"], True),
        (["47.123, 8.456"], True),
        (["1,000", "2,500"], False),  # thousands
        (["47,57", "8,91"], False),  # decimal commas
        (["1,000 2,000"], False),
        (["3, 12", "4, 5"], False),  # lists
        (["47.57, 8.91", "Zug"], False),
        ([], False),
    ],
)
def test_columns_of_pairs(words, holds):
    pairs = PairSurvey()
    for word in words:
        pairs.add({word: 2})
    assert pairs.holds_pairs is holds


TABLE = """where,mass,class
"47.57, 8.91",1.5,a
(47.5 8.25),2.5,b
,2.75,b
47;9,1.5,a
"""


def encoded(recipe, text, answers="most"):
    """(points, flags) of a table."""
    points = table_points(io.StringIO(text), recipe, answers, True)
    return points.x.tolist(), points.flags


@pytest.fixture
def recipe(warned):
    with open_table("-", stdin=io.BytesIO(TABLE.encode()), again=True) as table:
        recipe = survey_table(table, ColumnRoles(missing="median")).recipe
    told = (
        "columns: pair 1, number 1; two numbers in each cell, each of which is a feature: 'where'"
    )
    assert told in str(warned[0].message)
    points = table_points(io.StringIO(TABLE), recipe)
    return filled_recipe(recipe, points.x)


def test_a_column_of_pairs_gives_two_numbers(recipe):
    first, second, _ = recipe.columns
    assert recipe.features == ("where 1", "where 2", "mass")
    assert (first.fill, second.fill) == (47.5, 8.90999984741211) and first.source == "where"
    assert first.quantiles[-1] == np.float32(47.57) and recipe.kinds == {"pair": 1, "number": 1}
    x, flags = encoded(recipe, 'mass,where\n1,"47,25; 8,5"\n1,\n1,"-900, 8.5"\n1,Zug\n')
    assert x[:3] == [[47.25, 8.5, 1], [47.5, np.float32(8.91), 1], [-900, 8.5, 1]]
    assert np.isnan(x[3]).all() and flags == [
        [],
        [],
        ["where 1: below"],
        ["where 1: wrong", "where 2: wrong"],
    ]
    with pytest.raises(DataError) as caught:
        encoded(recipe, "mass,where\n1,Zug\n", "all")
    assert "column 'where': expected two numbers, as in training, found 'Zug'" in str(caught.value)
    with pytest.raises(DataError, match="lacks the column 'where', which the model needs"):
        encoded(recipe, "mass\n1\n")


@pytest.mark.parametrize(
    "text, told",
    [
        ("where,x,class\n" + '"1.5, 2.5",1,a\n"1.5, 2.5",2,b\n', "left out: 'where' (constant)"),
        (
            "where,x,class\n" + '"5200123.51, 2.5",1,a\n"5200123.52, 2.5",2,b\n',
            "column 'where 1' goes from 5200123.51 to 5200123.52, where single precision has",
        ),
    ],
)
def test_what_is_said_of_pairs(text, told, warned):
    with open_table("-", stdin=io.BytesIO(text.encode()), again=True) as table:
        survey_table(table, ColumnRoles())
    assert any(told in text for text in texts_of(warned))


def test_a_recipe_with_pairs_is_written_and_read(recipe, folder):
    Path("t.recipe").write_text(format_recipe(recipe))
    assert read_recipe("t.recipe") == recipe
    text = format_recipe(recipe)
    assert text.count('"number": 1') == 1
    for old, new in (
        ('"number": 1', '"number": 0'),
        ('"column": "where",\n    "number": 1', '"column": "x",\n    "number": 1'),
        ('"label": "class"', '"label": "where"'),
    ):
        assert old in text
        Path("t.recipe").write_text(text.replace(old, new))
        with pytest.raises(DataError, match="of the recipe is invalid|has two parts"):
            read_recipe("t.recipe")


def test_a_table_with_pairs_comes_back(run, folder):
    Path("t.csv").write_text(TABLE)
    run("table2agf", "t.csv", "t")
    run("agf2ascii", "t", "again.csv")
    assert Path("again.csv").read_text().splitlines()[:4] == [
        "where,mass,class",
        '"47.57, 8.91",1.5,a',
        '"47.5, 8.25",2.5,b',
        ",2.75,b",
    ]
    run("table2agf", "--recipe", "t.recipe", "again.csv", "u")
    assert Path("u.vec").read_bytes() == Path("t.vec").read_bytes()
    told = run("mbm_info", "t.recipe").out
    assert "2 columns (pair 1, number 1)" in told and "second number of each cell" in told


def test_groups_of_places_in_pairs(run, folder):
    rows = [
        f'"{47 + i % 7 / 10}, {8 + i % 5 / 10}",{i % 9 + i % 2},{"ab"[i % 2]}' for i in range(70)
    ]
    Path("t.csv").write_text("\n".join(["where,x,class", *rows, ""]))
    run("table2agf", "--group-places", "10km", "t.csv", "g")
    assert len(set(Path("g.grp").read_text().split("\n"))) > 5
    Path("control").write_text('"" a / b; {a b}')
    told = run("multi_borders", "control", "t.csv", "m", "m.mbc").err
    assert (
        "column 'where' has places: if rows near each other are alike, --group-places 10km" in told
    )
    Path("g.recipe").rename("t.recipe")  # a model of groups of places asks the same of other rows
    run("multi_borders", "control", "t.csv", "m", "m.mbc")
    Path("t.csv").rename("new.csv")
    assert "no columns of places" not in run("calibrate_m", "--data=new.csv", "m.mbc").err
