"""Columns of a training table surveyed: what each holds, and the recipe that follows."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..core.errors import AgfmcNotice, DataError, one_line, UsageError
from ..core.text import first_words, name_fault
from .dates import DateSurvey, expected, odd_words
from .hints import IDENTIFIER
from .reading import columns_called
from .text import no_number, number_of, row_error, Table, with_points, Words
from .types import (
    ColumnRecipe,
    ColumnRoles,
    LABEL_NAMES,
    LARGEST,
    MOST_LETTERS,
    plain_word,
    ROW,
    size_of_names,
    TableRecipe,
)

_MOST_WORDS = 1000  # of a column that is not `categorical`
_TRACKED = 1 << 16  # different words of a column that are held in memory at most
_MOST_CLASSES = 10_000
_MANY_CLASSES = 100  # that are whole numbers, if they have gaps
_MANY_WORDS = 30  # of a column: from which on rare ones share a feature
_RARE = 5  # rows that a word needs there
_OTHER = "other"  # the category of rare words
_FEW_ROWS = 20  # in which all values may well be different
_DISTINCT = 1 << 20  # whole numbers that are compared with each other
_FEW_WORDS = 0.1  # of the cells of a column of numbers: a mistake, where they are fewer,
_MEASURED = 0.5  # or, where numbers have fractions, fewer than half
_MARKED = re.compile(  # a number with marks of thousands, a unit, a percent sign, another minus
    r"\s?[<>~+\u2212-]?\s?(?:\d{1,3}(?:[,.'\s]\d{3})+|\d+)(?:[.,]\d+)?"
    r"(?:\s?[%\u2030]|\s[^\W\d]\S{0,5})?"
)
_WAYS = (
    "`blanks` names words that mean a missing value, `categorical` takes all cells as "
    "words, `ignored` leaves the column out"
)
_SHORT_YEAR = re.compile(r"\d\d?[-/.]\d\d?[-/.]\d\d(?: .*)?")
_STEPS = 1024  # of single precision, at least, between the least and the greatest number


class Roles(NamedTuple):
    """Positions, from 0, of the columns of a table by what they are for; None for none."""

    label: int | None
    ids: tuple[int, ...]
    weight: int | None
    features: tuple[int, ...]
    categorical: frozenset[int]
    orders: dict[int, tuple[str, ...]]
    group: int | None


class Survey(NamedTuple):
    """A recipe that lacks its fills, and what was seen of the table."""

    recipe: TableRecipe
    rows: int
    roles: Roles


def resolve_roles(table: Table, roles: ColumnRoles, labelled: bool = True) -> Roles:
    """The `Roles` of the columns of a table; labelled: one of them has to be the label.

    Raises `DataError` for names that no column has, and for columns that have two parts.
    """
    if not labelled:
        label = ()
    elif roles.label is None:
        label = (_label_position(table),)
    else:
        label = column_positions(table, (roles.label,), "`label`")
    weight, group = (() if name is None else (name,) for name in (roles.weight, roles.group))
    parts = {
        "the label": label,
        **{
            part: column_positions(table, names, part)
            for part, names in (
                ("`ids`", roles.ids),
                ("`weight`", weight),
                ("`group`", group),
                ("`ignored`", roles.ignored),
                ("`categorical`", roles.categorical),
                ("`ordered`", [name for name, _ in roles.orders]),
            )
        },
    }
    taken: dict[int, str] = {}
    for part, positions in parts.items():
        for position in positions:
            if position in taken:
                raise DataError(
                    f"column {_quoted(table.names[position])} cannot be for "
                    f"{taken[position]} and for {part}",
                    file=table.file,
                )
            taken[position] = part
    features = tuple(
        at
        for at in range(len(table.names))
        if taken.get(at, "`ordered`") in ("`ordered`", "`categorical`")
    )
    weight, group = (next(iter(parts[part]), None) for part in ("`weight`", "`group`"))
    return Roles(
        label[0] if label else None,
        parts["`ids`"],
        weight,
        features,
        frozenset(parts["`categorical`"]),
        dict(zip(parts["`ordered`"], (words for _, words in roles.orders))),
        group,
    )


def column_positions(table: Table, names, part: str) -> tuple[int, ...]:
    """Positions, from 0, of the columns of those names, or numbers from 1; `DataError`."""
    positions = []
    called = columns_called(table, names)
    for name in names:
        if name in called:
            positions.append(called[name])
        elif name.isascii() and name.isdigit() and 1 <= int(name) <= len(table.names):
            positions.append(int(name) - 1)
        else:
            raise DataError(
                f"{part}: there is no column {_quoted(name)}; the columns are "
                + listed_names(table.names)
                + _header_hint(table.names),
                file=table.file,
            )
    return tuple(positions)


def column_or_file(table: Table, name: str, part: str) -> str | None:
    """The column of that name, or None where there is a file in its place; `DataError`."""
    if name == "-":
        return None
    try:
        return table.names[column_positions(table, (name,), part)[0]]
    except DataError as error:
        if os.path.exists(name):
            return None
        raise DataError(
            f"{error.message}; there is no file of that name either", file=table.file
        ) from None


def _header_hint(names):
    if len(names) == 1:
        return (
            ": the first line must have the names alone, without a title or comment, and "
            "`delimiter` names the character between cells"
        )
    if any(number_of(name) is not None for name in names) and names[0] != "1":
        return ": `header=False` where the first line does not name them"
    return ""


def _label_position(table):
    found = [at for at, name in enumerate(table.names) if name.lower() in LABEL_NAMES]
    if len(found) == 1:
        return found[0]
    if found:
        several = (
            f"columns {listed_names([table.names[at] for at in found])} could hold the classes"
        )
    else:
        several = f"no column is named {', '.join(LABEL_NAMES[:-1])} or {LABEL_NAMES[-1]}"
    raise DataError(
        f"{several}: `label` names the one that does; the columns are "
        + listed_names(table.names)
        + _header_hint(table.names),
        file=table.file,
    )


def _quoted(name):
    return f"'{one_line(name)}'"


def listed_names(names) -> str:
    """The names in quotes, or the first of many, for a message."""
    return first_words([*map(_quoted, names)])


@dataclass
class _Column:
    """The results of the survey for one column.

    Attributes
    ----------
    words : {word: rows}
    as_words : read as words, as it is categorical, or as an earlier pass met words in it
    first_word : first cell that is no number, with its line or row
    first_missing : line or row of the first missing value
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
    dates: DateSurvey = field(default_factory=DateSurvey)

    def add(self, block, cells):
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
        low = values.min()
        high = values.max()
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
            if len(together) == self.numbers <= _DISTINCT:
                self.values = together
            else:
                self.values = None

    def _add_words(self, block, cells):
        if self.first_word is None:
            strange = np.array([number_of(word) is None for word in cells.words], dtype=bool)
            rows = np.flatnonzero(np.append(strange, False)[cells.codes])
            if len(rows):
                self.first_word = cells.words[cells.codes[rows[0]]], block.number(int(rows[0]))
        self.dates.add(cells.words)
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
        """True if numbers stand beside words, and the column is not declared as words."""
        return (
            not self.categorical
            and self.first_word is not None
            and bool(self.numbers or any(number_of(word) is not None for word in self.words))
        )

    @property
    def rows(self):
        return sum(self.words.values())

    @property
    def whole_and_different(self):
        """True if every row has another whole number, and there are many rows."""
        return self.whole and self.numbers > _FEW_ROWS and self.values is not None


