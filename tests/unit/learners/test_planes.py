"""The learners: options of each, LIBLINEAR's own results, and planes where the minimum is."""

import ctypes
import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from agfmc.core.points import SparsePoints
from agfmc.core.errors import UsageError
from agfmc.core.models import Kernel
from agfmc.learners.protocol import (
    check_learners,
    learner_class,
    leaves_one_out,
    parse_options,
    plan_jobs,
)
from agfmc.learners.points import Nodes, Solution
from agfmc.control.learners import LEARNERS
from agfmc.learners.svm import SVM
from agfmc.control.parse import parse

SOLVERS = (0, 1, 2, 3, 5, 6, 7)


def data(n=200, d=5, seed=0, scale=1.0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d)) * scale
    x[generator.random(x.shape) < 0.2] = 0.0
    side = (x[:, 0] - x[:, 1] + 0.7 * generator.normal(size=n) * scale > 0.2).astype(np.int8)
    order = np.argsort(side != side[0], kind="stable")
    return x, order, side[order]


def solved(text, x, rows, side):
    options = parse_options(text)
    return options.solve(options.pack(x), rows, side)


# -- options ------------------------------------------------------------------------------------


def test_every_learner_keeps_the_interface():
    for name, learner in LEARNERS.items():
        if learner.sides != 2 or "-c" not in learner_class(name).letters:
            continue
        options = parse_options(f"learner={name} -c 2 -w1 3")
        assert options == parse_options(f" learner={name}  -w1 3 -c 2")
        assert hash(options) == hash(parse_options(f"learner={name} -c 2 -w1 3"))
        again = parse_options(options.canonical().replace("-g 1/d ", ""))
        assert again.canonical() == options.canonical()
        assert options.svm_type == "c_svc" and isinstance(options.kernel_for(3), Kernel)
        assert options.stores_vectors == (name != "svm") and isinstance(options.no_loo, str)
        hash(options.packing)


def test_svm_is_the_learner_without_a_name():
    assert parse_options("learner=svm -c 3") == parse_options("-c 3") == SVM(C=3.0)
    assert "learner" not in parse_options("learner=svm").canonical()


def test_who_has_probabilities():
    own = {s for s in SOLVERS if parse_options(f"learner=linear -s {s}").gives_probabilities}
    assert own == {0, 6, 7} and parse_options("learner=logistic").gives_probabilities
    for text in ("learner=linear -w0 2", "learner=logistic -w1 2", ""):
        assert not parse_options(text).gives_probabilities


def test_leaving_out_single_samples_is_for_some():
    jobs = plan_jobs(
        parse('"-c 1" {"learner=linear" {"learner=logistic" {0 1} 2} 3}', "f"), "m", "", 1
    )
    check_learners(jobs, "loo")
    for text, words in (
        ("-s 1", "platt loo is for C-SVC only, not for nu-SVC"),
        ("learner=linear -s 5", "not for learner=linear -s 5"),
        ("learner=linear -w0 2", "not for learner=linear -s 0 with weights"),
        ("learner=logistic -w0 2", "not for learner=logistic with weights"),
    ):
        jobs = plan_jobs(parse(f'"-c 1" {{"{text}" {{0 1}} 2}}', "f"), "m", "", 1)
        check_learners(jobs)
        with pytest.raises(UsageError) as caught:
            check_learners(jobs, "loo")
        assert words in str(caught.value) and str(caught.value).startswith("f:1:9: ")


@pytest.mark.parametrize(
    "text, platt, grouped, expected",
    [
        ("-c 5", "auto", False, True),
        ("-t 0 -w0 3", "auto", False, True),
        ("-c 5", "loo", False, True),
        ("-c 5", "cv", False, False),
        ("-c 5", "loo", True, False),
        ("-s 1", "auto", False, False),
        ("learner=linear -s 1", "auto", False, False),
        ("learner=linear", "loo", False, False),  # has probabilities
        ("learner=nystrom -m 9", "loo", False, False),  # has exact values
    ],
)
def test_the_one_rule_of_leaving_out(text, platt, grouped, expected):
    assert leaves_one_out(parse_options(text), platt, grouped) is expected


def test_a_library_that_is_missing(monkeypatch):
    from agfmc.learners import linear

    def missing():
        raise UsageError(
            "learner=linear needs LIBLINEAR, which is not installed: pip install 'agfmc[linear]'"
        )

    monkeypatch.setattr(linear, "_library", missing)
    jobs = plan_jobs(parse('"" {"learner=linear" {0 1} 2}', "f"), "m", "", 1)
    with pytest.raises(UsageError, match=r"f:1:5: .* pip install 'agfmc\[linear\]'"):
        check_learners(jobs)


