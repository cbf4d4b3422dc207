"""Constrained least squares, exactly: min |M p|^2 with p >= 0 and sum p = 1.

M = A - |A| r (row i times r_i).  With K = M^T M + 1 1^T the solution is
u / sum u, where u >= 0, K u - 1 >= 0 and u (K u - 1) = 0: the normal equations
of min |[M; 1^T] u - [0; 1]|^2, u >= 0.  p is optimal if and only if, with
G = M^T M and f = p^T G p, (G p)_j = f where p_j > 0 and (G p)_j >= f where
p_j = 0.
"""

from __future__ import annotations

import numpy as np

from . import leastnorm, shortcuts, simplex
from .pivot import pivot
from .stops import Stops

__all__ = ["prepare", "prepare_general"]

CHUNK = 4096
BUDGET = 1 << 20
SINGULAR = 1e9


def prepare(a):
    """Solver of constrained least squares for the code a (m, k), closed form if there is one."""
    shortcut = shortcuts.find(a)
    if shortcut is None:
        return prepare_general(a)
    solve = shortcut[1]
    return lambda r: (solve(r), Stops(len(r)))


def prepare_general(a):
    """Solver of constrained least squares for any code a (m, k)."""
    system = _StrictSystem(a) if a.all() else _System(a)
    rescue = leastnorm.prepare_constrained(a)

    def solve(r):
        p = np.empty((len(r), a.shape[1]))
        stops = Stops()
        for start in range(0, len(r), CHUNK):
            part = slice(start, start + CHUNK)
            p[part], stopped = _solve(system, rescue, r[part])
            stops += stopped
        return p, stops

    return solve


def _solve(system, rescue, r):
    n, k = len(r), system.k
    limit = 20 + 2 * k

    def evaluate(points, passive):
        u, singular, doubtful = system.solve(r[points], passive)
        w = system.slack(r[points], u)
        wrong = np.where(passive, u < -system.tiny, w < -system.tiny)
        if not system.unique:
            # Where the search would end: is there a class that might as well enter?
            doubtful |= (~passive & (w < 10 * system.tiny)).any(axis=1)
        return u, wrong, singular | (doubtful & ~wrong.any(axis=1))

    u, failed, rounds = pivot(evaluate, system.guess(r), limit)
    np.maximum(u, 0.0, out=u)
    u[failed] = 1.0
    u /= u.sum(axis=1, keepdims=True)
    stops = Stops(n, rounds)
    if failed.any():
        u[failed], rescued = rescue(r[failed])
        stops = Stops(n, max(rounds, rescued.rounds), rescued.unfinished, rescued.undetermined)
    return u, stops


class _System:
    """K = M^T M + 1 1^T for a code (m, k) with zeros: K is different at every point."""

    unique = False

    def __init__(self, a):
        m, self.k = a.shape
        self.code = a.astype(float)
        self.size = np.abs(self.code)
        self.columns = np.ascontiguousarray(self.code.T)
        self.sizes = np.abs(self.columns)
        # Rounding of u and of K u, whose entries are sums of m terms of at most 4.
        self.tiny = 1e-14 * (m + 10)
        # Any fixed vector in general position will do to feel for singularity.
        self.probe = np.cos(1.0 + np.arange(self.k))

    def guess(self, r):
        """Passive sets (n, k) to begin with."""
        return simplex.support(r @ (self.code / self.size.sum(axis=0)))

    def slack(self, r, u):
        """w = K u - 1 (n, k), without forming K."""
        residual = u @ self.columns
        residual -= r * (u @ self.sizes)
        w = residual @ self.code
        residual *= r
        w -= residual @ self.size
        w += u.sum(axis=1, keepdims=True) - 1.0
        return w

    def matrix(self, r, index):
        """K (g, s, s) for the classes index (g, s) of points r (g, m)."""
        part = np.take(self.columns, index, axis=0)
        size = np.abs(part)
        size *= r[:, None, :]
        part -= size
        k = part @ part.transpose(0, 2, 1)
        k += 1.0
        return k

    def solve(self, r, passive):
        """u (n, k) with (K u)_j = 1 for the passive classes j, 0 for the others.

        Returns also which points (n,) met a singular matrix, and which one that
        is too near to it for its solution to be trusted.
        """
        n, k = passive.shape
        u = np.zeros((n, k))
        singular = np.zeros(n, dtype=bool)
        doubtful = np.zeros(n, dtype=bool)
        size = np.count_nonzero(passive, axis=1)
        order = np.argsort(size, kind="stable")
        ends = np.searchsorted(size[order], np.arange(k + 2))
        m = self.code.shape[0]
        for s in range(1, k + 1):
            step = max(1, BUDGET // (8 * s * (s + m)))
            for start in range(ends[s], ends[s + 1], step):
                rows = order[start:min(start + step, ends[s + 1])]
                index = np.nonzero(passive[rows])[1].reshape(len(rows), s)
                matrix = self.matrix(r[rows], index)
                right = np.ones((len(rows), s, 1 if self.unique else 2))
                if not self.unique:
                    right[:, :, 1] = self.probe[index]
                found, singular[rows] = solve_each(matrix, right)
                if not self.unique:
                    # |K^-1 probe| |K| bounds the condition number from below.
                    trace = np.trace(matrix, axis1=1, axis2=2)
                    doubtful[rows] = np.abs(found[:, :, 1]).max(axis=1) * trace > SINGULAR
                u[rows[:, None], index] = found[:, :, 0]
        return u, singular, doubtful


class _StrictSystem(_System):
    """K for a code without zeros: A^T A - c 1^T - 1 c^T + (|r|^2 + 1) 1 1^T, c = A^T r."""

    def __init__(self, a):
        super().__init__(a)
        # On the plane sum p = 1 the objective is that of A, whatever r.
        self.unique = np.linalg.matrix_rank(np.vstack([a, np.ones(self.k)])) == self.k
        self.gram = self.code.T @ self.code
        self.free = leastnorm.strict_map(a)

    def guess(self, r):
        offset, slope = self.free
        return simplex.support(offset + r @ slope)

    def slack(self, r, u):
        total = u.sum(axis=1, keepdims=True)
        residual = u @ self.columns
        residual -= r * total
        w = residual @ self.code
        w += total - 1.0 - (residual * r).sum(axis=1, keepdims=True)
        return w

    def matrix(self, r, index):
        c = np.take_along_axis(r @ self.code, index, axis=1)
        k = np.take(self.gram, index[:, :, None] * self.k + index[:, None, :])
        k -= c[:, :, None]
        k -= c[:, None, :]
        k += (r * r).sum(axis=1)[:, None, None] + 1.0
        return k


def solve_each(matrix, right):
    """Solutions of matrix (n, s, s) x = right (n, s, t), and which (n,) are singular.

    numpy refuses a whole stack for one singular matrix; the stack is halved
    until the culprits are alone.  Their solution is given as 0.
    """
    singular = np.zeros(len(matrix), dtype=bool)
    try:
        return np.linalg.solve(matrix, right), singular
    except np.linalg.LinAlgError:
        pass
    x = np.zeros_like(right)
    todo = [(0, len(matrix))]
    while todo:
        start, stop = todo.pop()
        try:
            x[start:stop] = np.linalg.solve(matrix[start:stop], right[start:stop])
        except np.linalg.LinAlgError:
            if stop - start == 1:
                singular[start] = True
            else:
                middle = (start + stop) // 2
                todo += [(start, middle), (middle, stop)]
    return x, singular
