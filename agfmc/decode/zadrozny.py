"""Zadrozny's coupling of probabilities, and the Kullback-Leibler minimum it aims at.

With rb = (r + 1)/2 = P(+1), P+ and P- the sums of p over the two sides of a
binary problem, T = P+ + P-, mu = P+/T and n the number of classes on both its sides,
the iterations are

    zadrozny     p_i <- p_i [sum_+ n rb + sum_- n (1 - rb)] / [sum_+ n mu + sum_- n (1 - mu)]
    zadrozny-kl  p_i <- p_i [sum_+ n rb/P+ + sum_- n (1 - rb)/P-] / [sum n/T]

each followed by normalisation (Hastie and Tibshirani 1998 for one-vs-one; Zadrozny
2001, where n is the number of training examples; libAGF takes that of classes).
For one-vs-one they have the same fixed point; elsewhere only the second minimises
the divergence.

The plain iterations slow down until stopping says nothing about being there:
10000 steps can leave an error of 1e-3.  Here theta = log p follows the same
flow, d theta/dt = log(numerator/denominator), by implicit steps that become
Newton's as they grow.
"""

import numpy as np

from ..core.solver_status import in_chunks, Solver, SolverStatus
from .code_kinds import check_dense

BUDGET = 1 << 20
LIMIT = 3000
QUICK = 300
CLOSE = 1e-9
LONGEST = 1e8
REACH = 5.0
GROWS = 1e-6
LOWEST = -200.0
SATURATED = 1e-12


def prepare(a: np.ndarray) -> Solver:
    """Solver r (n, m) -> p (n, k) of Zadrozny's fixed point for the code a (m, k).

    A point is done when a step of length > 1000 moved no p by more than 1e-9 and the factors of all
    classes that can still grow are 1 within 1e-6; it is given up, and counted as unfinished, after
    3000 steps.
    """
    return _prepare(a, _flow)


def prepare_kl(a: np.ndarray) -> Solver:
    """Solver r (n, m) -> p (n, k) of the least sum of Kullback-Leibler divergences.

    Minimises sum_b n_b [rb log(rb/mu) + (1 - rb) log((1 - rb)/(1 - mu))]; stops as
    `prepare` does.
    """
    return _prepare(a, _flow_kl)


def prepare_kl_of_groups(a: np.ndarray, which, sign, row) -> Solver:
    """As `prepare_kl`, for rows of several groups.

    Group number j (g,) has the classes of the side `sign[j]` in row `which[j]` of a, and belongs to
    the row of groups number `row[j]`.
    """
    return _prepare(a, _flow_kl, which, sign, row)


