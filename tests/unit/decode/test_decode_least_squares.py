"""Least squares with and without signs, closed forms, one-vs-one, and Zadrozny's fixed points."""

import numpy as np
import pytest
from scipy.optimize import minimize, nnls

from agfmc.decode import closed_forms, constrained, least_norm, unconstrained, zadrozny
from agfmc.decode.code_kinds import one_vs_one, one_vs_rest
from agfmc.decode.front import CodeDecoder
from agfmc.decode.pairwise import PairSystem
from agfmc.core.reproducible import Uniform

MIXED = np.array([[-1, -1, 1, 1], [-1, 1, 0, 0], [0, 0, -1, 1], [-1, 1, 1, -1], [0, -1, 1, 1]])
STRICT = np.array([[-1, 1, 1, -1], [1, 1, -1, -1], [-1, -1, -1, 1], [1, -1, 1, 1]])
both_codes = pytest.mark.parametrize("a", [MIXED, STRICT], ids=["mixed", "strict"])


def random_code(rng, m, k, strict, full=True):
    while True:
        a = rng.choice([-1, 1] if strict else [-1, 0, 1], size=(m, k))
        rank = np.linalg.matrix_rank(np.vstack([a, np.ones(k)]))
        if (
            ((a.min(axis=1) < 0) & (a.max(axis=1) > 0)).all()
            and a.any(axis=0).all()
            and (rank == k) == full
        ):
            return a


def optimality(a, r, p):
    """Largest violation of (G p)_j = f where p_j > 0, >= f elsewhere."""
    matrix = a - np.abs(a) * r[:, :, None]
    slope = np.einsum("nik,ni->nk", matrix, np.einsum("nik,nk->ni", matrix, p))
    excess = slope - np.sum(p * slope, axis=1, keepdims=True)
    return max(np.abs(excess[p > 0]).max(), -excess.min())


def pairs(k):
    return np.array(
        [
            [-1 if j == low else 1 if j == high else 0 for j in range(k)]
            for low in range(k)
            for high in range(low + 1, k)
        ]
    )


def exhaustive(k):
    return np.where(np.arange(1, 2 ** (k - 1))[:, None] >> np.arange(k) & 1, 1, -1)


def hadamard(m):
    h = np.array([[1]])
    while len(h) < m:
        h = np.block([[h, h], [h, -h]])
    return h


def adjacent(k):
    return np.where(np.arange(k) <= np.arange(k - 1)[:, None], -1, 1)


def rest(k):
    return 2 * np.eye(k, dtype=int) - 1


def random_tree(rng, k):
    rows, todo = [], [rng.permutation(k)]
    while todo:
        leaves = todo.pop(rng.integers(len(todo)))
        if len(leaves) > 1:
            cut = rng.integers(1, len(leaves))
            row = np.zeros(k, dtype=int)
            row[leaves[:cut]], row[leaves[cut:]] = -1, 1
            rows.append(row)
            todo += [leaves[:cut], leaves[cut:]]
    return np.array(rows)


def shuffled(rng, a):
    m, k = a.shape
    return (a * rng.choice([-1, 1], m)[:, None])[rng.permutation(m)][:, rng.permutation(k)]


# With signs.


@pytest.mark.few(12)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", [*range(3, 13), 26, 100])
def test_general_solver_is_optimal(k, strict):
    rng = np.random.default_rng(k)
    m = 4 if k == 3 and not strict else 3 if k == 3 else k + 2
    a = random_code(rng, m, k, strict)
    r = rng.uniform(-1, 1, (20 if k > 20 else 200, m))
    p, stops = constrained.prepare_general(a)(r)
    assert stops.unfinished == 0 and p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-13)
    assert optimality(a, r, p) < 1e-11
    if k < 13:
        np.testing.assert_allclose(least_norm.prepare_constrained(a)(r)[0], p, atol=1e-10)