class _Notes(NamedTuple):
    """Notices on a table, {reason: columns left out} and what was done, and warnings, doubts."""

    left_out: dict
    done: list
    doubts: list


def survey_table(table: Table, roles: ColumnRoles) -> Survey:
    """The `Survey` of a training table, in one pass, or two where numbers turn into words.

    One notice says which columns are left out, as they are constant, or different in every row, and
    how words and missing values are taken; warnings say what may be a mistake.  Raises `DataError`
    for missing values where the roles say so, and for rows without a class.
    """
    where = resolve_roles(table, roles)
    words = {*where.categorical, *where.orders}
    columns = {at: _Column(table.names[at], at in words, at in words) for at in where.features}
    label = _Column(table.names[where.label], True, True)
    rows = _read(table, {where.label: label, **columns})
    mixed = [at for at, column in columns.items() if column.mixed]
    again = {at: _Column(columns[at].name, False, True) for at in mixed if columns[at].numbers}
    if again:  # the numbers of blocks without a word are words too
        _read(table, again)
        columns.update(again)
    for at, column in columns.items():
        if column.first_word is not None and not column.categorical:
            _refuse_mistaken(table, column)
            _refuse_odd_dates(table, column, at)
    classes, _ = _classes(table, label, roles.classes)
    _refuse_class_names(table, label, where.label)
    is_default = roles.missing is None
    notes = _Notes(defaultdict(list), [], [])
    lower = Counter(map(str.lower, classes))
    if same := [name for name in classes if lower[name.lower()] > 1]:
        notes.doubts.append(f"classes {listed_names(same)} differ in case alone")
    if is_default:
        roles = replace(
            roles,
            missing="indicator" if any(column.missing for column in columns.values()) else "error",
        )
    made = {
        at: _recipe_of(table, column, roles, notes, where.orders.get(at))
        for at, column in columns.items()
    }
    used = {at: column for at, column in made.items() if column is not None}
    if notes.left_out:
        notes.done.insert(
            0,
            "left out: "
            + ", ".join(f"{listed_names(names)} ({why})" for why, names in notes.left_out.items()),
        )
    if not used:
        raise DataError(
            "; ".join(["no column is left to be a feature", *notes.done]), file=table.file
        )
    for column in (columns[at] for at in mixed if at in used):
        word, number = column.first_word
        notes.doubts.append(
            f"column {_quoted(column.name)} has words beside numbers, first {_quoted(word)} in "
            f"{table.counted} {number}, and all are taken as words (`blanks` names words that "
            "mean a missing value)"
        )
    gaps = [columns[at] for at in used if columns[at].missing]
    if gaps and roles.missing == "error":
        raise row_error(
            table,
            min(column.first_missing for column in gaps),
            (
                f'{_missing_cells(gaps)}, the first here: `missing="median"`, mean, indicator or '
                "value:X fills them, `ignored` leaves columns out"
            ),
        )
    if gaps and is_default:
        notes.done.append(
            f"{_missing_cells(gaps)} of {rows} rows: an indicator feature for each "
            "column marks them (`missing`)"
        )
    recipe = TableRecipe(
        tuple(used.values()),
        label.name,
        classes,
        tuple(table.names[at] for at in where.ids),
        None if where.weight is None else table.names[where.weight],
        roles.missing,
        one_line(os.path.basename(table.file)),
        tuple(sorted(table.blanks)),
        None if where.group is None else table.names[where.group],
    )
    if size_of_names(recipe.columns) > MOST_LETTERS:
        raise DataError(
            "the names of the features, of column and word, are too long: expected "
            "shorter names of columns",
            file=table.file,
        )
    twice, count = Counter(recipe.features).most_common(1)[0]
    if count > 1:
        raise DataError(
            f"two features would be named {_quoted(twice)}: expected columns and words that differ",
            file=table.file,
        )
    if notes.done:  # not before an error
        table.warn("; ".join(notes.done), AgfmcNotice)
    for doubt in notes.doubts:
        table.warn(doubt)
    return Survey(recipe, rows, where)


