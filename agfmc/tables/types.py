"""Frozen types of tables: how they are read, what their columns are, how they become points."""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TYPE_CHECKING

from ..core.errors import UsageError
from ..core.rows import by_name, optional_field
from .dates import DateRecipe
from .places import metres_of, PairRecipe
from .number_forms import NumberForm

if TYPE_CHECKING:
    import numpy as np

BLANKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")  # missing values
LABEL_NAMES = ("class", "label", "target")  # the columns taken for the label, in any case
MISSING_POLICIES = ("error", "mean", "median", "indicator", "keep")  # beside value:X
ROW = "row"  # the column of the rows' numbers, and a first column without a name
LARGEST = 2.0**128 - 2.0**104  # that single precision holds
Word = Annotated[str, "[^\0\ud800-\udfff]*"]  # that a table can hold
QUANTILES = (0.0, 0.01, 0.5, 0.99, 1.0)  # of a column of numbers, which its recipe keeps
_FAR = 10.0  # what a wrong unit or a slip makes of a number is farther, what varies is not
MOST_LETTERS = 2**28  # of the names of all features


@dataclass(frozen=True)
class TableFormat:
    """The layout of a text table.

    Attributes
    ----------
    delimiter : character between cells, None where it is guessed from the first lines
    header : the first line holds the names of the columns, which else are numbers from 1
    quotes : cells may stand in double quotes, as in RFC 4180
    blanks : cells that are missing values; None: the words of `BLANKS` in text, and in tables whose
        cells have types those without a value alone; numbers alone are beside these
    decimal : "." or "," in numbers; None: a comma where the delimiter is a semicolon and most of
        the first cells of a column have one
    encoding : of the text, None for UTF-8, UTF-16 with its mark, or else Windows-1252
    """

    delimiter: Word | None = None
    header: bool = True
    quotes: bool = True
    blanks: tuple[Word, ...] | None = None
    decimal: Word | None = None
    encoding: Word | None = optional_field()

    def __post_init__(self):
        try:
            if self.encoding is not None:
                "".encode(self.encoding)
        except (LookupError, ValueError):
            raise UsageError(f"`encoding`: there is no encoding {self.encoding!r}") from None
        if self.decimal not in (None, ".", ","):
            raise UsageError(f"`decimal`: expected a point or a comma, found {self.decimal!r}")
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or mark in '"\r\n\0' or not mark.isascii()):
            raise UsageError(
                "expected one character that is neither a quote nor a line break as "
                f"the delimiter, found {self.delimiter!r}"
            )

    def for_model(self, recipe: TableRecipe) -> TableFormat:
        """The layout of a table for a model: that of the training table where this one says nothing.

        What was missing in training is missing there too.
        """
        layout = self
        if recipe.layout is not None and self == TableFormat():
            layout = recipe.layout
        blanks = {*recipe.blanks, *(layout.blanks or ())}
        if blanks == {""} and layout.blanks is None:  # of a table whose cells had types
            words = {*recipe.classes}.union(*(column.categories or () for column in recipe.columns))
            if words.isdisjoint(BLANKS):
                return layout
            blanks = {*BLANKS} - words
        return replace(layout, blanks=tuple(sorted(blanks)))


