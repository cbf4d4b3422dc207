"""Columns of a training table surveyed: what each holds, and the recipe that follows."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, one_line, UsageError
from .reading import columns_called, row_error, Table
from .text import no_number, number_of, Words
from .types import (ColumnRecipe, ColumnRoles, LABEL_NAMES, LARGEST, MOST_LETTERS, plain_word, ROW,
                    size_of_names, TableRecipe)

_MOST_WORDS = 1000  # of a column that is not named in --categorical
_TRACKED = 1 << 16  # different words of a column that are held in memory at most
_MOST_CLASSES = 10_000
_LEFT_OUT = 8  # names in one line
_MANY_WORDS = 100  # of which a line tells
_FEW_ROWS = 20  # in which all values may well be different
_SHOWN = 20  # names in a message
_IDENTIFIER = re.compile("(?:^|[ ._-])[iI][dD]$|[a-z]I[dD]$")
_DISTINCT = 1 << 20  # whole numbers that are compared with each other
_FEW_WORDS = 0.1  # of the cells of a column of numbers: a mistake, where they are fewer
_STEPS = 1024  # of single precision, at least, between the least and the greatest number


class Roles(NamedTuple):
    """Positions of the columns of a table by what they are for, from 0; None where there is none.

    features: all columns without another part.
    """

    label: int | None
    ids: tuple[int, ...]
    weight: int | None
    features: tuple[int, ...]
    categorical: frozenset[int]


@dataclass(frozen=True, eq=False)
class Survey:
    """A recipe that lacks its fills, and what was seen of the table.

    recipe: numbers whose fill is NaN get the mean or median of what they become;  rows: of the
    table;  roles: the positions of its columns;  positions: of the recipe's columns in the table;
    counts: rows of each class.
    """

    recipe: TableRecipe
    rows: int
    roles: Roles
    positions: tuple[int, ...]
    counts: dict[int, int]


def resolve_roles(table: Table, roles: ColumnRoles, labelled: bool = True) -> Roles:
    """The `Roles` of the columns of a table; labelled: one of them has to be the label.

    Raises `DataError` for names that no column has, and for columns that have two parts.
    """
    label = None
    if labelled:
        label = _label_position(table) if roles.label is None else \
            column_positions(table, (roles.label,), "--label")[0]
    ids = column_positions(table, roles.ids, "--id")
    weight = None if roles.weight is None else \
        column_positions(table, (roles.weight,), "--weight")[0]
    ignored = column_positions(table, roles.ignored, "--ignore")
    categorical = column_positions(table, roles.categorical, "--categorical")
    taken: dict[int, str] = {}
    for option, positions in (("the label", (label,)), ("--id", ids), ("--weight", (weight,)),
                              ("--ignore", ignored), ("--categorical", categorical)):
        for position in positions:
            if position is None:
                continue
            if position in taken:
                raise DataError(f"column {_quoted(table.names[position])} cannot be for "
                                f"{taken[position]} and for {option}", file=table.file)
            taken[position] = option
    features = tuple(at for at in range(len(table.names))
                     if taken.get(at, "--categorical") == "--categorical")
    return Roles(label, ids, weight, features, frozenset(categorical))


def column_positions(table: Table, names, option: str) -> tuple[int, ...]:
    """Positions, from 0, of the columns of those names, or numbers from 1; `DataError`."""
    found, called = [], columns_called(table, names)
    for name in names:
        if name in called:
            found.append(called[name])
        elif name.isascii() and name.isdigit() and 1 <= int(name) <= len(table.names):
            found.append(int(name) - 1)
        else:
            raise DataError(f"{option}: there is no column {_quoted(name)}; the columns are "
                            + listed_names(table.names) + _header_hint(table.names),
                            file=table.file)
    return tuple(found)


def _header_hint(names):
    if len(names) == 1:
        return ": --delimiter names the character between cells"
    return ": --no-header where the first line does not name them" \
        if any(number_of(name) is not None for name in names) and names[0] != "1" else ""


def _label_position(table):
    found = [at for at, name in enumerate(table.names) if name.lower() in LABEL_NAMES]
    if len(found) == 1:
        return found[0]
    several = f"columns {listed_names([table.names[at] for at in found])} could hold the classes" \
        if found else f"no column is named {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
    raise DataError(f"{several}: --label names the one that does; the columns are "
                    + listed_names(table.names) + _header_hint(table.names), file=table.file)


def _quoted(name):
    return f"'{one_line(name)}'"


def listed_names(names) -> str:
    """The names in quotes, or the first of many, for a message."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(_quoted, names[:_SHOWN])) + more


