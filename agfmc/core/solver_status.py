"""Convergence of the solvers, added up over chunks, so that a command can warn once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SolverStatus:
    """Counts of how the solver of a decoder ended; add two of them for two chunks.

    Attributes
    ----------
    points : number of points solved
    rounds : most rounds that any point needed, 0 for a closed form
    unfinished : number of points given up at the limit of rounds
    undetermined : number of points whose least squares problem has many solutions, of which the
        nearest to equal probabilities was returned
    """

    points: int = 0
    rounds: int = 0
    unfinished: int = 0
    undetermined: int = 0

    def __add__(self, other: SolverStatus) -> SolverStatus:
        return SolverStatus(
            self.points + other.points,
            max(self.rounds, other.rounds),
            self.unfinished + other.unfinished,
            self.undetermined + other.undetermined,
        )

    def warning(self) -> str | None:
        """One sentence on what the user should know, or None."""
        parts = []
        if self.unfinished:
            parts.append(
                f"the decoder did not converge within {self.rounds} rounds for "
                f"{self.unfinished} of {self.points} solutions"
            )
        if self.undetermined:
            parts.append(
                f"the binary classifiers do not determine the probabilities of "
                f"{self.undetermined} of {self.points} solutions; the one nearest "
                f"to equal probabilities was taken"
            )
        return "; ".join(parts) or None


# From decision values r (n, m) to p or scores (n, k), and how it went.
Solver = Callable[[np.ndarray], tuple[np.ndarray, SolverStatus]]


def direct(solve: Callable) -> Solver:
    """The `Solver` of a closed form r (n, m) -> array (n, k)."""
    return lambda r: (solve(r), SolverStatus(len(r)))


def in_chunks(solve: Solver, step: int, k: int) -> Solver:
    """A solver r (n, m) -> p (n, k) that hands `solve` at most `step` points at a time."""
    step = max(1, step)

    def solve_all(r):
        p = np.empty((len(r), k))
        stops = SolverStatus()
        for start in range(0, len(r), step):
            part = slice(start, start + step)
            p[part], stopped = solve(r[part])
            stops += stopped
        return p, stops

    return solve_all
