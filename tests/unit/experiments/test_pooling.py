"""Scores of all held-out points together, and the standard error of a difference."""

import math

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.experiments.pooling import (
    added,
    forecasts,
    pooled,
    Resampled,
    summary,
    zero_probability,
)
from agfmc.experiments.trial import Outcome
from agfmc.score.evaluation import evaluate
from agfmc.score.rows import ALL_SCORES, SCORES

LABELS = np.array([2, 5, 9, 11])


def results(n, seed, sharp=1.0):
    """Results of n points of four classes, better ones the larger `sharp` is."""
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=n)
    z = rng.normal(size=(n, 4)) + sharp * np.eye(4)[y]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return Results(LABELS[y], LABELS[p.argmax(axis=1)], LABELS, 4, p.max(axis=1), p)


def outcomes(*parts):
    return [Outcome.of(part, candidate=0, decoder="d") for part in parts]


@pytest.mark.parametrize("name", SCORES)
def test_pooled_is_the_score_of_all_points(name):
    parts = [results(50, 1), results(80, 2), results(31, 3)]
    whole = Results(
        *(
            np.concatenate([getattr(part, field) for part in parts])
            if axis
            else getattr(parts[0], field)
            for field, axis in (
                ("truth", 1),
                ("result", 1),
                ("labels", 0),
                ("k", 0),
                ("winner", 1),
                ("p", 1),
            )
        )
    )
    assert pooled(name, outcomes(*parts)) == pytest.approx(evaluate(whole)[name], abs=1e-12)


@pytest.mark.parametrize("name", [name for name, score in SCORES.items() if score.added])
def test_what_points_add_makes_the_score(name):
    part = results(80, 2)
    points = added(name, outcomes(part), 4)
    power = 0.5 if SCORES[name].pools == "square" else 1
    assert points.mean() ** power == pytest.approx(evaluate(part)[name], abs=2e-7)


def test_every_score_that_is_pooled_as_a_mean_says_what_points_add():
    assert all(score.added for score in ALL_SCORES.values() if score.pools != "table")


@pytest.mark.parametrize("name", SCORES)
def test_all_rows_drawn_once_give_the_score(name):
    """The bootstrap knows every score in the table."""
    parts = outcomes(results(60, 1), results(40, 2))
    (value,) = Resampled(name, [parts]).scores(np.ones((1, 100)))[0]
    assert value == pytest.approx(pooled(name, parts), abs=2e-7)


def test_forecasts_and_points_of_zero_probability():
    p = np.array([[0.0, 1.0], [1e-60, 1.0], [0.25, 0.75], [-0.1, 1.1]])
    some = Results(
        np.array([2, 2, 2, 2]), np.array([5, 5, 5, 5]), np.array([2, 5]), 2, p.max(axis=1), p
    )
    numbers = forecasts(some)
    assert numbers.dtype == np.float32 and numbers[0, 1] > 0 and numbers[0, 3] == 0
    np.testing.assert_allclose(numbers[1], [2, 2, 2 * 0.75**2, 2 * 1.1**2], rtol=1e-6)
    assert zero_probability(outcomes(some, some)) == 4
    blind = Results(some.truth, some.result, some.labels, 2, some.winner, None)
    assert zero_probability(outcomes(blind)) is None and not np.isnan(forecasts(blind)[2]).any()


def test_summary():
    assert summary([1.0, 3.0], 2.5) == {
        "pooled": 2.5,
        "mean": 2.0,
        "sd": math.sqrt(2),
        "values": [1.0, 3.0],
    }
    assert summary([1.0])["sd"] is None and summary([1.0])["pooled"] == 1.0
