"""Proportions of the classes, and what models tell of the samples in training."""

from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.prediction.decoding import class_samples, proportions
from agfmc.control.parse import parse
from agfmc.errors import AgfmcWarning, ModelError, UsageError
from agfmc.prediction.external import ExternalClassifier
from agfmc.prediction.evaluation import evaluate, Results, weighted
from agfmc.models import DirectModel
from agfmc.provenance import Provenance

SETTINGS = "0.1.0; libsvm 337; options -c 1.0; features 61; folds 5; seed 1"


def configuration(text, *told, classifiers=()):
    """What is read of a configuration; told: samples of the sides of its binary classifiers."""
    tree = parse(text)
    machines = SimpleNamespace(provenances=tuple(Provenance.from_line(
        f"{SETTINGS}; samples {left} {right}") for left, right in told))
    return SimpleNamespace(tree=tree, machines=machines,
                           node_classifiers=dict(zip(tree.directs, classifiers)))


def neighbours(*counts):
    return DirectModel("K", "n", len(counts), y=np.repeat(np.arange(len(counts)), counts))


def test_nested_trees():
    # (0 | 1 2 | 3 4 5): 1 2 and 3 4 5 by direct classifiers below a coding matrix
    one = [neighbours(3, 2)]
    assert class_samples(configuration(
        'a 0/1; b 0/2; {0 n K "-k 1" {2 1} c {4 3}}', (7, 5), (7, 9), (4, 5), classifiers=one)) == \
        {0: 7, 1: 2, 2: 3, 3: 5, 4: 4}
    with pytest.raises(ModelError, match="do not tell"):  # 3, 4 and 5 apart: the command knows
        class_samples(configuration(
            'a 0/1; b 0/2; {0 n K "-k 1" {1 2} g G "x" {3 4 5}}', (7, 5), (7, 9),
            classifiers=[*one, ExternalClassifier("g", 3, "x", None)]))
    with pytest.raises(ModelError, match="different samples"):
        class_samples(configuration('a {0 n K "-k 1" {1 2}}', (7, 6), classifiers=one))


def test_direct_classifiers_that_tell_their_branches():
    told = DirectModel("L", "n", 3, Provenance.from_line("0.1.0; options -r 1.0; samples 5 6 7"),
                       weights=np.zeros((3, 2)))
    assert class_samples(configuration('n L "" {4 2 9}', classifiers=[told])) == {2: 6, 4: 5, 9: 7}


def test_proportions():
    np.testing.assert_array_equal(proportions([.25, .75], [2, 9]), [.25, .75])
    np.testing.assert_array_equal(proportions({9: .75, 2: .25}, np.array([2, 9])), [.25, .75])
    with pytest.warns(AgfmcWarning, match="sum to 8"):
        np.testing.assert_array_equal(proportions([2, 6], [2, 9]), [.25, .75])
    with pytest.raises(UsageError, match="--x: expected 2 numbers"):
        proportions([1], [2, 9], "--x")


def test_results_of_arrays():
    truth, result = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    scores = evaluate(Results(truth, result, [0, 1]))
    assert scores["accuracy"] == .75 and scores["brier_all"] is None and "priors" not in scores
    rare = weighted(Results(truth, result, [0, 1]), [.9, .1])
    np.testing.assert_allclose(rare.weights, [1.8, 1.8, .2, .2])
    assert evaluate(rare)["accuracy"] == pytest.approx(.55)
