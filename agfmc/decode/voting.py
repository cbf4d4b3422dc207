"""Votes."""

from __future__ import annotations

import numpy as np

from .exact import Uniform
from .stops import Stops

__all__ = ["prepare_signs", "prepare_values"]


def prepare_values(a):
    """Solver of votes weighted with the decision values: A^T r."""
    votes = Uniform(a)
    return lambda r: (votes(r), Stops(len(r)))


def prepare_signs(a):
    """Solver of votes: A^T sign(r), where sign(0) = 0 is no vote."""
    code = a.astype(float)
    return lambda r: (np.sign(r) @ code, Stops(len(r)))
