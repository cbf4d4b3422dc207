"""Options that a control tree leaves open: of rows, else of multi-class nodes."""

import pytest

from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.errors import UsageError
from agfmc.experiments.candidates import open_nodes, open_rows, searched_options, with_options

NODES = parse('"-c 1" {"" K {0 1 2} "-k 3" K {3 4 5 6}}')
MIXED = parse('"" {"" K {0 1 2} "" L {3 4 5 6}}')


def test_nodes_are_open_where_no_row_is():
    assert open_rows(NODES) == [False] and open_nodes(NODES) == [1]
    start = searched_options(NODES, "-c 7")
    assert (start.learner, start.fixed, start.given) == ("K", "", "-k 11")
    assert [direct.options for direct in with_options(NODES, "-k 5").directs.values()] == [
        "-k 5",
        "-k 3",
    ]
    assert parse(format_tree(with_options(NODES, "-k 5"))).directs[1].options == "-k 5"
    assert [row.text for row in with_options(NODES, "-k 5").rows] == ["-c 1"]


def test_rows_come_first():
    assert open_rows(MIXED) == [True] and open_nodes(MIXED) == [1, 2]
    assert searched_options(MIXED, "-c 7").given == "-c 7"
    tuned = with_options(MIXED, "-c 8")
    assert [row.text for row in tuned.rows] == ["-c 8"]
    assert [direct.options for direct in tuned.directs.values()] == ["", ""]


@pytest.mark.parametrize(
    "text, message",
    [
        ('"-c 1" {0 1}', "no row or node of the control"),
        ('" " K {0 1 2}', "no row or node"),
        ('" " {"" K {0 1 2} "" L {3 4 5}}', 'nodes of several learners, K and L, have ""'),
    ],
)
def test_nothing_that_is_searched(text, message):
    with pytest.raises(UsageError, match=message):
        searched_options(parse(text), "")
