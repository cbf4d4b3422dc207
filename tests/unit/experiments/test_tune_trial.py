"""Tuning on data: what is trained and how often, what is put into the control tree."""

import time
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.errors import AgfmcWarning, DataError, ModelError, UsageError
from agfmc.experiments import binary_problems as problems
from agfmc.experiments.candidates import Candidate, read_candidate
from agfmc.experiments.comparison import compare
from agfmc.experiments.result_cache import Ledger
from agfmc.experiments.splits import Plan, splits
from agfmc.experiments.trial import prepared, Settings
from agfmc.score.scores import SCORES
from agfmc.experiments.tuning import Found, Noted, tune, Tuner
from agfmc.experiments.tuning_table import csv_points, partition_table, search_table
from agfmc.experiments.search_points import Axis, Grid, Search
from agfmc.experiments.tuning_trial import open_rows, Problems, Whole, with_options
from agfmc.experiments.tuning import prepare_tuning, tuned
from agfmc.models import Dataset
from agfmc.learners.protocol import parse_options

PLAN = Plan(None, 3, 1, 1)
SMALL = {"log2c": (-1.0, 1.0, 2.0), "log2g": (-3.0, -1.0, 2.0), "refine": 1}
pytestmark = pytest.mark.filterwarnings("ignore:the best")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    y = np.repeat([2, 5, 9], [40, 50, 30]).astype(np.int32)
    return Dataset(rng.normal(size=(120, 3)) + y[:, None] * [0.3, -0.2, 0.0], y)


@pytest.fixture
def fits(monkeypatch):
    """The jobs of each call of `fit`."""
    calls = []
    fit = problems.fit

    def counting(jobs, *args, **kwargs):
        calls.append(list(jobs))
        return fit(jobs, *args, **kwargs)

    monkeypatch.setattr(problems, "fit", counting)
    return calls


def of_text(text):
    tree = parse(text)
    return Candidate("plan", tree, None)


def begin(data, candidate, base="", **more):
    return prepare_tuning(data, candidate, Settings(base, loo=True, **more), base)


def test_open_rows_are_those_of_the_base_options():
    tree = parse('"" 0 / 1; "." 0 / 2; "-c 3" 1 / 2; "." 0 1 / 2; " " 0 2 / 1; { 0 1 2 }')
    assert open_rows(tree) == [True, True, False, False, False]
    assert format_tree(with_options(tree, "-c 7")).split("{")[0].split(";")[:-1] == [
        '"-c 7" 0 / 1', '\n"-c 7" 0 / 2', '\n"-c 3" 1 / 2', '\n"." 0 1 / 2', '\n" " 0 2 / 1']
    nested = parse('"" {"." {0 1} "-c 2" {"." {2 3} 4}}')
    assert open_rows(nested) == [True, True, False, False]
    texts = with_options(nested, ("-c 5", "-c 6", "x", "y"))
    assert [row.text for row in texts.rows] == ["-c 5", "-c 6", "-c 2", "."]


def test_score_is_that_of_compare(data):
    start = begin(data, read_candidate("one-vs-one"), "-h 0")
    result, tree = tuned(start, PLAN, Ledger(None), by="accuracy", **SMALL)
    [row] = compare(data, [Candidate("found", tree, None)], PLAN,
                    Settings(loo=True), Ledger(None))["rows"]
    best = result["points"][result["best"]]
    assert best["values"] == row["accuracy"]["values"]
    assert best["score"] == max(point["score"] for point in result["points"])
    assert all(r.text == best["options"] and r.text.endswith("-h 0") for r in tree.rows)
    given = result["points"][result["given"]]
    assert given["options"] == "-c 1 -h 0" and given["log2c"] == 0
    assert given["log2g"] == pytest.approx(-np.log2(3))


def test_points_with_one_gamma_are_one_call(data, fits):
    task = Whole(read_candidate("one-vs-one"), begin(data, read_candidate("one-vs-one")).tree,
                 Settings(loo=True), Ledger(None))
    grids = [Grid("rbf", 0, 0.0, Axis(-4, 3, 1), Axis(-4, 0, 2))]
    tune(Tuner(data, PLAN, Settings(), "accuracy"), task, grids, "", 0)
    first = fits[3:3 + 9]  # after the options given: three gammas, three splits
    assert [len(call) for call in first] == [8 * 3] * 9
    assert [{job.options.gamma for job in call} for call in first] == \
        [{g} for g in (0.25, 0.0625, 1.0) for _ in range(3)]


