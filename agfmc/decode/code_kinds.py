"""Kinds of coding matrices, recognised whatever the order and signs of the rows.

A coding matrix a (m, k) has a row for each binary classifier and a column for each
class: -1 and +1 for the classes on its two sides, 0 for those it leaves out.  It is
the transpose of the `code_book_` of scikit-learn's OutputCodeClassifier and of the
matrices of Dietterich and Bakiri (1995), which have a row for each class.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ..core.errors import ModelError

MAX_CLASSES = 2048
MAX_ENTRIES = 2**24  # one-vs-one of 322 classes


def check_dense(a: np.ndarray) -> None:
    """Raise `ModelError` where a (m, k) is too large for solving a dense system per point."""
    m, k = a.shape
    if k > MAX_CLASSES or m * k > MAX_ENTRIES:
        raise ModelError(
            f"a coding matrix of {m} rows for {k} classes is too large for this "
            f"decoder, which solves equations for each point: it takes {MAX_CLASSES} "
            f"classes and {MAX_ENTRIES} entries at most; votes (`method=vote`) take more"
        )


def determines(a: np.ndarray) -> bool:
    """Return True if [A; 1^T] has full rank: one p with sum p = 1 fits the code a (m, k) best.

    For a without zeros the least squares problem is then strictly convex, whatever r.
    """
    return bool(np.linalg.matrix_rank(np.vstack([a, np.ones(a.shape[1])])) == a.shape[1])


class PairTable:
    """Rows and sides of the pairs of classes in a one-vs-one code of k classes.

    k, m        numbers of classes and of binary classifiers
    low, high   (m,) the classes on the -1 and on the +1 side of each row
    row         (k, k) the row of each pair, the same either way round; -1 on the diagonal
    sign        (k, k) +1.0 where the first class of the pair is on the +1 side, -1.0 where
                it is on the -1 side, 0.0 on the diagonal
    """

    def __init__(self, low: np.ndarray, high: np.ndarray, k: int):
        self.m = len(low)
        self.k = k
        self.low, self.high = low, high
        self.row = np.full((k, k), -1, dtype=np.intp)
        self.row[low, high] = self.row[high, low] = np.arange(self.m)
        self.sign = np.zeros((k, k))
        self.sign[high, low] = 1.0
        self.sign[low, high] = -1.0

    def wins(self, first, second, r) -> np.ndarray:
        """Return True if the class first beats the class second, r being the value of their pair.

        The +1 side wins if r >= 0.  The three are broadcast against each other.
        """
        return (r >= 0) == (self.sign[first, second] > 0)

    def others(self, c: int) -> np.ndarray:
        """All classes but c, ascending."""
        return np.delete(np.arange(self.k), c)


def one_vs_one(a: np.ndarray) -> PairTable | None:
    """The `PairTable` of the code a (m, k), or None if a is not one-vs-one."""
    m, k = a.shape
    if m != k * (k - 1) // 2:
        return None
    if any((np.count_nonzero(side, axis=1) != 1).any() for side in (a < 0, a > 0)):
        return None
    low = np.argmin(a, axis=1)
    high = np.argmax(a, axis=1)
    names = np.minimum(low, high) * k + np.maximum(low, high)
    if len(set(names.tolist())) == m:
        return PairTable(low, high, k)
    return None


def one_vs_rest(a: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(rows, signs), both (k,), of the code a (m, k), or None if a is not one-vs-rest.

    They are the row that separates each class from all others, and the sign of the class there.
    With two classes both rows separate both; row j is then taken for class j, or
    the only row for both.
    """
    m, k = a.shape
    if not a.all() or k < 2 or m not in ((1, 2) if k == 2 else (k,)):
        return None
    if k == 2:
        if (a[:, 0] == a[:, 1]).any():
            return None
        rows = np.arange(2) % m
    else:
        side = np.where(np.count_nonzero(a > 0, axis=1) == 1, 1, -1)
        alone = a == side[:, None]
        if not ((alone.sum(axis=0) == 1).all() and (alone.sum(axis=1) == 1).all()):
            return None
        rows = np.argmax(alone, axis=0)
    return rows, a[rows, np.arange(k)].astype(float)


