"""A metric that is learned in each training part: from what, how often, and who is told."""

import json
from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.write import format_tree
from agfmc.training.metric import fitted_normalisation, MetricOptions
from agfmc.core.errors import AgfmcWarning, UsageError
from agfmc.experiments import experiment as experiments
from agfmc.experiments.candidates import read_candidate
from agfmc.experiments.comparison import compare, cross_validate, find_best
from agfmc.experiments.experiment import Experiment, Part, SplitPlan
from agfmc.experiments.caches import metric_from_record, metric_key, metric_record
from agfmc.experiments.nested import NestedTuning
from agfmc.files.result_store import Record, ResultCache
from agfmc.experiments.search import Axis, scale_exponent, SearchSpace
from agfmc.experiments.tuning import prepare_tuning, tune
from agfmc.data.types import Dataset
from agfmc.training.fit import TrainingSettings
from agfmc.core.weights import Weights

PLAN = SplitPlan(None, 3, 1, 7)
SMALL = SearchSpace(log2c=Axis(-1.0, 3.0, 2.0), log2g=Axis(-3.0, -1.0, 2.0), refine=0)
METRIC = MetricOptions(1, machine="-m 20")
SETTINGS = TrainingSettings("-h 0", scale=True, metric=METRIC, loo=True, calibration=0)


def experiment_of(data, **more):
    return Experiment(data, PLAN, replace(SETTINGS, **more), ResultCache(None))


@pytest.fixture
def learned(monkeypatch):
    """The number of points of each metric that is learned."""
    sizes, fit = [], TrainingSettings.fit_normalisation

    def counting(settings, data):
        if settings.metric is not None:
            sizes.append(len(data.y))
        return fit(settings, data)

    monkeypatch.setattr(TrainingSettings, "fit_normalisation", counting)
    return sizes


def test_it_is_that_of_the_training_rows(data):
    whole = experiment_of(data)
    for number, split in enumerate(experiments.splits(data.y, PLAN)):
        own = fitted_normalisation(Dataset(data.x[split.train], data.y[split.train]), metric=METRIC)
        made = whole.prepared(Part(number))
        assert made.normalisation.digest() == own.digest()
        np.testing.assert_array_equal(made.data.x, own.apply(data.x[split.train]))
        np.testing.assert_array_equal(made.test.x, own.apply(data.x[split.test]))
        sample = whole.prepared(Part(number, 40))  # has the map of all training points
        assert sample.normalisation is made.normalisation and len(sample.data.y) < len(made.data.y)
    assert len(whole.learned) == 3
    assert len({one.digest() for one in whole.learned.values()}) == 3


@pytest.mark.long
def test_a_search_learns_each_part_once(data, learned):
    told = []
    task = prepare_tuning(
        experiment_of(data),
        read_candidate("one-vs-rest"),
        progress=lambda done, total, words: told.append((done, words)),
    )
    assert not told and not learned  # the metric changes neither layout nor grids
    made = fitted_normalisation(data, metric=METRIC)
    assert task.scale == scale_exponent(made.apply(data.x)) and task.features == 3
    result, _ = tune(
        task,
        SMALL,
        by="log_loss",
        search="full",
        progress=lambda done, total, words: told.append((done / total, words)),
    )
    assert learned == [80, 80, 80]
    words = [text for _, text in told if text.startswith("learning")]
    assert words == [f"learning the metric of trial 1, part {part}" for part in (1, 2, 3)]
    assert all(0 <= share <= 1 for share, _ in told)
    # others have other maps: no result of a cache is that of another metric
    plain = prepare_tuning(experiment_of(data, metric=None), read_candidate("one-vs-rest"))
    assert tune(plain, SMALL, by="log_loss", search="full")[0]["points"] != result["points"]


@pytest.mark.parametrize(
    "control, more, features",
    [
        ("empirical", {}, 3),
        ("one-vs-rest", {"nsv": 2}, 2),
        ("one-vs-rest", {"metric": replace(METRIC, components=2)}, 2),
        ("one-vs-rest", {"metric": replace(METRIC, components=0.01)}, 1),
    ],
)
def test_the_metric_of_all_points_where_it_matters(data, learned, control, more, features):
    told = []
    task = prepare_tuning(
        experiment_of(data, **more),
        read_candidate(control),
        progress=lambda done, total, words: told.append((done, words)),
    )
    assert told == [(0, "learning the metric of all points")] and learned == [120]
    made = task.experiment.learned[None]
    assert task.scale == scale_exponent(made.apply(data.x))
    assert task.features == features == made.matrix.shape[1]


def test_later_runs_learn_nothing_again(data, learned, tmp_path):
    def run(**more):
        with ResultCache(str(tmp_path / "state"), keep=True) as cache:
            experiment = replace(experiment_of(data, **more), cache=cache)
            return [split.normalisation for split in experiment.splits()]

    first, second = run(), run(options="-h 0 -c 4")  # other options, the same metrics
    assert learned == [80, 80, 80]
    for one, other in zip(first, second):
        assert one.digest() == other.digest() and one.provenance == other.provenance
        np.testing.assert_array_equal(one.metric.rows, other.metric.rows)
    for more in (
        {"metric": replace(METRIC, rounds=2)},
        {"metric": replace(METRIC, diagonal=True)},
        {"seed": 2},
        {"nsv": 2, "scale": False},
        {"nsv": 2},
    ):
        run(**more)
        assert learned.count(80) == len(learned)
    assert len(learned) == 18


