"""Weights of points: a weight of two is two copies, but for trees; what heeds none says so."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from agfmc.core.points import SparsePoints
from agfmc.control.learners import LEARNERS, NODE_LEARNERS
from agfmc.control.parse import parse
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.data.libagf import con_bytes
from agfmc.kernels.machine import decision_values
from agfmc.kernels.values import PreparedKernel
from agfmc.learners import leave_one_out, platt
from agfmc.learners.logistic import fit_logistic
from agfmc.learners.neighbours import Neighbours
from agfmc.learners.protocol import (
    for_weights,
    learner_class,
    NodeProblem,
    parse_options,
    plan_jobs,
    Samples,
)
from agfmc.training.kernel_tables import Tables
from agfmc.training.run import write_node
from data_files import write_cls, write_vec

ROOT = Path(__file__).resolve().parents[3]
SVMS = [
    "-e 1e-6",
    "-t 0 -e 1e-6 -c 2",
    "-t 1 -g 0.1 -r 1 -d 2 -e 1e-6",
    "-t 3 -g 0.02 -e 1e-6",
    "-c 3 -w0 2 -w1 0.5 -e 1e-6",
    "-h 0 -e 1e-6",
    "-s 1 -n 0.3 -e 1e-7",
]
LINEAR = [
    f"learner=linear -s {solver} -e 1e-8 {more}"
    for solver in (0, 1, 2, 5, 6, 7)
    for more in ("-B -1", "-B 2 -w1 3")
] + ["learner=linear -s 3 -e 1e-3 -c 0.01"]


def problem(seed=0, n=120, d=4):
    """Points of two sides, the right one first, and whole weights with the rows of their copies."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    side = (x[:, 0] + 0.5 * rng.normal(size=n) > 0).astype(np.int8)
    rows = np.argsort(side == 0, kind="stable")
    w = rng.integers(1, 5, n).astype(float)
    return x, rows, side[rows], w, np.repeat(np.arange(n), w.astype(int))


def values(options, solution, x, rows):
    return decision_values(
        options.kernel_for(x.shape[1]), solution.points(x, rows), solution.coef, solution.rho, x
    )


@pytest.mark.parametrize("text", SVMS)
def test_svm(text):
    pytest.importorskip("sklearn")
    x, rows, side, w, copies = problem()
    plain = parse_options(text)
    options = plain.weighted()
    assert options.canonical() == plain.canonical() and options != plain
    assert options.made_by().startswith("libsvm of scikit-learn ") and ";" not in options.made_by()
    for weights, of in ((np.ones(len(w)), np.arange(len(w))), (w, copies)):
        found = options.solve(x, rows, side, weights)
        expected = plain.solve(plain.pack(x), rows[of], side[of])
        np.testing.assert_allclose(
            values(options, found, x, rows), values(plain, expected, x, rows[of]), atol=2e-4
        )
        assert found.labels == expected.labels == (1, 0)
        assert (np.diff(side[found.sv].astype(int)) <= 0).all()  # those of the first label first
        assert found.n_sv == (np.sum(side[found.sv] == 1), np.sum(side[found.sv] == 0))
        assert (np.sign(found.coef) == np.where(side[found.sv] == 1, 1, -1)).all()


