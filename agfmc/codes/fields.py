"""Finite fields of q = p^e elements, as far as coding matrices need them.

An element is a tuple of e digits 0..p-1, the coefficients of a polynomial in
the root of a primitive polynomial, lowest first; its number is the integer
with these digits in base p.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from .bits import mask

__all__ = ["number", "powers", "prime_power", "squares_differ", "translates"]


@lru_cache(maxsize=None)
def prime_power(q):
    """(p, e) with q = p^e and p a prime, or None."""
    if q < 2:
        return None
    p = next((d for d in range(2, int(q ** 0.5) + 1) if q % d == 0), q)
    e = 0
    while q % p == 0:
        q //= p
        e += 1
    return (p, e) if q == 1 else None


def powers(p, e):
    """The p^e - 1 elements that are not 0, as powers 0, 1, 2, ... of a generator.

    The generator is the root of the first primitive polynomial found
    (for e = 1 a primitive root).
    """
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


def number(element, p):
    """The integer whose digits in base p are the element's."""
    total = 0
    for digit in reversed(element):
        total = total * p + digit
    return total


def squares_differ(p, e):
    """Rows of the Jacobsthal matrix of GF(p^e), p odd: q masks of q bits.

    Bit j of mask i is set where element j - element i is not a square.
    """
    nonsquares = mask(number(element, p) for element in powers(p, e)[1::2])
    return translates(nonsquares, p, e)


def translates(bits, p, e):
    """The set of elements `bits` moved by every element: mask i is {x + i : x in bits}.

    Adding works digit by digit: digit d of all elements at once is turned by
    s by two shifts, one for the elements that carry and one for the others.
    """
    q = p ** e
    everything = (1 << q) - 1
    masks = [bits]
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
