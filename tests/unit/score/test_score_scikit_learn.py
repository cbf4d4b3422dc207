"""Scores of classes and probabilities, and their weights, equal those of scikit-learn."""

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.score.evaluation import ScoreRequest, evaluate
from agfmc.score.contingency import contingency, expected_information

metrics = pytest.importorskip("sklearn.metrics")

CLOSE = {"rel": 1e-12, "abs": 1e-12}


def made(k, n=300, weights=False, rounded=False):
    """Results of n points with k classes, some probabilities equal if rounded."""
    rng = np.random.default_rng(k)
    y = np.concatenate([np.arange(k), rng.choice(k, n - k, p=rng.dirichlet(np.full(k, 2.0)))])
    z = rng.normal(size=(n, k))
    z[np.arange(n), y] += 1
    p = np.exp(2 * z)
    p /= p.sum(axis=1, keepdims=True)
    if rounded:
        p = np.round(p, 1)
        p[:, 0] += 1 - p.sum(axis=1)
        p = np.clip(p, 0, None)
        p /= p.sum(axis=1, keepdims=True)
    w = rng.uniform(0.1, 3, n) if weights else None
    return Results(y, p.argmax(axis=1), np.arange(k), k, p.max(axis=1), p, w)


@pytest.fixture(
    params=[
        (2, False, False),
        (3, True, False),
        (7, False, True),
        (7, True, True),
        (26, False, False),
        (26, True, True),
    ],
    ids=lambda value: "-".join(map(str, value)),
)
def case(request):
    k, weights, rounded = request.param
    results = made(k, weights=weights, rounded=rounded)
    return results, evaluate(results, 10, ScoreRequest(top_accuracy=2 if k > 2 else None))


def test_scores_of_classes(case):
    results, scores = case
    words = {"sample_weight": results.weights}
    y, answer = results.truth, results.result
    assert scores["accuracy"] == pytest.approx(metrics.accuracy_score(y, answer, **words), **CLOSE)
    for name, value in {
        "balanced_accuracy": metrics.balanced_accuracy_score(y, answer, **words),
        "macro_f1": metrics.f1_score(y, answer, average="macro", zero_division=0, **words),
        "weighted_f1": metrics.f1_score(y, answer, average="weighted", zero_division=0, **words),
        "cohen_kappa": metrics.cohen_kappa_score(y, answer, **words),
        "matthews": metrics.matthews_corrcoef(y, answer, **words),
    }.items():
        assert scores[name] == pytest.approx(value, **CLOSE), name
    wanted = metrics.precision_recall_fscore_support(
        y, answer, labels=results.labels, zero_division=np.nan, **words
    )
    for row, *numbers in zip(scores["by_class"], *wanted):
        for name, number in zip(("precision", "recall", "f1", "support"), numbers):
            assert row[name] == (None if np.isnan(number) else pytest.approx(number, **CLOSE))


def test_scores_of_probabilities(case):
    results, scores = case
    y, p, w = results.truth, results.p, results.weights
    assert scores["log_loss"] == pytest.approx(metrics.log_loss(y, p, sample_weight=w), **CLOSE)
    truth = np.eye(p.shape[1])[y]
    squares = sum(
        metrics.brier_score_loss(truth[:, j], p[:, j], sample_weight=w) for j in range(p.shape[1])
    )
    assert scores["brier"] == pytest.approx(squares, **CLOSE)
    areas = [
        metrics.roc_auc_score(truth[:, j], p[:, j], sample_weight=w) for j in range(p.shape[1])
    ]
    assert [row["auc"] for row in scores["by_class"]] == pytest.approx(areas, **CLOSE)
    assert scores["macro_auc"] == pytest.approx(np.mean(areas), **CLOSE)
    if p.shape[1] > 2 and w is None:
        assert scores["hand_till_auc"] == pytest.approx(
            metrics.roc_auc_score(y, p, multi_class="ovo"), **CLOSE
        )


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("k, top", [(3, 1), (3, 2), (9, 3), (9, 8)])
def test_top(k, top, weights):
    results = made(k, weights=weights)
    wanted = metrics.top_k_accuracy_score(
        results.truth, results.p, k=top, sample_weight=results.weights
    )
    assert evaluate(results, 10, ScoreRequest(top_accuracy=top))["top_accuracy"] == pytest.approx(
        wanted, **CLOSE
    )


@pytest.mark.parametrize("seed", range(20))
def test_expected_information(seed):
    from scipy.sparse import csr_array
    from sklearn.metrics.cluster import expected_mutual_information

    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 200))
    table = contingency(
        rng.integers(0, rng.integers(1, 12), n), rng.integers(0, rng.integers(1, 12), n)
    )
    with np.errstate(divide="ignore"):  # of classes without points
        wanted = expected_mutual_information(csr_array(table).astype(np.int64), n)
    assert expected_information(table.sum(axis=1), table.sum(axis=0)) == pytest.approx(
        wanted, **CLOSE
    )
