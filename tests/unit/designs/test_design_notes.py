"""Lines about searches: what each number is, and which words say what was searched."""

import re

import numpy as np
import pytest

from agfmc.control.build import from_pairs
from agfmc.control.parse import parse
from agfmc.landmarks.learner import NystromOptions
from agfmc.designs.design import LabelledPoints
from agfmc.designs.split_costs import Loss, TreeSearch
from agfmc.designs.tree_search import best_tree, in_brackets

MACHINE = NystromOptions(gamma=0.3, ridge=0.1, landmarks=20)


def found(**settings):
    generator = np.random.default_rng(3)
    y = np.arange(75) % 5
    points = LabelledPoints(
        generator.normal(size=(75, 3)) + y[:, None] * [1, 0.3, -0.2],
        2 * y,
        [0, 2, 4, 6, 8],
        {0: "a", 4: "c, d"},
    )
    return best_tree(points, search=TreeSearch(MACHINE, **settings))


def test_numbers_are_those_of_the_tree():
    chosen = found(balance=0.01)
    lines, best = chosen.notes, chosen.best
    assert lines[0] == (
        f"best-tree: leave-one-out log loss {best.loss:.4f} +- {best.error:.4f} a "
        f"point; on points that did not choose it {chosen.holdout:.4f} +- "
        f"{chosen.holdout_error:.4f}"
    )
    assert "balance: 0.01 for each classifier that a point needs" in lines
    assert (
        f"4 classifiers, of which {best.queries:.2f} are evaluated for a point on average" in lines
    )
    table = [line.split(None, 3) for line in lines[6:10]]
    assert [list(map(float, row[:3])) for row in table] == [
        [round(value, 4) for value in (node.loss, node.error, node.share)] for node in best.nodes
    ]
    # class 4 has a name with a comma, and 2, 6 and 8 have none
    words = {0: "a", 2: "2", 4: "4", 6: "6", 8: "8"}
    assert [row[3].split(" / ") for row in table] == [
        [", ".join(words[label] for label in side) for side in (node.left, node.right)]
        for node in best.nodes
    ]


@pytest.mark.parametrize(
    "settings, words",
    [
        ({}, "exact: the least of all 105 trees, from 90 splits"),
        (
            {"splits": 40},
            "by a local search among 105 trees; how much better the best of all is, is not known",
        ),
    ],
)
def test_what_was_searched(settings, words):
    assert words in found(**settings).notes[1]


def test_thousands_have_commas():
    generator = np.random.default_rng(3)
    y = np.arange(90) % 9
    points = LabelledPoints(generator.normal(size=(90, 2)) + y[:, None], y, range(9))
    line = best_tree(points, search=TreeSearch(MACHINE, splits=1200)).notes[1]
    assert re.match(
        r"not exact: (\d,)?\d{3} of 9,330 splits were tried, by a local search among "
        "2,027,025 trees;",
        line,
    )


def test_names_of_losses():
    assert [Loss(name).title for name in ("log-loss", "error", "cost")] == [
        "log loss",
        "errors at nodes",
        "cost above that of right answers",
    ]


def test_brackets_of_a_deep_tree():
    pairs = 0
    for label in range(1, 3000):
        pairs = (pairs, label)
    text = in_brackets(from_pairs(pairs, range(3000)))
    assert text.startswith("(" * 2999 + "0 1) 2)") and text.endswith(" 2998) 2999)")
    assert in_brackets(parse('"" {"" {7 2} 5}')) == "((7 2) 5)"
