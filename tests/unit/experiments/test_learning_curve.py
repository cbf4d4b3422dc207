"""Learning curves: smaller training parts on the same splits, and what the last step says."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import agfmc
from agfmc.core.answers import Results
from agfmc.core.errors import DataError
from agfmc.core.probabilities import losses
from agfmc.data.types import Dataset
from agfmc.experiments import learning_curve as module
from agfmc.experiments.experiment import Experiment, Part, SplitPlan
from agfmc.report.chart_importance import learning_curves
from data_files import write_cls, write_vec

PLAN = SplitPlan(parts=4, trials=1, seed=3)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    y = rng.permutation(np.repeat([0, 1], [60, 20])).astype(np.int32)
    return Dataset(rng.normal(size=(80, 2)) + y[:, None], y)


def test_smaller_training_parts_are_inside_larger_ones(data):
    inside, held_out = [], []
    for share in (1.0, 0.5, 0.25):
        experiment = Experiment(data, PLAN._replace(share=share))
        parts = [experiment.prepared(Part(number)) for number in range(4)]
        inside.append([part.data for part in parts])
        held_out.append(np.concatenate([part.rows for part in parts]))
    for larger, smaller, size in zip(inside, inside[1:], (30, 15)):
        for one, other in zip(larger, smaller):
            assert {*map(bytes, other.x)} < {*map(bytes, one.x)}
            assert size <= len(other.y) <= size + 1  # shares of classes are rounded up
            assert np.count_nonzero(other.y) == -(-size // 4)
    assert all(np.array_equal(rows, held_out[0]) for rows in held_out)
    few = Experiment(data, PLAN._replace(share=0.01)).prepared(Part(0)).data
    assert np.bincount(few.y).tolist() == [2, 2]


def test_groups_are_drawn_whole(data):
    inside, groups = [], np.arange(80) // 4
    data = replace(data, groups=groups)
    for share in (1.0, 0.75, 0.5, 0.25):
        part = Experiment(data, PLAN._replace(share=share)).prepared(Part(1))
        rows = [np.flatnonzero((data.x == point).all(axis=1))[0] for point in part.data.x]
        assert (np.bincount(groups[rows])[np.unique(groups[rows])] == 4).all()
        inside.append({*rows})
        assert abs(len(rows) - 60 * share) <= 8
    assert inside[0] > inside[1] > inside[2] > inside[3]


def test_last_step_by_hand_where_a_row_is_held_out_twice(monkeypatch, data):
    truth, rows = np.array([0, 1, 0]), np.array([5, 2, 5])
    before, after = (
        Results(truth, truth, np.arange(2), p=np.array(p), rows=rows)
        for p in ([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4]], [[0.8, 0.2], [0.2, 0.8], [0.9, 0.1]])
    )

    def cross_validated(experiment, *_, **more):
        if experiment.plan.share < 0.75:
            raise DataError("too few")
        return [SimpleNamespace(results=before, samples=30)]

    monkeypatch.setattr(module, "cross_validate", cross_validated)
    with pytest.warns(agfmc.AgfmcWarning, match="of each training part is left out: too few"):
        curve = module.learning_curve(
            Experiment(data, PLAN), None, SimpleNamespace(results=after, samples=40)
        )
    first, other, again = losses(before.p, truth) - losses(after.p, truth)
    gain = (first + other + again) / 3
    squares = (first + again - 2 * gain) ** 2 + (other - gain) ** 2
    assert curve["last"] == {
        "score": "log_loss",
        "gain": pytest.approx(gain),
        "error": pytest.approx((2 * squares) ** 0.5 / 3),
    }
    assert [point["samples"] for point in curve["log_loss"]] == [30, 40]
    assert curve["accuracy"][1] == {"samples": 40, "score": 1, "error": 0}


def test_words_follow_the_last_step():
    curve = {"accuracy": [{"samples": 30}, {"samples": 40}]}
    for gain, verdict in (
        (0.21, "would probably help."),
        (0.19, "samples may help."),
        (0.09, ": no clear gain from more samples."),
        (-0.5, ": no clear gain from more samples."),
    ):
        words = module._words({**curve, "last": {"score": "accuracy", "gain": gain, "error": 0.1}})
        assert words.startswith("From 30 to 40 training samples the accuracy becomes ")
        assert f"by {abs(gain):.4f} (standard error 0.1000)" in words and words.endswith(verdict)


def test_curve_of_a_command(run, folder, data):
    write_vec("t.vec", data.x.astype(np.float32))
    write_cls("t.cls", data.y)
    words = (
        "nfold",
        "-d",
        3,
        "--seed",
        4,
        "--curve",
        "--no-state",
        "--uncalibrated",
        "-+",
        "learner=nystrom -m 20",
    )
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


def test_first_point_is_what_training_on_the_sample_gives(run, folder, data):
    write_vec("t.vec", data.x.astype(np.float32))
    write_cls("t.cls", data.y)
    point = json.loads(
        run(
            "nfold", "-f", 0.5, "--seed", 4, "--curve", "--no-state", "--json", "one-vs-one", "t"
        ).out
    )["curve"]["log_loss"][2]
    split = Experiment(
        Dataset(data.x.astype(np.float32), data.y), SplitPlan(0.5, trials=1, seed=4, share=0.5)
    ).prepared(Part(0))
    model = agfmc.train("one-vs-one", split.data.x, split.data.y, seed=4)
    lost = losses(agfmc.Classifier(model).probabilities(split.test.x), split.test.y)
    assert point["score"] == pytest.approx(lost.mean(), rel=1e-4)
    assert point["error"] == pytest.approx(lost.std(ddof=1) / len(lost) ** 0.5, rel=1e-3)
