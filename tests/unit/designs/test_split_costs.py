"""Costs of splits against classifiers that are trained without each point."""

import numpy as np
import pytest

from agfmc.core import memory
from agfmc.core.errors import DataError
from agfmc.designs.best_tree import Nodes
from agfmc.learners.platt import fit_sigmoid
from agfmc.landmarks.learner import NystromOptions
from agfmc.designs.split_costs import GROUPS, log_losses, Loss, SplitCosts


def costs_by(loss, x, y, w=None):
    costs = SplitCosts(x, y, MACHINE, w=w)
    costs.loss = loss
    return costs


def points(n=60, k=4, seed=3):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    x = (
        generator.normal(size=(len(y), 3))
        + np.array([[0, 0, 0], [1.5, 0, 0], [0, 2, 0], [1, 1, 2]])[y % 4]
    )
    return x, y


MACHINE = NystromOptions.parse("-m 12 -g 0.3 -l 0.05")


def left_out(costs, x, y, left, right, w=None):
    """Leave-one-out values of a split, by training without each point; and its points."""
    root = np.ones(len(y)) if w is None else np.sqrt(w)
    phi = costs.landmarks.features(costs.landmarks.kernel_values(x))
    rows = np.flatnonzero(np.isin(y, [*left, *right]))
    rows = rows[np.argsort(y[rows], kind="stable")]
    t, found = np.where(np.isin(y[rows], right), 1.0, -1.0), []
    for i in range(len(rows)):
        others = np.delete(np.arange(len(rows)), i)
        own = root[rows[others]]
        a = np.vstack([phi[:, rows[others]], np.ones(len(others))]) * own
        ridge = np.diag([costs.options.ridge] * len(phi) + [0.0])
        v = np.linalg.solve(a @ a.T + ridge, a @ (t[others] * own))
        found.append(v @ np.append(phi[:, rows[i]], 1.0))
    return np.array(found), t > 0, rows


def sigmoid_losses(f, positive, w=None):
    a, b, _ = fit_sigmoid(f, positive, w=w)
    p = 1 / (1 + np.exp(a * f + b))
    return -np.log(np.where(positive, p, 1 - p)), (p >= 0.5) != positive


def test_where_there_is_nothing_to_learn_the_loss_is_that_of_the_shares():
    """The mean of the other points would give each point away, by a sigmoid that falls."""
    x, y = points()
    request = Nodes((0, 1, 2, 3), np.array([[False, True, True, False]]))
    [found] = SplitCosts(x, y, NystromOptions.parse("-m 12 -g 0.3 -l 1e9"))([request])
    assert found.sum() == pytest.approx(len(y) * np.log(2), rel=1e-3)


@pytest.mark.parametrize("left,right", [([0, 1], [2, 3]), ([2], [0, 3]), ([3], [1])])
def test_held_out_values_are_those_of_classifiers_without_the_point(left, right):
    x, y = points()
    costs = SplitCosts(x, y, MACHINE)
    f, positive, rows = left_out(costs, x, y, left, right)
    a, b, _ = fit_sigmoid(f, positive)
    phi = costs.landmarks.features(costs.landmarks.kernel_values(x))
    full = np.vstack([phi, np.ones(len(x))])
    v = np.linalg.solve(
        full[:, rows] @ full[:, rows].T + np.diag([costs.options.ridge] * len(phi) + [0.0]),
        full[:, rows] @ np.where(positive, 1.0, -1.0),
    )
    values = v @ full  # those of other classes are not in the sums
    values[rows] = f
    found = costs.held_out_values([((0,), (1, 2, 3)), (tuple(left), tuple(right))])
    assert found.shape == (len(x), 2) and (costs.classes == y).all()
    assert found[:, 1] == pytest.approx(-np.tanh((a * values + b) / 2), abs=1e-5)
    threads = SplitCosts(x, y, MACHINE, workers=3)
    assert (
        threads.held_out_values([((0,), (1, 2, 3)), (tuple(left), tuple(right))]).tobytes()
        == found.tobytes()
    )


@pytest.mark.parametrize("left,right", [([0, 1], [2, 3]), ([2], [0, 1, 3]), ([1], [3])])
def test_a_cost_is_that_of_leaving_each_point_out(left, right):
    x, y = points()
    costs = SplitCosts(x, y, MACHINE)
    f, positive, _ = left_out(costs, x, y, left, right)
    expected = sigmoid_losses(f, positive)[0]
    classes = sorted(left + right)
    request = Nodes(classes, np.array([[c in right for c in classes]]))
    [found] = costs([request])
    assert found.shape == (1, GROUPS)
    assert found.sum() == pytest.approx(expected.sum(), rel=1e-6)
    of_points = costs.point_losses([(tuple(left), tuple(right))])[0]
    assert of_points[of_points != 0] == pytest.approx(expected, rel=1e-4)
    assert of_points.sum() == pytest.approx(found.sum(), rel=1e-12)


