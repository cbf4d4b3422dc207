"""k nearest neighbours: the exact ones, ties by row number, whatever the block."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.learners import neighbours
from agfmc.learners.neighbours import Neighbours
from agfmc.core.errors import DataError


def brute(x, points, k):
    """The k nearest, from every distance, features added one by one."""
    x, points = np.asarray(x, np.float64), np.asarray(points, np.float64)
    square = np.zeros((len(points), len(x)))
    for j in range(x.shape[1]):
        square += (points[:, j, None] - x[:, j]) ** 2
    return np.argsort(square, axis=1, kind="stable")[:, :k]


def kinds(rng, n=700, d=4):
    x = rng.normal(size=(n, d))
    return {
        "random": x,
        "float32": x.astype(np.float32),
        "grid": rng.integers(0, 4, (n, d)).astype(float),
        "repeated": x[rng.integers(0, 40, n)],
        "equal": np.zeros((n, d)),
        "far": x + 1e8,
        "tenths": rng.integers(0, 5, (n, d)) / 10,
        "small": x * 1e-170,
        "large": x * 1e160,
        "mixed": x * 10.0 ** rng.integers(-9, 9, (n, 1)),
    }


@pytest.mark.few(12)
@pytest.mark.parametrize("kind", list(kinds(np.random.default_rng(0))))
@pytest.mark.parametrize("k", [1, 2, 11, 300])
def test_the_nearest_are_those_of_brute_force(kind, k):
    rng = np.random.default_rng(5)
    x = kinds(rng)[kind]
    points = np.concatenate([x[:60], kinds(rng)[kind][:60]])
    with np.errstate(over="ignore"):
        expected = brute(x, points, k)
    model = Neighbours(x, np.zeros(len(x), int), 1, k)
    np.testing.assert_array_equal(model.nearest(points, k), expected)


def test_many_features():
    rng = np.random.default_rng(2)
    x, points = rng.normal(size=(3000, 60)), rng.normal(size=(50, 60))
    x[1500:] = x[:1500]
    model = Neighbours(x, np.zeros(3000, int), 1, 7)
    np.testing.assert_array_equal(model.nearest(points, 7), brute(x, points, 7))


@given(st.data())
def test_any_small_problem(data):
    d = data.draw(st.integers(1, 3))
    value = st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.0, 1e-9, -1.0, 1e9, 7.25])
    row = st.lists(value, min_size=d, max_size=d)
    x = np.array(data.draw(st.lists(row, min_size=1, max_size=40)))
    points = np.array(data.draw(st.lists(row, min_size=1, max_size=10)))
    k = data.draw(st.integers(1, len(x)))
    near = Neighbours(x, np.zeros(len(x), int), 1, k).nearest(points, k)
    np.testing.assert_array_equal(near, brute(x, points, k))


def test_probabilities_are_shares():
    x = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [3.0]])
    model = Neighbours(x, [0, 2, 0, 1, 1, 3], 5, 3)
    np.testing.assert_array_equal(
        model.probabilities([[0.9], [10.6]]), [[2 / 3, 0, 1 / 3, 0, 0], [0, 2 / 3, 0, 1 / 3, 0]]
    )


def test_equal_distances_go_by_row_number():
    x = np.array([[1.0], [-1.0], [1.0], [-1.0], [5.0]])
    assert Neighbours(x, [0, 1, 2, 3, 4], 5, 2).nearest([[0.0]], 2).tolist() == [[0, 1]]
    assert Neighbours(x, [0, 1, 2, 3, 4], 5, 3).nearest([[1.0]], 3).tolist() == [[0, 2, 1]]


@pytest.mark.parametrize("kind", ["random", "grid", "repeated"])
def test_a_point_alone_and_in_a_block(kind, monkeypatch):
    rng = np.random.default_rng(3)
    x = kinds(rng)[kind]
    y = rng.integers(0, 5, len(x))
    points = kinds(rng)[kind][:200]
    model = Neighbours(x, y, 5, 11)
    whole = model.probabilities(points)
    for step in (1, 7, 64):
        parts = [model.probabilities(points[i : i + step]) for i in range(0, 200, step)]
        assert np.concatenate(parts).tobytes() == whole.tobytes()
    monkeypatch.setattr(neighbours, "_CELLS", 1000)
    assert model.probabilities(points).tobytes() == whole.tobytes()


def test_k_is_all():
    x = np.arange(5.0)[:, None]
    np.testing.assert_allclose(
        Neighbours(x, [0, 0, 1, 1, 1], 2, 5).probabilities([[9.0]]), [[0.4, 0.6]]
    )


def test_no_points_and_points_that_do_not_fit():
    model = Neighbours(np.eye(3), [0, 1, 2], 3, 2)
    assert model.probabilities(np.empty((0, 3))).shape == (0, 3)
    with pytest.raises(DataError, match="have 2 features, the training points have 3"):
        model.probabilities(np.zeros((1, 2)))
