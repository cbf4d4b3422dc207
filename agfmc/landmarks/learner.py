"""The learner `nystrom`: regularised least squares on landmarks that classifiers share.

Features phi(x) (p,) of points on p landmarks (`features`), targets t = -1 on the left and
+1 on the right side, weights w of the points.  v and b minimise

    sum_i w_i (t_i - phi_i.v - b)^2 + lambda |v|^2 .

With the sums G = sum w phi phi^T, S = sum w phi, N = sum w over the points of the classifier,
s_+, n_+ and s_-, n_- over those of either side, d = s_+ - s_-, tbar = (n_+ - n_-) / N, mu = S / N,

    (G - N mu mu^T + lambda I) v = d - N tbar mu ,   b = tbar - mu.v ,

and with the leverage h_i = w_i (1 / N + (phi_i - mu)^T (G - N mu mu^T + lambda I)^-1 (phi_i - mu))
the decision value of point i by the classifier that is trained without it is exactly
t_i - (t_i - f_i) / (1 - h_i) (Allen 1974, "PRESS"; the landmarks are held fixed).  Those of a group
G of points that is left out as a whole are t_G - (I - H_GG)^-1 (t_G - f_G), where H has the entries
w_j (1 / N + (phi_i - mu)^T (G - N mu mu^T + lambda I)^-1 (phi_j - mu)).

Rifkin and Klautau, "In defense of one-vs-all classification" (2004); Rudi, Carratino and Rosasco,
"FALKON" (2017).  All that depends on the data are the sums: any number of classifiers is trained
from one pass over the points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..core.errors import DataError
from ..core.kernels import TUNED_KERNELS
from ..core.points import LowerTriangle
from ..core.splits import rows_by_class
from ..learners.options import BORDERS, KernelLearner, LIBSVM

LANDMARKS = 2000  # by default, where there are as many points
LEFT_OUT = 30_000
_LARGE = 0.5  # leverage from which an estimate is not good enough


@dataclass(frozen=True, repr=False)
class Nystrom(KernelLearner):
    """Least squares on landmarks that all binary classifiers share, as their learner.

    Parameters
    ----------
    n_landmarks : int, default=None
        Number of landmarks, no more than there are different points; None: 2000, or as many as
        there are.
    alpha : float or "auto", default=None
        Penalty of the squared norm of the decision function. "auto" and None: the power of ten with
        the least leave-one-out error.
    kernel : {"rbf", "linear", "polynomial", "laplacian", "exponential"}
        The kernel; "poly" is short for "polynomial".
    gamma : float, "scale" or "auto", default=None
        Parameter of the kernel. "auto" and None: 1 / n_features; "scale":
        1 / (n_features * variance of the training points).
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=0.0
        Constant of the polynomial kernel.
    left_out : int or "all", default=30000
        Number of points, at most, that are left out for the leave-one-out error.
    weights : pairs or dict, default=()
        Factors of the weights of the sides, 0 left and 1 right: ((0, 2.0),).
    """

    n_landmarks: int | None = None
    alpha: float | str | None = None
    kernel: str = "rbf"
    gamma: float | str | None = None
    degree: int = 3
    coef0: float = 0.0
    left_out: int | str | None = LEFT_OUT
    weights: Mapping[int, float] | tuple = ()
    # fewer different points than landmarks are taken, with a warning
    clipped: bool = field(default=False, init=False)

    name = "nystrom"
    letters: ClassVar[dict] = {
        "-m": ("n_landmarks", 2, 100_000, True, False),
        "-t": ("kernel", TUNED_KERNELS, None, False, False),
        "-g": ("gamma", 0, math.inf, False, False),
        "-r": ("coef0", 0, math.inf, False, False),
        "-d": ("degree", 0, 100, True, False),
        "-l": ("alpha", 0, math.inf, False, True),
        "--loo": ("left_out", 100, 10**12, True, False),
    }
    strange = dict.fromkeys(
        (BORDERS | LIBSVM) - set(letters),
        "learner=nystrom has no such option: -m is the number of landmarks, -l the regularisation",
    ) | {
        "-c": "learner=nystrom is regularised by -l LAMBDA, about 1 / C, or -l auto",
        "-t": "landmarks need a positive definite kernel, which the sigmoid is not",
    }
    words: ClassVar[dict] = {"-l": "auto", "--loo": "all"}
    uses_shared_landmarks = streams = True
    keeps_sparse = False

    def canonical(self):
        """The settings that decide the result, in one fixed spelling."""
        words = [f"learner={self.name}", *self.kernel_words()]
        words.append(f"-m {self.n_landmarks or LANDMARKS}")
        words.append("-l auto" if self.alpha is None else f"-l {self.alpha!r}")
        if self.left_out != LEFT_OUT:
            words.append(f"--loo {self.left_out or 'all'}")
        return " ".join(words + self.weight_words())

    def identity(self, job):
        """Options, seed, and the classifiers that share the landmarks."""
        return (*super().identity(job), job.together.digest)


class Ridge:
    """The solution for all classifiers that have the same points on their two sides together.

    Of `grams`, [(G, `packed`, factor), ...], the sum G over their points is made; `total` (p,) and
    `weight` are S and N, `ridge` is lambda. Raises `DataError` where lambda is too small for the
    rounding of the sums, or these are not finite.
    """

    _ROWS = LowerTriangle.STEP  # at a time, which stay in the cache
    _directions = None

    def __init__(self, grams, total: np.ndarray, weight: float, ridge: float):
        p = len(total)
        ends = np.arange(p + 1) * np.arange(1, p + 2) // 2  # of the packed rows
        if not np.isfinite([total, *(gram[ends[1:] - 1] for gram, _ in grams)]).all():
            raise DataError(
                "kernel values of these points are too large: normalise the data or "
                "choose other options"
            )
        self.weight = weight
        self.mean = total / weight
        matrix = np.zeros((p, p))  # what is right of the diagonal is not read
        for start in range(0, p, self._ROWS):
            stop = min(start + self._ROWS, p)
            span = slice(ends[start], ends[stop])
            (gram, factor), *others = grams
            part = gram[span] * factor
            for gram, factor in others:
                part += gram[span] if factor == 1 else gram[span] * factor
            rows = matrix[start:stop, :stop]
            rows[np.tri(stop - start, stop, start, dtype=bool)] = part
            rows -= np.outer(total[start:stop], self.mean[:stop])
        matrix[np.diag_indices(len(matrix))] += ridge
        try:
            self._factor = LowerTriangle.cholesky(matrix)
        except np.linalg.LinAlgError:
            raise DataError(
                f"-l {ridge:g} is too small for the rounding of these points: choose "
                "a larger one, or normalise the data"
            ) from None

    def estimate_leverages(self, signs: np.ndarray):
        """Let `leave_out` estimate leverages from now on, in directions of random signs (p, q).

        |L^-1 x|^2 is the mean of q (s . L^-1 x)^2 with a relative error of (2 / q)^(1/2) at most.
        """
        self._directions = self._factor.solve_transposed(signs) / math.sqrt(signs.shape[1])

    def solve(self, difference: np.ndarray, balance: np.ndarray) -> tuple:
        """v (p, m) and b (m,) of m classifiers; difference (p, m): d, balance (m,): tbar."""
        right = difference - np.outer(self.mean, self.weight * balance)
        v = self._factor.solve_transposed(self._factor.solve(right))
        return v, balance - self.mean @ v

    def leave_out(
        self,
        t: np.ndarray,
        f: np.ndarray,
        phi: np.ndarray,
        w: np.ndarray,
        groups: np.ndarray | None = None,
    ) -> np.ndarray:
        """Decision values (m, n) of points by classifiers that are trained without each of them,
        or without its group (module docstring).

        `t` and `f` (m, n) are targets and decision values, phi (p, n) features, w (n,) weights;
        `groups` (n,) have all of their points among these.
        """
        if groups is None:
            return t - (t - f) / np.maximum(1.0 - self._leverages(phi, w, self._directions), 1e-9)
        turned = self._factor.solve(phi - self.mean[:, None])
        turned = np.vstack([turned, np.full(phi.shape[1], self.weight**-0.5)])
        values = np.empty(f.shape)
        for rows in rows_by_class(groups).values():
            u = turned[:, rows]
            weighted = turned[:, rows] * w[rows]
            rest = (t - f)[:, rows].T
            if w[rows].sum() >= (1 - 1e-12) * self.weight:
                rest = np.broadcast_to(t, f.shape)[:, rows].T  # nothing is left to train on
            elif len(rows) <= len(u):
                rest = np.linalg.solve(np.eye(len(rows)) - u.T @ weighted, rest)
            else:
                rest = rest + u.T @ np.linalg.solve(
                    np.eye(len(u)) - weighted @ u.T, weighted @ rest
                )
            values[:, rows] = np.broadcast_to(t, f.shape)[:, rows] - rest.T
        return values

    def _leverages(self, phi, w, directions=None):
        """h (n,); of those that are estimated, large ones are computed after all."""
        if directions is None:
            turned = self._factor.solve(phi - self.mean[:, None])
        else:
            turned = directions.T @ phi - (self.mean @ directions)[:, None]
        h = w * (1.0 / self.weight + np.einsum("ij,ij->j", turned, turned))
        if directions is not None:
            large = np.flatnonzero(h > _LARGE)
            h[large] = self._leverages(phi[:, large], w[large])
        return h


class RidgeSearch:
    """The lambda with the least leave-one-out error among powers of ten.

    Every second power is tried, then the neighbours of the best one while there are better ones.
    `scale` is the mean of K(z, z), in which lambda is measured, `least` the smallest lambda that
    rounding allows. `trial` is the next one to be tried, None at the end; `record(error)` goes on;
    `best` is the answer.
    """

    def __init__(self, scale: float = 1.0, least: float = 0.0):
        self._unit = 10.0 ** round(math.log10(scale))
        if least <= 1e-7 * self._unit:
            lowest = -7
        else:
            lowest = math.ceil(math.log10(least / self._unit))
        self._powers = range(lowest, max(lowest + 1, 3) + 1)
        self._errors: dict[int, float] = {}
        self._coarse = list(self._powers[1::2])
        self._next: int | None = self._coarse.pop(0)

    @property
    def trial(self) -> float | None:
        """The lambda to be tried."""
        if self._next is None:
            return None
        return self._value(self._next)

    @property
    def best(self) -> float:
        """The one with the least error so far; of equal ones the larger."""
        return self._value(min(self._errors, key=lambda power: (self._errors[power], -power)))

    def record(self, error: float):
        """Take the error of `trial`."""
        self._errors[self._next] = error if math.isfinite(error) else math.inf
        if self._coarse:
            self._next = self._coarse.pop(0)
            return
        best = min(self._errors, key=lambda power: (self._errors[power], -power))
        around = [
            power
            for power in (best - 1, best + 1)
            if power in self._powers and power not in self._errors
        ]
        if around:
            self._next = around[0]
        else:
            self._next = None

    def _value(self, power):
        return float(f"1e{power}") * self._unit
