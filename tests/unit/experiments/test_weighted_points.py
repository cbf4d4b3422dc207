"""Weights of points in experiments: scores, searches, estimates, and what is kept of them."""

import json
from dataclasses import replace

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.experiments import racing
from agfmc.experiments.candidates import read_candidate
from agfmc.experiments.comparison import compare, cross_validate
from agfmc.experiments.experiment import Experiment, Part, SplitPlan as Plan, splits
from agfmc.experiments.pooling import corrected, Estimate, pooled, Resampled
from agfmc.files.result_store import ResultCache
from agfmc.experiments.search import Axis, Grid, Search, SearchSpace
from agfmc.report.trials import estimate_words
from agfmc.experiments.results import data_words
from agfmc.experiments.trial import Outcome
from agfmc.experiments.tuning import prepare_tuning, tune
from agfmc.data.types import Dataset
from agfmc.score.evaluation import evaluate
from agfmc.core.probabilities import standard_error
from agfmc.score.rows import SCORES
from agfmc.score.significance import mcnemar
from agfmc.training.fit import TrainingSettings
from agfmc.core.weights import Weights

LABELS = np.array([2, 5, 9])
LOGISTIC = TrainingSettings("learner=logistic")


def results(n, seed, top=4, answers=1):
    """`Results` of n points of three classes with whole weights from 1; answers: their seed."""
    rng, more = np.random.default_rng(seed), np.random.default_rng(answers)
    y, w = rng.integers(3, size=n), rng.integers(1, top, n).astype(float)
    z = more.normal(size=(n, 3)) + np.eye(3)[y]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return Results(LABELS[y], LABELS[p.argmax(axis=1)], LABELS, 3, p.max(axis=1), p, w)


def chosen(some, rows, weights=None):
    """The `Results` of some rows."""
    return replace(
        some,
        **{name: getattr(some, name)[rows] for name in ("truth", "result", "winner", "p")},
        weights=weights,
    )


def copied(some):
    """`Results` whose points stand there as often as they weigh."""
    return chosen(some, np.repeat(np.arange(len(some.truth)), some.weights.astype(int)))


def outcomes(*parts):
    return [Outcome.of(part, candidate=0, decoder="d") for part in parts]


def points(weighed=True):
    """A `Dataset` of three classes, with weights or without."""
    rng = np.random.default_rng(3)
    y = np.repeat(LABELS, [40, 50, 30]).astype(np.int32)
    x = rng.normal(size=(120, 2)) + y[:, None] * [0.3, -0.2]
    return Dataset(x, y, weights=Weights(rng.integers(1, 9, 120) / 4) if weighed else None)


@pytest.mark.parametrize("name", SCORES)
def test_pooled_scores_are_those_of_copies(name):
    parts = [results(50, 1), results(80, 2, 9), results(31, 3)]
    weighed, copies = outcomes(*parts), outcomes(*map(copied, parts))
    for one, other in zip(weighed, copies):
        assert one.scores[name] == pytest.approx(other.scores[name], abs=1e-12)
    assert pooled(name, weighed) == pytest.approx(pooled(name, copies), abs=1e-12)
    whole = replace(
        parts[0],
        **{
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in ("truth", "result", "winner", "p", "weights")
        },
    )
    assert pooled(name, weighed) == pytest.approx(evaluate(whole)[name], abs=1e-12)
    assert pooled(name, weighed) != pytest.approx(
        pooled(name, outcomes(*(replace(part, weights=None) for part in parts))), abs=1e-4
    )
    again = Resampled(name, [weighed]).scores(np.ones((1, 161)))[0, 0]
    assert again == pytest.approx(pooled(name, weighed), abs=2e-7)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["accuracy", "log_loss", "uncertainty_coefficient", "brier_all"])
