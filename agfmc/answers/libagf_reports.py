"""Answers beside the truth in the words of libAGF's cls_comp_stats and validate_probabilities.

Where the number of classes is not known, it is assumed as libAGF does.  Also what svm-predict
wrote as classes and confidence ratings.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from ..core.errors import DataError, warn_user
from ..core.probabilities import confidence, mean, probability
from ..core.splits import of_rows
from ..core.weights import WeightSource
from ..data.class_names import ByValue, number_classes
from ..data.libagf import cls_bytes, con_bytes, read_cls, read_con
from ..data.lvq import read_lvq
from ..data.printed import read_svm_output
from ..data.types import InputFormat
from ..files.atomic import replacing, replacing_with
from ..score.evaluation import evaluate
from ..score.probabilities import all_samples, calibration, inverse_sum, validate
from .results import load_results, names_beside, with_weights_of

_MOST_COLUMNS = 10_000  # of a table with one for each label from 0
_CELLS = 1 << 18  # numbers made to text at once


def _guessed_classes(truth, result, path):
    """The largest label of truth (n,) + 1; a warning where `result`, labels or -1, contradicts it."""
    k = int(truth.max()) + 1
    labels = np.unique(np.concatenate([truth, result[result >= 0]]))
    if labels[-1] >= k or len(labels) < k:
        if labels[-1] >= k:
            but = f"class {labels[-1]} is among the results"
        else:
            but = f"only {len(labels)} of them occur"
        warn_user(
            f"{k} classes are assumed, one more than the largest label in {path}, but {but}: "
            "give their number with `class_count`"
        )
    return k


def _refuse_many_columns(label, path, instead):
    """DataError where columns from 0 to `label` would be too many; instead: what to do then."""
    if label >= _MOST_COLUMNS:
        raise DataError(
            f"has class {label}, and a table of all labels from 0 ends at "
            f"{_MOST_COLUMNS - 1}: {instead}",
            file=path,
        )


def _warn_of_rejected(result, what):
    """A warning where some of result (n,) are -1; what: how they are counted."""
    rejected = int(np.count_nonzero(result < 0))
    if rejected:
        warn_user(f"{rejected} of {len(result)} points were rejected: {what}")


def brief_comparison(truth_path, base, weights):
    """Accuracy and uncertainty coefficient as one line; weights: those of the points."""
    results = _results(truth_path, base, weights)
    _warn_of_rejected(results.result, "they count as wrong")
    scores = _scores(results)
    return (
        " ".join(_score(scores[name], "6.4f") for name in ("accuracy", "uncertainty_coefficient"))
        + "\n"
    )


def _results(truth_path, base, weights, ratings=False):
    results = load_results(truth_path, base)
    if ratings:
        results = replace(results, winner=read_con(f"{base}.con", n=len(results.truth)))
    if weights.classes is None:
        names = {}
    else:
        names = names_beside(truth_path, results.labels)
    return with_weights_of(results, truth_path, weights, names)


def comparison(truth_path, base, bins, weights=WeightSource()):
    """The whole page, as an iterable of pieces of text; all files are read at once.

    `bins` is the number of lines of the table of confidence ratings, which is left out for 0 and
    without base.con; with `weights` of the points their sums are counted. Raises `DataError` where
    the files do not fit together, or a label is too large for a table from 0.
    """
    rated = bins and os.path.exists(f"{base}.con")
    results = _results(truth_path, base, weights, rated)
    truth = results.truth
    result = results.result
    for labels, path in ((truth, truth_path), (result, f"{base}.cls")):
        _refuse_many_columns(
            int(labels.max()),
            path,
            "use eval_uc, whose table has the labels that occur, or `brief`",
        )
    _warn_of_rejected(result, "they count as wrong, and have no column in the table")
    ratings = ()
    if rated:
        k = _guessed_classes(truth, result, truth_path)
        ratings = _ratings(results, k, bins, base)
        results = replace(results, winner=None)
    return _page(_scores(results), int(truth.max()) + 1, int(result.max()) + 1, ratings)


def _scores(results):
    return {**evaluate(results), "accuracy": mean(results.truth == results.result, results.weights)}


def _page(scores, rows, columns, ratings):
    labels = np.array(scores["labels"])
    counts = np.array(scores["contingency"])
    head, cell, sums = (
        ("%5d ", "%5d ", " %6d\n") if counts.dtype.kind == "i" else ("%8d ", "%8.2f ", " %9.2f\n")
    )
    seen = labels[labels < columns]
    yield "        retrieval\ntruth " + head * columns % tuple(range(columns)) + "    tot\n"
    totals = np.zeros(columns, dtype=counts.dtype)
    for label in range(rows):
        row = np.zeros(columns, dtype=counts.dtype)
        of_class = counts[labels == label].sum(axis=0)
        row[seen] = of_class[: len(seen)]
        totals += row
        yield "%3d   " % label + cell * columns % tuple(row.tolist()) + sums % of_class.sum()
    yield "\ntotal " + cell * columns % tuple(totals.tolist()) + "\n\n"
    for name, key in (
        ("U C (reverse)", "uncertainty_coefficient_reverse"),
        ("U C (total)", "uncertainty_coefficient_symmetric"),
        ("Uncertainty coefficient", "uncertainty_coefficient"),
        ("Accuracy", "accuracy"),
    ):
        yield f"{name}: {_score(scores[key], 'f')}\n"
    yield from ratings


def _ratings(results, k, bins, base):
    """Lines: mean rating of a bin, and what it should be by the share of correct answers."""
    con = results.winner
    truth = results.truth
    result = results.result
    if np.any(np.abs(con) > 1 + 1e-5):
        warn_user(
            f"{base}.con holds ratings beyond 1, perhaps made from votes: the table of "
            "confidence means little"
        )
    answered, k = result >= 0, max(k, 2)
    if k == 2:
        answered &= result < 2  # a third answer is on neither side
        con = np.where(result == 1, con, -con)
    table = calibration(
        con[answered],
        (result == truth)[answered],
        bins if k > 2 else 2 * bins,
        0.0 if k > 2 else -1.0,
        weights=of_rows(results.weights, answered),
    )
    lines = [f"\nAccuracy vs. {'confidence' if k > 2 else 'probability difference'}:\n\n"]
    for position, row in enumerate(table):
        if k == 2 and position < bins:
            sign = -1
        else:
            sign = 1
        lines.append(
            "%10.3f %10.3f\n" % (row["forecast"], sign * ((k * row["observed"] - 1) / (k - 1)))
            if row["count"]
            else "%10s %10s\n" % ("-", "-")
        )
    return [*lines, "\n"]


def _score(value, layout):
    text = format(value, layout)
    if value == value:
        return text
    return "-".rjust(len(format(0.0, layout)) if layout != "f" else 1)


def samples_of_text(truth_path, path, header, classes):
    """(p, t, k, n) of all probabilities: lines of k of them and, with `classes`, a class.

    They are forecasts (N,), 1 where they came true, else 0 (N,), and the numbers of classes and
    points. With `header` the first line is k alone. Column j is taken for class j. Raises DataError with
    the line of whatever cannot be, and for a true class without a column.
    """
    truth = read_cls(truth_path)
    try:
        p = read_lvq(path, InputFormat("lvq", header=header, labels=classes)).x
    except DataError as error:
        if header and error.line == 1:  # a number of columns there is never at fault
            raise DataError(
                "expected the number of columns alone; where there is no such line, "
                "as in what classify_m prints, give `no_header`",
                file=path,
                line=1,
            ) from error
        raise
    n, k = p.shape
    if k < 2:
        raise DataError("has one column of probabilities: expected one for each class", file=path)
    if n != len(truth):
        raise DataError(
            f"has {n} rows of probabilities, but there are {len(truth)} points", file=path
        )
    if truth.max() >= k:
        raise DataError(
            f"holds class {truth.max()}, but there are {k} columns of probabilities, "
            "which stand for the classes from 0",
            file=truth_path,
        )
    _warn_of_votes(p, path)
    return *all_samples(p, truth), k, n


def samples_of_results(truth_path, base):
    """As `samples_of_text`, of the winners' probabilities, from the ratings in base.con.

    The number of classes is guessed from the largest true label.  Rejected
    points are left out, with a warning.
    """
    truth = read_cls(truth_path)
    result = read_cls(f"{base}.cls", n=len(truth), negative=True)
    con = read_con(f"{base}.con", n=len(truth))
    k = _guessed_classes(truth, result, truth_path)
    if k < 2:
        raise DataError(
            "holds class 0 alone, from which the number of classes cannot be "
            "inferred: give it with `class_count`",
            file=truth_path,
        )
    _warn_of_rejected(result, "they are left out")
    answered = result >= 0
    if not answered.any():
        raise DataError("all points were rejected", file=f"{base}.cls")
    p = probability(con[answered], k)
    _warn_of_votes(p, f"{base}.con")
    return p, (result == truth)[answered].astype(float), k, len(p)


def _warn_of_votes(p, path):
    if p.min() < -1e-5 or p.max() > 1 + 1e-5:
        warn_user(
            f"{path} holds probabilities outside 0 to 1, perhaps made from votes: the scores "
            "mean little"
        )


def format_validation(brier, lines, n):
    """The four scores of samples of n points as lines; lines: their `Curves`."""
    correlation, slope, error = validate(lines, n)
    scores = {
        "1-r": 1 - correlation,
        "m-1": slope - 1,
        "Brier score": brier,
        "norm. rmse": error,
    }
    return "".join(
        "%-11s = %s\n" % (name, "%15.8g" % value if value == value else "%15s" % "-")
        for name, value in scores.items()
    )


def write_curves(path, lines):
    """Write `Curves` for plotting: i - mid, p_i and three sums up to it, a line for each i."""
    n = len(lines.p)
    columns = np.arange(n) - lines.mid, lines.p, inverse_sum(lines)[:n], lines.c[:n], lines.s[:n]
    with replacing(path) as file:
        np.savetxt(file, np.column_stack(columns), "%d %g %g %g %g")


def convert_svm_output(source, base, stream, names=None):
    """Write base.cls and, where `source` has probabilities, base.con; the table to `stream`.

    Where the labels of all columns are known, `stream` gets a line for each point: probabilities of
    the classes from 0, and the class. If it breaks, no file appears. Without probabilities an old
    base.con is removed, with a warning. In the `names` of the classes labels are looked up where
    they are whole numbers and some of them below 0; without them the labels of the columns are
    numbered in the order of their values, if some are below 0. Raises DataError for what cannot be
    read, and for labels below 0 that nothing numbers.
    """
    output = _numbered(read_svm_output(source), source, names)
    if output.p is None:
        ratings = None
    else:
        ratings = con_bytes(_ratings_of_output(output, source, names))
    with replacing_with({f"{base}.cls": cls_bytes(output.classes), f"{base}.con": ratings}, True):
        if output.labels is not None:
            for text in _lines(output):
                stream.write(text)
            stream.flush()  # before the files appear: a reader that left ends the run here
        if ratings is None and os.path.isfile(f"{base}.con"):
            warn_user(f"{source} has no probabilities: {base}.con, of other results, was removed")


def _numbered(output, source, names):
    if output.labels is None:
        labels = output.classes
    else:
        labels = np.array(output.labels)
    if labels.min() >= 0 and not ByValue(names).whole:
        return output
    if output.labels is None:
        k = None
    else:
        k = len(labels)
    numbers = number_classes(
        labels, k, source, names, ": give the .names file of the training data (`names`)"
    )
    if output.labels is None:
        return output._replace(classes=numbers)
    return output._replace(classes=numbers[_columns(output)], labels=tuple(numbers.tolist()))


def _columns(output):
    order = np.argsort(output.labels)
    return order[np.searchsorted(np.array(output.labels)[order], output.classes)]


def _ratings_of_output(output, source, names):
    """Confidence ratings (n,) of the predicted classes."""
    if output.labels is None:
        k = len(names or ()) or int(output.classes.max()) + 1
        winner = output.p[:, 0]
        if not names:
            warn_user(
                f"{k} classes are assumed, one more than the largest that was predicted: "
                "without a first line `labels ...` nothing gives their number"
            )
    else:
        k = len(output.labels)
        winner = output.p[np.arange(len(output.p)), _columns(output)]
        _refuse_many_columns(
            max(output.labels), source, "number the classes before training (svm2agf -U)"
        )
    if k < 2:
        raise DataError("has one class: a confidence rating needs two or more", file=source)
    return confidence(winner, k)


def _lines(output):
    """Pieces of text: `%10.6f ` for each label from 0, 0 where it does not occur; `%5d`."""
    width = max(output.labels) + 1
    layout = "%10.6f " * width + "%5d\n"
    step = max(1, _CELLS // width)
    for start in range(0, len(output.p), step):
        part = output.p[start : start + step]
        wide = np.zeros((len(part), width))
        wide[:, list(output.labels)] = part
        yield "".join(
            [
                layout % (*row, label)
                for row, label in zip(wide.tolist(), output.classes[start : start + step].tolist())
            ]
        )
