"""A search in one call: what it refuses, and that it is the search of the command."""

import numpy as np
import pytest

import agfmc
from agfmc.core.errors import JobsFailed, UsageError
from agfmc.experiments.candidates import read_candidate
from agfmc.experiments.experiment import Experiment, SplitPlan
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.experiments.tuning import find_options
from agfmc.data.types import Dataset
from agfmc.training.fit import TrainingSettings

SMALL = SearchSpace(log2c=Axis(0, 4, 4), log2g=Axis(-3, -1, 2), refine=0)


@pytest.fixture(scope="module")
def experiment():
    y = np.arange(90, dtype=np.int32) % 3
    x = np.random.default_rng(0).normal(size=(90, 4)) + 1.5 * np.eye(3, 4)[y]
    return Experiment(Dataset(x, y), SplitPlan(parts=5, trials=1), TrainingSettings())


@pytest.mark.long
def test_the_best_options_stand_in_the_tree(experiment):
    told = []
    result, tree = find_options(
        experiment,
        read_candidate("one-vs-rest"),
        by="accuracy",
        search="full",
        space=SMALL,
        progress=lambda done, total, words="": told.append(done / total),
    )
    scores = [point["score"] for point in result["points"]]
    assert result["tried"] == len(scores) >= 5 and result["complete"] and max(told) <= 1
    assert scores[result["best"]] == max(scores)
    assert {row.text for row in tree.rows} == {result["points"][result["best"]]["options"]}


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"by": "beauty"}, "by: expected one of accuracy, .*'beauty'"),
        ({"space": 3}, "space: expected an agfmc.SearchSpace, found 3"),
        ({"search": "slow"}, "search: expected one of fast, full, found 'slow'"),
        ({"space": SearchSpace(kernels=("rbf", "sigmoid"))}, "kernels: expected .*'sigmoid'"),
        ({"time_limit": -1}, "time_limit: .*-1"),
        ({"time_limit": float("nan")}, "time_limit: .*nan"),
    ],
)
def test_what_is_refused(experiment, wrong, message):
    with pytest.raises(UsageError, match=message):
        find_options(experiment, read_candidate("one-vs-one"), **wrong)


@pytest.mark.long
def test_words_of_the_command(experiment):
    """log-loss as well as log_loss; and of another argument there is one line."""
    result, _ = find_options(experiment, read_candidate("one-vs-one"), by="log-loss", space=SMALL)
    assert result["by"] == "log_loss"
    with pytest.raises(UsageError, match="^there is no argument 'colour': expected options, nor"):
        agfmc.tune("one-vs-one", experiment.data.x, experiment.data.y, colour=1)
    assert agfmc.SearchSpace(log2c=agfmc.Axis(-2, 8, 2)).log2c.values[0] == -2


def test_no_time(experiment):
    with pytest.raises(JobsFailed, match="0 s was reached before anything was scored"):
        find_options(experiment, read_candidate("one-vs-one"), time_limit=0)
