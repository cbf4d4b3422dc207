"""The learned decoder of a configuration: where it is fitted, and how it answers."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from agfmc.control.build import to_code
from agfmc.control.parse import parse
from agfmc.decode.learned import log_odds
from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.core.errors import ModelError, UsageError
from agfmc.prediction import calibrate as module
from agfmc.prediction.calibrate import calibrated, fit_calibration, fit_learned_decoder
from agfmc.prediction.classifier import Classifier, classifier_for
from agfmc.prediction.decision_values import MachineValues
from agfmc.prediction.decoding import decoders_of, Decoding, learning_pays
from agfmc.learners.programs import Execution
from agfmc.core.probabilities import log_loss
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

LABELS = [1, 4, 6, 9]
# the classes stand in another order than their labels
MIXED = '"" 0 1 / 2 3; "" 0 2 / 1 3; "" 0 3 / 1 2; "" 0 / 1 2 3; {9 1 6 4}'


def points(seed, n=400):
    """Four classes that overlap, in the corners of a square."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 4, n)
    x = generator.normal(size=(n, 5)) * 1.1
    x[:, 0] += 2 * (y & 1)
    x[:, 1] += 2 * (y >> 1)
    return x, np.array(LABELS, dtype=np.int32)[y]


X, Y = points(1)
TEST_X, TEST_Y = points(2, 2000)
COLUMN = np.searchsorted(LABELS, TEST_Y)


@cache
def trained(layout, n=400):
    x, y = X[:n], Y[:n]
    tree = parse(layout) if "{" in layout else design(layout, LABELS, x=x, y=y)
    return train_configuration(tree, x, y, TrainingSettings("-c 4 -g 0.2"))


@cache
def finished(layout):
    return calibrated(*trained(layout))


