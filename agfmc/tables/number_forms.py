"""Forms of numbers: units, marks of thousands, decimal commas, limits, words for missing values.

A column whose cells are all numbers in one form, as 6.5 kg, 1.000,5 or <0,05, is a column of
numbers. Its recipe has the form, by which new cells are read.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal, NamedTuple, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

# Words for missing values that mean nothing else beside numbers.
_MISSING = re.compile(
    "k\\.? ?a\\.?|keine angabe|n\\.?a\\.?|#?n/a|nan|null|none|missing|[-\u2013\u2014.?]+",
    re.IGNORECASE,
)
_PLAIN_SIGNS = str.maketrans(  # blanks that do not break, another minus, an apostrophe
    {"\xa0": " ", "\u2007": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-", "\u2019": "'"}
)
_SYMBOLS = "%\u2030\xb0\xb5\u03bc$\u20ac\xa3\xa5\u2032\u2033"
_CELL = re.compile(
    rf"(?:(?P<limit>[<>\u2264\u2265])=? ?)?(?P<sign>[+-]?)"
    rf"(?P<before>[$\u20ac\xa3\xa5]|(?:EUR|USD|CHF|GBP)(?= ))? ?"
    rf"(?P<digits>\d(?:[\d., ']*\d)?[.,]?|[.,]\d+)(?P<exponent>[eE][+-]?\d+)?"
    rf"(?P<gap> ?)(?P<after>(?:[^\W\d_]|[{_SYMBOLS}])[^\s\d]{{0,11}}[23\xb2\xb3]?)?"
)
_LIMITS = {None: "", "<": "<", "\u2264": "<", ">": ">", "\u2265": ">"}
_MARKS = tuple(  # (mark of thousands, decimal mark)
    (thousands, decimal)
    for decimal in ".,"
    for thousands in ("", ",", ".", " ", "'")
    if thousands != decimal
)
_BITS = tuple(1 << bit for bit in range(len(_MARKS)))
_PLAIN = _BITS[_MARKS.index(("", "."))]
_ALL_MARKS = sum(_BITS)
_EITHER = _BITS[_MARKS.index((",", "."))] | _BITS[_MARKS.index((".", ","))]  # two meanings
_PATTERNS = tuple(
    re.compile(
        rf"(?:\d+|[1-9]\d{{0,2}}(?:{re.escape(thousands)}\d{{3}})+)?(?:{re.escape(decimal)}\d*)?"
        if thousands
        else rf"\d*(?:{re.escape(decimal)}\d*)?"
    )
    for thousands, decimal in _MARKS
)
# Glued to whole numbers only these letters are units: 12a may be the number of a house.
_METRIC = re.compile("[kcdm\xb5\u03bcu]?[gml]|m?mol|[kMG]?Hz|[hkM]?Pa|[kM]?Wh?|ms|min")
_PREFIXES = {"M": 6, "k": 3, "h": 2, "d": -1, "c": -2, "m": -3, "\xb5": -6, "\u03bc": -6, "u": -6}
_FEW_NUMBERS = 20  # that may be codes, or words beside them
_FEW_WORDS = 0.1  # of the cells of a column of numbers: a mistake, where they are fewer,
_MEASURED = 0.5  # or, where numbers have fractions, fewer than half
_FEW_UNITS = 5  # more are the second words of addresses and names
_SERIAL = (20_000, 80_000)  # days of spreadsheets, from 1954 to 2119
_SERIAL_ZERO = datetime(1899, 12, 30)
_NAMED_DATE = re.compile(r"(?i:(?:^|[\W_])(?:date|datum|fecha)(?:$|[\W_]))|[a-z]Dat(?:e|um)$")
_MOST_SHAPES = 1000  # of the cells of a column
_SIDES = {"<": "below", ">": "above"}


class Written(NamedTuple):
    """A number as a cell has it.

    Attributes
    ----------
    limit : "<" or ">" before a number that is a limit of what was measured, else ""
    unit : text before or behind the number, without blanks
    before : the unit stands before the number
    sure : the unit is none of the letters that may end a code, as in 12a
    text : sign, digits with their marks, and exponent
    marks : bit i is set where the digits have the marks i of `_MARKS`
    """

    limit: str
    unit: str
    before: bool
    sure: bool
    text: str
    marks: int


@dataclass(frozen=True)
class NumberForm:
    """The form of the numbers in a column.

    Attributes
    ----------
    unit : text before or behind each number, which is left out, or ""
    before : the unit stands before the numbers
    thousands, decimal : marks in the digits, the former "" for none
    blanks : words that are missing values
    limits : "<" and ">" as far as they occur, each of which is a feature
    serial : numbers are days of spreadsheets, which become dates
    """

    unit: Annotated[str, "[^\\s\\d\0\ud800-\udfff]?[^\\s\0\ud800-\udfff]{0,15}"] = ""
    before: bool = False
    thousands: Literal["", ",", ".", " ", "'"] = ""
    decimal: Literal[".", ","] = "."
    blanks: tuple[Annotated[str, "[^\0\ud800-\udfff]*"], ...] = ()
    limits: tuple[Literal["<", ">"], ...] = ()
    serial: bool = False

    def features(self, name: str) -> tuple[str, ...]:
        """The names of the features of a column with that name."""
        return name, *(f"{name} {_SIDES[limit]}" for limit in self.limits)

    def values(self, cells: Iterable[str]) -> np.ndarray:
        """The features (n, f) of cells; the number is NaN for missing ones, and inf for others
        that are not of this form."""
        import numpy as np

        rows = [self._features(cell) for cell in cells]
        return np.array(rows, dtype=np.float64).reshape(len(rows), 1 + len(self.limits))

    def _features(self, cell):
        none = [0.0] * len(self.limits)
        if cell in self.blanks:
            return [math.nan, *none]
        written = read_number(cell)
        if (
            written is None
            or (written.unit, written.before) != (self.unit, self.before)
            or written.limit not in ("", *self.limits)
        ):
            return [math.inf, *none]
        text = written.text.replace(self.thousands, "").replace(self.decimal, ".")
        if not written.marks & _BITS[_MARKS.index((self.thousands, self.decimal))]:
            # a number of a program beside those with commas
            if self.thousands or not written.marks & _PLAIN:
                return [math.inf, *none]
            text = written.text
        return [float(text), *(float(limit == written.limit) for limit in self.limits)]

    def cell(self, number: str, limit: str = "") -> str:
        """The cell that a number, as Python writes it, has in this form."""
        digits = number.replace(".", self.decimal).removeprefix("-")
        sign = number[: number.startswith("-")]
        if self.before:
            return f"{limit}{sign}{self.unit} {digits}"
        return f"{limit}{sign}{digits} {self.unit}".rstrip(" ")

    def dates(self, cells: Iterable[str]) -> list[str]:
        """The days of spreadsheets in cells as dates such as 2024-05-31 17:45; others stay."""
        texts = []
        for cell in cells:
            day = self._features(cell)[0]
            if is_serial(day):
                minutes = timedelta(minutes=round(1440 * day))
                cell = (_SERIAL_ZERO + minutes).isoformat(" ", "minutes")
            texts.append(cell)
        return texts

    @property
    def words(self) -> str:
        """The form in words, "" for plain numbers."""
        parts = []
        if self.unit:
            parts.append(f"unit {self.unit}")
        if self.thousands:
            parts.append(f"thousands 1{self.thousands}000")
        if self.decimal == ",":
            parts.append("decimal commas")
        if self.limits:
            parts.append(f"limits {' and '.join(self.limits)}")
        if self.serial:
            parts.append("days of a spreadsheet")
        if self.blanks:
            parts.append(f"missing: {', '.join(self.blanks)}")
        return "; ".join(parts)


def is_serial(value: float) -> bool:
    """True for a number that may be a day of a spreadsheet."""
    return _SERIAL[0] <= value <= _SERIAL[1]


def is_named_date(name: str) -> bool:
    """True for the name of a column that says that it holds dates."""
    return _NAMED_DATE.search(name) is not None


def is_missing(cell: str) -> bool:
    """True for a word that means a missing value where other cells are numbers."""
    return _MISSING.fullmatch(cell.translate(_PLAIN_SIGNS).strip(" ")) is not None


def read_number(cell: str) -> Written | None:
    """The number that a cell is in some form, None if it is none."""
    match = _CELL.fullmatch(cell.translate(_PLAIN_SIGNS).strip(" "))
    if match is None:
        return None
    digits = match["digits"]
    marks = _ALL_MARKS
    if not digits.isdigit():
        marks = sum(bit for bit, pattern in zip(_BITS, _PATTERNS) if pattern.fullmatch(digits))
    text = match["sign"] + digits + (match["exponent"] or "")
    before, after = match["before"] or "", match["after"] or ""
    if not marks or not text.isascii() or before and after:
        return None
    sure = bool(not after[:1].isalpha() or match["gap"] or _METRIC.fullmatch(after))
    return Written(_LIMITS[match["limit"]], before or after, bool(before), sure, text, marks)


class Fault(NamedTuple):
    """What is wrong with the numbers of a column.

    Attributes
    ----------
    is_wrong : cell -> True for those that are wrong
    text : what is wrong, and what helps, to be put behind such a cell
    """

    is_wrong: Callable[[str], bool]
    text: str


class FormSurvey:
    """The ways in which the cells of a column are written, and the form of all, if there is one."""

    def __init__(self):
        self._shapes = {}  # {`Written` without digits, or missing word, or None: [rows, example]}
        self._numbers = set()  # some different ones

    def add(self, cells: Iterable[str], counts: Iterable[int]) -> None:
        """Take cells, all different, each of which is in so many rows."""
        for cell, count in zip(cells, counts):
            written = read_number(cell)
            shape = None
            if written is not None:
                has_fraction = "." in written.text or "," in written.text
                shape = written._replace(text="." * has_fraction)
                if len(self._numbers) <= _FEW_NUMBERS:
                    self._numbers.add(written.text)
            elif is_missing(cell):
                shape = cell
            if shape not in self._shapes and len(self._shapes) >= _MOST_SHAPES:
                shape = None
            self._shapes.setdefault(shape, [0, cell])[0] += count

    def rows_of(self, part: str) -> int:
        """The number of rows with the limit "<" or ">", or with that word for a missing value."""
        return sum(
            rows
            for shape, (rows, _) in self._shapes.items()
            if part == shape or isinstance(shape, Written) and part == shape.limit
        )

    def form(self, decimal: str) -> NumberForm | None:
        """The form of all cells, where there is one; decimal: the mark of other columns."""
        numbers = self._written()
        units = {(shape.unit, shape.before) for shape in numbers}
        if None in self._shapes or len(units) != 1 or all(shape.limit for shape in numbers):
            return None
        marks = _common_marks(numbers)
        if marks == _EITHER:  # 1,877 beside 1.877
            return None
        are_codes = len(self._numbers) <= _FEW_NUMBERS and not all(map(_is_sure, numbers))
        if not marks or are_codes:
            return None
        possible = [pair for bit, pair in zip(_BITS, _MARKS) if marks & bit]
        thousands, decimal = min(possible, key=lambda pair: pair[1] != decimal)
        ((unit, before),) = units
        return NumberForm(
            unit,
            before,
            thousands,
            decimal,
            tuple(sorted(shape for shape in self._shapes if isinstance(shape, str))),
            tuple(sorted({shape.limit for shape in numbers} - {""})),
        )

    def _written(self):
        """{shape of a number: its rows}."""
        return {
            shape: rows for shape, (rows, _) in self._shapes.items() if isinstance(shape, Written)
        }

    def faults(self) -> list[Fault]:
        """All that is wrong in a column of numbers without a common form; none for one of words."""
        numbers = {shape: rows for shape, rows in self._written().items() if _is_sure(shape)}
        blanks = sum(rows for shape, (rows, _) in self._shapes.items() if isinstance(shape, str))
        total = sum(rows for rows, _ in self._shapes.values())
        strange = total - blanks - sum(numbers.values())
        are_many = len(self._numbers) > _FEW_NUMBERS
        has_fractions = any(shape.text for shape in numbers)
        faults = []
        if strange:
            share = _FEW_WORDS
            if has_fractions:
                share = _MEASURED
            marked = sum(rows for shape, rows in numbers.items() if shape.unit or shape.limit)
            if not are_many or strange >= share * total and 2 * marked <= total:
                return []
            faults.append(_STRANGE)
        by_unit: Counter = Counter()
        for shape, rows in numbers.items():
            by_unit[shape.unit] += rows
        if 1 < len(by_unit):
            if len(by_unit) > _FEW_UNITS or not (are_many or has_fractions):
                return faults
            faults.append(self._fault_of_units(by_unit))
        if numbers and _common_marks(numbers) in (0, _EITHER):
            faults.append(self._fault_of_marks(numbers))
        return faults

    def _fault_of_units(self, by_unit):
        most, second = sorted(by_unit, key=lambda unit: (-by_unit[unit], unit))[:2]
        example = self._cell_with(lambda shape: shape.unit == most)
        return Fault(
            lambda cell: (written := read_number(cell)) is not None and written.unit == second,
            f'is in another unit than "{example}"{_factor(most, second)}: write all numbers in one '
            f"unit; {WAYS}",
        )

    def _fault_of_marks(self, numbers):
        rows_of = {
            bit: sum(rows for shape, rows in numbers.items() if shape.marks & bit)
            for bit in _BITS
            if not bit & _common_marks(numbers)
        }
        usual = max(rows_of, key=rows_of.get)
        example = self._cell_with(lambda shape: shape.marks != _ALL_MARKS and shape.marks & usual)
        return Fault(
            lambda cell: (written := read_number(cell)) is not None and not written.marks & usual,
            f'has other marks in its digits than "{example}": write all numbers in one way; {WAYS}',
        )

    def _cell_with(self, is_wanted):
        return next(
            cell
            for shape, (_, cell) in self._shapes.items()
            if isinstance(shape, Written) and is_wanted(shape)
        )


WAYS = "`categorical` takes all cells as words, `ignored` leaves the column out"
_STRANGE = Fault(
    lambda cell: (
        not is_missing(cell) and ((written := read_number(cell)) is None or not _is_sure(written))
    ),
    f"is no number, as other cells are: `blanks` names words that mean a missing value, {WAYS}",
)


def _is_sure(written):
    """Letters behind a whole number may be the end of a code, as 12a."""
    return written.sure or "." in written.text or "," in written.text


def _common_marks(shapes):
    marks = _ALL_MARKS
    for shape in shapes:
        marks &= shape.marks
    return marks


def _factor(first, second):
    """ " (1 kg is 1000 g)" where two units differ by a known power of ten, else ""."""
    if {first, second} == {"", "%"}:
        return " (100 % are 1)"
    powers = {unit: _PREFIXES.get(unit[:-1], 0) for unit in (first, second)}
    bases = {unit[-1:] for unit in powers}
    known = all(len(unit) == 1 or unit[:-1] in _PREFIXES for unit in powers)
    if len(bases) != 1 or not known or not bases <= set("gmlLsWVAJN"):
        return ""
    small, large = sorted(powers, key=powers.get)
    return f" (1 {large} is {10 ** (powers[large] - powers[small])} {small})"
