"""A portfolio: contenders, stages, the choice of an average, and the time."""

import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.core.errors import AgfmcNotice, DataError, UsageError
from agfmc.core.splits import split_stratified
from agfmc.data.types import Dataset
from agfmc.experiments import portfolio as module
from agfmc.experiments.experiment import Experiment, splits, SplitPlan
from agfmc.experiments.portfolio import Contender, contenders_for, LARGE, Portfolio
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.experiments.trial import Outcome
from agfmc.experiments.tuning import WholeConfiguration
from agfmc.files.result_store import ResultCache
from agfmc.learners.trees import Trees
from agfmc.training.fit import TrainingSettings
from agfmc.training.run import TimeUp
from own_warnings import own_warnings, texts_of

PAIR = [Contender("svm", "one-vs-one", "-t rbf"), Contender("svm", "one-vs-one", "-t laplacian")]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = np.repeat(np.arange(3), 20).astype(np.int32)
    return Dataset(rng.normal(size=(60, 2)) + 2 * np.eye(3, 2)[y], y)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Few options, and no finer steps."""
    monkeypatch.setattr(
        module,
        "SearchSpace",
        partial(SearchSpace, log2c=Axis(0.0, 3.0, 3.0), log2g=Axis(-3.0, -1.0, 2.0)),
    )
    monkeypatch.setattr(module, "_FINER", ())


def begin(data, cache, limit=1e4, **more):
    experiment = Experiment(
        data,
        SplitPlan(None, 5, 1, 1),
        TrainingSettings(scale=True),
        cache,
        calibrated=(False,),
    )
    return Portfolio(experiment, "log_loss", time.monotonic(), limit, **more)


def run(data, contenders, *args, **more):
    return begin(data, *args, **more).run(contenders)


def chosen_row(result):
    """The row of the configuration that was chosen."""
    name = result["choice"]["configuration"]
    return next(row for row in result["rows"] if row["configuration"] == name)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """The results of all searches here."""
    return ResultCache(str(tmp_path_factory.mktemp("portfolio") / "results"), keep=True)


def test_contenders_go_by_classes_rows_and_learners(monkeypatch):
    def learners(*args):
        return {one.learner for one in contenders_for(*args)}

    def missing(self):
        raise UsageError("not installed")

    monkeypatch.setattr(Trees, "made_by", lambda self: "")
    assert learners(4, LARGE) == {"svm", "nystrom", "trees"}
    assert learners(4, LARGE + 1) == {"nystrom", "trees"}
    assert {one.scheme for one in contenders_for(2, 100, ["svm"])} == {"one-vs-one"}
    assert len(contenders_for(2, 100, ["trees"])) == 1
    monkeypatch.setattr(Trees, "made_by", missing)
    with pytest.warns(AgfmcNotice, match="trees are not tried, because LightGBM is not installed"):
        assert learners(4, 100) == {"svm", "nystrom"}
    assert {one.kernel for one in contenders_for(4, 100, ["svm"], ["rbf"])} == {"rbf"}
    monkeypatch.setattr(Trees, "made_by", lambda self: "")
    assert {one.learner for one in contenders_for(4, 100, has_nan=True)} == {"trees"}


def test_options_are_searched_and_an_average_needs_to_be_clearly_better(data, cache):
    single, average, free = (run(data, PAIR, cache, ensemble=one) for one in (False, True, None))
    assert " -c " in f" {single.tree.rows[0].text}" and not single.tree.is_ensemble
    assert average.tree.is_ensemble and len(average.tree.roots) == 2
    assert single.member_weights is None and average.member_weights == "held-out"
    choice = free.result["choice"]
    gain = choice["gain"]
    assert free.tree.is_ensemble == (gain is not None and gain > choice["error"])
    estimate = single.result["estimate"]
    assert (
        estimate["points"] == 60
        and "corrected for the choice" in estimate["how"]
        and estimate["score"] > chosen_row(single.result)["log_loss"]["pooled"]
    )
    assert len(average.result["rows"]) == 3


def test_the_table_has_the_outcomes_that_decided(data, cache, monkeypatch):
    """Trials made again would cost time, and give an average other weights."""
    monkeypatch.setattr("agfmc.experiments.comparison.run_trial", None)
    chosen = run(data, PAIR, cache, ensemble=True)
    row = chosen.result["rows"][-1]
    assert row["configuration"] == "average of 2" and row is chosen_row(chosen.result)


def test_members_of_one_contender_have_equal_weights(data, cache, monkeypatch):
    """Learned ones would leave out members that differ by chance alone."""
    monkeypatch.setattr(
        module,
        "SearchSpace",
        partial(SearchSpace, log2c=Axis(0.0, 0.0, 1.0), log2g=Axis(-1.0, -1.0, 1.0)),
    )
    chosen = run(data, [Contender("svm", "ensemble", "-t rbf")], cache)
    assert len(chosen.tree.roots) > 1 and chosen.member_weights is None
    assert chosen_row(chosen.result)["classifiers"] == len(chosen.tree.rows)


def test_points_that_judge_take_no_part_in_the_search_where_there_are_enough(
    data, cache, monkeypatch
):
    monkeypatch.setattr("agfmc.experiments.racing._HELD_OUT", 10)
    chosen = run(data, PAIR[:1], cache)
    assert chosen.result["estimate"]["points"] == 48
    assert chosen.result["estimate"]["how"].startswith(
        "parts 2 to 5 of 5 held out, which took no part"
    )
    assert chosen.seconds > 0


def test_without_time_the_first_contender_is_taken_without_an_estimate(data):
    chosen = run(data, PAIR, ResultCache(None), 0.0)
    assert chosen.result["choice"] is chosen.result["estimate"] is None and chosen.result["notes"]
    assert {row.text for row in chosen.tree.rows} == {"-t rbf"}


@pytest.mark.parametrize(
    "classes, limit, is_tried",
    [(26, 10, True), (120, 300, True), (120, 10, False), (300, 10, False), (1000, 300, False)],
)
def test_one_vs_one_is_tried_where_its_pairs_fit_the_limit(classes, limit, is_tried, monkeypatch):
    monkeypatch.setattr(Trees, "made_by", lambda self: "")
    y = np.repeat(np.arange(classes), 6)
    contenders = contenders_for(classes, len(y))
    portfolio = begin(Dataset(np.zeros((len(y), 1)), y), None, limit)
    with own_warnings() as caught:
        fitting = portfolio.fitting(contenders)
    assert Contender("nystrom", "one-vs-rest", "learner=nystrom -t rbf") in fitting
    assert is_tried == any(one.scheme == "one-vs-one" for one in fitting)
    told = f"{classes} classes are too many to try these within the time limit: one-vs-one rbf, "
    assert is_tried != any(text.startswith(told) for text in texts_of(caught))
    assert portfolio.fitting(PAIR) == PAIR  # where nothing fits, the cheapest are left


@pytest.mark.parametrize(
    "calls, words, options", [(1, "defaults", 1), (7, "the best of 5 that were tried", 2)]
)
def test_options_that_the_time_limit_has_left_are_named(data, monkeypatch, calls, words, options):
    """The options given are scored on five parts, then four others on one; another scheme has the
    same options."""
    left, score = [calls], WholeConfiguration.score

    def timed(*args):
        left[0] -= 1
        if left[0] <= 0:
            raise TimeUp
        return score(*args)

    monkeypatch.setattr(WholeConfiguration, "score", timed)
    portfolio = begin(data, ResultCache(None), ensemble=False)
    pair = [PAIR[0], Contender("svm", "one-vs-rest", "-t rbf")]
    chosen = portfolio.run(pair)
    assert portfolio.cut == dict.fromkeys(pair, words)
    assert len(chosen.tree.rows[0].text.split("-")) - 1 >= options
    assert chosen.result["notes"] == [
        "the time limit ended the search: the options of "
        f"{chosen.result['choice']['configuration']} are {words}; give two or "
        "three times as long (`time_limit`)",
    ]


def test_an_interrupted_search_goes_on_from_stored_results(data, tmp_path):
    store = ResultCache(str(tmp_path / "results"), keep=True)
    first = run(data, PAIR[:1], store)
    again = ResultCache(str(tmp_path / "results"), keep=True)
    second = run(data, PAIR[:1], again)
    assert again.reused > 5 and not again._stored
    assert first.result["estimate"] == second.result["estimate"]


def test_splits_can_be_some_of_a_plan():
    y = np.repeat([0, 1], 10)
    plan = SplitPlan(None, 5, 1, 1)
    every, some = list(splits(y, plan)), plan._replace(only=range(1, 4))
    assert some.count == 3 and some.description == "parts 2 to 4 of 5 held out"
    for ours, theirs in zip(splits(y, some), every[1:4], strict=True):
        assert ours.name == theirs.name and np.array_equal(ours.test, theirs.test)


@pytest.mark.parametrize("parts", [None, 3])
def test_neighbouring_seeds_share_no_trial(parts):
    y = np.repeat([0, 1, 2], 20)
    plans = [SplitPlan(0.3, parts, 10, seed) for seed in (1, 2, 3)]
    tests = [split.test for plan in plans for split in splits(y, plan)]
    assert len(set(map(bytes, tests))) == len(tests) == 30 * (parts or 1)
    if parts is None:  # agf_preprocess makes the first trial again
        for number, seed in ((0, 1), (10, 2)):
            assert np.array_equal(tests[number], split_stratified(y, 0.3, seed)[1])


def test_small_classes_are_refused(cache):
    y = np.repeat([0, 1, 2, 5], [9, 2, 7, 1])
    data = Dataset(np.eye(len(y)), y, ("a", "b", "c"))
    with pytest.raises(
        DataError,
        match=r"^class b \(and 1 more\), of 2 samples, has 1 in the "
        "training part of .*; `min_class=3` leaves out",
    ):
        begin(data, cache).search()


@pytest.mark.long
def test_a_later_stage_starts_from_the_best_options_and_is_used_without_new_ones(
    data, cache, monkeypatch
):
    monkeypatch.setattr(module, "_SAMPLES", (40, 500))
    grids = []
    race = module.race

    def racing(tuner, task, grid, *more):
        grids.append(len(grid[0].points))
        return race(tuner, task, grid, *more)

    monkeypatch.setattr(module, "race", racing)
    chosen = run(data, PAIR[1:], cache)
    assert grids == [4, 9] and chosen.result["estimate"]["points"] == 60


def test_an_average_that_gains_nothing_is_not_chosen(data, cache, monkeypatch):
    average = "average of 2"

    def top(self, entries):
        return next((one for one in entries if one.candidate.name == average), entries[0])

    monkeypatch.setattr(module._Stage, "best", top)
    for gain, is_chosen in ((4e-5, False), (6e-5, True)):
        monkeypatch.setattr(module, "gain_over", lambda *args, gain=gain: (gain, 0.0))
        assert run(data, PAIR, cache).tree.is_ensemble == is_chosen


def test_the_error_of_an_estimate_knows_of_errors_that_no_point_has_shown():
    rng = np.random.default_rng(1)
    p = np.repeat([0.9, 0.99, 0.999], 200)
    right = rng.random((4000, len(p))) < p
    means = np.where(right, -np.log(p), -np.log(1 - p)).mean(axis=1)
    truth = np.ones(len(p))
    results = Results(truth, truth, truth[:1])
    outcome = Outcome(results=results, forecasts=np.array([p, p, p], np.float32))
    assert module._error_by_forecasts([outcome]) == pytest.approx(means.std(), rel=0.05)
    assert module._error_by_forecasts(
        [replace(outcome, results=replace(results, weights=np.full(len(p), 2.0)))]
    ) == pytest.approx(means.std(), rel=0.05)


def test_a_contender_that_was_far_behind_is_not_said_to_lack_time():
    def entry(name, behind=0.0):
        return module.Entry(name, SimpleNamespace(name=name), behind=behind)

    tried = Portfolio(None, "log_loss", 0.0, 1.0)
    best, far, late = entry("best"), entry("far", 4.2), entry("late")
    tried.cut["best"] = "defaults"
    tried._record(SimpleNamespace(all=[best, far, late], rows_used=9), [best], ["best"])
    assert [row["outcome"] for row in tried.tried] == [
        "kept, search unfinished",
        "4.2 standard errors behind the best",
        "no score within the time limit",
    ]


@pytest.mark.parametrize("lost, behind", [(0.04, False), (0.08, True)])
def test_a_contender_is_behind_by_more_than_the_luck_of_a_few_points(lost, behind):
    """On 60 points without an error, of which the best expects .3, all lose alike."""

    def entry(loss):
        p = np.exp(-np.linspace(0.9, 1.1, 60) * loss)
        scored = Outcome(
            results=Results(np.ones(60), np.ones(60), np.ones(1)),
            scores={"log_loss": loss},
            forecasts=np.array([p, p, p], np.float32),
        )
        return module.Entry(None, None, scored=[scored])

    stage = object.__new__(module._Stage)
    stage._portfolio = Portfolio(None, "log_loss", 0.0, 1.0)
    entries = [entry(0.005), entry(0.005), entry(0.005 + lost)]
    assert len(stage._near(entries)) == 3 - behind
    assert (entries[2].behind > 3) == behind
