"""Front of the decoders: checks once, has the solver of the table prepared, runs it."""

from collections.abc import Callable
from functools import partial

import numpy as np

from ..core.errors import DataError, ModelError, UsageError
from ..core.models import LearnedDecoder
from ..core.rows import by_name
from ..core.solver_status import SolverStatus
from .code_kinds import KINDS
from .methods import DEFAULT, find_method, Method
from .pair_strategies import PairQueries

_ROUNDING = 1e-6  # of the sum of the probabilities that a program's own decoder gives


class CodeDecoder:
    """A decoder made ready for one code; call it with any number of chunks of r.

    Everything that depends on the code alone (closed forms, factors) has been done. It holds no
    state between calls, so threads may share it; add the `stops` of the chunks to know how the
    whole run went.

    Parameters
    ----------
    a : array (m, k), coding matrix, entries -1, 0, +1
    method : int, str, Method or callable, number, name or alias, or a function of r (n, m) and a
    learned : LearnedDecoder, optional, of the method of that name, its rows in the order of the
        columns of a

    Attributes
    ----------
    gives : as `gives` of `Method`, for this code

    Raises
    ------
    UsageError : for an unknown method, or one for other codes
    ModelError : for a matrix that is not a code, and where there is no learned decoder for it
    """

    def __init__(
        self,
        a: np.ndarray,
        method: str | int | Method = DEFAULT,
        learned: LearnedDecoder | None = None,
    ):
        self.method = find_method(method)
        self.a = _checked_code(a)
        if self.method.gives == "winner":
            raise UsageError(
                f"the decoder {self.method.name} queries single classifiers: see pair_decoder"
            )
        self.gives = given_for_code(self.method, self.a)
        options = [learned] if self.method.takes == "learned" else []
        self._solve = _prepare(self.method, self.a, *options)

    def __call__(self, r: np.ndarray) -> tuple[np.ndarray, SolverStatus]:
        """p and how it was found, for decision values r (n, m) or (m,), r = P(+1) - P(-1).

        p (n, k) are probabilities or votes, (n, m) for the method "binary".

        Solves sum_j a_ij p_j / sum_j |a_ij| p_j = r_i for p in the sense of the
        method.  r is clipped to [-1, 1], but not for a method that takes raw values.
        Raises DataError if r has another number of columns or is not finite.
        """
        return self._solve(_checked_values(r, self.a.shape[0], self.method.takes != "g"))


def given_for_code(method: Method, a: np.ndarray) -> str:
    """The kind of numbers that a method gives for the code a (m, k).

    Of `inverse` they are probabilities for one-vs-one alone.
    """
    if method.name == "inverse" and KINDS["one-vs-one"](a) is not None:
        return "probabilities"
    return method.gives


def pair_decoder(
    a: np.ndarray, method: str | int | Method, queries: PairQueries = PairQueries()
) -> Callable:
    """decide(n, evaluate) of a method that queries single classifiers of the
    code a (m, k), see `pair_queries`.  Raises as `CodeDecoder` does."""
    return _prepare(find_method(method), _checked_code(a), queries)


def _prepare(method, a, *options):
    code = KINDS[method.codes](a)
    if code is None:
        raise UsageError(f"the decoder {method.name} needs a {method.codes} configuration")
    if callable(method.solver):
        return partial(_own_solution, method, code)
    return by_name(f"decode.{method.solver}")(code, *options)


def _own_solution(method, a, r):
    """Answers of a decoder given as a function to r (n, m), checked: p (n, k), how it was found."""
    p = np.asarray(method.solver(r, a), dtype=np.float64)
    expected = len(r), a.shape[1]
    if p.shape != expected:
        raise DataError(
            f"the decoder {method.name} gave an array of the shape {p.shape} for {expected[0]} "
            f"points and {expected[1]} classes: expected {expected}"
        )
    if not np.isfinite(p).all():
        raise DataError(f"the decoder {method.name} gave NaN or infinite numbers")
    if method.gives == "probabilities" and (
        p.min(initial=0) < 0 or np.abs(p.sum(axis=1) - 1).max(initial=0) > _ROUNDING
    ):
        raise DataError(
            f"the decoder {method.name} gave negative numbers, or rows whose sum is not 1: its "
            'attribute gives = "estimates" or "votes" says that they are no probabilities'
        )
    return p, SolverStatus(len(r))


def _checked_code(a):
    a = np.asarray(a)
    if a.ndim != 2 or a.shape[0] < 1 or a.shape[1] < 2:
        raise ModelError(
            f"a coding matrix has one row or more and two columns or more, not the shape {a.shape}"
        )
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
        raise DataError(
            f"{r.shape[-1]} decision values for each point, but the code has {m} binary problems"
        )
    finite = np.isfinite(r)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise DataError(f"decision value {column} of point {row} is {r[row, column]}")
    if clipped:
        return np.clip(r, -1.0, 1.0)
    return r
