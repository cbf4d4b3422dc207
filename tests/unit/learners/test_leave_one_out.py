"""Leave-one-out decision values of support vector machines, beside really leaving out."""

import dataclasses
import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import spearmanr

from agfmc.core.points import row_digests
from agfmc.core.errors import UsageError
from agfmc.core.models import Kernel
from agfmc.data.reading import read_training
from agfmc.core.kernels import KERNELS
from agfmc.kernels.values import PreparedKernel
from agfmc.learners import leave_one_out, platt
from agfmc.learners.kernel_table import KernelTable
from agfmc.learners.leave_one_out import loo_values
from agfmc.learners.svm import solve
from agfmc.learners.points import Nodes
from agfmc.learners.protocol import parse_options, Samples
from own_warnings import no_own_warnings


@pytest.fixture
def plain(monkeypatch):
    """The formula of Vapnik and Chapelle alone: the hull is that of the free points."""
    monkeypatch.setattr(leave_one_out, "_WIDTHS", (0.0,))
    monkeypatch.setattr(leave_one_out, "_FAR", np.inf)


def kernel_of(options, features):
    kernel = options.kernel_for(features)
    return lambda a, b: PreparedKernel(kernel, b).values(a).T


def options_of(text):
    return parse_options(text + " -e 1e-8")


def data(seed, n=60, noise=0.3):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 3))
    return x, (x[:, 0] + noise * generator.normal(size=n) > 0.2).astype(np.int8)


def values_of(solution, options, x, rows, points):
    k = kernel_of(options, x.shape[1])(points, x[rows[solution.sv]])
    return k @ solution.coef - solution.rho


def roles(solution, options, count):
    """(l,) 0 no support vector, 1 free, 2 at its bound."""
    weights = dict(options.weights)
    cost = [options.C * weights.get(label, 1.0) for label in solution.labels]
    role = np.zeros(count, dtype=int)
    limit = np.where(solution.coef > 0, cost[0], cost[1])
    role[solution.sv] = np.where(np.abs(solution.coef) < limit - 1e-9, 1, 2)
    return role


def trained(x, side, options):
    """The solution, its values f (l,), and loo_values (l,), also where these are in doubt."""
    rows = np.arange(len(x))
    solution = solve(Nodes(x), rows, side, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leave_one_out, "_FAR", np.inf)
        values = loo_values(
            kernel_of(options, x.shape[1]),
            x,
            Samples(rows, side, number=row_digests(x)),
            solution,
            options,
        )
    return solution, values_of(solution, options, x, rows, x), values


def left_out(x, side, options):
    """Truth, one training for each sample: (values (l,), whether all others kept their roles)."""
    nodes = Nodes(x)
    whole = solve(nodes, np.arange(len(x)), side, options)
    role = roles(whole, options, len(x))
    values, kept = np.empty(len(x)), np.empty(len(x), dtype=bool)
    for i in range(len(x)):
        rows = np.delete(np.arange(len(x)), i)
        part = solve(nodes, rows, side[rows], options)
        sign = 1 if part.labels[0] == whole.labels[0] else -1
        values[i] = sign * values_of(part, options, x, rows, x[i : i + 1])[0]
        kept[i] = np.array_equal(roles(part, options, len(rows)), role[rows])
    return values, kept


@pytest.mark.parametrize(
    "text, seed, share",
    [
        ("-t 0 -c 0.1", 2, 0.8),
        ("-t 0 -c 0.1", 3, 0.8),
        ("-t 0 -c 0.1", 4, 1.0),
        *(("-g 0.3", seed, 0.5) for seed in range(5)),
    ],
)
def test_close_to_leaving_one_out(text, seed, share):
    """The error is a share of that of f itself; a line in space moves little in any case."""
    options = options_of(text)
    x, side = data(seed)
    truth, _ = left_out(x, side, options)
    _, f, values = trained(x, side, options)
    assert np.corrcoef(values, truth)[0, 1] > 0.99
    assert np.mean(np.sign(values) == np.sign(truth)) >= 0.95
    assert np.linalg.norm(values - truth) < share * np.linalg.norm(f - truth)


