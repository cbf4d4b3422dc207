"""Scores of points with weights: scikit-learn's, and those of copies."""

import numpy as np
import pytest

from agfmc.api.functions import scores
from agfmc.core.answers import Results, Sets
from agfmc.core.costs import CostMatrix
from agfmc.core.errors import DataError
from agfmc.score.evaluation import ScoreRequest, evaluate, weighted, with_weights

K, N = 4, 160
COSTS = np.array([[0, 1, 2, 4, 0.5], [1, 0, 1, 2, 0.5], [3, 1, 0, 1, 0.5], [8, 4, 1, 0, 0.5]])


def drawn(seed=0, rejecting=True):
    """(`Results` with all that there can be, weights that are whole numbers, 0 among them)."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(K, 0.6), N)
    p[:20] = rng.multinomial(10, np.full(K, 1 / K), 20) / 10  # some that are equal
    before = rng.dirichlet(np.full(K, 0.6), N)
    truth = np.array([rng.choice(K, p=(row + 0.1) / (row + 0.1).sum()) for row in p])
    result = p.argmax(axis=1)
    if rejecting:
        result[rng.random(N) < 0.1] = -1
    answer = rng.integers(1, 4, N)
    paths = np.stack([answer, answer + rng.integers(0, 2, N), np.maximum(answer - 1, 0)])
    sets = Sets(rng.integers(0, K + 1, N), rng.random(N) < 0.7, paths)
    return Results(
        truth,
        result,
        np.arange(K),
        K,
        p.max(axis=1),
        p,
        None,
        before,
        sets,
        CostMatrix(COSTS[:, :K], COSTS[:, K]),
    ), rng.integers(0, 4, N)


def copied(results, w):
    """The results with whole numbers of copies (n,) in the place of weights."""
    rows = np.repeat(np.arange(len(w)), w)
    parts = {
        name: getattr(results, name)[rows] for name in ("truth", "result", "winner", "p", "before")
    }
    sets = Sets(
        results.sets.size[rows],
        results.sets.holds[rows],
        results.sets.paths[:, rows],
    )
    return Results(labels=results.labels, k=K, costs=results.costs, sets=sets, **parts)


# what counts points, or tells how sure a score is: of copies there are more
COUNTS = {
    "points",
    "rejected",
    "zero_probability",
    "intervals",
    "priors",
    "error",
    "low",
    "high",
    "uncertainty_coefficient_random",
    "uncertainty_coefficient_adjusted",
    "empty",
    "sizes",
}


def numbers(value, path=()):
    """Yield (path, number) of everything in dictionaries and lists but COUNTS."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in COUNTS or key == "error" and "risk_coverage" in path:
                yield from numbers(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from numbers(one, (*path, i))
    else:
        yield path, value


@pytest.mark.parametrize("rejecting", [True, False])
def test_whole_weights_are_copies(rejecting):
    results, w = drawn(rejecting=rejecting)
    asked = ScoreRequest(top_accuracy=2, ordered=True, by_class=True)
    with pytest.warns(UserWarning, match=f"{(w == 0).sum()} of {N} points have weight 0"):
        given = with_weights(results, w)
    found = dict(numbers(evaluate(given, 7, asked)))
    wanted = dict(numbers(evaluate(copied(results, w), 7, asked)))
    assert found.keys() == wanted.keys() and len(found) > 400
    for path, value in wanted.items():
        near = (
            found[path] is None
            if value is None
            else found[path] == pytest.approx(value, abs=1e-12, rel=1e-12)
        )
        assert near, (path, found[path], value)


def test_weights_of_one_are_none():
    results, w = drawn()
    assert with_weights(results, np.ones(N)).weights is None
    assert with_weights(results, None).weights is None
    assert with_weights(results, None, {2: 1.0}).weights is None


@pytest.mark.parametrize("seed", [0, 1])
def test_scores_are_those_of_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    results, _ = drawn(seed, rejecting=False)
    w = np.random.default_rng(seed).gamma(0.5, size=N) + 1e-3
    found = evaluate(with_weights(results, w), request=ScoreRequest(top_accuracy=2))
    truth, result, p = results.truth, results.result, results.p
    p = np.clip(p, 1e-300, None)

    def near(name, value):
        assert found[name] == pytest.approx(value, abs=1e-12), name

    near("accuracy", metrics.accuracy_score(truth, result, sample_weight=w))
    near("balanced_accuracy", metrics.balanced_accuracy_score(truth, result, sample_weight=w))
    near("cohen_kappa", metrics.cohen_kappa_score(truth, result, sample_weight=w))
    near("matthews", metrics.matthews_corrcoef(truth, result, sample_weight=w))
    for name, average in (("macro_f1", "macro"), ("weighted_f1", "weighted")):
        near(name, metrics.f1_score(truth, result, average=average, sample_weight=w))
    near(
        "macro_auc",
        metrics.roc_auc_score(
            truth, results.p, multi_class="ovr", average="macro", sample_weight=w
        ),
    )
    near(
        "log_loss",
        np.average(-np.log(np.clip(p[np.arange(N), truth], np.finfo(float).eps, 1)), weights=w),
    )
    positive = p[np.arange(N), truth] > 1e-10
    kept = (
        with_weights(results, np.where(positive, w, 0))
        if not positive.all()
        else with_weights(results, w)
    )
    assert evaluate(kept)["log_loss"] == pytest.approx(
        metrics.log_loss(truth[positive], p[positive], sample_weight=w[positive], labels=range(K)),
        abs=1e-12,
    )
    near("brier", np.average(((results.p - np.eye(K)[truth]) ** 2).sum(axis=1), weights=w))
    assert np.array(found["contingency"]) == pytest.approx(
        metrics.confusion_matrix(truth, result, sample_weight=w), abs=1e-12
    )
    precision, recall, f1, support = metrics.precision_recall_fscore_support(
        truth, result, sample_weight=w
    )
    for j, row in enumerate(found["by_class"]):
        assert [row[name] for name in ("precision", "recall", "f1", "support")] == pytest.approx(
            [precision[j], recall[j], f1[j], support[j]], abs=1e-12
        )
        assert row["auc"] == pytest.approx(
            metrics.roc_auc_score(truth == j, results.p[:, j], sample_weight=w), abs=1e-12
        )
    apart = p + np.arange(K) * 1e-9  # scikit-learn breaks ties
    assert evaluate(
        with_weights(Results(truth, result, np.arange(K), K, p.max(axis=1), apart), w),
        request=ScoreRequest(top_accuracy=2),
    )["top_accuracy"] == pytest.approx(
        metrics.top_k_accuracy_score(truth, apart, k=2, sample_weight=w), abs=1e-12
    )


def test_factors_of_classes():
    results, w = drawn()
    w = w + 1.0
    totals = np.bincount(results.truth, weights=w)
    balanced = with_weights(results, w, "balanced").weights
    assert balanced == pytest.approx((w.sum() / (K * totals))[results.truth] * w, rel=1e-14)
    assert np.bincount(results.truth, weights=balanced) == pytest.approx(np.full(K, w.sum() / K))
    named = with_weights(results, w, {"cat": 3, 0: 2}, {0: "ant", 1: "cat"}).weights
    assert named == pytest.approx(np.array([2, 3, 1, 1])[results.truth] * w, rel=1e-15)
    assert (
        with_weights(results, None, {3: 2}).weights.tolist()
        == np.where(results.truth == 3, 2.0, 1.0).tolist()
    )
    with pytest.raises(DataError, match="no class 'dog'"):
        with_weights(results, w, {"dog": 2})


def test_proportions_keep_the_weights_within_each_class():
    results, w = drawn()
    priors = np.array([0.1, 0.2, 0.3, 0.4])
    found = weighted(with_weights(results, w + 1.0), priors).weights
    assert np.bincount(results.truth, weights=found) == pytest.approx(priors * (w + 1).sum())
    ratio = found / (w + 1)
    for j in range(K):
        assert np.ptp(ratio[results.truth == j]) < 1e-12
    one = weighted(with_weights(results, np.full(N, 2.0)), priors).weights
    assert one == pytest.approx(2 * weighted(results, priors).weights, rel=1e-14)


@pytest.mark.parametrize(
    "w",
    [
        np.ones(N - 1),
        -np.ones(N),
        np.full(N, np.nan),
        np.full(N, np.inf),
        np.zeros(N),
        np.ones((N, 1)),
    ],
)
def test_weights_that_are_none(w):
    with pytest.raises(DataError, match="weight"):
        with_weights(drawn()[0], w)


def test_scores_of_arrays():
    results, w = drawn()
    found = scores(results.truth, results.result, results.p, weight=w + 1, costs=COSTS)
    wanted = evaluate(
        with_weights(
            Results(
                results.truth,
                results.result,
                np.arange(K),
                K,
                results.winner,
                results.p,
                costs=results.costs,
            ),
            w + 1,
        )
    )
    assert found == wanted
    paid = COSTS[results.truth, results.result]
    assert found["cost"] == pytest.approx(np.average(paid, weights=w + 1), abs=1e-12)
    assert scores(results.truth, np.full(N, 2), costs=COSTS[:, :K])["cost"] == pytest.approx(
        COSTS[results.truth, 2].mean(), abs=1e-12
    )
