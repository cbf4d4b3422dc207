"""LIBSVM behind ctypes: what its own program gives, and the conditions of the optimum."""

import ctypes
import threading
from agfmc.learners.points import CatchWords
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from agfmc.core.errors import AgfmcNotice, DataError, UsageError
from agfmc.models.libsvm import read_svm_model
from agfmc.kernels.machine import decision_values
from agfmc.learners import points as calls, svm
from agfmc.learners.svm import solve
from agfmc.learners.points import Nodes
from agfmc.learners.protocol import parse_options


def data(seed=0, n=80, d=4):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d)).round(5)
    x[generator.random((n, d)) < 0.2] = 0.0
    side = (x[:, 0] + 0.6 * generator.normal(size=n) > 0.2).astype(np.int8)
    order = np.concatenate([np.flatnonzero(side == side[0]), np.flatnonzero(side != side[0])])
    return x, order, side[order]


# numbers that are exact in single precision too: older builds of svm-train round them to it
OPTIONS = [
    "-t 0",
    "-t 1 -g 0.5 -r 1 -d 2",
    "-t 2 -g 0.25",
    "-t 3 -g 0.125 -r -0.25",
    "",
    "-s 1 -n 0.375 -t 0",
    "-s 1 -n 0.25 -t 2 -g 0.125",
    "-s 1 -n 0.25 -t 1 -r 1",
    "-s 1 -n 0.5 -t 3 -g 0.015625",
    "-c 10 -w0 3 -w1 0.5",
    "-w1 4 -h 0",
    "-t 1 -d 0",
    "-c 0.01",
    "-g 0",
]


@pytest.mark.parametrize("text", OPTIONS)
def test_decision_values_are_those_of_svm_train(tmp_path, text):
    program = shutil.which("svm-train")
    if program is None:
        pytest.skip("svm-train is not installed")
    x, rows, side = data()
    with open(tmp_path / "data", "w") as file:
        for row, label in zip(rows, side):
            pairs = " ".join(f"{j}:{v!r}" for j, v in enumerate(x[row].tolist(), 1) if v)
            file.write(f"{label} {pairs}\n")
    subprocess.run(
        [program, "-q", *text.split(), str(tmp_path / "data"), str(tmp_path / "model")],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    theirs = read_svm_model(str(tmp_path / "model"))
    options = parse_options(text)
    ours = solve(Nodes(x), rows, side, options)
    assert ours.labels == theirs.labels == (side[0], 1 - side[0])
    assert theirs.kernel == options.kernel_for(4)
    assert sum(ours.n_sv) == len(ours.sv) == len(ours.coef)
    test = np.random.default_rng(1).normal(size=(50, 4))
    expected = decision_values(theirs.kernel, theirs.sv, theirs.coef, theirs.rho, test)
    got = decision_values(options.kernel_for(4), x[rows[ours.sv]], ours.coef, ours.rho, test)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6 * max(1, abs(expected).max()))


@pytest.mark.parametrize("text", ["", "-t 0 -c 100"])
def test_support_vectors_of_the_first_label_first(text):
    x, rows, side = data(3)
    solution = solve(Nodes(x), rows, side, parse_options(text))
    sides = side[solution.sv]
    assert (sides[: solution.n_sv[0]] == solution.labels[0]).all()
    assert (sides[solution.n_sv[0] :] == solution.labels[1]).all()
    assert (solution.coef[: solution.n_sv[0]] > 0).all()
    assert (solution.coef[solution.n_sv[0] :] < 0).all()
    f = decision_values(
        parse_options(text).kernel_for(4),
        x[rows[solution.sv]],
        solution.coef,
        solution.rho,
        x[rows],
    )
    assert np.mean((f > 0) == (side == solution.labels[0])) > 0.7


def test_a_side_with_one_sample():
    x, rows, side = data(4)
    one = np.concatenate([rows[side == 0], rows[side == 1][:1]])
    labels = np.array([0] * (len(one) - 1) + [1])
    solution = solve(Nodes(x), one, labels, parse_options("-t 0 -c 100"))
    assert solution.labels == (0, 1) and solution.n_sv[1] == 1


def test_infeasible_nu():
    x, rows, side = data(5)
    few = np.concatenate([rows[side == 0], rows[side == 1][:2]])
    left = len(few) - 2
    with pytest.raises(
        DataError,
        match="LIBSVM refuses the problem: specified nu is infeasible: "
        f"with {left} and 2 samples -n must be less than {4 / len(few):.3g}, in ",
    ):
        solve(Nodes(x), few, np.array([0] * left + [1, 1]), parse_options("-s 1 -n 0.9"))


