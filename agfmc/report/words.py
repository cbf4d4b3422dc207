"""Numbers and names as the text of a page."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from ..core.text import clean

LONGEST = 40  # characters of a name that are shown
_SMALL = 5e-5  # what four digits behind the point do not show
WHOLE = 400  # of it on request: a page may name it a thousand times
_BLANKS = re.compile("[ \t\n]+")  # those that keep words together stay


def cut(words: str, longest: int = LONGEST) -> str:
    """The clean text in one line, its middle left out where it is too long: names of one kind
    often differ at the end."""
    if len(words) > 8 * longest:
        words = f"{words[: 4 * longest]}\u2026{words[-4 * longest :]}"
    words = _BLANKS.sub(" ", clean(words)).strip(" ")
    if len(words) <= longest:
        return words
    end = longest // 3
    return f"{words[: longest - 1 - end].rstrip()}\u2026{words[len(words) - end :].lstrip()}"


def whole_name(words: str, longest: int = LONGEST) -> str:
    """The longer text behind a name that is cut, or "" where nothing is left out."""
    if cut(words, longest) == words:
        return ""
    return cut(words, WHOLE)


def class_name(names: Mapping[int, str], label: int) -> str:
    """The name of a class, or its label where it has none."""
    return names.get(label) or str(label)


def joined(names: Sequence[str], most: int = 8) -> str:
    """Names with commas between them, of many the first."""
    if len(names) > most:
        more = f", \u2026 ({len(names)})"
    else:
        more = ""
    return ", ".join(cut(name, 24) for name in names[:most]) + more


def number(value: float | None, digits: int = 4) -> str:
    """A number with so many digits behind the point, `-` for none; small ones with an exponent."""
    if value is None or value != value:
        return "\u2013"
    if isinstance(value, int):
        return count(value)
    if math.isinf(value):
        if value > 0:
            return "\u221e"
        return "\u2212\u221e"
    if value and (abs(value) < 0.5 * 10**-digits or abs(value) >= 1e7):
        return f"{value:.2e}".replace("-", "\u2212")
    return f"{value:.{digits}f}".replace("-", "\u2212")


def count(value: float) -> str:
    """A number of points, or a sum of weights; blanks divide long ones."""
    if isinstance(value, float) and value != int(value):
        words = f"{value:.2f}"
    else:
        words = f"{value:.0f}"
    if "." not in words and value >= 10_000:
        return f"{int(value):,}".replace(",", "\u202f")
    return words


def whole(value):
    """A number of points, which is a sum where points have weights, as a whole number if it is
    one but for its rounding."""
    if value is None or abs(value - round(value)) > 1e-9 * abs(value):
        return value
    return round(value)


def percent(share: float | None, digits: int = 1) -> str:
    """A share in percent."""
    if share is None or share != share:
        return "\u2013"
    return f"{100 * share:.{digits}f}\u202f%"


def interval(bounds: Sequence[float] | None, show=number) -> str:
    """An interval as text, "" for none; a small bound beside a larger one is 0.0000."""
    if not bounds:
        return ""
    if show is number and max(map(abs, bounds)) >= _SMALL:
        bounds = [0.0 if abs(bound) < _SMALL else bound for bound in bounds]
    return " to ".join(map(show, bounds))


def signed(value: float | None, digits: int = 4) -> str | None:
    """A difference with its sign, None for none."""
    if value is None:
        return None
    return "+" * (value > 0) + number(value, digits)


def plural(how_many: int, word: str, more: str = "s") -> str:
    """A number and what it counts."""
    return f"{count(how_many)} {word}{'' if how_many == 1 else more}"


def sort_key(value: float | Sequence[float]) -> str:
    """The number by which a cell is sorted, the lower end of an interval, as text; "" for none."""
    if isinstance(value, tuple):
        value = value[0]
    if value != value:
        return ""
    return f"{value:.9g}"