@pytest.mark.parametrize(
    "text, seed, n, noise, free, bound",
    [
        ("-t 0 -c 0.1", 0, 60, 0.7, 1, 7),
        ("-t 0 -c 0.03", 4, 60, 0.3, 2, 0),
        ("-g 0.3", 2, 60, 0.7, 8, 4),
        ("-g 1 -c 3", 3, 60, 0.7, 24, 0),
        ("-g 1 -w0 2 -w1 0.5", 2, 60, 0.7, 1, 1),
        ("-t 1 -g 0.5 -r 1 -d 2", 2, 60, 0.7, 1, 0),
    ],
)
def test_exact_where_the_others_keep_their_roles(plain, text, seed, n, noise, free, bound):
    options = options_of(text)
    x, side = data(seed, n, noise)
    truth, kept = left_out(x, side, options)
    solution, _, values = trained(x, side, options)
    role = roles(solution, options, n)
    assert np.count_nonzero(kept & (role == 1)) >= free
    assert np.count_nonzero(kept & (role == 2)) >= bound
    assert np.count_nonzero(kept & (role == 0)) > 0
    np.testing.assert_allclose(values[kept], truth[kept], rtol=0, atol=1e-5)


def test_others_keep_their_values_and_none_gains():
    options = options_of("-g 1 -w1 0.5")
    x, side = data(1)
    solution, f, values = trained(x, side, options)
    others = np.setdiff1d(np.arange(len(x)), solution.sv)
    np.testing.assert_allclose(values[others], f[others], rtol=0, atol=1e-12)
    assert len(others) > 5
    y = np.where(side == solution.labels[0], 1, -1)
    assert np.all(y * values <= y * f + 1e-12) and np.sum(y * f - y * values) > 1


def test_some_rows_in_any_order_in_blocks(monkeypatch):
    options = options_of("-g 0.5")
    x, side = data(3)
    generator = np.random.default_rng(0)
    rows = generator.permutation(len(x))[:50]
    solution = solve(Nodes(x), rows, side[rows], options)
    kernel = kernel_of(options, 3)
    whole = loo_values(kernel, x, Samples(rows, side[rows]), solution, options)
    _, _, straight = trained(x[rows], side[rows], options)
    np.testing.assert_allclose(whole, straight, rtol=0, atol=1e-10)
    largest = []

    def watched(a, b):
        largest.append(len(a))
        return kernel(a, b)

    monkeypatch.setattr(leave_one_out, "_BLOCK", 7 * len(solution.sv))
    monkeypatch.setattr(leave_one_out, "_FEW", 0)
    again = loo_values(watched, x, Samples(rows, side[rows]), solution, options)
    np.testing.assert_allclose(again, whole, rtol=0, atol=1e-10)
    assert largest[:9] == [50] + [7] * 7 + [1]  # K_ii; all of the 50 points; then the hulls


@pytest.mark.parametrize(
    "kind", [name for name, row in KERNELS.items() if row.distance and not row.in_libsvm]
)
def test_kernel_values_of_a_table_give_the_same_values(kind):
    options = options_of(f"-t {kind} -g 0.5")
    x, side = data(3)
    rows = np.random.default_rng(0).permutation(len(x))[:51]
    kernel = Kernel(kind, gamma=0.5)
    table = KernelTable(x, rows, kernel, 0.0)
    for block in table.blocks:
        table.fill(block)
    values = PreparedKernel(kernel, x[rows]).values(x[rows[:9]])
    assert table.exact and np.array_equal(table.values(rows[:9], rows), values.T)
    solution = solve(table, rows, side[rows], options)
    problem = Samples(rows, side[rows])
    assert np.array_equal(
        loo_values(kernel_of(options, 3), x, problem, solution, options),
        loo_values(None, x, problem, solution, options, table=table),
    )


