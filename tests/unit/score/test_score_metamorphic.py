"""Scores against scikit-learn's and SciPy's, and what may not change them."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.score.contingency import accuracy, contingency, uncertainty_coefficient
from agfmc.score.probabilities import all_samples, brier_all, brier_winning, calibration
from agfmc.core.probabilities import log_loss

EPSILON = float(np.finfo(float).eps)


def problem(seed, k, n, sharp=1.0, weighted=False):
    """p (n, k), y, answers, weights; with sharp = 0 every p is 0 or 1."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(k, 0.5), n)
    if not sharp:
        p = np.eye(k)[p.argmax(axis=1)]
    p[rng.random(n) < 0.1] = 1.0 / k
    y = np.where(rng.random(n) < 0.6, p.argmax(axis=1), rng.integers(k, size=n))
    return p, y, p.argmax(axis=1), rng.uniform(0.1, 3, n) if weighted else None


SEEDS = st.integers(0, 10**6)
CASES = given(
    SEEDS, st.integers(2, 9), st.integers(1, 40), st.sampled_from([0.0, 1.0]), st.booleans()
)


@CASES
def test_scores_of_probabilities_are_scikit_learn_s(seed, k, n, sharp, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    p, y, answers, weights = problem(seed, k, n, sharp, weighted)
    # A probability of 0 counts as 2.2e-16, and so does it there; the rows are not divided anew.
    clipped = np.clip(p, EPSILON, 1)
    theirs = metrics.log_loss(
        y, clipped / clipped.sum(axis=1, keepdims=True), labels=range(k), sample_weight=weights
    )
    assert log_loss(p, y, weights) == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    assert math.isfinite(log_loss(p, y, weights))
    w = np.ones(n) if weights is None else weights
    each = [
        metrics.mean_squared_error((y == j).astype(float), p[:, j], sample_weight=w)
        for j in range(k)
    ]
    assert brier_all(p, y, weights) ** 2 == pytest.approx(np.mean(each), abs=1e-14)
    top = p.max(axis=1)
    assert brier_winning(top, answers == y, weights) ** 2 == pytest.approx(
        metrics.mean_squared_error((answers == y).astype(float), top, sample_weight=w), abs=1e-14
    )


@CASES
def test_scores_of_classes_are_scikit_learn_s(seed, k, n, sharp, weighted):
    metrics = pytest.importorskip("sklearn.metrics")
    _, y, answers, weights = problem(seed, k, n, sharp, weighted)
    labels = np.array([3 * j * j - 1 for j in range(k)])  # -1 is one of them, gaps are many
    made = contingency(labels[y], labels[answers], labels, weights)
    np.testing.assert_allclose(
        made,
        metrics.confusion_matrix(labels[y], labels[answers], labels=labels, sample_weight=weights),
        rtol=1e-12,
    )
    assert accuracy(made) == pytest.approx(
        metrics.accuracy_score(y, answers, sample_weight=weights), rel=1e-12
    )
    if weights is None:
        forward, reverse, symmetric = uncertainty_coefficient(made)
        truths, answered = len(set(y.tolist())), len(set(answers.tolist()))
        pairs = [
            (forward, metrics.homogeneity_score, truths),
            (reverse, metrics.completeness_score, answered),
            (symmetric, metrics.v_measure_score, max(truths, answered)),
        ]
        for ours, theirs, count in pairs:
            if count == 1:  # 0/0 is NaN here, 1 there
                assert math.isnan(ours)
            else:
                assert ours == pytest.approx(theirs(y, answers), abs=1e-9)


@CASES
def test_what_changes_no_score(seed, k, n, sharp, weighted):
    p, y, answers, weights = problem(seed, k, n, sharp, weighted)
    rng = np.random.default_rng(seed)

    def scores(p, y, answers, weights):
        top = p[np.arange(len(p)), answers]
        table = contingency(y, answers, np.arange(k), weights)
        return [
            log_loss(p, y, weights),
            brier_all(p, y, weights),
            brier_winning(top, y == answers, weights),
            accuracy(table),
            *uncertainty_coefficient(table),
        ]

    before = scores(p, y, answers, weights)
    order, points = rng.permutation(k), rng.permutation(n)
    back = np.argsort(order)
    for after in (
        scores(p[:, order], back[y], back[answers], weights),
        scores(p[points], y[points], answers[points], None if weights is None else weights[points]),
        scores(
            np.repeat(p, 3, axis=0),
            np.repeat(y, 3),
            np.repeat(answers, 3),
            None if weights is None else np.repeat(weights, 3),
        ),
        scores(p, y, answers, (np.ones(n) if weights is None else weights) * 7.5),
    ):
        np.testing.assert_allclose(after, before, rtol=1e-9, atol=1e-9)
    # Points that weigh nothing are not there.
    more = scores(
        np.vstack([p, np.eye(k)[:1]]),
        np.append(y, k - 1),
        np.append(answers, 0),
        np.append(np.ones(n) if weights is None else weights, 0.0),
    )
    np.testing.assert_allclose(more, before, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 8])
def test_perfect_constant_and_absent(k):
    y = np.arange(5 * k) % k
    perfect = np.eye(k)[y]
    assert log_loss(perfect, y) == brier_all(perfect, y) == 0
    table = contingency(y, y)
    assert accuracy(table) == 1 and uncertainty_coefficient(table) == (1, 1, 1)
    even = np.full((len(y), k), 1 / k)
    assert log_loss(even, y) == pytest.approx(math.log(k))
    assert brier_all(even, y) == pytest.approx(math.sqrt((1 - 1 / k) / k))
    constant = contingency(y, np.zeros_like(y))
    forward, reverse, _ = uncertainty_coefficient(constant)
    assert accuracy(constant) == pytest.approx(1 / k)
    assert forward == pytest.approx(0, abs=1e-12) and math.isnan(reverse)
    # A wrong answer that was certain costs -log 2.2e-16, and is finite.
    wrong = np.eye(k)[(y + 1) % k]
    assert log_loss(wrong, y) == pytest.approx(-math.log(EPSILON))
    # A class that the truth has not, and one that no answer has.
    one = contingency([0, 0, 1], [0, 2, 2])
    np.testing.assert_array_equal(one, [[1, 0, 1], [0, 0, 1], [0, 0, 0]])


@given(SEEDS, st.integers(2, 6), st.integers(1, 15))
def test_calibration_counts_every_sample_once(seed, k, q):
    p, y, _, _ = problem(seed, k, 50)
    table = calibration(*all_samples(p, y), q)
    assert sum(row["count"] for row in table) == 50 * k
    assert sum(row["count"] * row["observed"] for row in table if row["count"]) == pytest.approx(50)
    assert sum(row["count"] * row["forecast"] for row in table if row["count"]) == pytest.approx(50)
    for row in table:
        if row["count"]:
            assert row["lower"] - 1e-12 <= row["forecast"] <= row["upper"] + 1e-12