@pytest.mark.parametrize(
    "text, form", [("-t 0", "SVC"), ("-g 0.2 -c 3", "SVC"), ("-s 1 -n 0.2 -g 0.1", "NuSVC")]
)
def test_one_against_one_of_scikit_learn(text, form):
    svm = pytest.importorskip("sklearn.svm")
    lines = (ROOT / "sample_data" / "digits.svm").read_text().splitlines()[:150]
    y = np.array([int(line.split()[0]) for line in lines])
    x = np.zeros((len(y), 64))
    for row, line in enumerate(lines):
        for word in line.split()[1:]:
            number, value = word.split(":")
            x[row, int(number) - 1] = float(value) / 16
    keep = np.flatnonzero(y < 4)
    x, y, w = x[keep], y[keep], np.random.default_rng(1).uniform(0.2, 3.0, len(keep))
    options = replace(parse_options(text), tol=1e-6).weighted()
    kernel = {
        "kernel": "linear" if "-t 0" in text else "rbf",
        "tol": 1e-6,
        "gamma": options.gamma or 1.0,
    }
    theirs = (
        svm.NuSVC(nu=options.nu, **kernel) if form == "NuSVC" else svm.SVC(C=options.C, **kernel)
    ).set_params(decision_function_shape="ovo")
    expected = theirs.fit(x, y, sample_weight=w).decision_function(x)
    pairs = [(a, b) for a in range(4) for b in range(a + 1, 4)]
    for column, (a, b) in enumerate(pairs):
        rows = np.flatnonzero((y == a) | (y == b))
        side = (y[rows] == b).astype(np.int8)
        found = options.solve(x, rows, side, w[rows])
        sign = 1 if found.labels[0] == 0 else -1
        np.testing.assert_allclose(
            sign * values(options, found, x, rows), expected[:, column], atol=1e-4
        )


@pytest.mark.parametrize("text", LINEAR)
def test_linear(text):
    pytest.importorskip("sklearn")
    pytest.importorskip("liblinear")
    x, rows, side, w, copies = problem(1)
    plain = parse_options(text)
    options = plain.weighted()
    assert options.canonical() == plain.canonical()
    assert options.gives_probabilities == plain.gives_probabilities
    assert options.made_by().startswith("liblinear of scikit-learn ")
    found, again = (
        plane(options.solve(points, rows, side, w)) for points in (x, SparsePoints(sparse(x)))
    )
    close = partial(np.testing.assert_allclose, atol=2e-3 if "-s 3" in text else 1e-5)
    close(again, found)
    close(found, plane(options.solve(x, rows[copies], side[copies])))
    if "-s 3" not in text:  # which stops early
        close(found, plane(plain.solve(plain.pack(x), rows[copies], side[copies])))
    assert (np.abs(plane(options.solve(x, rows, side)) - found) > 1e-3).any()


def plane(solution):
    assert solution.labels == (1, 0) and solution.coef.tolist() == [1.0]
    return np.append(solution.vectors[0], solution.rho)


def sparse(x):
    from scipy.sparse import csr_array

    return csr_array(x)


def test_sparse_points_of_svm():
    pytest.importorskip("sklearn")
    x, rows, side, w, _ = problem(2)
    x[np.abs(x) < 0.7] = 0.0
    options = parse_options("-t 0").weighted()
    dense = options.solve(x, rows, side, w)
    found = options.solve(SparsePoints(sparse(x)), rows, side, w)
    assert found.sv.tolist() == dense.sv.tolist()
    np.testing.assert_allclose(found.coef, dense.coef, atol=1e-3)


def test_draws_do_not_depend_on_others():
    pytest.importorskip("sklearn")
    x, rows, side, w, _ = problem(3)
    options = parse_options("learner=linear -s 1").weighted()
    state = np.random.get_state()[1].tolist()
    found = plane(options.solve(x, rows, side, w)).tobytes()
    parse_options("").weighted().solve(x, rows, side, w)
    plane(options.solve(x[:, :2], rows, side, w))
    assert plane(options.solve(x, rows, side, w)).tobytes() == found
    assert np.random.get_state()[1].tolist() == state


def test_problems_without_an_answer():
    pytest.importorskip("sklearn")
    x, rows, side, w, _ = problem(4)
    with pytest.raises(DataError, match=r"with .* as weights of the sides -n must be less than 0"):
        parse_options("-s 1 -n 0.99").weighted().solve(x, rows, side, w)
    with pytest.raises(DataError, match="training gave NaN or infinity"):
        parse_options("-t 1 -d 50 -g 1e50").weighted().solve(x, rows, side, w)


def test_refusals_have_their_place():
    jobs = plan_jobs(parse('"learner=linear -R" 0 / 1;\n{0 1}', "f"), "m", "", 1)
    with pytest.raises(
        UsageError, match="^f:1:1: learner=linear cannot heed weights of points with -R"
    ):
        for_weights(jobs)
    jobs = plan_jobs(parse('"cat" G {0 1 2}', "f"), "m", "", 1)
    with pytest.raises(UsageError, match="^f:1:1: a classifier of code G is run by a program"):
        for_weights(jobs)


