"""The search for the best configuration: families, entries, averages, estimates, the time."""

import time
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import combinations_with_replacement
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from agfmc.api.functions import train_tree
from agfmc.control.parse import parse
from agfmc.core.costs import cost_matrix
from agfmc.core.errors import AgfmcNotice, JobsFailed, UsageError
from agfmc.core.weights import Weights
from agfmc.data.types import Dataset
from agfmc.data.weights import given_weights
from agfmc.experiments import best_search as module
from agfmc.experiments import families
from agfmc.experiments.best_search import BestSearch, Entry
from agfmc.experiments.experiment import Experiment, Part, SplitPlan
from agfmc.experiments.families import FAMILIES, families_for, Family, MOST_PAIRED
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.files.result_store import ResultCache
from agfmc.learners import logistic
from agfmc.learners.boosting import Boosting
from agfmc.prediction.classifier import Classifier
from agfmc.training.fit import TrainingSettings
from agfmc.training.run import TimeUp

LOGISTIC = Family(
    "logistic",
    "L",
    "",
    lambda rows, *sizes: rows / 6000,
    options="-r 0.1",
    others=("-r 1", "-r 0.01"),
)
PAIRS = Family("pairs", "svm", "one-vs-one", lambda rows, *sizes: rows**2 / 1.8e5, True, "rbf")
LANDMARKS = Family(
    "landmarks",
    "nystrom",
    "one-vs-rest",
    lambda rows, *sizes: rows / 2000,
    kernel="laplacian",
    options="-m 20",
)
ENSEMBLE = Family("ensemble", "svm", "ensemble", lambda *sizes: 0.04, True, "rbf")
SMALL = (LOGISTIC, PAIRS, LANDMARKS)
FAMILY_OF = {family.name: family for family in FAMILIES}


@pytest.fixture(autouse=True)
def few_options(monkeypatch):
    monkeypatch.setattr(families, "FAMILIES", SMALL)
    monkeypatch.setattr(module, "_GAIN", 9)  # two rounds of tuning
    monkeypatch.setattr(
        module,
        "SearchSpace",
        partial(SearchSpace, log2g=Axis(-1.0, -1.0, 2.0)),
    )


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(3), 20).astype(np.int32)
    return Dataset(rng.normal(size=(60, 2)) + 2 * np.eye(3, 2)[y], y)


def begin(data, limit=1e4, *, by="log_loss", cache=None, workers=1, costs=None, **more):
    experiment = Experiment(
        data,
        SplitPlan(None, 5, 1, 1),
        TrainingSettings(scale=True, workers=workers),
        cache or ResultCache(None),
        costs=costs,
    )
    return BestSearch(experiment, by, time.monotonic() + limit, **more)


def scores_of(search):
    return [(entry.words, entry.score) for entry in search.entries]


def entry_of(p, text='"" L {0 1 2}'):
    return Entry(LOGISTIC, "", parse(text), np.asarray(p, np.float32), 1.0, 0.0, 0.0, 0.0)


# -- families --------------------------------------------------------------------------------------


def names(*args, **more):
    return {family.name for family in families_for(*args, **more)}


def test_families_go_by_classes_rows_learners_and_kernels(monkeypatch):
    monkeypatch.setattr(families, "FAMILIES", FAMILIES)
    monkeypatch.setattr(Boosting, "made_by", lambda self: "")
    neighbours = {"nearest neighbours"}
    every = {family.name for family in FAMILIES} - neighbours
    assert names(4, 100) == names(4, 20_000) == every
    paired = {"one-vs-one rbf", "one-vs-one laplacian"}
    assert names(4, 20_001) == every - paired
    assert names(MOST_PAIRED + 1, 100) == every - paired | neighbours
    assert names(2, 100) == every - {"random trees of trees"}
    assert names(4, 20_001, ["svm"]) == paired
    assert names(4, 100, ["svm", "nystrom"], ["rbf"]) == {
        "one-vs-one rbf",
        "one-vs-rest landmarks rbf",
    }
    assert names(4, 100, ["logistic"]) == {"logistic regression"}
    boosted = {"boosted trees of all classes", "one-vs-rest trees", "random trees of trees"}
    assert names(4, 100, ["trees"]) == names(4, 100, has_nan=True) == boosted
    with pytest.raises(UsageError, match="`learners`: expected some of svm, .* found 'woods'"):
        names(4, 100, ["woods"])
    with pytest.raises(UsageError, match="`kernels`: expected some of rbf, laplacian, found 'l"):
        names(4, 100, None, ["linear"])
    with pytest.raises(UsageError, match="`learners=svm`: nothing suits these data"):
        names(MOST_PAIRED + 1, 100, ["svm"])


