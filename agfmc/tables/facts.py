"""Facts of the columns of a table, collected block by block."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .dates import DateSurvey
from .hints import numbers_the_rows
from .number_forms import FormSurvey, NumberForm
from .places import pair_numbers, PairSurvey
from .words import missing_cells, number_of, with_points, Words
from .types import plain_word

_TRACKED = 1 << 16  # different words of a column that are held in memory at most
_FEW_ROWS = 20  # in which all values may well be different
_DISTINCT = 1 << 20  # whole numbers that are compared with each other
_SENTINELS = (-9999.0, -999.0, -99.0, 99.0, 999.0, 9999.0)  # that mean a missing value
_LEAST_STEPS = 2048  # of single precision: in fewer, different numbers may become equal


@dataclass
class ColumnFacts:
    """What is seen of one column.

    Attributes
    ----------
    categorical : declared as words
    as_words : read as words, as it is categorical, or as an earlier pass met words in it
    form : the form of its numbers, by which words are read, or None
    decimal : mark of the numbers of the table
    numbers, missing : rows
    words : {word: rows}
    endless : so many words, all different, that they are not held any more
    first_missing : line or row of the first missing value
    first_strange : first word that is no plain number, with its line or row
    low, high, whole : of the numbers
    ascending, rising : each number is one more than the one before, or more
    is_index : the file says that it numbers the rows
    values : whole numbers that are all different, else None
    merged : single precision makes equal what differs
    sentinels : {number such as -999: rows}
    others : the least and greatest of the other numbers
    """

    name: str
    categorical: bool
    as_words: bool
    form: NumberForm | None = None
    decimal: str = "."
    numbers: int = 0
    missing: int = 0
    words: dict = field(default_factory=dict)
    endless: bool = False
    first_missing: int | None = None
    first_strange: tuple[str, int] | None = None
    low: float = np.inf
    high: float = -np.inf
    whole: bool = True
    ascending: bool = True
    rising: bool = True
    is_index: bool = False
    last: float | None = None
    values: np.ndarray | None = field(default_factory=lambda: np.empty(0))
    merged: bool = False
    sentinels: Counter = field(default_factory=Counter)
    others: tuple[float, float] = (np.inf, -np.inf)
    dates: DateSurvey = field(default_factory=DateSurvey)
    forms: FormSurvey = field(default_factory=FormSurvey)
    pairs: PairSurvey = field(default_factory=PairSurvey)

    def add(self, block, cells):
        """Take the cells of the column in one more block."""
        if isinstance(cells, Words) and self.form is not None:
            cells = self._formed_numbers(cells)
        is_missing = missing_cells(cells)
        if isinstance(cells, Words):
            self._add_words(block, cells)
        else:
            self._add_numbers(cells[~is_missing])
        if self.first_missing is None and is_missing.any():
            self.first_missing = block.number(int(np.argmax(is_missing)))
        self.missing += int(np.count_nonzero(is_missing))

    def _formed_numbers(self, cells):
        texts = with_points(cells.words, self.decimal)
        if self.form.serial:
            self.dates.add(self.form.dates(texts))
        return cells.spread(self.form.values(texts)[:, 0], np.nan)

    def _add_numbers(self, values):
        if not len(values):
            return
        self.numbers += len(values)
        low = values.min()
        high = values.max()
        self.low, self.high = min(self.low, low), max(self.high, high)
        self._count_sentinels(values, low, high)
        if not self.merged and float_steps(low, high) < _LEAST_STEPS:
            self.merged = len(np.unique(values)) > len(np.unique(values.astype(np.float32)))
        is_whole = (values == np.rint(values)) & np.isfinite(values)
        self.whole = self.whole and bool(is_whole.all())
        if not self.whole:
            self.values = None
            return
        steps = np.diff(values, prepend=values[0] - 1 if self.last is None else self.last)
        self.ascending &= bool(np.all(steps == 1))
        self.rising &= bool(np.all(steps > 0))
        self.last = values[-1]
        if self.values is not None:
            together = np.union1d(self.values, values)
            if len(together) == self.numbers <= _DISTINCT:
                self.values = together
            else:
                self.values = None

    def _count_sentinels(self, values, low, high):
        if low in _SENTINELS or high in _SENTINELS:
            is_sentinel = np.isin(values, _SENTINELS)
            self.sentinels.update(values[is_sentinel].tolist())
            values = values[~is_sentinel]
            low = values.min(initial=np.inf)
            high = values.max(initial=-np.inf)
        self.others = min(self.others[0], low), max(self.others[1], high)

    @property
    def far_sentinels(self) -> dict[float, int]:
        """{number such as -999: rows} of repeated ones that are far from all other numbers.

        Far is farther than all others are from each other.
        """
        low, high = self.others
        width = high - low
        return {
            number: rows
            for number, rows in sorted(self.sentinels.items())
            if rows > 1 and 0 < width and not low - width <= number <= high + width
        }

    def _add_words(self, block, cells):
        counts = np.bincount(cells.codes[cells.codes >= 0], minlength=len(cells.words)).tolist()
        present = {word: count for word, count in zip(cells.words, counts) if count}
        if self.first_strange is None:
            is_strange = cells.spread([number_of(word) is None for word in cells.words], False)
            if is_strange.any():
                row = int(np.argmax(is_strange))
                self.first_strange = cells.words[cells.codes[row]], block.number(row)
        if not self.categorical:
            self.dates.add(present)
            self.forms.add(with_points(present, self.decimal), present.values())
            self.pairs.add(present)
        if self.endless:
            return
        for word, count in present.items():
            word = plain_word(word)
            self.words[word] = self.words.get(word, 0) + count
        self.endless = len(self.words) > _TRACKED

    @property
    def is_mixed(self) -> bool:
        """True if numbers stand beside words, and the column is not declared as words."""
        return (
            not self.categorical
            and self.first_strange is not None
            and bool(self.numbers or any(number_of(word) is not None for word in self.words))
        )

    @property
    def rows(self) -> int:
        """Rows with a word."""
        return sum(self.words.values())

    @property
    def numbers_the_rows(self) -> bool:
        """True if it has the numbers of the rows, as programs write and name them."""
        if not self.whole:
            return False
        if self.ascending and self.numbers > _FEW_ROWS:
            return True
        return self.values is not None and numbers_the_rows(
            self.name, self.is_index, self.numbers, self.low, self.high, self.rising
        )

    @property
    def is_whole_and_different(self) -> bool:
        """True if every row has another whole number, and there are many rows."""
        return self.whole and self.numbers > _FEW_ROWS and self.values is not None


class PairFacts:
    """What is seen of the two numbers in the cells of a column of that name.

    Attributes
    ----------
    as_words : True, as its cells are read as words
    parts : `ColumnFacts` of each of the numbers
    """

    as_words = True

    def __init__(self, name: str):
        self.name = name
        self.parts = [ColumnFacts(f"{name} {number}", False, False) for number in (1, 2)]

    def add(self, block, cells):
        """Take the cells of the column in one more block."""
        numbers = cells.spread(pair_numbers(cells.words), [np.nan, np.nan])
        for part, values in zip(self.parts, numbers.T):
            part.add(block, values)

    @property
    def missing(self) -> int:
        """Rows without numbers."""
        return self.parts[0].missing

    @property
    def first_missing(self) -> int | None:
        """Line or row of the first of these."""
        return self.parts[0].first_missing


def float_steps(low: float, high: float) -> float:
    """The steps of single precision, as wide as at the larger end, from one number to another."""
    with np.errstate(over="ignore", invalid="ignore"):
        step = float(np.spacing(np.float32(max(abs(low), abs(high)))))
    if step < np.inf:
        return (high - low) / step
    return np.inf