def _prepare(a, flow, which=None, sign=None, row=None):
    check_dense(a)
    m, k = a.shape
    if which is None:  # the right sides, then the left ones
        which = np.tile(np.arange(m), 2)
        sign = np.repeat([1, -1], m)
        row = which
    groups = (a[which] * sign[:, None] > 0).astype(float)
    rows = (a[which[np.unique(row, return_index=True)[1]]] != 0).astype(float)
    n = rows.sum(axis=1, keepdims=True)
    weight = n / n.max()  # 1 exactly where all rows are equal: proportions alone matter
    # the classes of each group (g, k) and row (m, k), as 0 and 1, and times the weights of the rows
    sides = groups, weight[row] * groups, rows, weight * rows
    member = (row[:, None] == np.arange(len(rows))).astype(float)
    # Classes that no row tells apart begin as equals and would stay so, but for rounding.
    _, column, count = np.unique(a, axis=1, return_inverse=True, return_counts=True)
    alike = [np.flatnonzero(column.ravel() == one) for one in np.flatnonzero(count > 1)]

    def solve(r):
        # What is not quite certain, but for rounding, is: (1 + r)/2 would be 1 where (1 - r)/2 is
        # not yet 0, and a row with its sides changed would be another problem.
        certain = np.where(1.0 - np.abs(r) < SATURATED, np.sign(r), r)
        right = (1.0 + certain[:, which] * sign) / 2
        right /= np.maximum(_each(right, member), SATURATED)[:, row]
        p, stops = _solved(flow, sides, right)
        for columns in alike:
            same = np.ascontiguousarray(p[:, columns])
            p[:, columns] = same.sum(axis=1, keepdims=True) / len(columns)
        return p, stops

    return in_chunks(solve, BUDGET // (8 * k * (len(groups) + k)), k)


def _solved(flow, sides, right):
    """The end point of the flow from equal probabilities; right (n, g) are the
    probabilities of the groups.

    Zadrozny's flow circles for some points of some codes (trees, mostly), whose
    fixed point it would leave again.  They start once more where the divergence
    is smallest, which is the fixed point itself where the code allows p to agree
    with all classifiers.
    """
    n = len(right)
    k = sides[0].shape[1]
    equal = np.full((n, k), 1.0 / k)
    if flow is _flow_kl:
        p, rounds, left = _follow(flow, sides, right, equal, 1.0, LIMIT)
        return p, SolverStatus(n, rounds, len(left))
    p, rounds, left = _follow(flow, sides, right, equal, 1.0, QUICK)
    if len(left):
        near, _, _ = _follow(_flow_kl, sides, right[left], equal[left], 1.0, LIMIT)
        end, more, lost = _follow(flow, sides, right[left], near, LONGEST, LIMIT)
        rest = np.delete(np.arange(len(left)), lost)
        p[left[rest]] = end[rest]
        rounds, left = max(rounds, more), left[lost]
    return p, SolverStatus(n, rounds, len(left))


def _follow(flow, sides, right, start, length, limit):
    """Follow the flow from `start`; -> p (n, k), rounds, the points that did not come to rest."""
    n, k = start.shape
    theta, p = _normalise(np.log(np.maximum(start, np.exp(LOWEST))))
    length = np.full(n, length)
    todo = np.arange(n)
    speed, slope = flow(sides, right, p)
    rounds = 0
    while len(todo) and rounds < limit:
        rounds += 1
        move = _implicit(p[todo], speed, slope, length[todo])
        trial, q = _normalise(theta[todo] + move)
        new_speed, new_slope = flow(sides, right[todo], q)
        rest = _distance(q, new_speed)
        size = _distance(p[todo], speed)
        # A long implicit step runs into corners that the flow leaves: against the growth.
        along = (move * (speed - (p[todo] * speed).sum(axis=1, keepdims=True))).sum(axis=1)
        good = (along >= 0) & (rest <= 2.0 * size + 1e-15)
        good |= (length[todo] <= 1e-2) | (rest <= GROWS)
        done = good & (length[todo] > 1e3) & (np.abs(q - p[todo]).max(axis=1) <= CLOSE)
        done &= rest <= GROWS

        taken = todo[good]
        theta[taken], p[taken] = trial[good], q[good]
        speed[good], slope[good] = new_speed[good], new_slope[good]
        length[todo] = np.where(good, np.minimum(length[todo] * 4, LONGEST), length[todo] / 16)
        todo, speed, slope = todo[~done], speed[~done], slope[~done]
    return p, rounds, todo


def _distance(p, speed):
    """The distance from rest (n,): the largest growth of a class, or loss of its probability.

    A class of hardly any probability that grows counts in full: a step may have
    gone too far into a corner where the flow does not end.
    """
    growth = speed - (p * speed).sum(axis=1, keepdims=True)
    return np.where(growth > 0, growth, -p * growth).max(axis=1)


def _implicit(p, speed, slope, length):
    """The change of theta in one linearly implicit step: (I/h - slope) move = speed."""
    n, k = p.shape
    matrix = np.eye(k) / length[:, None, None] - slope
    move = np.linalg.solve(matrix, speed[:, :, None])[:, :, 0]
    # theta + constant is the same point.
    move -= (p * move).sum(axis=1, keepdims=True)
    return np.clip(move, -REACH, REACH)


def _normalise(theta):
    theta = np.maximum(theta - theta.max(axis=1, keepdims=True), LOWEST)
    p = np.exp(theta)
    total = p.sum(axis=1, keepdims=True)
    return theta - np.log(total), p / total


def _speed(numerator, denominator):
    tiny = np.exp(-2 * REACH)
    return np.log(np.maximum(numerator, tiny * denominator) / denominator)


def _each(x, matrix):
    """x (n, .) times matrix, a product for each point: its bits depend on no neighbour."""
    return np.matmul(x[:, None, :], matrix)[:, 0, :]


def _flow(sides, right, p):
    """log(numerator/denominator) (n, k) and its derivatives by theta (n, k, k)."""
    groups, heavy, rows, _ = sides
    m = len(rows)
    plus = groups[:m]
    minus = groups[m:]
    sums = _each(p, groups.T)
    above = sums[:, :m]
    below = sums[:, m:]
    total = above + below
    numerator = _each(right, heavy)
    denominator = _each(sums / np.tile(total, 2), heavy)
    denominator = np.maximum(denominator, 1e-300)
    # d mu/d theta_l = p_l (below [l in +] - above [l in -]) / total^2
    change = (below / total**2)[:, :, None] * plus - (above / total**2)[:, :, None] * minus
    change *= p[:, None, :]
    slope = (heavy[m:] - heavy[:m]).T @ change
    slope /= denominator[:, :, None]
    return _speed(numerator, denominator), slope


def _flow_kl(sides, right, p):
    groups, heavy, rows, heavy_rows = sides
    sums = _each(p, groups.T)
    total = _each(p, rows.T)
    share = right / sums
    numerator = _each(share, heavy)
    denominator = _each(1.0 / total, heavy_rows)
    slope = heavy.T @ ((share / sums)[:, :, None] * groups)
    slope /= -np.maximum(numerator, 1e-300)[:, :, None]
    slope += (heavy_rows.T @ ((1.0 / total**2)[:, :, None] * rows)) / denominator[:, :, None]
    slope *= p[:, None, :]
    return _speed(numerator, denominator), slope