def test_without_lightgbm_trees_are_left_out_with_a_notice(monkeypatch):
    def missing(self):
        raise UsageError("not installed")

    monkeypatch.setattr(families, "FAMILIES", FAMILIES)
    monkeypatch.setattr(Boosting, "made_by", missing)
    with pytest.warns(AgfmcNotice, match="trees are not tried, because LightGBM is not installed"):
        assert not any("trees" in name for name in names(4, 100))
    with pytest.warns(AgfmcNotice), pytest.raises(UsageError, match="missing values are for trees"):
        names(4, 100, has_nan=True)


def test_each_family_has_expected_seconds_that_grow_with_the_data():
    for family in FAMILIES:
        small, large = family.seconds(300, 5, 3), family.seconds(3000, 50, 12)
        assert 0 < small < large < 1e4, family.name


# -- rounds ----------------------------------------------------------------------------------------


def test_every_family_is_scored_before_anything_is_tuned(data):
    search = begin(data)
    choice = search.run()
    words = [entry.words for entry in search.entries]
    assert words[:3] == [
        "logistic -r 0.1",
        "pairs -t rbf",
        "landmarks learner=nystrom -m 20 -t laplacian",
    ]
    assert {"logistic -r 1", "logistic -r 0.01"} < set(words[3:])
    assert any(" -c " in text for text in words[3:])
    assert len(set(words)) == len(words) and not search.left_out
    best = max(-entry.score for entry in search.entries)
    assert -choice.score >= best
    result = search.result(choice)
    losses = [entry["score"] for entry in result["entries"]]
    assert losses == sorted(losses) and result["points"] == result["rows"] == 60
    assert choice.estimate["points"] == 60 and choice.estimate["options"] == len(search.entries)


def test_what_does_not_fit_the_time_is_named_with_its_seconds(data, monkeypatch):
    slow = LANDMARKS._replace(name="slow", seconds=lambda *sizes: 1234.4)
    monkeypatch.setattr(families, "FAMILIES", (slow, LOGISTIC))
    search = begin(data, 100)
    search._speed = 1.0
    monkeypatch.setattr(BestSearch, "_tune_families", lambda self: None)
    choice = search.run()
    assert choice.name == "logistic"
    text = search.left_out["slow"]
    assert text.startswith("not tried (about ") and text.endswith(" s)")
    assert search.result(choice)["left_out"] == {"slow": text}


def test_a_limit_that_is_over_gives_the_cheapest_family(data):
    search = begin(data, 0.0)
    assert search.run().name == "logistic"
    assert search.left_out == dict.fromkeys(["pairs", "landmarks"], "not tried (about 1 s)")


def test_without_a_score_there_is_no_model(data, monkeypatch):
    slow = LOGISTIC._replace(seconds=lambda *sizes: 60.0)
    monkeypatch.setattr(families, "FAMILIES", (slow,))
    with pytest.raises(
        JobsFailed, match=r"the limits are too narrow .*logistic: not tried \(about"
    ):
        begin(data, 0.0).run()

    def interrupted(*args, **more):
        raise TimeUp

    monkeypatch.setattr(families, "FAMILIES", (PAIRS,))
    monkeypatch.setattr(module, "run_trial", interrupted)
    with pytest.raises(JobsFailed, match="pairs: the time limit ended its training") as error:
        begin(data).run()
    assert error.value.status == 3


def test_time_for_the_last_training_is_reserved(data):
    search = begin(data, 100.0)
    search._split = search._sample.prepared(Part(0))
    entry = entry_of(np.full((60, 3), 1 / 3))
    entry.clock_s = 10.0
    search.entries = [entry]
    assert search._end() == pytest.approx(search.deadline - 1.3 * 10)
    assert search._fits([entry] * 5) and not search._fits([entry] * 15)
    ranked = [
        replace(entry, clock_s=seconds, score=place)
        for place, seconds in enumerate((80, 10, 20, 15, 5))
    ]
    search.entries = ranked
    assert search._reserved() == pytest.approx(1.3 * (10 + 20 + 5)), (
        "80 s are too long, 15 too many"
    )
    search.entries = ranked[:1]
    assert search._reserved() == 1.3 * 80


