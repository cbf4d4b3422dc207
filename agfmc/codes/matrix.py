"""Coding matrices as arrays and as text, and measures of how good a code is.

A coding matrix is (m, k): a row for each of m binary classifiers, a column for each of k
classes, as in a control file.  scikit-learn's `code_book_` (n_classes, n_estimators) and the
matrices of Dietterich and Bakiri are its transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ..control.tree import MAX_CELLS
from ..errors import ModelError
from .bits import apart, apart_or_opposite, columns, signed

if TYPE_CHECKING:
    import numpy as np

__all__ = ["code_rank", "columns_are_orthogonal", "format_matrix", "rows_to_matrix",
           "smallest_distances"]

PRIME = 2 ** 61 - 1
LARGEST_EXACT = 64


def rows_to_matrix(rows: Sequence, k: int) -> np.ndarray:
    """Matrix (m, k) of int8 with -1 for the left, +1 for the right, 0 elsewhere.

    Raises `ModelError` for one of more than `MAX_CELLS` entries.
    """
    import numpy as np

    _require_room(rows, k)
    matrix = np.zeros((len(rows), k), dtype=np.int8)
    for i, (left, right) in enumerate(rows):
        matrix[i, list(left)] = -1
        matrix[i, list(right)] = 1
    return matrix


def _require_room(rows, k):
    if len(rows) * k > MAX_CELLS:
        raise ModelError(f"a coding matrix of {len(rows)} rows for {k} classes is too large: it "
                         f"may have {MAX_CELLS} entries at most")


def columns_are_orthogonal(matrix: np.ndarray) -> bool:
    """True where A^T A = m I for a matrix A (m, k) of -1, 0 and +1: a strict orthogonal code."""
    import numpy as np

    m, k = matrix.shape
    a = matrix.astype(np.float64)  # exact: the sums are below 2^53
    return m >= k and np.array_equal(a.T @ a, m * np.eye(k))


def format_matrix(rows: Sequence, k: int) -> list[str]:
    """One line of text per row, entries `%2d` with a blank between.

    Raises `ModelError` for more than `MAX_CELLS` entries.
    """
    _require_room(rows, k)
    return [" ".join(f"{a:2d}" for a in entries) for entries in _entries(rows, k)]


def _entries(rows, k):
    table = []
    for left, right in rows:
        entries = [0] * k
        for j in left:
            entries[j] = -1
        for j in right:
            entries[j] = 1
        table.append(entries)
    return table


def code_rank(rows: Sequence, k: int) -> int:
    """Rank of [A; 1^T]: k where the code determines all probabilities.

    Up to 64 classes by elimination modulo the prime 2^61 - 1, above by singular values in numpy.
    """
    if k > LARGEST_EXACT:
        import numpy as np

        table = np.ones((len(rows) + 1, k))
        table[:-1] = rows_to_matrix(rows, k)
        return int(np.linalg.matrix_rank(table))
    table = [*_entries(rows, k), [1] * k]
    rank = 0
    while table and table[0]:
        pivot = next((entries for entries in table if entries[0]), None)
        if pivot is None:
            table = [entries[1:] for entries in table]
            continue
        table.remove(pivot)
        scale = pow(pivot[0], -1, PRIME)
        pivot = [a * scale % PRIME for a in pivot]
        table = [
            [(a - entries[0] * b) % PRIME for a, b in zip(entries[1:], pivot[1:], strict=True)]
            if entries[0] else entries[1:]
            for entries in table
        ]
        rank += 1
    return rank


def smallest_distances(rows: Sequence, k: int) -> tuple[float | None, float | None]:
    """(row distance, column distance): the smallest of each between any two.

    The distance of u and v is sum |u - v| / 2, for strict codes the number of
    differing entries.  A row and its complement are the same classifier, so
    between rows u and v it is the smaller of the distances to v and to -v.
    With fewer than two rows the row distance is None.
    """
    masks = [signed(left, right) for left, right in rows]
    between_rows = min((apart_or_opposite(u, v) / 2 for u, v in combinations(masks, 2)),
                       default=None)
    between_columns = min((apart(u, v) / 2 for u, v in combinations(columns(masks, k), 2)),
                          default=None)
    return between_rows, between_columns
