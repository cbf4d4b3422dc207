"""One-vs-rest: the class whose classifier speaks up most for it."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError

__all__ = ["argmax", "argmax_raw", "find"]


def find(a):
    """(rows, signs), both (k,), if the code a (m, k) is one-vs-rest, else None.

    rows[j] is the row that separates class j from all others, and signs[j] the
    sign that class j has in it.  Rows may come in any order and with any sign.
    With two classes both rows separate both; row j is then taken for class j, or
    the only row for both.
    """
    a = np.asarray(a)
    m, k = a.shape
    if k == 2 and m == 1 and a.all() and a[0, 0] != a[0, 1]:
        return np.zeros(2, dtype=np.intp), a[0].astype(float)
    if m != k or k < 2 or not a.all():
        return None
    if k == 2:
        if (a[:, 0] == a[:, 1]).any():
            return None
        rows = np.arange(2)
    else:
        side = np.where(np.count_nonzero(a > 0, axis=1) == 1, 1, -1)
        alone = a == side[:, None]
        if not ((alone.sum(axis=0) == 1).all() and (alone.sum(axis=1) == 1).all()):
            return None
        rows = np.argmax(alone, axis=0)
    return rows, a[rows, np.arange(k)].astype(float)


def argmax(a):
    """Solver r (n, m) -> (n, k), each class's probability against the rest.

    (1 + r)/2 of the class's row, its sign turned so that + is the class; these
    do not sum to 1, and the largest wins.
    Raises UsageError if a (m, k) is not one-vs-rest.
    """
    turned = argmax_raw(a)
    return lambda r: (1.0 + turned(r)) / 2


def argmax_raw(a):
    """Solver g (n, m) -> (n, k): raw decision values, turned towards each class.

    g > 0 speaks for +1.  Raises UsageError if a (m, k) is not one-vs-rest.
    """
    found = find(a)
    if found is None:
        raise UsageError("this decoder needs a one-vs-rest configuration")
    rows, signs = found
    return lambda g: g[:, rows] * signs