@dataclass
class _Column:
    """The findings about one column.

    words: {word: rows};  as_words: read as words, as it is categorical, or as a pass before found
    words in it;  first_word, first_missing: the first cell that is no number with its line or row,
    and that of the first missing value.
    """

    name: str
    categorical: bool
    as_words: bool
    numbers: int = 0
    missing: int = 0
    words: dict = field(default_factory=dict)
    endless: bool = False  # so many words, all different, that they are not held any more
    first_word: tuple[str, int] | None = None
    first_missing: int | None = None
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    ascending: bool = True  # each number is one more than the one before
    last: float | None = None
    values: np.ndarray | None = field(default_factory=lambda: np.empty(0))  # all different
    merged: bool = False  # single precision makes equal what differs

    def add(self, block, cells):
        """Take the cells of a block of rows."""
        if isinstance(cells, Words):
            absent = cells.codes < 0
            self._add_words(block, cells)
        else:
            absent = np.isnan(cells)
            self._add_numbers(cells[~absent])
        count = int(np.count_nonzero(absent))
        if count and self.first_missing is None:
            self.first_missing = block.number(int(np.argmax(absent)))
        self.missing += count

    def _add_numbers(self, values):
        if not len(values):
            return
        self.numbers += len(values)
        low, high = values.min(), values.max()
        self.low, self.high = min(self.low, low), max(self.high, high)
        if not self.merged and _steps(low, high) < 2 * _STEPS:
            self.merged = len(np.unique(values)) > len(np.unique(values.astype(np.float32)))
        self.whole = self.whole and bool((values == np.rint(values)).all())
        if not self.whole:
            self.values = None
            return
        steps = np.diff(values, prepend=values[0] - 1 if self.last is None else self.last)
        self.ascending &= bool(np.all(steps == 1))
        self.last = values[-1]
        if self.values is not None:
            together = np.union1d(self.values, values)
            self.values = together if len(together) == self.numbers <= _DISTINCT else None

    def _add_words(self, block, cells):
        if self.first_word is None:
            strange = np.array([number_of(word) is None for word in cells.words], dtype=bool)
            rows = np.flatnonzero((cells.codes >= 0) & strange[cells.codes]) if len(strange) \
                else []
            if len(rows):
                self.first_word = cells.words[cells.codes[rows[0]]], block.number(int(rows[0]))
        if self.endless:
            return
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.words))
        for word, count in zip(map(plain_word, cells.words), counts.tolist()):
            if count:
                self.words[word] = self.words.get(word, 0) + count
        if len(self.words) > _TRACKED:
            self.endless = True

    @property
    def mixed(self):
        """True where numbers stand beside words, and nobody said that all are words."""
        return not self.categorical and self.first_word is not None and bool(
            self.numbers or any(number_of(word) is not None for word in self.words))

    @property
    def rows(self):
        """The number of rows in which there is a word."""
        return sum(self.words.values())

    def all_different(self):
        """True where (nearly) every row has another word."""
        return len(self.words) > max(_FEW_ROWS, 0.9 * self.rows)

    def whole_and_different(self):
        """True where every row has another whole number, and there are many rows."""
        return self.whole and self.numbers > _FEW_ROWS and self.values is not None


