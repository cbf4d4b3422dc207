"""Training options as words: letters with values in their ranges, and weights of the sides."""

from __future__ import annotations

import math

from ..errors import UsageError
from ..numerals import numeral

__all__ = ["BORDERS", "LIBSVM", "scan"]

# Letters of libAGF's own trainer, class borders, and of svm-train that are not among them.
BORDERS = frozenset("-h -i -I -k -l -N -q -r -s -t -T -v -V -W".split())
LIBSVM = frozenset("-b -c -d -e -g -m -n -p -w".split())


def scan(text, known, flags=(), *, strange=None, file=None, line=None, column=None):
    """({field: value}, weights) of the options in `text`.

    known: {option: (field, smallest, largest, whole number, smallest excluded)}, field None
    where the value changes nothing;  flags: options without a value, for which field is the
    option itself;  strange: {option: words} to be added where that option is not known or has
    a value that cannot be.  weights: ((side, factor), ...) of -w0 and -w1, sides ascending.
    -q says nothing new.  Raises `UsageError`, with the place given, for an option that is not
    known and for a value out of its range.
    """

    def fail(message):
        if strange and option in strange:
            message += f"; {strange[option]}"
        return UsageError(message, file=file, line=line, column=column)

    def number(word, low, high, *, whole=False, open_low=False):
        try:
            value = numeral(word, whole)
        except ValueError:
            kind = "a whole number" if whole else "a number"
            raise fail(f"option {option}: expected {kind}, found '{word}'") from None
        if not low <= value <= high or open_low and value == low or not math.isfinite(value):
            raise fail(f"option {option}: {word} is out of range: expected "
                       + _range(low, high, open_low))
        return value

    values, weights = {}, {}
    words = text.split()
    position = 0
    while position < len(words):
        option = words[position]
        position += 1
        if option == "-q":
            continue
        if option in flags:
            values[option] = True
            continue
        if option not in known and not option.startswith("-w"):
            raise fail(f"unknown training option '{option}': expected one of "
                       + " ".join([*known, *flags, "-w0 -w1 -q"]))
        if position == len(words):
            quoted = f': "{option} 1", in one pair of quotes' if len(words) == 1 else ""
            raise fail(f"option {option}: expected a value after it{quoted}")
        word = words[position]
        position += 1
        if option in known:
            field, low, high, whole, open_low = known[option]
            value = number(word, low, high, whole=whole, open_low=open_low)
            if field is not None:
                values[field] = value
        elif option in ("-w0", "-w1"):
            weights[int(option[2:])] = number(word, 0, math.inf, open_low=True)
        else:
            raise fail(f"option {option}: weights are for the sides of the partition, "
                       "-w0 (left) and -w1 (right)")
    return values, tuple(sorted(weights.items()))


def _range(low, high, open_low):
    if high == math.inf:
        if low == -math.inf:
            return "a finite number"
        return f"more than {low}" if open_low else f"{low} or more"
    return f"{'more than ' if open_low else ''}{low} to {high:g}"
