"""Places: names of columns of coordinates, cells of a grid, pairs of numbers in a cell."""

import io

import numpy as np
import pytest

from agfmc.core.errors import DataError, UsageError
from agfmc.data.groups import place_groups
from agfmc.tables.places import grid_cells, metres_of, pair_numbers, place_columns
from agfmc.tables.reading import open_table


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
    np.testing.assert_allclose(
        pair_numbers(words), [[47.57, 8.91]] * 4 + [[-47.5, 8.25], [47.5, 8.25]]
    )
    assert np.isnan(pair_numbers(["47.57", "47, 8", "a, b", "1.5, 2.5, 3.5", "1,000"])).all()
