"""Weights of points: sums of sides, class factors, and what a trained model tells of them."""

import numpy as np
import pytest

import agfmc
from agfmc.calibration.priors import class_counts
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.models.description import class_samples, class_sums
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration
from agfmc.data.types import Dataset
from agfmc.core.weights import class_factors, total_weights, Weights

Y = np.array([0, 0, 0, 0, 1, 1, 2, 2, 2], dtype=np.int32)
W = np.array([1, 2, 1, 2, 0.5, 0.5, 3, 1, 1])


def test_sums_of_sides():
    weights = Weights(W * np.array([2.0, 1.0, 4.0])[Y], {0: 2.0, 1: 1.0, 2: 4.0})
    assert weights.of_sides(Y, [(1, 0), (2,)]) == ((13.0, 20.0), (7.0, 5.0))
    assert Weights(W).of_sides(Y, [(0,), (1,)]) == ((6.0, 1.0), None)
    np.testing.assert_allclose(weights.seen(Y), W)
    part = weights[Y > 0]
    assert len(part) == 5 and part.of_sides(Y[Y > 0], [(1,), (2,)]) == ((1.0, 20.0), (1.0, 5.0))


def test_digests_know_weights_and_factors():
    plain = Weights(W)
    assert plain.digest([0, 1], [0]) == Weights(W.copy()).digest(np.arange(2), [0])
    assert (
        len(
            {
                plain.digest([0, 1], [0]),
                plain.digest([0, 2], [0]),
                Weights(W, {0: 2.0}).digest([0, 1], [0]),
            }
        )
        == 3
    )
    assert Weights(W, {1: 2.0}).digest([0, 1], [0]) == plain.digest([0, 1], [0])


def test_balanced_factors_give_all_classes_the_same_sum():
    totals = total_weights(Y, W)
    assert totals == {0: 6.0, 1: 1.0, 2: 5.0}
    factors = class_factors("balanced", totals)
    assert factors == {0: 12 / 18, 1: 4.0, 2: 12 / 15}
    assert total_weights(Y) == {0: 4.0, 1: 2.0, 2: 3.0}


def test_factors_by_label_and_by_name():
    totals = {3: 1.0, 7: 1.0}
    assert class_factors({"7": 2.5}, totals) == {3: 1.0, 7: 2.5}
    assert class_factors({7: 2}, totals) == {3: 1.0, 7: 2.0}
    names = {3: "7", 7: "b"}  # a name goes before a label
    assert class_factors({"7": 2.5, "b": 2}, totals, names) == {3: 2.5, 7: 2.0}


@pytest.mark.parametrize(
    "wanted, error, words",
    [
        ("equal", UsageError, "'balanced'"),
        ({"5": 1.0}, DataError, "no class '5'"),
        ({"3": 0.0}, DataError, "above 0"),
        ({"3": float("nan")}, DataError, "above 0"),
        ({"3": 1.0, 3: 2.0}, DataError, "twice"),
    ],
)
def test_factors_that_cannot_be(wanted, error, words):
    with pytest.raises(error, match=words):
        class_factors(wanted, {3: 1.0, 7: 1.0})


def test_sums_of_classes_from_those_of_sides():
    totals = [((0, 1), 4.0000000001), ((2,), 1.5), ((0,), 1.25), ((1, 2), 4.25)]
    np.testing.assert_allclose(class_counts(totals, 3, weighted=True), [1.25, 2.75, 1.5])
    with pytest.raises(ModelError, match="different"):
        class_counts([*totals, ((1,), 2.5)], 3, weighted=True)


def points(n=90):
    random = np.random.default_rng(3)
    y = np.arange(n, dtype=np.int32) % 3
    y[: n // 3] = 0
    return random.normal(size=(n, 2)) + 1.5 * np.array([[0, 0], [2, 0], [0, 2]])[y], y


@pytest.mark.parametrize("scheme", ["one-vs-one", "one-vs-rest", "tree"])
def test_priors_of_training_undo_class_weights(scheme):
    x, y = points()
    w = np.where(np.arange(90) % 2, 1.0, 3.0)
    factors = class_factors("balanced", total_weights(y, w))
    weights = Weights(w * np.array([factors[label] for label in range(3)])[y], factors)
    tree = design(scheme, [0, 1, 2], x=x, y=y)
    made, _ = train_configuration(
        tree,
        Dataset(x, y, weights=weights),
        settings=TrainingSettings("learner=logistic", calibration=0),
    )
    seen = np.array([w[y == label].sum() for label in range(3)])
    np.testing.assert_allclose(list(class_sums(made, seen=True).values()), seen, rtol=1e-9)
    np.testing.assert_allclose(list(class_sums(made).values()), [w.sum() / 3] * 3, rtol=1e-9)
    assert list(class_samples(made).values()) == np.bincount(y).tolist()
    if scheme == "tree":
        return
    p = agfmc.Classifier(made, agfmc.Decoding()).probabilities(x)
    back = agfmc.Classifier(made, agfmc.Decoding(priors="training")).probabilities(x)
    expected = p * seen / (w.sum() / 3)
    np.testing.assert_allclose(back, expected / expected.sum(axis=1)[:, None], atol=1e-9)


def test_priors_of_training_change_nothing_without_class_weights():
    x, y = points()
    made = agfmc.train("one-vs-rest", x, y, options="learner=logistic")
    p, back = (
        agfmc.Classifier(made, agfmc.Decoding(priors=priors)).probabilities(x)
        for priors in (None, "training")
    )
    np.testing.assert_allclose(p, back, atol=1e-12)
