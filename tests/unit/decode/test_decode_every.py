"""What every decoder of the table has to keep, on random and on awkward codes and values."""

import numpy as np
import pytest
from scipy import optimize, special

from agfmc.decode import zadrozny
from agfmc.decode.class_scores import LOSSES
from agfmc.decode.front import CodeDecoder
from agfmc.decode.learned import log_odds
from agfmc.decode.least_norm import decimal_least_norm
from agfmc.decode.methods import METHODS
from agfmc.core.models import LearnedDecoder

KINDS = (
    "strict",
    "ternary",
    "sparse",
    "rows twice",
    "columns twice",
    "opposite columns",
    "deficient",
    "one-vs-one",
    "one-vs-rest",
    "adjacent",
)
EDGES = np.array(
    [
        1,
        -1,
        0,
        -0.0,
        5e-324,
        -5e-324,
        1e-300,
        1e-17,
        1 - 1e-17,
        1 - 2**-53,
        -1 + 2**-53,
        0.5,
        -0.5,
        1 - 1e-5,
        -1 + 1e-7,
        1 - 1e-9,
        -1 + 1e-11,
        1 - 1e-13,
    ]
)


def pairs(k):
    return np.array(
        [
            [-1 if j == low else 1 if j == high else 0 for j in range(k)]
            for low in range(k)
            for high in range(low + 1, k)
        ]
    )


def is_code(a):
    return a.any(axis=0).all() and (a.min(axis=1) < 0).all() and (a.max(axis=1) > 0).all()


