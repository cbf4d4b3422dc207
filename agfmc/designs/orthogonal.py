"""Orthogonal codes, A^T A = m I, with the Hadamard matrices and finite fields they are made of.

A Hadamard matrix, m x m of +1 and -1 with H^T H = m I, is a list of m integers: bit j of row i
is set where the entry is -1.  Sources: Sylvester (1867); Paley, J. Math. Phys. 12 (1933);
Williamson, Duke Math. J. 11 (1944); Baumert, Golomb and Hall (1962) for order 92; Baumert
(1966) for order 116.

An element of the field of q = p^e elements is a tuple of e digits 0..p-1, the coefficients of
a polynomial in the root of a primitive polynomial, lowest first; its number is the integer
with these digits in base p.
"""
from collections.abc import Sequence
from functools import lru_cache
from itertools import count, product

from ..control import matrix
from ..core.errors import warn_user
from .standard import one_vs_rest

# Finite fields, as far as coding matrices need them


@lru_cache(maxsize=None)
def prime_power(q: int) -> tuple[int, int] | None:
    """(p, e) with q = p^e and p a prime, or None."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q ** 0.5) + 1) if q % d == 0), q)
    e = 0
    while q % p == 0:
        q //= p
        e += 1
    return (p, e) if q == 1 else None


def powers(p: int, e: int) -> list[tuple[int, ...]]:
    """The p^e - 1 elements that are not 0, as powers 0, 1, 2, ... of a generator, the root of the
    first primitive polynomial."""
    size = p ** e - 1
    one = (1,) + (0,) * (e - 1)
    for low in product(range(p), repeat=e):  # x^e + low, low[0] the constant term
        if low[0] == 0:
            continue
        elements = [one]
        element = _times_root(one, low, p)
        while element != one and len(elements) < size:
            elements.append(element)
            element = _times_root(element, low, p)
        if element == one and len(elements) == size:
            return elements
    raise AssertionError(f"no field of {p}^{e} elements")


def _times_root(element, low, p):
    top = element[-1]
    return tuple(
        (digit - top * c) % p for digit, c in zip((0,) + element[:-1], low, strict=True)
    )


def number(element: tuple[int, ...], p: int) -> int:
    """The integer whose digits in base p are the element's."""
    return sum(digit * p**i for i, digit in enumerate(element))


def squares_differ(p: int, e: int) -> list[int]:
    """Rows of the Jacobsthal matrix of GF(p^e), p odd: bit j of mask i is set where element j -
    element i is not a square."""
    nonsquares = matrix.mask(number(element, p) for element in powers(p, e)[1::2])
    return translates(nonsquares, p, e)


def translates(members: int, p: int, e: int) -> list[int]:
    """The set of elements `members` moved by every element: mask i is {x + i : x in members}.

    Digit d of all elements at once is turned by two shifts, for elements that carry and others.
    """
    q = p ** e
    everything = (1 << q) - 1
    masks = [members]
    for d in range(e):
        unit = p ** d
        period = everything // ((1 << unit * p) - 1)  # one bit at each multiple of p^(d+1)
        turned = []
        for s in range(p):
            stay = period * ((1 << unit * (p - s)) - 1)  # digit d below p - s: no carry
            for old in masks:
                turned.append(
                    (old & stay) << s * unit | (old & ~stay) >> (p - s) * unit
                )
        masks = turned
    return masks


# Hadamard matrices

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


def hadamard_order(k: int) -> int:
    """The smallest order m >= k of a Hadamard matrix that can be constructed here."""
    m = max(k, 1)
    while not is_constructible(m):
        m += 1
    return m


@lru_cache(maxsize=None)
def is_constructible(m: int) -> bool:
    """Return True if `hadamard` can make order m."""
    return _construction(m) is not None


