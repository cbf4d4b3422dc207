"""Non-negative least squares for a single point, where all else has failed."""

from __future__ import annotations

import numpy as np

__all__ = ["nnls"]


def nnls(b, y, tiny=1e-14):
    """u (k,) with least |b u - y|^2, u >= 0, for b (m, k) of any rank; and whether it ended.

    Lawson and Hanson (1974), chapter 23: a class enters only where the
    objective falls, so dependent columns never meet and the objective never
    rises, whatever the conditioning.
    """
    m, k = b.shape
    u = np.zeros(k)
    passive = np.zeros(k, dtype=bool)
    enough = tiny * (m + 10)
    barred = np.zeros(k, dtype=bool)
    for _ in range(10 * k):
        w = b.T @ (y - b @ u)
        w[passive | barred] = 0.0
        entering = int(np.argmax(w))
        if w[entering] <= enough:
            return u, True
        passive[entering] = True
        z = _fit(b, y, passive)
        if z[entering] <= 0:
            # Rounding alone made it look useful: pass over it this time.
            passive[entering] = False
            barred[entering] = True
            continue
        while z[passive].min() <= 0:
            falling = np.flatnonzero(passive & (z <= 0))
            steps = u[falling] / np.maximum(u[falling] - z[falling], 1e-300)
            first = int(np.argmin(steps))
            u += steps[first] * (z - u)
            # The one that stops the step leaves, whatever rounding made of it.
            u[falling[first]] = 0.0
            passive &= u > 1e-15
            u[~passive] = 0.0
            if not passive.any():
                break
            z = _fit(b, y, passive)
        u = z * passive
        barred[:] = False
    return u, False


def _fit(b, y, passive):
    z = np.zeros(len(passive))
    z[passive] = np.linalg.lstsq(b[:, passive], y, rcond=None)[0]
    return z
