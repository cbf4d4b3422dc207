"""Tuning on data: what is trained and how often, what is put into the control tree."""

import time
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.answers import Results
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.experiments import tuning
from agfmc.experiments.candidates import Candidate, open_rows, read_candidate, with_options
from agfmc.experiments.comparison import compare
from agfmc.experiments.pooling import Estimate
from agfmc.experiments.experiment import Experiment, SplitPlan
from agfmc.training.fit import TrainingSettings
from agfmc.files.result_store import ResultCache
from agfmc.experiments.search import Axis, Grid, Search, SearchSpace
from agfmc.report.csv_tables import search_csv
from agfmc.experiments.trial import Outcome
from agfmc.experiments.racing import race, SearchState, Tuner
from agfmc.experiments.tuning import prepare_tuning, WholeConfiguration
from agfmc.learners.protocol import parse_options
from agfmc.data.types import Dataset
from agfmc.calibration.maps import apply_map
from agfmc.prediction.calibrate import fit_calibration
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.known_points import held_out_answers
from agfmc.core.probabilities import log_loss
from agfmc.score.rows import SCORES
from agfmc.training.in_memory import train_configuration
from own_warnings import own_warnings, texts_of

PLAN = SplitPlan(None, 3, 1, 1)
SMALL = SearchSpace(log2c=Axis(-1.0, 1.0, 2.0), log2g=Axis(-3.0, -1.0, 2.0), refine=1)
pytestmark = pytest.mark.filterwarnings("ignore:the best")


def of_text(text):
    tree = parse(text)
    return Candidate("plan", tree, None)


def tune(task, space, **more):
    """The full search; the race is in test_racing.py."""
    return tuning.tune(task, space, **{"search": "full", **more})


def outcome_of(value):
    """An outcome of one point, all of whose scores are `value`."""
    point = np.zeros(1, dtype=np.int32)
    return Outcome(
        0,
        "",
        scores=dict.fromkeys(SCORES, value),
        results=Results(point, point, point),
        forecasts=np.zeros((3, 1)),
    )


def begin(data, candidate, base="", plan=PLAN, cache=ResultCache(None), calibrated=False, **more):
    if isinstance(candidate, str):
        candidate = of_text(candidate) if '"' in candidate else read_candidate(candidate)
    return prepare_tuning(
        Experiment(data, plan, TrainingSettings(base, **more), cache, calibrated=(calibrated,)),
        candidate,
    )


def test_open_rows_are_those_of_the_base_options():
    tree = parse('"" 0 / 1; "." 0 / 2; "-c 3" 1 / 2; "." 0 1 / 2; " " 0 2 / 1; { 0 1 2 }')
    assert open_rows(tree) == [True, True, False, False, False]
    assert format_tree(with_options(tree, "-c 7")).split("{")[0].split(";")[:-1] == [
        '"-c 7" 0 / 1',
        '\n"-c 7" 0 / 2',
        '\n"-c 3" 1 / 2',
        '\n"." 0 1 / 2',
        '\n" " 0 2 / 1',
    ]
    nested = parse('"" {"." {0 1} "-c 2" {"." {2 3} 4}}')
    assert open_rows(nested) == [True, True, False, False]
    assert [row.text for row in with_options(nested, "-c 5").rows] == ["-c 5", "-c 5", "-c 2", "."]


def test_score_is_that_of_compare(data):
    start = begin(data, "one-vs-one", "-h 0")
    result, tree = tune(start, SMALL, by="accuracy")
    [row] = compare(start.experiment, [Candidate("tuned", tree, None)])["rows"]
    best = result["points"][result["best"]]
    assert best["values"] == row["accuracy"]["values"]
    assert best["score"] == max(point["score"] for point in result["points"])
    assert all(r.text == best["options"] and r.text.endswith("-h 0") for r in tree.rows)
    given = result["points"][result["given"]]
    assert given["options"] == "-c 1 -h 0" and given["log2c"] == 0
    assert given["log2g"] == pytest.approx(-np.log2(3))


