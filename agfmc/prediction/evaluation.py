"""Scores, from files of truth, results and probabilities.

Scores as text for people.
"""

from __future__ import annotations

import os
import unicodedata
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ..errors import AgfmcWarning, DataError, one_line, UsageError
from ..formats.class_names import number_classes, read_names, read_names_of
from ..formats.probability_text import read_probabilities
from ..formats.vectors import read_cls, read_con
from ..score.contingency import contingency, uncertainty_coefficient
from ..score.probabilities import (calibration, class_weights, expected_calibration_error,
                                   probability)
from ..score.scores import SCORES
from .decoding import listed, proportions

__all__ = ["Results", "evaluate", "format_scores", "load_results", "names_beside",
           "warn_of_other_numbers", "weighted"]

@dataclass(frozen=True, eq=False)
class Results:
    """The results of a classification, with the true classes.

    truth, result (n,) labels, -1 in result where rejected;  labels: all classes
    in ascending order;  k: their number, or None where nothing tells it;
    winner (n,): probability of the answer, or None;  p (n, k): all
    probabilities, columns in the order of `labels`, or None;  weights (n,): how
    much each point counts, or None where all count alike.
    """

    truth: np.ndarray
    result: np.ndarray
    labels: np.ndarray
    k: int | None = None
    winner: np.ndarray | None = None
    p: np.ndarray | None = None
    weights: np.ndarray | None = None


def load_results(truth_path, base, probabilities=None, k=None, labels=None, names=None):
    """Read truth (.cls), base.cls, base.con if it is there, and what classify_m printed.

    k: number of classes; labels: those of the columns; names: the file of their names, in
    which a truth that has labels below 0 is looked up.  Raises `DataError`
    where the files do not fit together, `UsageError` where k or labels are
    needed or contradict them.
    """
    # first: from a pipe they end when the command that writes the other files has done so
    table = None if probabilities is None else read_probabilities(probabilities)
    truth = read_cls(truth_path, negative=True)
    if truth.min() < 0:
        told = k if table is None else table.p.shape[1]
        truth = number_classes(truth, told, truth_path, None if names is None else
                               read_names(names), ": give eval_uc --names, or -k if all occur")
    result = read_cls(f"{base}.cls", n=len(truth), negative=True)
    found = np.unique(np.concatenate([truth, result[result >= 0]]))
    ratings = truth_path.removesuffix(".cls") + ".con"
    if os.path.exists(ratings) and not os.path.exists(f"{base}.con"):
        warnings.warn(f"{truth_path} has a file {ratings}, as results have, and {base}.cls has "
                      "none: the true classes come first, then the base name of the results",
                      AgfmcWarning, stacklevel=3)
    p = None
    if table is not None:
        if len(table.p) != len(truth):
            raise DataError(f"has {len(table.p)} lines of probabilities, but there are "
                            f"{len(truth)} points", file=probabilities)
        if not np.array_equal(table.classes, result):
            row = int(np.argmax(table.classes != result))
            raise DataError(f"the class of point {row} (from 0) is {table.classes[row]}, but "
                            f"{result[row]} in {base}.cls: they are not of one run",
                            file=probabilities)
        p = table.p
        if k is not None and k != p.shape[1]:
            raise UsageError(f"-k says {k} classes, and {probabilities} has {p.shape[1]}")
        k = p.shape[1]
        labels = table.labels if labels is None else labels
    labels = _labels(labels, found, k, p is not None)
    if labels is not None:
        k = len(labels)
    winner = None
    if p is not None:
        winner = np.max(p, axis=1)
    elif k is not None and os.path.exists(f"{base}.con"):
        winner = probability(read_con(f"{base}.con", n=len(truth)), k)
    if p is not None and not np.isin(truth, labels).all():
        strange = truth[~np.isin(truth, labels)][0]
        raise DataError(f"holds class {strange}, for which there are no probabilities: give the "
                        f"command without {probabilities}, and such points count as wrong",
                        file=truth_path)
    if (p is not None and np.median(np.abs(p.sum(axis=1) - 1.0)) > 0.2) or \
            (winner is not None and not (winner.min() > -1.0 and winner.max() < 2.0)):
        warnings.warn(f"the values in {probabilities or base + '.con'} are votes, not "
                      "probabilities: scores of probabilities are left out", AgfmcWarning,
                      stacklevel=2)
        p = winner = None
    return Results(truth, result, found if labels is None else labels, k, winner, p)


