"""Random codes: drawn without replacement from all rows there are, and the best of many.

What an error-correcting code needs (Dietterich and Bakiri, "Solving multiclass learning
problems via error-correcting output codes"): columns far apart, so that some wrong
classifiers do not turn one class into another, and rows neither alike nor complementary, so
that the classifiers err on different points.
"""

import random
from collections.abc import Sequence

import numpy as np

from ..control.matrix import code_rank, distances, joins_all, positions, rows_to_matrix
from ..core.errors import UsageError, warn_user
from .orthogonal import hadamard_order, instead_of_orthogonal

MOST_DRAWS = 1000


def available_rows(k: int, strict: bool = False) -> int:
    """The number of rows with both signs, complements counted once: 2^(k-1) - 1 strict ones,
    (3^k - 2^(k+1) + 1)/2 with zeros allowed."""
    if strict:
        return 2 ** (k - 1) - 1
    return (3**k - 2 ** (k + 1) + 1) // 2


def random_code(
    k: int, rows: int | None = None, strict: bool = False, seed: int = 1, draws: int = 1
) -> Sequence:
    """Random rows for k classes: no duplicates, no complements, both signs in each.

    A code is drawn uniformly, by `seed` alone, from all codes of that size with rank([A; 1^T]) = k
    in which every class is joined to every other. Fewer than k-1 rows cannot determine k
    probabilities, which an `AgfmcWarning` says: they then have the rank that is left to them, and
    no two columns are equal.

    By default there are 4 ceil(k/4) rows, or all there are if that is fewer; strict ones have no
    entries 0. Of several draws, each with a separate stream, that one is taken which determines
    what its rows can and has the largest smallest distance between two columns, then between two
    rows (`matrix.smallest_distances`), then the largest mean of each; of equal ones the first.
    Raises `UsageError` for k < 2, for more rows than exist, and for too few to separate k classes.
    """
    rows, available = _checked_rows(k, rows, strict)
    unranked = _strict_row if strict else _any_row

    def draw_rows(generator):
        return [unranked(k, rank) for rank in _sample(generator, available, rows)]

    code = _first_draw(draw_rows, k, rows, seed)
    if draws > 1 and rows < available:  # else all there are, whatever is drawn
        code = _improved(code, draw_rows, k, seed, draws)
    if rows < k - 1:
        warn_user(
            f"{rows} rows do not determine the probabilities of {k} classes: "
            f"at least {k - 1} are needed"
        )
    return code


def random_as_orthogonal(k: int, seed: int = 1, draws: int = 1) -> Sequence:
    """The strict `random_code` with as many rows as the orthogonal code has."""
    if k < 4:
        return instead_of_orthogonal(k)
    return random_code(k, hadamard_order(k), True, seed, draws)


def _first_draw(draw_rows, k, rows, seed):
    generator = random.Random(seed)
    for _ in range(MOST_DRAWS):
        code = _sided(generator, draw_rows(generator))
        if _determines(code, k):
            return code
    raise UsageError(
        f"{MOST_DRAWS} random codes with {rows} rows for {k} classes "
        "were all deficient: request more rows"
    )


def _checked_rows(k, rows, strict):
    """(rows, by default filled in, and how many there are to draw from)."""
    if k < 2:
        raise UsageError(f"a code needs at least two classes, not {k}")
    available = available_rows(k, strict)
    if strict:
        kind = "strict rows (without zeros)"
    else:
        kind = "rows"
    if rows is None:
        rows = min(4 * -(-k // 4), available)
    if rows > available:
        if k <= 64:
            number = available
        else:
            number = f"about 10^{int(available.bit_length() * 0.30103)}"
        raise UsageError(
            f"{rows} different {kind} are not possible: for {k} classes only {number} exist"
        )
    least = next(n for n in range(1, k) if (2**n if strict else 3**n - 1) >= k)  # columns
    if rows < least:
        raise UsageError(f"to separate {k} classes takes at least {least} {kind}, not {rows}")
    return rows, available


def _sided(generator, rows):
    return [(right, left) if generator.getrandbits(1) else (left, right) for left, right in rows]


def _determines(code, k):
    """Return True if a code has the full rank, and joins every class, that so many rows can."""
    a = rows_to_matrix(code, k)
    return (
        joins_all(a)
        and (len(code) >= k - 1 or len(np.unique(a, axis=1).T) == k)
        and code_rank(code, k) == min(k, len(code) + 1)
    )


def _sample(generator, size, number):
    """So many integers below `size`, by a shuffle that remembers only the places it has touched."""
    moved = {}
    drawn = []
    for i in range(number):
        j = generator.randrange(i, size)
        drawn.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    return drawn


def _strict_row(k, rank):
    """Strict row number `rank`; class 0 is on the left."""
    right = (rank + 1) << 1
    return positions(right ^ ((1 << k) - 1)), positions(right)


def _any_row(k, rank):
    """Row number `rank` of those whose first class that is not 0 is on the left.

    After that class come n = k-1, k-2, ... entries with a +1 among them: 3^n - 2^n choices.
    """
    n = k - 1
    while rank >= 3**n - 2**n:
        rank -= 3**n - 2**n
        n -= 1
    left = [k - 1 - n]
    right = []
    while not right:
        n -= 1
        without = 3**n - 2**n  # choices left when this entry is not +1
        if rank >= 2 * without:
            rank -= 2 * without
            right.append(k - 1 - n)
        elif rank >= without:
            rank -= without
            left.append(k - 1 - n)
    for position in range(k - n, k):  # nothing more is required of the rest
        rank, digit = divmod(rank, 3)
        if digit:
            (left if digit == 1 else right).append(position)
    return tuple(left), tuple(right)


# The best of many


def _improved(code, draw_rows, k, seed, draws):
    best = _quality(code, k)
    for i in range(1, draws):
        generator = random.Random(f"{seed}:{i}")
        drawn = draw_rows(generator)
        quality = _quality(drawn, k, best[0])
        if quality is not None and quality > best:
            turned = _sided(generator, drawn)
            if _determines(turned, k):
                code, best = turned, quality
    return code


def _quality(code, k, least=0.0):
    """The smallest distances between columns and between rows, then their sums; None where columns
    are nearer than `least`."""
    a = rows_to_matrix(code, k)
    columns = np.concatenate([*distances(a.T)])
    if columns.min() < least:
        return None
    rows = np.concatenate([np.zeros(0), *distances(a, opposite=True)])
    return columns.min(), rows.min(initial=np.inf), columns.sum(), rows.sum()
