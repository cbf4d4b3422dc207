"""Orthogonal codes: strict coding matrices with A^T A = m I, for any number of classes."""

from __future__ import annotations

from itertools import count

from ..errors import UsageError
from .bits import rows
from .hadamard import hadamard, hadamard_order

__all__ = ["orthogonal"]


def orthogonal(k, reduced=False):
    """Rows of a strict code for k >= 4 classes with orthogonal columns.

    The first k columns of a Hadamard matrix of the smallest order m >= k that
    can be constructed, column 0 negated: m rows with A^T A = m I.  As m < 2k
    (every power of two is an order), and two rows of a Hadamard matrix agree in
    exactly m/2 columns, no two rows can be equal or complements.

    `reduced`: the first row is +1 and is dropped instead: m-1 rows with
    A^T A = m I - 1 1^T.  These cannot be constant, for the same reason.

    Raises UsageError for k < 4: two or three classes have only 1 or 3 different
    partitions, fewer than the 4 rows that orthogonal columns need.
    """
    if k < 2:
        raise UsageError(f"a code needs at least two classes, not {k}")
    if k < 4:
        partitions = "one partition" if k == 2 else "three partitions"
        raise UsageError(
            f"there is no orthogonal code for {k} classes: at least 4 rows would be needed, "
            f"and {k} classes have only {partitions}"
        )
    m = hadamard_order(k)
    everything = (1 << k) - 1
    matrix = [r & everything for r in hadamard(m)]
    signs = 0 if reduced else _signs(matrix, everything)
    return rows([(everything, r ^ signs) for r in matrix[1 if reduced else 0:]])


def _signs(rows, everything):
    """Columns to negate so that no row is constant.

    Column 0 alone unless a row forbids it.  m rows forbid at most 2 m of the
    2^k choices, and 2^k > 2 m, so the search ends.
    """
    forbidden = {r for r in rows} | {r ^ everything for r in rows}
    return next(signs for signs in count(1) if signs not in forbidden)
