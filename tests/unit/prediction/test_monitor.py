"""Monitors: p values by hand, false alarms, shifts, states that go on."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import agfmc
from agfmc.calibration.types import CalibrationPoints
from agfmc.prediction import monitor as module
from agfmc.prediction.monitor import ALARM, load_state, Monitor, new_state


LABELS = np.array([3, 7])


def watching(scores, seed=1, by_truth=False):
    n = len(scores)
    p = 1 - np.asarray(scores, dtype=float)
    points = CalibrationPoints(np.full(n, 3, "<i4"), p, p, p, np.ones(n, dtype=bool))
    state = new_state(points, LABELS, "0" * 16, "inverse", by_truth, seed)
    return Monitor(state, LABELS)


def answers(scores, classes=3):
    return SimpleNamespace(
        winner=1 - np.asarray(scores, dtype=float), classes=np.full(len(scores), classes)
    )


def p_value(earlier, score, tie):
    """Of a score among those before it and itself."""
    larger = sum(other > score for other in earlier)
    equal = sum(other == score for other in earlier) + 1
    return (larger + tie * equal) / (len(earlier) + 1)


def power(p):
    """The mean of the power martingales of p values (n,) and of 1 - p, after the last."""
    e = module._EXPONENTS[:, None]
    return np.mean([np.prod(e * side ** (e - 1), axis=1) for side in (p, 1 - p)])


def test_values_by_hand():
    known = [0.1, 0.1, 0.3, 0.7]
    new, classes = [0.1, 0.7, 0.3], [3, 7, 3]  # each in a bin of its own
    watch = watching(known, seed=5)
    ties = np.random.Generator(np.random.PCG64([5, 0])).random(3)
    p = {"score": [], 3: [], 7: []}
    for i in range(3):
        p["score"].append(p_value([*known, *new[:i]], new[i], ties[i]))
        for label in 3, 7:
            earlier = [other == label for other in classes[:i]]
            p[label].append(p_value(earlier, classes[i] == label, ties[i]))
    expected = [
        max(
            power(np.array(p["score"][:i])) / 2,
            power(np.array(p[3][:i])) / 4,
            power(np.array(p[7][:i])) / 4,
        )
        for i in (1, 2, 3)
    ]
    given = SimpleNamespace(winner=1 - np.array(new), classes=np.array(classes))
    np.testing.assert_allclose(watch.add(given), expected)
    assert watch.value == pytest.approx(expected[-1])
    assert watch.largest == pytest.approx(max(1, *expected))


def test_few_streams_of_exchangeable_rows_alarm():
    rng = np.random.default_rng(0)
    alarms = 0
    for seed in range(200):
        scores = rng.beta(0.5, 3, 700).round(2)  # with ties
        watch = watching(scores[:200], seed)
        watch.add(answers(scores[200:]))
        alarms += watch.state.alarm > 0
    assert alarms <= 4  # of 200, where the bound allows 2 on average


@pytest.mark.parametrize("shift", [-0.8, 0.8])
def test_rows_that_become_easier_or_harder_are_seen(shift):
    rng = np.random.default_rng(1)
    watch = watching(rng.normal(size=300))
    watch.add(answers(rng.normal(size=500)))
    assert watch.state.alarm == 0
    with pytest.warns(agfmc.AgfmcWarning, match="new.csv: rows are not as the calibration points"):
        watch.add(answers(rng.normal(shift, 1, 500)))
        watch.warn(500, "new.csv")
    assert 500 < watch.state.alarm < 800 and watch.largest > ALARM
    alarm = watch.state.alarm
    watch.add(answers(rng.normal(size=10)))
    watch.warn(1000)  # told once
    assert watch.state.alarm == alarm


def test_a_class_that_becomes_more_frequent_is_seen():
    rng = np.random.default_rng(6)
    watch = watching(rng.normal(size=100))
    scores = rng.normal(size=3000)
    classes = np.where(rng.random(3000) < np.where(np.arange(3000) < 1000, 0.1, 0.4), 3, 7)
    watch.add(SimpleNamespace(winner=1 - scores, classes=classes))
    assert 1000 < watch.state.alarm < 1500


def test_blocks_and_files_change_nothing(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    first, new = rng.normal(size=400), rng.normal(0.3, 1, 1500)
    whole = watching(first)
    values = whole.add(answers(new))
    monkeypatch.setattr(module, "_CELLS", 9000)
    parts = watching(first)
    path = str(tmp_path / "state")
    found = []
    for block in np.split(new, [1, 200, 777]):
        found.append(parts.add(answers(block)))
        parts.save(path)
        parts = Monitor(load_state(path, "0" * 16, "inverse"), LABELS)
    np.testing.assert_array_equal(np.concatenate(found), values)
    whole.save(str(tmp_path / "whole"))
    assert (tmp_path / "whole").read_bytes() == (tmp_path / "state").read_bytes()
    assert len(whole.state.trace) <= 256 and len(path) < 1 << 16


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "state"
    watching([0.1, 0.2]).save(str(path))
    with pytest.raises(agfmc.DataError, match="of another model or decoder"):
        load_state(str(path), "1" * 16, "inverse")
    plain = json.loads(path.read_text())
    for name, value in (
        ("edges", [0.2, 0.1]),
        ("logs", [[[0.0]]]),
        ("rows", 7),
        ("alarm", 3),
        ("counts", [1, 2, 3]),
    ):
        path.write_text(json.dumps({**plain, name: value}))
        with pytest.raises(agfmc.AgfmcError):
            load_state(str(path), "0" * 16, "inverse")


def test_true_classes(tmp_path):
    watch = watching(np.linspace(0, 1, 50), by_truth=True)
    p = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    taken = watch.add(SimpleNamespace(columns=p), truth=np.array([3, -1, 7]))
    assert len(taken) == 2 and watch.state.rows == 2
    with pytest.raises(agfmc.UsageError, match="of true classes"):
        watch.add(answers([0.5]))
    with pytest.raises(agfmc.UsageError, match="of answers"):
        watching([0.1, 0.2]).add(answers([0.5]), truth=np.array([3]))


def test_of_a_classifier(tmp_path):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] + 0.5 * rng.normal(size=300) > 0, 7, 3)
    model = agfmc.train("one-vs-one", x, y)
    classifier = agfmc.Classifier(model)
    path = str(tmp_path / "state")
    watch = classifier.monitor(path)
    watch.add(classifier.classify(rng.normal(size=(300, 2))))
    assert watch.state.alarm == 0
    watch.save(path)
    again = classifier.monitor(path)
    assert again.state.rows == 300
    again.add(classifier.classify(rng.normal(size=(300, 2)) * 3))  # far from the border: easier
    assert again.state.alarm > 300
    by_truth = classifier.monitor(by_truth=True)
    by_truth.add(classifier.classify(x), truth=y)
    assert by_truth.state.alarm == 0
    by_truth.add(classifier.classify(x), truth=10 - y)
    assert by_truth.state.alarm > 300
    with pytest.raises(agfmc.UsageError, match="priors"):
        agfmc.Classifier(model, agfmc.Decoding(priors=[1, 1])).monitor()
    bare = agfmc.train("one-vs-one", x, y, calibration=0)
    with pytest.raises(agfmc.ModelError, match="needs calibration points"):
        agfmc.Classifier(bare).monitor()