def survey_classes(table: Table, roles: ColumnRoles) -> tuple[tuple[str, ...], dict[int, int]]:
    """(Names of the classes, {class: rows}) of a training table, of which one column is read."""
    label = resolve_roles(table, roles).label
    column = _Column(table.names[label], True, True)
    _read(table, {label: column})
    names = _classes(table, column, roles.classes)
    _refuse_class_names(table, column, label)
    return names


def _read(table, columns):
    rows = 0
    for block in table.blocks(
        {at: "words" if column.as_words else "either" for at, column in columns.items()}
    ):
        for at, column in columns.items():
            column.add(block, block[at])
        rows += block.rows
    return rows


def _classes(table, label, given):
    """(names of the classes, {class: rows}) of the column of the label; given: names, or None."""
    name = _quoted(label.name)
    seen = label.words
    if label.missing:
        several = f" in {label.missing} rows, the first here" * (label.missing > 1)
        raise row_error(
            table,
            label.first_missing,
            f"column {name} has no class{several}: expected a class in every row of training data",
        )
    k = len(seen)
    if (
        label.endless
        or k > _MOST_CLASSES
        or k > _FEW_ROWS
        and 2 * k > label.rows
        or given is None
        and _is_quantity(seen, label.rows)
    ):
        raise DataError(
            f"{'more than ' * label.endless}{k} different values in column {name} look "
            "like a continuous quantity or an identifier, not like classes: `label` "
            "names another column, and of a quantity (.dat) float_to_class makes "
            "classes",
            file=table.file,
        )
    if given is None:
        classes = tuple(ordered_words(seen))
    else:
        classes = tuple(map(plain_word, given))
    for word in seen:
        if word not in classes:
            raise DataError(
                f"column {name} has the class {_quoted(word)}, which `classes` does "
                f"not name: {listed_names(classes)}",
                file=table.file,
            )
    for word in classes:
        if word not in seen:
            raise DataError(
                f"no row is of class {_quoted(word)}, which `classes` names: "
                f"column {name} has {listed_names(sorted(seen))}",
                file=table.file,
            )
    if len(set(classes)) < len(classes):
        raise UsageError("`classes` names a class twice")
    return classes, {at: seen[word] for at, word in enumerate(classes)}