def survey_table(table: Table, roles: ColumnRoles, known: tuple[str, ...] | None = None) -> Survey:
    """The `Survey` of a training table, in one pass, or two where numbers turn into words.

    known: names of the classes, numbered already.  Warnings tell of columns that are left out,
    as they are constant, or different in every row, and of what may be a mistake.  Raises
    `DataError` for missing values where the roles say so, and for rows without a class.
    """
    where = resolve_roles(table, roles)
    columns = {at: _Column(table.names[at], at in where.categorical, at in where.categorical)
               for at in where.features}
    label = _Column(table.names[where.label], True, True)
    rows = _read(table, {where.label: label, **columns})
    if not rows:
        raise DataError("has no rows", file=table.file)
    mixed = [at for at, column in columns.items() if column.mixed]
    again = {at: _Column(columns[at].name, False, True) for at in mixed if columns[at].numbers}
    if again:  # the numbers of blocks without a word are words too
        _read(table, again)
        columns.update(again)
    for at, column in columns.items():
        if column.first_word is not None and at not in where.categorical:
            _refuse_mistaken(table, column)
    classes, counts = _classes(table, label, known or roles.classes, known is not None)
    notes: list = []
    made = {at: _recipe_of(table, column, roles, notes) for at, column in columns.items()}
    kept = {at: column for at, column in made.items() if column is not None}
    if not kept:
        raise DataError("no column is left to be a feature"
                        + f": {'; '.join(_lines_of(notes)[:_SHOWN])}" * bool(notes),
                        file=table.file)
    notes += [_mixed(table, columns[at]) for at in mixed if at in kept]
    if roles.missing == "error":
        _refuse_missing(table, [columns[at] for at in kept])
    recipe = TableRecipe(tuple(kept.values()), label.name, classes,
                         tuple(table.names[at] for at in where.ids),
                         None if where.weight is None else table.names[where.weight],
                         roles.missing, one_line(os.path.basename(table.file)),
                         tuple(sorted(table.blanks)))
    if size_of_names(recipe.columns) > MOST_LETTERS:
        raise DataError("the names of the features, of column and word, are too long: expected "
                        "shorter names of columns", file=table.file)
    twice, count = Counter(recipe.features).most_common(1)[0]
    if count > 1:
        raise DataError(f"two features would be named {_quoted(twice)}: expected columns and words "
                        "that differ", file=table.file)
    for note in _lines_of(notes):  # not before an error
        table.warn(note)
    return Survey(recipe, rows, where, tuple(kept), counts)


def survey_classes(table: Table, roles: ColumnRoles) -> tuple[tuple[str, ...], dict[int, int]]:
    """(Names of the classes, {class: rows}) of a training table, of which one column is read."""
    label = resolve_roles(table, roles).label
    column = _Column(table.names[label], True, True)
    if not _read(table, {label: column}):
        raise DataError("has no rows", file=table.file)
    return _classes(table, column, roles.classes, False)


def _read(table, columns):
    """Add all blocks of a table to its columns {position: `_Column`}; -> the number of rows."""
    rows = 0
    for block in table.blocks({at: "words" if column.as_words else "either"
                               for at, column in columns.items()}):
        for at, column in columns.items():
            column.add(block, block[at])
        rows += block.rows
    return rows


def _classes(table, label, given, numbered):
    """(names of the classes, {class: rows}) of the column of the label."""
    name = _quoted(label.name)
    if label.missing:
        several = f" in {label.missing} rows, the first here" * (label.missing > 1)
        raise row_error(table, label.first_missing, f"column {name} has no class{several}: "
                        "expected a class in every row of training data")
    seen = label.words
    k = len(seen)
    if label.endless or k > _MOST_CLASSES or k > _FEW_ROWS and 2 * k > label.rows \
            or given is None and _is_quantity(seen, label.rows):
        raise DataError(f"{'more than ' * label.endless}{k} different values in column {name} look "
                        "like a continuous quantity or an identifier, not like classes: --label "
                        "names another column, and of a quantity (.dat) float_to_class makes "
                        "classes", file=table.file)
    if given is None:
        classes = tuple(ordered_words(seen))
    else:
        classes = tuple(given) if numbered else tuple(map(plain_word, given))
        strange = [word for word in seen if word not in classes]
        if strange:
            raise DataError(f"column {name} has the class {_quoted(strange[0])}, which "
                            + ("training did not know: its classes are " if numbered else
                               "--classes does not name: ") + listed_names(classes),
                            file=table.file)
        absent = [word for word in classes if word not in seen]
        if absent and not numbered:
            raise DataError(f"no row is of class {_quoted(absent[0])}, which --classes names: "
                            f"column {name} has {listed_names(sorted(seen))}", file=table.file)
    if len(set(classes)) < len(classes):
        raise UsageError("--classes names a class twice")
    return classes, {at: seen[word] for at, word in enumerate(classes) if word in seen}


