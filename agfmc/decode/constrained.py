"""Constrained least squares, exactly: min |M p|^2 with p >= 0 and sum p = 1.

M = A - |A| r (row i times r_i).  With K = M^T M + 1 1^T the solution is
u / sum u, where u >= 0, K u - 1 >= 0 and u (K u - 1) = 0: the normal equations
of min |[M; 1^T] u - [0; 1]|^2, u >= 0.  p is optimal if and only if, with
G = M^T M and f = p^T G p, (G p)_j = f where p_j > 0 and (G p)_j >= f where
p_j = 0.

Two parts: the decoder, which pivots for many points at once (`pivot`), and the two systems of
equations, solved on given passive sets.  A system knows the code alone; `at` gives it the decision
values of some points, for which it proposes passive sets (first), solves the equations on them
(solve) and says which other classes the solution leaves wanting (slack).  No point's numbers
depend on its neighbours.
"""

from copy import copy

import numpy as np

from ..core.reproducible import Uniform
from ..core.solver_status import direct, in_chunks, Solver, SolverStatus
from . import least_norm
from .closed_forms import closed_form, project
from .code_kinds import check_dense, determines
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
    system = _Determined(a) if a.all() and determines(a) else _General(a)
    rescue = least_norm.prepare_constrained(a)
    return in_chunks(lambda r: _solve(system, rescue, r), CHUNK, a.shape[1])


def _solve(system, rescue, r):
    n = len(r)
    problem = system.at(r)

    def evaluate(points, passive):
        u, doubtful = problem.solve(points, passive)
        with np.errstate(invalid="ignore"):  # NaN of a matrix that was singular
            w = problem.slack(points, u)
        out = passive & (u < -system.tiny)
        w[passive] = 0.0
        enter = w < -system.tiny
        wrong = out | enter
        worst = out | (enter & (w < 0.5 * w.min(axis=0)))
        if not system.unique:
            # Where the search would end: is there a class that might as well enter?
            doubtful |= (~passive & (w < 10 * system.tiny)).any(axis=0)
        return u, wrong, worst, (doubtful & ~wrong.any(axis=0)) | np.isnan(u).any(axis=0)

    u, failed, rounds = pivot(evaluate, problem.first(), 20 + 2 * system.k)
    np.maximum(u, 0.0, out=u)
    u[:, failed] = 1.0
    u = np.ascontiguousarray(u.T)
    u /= u.sum(axis=1, keepdims=True)
    if not failed.any():
        return u, SolverStatus(n, rounds)
    u[failed], rescued = rescue(r[failed])
    return u, SolverStatus(n, max(rounds, rescued.rounds), rescued.unfinished,
                           rescued.undetermined)


class _Determined:
    """A code (m, k) without zeros of which [A; 1] has full rank: p depends on r alone.

    On the plane sum p = 1, |M p|^2 = |A p - r|^2: with H = A^T A + m 1 1^T, the same at
    every point, p_P = H_PP^-1 (A^T r)_P + mu H_PP^-1 1_P.
    """

    unique = True

    def __init__(self, a):
        m, self.k = a.shape
        code = a.astype(float)
        self.whole = code.T @ code + m
        self.votes = Uniform(code)
        self.scale = 1.0 / m
        self.tiny = 1e-14 * (m + 10)

    def at(self, r):
        problem = copy(self)
        problem.c = self.votes(r)
        return problem

    def first(self):
        return _positive(self.c * self.scale)

    def solve(self, points, passive):
        """p (k, t), and doubtful (t,), which is none."""
        p, self.mu = np.zeros(passive.T.shape), np.empty(len(points))
        for some, classes in _of_one_size(passive, self.k):
            right = np.ones((*classes.shape, 2))
            right[:, :, 0] = self.c[points[some, None], classes]
            x = np.linalg.solve(self.whole[classes[:, :, None], classes[:, None]], right)
            total = x.sum(axis=1)
            self.mu[some] = (1.0 - total[:, 0]) / total[:, 1]
            p[some[:, None], classes] = x[:, :, 0] + self.mu[some, None] * x[:, :, 1]
        return np.ascontiguousarray(p.T), np.zeros(len(points), dtype=bool)

    def slack(self, points, p):
        """H p - c - mu (k, t)."""
        return self.whole @ p - self.c[points].T - self.mu


class _General:
    """Any code (m, k): u_P = K_PP^-1 1 with K = M^T M + 1 1^T, different at every point."""

    unique = False

    def __init__(self, a):
        m, self.k = a.shape
        self.code = a.astype(float).T.copy()
        self.size = np.abs(self.code)
        self.votes = Uniform(self.code.T / self.size.sum(axis=1))
        # Rounding of u and of K u, whose entries are sums of m terms of at most 4.
        self.tiny = 1e-14 * (m + 10)

    def at(self, r):
        problem = copy(self)
        problem.r = r
        return problem

    def first(self):
        return _positive(self.votes(self.r))

    def solve(self, points, passive):
        """u (k, t), and which (t,) met a matrix too near to singular to be trusted."""
        u, doubtful = np.zeros(passive.T.shape), np.zeros(len(points), dtype=bool)
        for some, classes in _of_one_size(passive, self.r.shape[1]):
            part = self.code[classes]  # of M^T
            part -= np.abs(part) * self.r[points[some], None]
            u[some[:, None], classes], doubtful[some] = solve_each(
                part @ part.transpose(0, 2, 1) + 1.0, np.ones(classes.shape), SINGULAR)
        return np.ascontiguousarray(u.T), doubtful

    def slack(self, points, u):
        """K u - 1 (k, t), without forming K."""
        r = self.r[points].T
        residual = self.code.T @ u - r * (self.size.T @ u)
        return self.code @ residual - self.size @ (r * residual) + u.sum(axis=0) - 1.0


def _positive(v):
    """(k, n) bool: where the projection of v (n, k) onto the simplex is positive."""
    return np.ascontiguousarray((project(v) > 0).T)


def _of_one_size(passive, width):
    """Yield (numbers of points (t,), their classes (t, s)) of passive sets (k, n) with as many.

    Each class of a point takes `width` numbers of memory.
    """
    size = np.count_nonzero(passive, axis=0)
    for s in np.unique(size).tolist():
        points, step = np.flatnonzero(size == s), max(1, BUDGET // (8 * s * width))
        for start in range(0, len(points), step):
            some = points[start:start + step]
            yield some, np.nonzero(passive.T[some])[1].reshape(-1, s)
