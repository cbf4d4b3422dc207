"""Classes beside the truth, in the words and columns of libAGF's cls_comp_stats."""

from __future__ import annotations

import os
import warnings

import numpy as np

from ..errors import AgfmcWarning
from ..formats.vectors import read_con
from ..score.probabilities import calibration
from .evaluate import evaluate, load_results
from .guess import guessed_classes, refuse_many_columns, warn_of_rejected

__all__ = ["brief_comparison", "comparison"]


def brief_comparison(truth_path, base):
    """Accuracy and uncertainty coefficient as one line."""
    results = load_results(truth_path, base)
    warn_of_rejected(results.result, "they count as wrong")
    scores = evaluate(results)
    return f"{_score(scores['accuracy'], '6.4f')} " \
           f"{_score(scores['uncertainty_coefficient'], '6.4f')}\n"


def comparison(truth_path, base, bins):
    """The whole page, as an iterable of pieces of text; all files are read at once.

    bins: lines of the table of confidence ratings, which is left out for 0 and
    without base.con.  Raises `DataError` where the files do not fit together,
    or a label is too large for a table from 0.
    """
    results = load_results(truth_path, base)
    truth, result = results.truth, results.result
    for labels, path in ((truth, truth_path), (result, f"{base}.cls")):
        refuse_many_columns(int(labels.max()), path, "use eval_uc, whose table has the labels "
                            "that occur, or eval_uc -b")
    warn_of_rejected(result, "they count as wrong, and have no column in the table")
    ratings = ()
    if bins and os.path.exists(f"{base}.con"):
        k = guessed_classes(truth, result, truth_path)
        ratings = _ratings(truth, result, read_con(f"{base}.con", n=len(truth)), k, bins, base)
    return _page(evaluate(results), int(truth.max()) + 1, int(result.max()) + 1, ratings)


def _page(scores, rows, columns, ratings):
    labels, counts = np.array(scores["labels"]), np.array(scores["contingency"])
    place = {label: i for i, label in enumerate(scores["labels"])}
    seen = labels[labels < columns]
    yield "        retrieval\n"
    yield "truth " + "%5d " * columns % tuple(range(columns)) + "    tot\n"
    totals = np.zeros(columns, dtype=np.int64)
    for label in range(rows):
        row, total = np.zeros(columns, dtype=np.int64), 0
        if label in place:
            row[seen] = counts[place[label], :len(seen)]
            total = int(counts[place[label]].sum())
        totals += row
        yield "%3d   " % label + "%5d " * columns % tuple(row.tolist()) + " %6d\n" % total
    yield "\ntotal " + "%5d " * columns % tuple(totals.tolist()) + "\n\n"
    for name, key in (("U C (reverse)", "uncertainty_coefficient_reverse"),
                      ("U C (total)", "uncertainty_coefficient_symmetric"),
                      ("Uncertainty coefficient", "uncertainty_coefficient"),
                      ("Accuracy", "accuracy")):
        yield f"{name}: {_score(scores[key], 'f')}\n"
    yield from ratings


def _ratings(truth, result, con, k, bins, base):
    """Lines: mean rating of a bin, and what it should be by the share of correct answers."""
    if np.any(np.abs(con) > 1 + 1e-5):
        warnings.warn(f"{base}.con holds ratings beyond 1, made from votes perhaps: the table of "
                      "confidence means little", AgfmcWarning, stacklevel=3)
    told = result >= 0
    if k > 2:
        title = "confidence"
    else:
        title = "probability difference"
        told &= result < 2  # a third answer is on neither side
        con = np.where(result == 1, con, -con)
    correct = result[told] == truth[told]
    lower = 0.0 if k > 2 else -1.0
    table = calibration(con[told], correct, bins if k > 2 else 2 * bins, lower)
    lines = [f"\nAccuracy vs. {title}:\n\n"]
    for place, row in enumerate(table):
        if not row.count:
            lines.append("%10s %10s\n" % ("-", "-"))
        elif k > 2:
            lines.append("%10.3f %10.3f\n" % (row.forecast, (k * row.observed - 1) / (k - 1)))
        else:
            sign = -1 if place < bins else 1
            lines.append("%10.3f %10.3f\n" % (row.forecast, sign * (2 * row.observed - 1)))
    return [*lines, "\n"]


def _score(value, layout):
    """A number, or - as wide where it is 0/0."""
    text = format(value, layout)
    return text if value == value else "-".rjust(len(format(0.0, layout)) if layout != "f" else 1)
