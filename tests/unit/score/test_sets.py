"""Scores of sets of classes that are nodes of a tree."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.control.parse import parse
from agfmc.score.sets import hierarchical_scores, Hierarchy, set_scores

# In the order of the text 3 1 | 0 | 4 2; nodes: 0 the root, 1 {3 1}, 2 {0 {4 2}}, 3 {4 2}, and the
# classes from 4 on.
TREE = parse("a { b {3 1} c { 0 d {4 2} } }")
NODE = np.array([4, 1, 3, 0, 7])  # class 3, {3 1}, {4 2}, all, class 4
TRUE = np.array([0, 1, 2, 4, 4])  # classes 3, 1, 0, 2, 2


def test_by_hand():
    paths = Hierarchy(TREE).paths(NODE, TRUE)
    assert [one.tolist() for one in paths] == [[2, 1, 2, 0, 3], [2, 2, 2, 3, 3], [2, 1, 1, 0, 2]]
    assert hierarchical_scores(paths) == {
        "hierarchical_precision": 6 / 8,
        "hierarchical_recall": 6 / 12,
        "hierarchical_f": 12 / 20,
    }
    weighted = hierarchical_scores(paths, np.array([1.0, 0, 2, 1, 0]))
    assert weighted["hierarchical_precision"] == 4 / 6
    assert weighted["hierarchical_recall"] == 4 / 9


def test_all_classes_are_no_answer():
    nothing = Hierarchy(TREE).paths(np.zeros(5, dtype=int), TRUE)
    assert hierarchical_scores(nothing) == {
        "hierarchical_precision": None,
        "hierarchical_recall": 0.0,
        "hierarchical_f": 0.0,
    }
    assert set(hierarchical_scores(np.zeros((3, 0), dtype=int)).values()) == {None}


def test_nodes_of_sets():
    found = Hierarchy(TREE).nodes_of(
        np.array([0, 0, 2, 3, 0, 3, 1, -1, 4]), np.array([5, 2, 5, 5, 1, 4, 3, -1, 6])
    )
    assert found.tolist() == [0, 1, 2, 3, 4, 7, -1, -1, -1]


def test_exact_answers():
    size, holds = np.array([1, 2, 0, 3, 1]), np.array([True, True, False, True, False])
    y, labels = np.array([0, 1, 0, 2, 1]), np.array([4, 5, 6])
    assert set_scores(size, holds, y, labels)["exact"] == 0.2
    assert set_scores(size, holds, y, labels, np.array([3.0, 1, 1, 0, 1]))["exact"] == 0.5


def text_of(draw, labels):
    """The text of a random tree of bare nodes and matrices over these labels."""
    if len(labels) == 1:
        return str(labels[0])
    cuts = sorted(draw(st.sets(st.integers(1, len(labels) - 1), min_size=1, max_size=3)))
    parts = [text_of(draw, labels[a:b]) for a, b in zip([0, *cuts], [*cuts, len(labels)])]
    rows = "".join(f"x 0/{i}; " for i in range(1, len(parts)))
    return ("x " if len(parts) == 2 else rows) + "{" + " ".join(parts) + "}"


@given(st.data(), st.integers(2, 12))
def test_paths_are_those_of_sets_of_ancestors(data, k):
    tree = parse(text_of(data.draw, data.draw(st.permutations(range(k)))))
    labels, spans = tree.labels, tree.spans()
    # a node is the set of its classes, and its ancestors are the larger ones
    nodes = [frozenset(labels[branches[0][0] : branches[-1][1]]) for branches in spans]
    nodes += [frozenset([label]) for label in labels]
    above = [{other for other in nodes if node <= other and len(other) < k} for node in nodes]
    hierarchy = Hierarchy(tree)
    a, t = (part.ravel() for part in np.meshgrid(np.arange(len(nodes)), np.arange(k)))
    paths = hierarchy.paths(a, t)
    expected = [
        (len(above[i]), len(above[len(spans) + j]), len(above[i] & above[len(spans) + j]))
        for i, j in zip(a.tolist(), t.tolist())
    ]
    assert list(zip(*(one.tolist() for one in paths))) == expected
    first, end = np.array(
        [(min(map(labels.index, node)), max(map(labels.index, node)) + 1) for node in nodes]
    ).T
    assert hierarchy.nodes_of(first, end).tolist() == list(range(len(nodes)))
    assert hierarchical_scores(paths)["hierarchical_f"] == pytest.approx(
        2 * sum(row[2] for row in expected) / sum(row[0] + row[1] for row in expected)
    )
