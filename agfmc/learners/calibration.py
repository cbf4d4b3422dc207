"""Probabilities of one binary classifier: folds, and Platt's sigmoid.

Platt, "Probabilistic outputs for support vector machines" (1999), with the
numerically safe Newton iteration of Lin, Lin and Weng (2007).

Leave-one-out decision values of a support vector machine from one fit.

Vapnik and Chapelle, "Bounds on error expectation for support vector machines"
(2000): if the other support vectors keep their roles, free or at the bound,
when sample i is left out, its decision value becomes f_i - y_i alpha_i S_i^2,
where S_i is the distance in feature space from i to the affine hull of the
other free support vectors.  A sample that is no support vector keeps its f_i.

Where others do change their roles this mostly takes too much away, the more so
the larger C and the fewer free support vectors there are: a linear kernel with
few features and a large C is better served by folds.
"""

from __future__ import annotations

import hashlib

import numpy as np

from ..errors import UsageError

__all__ = ["FOLDS", "MOST_FREE", "fit_sigmoid", "fold_count", "fold_count_of", "folds",
           "folds_of", "is_unbounded", "job_seed", "loo_values"]

FOLDS = 5


def job_seed(seed, left, right):
    """The seed of one binary problem, from the user's seed and the classes it tells apart.

    Equal partitions get equal folds wherever they stand, so that a tree and
    the code made from it are the same models.
    """
    text = f"{seed}:{' '.join(map(str, sorted(left)))}/{' '.join(map(str, sorted(right)))}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def fold_count(left, right, count=FOLDS):
    """Number of folds for that many samples on the two sides: each needs one of either."""
    return min(count, left, right)


def folds(side, seed, count=FOLDS):
    """The fold of each sample: (l,) int, stratified over the two sides.

    side (l,) of 0 and 1, both present at least twice.  Each side is shuffled
    and dealt out in turn, the second side in the opposite direction; with
    fewer than `count` samples on a side, there are only as many folds.
    """
    side = np.asarray(side)
    count = fold_count(*(int(np.count_nonzero(side == value)) for value in (0, 1)), count)
    generator = np.random.Generator(np.random.PCG64(seed))
    fold = np.empty(len(side), dtype=np.int64)
    for value in (0, 1):
        where = np.flatnonzero(side == value)
        deal = np.arange(len(where)) % count
        fold[where[generator.permutation(len(where))]] = deal if value == 0 else count - 1 - deal
    return fold


