"""Orthogonal codes, A^T A = m I, with the Hadamard matrices and finite fields they are made of.

A Hadamard matrix is m x m of +1 and -1 with H^T H = m I.  Sources: Sylvester (1867); Paley, J.
Math. Phys. 12 (1933); Williamson, Duke Math. J. 11 (1944); Baumert, Golomb and Hall (1962) for
order 92; Baumert (1966) for order 116.

An element of the field of q = p^e elements is a tuple of e digits 0..p-1, the coefficients of
a polynomial in the root of a primitive polynomial, lowest first; its number is the integer
with these digits in base p.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import count, product

import numpy as np

from ..control.matrix import matrix_to_rows
from ..core.errors import warn_user
from .standard import one_vs_rest

# Finite fields, as far as coding matrices need them


@lru_cache(maxsize=None)
def prime_power(q: int) -> tuple[int, int] | None:
    """(p, e) with q = p^e and p a prime, or None."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q**0.5) + 1) if q % d == 0), q)
    e = 0
    while q % p == 0:
        q //= p
        e += 1
    if q == 1:
        return (p, e)
    return None


def powers(p: int, e: int) -> list[tuple[int, ...]]:
    """The p^e - 1 elements that are not 0, as powers 0, 1, 2, ... of a generator, the root of the
    first primitive polynomial."""
    size = p**e - 1
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
    return tuple((digit - top * c) % p for digit, c in zip((0,) + element[:-1], low, strict=True))


def number(element: tuple[int, ...], p: int) -> int:
    """The integer whose digits in base p are the element's."""
    return sum(digit * p**i for i, digit in enumerate(element))


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
    for a in range(2, int(m**0.5) + 1):
        if m % a == 0 and _construction(a) and _construction(m // a):
            return "kronecker", a
    return None


def hadamard(m: int) -> np.ndarray:
    """Hadamard matrix of order m, int8, whose first row and first column are all +1.

    Sylvester's for powers of two; else the constructions of Paley (q = m-1, or q = m/2-1 = 1 mod 4,
    a prime power), Williamson's array for 92 and 116, and Kronecker products of these.  Raises
    ValueError for an order that none of them makes.
    """
    construction = _construction(m)
    if construction is None:
        raise ValueError(f"no construction of a Hadamard matrix of order {m}")
    name, argument = construction
    if name == "sylvester":
        h = np.ones((1, 1), dtype=np.int8)
        while len(h) < m:
            h = np.block([[h, h], [h, -h]])
    elif name == "paley":  # the conference matrix is skew
        h = conference(argument) + np.eye(m, dtype=np.int8)
    elif name == "paley2":  # it is symmetric
        c = conference(argument)
        h = np.kron(c, np.array([[1, 1], [1, -1]], dtype=np.int8)) + np.kron(
            np.eye(len(c), dtype=np.int8), np.array([[1, -1], [-1, -1]], dtype=np.int8)
        )
    elif name == "williamson":
        a, b, c, d = (
            circulant(np.array([1 if sign == "+" else -1 for sign in text], dtype=np.int8))
            for text in WILLIAMSON[m]
        )
        h = np.block([[a, b, c, d], [-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])
    else:
        h = np.kron(hadamard(argument), hadamard(m // argument))
    h = h * h[0]
    return h * h[:, :1]


def conference(q: int) -> np.ndarray:
    """Paley's conference matrix C of order q+1, int8, q an odd prime power: C^T C = q I.

    The diagonal is 0; it is symmetric for q = 1 mod 4 and skew for q = 3 mod 4.  Behind the first
    row and column, which are of one sign, it is the Jacobsthal matrix: +1 where element j less
    element i is a square, else -1.
    """
    p, e = prime_power(q)
    digits = np.array(list(product(range(p), repeat=e)))[:, ::-1]
    square = np.ones(q, dtype=np.int8)
    square[0] = 0
    square[[number(element, p) for element in powers(p, e)[1::2]]] = -1
    c = np.ones((q + 1, q + 1), dtype=np.int8)
    c[0, 0], c[1:, 0] = 0, 1 if q % 4 == 1 else -1
    for i, element in enumerate(digits, 1):
        c[i, 1:] = square[(digits - element) % p @ p ** np.arange(e)]
    return c


def circulant(first: np.ndarray) -> np.ndarray:
    """The matrix whose row i is the first row (n,) moved right by i."""
    return np.array([np.roll(first, i) for i in range(len(first))])


def signs_of(bits: int, k: int) -> np.ndarray:
    """(k,) of int8: -1 at the bits that are set, else 1."""
    return np.array([-1 if bits >> j & 1 else 1 for j in range(k)], dtype=np.int8)


def instead_of_orthogonal(k: int) -> Sequence:
    """One-vs-rest, with an `AgfmcWarning`, for k < 4; UsageError for k < 2."""
    rows = one_vs_rest(k)
    if k == 2:
        what = "the only partition there is"
    else:
        what = "one-vs-rest"
    warn_user(
        f"no orthogonal code exists for {k} classes (the columns of +1 and -1 "
        f"cannot all be orthogonal): taking {what} instead"
    )
    return rows


def orthogonal(k: int, reduced: bool = False) -> Sequence:
    """Rows of a strict code for k classes, 4 or more, with orthogonal columns.

    The first k columns of a Hadamard matrix of the smallest order m >= k that can be constructed,
    some negated: m rows with A^T A = m I. As m < 2k (every power of two is an order), and two rows
    of a Hadamard matrix agree in exactly m/2 columns, no two rows can be equal or complements.
    Fewer classes have not the 4 partitions that orthogonal columns take: `instead_of_orthogonal`.
    With `reduced` they are without the first row, which is +1: m-1 rows with A^T A = m I - 1 1^T,
    none constant for the same reason.
    """
    if k < 4:
        return instead_of_orthogonal(k)
    code = hadamard(hadamard_order(k))[:, :k]
    return matrix_to_rows(code[1:] if reduced else _with_both_signs(code))


def _with_both_signs(code):
    """The code with columns negated so that no row is constant: column 0 unless a row forbids it."""
    turned = (code * signs_of(bits, code.shape[1]) for bits in count(1))
    return next(code for code in turned if (code != code[:, :1]).any(axis=1).all())
