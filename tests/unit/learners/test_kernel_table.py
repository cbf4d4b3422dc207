"""Tables of kernel values: what LIBSVM would compute, to the last bit of single precision."""

import math

import numpy as np
import pytest

from agfmc.learners.protocol import parse_options
from agfmc.learners.points import Nodes
from agfmc.learners.svm import solve
from agfmc.core.models import Kernel
from agfmc.learners.kernel_table import KernelTable, most_rows, rounding, table_pays


def data(seed, n, d=5, scale=1.0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d)) * scale
    x[generator.random((n, d)) < 0.2] = 0.0
    side = (x[:, 0] + 0.6 * scale * generator.normal(size=n) > 0.2 * scale).astype(np.int8)
    return x, side


def table_of(x, rows, gamma, **kwargs):
    table = KernelTable(x, rows, Kernel("rbf", gamma), rounding(x, gamma), **kwargs)
    for block in table.blocks[::-1]:
        table.fill(block)
    return table


def values_of(table, n):
    """(n, n) of what LIBSVM finds: the serial number of j behind the pointer of i."""
    nodes = table._nodes
    number = np.arange(n)
    serial = nodes[number // 2, 0, number % 2].astype(int)
    return np.array([[nodes[i // 2, serial[j], i % 2] for j in range(n)] for i in range(n)])


def by_libsvm(x, gamma):
    """Its order of operations, in double precision, one number after the other."""

    def dot(a, b):
        total = 0.0
        for p, q in zip(a, b):
            total += p * q
        return total

    rows = x.tolist()
    squares = [dot(row, row) for row in rows]
    return np.array(
        [
            [
                math.exp(-gamma * (squares[i] + squares[j] - 2 * dot(rows[i], rows[j])))
                for j in range(len(x))
            ]
            for i in range(len(x))
        ]
    ).astype(np.float32)


@pytest.mark.parametrize("n", [1, 2, 7, 12, 301])
def test_the_values_are_those_of_libsvm(n):
    x, _ = data(n, n)
    np.testing.assert_array_equal(values_of(table_of(x, np.arange(n), 0.3), n), by_libsvm(x, 0.3))


def test_values_near_the_midpoint_of_two_numbers():
    x, _ = data(1, 400, scale=30.0)  # large terms that cancel: many cases of doubt
    x[200:] = x[:200] + np.random.default_rng(2).normal(size=(200, 5))
    table = KernelTable(x, np.arange(400), Kernel("rbf", 0.05), rounding(x, 0.05))
    asked = []
    again = table._again
    table._again = lambda a, b: asked.append(len(a)) or again(a, b)
    for block in table.blocks:
        table.fill(block)
    assert 0 < sum(asked) < 100
    np.testing.assert_array_equal(values_of(table, 400), by_libsvm(x, 0.05))


@pytest.mark.parametrize(
    "text", ["-g 0.25", "-c 20 -g 1", "-s 1 -n 0.25 -g 0.125", "-h 0 -w1 4", "-m 0.1 -g 0.5"]
)
@pytest.mark.parametrize("n, reuse", [(150, False), (151, True)])
def test_solutions_are_the_same(text, n, reuse):
    x, side = data(n, 400)
    options = parse_options(text)
    gamma = options.kernel_for(5).gamma
    generator = np.random.default_rng(n)
    rows = generator.permutation(400)[:n]
    table = table_of(x, rows, gamma, reuse=reuse)
    for some in (rows, generator.permutation(rows)[: n // 2]):
        some = some[np.argsort(side[some] != side[some[0]], kind="stable")]
        one, two = (solve(nodes, some, side[some], options) for nodes in (Nodes(x), table))
        np.testing.assert_array_equal(one.sv, two.sv)
        assert one.coef.tobytes() == two.coef.tobytes() and one.rho == two.rho
        assert one.labels == two.labels and one.n_sv == two.n_sv


def test_what_a_table_takes():
    assert most_rows(0) == 0 and most_rows(512) == 8192
    table = KernelTable(np.eye(5), np.arange(5), Kernel("rbf", 1.0), 1e-15)
    assert table._memory.nbytes == 8 * 6 * 7


def test_when_a_table_pays():
    assert table_pays(1000, [(1000, 4.2)], 16) and not table_pays(1000, [(1000, 1.0)], 16)
    assert not table_pays(1000, [(200, 4.2)] * 3, 16) and table_pays(1000, [(200, 4.2)] * 20, 16)


def test_rounding():
    x, _ = data(0, 50)
    assert 1e-16 < rounding(x, 0.1) < 1e-12
    assert rounding(x * 1e6, 0.1) is None and rounding(x * 1e200, 0.1) is None
    assert rounding(x, 0.1) < rounding(x, 1.0)