def test_what_could_not_be_trained_on_all_rows_is_not_scored(data, monkeypatch):
    """Of 60 rows the search takes 30; 30 s for these are 120 s for all."""
    squares = LANDMARKS._replace(name="squares", seconds=lambda rows, *sizes: rows**2 / 30)
    monkeypatch.setattr(module, "_ROWS", 30)
    monkeypatch.setattr(families, "FAMILIES", (LOGISTIC, squares))
    monkeypatch.setattr(BestSearch, "_tune_families", lambda self: None)
    search = begin(data, 100.0)
    assert search.run().name == "logistic"
    assert search.left_out == {"squares": "not tried (about 30 s, and 120 s for all rows)"}
    search = begin(data, 200.0)
    search.run()
    assert not search.left_out


def test_folds_of_a_node_that_would_end_too_late_are_not_begun(data, monkeypatch):
    clock = [0.0]
    fit = logistic.fit_logistic

    def slow(*args):
        clock[0] += 10
        return fit(*args)

    monkeypatch.setattr(logistic, "fit_logistic", slow)
    monkeypatch.setattr(
        module, "time", SimpleNamespace(monotonic=lambda: clock[0], process_time=lambda: clock[0])
    )
    for until, ends in ((59, 10), (60, 60)):
        search = prepared(data, limit=1e9)
        clock[0] = 0.0
        with nullcontext() if ends == 60 else pytest.raises(TimeUp):
            search._score(LOGISTIC, "-r 0.1", until)
        assert clock[0] == ends


def test_an_error_of_one_family_is_told_and_of_all_is_raised(data, monkeypatch):
    search = begin(data)
    score = BestSearch._score

    def failing(self, family, options, until):
        if family is not LOGISTIC:
            raise UsageError(f"no {family.name} here")
        return score(self, family, options, until)

    monkeypatch.setattr(BestSearch, "_score", failing)
    assert search.run().name == "logistic"
    assert search.left_out == {name: f"no {name} here" for name in ("pairs", "landmarks")}
    with pytest.raises(UsageError, match="no landmarks here"):
        begin(data).run(["nystrom"])


def test_more_rows_than_the_search_takes_are_sampled(data, monkeypatch):
    monkeypatch.setattr(module, "_ROWS", 30)
    search = begin(data)
    choice = search.run()
    assert choice.estimate["points"] == 30 and search.result(choice)["rows"] == 60
    entry = replace(search.entries[0], clock_s=1.0, family=LOGISTIC)
    assert search.expected([entry]) == 2.0
    assert search.expected([replace(entry, family=PAIRS)]) == 4.0


@pytest.mark.parametrize("workers", [2])
def test_the_choice_does_not_depend_on_workers_and_a_second_run_reuses_it(data, workers, tmp_path):
    first = begin(data)
    choice = first.run()
    other = begin(data, workers=workers)
    again = other.run()
    assert scores_of(first) == scores_of(other)
    assert choice.tree == again.tree and choice.estimate == again.estimate
    for is_known in (False, True):
        with ResultCache(str(tmp_path / "state"), keep=True, data="d") as cache:
            search = begin(data, cache=cache)
            third = search.run()
        assert scores_of(search) == scores_of(first) and third.tree == choice.tree
        assert (cache.reused > 0) == is_known


# -- scores ----------------------------------------------------------------------------------------


def prepared(data, **more):
    search = begin(data, **more)
    search._split = search._sample.prepared(Part(0))
    return search


def made_probabilities(data, number, seed=3):
    """Probabilities of so many entries: of the truth, with noise of their own."""
    rng = np.random.default_rng(seed)
    values = 1.5 * np.eye(3)[data.y] + rng.normal(size=(number, len(data.y), 3))
    p = np.exp(values)
    return (p / p.sum(axis=2, keepdims=True)).astype(np.float32)


def loss_of(p, scale, y, w=None):
    q = p.astype(float) ** scale
    q /= q.sum(axis=1, keepdims=True)
    return np.average(-np.log(q[np.arange(len(y)), y]), weights=w)


@pytest.mark.parametrize("weighted", [False, True])
def test_best_scale_has_the_least_loss(data, weighted):
    w = None
    if weighted:
        w = np.random.default_rng(5).uniform(0.1, 3, 60)
        data = replace(data, weights=Weights(w))
    search = prepared(data)
    for p in made_probabilities(data, 3) ** np.array([1, 0.5, 2])[:, None, None]:
        p = (p / p.sum(axis=1, keepdims=True)).astype(np.float32)
        scale, score = search.best_scale(p)
        best = minimize_scalar(
            lambda log_scale: loss_of(p, np.exp(log_scale), data.y, w),
            bounds=np.log([0.2, 4]),
            method="bounded",
        )
        assert np.log(scale) == pytest.approx(best.x, abs=0.06)
        assert score == pytest.approx(best.fun, abs=1e-3)
        assert score == pytest.approx(loss_of(p, scale, data.y, w), rel=1e-5)


