"""Learning curves: whether more samples would help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core.probabilities import losses, mean, standard_error
from ..score.rows import ALL_SCORES
from .candidates import Candidate
from .comparison import cross_validate, CrossValidation
from .experiment import Experiment, part_of

SHARES = 1 / 8, 1 / 4, 1 / 2, 3 / 4  # of each training part, before all of it
_CERTAIN = 2  # standard errors of the last step


def learning_curve(experiment: Experiment, candidate: Candidate, whole: CrossValidation,
                   progress=None) -> dict:
    """Cross-validate `candidate` with samples of each training part; -> plain values.

    Larger samples contain the smaller ones, and all are judged by the same points. `whole` is the
    result with whole training parts.

    Returns
    -------
    dict
        `log_loss`, if there are probabilities, and `accuracy`: lists of {"samples", "score",
        "error"}, of means over the held-out points and their standard errors; `last`, {"score",
        "gain", "error"}: how much better the first of them became in the last step, with the
        standard error of that difference; `words` about it.
    """
    parts = []
    for number, share in enumerate(SHARES):
        smaller = replace(experiment, plan=experiment.plan._replace(share=share),
                          calibrated=experiment.calibrated[:1])
        parts.append(cross_validate(smaller, candidate, progress=part_of(
            progress, number, len(SHARES), f"{share:g} of each training part"))[0])
    parts.append(whole)
    groups, curve = experiment.data.groups, {}
    if groups is not None:
        groups = groups[np.unique(whole.results.rows)]
    for name in ("log_loss", "accuracy"):
        points = [_by_row(name, part.results) for part in parts]
        if points[0] is None:
            continue
        curve[name] = [{"samples": round(part.samples), "score": mean(*values),
                        "error": standard_error(*values, groups)}
                       for part, values in zip(parts, points)]
        if "last" not in curve:
            (before, _), (after, weights) = points[-2:]
            gain = ALL_SCORES[name].sign * (after - before)
            curve["last"] = {"score": name, "gain": mean(gain, weights),
                             "error": standard_error(gain, weights, groups)}
    return {**curve, "words": _words(curve)}


def _by_row(name, results):
    """Losses, or whether answers are right, of each row of the data, and their weights; None where
    there are no probabilities."""
    if name == "accuracy":
        values = (results.truth == results.result).astype(float)
    elif results.p is None:
        return None
    else:
        values = losses(results.p, np.searchsorted(results.labels, results.truth))
    weights = np.ones(len(values)) if results.weights is None else results.weights
    row = np.unique(results.rows, return_inverse=True)[1]  # some may be held out several times
    total = np.bincount(row, weights)
    return np.bincount(row, weights * values) / total, total


def _words(curve):
    name, gain, error = curve["last"].values()
    before, after = (point["samples"] for point in curve[name][-2:])
    verdict = "more samples would probably help" if gain > _CERTAIN * error else \
        "no clear gain, so that more samples would probably help little"
    return f"From {before} to {after} training samples the {ALL_SCORES[name].title} becomes " \
           f"{'better' if gain > 0 else 'worse'} by {abs(gain):.4f} \u00b1 {error:.4f}: {verdict}."
