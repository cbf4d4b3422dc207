"""Options of the direct classifiers as frozen data: parsed once, checked before any work."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..errors import UsageError
from ..numerals import numeral

__all__ = [
    "LogisticOptions",
    "NeighbourOptions",
    "parse_logistic_options",
    "parse_neighbour_options",
]


@dataclass(frozen=True)
class NeighbourOptions:
    """What can be told to k nearest neighbours: how many they are."""

    k: int = 11

    def canonical(self):
        """The settings that decide the result, in one fixed spelling."""
        return f"-k {self.k}"


@dataclass(frozen=True)
class LogisticOptions:
    """What can be told to multinomial logistic regression: the factor of |W|^2 / 2."""

    ridge: float = 1.0

    def canonical(self):
        """The settings that decide the result, in one fixed spelling."""
        return f"-r {self.ridge!r}"


def parse_neighbour_options(text, *, file=None, line=None, column=None):
    """Parse `text`, `-k N` and `-m METRIC` with libAGF's letters, into `NeighbourOptions`.

    The one metric is 0, Cartesian.  Raises `UsageError`, with the place given,
    for an unknown option and for a value out of its range.
    """
    fail = _failure(file, line, column)
    k = NeighbourOptions.k
    for option, word in _pairs(text, ("-k", "-m"), fail):
        value = _number(option, word, fail, whole=True)
        if option == "-m" and value != 0:
            raise fail(f"option -m: metric {word} is not supported: expected 0 (Cartesian)")
        if option == "-k":
            if value < 1:
                raise fail(f"option -k: {word} is out of range: expected 1 or more")
            k = value
    return NeighbourOptions(k)


def parse_logistic_options(text, *, file=None, line=None, column=None):
    """Parse `text`, `-r RIDGE`, into `LogisticOptions`.

    The ridge is more than 0: without it, classes that can be separated have no
    best weights.  Raises `UsageError`, with the place given, for an unknown
    option and for a value out of its range.
    """
    fail = _failure(file, line, column)
    ridge = LogisticOptions.ridge
    for option, word in _pairs(text, ("-r",), fail):
        ridge = _number(option, word, fail)
        if not 0 < ridge < math.inf:
            raise fail(f"option {option}: {word} is out of range: expected more than 0")
    return LogisticOptions(ridge)


def _failure(file, line, column):
    def fail(message):
        return UsageError(message, file=file, line=line, column=column)
    return fail


def _pairs(text, known, fail):
    """Yield (option, word after it)."""
    words = iter(text.split())
    for option in words:
        if option not in known:
            raise fail(f"unknown training option '{option}': expected one of " + " ".join(known))
        word = next(words, None)
        if word is None:
            raise fail(f"option {option}: expected a value after it")
        yield option, word


def _number(option, word, fail, *, whole=False):
    try:
        return numeral(word, whole)
    except ValueError:
        kind = "a whole number" if whole else "a number"
        raise fail(f"option {option}: expected {kind}, found '{word}'") from None