def test_errors_and_costs_of_errors():
    x, y = points()
    keep = np.isin(y, [0, 3]) | (np.arange(len(y)) % 5 < (y + 1))  # classes of unequal sizes
    x, y = x[keep], y[keep]
    left, right = [0, 3], [1, 2]
    f, positive, rows = left_out(SplitCosts(x, y, MACHINE), x, y, left, right)
    wrong = sigmoid_losses(f, positive)[1]
    request = Nodes((0, 1, 2, 3), np.array([[False, True, True, False]]))
    [found] = costs_by(Loss("error"), x, y)([request])
    assert found.sum() == wrong.sum() > 0
    table = np.arange(16.0).reshape(4, 4)
    mean = {
        c: np.mean([table[c, other] for other in y if (other in left) != (c in left)])
        for c in range(4)
    }
    [found] = costs_by(Loss("cost", table), x, y)([request])
    assert found.sum() == pytest.approx(sum(mean[c] for c in y[rows][wrong]))


def test_a_sample_is_left_out_and_stands_for_all():
    x, y = points(1200)
    every, some = (
        SplitCosts(x, y, MACHINE),
        SplitCosts(x, y, NystromOptions.parse("-m 12 -g 0.3 -l 0.05 --loo 400")),
    )
    assert len(every.rows) == 1200 and len(some.rows) == 400
    request = [
        Nodes((0, 1, 2, 3), np.array([[False, True, True, True], [True, False, False, True]]))
    ]
    [whole], [part] = every(request), some(request)
    assert part.sum() == pytest.approx(whole.sum(), rel=0.2)
    assert some.point_weights.sum() == pytest.approx(1200)


def test_the_same_bytes_for_any_number_of_threads():
    x, y = points()
    requests = [
        Nodes(classes, np.eye(len(classes), dtype=bool)[1:])
        for classes in ((0, 1), (0, 1, 2), (1, 2, 3), (0, 1, 2, 3))
    ]
    one, four = SplitCosts(x, y, workers=1), SplitCosts(x, y, workers=4)
    assert one.options == four.options
    for a, b in zip(one(requests), four(requests), strict=True):
        assert a.tobytes() == b.tobytes()


def test_gamma_and_lambda_are_settled():
    x, y = points(200)
    found = SplitCosts(x, y).options
    assert found.gamma in (0.0833333, 0.166667, 0.333333, 0.666667, 1.33333) and found.ridge > 0
    assert found.landmarks == 200
    given = SplitCosts(x, y, NystromOptions.parse("-t 0 -m 20")).options
    assert given.kernel == "linear" and given.landmarks == 20


def test_sigmoids_of_many_rows():
    generator = np.random.default_rng(1)
    f = generator.normal(size=(5, 300)) * np.array([[0.01], [1], [1], [30], [1]])
    positive = f + generator.normal(size=f.shape) * [[0.02], [1], [0.01], [20], [1]] > 0.4
    counts = np.column_stack([positive.sum(axis=1), (~positive).sum(axis=1)])
    losses, wrong = log_losses(f, positive, counts)
    for row in range(4):
        expected, mistakes = sigmoid_losses(f[row], positive[row])
        assert losses[row] == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert losses[row].sum() == pytest.approx(expected.sum(), rel=1e-6)
        assert (wrong[row] == mistakes).all()
    falling = log_losses(-f[:1], positive[:1], counts[:1])[0]
    share = (
        counts[0, 0] * (counts[0, 0] + 1) / (counts[0, 0] + 2) + counts[0, 1] / (counts[0, 1] + 2)
    ) / counts[0].sum()
    assert falling == pytest.approx(-np.log(np.where(positive[:1], share, 1 - share)))
    alone = log_losses(f[2:3], positive[2:3], counts[2:3])[0]
    assert alone == pytest.approx(losses[2:3], rel=1e-12)