def test_without_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from agfmc.learners.protocol import parse_options\n"
        "for text in '', 'learner=linear':\n"
        "    try: parse_options(text).weighted().made_by()\n"
        "    except Exception as error: print(type(error).__name__, error)"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    ).stdout
    assert found == 2 * (
        "UsageError weights of points need scikit-learn: pip install 'agfmc[sklearn]'\n"
    )


def test_shared_jobs_stay_one():
    pytest.importorskip("sklearn")
    jobs = plan_jobs(
        parse('"learner=nystrom" 0 / 1;\n"learner=nystrom" 1 / 0;\n"" 0 / 1;\n{0 1}', "f"),
        "m",
        "",
        1,
    )
    jobs = [*jobs, jobs[2]]
    made = for_weights(jobs)
    assert made[0] is jobs[0] and made[1] is jobs[1] and made[0].together is made[1].together
    assert made[2] is made[3] and made[2].options == jobs[2].options.weighted()
    assert for_weights(made) == made


def test_every_learner_tells_what_trains_with_weights():
    pytest.importorskip("sklearn")
    for name, row in LEARNERS.items():
        options = learner_class(name).parse("cat" if row.is_program else "")
        if row.is_program:
            with pytest.raises(UsageError):
                options.weighted()
            continue
        weighted = options.weighted()
        assert weighted.weighted() == weighted and hash(weighted) == hash(options.weighted())
        assert weighted.canonical() == options.canonical()
        assert (name in NODE_LEARNERS) == (weighted.sides is None)


def test_kernel_tables_leave_points_as_they_are():
    pytest.importorskip("sklearn")
    x, rows, side, _, _ = problem()
    jobs = plan_jobs(parse('"" 0 / 1;\n"" 1 / 0;\n{0 1}', "f"), "m", "-g 0.5", 1)
    y = np.empty(len(rows), dtype=int)
    y[rows] = side
    rows_of = {label: np.flatnonzero(y == label) for label in (0, 1)}
    jobs = [jobs[0], *for_weights(jobs[1:])]
    tables = Tables(x, jobs, rows_of, {job.name: 50.0 for job in jobs}, 1, 512)
    assert tables.of(jobs[1], rows, True) is x
    assert tables.of(jobs[0], rows, True) is not x


def test_logistic():
    x, rows, side, w, copies = problem(5)
    for text in ("learner=logistic -c 3", "learner=logistic -w1 2"):
        options = parse_options(text).weighted()
        for points in (x, SparsePoints(sparse(x))):
            found = plane(options.solve(points, rows, side, w))
            expected = plane(options.solve(points, rows[copies], side[copies]))
            np.testing.assert_allclose(found, expected, atol=1e-9)
        assert np.abs(found - plane(options.solve(x, rows, side))).max() > 1e-3


@pytest.mark.parametrize(
    "text, holds",
    [
        ("-e 1e-6", True),
        ("learner=linear -e 1e-8", True),
        ("learner=logistic", True),
        (
            "learner=trees -n 30 -x 0",
            False,
        ),  # nothing is drawn at random: bins and leaves count rows
    ],
)
def test_which_learners_take_weights_for_copies(text, holds):
    pytest.importorskip("sklearn")
    if "trees" in text:
        pytest.importorskip("lightgbm")
    x, rows, side, w, copies = problem(3)
    rows, side = np.arange(len(rows)), side[np.argsort(rows)]
    options = parse_options(text).weighted()
    weighted, copied = (
        options.solve(x, *of)
        for of in ((rows, side, w), (copies, side[copies], np.ones(len(copies))))
    )
    f = [
        solution.function(x) if solution.function else values(options, solution, x, part)
        for solution, part in ((weighted, rows), (copied, copies))
    ]
    if weighted.labels != copied.labels:
        f[1] = -f[1]
    assert (np.abs(f[0] - f[1]).max() < 1e-3) == holds


