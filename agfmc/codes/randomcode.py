"""Random codes, drawn without replacement from all rows there are."""

from __future__ import annotations

import random

from ..errors import UsageError
from .bits import joins_all, mask, rows as rows_of
from .matrix import code_rank

__all__ = ["available_rows", "checked_rows", "determines", "drawn_rows", "random_code", "sided"]

MOST_DRAWS = 1000


def available_rows(k, strict=False):
    """How many rows with both signs exist for k classes, complements counted once.

    2^(k-1) - 1 strict ones, (3^k - 2^(k+1) + 1)/2 with zeros allowed.
    """
    return 2 ** (k - 1) - 1 if strict else (3 ** k - 2 ** (k + 1) + 1) // 2


def random_code(k, rows=None, strict=False, seed=1):
    """Random rows for k classes: no duplicates, no complements, both signs in each.

    `rows` is 4 ceil(k/4) by default, or all there are if that is fewer.  The
    code is drawn uniformly from all codes of that size with rank([A; 1^T]) = k
    in which every class is joined to every other; it follows from `seed` alone.
    Fewer than k-1 rows cannot determine k probabilities: they then have the rank that is
    left to them, and no two classes have the same column.

    Raises UsageError for k < 2, for more rows than exist, and for fewer than can tell
    k classes apart.
    """
    rows, available = checked_rows(k, rows, strict)
    generator = random.Random(seed)
    for _ in range(MOST_DRAWS):
        signed_rows = drawn_rows(generator, k, rows, strict, available)
        code = sided(generator, signed_rows)
        if determines(signed_rows, code, k):
            return code
    raise UsageError(f"{MOST_DRAWS} random codes with {rows} rows for {k} classes "
                     "were all deficient: ask for more rows")


def checked_rows(k, rows, strict):
    """(rows, available): the number of rows to draw, by default filled in, and of all there are.

    Raises UsageError as `random_code`.
    """
    if k < 2:
        raise UsageError(f"a code needs at least two classes, not {k}")
    available = available_rows(k, strict)
    kind = "strict rows (without zeros)" if strict else "rows"
    if rows is None:
        rows = min(4 * -(-k // 4), available)
    if rows > available:
        number = available if k <= 64 else f"about 10^{int(available.bit_length() * 0.30103)}"
        raise UsageError(f"{rows} different {kind} were asked for, but for {k} classes "
                         f"only {number} exist")
    least = next(n for n in range(1, k) if (2 ** n if strict else 3 ** n - 1) >= k)  # columns
    if rows < least:
        raise UsageError(f"to tell {k} classes apart takes at least {least} {kind}, not {rows}")
    return rows, available


def drawn_rows(generator, k, rows, strict, available):
    """Signed rows, all different, drawn uniformly from those that are `available`."""
    unranked = _strict_row if strict else _any_row
    return [unranked(k, rank) for rank in _sample(generator, available, rows)]


def sided(generator, signed_rows):
    """Rows (left, right) of signed rows, each turned round or not."""
    return rows_of([(support, negative ^ support if generator.getrandbits(1) else negative)
                    for support, negative in signed_rows])


def determines(signed_rows, code, k):
    """Whether a code determines all that its rows can: of full rank, and every class joined.

    With fewer than k-1 rows that is not all probabilities, but the classes all differ.
    """
    return joins_all([support for support, _ in signed_rows], (1 << k) - 1) and \
        (len(code) >= k - 1 or _columns_differ(signed_rows, k)) and \
        code_rank(code, k) == min(k, len(code) + 1)


def _columns_differ(signed_rows, k):
    bits = [f"{bits:0{k}b}" for masks in signed_rows for bits in masks]
    return len(set(zip(*bits, strict=True))) == k


def _sample(generator, size, number):
    """`number` different integers below `size`, which may be far beyond memory.

    A shuffle that stops early and remembers only the places it has touched.
    """
    moved = {}
    drawn = []
    for i in range(number):
        j = generator.randrange(i, size)
        drawn.append(moved.get(j, j))
        moved[j] = moved.get(i, i)
    return drawn


def _strict_row(k, rank):
    """Strict signed row number `rank`; class 0 is on the left."""
    everything = (1 << k) - 1
    return everything, everything ^ (rank + 1) << 1


def _any_row(k, rank):
    """Signed row number `rank` of those whose first class that is not 0 is on the left.

    After that class come n = k-1, k-2, ... entries with at least one +1 among
    them: 3^n - 2^n choices, counted off entry by entry.
    """
    n = k - 1
    while rank >= 3 ** n - 2 ** n:
        rank -= 3 ** n - 2 ** n
        n -= 1
    left, right = [k - 1 - n], []
    while not right:
        n -= 1
        without = 3 ** n - 2 ** n  # choices left when this entry is not +1
        if rank >= 2 * without:
            rank -= 2 * without
            right.append(k - 1 - n)
        elif rank >= without:
            rank -= without
            left.append(k - 1 - n)
    for place in range(k - n, k):  # nothing more is required of the rest
        rank, digit = divmod(rank, 3)
        if digit:
            (left if digit == 1 else right).append(place)
    return mask(left + right), mask(left)