def fold_count_of(sizes, chosen, count=FOLDS):
    """Number of folds that hold out the chosen samples alone, at most 1 / count of all in each.

    sizes, chosen: numbers of samples of each side, of all and of the chosen ones.  One sample
    of each side is left to train on in each fold.
    """
    total = sum(chosen)
    if not total:
        return 0
    number = -(-count * total // sum(sizes))
    return 2 if number == 1 and any(part >= size for part, size in zip(chosen, sizes)) else number


def folds_of(side, chosen, seed, count=FOLDS):
    """The fold (l,) of each sample, -1 for those that are not `chosen` (c,), places in side (l,).

    Stratified over the sides, 0 to their number - 1, and shuffled as in `folds`.
    """
    side = np.asarray(side)
    sizes = np.bincount(side)
    number = fold_count_of(sizes.tolist(), np.bincount(side[chosen],
                                                       minlength=len(sizes)).tolist(), count)
    generator = np.random.Generator(np.random.PCG64(seed))
    fold = np.full(len(side), -1, dtype=np.int64)
    start = 0
    for value in range(len(sizes)):
        where = chosen[side[chosen] == value]
        fold[where[generator.permutation(len(where))]] = (start + np.arange(len(where))) % max(
            number, 1)
        start += len(where)
    return fold


def fit_sigmoid(f, positive, counts=None, w=None):
    """A and B of P(positive) = 1 / (1 + exp(A f + B)); -> (A, B, converged).

    f (l,) decision values on samples that were not trained on; positive (l,)
    bool.  Targets (N+ + 1)/(N+ + 2) and 1/(N- + 2); start A = 0, B = ln((N- +
    1)/(N+ + 1)); damped Newton (sigma 1e-12, Armijo 1e-4, gradient below
    1e-5, at most 100 steps).  counts: (N+, N-) of the targets where the samples are some of
    more; those of the samples by default.  w (l,): weights of the samples, which N+ and N- are
    sums of then, or None for 1.
    """
    f = np.asarray(f, dtype=np.float64)
    positive = np.asarray(positive, dtype=bool)
    if w is None:
        many = float(np.count_nonzero(positive))
        others = float(len(positive)) - many
    else:
        many, others = float(w[positive].sum()), float(w[~positive].sum())
    of_all, of_others = (many, others) if counts is None else counts
    target = np.where(positive, (of_all + 1.0) / (of_all + 2.0), 1.0 / (of_others + 2.0))
    a, b = 0.0, np.log((others + 1.0) / (many + 1.0))
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


def _loss(f, target, a, b, w):
    """Cross-entropy of the targets, and what its derivatives are made of.

    sum w (t z + log(1 + exp(-z))), z = a f + b, kept from overflow; -> (sum, z < 0,
    exp(-|z|), 1 + exp(-|z|)).  w: None for 1.
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


MOST_FREE = 2000  # the work grows with the cube of their number, the memory with the square
_BLOCK = 1_000_000  # kernel values at a time
_BOUND = 1e-9  # relative: LIBSVM sets a coefficient at the bound to C itself
_RIDGE = 1e-10  # relative: copies of a point make the matrix singular


def loo_values(kernel, x, rows, solution, options, most=MOST_FREE, w=None):
    """f (l,) of each sample by a classifier that was trained without it, in LIBSVM's sign.

    kernel: function of points a (p, d), b (q, d) that gives K (p, q), either
    of which may be none; x (n, d) all points; rows (l,) those of the problem;
    solution: the `Solution` of that problem under `options`, w (l,) its weights or None: a
    sample is left out with all of its weight.  None where more than `most` support vectors are
    free (0 < alpha < C, of the weight): folds are then the better way.

    With F the free support vectors, K_FF their kernel values and the bordered
    matrix H = [[K_FF, 1], [1', 0]]:

        i in F:         S_i^2 = 1 / (H^-1)_ii
        i at its bound: S_i^2 = K_ii - v' H^-1 v,  v = [K_iF, 1]

    Where F holds nothing but i, where H cannot be inverted, and where a kernel
    that is not positive definite takes S_i^2 out of 0 to 4 max K_ii, S_i is
    the distance from i to the mean of the other side's support vectors
    weighted by alpha: to take i's alpha from these in proportion is always
    feasible.  The values are finite.  Raises `UsageError` for a nu-SVC:
    leaving out a sample moves its margin and its C, which H does not know of.
    """
    if options.svm_type != "c_svc":
        raise UsageError("leave-one-out values are for a C-SVC (-s 0) only, not for a nu-SVC")
    rows = np.asarray(rows)
    sv = np.asarray(solution.sv)
    coef = np.asarray(solution.coef, dtype=np.float64)
    first = coef > 0
    is_free = np.abs(coef) < _limits(solution, options, w) * (1 - _BOUND)
    free = np.flatnonzero(is_free)
    if len(free) > most:
        return None
    points = x[rows[sv]]
    inverse, scale = _bordered_inverse(kernel(points[free], points[free]))
    sides = _side_weights(coef, first)

    f = np.empty(len(rows))
    own = np.empty(len(sv))  # K_ii
    toward = np.empty((len(sv), 2))  # product with the mean of each side
    span = np.empty(len(sv))  # S_i^2, of those at the bound at first
    number = np.full(len(rows), -1)
    number[sv] = np.arange(len(sv))
    step = max(1, _BLOCK // max(len(sv), 1))
    for start in range(0, len(rows), step):
        values = kernel(x[rows[start:start + step]], points)
        f[start:start + step] = values @ coef - solution.rho
        here = number[start:start + step]
        at = np.flatnonzero(here >= 0)
        here = here[at]
        own[here] = values[at, here]
        values = values[at]
        toward[here] = values @ sides
        bound = np.flatnonzero(~is_free[here])
        here = here[bound]
        border = np.ones((len(bound), len(free) + 1))
        border[:, :-1] = values[np.ix_(bound, free)]
        border[:, :-1] /= scale
        with np.errstate(over="ignore", invalid="ignore"):
            span[here] = own[here] - scale * np.einsum("ij,ij->i", border @ inverse, border)
    with np.errstate(divide="ignore"):
        span[free] = scale / np.diagonal(inverse)[:-1]

    most_own = np.abs(own).max(initial=0.0)
    other = np.where(first, 1, 0)
    centre = np.einsum("ij,ij->j", sides, toward)  # squared length of the mean of each side
    distance = own - 2.0 * toward[np.arange(len(sv)), other] + centre[other]
    with np.errstate(invalid="ignore"):  # a point on the hull may be below zero by rounding
        usable = (span >= -1e-6 * most_own) & (span <= 4.0 * most_own)
    span = np.where(usable, span, distance)
    f[sv] -= coef * np.maximum(span, 0.0)
    return f


def is_unbounded(solution, options, w=None) -> bool:
    """True where a C-SVC's `Solution` is that of any larger C, too: no support vector is at its
    bound.  w (l,): weights of the samples, or None."""
    if options.own_vectors or options.svm_type != "c_svc" or solution.sv is None:
        return False
    coef = np.asarray(solution.coef)
    return bool((np.abs(coef) < _limits(solution, options, w) * (1 - _BOUND)).all())


def _limits(solution, options, w):
    """C of each support vector; the first label has the positive coefficients."""
    weights = dict(options.weights)
    positive, negative = (options.cost * weights.get(int(label), 1.0)
                          for label in solution.labels)
    limits = np.where(np.asarray(solution.coef) > 0, positive, negative)
    return limits if w is None else limits * np.asarray(w)[solution.sv]


def _side_weights(coef, first):
    """(s, 2): the alphas of the first and of the second side, each with sum 1."""
    alpha = np.abs(coef)[:, None] * np.stack([first, ~first], axis=1)
    total = alpha.sum(axis=0)
    return alpha / np.where(total > 0, total, 1.0)


def _bordered_inverse(kernel):
    """Inverse of H with `kernel` (p, p) divided by its scale, and that scale.

    All NaN where there is no inverse: no free support vector, or a kernel that is
    not positive definite.
    """
    size = len(kernel)
    scale = float(np.abs(np.diagonal(kernel)).mean()) if size else 1.0
    if not scale > 0:
        scale = 1.0
    bordered = np.ones((size + 1, size + 1))
    bordered[:-1, :-1] = kernel
    bordered[:-1, :-1] /= scale
    bordered[-1, -1] = 0.0
    bordered[np.arange(size), np.arange(size)] += _RIDGE
    try:
        return np.linalg.inv(bordered), scale
    except np.linalg.LinAlgError:
        return np.full_like(bordered, np.nan), scale
