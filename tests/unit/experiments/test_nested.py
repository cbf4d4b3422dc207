"""Options searched inside each training part: by what, and by whom they are judged."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import DataError, JobsFailed, UsageError
from agfmc.experiments import tuning
from agfmc.experiments.candidates import Candidate, read_candidate
from agfmc.experiments.comparison import compare, cross_validate
from agfmc.experiments.experiment import Experiment, SplitPlan, splits
from agfmc.experiments.nested import NestedTuning
from agfmc.files.result_store import ResultCache
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.report.text import blocks_text
from agfmc.report.trials import tuned_blocks
from agfmc.experiments.tuning import prepare_tuning, tune
from agfmc.data.types import Dataset
from agfmc.training.fit import TrainingSettings

PLAN = SplitPlan(None, 3, 1, 7)
SMALL = SearchSpace(log2c=Axis(-1.0, 3.0, 2.0), log2g=Axis(-3.0, -1.0, 2.0), refine=0)
TINY = SearchSpace(log2c=Axis(-1.0, 3.0, 4.0), log2g=Axis(-1.0, -1.0, 2.0), refine=0)
SETTINGS = TrainingSettings("-h 0", scale=True)
pytestmark = pytest.mark.usefixtures("no_warnings")
OWN = Candidate("own", parse('"-c 3" 0 / 1; "-c 3" 0 / 2; "-c 3" 1 / 2; {2 5 9}'), None)


def nested(**more):
    return NestedTuning(**{"space": SMALL, **more})


def trial_of(data, number=0, space=SMALL, **more):
    """(tuning, experiment, its split of that number)."""
    experiment = Experiment(data, PLAN, SETTINGS, ResultCache(None), **more)
    found = nested(space=space)
    found.check(experiment, [read_candidate("one-vs-one")])
    return found, experiment, list(experiment.splits())[number]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["one-vs-one", "empirical"])
def test_the_search_is_that_of_the_training_rows_alone(data, scheme):
    found, experiment, split = trial_of(data, 1)
    candidate = read_candidate(scheme)
    [outcome] = found.trial(split, [candidate], experiment, first=True)
    rows = list(splits(data.y, PLAN))[1].train
    alone = Experiment(
        Dataset(data.x[rows], data.y[rows]),
        SplitPlan(None, 5, 1, 1),
        replace(SETTINGS, loo=True),
        ResultCache(None),
    )
    result, tree = tune(prepare_tuning(alone, candidate), SMALL, by="log_loss")
    best = result["points"][result["best"]]
    [record] = found.records
    assert record["options"] == best["options"] and record["searched"] == best["score"]
    assert record["split"] == "trial 1, part 2" and record["complete"]
    [row] = compare(experiment, [replace(candidate, tree=tree)])["rows"][:1]
    assert outcome.scores["log_loss"] == row["log_loss"]["values"][1]


def test_the_search_never_sees_what_is_held_out(data):
    found, experiment, split = trial_of(data, space=TINY, calibrated=(False,))
    candidate = [read_candidate("one-vs-one")]
    [first] = found.trial(split, candidate, experiment)
    x, y = data.x.copy(), data.y.copy()
    x[split.rows] = np.random.default_rng(1).normal(size=(len(split.rows), 3)) * 9
    other = Experiment(Dataset(x, y), PLAN, SETTINGS, ResultCache(None), calibrated=(False,))
    again = nested(space=TINY)
    [second] = again.trial(next(other.splits()), candidate, other)
    assert {**again.records[0], "seconds": 0} == {**found.records[0], "seconds": 0}
    assert (first.classes != second.classes).any()
    # and it does see the rest
    x[np.setdiff1d(np.arange(len(y)), split.rows)] *= 7
    again.trial(next(other.splits()), candidate, replace(other, settings=TrainingSettings("-h 0")))
    assert again.records[1]["searched"] != found.records[0]["searched"]


@pytest.mark.long
def test_compare_judges_tuned_and_untuned_rows(data):
    found = nested(by="accuracy")
    experiment = Experiment(data, PLAN, SETTINGS, ResultCache(None))
    steps = []
    result = compare(
        experiment,
        [read_candidate("tree"), OWN],
        by="accuracy",
        tuning=found,
        progress=lambda done, total, *words: steps.append(done / total),
    )
    assert steps[0] < 0.05 and steps[-1] == max(steps) == 1.0
    plain = compare(experiment, [OWN], by="accuracy")
    assert "tuned" not in plain
    assert result["rows"][-1]["accuracy"] == plain["rows"][-1]["accuracy"]
    told = result["tuned"]
    assert told["untuned"] == ["own"] and told["by"] == "accuracy"
    assert [(search["configuration"], search["split"]) for search in told["searches"]] == [
        ("tree", f"trial 1, part {part}") for part in (1, 2, 3)
    ]
    text = blocks_text(tuned_blocks(told, 3))
    assert text.startswith(
        "\nOptions tuned inside each training part\nFast search, each of 5 "
        "parts held out, by accuracy: held-out points judge "
    )
    assert "\nNot tuned, as all options are given: own.\n" in text
    assert sum(line.startswith("tree ") for line in text.splitlines()) == 3


def test_what_cannot_be_tuned(data):
    experiment = Experiment(data, PLAN, SETTINGS, ResultCache(None))
    with pytest.raises(UsageError, match="nothing to tune"):
        compare(experiment, [OWN], tuning=nested())
    with pytest.raises(UsageError, match="leave --loo out"):
        compare(experiment.left_out, [read_candidate("one-vs-one")], tuning=nested())
    y = data.y.copy()
    y[:3] = 11  # one is held out of three, and one of the two that are left
    few = replace(experiment, data=Dataset(data.x, y))
    with pytest.raises(
        DataError,
        match="class 11, of 3 samples, has 1 in the training part of "
        "trial 1, part . of the training part of trial 1, part .: .*--min-class 4",
    ):
        compare(few, [read_candidate("one-vs-one")], tuning=nested())


@pytest.mark.long
def test_a_search_that_fails_is_a_row_that_fails(data):
    experiment = Experiment(data, PLAN, SETTINGS, ResultCache(None))
    candidates = [read_candidate("tree:full"), read_candidate("one-vs-one:vote")]
    good, bad = compare(experiment, candidates, tuning=nested())["rows"]
    assert "error" not in good and bad["error"].startswith("the decoder gives no log loss")
    with pytest.raises(UsageError, match="gives no log loss"):
        cross_validate(experiment, candidates[1], tuning=nested())


@pytest.mark.long
def test_cross_validation_answers_for_all_points(data):
    experiment = Experiment(data, PLAN, SETTINGS, ResultCache(None), calibrated=(True, False))
    found = nested()
    calibrated, own = cross_validate(experiment, read_candidate("one-vs-one"), tuning=found)
    np.testing.assert_array_equal(calibrated.results.truth, data.y)
    assert calibrated.calibrated and not own.calibrated and len(found.records) == 3


@pytest.mark.long
def test_finished_searches_are_not_done_again(data, fits, tmp_path):
    def run():
        with ResultCache(str(tmp_path / "state"), keep=True) as cache:
            return compare(
                Experiment(data, PLAN, SETTINGS, cache),
                [read_candidate("one-vs-one")],
                tuning=nested(),
            )

    first, trained = run(), len(fits)
    assert run() == first and len(fits) == trained > 0


@pytest.mark.long
def test_the_time_limit_is_that_of_each_search(data, monkeypatch):
    found, experiment, split = trial_of(data)
    found.time_limit = 250.0
    candidate = read_candidate("one-vs-one")
    looks = []
    score = tuning.WholeConfiguration.score

    def late(self, *args):
        """Time goes by with each trial."""
        looks.append(1)
        return score(self, *args)

    monkeypatch.setattr(tuning.WholeConfiguration, "score", late)
    monkeypatch.setattr(
        "agfmc.experiments.racing.time",
        SimpleNamespace(monotonic=lambda: time.monotonic() + 20 * len(looks)),
    )
    [outcome] = found.trial(split, [candidate], experiment)
    [record] = found.records
    assert outcome.error is None and not record["complete"] and record["tried"] > 0
    assert " time limit\n" in blocks_text(tuned_blocks(found.words, 3))
    found.time_limit = 0.0
    [outcome] = found.trial(split, [candidate], experiment)
    assert isinstance(outcome.error, JobsFailed) and "before anything" in str(outcome.error)