def test_answers_by_definition():
    configuration = finished(MIXED)
    learned = configuration.calibration.learned
    own = Classifier(configuration, Decoding("learned", calibrated=False))(TEST_X)
    r = MachineValues(configuration)(range(4), TEST_X)[1]
    p = np.exp(log_odds(r) @ learned.weights.T + learned.intercept)
    np.testing.assert_allclose(own.columns, p / p.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_array_equal(own.classes, np.array(LABELS)[p.argmax(axis=1)])
    assert np.mean(own.classes == TEST_Y) > .55
    mapped = Classifier(configuration, "learned")(TEST_X)
    np.testing.assert_allclose(
        mapped.columns, apply_map(configuration.calibration.decoders["learned"].map, own.columns),
        rtol=1e-12)
    np.testing.assert_array_equal(mapped.classes, own.classes)
    np.testing.assert_array_equal(
        Classifier(configuration, "learned")(TEST_X[333:334]).columns, mapped.columns[333:334])


@pytest.mark.few(1)
@pytest.mark.parametrize("scheme", ["one-vs-rest", "orthogonal", "adjacent", MIXED])
def test_not_worse_than_least_squares(scheme):
    configuration = finished(scheme)
    learned, other = (log_loss(Classifier(configuration, name)(TEST_X).columns, COLUMN)
                      for name in ("learned", "least-squares"))
    assert learned < other + .01


def test_map_and_points_are_of_probabilities_by_other_points():
    configuration, held_out = trained("one-vs-rest")
    machines = configuration.machines
    r = np.tanh(machines.a * held_out.value.reshape(len(Y), 4) + machines.b)
    true = np.searchsorted(LABELS, held_out.y)
    fitted = fit_learned_decoder(configuration.tree, r, true)
    calibration = fit_calibration(configuration, held_out)
    np.testing.assert_allclose(calibration.learned.weights, fitted.decoder.weights, rtol=1e-6)
    map_, found = fit_temperature(fitted.p, true), calibration.decoders["learned"]
    np.testing.assert_allclose(found.map.weights, map_.weights, rtol=1e-6)
    np.testing.assert_allclose(
        found.points.p_true, apply_map(map_, fitted.p)[np.arange(len(Y)), true], rtol=1e-5)
    assert np.abs(apply_map(map_, fitted.p) - Classifier(
        replace(configuration, calibration=calibration), "learned")(X).columns).max() > .01


def test_only_some_of_many_points(monkeypatch):
    """Of every class its share, and one point at least."""
    keep = (Y != 9) | (np.arange(len(Y)) == np.flatnonzero(Y == 9)[0])
    keep[np.flatnonzero(Y == 9)[:3]] = True
    taken = module._share_of_classes(Y[keep], 4)
    for label in LABELS:
        assert np.count_nonzero(taken & (Y[keep] == label)) == -(
            -np.count_nonzero(Y[keep] == label) // 4)
    monkeypatch.setattr(module, "LEARNED_POINTS", 20)
    monkeypatch.setattr(module, "_LEARNED_VALUES", 0)
    found = calibrated(*trained("one-vs-rest")).calibration
    assert 80 <= len(found.decoders["learned"].points.label) <= 83
    assert len(found.decoders["least-squares"].points.label) == 400


@pytest.mark.few(3)
@pytest.mark.parametrize("layout, n", [
    ("one-vs-one", 400), ("tree", 400), ('"" L {1 4 6 9}', 400), ("one-vs-rest", 199)])
def test_where_none_is_fitted(layout, n):
    configuration = calibrated(*trained(layout, n))
    assert configuration.calibration.learned is None
    assert "learned" not in configuration.calibration.decoders
    assert not learning_pays(configuration.tree, n)
    assert all(one.name != "learned" for one in decoders_of(configuration.tree, points=n))
    if "{" not in layout:
        with pytest.raises(ModelError, match="has no learned decoder: multi_borders fits one"):
            classifier_for(configuration, "learned")


@pytest.mark.parametrize("layout, decoding", [
    ("one-vs-one", Decoding("learned")), ("tree", Decoding("learned", "flat"))])
def test_one_that_is_wanted_is_fitted_to_any_code(layout, decoding):
    configuration = calibrated(*trained(layout), requested=[decoding])
    assert set(configuration.calibration.decoders) == {"learned"}
    found = Classifier(configuration, decoding)(TEST_X)
    assert np.mean(found.classes == TEST_Y) > .55
    assert log_loss(found.columns, COLUMN) < 1.1


def test_where_one_is_tried():
    tree = design("one-vs-rest", LABELS, x=X, y=Y)
    assert [one.name for one in decoders_of(tree)] == ["orthogonal"]
    assert [one.name for one in decoders_of(tree, points=200)] == ["orthogonal", "learned"]
    assert [one.name for one in decoders_of(tree, ["inverse"], 200)] == ["inverse"]
    assert not learning_pays(parse('"" 0 / 1; {0 1}'), 400)  # its sigmoid is all there is to learn


def test_a_tree_taken_as_a_code():
    configuration, held_out = trained("tree")
    calibration = fit_calibration(configuration, held_out)
    r = MachineValues(configuration)(range(3), X)[1]
    fitted = fit_learned_decoder(configuration.tree, r, np.searchsorted(LABELS, Y))
    configuration = replace(configuration, calibration=replace(calibration,
                                                               learned=fitted.decoder))
    found = Classifier(configuration, Decoding("learned", "flat"))(TEST_X)
    assert np.mean(found.classes == TEST_Y) > .55
    assert to_code(configuration.tree).labels == configuration.tree.labels
    # the tree itself has no coding matrix to decode
    np.testing.assert_array_equal(
        Classifier(configuration, Decoding("learned", "full"))(TEST_X).columns,
        Classifier(configuration, Decoding(tree="full"))(TEST_X).columns)


def test_refused():
    configuration = finished("one-vs-rest")
    with pytest.raises(UsageError, match="-c: a learned decoder was fitted to the probabilities"):
        Classifier(configuration, "learned", Execution(sigmoid=0))
    nested = trained('"" 0 / 1; "" 0 / 2; "" 1 / 2; {1 4 "" {6 9}}')[0]
    with pytest.raises(UsageError, match="learned is for a coding matrix alone"):
        Classifier(nested, "learned")
    with pytest.raises(ModelError, match="has no learned decoder"):
        Classifier(replace(configuration, calibration=None), "learned")
    with pytest.raises(ModelError, match="a multi-class node has no decision values"):
        fit_learned_decoder(parse('"" L {0 1 2}'), np.zeros((3, 0)), np.arange(3))
