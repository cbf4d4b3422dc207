"""Leave-one-out decision values of a C-SVC, computed from a single fit.

Vapnik and Chapelle, "Bounds on error expectation for support vector machines" (2000): if the
other support vectors stay free, or at their bound, when sample i is left out, its decision value
becomes f_i - y_i alpha_i S_i^2, where S_i is the distance in feature space from i to the affine
hull of the other free support vectors.  A sample that is no support vector keeps its f_i.

Two refinements make this agree with retraining where samples repeat and where few are free.

Equal samples of one side, and nearly equal ones, share their alpha in an arbitrary way, and S_i is
about 0 where such a twin stays, though alpha only goes to it up to its bound.  So they are one
unit, with the sum A of their alpha and the sum L of their bounds, and the hull is that of the
different points.  To leave out a sample with the bound l lowers L by l; only the excess
e = max(A - (L - l), 0) has to go:

    y f_loo = y f - d,  d = e S^2 .

Equal samples of the other side, with the sum A', yield as soon as their own margin is met: where
y f_loo < -1, it is min(-1, y f - max(e - A', 0) S^2).

Samples near the margin become free while f moves, and resist it.  With a loss that is smooth within
h of the margin (|1 - y f| <= h / 2, slope of alpha -C / h), these points belong to the hull, with
h / L on the diagonal of their kernel values; S^2 falls as h grows.  The h to take is that of the
movement itself, d = 2 h, computed by interpolation between a few h.
"""

from __future__ import annotations

import numpy as np

from ..core.errors import UsageError
from ..core.points import LowerTriangle

MOST_FREE = 2000  # the work grows with the cube of their number, the memory with the square
_MOST_NEAR = 100  # points near the margin that are not free
_WIDTHS = (0.5, 5.0)  # the h
_FAR, _DOUBTFUL = 2.0, 0.05  # the formula is in doubt where so large a share moves so far
_FEW = 300  # points whose kernel values are stored
_BLOCK = 1_000_000  # kernel values at a time
_SQUARE = 64  # points whose K_ii are computed at a time, as the diagonal of a block
# Points are merged where that moves f by no more, which is little beside the margin of 1 ...
_MOVES = 0.05
_SHARE = 0.01  # ... and where their squared distance is so small a share of the usual one
_BOUND = 1e-9  # relative: LIBSVM sets a coefficient at the bound to C itself
_RIDGE = 1e-9  # of the largest K_ii: points may depend on each other


def loo_values(kernel, x, problem, solution, options, table=None):
    """f (l,) of each sample by a classifier that was trained without it, in LIBSVM's sign.

    With K the kernel values of the points of the hull, K + diag(h / L) + ridge = T T', q = T^-1
    k_i, o = T^-1 1 and H^-1 = K^-1 - K^-1 1 1' K^-1 / o'o, S_i^2 is 1 / (H^-1)_ii - h / L_i for a
    point of the hull and K_ii - q'q + (1 - o'q)^2 / o'o for others.

    The distance to the mean of the other side's support vectors, weighted by alpha, stands in where
    the hull holds no other point, and where a kernel that is not positive definite takes S_i^2 out
    of 0 to 4 max K_ii: to take alpha from these in proportion is always feasible.

    Parameters
    ----------
    kernel : function of points a (p, d) and b (q, d)
        Returns K (p, q); either may be empty.
    x : array (n, d), all points
    problem : Samples, a sample of it is left out with all of its weight
    solution : Solution, its solution under `options`, `SVM`
    table : KernelTable, optional, of all points, with exact values, used in place of `kernel`

    Returns
    -------
    array (l,) or None
        None where folds are the better way: more than `MOST_FREE` points are free, or so many samples
        move so far that the formula is in doubt.

    Raises
    ------
    UsageError : for a nu-SVC, whose margin and C would change as well
    """
    if options.svm_type != "c_svc":
        raise UsageError("leave-one-out values are for a C-SVC (-s 0) only, not for a nu-SVC")
    limits = _limits(solution, options, problem.side, problem.w)
    units = _Units(problem, solution, limits)
    if table is None:
        between = _between_points(kernel, x, units.first)
    else:
        between = lambda a, b: table.values(units.first[a], units.first[b])
    f, itself, to_mean, leader = _values(between, units, solution.rho, limits.max())
    units.merge(leader)
    distance = np.abs(1.0 - np.stack([-f, f], axis=1))
    largest = np.abs(itself).max(initial=0.0)
    if np.count_nonzero(units.is_free.any(axis=1)) > MOST_FREE:
        return None
    moves = units.moves
    before = None
    moved = np.zeros(len(problem.rows))
    for width in _WIDTHS:
        hull, limit = _hull(units, distance <= width / 2)
        at = np.unique(units.point[moves])
        span = np.full(len(f), np.nan)
        span[at] = _spans(between, at, hull, width / limit, itself[at])
        with np.errstate(invalid="ignore"):
            usable = (span >= -1e-6 * largest) & (span <= 4.0 * largest)
        squared = np.where(usable[:, None], span[:, None], to_mean)[units.point, units.column]
        now = units.excess * np.maximum(squared, 0.0)
        moved[moves] = (now if before is None else _between(before, (width, now)))[moves]
        moves = moves & (now > 2.0 * width)
        before = width, now
        if not moves.any():
            break
    if np.count_nonzero(moved > _FAR) > _DOUBTFUL * len(moved):
        return None
    return units.leave_out(f, moved)