@pytest.mark.parametrize("parted", [False, True])
def test_finished_work_is_not_done_again(data, fits, tmp_path, parted):
    path = str(tmp_path / "state")
    start = begin(data, read_candidate("one-vs-one"))
    with Ledger(path, keep=True) as ledger:
        noted = Noted(ledger)
        first = tuned(start, PLAN, noted, by="brier_all", per_partition=parted, **SMALL)
        assert noted.found == 0
    trained = sum(map(len, fits))
    for call in fits:
        problems = [(job.sides, job.options.canonical()) for job in call]
        assert len(problems) == len(set(problems))
    calls = [tuple(sorted((job.sides, job.options.canonical()) for job in call))
             for call in fits]
    assert max(map(calls.count, calls)) <= PLAN.count  # once on each split
    fits.clear()
    with Ledger(path, keep=True) as ledger:
        again = Noted(ledger)
        second = tuned(start, PLAN, again, by="brier_all", per_partition=parted, **SMALL)
    assert fits == [] and again.found > 0 and first == second
    # a finer search takes over the coarse one
    with Ledger(path, keep=True) as ledger:
        tuned(start, PLAN, ledger, by="brier_all", per_partition=parted,
              **{**SMALL, "refine": 2})
    assert 0 < sum(map(len, fits)) < trained / 2


def test_equal_problems_are_tuned_once_and_rows_of_their_own_are_kept(data, fits):
    candidate = of_text('"" 0 / 1; "-c 3 -g 0.5" 0 / 2; "" 1 / 0; "" 2 / 1; { 2 5 9 }')
    result, tree = tuned(begin(data, candidate), PLAN, Ledger(None), by="log_loss",
                         per_partition=True, **SMALL)
    # mirrored sides give mirrored models, and are problems of their own
    assert [part["rows"] for part in result["partitions"]] == [[0], [2], [3]]
    assert tree.rows[1].text == "-c 3 -g 0.5"
    twice = of_text('"" {"" 0 / 1; {2 5} 9}')
    flat = of_text('"" 0 / 1; "" 0 / 1; "" 0 1 / 2; {2 5 9}')
    for candidate, rows in ((flat, [[0, 1], [2]]), (twice, [[0], [1]])):
        result, tree = tuned(begin(data, candidate), PLAN, Ledger(None), by="log_loss",
                             per_partition=True, **SMALL)
        assert [part["rows"] for part in result["partitions"]] == rows
    for part in result["partitions"]:
        best = part["points"][part["best"]]
        assert best["score"] == min(point["score"] for point in part["points"])
        assert [tree.rows[row].text for row in part["rows"]] == [best["options"]]
    assert result["whole"]["tuned"]["accuracy"]["mean"] > 0.5


def test_score_of_a_problem_by_hand(data):
    from agfmc.experiments.binary_problems import binary_model
    start = begin(data, of_text('"" 0 / 1 2; "" 2 / 0 1; {2 5 9}'))
    settings = Settings(loo=True)
    split = next(splits(data.y, PLAN))
    stage = prepared(split, data, settings)
    task = Problems(start.tree, settings, Ledger(None))
    [scores] = task.score(stage, [(1, "-g 0.25 -c 2")], None)
    job = task._job(1, "-g 0.25 -c 2")
    assert job.sides == ((9,), (2, 5))
    model = binary_model(job, problems.train_missing({"key": job}, stage.x, stage.y,
                                                     settings.training)["key"], stage.x)
    a, b = model.scale
    distance = ((stage.test_x[:, None] - model.sv) ** 2).sum(axis=2)
    r = np.tanh(a * (np.exp(-0.25 * distance) @ model.coef - model.rho) + b)
    right = stage.test_y != 9
    assert scores["accuracy"] == pytest.approx(np.mean((r >= 0) == right))
    p = np.where(right, 1 + r, 1 - r) / 2
    assert scores["log_loss"] == pytest.approx(-np.log(p).mean())


