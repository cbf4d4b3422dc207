"""The front of the decoders: checks once, picks the solver, runs it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

import numpy as np

from ..errors import DataError, ModelError, UsageError
from . import oneagainst
from .methods import DEFAULT, find_method
from .shortcuts import pair_classes
from .stops import Stops

__all__ = ["Decoded", "Plan", "decode", "plan", "predict_class"]


@dataclass(frozen=True)
class Decoded:
    """p: (n, k) probabilities or votes, (n, m) for the method "binary"; and how it stopped."""

    p: np.ndarray
    stops: Stops


class Plan:
    """A decoder made ready for one code; call it with any number of chunks of r.

    Everything that depends on the code alone (closed forms, factors) has been
    done.  It holds no state between calls, so threads may share it; add the
    `stops` of the chunks to know how the whole run went.
    """

    def __init__(self, a, method=DEFAULT):
        self.method = find_method(method)
        self.a = _checked_code(a)
        if (self.method.codes == "one-vs-one" and pair_classes(self.a) is None
                or self.method.codes == "one-vs-rest" and oneagainst.find(self.a) is None):
            raise UsageError(f"the decoder {self.method.name} needs a {self.method.codes} "
                             "configuration")
        if self.method.gives == "winner":
            raise UsageError(f"the decoder {self.method.name} has to ask: see asking_plan")
        module, function = self.method.solver.split(":")
        prepare = getattr(import_module("." + module, __package__), function)
        self._solve = prepare(self.a)

    def __call__(self, r):
        """`Decoded` for decision values r (n, m) or (m,); r is clipped to [-1, 1].

        For a method that takes raw values these are not clipped.

        Raises DataError if r has another number of columns or is not finite.
        """
        r = _checked_values(r, self.a.shape[0], self.method.takes == "r")
        p, stops = self._solve(r)
        return Decoded(p, stops)


def plan(a, method=DEFAULT):
    """A `Plan` for the coding matrix a (m, k), entries -1, 0, +1.

    method: number, name, alias or `Method`.  Raises UsageError for an unknown
    method, ModelError for a matrix that is not a code.
    """
    return Plan(a, method)


def decode(a, r, method=DEFAULT):
    """`Decoded` for the code a (m, k) and decision values r (n, m), r = P(+1) - P(-1).

    Solves sum_j a_ij p_j / sum_j |a_ij| p_j = r_i for p in the sense of the
    method.  Raises as `plan` and `Plan.__call__` do.
    """
    return Plan(a, method)(r)


def predict_class(p):
    """Index (n,) of the largest entry of each row of p (n, k), the lowest on ties."""
    return np.argmax(p, axis=1)


def _checked_code(a):
    a = np.asarray(a)
    if a.ndim != 2 or a.shape[0] < 1 or a.shape[1] < 2:
        raise ModelError(f"a coding matrix has one row or more and two columns or more, "
                         f"not the shape {a.shape}")
    if not np.isin(a, (-1, 0, 1)).all():
        raise ModelError("a coding matrix has entries -1, 0 and 1 only")
    a = a.astype(np.int8)
    for side, name in ((-1, "left (-1)"), (1, "right (+1)")):
        empty = ~(a == side).any(axis=1)
        if empty.any():
            raise ModelError(f"binary problem {np.argmax(empty)} has no class on the {name}")
    unused = ~a.any(axis=0)
    if unused.any():
        raise ModelError(f"class {np.argmax(unused)} (counted from 0) is in no binary problem")
    return a


def _checked_values(r, m, clipped):
    r = np.atleast_2d(np.asarray(r, dtype=float))
    if r.ndim != 2 or r.shape[1] != m:
        raise DataError(f"{r.shape[-1]} decision values for each point, "
                        f"but the code has {m} binary problems")
    finite = np.isfinite(r)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise DataError(f"decision value {column} of point {row} is {r[row, column]}")
    return np.clip(r, -1.0, 1.0) if clipped else r