@pytest.mark.parametrize("d", [3, 2001])
def test_multinomial(d):
    rng = np.random.default_rng(6)
    x = rng.normal(size=(60, d)) * 10.0 ** rng.integers(-2, 3, d) + 5
    y, w = rng.integers(0, 3, 60), rng.integers(1, 4, 60).astype(float)
    copies = np.repeat(np.arange(60), w.astype(int))
    ridge = 0.7 if d == 3 else 100.0
    found = fit_logistic(x, y, 3, ridge, w)
    np.testing.assert_allclose(found, fit_logistic(x[copies], y[copies], 3, ridge), atol=1e-9)
    assert np.abs(found - fit_logistic(x, y, 3, ridge)).max() > 1e-4


@pytest.mark.parametrize("k", [1, 6, 40])
@pytest.mark.parametrize("n", [80, 2500])  # by product, by tree
def test_neighbours(n, k):
    rng = np.random.default_rng(7)
    x, y = rng.integers(0, 9, (n, 2)).astype(np.float32), rng.integers(0, 3, n)
    w = rng.integers(1, 5, n).astype(np.float32)
    copies = np.repeat(np.arange(n), w.astype(int))
    points = rng.integers(0, 9, (60, 2)) + rng.integers(0, 2, (60, 1)) / 2
    found = Neighbours(x, y, 3, k, w).probabilities(points)
    np.testing.assert_allclose(
        found, Neighbours(x[copies], y[copies], 3, k).probabilities(points), atol=1e-12
    )
    one = [Neighbours(x, y, 3, k, w).probabilities(points[i : i + 1])[0] for i in range(9)]
    assert np.array_equal(one, found[:9])


def test_neighbours_of_small_weight():
    x, y = np.arange(6.0)[:, None], np.array([0, 1, 1, 2, 0, 0])
    w = np.array([0.25, 0.5, 0.75, 1.0, 0.3, 0.2], dtype=np.float32)
    found = Neighbours(x, y, 3, 2, w).probabilities(np.array([[-1.0]]))
    np.testing.assert_allclose(found, [[0.125, 0.625, 0.25]])  # the last one gives half of its 1


def node_job(text="-k 3"):
    (job,) = for_weights(plan_jobs(parse(f'"{text}" K {{0 1 2}}', "f"), "m", "", 1))
    return job


def node_problem(n=40):
    rng = np.random.default_rng(8)
    x = rng.normal(size=(n, 2)).astype(np.float32)
    side = rng.integers(0, 3, n).astype(np.int32)
    return NodeProblem(x, Samples(np.arange(n), side), weights=rng.integers(1, 4, n).astype(float))


def test_held_out_neighbours_leave_all_of_a_point():
    job, given = node_job(), node_problem()
    part, rows = given.samples, np.array([2, 5, 17, 39])
    found = job.options.held_out_probabilities(job, given, job.options.fit(job, given), rows)
    for row, p in zip(rows, found):
        left = np.flatnonzero(np.arange(len(part.rows)) != row)
        copies = np.repeat(left, given.weights[left].astype(int))
        expected = Neighbours(given.x[copies], part.side[copies], 3, 3).probabilities(
            given.x[row : row + 1]
        )
        np.testing.assert_allclose(p, expected[0], atol=1e-12)


def test_held_out_neighbours_where_few_are_left():
    job = node_job("-k 4")
    given = NodeProblem(
        np.array([[0.0], [1.0], [2.0]], dtype=np.float32),
        Samples(np.arange(3), np.array([0, 1, 2])),
        weights=np.array([3.0, 1.0, 1.0]),
    )
    found = job.options.held_out_probabilities(
        job, given, job.options.fit(job, given), np.array([0, 1])
    )
    np.testing.assert_allclose(found, [[0, 0.5, 0.5], [0.75, 0, 0.25]])


