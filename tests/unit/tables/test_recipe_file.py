"""Files of recipes of tables: text for people, without loss, and what is refused."""

from dataclasses import replace
from pathlib import Path

import pytest

from agfmc.core.errors import DataError
from agfmc.tables import recipe_file
from agfmc.tables.number_forms import NumberForm
from agfmc.tables.recipe_file import (
    format_recipe,
    read_recipe,
    recipe_beside,
    recipe_if_there,
    recipe_of_table,
)
from agfmc.tables.types import ColumnRecipe, ColumnRoles, TableFormat, TableRecipe

RECIPE = TableRecipe(
    (ColumnRecipe("größe", fill=0.1), ColumnRecipe("colour", ("red", 'a "b"\n'), None, True)),
    "kind",
    ("a", "b"),
    ("id",),
    "w",
    "indicator",
    "t.csv",
    ("", "-9"),
)
TEXT = r"""{
 "format": "agfmc table recipe",
 "version": 1,
 "columns": [
  {
   "name": "größe",
   "categories": null,
   "fill": 0.1,
   "indicator": false
  },
  {
   "name": "colour",
   "categories": ["red", "a \"b\"\n"],
   "fill": null,
   "indicator": true
  }
 ],
 "label": "kind",
 "classes": ["a", "b"],
 "ids": ["id"],
 "weight": "w",
 "missing": "indicator",
 "source": "t.csv",
 "blanks": ["", "-9"]
}
"""


def test_what_was_said_of_a_table_is_in_its_recipe(folder):
    layout = TableFormat(";", False, False, ("", "none"), ",")
    roles = ColumnRoles("kind", ("id",), classes=("a", "b"), min_words=2, ordered=("size=s<m",))
    recipe = replace(RECIPE, layout=layout, roles=roles)
    Path("lakes.recipe").write_text(format_recipe(recipe), encoding="utf-8")
    assert read_recipe("lakes.recipe") == recipe
    assert TableFormat().for_model(recipe) == replace(layout, blanks=("", "-9", "none"))
    assert TableFormat("|").for_model(recipe).delimiter == "|"


def test_forms_of_numbers_are_in_the_recipe(folder):
    form = NumberForm("kg", False, ".", ",", ("-", "k.A."), ("<",))
    recipe = replace(RECIPE, columns=(ColumnRecipe("mass", numbers=form),), fold_case=True)
    Path("t.recipe").write_text(format_recipe(recipe), encoding="utf-8")
    assert read_recipe("t.recipe") == recipe and recipe.features == ("mass", "mass below")
    text = format_recipe(recipe)
    for old, new, words in (
        ('"decimal": ","', '"decimal": "."', "the numbers of the column 'mass' of the recipe are"),
        ('"serial": false', '"serial": true', "the numbers of the column 'mass' of the recipe are"),
        ('["<"]', '["<", "<"]', "the numbers of the column 'mass' of the recipe are"),
        ('["<"]', '["="]', "expected one of <, >"),
        ('"categories": null', '"categories": ["a", "b"]', "the numbers of the column 'mass'"),
        ('"kg"', '"k g"', "expected text of another kind"),
    ):
        Path("t.recipe").write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(DataError, match=words):
            read_recipe("t.recipe")


@pytest.mark.parametrize(
    "name", ["lakes.csv", "lakes.csv.gz", "lakes.parquet", "lakes", "lakes.TSV"]
)
def test_the_recipe_lies_beside_the_table(name):
    assert recipe_of_table(f"my.data/{name}") == "my.data/lakes.recipe"


def test_text_is_for_people_and_without_loss(folder):
    assert format_recipe(RECIPE) == TEXT
    path = recipe_beside("base")
    assert path == "base.recipe" and recipe_if_there(path) is None
    Path(path).write_text(TEXT, encoding="utf-8")
    assert read_recipe(path) == recipe_if_there(path) == RECIPE
    assert type(read_recipe(path).columns[0].fill) is float


@pytest.mark.parametrize(
    "old, new, words",
    [
        (
            '"version": 1',
            '"version": 2',
            "has version 2 of this format, this program reads 1: use a newer version of the suite",
        ),
        ('"version": 1', '"version": "\x1b"', "no JSON"),
        ('"version": 1,', "", "has version null"),
        ("table recipe", "x", "expected 'agfmc table recipe', found another format"),
        ('"label": "kind"', '"label": "kind", "label": "kind"', "a key stands twice"),
        ("0.1", "1e39", "columns[0].fill: expected a number from -3.4"),
        ("0.1", "1e999", "columns[0].fill: expected a number"),
        ("0.1", '"x"', "the column 'größe' of the recipe is invalid"),
        ('"fill": null', '"fill": "x"', "the column 'colour' of the recipe is invalid"),
        (
            '"indicator": true',
            '"indicator": true, "other": "x"',
            "'colour' of the recipe is invalid",
        ),
        (
            '"indicator": false',
            '"indicator": false, "other": "x"',
            "'größe' of the recipe is invalid",
        ),
        (
            '"indicator": true',
            '"indicator": true, "order": ["a", "b"]',
            "'colour' of the recipe is",
        ),
        ('"indicator": false', '"indicator": false, "order": ["a"]', "'größe' of the recipe is"),
        (
            '"indicator": false',
            '"indicator": false, "order": ["a", "a"]',
            "'größe' of the recipe is",
        ),
        (
            '"indicator": true',
            '"indicator": true, "date": {"order": "year first", "first": 0, "cycles": []}',
            "'colour' of the recipe is invalid",
        ),
        ('"-9"]', '"-9"], "layout": {}', "layout.delimiter: this key is missing"),
        (
            '"-9"]',
            '"-9"], "layout": {"delimiter": ";;", "header": true, "quotes": true, "blanks": [], '
            '"decimal": null}',
            "layout: expected one character that is neither a quote nor a line break",
        ),
        ("0.1", "NaN", "no JSON"),
        ("größe", "id", "has two parts"),
        ("größe", "colour", "stands twice"),
        ("größe", "colour=red", "stands twice"),
        ("größe", "\\ud800", "columns[0].name: expected text of another kind"),
        (TEXT, "[" * 10**5, "no JSON"),
        (TEXT, "[]", "another format"),
        (TEXT, "", "an empty file"),
    ],
)
def test_what_is_refused(folder, old, new, words):
    assert old in TEXT
    Path("t.recipe").write_text(TEXT.replace(old, new), "utf-8")
    with pytest.raises(DataError) as caught:
        read_recipe("t.recipe")
    assert str(caught.value).startswith("t.recipe:") and words in str(caught.value)


def test_sizes_are_bounded(folder, monkeypatch):
    Path("t.recipe").write_text(TEXT, "utf-8")
    for name, least, words in (
        ("_MOST_FEATURES", 6, "too many features"),
        ("MOST_LETTERS", 109, "too long"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(recipe_file, name, least)
            read_recipe("t.recipe")
            patch.setattr(recipe_file, name, least - 1)
            with pytest.raises(DataError, match=words):
                read_recipe("t.recipe")
    monkeypatch.setattr(recipe_file, "SMALL_TEXT", 64)
    with pytest.raises(DataError, match="larger than 0 KiB: expected a recipe"):
        read_recipe("t.recipe")
