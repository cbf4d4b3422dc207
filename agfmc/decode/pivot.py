"""Block principal pivoting over many points at once.

Each point is a complementarity problem: x >= 0, w = K x - 1 >= 0, x w = 0 for
its own positive definite K (k, k).  What differs from code to code is how x
and w follow from a guess at where x is positive; that is the caller's.
"""

from __future__ import annotations

import numpy as np

__all__ = ["pivot"]

PATIENCE = 3


def pivot(evaluate, passive, limit):
    """Find the classes where the solution is positive, for every point.

    evaluate(points, passive) takes indices (t,) and their passive sets (t, k)
    and returns (x (t, k), wrong (t, k) bool: entries on the wrong side, broken
    (t,) bool: points it could not evaluate).
    passive (n, k): first guess; changed in place.
    limit: rounds after which a point is given up.

    All wrong entries change sides at once; when that has failed PATIENCE times
    to make them fewer, only the last one does (Murty's rule, which is finite),
    until they are fewer (Portugal, Judice and Vicente 1994).

    Returns x (n, k), failed (n,) bool and the number of rounds.
    """
    n, k = passive.shape
    x = np.zeros((n, k))
    failed = np.zeros(n, dtype=bool)
    todo = np.arange(n)
    fewest = np.full(n, k + 1)
    patience = np.full(n, PATIENCE)
    rounds = 0
    while len(todo) and rounds < limit:
        rounds += 1
        now, wrong, broken = evaluate(todo, passive[todo])
        count = np.count_nonzero(wrong, axis=1)
        failed[todo[broken]] = True
        done = (count == 0) & ~broken
        x[todo[done]] = now[done]
        going = ~(done | broken)
        todo, wrong, count = todo[going], wrong[going], count[going]

        better = count < fewest[todo]
        fewest[todo[better]] = count[better]
        patience[todo[better]] = PATIENCE
        single = ~better & (patience[todo] == 0)
        patience[todo[~better & ~single]] -= 1
        if single.any():
            last = k - 1 - np.argmax(wrong[single, ::-1], axis=1)
            wrong[single] = np.arange(k) == last[:, None]
        passive[todo] ^= wrong
    failed[todo] = True
    return x, failed, rounds
