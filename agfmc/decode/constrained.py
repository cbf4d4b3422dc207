"""Constrained least squares, exactly: min |M p|^2 with p >= 0 and sum p = 1.

M = A - |A| r (row i times r_i).  With K = M^T M + 1 1^T the solution is
u / sum u, where u >= 0, K u - 1 >= 0 and u (K u - 1) = 0: the normal equations
of min |[M; 1^T] u - [0; 1]|^2, u >= 0.  p is optimal if and only if, with
G = M^T M and f = p^T G p, (G p)_j = f where p_j > 0 and (G p)_j >= f where
p_j = 0.

Three parts: the decoder, which pivots for many points at once (`pivot`); the two
systems of equations, solved on given passive sets; and their Cholesky factors.
A system knows the code alone; `at` gives it the decision values of some points, for which it
proposes passive sets (first), solves the equations on them (solve) and says which other classes
the solution leaves wanting (slack).  In systems and factors every array has the points last.  No
point's numbers depend on its neighbours.
"""

from copy import copy

import numpy as np

from ..core.reproducible import Uniform
from ..core.solver_status import direct, in_chunks, Solver, SolverStatus
from . import least_norm
from .closed_forms import closed_form, project
from .code_kinds import check_dense, determines
from .pivot import pivot

CHUNK = 8192
BUDGET = 1 << 19  # bytes of a span of systems
TABLE = 16 << 20  # bytes of all entries of K
MOST = 64  # classes for which there is such a table
SINGULAR = 1e9


def prepare(a: np.ndarray) -> Solver:
    """Solver of constrained least squares for the code a (m, k), closed form if there is one."""
    form = closed_form(a)
    if form is None:
        return prepare_general(a)
    return direct(form[1])


def prepare_general(a: np.ndarray) -> Solver:
    """Solver of constrained least squares for any code a (m, k)."""
    check_dense(a)
    system: _Determined | _General
    if a.all() and determines(a):
        system = _Determined(a)
    else:
        system = _General(a)
    rescue = least_norm.prepare_constrained(a)
    return in_chunks(lambda r: _solve(system, rescue, r), min(CHUNK, system.points), a.shape[1])


def _solve(system, rescue, r):
    n = len(r)
    problem = system.at(np.ascontiguousarray(r.T))

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
    return u, SolverStatus(n, max(rounds, rescued.rounds), rescued.unfinished, rescued.undetermined)


class _Determined:
    """A code (m, k) without zeros of which [A; 1] has full rank: p depends on r alone.

    On the plane sum p = 1, |M p|^2 = |A p - r|^2: with H = A^T A + m 1 1^T, the same at
    every point, p_P = H_PP^-1 (A^T r)_P + mu H_PP^-1 1_P.
    """

    unique = True
    points = 1 << 30

    def __init__(self, a):
        m, self.k = a.shape
        code = a.astype(float)
        self.whole = code.T @ code + m
        self.gram = np.append(self.whole.ravel(), np.zeros(2 * self.k))
        self.votes = Uniform(code)
        self.scale = 1.0 / m
        self.tiny = 1e-14 * (m + 10)

    def at(self, r):
        problem = copy(self)
        problem.workspace, problem.c = _Workspace(), np.ascontiguousarray(self.votes(r.T).T)
        return problem

    def first(self):
        return _positive(self.c.T * self.scale)

    def solve(self, points, passive):
        """p (k, t), and doubtful (t,), which is none."""
        k, n = passive.shape
        c = np.zeros((k + 1, n))
        np.take(self.c, points, axis=1, out=c[:k])
        p = np.zeros((k + 1, n))
        self.mu = np.empty(n)
        for s, some, classes, empty, matrix in self.workspace.spans(passive, 2):
            offset = classes * k
            for i in range(s):
                np.take(
                    self.gram, offset[i] + classes[: i + 1], out=matrix[i, : i + 1], mode="clip"
                )
            cells = classes * n
            cells += some
            np.take(c.ravel(), cells, out=matrix[s], mode="clip")
            matrix[s + 1] = 1.0
            x, one = self.workspace.factor(matrix, empty)
            mu = (1.0 - (one * x).sum(axis=0)) / (one * one).sum(axis=0)
            self.mu[some] = mu
            one *= mu
            x += one
            _back(matrix, x)
            p.ravel()[cells] = x
        self.right = c[:k]
        return p[:k], np.zeros(n, dtype=bool)

    def slack(self, points, p):
        """H p - c - mu (k, t)."""
        return self.whole @ p - self.right - self.mu


