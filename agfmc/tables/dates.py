"""Columns of dates and times: recognised in training, and made numbers.

A date is written with its year first, as in ISO 8601 (2024-05-31, 2024/05/31), or last, with the
day or the month first (31.05.2024, 05/31/2024).  A time may follow a blank or a T: 17:45 or
17:45:30, with a fraction of the second, Z or an offset to UTC, which is subtracted.  All cells of a
column have one order; a column that may have two, such as one of 01/02/2024 alone, stays a column
of words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_TIME = r"(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?:Z|([+-])(\d\d):?(\d\d))?)?"
_ORDERS = {
    "year first": (re.compile(rf"(\d{{4}})([-/.])(\d\d?)\2(\d\d?){_TIME}", re.ASCII), (1, 3, 4)),
    "day first": (re.compile(rf"(\d\d?)([-/.])(\d\d?)\2(\d{{4}}){_TIME}", re.ASCII), (4, 3, 1)),
    "month first": (re.compile(rf"(\d\d?)([-/.])(\d\d?)\2(\d{{4}}){_TIME}", re.ASCII), (4, 1, 3)),
}
_EPOCH = date(1970, 1, 1).toordinal()
_PERIODS = {"hour": 1.0, "weekday": 7.0}  # days


def day_number(word: str, order: str) -> float | None:
    """The days from 1970 to a date, with its time as a fraction; None if it is none."""
    pattern, groups = _ORDERS[order]
    match = pattern.fullmatch(word)
    if match is None:
        return None
    hour, minute, second, sign, *offset = match.groups()[4:]
    minutes = int(hour or 0) * 60 + int(minute or 0) + float(second or 0) / 60
    if minutes >= 1440 or int(minute or 0) > 59 or float(second or 0) >= 60:
        return None
    if sign:
        minutes -= (int(offset[0]) * 60 + int(offset[1])) * (1 if sign == "+" else -1)
    try:
        day = date(*(int(match[group]) for group in groups))
    except ValueError:
        return None
    return day.toordinal() - _EPOCH + minutes / 1440


def odd_words(words: Collection[str]) -> tuple[str, set[str]]:
    """The most frequent order, and the words that are no dates in it, if most words are dates."""
    odd = {order: {word for word in words if day_number(word, order) is None} for order in _ORDERS}
    order = min(odd, key=lambda order: len(odd[order]))
    return order, odd[order] if 2 * len(set.intersection(*odd.values())) < len(words) else set()


class DateSurvey:
    """The orders in which all words of a column are dates, and what varies in them."""

    def __init__(self):
        self._days = {order: (math.inf, -math.inf) for order in _ORDERS}
        self._weekdays = {order: set() for order in _ORDERS}
        self._times = set()  # of the day, two at most

    def add(self, words: Iterable[str]) -> None:
        """Take more words of the column."""
        for word in words if self._days else ():
            for order in list(self._days):
                day = day_number(word, order)
                if day is None:
                    del self._days[order]
                    continue
                low, high = self._days[order]
                self._days[order] = min(low, day), max(high, day)
                self._weekdays[order].add(math.floor(day) % 7)
                if len(self._times) < 2:
                    self._times.add(day % 1)

    @property
    def is_ambiguous(self) -> bool:
        """True if all words are dates in several orders."""
        return len(self._days) > 1

    def recipe(self) -> DateRecipe | None:
        """The `DateRecipe` of the column, None where it does not hold different dates."""
        if len(self._days) != 1:
            return None
        ((order, (low, high)),) = self._days.items()
        if not low < high:
            return None
        cycles = ("hour",) * (len(self._times) > 1) + ("weekday",) * (
            len(self._weekdays[order]) > 1
        )
        return DateRecipe(order, math.floor(low), cycles)


@dataclass(frozen=True)
class DateRecipe:
    """The features of a column of dates.

    Attributes
    ----------
    order : order of year, month and day
    first : day of training that is 0, counted from 1970
    cycles : cycles that vary, each as a sine and a cosine
    """

    order: Literal["year first", "day first", "month first"]
    first: Annotated[int, range(-800_000, 3_000_000)]
    cycles: tuple[Literal["hour", "weekday"], ...]

    def features(self, name: str) -> tuple[str, ...]:
        """The names of the features of a column with that name."""
        return name, *(
            f"{name}: {part} of the {cycle}" for cycle in self.cycles for part in ("sine", "cosine")
        )

    def text(self, days: float) -> str:
        """The date, and the time where times vary, of a number of days; "" for NaN."""
        if days != days:
            return ""
        minutes = round((days + self.first) * 1440)
        day = date.fromordinal(minutes // 1440 + _EPOCH).isoformat()
        if "hour" in self.cycles:
            time = f" {minutes % 1440 // 60:02}:{minutes % 60:02}"
        else:
            time = ""
        return day + time

    def values(self, words: Iterable[str]) -> np.ndarray:
        """The features (w, f) of words; NaN for those that are no dates.

        A year that comes first is never ambiguous: such dates, as frames have them, are taken
        beside those in the order of the training table.
        """
        import numpy as np

        orders = dict.fromkeys([self.order, "year first"])
        days = np.array(
            [
                next(
                    (day for order in orders if (day := day_number(word, order)) is not None),
                    np.nan,
                )
                for word in words
            ],
            dtype=np.float64,
        )
        # days since 1970-01-01, a Thursday; weeks begin on Monday
        angles = [
            2 * np.pi * (days + 3 * (cycle == "weekday")) / _PERIODS[cycle] for cycle in self.cycles
        ]
        return np.column_stack(
            [
                days - self.first,
                *(part for angle in angles for part in (np.sin(angle), np.cos(angle))),
            ]
        )
