"""Recipes of tables: text files beside data (`base.recipe`) or control files, and in models.

The text is JSON: the format's name and version, and the fields of a `TableRecipe`.
"""

import json
import os
import re

from ..errors import DataError, one_line
from ..tables import (ColumnRecipe, LARGEST, MISSING_POLICIES, MOST_LETTERS, size_of_names,
                      TableRecipe)
from .consistency import checked
from .inputs import read_bytes, SMALL_TEXT
from .strict_json import strict_json

__all__ = ["format_recipe", "read_recipe", "recipe_beside", "recipe_from_json", "recipe_if_there",
           "recipe_of", "recipe_to_json"]

_FORMAT, _VERSION = "agfmc table recipe", 1
_MOST_FEATURES = 2**24
_NO_TEXT = re.compile("[\0\ud800-\udfff]")  # which no table holds
_COLUMN = {"name", "categories", "fill", "indicator"}
_RECIPE = {"blanks", "columns", "label", "classes", "ids", "weight", "missing", "source"}


def recipe_beside(path: str) -> str:
    """The file of the recipe beside a control file, or of data with that base name."""
    return f"{path}.recipe"


def format_recipe(recipe: TableRecipe, path=None) -> str:
    """The text of a recipe, which is `checked`."""
    text = json.dumps({"format": _FORMAT, "version": _VERSION, **recipe_to_json(recipe)},
                      indent=1, ensure_ascii=False) + "\n"
    return checked(text, lambda text: recipe_of(text.encode(), path), path)


def recipe_to_json(recipe: TableRecipe) -> dict:
    """The fields of a recipe as JSON holds them."""
    return {"label": recipe.label, "classes": list(recipe.classes), "ids": list(recipe.ids),
            "weight": recipe.weight, "missing": recipe.missing, "source": recipe.source,
            "blanks": list(recipe.blanks),
            "columns": [{"name": one.name,
                         "categories": None if one.categories is None else list(one.categories),
                         "fill": one.fill, "indicator": one.indicator}
                        for one in recipe.columns]}


def read_recipe(path) -> TableRecipe:
    """The recipe in a file; `DataError` for what is none."""
    return recipe_of(read_bytes(path, most=SMALL_TEXT, expected="a recipe"), path)


def recipe_of(raw: bytes, path) -> TableRecipe:
    """The recipe in the bytes of a file."""
    def fail(message):
        return DataError(f"expected a recipe, as table2agf writes it: {message}", file=path)

    if len(raw) > SMALL_TEXT:
        raise DataError(f"larger than {SMALL_TEXT >> 20} MiB: expected a recipe", file=path)
    try:
        found = strict_json(raw)
    except (ValueError, RecursionError):
        raise fail("it is no JSON text") from None
    if not isinstance(found, dict) or found.pop("format", None) != _FORMAT:
        raise fail(f"its format is not '{_FORMAT}'")
    version = found.pop("version", None)
    if version != _VERSION:
        raise DataError(f"has version {one_line(str(version)[:20])} of the recipes, this program "
                        f"reads {_VERSION}: use a newer version of the suite", file=path)
    return recipe_from_json(found, fail)


def recipe_from_json(found, fail) -> TableRecipe:
    """The recipe of fields as `recipe_to_json` makes them; fail(message): the error to raise."""
    if not isinstance(found, dict) or set(found) != _RECIPE:
        raise fail("the recipe lacks a field, or has another one")
    entries = found["columns"]
    if not (isinstance(entries, list) and entries and all(
            isinstance(one, dict) and set(one) == _COLUMN for one in entries)):
        raise fail("the columns of the recipe are invalid")
    columns = tuple(_column(one, fail) for one in entries)
    if not (_is_text(found["label"]) and _are_texts(found["classes"])
            and _are_texts(found["ids"]) and (found["weight"] is None or _is_text(found["weight"]))
            and _is_text(found["missing"]) and _is_text(found["source"])
            and _are_texts(found["blanks"])):
        raise fail("a value of the recipe has the wrong type")
    if found["missing"] not in MISSING_POLICIES and not found["missing"].startswith("value:"):
        raise fail("the recipe has an unknown way to treat missing values")
    made = TableRecipe(columns, found["label"], tuple(found["classes"]), tuple(found["ids"]),
                       found["weight"], found["missing"], found["source"],
                       tuple(found["blanks"]))
    if sum(len(one.categories or ()) + 2 for one in columns) > _MOST_FEATURES:
        raise fail("the recipe has too many features")
    if size_of_names(columns) > MOST_LETTERS:  # a long name and many words, each of which has it
        raise fail("the names of the features of the recipe are too long")
    names = [one.name for one in columns]
    if any(len(set(some)) < len(some) for some in (names, made.features, made.classes)):
        raise fail("a name stands twice in the recipe")
    names += [made.label, *made.ids, *([] if made.weight is None else [made.weight])]
    if len(set(names)) < len(names):
        raise fail("a column of the recipe has two parts")
    return made


def _column(one, fail):
    categories, fill = one["categories"], one["fill"]
    numeric = type(fill) in (int, float) and abs(fill) <= LARGEST
    good = _is_text(one["name"]) and type(one["indicator"]) is bool and (
        (fill is None or numeric) if categories is None else
        _are_texts(categories) and bool(categories) and (
            fill is None or isinstance(fill, str) and fill in categories)
        and len(set(categories)) == len(categories))
    if not good:
        raise fail("a column of the recipe is invalid")
    return ColumnRecipe(one["name"], None if categories is None else tuple(categories),
                        float(fill) if numeric else fill, one["indicator"])


def _is_text(value):
    return isinstance(value, str) and not _NO_TEXT.search(value)


def _are_texts(values):
    return isinstance(values, list) and all(map(_is_text, values))


def recipe_if_there(path) -> TableRecipe | None:
    """The recipe in a file, or None where there is no such file."""
    return read_recipe(path) if os.path.lexists(path) else None
