"""Coding matrices as arrays and as text, and measures of how good a code is.

A coding matrix is (m, k): a row for each of m binary classifiers, a column for each of k
classes, as in a control file.  scikit-learn's `code_book_` (n_classes, n_estimators) and the
matrices of Dietterich and Bakiri are its transpose.

A *signed row* is a whole row of +1, -1 and 0 in two Python integers, the bit masks (support,
negative): bit j of `support` is set where entry j is not 0, bit j of `negative` where it is -1,
which is the left side.  Integers of any length make products and comparisons of rows of a thousand
entries cheap without numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from ..core.errors import ModelError
from .tree import LazySequence, MAX_CELLS

if TYPE_CHECKING:
    import numpy as np

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
    """Return True if A^T A = m I for a matrix A (m, k) of -1, 0, +1: a strict orthogonal code."""
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
    table = [[0] * k for _ in rows]
    for entries, sides in zip(table, rows):
        for side, sign in zip(sides, (-1, 1)):
            for j in side:
                entries[j] = sign
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
    between_columns = min((doubled_distance(u, v) / 2
                           for u, v in combinations(columns(masks, k), 2)),
                          default=None)
    return between_rows, between_columns


def mask(indices: Iterable[int]) -> int:
    """Integer with the given bits set."""
    total = 0
    for index in indices:
        total |= 1 << index
    return total


def positions(bits: int) -> tuple[int, ...]:
    """Tuple of the bits that are set, ascending."""
    return tuple(j for j, bit in enumerate(bin(bits)[:1:-1]) if bit == "1")


def row(signed_row: tuple[int, int]) -> tuple:
    """The pair (left, right) of class positions of a signed row."""
    support, negative = signed_row
    return positions(negative), positions(support ^ negative)


def rows(signed_rows: Sequence) -> LazySequence:
    """The pairs of many signed rows, each made when it is needed."""
    return LazySequence(row, signed_rows)


def signed(left: Iterable[int], right: Iterable[int]) -> tuple[int, int]:
    """The signed row of a pair (left, right) of class positions."""
    negative = mask(left)
    return negative | mask(right), negative


def strict(negatives: Sequence[int]) -> list[tuple[int, int]]:
    """The signed rows of a square matrix without 0."""
    return [((1 << len(negatives)) - 1, negative) for negative in negatives]


def columns(signed_rows: Sequence, k: int) -> list[tuple[int, int]]:
    """The columns as signed rows; bit i of the masks is row m - 1 - i."""
    supports, negatives = ("".join(f"{bits:0{k}b}" for bits in masks)
                           for masks in zip(*signed_rows))
    return [(int(supports[j::k], 2), int(negatives[j::k], 2)) for j in range(k)]


def doubled_distance(u: tuple[int, int], v: tuple[int, int]) -> int:
    """Twice the distance of u and v, sum |u - v|."""
    both = u[0] & v[0]
    return (u[0] ^ v[0]).bit_count() + 2 * (both & (u[1] ^ v[1])).bit_count()


def apart_or_opposite(u: tuple[int, int], v: tuple[int, int]) -> int:
    """Twice the distance of u to v or to -v, whichever is smaller."""
    both = u[0] & v[0]
    opposite = (both & (u[1] ^ v[1])).bit_count()
    return (u[0] ^ v[0]).bit_count() + 2 * min(opposite, both.bit_count() - opposite)


def spread(bits: int, step: int) -> int:
    """Bit j moved to bit j * step."""
    return int(("0" * (step - 1)).join(bin(bits)[2:]), 2)


def kronecker(outer: Sequence, inner: Sequence) -> list[tuple[int, int]]:
    """The Kronecker product of two square matrices of signed rows."""
    size = len(inner)
    ones, copies = (1 << size) - 1, spread((1 << len(outer)) - 1, size)  # repeats a mask
    rows = []
    for outer_support, outer_negative in outer:
        places, turned = spread(outer_support, size), spread(outer_negative, size) * ones
        for support, negative in inner:
            filled = support * places
            rows.append((filled, (negative * copies ^ turned) & filled))
    return rows


def rotated(bits: int, size: int, shift: int) -> int:
    """Bit j moved to bit (j + shift) mod size."""
    return (bits << shift | bits >> (size - shift)) & ((1 << size) - 1)


def joins_all(supports: Iterable[int], everything: int) -> bool:
    """Return True if the supports, as edges of many ends, connect all bits of `everything`."""
    reached = 1
    waiting = list(supports)
    while reached != everything:
        rest = []
        for support in waiting:
            if support & reached:
                reached |= support
            else:
                rest.append(support)
        if len(rest) == len(waiting):
            return False
        waiting = rest
    return True