FORMS = [("tree", random_tree(np.random.default_rng(5), k)) for k in (2, 4, 9, 26)]
FORMS += [("pairs", pairs(k)) for k in (3, 5, 10)]
FORMS += [("balanced", rest(k)) for k in (3, 6, 26)]
FORMS += [("balanced", exhaustive(k)) for k in (3, 5)]
FORMS += [("balanced", hadamard(16)[:, 1:12]), ("balanced", hadamard(8)[1:, :6])]
FORMS += [("adjacent", adjacent(k)) for k in (4, 7, 26)]


@pytest.mark.parametrize("name, a", FORMS, ids=lambda x: x if isinstance(x, str) else x.shape[1])
def test_closed_forms_are_found_and_equal_the_general_solver(name, a):
    rng = np.random.default_rng(7)
    for trial in range(5):
        code = shuffled(rng, a) if trial else a
        found = closed_forms.closed_form(code)
        assert found is not None and found[0] == name
        r = rng.uniform(-1, 1, (40, len(code)))
        general, _ = constrained.prepare_general(code)(r)
        np.testing.assert_allclose(found[1](r), general, atol=1e-12)
    # A damaged code is not taken for one that has a closed form.
    for _ in range(20):
        code = a.copy()
        i, j = rng.integers(len(code)), rng.integers(code.shape[1])
        code[i, j] = -code[i, j] if code[i, j] else 1
        found = closed_forms.closed_form(code)
        if found is not None and ((code.min(axis=1) < 0) & (code.max(axis=1) > 0)).all():
            assert optimality(code, r, found[1](r)) < 1e-11


@pytest.mark.parametrize(
    "m, k, strict", [(4, 7, False), (2, 4, False), (5, 8, True), (6, 12, False)]
)
def test_underdetermined_codes_give_the_same_even_answer(m, k, strict):
    rng = np.random.default_rng(m)
    a = random_code(rng, m, k, strict, full=False)
    r = rng.uniform(-1, 1, (150, m))
    p, stops = constrained.prepare_general(a)(r)
    assert stops.undetermined > 0 and "do not determine" in stops.warning()
    assert optimality(a, r, p) < 1e-11
    # The answer of least norm does not depend on the order of the classes,
    order = rng.permutation(k)
    np.testing.assert_allclose(
        constrained.prepare_general(a[:, order])(r)[0], p[:, order], atol=1e-9
    )
    # is never longer than another optimum,
    ridge = 1e-4 * np.eye(k)
    for i in range(10):
        matrix = np.vstack([a - np.abs(a) * r[i][:, None], np.ones(k)])
        u, _ = nnls(matrix, np.append(np.zeros(m), 1.0))
        assert np.sum(p[i] ** 2) <= np.sum((u / u.sum()) ** 2) + 1e-9
        # and is the limit of a small penalty |p|^2.
        u, _ = nnls(np.vstack([ridge, matrix]), np.append(np.zeros(m + k), 1.0))
        np.testing.assert_allclose(u / u.sum(), p[i], atol=1e-3)


def test_classes_that_no_problem_tells_apart_are_equal():
    a = np.array([[-1, 1, 1, 0], [0, 1, 1, -1], [-1, 0, 0, 1]])
    p = CodeDecoder(a)([[0.3, 0.4, -0.2], [-0.9, 1, 1]])[0]
    np.testing.assert_allclose(p[:, 1], p[:, 2], atol=1e-12)


def same_bits_alone(solve, r):
    """Answers with any neighbours are those of the point alone, to the last bit."""
    whole = solve(r)
    for size in (1, 2, 3, 7, 64):
        parts = [solve(r[start : start + size]) for start in range(0, len(r), size)]
        np.testing.assert_array_equal(np.concatenate(parts).view(np.int64), whole.view(np.int64))
    turned = np.random.default_rng(1).permutation(len(r))
    np.testing.assert_array_equal(solve(r[turned]), whole[turned])
    np.testing.assert_array_equal(solve(np.asfortranarray(r)), whole)
    assert solve(r[:0]).shape == (0, whole.shape[1])