def test_the_record_of_a_metric(data):
    x = np.column_stack([np.ones(120), data.x])
    data = replace(data, x=x)
    with pytest.warns(AgfmcWarning):
        made = fitted_normalisation(Dataset(x, data.y), metric=MetricOptions(None, machine="-m 20"))
    stored = metric_record(made)
    head, arrays = json.loads(json.dumps(stored.head)), stored.arrays
    read = metric_from_record(Record(head, arrays), data)
    assert read.digest() == made.digest() and read.dropped == made.dropped == (0,)
    for name, value in vars(made.metric).items():
        np.testing.assert_array_equal(getattr(read.metric, name), value)
    wrong = [None, Record(head), Record(None, arrays), Record({**head, "more": 1}, arrays)]
    for name, value in (
        (head["map"]["mean"], np.inf),
        (head["map"]["matrix"], np.nan),
        (head["learned"]["weights"], -1.0),
    ):
        changed = arrays[name].copy()
        changed[-1] = value
        wrong += [
            Record(head, {**arrays, name: array})
            for array in (changed, arrays[name][:-1], arrays[name].astype(int))
        ]
    wrong += [Record({**head, "dropped": value}, arrays) for value in ([4], [-1], ["0"], 3)]
    for name, values in (
        ("rounds", (-1, None, 1.0)),
        ("points", (119,)),
        ("classes", (2,)),
        ("data", ("0" * 16, 3)),
        ("settings", ("-m 20", 3)),
        ("losses", ([[1]], [[1, "x"]], 3, [[1, float("nan")]])),
    ):
        wrong += [
            Record({**head, "learned": {**head["learned"], name: value}}, arrays)
            for value in values
        ]
    assert [metric_from_record(one, data) for one in wrong] == [None] * len(wrong)
    assert metric_from_record(Record(head, arrays), replace(data, x=x[::-1])) is None
    settings = TrainingSettings(scale=True, metric=METRIC)
    weighted = replace(data, weights=Weights(np.arange(1.0, 121)))
    assert (
        len(
            {
                metric_key(settings, data),
                metric_key(settings, weighted),
            }
        )
        == 2
    )


def test_a_run_leaves_a_metric_however_little_time_there_is(data, learned, tmp_path):
    for expected in ([80], [80]):
        with ResultCache(str(tmp_path / "state"), keep=True) as cache:
            task = prepare_tuning(
                replace(experiment_of(data), cache=cache), read_candidate("one-vs-rest")
            )
            result, tree = tune(task, SMALL, by="log_loss", deadline=0.0)
            assert tree is None and not result["complete"] and learned == expected
            assert cache.keeps_anything()


@pytest.mark.long
def test_a_comparison_keeps_no_maps(data, learned):
    told, experiment = [], experiment_of(data)
    candidates = [read_candidate("one-vs-rest"), read_candidate("empirical")]
    compare(experiment, candidates, progress=lambda done, total, words: told.append(words))
    assert learned == [80, 80, 80] and not experiment.learned
    cross_validate(
        experiment, candidates[0], progress=lambda done, total, words: told.append(words)
    )
    for part in (1, 2, 3):
        words = f"learning the metric of trial 1, part {part}"
        assert sum(text.endswith(words) for text in told) == 2
    told.clear()
    best = find_best(
        experiment,
        candidates[1:],
        progress=lambda done, total, words: told.append((done / total, words)),
    )
    assert told[-1] == (1, "learning the metric of all points") and learned[-1] == 120
    own = fitted_normalisation(data, metric=METRIC)
    assert format_tree(best.tree) == format_tree(
        candidates[1].tree_for(replace(data, x=own.apply(data.x)), {})
    )


@pytest.mark.long
def test_a_search_inside_never_sees_what_is_held_out(data, learned):
    records = []
    for other in (False, True):
        x, split = data.x.copy(), next(experiments.splits(data.y, PLAN))
        if other:
            x[split.test] = np.random.default_rng(1).normal(size=(len(split.test), 3)) * 9
        experiment = experiment_of(Dataset(x, data.y), loo=False)
        nested = NestedTuning(
            space=SearchSpace(log2c=Axis(0.0, 2.0, 2.0), log2g=Axis(-2.0, -2.0, 1.0), refine=0),
            search="full",
        )
        nested.check(experiment, [read_candidate("empirical")])
        assert not learned
        nested.trial(experiment.prepared(Part(0)), [read_candidate("empirical")] * 2, experiment)
        assert learned == [80, 64, 64, 64, 64, 64]  # of two candidates, the whole part and five
        learned.clear()
        records.append([{**record, "seconds": 0} for record in nested.records])
    assert records[0] == records[1]


def test_values_of_points_that_it_was_learned_from_judge_nothing(data):
    with pytest.raises(UsageError, match="leave --loo out"):
        _ = experiment_of(data).left_out
    task = prepare_tuning(
        experiment_of(data, options="learner=nystrom -m 20"), read_candidate("one-vs-rest")
    )
    assert not task.left_out