@pytest.mark.parametrize(
    "options, factor, words",
    [
        (
            "-s 1 -n 1",
            1,
            "-n 1.0.* leaves no sample free: with 9 and 9 samples -n must be less than 1,",
        ),
        ("-s 1 -n 0.5", 1e-42, "finds no margin: to the kernel both sides are alike; .*larger -g"),
        ("-s 1 -n 0.5 -t 0", 1e160, "kernel values of these points are too large"),
    ],
)
def test_why_nu_svc_has_no_solution(options, factor, words):
    x = np.random.default_rng(1).normal(size=(18, 2)) * factor
    with pytest.raises(DataError, match=words):
        solve(Nodes(x), np.arange(18), np.repeat([0, 1], 9), parse_options(options))


@pytest.mark.parametrize("text", ["-t 1 -d 100 -g 1e6", "-t 1 -d 3 -g 1e200"])
def test_kernels_that_overflow(text):
    x, rows, side = data(5)
    with pytest.raises(DataError, match="training gave NaN or infinity"):
        solve(Nodes(x), rows, side, parse_options(text))


def test_rows_of_zeros_and_repeated_calls():
    x = np.array([[0.0, 0], [0, 0], [1, 0], [0, 2.0]])
    nodes = Nodes(x)
    args = nodes, np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), parse_options("-t 0 -c 10")
    one, two = solve(*args), solve(*args)
    assert one.coef.tobytes() == two.coef.tobytes() and one.rho == two.rho
    assert one.sv.tobytes() == two.sv.tobytes()


def test_training_is_quiet(capfd):
    x, rows, side = data(6)
    solve(Nodes(x), rows, side, parse_options(""))
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


@pytest.fixture
def without_package(monkeypatch):
    """As if libsvm-official were missing, and the system had these files as its libraries."""

    def missing(*files):
        monkeypatch.setattr(calls, "shared_object", lambda package: None)
        monkeypatch.setattr(svm, "_FILES", files)
        svm.library.cache_clear()

    yield missing
    svm.library.cache_clear()


@pytest.mark.parametrize("from_system", [True, False])
def test_without_the_python_package(without_package, from_system):
    """A library of the system gives the same model; scikit-learn's, nearly the same."""
    x, rows, side = data()
    options = parse_options("-g 0.3")
    wanted, library = solve(Nodes(x), rows, side, options), svm.library().path
    without_package("nothing.so", __file__, *[library] * from_system)
    name = library if from_system else "the LIBSVM of scikit-learn"
    with pytest.warns(AgfmcNotice, match=f"libsvm-official is not installed: .*{re.escape(name)}"):
        assert options.by_sklearn is not from_system
    found = options.solve(options.pack(x), rows, side)
    assert found.sv.tolist() == wanted.sv.tolist() and found.labels == wanted.labels
    np.testing.assert_allclose(found.coef, wanted.coef, 0 if from_system else 1e-3)


def test_without_any_libsvm(monkeypatch, without_package):
    without_package("nothing.so")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UsageError, match="without libsvm-official, .* need scikit-learn: pip"):
        parse_options("").made_by()


TOLERANCE = 1e-5
TEXTS = (
    "-t 0 -c 2",
    "-t 2 -g 0.7 -c 3",
    "-t 2 -g 20 -c 0.1",
    "-t 1 -g 0.5 -r 1 -d 2 -c 0.5",
    "-t 2 -w0 5 -w1 0.25 -c 2",
    "-t 0 -c 20 -w1 3",
    "-t 2 -h 0",
)
DATA = ("plain", "contradictory", "constant", "repeated", "zeros", "one against many")


