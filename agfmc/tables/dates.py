"""Columns of dates and times: recognised in training, and made numbers.

A date is written with its year first, as in ISO 8601 (2024-05-31, 2024/05/31), or last, with the
day or the month first (31.05.2024, 05/31/2024).  A time may follow a blank or a T: 17:45 or
17:45:30, with a fraction of the second, Z or an offset to UTC, which is subtracted.  All cells of a
column have one order; a column that may have two, such as one of 01/02/2024 alone, stays a column
of words.

A time of day is 9:05, 21:30:10 or 9:05 pm.  A duration is 36:05:10, with days before it as Python
and pandas write them, or P1DT12H as in ISO 8601; a column of both is one of times of day.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal, TYPE_CHECKING

from ..core.rows import optional_field

if TYPE_CHECKING:
    import numpy as np

_TIME = r"(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?:Z|([+-])(\d\d):?(\d\d))?)?"
_ORDERS = {
    "year first": (re.compile(rf"(\d{{4}})([-/.])(\d\d?)\2(\d\d?){_TIME}", re.ASCII), (1, 3, 4)),
    "day first": (re.compile(rf"(\d\d?)([-/.])(\d\d?)\2(\d{{4}}){_TIME}", re.ASCII), (4, 3, 1)),
    "month first": (re.compile(rf"(\d\d?)([-/.])(\d\d?)\2(\d{{4}}){_TIME}", re.ASCII), (4, 1, 3)),
}
_CLOCK = re.compile(r"(\d\d?):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?: ?([aApP])\.?[mM]\.?)?", re.ASCII)
_LENGTH = re.compile(
    r"(?:(-?\d{1,6}) days?,? \+?)?(\d{1,9}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)"
    r"|P(?=.)(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,9})?)S)?)?",
    re.ASCII,
)
_CLOCKS = {"time of day": 1440.0, "duration": 86400.0}  # what the numbers count, in a day
_EPOCH = date(1970, 1, 1).toordinal()
PERIODS = {"hour": 1.0, "weekday": 7.0, "day of the year": 365.2425}  # days
_SEASONS = 300  # days from which on the day of the year is more than another count of days


def day_number(word: str, order: str) -> float | None:
    """The days from 1970, or from midnight, to a date or time; None if it is none."""
    if order == "time of day":
        return _time_of_day(word)
    if order == "duration":
        match = _LENGTH.fullmatch(word)
        if match is None:
            return None
        of_clock, of_iso = match.groups()[:4], match.groups()[4:]
        days, hours, minutes, seconds = (float(a or b or 0) for a, b in zip(of_clock, of_iso))
        return days + (hours * 3600 + minutes * 60 + seconds) / 86400
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


def _time_of_day(word):
    match = _CLOCK.fullmatch(word)
    if match is None:
        return None
    hour, minute, second = int(match[1]), int(match[2]), float(match[3] or 0)
    half = (match[4] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    if hour > 23 or minute > 59 or second >= 60:
        return None
    return (hour * 3600 + minute * 60 + second) / 86400


def odd_words(words: Collection[str]) -> tuple[str, set[str]]:
    """The most frequent order, and the words that are no dates in it, if most words are dates."""
    orders = (*_ORDERS, *_CLOCKS)
    odd = {order: {word for word in words if day_number(word, order) is None} for order in orders}
    order = min(odd, key=lambda order: len(odd[order]))
    if 2 * len(set.intersection(*odd.values())) < len(words):
        return order, odd[order]
    return order, set()


def expected(order: str) -> str:
    """What a cell of a column in that order is, for messages."""
    if order in _CLOCKS:
        return f"a {order}"
    return f"a date, {order}"


class DateSurvey:
    """The orders in which all words of a column are dates, and what varies in them."""

    def __init__(self):
        self._days = {order: (math.inf, -math.inf) for order in (*_ORDERS, *_CLOCKS)}
        self._weekdays = {order: set() for order in self._days}
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
        return len(self._days.keys() & _ORDERS) > 1

    def recipe(self) -> DateRecipe | None:
        """The `DateRecipe` of the column, None where it does not hold different dates."""
        order = next(iter(self._days), None)
        if order is None or self.is_ambiguous:
            return None
        low, high = self._days[order]
        if not low < high:
            return None
        if order == "duration":
            return DateRecipe(order, 0, ())
        if order == "time of day":
            return DateRecipe(order, 0, ("hour",))
        varies = {
            "hour": len(self._times) > 1,
            "weekday": len(self._weekdays[order]) > 1,
            "day of the year": high - low > _SEASONS,
        }
        cycles = tuple(cycle for cycle, is_there in varies.items() if is_there)
        return DateRecipe(order, math.floor(low), cycles, math.floor(high))


@dataclass(frozen=True)
class DateRecipe:
    """The features of a column of dates or times.

    Attributes
    ----------
    order : order of year, month and day, or what a time is
    first : day of training that is 0, counted from 1970; 0 for times
    cycles : cycles that vary, each as a sine and a cosine
    last : last day of training, or None for times, and where that is not known
    """

    order: Literal["year first", "day first", "month first", "time of day", "duration"]
    first: Annotated[int, range(-719_162, 2_932_897)]
    cycles: tuple[Literal["hour", "weekday", "day of the year"], ...]
    last: Annotated[int, range(-719_162, 2_932_897)] | None = optional_field()

    @property
    def kind(self) -> str:
        """Date or time."""
        return "time" if self.order in _CLOCKS else "date"

    @property
    def described(self) -> str:
        """What the column has, and its features, for messages."""
        if self.order == "duration":
            return "durations: its feature is the number of seconds"
        if self.order == "time of day":
            text = "times of day: its features are the minutes since midnight"
        else:
            text = f"dates, {self.order}: its features are the number of days"
        if self.cycles:
            text += f", and {', '.join(self.cycles)} as sine and cosine"
        return text

    def features(self, name: str) -> tuple[str, ...]:
        """The names of the features of a column with that name."""
        return name, *(
            f"{name}: {part} of the {cycle}" for cycle in self.cycles for part in ("sine", "cosine")
        )

    @property
    def years(self) -> str:
        """The years of training, in words."""
        return f"{_year(self.first)} to {_year(self.last)}"

    @property
    def limits(self) -> tuple[float, float]:
        """The least and the greatest first feature in the years of training."""
        if self.last is None:
            return -math.inf, math.inf
        zero = self.first + _EPOCH
        low = date(_year(self.first), 1, 1).toordinal() - zero
        high = date(_year(self.last), 12, 31).toordinal() + 1 - zero
        return low, math.nextafter(high, -math.inf)

    def text(self, days: float) -> str:
        """The date, and the time where times vary, of the first feature; "" for NaN."""
        if days != days:
            return ""
        if self.order == "time of day":
            return f"{round(days) // 60}:{round(days) % 60:02}"
        if self.order == "duration":
            return f"{round(days) // 3600}:{round(days) // 60 % 60:02}:{round(days) % 60:02}"
        minutes = round((days + self.first) * 1440)
        day = date.fromordinal(minutes // 1440 + _EPOCH).isoformat()
        if "hour" in self.cycles:
            return f"{day} {minutes % 1440 // 60:02}:{minutes % 60:02}"
        return day

    def values(self, words: Iterable[str]) -> np.ndarray:
        """The features (w, f) of words; NaN for those that are no dates.

        A year that comes first is never ambiguous: such dates, as frames have them, are taken
        beside those in the order of the training table.
        """
        import numpy as np

        numbers = []
        for word in words:
            day = day_number(word, self.order)
            if day is None and self.order not in _CLOCKS:
                day = day_number(word, "year first")
            numbers.append(day)
        days = np.array(numbers, dtype=np.float64)  # None becomes NaN
        columns = [(days - self.first) * _CLOCKS.get(self.order, 1)]
        for cycle in self.cycles:
            # days since 1970-01-01, a Thursday; weeks begin on Monday
            angle = 2 * np.pi * (days + 3 * (cycle == "weekday")) / PERIODS[cycle]
            columns += [np.sin(angle), np.cos(angle)]
        return np.column_stack(columns)


def _year(day):
    return date.fromordinal(day + _EPOCH).year