def test_copies_of_a_point_stand_in_for_it():
    """A free support vector is missed by nobody whose copy can take over all of its alpha."""
    options = options_of("-g 0.5 -c 10")
    x, side = data(0, 30)
    twice = np.concatenate([x, x])
    sides = np.concatenate([side, side])
    solution, f, values = trained(twice, sides, options)
    alpha = np.zeros(60)
    alpha[solution.sv] = np.abs(solution.coef)
    both = np.flatnonzero((alpha[:30] > 0) & (alpha[:30] + alpha[30:] < options.C))
    assert len(both) >= 3
    both = np.concatenate([both, both + 30])
    np.testing.assert_allclose(values[both], f[both], rtol=0, atol=1e-5)
    assert np.isfinite(values).all()


@pytest.mark.parametrize("text", ["-t 0 -c 1e-4", "-g 0.5 -c 1e-3"])
def test_all_at_the_bound(plain, text):
    """The other side's mean stands in: f_i - y_i C |phi_i - mean|^2."""
    options = options_of(text)
    generator = np.random.default_rng(2)
    x = generator.normal(size=(40, 3))
    side = np.arange(40) % 2
    solution, f, values = trained(x, side, options)
    assert np.all(roles(solution, options, 40) == 2)
    y = np.where(side == solution.labels[0], 1, -1)
    k = kernel_of(options, 3)(x, x)
    for i in range(40):
        other = y != y[i]
        distance = k[i, i] - 2 * k[i, other].mean() + k[np.ix_(other, other)].mean()
        assert values[i] == pytest.approx(f[i] - y[i] * options.C * distance, abs=1e-12)


def test_two_points(plain):
    """The margin is the whole of 4; without a point only the other side's constant is left."""
    options = options_of("-t 0 -c 100")
    x = np.array([[1.0, 0.0], [-1.0, 0.0]])
    _, f, values = trained(x, np.array([0, 1]), options)
    np.testing.assert_allclose(f, [1, -1], atol=1e-6)
    np.testing.assert_allclose(values, [-1, 1], atol=1e-6)  # alpha 1/2, S^2 4


@pytest.mark.parametrize("text", ["-t 0 -c 0.01 -w0 1000", "-g 0.5 -c 0.01 -w0 1000"])
def test_one_free_support_vector(plain, text):
    """The others fall back on it; it falls back on their mean."""
    options = options_of(text)
    x, _ = data(5, 20)
    side = np.arange(20) > 0
    solution, f, values = trained(x, side.astype(np.int8), options)
    assert roles(solution, options, 20).tolist() == [1] + [2] * 19
    y = np.where(side == bool(solution.labels[0]), 1, -1)
    k = kernel_of(options, 3)(x, x)
    squared = np.diagonal(k) - 2 * k[0] + k[0, 0]
    np.testing.assert_allclose(values[1:], (f - y * options.C * squared)[1:], atol=1e-8)
    distance = k[0, 0] - 2 * k[0, 1:].mean() + k[1:, 1:].mean()
    assert values[0] == pytest.approx(f[0] - y[0] * 19 * options.C * distance, abs=1e-10)


def test_too_many_free_support_vectors_and_nu(plain, monkeypatch):
    options = options_of("-g 1")
    x, side = data(0)
    solution, _, values = trained(x, side, options)
    free = np.count_nonzero(roles(solution, options, 60) == 1)
    kernel = kernel_of(options, 3)
    samples = Samples(np.arange(60), side)
    monkeypatch.setattr(leave_one_out, "MOST_FREE", free - 1)
    assert loo_values(kernel, x, samples, solution, options) is None
    monkeypatch.setattr(leave_one_out, "MOST_FREE", free)
    again = loo_values(kernel, x, samples, solution, options)
    np.testing.assert_array_equal(again, values)
    nu = dataclasses.replace(options, svm_type="nu_svc")
    with pytest.raises(UsageError, match="C-SVC"):
        loo_values(kernel, x, samples, solution, nu)


