"""One-vs-one codes: which binary classifier knows which two classes."""

from __future__ import annotations

import numpy as np

from ..errors import UsageError
from .shortcuts import pair_classes

__all__ = ["PairTable"]


class PairTable:
    """Where the pairs of a one-vs-one code a (m, k) are and which way they look.

    Classes are the columns of a.  Rows may come in any order and with any sign.

    k, m        numbers of classes and of binary classifiers
    low, high   (m,) the classes on the -1 and on the +1 side of each row
    row         (k, k) the row of each pair, the same either way round; -1 on the diagonal
    sign        (k, k) +1.0 where the first class of the pair is on the +1 side, -1.0 where
                it is on the -1 side, 0.0 on the diagonal

    Raises UsageError if a is not a one-vs-one code.
    """

    def __init__(self, a):
        a = np.asarray(a)
        ends = pair_classes(a)
        if ends is None:
            raise UsageError("this decoder needs a one-vs-one configuration")
        self.m, self.k = a.shape
        self.low, self.high = ends
        self.row = np.full((self.k, self.k), -1, dtype=np.intp)
        self.row[self.low, self.high] = self.row[self.high, self.low] = np.arange(self.m)
        self.sign = np.zeros((self.k, self.k))
        self.sign[self.high, self.low] = 1.0
        self.sign[self.low, self.high] = -1.0

    def wins(self, first, second, r):
        """Whether the class first beats the class second, r being the value of their pair.

        The +1 side wins if r >= 0.  The three are broadcast against each other.
        """
        return (r >= 0) == (self.sign[first, second] > 0)

    def others(self, c):
        """All classes but c, ascending."""
        return np.delete(np.arange(self.k), c)