def test_the_scale_of_many_probabilities_is_fitted_to_a_part_of_the_points(data, monkeypatch):
    p = made_probabilities(data, 1)[0]
    monkeypatch.setattr(module, "_SCALED_CELLS", 60)
    scale, score = prepared(data).best_scale(p)
    monkeypatch.setattr(module, "_SCALED_CELLS", 180)
    assert scale == prepared(replace(data, x=data.x[::3], y=data.y[::3])).best_scale(p[::3])[0]
    assert score == pytest.approx(loss_of(p, scale, data.y), rel=1e-5)


@pytest.mark.parametrize("has_costs", [False, True])
def test_every_score_has_a_value_without_features(has_costs):
    y = np.repeat([0, 1, 2], [30, 20, 10]).astype(np.int32)
    w = np.where(y == 2, 2.0, 1.0)
    data = Dataset(np.random.default_rng(0).normal(size=(60, 2)), y, weights=Weights(w))
    costs = None
    if has_costs:
        costs = cost_matrix([[0, 1, 9], [5, 0, 5], [1, 1, 0]], [0, 1, 2])
    alone = prepared(data, costs=costs).scores_alone()
    shares = np.array([3, 2, 2]) / 7
    p = np.tile(shares, (60, 1))
    assert alone["log_loss"] == pytest.approx(-shares @ np.log(shares))
    miss = p - np.eye(3)[y]
    assert alone["brier"] == pytest.approx(np.average((miss**2).sum(axis=1), weights=w))
    assert all(alone[name] is not None for name in ("brier_all", "brier_winning", "accuracy"))
    assert ("cost" in alone) == has_costs


def test_selection_is_the_best_average_of_few(data, monkeypatch):
    entries = [entry_of(p) for p in made_probabilities(data, 4)]
    search = prepared(data)

    def least_loss(members):
        p = np.mean([entries[number].p for number in members], axis=0)
        return search.best_scale(p)[1]

    for most in (1, 2, 3):
        monkeypatch.setattr(module, "_MEMBERS", most)
        counts, score = search.select(entries)
        members = ()
        for _ in range(most):
            longer = [(*members, number) for number in range(4)]
            best = min(longer, key=least_loss)
            if members and least_loss(best) >= least_loss(members):
                break
            members = best
        assert counts == [members.count(number) for number in range(4)]
        assert score == pytest.approx(least_loss(members))
    single = min(range(4), key=lambda number: least_loss([number]))
    monkeypatch.setattr(module, "_MEMBERS", 2)
    pairs = [pair for pair in combinations_with_replacement(range(4), 2) if single in pair]
    assert search.select(entries)[1] == pytest.approx(min(map(least_loss, pairs)))


def test_points_are_judged_by_choices_of_others(data):
    """An entry that is perfect on one fold alone, and wrong elsewhere, is chosen nowhere."""
    p = made_probabilities(data, 3)
    search = prepared(data)
    fold = module.stratified_folds(data.y, 1, 5)
    lucky = np.full((60, 3), 0.05)
    lucky[np.arange(60), (data.y + (fold != 2)) % 3] = 0.9
    averaged, single = search._judged([entry_of(lucky), *map(entry_of, p)])
    assert (single.argmax(axis=1) == data.y)[fold == 2].mean() < 1
    for number in range(5):
        others = np.flatnonzero(fold != number)
        out = np.flatnonzero(fold == number)
        scores = [search.best_scale(one, others)[1] for one in p]
        best = p[int(np.argmin(scores))]
        expected = module.tempered(best[out], search.best_scale(best, others)[0])
        assert np.array_equal(single[out], expected)
    assert search.score_of(averaged) <= search.score_of(single)
    assert np.allclose(averaged.sum(axis=1), 1)