@dataclass(frozen=True)
class ColumnRoles:
    """The columns of a table by what they are for, as names or numbers from 1.

    Attributes
    ----------
    label : column of the classes, None for one named class, label or target
    ids : columns of the ids of rows
    weight, group : columns of the weights and groups of rows, or None
    group_places : side of the cells of a grid in which places are groups, as 10km, or None
    ignored : columns that are not read
    categorical : columns whose numbers are words
    classes : names of the classes in their order, None for sorted ones
    missing : one of `MISSING_POLICIES`, or `value:X`; None: indicator where fewer than half of the
        cells of each column are missing, else error
    min_words : words in fewer rows share a feature; None: 5 in columns of 30 words or more
    ordered : columns of words that become numbers, as "size=small<medium<large"
    fold_case : words, and classes, that differ in case or blanks alone are one
    """

    label: Word | None = None
    ids: tuple[Word, ...] = ()
    weight: Word | None = None
    ignored: tuple[Word, ...] = ()
    categorical: tuple[Word, ...] = ()
    classes: tuple[Word, ...] | None = None
    missing: Word | None = None
    min_words: Annotated[int, range(1, 2**62)] | None = None
    ordered: tuple[Word, ...] = ()
    group: Word | None = None
    group_places: Word | None = optional_field()
    fold_case: bool | None = optional_field()

    def __post_init__(self):
        if self.group_places is not None:
            metres_of(self.group_places)
            if self.group is not None:
                raise UsageError("`group` and `group_places` exclude each other")
        if self.missing not in (None, *MISSING_POLICIES) and not (
            self.missing.startswith("value:") and self.missing.removeprefix("value:").strip()
        ):
            raise UsageError(
                f"there is no way '{self.missing}' to treat missing values: expected "
                f"{', '.join(MISSING_POLICIES)} or value:X"
            )
        if self.classes is not None and len(set(self.classes)) < len(self.classes):
            raise UsageError("a class is named twice")
        for text, (name, words) in zip(self.ordered, self.orders):
            if not name or "" in words or len(set(words)) < max(2, len(words)):
                raise UsageError(
                    "`ordered`: expected a column and its words in their order, as "
                    f"size=small<medium<large, found '{text}'"
                )

    @property
    def orders(self) -> list[tuple[str, tuple[str, ...]]]:
        """[(column, its words in their order)] of `ordered`."""
        parts = (text.rpartition("=") for text in self.ordered)
        return [(name, tuple(map(plain_word, words.split("<")))) for name, _, words in parts]


@dataclass(frozen=True)
class ColumnRecipe:
    """One column of a table, and the features that are made of it.

    Attributes
    ----------
    categories : None for numbers, else its words in the order of their features, each of which is 1
        where the cell is that word, else 0
    fill : replacement of a missing value, a number or one of the categories, or None: all zeros for
        words; for numbers NaN where missing values stay, else an error
    indicator : a last feature is 1 where the value is missing, else 0
    date : features of a column of dates, whose fill is a number of days, or None
    other : the category of all words that are not among the categories, or None
    order : words of which each is the number of those before it, or None
    numbers : form of numbers that are not plain, whose cells are read as words, or None
    quantiles : 0, 1, 50, 99 and 100 % points of the numbers of training, or None
    pair : which of the two numbers in each cell of a column of the table it is, or None
    """

    name: Word
    categories: tuple[Word, ...] | None = None
    fill: Annotated[float, (-LARGEST, LARGEST)] | Word | None = None
    indicator: bool = False
    date: DateRecipe | None = optional_field()
    other: Word | None = optional_field()
    order: tuple[Word, ...] | None = optional_field()
    numbers: NumberForm | None = optional_field()
    quantiles: tuple[Annotated[float, (-LARGEST, LARGEST)], ...] | None = optional_field()
    pair: PairRecipe | None = optional_field()

    @property
    def source(self) -> str:
        """The name of the column of the table."""
        if self.pair is not None:
            return self.pair.column
        return self.name

    @functools.cached_property
    def limits(self) -> tuple[float, float]:
        """The numbers beyond which a cell is unlike training; infinite where nothing is known.

        They are ten times as far as its inner 98 % go, beyond these, and where all numbers have
        one sign ten times as large, or a tenth: a mass in kilograms, where training had grams, is
        no farther from these than they are from each other. What training had is never beyond.
        Those of dates are the years of training.
        """
        if self.date is not None and self.date.last is not None:
            return self.date.limits
        if self.quantiles is None:
            return -math.inf, math.inf
        least, low, _, high, greatest = self.quantiles
        width = high - low or greatest - least
        below, above = [low - _FAR * width], [high + _FAR * width]
        if least > 0:
            below.append(low / _FAR)
            above.append(high * _FAR)
        elif greatest < 0:
            below.append(low * _FAR)
            above.append(high / _FAR)
        return min(least, max(below)), max(greatest, min(above))

    @property
    def kind(self) -> str:
        """What its cells are: number, words, order, date, time or pair."""
        if self.date is not None:
            return self.date.kind
        if self.order is not None:
            return "order"
        if self.categories is not None:
            return "words"
        if self.pair is not None:
            return "pair"
        return "number"

    @property
    def is_number(self) -> bool:
        """True if its cells hold numbers, and not words, dates or positions of words."""
        return self.kind in ("number", "pair")

    @functools.cached_property
    def feature_of(self) -> dict[str, int]:
        """{category: its place among the features}."""
        return {word: place for place, word in enumerate(self.categories or ())}

    @functools.cached_property
    def features(self) -> tuple[str, ...]:
        """The names of its features."""
        if self.date is not None:
            names = self.date.features(self.name)
        elif self.numbers is not None:
            names = self.numbers.features(self.name)
        elif self.categories is None:
            names = (self.name,)
        else:
            names = tuple(f"{self.name}={word}" for word in self.categories)
        if self.indicator:
            return (*names, f"{self.name} is missing")
        return names