def test_estimates_weigh_the_points(name):
    """With one option the estimate is its pooled score; the options of copies of the points are
    chosen as often by them as by weights."""
    parts = [results(60, 1, answers=number) for number in (3, 8, 9)]
    first = outcomes(parts[0])
    alone = corrected(name, [first], 1)
    assert alone.score == pytest.approx(pooled(name, first), abs=2e-7)
    assert alone.points == 60 and 30 < alone.effective < 60
    rows = np.repeat(np.arange(60), parts[0].weights.astype(int))
    both = corrected(name, [outcomes(part) for part in parts], 1)
    copies = corrected(name, [outcomes(copied(part)) for part in parts], 1, rows=rows)
    # the same resamples: each point is drawn with all its copies
    assert both.score == pytest.approx(copies.score, abs=1e-9)
    assert both.error == pytest.approx(copies.error, abs=1e-9)
    plain = corrected(name, [outcomes(chosen(parts[0], slice(None)))], 1)
    assert plain.effective is None and "effective" not in plain.words


def test_certain_estimates_know_the_effective_number():
    perfect = Estimate(1.0, 0.0, 100, 1, 20.0)
    few, many = (
        estimate_words({**one.words, "how": "x"}, "accuracy")
        for one in (perfect, perfect._replace(effective=None))
    )
    assert "interval from 0.8316" in few and "interval from 0.9638" in many


def test_gaps_of_a_race_weigh_the_points():
    state = racing.SearchState("a", -1, Search([Grid("rbf", 0, 0.0, Axis(0, 1, 1), -1.0)]))
    rng = np.random.default_rng(1)
    one, other = (
        replace(results(80, 1), weights=rng.random(80) + 0.1 if weighed else None)
        for weighed in (True, True)
    )
    other = replace(other, p=np.roll(other.p, 1, axis=0), weights=one.weights)
    for text, part in (("a", one), ("b", other)):
        made = outcomes(part)[0]
        state.record(text, {Part(0): made}, 0, {"pooled": made.scores["log_loss"]})
    lost = -np.log(other.p[np.arange(80), np.searchsorted(LABELS, other.truth)]) + np.log(
        one.p[np.arange(80), np.searchsorted(LABELS, one.truth)]
    )
    mean = np.sum(lost * one.weights) / np.sum(one.weights)
    assert state.gap("log_loss", "b", "a") == pytest.approx(
        mean / standard_error(lost, one.weights), rel=1e-5
    )


def test_mcnemar_with_weights():
    rng = np.random.default_rng(1)
    first, second = rng.random((2, 60)) < [[0.8], [0.6]]
    exact = mcnemar(first, second)
    assert mcnemar(first, second, np.full(60, 0.3)) == pytest.approx(exact, rel=1e-12)
    # what one alone has right, of the points that count
    w = np.where(first & ~second, 1e-9, 1.0)
    assert mcnemar(first, second, w) < 0.05 < mcnemar(first, first, w) == 1
    # one point that outweighs all others is hardly a sample
    w = np.ones(60)
    w[np.argmax(first & ~second)] = 1000.0
    assert mcnemar(first, second, w) > 0.4


def test_scores_of_a_comparison_weigh_held_out_points():
    """Those of `cross_validate`, from all its answers; without weights they are others."""
    data, plan = points(), Plan(None, 3, 1)
    experiment = Experiment(data, plan, LOGISTIC, ResultCache(None), (False,))
    (row,) = compare(experiment, [read_candidate("one-vs-one", ("inverse",))])["rows"]
    (found,) = cross_validate(experiment, read_candidate("one-vs-one"))
    assert (found.results.weights == data.weights.w).all()
    p = found.results.p[np.arange(120), np.searchsorted(LABELS, data.y)]
    wanted = np.average(-np.log(p), weights=data.weights.w)
    assert row["log_loss"]["pooled"] == pytest.approx(wanted, abs=1e-12)
    assert found.columns["log_loss"]["pooled"] == pytest.approx(wanted, abs=1e-12)
    right = found.results.result == data.y
    assert row["accuracy"]["pooled"] == pytest.approx(np.average(right, weights=data.weights.w))
    assert row["accuracy"]["pooled"] != pytest.approx(right.mean(), abs=1e-4)


