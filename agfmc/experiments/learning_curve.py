"""Learning curves: whether more samples would help."""

from __future__ import annotations
from dataclasses import replace

from ..core.errors import DataError, warn_user
from ..core.probabilities import mean, standard_error
from ..score.rows import ALL_SCORES
from .candidates import Candidate
from .comparison import cross_validate, CrossValidation
from .experiment import Experiment, part_of
from .results import point_scores

SHARES = 1 / 8, 1 / 4, 1 / 2, 3 / 4  # of each training part, before all of it


def learning_curve(
    experiment: Experiment, candidate: Candidate, whole: CrossValidation, progress=None
) -> dict:
    """Cross-validate a candidate with samples of each training part.

    Larger samples contain the smaller ones, and the held-out points are the same for all. Samples
    that are too small to be trained on are left out with a warning.

    `whole` is the result with whole training parts. The dictionary has `log_loss`, if there are
    probabilities, and `accuracy`: lists of {"samples", "score", "error"}, means over the held-out
    points with their standard errors; `last`, {"score", "gain", "error"}: the improvement of the
    first of these scores in the last step, with its standard error; `words`: a sentence about it.
    """
    parts = []
    curve = {}
    for number, share in enumerate(SHARES):
        smaller = replace(
            experiment,
            plan=experiment.plan._replace(share=share),
            calibrated=experiment.calibrated[:1],
        )
        try:
            parts.append(
                cross_validate(
                    smaller,
                    candidate,
                    progress=part_of(
                        progress, number, len(SHARES), f"{share:g} of each training part"
                    ),
                )[0]
            )
        except DataError as error:
            if share == SHARES[-1]:
                raise
            warn_user(f"{share:g} of each training part is left out: {error.message}")
    parts.append(whole)
    points = [point_scores(part.results) for part in parts]
    weights = whole.results.weights
    groups = whole.results.groups
    groups = whole.results.rows if groups is None else groups  # a row may be held out several times
    for name in [name for name in ("log_loss", "accuracy") if name in points[0]]:
        curve[name] = [
            {
                "samples": round(part.samples),
                "score": mean(values[name], weights),
                "error": standard_error(values[name], weights, groups),
            }
            for part, values in zip(parts, points)
        ]
        if "last" not in curve:
            gain = ALL_SCORES[name].sign * (points[-1][name] - points[-2][name])
            curve["last"] = {
                "score": name,
                "gain": mean(gain, weights),
                "error": standard_error(gain, weights, groups),
            }
    return {**curve, "words": _words(curve)}


def _words(curve):
    name, gain, error = curve["last"].values()
    before, after = (point["samples"] for point in curve[name][-2:])
    if gain > 2 * error:
        verdict = "more samples would probably help"
    elif gain > error:
        verdict = "more samples may help"
    else:
        verdict = "no clear gain from more samples"
    return (
        f"From {before} to {after} training samples the {ALL_SCORES[name].title} becomes "
        f"{'better' if gain > 0 else 'worse'} by {abs(gain):.4f} "
        f"(standard error {error:.4f}): {verdict}."
    )
