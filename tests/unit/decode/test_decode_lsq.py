"""Constrained least squares: optimality, closed forms, degenerate codes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agfmc.decode import exact, isotonic, leastnorm, lsq, passive, shortcuts
from agfmc.decode.front import decode, plan
from agfmc.decode.methods import METHODS
from agfmc.errors import DataError, ModelError, UsageError


def random_code(rng, m, k, strict, full=True):
    while True:
        a = rng.choice([-1, 1] if strict else [-1, 0, 1], size=(m, k))
        rank = np.linalg.matrix_rank(np.vstack([a, np.ones(k)]))
        if ((a.min(axis=1) < 0) & (a.max(axis=1) > 0)).all() and a.any(axis=0).all() \
                and (rank == k) == full:
            return a


def optimality(a, r, p):
    """Largest violation of (G p)_j = f where p_j > 0, >= f elsewhere."""
    matrix = a - np.abs(a) * r[:, :, None]
    slope = np.einsum("nik,ni->nk", matrix, np.einsum("nik,nk->ni", matrix, p))
    excess = slope - np.sum(p * slope, axis=1, keepdims=True)
    return max(np.abs(excess[p > 0]).max(), -excess.min())


def pairs(k):
    return np.array([[-1 if j == low else 1 if j == high else 0 for j in range(k)]
                     for low in range(k) for high in range(low + 1, k)])


def exhaustive(k):
    bits = np.arange(1, 2**(k - 1))
    return np.where(bits[:, None] >> np.arange(k) & 1, 1, -1)


def hadamard(m):
    h = np.array([[1]])
    while len(h) < m:
        h = np.block([[h, h], [h, -h]])
    return h


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


def adjacent(k):
    return np.where(np.arange(k) <= np.arange(k - 1)[:, None], -1, 1)


def shuffled(rng, a):
    m, k = a.shape
    return (a * rng.choice([-1, 1], m)[:, None])[rng.permutation(m)][:, rng.permutation(k)]


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("k", [*range(3, 13), 26, 100])
def test_general_solver_is_optimal(k, strict):
    rng = np.random.default_rng(k)
    m = 4 if k == 3 and not strict else 3 if k == 3 else k + 2
    a = random_code(rng, m, k, strict)
    r = rng.uniform(-1, 1, (20 if k > 20 else 200, m))
    p, stops = lsq.prepare_general(a)(r)
    assert stops.unfinished == 0
    assert p.min() >= 0
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-13)
    assert optimality(a, r, p) < 1e-11


@pytest.mark.parametrize("k, m, strict", [(4, 5, 0), (6, 9, 0), (9, 10, 1), (12, 15, 0),
                                          (26, 28, 0), (26, 28, 1), (100, 104, 0)])
def test_general_solver_agrees_with_scipy(k, m, strict):
    optimize = pytest.importorskip("scipy.optimize")
    rng = np.random.default_rng(m)
    a = random_code(rng, m, k, strict)
    r = rng.uniform(-1, 1, (20, m))
    expected = np.empty((20, k))
    for i in range(20):
        matrix = np.vstack([a - np.abs(a) * r[i][:, None], np.ones(k)])
        u = optimize.nnls(matrix, np.append(np.zeros(m), 1))[0]
        expected[i] = u / u.sum()
    np.testing.assert_allclose(lsq.prepare_general(a)(r)[0], expected, atol=1e-7)


FORMS = [("tree", random_tree(np.random.default_rng(5), k)) for k in (2, 4, 9, 26)]
FORMS += [("pairs", pairs(k)) for k in (3, 5, 10)]
FORMS += [("balanced", 2 * np.eye(k, dtype=int) - 1) for k in (3, 6, 26)]
FORMS += [("balanced", exhaustive(k)) for k in (3, 5)]
FORMS += [("balanced", hadamard(16)[:, 1:12]), ("balanced", hadamard(8)[1:, :6])]
FORMS += [("adjacent", adjacent(k)) for k in (4, 7, 26)]


@pytest.mark.parametrize("name, a", FORMS, ids=lambda x: x if isinstance(x, str) else x.shape[1])
def test_closed_forms_are_found_and_equal_the_general_solver(name, a):
    rng = np.random.default_rng(7)
    for trial in range(5):
        code = shuffled(rng, a) if trial else a
        found = shortcuts.find(code)
        assert found is not None and found[0] == name
        r = rng.uniform(-1, 1, (40, len(code)))
        general, _ = lsq.prepare_general(code)(r)
        np.testing.assert_allclose(found[1](r), general, atol=1e-12)


@pytest.mark.parametrize("name, a", FORMS, ids=lambda x: x if isinstance(x, str) else x.shape[1])
def test_damaged_forms_are_not_taken_for_closed_forms(name, a):
    rng = np.random.default_rng(8)
    for _ in range(20):
        code = a.copy()
        i, j = rng.integers(len(code)), rng.integers(code.shape[1])
        code[i, j] = -code[i, j] if code[i, j] else 1
        if not ((code.min(axis=1) < 0) & (code.max(axis=1) > 0)).all():
            continue
        found = shortcuts.find(code)
        if found is None:
            continue
        r = rng.uniform(-1, 1, (40, len(code)))
        assert optimality(code, r, found[1](r)) < 1e-11


@pytest.mark.parametrize("m, k, strict", [(4, 7, False), (2, 4, False), (5, 8, True),
                                          (6, 12, False)])
def test_underdetermined_codes_give_the_same_even_answer(m, k, strict):
    nnls = pytest.importorskip("scipy.optimize").nnls
    rng = np.random.default_rng(m)
    a = random_code(rng, m, k, strict, full=False)
    r = rng.uniform(-1, 1, (150, m))
    p, stops = lsq.prepare_general(a)(r)
    assert stops.undetermined > 0 and "do not determine" in stops.warning()
    assert optimality(a, r, p) < 1e-11
    # The answer of least norm does not depend on the order of the classes,
    order = rng.permutation(k)
    np.testing.assert_allclose(lsq.prepare_general(a[:, order])(r)[0], p[:, order], atol=1e-9)
    # is never longer than another optimum,
    for i in range(10):
        matrix = np.vstack([a - np.abs(a) * r[i][:, None], np.ones(k)])
        u, _ = nnls(matrix, np.append(np.zeros(m), 1.0))
        assert np.sum(p[i]**2) <= np.sum((u / u.sum())**2) + 1e-9
    # and is the limit of a small penalty |p|^2.
    ridge = 1e-4 * np.eye(k)
    for i in range(10):
        matrix = np.vstack([a - np.abs(a) * r[i][:, None], ridge, np.ones(k)])
        u, _ = nnls(matrix, np.append(np.zeros(m + k), 1.0))
        np.testing.assert_allclose(u / u.sum(), p[i], atol=1e-3)


def test_classes_that_no_problem_tells_apart_are_equal():
    a = np.array([[-1, 1, 1, 0], [0, 1, 1, -1], [-1, 0, 0, 1]])
    p = decode(a, [[.3, .4, -.2], [-.9, 1, 1]]).p
    np.testing.assert_allclose(p[:, 1], p[:, 2], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_saturated_decision_values(seed):
    rng = np.random.default_rng(seed)
    a = random_code(rng, 9, 6, False)
    r = rng.choice([-1, 1, 0, 1 - 1e-9, -1 + 1e-13, .5], size=(200, 9))
    p, stops = lsq.prepare_general(a)(r)
    assert stops.unfinished == 0
    assert optimality(a, r, p) < 1e-10
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-13)


def test_careful_solver_agrees_with_the_fast_one():
    rng = np.random.default_rng(2)
    for strict in (True, False):
        a = random_code(rng, 9, 7, strict)
        r = rng.uniform(-1, 1, (100, 9))
        np.testing.assert_allclose(leastnorm.prepare_constrained(a)(r)[0],
                                   lsq.prepare_general(a)(r)[0], atol=1e-10)


def test_one_singular_matrix_does_not_spoil_the_stack():
    matrix = np.repeat(np.eye(3)[None], 9, axis=0)
    matrix[[2, 7]] = 0
    x, singular = lsq.solve_each(matrix, np.ones((9, 3, 1)))
    assert np.flatnonzero(singular).tolist() == [2, 7]
    assert (x[~singular] == 1).all() and (x[singular] == 0).all()


def same_bits_alone(solve, r):
    """Answers with any neighbours are those of the point alone, to the last bit."""
    whole = solve(r)[0]
    for size in (1, 2, 3, 7, 64):
        parts = [solve(r[start:start + size])[0] for start in range(0, len(r), size)]
        np.testing.assert_array_equal(np.concatenate(parts).view(np.int64), whole.view(np.int64))
    turned = np.random.default_rng(1).permutation(len(r))
    np.testing.assert_array_equal(solve(r[turned])[0], whole[turned])


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("m, k", [(12, 9), (28, 26), (70, 68)])
def test_neighbours_do_not_matter(m, k, strict, monkeypatch):
    rng = np.random.default_rng(m)
    a = random_code(rng, m, k, strict)
    r = np.vstack([rng.uniform(-1, 1, (120, m)), np.tanh(rng.normal(size=(60, m)) * 2)])
    if k < 50:
        r = np.vstack([r, rng.choice([-1., -.5, 0., .5, 1.], (20, m))])
    same_bits_alone(lsq.prepare_general(a), r)
    monkeypatch.setattr(passive, "BUDGET", 10000)
    np.testing.assert_array_equal(lsq.prepare_general(a)(r[:50])[0],
                                  lsq.prepare_general(a)(r)[0][:50])


@pytest.mark.parametrize("a", [2 * np.eye(26, dtype=int) - 1, hadamard(32)[1:, :26],
                               exhaustive(7), adjacent(26)], ids=["rest", "hadamard",
                                                                  "exhaustive", "adjacent"])
def test_neighbours_do_not_matter_to_closed_forms(a):
    rng = np.random.default_rng(3)
    code = shuffled(rng, a)
    same_bits_alone(lsq.prepare(code), rng.uniform(-1, 1, (1100, len(a))))


def test_products_are_exact_whatever_the_number_of_columns():
    rng = np.random.default_rng(0)
    t = rng.integers(-2, 3, (40, 57))
    x = rng.uniform(-1, 1, (57, 300))
    x[:, :20] *= 1e-9
    true = t.astype(np.longdouble) @ x.astype(np.longdouble)
    for product in (exact.Exact(t), exact.ExactBounded(t)):
        whole = product(x)
        np.testing.assert_allclose(whole, true.astype(float), rtol=0, atol=3e-15)
        for n in (1, 2, 5, 33):
            np.testing.assert_array_equal(product(x[:, :n]), whole[:, :n])
    np.testing.assert_array_equal(exact.Exact(t).rows(x.T), exact.Exact(t)(x).T)


def test_isotonic_regression_pools_as_the_max_min_formula():
    rng = np.random.default_rng(0)
    y = np.vstack([rng.normal(size=(60, 9)), rng.integers(0, 3, (60, 9)),
                   np.arange(9)[None] * [[1], [-1], [0]]]).astype(float)
    fit = isotonic.regression(y)
    for row, fitted in zip(y, fit, strict=True):
        best = [max(min(row[a:b + 1].mean() for b in range(i, 9)) for a in range(i + 1))
                for i in range(9)]
        np.testing.assert_allclose(fitted, best, atol=1e-14)


PROPER = [method for method in METHODS
          if method.gives == "probabilities" and method.codes == "any"]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(3, 7), st.booleans(), st.sampled_from(PROPER))
def test_simplex_and_permutation(seed, k, strict, method):
    rng = np.random.default_rng(seed)
    a = random_code(rng, k + 2 if k > 3 else 3, k, strict)
    r = rng.uniform(-.95, .95, (20, len(a)))
    done = plan(a, method)(r)
    assert done.p.min() >= 0
    np.testing.assert_allclose(done.p.sum(axis=1), 1, atol=1e-12)
    columns, rows = rng.permutation(k), rng.permutation(len(a))
    signs = rng.choice([-1, 1], len(a))
    other = plan((a * signs[:, None])[rows][:, columns], method)((r * signs)[:, rows])
    if not done.stops.unfinished and not other.stops.unfinished:
        close = 1e-6 if "zadrozny" in method.name else 1e-9
        np.testing.assert_allclose(other.p, done.p[:, columns], atol=close)


@pytest.mark.parametrize("method", [m for m in METHODS if m.gives != "winner"],
                         ids=lambda method: method.name)
def test_every_method_takes_no_points_one_point_and_two_classes(method):
    solve = plan([[-1, 1]], method)
    assert len(solve(np.zeros((0, 1))).p) == 0
    p = solve([.4]).p
    assert p.shape == ((1, 1) if method.name == "binary" else (1, 2))
    if method.name == "orthogonal":
        # A^T r / m is no probability here: one row is no orthogonal code.
        np.testing.assert_allclose(p, [[.1, .9]], atol=1e-12)
    elif method.gives in ("probabilities", "estimates"):
        np.testing.assert_allclose(p, [[.3, .7]], atol=1e-8)


@pytest.mark.parametrize("a, words", [
    ([[1, 1, 0], [-1, 1, 1]], "problem 0 has no class on the left"),
    ([[-1, 1, 0], [-1, 1, 0]], "class 2"),
    ([[-1, 2, 1]], "entries"),
    ([[-1], [1]], "shape"),
])
def test_what_is_not_a_code(a, words):
    with pytest.raises(ModelError, match=words):
        plan(a)


def test_bad_decision_values():
    solve = plan([[-1, 1]])
    with pytest.raises(DataError, match="decision value 0 of point 1 is nan"):
        solve([[0.], [np.nan]])
    with pytest.raises(DataError, match="1 binary problem"):
        solve([[0., 1.]])
    with pytest.raises(UsageError):
        plan([[-1, 1]], "best")
