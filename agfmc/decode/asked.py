"""Decoders that ask binary classifiers on their way, by the names of `methods`.

Each function takes a `PairTable` and `AskOptions` and returns decide(n, ask) ->
`Decision`; see `asking`.  The probability of the winner is that of all pairs
asked, fitted together, for votes, and of the winner's own pairs for
eliminations: what was closer to the truth on real data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from ..errors import UsageError
from ..numerals import numeral
from . import elimination, polling
from .methods import find_method
from .pairs import PairTable
from .shortcuts import pair_classes
from .winner import fitted_probability

__all__ = ["AskOptions", "asking_plan", "opponents_of"]


@dataclass(frozen=True)
class AskOptions:
    """What the decoders can be told.

    opponents: of each class in a poll, a number or a word such as `3log`, 3 log2
    k; seed: of its draw; top: so many best classes are polled in full; weights
    (k, k): error of each pair of classes, columns of the code, or None.
    """

    opponents: str = "3log"
    seed: int = 1
    top: int = 0
    weights: np.ndarray | None = None


def asking_plan(a, method, options):
    """decide(n, ask) of an asking `Method` for the code a (m, k); UsageError for other codes."""
    method = find_method(method)
    if pair_classes(np.asarray(a)) is None:
        raise UsageError(f"the decoder {method.name} needs a one-vs-one configuration")
    module, function = method.solver.split(":")
    prepare = getattr(import_module("." + module, __package__), function)
    return prepare(PairTable(a), options)


def opponents_of(word, k):
    """The number of opponents that a word means for k classes: `20`, or `3log`.

    `3log` is ceil(3 log2 k), at least 1.  Raises UsageError for anything else.
    """
    try:
        if word.endswith("log"):
            factor = numeral(word.removesuffix("log") or "1")
            if not 0 < factor <= 1e6:
                raise ValueError
            # a product that is whole but for rounding is not rounded up
            return max(1, math.ceil(factor * math.log2(k) - 1e-9))
        count = numeral(word, whole=True)
        if not 1 <= count <= 10**6:
            raise ValueError
        return count
    except ValueError:
        raise UsageError(f"'{word}' opponents: expected a whole number, or a multiple of log2 k "
                         "such as 3log") from None


def prepare_max_win(table, options):
    return polling.max_win(table, fitted_probability)


def prepare_poll(table, options):
    return polling.poll(table, opponents_of(options.opponents, table.k), options.seed, options.top,
                        fitted_probability)


def prepare_ddag(table, options):
    return elimination.ddag(table)


def prepare_adag(table, options):
    return elimination.adag(table)


def prepare_radag(table, options):
    if options.weights is None:
        raise UsageError("radag needs the errors of the pairs: give --pair-errors, a file that "
                         "multi_borders --cv-errors writes")
    return elimination.radag(table, options.weights)


def prepare_unanimous(table, options):
    return elimination.unanimous(table)
