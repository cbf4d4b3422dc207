"""Probabilities of one binary classifier: folds, and Platt's sigmoid.

Platt, "Probabilistic outputs for support vector machines" (1999), with the
numerically safe Newton iteration of Lin, Lin and Weng (2007).
"""

from __future__ import annotations

import numpy as np

from ..core.splits import stratified_folds

FOLDS = 5


def folds(side, seed, groups=None):
    """The fold of each sample: (l,) int, stratified over the two sides.

    side (l,) of 0 and 1, both present.  Each side is shuffled
    and dealt out in turn, the second side in the opposite direction; with
    fewer than `FOLDS` samples on a side, there are only as many folds.  The only sample of a side
    is in no fold, -1, as nothing could be trained without it.  With
    `groups` (l,) the samples of a group have the same fold, and there are no
    more folds than groups on a side.
    """
    side = np.asarray(side)
    members = [np.flatnonzero(side == value) for value in (0, 1)]
    if groups is not None:
        count = min(FOLDS, *(len(np.unique(groups[rows])) for rows in members))
        return stratified_folds(side, seed, count, groups)
    members = [rows for rows in members if len(rows) > 1]
    count = min([FOLDS, *map(len, members)])
    generator = np.random.Generator(np.random.PCG64(seed))
    fold = np.full(len(side), -1, dtype=np.int64)
    for value, rows in enumerate(members):
        deal = np.arange(len(rows)) % count
        if value == 1:
            deal = count - 1 - deal
        fold[rows[generator.permutation(len(rows))]] = deal
    return fold


def folds_of(side, chosen, seed):
    """The fold (l,) of each sample, -1 for those that are not `chosen` (c,), places in side (l,).

    Stratified over the sides, 0 to their number - 1, and shuffled as in `folds`. Each fold holds
    out at most 1 / FOLDS of all samples, and leaves one of each side to train on.
    """
    side = np.asarray(side)
    sizes = np.bincount(side)
    number = max(1, -(-FOLDS * len(chosen) // len(side)))
    if number == 1 and np.any(np.bincount(side[chosen], minlength=len(sizes)) >= sizes):
        number = 2
    generator = np.random.Generator(np.random.PCG64(seed))
    fold = np.full(len(side), -1, dtype=np.int64)
    start = 0
    for value in range(len(sizes)):
        where = chosen[side[chosen] == value]
        fold[where[generator.permutation(len(where))]] = (start + np.arange(len(where))) % number
        start += len(where)
    return fold


def fit_sigmoid(f, positive, counts=None, w=None):
    """A and B of P(positive) = 1 / (1 + exp(A f + B)); -> (A, B, converged).

    `f` (l,) are decision values of samples that were not trained on, `positive` (l,) a mask of the
    right sides. Targets (N+ + 1)/(N+ + 2) and 1/(N- + 2); start A = 0, B = ln((N- + 1)/(N+ + 1));
    damped Newton (sigma 1e-12, Armijo 1e-4, gradient below 1e-5, at most 100 steps). `counts` are
    (N+, N-) of the targets where the samples are some of more; those of the samples by default. `w`
    (l,) are weights of the samples, which N+ and N- are sums of then, or None for 1.
    """
    f = np.asarray(f, dtype=np.float64)
    positive = np.asarray(positive, dtype=bool)
    if w is None:
        many = float(np.count_nonzero(positive))
        others = float(len(positive)) - many
    else:
        many = float(w[positive].sum())
        others = float(w[~positive].sum())
    of_all, of_others = (many, others) if counts is None else counts
    target = np.where(positive, (of_all + 1.0) / (of_all + 2.0), 1.0 / (of_others + 2.0))
    a = 0.0
    b = np.log((others + 1.0) / (many + 1.0))
    value, below, small, whole = _loss(f, target, a, b, w)
    for _ in range(100):
        slope = target - np.where(below, 1.0, small) / whole
        if w is not None:
            slope *= w
        gradient_a = float(f @ slope)
        gradient_b = float(np.add.reduce(slope))
        if abs(gradient_a) < 1e-5 and abs(gradient_b) < 1e-5:
            return float(a), float(b), True
        weight = small / (whole * whole)
        if w is not None:
            weight *= w
        h11 = float((f * weight) @ f) + 1e-12
        h22 = float(np.add.reduce(weight)) + 1e-12
        h21 = float(f @ weight)
        determinant = h11 * h22 - h21 * h21
        if not 0.0 < determinant < float("inf"):
            return float(a), float(b), False
        step_a = -(h22 * gradient_a - h21 * gradient_b) / determinant
        step_b = -(-h21 * gradient_a + h11 * gradient_b) / determinant
        descent = gradient_a * step_a + gradient_b * step_b
        size = 1.0
        while size >= 1e-10:
            new, below, small, whole = _loss(f, target, a + size * step_a, b + size * step_b, w)
            if new < value + 1e-4 * size * descent:
                a, b, value = a + size * step_a, b + size * step_b, new
                break
            size /= 2.0
        else:  # of many samples, the last step may change the sum by less than its rounding
            return float(a), float(b), bool(-descent <= 1e-14 * value)
    return float(a), float(b), False


def fit_log_odds(f, positive, fold, w=None):
    """A and B, as of `fit_sigmoid`, for log-odds f (l,) of samples that were held out in folds.

    They are -1 and 0, which leave the log-odds as they are, unless sigmoids that are fitted without
    the fold of each sample have a smaller log loss. `fold` (l,) is -1 for samples without f.
    """
    known = fold >= 0
    f, positive, fold = f[known], positive[known], fold[known]
    if w is None:
        w = np.ones(len(f))
    else:
        w = w[known]
    z = np.array(f, dtype=np.float64)
    for number in np.unique(fold):
        out = fold == number
        a, b, _ = fit_sigmoid(f[~out], positive[~out], w=w[~out])
        z[out] = -(a * f[out] + b)
    as_they_are, of_sigmoids = (
        float(w @ np.logaddexp(0.0, np.where(positive, -one, one))) for one in (f, z)
    )
    if of_sigmoids < as_they_are:
        return fit_sigmoid(f, positive, w=w)
    return (-1.0, 0.0, True)


def _loss(f, target, a, b, w):
    """Cross-entropy of the targets, and what its derivatives are made of.

    sum w (t z + log(1 + exp(-z))), z = a f + b, kept from overflow; -> (sum, z < 0, exp(-|z|), 1 +
    exp(-|z|)). `w` is None for 1.
    """
    z = a * f
    z += b
    below = z < 0
    small = np.abs(z)
    np.negative(small, out=small)
    np.exp(small, out=small)
    whole = small + 1.0
    if w is None:
        value = float((target - below) @ z) + float(np.add.reduce(np.log(whole)))
    else:
        value = float(((target - below) * w) @ z) + float(np.log(whole) @ w)
    return value, below, small, whole
