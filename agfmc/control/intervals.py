"""Names of classes that are intervals of a continuous quantity: `LOW..HIGH~MEAN`.

The class holds the values from LOW up to, but without, HIGH; MEAN is that of its values.  The
first class may lack LOW and the last one HIGH where no value says how far they reach, and a
class without values has no `~MEAN`.  There is no blank in such a name, so that it can stand for
the label in text, and it is no number, which labels in text could be mistaken for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

_NUMBER = r"[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_NAME = re.compile(rf"({_NUMBER})?\.\.({_NUMBER})?(?:~({_NUMBER}))?")
_MEAN = 1e-4  # of the width of a class: what it matters where in it the mean is


class Limits(NamedTuple):
    """An interval of a quantity, and the mean of its values: NaN where one is not known."""

    low: float
    high: float
    mean: float


def limits_in(name):
    """The `Limits` that a name of a class gives, or None."""
    match = _NAME.fullmatch(name)
    if match is None or match[1] is match[2] is None:
        return None
    limits = Limits(*(math.nan if word is None else float(word) for word in match.groups()))
    if any(map(math.isinf, limits)) or limits.low > limits.high:
        return None
    return limits


def differing(names: Mapping[int, str], others: Mapping[int, str]) -> list[int]:
    """Labels, ascending, of the classes {label: name} that have other names in `others`.

    Limits are the same classes where the thresholds between them are: means, and how far the
    first and the last class reach, are those of the data that they come from.
    """
    different = sorted(label for label in names if others.get(label, names[label]) != names[label])
    if not different:
        return []
    one, other = (
        {label: limits for label, name in each.items() if (limits := limits_in(name)) is not None}
        for each in (names, others)
    )
    if any(label not in one or label not in other for label in different):
        return different
    low = [{label: limits.low for label, limits in each.items()} for each in (one, other)]
    high = [{label: -limits.high for label, limits in each.items()} for each in (one, other)]
    return [
        label
        for label in different
        if not (_one_threshold(label, *low) and _one_threshold(label, *high))
    ]


def _one_threshold(label, one, other):
    """Return True if a class {label: lower limit} may begin at the same threshold in both.

    That of the first class is no threshold, but the least value that was seen.
    """
    first, other_first = (
        label == min(lows, key=lambda key: -math.inf if math.isnan(lows[key]) else lows[key])
        for lows in (one, other)
    )
    a = one[label]
    b = other[label]
    return a == b or first and other_first or first and not a < b or other_first and not b < a


def names_of_limits(low, high, mean):
    """Names of classes, ascending, with limits low, high (k,) and means (k,), NaN where unknown.

    Each number has as many digits as it takes to differ from the next float32, which is what
    the values of a quantity are: the limits in the names part them as those given.
    """
    texts = [_limit(value) for value in [*low, high[-1]]]
    if any(not float(a) < float(b) for a, b in zip(texts[1:-2], texts[2:-1])):
        texts = [_plain(value) for value in [*low, high[-1]]]  # closer than any values
    names = [f"{a}..{b}" for a, b in zip(texts, texts[1:])]
    return tuple(
        name if math.isnan(value) else f"{name}~{_typical(value, a, b)}"
        for name, value, a, b in zip(names, mean, low, high)
    )


def _limit(value):
    """The shortest number above the same float32 numbers, none else, as `value`."""
    import numpy as np

    if math.isnan(value):
        return ""
    with np.errstate(over="ignore"):
        after = np.float32(value)
        if float(after) < value:
            after = np.nextafter(after, np.float32(np.inf))
        before = np.nextafter(after, np.float32(-np.inf))
    return _shortest(value, lambda number: float(before) < number <= float(after))


def _typical(mean, low, high):
    near = max(_MEAN * (high - low), 1e-6 * abs(mean))
    return _shortest(
        mean, lambda number: abs(number - mean) <= near and (low <= number <= high or low == high)
    )


def _shortest(value, fits):
    for digits in range(1, 17):
        number = float(f"{value:.{digits}g}")
        if fits(number):
            return _plain(number)
    return _plain(value)


def _plain(value):
    if math.isnan(value):
        return ""
    return repr(float(value)).removesuffix(".0")
