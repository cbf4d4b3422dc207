"""Constrained least squares, exactly: min |M p|^2 with p >= 0 and sum p = 1.

M = A - |A| r (row i times r_i).  With K = M^T M + 1 1^T the solution is
u / sum u, where u >= 0, K u - 1 >= 0 and u (K u - 1) = 0: the normal equations
of min |[M; 1^T] u - [0; 1]|^2, u >= 0.  p is optimal if and only if, with
G = M^T M and f = p^T G p, (G p)_j = f where p_j > 0 and (G p)_j >= f where
p_j = 0.
"""

from __future__ import annotations

import numpy as np

from . import leastnorm, shortcuts
from .dense import check_dense
from .passive import Determined, General
from .pivot import pivot
from .stops import Stops

__all__ = ["prepare", "prepare_general", "solve_each"]

CHUNK = 8192


def prepare(a):
    """Solver of constrained least squares for the code a (m, k), closed form if there is one."""
    shortcut = shortcuts.find(a)
    if shortcut is None:
        return prepare_general(a)
    solve = shortcut[1]
    return lambda r: (solve(r), Stops(len(r)))


def prepare_general(a):
    """Solver of constrained least squares for any code a (m, k)."""
    check_dense(a)
    system = Determined(a) if a.all() and _tells_apart(a) else General(a)
    rescue = leastnorm.prepare_constrained(a)

    def solve(r):
        p = np.empty((len(r), a.shape[1]))
        stops = Stops()
        chunk = min(CHUNK, system.points)
        for start in range(0, len(r), chunk):
            part = slice(start, start + chunk)
            p[part], stopped = _solve(system, rescue, r[part])
            stops += stopped
        return p, stops

    return solve


def _tells_apart(a):
    # On the plane sum p = 1 the objective is then strictly convex, whatever r.
    return np.linalg.matrix_rank(np.vstack([a, np.ones(a.shape[1])])) == a.shape[1]


def _solve(system, rescue, r):
    n, k = len(r), system.k
    limit = 20 + 2 * k
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

    u, failed, rounds = pivot(evaluate, problem.guess(), limit)
    np.maximum(u, 0.0, out=u)
    u[:, failed] = 1.0
    u = np.ascontiguousarray(u.T)
    u /= u.sum(axis=1, keepdims=True)
    stops = Stops(n, rounds)
    if failed.any():
        u[failed], rescued = rescue(r[failed])
        stops = Stops(n, max(rounds, rescued.rounds), rescued.unfinished, rescued.undetermined)
    return u, stops


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
