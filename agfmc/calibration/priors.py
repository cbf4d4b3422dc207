"""Probabilities for classes in other proportions than in training.

M. Saerens, P. Latinne and C. Decaestecker, "Adjusting the outputs of a classifier
to new a priori probabilities: a simple procedure", Neural Computation 14, 2002,
equation (2.4): p'_j = p_j (pi'_j/pi_j) / sum_l p_l (pi'_l/pi_l).
"""

from collections.abc import Sequence

import numpy as np

from ..core.errors import ModelError


class Adjustment:
    """p (n, k) of a classifier trained with shares `trained` to p under shares `new`.

    `new` and `trained` (k,) are in the order of the columns, those of training positive. Negative
    estimates count as 0; where no class with a positive share has a positive probability, p is
    `new`.
    """

    def __init__(self, new: np.ndarray, trained: np.ndarray):
        self.new = np.asarray(new, dtype=float) / np.sum(new)
        with np.errstate(over="ignore"):
            factors = self.new / np.asarray(trained, dtype=float)
        if not np.isfinite(factors).all():
            raise ModelError("the proportions in training are too small to divide by")
        self._factors = factors / factors.max()

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """p (n, k), non-negative with sums of 1; each row depends on its own alone."""
        out = np.empty(p.shape)  # row by row in memory, so that every row is summed alike
        np.maximum(p, 0.0, out=out)
        out[:, self._factors == 0] = 0.0
        top = out.max(axis=1)
        lost = top == 0
        top[lost] = 1.0
        out /= top[:, None]  # else the smallest numbers could vanish, all of a row together
        out *= self._factors
        out[lost] = self.new
        out /= out.sum(axis=1)[:, None]
        return out


def class_counts(
    totals: Sequence[tuple[Sequence[int], float]], k: int, weighted: bool = False
) -> np.ndarray | None:
    """Samples (k,) of the classes, from what sets of them have together; None if unknown.

    Solves the linear system, which must have full rank, by least squares.

    Parameters
    ----------
    totals : sequence, [(columns of the classes of a set, their samples)]
    k : int, number of classes
    weighted : bool, sums of weights in place of numbers, which agree within their rounding

    Raises
    ------
    ModelError : where the numbers contradict each other
    """
    if weighted:
        near = 1e-6
    else:
        near = 0.0
    total_of: dict[frozenset[int], float] = {}
    for columns, total in totals:
        if abs(total_of.setdefault(frozenset(columns), total) - total) > near * total:
            raise ModelError("the classifiers were trained on different samples")
    counts = np.zeros(k, dtype=np.float64 if weighted else np.int64)
    known = np.zeros(k, dtype=bool)
    for members, total in total_of.items():
        if len(members) == 1:
            known[list(members)] = True
            counts[list(members)] = total
    sides = np.zeros((len(total_of), k))
    for row, members in zip(sides, total_of, strict=True):
        row[list(members)] = 1.0
    target = np.array(list(total_of.values()), dtype=counts.dtype)
    if not known.all():
        rest = sides[:, ~known]
        solved, _, rank, _ = np.linalg.lstsq(
            rest, target - sides[:, known] @ counts[known], rcond=None
        )
        if rank < rest.shape[1]:
            return None
        counts[~known] = solved if weighted else np.rint(solved)
    if weighted:
        low = counts.min() <= 0
    else:
        low = counts.min() < 1
    if low or np.any(np.abs(sides @ counts - target) > near * target):
        raise ModelError("the classifiers were trained on different samples")
    return counts
