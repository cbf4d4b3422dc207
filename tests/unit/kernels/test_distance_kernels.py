"""The table of kernels; those that LIBSVM does not have, as laplacian and exponential."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import agfmc
from agfmc.core.errors import ModelError, UsageError
from agfmc.kernels.values import PreparedKernel
from agfmc.core.kernels import KERNELS
from agfmc.core.models import Kernel
from agfmc.experiments.search import SearchedOptions, SearchSpace
from agfmc.learners.protocol import parse_options
from agfmc.models.files import export

OTHERS = [name for name, kind in KERNELS.items() if not kind.in_libsvm]
PARAMETERS = {"gamma": 0.4, "coef0": 0.5, "degree": 3}


def kernel_of(name):
    return Kernel(name, **{word: PARAMETERS[word] for word in KERNELS[name].parameters})


def kernel_values(name, a, b):
    """Of a kernel of a distance by its definition."""
    distance = KERNELS[name].distance
    return (
        PreparedKernel(kernel_of(name), b).values(a).T
        if distance is None
        else np.exp(-0.4 * cdist(a, b, distance))
    )


@pytest.fixture(scope="module")
def data():
    x = np.random.default_rng(3).normal(size=(150, 4))
    return x, (np.abs(x[:, 0]) > 0.6) + 1 * (x[:, 1] > 0.3)


@pytest.mark.parametrize(
    "kind, expected", [("laplacian", 0.11943296826671962), ("exponential", 0.20472816738018995)]
)
def test_checked_values(kind, expected):
    x, y = np.array([[1, -2, 0.5]]), np.array([[0, 1, 0.25]])
    kernel = PreparedKernel(Kernel(kind, 0.5), y)
    assert kernel.values(x)[0, 0] == pytest.approx(expected, rel=1e-15)
    far = 1e8 + np.concatenate([x, y])  # differences of features lose nothing far from the origin
    assert PreparedKernel(Kernel(kind, 0.5), far[1:]).values(far[:1])[0, 0] == pytest.approx(
        expected, rel=1e-7
    )


@pytest.mark.few()
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_machines_are_those_of_precomputed_kernel_values(kind, weighted, data):
    svc = pytest.importorskip("sklearn.svm").SVC
    x, y = data[0], (data[1] > 0).astype(int)
    w = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0) if weighted else None
    model = agfmc.train(
        "one-vs-one",
        x,
        y,
        options=f"-t {kind} -g 0.4 -r 0.5 -d 3 -c 3 -e 1e-6",
        weight=w,
        calibration=0,
    )
    gram = kernel_values(kind, x, x)
    peer = svc(kernel="precomputed", C=3, tol=1e-6).fit(gram, y, sample_weight=w)
    machines = model.machines
    f = (
        kernel_values(kind, x, machines.sv) @ machines.coef[np.argsort(machines.index)]
        - machines.rho
    )
    sign = np.sign(f @ peer.decision_function(gram))
    np.testing.assert_allclose(sign * f, peer.decision_function(gram), atol=1e-4)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "options", ["-t laplacian -g 0.3", "-t 6 -g 0.3", "learner=nystrom -t laplacian -g 0.3 -m 40"]
)
def test_files_and_workers(options, data, tmp_path):
    x, y = data
    models = [
        agfmc.train("one-vs-rest", x, y, options=options, calibration=0, workers=workers)
        for workers in (1, 2)
    ]
    for number, model in enumerate(models):
        agfmc.save(str(tmp_path / f"{number}.mbm"), model)
    first, second = ((tmp_path / f"{number}.mbm").read_bytes() for number in (0, 1))
    assert first == second
    again = agfmc.load(str(tmp_path / "0.mbm"))
    np.testing.assert_array_equal(
        agfmc.Classifier(again).probabilities(x), agfmc.Classifier(models[0]).probabilities(x)
    )
    for form in ("svm", "ascii"):
        with pytest.raises(ModelError, match="do not have the (laplacian|exponential) kernel"):
            export(str(tmp_path / "other"), models[0], form)
    assert not (tmp_path / "other").exists()


@pytest.mark.long
def test_memory_that_does_not_hold_the_kernel_values(data):
    x, y = np.tile(data[0], (4, 1)), np.tile(data[1], 4)
    with pytest.raises(UsageError, match="600 samples of 'm-00', 3 MB .* learner=nystrom"):
        agfmc.train("one-vs-rest", x, y, options="-t laplacian", kernel_memory=2)
    agfmc.train("one-vs-rest", x, y, options="learner=nystrom -t laplacian -m 20", kernel_memory=2)


@pytest.mark.long
def test_search_takes_the_kernel_that_fits():
    """Classes that are unions of cells: no direction of the distance counts twice."""
    x = np.random.default_rng(0).uniform(-1, 1, size=(400, 6))
    y = (x[:, 0] > 0.2) + 2 * (x[:, 1] > -0.3)
    model, result = agfmc.tune("one-vs-one", x, y, workers=2)
    assert result["points"][result["best"]]["kernel"] == "laplacian"
    assert {point["kernel"] for point in result["points"]} == {"rbf", "laplacian"}
    assert model.machines.kernels[0].kind == "laplacian"
    with pytest.warns(agfmc.AgfmcWarning, match="left out of the search.* AGFMC_KERNEL_MEMORY="):
        agfmc.tune(
            "one-vs-one",
            x,
            y,
            kernel_memory=0,
            space=agfmc.SearchSpace(log2c=agfmc.Axis(0, 0, 1), log2g=agfmc.Axis(-2, -2, 1)),
        )


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel(name, data):
    """Its values are those of its definition, its matrix is definite where its row says so, its
    options are read again, and a search has a grid for it."""
    x, kernel = data[0], kernel_of(name)
    values = PreparedKernel(kernel, x).values(x)
    np.testing.assert_allclose(values, kernel_values(name, x, x), rtol=1e-12)
    np.testing.assert_allclose(values, values.T, rtol=1e-12, atol=1e-15)
    assert not KERNELS[name].is_definite or np.linalg.eigvalsh(values).min() > -1e-9 * len(x)
    options = parse_options(f"-t {KERNELS[name].number} -g 0.4 -r 0.5 -d 3")
    assert parse_options(options.canonical()).kernel_for(4) == options.kernel_for(4) == kernel
    grids = SearchSpace(kernels=(name,)).for_options(SearchedOptions("")).grids(0.0)
    points = [point for grid in grids for point in grid.points]
    assert {parse_options(point.text()).kernel for point in points} == {name}
    assert len({point.text() for point in points}) == len(points)
