"""Names of classes that are intervals of a continuous quantity: `LOW..HIGH~MEAN`.

The class holds the values from LOW up to, but without, HIGH; MEAN is that of its values.  The
first class may lack LOW and the last one HIGH where no value tells how far they reach, and a
class without values has no `~MEAN`.  There is no blank in such a name, so that it can stand for
the label in text, and it is no number, which labels in text could be mistaken for.
"""

import re
from typing import NamedTuple

import numpy as np

__all__ = ["Limits", "limits_in", "names_of_limits"]

_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_NAME = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?(?:~({_NUMBER}))?")
_MEAN = 1e-4  # of the width of a class: what it matters where in it the mean is


class Limits(NamedTuple):
    """An interval of a quantity, and the mean of its values: NaN where one is not known."""

    low: float
    high: float
    mean: float


def limits_in(name):
    """The `Limits` that a name of a class tells, or None."""
    found = _NAME.fullmatch(name)
    if found is None or found[1] is found[2] is None:
        return None
    limits = Limits(*(np.nan if word is None else float(word) for word in found.groups()))
    return None if np.isinf(limits).any() or limits.low > limits.high else limits


def names_of_limits(low, high, mean):
    """Names of classes, ascending, with limits low, high (k,) and means (k,), NaN where unknown.

    Each number has as many digits as it takes to be told from the next float32, which is what
    the values of a quantity are: the limits in the names part them as those given.
    """
    texts = [_limit(value) for value in [*low, high[-1]]]
    if any(not float(a) < float(b) for a, b in zip(texts[1:-2], texts[2:-1])):
        texts = [_plain(value) for value in [*low, high[-1]]]  # closer than any values
    names = [f"{a}..{b}" for a, b in zip(texts, texts[1:])]
    return tuple(name if np.isnan(value) else f"{name}~{_typical(value, a, b)}"
                 for name, value, a, b in zip(names, mean, low, high))


def _limit(value):
    """The shortest number above the same float32 numbers, none else, as `value`."""
    if np.isnan(value):
        return ""
    with np.errstate(over="ignore"):
        after = np.float32(value)
        if float(after) < value:
            after = np.nextafter(after, np.float32(np.inf))
        before = np.nextafter(after, np.float32(-np.inf))
    return _shortest(value, lambda number: float(before) < number <= float(after))


def _typical(mean, low, high):
    """The shortest number between the limits that is the mean for all that matters."""
    near = max(_MEAN * (high - low), 1e-6 * abs(mean))
    return _shortest(mean, lambda number: abs(number - mean) <= near
                     and (low <= number <= high or low == high))


def _shortest(value, fits):
    for digits in range(1, 17):
        number = float(f"{value:.{digits}g}")
        if fits(number):
            return _plain(number)
    return _plain(value)


def _plain(value):
    return "" if np.isnan(value) else repr(float(value)).removesuffix(".0")