class _Units:
    """The samples of a problem, merged where the side is equal and the point too, or nearly.

    Attributes
    ----------
    first : row (p,) of x of each different point, in the order of `rows`
    sample : point (l,) of each sample
    point, column : unit (l,) of each sample, column 1 for the first label
    alpha, limit, is_free : (p, 2), sums of the coefficients and of their bounds, and where the
        former are between 0 and the latter
    excess : alpha (l,) that goes with a sample
    moves : mask (l,) of the samples where that moves f
    """

    def __init__(self, problem, solution, limit):
        rows = problem.rows
        self.first = rows
        self.point = np.arange(len(rows))
        if problem.number is not None:
            _, first, inverse = np.unique(
                problem.number[rows], return_index=True, return_inverse=True
            )
            order = np.argsort(first)  # different points in the order of their first rows
            self.first = rows[first[order]]
            self.point = np.argsort(order)[inverse]
        self.sample = self.point
        self.column = (problem.side == solution.labels[0]).astype(np.intp)
        alpha = np.zeros(len(rows))
        alpha[solution.sv] = np.abs(solution.coef)
        self._of_samples = alpha, limit
        self._gather()

    def merge(self, leader):
        """Join each point to that with the number `leader` (p,); others stay without samples."""
        self.point = leader[self.sample]
        self._gather()

    def _gather(self):
        unit = 2 * self.point + self.column
        size = 2 * len(self.first)
        self.alpha, self.limit = (
            np.bincount(unit, values, size).reshape(-1, 2) for values in self._of_samples
        )
        self.is_free = (self.alpha > 0) & (self.alpha < self.limit * (1 - _BOUND))
        here = self.point, self.column
        limit = self._of_samples[1]
        self.excess = np.maximum(self.alpha[here] - (self.limit[here] - limit), 0.0)
        self.excess[self.alpha[here] == 0] = 0.0
        # a free unit of the other side at the same point takes over without any movement
        self.moves = (self.excess > 0) & ~self.is_free[self.point, 1 - self.column]

    def leave_out(self, f, moved):
        """Values (l,) of the samples, from f (p,) of the points and movements (l,)."""
        sign = np.where(self.column == 1, 1.0, -1.0)
        margin = sign * f[self.sample]
        twin = self.alpha[self.point, 1 - self.column]
        share = np.maximum(self.excess - twin, 0.0) / np.where(self.excess > 0, self.excess, 1.0)
        yields = (margin - moved < -1.0) & (twin > 0) & (moved > 0)
        return sign * np.where(yields, np.minimum(-1.0, margin - share * moved), margin - moved)


def _between_points(kernel, x, first):
    """A function of numbers a (p,), b (q,) of different points that gives K (p, q)."""
    if len(first) > _FEW:
        return lambda a, b: kernel(x[first[a]], x[first[b]])
    points = x[first]
    values = kernel(points, points)
    return lambda a, b: values[a][:, b]


