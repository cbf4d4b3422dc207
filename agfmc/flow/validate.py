"""Probabilities beside the truth, in the words and columns of libAGF's validate_probabilities."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from ..errors import AgfmcWarning, DataError
from ..formats.files import replacing
from ..formats.lvq import read_lvq
from ..formats.vectors import read_cls, read_con
from ..score.probabilities import (all_samples, brier_winning, curves, inverse_sum, probability,
                                   validate)
from .guess import guessed_classes, warn_of_rejected

__all__ = ["Samples", "curves_of", "format_brier", "format_validation", "samples_of_results",
           "samples_of_text", "write_curves"]

_ROWS = 8192  # of text made at once


class Samples(NamedTuple):
    """p, t (N,): forecasts, and 1 where they came true, else 0;  k classes;  n points."""

    p: np.ndarray
    t: np.ndarray
    k: int
    n: int


def samples_of_text(truth_path, path, header=True, classes=True):
    """`Samples` of all probabilities: lines of k of them and, with `classes`, a class.

    header: the first line is k alone.  Column j is taken for class j.  Raises
    DataError with the line of whatever cannot be, and for a true class without a column.
    """
    truth = read_cls(truth_path)
    try:
        p = read_lvq(path, header, classes).x
    except DataError as error:
        if header and error.line == 1:  # a number of columns there is never at fault
            raise DataError("expected the number of columns alone; where there is no such line, "
                            "as in what classify_m prints, give -H", file=path, line=1) from error
        raise
    n, k = p.shape
    if k < 2:
        raise DataError("has one column of probabilities: expected one for each class", file=path)
    if n != len(truth):
        raise DataError(f"has {n} lines of probabilities, but there are {len(truth)} points",
                        file=path)
    if truth.max() >= k:
        raise DataError(f"holds class {truth.max()}, but there are {k} columns of probabilities, "
                        "which stand for the classes from 0", file=truth_path)
    _warn_of_votes(p, path)
    return Samples(*all_samples(p, truth), k, n)


def samples_of_results(truth_path, base):
    """`Samples` of the winners' probabilities, from the ratings in base.con.

    The number of classes is guessed from the largest true label.  Rejected
    points are left out, with a warning.
    """
    truth = read_cls(truth_path)
    result = read_cls(f"{base}.cls", n=len(truth), negative=True)
    con = read_con(f"{base}.con", n=len(truth))
    k = guessed_classes(truth, result, truth_path)
    if k < 2:
        raise DataError("holds class 0 alone, from which the number of classes cannot be "
                        "guessed: tell eval_uc with -k", file=truth_path)
    warn_of_rejected(result, "they are left out")
    told = result >= 0
    if not told.any():
        raise DataError("all points were rejected", file=f"{base}.cls")
    p = probability(con[told], k)
    _warn_of_votes(p, f"{base}.con")
    return Samples(p, (result[told] == truth[told]).astype(float), k, len(p))


def _warn_of_votes(p, path):
    if p.min() < -1e-5 or p.max() > 1 + 1e-5:
        warnings.warn(f"{path} holds probabilities outside 0 to 1, made from votes perhaps: "
                      "the scores mean little", AgfmcWarning, stacklevel=3)


def curves_of(samples):
    """The `Curves` of `Samples`."""
    return curves(samples.p, samples.t, samples.k)


def format_brier(samples):
    """The Brier score alone, as a line."""
    return "%g\n" % brier_winning(samples.p, samples.t)


def format_validation(samples, lines):
    """The four scores of `Samples` as lines; lines: their `Curves`."""
    found = validate(lines, samples.n)
    scores = {"1-r": 1 - found.correlation, "m-1": found.slope - 1,
              "Brier score": brier_winning(samples.p, samples.t), "norm. rmse": found.error}
    return "".join("%-11s = %s\n" % (name, "%15.8g" % value if value == value else "%15s" % "-")
                   for name, value in scores.items())


def write_curves(path, lines):
    """Write `Curves` for plotting: i - mid, p_i and three sums up to it, a line for each i."""
    n = len(lines.p)
    columns = (np.arange(n) - lines.mid, lines.p, inverse_sum(lines), lines.c, lines.s)
    with replacing(path) as file:
        for start in range(0, n, _ROWS):
            rows = zip(*(column[start:min(start + _ROWS, n)].tolist() for column in columns))
            file.write("".join(["%d %g %g %g %g\n" % row for row in rows]))
