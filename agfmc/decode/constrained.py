"""Constrained least squares, exactly: min |M p|^2 with p >= 0 and sum p = 1.

M = A - |A| r (row i times r_i).  With K = M^T M + 1 1^T the solution is
u / sum u, where u >= 0, K u - 1 >= 0 and u (K u - 1) = 0: the normal equations
of min |[M; 1^T] u - [0; 1]|^2, u >= 0.  p is optimal if and only if, with
G = M^T M and f = p^T G p, (G p)_j = f where p_j > 0 and (G p)_j >= f where
p_j = 0.

Block principal pivoting (`pivot`) goes over many points at once; of a set of passive classes,
those with u > 0, the equations K u = 1 are solved.  No point's numbers depend on its neighbours.
"""

import numpy as np

from ..core.reproducible import Uniform
from ..core.solver_status import direct, in_chunks, Solver, SolverStatus
from . import least_norm
from .closed_forms import closed_form, project
from .code_kinds import check_dense
from .pivot import pivot
from .unconstrained import solve_each

CHUNK = 8192
BUDGET = 1 << 21  # bytes of systems that are solved together
SINGULAR = 1e9


def prepare(a: np.ndarray) -> Solver:
    """Solver of constrained least squares for the code a (m, k), closed form if there is one."""
    form = closed_form(a)
    return prepare_general(a) if form is None else direct(form[1])


def prepare_general(a: np.ndarray) -> Solver:
    """Solver of constrained least squares for any code a (m, k)."""
    check_dense(a)
    m, k = a.shape
    code = a.T.astype(float)
    size = np.abs(code)
    votes = Uniform(code.T / size.sum(axis=1))
    # Rounding of u and of K u, whose entries are sums of m terms of at most 4.
    tiny = 1e-14 * (m + 10)
    rescue = least_norm.prepare_constrained(a)

    def solve(r):
        def evaluate(points, passive):
            u, doubtful = _solutions(code, r[points], passive)
            there = r[points].T
            residual = code.T @ u - there * (size.T @ u)
            w = code @ residual - size @ (there * residual) + u.sum(axis=0) - 1.0  # K u - 1
            out = passive & (u < -tiny)
            w[passive] = 0.0
            enter = w < -tiny
            wrong = out | enter
            worst = out | (enter & (w < 0.5 * w.min(axis=0)))
            # Where the search would end: is there a class that might as well enter?
            doubtful |= (~passive & (w < 10 * tiny)).any(axis=0)
            return u, wrong, worst, doubtful & ~wrong.any(axis=0)

        first = np.ascontiguousarray((project(votes(r)) > 0).T)
        u, failed, rounds = pivot(evaluate, first, 20 + 2 * k)
        np.maximum(u, 0.0, out=u)
        u[:, failed] = 1.0
        u = np.ascontiguousarray(u.T)
        u /= u.sum(axis=1, keepdims=True)
        if not failed.any():
            return u, SolverStatus(len(r), rounds)
        u[failed], rescued = rescue(r[failed])
        return u, SolverStatus(len(r), max(rounds, rescued.rounds), rescued.unfinished,
                               rescued.undetermined)

    return in_chunks(solve, CHUNK, k)


def _solutions(code, r, passive):
    """u (k, n) for code (k, m), r (n, m) and passive (k, n), and where (n,) it is in doubt."""
    u, doubtful = np.zeros(passive.T.shape), np.zeros(len(r), dtype=bool)
    sizes = np.count_nonzero(passive, axis=0)
    for s in np.unique(sizes).tolist():
        points, step = np.flatnonzero(sizes == s), max(1, BUDGET // (8 * s * r.shape[1]))
        for start in range(0, len(points), step):
            some = points[start:start + step]
            classes = np.nonzero(passive.T[some])[1].reshape(-1, s)
            part = code[classes]  # of M^T
            part -= np.abs(part) * r[some, None]
            u[some[:, None], classes], doubtful[some] = solve_each(
                part @ part.transpose(0, 2, 1) + 1.0, np.ones(classes.shape), SINGULAR)
    return np.ascontiguousarray(u.T), doubtful