@dataclass(frozen=True)
class TableRecipe:
    """The way from the cells of a table to points: columns, categories and fills of training.

    The normalisation, which comes after it, is a part of the model beside it.

    Attributes
    ----------
    columns : `ColumnRecipe`s in the order of the features
    label : name of the column of the classes
    classes : names of the classes, entry i of class i
    ids, weight, group : names of those columns, () and None without
    missing : policy, as of `ColumnRoles`
    source : name of the training table
    blanks : cells that were missing values in training
    layout, roles : what was said of the training table, or None where that was nothing
    label_kind : what the classes were where that was no text: "bool" or "int"
    fold_case : words that differ in case or blanks alone are one, or None
    """

    columns: tuple[ColumnRecipe, ...]
    label: Word
    classes: tuple[Word, ...]
    ids: tuple[Word, ...] = ()
    weight: Word | None = None
    missing: Word = "error"
    source: Word = ""
    blanks: tuple[Word, ...] = BLANKS
    group: Word | None = optional_field()
    layout: TableFormat | None = optional_field()
    roles: ColumnRoles | None = optional_field()
    fold_case: bool | None = optional_field()
    label_kind: Literal["bool", "int"] | None = optional_field()

    def key_of(self, cell: str) -> str:
        """What tells a cell from others of a column of words or classes."""
        if self.fold_case:
            return folded_word(cell)
        return plain_word(cell)

    def apply(self, rows: Any) -> np.ndarray:
        """Make points of rows, whose classes are not read.

        Parameters
        ----------
        rows : list of dictionaries, frame of named columns, open file of text, or name of a file
            Rows with the columns of the recipe.

        Returns
        -------
        ndarray of shape (n, d), float32
            The points.
        """
        return by_name("tables.points:table_points")(rows, self).x

    @property
    def kinds(self) -> dict[str, int]:
        """{kind: columns of the table}."""
        return dict(Counter({column.source: column.kind for column in self.columns}.values()))

    def label_of(self, name: str) -> str | int | bool:
        """The class of that name as it stood in training: a word, a whole number, True or False."""
        if self.label_kind is None or name not in self.classes:
            return name
        if self.label_kind == "bool":
            return name == "true"
        return int(name)

    @property
    def keeps_missing(self) -> bool:
        """True if missing numbers stay missing in the points, as NaN."""
        return self.missing == "keep"

    @functools.cached_property
    def features(self) -> tuple[str, ...]:
        """The names of all features, in their order."""
        return tuple(name for column in self.columns for name in column.features)

    @functools.cached_property
    def starts(self) -> tuple[int, ...]:
        """The position of the first feature of each column."""
        return (0, *itertools.accumulate(len(column.features) for column in self.columns))[:-1]


def size_of_names(columns: tuple[ColumnRecipe, ...]) -> int:
    """The letters of the names of all features: each has that of its column."""
    size = 0
    for column in columns:
        words = column.categories or ()
        size += (len(column.name) + 11) * (2 + len(words)) + sum(map(len, words))
        if column.date is not None:
            size += 6 * (len(column.name) + 29)
        if column.numbers is not None:
            size += 2 * (len(column.name) + 6)
    return size


def plain_word(cell: str) -> str:
    """A cell as the name of a class or category: without outer blanks; 1.0 is 1, True is true.

    Programs write the same whole numbers and truth values in these ways.
    """
    cell = cell.strip(" \t")
    if cell in ("True", "TRUE", "False", "FALSE"):
        return cell.lower()
    whole, point, rest = cell.partition(".")
    if point and not rest.strip("0") and whole.lstrip("+-").isdecimal() and whole.isascii():
        return whole
    return cell


def folded_word(cell: str) -> str:
    """A cell as `plain_word`, in lower case, with one blank where there are some."""
    return " ".join(plain_word(cell).casefold().split())