def rows_of_groups(rows: Sequence) -> Iterator[slice]:
    """Yield the slices of `rows`, pairs (left, right), that are one row of several groups each.

    These are three or more in a row, each with a group on its right and all others on its left.
    Any other row is a slice by itself.
    """
    start = 0
    while start < len(rows):
        classes = {*rows[start][0], *rows[start][1]}
        left = set(classes)
        stop = start
        while left and stop < len(rows) and {*rows[stop][0], *rows[stop][1]} == classes:
            if not left.issuperset(rows[stop][1]):
                break
            left.difference_update(rows[stop][1])
            stop += 1
        if left or stop < start + 3:
            stop = start + 1
        yield slice(start, stop)
        start = stop


def groups(a: np.ndarray) -> tuple[np.ndarray, list[slice]]:
    """The code a (m, k) and its `rows_of_groups`: any code, but order and signs of rows matter."""
    rows = [(np.flatnonzero(row < 0).tolist(), np.flatnonzero(row > 0).tolist()) for row in a]
    return a, list(rows_of_groups(rows))


# The word in the column `codes` of the table of methods: what recognises such a code.
KINDS = {
    "any": lambda a: a,
    "groups": groups,
    "one-vs-one": one_vs_one,
    "one-vs-rest": one_vs_rest,
}


def tree_splits(a: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]] | None:
    """(row, left, right) for each row of the code a (m, k), root first; None if a is no tree.

    left and right are the class indices below the -1 and the +1 branch.
    A tree over k classes has k - 1 rows; the root's row has no zeros, and each
    side of a row with more than one class is exactly the support of one other row.
    """
    m, k = a.shape
    if m != k - 1:
        return None
    by_support: dict[bytes, int] = {}
    for row in range(m):
        by_support.setdefault((a[row] != 0).tobytes(), row)
    splits = []
    todo = [np.ones(k, dtype=bool)]
    while todo:
        inside = todo.pop()
        if inside.tobytes() not in by_support:
            return None
        row = by_support.pop(inside.tobytes())
        left = a[row] < 0
        right = a[row] > 0
        if not left.any() or not right.any():
            return None
        splits.append((row, np.flatnonzero(left), np.flatnonzero(right)))
        todo.extend(side for side in (right, left) if np.count_nonzero(side) > 1)
    return splits


def balanced_scale(a: np.ndarray) -> float | None:
    """alpha if a (m, k) has no zeros and A^T A = alpha I + beta J, else None.

    |A p - r|^2 is then alpha |p - A^T r / alpha|^2 plus a constant wherever
    sum p = 1, so the solution is the projection of A^T r / alpha onto the
    simplex.  One-vs-rest (alpha = 4), orthogonal (m), reduced Hadamard (m + 1)
    and exhaustive (2^(k-1)) codes are of this kind.
    """
    m, k = a.shape
    if not a.all() or k < 2 or m < k - 1:  # with fewer rows A^T A has not the rank
        return None
    whole = a.astype(np.int64)
    gram = whole.T @ whole
    beta = gram[0, 1]
    alpha = gram[0, 0] - beta
    if alpha > 0 and np.array_equal(gram, alpha * np.eye(k, dtype=np.int64) + beta):
        return float(alpha)
    return None


def adjacent_order(a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(rows, signs, classes) that bring a (m, k) to adjacent form, or None.

    With them signs[i] * a[rows[i]][classes] is -1 for the first i + 1 classes
    and +1 for the others, i = 0..k-2.
    """
    m, k = a.shape
    if m != k - 1 or k < 2 or not a.all():
        return None
    # An end of the chain is alone on its side of some row.
    right = np.count_nonzero(a > 0, axis=1)
    alone = [
        int(np.flatnonzero(a[row] == (1 if right[row] == 1 else -1))[0])
        for row in range(m)
        if right[row] in (1, k - 1)
    ]
    if not alone:
        return None
    first = min(alone)
    signs = -a[:, first].astype(float)
    before = (a * signs[:, None]) < 0
    rows = np.argsort(np.count_nonzero(before, axis=1), kind="stable")
    # A class at position j is on the right in j of the rows.
    classes = np.argsort(np.count_nonzero(~before, axis=0), kind="stable")
    expected = np.arange(k) <= np.arange(m)[:, None]
    if not np.array_equal(before[rows][:, classes], expected):
        return None
    return rows, signs[rows], classes
