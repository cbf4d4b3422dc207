"""Decoders that score the classes, as the front takes them: solver -> (scores, `Stops`)."""

from __future__ import annotations

from functools import partial

from . import losses, oneagainst
from .stops import Stops

__all__ = ["prepare_argmax", "prepare_argmax_raw"]


def _front(solve):
    return lambda values: (solve(values), Stops(len(values)))


def prepare_argmax(a):
    """Solver r (n, m) -> probabilities against the rest (n, k)."""
    return _front(oneagainst.argmax(a))


def prepare_argmax_raw(a):
    """Solver g (n, m) -> decision values (n, k) turned towards each class."""
    return _front(oneagainst.argmax_raw(a))


def _prepare_loss(loss, a):
    return _front(losses.prepare(a, loss))


prepare_hamming = partial(_prepare_loss, "hamming")
prepare_linear = partial(_prepare_loss, "linear")
prepare_hinge = partial(_prepare_loss, "hinge")
prepare_exponential = partial(_prepare_loss, "exponential")
prepare_logit = partial(_prepare_loss, "logit")
prepare_quadratic = partial(_prepare_loss, "quadratic")
