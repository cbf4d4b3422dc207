"""The best of many random codes: columns, and rows, far from each other.

What an error-correcting code needs (Dietterich and Bakiri, "Solving multiclass learning
problems via error-correcting output codes"): columns far apart, so that some wrong
classifiers do not turn one class into another, and rows neither alike nor complementary, so
that the classifiers err on different points.
"""

from __future__ import annotations

import random
from itertools import combinations

from .bits import signed
from .randomcode import checked_rows, determines, drawn_rows, random_code, sided

__all__ = ["improved_code"]


def improved_code(k, rows=None, strict=False, seed=1, draws=1):
    """The best of `draws` random codes: rows (left, right), as from `random_code`.

    The best has the largest smallest distance between two columns, then between two rows
    where a row and its complement are one; then the largest mean of each; then it was
    drawn first.  The distances are those of `matrix.smallest_distances`.

    Draw 0 is `random_code` with that seed; each other has a stream of its own, made
    of the seed and its number.  So the code of more draws is at least as good.  A draw
    that is not as good, or that determines less than its rows could, is passed over.
    Raises UsageError as `random_code`.
    """
    code = random_code(k, rows, strict, seed)
    rows, available = checked_rows(k, rows, strict)
    if rows == available:  # all there are, whatever is drawn
        return code
    best = _quality([signed(left, right) for left, right in code], k)
    for i in range(1, draws):
        generator = random.Random(f"{seed}:{i}")
        signed_rows = drawn_rows(generator, k, rows, strict, available)
        quality = _quality(signed_rows, k, best)
        if quality is not None and quality > best:
            turned = sided(generator, signed_rows)
            if determines(signed_rows, turned, k):
                code, best = turned, quality
    return code


def _quality(signed_rows, k, least=(0, 0)):
    """What a good code has most of, the weightiest first; None where it is below `least`.

    Smallest distance between columns and between rows, then their sums; all twofold,
    which makes them whole numbers.
    """
    columns = _smallest(_columns(signed_rows, k), _apart, least[0])
    if columns is None:
        return None
    rows = _smallest(signed_rows, _apart_or_opposite, least[1] if columns == least[0] else 0)
    if rows is None:
        return None
    return (columns, rows, _sum(_columns(signed_rows, k), _apart),
            _sum(signed_rows, _apart_or_opposite))


def _columns(signed_rows, k):
    """The columns as signed rows; bit i of the masks is row m - 1 - i."""
    supports, negatives = ("".join(f"{bits:0{k}b}" for bits in masks)
                           for masks in zip(*signed_rows))
    return [(int(supports[j::k], 2), int(negatives[j::k], 2)) for j in range(k)]


def _smallest(vectors, distance, least):
    """The smallest distance of any two, None where one is below `least`; without two, 0."""
    smallest = None
    for u, v in combinations(vectors, 2):
        far = distance(u, v)
        if smallest is None or far < smallest:
            if far < least:
                return None
            smallest = far
    return smallest or 0


def _sum(vectors, distance):
    return sum(distance(u, v) for u, v in combinations(vectors, 2))


def _apart(u, v):
    """Twice the distance of u and v."""
    both = u[0] & v[0]
    return (u[0] ^ v[0]).bit_count() + 2 * (both & (u[1] ^ v[1])).bit_count()


def _apart_or_opposite(u, v):
    """Twice the distance of u to v or to -v, whichever is smaller."""
    both = u[0] & v[0]
    opposite = (both & (u[1] ^ v[1])).bit_count()
    return (u[0] ^ v[0]).bit_count() + 2 * min(opposite, both.bit_count() - opposite)
