"""The last step to an answer, and the choices of guarantees."""

import pickle
from functools import cache

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.calibration.maps import apply_map
from agfmc.calibration.priors import Adjustment
from agfmc.calibration.sets import fill_empty_sets, p_values, prediction_sets, quantiles
from agfmc.calibration.thresholds import error_threshold
from agfmc.core.errors import ModelError, UsageError
from agfmc.data.types import Dataset
from agfmc.calibration.types import DecoderCalibration, ProbabilityMap
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decision import Decision
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.known_points import answers_of_data
from agfmc.prediction.recalibrate import default_decodings, recalibrate, with_decoders
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

LABELS = [1, 4, 9]  # the tree has them in another order


def points(seed, n):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 3, n)
    x = generator.normal(size=(n, 4)) + 2 * np.eye(4)[y]
    return x, np.array(LABELS, dtype=np.int32)[y]


@cache
def made(text):
    """A configuration with maps for its decoders."""
    kind = "matrix" if text == PAIRS else "temperature"
    configuration = train_configuration(
        parse(text), *points(1, 200), TrainingSettings("-c 2 -g 0.2")
    )[0]
    data, found = Dataset(*points(2, 400)), {}
    for key, decoding in default_decodings(configuration).items():
        answered = answers_of_data(configuration, decoding, data, "binary", "apart")
        found[key], _ = recalibrate(answered, key, kind)
    return with_decoders(configuration, found, answered)


PAIRS = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {9 1 4}'
TREE = '"" {9 "" {4 1}}'
X, Y = points(3, 300)


@pytest.fixture
def configuration(request):
    return made(request.param)


def answers(configuration, **choices):
    classifier = Classifier(configuration, Decoding(**choices))
    again = pickle.loads(pickle.dumps(classifier))  # as an executor sends it
    found = classifier(X)
    for name in ("classes", "columns", "sets"):
        np.testing.assert_array_equal(getattr(found, name), getattr(again(X), name))
    return found


def kept(configuration, key="least-squares"):
    return configuration.calibration.decoders[key].points


@pytest.mark.parametrize(
    "configuration, tree, key",
    [
        (PAIRS, "recursive", "least-squares"),
        (TREE, "full", "full"),
        (TREE, "flat", "least-squares"),
    ],
    indirect=["configuration"],
)
@pytest.mark.parametrize("score", ["lac", "aps"])
@pytest.mark.parametrize("by_class", [False, True])
@pytest.mark.few(3)
def test_sets_and_p_values_are_of_calibrated_probabilities(
    configuration, tree, key, score, by_class
):
    p = answers(configuration, tree=tree).columns
    limits = quantiles(kept(configuration, key), LABELS, 0.1, score, by_class)
    sets = prediction_sets(p, limits, score)
    words = {"coverage": 0.9, "set_score": score, "by_class": by_class, "tree": tree}
    found = answers(configuration, allow_empty=True, **words)
    np.testing.assert_array_equal(found.sets, sets)
    fill_empty_sets(sets, p)
    np.testing.assert_array_equal(answers(configuration, **words).sets, sets)
    assert found.columns is None
    np.testing.assert_array_equal(found.classes, np.array(LABELS)[p.argmax(axis=1)])
    found = answers(configuration, p_values=True, set_score=score, by_class=by_class, tree=tree)
    np.testing.assert_array_equal(
        found.columns, p_values(p, kept(configuration, key), LABELS, score, by_class)
    )
    assert found.sets is None


@pytest.mark.parametrize(
    "configuration, tree, key",
    [(PAIRS, "recursive", "least-squares"), (TREE, "full", "full")],
    indirect=["configuration"],
)
def test_columns_of_maps_are_classes_with_ascending_labels(configuration, tree, key):
    own = answers(configuration, tree=tree, calibrated=False).columns
    np.testing.assert_array_equal(
        answers(configuration, tree=tree).columns,
        apply_map(configuration.calibration.decoders[key].map, own),
    )


def test_rounding_does_not_change_the_answer():
    nearly = ProbabilityMap("temperature", np.array(0.05), np.zeros(3), 0.999)
    decision = Decision(DecoderCalibration(nearly), made(PAIRS), Decoding())
    third = 1 / 3
    p = np.array([[third, np.nextafter(third, 1), third]])
    found = decision.of_all_classes(p)
    assert len(set(found.columns[0])) == 1 and found.classes.tolist() == [
        made(PAIRS).tree.labels[1]
    ]


def test_sets_do_not_depend_on_priors():
    guarantees = dict(coverage=0.9, by_class=True)
    plain, prior = (
        answers(made(PAIRS), **guarantees, **choices)
        for choices in ({}, {"priors": [0.8, 0.1, 0.1]})
    )
    np.testing.assert_array_equal(plain.sets, prior.sets)
    p = Adjustment(
        np.array([0.8, 0.1, 0.1]), np.bincount(np.searchsorted(LABELS, points(1, 200)[1])) / 200
    )(answers(made(PAIRS)).columns)
    np.testing.assert_array_equal(prior.classes, np.array(LABELS)[p.argmax(axis=1)])
    assert (plain.classes != prior.classes).any()


@pytest.mark.parametrize(
    "configuration, tree, key",
    [(PAIRS, "recursive", "least-squares"), (TREE, "recursive", "recursive")],
    indirect=["configuration"],
)
def test_points_that_are_not_sure_enough(configuration, tree, key):
    points = kept(configuration, key)
    threshold = error_threshold(points.p_largest, points.right, 0.18)[0]
    plain = answers(configuration, tree=tree)
    found = answers(configuration, max_error=0.18, tree=tree)
    told = found.classes >= 0
    np.testing.assert_array_equal(found.confidence, plain.confidence)
    np.testing.assert_array_equal(told, plain.confidence >= (3 * threshold - 1) / 2)
    np.testing.assert_array_equal(found.classes[told], plain.classes[told])
    assert 0.2 < told.mean() < 1
    assert Classifier(configuration, Decoding(tree=tree, max_error=0.18)).threshold == threshold


def test_other_decoders_have_no_points():
    sets = dict(coverage=0.9)
    with pytest.raises(ModelError, match="`decoders=renormalised`"):
        Classifier(made(PAIRS), Decoding("renormalised", **sets))
    with pytest.raises(UsageError, match="combined with `calibrated=False`"):
        Decoding(**sets, calibrated=False)
    with pytest.raises(UsageError, match="combined with `sigmoid`"):
        Classifier(made(PAIRS), Decoding(**sets, sigmoid=1))
    for method in ("vote", "ddag"):
        with pytest.raises(UsageError, match="needs a decoder that gives the probabilities of all"):
            Classifier(made(PAIRS), Decoding(method, max_error=0.1))
    with pytest.raises(UsageError, match='`tree="full"`'):
        Classifier(made(TREE), Decoding(coverage=0.9))


def test_probabilities_are_not_sets():
    for guarantees in (dict(coverage=0.9), dict(p_values=True)):
        with pytest.raises(UsageError, match="does not give the probabilities"):
            Classifier(made(PAIRS), Decoding(**guarantees)).probabilities(X)