def nearly_repeated(seed, size):
    """Points of which each repeats with an offset of about `size`, a tenth of them contradicted."""
    generator = np.random.default_rng(seed)
    base = generator.normal(size=(15, 4))
    number = generator.integers(0, 15, 30)
    side = (base[:, 0] + 0.4 * generator.normal(size=15) > 0.1)[number]
    side ^= generator.random(30) < 0.1
    return base[number] + size * generator.normal(size=(30, 4)), side.astype(np.int8)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e-9, 1e-6, 1e-3])
def test_nearly_repeated_rows(size):
    """A near twin takes over alpha up to its bound, as an equal one does."""
    options = options_of("-c 10 -g 1")
    errors = []
    for seed in range(8):
        x, side = nearly_repeated(seed, size)
        truth, _ = left_out(x, side, options)
        _, _, values = trained(x, side, options)
        assert np.array_equal(np.sign(values), np.sign(truth))
        errors.append(values - truth)
    assert np.sqrt(np.mean(np.square(errors))) < 0.05


def test_points_apart_are_not_merged(monkeypatch):
    options = options_of("-g 0.3")
    x, side = data(0)
    _, _, values = trained(x, side, options)
    monkeypatch.setattr(leave_one_out, "_MOVES", 0.0)
    np.testing.assert_array_equal(trained(x, side, options)[2], values)


TEXTS = [
    "-t 0",
    "-g 0.5",
    "-g 10 -c 1000",
    "-g 1e-6 -c 1000",
    "-t 1 -g 1 -d 4",
    "-t 1 -d 0",
    "-t 3 -g 1 -r -1 -c 10",
    "-t 3 -g 0.1 -r 1",
    "-c 0.01 -w0 5",
    "-t 0 -c 1000 -w1 0.1",
]


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.booleans()), min_size=1, max_size=20
    ),
    st.sampled_from(TEXTS),
)
def test_finite_and_never_a_gain(points, text):
    """On a coarse lattice: copies, contradictions, collinear points, all zero."""
    options = parse_options(text)
    x = np.array([point[:2] for point in points] + [(0, 1), (1, 0)], dtype=float)
    side = np.array([point[2] for point in points] + [False, True]).astype(np.int8)
    with np.errstate(all="raise", under="ignore"):
        solution, f, values = trained(x, side, options)
    assert np.isfinite(values).all()
    y = np.where(side == solution.labels[0], 1, -1)
    assert np.all(y * values <= y * f + 1e-9 * np.maximum(1, np.abs(f)))


def test_sigmoids_are_as_good_as_from_folds(segment):
    """Negative log-likelihood of samples not trained on, over all pairs of segment's classes."""
    parts = [read_training(str(segment / name)) for name in ("trn", "tst")]
    x, y = np.concatenate([part.x for part in parts]), np.concatenate([part.y for part in parts])
    order = np.random.default_rng(0).permutation(len(x))
    train, test = order[:1400], order[1400:]
    nodes, options = Nodes(x), parse_options("-c 4")
    one, five = [], []
    for pair in itertools.combinations(np.unique(y), 2):
        rows = train[np.isin(y[train], pair)]
        rows = rows[np.argsort(y[rows], kind="stable")]
        side = (y[rows] == pair[1]).astype(np.int8)
        solution = solve(nodes, rows, side, options)
        positive = side == solution.labels[0]
        fold = platt.folds(side, 0)
        folded = np.empty(len(rows))
        for number in range(platt.FOLDS):
            part = rows[fold != number]
            f = solve(nodes, part, side[fold != number], options)
            folded[fold == number] = values_of(f, options, x, part, x[rows[fold == number]])
        single = loo_values(
            kernel_of(options, x.shape[1]),
            x,
            Samples(rows, side, number=row_digests(x)),
            solution,
            options,
        )
        unseen = test[np.isin(y[test], pair)]
        values = values_of(solution, options, x, rows, x[unseen])
        y_unseen = np.where((y[unseen] == pair[1]) == bool(solution.labels[0]), 1, -1)
        for held_out, losses in ((single, one), (folded, five)):
            a, b, _ = platt.fit_sigmoid(held_out, positive)
            losses.append(np.logaddexp(0, y_unseen * (a * values + b)).sum())
    assert sum(one) == pytest.approx(sum(five), rel=0.1) and sum(five) > 5