def test_known_scores_are_those_of_the_same_points(data, tmp_path, fits):
    start = begin(data, read_candidate("one-vs-one"))
    stage = prepared(next(splits(data.y, PLAN)), data, start.settings)
    with Ledger(str(tmp_path / "state"), keep=True) as ledger:
        task = Problems(start.tree, start.settings, ledger)
        one = task.score(stage, [(0, "-c 2")], None)
        other = task.score(replace(stage, test_x=stage.test_x[::-1] + 1), [(0, "-c 2")], None)
        assert len(fits) == 1 and other != one == task.score(stage, [(0, "-c 2")], None)
        assert one != task.score(stage, [(0, "-c 4")], None) and len(fits) == 2


def test_progress_comes_to_its_end(data):
    told = []
    tuned(begin(data, read_candidate("one-vs-one")), PLAN, Ledger(None), by="accuracy",
          progress=lambda done, total: told.append((done, total)), **SMALL)
    assert all(0 <= done <= total for done, total in told)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] > 0.6 * told[-1][1]


def test_given_options_stay_unless_others_are_better():
    def found(given, searched):
        one = Found(Search([Grid("rbf", 0, 0.0, Axis(0, 1, 1), -1.0)], 0, 1), "-c 50", 1)
        one.tried["-c 50"] = {"mean": given, "sd": None, "values": []}
        for point, score in zip(one.search.wanted(), searched):
            one.texts[point] = point.text()
            one.tried[point.text()] = {"mean": score, "sd": None, "values": []}
            one.search.tell(point, score)
        return one.best

    assert found(0.5, (0.4, 0.5)) == "-c 50"
    assert found(0.5, (0.6, 0.6)) == "-g 0.5 -c 1"
    assert found(0.5, (0.6, 0.7)) == "-g 0.5 -c 2"


def test_workers_change_nothing(data):
    start = begin(data, read_candidate("one-vs-rest"))
    two = begin(data, read_candidate("one-vs-rest"), workers=2)
    for parted in (False, True):
        assert tuned(start, PLAN, Ledger(None), by="brier_all", per_partition=parted, **SMALL) == \
            tuned(two, PLAN, Ledger(None), by="brier_all", per_partition=parted, **SMALL)


def test_time_limit(data):
    start = begin(data, read_candidate("one-vs-one"))
    result, tree = tuned(start, PLAN, Ledger(None), by="accuracy", deadline=time.monotonic(),
                         **SMALL)
    assert tree is None and not result["complete"] and result["tried"] == 0
    assert result["best"] is None

    class Clock:
        """Time is over after so many looks at it."""

        left = 60

        def __le__(self, now):
            Clock.left -= 1
            return Clock.left < 0

    result, tree = tuned(start, PLAN, Ledger(None), by="accuracy", deadline=Clock(), **SMALL)
    assert not result["complete"] and 1 < result["tried"] < 8
    assert {row.text for row in tree.rows} == {result["points"][result["best"]]["options"]}
    Clock.left = 60
    result, tree = tuned(start, PLAN, Ledger(None), by="brier_all", deadline=Clock(),
                         per_partition=True, **SMALL)
    assert not result["complete"] and result["whole"] is None and tree is not None


def test_failures(data, monkeypatch):
    """Points that cannot be trained are left out; an error only where there is nothing else."""
    start = begin(data, read_candidate("one-vs-one"))

    def broken(worst):
        def score(self, stage, items, progress):
            return [ModelError("it breaks") if isinstance(text, tuple) or
                    parse_options(text).cost >= worst else
                    dict.fromkeys(SCORES, parse_options(text).cost) for _, text in items]
        monkeypatch.setattr(Whole, "score", score)

    broken(1.5)
    result, tree = tuned(start, PLAN, Ledger(None), by="accuracy", **SMALL)
    failed = [point for point in result["points"] if point["score"] is None]
    assert failed and {point["error"] for point in failed} == {"it breaks"}
    best = result["points"][result["best"]]
    assert best["log2c"] == 0.0 and "could not be trained" in search_table(result, "accuracy", 1)
    broken(0.0)
    with pytest.raises(ModelError, match="it breaks"):
        tuned(start, PLAN, Ledger(None), by="accuracy", **SMALL)
    # the problems can be trained, and the whole cannot
    result, tree = tuned(start, PLAN, Ledger(None), by="log_loss", per_partition=True, **SMALL)
    assert result["whole"] is None and tree is not None