def _labels(labels, found, k, needed):
    """The labels of all classes, ascending; None where only those in the files are known."""
    if labels is not None:
        labels = np.asarray(labels)
        if k is not None and len(labels) != k:
            raise UsageError(f"{len(labels)} labels were given for {k} classes")
        if np.any(np.diff(labels) <= 0):
            raise UsageError("the labels must ascend, as the columns do")
        return labels
    if k is None:
        return None
    if len(found) == k:
        return found
    if len(found) > k:
        raise UsageError(f"there are {k} classes, but {len(found)} different labels in the files "
                         f"({listed(found.tolist())})" + ": without the probabilities, points of "
                         "a class that the model does not know count as wrong" * needed)
    if found.max() < k:
        return np.arange(k)
    if needed:
        raise UsageError(f"the files hold {len(found)} of the {k} classes, and nothing gives the "
                         "labels of the columns: give --labels, or let classify_m print them "
                         "with --header")
    return None


def names_beside(truth_path, labels, path=None):
    """{label: name} of the classes, from `path`, else from base.names beside base.cls, else {}.

    Raises `DataError` where one of them has no name in `path`; the other file is then
    left out, with a warning.
    """
    labels = [int(label) for label in labels]
    if path is not None:
        return read_names_of(path, labels)
    base = truth_path.removesuffix(".cls")
    if base == truth_path or not os.path.exists(f"{base}.names"):
        return {}
    try:
        return read_names_of(f"{base}.names", labels)
    except DataError as error:
        warnings.warn(f"{error}: the names are left out", AgfmcWarning, stacklevel=2)
        return {}


def weighted(results, priors):
    """`results` whose points count as much as if the true classes had these shares.

    priors: as for `proportions`.  A point of class j weighs priors[j]/(n_j/n), and all of
    them n.  Raises `UsageError` and `DataError` as `proportions` and `class_weights` do.
    """
    labels = np.asarray(results.labels)
    shares = proportions(priors, labels)
    truth = np.searchsorted(labels, results.truth)
    return replace(results, weights=class_weights(truth, shares, labels))


def warn_of_other_numbers(scores):
    """Warn where classes are separated well but hardly any is right; scores: of `evaluate`.

    With few points for each class any answers seem to tell them apart.
    """
    accuracy, told_apart = scores["accuracy"], scores["uncertainty_coefficient"]
    if scores["points"] >= 10 * len(scores["labels"]) and told_apart > 0.5 and accuracy < 0.2:
        warnings.warn(f"the results separate the classes (uncertainty coefficient "
                      f"{told_apart:.2f}), but hardly any is right (accuracy {accuracy:.2f}): "
                      "their classes seem to be numbered differently from the truth", AgfmcWarning,
                      stacklevel=2)


def evaluate(results, bins=10):
    """All scores that `Results` allow, as a dictionary of plain values; None where not.

    Keys: points, classes, labels, rejected, accuracy, uncertainty_coefficient (with
    reverse and symmetric), log_loss, brier, brier_all, brier_winning, contingency
    (rows truth, columns result), calibration, expected_calibration_error; where points
    have weights, also priors, the shares of the true classes with them.
    """
    labels, weights = np.asarray(results.labels), results.weights
    table = contingency(results.truth, results.result, labels, weights)
    uncertainty = uncertainty_coefficient(table)
    takes = {"table": (table,)}
    if results.p is not None:
        takes["probabilities"] = results.p, np.searchsorted(labels, results.truth), weights
    if results.winner is not None:
        # A rejected point still has a most probable class, but it is not the answer.
        answered = results.result >= 0
        takes["winner"] = (results.winner[answered],
                           results.result[answered] == results.truth[answered],
                           None if weights is None else weights[answered])
    values = {name: score.value(*takes[score.takes]) if score.takes in takes else None
              for name, score in SCORES.items()}
    of_table = [name for name, score in SCORES.items() if score.takes == "table"]
    scores = {
        "points": len(results.truth),
        "classes": results.k,
        "labels": [int(label) for label in labels],
        "rejected": int(table.rejected),
        **{name: values.pop(name) for name in of_table},
        "uncertainty_coefficient_reverse": uncertainty.reverse,
        "uncertainty_coefficient_symmetric": uncertainty.symmetric,
        "contingency": table.table.tolist(),
        **values,
        "calibration": None, "expected_calibration_error": None,
    }
    if weights is not None:
        rows = table.table.sum(axis=1)
        scores["priors"] = (rows / rows.sum()).tolist()
    if results.winner is not None:
        winner, correct, counting = takes["winner"]
        rows = calibration(winner, correct, bins, weights=counting)
        scores["calibration"] = [row._asdict() for row in rows]
        scores["expected_calibration_error"] = expected_calibration_error(rows)
    return scores