@pytest.mark.parametrize("left,right", [([0, 1], [2, 3]), ([2], [0, 1, 3]), ([1], [3])])
def test_a_weighted_cost_is_that_of_leaving_each_point_out_with_all_its_weight(left, right):
    x, y = points()
    w = np.random.default_rng(6).integers(1, 5, len(y)).astype(float)
    costs = SplitCosts(x, y, MACHINE, w=w)
    f, positive, rows = left_out(costs, x, y, left, right, w)
    losses, wrong = sigmoid_losses(f, positive, w[rows])
    classes = sorted(left + right)
    request = Nodes(classes, np.array([[c in right for c in classes]]))
    [found] = costs([request])
    assert found.sum() == pytest.approx(w[rows] @ losses, rel=1e-6)
    [errors] = costs_by(Loss("error"), x, y, w=w)([request])
    assert errors.sum() == pytest.approx(w[rows] @ wrong)
    totals = np.bincount(y, weights=w)
    assert costs.point_weights == pytest.approx(w) and costs.shares == pytest.approx(
        totals / totals.sum()
    )
    table = np.arange(16.0).reshape(4, 4)
    mean = {
        c: sum(table[c, o] * totals[o] for o in other) / sum(totals[o] for o in other)
        for own, other in ((left, right), (right, left))
        for c in own
    }
    [found] = costs_by(Loss("cost", table), x, y, w=w)([request])
    assert found.sum() == pytest.approx(sum(w[row] * mean[y[row]] for row in rows[wrong]))


def test_classifiers_of_whole_weights_are_those_of_copies():
    x, y = points(40)
    w = np.random.default_rng(6).integers(1, 4, len(y))
    made = NystromOptions.parse("-m 40 -g 1 -l 0.05")
    one = SplitCosts(x, y, made, w=w.astype(float))
    other = SplitCosts(np.repeat(x, w, axis=0), np.repeat(y, w), made)
    assert other.counts == pytest.approx(one.counts)
    for classes in ((0, 1), (0, 1, 2, 3)):
        f = []
        for costs in (one, other):
            _, v, b = costs._solved(classes, 0.05)
            f.append(v.T @ costs.landmarks.features(costs.landmarks.kernel_values(x)) + b[:, None])
        assert np.allclose(*f, rtol=0, atol=1e-9)


def test_a_weighted_sample_stands_for_all_weights_and_settles_alike():
    x, y = points(1200)
    w = np.random.default_rng(6).uniform(0.5, 3, len(y))
    some = SplitCosts(x, y, NystromOptions.parse("-m 12 -g 0.3 -l 0.05 --loo 400"), w=w)
    assert len(some.point_weights) == 400
    assert some.point_weights.sum() == pytest.approx(w.sum())
    x, y = points(80)
    plain, even, large = (
        SplitCosts(x, y, NystromOptions.parse("-m 20"), w=weights)
        for weights in (None, np.ones(80), np.full(80, 1000.0))
    )
    assert even.options == plain.options
    assert large.options.ridge == pytest.approx(1000 * plain.options.ridge)
    request = [Nodes((0, 1, 2, 3), np.array([[False, True, True, True]]))]
    [a], [b] = plain(request), even(request)
    assert np.allclose(a, b, rtol=1e-7)


def test_sigmoids_of_whole_weights_are_those_of_copies():
    generator = np.random.default_rng(1)
    f = generator.normal(size=(2, 50)) * [[1.0], [-1.0]]
    positive = np.tile(f[0] + generator.normal(size=50) > 0.2, (2, 1))
    w = generator.integers(1, 4, 50)
    counts = np.column_stack([positive @ w, ~positive @ w])
    losses, wrong = log_losses(f, positive, counts, w.astype(float))
    copied = log_losses(np.repeat(f, w, axis=1), np.repeat(positive, w, axis=1), counts)
    assert np.allclose(np.repeat(losses, w, axis=1), copied[0], rtol=0, atol=1e-5)
    assert not np.allclose(losses, log_losses(f, positive, counts)[0], atol=1e-3)


def test_a_factor_of_all_weights_changes_no_sigmoid():
    generator = np.random.default_rng(1)
    f = generator.normal(size=(3, 50))
    positive = f + generator.normal(size=f.shape) > 0.2
    counts = np.column_stack([positive.sum(axis=1), (~positive).sum(axis=1)])
    w = generator.uniform(0.5, 3, 50)
    for losses, others in zip(
        log_losses(f, positive, counts, w), log_losses(f, positive, counts, w / 2**30)
    ):
        assert losses.tobytes() == others.tobytes()


def test_threads_take_memory(monkeypatch):
    # the sums of 4 classes, and two for each of 3 threads; the features of 60 points
    size = 4 * 12 * 12 * (4 + 4 * 3) + 8 * 12 * 60
    monkeypatch.setattr(memory, "memory_limit", lambda: 2 * size)
    SplitCosts(*points(), MACHINE, workers=3)
    with pytest.raises(DataError, match="the sums of 12 landmarks and 4 classes are more than"):
        SplitCosts(*points(), MACHINE, workers=4)