def test_data_schemes_are_laid_out_for_each_training_part(data, monkeypatch):
    seen = []
    whole = Candidate.tree_for
    monkeypatch.setattr(Candidate, "tree_for",
                        lambda self, x, y, names: seen.append(len(y)) or whole(self, x, y, names))
    tuned(begin(data, read_candidate("empirical")), PLAN, Ledger(None), by="accuracy", **SMALL)
    assert seen == [120, 80, 79, 81] or (seen[0] == 120 and len(seen) == 4)


def test_what_cannot_be_tuned(data):
    with pytest.raises(UsageError, match="nothing to tune"):
        begin(data, of_text('"-c 1" 0 / 1; "." 1 / 2; {2 5 9}'))
    with pytest.raises(UsageError, match="nu-SVC"):
        begin(data, read_candidate("one-vs-one"), "-s 1")
    own = of_text('"-s 1 -n 0.2" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')
    assert begin(data, own).settings.loo is False
    with pytest.raises(UsageError, match="--platt loo"):
        prepare_tuning(data, own, Settings(loo=True), "", must_loo=True)
    assert tuned(begin(data, own), PLAN, Ledger(None), by="accuracy", **SMALL)[1] is not None
    # greedy descent gives no probabilities of all classes
    with pytest.raises(UsageError, match="no brier all: choose another score with --by"):
        tuned(begin(data, read_candidate("tree")), PLAN, Ledger(None), by="brier_all", **SMALL)
    with pytest.raises(DataError, match="class 2, of 2 samples, has 1 in the training part"):
        tuned(begin(Dataset(data.x[38:], data.y[38:]), of_text('"" 0 / 1; "" 1 / 2; {2 5 9}')),
              Plan(None, 2, 1, 1), Ledger(None), by="accuracy", **SMALL)


def test_border_is_told_once(data):
    """A score that grows with C alone, all the way."""
    def score(self, stage, items, progress):
        return [dict.fromkeys(SCORES, 0.0 if isinstance(text, tuple) else
                              parse_options(text).cost) for _, text in items]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Whole, "score", score)
        patch.setattr(Problems, "score", score)
        with pytest.warns(AgfmcWarning) as told:
            result, tree = tuned(begin(data, read_candidate("one-vs-one")), PLAN, Ledger(None),
                                 by="accuracy", **SMALL)
            tuned(begin(data, read_candidate("one-vs-one")), PLAN, Ledger(None), by="accuracy",
                  per_partition=True, **SMALL)
    assert [str(warning.message) for warning in told] == [
        "the best C is the largest that was tried: a wider --log2c may find a better one",
        "the best C for 2 / 5, 2 / 9, 5 / 9 is the largest that was tried: a wider --log2c may "
        "find a better one"]
    assert result["border"] == ["C high"]
    assert {row.text for row in tree.rows} == {"-g 0.001953125 -c 128"}


def test_tables(data):
    start = begin(data, read_candidate("one-vs-one"))
    result, _ = tuned(start, PLAN, Ledger(None), by="accuracy", **SMALL)
    lines = search_table(result, "accuracy", 1).splitlines()
    assert lines[0].split() == ["options", "accuracy"] and "chosen" in lines[1]
    assert sum("given" in line for line in lines) == 1 and len(lines) <= 10
    text = csv_points([result]).splitlines()
    assert text[0] == "options,kernel,degree,coef0,log2g,log2c,score,sd,chosen"
    assert len(text) == 1 + result["tried"] and sum(line.endswith(",1") for line in text) == 1
    parted, _ = tuned(start, PLAN, Ledger(None), by="brier_all", per_partition=True, **SMALL)
    assert partition_table(parted["partitions"], "brier_all").splitlines()[1].startswith("2 / 5 ")
    text = csv_points(parted["partitions"]).splitlines()
    assert text[0].startswith("partition,options") and text[1].startswith("2 / 5,-c 1,rbf")
    assert sum(line.endswith(",1") for line in text) == 3