def test_maps_of_trials_are_fitted_quickly(data):
    tree = read_candidate("one-vs-one").tree_for(data, {})
    configuration, held_out = train_configuration(tree, data.x, data.y)
    fitted = fit_calibration(configuration, held_out, None, True)
    assert {one.map.kind for one in fitted.decoders.values()} == {"temperature"}
    assert all(one.points is None for one in fitted.decoders.values())


@pytest.mark.long
def test_points_with_one_gamma_are_one_call(data, fits):
    start = begin(data, "one-vs-one")
    task = WholeConfiguration(start.candidate, start.tree, start.experiment)
    grids = [Grid("rbf", 0, 0.0, Axis(-4, 3, 1), Axis(-4, 0, 2))]
    race(Tuner(start.experiment, "accuracy"), task, grids, 0)
    first = fits[3 : 3 + 9]  # after the options given: three gammas, three splits
    assert [len(call) for call in first] == [8 * 3] * 9
    assert [{job.options.gamma for job in call} for call in first] == [
        {g} for g in (0.25, 0.0625, 1.0) for _ in range(3)
    ]


@pytest.mark.long
def test_finished_work_is_not_done_again(data, fits, tmp_path):
    def run(space):
        with ResultCache(str(tmp_path / "state"), keep=True) as cache:
            return tune(begin(data, "one-vs-one", cache=cache), space, by="brier_all"), cache.reused

    first, found = run(SMALL)
    assert found == 0
    trained = sum(map(len, fits))
    calls = [tuple(sorted((job.sides, job.options.canonical()) for job in call)) for call in fits]
    assert all(len(call) == len(set(call)) for call in calls)
    assert max(map(calls.count, calls)) <= PLAN.count  # once on each split
    fits.clear()
    again, found = run(SMALL)
    assert fits == [] and found > 0 and again == first
    run(SMALL._replace(refine=2))  # a finer search takes over the coarse one
    assert 0 < sum(map(len, fits)) < trained / 2


@pytest.mark.long
def test_progress_comes_to_its_end(data):
    calls = []
    tune(
        begin(data, "one-vs-one"),
        SMALL,
        by="accuracy",
        progress=lambda done, total, words: calls.append((done, total)),
    )
    assert all(0 <= done <= total for done, total in calls)
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1][0] > 0.6 * calls[-1][1]


def test_given_options_stay_unless_others_are_better():
    def best(*scores):
        search = Search([Grid("rbf", 0, 0.0, Axis(0, 1, 1), -1.0)], 0, 1)
        state = SearchState("-c 50", 1, search)
        state.record("-c 50", {}, 0, {"pooled": 0.5})
        for point, score in zip(search.next_points(), scores):
            state.texts[point] = point.text()
            state.record(point.text(), {}, 0, {"pooled": score})
        return state.best

    assert best(0.4, 0.5) == "-c 50" and best(0.6, 0.6) == "-g 0.5 -c 1"
    assert best(0.6, 0.7) == "-g 0.5 -c 2"


def test_time_limit(data):
    start = begin(data, "one-vs-one")
    result, tree = tune(start, SMALL, by="accuracy", deadline=time.monotonic())
    assert tree is None and not result["complete"] and result["tried"] == 0
    assert result["best"] is None

    class Clock:
        """Time is over after so many looks at it."""

        left = 100

        def __le__(self, now):
            Clock.left -= 1
            return Clock.left < 0

    result, tree = tune(start, SMALL, by="accuracy", deadline=Clock())
    assert not result["complete"] and 1 < result["tried"] < 16
    assert {row.text for row in tree.rows} == {result["points"][result["best"]]["options"]}


@pytest.mark.long
def test_failures(data, monkeypatch):
    """Points that cannot be trained are left out; an error only where there is nothing else."""
    start = begin(data, "one-vs-one")
    monkeypatch.setattr(tuning, "corrected", lambda *args, **more: Estimate(0.5, 0.1, 1, 1))

    def broken(worst):
        def score(self, stage, texts, progress):
            return [
                ModelError("it breaks")
                if parse_options(text).C >= worst
                else outcome_of(-parse_options(text).C)
                for text in texts
            ]

        monkeypatch.setattr(WholeConfiguration, "score", score)

    broken(1.5)
    result, tree = tune(start, SMALL, by="log_loss")
    failed = [point for point in result["points"] if point["score"] is None]
    assert failed and {point["error"] for point in failed} == {"it breaks"}
    best = result["points"][result["best"]]
    assert best["log2c"] == 0.0
    broken(0.0)
    with pytest.raises(ModelError, match="it breaks"):
        tune(start, SMALL, by="accuracy")