def test_files_of_neighbours(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job, given = node_job(), node_problem()
    assert job.files == [f"{job.name}{end}" for end in (".vec", ".cls", ".wgt")]
    write_node(job, given, job.files)
    model = job.options.read(job.name, 3)
    assert model.w.tolist() == given.weights.tolist()
    plain = replace(job, options=learner_class("K").parse("-k 3"))
    assert plain.files == job.files[:2] and plain.options.stale_files(job.name) == job.files[2:]
    assert plain.options.read(job.name, 3).w.tolist() == given.weights.tolist()
    found = learner_class(model.code).classifier(model).probabilities(given.x)
    fitted = learner_class(model.code).classifier(job.options.fit(job, given))
    np.testing.assert_array_equal(found, fitted.probabilities(given.x))


@pytest.mark.parametrize(
    "wrong, words",
    [
        ([1.0], "has 1 values, but there are 2 points"),
        ([1.0, 0.0], "row 2: expected a weight above 0, found 0"),
        ([1.0, -2.0], "above 0, found -2"),
        ([0.25, 0.25], "has 2 points of weight 0.5, fewer than 1"),
    ],
)
def test_wrong_files_of_weights(tmp_path, monkeypatch, wrong, words):
    monkeypatch.chdir(tmp_path)
    write_vec("m.vec", np.eye(2))
    write_cls("m.cls", np.array([0, 1]))
    options = learner_class("K").parse("-k 1")
    assert options.read("m", 2).w is None
    (tmp_path / "m.wgt").write_bytes(con_bytes(wrong))
    with pytest.raises((DataError, ModelError), match=words):
        options.read("m", 2)


@pytest.mark.parametrize("counts", [None, (40.0, 70.0)])
def test_sigmoid(counts):
    rng = np.random.default_rng(9)
    f, w = rng.normal(size=200), rng.integers(1, 6, 200).astype(float)
    positive = f + rng.normal(size=200) > 0.5
    copies = np.repeat(np.arange(200), w.astype(int))
    found = platt.fit_sigmoid(f, positive, counts, w)
    expected = platt.fit_sigmoid(f[copies], positive[copies], counts)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert found[2] and abs(found[1] - platt.fit_sigmoid(f, positive, counts)[1]) > 1e-3


def loo(options, solution, x, rows, side, w):
    kernel = options.kernel_for(x.shape[1])
    return leave_one_out.loo_values(
        lambda a, b: PreparedKernel(kernel, b).values(a).T,
        x,
        Samples(rows, side, w),
        solution,
        options,
    )


def test_leaving_out_a_point_with_its_weight():
    """The values are near those of classifiers that are trained without the point."""
    pytest.importorskip("sklearn")
    x, rows, side, w, _ = problem(10, 60, 2)
    options = replace(parse_options("-g 0.5"), tol=1e-8).weighted()
    solution = options.solve(x, rows, side, w)
    exact = np.empty(len(rows))
    for out in range(len(rows)):
        kept = np.arange(len(rows)) != out
        fit = options.solve(x, rows[kept], side[kept], w[kept])
        exact[out] = values(options, fit, x, rows[kept])[rows[out]]
    at = np.sort(solution.sv)
    error, other = (
        np.abs(loo(options, solution, x, rows, side, given) - exact)[at].mean()
        for given in (w, None)
    )
    assert error < 0.1 and 1.5 * error < other


@pytest.mark.parametrize("text", ["-g 0.5", "-c 2 -t 0"])
def test_weights_of_sides_are_those_of_their_points(text):
    pytest.importorskip("sklearn")
    x, rows, side, _, _ = problem(11, 80, 2)
    options = parse_options(text).weighted()
    of_sides = options.changed(weights=((0, 0.5), (1, 3.0)))
    w = np.where(side == 0, 0.5, 3.0)
    solution, other = options.solve(x, rows, side, w), of_sides.solve(x, rows, side)
    assert solution.coef.tobytes() == other.coef.tobytes() and solution.rho == other.rho
    found = loo(options, solution, x, rows, side, w)
    np.testing.assert_array_equal(found, loo(of_sides, solution, x, rows, side, None))
    assert not leave_one_out.is_unbounded(solution, options, side, w)
    hard = options.changed(C=1e6, kernel="linear")
    easy = hard.solve(4.0 * np.sign(x), rows, (x[rows, 0] < 0).astype(np.int8), w)
    assert leave_one_out.is_unbounded(easy, hard, side, w)
    least = np.abs(easy.coef).max() / 1e6
    assert not leave_one_out.is_unbounded(easy, hard, side, np.full(len(w), least))
