"""Least squares without sign constraints, and projections of simple estimates.

Methods 1, 4, 5 and 6, each for any code.  M = A - |A| r and
Q = A + (1 - |A|) r (row i times r_i), so that M p = Q p - r where sum p = 1.
"""

import numpy as np

from ..core.reproducible import Uniform
from ..core.solver_status import direct, in_chunks, Solver, SolverStatus
from .closed_forms import project
from .code_kinds import check_dense, determines, one_vs_one
from .least_norm import equality, RANK
from .pairwise import PairSystem

BUDGET = 4 << 20
SINGULAR = 1e6


def prepare_orthogonal(a: np.ndarray) -> Solver:
    """Solver of the projection of A^T r / m onto the simplex."""
    votes = Uniform(a / a.shape[0])
    return direct(lambda r: project(votes(r)))


def prepare_inverse(a: np.ndarray) -> Solver:
    """Solver of min |M p|^2 with sum p = 1; p may go negative.

    For one-vs-one it does not, and this is the constrained solution.
    """
    pairs = one_vs_one(a)
    if pairs is not None:
        return direct(PairSystem(pairs))
    check_dense(a)
    code = a.astype(float)
    size = np.abs(a).astype(float)
    if a.all():  # p = offset + r slope
        middle = np.full(a.shape[1], 1.0 / a.shape[1])
        slope = np.linalg.pinv(code - code.mean(axis=1, keepdims=True), rcond=RANK).T
        return _linear(middle - (code @ middle) @ slope, slope, not determines(a))

    def system(r):
        matrix = code - size * r[:, :, None]
        k = matrix.transpose(0, 2, 1) @ matrix
        k += 1.0
        return k, np.ones((len(r), a.shape[1]))

    def careful(r):
        p, _, _, _, flat = equality(code, r, np.ones((len(r), a.shape[1]), dtype=bool))
        return p, flat

    stacked = _stacked(system, careful, a.shape)

    def solve(r):
        p, stops = stacked(r)
        p /= p.sum(axis=1, keepdims=True)
        return p, stops

    return solve


def prepare_unconstrained(a: np.ndarray) -> Solver:
    """Solver of the least squares solution of [Q; 1^T] p = [r; 1]."""
    check_dense(a)
    m, k = a.shape
    code = a.astype(float)
    outside = 1.0 - np.abs(a)
    if a.all():
        inverse = np.linalg.pinv(np.vstack([code, np.ones(k)]))
        return _linear(inverse[:, m], inverse[:, :m].T, not determines(a))

    def matrix(r):
        return np.concatenate([code + outside * r[:, :, None], np.ones((len(r), 1, k))], axis=1)

    def right(r):
        return np.concatenate([r, np.ones((len(r), 1))], axis=1)

    def system(r):
        q = matrix(r)
        return q.transpose(0, 2, 1) @ q, (right(r)[:, None, :] @ q)[:, 0, :]

    def careful(r):
        q = matrix(r)
        p = (np.linalg.pinv(q, rcond=RANK) @ right(r)[:, :, None])[:, :, 0]
        return p, np.linalg.matrix_rank(q) < k

    return _stacked(system, careful, a.shape)


def prepare_renormalised(a: np.ndarray) -> Solver:
    """Solver of `prepare_unconstrained`, projected onto the simplex."""
    unconstrained = prepare_unconstrained(a)

    def solve(r):
        p, stops = unconstrained(r)
        return project(p), stops

    return solve


def _linear(offset, slope, flat):
    map_values = Uniform(slope)

    def solve(r):
        return offset + map_values(r), SolverStatus(len(r), undetermined=len(r) if flat else 0)

    return solve


def _stacked(system, careful, shape):
    """Solver by system(r) = (matrix (g, k, k), right (g, k)), in slices of bounded memory.

    Points whose matrix is singular, or too near, go to careful(r) -> p, flat.
    """
    m, k = shape

    def solve(r):
        r = np.ascontiguousarray(r)  # BLAS sums as memory lies
        p, bad = _solve_each(*system(r))
        flat = np.zeros(0, dtype=bool)
        if bad.any():
            p[bad], flat = careful(r[bad])
        return p, SolverStatus(len(r), undetermined=int(np.count_nonzero(flat)))

    return in_chunks(solve, BUDGET // (8 * k * (m + k)), k)


def _solve_each(matrix, right):
    """Solutions of matrix (n, s, s) x = right (n, s), and which (n,) are singular, or nearly.

    These have a lower bound of the condition number above `SINGULAR`.  numpy refuses a whole stack for
    one singular matrix; the stack is halved until the singular ones are alone.
    """
    n, s = right.shape
    x = np.zeros((n, s, 2))
    singular = np.zeros(n, dtype=bool)
    # any fixed vector in general position will do to test for singularity
    right = np.stack([right, np.broadcast_to(np.cos(1.0 + np.arange(s)), (n, s))], axis=2)
    stacks = [slice(0, n)]
    while stacks:
        stack = stacks.pop()
        try:
            x[stack] = np.linalg.solve(matrix[stack], right[stack])
        except np.linalg.LinAlgError:
            if stack.stop - stack.start == 1:
                singular[stack] = True
            else:
                middle = (stack.start + stack.stop) // 2
                stacks += [slice(stack.start, middle), slice(middle, stack.stop)]
    trace = np.trace(matrix, axis1=1, axis2=2)
    with np.errstate(over="ignore", invalid="ignore"):  # NaN where a pivot was a denormal
        singular |= ~(np.abs(x[:, :, 1]).max(axis=1) * trace <= SINGULAR)
    return x[:, :, 0], singular | ~np.isfinite(x).all(axis=(1, 2))