def points(kind, seed):
    """x (n, d) and side (n,), the rows of the first side first."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(12, 60)), int(rng.integers(1, 6))
    x = rng.normal(size=(n, d))
    side = (x[:, 0] + rng.normal(size=n) > 0).astype(int)
    if kind == "contradictory":
        x[n // 2 :] = x[: n - n // 2]
        side[n // 2 :] = 1 - side[: n - n // 2]
    elif kind == "constant":
        x = np.hstack([x, np.full((n, 2), 3.25)])
    elif kind == "repeated":
        x = x[rng.integers(5, size=n)]
    elif kind == "zeros":
        x[rng.random((n, d)) < 0.6] = 0
    elif kind == "one against many":
        side[:] = 0
        side[0] = 1
    side[0], side[1] = 1, 0
    order = np.argsort(-side, kind="stable")
    return x[order], side[order]


def gram(kernel, x):
    if kernel.kind == "linear":
        return x @ x.T
    if kernel.kind == "polynomial":
        return (kernel.gamma * (x @ x.T) + kernel.coef0) ** kernel.degree
    return np.exp(-kernel.gamma * ((x[:, None] - x[None]) ** 2).sum(axis=2))


def check_optimum(kind, text, seed):
    x, side = points(kind, seed)
    options = parse_options(f"{text} -e {TOLERANCE}")
    found = solve(Nodes(x), np.arange(len(x)), side, options)
    y = np.where(side == found.labels[0], 1.0, -1.0)
    alpha = np.zeros(len(x))
    alpha[found.sv] = found.coef * y[found.sv]
    weight = dict(options.weights)
    top = np.array([options.C * weight.get(int(one), 1.0) for one in side])
    scale = max(1.0, top.max())
    assert (alpha[found.sv] > 0).all() and (alpha <= top * (1 + 1e-12)).all()
    assert abs(alpha @ y) <= 1e-11 * scale * len(x)
    kernel = options.kernel_for(x.shape[1])
    matrix = gram(kernel, x)
    f = matrix @ (alpha * y) - found.rho
    np.testing.assert_allclose(
        decision_values(kernel, x[found.sv], found.coef, found.rho, x), f, rtol=1e-9, atol=1e-9
    )
    # y f >= 1 off the margin, <= 1 at the bound, = 1 between: within LIBSVM's stopping rule.
    # LIBSVM keeps kernel values in single precision.
    slack = 2 * TOLERANCE + 2e-7 * alpha.sum() * np.abs(matrix).max()
    margin = y * f - 1
    assert margin[alpha == 0].min(initial=0) >= -slack
    assert margin[alpha >= top * (1 - 1e-12)].max(initial=0) <= slack
    free = (alpha > 0) & (alpha < top * (1 - 1e-12))
    assert np.abs(margin[free]).max(initial=0) <= slack
    # The gap between both problems' values bounds the distance from the optimum.
    size = alpha * y @ matrix @ (alpha * y)
    primal = size / 2 + top @ np.maximum(1 - y * f, 0)
    dual = alpha.sum() - size / 2
    assert -1e-9 * (1 + abs(dual)) <= primal - dual <= 2 * slack * top.sum() + 1e-9 * (1 + dual)
    return x, side, f * np.where(found.labels[0] == 1, 1, -1)


@pytest.mark.few()
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", DATA)
def test_conditions_of_the_optimum(kind, text):
    check_optimum(kind, text, 1)


@pytest.mark.long
def test_conditions_of_the_optimum_many_times():
    for seed in range(2, 40):
        for kind in DATA:
            for text in TEXTS:
                check_optimum(kind, text, seed)


@pytest.mark.parametrize("kind", [kind for kind in DATA if kind != "contradictory"])
@pytest.mark.parametrize(
    "text, words",
    [
        ("-t 0 -c 2", dict(kernel="linear", C=2)),
        ("-t 2 -g 0.7 -c 3", dict(gamma=0.7, C=3)),
        ("-t 1 -g 0.5 -r 1 -d 2 -c 0.5", dict(kernel="poly", gamma=0.5, coef0=1, degree=2, C=0.5)),
        ("-t 2 -g 0.7 -w0 5 -w1 0.25 -c 2", dict(gamma=0.7, C=2, class_weight={0: 5, 1: 0.25})),
    ],
)
def test_decision_values_are_scikit_learn_s(kind, text, words):
    svm = pytest.importorskip("sklearn.svm")
    x, side, f = check_optimum(kind, text, 9)
    theirs = svm.SVC(tol=TOLERANCE, **words).fit(x, side).decision_function(x)
    np.testing.assert_allclose(f, theirs, atol=1e-3)


@pytest.mark.parametrize("text", ["-t 0", "-t 1 -r 1", "-t 2 -g 1", "-t 3 -g 1"])
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1e150, 1e200, 1e308])
def test_huge_and_tiny_numbers_end_in_numbers_or_in_words(text, scale):
    x, side = points("plain", 4)
    x = np.clip(x, -1, 1) * scale
    options = parse_options(text)
    try:
        found = solve(Nodes(x), np.arange(len(x)), side, options)
    except DataError as error:
        assert scale > 1 and "training gave NaN or infinity" in str(error)
        return
    with np.errstate(all="ignore"):
        f = decision_values(options.kernel_for(x.shape[1]), x[found.sv], found.coef, found.rho, x)
    assert np.isfinite(f).all() or options.kernel != "rbf"
    if options.kernel == "rbf":
        # A kernel value is at most 1, whatever the scale.
        assert np.abs(f).max() <= np.abs(found.coef).sum() + abs(found.rho) + 1e-9


def test_words_of_c_code_belong_to_their_thread(capfd):
    c = ctypes.CDLL(None)
    if not hasattr(c, "gnu_get_libc_version"):
        pytest.skip("for the GNU C library")
    c.fputs.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    variable = ctypes.c_void_p.in_dll(c, "stderr")
    before = variable.value

    def write(text):
        c.fputs(text, variable.value)

    with CatchWords() as words:
        write(b"ours\n")
        other = threading.Thread(target=write, args=(b"another's\n",))
        other.start()
        other.join()
    assert b"".join(words) == b"ours\n" and capfd.readouterr().err == "another's\n"
    assert variable.value == before