@lru_cache(maxsize=None)
def _construction(m):
    """(name, argument) of the construction used for order m, or None."""
    if m > 0 and m & (m - 1) == 0:
        return "sylvester", m
    if m < 1 or m % 4:
        return None
    if prime_power(m - 1):  # m - 1 = 3 mod 4
        return "paley", m - 1
    if (m // 2 - 1) % 4 == 1 and prime_power(m // 2 - 1):
        return "paley2", m // 2 - 1
    if m in WILLIAMSON:
        return "williamson", m
    for a in range(2, int(m ** 0.5) + 1):
        if m % a == 0 and _construction(a) and _construction(m // a):
            return "kronecker", a
    return None


def hadamard(m: int) -> list[int]:
    """Hadamard matrix of order m, as m masks, whose first row and first column are all +1.

    Sylvester's for powers of two; else the constructions of Paley (q = m-1, or q = m/2-1 = 1 mod 4,
    a prime power), Williamson's array for 92 and 116, and Kronecker products of these.  Raises
    ValueError for an order that none of them makes.
    """
    construction = _construction(m)
    if construction is None:
        raise ValueError(f"no construction of a Hadamard matrix of order {m}")
    name, argument = construction
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
        rows = [negative for _, negative in matrix.kronecker(
            matrix.strict(hadamard(argument)), matrix.strict(hadamard(m // argument)))]
    return _normalised(rows)


def conference(q: int) -> list[tuple[int, int]]:
    """Paley's conference matrix of order q+1, q an odd prime power, as signed rows: C^T C = q I.

    The diagonal is 0; it is symmetric for q = 1 mod 4 and skew for q = 3 mod 4.
    """
    everything = (1 << q + 1) - 1
    first = int(q % 4 == 3)
    rows = [(everything ^ 1, 0)]
    for i, negative in enumerate(squares_differ(*prime_power(q))):
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
        minus, plus = matrix.spread(negative, 2), matrix.spread(support ^ negative, 2)
        rows.append(minus * 3 | 2 << 2 * i)
        rows.append(minus | plus << 1 | 3 << 2 * i)
    return rows


def _williamson(first_rows):
    """[[A,B,C,D],[-B,A,-D,C],[-C,D,A,-B],[-D,-C,B,A]] of symmetric circulants."""
    n = len(first_rows[0])
    ones = (1 << n) - 1
    first = [matrix.mask(j for j, sign in enumerate(text) if sign == "-") for text in first_rows]
    array = (("A", "B", "C", "D"), ("-B", "A", "-D", "C"),
             ("-C", "D", "A", "-B"), ("-D", "-C", "B", "A"))
    rows = []
    for blocks in array:
        for i in range(n):
            total = 0
            for at, block in enumerate(blocks):
                part = matrix.rotated(first["ABCD".index(block[-1])], n, i)
                if block[0] == "-":
                    part ^= ones
                total |= part << at * n
            rows.append(total)
    return rows


def _normalised(rows):
    """Columns, then rows, negated until the first row and column are +1."""
    ones = (1 << len(rows)) - 1
    rows = [r ^ rows[0] for r in rows]
    return [r ^ ones if r & 1 else r for r in rows]


def instead_of_orthogonal(k: int) -> Sequence:
    """One-vs-rest, with an `AgfmcWarning`, for k < 4; UsageError for k < 2."""
    rows = one_vs_rest(k)
    what = "the only partition there is" if k == 2 else "one-vs-rest"
    warn_user(f"no orthogonal code exists for {k} classes (the columns of +1 and -1 "
              f"cannot all be orthogonal): taking {what} instead")
    return rows


def orthogonal(k: int, reduced: bool = False) -> Sequence:
    """Rows of a strict code for k classes, 4 or more, with orthogonal columns.

    The first k columns of a Hadamard matrix of the smallest order m >= k that can be constructed,
    some negated: m rows with A^T A = m I. As m < 2k (every power of two is an order), and two rows
    of a Hadamard matrix agree in exactly m/2 columns, no two rows can be equal or complements.
    Fewer classes have not the 4 partitions that orthogonal columns take: `instead_of_orthogonal`.

    Parameters
    ----------
    k : int
        Number of classes.
    reduced : bool
        Without the first row, which is +1: m-1 rows with A^T A = m I - 1 1^T, none constant for the
        same reason.

    Returns
    -------
    Rows (left, right) of class positions
    """
    if k < 4:
        return instead_of_orthogonal(k)
    m = hadamard_order(k)
    everything = (1 << k) - 1
    negatives = [r & everything for r in hadamard(m)]
    signs = 0 if reduced else _signs(negatives, everything)
    return matrix.rows([(everything, r ^ signs) for r in negatives[1 if reduced else 0:]])


def _signs(rows, everything):
    """Columns to negate so that no row is constant: column 0 unless a row forbids it."""
    forbidden = {*rows, *(r ^ everything for r in rows)}
    return next(signs for signs in count(1) if signs not in forbidden)