class _General:
    """Any code (m, k): u_P = K_PP^-1 1 with K = M^T M + 1 1^T, different at every point.

    m_ij = a_ij - |a_ij| r_i, so K_jl = 1 + sum_i a_ij a_il - (a_ij |a_il| + |a_ij| a_il) r_i
    + |a_ij a_il| r_i^2: one product gives it for all points, while there are not too
    many classes; beyond, it is formed from M for the passive classes alone.
    """

    unique = False

    def __init__(self, a):
        m, self.k = a.shape
        self.code = a.astype(float).T.copy()
        self.size = np.abs(self.code)
        self.votes = Uniform(self.code.T / self.size.sum(axis=1))
        # Rounding of u and of K u, whose entries are sums of m terms of at most 4.
        self.tiny = 1e-14 * (m + 10)
        # Any fixed vector in general position will do to test for singularity.
        self.probe = np.append(np.cos(1.0 + np.arange(self.k)), 0.0)
        self.points = 1 << 30
        self.entries = self.table = None
        if self.k <= MOST:
            low, high = np.tril_indices(self.k)
            both = self.size[low] * self.size[high]
            cross = self.code[low] * self.size[high] + self.size[low] * self.code[high]
            constant = 1.0 + (self.code[low] * self.code[high]).sum(axis=1, keepdims=True)
            self.entries = Uniform(np.hstack([-cross, both, constant]).T)
            self.points = max(256, TABLE // (8 * len(low)))

    def at(self, r):
        problem = copy(self)
        problem.workspace = _Workspace()
        problem.r = r
        if self.entries is not None:
            problem.table = np.ascontiguousarray(
                self.entries(np.vstack([r, r * r, np.ones(r.shape[1])]).T).T
            )
        return problem

    def first(self):
        return _positive(self.votes(self.r.T))

    def solve(self, points, passive):
        """u (k, t), and which (t,) met a matrix too near to singular to be trusted."""
        k, n = passive.shape
        u = np.zeros((k + 1, n))
        doubtful = np.zeros(n, dtype=bool)
        equal = self.table is None
        for s, some, classes, empty, matrix in self.workspace.spans(passive, 2, equal):
            (self._form if equal else self._look_up)(points[some], classes, matrix)
            matrix[s] = 1.0
            np.take(self.probe, classes, out=matrix[s + 1])
            trace = sum(matrix[j, j] * (empty[j] <= np.arange(len(some))) for j in range(s))
            x, probe = self.workspace.factor(matrix, empty)
            # |K^-1 probe| |K| bounds the condition number from below.
            doubtful[some] = ~((probe * probe).sum(axis=0) * trace < SINGULAR)
            _back(matrix, x)
            u.ravel()[classes * n + some] = x
        return u[:k], doubtful

    def _look_up(self, points, classes, matrix):
        n = self.table.shape[1]
        offset = classes * (classes + 1) // 2 * n
        offset[classes == self.k] = 0
        offset += points
        step = classes * n
        for i in range(len(classes)):
            np.take(
                self.table.ravel(), offset[i] + step[: i + 1], out=matrix[i, : i + 1], mode="clip"
            )

    def _form(self, points, classes, matrix):
        part = np.take(self.code, classes.T, axis=0)
        size = np.abs(part)
        size *= np.take(self.r, points, axis=1).T[:, None, :]
        part -= size
        gram = part @ part.transpose(0, 2, 1)
        np.add(gram.transpose(1, 2, 0), 1.0, out=matrix[: len(classes)])

    def slack(self, points, u):
        """K u - 1 (k, t), without forming K."""
        r = np.take(self.r, points, axis=1)
        residual = self.code.T @ u - r * (self.size.T @ u)
        return self.code @ residual - self.size @ (r * residual) + u.sum(axis=0) - 1.0


def _positive(v):
    """(k, n) bool: where the projection of v (n, k) onto the simplex is positive."""
    return np.ascontiguousarray((project(v) > 0).T)


class _Workspace:
    """Memory for small positive definite systems of many points, used again and again.

    A step of the elimination is one call of numpy for all points.  A smaller system
    is filled up with rows of the unit matrix, which adds exact zeros.
    """

    def __init__(self):
        self.memory = self.spare = np.empty(0)

    def spans(self, passive, extra, equal=False):
        """Yield the passive sets (k, n) in spans of points of similar number s.

        (s, some (t,) indices of points, classes (s, t) their passive ones filled up
        with k, empty (s,), matrix (s + extra, s, t) to write to); the first empty[j]
        points have no class j.  With `equal` all points of a span have s classes.
        """
        k, n = passive.shape
        size = np.add.reduce(passive, axis=0, dtype=np.int16)
        order = np.argsort(size, kind="stable")
        size = size[order].astype(np.intp)
        flat = np.flatnonzero(np.take(passive.T, order, axis=0))
        flat -= np.repeat(np.arange(0, n * k, k), size)
        index = np.full((n, int(size[-1])), k)
        index[np.arange(index.shape[1]) < size[:, None]] = flat
        index = np.ascontiguousarray(index.T)
        start = 0
        while start < n:
            s = int(size[start])
            stop = start + max(2, BUDGET // (8 * s * (s + extra)))
            if stop >= n - 1:
                stop = n
            if equal:
                stop = min(stop, int(np.searchsorted(size, s, side="right")))
            s = int(size[stop - 1])
            part = slice(start, stop)
            some = order[part]
            classes = index[:s, part]
            if len(some) == 1:
                some, classes = np.repeat(some, 2), np.repeat(classes, 2, axis=1)
            empty = np.searchsorted(size[part], np.arange(s), side="right")
            numbers = (s + extra) ** 2 * len(some)
            if len(self.memory) < numbers:
                self.memory = np.empty(numbers)
                self.spare = np.empty(numbers // 4 + 1)
            matrix = self.memory[: (s + extra) * s * len(some)].reshape(s + extra, s, len(some))
            yield s, some, classes, empty, matrix
            start = stop

    def factor(self, matrix, empty):
        """Cholesky factors, in offset, of a span's matrix (s + t, s, n): L, with 1/L_jj in
        the diagonal, and below it L^-1 times the t right-hand sides, which are returned.

        Of the symmetric part the lower half is read.  A point that is not positive
        definite gets NaN.
        """
        rows, s, n = matrix.shape
        for j, count in enumerate(empty):
            if count:
                matrix[j, :j, :count] = 0.0
                matrix[j, j, :count] = 1.0
                matrix[s:, j, :count] = 0.0
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            for j in range(s):
                column = matrix[j:, j]
                if j:
                    terms = self.spare[: (rows - j) * j * n].reshape(rows - j, j, n)
                    np.multiply(matrix[j:, :j], matrix[j, :j], out=terms)
                    column -= terms.sum(axis=1)
                np.sqrt(column[0], out=column[0])
                np.reciprocal(column[0], out=column[0])
                column[1:] *= column[0]
        return matrix[s:]


def _back(matrix, x):
    """L^-T x, in offset, for x (s, n) and the first s rows of what `factor` left."""
    with np.errstate(invalid="ignore", over="ignore"):
        for j in range(len(x) - 1, -1, -1):
            x[j] *= matrix[j, j]
            if j:
                x[:j] -= matrix[j, :j] * x[j]
