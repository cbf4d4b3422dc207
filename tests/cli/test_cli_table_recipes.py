"""Recipes of tables in models: what mbm_info shows of them, and which commands keep them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agfmc.tables.recipe_file import format_recipe, read_recipe
from agfmc.models.files import load
from agfmc.tables.types import ColumnRecipe, TableRecipe

RECIPE = TableRecipe(
    (
        ColumnRecipe("size", fill=0.1),
        ColumnRecipe("age", fill=3.0, indicator=True),
        ColumnRecipe("colour\x1b[31m", ("blue", "red"), "red"),
        ColumnRecipe("n" * 35, tuple(map(str, range(15))), None, True),
        ColumnRecipe("last"),
        ColumnRecipe("town", ("Bonn", "rest"), other="rest"),
        ColumnRecipe("age group", None, 1.0, order=("young", "old")),
    ),
    "kind",
    ("a", "b"),
    ("id", "sub id"),
    "w",
    "indicator",
    "t\n.csv",
)
SHOWN = rf"""
table             t\n.csv: 7 columns (number 3, words 3, order 1), 25 features; missing values: indicator
label             kind: 2 classes, a, b
identifiers       id, sub id
weights           w

column                               kind    features  if missing    categories
size                                 number         1  0.1
age                                  number         2  3, indicator
colour�[31m                          words          2  red           blue, red
{"n" * 35}  words         16  0, indicator  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (15)
last                                 number         1  error
town                                 words          2  0             Bonn, rest; all others are rest
age group                            order          1  1             young < old
"""


def test_a_recipe_is_shown(folder, run):
    Path("t.recipe").write_text(format_recipe(RECIPE), encoding="utf-8")
    assert run("mbm_info", "t.recipe").out == SHOWN[1:]
    found = json.loads(run("mbm_info", "--json", "t.recipe").out)
    assert found["features"][1:4] == ["age", "age is missing", "colour\x1b[31m=blue"]
    assert found["columns"][2] == {
        "name": "colour\x1b[31m",
        "categories": ["blue", "red"],
        "fill": "red",
        "indicator": False,
    }
    for option in ("--print-control", "--uncalibrated", "-y.", "--report=t.html"):
        run("mbm_info", option, "t.recipe", status=2).refused("t.recipe")
    run("mbm_info", "--report=t.svg", "t.recipe", status=2).refused("no picture of a recipe")
    Path("u.recipe").write_text("{}")
    run("mbm_info", "u.recipe", status=1).refused("u.recipe: expected 'agfmc table recipe'")


@pytest.fixture
def table(folder, run):
    """t.csv of 60 rows, and the models of m.mbc that were trained from it."""
    sizes = np.random.default_rng(2).normal(size=60).round(2) + 5 * (np.arange(60) % 3)
    rows = [
        f"a{row},{size:.2f},{('red', 'blue', 'green')[row % 7 % 3]},k{row % 3}"
        for row, size in enumerate(sizes)
    ]
    rows[3] = "a3,,,k0"
    Path("t.csv").write_text("\n".join(["id,size,colour,kind", *rows]) + "\n")
    run("table2agf", "--label", "kind", "--id", "id", "-E", "median", "t.csv")
    run(
        "multi_borders",
        "-",
        "t.csv",
        "m",
        "m.mbc",
        stdin=run("print_control", "-Q", "one-vs-one", "3").out,
    )
    return read_recipe("m.mbc.recipe")


def test_features_have_their_names(table, run):
    design = run("print_control", "-Q", "one-vs-one", "3").out
    train = "multi_borders", "--recipe", "t.recipe", "-n"
    text = Path("t.csv").read_text().replace("green", "blue") + "b1,3,green,k3\n"
    Path("u.csv").write_text(text)
    told = run(*train, "--min-class", "2", "-", "u.csv", "u", "u.mbc", stdin=design).err
    assert "feature 'colour=green' is constant and was left out\n" in told


def test_models_keep_their_recipe(table, run):
    assert table.features == ("size", "colour=blue", "colour=green", "colour=red")
    run("mbh2mbm", "m.mbc", "m.mbm")
    shown = run("mbm_info", "m.mbc.recipe").out
    for model in ("m.mbc", "m.mbm"):
        told = run("mbm_info", model).out
        assert all(line in told.splitlines() for line in shown.splitlines())
        assert json.loads(run("mbm_info", "--json", model).out)["recipe"] == json.loads(
            run("mbm_info", "--json", "m.mbc.recipe").out
        )
    run("calibrate_m", "--data", "t.csv", "-o", "again.mbm", "m.mbm")
    for model in ("m.mbm", "again.mbm"):
        assert load(model).recipe == table
    Path("names").write_text("x\ny\nz\n")
    run("mbh2mbm", "--names", "names", "m.mbm", "named.mbm")
    assert load("named.mbm").recipe == replace(table, classes=("x", "y", "z"))


def test_other_formats_have_no_recipe(table, run):
    for option in ("--libsvm", "-Z"):
        told = run("mbh2mbm", option, "m.mbc", "other").err
        assert "without the recipe: table2agf --recipe writes points for it" in told
        assert load("other").recipe is None
    assert "recipe" not in run("mbh2mbm", "m.mbc", "m.mbm").err
