"""Learning curves: smaller training parts on the same splits, and what the last step says."""

import json
from dataclasses import replace

import numpy as np
import pytest

import agfmc
from agfmc.core.probabilities import losses
from agfmc.data.libagf import write_cls, write_vec
from agfmc.data.types import Dataset
from agfmc.experiments.experiment import Experiment, Part, SplitPlan
from agfmc.experiments.learning_curve import _by_row, _words
from agfmc.report.chart_importance import learning_curves
from agfmc.score.evaluation import Results

PLAN = SplitPlan(parts=4, trials=1, seed=3)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = rng.permutation(np.repeat([0, 1], [60, 20])).astype(np.int32)
    return Dataset(rng.normal(size=(80, 2)) + y[:, None], y)


def test_smaller_training_parts_are_inside_larger_ones(data):
    inside = []
    for share in (1.0, .5, .25):
        experiment = Experiment(data, PLAN._replace(share=share))
        inside.append([experiment.prepared(Part(number)) for number in range(4)])
    for larger, smaller, size in zip(inside, inside[1:], (30, 15)):
        for one, other in zip(larger, smaller):
            assert np.array_equal(one.rows, other.rows)
            assert {*map(bytes, other.x)} < {*map(bytes, one.x)}
            assert size <= len(other.y) <= size + 1  # shares of classes are rounded up
            assert np.count_nonzero(other.y) == -(-size // 4)
    few = Experiment(data, PLAN._replace(share=.01)).prepared(Part(0))
    assert np.bincount(few.y).tolist() == [2, 2]


def test_rows_that_are_held_out_twice_count_once():
    p = np.array([[.9, .1], [.4, .6], [.7, .3]])
    results = Results(np.array([0, 1, 0]), np.array([0, 1, 0]), np.arange(2), p=p,
                      rows=np.array([5, 2, 5]))
    values, weights = _by_row("log_loss", results)
    of_point = losses(p, np.array([0, 1, 0]))
    assert values == pytest.approx([of_point[1], (of_point[0] + of_point[2]) / 2])
    assert weights.tolist() == [1, 2]
    weighted = replace(results, weights=np.array([1., 4, 3]))
    assert _by_row("log_loss", weighted)[0][1] == pytest.approx(
        (of_point[0] + 3 * of_point[2]) / 4)
    assert _by_row("accuracy", results)[0].tolist() == [1, 1]
    assert _by_row("log_loss", replace(results, p=None)) is None


def test_words_follow_the_last_step():
    curve = {"accuracy": [{"samples": 30}, {"samples": 40}]}
    for gain, verdict in ((.21, "would probably help."), (.19, "help little."),
                          (-.5, "help little.")):
        words = _words({**curve, "last": {"score": "accuracy", "gain": gain, "error": .1}})
        assert words.startswith("From 30 to 40 training samples the accuracy becomes ")
        assert f"by {abs(gain):.4f} \u00b1 0.1000" in words and words.endswith(verdict)


def test_curve_of_a_command(run, folder, data):
    write_vec("t.vec", data.x.astype(np.float32))
    write_cls("t.cls", data.y)
    words = "nfold", "-d", 3, "--seed", 4, "--curve", "--no-state", "-+", "learner=nystrom -m 20"
    found = json.loads(run(*words, "--json", "one-vs-one", "t").out)
    curve = found["curve"]
    assert [point["samples"] for point in curve["log_loss"]] == [8, 14, 27, 41, 53]
    for name in ("log_loss", "accuracy"):
        assert curve[name][-1]["score"] == pytest.approx(found[name])
    text = run(*words, "-b", "-j", 2, "one-vs-one", "t").out
    assert f"{curve['log_loss'][0]['error']:.4f}" in text
    assert text.splitlines()[-2].split()[0] == "53" and text.splitlines()[-1] == curve["words"]
    accuracy, log_loss = learning_curves(curve)
    assert log_loss.title == "Learning curve, log loss" and "53 samples" in log_loss.svg
    assert [row.cells[0] for row in accuracy.table.rows] == [8, 14, 27, 41, 53]
    run(*words, "--tune", "one-vs-one", "t", status=2).line("--curve and --tune exclude each other")


def test_first_point_is_what_training_on_the_sample_gives(run, folder, data):
    write_vec("t.vec", data.x.astype(np.float32))
    write_cls("t.cls", data.y)
    point = json.loads(run("nfold", "-f", .5, "--seed", 4, "--curve", "--no-state", "--json",
                           "one-vs-one", "t").out)["curve"]["log_loss"][2]
    split = Experiment(Dataset(data.x.astype(np.float32), data.y), SplitPlan(
        .5, trials=1, seed=4, share=.5)).prepared(Part(0))
    model = agfmc.train("one-vs-one", split.x, split.y, seed=4)
    lost = losses(agfmc.Classifier(model).probabilities(split.test_x), split.test_y)
    assert point["score"] == pytest.approx(lost.mean(), rel=1e-4)
    assert point["error"] == pytest.approx(lost.std(ddof=1) / len(lost)**.5, rel=1e-3)
