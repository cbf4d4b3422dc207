"""Scores of the results of a classification, as one dictionary of plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..core.answers import Results
from ..core.errors import DataError, warn_user
from ..core.points import as_numbers
from ..core.probabilities import losses, mean, standard_error
from ..core.splits import of_rows
from ..core.weights import check_range, class_factors, of_points, total_weights
from .classes import by_class, class_errors, cost_by_class, ranked_probability_scores
from .contingency import (
    adjusted_share,
    contingency,
    coverage,
    random_share,
    uncertainty_coefficient,
)
from .intervals import effective_number, resampled, resampled_summary, wilson
from .probabilities import calibration, class_weights, expected_calibration_error, squared_errors
from .ranking import area_by_class, places, separation, top_shares
from .risk_coverage import risk_coverage
from .rows import ALL_SCORES, COST, FURTHER, PAGE
from .sets import hierarchical_scores, set_scores

MOST_PLACES = 2 * 10**9  # resamples by points by classes of which areas are computed
# Scores whose intervals are Wilson's.
_SHARES = [name for name, row in PAGE.items() if row.share and not row.resampled]
_ROUNDING = 1e-5  # of probabilities in text
# Resamples for the interval of the mean cost, unless all scores have theirs, and points that are
# drawn for it in all.
_RESAMPLES, _LEAST_RESAMPLES, _MOST_DRAWN = 1000, 100, 2 * 10**8


@dataclass(frozen=True)
class ScoreRequest:
    """Scores that `evaluate` computes on request: top-K accuracy, scores of classes in the
    order of their labels, calibration of each class, and bootstrap intervals."""

    top_accuracy: int | None = None
    ordered: bool = False
    by_class: bool = False
    intervals: int = 0
    seed: int = 1


def with_weights(
    results: Results,
    weights: np.ndarray | None,
    classes: Mapping[int | str, float] | str | None = None,
    names: Mapping[int, str] | None = None,
) -> Results:
    """`results` whose points count with these weights (n,), 0 or more, or 1 for None.

    Points of weight 0 are left out with a warning; weights that are all 1 are none.

    Parameters
    ----------
    classes : mapping or str, optional, factors of the weights of the true classes, as for
        `class_factors`
    names : mapping, optional, {label: name}

    Raises
    ------
    DataError : for other weights, and for classes that do not exist
    """
    n = len(results.truth)
    if weights is None:
        w = np.ones(n)
    else:
        w = as_numbers(weights, "weights").astype(np.float64)
    if w.shape != (n,) or not ((w >= 0) & (w < np.inf)).all():
        raise DataError(f"weights: expected {n} numbers of 0 or more, one for each point")
    counted = w > 0
    if not counted.any():
        raise DataError(f"all {n} points have weight 0")
    if not counted.all():
        warn_user(f"{n - int(counted.sum())} of {n} points have weight 0 and are left out")
        results, w = results.chosen(counted), w[counted]
    if classes is not None:
        totals = total_weights(results.truth, w)
        if not isinstance(classes, str):  # a class may be there without points
            totals = dict.fromkeys(np.asarray(results.labels).tolist(), 0.0) | totals
        factors = class_factors(classes, totals, names)
        with np.errstate(over="ignore", under="ignore"):
            w = w * of_points(factors, results.truth)
    check_range(w)
    return replace(results, weights=None if (w == 1).all() else w)


def weighted(results, shares):
    """`results` whose points count as much as if the true classes had these shares (k,), by
    `class_weights`."""
    return replace(
        results, weights=class_weights(results.y, shares, results.labels, results.weights)
    )


def warn_of_other_numbers(scores):
    """Warn where classes are separated well but hardly any is right; scores: of `evaluate`."""
    accuracy = scores["accuracy"]
    explained = scores["uncertainty_coefficient"]
    if scores["points"] >= 10 * len(scores["labels"]) and explained > 0.5 and accuracy < 0.2:
        warn_user(
            f"the results separate the classes (uncertainty coefficient "
            f"{explained:.2f}), but hardly any is right (accuracy {accuracy:.2f}): "
            "their classes seem to be numbered differently from the truth"
        )


def warn_of_no_probabilities(p, what):
    """Warn where values p (n, k) are below 0 or above 1, and raise `DataError` where they are not
    finite; `what` is the word for them."""
    if not np.isfinite(p).all():
        row = int(np.argmin(np.isfinite(p).all(axis=1)))
        raise DataError(f"{what} of row {row + 1} are not finite numbers")
    low = float(p.min(initial=0.0))
    high = float(p.max(initial=1.0))
    if low < -_ROUNDING or high > 1 + _ROUNDING:
        warn_user(
            f"{what} go from {low:.6g} to {high:.6g}: scores take them as they are, but "
            "probabilities are between 0 and 1"
        )


def compared_scores(results: Results) -> dict[str, float | None]:
    """{name: value} of `SCORES`, None where results do not allow them: what trials need; and of
    `COST` where there are costs."""
    return _values(ALL_SCORES, results, _table(results))


def _table(results):
    return contingency(results.truth, results.result, results.labels, results.weights)


def _values(rows, results, table, area=None):
    weights = results.weights
    takes = {
        "table": (table,),
        **({} if area is None else {"area": (area, table.sum(axis=1))}),
    }
    if results.p is not None:
        takes["probabilities"] = results.p, results.y, weights
    if results.winner is not None:
        takes["winner"] = _answered(results)
    if results.costs is not None:
        takes["costs"] = results.paid, weights
    return {
        name: score.value(*takes[score.takes]) if score.takes in takes else None
        for name, score in rows.items()
        if score.takes != "costs" or "costs" in takes
    }


def _answered(results):
    rows = results.result >= 0
    return (
        results.winner[rows],
        results.result[rows] == results.truth[rows],
        of_rows(results.weights, rows),
    )


def evaluate(results, bins=10, request=ScoreRequest()):
    """All scores that `Results` allow, as a dictionary of plain values; None where not.

    Parameters
    ----------
    bins : int, number of bins of calibration tables

    Returns
    -------
    dict
        Keys: those of `rows.PAGE`, points, classes, labels, rejected,
        uncertainty_coefficient_random, contingency (rows truth, columns result), zero_probability
        (points whose true class has p = 0), calibration, by_class, risk_coverage, intervals (of 95
        %); with costs, single_class and single_class_cost, of the class that is the cheapest answer
        to all points, and no_answer_cost; with weights, priors, the shares of the true classes;
        with sets, sets; with probabilities before calibration, before; on request, top and
        calibration_by_class.
    """
    results = replace(results, labels=np.asarray(results.labels))
    table = _table(results)
    y = results.y
    k = len(results.labels)
    points = dict(_scores_of_points(results, request))
    pairs = area = None
    if results.p is not None:
        pairs = places(results.p, y)
        if request.intervals and request.intervals * results.p.size <= MOST_PLACES:
            pairs = list(pairs)
        area = separation(pairs, y, k, results.weights)
    values = _overall(results, bins, points, area)
    _, reverse, symmetric = uncertainty_coefficient(table)
    random = random_share(table)
    scores = {
        "points": len(results.truth),
        "classes": results.k,
        "labels": [int(label) for label in results.labels],
        "rejected": int(np.count_nonzero(results.result < 0)),
        "coverage": coverage(table),
        **values,
        "uncertainty_coefficient_reverse": reverse,
        "uncertainty_coefficient_symmetric": symmetric,
        "uncertainty_coefficient_random": random,
        "uncertainty_coefficient_adjusted": adjusted_share(table, random),
        "zero_probability": None if results.p is None else _zeros(results.p, y),
        "contingency": table.tolist(),
        "calibration": None if results.winner is None else _bins(results, bins),
        **_abstaining(results),
        "by_class": _with_effective(
            results, _by_class(results.labels, table, area, results.costs), y
        ),
        **_requested_scores(results, table, bins, request),
    }
    if results.weights is not None:
        rows = table.sum(axis=1)
        scores["priors"] = (rows / rows.sum()).tolist()

    def overall(again):
        return _overall(
            again,
            bins,
            points,
            separation(pairs, y, k, again.weights) if isinstance(pairs, list) else None,
        )

    scores["intervals"] = _of_shares(results, values, points) | _resampled(
        results, values, request, overall
    )
    return scores


def _requested_scores(results, table, bins, request):
    scores = {}
    if results.costs is not None:
        counts = table.sum(axis=1)
        costs = results.costs
        always = counts @ costs.costs / counts.sum()
        best = int(np.argmin(always))
        scores |= {
            "single_class": int(results.labels[best]),
            "single_class_cost": float(always[best]),
        }
        if costs.refusal is not None:
            scores["no_answer_cost"] = float(counts @ costs.refusal / counts.sum())
    if results.sets is not None:
        size, holds, paths = results.sets
        scores["sets"] = set_scores(
            size, holds, results.y, results.labels, results.weights, results.groups
        )
        if paths is not None:
            scores["sets"] |= hierarchical_scores(paths, results.weights)
    if request.top_accuracy is not None:
        scores["top"] = request.top_accuracy
    if results.p is not None and results.before is not None:
        scores["before"] = _before(results, bins)
    if request.by_class:
        scores |= classwise_calibration(results, bins)
    return scores


def _calibration(results, bins):
    winner, right, weights = _answered(results)
    return calibration(winner, right, bins, weights=weights)


def _bins(results, bins):
    rows = _calibration(results, bins)
    at = np.searchsorted([row["lower"] for row in rows], results.winner, "right") - 1
    return _with_effective(results, rows, np.where(results.result < 0, -1, at.clip(0)))


def _with_effective(results, rows, part):
    """`rows` of parts 0, 1, ... of points in groups, part (n,), with their effective numbers."""
    for number, row in enumerate(() if results.groups is None else rows):
        row["effective"] = _effective(results, part == number)
    return rows


def _effective(results, rows, values=None):
    """The effective number of some rows for the mean of values (n,), or the share that is right."""
    values = (results.result == results.truth if values is None else values).astype(float)[rows]
    return effective_number(
        of_rows(results.weights, rows), len(values), of_rows(results.groups, rows), values
    )


def _scores_of_points(results, request):
    """Yield (name, (score of each point (n,), True where it counts (n,)))."""
    p = results.p
    y = results.y
    answered = results.result >= 0
    every = np.full(len(answered), True)
    if request.top_accuracy is not None and p is not None:
        yield "top_accuracy", (top_shares(p, y, request.top_accuracy), every)
    if request.ordered:
        errors = class_errors(y, results.answer)
        yield "mean_class_error", (errors, answered)
        yield "within_one_class", (errors <= 1, answered)
        if p is not None:
            yield "ranked_probability_score", (ranked_probability_scores(p, y), every)


def _overall(results, bins, points, area):
    values = _values(ALL_SCORES | FURTHER, results, _table(results), area)
    values["expected_calibration_error"] = (
        None if results.winner is None else expected_calibration_error(_calibration(results, bins))
    )
    for name, (scores, counted) in points.items():
        values[name] = mean(scores[counted], of_rows(results.weights, counted))
    return values


def _of_shares(results, values, points):
    intervals = {}
    for name in _SHARES:
        if values.get(name) is not None:
            right, counted = points.get(name, (None, results.result >= 0))
            interval = wilson(values[name], _effective(results, counted, right))
            if interval.low == interval.low:
                intervals[name] = list(interval)
    return intervals


def _resampled(results, values, request, overall):
    if not request.intervals and results.costs is None:
        return {}
    paid = results.paid

    def scores(counts):
        if results.weights is None:
            weights = counts
        else:
            weights = counts * results.weights
        if request.intervals:
            return overall(replace(results, weights=weights))
        return {COST.name: mean(paid, weights)}

    requested = {
        name: value
        for name, value in values.items()
        if value is not None and name not in _SHARES and (request.intervals or name == COST.name)
    }
    number = request.intervals or min(
        max(_MOST_DRAWN // max(len(results.y), 1), _LEAST_RESAMPLES), _RESAMPLES
    )
    intervals = resampled_summary(
        requested, scores, resampled(results.y, request.seed, results.groups), number
    )
    # resamples of the same value, as without any error, cannot tell how far off it may be, and an
    # interval of no width would look like certainty
    return {
        name: list(interval) for name, interval in intervals.items() if interval.low < interval.high
    }


def _zeros(p, y):
    return int(np.count_nonzero(p[np.arange(len(p)), y] <= 0))


def _abstaining(results):
    """Errors where only the surest points are answered: of the answered points."""
    if results.winner is None:
        return dict.fromkeys(("aurc", "e_aurc", "risk_coverage"))
    curve = risk_coverage(*_answered(results))
    rows = [(step / 100, *curve.at(step / 100)) for step in range(1, 101)]
    return {
        "aurc": curve.area(),
        "e_aurc": curve.excess(),
        "risk_coverage": [
            {"coverage": share, "error": _known(error), "threshold": _known(threshold)}
            for share, error, threshold in rows
        ],
    }


def _by_class(labels, table, area, costs):
    columns = {
        **by_class(table),
        "auc": np.full(len(labels), np.nan)
        if area is None
        else area_by_class(area, table.sum(axis=1)),
    }
    if costs is not None:
        columns["cost"] = cost_by_class(table, costs)
    if table.shape[1] > len(labels):
        columns["rejected"] = table[:, -1]
    return [
        {
            "label": int(label),
            **{name: _known(values[j].item()) for name, values in columns.items()},
        }
        for j, label in enumerate(labels)
    ]


def _known(value):
    if value != value:
        return None
    return value


def _before(results, bins):
    """Scores of the probabilities before calibration, and what calibration changed: after less
    before, mean and standard error over the points."""
    before = results.before
    weights = results.weights
    y = results.y
    rows = calibration(before.max(axis=1), before.argmax(axis=1) == y, bins, weights=weights)
    scores = {}
    change = {}
    for name, function in (("log_loss", losses), ("brier", squared_errors)):
        earlier = function(before, y)
        change_of_points = function(results.p, y) - earlier
        scores[name] = mean(earlier, weights)
        change[name] = {
            "mean": mean(change_of_points, weights),
            "error": _known(standard_error(change_of_points, weights, results.groups)),
        }
    return {
        **scores,
        "expected_calibration_error": expected_calibration_error(rows),
        "zero_probability": _zeros(before, y),
        "calibration": rows,
        "difference": change,
    }


def classwise_calibration(results: Results, bins: int = 10) -> dict:
    """The calibration of each class: what `evaluate` adds where by_class is requested; {} without
    probabilities of all classes (Kull et al., "Beyond temperature scaling", 2019)."""
    if results.p is None:
        return {}
    tables = [
        calibration(results.p[:, j], results.y == j, bins, weights=results.weights)
        for j in range(results.p.shape[1])
    ]
    errors = [expected_calibration_error(rows) for rows in tables]
    return {
        "classwise_calibration_error": float(np.mean(errors)),
        "calibration_by_class": [
            {"label": int(label), "expected_calibration_error": error, "bins": rows}
            for label, error, rows in zip(results.labels, errors, tables)
        ],
    }
