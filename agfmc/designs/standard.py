"""Coding matrices with a pattern: one-vs-rest, one-vs-one, adjacent, exhaustive; balanced trees.

Each function raises UsageError for k < 2.

A row is a pair (left, right) of two tuples of class positions 0..k-1: the
classes of entry -1 and those of entry +1; classes in neither have entry 0.
The rows are made one by one, when they are needed.  A tree is nested pairs (left, right)
whose leaves are class positions, such as ((2, 0), 1).
"""

from collections.abc import Sequence
from functools import partial
from math import isqrt

from ..control.build import from_pairs, to_code
from ..control.tree import LazySequence, Tree
from ..core.errors import UsageError

MOST_EXHAUSTIVE = 20


def one_vs_rest(k: int) -> Sequence:
    """k rows, a_ij = 2 delta_ij - 1; for two classes one row, as both would be the same."""
    _at_least_two(k)
    if k == 2:
        return [((0,), (1,))]
    return LazySequence(partial(_against_rest, k), range(k))


def _against_rest(k, i):
    return (*range(i), *range(i + 1, k)), (i,)


def one_vs_one(k: int) -> Sequence:
    """k(k-1)/2 rows (0, 1), (0, 2), ..., the lower position on the left."""
    _at_least_two(k)
    return LazySequence(partial(_pair, k), range(k * (k - 1) // 2))


def _pair(k, number):
    # counted from the last pair, the pairs (i, .) begin at triangular numbers
    number = k * (k - 1) // 2 - 1 - number
    t = (isqrt(8 * number + 1) - 1) // 2
    return (k - 2 - t,), (k - 1 - number + t * (t + 1) // 2,)


def adjacent(k: int) -> Sequence:
    """k-1 rows; row i has classes 0..i on the left and the others on the right."""
    _at_least_two(k)
    return LazySequence(partial(_split, k), range(1, k))


def _split(k, i):
    return tuple(range(i)), tuple(range(i, k))


def exhaustive(k: int) -> Sequence:
    """All 2^(k-1) - 1 partitions of k classes, by counting in binary.

    Class 0 is always on the left, so no row is the complement of another; the last class counts
    ones, the one before it twos. Raises `UsageError` for k > 20 because of the number of rows.
    """
    _at_least_two(k)
    if k > MOST_EXHAUSTIVE:
        raise UsageError(
            f"an exhaustive code for {k} classes would have 2^{k - 1} - 1"
            f"{f' = {2 ** (k - 1) - 1}' if k <= 64 else ''} rows; "
            f"at most {MOST_EXHAUSTIVE} classes are possible"
        )
    return LazySequence(partial(_counted, k), range(1, 2 ** (k - 1)))


def _counted(k, number):
    bits = f"{number:0{k}b}"
    return (
        tuple([j for j in range(k) if bits[j] == "0"]),
        tuple([j for j in range(k) if bits[j] == "1"]),
    )


def _at_least_two(k, what="code"):
    if k < 2:
        raise UsageError(f"a {what} needs at least two classes, not {k}")


def tree(k: int) -> Tree:
    """The decision `Tree` of `balanced_tree`, its labels the positions 0..k-1."""
    return from_pairs(balanced_tree(k), range(k))


def tree_code(k: int) -> Tree:
    """The coding matrix of `balanced_tree`, as a `Tree`."""
    return to_code(tree(k))


def balanced_tree(k: int) -> tuple:
    """Tree over the classes 0..k-1 in order, floor(n/2) of n leaves on the left of each node."""
    _at_least_two(k, "tree")
    return _balanced(0, k)


def _balanced(first, size):
    if size == 1:
        return first
    left = size // 2
    return (_balanced(first, left), _balanced(first + left, size - left))