def _is_quantity(words, rows):
    """True if many numbers stand in few rows each that have fractions, or, still more, gaps."""
    k = len(words)
    if _FEW_ROWS < k and rows < 10 * k:
        values = list(map(number_of, words))
    else:
        values = [None]
    if None in values:
        return False
    return (
        any(value % 1 for value in values) or k > _MANY_CLASSES and max(values) - min(values) >= k
    )


def _recipe_of(table, column, roles, notes, order):
    if roles.missing.startswith("value:"):
        filled = roles.missing.removeprefix("value:")
    else:
        filled = None
    indicator = roles.missing == "indicator" and column.missing > 0
    shows_missing = indicator or column.missing > 0 and filled is not None  # missing values
    name = _quoted(column.name)
    if order is not None:
        if filled is not None and plain_word(filled) in order:
            filled = str(order.index(plain_word(filled)))
        return ColumnRecipe(
            column.name,
            None,
            None if roles.missing in ("error", "keep") else _number_to_fill(table, column, filled),
            indicator,
            order=order,
        )
    if column.words and not column.categorical and (date := column.dates.recipe()):
        notes.done.append(f"column {name} has {date.described}")
        return ColumnRecipe(
            column.name,
            None,
            None if roles.missing in ("error", "keep") else _number_to_fill(table, column, filled),
            indicator,
            date,
        )
    if column.words:
        if not column.categorical and (
            column.dates.is_ambiguous or all(map(_SHORT_YEAR.fullmatch, column.words))
        ):
            notes.doubts.append(
                f"column {name} looks like dates whose order is not clear: dates "
                "are read in the form 2024-05-31"
            )
        return _recipe_of_words(table, column, roles, filled, (indicator, shows_missing), notes)
    if not column.numbers:
        notes.left_out["empty"].append(column.name)
    elif column.low == column.high and not shows_missing:
        notes.left_out["constant"].append(column.name)
    elif (
        column.whole
        and column.ascending
        and column.numbers > _FEW_ROWS
        or column.name == ROW
        and column.whole_and_different
    ):
        notes.left_out["numbers of the rows"].append(column.name)
    else:
        _note_odd_numbers(notes.doubts, name, column)
        fill = _number_to_fill(table, column, filled)
        return ColumnRecipe(
            column.name, None, None if roles.missing in ("error", "keep") else fill, indicator
        )
    return None


