"""The probability of one class from some pairs of a one-vs-one code.

Both functions take a `PairTable`, r (n, m) within [-1, 1], asked (n, m) bool, the
pairs that count (r need not be defined elsewhere), and winner (n,), a class for
each point; both give p (n,) in (0, 1] and are exact where the pairs that count
include all of the winner's and all come from one set of k probabilities.
"""

from __future__ import annotations

import numpy as np

from .exact import Exact

__all__ = ["fitted_probability", "met_probability"]

LEAST = 1e-7
BUDGET = 16 << 20


def met_probability(table, r, asked, winner):
    """Probability of the winner from the pairs that it took part in.

    With O the q opponents that a point's winner was asked against and
    mu_j = (1 +- r)/2, clipped to [1e-7, 1], the probability of the winner over
    opponent j,

        p = 1 / (sum over j in O of 1/mu_j - (q - 1))

    (Price, Knerr, Personnaz and Dreyfus 1995).  An opponent that was not met
    counts as impossible.
    """
    p = np.empty(len(winner))
    for c in np.unique(winner):
        rows = np.flatnonzero(winner == c)
        others = table.others(c)
        place = rows[:, None], table.row[c, others]
        sign = table.sign[c, others]
        # A pair that was not asked is put in as mu = 1, which adds nothing.
        value = np.where(asked[place], r[place], sign) * sign
        mu = np.clip((1.0 + value) / 2, LEAST, 1.0)
        p[rows] = 1.0 / (1.0 + np.ascontiguousarray(1.0 / mu - 1.0).sum(axis=1))
    return p


def fitted_probability(table, r, asked, winner):
    """Probability of the winner when all pairs that were asked are fitted by least squares.

    The p (k,) with sum p = 1 that minimises the sum of
    ((1 - r) p_high - (1 + r) p_low)^2 over the asked pairs, the second method of
    Wu, Lin and Weng (2004) on fewer pairs; the winner's entry of it, at least 1e-7.
    Where the pairs fall into parts that have no class in common, the shares of the
    parts are those of the shortest p.  For pairs without a loop, as an elimination
    asks them, this is the product of the odds along the pairs.
    It takes one k x k system for each point.
    """
    n, m = r.shape
    k = table.k
    p = np.empty(n)
    lose, win = np.zeros((k, m)), np.zeros((k, m))
    lose[table.low, np.arange(m)] = win[table.high, np.arange(m)] = 1.0
    lose, win = Exact(lose), Exact(win)
    cells = table.row.copy()
    cells[np.arange(k), np.arange(k)] = m + np.arange(k)
    step = max(1, BUDGET // (8 * k * k))
    for start in range(0, n, step):
        known = asked[start:start + step]
        # The normal matrix plus 1 1^T, whose solution for 1 is p but for its sum.
        part = np.where(known, r[start:start + step], 1.0)
        diagonal = (lose.rows(np.where(known, 1.0 + part, 0.0)**2)
                    + win.rows((1.0 - part)**2) + (1.0 + 1e-9))
        system = np.concatenate([part * part, diagonal], axis=1)[:, cells.ravel()]
        u = np.linalg.solve(system.reshape(-1, k, k), np.ones((len(part), k, 1)))[:, :, 0]
        np.maximum(u, 0.0, out=u)
        own = np.take_along_axis(u, winner[start:start + step, None], axis=1)[:, 0]
        p[start:start + step] = own / u.sum(axis=1)
    return np.clip(p, LEAST, 1.0)
