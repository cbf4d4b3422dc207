"""Signed rows as bit masks: a whole row of +1, -1 and 0 in two Python integers.

A signed row is (support, negative): bit j of `support` is set where entry j
is not 0, bit j of `negative` where it is -1.  Integers of any length make
products and comparisons of rows of a thousand entries cheap without numpy.
"""

from collections.abc import Iterable, Sequence

from ..control.tree import Made

__all__ = ["apart", "apart_or_opposite", "columns", "joins_all", "kronecker", "mask", "positions",
           "rotated", "row", "rows", "signed", "spread", "strict"]


def mask(indices: Iterable[int]) -> int:
    """Integer with the given bits set."""
    total = 0
    for index in indices:
        total |= 1 << index
    return total


def positions(bits: int) -> tuple[int, ...]:
    """Tuple of the bits that are set, ascending."""
    return tuple(j for j, bit in enumerate(bin(bits)[:1:-1]) if bit == "1")


def row(support: int, negative: int) -> tuple:
    """The pair (left, right) of class positions of a signed row."""
    return positions(negative), positions(support ^ negative)


def rows(signed_rows: Sequence) -> Made:
    """The pairs of many signed rows, each made when it is needed."""
    return Made(_row, signed_rows)


def _row(signed_row):
    return row(*signed_row)


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


def apart(u: tuple[int, int], v: tuple[int, int]) -> int:
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


def repeated(size: int, step: int) -> int:
    """`size` ones, `step` bits apart: multiplying by it repeats a mask of `step` bits."""
    return spread((1 << size) - 1, step)


def kronecker(outer: Sequence, inner: Sequence) -> list[tuple[int, int]]:
    """The Kronecker product of two square matrices of signed rows."""
    size = len(inner)
    ones, copies = (1 << size) - 1, repeated(len(outer), size)
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
    """True where the supports, as edges of many ends, connect all bits of `everything`."""
    reached = 1
    waiting = list(supports)
    while reached != everything:
        apart = []
        for support in waiting:
            if support & reached:
                reached |= support
            else:
                apart.append(support)
        if len(apart) == len(waiting):
            return False
        waiting = apart
    return True