def test_groups_stay_whole_in_the_judgement(data):
    groups = np.arange(60) // 4
    search = prepared(replace(data, groups=groups))
    seen = []
    select = search.select

    def followed(entries, rows=slice(None)):
        seen.append(rows)
        return select(entries, rows)

    search.select = followed
    search._judged([entry_of(p) for p in made_probabilities(data, 2)])
    order = search._split.test.groups
    for rows in seen:
        out = np.setdiff1d(np.arange(60), rows)
        assert not set(order[rows]) & set(order[out])
    choice = begin(replace(data, groups=groups)).run(["logistic"])
    assert "with its group" in choice.estimate["how"]


def test_weights_decide(data):
    """Weighted samples of one class alone: the estimate is of these."""
    w = np.where(data.y == 0, 1.0, 1e-9)
    search = prepared(replace(data, weights=Weights(w)))
    p = made_probabilities(data, 1)[0]
    zero = data.y == 0
    assert search.score_of(p) == pytest.approx(loss_of(p[zero], 1, data.y[zero]), rel=1e-4)
    estimate = search._estimate(p, 1)
    assert estimate["score"] == pytest.approx(search.score_of(p)) and estimate["error"] > 0


def test_costs_choose_the_answers(data):
    costs = cost_matrix([[0, 1, 9], [5, 0, 5], [1, 1, 0]], [0, 1, 2])
    search = prepared(data, by="cost", costs=costs)
    p = made_probabilities(data, 1)[0]
    answer = (p @ costs.costs).argmin(axis=1)
    assert np.array_equal(search.results_of(p).result, answer)
    assert search.score_of(p) == pytest.approx(costs.costs[data.y, answer].mean())
    choice = begin(data, by="cost", costs=costs).run(["logistic"])
    assert choice.estimate["score"] >= 0


def test_a_score_that_is_no_mean_has_an_error_by_resampling(data):
    search = prepared(data, by="uncertainty_coefficient")
    estimate = search._estimate(made_probabilities(data, 1)[0], 1)
    assert 0 < estimate["error"] < 0.5


# -- the tree --------------------------------------------------------------------------------------


def test_weights_of_the_tree_are_the_counts(data):
    search = begin(data)
    entries = [
        Entry(family, "", family.candidate(search._sample, text).tree, None, 1.0, 0.0, 0.0, 0.0)
        for family, text in ((LOGISTIC, "-r 1"), (PAIRS, "-t rbf"), (ENSEMBLE, "-t rbf"))
    ]
    alone, pair, ensemble = entries
    assert search._tree_of([(alone, 3)]) == alone.tree
    assert "weights" not in search._tree_of([(alone, 1), (pair, 1)]).headings
    tree = search._tree_of([(alone, 3), (pair, 1)])
    assert np.allclose(tree.weights, [0.75, 0.25])
    size = len(ensemble.tree.roots)
    assert size > 1
    for counts in ((1, 1), (1, 4)):
        tree = search._tree_of([(alone, counts[0]), (ensemble, counts[1])])
        first, *others = tree.weights
        assert first == pytest.approx(counts[0] / sum(counts))
        assert np.allclose(others, counts[1] / sum(counts) / size)


def test_an_average_is_taken_where_it_is_better_or_forced(data, monkeypatch):
    p = made_probabilities(data, 3)

    def chosen(average, entries):
        search = prepared(data, average=average)
        trees = ['"-r 1" L {0 1 2}', '"-k 3" K {0 1 2}', '"-r 2" L {0 1 2}']
        search.entries = [
            replace(entry_of(one, text), score=search.best_scale(one)[1])
            for one, text in zip(entries, trees)
        ]
        return search._choose()

    assert len(chosen(None, p).members) > 1 and len(chosen(True, p).members) > 1
    single = chosen(False, p)
    assert len(single.members) == 1 and single.members[0][1] == 1
    weights = [weight for _, weight in chosen(None, p).members]
    assert sum(weights) == pytest.approx(1)
    noise = np.random.default_rng(8).dirichlet(np.ones(3), (2, 60)).astype(np.float32)
    assert len(chosen(None, [p[0], *noise]).members) == 1


def test_the_model_of_a_choice_answers_like_its_members(data):
    search = begin(data)
    members = []
    for family, options in ((LOGISTIC, "-r 1"), (ENSEMBLE, "-t rbf")):
        tree = family.candidate(search._sample, options).tree
        members.append(
            (Entry(family, options, tree, None, 1.0, 0.0, 0.0, 0.0), 3 - len(members) * 2)
        )
    settings = TrainingSettings(scale=True, calibration=0)
    whole, *parts = (
        Classifier(train_tree(tree, data, settings)).probabilities(data.x)
        for tree in (search._tree_of(members), *(entry.tree for entry, _ in members))
    )
    assert np.allclose(whole, 0.75 * parts[0] + 0.25 * parts[1], atol=1e-6)


