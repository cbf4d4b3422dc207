"""Codes as they are printed and read again, by plain means."""

import re
from itertools import combinations

import numpy as np
import pytest

from agfmc.cli.print_control import main
from agfmc.codes import matrix

SOME = [2, 3, 4, 5, 8, 12, 13, 29, 40]
EVERY = [k if k < 14 or k in SOME else pytest.param(k, marks=pytest.mark.long)
         for k in range(2, 41)]


def read(text):
    """The coding matrix (m, k) of one matrix in a control file, without the parser."""
    rows, braces = text[:text.index("{")], text[text.index("{"):]
    k = len(re.findall(r"\d+", braces))
    assert [int(label) for label in re.findall(r"\d+", braces)] == list(range(k))
    table = []
    for left, right in re.findall(r'""([\d\s]+)/([\d\s]+);', rows):
        entries = [0] * k
        for side, sign in ((left, -1), (right, 1)):
            for position in map(int, side.split()):
                assert entries[position] == 0
                entries[position] = sign
        table.append(entries)
    assert len(table) == rows.count(";")
    return np.array(table)


@pytest.fixture
def printed(capsys):
    def call(*words):
        assert main([str(word) for word in words]) == 0
        return capsys.readouterr().out
    return call


@pytest.mark.parametrize("k", EVERY)
def test_codes_with_a_pattern(check_code, printed, k):
    rest = read(printed("-Q", 0, k))
    if k > 2:
        np.testing.assert_array_equal(rest, 2 * np.eye(k) - 1)
    else:
        assert rest.tolist() == [[-1, 1]]
    pairs = read(printed("-Q", 1, k))
    assert len(pairs) == k * (k - 1) // 2
    assert [tuple(np.flatnonzero(row)) for row in pairs] == list(combinations(range(k), 2))
    assert all(row[np.flatnonzero(row)].tolist() == [-1, 1] for row in pairs)
    adjacent = read(printed("-Q", 5, k))
    np.testing.assert_array_equal(adjacent, [[1 if j > i else -1 for j in range(k)]
                                             for i in range(k - 1)])
    tree = read(printed("-Q", 6, k))
    assert len(tree) == k - 1
    # each row parts the classes of a node, the lower half (rounded down) on the left
    nodes = [list(range(k))]
    for row in tree:
        classes = nodes.pop(0)
        half = len(classes) // 2
        assert np.flatnonzero(row < 0).tolist() == classes[:half]
        assert np.flatnonzero(row > 0).tolist() == classes[half:]
        nodes = [part for part in (classes[:half], classes[half:]) if len(part) > 1] + nodes
    assert not nodes
    for a in (rest, pairs, adjacent, tree):
        rows = [(tuple(np.flatnonzero(row < 0)), tuple(np.flatnonzero(row > 0))) for row in a]
        check_code(rows, k, strict=a is rest or a is adjacent)
        assert matrix.code_rank(rows, k) == k


def test_matrix_is_the_partitions(capsys):
    for words in ((0, 7), (1, 6), (4, 9), (7, 11), (8, 4), (10, 6)):
        assert main(["-Q", str(words[0]), "-P", str(words[1])]) == 0
        out, err = capsys.readouterr()
        table = [line.split() for line in err.splitlines() if re.fullmatch(r"[ 01-]+", line)]
        assert np.array(table, int).tolist() == read(out).tolist()
