"""The largest expected likelihood of the groups that rows of a code divide the classes into.

Row i gives probabilities r_ig to its groups.  With P_ig the sum of p over a group, the p sought has
the largest

    F(p) = sum_i sum_g r_ig log P_ig ,

which is concave.  EM would repeat p_j <- p_j G_j / m, with G_j = sum_i r_i,g(j) / P_i,g(j) and m
rows, and slow down where some p_j go to 0.  Here the same optimum, G_j <= m, and G_j = m where
p_j > 0, is found by a primal-dual interior point method: Newton's steps for

    z_j = m - G_j ,   p_j z_j = mu ,

with mu to 0.  For any p with the sum 1 the largest F is at most F(p) + max G - m, as F is concave.
"""

import numpy as np

from ..core.solver_status import in_chunks, Solver, SolverStatus
from .code_kinds import check_dense
from .zadrozny import prepare_kl_of_groups, SATURATED

BUDGET = 1 << 22  # bytes for the systems of the points that are solved together
LIMIT = 100  # steps; most points need 15 to 25
CLOSE = 1e-10  # G may exceed m by this part of it
CENTRED = 0.1  # part of the mean of p z that a step aims at
INSIDE = 0.99  # part of the way to the boundary that a step goes


def prepare(code: tuple[np.ndarray, list[slice]]) -> Solver:
    """Solver r (n, m) -> p (n, k) for a code a (m, k) and its `rows_of_groups`; a row alone has two.

    Where rows leave classes out, their logarithms are those of P_ig / T_i, T_i being the sum over
    all groups of the row, and rows count by their numbers of classes; then, and for two groups in
    each row, it is the Kullback-Leibler minimum, to which `zadrozny` goes.
    """
    a, parts = code
    check_dense(a)
    which: list = []  # row of a of each group
    sign: list = []  # its side there
    row: list = []  # its row of groups
    for number, part in enumerate(parts):
        numbers = list(range(part.start, part.stop))
        if len(numbers) == 1:
            which += 2 * numbers
            sign += [1, -1]
        else:
            which += numbers
            sign += [1] * len(numbers)
        row += [number] * (len(which) - len(row))
    if not a.all():
        return prepare_kl_of_groups(a, np.array(which), np.array(sign), np.array(row))
    groups = (a[which] * np.array(sign)[:, None] > 0).astype(float)
    starts = np.flatnonzero(np.diff(row, prepend=-1))
    g, k = groups.shape

    def solve(r):
        shares = (1.0 + r[:, which] * sign) / 2
        shares = np.maximum(shares, SATURATED)
        shares /= np.add.reduceat(shares, starts, axis=1)[:, row]
        return _largest_likelihood(groups, shares, len(starts))

    return in_chunks(solve, BUDGET // (8 * g * (g + k)), k)


def _largest_likelihood(groups, r, m):
    """(p (n, k), `SolverStatus`) for shares r (n, g) of the groups (g, k) of m rows."""
    n = len(r)
    g, k = groups.shape
    p = np.full((n, k), 1.0 / k)
    result = p.copy()
    z = np.full((n, k), float(m))
    diagonal = np.arange(k)
    todo = np.arange(n)
    rounds = 0
    while len(todo):
        sums = _each(p, groups.T)
        gain = _each(r / sums, groups)
        # a multiple of p has a sum of 1, and multiples of the other way round of G
        total = np.cumsum(p, axis=1)[:, -1:]
        done = (gain * total).max(axis=1) <= m * (1 + CLOSE)
        result[todo] = p / total
        if done.any():
            r, p, z, sums, gain, todo = (part[~done] for part in (r, p, z, sums, gain, todo))
        if rounds == LIMIT or not len(todo):
            break
        rounds += 1
        mu = CENTRED * (p * z).mean(axis=1, keepdims=True)
        system = groups.T @ ((r / sums**2)[:, :, None] * groups)
        system[:, diagonal, diagonal] += z / p
        move = np.linalg.solve(system, (gain - m + mu / p)[:, :, None])[:, :, 0]
        dual = (mu - z * move) / p - z
        p = p + _length(p, move) * move
        z = z + _length(z, dual) * dual
    return result, SolverStatus(n, rounds, len(todo))


def _length(values, move):
    """The part (n, 1) of a step that keeps values (n, k) above 0, 1 at most."""
    shrink = (-move / values).max(axis=1, keepdims=True)
    return np.minimum(1.0, INSIDE / np.maximum(shrink, INSIDE))


def _each(x, matrix):
    """x (n, .) times matrix, a product for each point: its bits depend on no neighbour."""
    return np.matmul(x[:, None, :], matrix)[:, 0, :]
