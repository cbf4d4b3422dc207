"""Codes with a pattern and trees; codes as arrays and text, rank and distances."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from agfmc.control import matrix
from agfmc.designs import standard
from agfmc.control.build import code_rows, from_pairs
from agfmc.core.errors import UsageError


@st.composite
def matrices(draw):
    m, k = draw(st.integers(1, 9)), draw(st.integers(2, 9))
    cell = st.integers(-1, 1)
    return draw(st.lists(st.lists(cell, min_size=k, max_size=k), min_size=m, max_size=m))


def rows_of(entries):
    return [
        tuple(tuple(j for j, a in enumerate(row) if a == sign) for sign in (-1, 1))
        for row in entries
    ]


@given(matrices())
def test_rows_and_matrix_correspond(entries):
    a = matrix.rows_to_matrix(rows_of(entries), len(entries[0]))
    assert a.tolist() == entries and a.dtype == np.int8


def test_format_matrix():
    assert matrix.format_matrix([((0, 1), (2, 3)), ((0,), (1,))], 4) == [
        "-1 -1  1  1",
        "-1  1  0  0",
    ]


@settings(deadline=None)
@given(matrices())
def test_rank_is_that_of_singular_values(entries):
    k = len(entries[0])
    expected = np.linalg.matrix_rank(np.array([*entries, [1] * k], dtype=float))
    assert matrix.code_rank(rows_of(entries), k) == expected


@settings(deadline=None)
@given(matrices())
def test_smallest_distances_are_those_of_the_definition(entries):
    a = np.array(entries)
    m, k = a.shape
    of_rows = [
        min(np.abs(a[i] - a[j]).sum(), np.abs(a[i] + a[j]).sum()) / 2
        for i in range(m)
        for j in range(i)
    ]
    of_columns = [np.abs(a[:, i] - a[:, j]).sum() / 2 for i in range(k) for j in range(i)]
    expected = (min(of_rows) if of_rows else None, min(of_columns))
    assert matrix.smallest_distances(rows_of(entries), k) == expected


@pytest.mark.parametrize(
    "rows, k, wanted",
    [
        ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((), (0, 1, 2, 3))], 4, True),
        ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))], 4, False),  # products of -1
        ([((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)), ((0, 3), (1, 2))], 4, False),
        ([((0,), (1,)), ((0,), (2,)), ((1,), (2,))], 3, False),
        ([((1,), (0,)), ((0,), (1,))], 2, False),
    ],
)
def test_orthogonal_columns(rows, k, wanted):
    assert matrix.columns_are_orthogonal(matrix.rows_to_matrix(rows, k)) is wanted


# Codes with a pattern


def rows_of_control(path):
    """Rows of a training control file without a tree."""
    text = path.read_text()
    numbers = re.findall(r'"" ([\d ]*)/([\d ]*);', text)
    return [tuple(tuple(map(int, side.split())) for side in row) for row in numbers]


@pytest.mark.parametrize("k", [2, 3, 4, 7, 33])
def test_rows_are_made_when_they_are_needed(k):
    rows = standard.one_vs_one(k)
    pairs = [((i,), (j,)) for i in range(k) for j in range(i + 1, k)]
    assert rows == pairs and list(rows) == pairs and rows == pickle.loads(pickle.dumps(rows))
    assert [rows[i] for i in range(-len(pairs), len(pairs))] == pairs * 2 and rows[1:] == pairs[1:]
    assert rows != pairs[1:] and rows != pairs[:-1] + [((0,), (9,))] and rows != 5
    with pytest.raises(IndexError):
        rows[len(pairs)]
    assert standard.adjacent(k) == [(tuple(range(i)), tuple(range(i, k))) for i in range(1, k)]
    assert (
        standard.one_vs_rest(k) == [((0,), (1,))]
        if k == 2
        else [(tuple(j for j in range(k) if j != i), (i,)) for i in range(k)]
    )
    if k < 9:
        counted = [f"{number:0{k}b}" for number in range(1, 2 ** (k - 1))]
        assert standard.exhaustive(k) == [
            tuple(tuple(j for j in range(k) if bits[j] == side) for side in "01")
            for bits in counted
        ]


@pytest.mark.parametrize("k", range(2, 11))
def test_exhaustive_is_every_partition_once(check_code, k):
    a = check_code(standard.exhaustive(k), k, strict=True)
    assert len(a) == 2 ** (k - 1) - 1 and (a[:, 0] == -1).all()
    assert np.array_equal(a.T @ a, 2 ** (k - 1) * np.eye(k) - 1)


def test_exhaustive_says_how_many_rows_there_would_be():
    with pytest.raises(UsageError, match="1048575 rows"):
        standard.exhaustive(21)
    with pytest.raises(UsageError, match=r"2\^99999 - 1 rows"):
        standard.exhaustive(100000)


@pytest.mark.parametrize(
    "make",
    [
        standard.one_vs_rest,
        standard.one_vs_one,
        standard.adjacent,
        standard.exhaustive,
        standard.balanced_tree,
    ],
)
@pytest.mark.parametrize("k", [1, 0, -3])
def test_less_than_two_classes_are_refused(make, k):
    with pytest.raises(UsageError, match="at least two classes"):
        make(k)


@pytest.mark.parametrize(
    "name, make",
    [("m_1vR", standard.one_vs_rest), ("m_adj", standard.adjacent), ("m_1v1", standard.one_vs_one)],
)
def test_rows_are_those_of_libagf(segment, name, make):
    path = segment / "models" / f"{name}.mbt"
    assert rows_of_control(path) == make(7)


def test_codes_with_a_pattern_work_without_numpy(root):
    code = (
        "import sys\n"
        "from agfmc.designs import standard\n"
        "standard.one_vs_one(26), standard.one_vs_rest(26), standard.exhaustive(6)\n"
        "standard.tree_code(26)\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


# Trees


def tree_rows(pairs, k):
    """(rows, leaves): nested pairs as a code, its positions those of the leaves."""
    tree = from_pairs(pairs, range(k))
    return code_rows(tree), tree.labels


def test_balanced_tree_puts_the_smaller_half_left():
    assert standard.balanced_tree(2) == (0, 1)
    assert standard.balanced_tree(7) == ((0, (1, 2)), ((3, 4), (5, 6)))


@pytest.mark.parametrize("k", [2, 5, 9, 100])
def test_a_tree_is_a_code_of_full_rank(k):
    rows, leaves = tree_rows(standard.balanced_tree(k), k)
    assert len(rows) == k - 1 and sorted(leaves) == list(range(k))
    assert matrix.code_rank(rows, k) == k


@pytest.mark.parametrize("deepen", [lambda t, i: (t, i), lambda t, i: (i, t)])
def test_chains_may_be_thousands_deep(deepen):
    tree = 0
    for i in range(1, 2000):
        tree = deepen(tree, i)
    rows, leaves = tree_rows(tree, 2000)
    assert sorted(leaves) == list(range(2000))
    assert len(rows) == 1999 and len(rows[0][0]) + len(rows[0][1]) == 2000