def draw_code(rng, kind, classes):
    """A code (m, k) of some kind, its rows turned at random."""
    while True:
        k = int(rng.choice(classes))
        if kind == "one-vs-one":
            a = pairs(min(k, 12))
        elif kind == "one-vs-rest":
            a = 2 * np.eye(k, dtype=int) - 1 if k > 2 else np.array([[-1, 1]])
        elif kind == "adjacent":
            a = np.where(np.arange(k) <= np.arange(k - 1)[:, None], -1, 1)
        else:
            most = 200 if rng.random() < 0.02 else 3 * k
            m = int(rng.choice([1, 2, k - 1, k, k + 3, most]))
            zeros = {"strict": 0.0, "sparse": 0.8}.get(kind, 0.33)
            a = rng.choice([-1, 0, 1], size=(m, k), p=[(1 - zeros) / 2, zeros, (1 - zeros) / 2])
            a[np.arange(m), rng.integers(k, size=m)] = -1
            a[np.arange(m), rng.integers(k, size=m)] = 1
            if kind == "rows twice":
                a = np.vstack([a, a[: m // 2 + 1], -a[: m // 2 + 1]])
            elif kind == "columns twice":
                a[:, -1] = a[:, 0]
            elif kind == "opposite columns":
                a[:, -1] = -a[:, 0]
            elif kind == "deficient":
                a[:, 2:] = a[:, rng.integers(2, size=k - 2)]
        if is_code(a):
            return a * rng.choice([-1, 1], len(a))[:, None]


def draw_values(rng, m, n=14):
    """r (n, m): certain, all equal, at the edges of what a float can tell, and ordinary."""
    r = rng.uniform(-1, 1, (n, m))
    r[:7] = np.array([1, -1, 0, 5e-324, 1 - 2**-53, -1 + 1e-9, 0.25])[:, None]
    r[7:10] = rng.choice(EDGES, (3, m))
    r[10] = np.where(rng.random(m) < 0.5, r[10], rng.choice(EDGES, m))
    r[11] = np.tanh(8 * rng.normal(size=m))
    return r


def simple(a, r, method):
    """What a method is by its definition, where that is a line for one point; else None."""
    if method.name == "binary":
        return r
    if method.name == "vote-values":
        return sum(np.outer(r[:, i], a[i]) for i in range(len(a)))
    if method.name == "vote":
        return sum(np.outer(np.sign(r[:, i]), a[i]) for i in range(len(a)))
    if method.name.startswith("loss:"):
        loss = LOSSES[method.name[5:]]
        return -sum(loss(a[i] * r[:, i, None]) for i in range(len(a)))
    if method.name == "learned":
        return special.softmax(log_odds(r) @ a / 2, axis=1)
    return None


def product(a):
    """The learned decoder that multiplies the probabilities of the classifiers of a code (m, k)."""
    return LearnedDecoder(np.asarray(a).T / 2, np.zeros(a.shape[1]))


def excess(a, r, p):
    """How far the p (n, k) are from the optimality of constrained least squares."""
    matrix = a - np.abs(a) * r[:, :, None]
    slope = np.einsum("nik,ni->nk", matrix, np.einsum("nik,nk->ni", matrix, p))
    over = slope - np.sum(p * slope, axis=1, keepdims=True)
    return max(np.abs(over[p > 0]).max(initial=0), -over.min(initial=0))


def check_method(rng, a, r, method):
    """Values, bits and symmetries of one method for one code; -> the points given up."""
    m, k = a.shape
    solve = CodeDecoder(a, method, product(a))
    done = solve(r)
    assert np.isfinite(done[0]).all()
    assert done[0].shape == (len(r), m if method.name == "binary" else k)
    if method.gives == "probabilities":
        assert done[0].min() >= 0
        np.testing.assert_allclose(done[0].sum(axis=1), 1, rtol=0, atol=1e-13)
    expected = simple(a, r, method)
    if expected is not None:
        np.testing.assert_allclose(done[0], expected, rtol=1e-13, atol=1e-13)
    if method.name == "least-squares":
        assert excess(a, r, done[0]) < 1e-11
    # A point's bits depend on no other point, nor on how many there are,
    for size in (3, 13) if "zadrozny" in method.name else (1, 3):  # of 14 points, for the slow
        parts = [solve(r[start : start + size])[0] for start in range(0, len(r), size)]
        np.testing.assert_array_equal(np.concatenate(parts), done[0])
    turned = rng.permutation(len(r))
    np.testing.assert_array_equal(solve(r[turned])[0], done[0][turned])
    # nor on how the numbers are held.
    np.testing.assert_array_equal(solve(np.asfortranarray(r))[0], done[0])
    np.testing.assert_array_equal(
        solve(r.astype(np.float32))[0], solve(r.astype(np.float32).astype(float))[0]
    )
    assert len(solve(r[:0])[0]) == 0
    # The columns may come in any order, the rows in any order and with any sign.
    columns, rows = rng.permutation(k), rng.permutation(m)
    signs = rng.choice([-1, 1], m)
    turned = (a * signs[:, None])[rows][:, columns]
    other = CodeDecoder(turned, method, product(turned))((r * signs)[:, rows])
    if method.name != "binary" and not done[1].unfinished and not other[1].unfinished:
        # LIBSVM's sweeps end before they are there.
        close = {"wu-lin-weng": 5e-3, "zadrozny": 1e-4, "zadrozny-kl": 1e-4}.get(method.name, 1e-9)
        some = slice(None)
        if method.name in ("inverse", "unconstrained", "renormalised"):
            # Estimates of 1e9 and singular values of 1e-9 cost their digits.
            away = 1 - np.abs(r)
            some = ~((away > 0) & (away < 1e-4)).any(axis=1)
        np.testing.assert_allclose(other[0][some], done[0][some][:, columns], rtol=1e-9, atol=close)
    return done[1].unfinished


def sweep(seeds, classes):
    """Points decoded by all methods together; few are given up, and by Zadrozny's alone."""
    tried, lost = {}, {}
    for seed in seeds:
        for kind in KINDS:
            rng = np.random.default_rng([seed, KINDS.index(kind)])
            a = draw_code(rng, kind, classes)
            r = draw_values(rng, len(a))
            for method in METHODS:
                if method.gives != "winner" and method.codes in ("any", kind):
                    unfinished = check_method(rng, a, r, method)
                    tried[method.name] = tried.get(method.name, 0) + len(r)
                    lost[method.name] = lost.get(method.name, 0) + unfinished
    assert set(tried) == {
        method.name
        for method in METHODS
        if method.gives != "winner" and method.codes != "groups"  # see test_likelihood.py
    }
    for name, count in lost.items():
        assert count == 0 or "zadrozny" in name and count < 0.2 * tried[name], name
    return sum(tried.values())


@pytest.fixture
def short(monkeypatch):
    """Zadrozny's iteration circles on saturated values: it is given up early here."""
    monkeypatch.setattr(zadrozny, "QUICK", 60)
    monkeypatch.setattr(zadrozny, "LIMIT", 100)


def test_every_decoder_on_every_kind_of_code(short):
    assert sweep(range(1), [2, 3, 4, 5, 7]) > 2000


@pytest.mark.long
def test_every_decoder_on_many_codes(short):
    sweep(range(100, 112), [2, 3, 4, 5, 6, 8, 12, 20])
    sweep(range(2), [33, 60])


def check_second_solver(seeds):
    count = 0
    for seed in seeds:
        for kind in KINDS:
            rng = np.random.default_rng([seed, KINDS.index(kind), 7])
            a = draw_code(rng, kind, [2, 3, 4, 5, 6, 8])
            r = draw_values(rng, len(a))
            p = CodeDecoder(a)(r)[0]
            # values that the solver of last resort takes for certain
            certain = np.where(1 - np.abs(r) < 1e-12, np.sign(r), r)
            for point in range(len(r)):
                m, k = a.shape
                matrix = a - np.abs(a) * r[point][:, None]
                ours = np.sum((matrix @ p[point]) ** 2)
                whole, right = np.vstack([matrix, np.ones(k)]), np.append(np.zeros(m), 1.0)
                for u in (
                    optimize.nnls(whole, right)[0],
                    optimize.lsq_linear(whole, right, (0, np.inf), "bvls", tol=1e-14).x,
                ):
                    other = np.maximum(u, 0) / np.maximum(u, 0).sum()
                    assert ours <= np.sum((matrix @ other) ** 2) + 1e-12
                # Another way, from another start: by arithmetic of 180 digits.
                exact = [
                    decimal_least_norm(a.astype(float), one[point], np.ones(k, bool))
                    for one in (r, certain)
                ]
                assert min(np.abs(p[point] - one).max() for one in exact) < 1e-6
                count += 1
    return count


def test_least_squares_against_other_solvers():
    assert check_second_solver(range(1)) == 140


@pytest.mark.long
def test_least_squares_against_other_solvers_many_times():
    check_second_solver(range(10, 50))


def test_nearly_certain_values_do_not_depend_on_the_order_of_the_classes():
    # The objective of p = (0, 1, 0, 0) is 0, that of (0, 0, 0, 1) is 1e-18.
    a = np.array([[1, -1, 1, 0], [-1, 0, 0, 1]])
    r = np.array([[-1.0, 1 - 1e-9]])
    np.testing.assert_allclose(CodeDecoder(a)(r)[0], [[0, 1, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(
        CodeDecoder(a[::-1, ::-1])(r[:, ::-1])[0], [[0, 0, 1, 0]], atol=1e-12
    )


def test_least_norm_in_fractions():
    # Two classes that one problem tells from a third: r = 0 gives them 1/2, shared.
    np.testing.assert_allclose(
        decimal_least_norm(np.array([[-1.0, 1, 1]]), np.array([0.0]), np.ones(3, bool)),
        [0.5, 0.25, 0.25],
        atol=1e-15,
    )
    # p2/p1 = (1 + r)/(1 - r) whatever the rest; the least norm puts nothing aside.
    np.testing.assert_allclose(
        decimal_least_norm(np.array([[-1.0, 1]]), np.array([1 - 2**-53]), np.zeros(2, bool)),
        [2.0**-54, 1],
        rtol=1e-15,
    )