def test_the_words_for_a_library_that_is_missing(monkeypatch):
    from agfmc.learners import linear, points

    monkeypatch.setattr(points, "shared_object", lambda package: None)
    linear._library.cache_clear()
    with pytest.raises(UsageError, match=r"pip install 'agfmc\[linear\]'") as caught:
        parse_options("learner=linear").made_by()
    assert "\n" not in str(caught.value)


# -- the points ---------------------------------------------------------------------------------


def nodes_of(nodes, rows):
    """[(index, value), ...] of each row, read as the libraries read them."""
    found = []
    for address in nodes.pointers(rows).tolist():
        row = []
        while (index := ctypes.c_int.from_address(address).value) != -1:
            row.append((index, ctypes.c_double.from_address(address + 8).value))
            address += 16
        found.append(row)
    return found


@pytest.mark.parametrize("bias", [None, 0.0, 2.5])
def test_nodes(bias):
    x = np.array([[0.0, 3], [0, 0], [-1, 2]])
    more = [] if bias is None else [(3, bias)]
    assert nodes_of(Nodes(x, bias), np.array([2, 0, 1])) == [
        [(1, -1.0), (2, 2.0), *more],
        [(2, 3.0), *more],
        more,
    ]


def test_a_plane():
    plane = Solution.plane(np.array([1.0, -2.0]), 0.5, (1, 0))
    assert plane.rho == -0.5 and plane.n_sv == (1, 0) and plane.coef.tolist() == [1.0]
    assert plane.points(None, None).tolist() == [[1.0, -2.0]] and plane.sv is None


# -- LIBLINEAR ----------------------------------------------------------------------------------


def liblinear(x, side, words):
    """w (d,), intercept and first label by LIBLINEAR's own Python module."""
    util = pytest.importorskip("liblinear.liblinearutil")
    ctypes.CDLL(None).srand(1)
    model = util.train(
        side.tolist(), [dict(enumerate(row, 1)) for row in x.tolist()], f"{words} -q"
    )
    w, b = model.get_decfun()
    return np.append(w, np.zeros(x.shape[1] - len(w))), b, model.get_labels()[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    "words", ["-B 1 -e 1e-3", "-B -1 -c 0.5 -e 0.1", "-B 3 -e 1e-4 -w0 2 -w1 0.5"]
)
def test_liblinear_s_own_results(solver, words):
    x, rows, side = data()
    w, b, first = liblinear(x[rows], side, f"-s {solver} {words}")
    solution = solved(f"learner=linear -s {solver} {words}", x, rows, side)
    assert solution.labels == (first, 1 - first)
    np.testing.assert_allclose(solution.vectors, w[None], rtol=0, atol=1e-6)
    assert abs(solution.rho + b) < 1e-6 and ((b != 0) == ("-B -1" not in words))


def test_the_first_label_is_that_of_the_first_row():
    x, rows, side = data()
    turned = np.argsort(side == side[0], kind="stable")
    one = solved("learner=linear -e 1e-9", x, rows, side)
    other = solved("learner=linear -e 1e-9", x, rows[turned], side[turned])
    assert one.labels == other.labels[::-1] == (side[0], 1 - side[0])
    np.testing.assert_allclose(one.vectors, -other.vectors, atol=1e-8)


@pytest.mark.parametrize("solver", [1, 3, 5, 6, 7])
def test_solvers_that_draw_random_numbers_repeat(solver):
    """Whoever else draws from the C library's generator, and however many train at once."""
    x, rows, side = data(400)
    text = f"learner=linear -s {solver} -e 0.01"
    expected = solved(text, x, rows, side).vectors.tobytes()
    found, libc = [], ctypes.CDLL(None)

    def fit():
        for _ in range(4):
            found.append(solved(text, x, rows, side).vectors.tobytes())

    threads = [threading.Thread(target=fit) for _ in range(3)]
    libc.srand(99)
    libc.rand()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 12


def test_liblinear_is_quiet(capfd):
    x, rows, side = data()
    for solver in SOLVERS:
        solved(f"learner=linear -s {solver}", x, rows, side)
    assert capfd.readouterr() == ("", "")


def test_values_that_are_too_large():
    x, rows, side = data(scale=1e200)
    with pytest.warns(ConvergenceWarning, match="scale the data"):
        solved("learner=logistic", x, rows, side)


# -- logistic regression ------------------------------------------------------------------------