def test_class_weights_make_the_accuracy_that_of_balanced_classes():
    data = points(False)
    factors = {2: 1.0, 5: 0.8, 9: 4 / 3}
    weights = Weights(np.array([factors[label] for label in data.y.tolist()]), factors)
    (found,) = cross_validate(
        Experiment(
            replace(data, weights=weights), Plan(None, 3, 1), LOGISTIC, ResultCache(None), (False,)
        ),
        read_candidate("one-vs-one"),
    )
    scores = evaluate(found.results)
    assert scores["accuracy"] == pytest.approx(scores["balanced_accuracy"], abs=1e-12)
    assert found.columns["accuracy"]["pooled"] == pytest.approx(scores["balanced_accuracy"])


def test_leave_one_out_values_have_the_weights_of_their_rows():
    data = points()
    settings = TrainingSettings("learner=nystrom -m 20", calibration=50)
    experiment = Experiment(data, Plan(left_out=True), settings, ResultCache(None))
    split = experiment.prepared(Part(0))
    assert (split.test_weights == data.weights.w[split.rows]).all()
    (row,) = compare(experiment, [read_candidate("one-vs-one", ("inverse",))])["rows"]
    (plain,) = compare(
        replace(experiment, data=replace(data, weights=None)),
        [read_candidate("one-vs-one", ("inverse",))],
    )["rows"]
    assert row["log_loss"]["pooled"] != pytest.approx(plain["log_loss"]["pooled"], abs=1e-6)


def test_results_are_kept_for_their_weights(fits, tmp_path):
    def run(data):
        with ResultCache(str(tmp_path / "kept"), keep=True) as cache:
            result = compare(
                Experiment(data, Plan(trials=1), LOGISTIC, cache, (False,)),
                [read_candidate("one-vs-one", ("inverse",))],
            )
        made = sum(map(len, fits))
        fits.clear()
        return made, result

    data = points()
    first, result = run(data)
    again, same = run(data)
    assert first and not again and json.dumps(same) == json.dumps(result)
    for kept, rows in ((True, "test"), (False, "train")):  # of scores alone, and of classifiers
        w = data.weights.w.copy()
        w[getattr(next(splits(data.y, Plan(trials=1))), rows)[3]] *= 2
        other, changed = run(replace(data, weights=Weights(w)))
        assert (other == 0) is kept
        assert changed["rows"][0]["log_loss"] != result["rows"][0]["log_loss"]
    plain, unweighted = run(replace(data, weights=None))
    assert plain == first and unweighted["rows"][0]["log_loss"] != result["rows"][0]["log_loss"]


@pytest.mark.filterwarnings("ignore:the best C")
def test_tuning_scores_are_weighted():
    """A factor of all weights changes C alone."""
    data, space = points(), SearchSpace(log2c=Axis(0.0, 2.0, 2.0), refine=0)
    found = []
    for weights in (data.weights, Weights(4 * data.weights.w), None):
        task = prepare_tuning(
            Experiment(
                replace(data, weights=weights),
                Plan(None, 2, 1),
                LOGISTIC,
                ResultCache(None),
                (False,),
            ),
            read_candidate("one-vs-one"),
        )
        result, _ = tune(task, space, by="accuracy", search="full")
        found.append(
            {
                point["log2c"]: point["score"]
                for point in result["points"]
                if point["score"] is not None
            }
        )
    first, fourfold, plain = found
    # scores of the same machines: C w is the same
    assert first[2.0] == pytest.approx(fourfold[0.0], abs=1e-12)
    assert first[0.0] != pytest.approx(plain[0.0], abs=1e-4)


def words_of(data):
    return data_words(Experiment(data, Plan()))


def test_words_on_weights():
    data = points(False)
    assert words_of(data) == {}
    words = words_of(points())["weights"]
    assert words == "of samples; scores count the points by them"
    factors = {2: 1.0, 5: 2.5, 9: 0.125}
    w = np.array([factors[label] for label in data.y.tolist()])
    data = replace(
        data, names=("", "", "a", "", "", "b", "", "", "", "c"), weights=Weights(w, factors)
    )
    names = data.name_of
    words = words_of(data)["weights"]
    shown = ", ".join(f"{names.get(label, label)}={factor:g}" for label, factor in factors.items())
    assert words == f"of classes ({shown}); scores count the points by them"
    both = words_of(replace(data, weights=Weights(3 * w, factors)))["weights"]
    assert both.startswith("of samples and classes (")
