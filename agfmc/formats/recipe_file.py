"""Recipes of tables: sidecars of data (`base.recipe`) or control files, and parts of models."""

import os

from ..errors import DataError
from ..tables import TableRecipe
from .consistency import check_table_recipe
from .inputs import read_bytes, SMALL_TEXT
from .strict_json import decode, format_sidecar, read_sidecar

__all__ = ["format_recipe", "read_recipe", "recipe_beside", "recipe_if_there"]

_TITLE = "agfmc table recipe"


def recipe_beside(path: str) -> str:
    """The file of the recipe beside a control file, or of data with that base name."""
    return f"{path}.recipe"


def format_recipe(recipe: TableRecipe, path=None) -> str:
    """The text of a recipe, which is `checked`."""
    return format_sidecar(_TITLE, recipe, lambda plain: _recipe(plain, path), path, sealed=False,
                          most=SMALL_TEXT)


def read_recipe(path) -> TableRecipe:
    """The recipe in a file; `DataError` for what is none."""
    raw = read_bytes(path, most=SMALL_TEXT, expected="a recipe")
    return _recipe(read_sidecar(_TITLE, raw, path, DataError), path)


def _recipe(plain, path):
    def fail(message):
        return DataError(f"expected a recipe, as table2agf writes it: {message}", file=path)

    recipe = decode(TableRecipe, plain, fail)
    check_table_recipe(recipe, fail)
    return recipe


def recipe_if_there(path) -> TableRecipe | None:
    """The recipe in a file, or None where there is no such file."""
    return read_recipe(path) if os.path.lexists(path) else None
