"""The recipe beside a table says in Python how it is read, as it does to the commands."""

import pytest

import agfmc


def test_recipe_beside_a_table(folder, run):
    (folder / "t.csv").write_text("size;code;kind\n1,5;7;a\n2,5;8;b\n3,5;7;a\n")
    run("table2agf", "--decimal", ",", "--categorical", "code", "--label", "kind", "t.csv")
    with pytest.warns(agfmc.AgfmcNotice, match="t.csv is read as t.recipe says"):
        data = agfmc.read_table("t.csv", label="kind")
    assert data.recipe.features == ("size", "code=7", "code=8")
    assert data.x[:, 0].tolist() == [1.5, 2.5, 3.5]
    (folder / "t.recipe").rename("other.recipe")
    assert agfmc.read_table("t.csv", "other.recipe", label="kind").recipe == data.recipe
    assert agfmc.read_table("t.csv", label="kind", decimal=",").recipe.features == ("size", "code")