@pytest.mark.long
def test_data_schemes_are_laid_out_for_each_training_part(data, monkeypatch):
    seen = []
    whole = Candidate.tree_for
    monkeypatch.setattr(
        Candidate,
        "tree_for",
        lambda self, part, names: (
            seen.append((self.tree is None, len(part.y))) or whole(self, part, names)
        ),
    )
    tune(begin(data, "empirical"), SMALL, by="accuracy")
    assert [points for scheme, points in seen if scheme] == [120, 80, 80, 80]


@pytest.mark.long
def test_what_cannot_be_tuned(data):
    with pytest.raises(UsageError, match="nothing to tune"):
        begin(data, '"-c 1" 0 / 1; "." 1 / 2; {2 5 9}')
    with pytest.raises(UsageError, match="nu-SVC"):
        begin(data, "one-vs-one", "-s 1")
    own = of_text('"-s 1 -n 0.2" 0 / 1; "" 0 / 2; "" 1 / 2; {2 5 9}')
    with pytest.raises(UsageError, match="platt loo is for C-SVC only"):
        begin(data, own, platt="loo")
    assert tune(begin(data, own), SMALL, by="accuracy")[1] is not None
    # greedy descent gives no probabilities of all classes
    with pytest.raises(UsageError, match="no log loss: choose another score with --by"):
        tune(begin(data, read_candidate("tree", ("recursive",))), SMALL, by="log_loss")
    with pytest.raises(DataError, match="class 2, of 2 samples, has 1 in the training part"):
        tune(
            begin(
                Dataset(data.x[38:], data.y[38:]),
                '"" 0 / 1; "" 1 / 2; {2 5 9}',
                plan=SplitPlan(None, 2, 1, 1),
            ),
            SMALL,
            by="accuracy",
        )


def test_one_warning_for_each_border(data):
    """A score that grows with C alone, all the way."""

    def score(self, stage, texts, progress):
        return [outcome_of(-parse_options(text).C) for text in texts]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "corrected", lambda *args, **more: Estimate(0.5, 0.1, 1, 1))
        patch.setattr(WholeConfiguration, "score", score)
        with own_warnings() as caught:
            result, tree = tune(begin(data, "one-vs-one"), SMALL, by="log_loss")
    assert texts_of(caught) == [
        "the best C is the largest that was tried: a wider space may find a better one",
    ]
    assert result["border"] == ["C high"]
    assert {row.text for row in tree.rows} == {"-g 0.001953125 -c 128"}


@pytest.mark.long
def test_tables(data):
    start = begin(data, "one-vs-one")
    result, _ = tune(start, SMALL, by="accuracy")
    text = search_csv(result).splitlines()
    assert text[0] == "options,kernel,degree,coef0,log2g,log2c,score,sd,rows,parts,chosen,given"
    assert len(text) == 1 + result["tried"]
    assert sum(line.split(",")[-2] == "1" for line in text) == 1
    assert text[1].startswith("-c 1,rbf")


# -- learner=nystrom: leave-one-out values in the place of parts -----------------------------------

pytestmark = [pytestmark, pytest.mark.filterwarnings("ignore:.*landmarks")]

SHARED = "learner=nystrom -m 12"
GAMMAS = SearchSpace(log2g=Axis(-6.0, -2.0, 2.0), refine=0)


def left_out(data, base=SHARED, **more):
    return begin(data, "one-vs-one", base, SplitPlan(left_out=True), **more)


