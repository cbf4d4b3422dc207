"""Tokens of text to numbers, the plain decimals many at a time.

A decimal of at most 15 digits is a whole number that float64 holds, over a power of
ten that it holds too, so one division gives the float64 that is nearest (Clinger
1990).  Exponents, longer numbers and whatever is wrong are left to numpy.
"""

from __future__ import annotations

import numpy as np

from .textblocks import numbers

__all__ = ["values"]

TILE = 1 << 13
_DIGITS = 15
_LONGEST = _DIGITS + 2  # with sign and point
_POWERS = 10.0 ** np.arange(_LONGEST + 1)


def values(text, start, end, alone=False):
    """The numbers (t,) that the tokens text[start:end] are; None if one is not a number.

    text: bytes as uint8; start, end (t,); alone: text holds nothing but these tokens.
    None too for NaN, infinity and numbers beyond the range.
    """
    length = end - start
    plain = length <= _LONGEST
    found = np.empty(len(start))
    for first in range(0, len(start), TILE):
        part = slice(first, first + TILE)
        plain[part] &= _decimals(text, start[part], length[part], found[part])
        if alone and np.count_nonzero(plain[part]) * 8 < len(plain[part]) * 7:
            return numbers(text, len(start))  # long numbers, or with exponents
    others = np.flatnonzero(~plain)
    if len(others):
        rest = numbers(_joined(text, start[others], length[others]), len(others))
        if rest is None:
            return None
        found[others] = rest
    return found


def _joined(text, start, length):
    """The tokens with a blank behind each, as uint8."""
    stop = np.cumsum(length + 1)
    place = np.arange(stop[-1]) + np.repeat(start - (stop - length - 1), length + 1)
    letters = np.take(text, place, mode="clip")
    letters[stop - 1] = 32
    return letters


def _decimals(text, start, length, out):
    """Write numbers (t,) to `out`; -> which tokens (t,) are plain decimals."""
    width = min(int(length.max(initial=1)), _LONGEST)
    place = np.arange(width, dtype=np.uint8)[:, None]
    letters = np.empty((width, len(start)), np.uint8)
    for k in range(width):
        np.take(text, start + k, out=letters[k], mode="clip")
    size = np.minimum(length, 255).astype(np.uint8)
    inside = place < size
    digit = letters - np.uint8(48)
    is_digit = digit < 10
    is_digit &= inside
    point = letters == 46
    point &= inside
    minus = letters[0] == 45
    count = is_digit.sum(axis=0, dtype=np.uint8)
    points = point.sum(axis=0, dtype=np.uint8)
    signed = minus | (letters[0] == 43)
    good = (count > 0) & (count <= _DIGITS) & (points < 2) & (count + points + signed == size)
    digit *= is_digit
    step = is_digit * np.uint8(9)
    step += np.uint8(1)
    out[:] = digit[0]
    for k in range(1, width):
        out *= step[k]
        out += digit[k]
    # Digits behind the point.
    behind = (size - np.uint8(1) - (point * place).sum(axis=0, dtype=np.uint8)) * points
    out /= np.take(_POWERS, behind, mode="clip")
    np.negative(out, out=out, where=minus)
    return good