def _is_quantity(words, rows):
    """True for many numbers in few rows each that have fractions, or, still more, gaps."""
    k = len(words)
    values = list(map(number_of, words)) if _FEW_ROWS < k and rows < 10 * k else [None]
    if None in values:
        return False
    return any(value % 1 for value in values) or \
        k > _MANY_WORDS and max(values) - min(values) >= k


def _recipe_of(table, column, roles, notes):
    """The `ColumnRecipe` of a column, or None where it is left out, which one of the notes says."""
    filled = roles.missing.removeprefix("value:") if roles.missing.startswith("value:") else None
    indicator = roles.missing == "indicator" and column.missing > 0
    # in which missing values are told from others
    told_apart = indicator or column.missing > 0 and filled is not None
    name = _quoted(column.name)
    if not column.numbers and not column.words:
        return _left_out(notes, name, "is empty")
    if column.words:
        return _recipe_of_words(table, column, roles, filled, told_apart, notes)
    if column.low == column.high and not told_apart:
        return _left_out(notes, name, "is constant", f", {column.low:g}")
    unnamed = column.name == ROW and column.whole_and_different()
    if column.ascending and column.whole and column.numbers > _FEW_ROWS or unnamed:
        return _left_out(notes, name, "numbers the rows")
    _note_odd_numbers(notes, name, column)
    fill = _number_to_fill(table, column, filled)
    return ColumnRecipe(column.name, None, None if roles.missing == "error" else fill, indicator)


def _recipe_of_words(table, column, roles, filled, told_apart, notes):
    """As `_recipe_of`, of a column of words; filled: in place of missing ones, or None."""
    indicator = roles.missing == "indicator" and column.missing > 0
    name, different = _quoted(column.name), len(column.words)
    if different == 1 and not told_apart:
        return _left_out(notes, name, "is constant", f", {_quoted(*column.words)}")
    if column.all_different() and (column.endless or not column.categorical):
        return _left_out(notes, name, "has another word in (nearly) every row"
                         + " (--categorical would keep it)" * (not column.endless))
    if column.endless or different > _MOST_WORDS and not column.categorical:
        raise DataError(f"column {name} has {'more than ' * column.endless}{different} different "
                        "words, of which each would be a feature: --ignore leaves the column out"
                        + ", --categorical makes the features" * (not column.endless),
                        file=table.file)
    if different > _MANY_WORDS and not column.categorical:
        notes.append(f"column {name} has {different} different words, of which each is a feature "
                     "(--ignore leaves the column out)")
    words = {*column.words, *([plain_word(filled)] if told_apart and filled is not None else [])}
    fill = None
    if roles.missing in ("mean", "median") or roles.missing == "indicator" and not indicator:
        fill = min(column.words, key=lambda word: (-column.words[word], word))
    elif filled is not None and plain_word(filled) in words:
        fill = plain_word(filled)
    return ColumnRecipe(column.name, tuple(ordered_words(words)), fill, indicator)


