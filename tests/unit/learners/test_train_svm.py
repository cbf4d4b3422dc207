"""LIBSVM behind ctypes gives what LIBSVM's own program gives."""

import shutil
import subprocess

import numpy as np
import pytest

from agfmc.errors import DataError
from agfmc.formats.libsvm_model import read_svm_model
from agfmc.kernel.machine import decision_values
from agfmc.learners.nodes import Nodes
from agfmc.learners.protocol import parse_options
from agfmc.learners.libsvm import library_version, solve


def data(seed=0, n=80, d=4):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, d)).round(5)
    x[generator.random((n, d)) < 0.2] = 0.0
    side = (x[:, 0] + 0.6 * generator.normal(size=n) > 0.2).astype(np.int8)
    order = np.concatenate([np.flatnonzero(side == side[0]), np.flatnonzero(side != side[0])])
    return x, order, side[order]


# numbers that are exact in single precision too: older builds of svm-train round them to it
OPTIONS = ["-t 0", "-t 1 -g 0.5 -r 1 -d 2", "-t 2 -g 0.25", "-t 3 -g 0.125 -r -0.25", "",
           "-s 1 -n 0.375 -t 0", "-s 1 -n 0.25 -t 2 -g 0.125", "-s 1 -n 0.25 -t 1 -r 1",
           "-s 1 -n 0.5 -t 3 -g 0.015625", "-c 10 -w0 3 -w1 0.5", "-w1 4 -h 0", "-t 1 -d 0", "-c 0.01",
           "-g 0"]


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
    subprocess.run([program, "-q", *text.split(), str(tmp_path / "data"), str(tmp_path / "model")],
                   check=True, stdout=subprocess.DEVNULL)
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
    assert (sides[:solution.n_sv[0]] == solution.labels[0]).all()
    assert (sides[solution.n_sv[0]:] == solution.labels[1]).all()
    assert (solution.coef[:solution.n_sv[0]] > 0).all()
    assert (solution.coef[solution.n_sv[0]:] < 0).all()
    f = decision_values(parse_options(text).kernel_for(4), x[rows[solution.sv]], solution.coef,
                        solution.rho, x[rows])
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
    with pytest.raises(DataError, match="LIBSVM refuses the problem: specified nu is infeasible: "
                       f"with {left} and 2 samples -n must be less than {4 / len(few):.3g}, in "):
        solve(Nodes(x), few, np.array([0] * left + [1, 1]), parse_options("-s 1 -n 0.9"))


@pytest.mark.parametrize("options, factor, words", [
    ("-s 1 -n 1", 1, "-n 1.0.* leaves no sample free: with 9 and 9 samples -n must be less than 1,"),
    ("-s 1 -n 0.5", 1e-42, "finds no margin: to the kernel both sides are alike; .*larger -g"),
    ("-s 1 -n 0.5 -t 0", 1e160, "kernel values of these points are too large"),
])
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


def test_version():
    assert library_version() >= 331