def _recipe_of_words(table, column, roles, filled, missing, notes):
    """As `_recipe_of`, of a column of words; filled: in place of missing ones, or None."""
    indicator, shows_missing = missing
    name = _quoted(column.name)
    different = len(column.words)
    if different == 1 and not shows_missing:
        notes.left_out["constant"].append(column.name)
        return None
    if different > max(_FEW_ROWS, 0.9 * column.rows) and (column.endless or not column.categorical):
        notes.left_out[
            "a different value in nearly every row"
            + ("; `categorical` keeps it, `ids` copies it to answers" * (not column.endless))
        ].append(column.name)
        return None
    words, other = _with_rare_words(column, roles.min_words)
    if other is not None and len(words) == 1 and not shows_missing:
        notes.left_out[f"no word in {roles.min_words or _RARE} rows or more"].append(column.name)
        return None
    if column.endless or len(words) > _MOST_WORDS and not column.categorical:
        raise DataError(
            f"column {name} has {'more than ' * column.endless}{len(words)} different "
            "words, of which each would be a feature: `ignored` leaves the column out"
            + ", `categorical` makes the features"
            * (not column.endless),
            file=table.file,
        )
    if other is not None:
        rare = different - len(words) + (_OTHER not in column.words)
        notes.done.append(
            f"{rare} of {different} words of column {name}, in fewer than "
            f"{roles.min_words or _RARE} rows each, share the feature '{_OTHER}' "
            "(`min_words`)"
        )
    elif different >= _MANY_WORDS and not column.categorical:
        notes.done.append(
            f"each of the {different} words of column {name} is a feature "
            "(`ignored` leaves the column out; `group` names it if the rows of a word "
            "are alike)"
        )
    counts, words, fill = words, set(words), None
    if filled is not None:
        fill = plain_word(filled)
        words |= {fill} if shows_missing else set()
        if fill not in words:
            fill = None
    elif roles.missing in ("mean", "median") or roles.missing == "indicator" and not indicator:
        fill = min(counts, key=lambda word: (-counts[word], word))
    return ColumnRecipe(column.name, tuple(ordered_words(words)), fill, indicator, other=other)


def _with_rare_words(column, least):
    """({word: rows}, rare ones under one word; that word, or None where there are none)."""
    if least is None:
        many = len(column.words) >= _MANY_WORDS and not column.categorical
        if many:
            least = _RARE
        else:
            least = 1
    frequent = {word: rows for word, rows in column.words.items() if rows >= least}
    rare = column.rows - sum(frequent.values())
    if not rare or column.endless:
        return column.words, None
    return {**frequent, _OTHER: frequent.get(_OTHER, 0) + rare}, _OTHER


def _note_odd_numbers(doubts, name, column):
    if column.whole_and_different or column.whole and IDENTIFIER.search(column.name):
        if column.whole_and_different:
            what = "has another whole number in every row"
        else:
            what = "has whole numbers, and is named as identifiers are"
        doubts.append(
            f"column {name} {what}: if it is an identifier, and not a measurement, "
            "`ignored` or `ids` leaves it out"
        )
    if column.merged and (steps := _steps(column.low, column.high)) < _STEPS:
        doubts.append(
            f"column {name} goes from {column.low:.12g} to {column.high:.12g}, where "
            f"single precision has {steps + 1:.0f} numbers, and different cells "
            f"become equal: subtract a constant, as {column.low:.12g}, from it"
        )


