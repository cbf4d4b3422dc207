"""Recipes of tables: sidecars of data (`base.recipe`) or control files, and parts of models."""

import itertools
import os

from ..core.errors import DataError
from ..core.text import name_fault
from ..files.codec import Sidecar
from ..files.kinds import is_table
from ..files.opening import read_bytes, SMALL_TEXT
from .places import PairRecipe
from .types import (
    ColumnRoles,
    MISSING_POLICIES,
    MOST_LETTERS,
    QUANTILES,
    size_of_names,
    TableFormat,
    TableRecipe,
)

_MOST_FEATURES = 2**24


def check_table_recipe(recipe, fail):
    """Check that the columns of a `TableRecipe` have one part and one name each."""
    if not recipe.columns:
        raise fail("the recipe has no columns")
    for column in recipe.columns:
        if not _is_valid(column):
            raise fail(f"the column '{column.name[:40]}' of the recipe is invalid")
        if column.numbers is not None and not _fits(column.numbers, column):
            raise fail(f"the numbers of the column '{column.name[:40]}' of the recipe are invalid")
    if recipe.missing not in MISSING_POLICIES and not recipe.missing.startswith("value:"):
        raise fail("the recipe has an unknown way to treat missing values")
    if sum(len(column.categories or ()) + 2 for column in recipe.columns) > _MOST_FEATURES:
        raise fail("the recipe has too many features")
    if size_of_names(recipe.columns) > MOST_LETTERS:  # a long name, which each of many words has
        raise fail("the names of the features of the recipe are too long")
    names = [column.name for column in recipe.columns]
    if not all(map(_differ, (names, recipe.features, recipe.classes))):
        raise fail("a name stands twice in the recipe")
    names = []
    for name, parts in itertools.groupby(recipe.columns, lambda column: column.source):
        pairs = [column.pair for column in parts]
        if pairs not in ([None], [PairRecipe(name, 0), PairRecipe(name, 1)]):
            raise fail(f"the column '{name[:40]}' of the recipe is invalid")
        names.append(name)
    names += [recipe.label, *recipe.ids]
    names += [name for name in (recipe.weight, recipe.group) if name is not None]
    if not _differ(names):
        raise fail("a column of the recipe has two parts")


def _differ(names):
    return len(set(names)) == len(names)


def _is_valid(column):
    """Return whether the parts of the recipe of a column are of one kind, and of its words."""
    words, order, quantiles = column.categories, column.order, column.quantiles
    kinds = [words, column.date, order, column.pair]
    if words is None:
        fits = not isinstance(column.fill, str) and column.other is None
    else:
        known = {None, *words}
        fits = words and _differ(words) and column.fill in known and column.other in known
    if order is not None:
        fits = fits and len(order) > 1 and _differ(order)
    if quantiles is not None:
        is_complete = words is None and len(quantiles) == len(QUANTILES)
        fits = fits and is_complete and list(quantiles) == sorted(quantiles)
    return fits and kinds.count(None) >= len(kinds) - 1


def _fits(form, column):
    """Return whether a form of numbers can be that of a column."""
    return (
        column.categories is column.order is column.pair is None
        and form.serial == (column.date is not None)
        and form.thousands != form.decimal
        and _differ(form.limits)
    )


_RECIPE = Sidecar(
    "agfmc table recipe",
    TableRecipe,
    check_table_recipe,
    DataError,
    "expected a recipe, as table2agf writes it: ",
    sealed=False,
    most=SMALL_TEXT,
)


def recipe_beside(path: str) -> str:
    """The file of the recipe beside a control file, or of data with that base name."""
    return f"{path}.recipe"


def recipe_of_table(path: str) -> str:
    """The file of the recipe beside a table: `lakes.recipe` for `lakes.csv` and `lakes.csv.gz`."""
    stem = path.removesuffix(".gz")
    if is_table(stem):
        stem = os.path.splitext(stem)[0]
    return recipe_beside(stem)


def recipe_path(recipe, source):
    """`recipe`, the name of a file, or the file beside the table `source`, or None."""
    if recipe is None and source not in (None, "-"):
        path = recipe_of_table(os.fspath(source))
        if os.path.isfile(path):
            return path
    return recipe


def read_dialect(recipe, source):
    """(file, `TableFormat`, `ColumnRoles`): how the recipe of the table `source` says that it is
    read; the file is None where none says it. The recipe is the one of `recipe_path`."""
    path = recipe_path(recipe, source)
    if path is not None:
        content = read_recipe(path)
        if content.layout or content.roles:
            return path, content.layout or TableFormat(), content.roles or ColumnRoles()
    return None, TableFormat(), ColumnRoles()


def format_recipe(recipe: TableRecipe, path=None) -> str:
    """The text of a recipe, which is `checked`; `DataError` for a class that no file can hold."""
    for name in recipe.classes:
        if fault := name_fault(name):
            raise DataError(f"the recipe cannot hold the class {name!r}: {fault}", file=path)
    return _RECIPE.format(recipe, path)


def read_recipe(path) -> TableRecipe:
    """The recipe in a file; `DataError` for what is none."""
    return _RECIPE.read(read_bytes(path, most=SMALL_TEXT, expected="a recipe"), path)


def recipe_if_there(path) -> TableRecipe | None:
    """The recipe in a file, or None where there is no such file."""
    if os.path.lexists(path):
        return read_recipe(path)
    return None
