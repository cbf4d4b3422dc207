"""Results of searches and comparisons, and of what they were made, as plain values."""

from __future__ import annotations

import numpy as np

from ..core.answers import Results
from ..core.errors import one_line
from ..core.kernels import KERNELS
from ..core.probabilities import losses, standard_error
from .experiment import Experiment
from .search import Point

_FACTORS = 8  # class weights in a line


def data_words(experiment: Experiment) -> dict[str, str]:
    """{"weights": words on the weights of the points, which scores count, "groups": words on their
    groups}, without a key for what there is not."""
    weights = experiment.data.weights
    words = {}
    if weights is not None:
        of = ["samples"] * bool((weights.seen(experiment.data.y) != 1).any())
        if weights.factors:
            names = experiment.data.name_of
            factors = [
                f"{one_line(names.get(label, str(label)))}={factor:.4g}"
                for label, factor in list(weights.factors.items())[:_FACTORS]
            ]
            factors += ["..."] * (len(weights.factors) > _FACTORS)
            of.append(f"classes ({', '.join(factors)})")
        words["weights"] = f"of {' and '.join(of)}; scores count the points by them"
    if experiment.data.groups is not None:
        words["groups"] = (
            f"{len(np.unique(experiment.data.groups))}, which no split divides; "
            "standard errors are computed from the groups"
        )
    return words


def point_scores(results: Results) -> dict[str, np.ndarray]:
    """{score: its values (n,) for the points}, of accuracy and, with probabilities, log loss."""
    points = {"accuracy": (results.result == results.truth).astype(float)}
    if results.p is not None:
        points["log_loss"] = losses(results.p, results.y)
    return points


def group_errors(results: Results) -> dict:
    """{"standard_errors": {score: that of its mean over groups}} of the `point_scores` of held-out
    answers; {} without groups."""
    if results.groups is None:
        return {}
    return {
        "standard_errors": {
            name: standard_error(values, results.weights, results.groups)
            for name, values in point_scores(results).items()
        }
    }


def search_result(state, given: Point) -> dict:
    """A `SearchState` as a dictionary: points (in the order they were tried), best, given, border.

    A point: options, kernel, degree, coef0, log2g, log2c, or the columns of the parameters that its
    learner has in their place, score (of all held-out points), mean, sd, values, zero_probability
    (as in `compare`), or score, sd, values and error where it could not be trained. Keys best and
    given are indices of points, or None; border has limits of the search, such as "C high", that
    the best lies on. The argument `given` has the given options as a `Point`.
    """
    points_of = {text: point for point, text in reversed(state.texts.items())}
    points = []
    for text, tried in state.tried.items():
        point = points_of.get(text, given)
        if point.kernel is None:
            used = ()
        else:
            used = KERNELS[point.kernel].parameters
        words = {
            "options": text,
            "kernel": point.kernel,
            "degree": point.degree if "degree" in used else None,
            "coef0": point.coef0 if "coef0" in used else None,
            "log2g": None,
            "log2c": None,
            point.first.column: point.log2g,
            point.parameter.column: point.log2c,
        }
        if state.summary(text) is None:
            words |= {"score": None, "sd": None, "values": [], "error": str(tried)}
        else:
            words |= {
                "score": tried["pooled"],
                **{
                    key: tried[key]
                    for key in ("mean", "sd", "values", "zero_probability", "rows", "parts")
                },
            }
        points.append(words)
    index = {text: number for number, text in enumerate(state.tried)}
    return {
        "points": points,
        "best": index.get(state.best),
        "given": index.get(state.given),
        "border": [" ".join(limit) for limit in state.border],
    }