def _number_to_fill(table, column, filled):
    if filled is None:
        fill = np.nan
    else:
        fill = number_of(filled)
    if fill is not None and abs(fill) > LARGEST:
        raise UsageError(f'`missing="value:{filled}"` is more than single precision holds')
    if fill is None and column.missing:
        raise DataError(
            f"column {_quoted(column.name)} holds numbers, and "
            f'`missing="value:{one_line(filled)}"` would fill it with a word: expected a number, '
            "mean, median or indicator",
            file=table.file,
        )
    return fill


def _steps(low, high):
    """The steps of single precision, as wide as at the larger end, from one number to another."""
    with np.errstate(over="ignore", invalid="ignore"):
        step = float(np.spacing(np.float32(max(abs(low), abs(high)))))
    if step < np.inf:
        return (high - low) / step
    return np.inf


def ordered_words(words) -> list[str]:
    """Words in sorted order, or, where all are numbers, in the order of their values."""
    values = {word: number_of(word) for word in words}
    if None in values.values():
        return sorted(words)
    return sorted(words, key=lambda word: (values[word], word))


def _refuse_mistaken(table, column):
    values = {word: number_of(word) for word in column.words}
    strange = {word: column.words[word] for word, value in values.items() if value is None}
    if any(value % 1 for value in values.values() if value):
        share = _MEASURED
    else:
        share = _FEW_WORDS
    few = sum(strange.values()) < share * column.rows
    commas = {
        word: rows
        for word, rows in strange.items()
        if number_of(word.replace(",", ".", 1)) is not None
    }
    marked = sum(rows for word, rows in strange.items() if _MARKED.fullmatch(word))
    word, number = column.first_word
    (word,) = with_points([word], table.decimal)  # as it stands there
    if few:
        elsewhere = ", as in most rows,"
    else:
        elsewhere = ""
    text = no_number(one_line(column.name), one_line(word), elsewhere)
    if (
        few
        and len(values) - len(strange) > _FEW_ROWS
        or len(commas) == len(strange)
        or 2 * sum(commas.values()) > column.rows
    ):
        raise row_error(table, number, f"{text} ({_WAYS})")
    if 2 * marked > column.rows and len(strange) > _FEW_ROWS:
        raise row_error(
            table, number, f"{text}: remove units, percent signs and marks of thousands ({_WAYS})"
        )


def _refuse_odd_dates(table, column, position):
    order, odd = odd_words(column.words)
    _refuse_words(
        table,
        position,
        odd,
        lambda word: (
            f"expected {expected(order)}, in column {_quoted(column.name)}, "
            f"as in other rows, found {_quoted(word)} ({_WAYS})"
        ),
    )


def _refuse_class_names(table, column, position):
    _refuse_words(
        table,
        position,
        {word for word in column.words if name_fault(word)},
        lambda word: (
            f"column {_quoted(column.name)} has the class {_quoted(word)}, "
            f"which cannot be a name: {name_fault(plain_word(word))}"
        ),
    )


def _refuse_words(table, position, words, message_of):
    """`DataError` with message_of(cell) for the first row that has one of the `words`."""
    for block in table.blocks({position: "words"}) if words else ():
        cells = block[position]
        is_wrong = np.array([word in words for word in map(plain_word, cells.words)] + [False])
        if is_wrong[cells.codes].any():
            row = int(np.argmax(is_wrong[cells.codes]))
            raise block.error(row, message_of(cells.words[cells.codes[row]]))


def _missing_cells(columns):
    count = sum(column.missing for column in columns)
    shown = first_words([f"{_quoted(column.name)} ({column.missing})" for column in columns])
    return f"{count} missing value{'s' * (count > 1)} in column{'s' * (len(columns) > 1)} {shown}"