def _values(between, units, rho, most):
    """f (p,), K_ii (p,), squared distances (p, 2) to the mean of the other side's support vectors,
    and the number (p,) of the point that stands for each.

    A point is represented by the first support vector near it, unless another one represents that.
    To give alpha, `most` at a time, from one to the other moves the difference of f between them by
    their squared distance times that.
    """
    count = len(units.first)
    support = np.flatnonzero(units.alpha.any(axis=1))
    weights = units.alpha[support]
    total = weights.sum(axis=0)
    sums = np.column_stack(
        [weights / np.where(total > 0, total, 1.0), weights[:, 1] - weights[:, 0]]
    )
    starts = range(0, count, _SQUARE)
    squares = (slice(start, start + _SQUARE) for start in starts)
    itself = np.concatenate([np.diagonal(between(part, part)) for part in squares])
    products = np.empty((count, 3))
    leader = np.arange(count)
    step = max(1, _BLOCK // max(len(support), 1))
    for start in range(0, count, step):
        part = slice(start, start + step)
        # as a table gives them, to the last bit
        if count <= _FEW:
            values = between(support, part).T
        else:
            values = between(part, support)
        products[part] = values @ sums
        squared = np.abs(itself[part, None] + itself[support] - 2.0 * values)
        limit = np.minimum(_MOVES / most, _SHARE * squared.mean(axis=1))
        near = squared <= limit[:, None]
        leader[part] = np.where(near.any(axis=1), support[near.argmax(axis=1)], leader[part])
    leader = np.where(leader[leader] == leader, leader, np.arange(count))
    toward = products[:, :2]
    centre = np.einsum("ij,ij->j", sums[:, :2], toward[support])  # squared length of each mean
    to_mean = itself[:, None] - 2.0 * toward[:, ::-1] + centre[::-1]
    return products[:, 2] - rho, itself, to_mean, leader


def _hull(units, near):
    """The points of the hull, ascending, and their bounds L: the free ones and those near (p, 2)
    the margin.  Of many of the latter some stand for all."""
    near = (near & (units.limit > 0)) | units.is_free
    free = units.is_free.any(axis=1)
    others = np.flatnonzero(near.any(axis=1) & ~free)
    step = max(1, -(-len(others) // _MOST_NEAR))
    limit = np.where(near, units.limit, 0.0).sum(axis=1) * np.where(free, 1, step)
    hull = np.sort(np.concatenate([np.flatnonzero(free), others[::step]]))
    return hull, limit[hull]


def _spans(between, at, hull, stiffness, itself):
    """S^2 (a,) of points `at` (a,) from the affine hull of the other points of `hull` (q,).

    `stiffness` (q,) is added to the diagonal of their kernel values; `itself` (a,) is K_ii. NaN
    where the kernel is not positive definite or there is no hull.
    """
    span = np.full(len(at), np.nan)
    largest = float(itself.max(initial=0.0))
    if not len(hull) or not largest > 0:
        return span
    matrix = between(hull, hull)
    matrix[np.diag_indices_from(matrix)] += stiffness + _RIDGE * largest
    try:
        triangle = LowerTriangle.cholesky(matrix)
    except np.linalg.LinAlgError:
        return span
    ones = triangle.solve(np.ones((len(hull), 1)))[:, 0]
    length = ones @ ones
    position = np.minimum(np.searchsorted(hull, at), len(hull) - 1)
    inside = hull[position] == at
    step = max(1, _BLOCK // len(hull))
    for numbers in (np.flatnonzero(inside), np.flatnonzero(~inside)):
        for start in range(0, len(numbers), step):
            chosen = numbers[start : start + step]
            if inside[chosen[0]]:
                right = np.zeros((len(hull), len(chosen)))
                right[position[chosen], np.arange(len(chosen))] = 1.0
            else:
                right = between(hull, at[chosen])
            q = triangle.solve(right)
            squares = np.einsum("ij,ij->j", q, q)
            products = ones @ q
            with np.errstate(divide="ignore", over="ignore"):
                span[chosen] = (
                    1.0 / (squares - products**2 / length) - stiffness[position[chosen]]
                    if inside[chosen[0]]
                    else itself[chosen] - squares + (1.0 - products) ** 2 / length
                )
    return span


def _between(before, after):
    """The movement d (l,) that is twice its width, between (width, d) `before` and `after`."""
    (low, more), (high, less) = before, after
    more, less = np.maximum(more, 1e-300), np.maximum(less, 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.log(more / (2.0 * low))
        below = np.log(less / (2.0 * high))
        share = np.clip(above / (above - below), 0.0, 1.0)
    return np.where(below < 0, np.exp((1.0 - share) * np.log(more) + share * np.log(less)), less)


def is_unbounded(solution, options, side, w=None) -> bool:
    """True if no support vector of a C-SVC is at its bound: any larger C gives the same.

    `side` (l,) are the sides of the samples, `w` (l,) their weights, or None.
    """
    if options.stores_vectors or options.svm_type != "c_svc" or solution.sv is None:
        return False
    limit = _limits(solution, options, side, w)[solution.sv]
    return bool((np.abs(solution.coef) < limit * (1 - _BOUND)).all())


def _limits(solution, options, side, w):
    """C (l,) of each sample."""
    weights = dict(options.weights)
    first, second = (options.C * weights.get(int(label), 1.0) for label in solution.labels)
    limits = np.where(side == solution.labels[0], first, second)
    if w is None:
        return limits
    return limits * w
