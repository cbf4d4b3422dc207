"""The score of a search, corrected for its choice among options."""

import math

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.experiments.pooling import added, corrected, FORECASTS, pooled
from agfmc.experiments.trial import Outcome
from agfmc.core.probabilities import REJECTED
from agfmc.score.rows import SCORES

LABELS = np.array([2, 5, 9])


def outcome(y, sharp, rng):
    """An option's outcome on points of the classes LABELS[y]."""
    z = rng.normal(size=(len(y), len(LABELS))) + sharp * np.eye(len(LABELS))[y]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return Outcome.of(
        Results(LABELS[y], LABELS[p.argmax(axis=1)], LABELS, len(LABELS), p.max(axis=1), p),
        candidate=0,
        decoder="d",
    )


def answered(truth, classes):
    """An outcome with answers alone."""
    truth = np.asarray(truth)
    return Outcome(
        0,
        "d",
        results=Results(truth, np.asarray(classes), np.unique(truth)),
        forecasts=np.full((FORECASTS, len(truth)), np.nan, np.float32),
    )


def noise(options, n, seed):
    """Outcomes of random options on n points of two classes."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 2
    return [[answered(truth, rng.integers(2, size=n))] for _ in range(options)]


@pytest.mark.parametrize("by", SCORES)
def test_one_option_has_its_pooled_score(by):
    rng = np.random.default_rng(1)
    parts = [outcome(rng.integers(3, size=n), 1.0, rng) for n in (80, 50)]
    found = corrected(by, [parts], 1)
    assert found.score == pytest.approx(pooled(by, parts), abs=2e-7)
    assert (found.points, found.options) == (130, 1)
    if SCORES[by].pools == "mean":
        points = added(by, parts, 3)
        assert found.error == pytest.approx(points.std(ddof=1) / math.sqrt(130), rel=0.08)


@pytest.mark.few(3)
@pytest.mark.parametrize("by", SCORES)
def test_twice_the_same_option_is_one_option(by):
    rng = np.random.default_rng(2)
    parts = [outcome(rng.integers(3, size=60), 1.0, rng)]
    one, two = corrected(by, [parts], 1), corrected(by, [parts, parts], 1)
    assert two.score == pytest.approx(one.score) and two.error == pytest.approx(one.error)
    assert two.options == 2


def test_by_hand():
    """Two points, two options, each right for one of them: a resample of one point alone chooses
    the option that is right for it, and the other point, left out, finds it wrong; both points
    once: a tie, and none is left out."""
    truth = [0, 1]
    found = corrected("accuracy", [[answered(truth, [0, 0])], [answered(truth, [1, 1])]], 1)
    assert found.score == 0.0
    assert found.error == pytest.approx(0.0)  # both options have 1/2, and each point 0
    # the first one right for both: always chosen
    found = corrected("accuracy", [[answered(truth, [0, 1])], [answered(truth, [1, 1])]], 1)
    assert found.score == 1.0


def test_noise_is_seen_through():
    found, searched = [], []
    for seed in range(20):
        options = noise(100, 200, seed)
        searched.append(
            max(np.mean(part.results.result == part.results.truth) for [part] in options)
        )
        found.append(corrected("accuracy", options, seed, resamples=200))
    assert min(searched) > 0.55
    assert np.mean([one.score for one in found]) == pytest.approx(0.5, abs=0.02)
    assert all(abs(one.score - 0.5) < 3 * one.error for one in found)


@pytest.mark.few(3)
@pytest.mark.parametrize("by", SCORES)
def test_no_better_than_the_search(by):
    rng = np.random.default_rng(3)
    y, sign = rng.integers(3, size=120), SCORES[by].sign
    options = [[outcome(y, 1.0, rng)] for _ in range(12)]
    best = max(sign * pooled(by, parts) for parts in options)
    worst = min(sign * pooled(by, parts) for parts in options)
    assert worst < sign * corrected(by, options, 1, resamples=200).score < best


def test_of_options_that_tie_the_first_is_chosen():
    """Both are right on the first half of the points, of class 0; in the second half, of class 1,
    the first answers 2, which says more than the 0 of the other; the accuracy is the same."""
    truth = np.repeat([0, 1], 20)
    told, mute = answered(truth, np.repeat([0, 2], 20)), answered(truth, np.zeros(40, dtype=int))
    other = answered(truth, np.tile([0, 1], 20))
    scores = [
        corrected("accuracy", options, 1).score for options in ([[told], [mute]], [[mute], [told]])
    ]
    assert scores == [0.5, 0.5]
    first = corrected("uncertainty_coefficient", [[told], [mute]], 1)
    assert first.score == 1.0 and first.error == 0.0
    assert corrected("accuracy", [[told], [other]], 1).score < 0.5


def test_points_held_out_twice_are_drawn_together():
    """Otherwise the copy of a point in the bag judges what the point itself has chosen."""
    options = noise(60, 100, 4)
    twice = [parts * 2 for parts in options]
    rows = np.tile(np.arange(100), 2)
    once = corrected("accuracy", options, 1)
    again = corrected("accuracy", twice, 1, rows=rows)
    assert again == pytest.approx(once)
    assert corrected("accuracy", twice, 1).score > once.score + 0.02


def test_rejected_points_count_as_in_the_score():
    truth = np.array([0, 0, 1, 1])
    parts = [answered(truth, [0, REJECTED, 1, 0])]
    assert corrected("accuracy", [parts], 1).score == pytest.approx(2 / 3)
