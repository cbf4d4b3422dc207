"""Coding matrices as arrays and as text, and measures of how good a code is.

A coding matrix is (m, k): a row for each of m binary classifiers, a column for each of k
classes, as in a control file.  scikit-learn's `code_book_` (n_classes, n_estimators) and the
matrices of Dietterich and Bakiri are its transpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ..core.errors import ControlError, ModelError
from .tree import LazySequence, MAX_CELLS

_CELLS = 1 << 22  # distances in memory at once
_ENTRIES = {"-1": -1, "0": 0, "1": 1}
_NUMBER = re.compile(r"[-+]?[0-9.]+")


def rows_to_matrix(rows: Sequence, k: int) -> np.ndarray:
    """Matrix (m, k) of int8 with -1 for the left, +1 for the right, 0 elsewhere.

    Raises `ModelError` for one of more than `MAX_CELLS` entries.
    """
    if len(rows) * k > MAX_CELLS:
        raise ModelError(
            f"a coding matrix of {len(rows)} rows for {k} classes is too large: it "
            f"may have {MAX_CELLS} entries at most"
        )
    matrix = np.zeros((len(rows), k), dtype=np.int8)
    for i, (left, right) in enumerate(rows):
        matrix[i, list(left)] = -1
        matrix[i, list(right)] = 1
    return matrix


def matrix_to_rows(matrix: np.ndarray) -> LazySequence:
    """The pairs (left, right) of class positions of a matrix, each made when it is needed."""
    return LazySequence(_sides, matrix)


def _sides(row):
    return tuple(np.flatnonzero(row < 0).tolist()), tuple(np.flatnonzero(row > 0).tolist())


def columns_are_orthogonal(matrix: np.ndarray) -> bool:
    """Return True if A^T A = m I for a matrix A (m, k) of -1, 0, +1: a strict orthogonal code."""
    m, k = matrix.shape
    a = matrix.astype(np.float64)  # exact: the sums are below 2^53
    return m >= k and np.array_equal(a.T @ a, m * np.eye(k))


def format_matrix(rows: Sequence, k: int) -> list[str]:
    """One line of text per row, entries `%2d` with a blank between.

    Raises `ModelError` for more than `MAX_CELLS` entries.
    """
    return [" ".join(f"{a:2d}" for a in row.tolist()) for row in rows_to_matrix(rows, k)]


def parse_matrix(text: str, file: str) -> list[list[int]] | None:
    """The rows of a coding matrix in text, as `format_matrix` prints them; None for other text.

    The numbers of a row have blanks or commas between them, and `#` begins a comment. Raises
    `ControlError` with the line for what is not -1, 0 or 1, and for rows of different lengths.
    """
    rows: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        if not rows and not all(map(_NUMBER.fullmatch, words)):
            return None
        row = [_ENTRIES.get(word.lstrip("+")) for word in words]
        if None in row:
            wrong = words[row.index(None)]
            raise ControlError(
                f"expected -1, 0 or 1 in a coding matrix, found '{wrong[:20]}'",
                file=file,
                line=number,
            )
        if rows and len(row) != len(rows[0]):
            raise ControlError(
                f"the row has {len(row)} numbers, the first one {len(rows[0])}: expected one for each "
                "class",
                file=file,
                line=number,
            )
        rows.append(row)
    return rows or None


def code_rank(rows: Sequence, k: int) -> int:
    """Rank of [A; 1^T]: k where the code determines all probabilities."""
    return int(np.linalg.matrix_rank(np.vstack([rows_to_matrix(rows, k), np.ones(k)])))


def smallest_distances(rows: Sequence, k: int) -> tuple[float | None, float | None]:
    """(row distance, column distance): the smallest `distances` of each between any two.

    A row and its complement are the same classifier, so between rows u and v it is the smaller of
    the distances to v and to -v.  With fewer than two rows the row distance is None.
    """
    matrix = rows_to_matrix(rows, k)
    between_rows, between_columns = (
        min((float(part.min()) for part in parts), default=None)
        for parts in (distances(matrix, opposite=True), distances(matrix.T))
    )
    return between_rows, between_columns


def distances(vectors: np.ndarray, opposite: bool = False) -> Iterator[np.ndarray]:
    """Yield the distances of each two of the vectors (n, d) of -1, 0 and +1, in blocks.

    The distance of u and v is sum |u - v| / 2, for strict codes the number of differing entries;
    with `opposite` that of u to v or to -v, whichever is smaller.
    """
    vectors = vectors.astype(np.float64)
    size = np.abs(vectors)
    entries = size.sum(axis=1)
    step = max(1, _CELLS // len(vectors))
    for start in range(0, len(vectors) - 1, step):
        some = slice(start, start + step)
        product = vectors[some] @ vectors[start:].T
        both = size[some] @ size[start:].T
        if opposite:
            product = np.abs(product)
        apart = (entries[some, None] + entries[start:] - both - product) / 2
        yield apart[np.triu(np.ones(apart.shape, dtype=bool), 1)]


def positions(bits: int) -> tuple[int, ...]:
    """Tuple of the bits that are set, ascending."""
    return tuple(j for j, bit in enumerate(bin(bits)[:1:-1]) if bit == "1")


def joins_all(rows: np.ndarray) -> bool:
    """Return True if the rows (m, k), as edges between the classes in them, connect all classes."""
    reached = np.arange(rows.shape[1]) == 0
    while True:
        further = reached | (rows[(rows[:, reached] != 0).any(axis=1)] != 0).any(axis=0)
        if (further == reached).all():
            return bool(reached.all())
        reached = further
