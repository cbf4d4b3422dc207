"""Ternary orthogonal codes from weighing matrices.

A weighing matrix W(m, w) is m x m of -1, 0 and +1 with W^T W = w I, so with w
entries that are not 0 in each row and column.  Made here:

- Hadamard matrices, w = m;
- Paley's conference matrices, m = q+1, w = q, for odd prime powers q;
- circulants with m = q^2+q+1, w = q^2, for all prime powers q;
- Kronecker products W(m, w) x W(n, v) = W(m n, w v).
"""

import random
from collections.abc import Sequence
from functools import lru_cache, partial
from math import isqrt

import numpy as np

from ..control.matrix import joins_all, matrix_to_rows
from ..core.errors import UsageError
from .orthogonal import (
    circulant,
    conference,
    hadamard,
    is_constructible,
    powers,
    prime_power,
    signs_of,
)

LISTED = 30


def special(k: int, rows: int | None = None) -> Sequence:
    """Rows of a ternary code for k classes with A^T A = w I, in which every row has both signs.

    A is the first k columns of a weighing matrix W(m, w), m >= k as small as possible and at most
    2k, some columns negated, without the rows that are empty. All classes are connected through
    rows, no row is a duplicate or complement of another, and the rank is k.
    `rows` is w, where print_control takes the number of rows of other codes. By default the code
    has the fewest rows that one with zeros can have and of these the most entries, which keeps the
    classes farthest apart; where there is no such code (k = 4) it is the strict one.

    Raises `UsageError` for k < 4, where the entries of rows with two or three of them would
    contribute only negative terms to the products of different columns, which must sum to 0, and,
    with the possible values, for a w that gives no code.
    """
    if k < 4:
        raise UsageError(f"a code with orthogonal columns needs at least 4 classes, not {k}")
    if rows is None:
        for zeros in (True, False):
            for m in range(k, 2 * k + 1):
                for weight in sorted(_weights(m), reverse=True):
                    if (weight < m) == zeros and (code := _code(k, m, weight)):
                        return code
    code = _smallest_code(k, rows)
    if code is None:
        nearest = possible_weights(k, near=rows, most=LISTED)
        if len(nearest) < LISTED:
            few = ""
        else:
            few = "the nearest "
        raise UsageError(
            f"there is no special orthogonal code for {k} classes with {rows} non-zeros; "
            f"{few}possible: {' '.join(map(str, nearest))}"
        )
    return code


def possible_weights(k: int, near: float = 0, most: int | None = None) -> list[int]:
    """Ascending list of the w for which `special` has a code for k classes, `most` nearest ones."""
    candidates = set().union(*(_weights(m) for m in range(max(k, 4), 2 * k + 1)))
    weights = []
    for w in sorted(candidates, key=lambda weight: (abs(weight - near), weight)):
        if _smallest_code(k, w):
            weights.append(w)
            if len(weights) == most:
                break
    return sorted(weights)


# Which weighing matrices there are


@lru_cache(maxsize=None)
def _weights(m):
    weights = set(_basic(m))
    for a in range(2, int(m**0.5) + 1):
        if m % a == 0:
            weights |= {u * v for u in _weights(a) for v in _weights(m // a)}
    return frozenset(weights)


def _basic(m):
    """{w: a function that makes a W(m, w)} of those that are no Kronecker product."""
    makers = {}
    q = isqrt(m)
    if is_constructible(m):
        makers[m] = partial(hadamard, m)
    if m > 2 and m % 2 == 0 and prime_power(m - 1):
        makers[m - 1] = partial(conference, m - 1)
    if q > 1 and q * q + q + 1 == m and prime_power(q):
        makers[q * q] = partial(_circulant, q)
    return makers


def _matrices(m, w):
    """Yield the W(m, w) that can be made, as arrays of int8."""
    if w in (makers := _basic(m)):
        yield makers[w]()
        if w == m:
            return
    for a in range(2, m // 2 + 1):
        if m % a:
            continue
        for u in sorted(_weights(a)):
            if w % u == 0 and w // u in _weights(m // a):
                yield np.kron(next(_matrices(a, u)), next(_matrices(m // a, w // u)))


def _circulant(q):
    """Circulant W(q^2+q+1, q^2) for a prime power q.

    Let D be the exponents mod v = q^2+q+1 of the points on a line of the
    projective plane of order q (Singer's difference set).  The number of ways
    to write an exponent as a sum of two of D is 0, 1 or 2, because -D is an
    oval; that number less 1 is the first row.  In the group ring, with
    D D* = q + J: (D^2 - J)(D^2 - J)* = (q + J)^2 - 2 (q+1)^2 J + v J = q^2.
    """
    p, e = prime_power(q)
    v = q * q + q + 1
    elements = powers(p, 3 * e)
    exponents = {element: i for i, element in enumerate(elements)}
    line = {0, 1}  # the points 1 and a, then a + c for c in GF(q), c not 0
    for c in elements[::v]:
        total = tuple((x + y) % p for x, y in zip(c, elements[1], strict=True))
        line.add(exponents[total] % v)
    ways = [0] * v
    for a in line:
        for b in line:
            ways[(a + b) % v] += 1
    return circulant(np.array(ways, dtype=np.int8) - np.int8(1))


# From a weighing matrix to a code


def _smallest_code(k, w):
    for m in range(k, 2 * k + 1):
        if w in _weights(m) and (rows := _code(k, m, w)):
            return rows
    return None


def _code(k, m, w):
    """Rows (left, right) of a code from some W(m, w), or None."""
    for matrix in _matrices(m, w):
        a = matrix[:, :k]
        a = a[a.any(axis=1)]
        if _is_usable(a):
            signs = _signs(a)
            if signs is not None:
                return matrix_to_rows(a * signs)
    return None


def _is_usable(a):
    """No row with a single entry, no duplicate or complement, all classes connected."""
    first = a[np.arange(len(a)), (a != 0).argmax(axis=1)]
    return (
        (np.count_nonzero(a, axis=1) > 1).all()
        and len(np.unique(a * first[:, None], axis=0)) == len(a)
        and joins_all(a)
    )


def _signs(a):
    """Signs (k,) of the columns with which every row of a (m, k) has both signs, or None.

    All choices for up to 10 classes; above, repairs: of a row with one sign, negate the column
    that leaves the fewest such rows, and now and then any column of it.
    """
    k = a.shape[1]
    sizes = np.count_nonzero(a, axis=1)
    if k <= 10:
        return next(
            (
                signs
                for bits in range(1, 1 << (k - 1))
                if (np.abs(a @ (signs := signs_of(bits, k))) < sizes).all()
            ),
            None,
        )
    a = a.astype(np.int64)
    signs = signs_of(1, k)
    generator = random.Random(k)
    for _ in range(50 + 4 * k):
        sums = a @ signs
        faulty = np.flatnonzero(np.abs(sums) == sizes)
        if not len(faulty):
            return signs
        columns = np.flatnonzero(a[generator.choice(faulty)]).tolist()
        columns = generator.sample(columns, min(len(columns), 8))
        if generator.random() < 0.2:
            columns = columns[:1]
        turned = np.abs(sums[:, None] - 2 * a[:, columns] * signs[columns]) == sizes[:, None]
        signs[columns[np.count_nonzero(turned, axis=0).argmin()]] *= -1
    return None
