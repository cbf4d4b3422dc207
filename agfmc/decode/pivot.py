"""Block principal pivoting over many points at once.

Each point is a complementarity problem: x >= 0, w = K x - 1 >= 0, x w = 0 for
a positive definite K (k, k).  What differs from code to code is how x
and w follow from a choice of where x is positive; that is the caller's.
"""

from collections.abc import Callable

import numpy as np

PATIENCE = 3
EARLY = 2


def pivot(
    evaluate: Callable, passive: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray, int]:
    """Solve least squares problems with x >= 0 for n points by exchange of passive sets.

    All wrong entries change sides at once, in the first EARLY rounds only the worst; when that has
    failed PATIENCE times to make them fewer, only the last one does (Murty's rule, which is
    finite), until they are fewer (Portugal, Judice and Vicente 1994).

    Parameters
    ----------
    evaluate : function of indices (t,) and their passive sets (k, t), returns x (k, t), wrong (k,
        t) bool: entries on the wrong side, worst (k, t) bool: those of them that should change
        sides first, and broken (t,) bool: points it could not evaluate
    passive : array (k, n) of bool, first choice of the positive entries
    limit : int, rounds after which a point is given up

    Returns
    -------
    x : array (k, n)
    failed : array (n,) of bool
    rounds : int
    """
    k, n = passive.shape
    x = np.zeros((k, n))
    failed = np.zeros(n, dtype=bool)
    todo = np.arange(n)
    fewest = np.full(n, k + 1)
    patience = np.full(n, PATIENCE)
    rounds = 0
    while len(todo) and rounds < limit:
        rounds += 1
        now, wrong, worst, broken = evaluate(todo, passive)
        count = np.count_nonzero(wrong, axis=0)
        failed[todo[broken]] = True
        done = np.flatnonzero((count == 0) & ~broken)
        x[:, todo[done]] = now[:, done]
        going = np.flatnonzero((count > 0) & ~broken)
        todo, count = todo[going], count[going]
        change = np.take(worst if rounds <= EARLY else wrong, going, axis=1)

        better = count < fewest[todo]
        fewest[todo[better]] = count[better]
        patience[todo[better]] = PATIENCE
        single = ~better & (patience[todo] == 0)
        patience[todo[~better & ~single]] -= 1
        if single.any():
            wrong = wrong[:, going[single]]
            last = k - 1 - np.argmax(wrong[::-1], axis=0)
            change[:, single] = np.arange(k)[:, None] == last
        passive = np.take(passive, going, axis=1)
        passive ^= change
    failed[todo] = True
    return x, failed, rounds
