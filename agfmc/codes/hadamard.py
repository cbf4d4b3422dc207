"""Hadamard matrices: m x m of +1 and -1 with H^T H = m I.

A matrix is a list of m integers; bit j of row i is set where the entry is -1.
Sources: Sylvester (1867); Paley, J. Math. Phys. 12 (1933); Williamson, Duke
Math. J. 11 (1944); Baumert, Golomb and Hall (1962) for order 92; Baumert
(1966) for order 116.
"""

from __future__ import annotations

from functools import lru_cache

from . import bits, fields

__all__ = ["conference", "hadamard", "hadamard_order", "is_constructible"]

# First rows of the four symmetric circulants in Williamson's array.
WILLIAMSON = {
    92: (
        "+++++-++---++---++-++++",
        "+-+++--++-+--+-++--+++-",
        "+-+--+++++----+++++--+-",
        "+--++-+-+------+-+-++--",
    ),
    116: (
        "+++++++---+-++--++-+---++++++",
        "++++---+++-+--++--+-+++---+++",
        "++-+++---+--+-++-+--+---+++-+",
        "+-+-++---+--+-++-+--+---++-+-",
    ),
}


def hadamard_order(k):
    """The smallest order m >= k of a Hadamard matrix that can be constructed here."""
    m = max(k, 1)
    while not is_constructible(m):
        m += 1
    return m


@lru_cache(maxsize=None)
def is_constructible(m):
    """Whether `hadamard` can make order m."""
    return _construction(m) is not None


@lru_cache(maxsize=None)
def _construction(m):
    """(name, argument) of the construction used for order m, or None."""
    if m in (1, 2):
        return "sylvester", m
    if m < 1 or m % 4:
        return None
    if m & (m - 1) == 0:
        return "sylvester", m
    if fields.prime_power(m - 1):  # m - 1 = 3 mod 4
        return "paley", m - 1
    if (m // 2 - 1) % 4 == 1 and fields.prime_power(m // 2 - 1):
        return "paley2", m // 2 - 1
    if m in WILLIAMSON:
        return "williamson", m
    for a in range(2, int(m ** 0.5) + 1):
        if m % a == 0 and _construction(a) and _construction(m // a):
            return "kronecker", a
    return None


def hadamard(m):
    """Hadamard matrix of order m whose first row and first column are all +1.

    Returns m integers; bit j of integer i is set where entry (i, j) is -1.
    Sylvester's matrix for powers of two; otherwise the constructions of Paley
    (q = m-1, or q = m/2-1 = 1 mod 4, a prime power), Williamson's array for 92
    and 116, and Kronecker products of these.  Raises ValueError for an order
    that none of them makes.
    """
    found = _construction(m)
    if found is None:
        raise ValueError(f"no construction of a Hadamard matrix of order {m}")
    name, argument = found
    if name == "sylvester":
        rows = _sylvester(m)
    elif name == "paley":
        # The conference matrix S is skew, so S + I is the Hadamard matrix.
        rows = [negative for _, negative in conference(argument)]
    elif name == "paley2":
        rows = _paley2(argument)
    elif name == "williamson":
        rows = _williamson(WILLIAMSON[m])
    else:
        rows = _kronecker(hadamard(argument), hadamard(m // argument))
    return _normalised(rows)


def conference(q):
    """Paley's conference matrix of order q+1, q an odd prime power: C^T C = q I.

    Returns q+1 signed rows (support, negative).  The diagonal is 0; the matrix
    is symmetric for q = 1 mod 4 and skew for q = 3 mod 4.
    """
    everything = (1 << q + 1) - 1
    first = int(q % 4 == 3)
    rows = [(everything ^ 1, 0)]
    for i, negative in enumerate(fields.squares_differ(*fields.prime_power(q))):
        rows.append((everything ^ (2 << i), negative << 1 | first))
    return rows


def _sylvester(m):
    rows, size = [0], 1
    while size < m:
        ones = (1 << size) - 1
        rows = [r | r << size for r in rows] + [r | (r ^ ones) << size for r in rows]
        size *= 2
    return rows


def _paley2(q):
    """C x [[+, +], [+, -]] + I x [[+, -], [-, -]] with the symmetric conference matrix C."""
    rows = []
    for i, (support, negative) in enumerate(conference(q)):
        minus, plus = bits.spread(negative, 2), bits.spread(support ^ negative, 2)
        rows.append(minus * 3 | 2 << 2 * i)
        rows.append(minus | plus << 1 | 3 << 2 * i)
    return rows


def _williamson(first_rows):
    """[[A,B,C,D],[-B,A,-D,C],[-C,D,A,-B],[-D,-C,B,A]] of symmetric circulants."""
    n = len(first_rows[0])
    ones = (1 << n) - 1
    first = [bits.mask(j for j, sign in enumerate(text) if sign == "-") for text in first_rows]
    array = (("A", "B", "C", "D"), ("-B", "A", "-D", "C"),
             ("-C", "D", "A", "-B"), ("-D", "-C", "B", "A"))
    rows = []
    for blocks in array:
        for i in range(n):
            total = 0
            for place, block in enumerate(blocks):
                part = bits.rotated(first["ABCD".index(block[-1])], n, i)
                if block[0] == "-":
                    part ^= ones
                total |= part << place * n
            rows.append(total)
    return rows


def _kronecker(outer, inner):
    size = len(inner)
    ones = (1 << size) - 1
    copies = bits.repeated(len(outer), size)
    return [b * copies ^ bits.spread(a, size) * ones for a in outer for b in inner]


def _normalised(rows):
    """Columns, then rows, negated until the first row and column are +1."""
    ones = (1 << len(rows)) - 1
    rows = [r ^ rows[0] for r in rows]
    return [r ^ ones if r & 1 else r for r in rows]