def problem(seed):
    """Points, sides and options: repeated samples, contradictions, nearly collinear features."""
    generator = np.random.default_rng(seed)
    kind, linear = seed % 4, seed // 4 % 2
    x = generator.normal(size=(80, int(generator.integers(2, 5))))
    if kind < 2:
        x = x[generator.integers(0, 30, 80)]
    if kind in (1, 2):
        x = np.c_[x, x[:, 0] + 1e-6 * (kind == 2) * generator.normal(size=80)]
    side = (x[:, 0] + x[:, 1] ** 2 / 2 + 0.4 * generator.normal(size=80) > 0.4) ^ (
        generator.random(80) < 0.1
    )
    cost, gamma = 10 ** generator.uniform(-1, 2 if linear else 4), 2 ** generator.uniform(-5, 2)
    return x, side.astype(np.int8), f"-c {cost}" + (" -t 0" if linear else f" -g {gamma}")


def loss(values, held_out, positive):
    """Log loss of the sigmoid fitted to `values`, at the values of samples really left out."""
    a, b, _ = platt.fit_sigmoid(values, positive)
    return np.logaddexp(0, np.where(positive, 1, -1) * (a * held_out + b)).mean(), a


@pytest.mark.long
def test_random_problems_beside_really_leaving_out():
    ranks = []
    for seed in range(40):
        x, side, text = problem(seed)
        options = parse_options(text + " -e 1e-5")
        truth, _ = left_out(x, side, options)
        solution, _, values = trained(x, side, options)
        positive = side == solution.labels[0]
        folded, fold, nodes = np.empty(80), platt.folds(side, 0), Nodes(x)
        for number in range(platt.FOLDS):
            rows = np.flatnonzero(fold != number)
            f = solve(nodes, rows, side[rows], options)
            sign = 1 if f.labels == solution.labels else -1
            folded[fold == number] = sign * values_of(f, options, x, rows, x[fold == number])
        (single, slope), (five, _) = (loss(some, truth, positive) for some in (values, folded))
        assert slope * loss(truth, truth, positive)[1] > 0, seed
        assert single < 1.05 * five, seed
        ranks.append(spearmanr(values, truth)[0])
    assert min(ranks) > 0.93 and np.median(ranks) > 0.985 and np.mean(np.array(ranks) > 0.98) > 0.7


def test_in_doubt():
    """Values that move far are no basis for a sigmoid."""
    x, side, _ = problem(2)
    options = options_of("-g 0.05 -c 1e6")
    rows = np.arange(len(x))
    solution = solve(Nodes(x), rows, side, options)
    kernel = kernel_of(options, x.shape[1])
    assert loo_values(kernel, x, Samples(rows, side), solution, options) is None


def test_a_point_with_hardly_a_kernel_value_to_the_hull():
    """Its squared kernel values are near the least number above zero."""
    matrix = np.array([[1.0, 0.2, 1e-158], [0.2, 1.0, 1e-157], [1e-158, 1e-157, 1.0]])
    with no_own_warnings():
        span = leave_one_out._spans(
            lambda a, b: matrix[np.ix_(a, b)], np.arange(3), np.arange(2), np.zeros(2), np.ones(3)
        )
    # from the line through the first two: |1 - 2|^2 = 1.6 twice, and 1 + (1 + 0.2) / 2
    assert span == pytest.approx([1.6, 1.6, 1.6], rel=1e-6)