@pytest.mark.few(1)
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("m, k", [(12, 9), (28, 26), (70, 68)])
def test_neighbours_do_not_matter(m, k, strict, monkeypatch):
    rng = np.random.default_rng(m)
    a = random_code(rng, m, k, strict)
    n = 80 if k < 50 else 20
    r = np.vstack([rng.uniform(-1, 1, (n, m)), np.tanh(rng.normal(size=(n // 2, m)) * 2)])
    if k < 50:
        r = np.vstack([r, rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0], (10, m))])
    solve = constrained.prepare_general(a)
    same_bits_alone(lambda r: solve(r)[0], r)
    monkeypatch.setattr(constrained, "BUDGET", 10000)
    np.testing.assert_array_equal(constrained.prepare_general(a)(r[:50])[0], solve(r)[0][:50])


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "a",
    [rest(26), hadamard(32)[1:, :26], exhaustive(7), adjacent(26)],
    ids=["rest", "hadamard", "exhaustive", "adjacent"],
)
def test_neighbours_do_not_matter_to_closed_forms(a):
    rng = np.random.default_rng(3)
    solve = constrained.prepare(shuffled(rng, a))
    same_bits_alone(lambda r: solve(r)[0], rng.uniform(-1, 1, (1100, len(a))))


def test_products_are_the_same_whatever_the_number_of_points():
    rng = np.random.default_rng(0)
    t, x = rng.integers(-2, 3, (57, 40)), rng.uniform(-1, 1, (300, 57))
    product = Uniform(t)
    whole = product(x)
    np.testing.assert_allclose(whole, x @ t, rtol=0, atol=1e-13)
    for n in (1, 2, 5, 33):
        np.testing.assert_array_equal(product(x[:n]), whole[:n])


def test_isotonic_regression_pools_as_the_max_min_formula():
    rng = np.random.default_rng(0)
    y = np.vstack(
        [
            rng.normal(size=(60, 9)),
            rng.integers(0, 3, (60, 9)),
            np.arange(9)[None] * [[1], [-1], [0]],
        ]
    ).astype(float)
    for row, fitted in zip(y, closed_forms.isotonic_regression(y), strict=True):
        best = [
            max(min(row[a : b + 1].mean() for b in range(i, 9)) for a in range(i + 1))
            for i in range(9)
        ]
        np.testing.assert_allclose(fitted, best, atol=1e-14)


# One-vs-one.


@pytest.mark.few(4)
@pytest.mark.parametrize("k", [2, 3, 5, 26, 64, 65])  # on both sides of the change of solver
def test_pairs_against_the_definition_and_alone(k):
    rng = np.random.default_rng(0)
    code = shuffled(rng, pairs(k))
    table = one_vs_one(code)
    r = np.tanh(3.0 * rng.normal(size=(30, table.m)))
    r[:3] = np.sign(r[:3])
    r[3] = 0.0
    p = rng.dirichlet(np.full(k, 0.3), 10) + 1e-12
    p /= p.sum(axis=1, keepdims=True)
    low, high = p[:, table.low], p[:, table.high]
    r[-10:] = (high - low) / (high + low)
    solve = PairSystem(table)
    found = solve(r)
    assert found.flags["C_CONTIGUOUS"] and (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-14)
    np.testing.assert_allclose(found[-10:], p, rtol=0, atol=1e-13)
    system = np.ones((k + 1, k + 1))
    system[k, k] = 0.0
    for point, answer in zip(r[3:], found[3:]):
        matrix = code - np.abs(code) * point[:, None]
        system[:k, :k] = matrix.T @ matrix
        np.testing.assert_allclose(
            answer, np.linalg.solve(system, np.eye(k + 1)[k])[:k], rtol=0, atol=1e-12
        )
    r = np.vstack([r, np.tanh(3.0 * rng.normal(size=(570, table.m)))])
    whole = solve(r)
    for start, stop in ((0, 1), (7, 8), (5, 70), (64, 128), (1, 600), (599, 600), (0, 0)):
        for part in (r[start:stop], np.asfortranarray(r[start:stop])):
            np.testing.assert_array_equal(solve(part), whole[start:stop])


@pytest.mark.parametrize(
    "recognise, a",
    [
        (one_vs_one, rest(3)),
        (one_vs_one, np.array([[-1, 1, 0], [1, -1, 0], [0, -1, 1]])),  # a pair twice
        (one_vs_one, np.array([[-1, 1, 0], [-1, 1, 1], [0, -1, 1]])),
        (one_vs_rest, pairs(3)),
        (one_vs_rest, np.array([[1, -1, -1], [1, -1, -1], [-1, -1, 1]])),  # a class twice
        (
            one_vs_rest,
            np.array([[1, 1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]),
        ),
        (one_vs_rest, np.array([[1, 0, -1], [-1, 1, -1], [-1, -1, 1]])),
        (one_vs_rest, np.array([[1, -1, -1], [-1, 1, -1]])),  # a row too few
        (one_vs_rest, np.array([[1, 1], [-1, 1]])),
        (one_vs_rest, np.array([[1]])),
    ],
)
def test_what_is_of_another_kind(recognise, a):
    assert recognise(a.astype(np.int8)) is None


# Without signs.


@both_codes
def test_equality_constrained(a):
    r = np.random.default_rng(1).uniform(-1, 1, (30, len(a)))
    p = CodeDecoder(a, "inverse")(r)[0]
    for i in range(len(r)):
        matrix = a - np.abs(a) * r[i][:, None]
        bordered = np.block([[matrix.T @ matrix, np.ones((4, 1))], [np.ones((1, 4)), 0]])
        np.testing.assert_allclose(p[i], np.linalg.solve(bordered, [0, 0, 0, 0, 1])[:4], atol=1e-9)
    assert p.min() < 0


@both_codes
def test_unconstrained(a, monkeypatch):
    r = np.random.default_rng(2).uniform(-1, 1, (30, len(a)))
    p = CodeDecoder(a, "unconstrained")(r)[0]
    for i in range(len(r)):
        q = np.vstack([a + (1 - np.abs(a)) * r[i][:, None], np.ones(4)])
        np.testing.assert_allclose(p[i], np.linalg.lstsq(q, np.append(r[i], 1))[0], atol=1e-10)
    monkeypatch.setattr(unconstrained, "BUDGET", 3000)
    np.testing.assert_array_equal(CodeDecoder(a, "unconstrained")(r)[0], p)


@pytest.mark.parametrize("method", ["inverse", "unconstrained"])
@both_codes
def test_underdetermined_is_reported_and_even(a, method):
    a, r = a[:2], np.array([[0.3, -0.2], [0, 0], [1, -1]])
    done = CodeDecoder(a, method)(r)
    assert done[1].undetermined == 3
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(
        CodeDecoder(a[:, order], method)(r)[0], done[0][:, order], atol=1e-10
    )


def test_a_system_whose_pivot_is_a_denormal_number():
    """Elimination ends in NaN, which is larger than no limit: such points go the careful way."""
    matrix = np.array([[[1.0, 0], [0, 5e-324]], [[1, 0], [0, 1]]])

    def careful(r):
        return np.full((len(r), 2), 7.0), np.ones(len(r), dtype=bool)

    solve = unconstrained._stacked(lambda r: (matrix, np.ones((2, 2))), careful, (1, 2))
    p, stops = solve(np.zeros((2, 1)))
    assert p.tolist() == [[7, 7], [1, 1]] and stops.undetermined == 1


# Zadrozny's coupling.


def iterate(a, r, p, divergence, steps=1):
    """The iteration, a row weighing as much as it has classes."""
    plus, minus = (a > 0) * 1.0, (a < 0) * 1.0
    rb, n = (1 + r) / 2, np.count_nonzero(a, axis=1)
    for _ in range(steps):
        above, below = p @ plus.T, p @ minus.T
        if divergence:
            above_r, below_r, weight = n * rb / above, n * (1 - rb) / below, n / (above + below)
            q = p * (above_r @ plus + below_r @ minus) / (weight @ (plus + minus))
        else:
            mu = above / (above + below)
            q = p * ((n * rb) @ plus + (n * (1 - rb)) @ minus)
            q /= (n * mu) @ plus + (n * (1 - mu)) @ minus
        p = q / q.sum(axis=1, keepdims=True)
    return p


@pytest.mark.few(2)
@pytest.mark.parametrize("divergence", [False, True])
@both_codes
def test_fixed_point_is_where_the_iteration_ends(a, divergence):
    r = np.random.default_rng(3).uniform(-0.9, 0.9, (50, len(a)))
    done = CodeDecoder(a, "zadrozny-kl" if divergence else "zadrozny")(r)
    assert done[1].unfinished == 0
    np.testing.assert_allclose(iterate(a, r, done[0], divergence, 20), done[0], atol=1e-7)
    slow = iterate(a, r, np.full((50, 4), 0.25), divergence, 5000)
    assert np.quantile(np.abs(slow - done[0]).max(axis=1), 0.9) < 1e-6
    assert np.abs(slow - done[0]).max() < 1e-3


@pytest.mark.parametrize(
    "method, r", [("zadrozny", [0, -1 / 3, -1 / 3]), ("zadrozny-kl", [0, -1 / 4, -1 / 4])]
)
def test_rows_weigh_as_much_as_they_have_classes(method, r):
    """Two rows of two classes and one of three, computed by hand: p = (1/3, 1/3, 1/3).

    With mu = 1/3, 1/2, 1/2 there, the factors of Zadrozny's iteration are for class 0
    (3/2 + 2/3 + 2/3) / (3/3 + 2/2 + 2/2) = 17/18 and for each other class
    (3/2 + 4/3) / (6/3 + 2/2) = 17/18; those of the divergence, (9/2 + 9/4 + 9/4) / (3 + 3 + 3) = 1
    and (9/4 + 15/4) / (3 + 3) = 1.  Were all rows equal it would not be at rest.
    """
    p = CodeDecoder([[1, -1, -1], [1, -1, 0], [1, 0, -1]], method)(r)[0]
    np.testing.assert_allclose(p, [[1 / 3] * 3], rtol=0, atol=1e-8)


def test_divergence_is_least():
    """The minimum as BFGS finds it, over the logarithms of probabilities."""
    r = np.random.default_rng(4).uniform(-0.9, 0.9, (20, 5))
    plus, minus = (MIXED > 0) * 1.0, (MIXED < 0) * 1.0
    n = np.array([4, 2, 2, 4, 3])

    def divergence(theta, r):
        p = np.exp(theta - theta.max())
        mu = plus @ p / ((plus + minus) @ p)
        return -np.sum(n * ((1 + r) / 2 * np.log(mu) + (1 - r) / 2 * np.log(1 - mu)))

    done = CodeDecoder(MIXED, "zadrozny-kl")(r)
    for one, p in zip(r, done[0]):
        found = minimize(divergence, np.zeros(4), one, "BFGS", options={"gtol": 1e-9})
        assert divergence(np.log(np.maximum(p, 1e-12)), one) <= found.fun + 1e-9
        np.testing.assert_allclose(np.exp(found.x) / np.exp(found.x).sum(), p, atol=2e-5)


@pytest.mark.parametrize(
    "code, r",
    [
        ([[-1, 1, 1], [0, -1, 1]], [-0.96, -0.96]),  # a long step once ended in a corner
        ([[-1, 1, 1, 1], [0, -1, 1, 1], [0, 0, -1, 1]], [-0.8864, -0.9979, 0.8235]),
        ([[-1, 1, 1, 1], [0, -1, 1, 1], [0, 0, -1, 1]], [-0.9999876, 0.85718415, -0.6315318]),
    ],
)
def test_fixed_points_near_the_corners(code, r):
    for method in ("zadrozny", "zadrozny-kl"):
        done = CodeDecoder(code, method)(r)
        assert not done[1].unfinished
        np.testing.assert_allclose(done[0], CodeDecoder(code)(r)[0], atol=1e-8)


def test_limit_is_reported(monkeypatch):
    monkeypatch.setattr(zadrozny, "LIMIT", 2)
    monkeypatch.setattr(zadrozny, "QUICK", 2)
    done = CodeDecoder(MIXED, 7)(np.full((3, 5), 0.3))
    assert done[1].unfinished == 3 and "3 of 3 solutions" in done[1].warning()
    twice = done[1] + done[1]
    assert (twice.points, twice.unfinished, twice.rounds) == (6, 6, 2)