@pytest.mark.parametrize("d", [5, 220])  # the whole second derivative, and conjugate gradients
@pytest.mark.parametrize("cost", [0.01, 1.0, 30.0])
def test_logistic_regression_is_scikit_learn_s(d, cost):
    linear_model = pytest.importorskip("sklearn.linear_model")
    x, rows, side = data(300, d)
    theirs = linear_model.LogisticRegression(C=cost, tol=1e-10, max_iter=10000).fit(
        x[rows], side == side[0]
    )
    texts = [f"learner=logistic -c {cost} -e 1e-9"]
    if d == 5:
        texts.append(f"learner=linear -c {cost} -R -e 1e-9")
    for text in texts:
        ours = solved(text, x, rows, side)
        np.testing.assert_allclose(ours.vectors, theirs.coef_, rtol=0, atol=2e-4)
        assert abs(ours.rho + theirs.intercept_[0]) < 2e-4
        f = x[rows] @ ours.vectors[0] - ours.rho
        np.testing.assert_allclose(
            1 / (1 + np.exp(-f)), theirs.predict_proba(x[rows])[:, 1], atol=2e-4
        )


def gradient(solution, x, rows, side, c):
    y = np.where(side == side[0], 1.0, -1.0)
    f = x[rows] @ solution.vectors[0] - solution.rho
    wrong = -c * y / (1.0 + np.exp(y * f))
    return np.append(x[rows].T @ wrong + solution.vectors[0], wrong.sum())


@pytest.mark.parametrize("d", [4, 230])
@pytest.mark.parametrize("text", ["-c 0.1", "-c 100", "-w0 3 -w1 0.5", "-c 1e4"])
def test_the_gradient_is_zero(d, text):
    x, rows, side = data(250, d, seed=2)
    options = parse_options(f"learner=logistic {text} -e 1e-8")
    solution = options.solve(x, rows, side)
    weights = dict(options.weights)
    c = options.C * np.where(side == 0, weights.get(0, 1.0), weights.get(1, 1.0))
    found = np.abs(gradient(solution, x, rows, side, c)).max()
    assert found <= 1e-5 * max(1.0, options.C)


def test_sparse_points_give_the_same_plane():
    sparse = pytest.importorskip("scipy.sparse")
    for d in (4, 230):
        x, rows, side = data(250, d, seed=3)
        one = solved("learner=logistic -e 1e-9", x, rows, side)
        other = solved("learner=logistic -e 1e-9", SparsePoints(sparse.csr_array(x)), rows, side)
        np.testing.assert_allclose(other.vectors, one.vectors, atol=1e-7)
        assert abs(other.rho - one.rho) < 1e-7


def test_separable_and_constant_points():
    x = np.array([[0.0, 5], [1, 5], [2, 5], [3, 5]])
    side = np.array([0, 0, 1, 1], dtype=np.int8)
    solution = solved("learner=logistic -c 1e3 -e 1e-9", x, np.arange(4), side)
    f = x @ solution.vectors[0] - solution.rho
    assert (np.sign(f) == [1, 1, -1, -1]).all() and abs(solution.vectors[0, 1]) < 1e-6
    same = solved("learner=logistic", np.ones((6, 2)), np.arange(6), np.array([1, 1, 1, 1, 0, 0]))
    assert abs(-same.rho - np.log(2)) < 1e-5  # the intercept alone: 4 to 2


def test_a_descent_that_ends_early(monkeypatch):
    from agfmc.learners import logistic

    monkeypatch.setattr(logistic, "_STEPS", 1)
    x, rows, side = data(250)
    with pytest.warns(ConvergenceWarning):
        solved("learner=logistic -c 1e3", x, rows, side)


@pytest.mark.parametrize("scale", [1e7, 1e9, 1e12])
@pytest.mark.filterwarnings("ignore")
def test_logistic_regression_survives_equal_large_features(scale):
    """The Newton system is singular to working precision."""
    rng = np.random.default_rng(0)
    side = (np.arange(400) % 2).astype(np.int8)
    a = rng.normal(size=400) + side
    options = parse_options("learner=logistic")
    points = np.column_stack([a, a]) * scale
    solution = options.solve(options.pack(points), np.arange(400), side)
    assert np.isfinite(solution.vectors).all()


@pytest.mark.parametrize("scale", [1e154, 1e200])
@pytest.mark.filterwarnings("ignore")
def test_logistic_regression_survives_overflow(scale):
    rng = np.random.default_rng(1)
    options = parse_options("learner=logistic")
    points = rng.normal(size=(60, 300)) * scale
    side = (np.arange(60) % 2).astype(np.int8)
    solution = options.solve(options.pack(points), np.arange(60), side)
    assert np.isfinite(solution.vectors).all()
