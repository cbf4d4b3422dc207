"""Schemes, data and tables to control trees."""

from __future__ import annotations

import numpy as np
import pytest

from agfmc.codes import randomcode
from agfmc.codes.empirical import class_distances
from agfmc.codes.linkage import LINKAGES, join
from agfmc.codes.schemes import SCHEMES, find_scheme
from agfmc.control.write import format_tree
from agfmc.errors import DataError, UsageError
from agfmc.flow.design import (design, design_for, matrix_of, ordered_from_confusions,
                               ordered_from_data, tree_from_confusions, tree_from_data)
from agfmc.formats.confusions import Confusions

LABELS = (2, 3, 5, 9)
NAMES = {2: "a", 3: "b", 5: "c", 9: "d"}


def points():
    """Four classes along a line: 5, 2, 9, 3."""
    generator = np.random.default_rng(4)
    y = np.repeat(LABELS, 12)
    where = {5: 0.0, 2: 3.0, 9: 7.0, 3: 12.0}
    x = generator.normal(size=(48, 3)) * 0.3
    x[:, 0] += [where[label] for label in y]
    return x, y


def confusions(errors):
    errors = np.array(errors, dtype=float)
    return Confusions(LABELS, errors, np.repeat(errors.sum(axis=1)[:, None], 4, axis=1), 4)


@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s.name not in (
    "convert", "contingency", "empirical", "adjacent-ordered")], ids=lambda s: s.name)
def test_schemes_that_count_classes(scheme):
    expected = design(scheme.name, LABELS, names=NAMES)
    assert design_for(scheme.name, None, None, LABELS, NAMES) == expected
    assert design_for(scheme.heading.split()[0], *points(), LABELS, NAMES) == expected


def test_options_reach_their_schemes():
    rows = randomcode.random_code(4, 6, True, 8)
    assert matrix_of(design_for("7", None, None, LABELS, None, rows=6, strict=True, seed=8)) \
        == (rows, LABELS)
    assert design_for("rand", None, None, range(9), None, draws=30, seed=2) == \
        design("random", range(9), draws=30, seed=2) != design("random", range(9), seed=2)
    assert len(design_for("ortho", None, None, range(6), None, reduced=True).rows) == 7


@pytest.mark.parametrize("name", ["9", "contingency", "confusion", "to-code"])
def test_schemes_of_other_things(name):
    with pytest.raises(UsageError, match="not of training data"):
        design_for(name, *points(), LABELS, None)


@pytest.mark.parametrize("metric", ["hausdorff", "mean-deviation"])
@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_tree_from_data(metric, linkage):
    x, y = points()
    tree, heights = tree_from_data(x, y, metric, NAMES, linkage)
    pairs, expected = join(class_distances(x, y, LABELS, metric), linkage)
    assert heights == expected and len(heights) == len(tree.nodes)
    shown = format_tree(tree)
    for label in LABELS:
        assert f"# class {label}: {NAMES[label]}\n" in shown
    text = str(pairs)
    assert tree.labels == tuple(LABELS[int(c)] for c in text if c.isdigit())
    assert design_for("empirical", x, y, LABELS, NAMES, metric=metric, linkage=linkage) == tree


def test_the_defaults_of_trees_and_orders():
    x, y = points()
    assert tree_from_data(x, y) == tree_from_data(x, y, "hausdorff", None, "single", LABELS)
    assert ordered_from_data(x, y) == ordered_from_data(x, y, "mean-deviation")
    table = confusions([[9, 0, 1, 2], [0, 9, 0, 2], [3, 0, 9, 0], [2, 1, 0, 9]])
    assert tree_from_confusions(table) == tree_from_confusions(table, "average")


@pytest.mark.parametrize("metric", [None, "hausdorff", "mean-deviation"])
def test_classes_in_the_order_of_data(metric):
    x, y = points()
    tree = ordered_from_data(x, y, metric, NAMES)
    assert tree.labels == (3, 9, 2, 5) or tree.labels == (5, 2, 9, 3)
    assert [row.left for row in tree.rows] == [(0,), (0, 1), (0, 1, 2)]
    assert design_for("ordered", x, y, LABELS, NAMES, metric=metric) == tree
    assert tree.names == NAMES


def test_classes_in_the_order_of_a_table():
    chain = {5: 0, 2: 1, 9: 2, 3: 3}
    table = [[{0: 30, 1: 6, 2: 1, 3: 0}[abs(chain[i] - chain[j])] for j in LABELS] for i in LABELS]
    tree = ordered_from_confusions(confusions(table), NAMES)
    assert tree.labels in ((3, 9, 2, 5), (5, 2, 9, 3)) and tree.names == NAMES


def test_classes_most_confused_are_split_last():
    table = confusions([[50, 1, 30, 0], [0, 60, 1, 9], [20, 0, 60, 1], [1, 11, 0, 70]])
    tree, heights = tree_from_confusions(table, names=NAMES)
    assert {frozenset(side) for side in tree.sides()[0]} == {frozenset({2, 5}), frozenset({3, 9})}
    assert heights[0] == max(heights) and len(heights) == 3


def test_labels_without_samples():
    with pytest.raises(DataError, match="class 7 has no samples"):
        design_for("empirical", *points(), (*LABELS, 7), None)
    with pytest.raises(UsageError, match="at least 2 classes"):
        design_for("ordered", *points(), (2,), None)


def test_a_scheme_without_a_number_has_no_word_for_it():
    without = [scheme for scheme in SCHEMES if scheme.number is None]
    assert {scheme.name for scheme in without} == {"contingency", "adjacent-ordered"}
    for word in ("none", "None", ""):
        with pytest.raises(UsageError, match="there is no scheme") as found:
            find_scheme(word)
        assert "None" not in str(found.value).split("expected")[1]
    assert all(find_scheme(scheme.name).heading == scheme.name for scheme in without)
    assert find_scheme("16").heading == "16 random-as-orthogonal"
    names = [name for scheme in SCHEMES for name in (scheme.name, *scheme.aliases)]
    assert len(names) == len(set(names))