def _note_odd_numbers(notes, name, column):
    if column.whole_and_different() or column.whole and _IDENTIFIER.search(column.name):
        what = "has another whole number in every row" if column.whole_and_different() else \
            "has whole numbers, and is named as identifiers are"
        notes.append(f"column {name} {what}: if it is an identifier, and not a measurement, "
                     "--ignore or --id leaves it out")
    if column.merged and (steps := _steps(column.low, column.high)) < _STEPS:
        notes.append(f"column {name} goes from {column.low:.12g} to {column.high:.12g}, where "
                     f"single precision has {steps + 1:.0f} numbers, and different cells "
                     f"become equal: subtract a constant, as {column.low:.12g}, from it")


def _number_to_fill(table, column, filled):
    """The number in place of missing values of a column of numbers, NaN for one not known yet."""
    fill = np.nan if filled is None else number_of(filled)
    if fill is not None and abs(fill) > LARGEST:
        raise UsageError(f"--missing value:{filled} is more than single precision holds")
    if fill is None and column.missing:
        raise DataError(f"column {_quoted(column.name)} holds numbers, and --missing "
                        f"value:{one_line(filled)} would fill it with a word: expected a number, "
                        "mean, median or indicator", file=table.file)
    return fill


def _steps(low, high):
    """The steps of single precision, as wide as at the larger end, from one number to another."""
    with np.errstate(over="ignore", invalid="ignore"):
        step = float(np.spacing(np.float32(max(abs(low), abs(high)))))
    return (high - low) / step if step < np.inf else np.inf


def ordered_words(words) -> list[str]:
    """Words in sorted order, or, where all are numbers, in the order of their values."""
    values = {word: number_of(word) for word in words}
    return sorted(words) if None in values.values() else \
        sorted(words, key=lambda word: (values[word], word))


def _left_out(notes, name, why, value=""):
    notes.append((why, name, value))


def _lines_of(notes):
    """Notes as lines, in one those on columns that are left out for the same reason."""
    lines: dict = {}
    for note in notes:
        why, *column = (note,) if isinstance(note, str) else note
        lines.setdefault(why, []).append(column)
    return [why if not columns[0] else _line_of(why, *zip(*columns))
            for why, columns in lines.items()]


def _line_of(why, names, values):
    if len(names) == 1:
        return f"column {names[0]} {why}{values[0]}, and is left out"
    more = f" and {len(names) - _LEFT_OUT} more" if len(names) > _LEFT_OUT else ""
    return f"{len(names)} columns are left out, as each of them {why}: " \
           f"{', '.join(names[:_LEFT_OUT])}{more}"


def _refuse_mistaken(table, column):
    """Raise `DataError` for a column of words that can only be numbers.

    They are words among so many numbers that these are none, or have a decimal comma.
    """
    strange = {word: rows for word, rows in column.words.items() if number_of(word) is None}
    few = sum(strange.values()) < _FEW_WORDS * column.rows
    commas = {word: rows for word, rows in strange.items()
              if number_of(word.replace(",", ".", 1)) is not None}
    if few and len(column.words) - len(strange) > _FEW_ROWS or len(commas) == len(strange) or \
            2 * sum(commas.values()) > column.rows:
        word, number = column.first_word
        raise row_error(table, number, f"{no_number(one_line(column.name), one_line(word))}, as in "
                        "most rows (--blanks names words that mean a missing value, --categorical "
                        "takes numbers as words, --ignore leaves the column out)")


def _mixed(table, column):
    word, number = column.first_word
    return f"column {_quoted(column.name)} has words beside numbers, first {_quoted(word)} in " \
           f"{table.counted} {number}, and all are taken as words (--blanks names words that " \
           "mean a missing value)"


def _refuse_missing(table, columns):
    lacking = [column for column in columns if column.missing]
    if not lacking:
        return
    first = min(column.first_missing for column in lacking)
    count = sum(column.missing for column in lacking)
    shown = ", ".join(f"{_quoted(column.name)} ({column.missing})" for column in lacking[:_SHOWN])
    more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
    raise row_error(table, first, (
        f"{count} missing value{'s' * (count > 1)} in column{'s' * (len(lacking) > 1)} {shown}"
        f"{more}, the first here: --missing median, mean, indicator or value:X fills them, "
        "--ignore leaves columns out"))
