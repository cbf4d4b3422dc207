"""Tables as points."""

import pytest

from agfmc.data.from_table import encoded_rows, read_table
from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.tables.reading import open_table
from agfmc.data.types import InputFormat
from agfmc.tables.points import TableEncoder
from agfmc.tables.types import ColumnRecipe, ColumnRoles, TableFormat, TableRecipe
from own_warnings import no_own_warnings, own_warnings, texts_of

RECIPE = TableRecipe(
    (ColumnRecipe("x"), ColumnRecipe("c", ("blue", "red"))), "class", ("a", "b"), ("id",)
)


def rows(tmp_path, table, **more):
    path = tmp_path / "t.csv"
    path.write_text(table)
    with open_table(str(path)) as opened:
        return list(encoded_rows(opened, TableEncoder(opened, RECIPE), **more))


def test_ids_that_are_repeated_are_refused_where_they_must_differ(tmp_path):
    table = "id,c,x\n1,red,1\n2,blue,2\n1,red,3\n"
    (part,) = rows(tmp_path, table, text=(0,))
    assert part.text == [["1", "2", "1"]]
    with pytest.raises(DataError, match="row 3: column 'id' has '1': the id is that of an"):
        rows(tmp_path, table, text=(0,), unique=(0,))


def test_a_column_that_tells_the_class_is_told(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        "x,grade,class\n" + "".join(f"{i % 7},g{i % 3},{'abc'[i % 3]}\n" for i in range(30))
    )
    with pytest.warns(AgfmcWarning, match="column 'grade' determines the class of every row"):
        data = read_table(
            str(path), InputFormat("table", layout=TableFormat(), roles=ColumnRoles())
        )
    with no_own_warnings():
        read_table(
            str(path), InputFormat("table", layout=TableFormat(), roles=ColumnRoles()), data.recipe
        )


def test_columns_that_tell_the_class_together_are_told(tmp_path):
    path = tmp_path / "t.csv"
    rows = [(block, plot, i) for block in range(5) for plot in range(4) for i in range(3)]
    path.write_text(
        "block,plot,x,class\n"
        + "".join(f"{b},{p},{i * (b + 1) % 7 / 4},{'ab'[(b + p * p) % 2]}\n" for b, p, i in rows)
    )
    message = "columns 'block' and 'plot' determine the class of every row together: leave one out"
    with pytest.warns(AgfmcWarning, match=message):
        read_table(str(path), InputFormat("table"))


@pytest.mark.parametrize(
    "roles, is_told",
    [
        ({}, True),
        ({"ignored": ("lat",)}, False),
        ({"group": "day"}, False),
        ({"group_places": "10km"}, False),
    ],
)
def test_columns_of_places_are_named(tmp_path, roles, is_told):
    path = tmp_path / "t.csv"
    path.write_text(
        "lat,lon,day,class\n"
        + "".join(f"{47 + i % 7 / 3},{8 + i % 5 / 3},{i % 3},{'ab'[i % 2]}\n" for i in range(40))
    )
    with own_warnings() as told:
        data = read_table(str(path), InputFormat("table", roles=ColumnRoles(**roles), groups=None))
    texts = [text for text in texts_of(told) if "are places" in text]
    assert bool(texts) == is_told
    if is_told:
        assert "columns 'lat' and 'lon' are places: if rows near each other are alike" in texts[0]
    if "group_places" in roles:
        assert data.groups.max() + 1 == 35
