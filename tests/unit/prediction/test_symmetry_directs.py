"""Trees with neighbours (K) and logistic regression (L): classes under other labels, in other
places, and samples and features in another order, give the same answers."""

import numpy as np
import pytest

from agfmc.prediction.classifier import Classifier
from agfmc.prediction.decoding import Decoding, TREE_MODES
from agfmc.control.parse import parse
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration

# (as it is, with the branches of its nodes elsewhere)
KINDS = {
    "neighbours": ('"-k 4" K {A B C D}', '"-k 4" K {C A D B}'),
    "logistic": ('"-r 0.1" L {A B C D}', '"-r 0.1" L {D B A C}'),
    "binary below neighbours": ('"-k 5" K {"" {A B} "" {C D}}', '"-k 5" K {"" {C D} "" {A B}}'),
    "neighbours below binary": ('"" {"-k 3" K {A B C} D}', '"" {"-k 3" K {C A B} D}'),
    "logistic below neighbours": ('"-k 7" K {"" L {A B} C D}', '"-k 7" K {C D "" L {B A}}'),
    "neighbours in a matrix": (
        '"" 0/1; "" 0/2; "" 1/2; {"-k 4" K {A B} C D}',
        '"" 2/1; "" 2/0; "" 1/0; {D C "-k 4" K {B A}}',
    ),
    "logistic in a matrix": (
        '"" 0/1 2; "" 1/0 2; "" 2/0 1; {"" L {A B} C D}',
        '"" 2/1 0; "" 1/2 0; "" 0/2 1; {D C "" L {B A}}',
    ),
}
LABELS = dict(A=2, B=5, C=6, D=11)
OTHER = dict(A=9, B=7, C=30, D=1)
CENTRES = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2.0]])


def data(seed, n=120):
    """Points and the place of their class among A, B, C, D."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(4), rng.integers(4, size=n - 4)])
    return (rng.normal(size=(n, 3)) + CENTRES[y]).astype(np.float32).astype(float), y


def labelled(text, labels):
    for name, label in labels.items():
        text = text.replace(f"{{{name}", f"{{{label}").replace(f" {name}", f" {label}")
    return text


def trained(text, labels, x, y):
    y = np.array(list(labels.values()), np.int32)[y]
    return train_configuration(
        parse(labelled(text, labels)), x, y, TrainingSettings("-e 1e-8 -g 0.3 -c 2")
    )[0]


def columns(configuration, labels, points, **options):
    """Probabilities of A, B, C, D."""
    found = Classifier(configuration, Decoding(tree="full", **options))(points)
    order = [sorted(labels.values()).index(label) for label in labels.values()]
    return found.columns[:, order], found.classes


POINTS = data(99)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_classes_in_other_places(kind):
    x, y = data(1)
    one = columns(trained(KINDS[kind][0], LABELS, x, y), LABELS, POINTS)
    two = columns(trained(KINDS[kind][1], LABELS, x, y), LABELS, POINTS)
    # the partitions are the same, so each binary model is
    np.testing.assert_allclose(two[0], one[0], atol=2e-5)
    np.testing.assert_allclose(one[0].sum(axis=1), 1, atol=1e-12)
    top = np.sort(one[0], axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-4
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(two[1][clear], one[1][clear])


@pytest.mark.parametrize("kind", ["neighbours", "logistic", "logistic below neighbours"])
def test_other_labels(kind):
    x, y = data(2)
    one = columns(trained(KINDS[kind][0], LABELS, x, y), LABELS, POINTS)
    two = columns(trained(KINDS[kind][0], OTHER, x, y), OTHER, POINTS)
    np.testing.assert_array_equal(two[0], one[0])  # only names: not a bit changes
    top = np.sort(one[0], axis=1)
    clear = top[:, -1] > top[:, -2]
    renamed = np.array(list(OTHER.values()))[np.searchsorted(list(LABELS.values()), one[1])]
    np.testing.assert_array_equal(two[1][clear], renamed[clear])


@pytest.mark.parametrize("kind", ["neighbours", "logistic", "logistic below neighbours"])
def test_samples_and_features_in_another_order(kind):
    x, y = data(3)
    order = np.random.default_rng(0).permutation(len(y))
    one = columns(trained(KINDS[kind][0], LABELS, x, y), LABELS, POINTS)[0]
    two = columns(trained(KINDS[kind][0], LABELS, x[order], y[order]), LABELS, POINTS)[0]
    np.testing.assert_allclose(two, one, atol=2e-5)
    three = columns(
        trained(KINDS[kind][0], LABELS, x[:, [2, 0, 1]], y), LABELS, POINTS[:, [2, 0, 1]]
    )[0]
    np.testing.assert_allclose(three, one, atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_descent_takes_the_best_branch_of_each_node(kind):
    x, y = data(4)
    configuration = trained(KINDS[kind][0], LABELS, x, y)
    tree = configuration.tree
    full = Classifier(configuration, Decoding(tree="full"))(POINTS).columns
    found = {
        mode: Classifier(configuration, Decoding(tree=mode))(POINTS) for mode in TREE_MODES[:3]
    }
    p = {label: full[:, i] for i, label in enumerate(tree.classes)}
    branches = tree.branch_labels()
    for i in range(len(POINTS)):
        node, here, sure = 0, 1.0, True
        while True:
            shares = [sum(p[label][i] for label in branch) for branch in branches[node]]
            if sum(shares) == 0:
                sure = False
                break
            # a bare classifier goes right on ties, where sums may round either way: passed over
            best, next_best = sorted(shares)[:-3:-1]
            sure &= best - next_best > 1e-9
            take = shares.index(best)
            here = best
            child = tree.nodes[node].children[take]
            if not isinstance(child, int):
                break
            node = child
        if sure:
            assert found["recursive"].classes[i] == found["path"].classes[i] == child.label
            if tree.hierarchical:
                assert found["path"].columns[i, 0] == pytest.approx(here, abs=1e-12)
            rating = found["path"].confidence[i]
            assert rating == pytest.approx((4 * here - 1) / 3, abs=1e-11)
        assert p[found["full"].classes[i]][i] == full[i].max()
