"""One-vs-one codes by Wu, Lin and Weng's second method, exactly and as LIBSVM stops.

The minimum of sum_{i<j} (P(j over i) p_i - P(i over j) p_j)^2 with sum p = 1 (Wu, Lin
and Weng 2004): the solution of a bordered linear system, for all points at once; or
approached one p_t after the other, each followed by normalisation (their algorithm 2).
svm-predict ends the latter when no |(Q p)_t - p^T Q p| reaches 0.005 / k, up to 2e-3
away from the minimum.
"""

import numpy as np

from ..core.points import padded_blocks
from ..core.solver_status import in_chunks, Solver, SolverStatus
from .code_kinds import PairTable

BUDGET, SWEEP_BUDGET = 4 << 20, 16 << 20
_FEW = 64  # classes up to which elimination over many points is faster than LAPACK
_STEP = 64  # points are padded to a multiple of it: loops, and bits of each, are the same
CLIP = 1e-7  # LIBSVM's bound of a pairwise probability


class PairSystem:
    """Solver r (n, m) -> p (n, k) with min |M p|^2, sum p = 1, of a one-vs-one code.

    The solution of [[M^T M, 1], [1^T, 0]] [p; lambda] = [0; 1] is proportional to
    u in (M^T M + 1 1^T) u = 1.  Off the diagonal, M^T M + 1 1^T is r^2 of the pair;
    the diagonal is 1 + sum (1 +/- r)^2.  The matrix is positive definite and p is
    never negative while |r| <= 1.
    """

    def __init__(self, pairs: PairTable):
        self.k = k = pairs.k
        # Cells of the matrix, read row by row.
        self._low = pairs.low * k + pairs.high
        self._high = pairs.high * k + pairs.low
        self._diagonal = np.arange(k) * (k + 1)

    def __call__(self, r: np.ndarray) -> np.ndarray:
        """The probabilities p (n, k) of r (n, m)."""
        n = len(r)
        k = self.k
        u = np.empty((k, n))
        most = max(1, BUDGET // (8 * k * k))
        step = min(_STEP, most)
        wide = step * min(8, most // step, max(1, -(-n // step)))
        buffer = np.empty((k + 1) * k * wide)
        for part, block in padded_blocks(r, wide, step):
            # One row more than the matrix has: the right hand side.
            system = buffer[: (k + 1) * k * len(block)].reshape(k + 1, k, len(block))
            self._fill(block.T, system)
            if k <= _FEW:
                solved = _eliminate(system)
            else:
                solved = np.linalg.solve(
                    system[:-1].transpose(2, 0, 1), np.ones((len(block), k, 1))
                )[:, :, 0].T
            u[:, part] = solved[:, : part.stop - part.start]
        np.maximum(u, 0.0, out=u)
        total = u[0].copy()
        for row in u[1:]:  # one by one: the order does not depend on the number of points
            total += row
        u /= total
        return np.ascontiguousarray(u.T)

    def _fill(self, r, system):
        """The matrix, and a row of ones below it, in system (k + 1, k, n) for r (m, n)."""
        k = self.k
        cells = system.reshape(-1, system.shape[2])
        cells[self._low] = 1.0 + r
        cells[self._high] = 1.0 - r
        cells[self._diagonal] = 1.0
        diagonal = np.einsum("ijn,ijn->in", system[:k], system[:k])
        square = r * r
        cells[self._low] = square
        cells[self._high] = square
        cells[self._diagonal] = diagonal
        system[k] = 1.0


def _eliminate(system):
    """u (k, n) of system (k + 1, k, n), by L D L^T in place, all points at once.

    Of the matrix only what is on the diagonal and below is read.
    """
    k = system.shape[1]
    pivots = np.empty(system.shape[1:])
    scaled = np.empty(system.shape[1:])
    for j in range(k):
        column = system[j:, j]
        if j:
            np.multiply(system[j, :j], pivots[:j], out=scaled[:j])
            column -= np.einsum("itn,tn->in", system[j:, :j], scaled[:j])
        pivots[j] = column[0]
        column[1:] /= pivots[j]
    u = system[k]
    for j in range(k - 2, -1, -1):
        u[j] -= np.einsum("tn,tn->n", system[j + 1 : k, j], u[j + 1 :])
    return u


def prepare_sweeps(pairs: PairTable) -> Solver:
    """Solver r (n, m) -> (p (n, k), SolverStatus) by sweeps that end where svm-predict's do."""
    step = SWEEP_BUDGET // (8 * pairs.k * pairs.k)
    return in_chunks(lambda r: _sweep(r, pairs), step, pairs.k)


def _sweep(r, pairs):
    """p (n, k) of a block of points, all swept side by side until each is done."""
    n = len(r)
    k = pairs.k
    low = pairs.low
    high = pairs.high
    over = np.clip((1.0 + r) / 2, CLIP, 1.0 - CLIP)
    if k == 2:  # nothing to couple
        p = np.empty((n, 2))
        p[:, high], p[:, low] = over, 1.0 - over
        return p, SolverStatus(n)
    wins = np.zeros((n, k, k))  # P(i over j)
    wins[:, high, low] = over
    wins[:, low, high] = 1.0 - over
    q = -wins * wins.transpose(0, 2, 1)
    q[:, np.arange(k), np.arange(k)] = np.einsum("nij,nij->nj", wins, wins)
    p = np.full((n, k), 1.0 / k)
    going = np.arange(n)
    limit = max(100, k)
    for rounds in range(limit + 1):
        part = q[going]
        slope = np.einsum("nij,nj->ni", part, p[going])
        level = np.einsum("ni,ni->n", p[going], slope)
        far = np.abs(slope - level[:, None]).max(axis=1) >= 0.005 / k
        going = going[far]
        if len(going) == 0 or rounds == limit:
            break
        p[going] = _one_sweep(part[far], p[going], slope[far], level[far])
    return p, SolverStatus(n, rounds=rounds, unfinished=len(going))


def _one_sweep(q, p, slope, level):
    """Every p_t moved once to its best value, with slope = Q p and level = p^T Q p updated."""
    for t in range(p.shape[1]):
        diagonal = q[:, t, t]
        move = (level - slope[:, t]) / diagonal
        total = 1.0 + move
        level = (level + move * (move * diagonal + 2.0 * slope[:, t])) / total**2
        slope = (slope + move[:, None] * q[:, t]) / total[:, None]
        p[:, t] += move
        p /= total[:, None]
    return p