@pytest.mark.few(1)
@pytest.mark.parametrize("calibrated", [True, False])
def test_scores_are_those_of_values_that_were_left_out(data, calibrated):
    start = left_out(data)
    start = replace(start, experiment=replace(start.experiment, calibrated=(calibrated,)))
    result, tree = tune(start, GAMMAS, by="log_loss")
    assert result["left_out"] == 120 and "whole" not in result
    best = result["points"][result["best"]]
    assert {row.text for row in tree.rows} == {best["options"]}
    configuration, held_out = train_configuration(tree, data.x, data.y)
    p = held_out_answers(configuration, held_out, {"": Decoding("inverse")})[0][""].p
    if calibrated:
        p = apply_map(
            fit_calibration(configuration, held_out, quick=True).decoders["inverse"].map, p
        )
    true = np.searchsorted(configuration.tree.classes, held_out.y)
    assert best["score"] == pytest.approx(log_loss(p, true), rel=1e-6)
    assert best["score"] == min(point["score"] for point in result["points"])


def test_each_gamma_is_trained_once_and_parts_judge_the_result(data, fits):
    start = begin(data, "one-vs-one", SHARED, calibrated=True)
    result, tree = tune(start, GAMMAS, by="log_loss")
    assert result["tried"] >= 4 and result["plan"] == PLAN.description
    groups = [jobs for jobs in fits if jobs]
    # the best once more, with the maps of a final model, and two options on three parts
    assert [len(jobs) for jobs in groups] == [3] * (result["tried"] + 1 + 2 * 3)
    assert "-l" not in result["points"][result["best"]]["options"]  # it is chosen anew
    candidate = Candidate("plan", tree, None)
    (row,) = compare(start.experiment, [candidate])["rows"]
    assert result["whole"]["tuned"]["log_loss"]["values"] == row["log_loss"]["values"]
    assert len(row["log_loss"]["values"]) == 3


def test_some_points_are_left_out_of_many(data):
    result, _ = tune(left_out(data, calibration=60), GAMMAS, by="accuracy")
    assert result["left_out"] == 60


def test_points_that_tell_nothing_are_not_chosen(data):
    """Values that were left out are then smaller on the side of the truth."""
    wide = SearchSpace(log2g=Axis(-4.0, 12.0, 8.0), refine=0)
    result, _ = tune(left_out(data), wide, by="log_loss")
    score = {point["log2g"]: point["score"] for point in result["points"]}
    assert score[-4.0] < 1.05 < score[12.0]


@pytest.mark.long
def test_others_are_scored_on_parts(data):
    mixed = begin(data, '"" 0 / 1; "-c 2" 0 / 2; "." 1 / 2; {2 5 9}', SHARED)
    result, tree = tune(mixed, GAMMAS, by="log_loss")
    assert result["left_out"] is None and "whole" not in result
    assert len(result["points"][result["best"]]["values"]) == 3
    assert [row.text[:7] for row in tree.rows] == ["learner", "-c 2", "."]
    learned = prepare_tuning(mixed.experiment, read_candidate("one-vs-rest", ("learned",)))
    assert not learned.left_out


@pytest.mark.parametrize(
    "candidate, base, message",
    [
        (read_candidate("one-vs-one"), "", "all of whose classifiers are learner=nystrom"),
        (of_text('"" 0 / 1; "-c 2" 0 / 2; "" 1 / 2; {2 5 9}'), SHARED, "all of whose classifiers"),
        (of_text('"" {"" K {2 5} 9}'), SHARED, "all of whose classifiers"),
        (read_candidate("one-vs-rest", ("learned",)), SHARED, "a learned decoder"),
    ],
)
def test_what_cannot_be_left_out(data, candidate, base, message):
    with pytest.raises(UsageError, match=message):
        begin(data, candidate, base, SplitPlan(left_out=True))


def test_what_is_not_tuned_of_shared_landmarks(data):
    with pytest.raises(UsageError, match="has no C"):
        tune(left_out(data), SMALL, by="log_loss")
    few = Dataset(data.x, np.where(np.arange(120) < 2, 1, data.y))
    with pytest.raises(DataError, match="in the training part"):
        begin(few, "one-vs-one", SHARED)  # and not after the search
    assert left_out(few).left_out
    result, _ = tune(left_out(data, SHARED + " -l 0.5"), GAMMAS, by="log_loss")
    assert all(point["options"].endswith(" -m 12 -l 0.5") for point in result["points"])
