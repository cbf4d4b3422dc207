"""The equations of constrained least squares, solved on given passive sets.

A system knows the code alone; `at` gives it the decision values of some points.
What that returns proposes passive sets (guess), solves the equations on them
(solve) and says which other classes the solution leaves wanting (slack).
Every array has the points last.  No point's numbers depend on its neighbours.
"""

from __future__ import annotations

import numpy as np

from . import cholesky, simplex
from .exact import Exact, ExactBounded

__all__ = ["Determined", "General"]

BUDGET = 1 << 19  # bytes of a span of systems
TABLE = 16 << 20  # bytes of all entries of K
MOST = 64  # classes for which there is such a table
SINGULAR = 1e9


class Determined:
    """A code (m, k) without zeros of which [A; 1] has full rank: p depends on r alone.

    On the plane sum p = 1, |M p|^2 = |A p - r|^2: with H = A^T A + m 1 1^T, the same at
    every point, p_P = H_PP^-1 (A^T r)_P + mu H_PP^-1 1_P.
    """

    unique = True
    points = 1 << 30

    def __init__(self, a):
        m, self.k = a.shape
        code = a.astype(float)
        gram = code.T @ code + m
        self.votes = Exact(code.T)
        self.whole = gram
        self.gram = np.append(gram.ravel(), np.zeros(2 * self.k))
        self.scale = 1.0 / m
        self.tiny = 1e-14 * (m + 10)

    def at(self, r):
        return _DeterminedAt(self, r)


class _DeterminedAt:

    def __init__(self, system, r):
        self.system = system
        self.c = system.votes(r)
        self.room = cholesky.Room(BUDGET)

    def guess(self):
        return np.ascontiguousarray(simplex.support(self.c.T * self.system.scale).T)

    def solve(self, points, passive):
        """p (k, t), and nobody (t,) is in doubt."""
        k, n = passive.shape
        c = np.zeros((k + 1, n))
        np.take(self.c, points, axis=1, out=c[:k])
        p = np.zeros((k + 1, n))
        self.mu = np.empty(n)
        for s, who, found, empty, matrix in self.room.spans(passive, 2):
            place = found * k
            for i in range(s):
                np.take(self.system.gram, place[i] + found[:i + 1], out=matrix[i, :i + 1],
                        mode="clip")
            at = found * n
            at += who
            np.take(c.ravel(), at, out=matrix[s], mode="clip")
            matrix[s + 1] = 1.0
            x, one = self.room.factor(matrix, empty)
            mu = (1.0 - (one * x).sum(axis=0)) / (one * one).sum(axis=0)
            self.mu[who] = mu
            one *= mu
            x += one
            cholesky.back(matrix, x)
            p.ravel()[at] = x
        self.wanted = c[:k]
        return p[:k], np.zeros(n, dtype=bool)

    def slack(self, points, p):
        """H p - c - mu (k, t)."""
        w = self.system.whole @ p
        w -= self.wanted
        w -= self.mu
        return w


class General:
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
        self.forth = np.vstack([self.code.T, self.size.T, np.ones(self.k)])
        self.down = np.hstack([self.code, -self.size])
        self.weight = 1.0 / self.size.sum(axis=1)[:, None]
        self.votes = Exact(self.code)
        # Rounding of u and of K u, whose entries are sums of m terms of at most 4.
        self.tiny = 1e-14 * (m + 10)
        # Any fixed vector in general position will do to feel for singularity.
        self.probe = np.append(np.cos(1.0 + np.arange(self.k)), 0.0)
        self.points = 1 << 30
        self.table = None
        if self.k <= MOST:
            low, high = np.tril_indices(self.k)
            both = self.size[low] * self.size[high]
            cross = self.code[low] * self.size[high] + self.size[low] * self.code[high]
            constant = 1.0 + (self.code[low] * self.code[high]).sum(axis=1, keepdims=True)
            self.table = ExactBounded(np.hstack([-cross, both, constant]))
            self.points = max(256, TABLE // (8 * len(low)))

    def at(self, r):
        return _GeneralAt(self, r)


class _GeneralAt:

    def __init__(self, system, r):
        self.system = system
        self.r = r
        self.room = cholesky.Room(BUDGET)
        if system.table is not None:
            self.table = system.table(np.vstack([r, r * r, np.ones(r.shape[1])]))

    def guess(self):
        v = self.system.votes(self.r) * self.system.weight
        return np.ascontiguousarray(simplex.support(v.T).T)

    def solve(self, points, passive):
        """u (k, t), and which (t,) met a matrix too near to singular to be trusted."""
        k, n = passive.shape
        u = np.zeros((k + 1, n))
        doubtful = np.zeros(n, dtype=bool)
        equal = self.system.table is None
        for s, who, found, empty, matrix in self.room.spans(passive, 2, equal):
            if equal:
                self._form(points[who], found, matrix)
            else:
                self._look_up(points[who], found, matrix)
            matrix[s] = 1.0
            np.take(self.system.probe, found, out=matrix[s + 1])
            trace = sum(matrix[j, j] * (empty[j] <= np.arange(len(who))) for j in range(s))
            x, probe = self.room.factor(matrix, empty)
            # |K^-1 probe| |K| bounds the condition number from below.
            doubtful[who] = ~((probe * probe).sum(axis=0) * trace < SINGULAR)
            cholesky.back(matrix, x)
            u.ravel()[found * n + who] = x
        return u[:k], doubtful

    def _look_up(self, points, found, matrix):
        n = self.table.shape[1]
        place = found * (found + 1) // 2 * n
        place[found == self.system.k] = 0
        place += points
        step = found * n
        flat = self.table.ravel()
        for i in range(len(found)):
            np.take(flat, place[i] + step[:i + 1], out=matrix[i, :i + 1], mode="clip")

    def _form(self, points, found, matrix):
        s = len(found)
        part = np.take(self.system.code, found.T, axis=0)
        size = np.abs(part)
        size *= np.take(self.r, points, axis=1).T[:, None, :]
        part -= size
        gram = part @ part.transpose(0, 2, 1)
        np.add(gram.transpose(1, 2, 0), 1.0, out=matrix[:s])

    def slack(self, points, u):
        """K u - 1 (k, t), without forming K."""
        m = len(self.r)
        r = np.take(self.r, points, axis=1)
        there = self.system.forth @ u
        residual = there[m:2 * m]
        residual *= r
        np.subtract(there[:m], residual, out=residual)
        there[:m] = residual
        there[m:2 * m] *= r
        w = self.system.down @ there[:2 * m]
        w += there[2 * m]
        w -= 1.0
        return w