_WIDEST = 32  # columns for a name
_NEEDED = {"probabilities": "needs probabilities", "winner": "needs -k or probabilities"}


def format_scores(scores):
    """The dictionary of `evaluate` as a page of text; names: those of the labels, if known."""
    weighted = "priors" in scores
    lines = [
        _line("points", f"{scores['points']:d}" + (", weighted" if weighted else "")),
        _line("classes", "not told (-k)" if scores["classes"] is None
              else f"{scores['classes']:d}"),
    ]
    if scores["rejected"]:
        lines.append(_line("rejected", f"{scores['rejected']:d}"))
    for name, score in SCORES.items():
        lines.append(_line(score.title, _number(scores[name], _NEEDED.get(score.takes))))
        if name == "uncertainty_coefficient":
            lines += [_line(f"  {word}", _number(scores[f"{name}_{word}"]))
                      for word in ("reverse", "symmetric")]
    lines += [
        "",
        f"contingency table (rows: truth, columns: result{'; weighted' if weighted else ''})",
        *_contingency(scores),
    ]
    if scores["calibration"] is not None:
        lines += ["", "calibration of the winning class",
                  "       p from - to     count  forecast  observed  std.error"]
        lines += [_bin(row) for row in scores["calibration"]]
        lines.append(_line("expected calibration error",
                           _number(scores["expected_calibration_error"])))
    return "\n".join(lines) + "\n"


def _line(what, value):
    return f"{what:28s}{value}"


def _number(value, missing=None):
    return missing if value is None else f"{value:.6f}"


def _contingency(scores):
    labels = [str(label) for label in scores["labels"]]
    columns = labels + (["rejected"] if scores["rejected"] else [])
    cells = [[_count(count) for count in row] for row in scores["contingency"]]
    widths = [max(len(text) for text in (head, *(row[i] for row in cells)))
              for i, head in enumerate(columns)]
    first = max(len(label) for label in labels)
    names = _padded(["", *scores.get("names", [""] * len(labels))])
    rows = [f"{label:>{first}}{name}" for label, name in zip(["", *labels], names)]
    return [" ".join([row, *(f"{text:>{width}}" for text, width in zip(line, widths))])
            for row, line in zip(rows, [columns, *cells])]


def _count(count):
    """A number of points, or a sum of weights."""
    return f"{count:.2f}" if isinstance(count, float) and count else f"{count:.0f}"


def _padded(names):
    """Names behind a blank, long ones cut, all of one width on the screen; "" for no names."""
    if not any(names):
        return [""] * len(names)
    names = [f" {_cut(one_line(name))}" for name in names]
    widest = max(_width(name) for name in names)
    return [name + " " * (widest - _width(name)) for name in names]


def _cut(name):
    if _width(name) <= _WIDEST:
        return name
    while _width(name) > _WIDEST - 3:
        name = name[:-1]
    return f"{name}..."


def _width(text):
    """Columns of a screen that a text takes."""
    return sum(0 if unicodedata.combining(character) else
               2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def _bin(row):
    head = f"  {row['lower']:8.4f} - {row['upper']:6.4f} {_count(row['count']):>9s}"
    if not row["count"]:
        return head + "         -         -          -"
    return head + f"  {row['forecast']:8.6f}  {row['observed']:8.6f}  {row['error']:9.6f}"