# -- the time of answers ---------------------------------------------------------------------------


def test_slow_answers_are_left_out_and_told(data, monkeypatch):
    free = begin(data, answer_time=1e9)
    free.run()
    assert all(0 < entry.answer_us < 1e6 for entry in free.entries)
    score = module.run_trial

    def timed(*args, **more):
        (outcome,) = score(*args, **more)
        return [replace(outcome, classify_s=60 * (5e-6 if outcome.classifiers == 0 else 5e-5))]

    monkeypatch.setattr(module, "run_trial", timed)
    search = begin(data, answer_time=9)
    choice = search.run()
    assert {entry.family.name for entry in search.entries} == {"logistic"}
    assert len(choice.members) == 1, "two of 5 microseconds take 10"
    text = search.left_out["pairs -t rbf"]
    assert text.startswith("log loss ") and text.endswith(
        "but the answer to a row takes 50 microseconds, more than 9"
    )
    with pytest.raises(JobsFailed, match="pairs -t rbf: .* takes 50 microseconds, more than 9"):
        begin(data, answer_time=9).run(["svm"])


def test_averages_within_the_time_of_answers(data):
    p = made_probabilities(data, 3)
    entries = [entry_of(one) for one in p]
    for entry in entries:
        entry.answer_us = 4.0
    limits = {7: 1, 8: 2, 12: 3}
    for limit, most in limits.items():
        counts, _ = prepared(data, answer_time=limit).select(entries)
        assert 1 <= sum(count > 0 for count in counts) <= most


def test_a_second_run_trains_nothing(data, monkeypatch, tmp_path):
    with ResultCache(str(tmp_path / "state"), keep=True, data="d") as cache:
        first = begin(data, cache=cache, answer_time=1e9)
        choice = first.run(["logistic"])

    def trained(*args, **more):
        raise AssertionError("nothing is trained again")

    monkeypatch.setattr(module, "run_trial", trained)
    with ResultCache(str(tmp_path / "state"), keep=True, data="d") as cache:
        search = begin(data, cache=cache, answer_time=1e9)
        assert search.run(["logistic"]).tree == choice.tree
    assert [entry.train_s for entry in search.entries] == [entry.train_s for entry in first.entries]
    assert [entry.answer_us for entry in search.entries] == [
        entry.answer_us for entry in first.entries
    ]


def test_many_classes_are_answered_by_neighbours(monkeypatch):
    generator = np.random.default_rng(0)
    y = np.repeat(np.arange(45), 5).astype(np.int32)
    x = generator.normal(size=(45, 4))[y] * 3 + generator.normal(size=(len(y), 4))
    monkeypatch.setattr(families, "FAMILIES", (FAMILY_OF["nearest neighbours"],))
    search = begin(Dataset(x, y))
    choice = search.run()
    assert {entry.family.name for entry, _ in choice.members} == {"nearest neighbours"}
    with pytest.raises(UsageError, match="one-vs-one of svm is for at most 40 classes, found 45"):
        begin(Dataset(x, y)).run(["svm"])


@pytest.mark.parametrize("name", ["logistic regression", "boosted trees of all classes"])
def test_weights_go_into_nodes_that_are_trained_in_folds(data, monkeypatch, name):
    if "trees" in name:
        pytest.importorskip("lightgbm")
    monkeypatch.setattr(families, "FAMILIES", (FAMILY_OF[name],))
    weighted = given_weights(data, np.random.default_rng(1).uniform(0.5, 2, len(data.y)), None)
    equal = given_weights(data, np.full(len(data.y), 2.0), None)
    scores = [begin(one).run().score for one in (data, weighted, equal)]
    assert scores[1] != scores[0] and np.isfinite(scores).all()


def test_an_error_of_a_race_leaves_what_is_scored(data, monkeypatch):
    def failing(self, *args):
        raise UsageError("no score")

    monkeypatch.setattr(BestSearch, "_race", failing)
    assert begin(data).run().name in {one.name for one in families.FAMILIES}


def test_an_average_that_cannot_be_is_told(data, monkeypatch):
    monkeypatch.setattr(families, "FAMILIES", (LOGISTIC._replace(others=()),))
    search = begin(data, average=True)
    choice = search.run()
    assert search.result(choice)["notes"] == [
        "no average could be made: the best configuration is trained alone"
    ]
