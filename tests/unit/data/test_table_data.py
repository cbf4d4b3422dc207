"""Tables as points."""

import pytest

from agfmc.data.from_table import encoded_rows, read_table
from agfmc.core.errors import AgfmcWarning, DataError
from agfmc.tables.reading import open_table
from agfmc.data.types import InputFormat
from agfmc.tables.points import TableEncoder
from agfmc.tables.types import ColumnRecipe, ColumnRoles, TableFormat, TableRecipe
from own_warnings import no_own_warnings

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
    with pytest.raises(DataError, match="4: column 'id' has '1': the id is that of an"):
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
