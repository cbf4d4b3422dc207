"""Nodes of boosted trees among models: as classifiers of scores, in descriptions, as members."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

import agfmc
from agfmc.control.parse import parse
from agfmc.core.errors import ModelError
from agfmc.core.forest import Forest
from agfmc.core.models import NodeModel
from agfmc.core.text import member_text
from agfmc.kernels.machine import Machine
from agfmc.models.checks import check_configuration
from agfmc.models.configuration import Configuration
from agfmc.models.description import describe
from agfmc.models.join import join, members_of
from agfmc.models.merge import collate, with_scores
from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.arange(60) % 3


def forest(scores, features=3):
    """A tree of two leaves, and a leaf alone, for each score."""
    trees = [
        Forest(
            features,
            np.array([0, 2]),
            np.array([0, 3], "<i4"),
            np.array([number % features, -1, -1, -1], "<i4"),
            RNG.normal(size=4),
            np.array([1, 1, 2, 3], "<i4"),
            np.array([2, 1, 2, 3], "<i4"),
            np.array([number % 2 > 0, False, False, False]),
        )
        for number in range(scores)
    ]
    return Forest.concatenate(trees)


def boosted(text="n T {0 1 2}"):
    """A configuration of one node."""
    tree = parse(text)
    node = NodeModel("T", "n", 3, forest=forest(3))
    return Configuration(tree, collate([], [], tree.classes, [node]), {0: node})


def plain(configuration):
    return Classifier(configuration, Decoding(calibrated=False)).probabilities(X)


def test_scores_are_further_classifiers():
    pairs = agfmc.train("one-vs-one", X, Y, calibration=0)
    linear = NodeModel("L", "l", 2, weights=RNG.normal(size=(2, 4)))
    trees = NodeModel("T", "t", 3, forest=forest(3))
    machines, numbers = with_scores(pairs.machines, {1: linear, 4: trees})
    assert numbers == {1: range(3, 5), 4: range(5, 8)}
    f = Machine(machines, range(8)).decision_values(X)
    binary = Machine(pairs.machines, range(3)).decision_values(X)
    np.testing.assert_allclose(f[:, :3], binary, rtol=0, atol=1e-12)
    np.testing.assert_allclose(f[:, 3:5], X @ linear.weights[:, :-1].T + linear.weights[:, -1])
    np.testing.assert_array_equal(f[:, 5:], trees.forest.values(X, range(3)).T)


def test_missing_values_reach_the_trees_of_nodes():
    x = X.copy()
    x[::2, 1] = np.nan
    normalised = replace(boosted(), normalisation=agfmc.Normalisation.identity(3))
    expected = softmax(forest_of(normalised).values(x, range(3)), axis=0).T
    for configuration in (replace(normalised, normalisation=None), normalised):
        p = Classifier(configuration, Decoding(calibrated=False)).probabilities(x)
        np.testing.assert_allclose(p, expected)


def forest_of(configuration):
    return configuration.node_classifiers[0].forest


def test_descriptions_count_the_trees():
    node = boosted()
    info = describe(node)
    (direct,) = info["direct_classifiers"]
    assert info["trees"] == direct["trees"] == 6
    assert info["comparisons"] == direct["comparisons"] == 3
    text = blocks_text(model_blocks(info))
    assert "direct classifier, 1 level\n" in text
    assert "6, of which a point costs 3 comparisons at most" in text
    assert "6 trees of 3 comparisons at most" in text
    pairs = agfmc.train("one-vs-one", X, Y, calibration=0)
    members = describe(join([pairs, node]))["members"]
    assert [one["trees"] for one in members] == [0, 6]
    assert member_text(members[1]) == (
        "direct classifier, weight 0.5, for each point 6 boosted trees"
    )


def test_members_with_normalisations_of_their_own():
    pairs = agfmc.train("one-vs-one", X, Y, normalise=True, calibration=0)
    boosted_node = agfmc.train(parse('"" L {0 1 2}'), 5 * X, Y, normalise=True, calibration=0)
    parts = [boosted(), pairs, boosted_node]
    whole = join(parts)
    assert len(whole.normalisation.parts) == 3
    check_configuration(whole, ModelError)
    expected = np.mean([plain(one) for one in parts], axis=0)
    np.testing.assert_allclose(plain(whole), expected, rtol=0, atol=1e-12)
    for part, member in zip(parts, members_of(whole)):
        np.testing.assert_allclose(plain(member), plain(part), rtol=0, atol=1e-12)
    near = agfmc.train(parse('"" K {0 1 2}'), X, Y, calibration=0)
    with pytest.raises(ModelError, match="code K can be a member only"):
        join([pairs, near])
