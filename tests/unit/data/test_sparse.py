"""Sparse points: read, trained on and classified as the whole table would be."""

from dataclasses import replace

import agfmc
import numpy as np
import pytest
from scipy.sparse import csr_array

from agfmc.data.types import Dataset
from agfmc.models.configuration import Configuration
from agfmc.data.normalisation import fit_normalisation
from agfmc.prediction.decoding import Decoding
from agfmc.prediction.margins import margins_of
from agfmc.deployment.steps import steps_of
from agfmc.models.join import join
from agfmc.models.privacy import training_rows
from agfmc.core.points import is_sparse, SparsePoints, unique_rows
from agfmc.control.parse import parse
from agfmc.core.errors import AgfmcWarning, DataError, ModelError
from agfmc.training import fit as fit_module, kernel_tables
from agfmc.core.models import Kernel
from agfmc.data import normalisation, training
from agfmc.kernels.values import PreparedKernel
from agfmc.models import mbm
from agfmc.training.fit import fit, TrainingSettings
from agfmc.prediction.decision_values import MachineValues
from agfmc.data.reading import iter_points, read_training
from agfmc.models.libsvm import format_svm_model
from agfmc.learners.protocol import plan_jobs
from agfmc.data.types import InputFormat
from data_files import write_cls, write_vec
from own_warnings import own_warnings

CODE = '"" 0/1; "" 0/2; "" 1/2; {0 1 2}'
LINEAR = [
    "learner=linear",
    "learner=linear -s 1",
    "learner=linear -s 2",
    "learner=linear -w1 2",
    "learner=logistic",
    "-t 0",
    "-s 1 -n 0.3 -t 0",
]


def points(n=150, d=5000, seed=0):
    generator = np.random.default_rng(seed)
    x = np.zeros((n, d))
    y = generator.integers(0, 3, n).astype(np.int32)
    wide = min(40, d // 3)
    for row, label in zip(x, y):
        row[generator.integers(0, d, 12)] = generator.normal(size=12).round(3)
        row[generator.integers(0, wide, 6) + wide * label] = 1.5
    x[3] = 0.0  # a line with a label alone
    x[0, d - 1] = 1.0  # the last feature is there
    return x, y


def sparse_of(x):
    rows, columns = np.nonzero(x)
    indptr = np.append(0, np.cumsum((x != 0).sum(axis=1)))
    return SparsePoints.of_rows(indptr, columns, x[rows, columns], x.shape[1])


def write_text(path, x, y):
    path.write_text(
        "".join(
            f"{label} " + " ".join(f"{j + 1}:{row[j]!r}" for j in np.flatnonzero(row)) + "\n"
            for row, label in zip(x.astype(object), y.tolist())
        ),
        encoding="ascii",
    )


def trained(x, y, text, workers=1, **more):
    jobs = plan_jobs(parse(CODE), "m", text, 1)
    done = {
        one.job.name: one.model
        for one in fit(jobs, Dataset(x, y), TrainingSettings(workers=workers, **more))
    }
    return [done[job.name] for job in jobs]


def plane(model):
    return model.coef @ model.sv


# -- the points ---------------------------------------------------------------------------------


def test_sparse_points():
    x, _ = points(20, 30)
    sparse = sparse_of(x)
    assert is_sparse(sparse) and not is_sparse(x)
    assert sparse.shape == x.shape and len(sparse) == 20 and sparse.ndim == 2
    np.testing.assert_array_equal(np.asarray(sparse), x)
    mask = np.arange(20) % 3 == 0
    for rows in (slice(2, 9), np.array([5, 0, 5]), mask):
        assert is_sparse(sparse[rows])
        np.testing.assert_array_equal(np.asarray(sparse[rows]), x[rows])
    w = np.random.default_rng(1).normal(size=(30, 2))
    np.testing.assert_allclose(sparse @ w, x @ w, atol=1e-14)
    np.testing.assert_allclose(sparse.combined(w[:20, 0]), w[:20, 0] @ x, atol=1e-14)
    np.testing.assert_allclose(sparse.squared_lengths, (x**2).sum(axis=1), atol=1e-14)
    np.testing.assert_array_equal(sparse[7], x[7])
    np.testing.assert_array_equal(list(sparse), x)
    joined = SparsePoints.joined([sparse, x[:, :20]], 30)
    np.testing.assert_array_equal(joined, np.r_[x, np.c_[x[:, :20], np.zeros((20, 10))]])
    twice = np.r_[0, 3, 0, 5, 3, 0]
    for found, expected in zip(unique_rows(sparse[twice]), unique_rows(x[twice])):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(sparse.counts, (x != 0).sum(axis=1))


def test_stored_zeros_are_dropped():
    sparse = SparsePoints.of_rows(
        np.array([0, 2, 3]), np.array([0, 2, 1]), np.array([0.0, 5.0, 0.0]), 3
    )
    assert sparse.counts.tolist() == [1, 0] and sparse.entries()[2].tolist() == [5.0]


# -- text ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", [1 << 20, 300])
def test_reading(tmp_path, block, monkeypatch):
    from agfmc.data import libsvm

    x, y = points(60, 50)
    write_text(tmp_path / "t", x, y)
    whole = libsvm.read_svm(str(tmp_path / "t"), block=block)
    sparse = libsvm.read_svm(str(tmp_path / "t"), block=block, sparse=True)
    np.testing.assert_array_equal(np.asarray(sparse.x), whole.x)
    np.testing.assert_array_equal(sparse.y, whole.y)
    chunks = list(iter_points(str(tmp_path / "t"), InputFormat("svm"), 7, d=50, sparse=True))
    assert all(is_sparse(chunk) and 0 < len(chunk) <= 7 for chunk in chunks)
    np.testing.assert_array_equal(np.concatenate([np.asarray(c) for c in chunks]), x)
    assert not any(
        map(
            is_sparse, iter_points(str(tmp_path / "t"), InputFormat("svm", 1.0), 7, 50, sparse=True)
        )
    )


def test_what_is_too_large_or_wrong(tmp_path):
    from agfmc.data.libsvm import read_svm

    (tmp_path / "t").write_text("0 1:1 999999999:1\n1 2:1\n0 3:1\n", encoding="ascii")
    data = read_svm(str(tmp_path / "t"), sparse=True)
    assert data.x.shape == (3, 999999999)  # 24 GB as a table
    with pytest.raises(DataError, match="above the limit"):
        read_svm(str(tmp_path / "t"), limit_bytes=40, sparse=True)
    (tmp_path / "t").write_text("0 1:1\n1 2:1 1:3\n", encoding="ascii")
    with pytest.raises(DataError, match="indices must ascend"):
        read_training(str(tmp_path / "t"), InputFormat("svm"), keep="sparse")
    (tmp_path / "t").write_text("0\n1\n", encoding="ascii")
    with pytest.raises(DataError, match="has no features"):
        read_training(str(tmp_path / "t"), InputFormat("svm"), keep="sparse")


@pytest.mark.filterwarnings("ignore:features? [0-9, ]*\\(from 0\\)")
def test_what_stays_sparse(tmp_path, monkeypatch):
    x, y = points(60, 200)
    path = str(tmp_path / "t")
    write_text(tmp_path / "t", x, y)
    write_vec(tmp_path / "t.vec", x)
    write_cls(tmp_path / "t.cls", y)

    def stays(kind="svm", missing=None, **words):
        form = InputFormat(kind, missing)
        return is_sparse(training.load_training(path, form, keep="sparse", **words)[0].x)

    assert not stays()  # a small table
    monkeypatch.setattr(training, "_TABLE", 1000)
    assert stays() and not is_sparse(training.load_training(path, InputFormat("svm"))[0].x)
    write_text(tmp_path / "t", 1e-42 * x, y)
    with pytest.warns(AgfmcWarning, match="t: no value is larger than 1.2e-38"):
        assert stays()
    assert (
        not stays(missing=1.0)
        and not stays("binary")
        and not stays(fit=lambda data: fit_normalisation(data.x, scale=False, nsv=2))
    )
    monkeypatch.setattr(training, "_TIMES", 10**6)
    assert not stays()  # most of it is not zero


# -- training -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", LINEAR)
def test_models_are_those_of_the_table(text):
    x, y = points()
    dense, sparse = trained(x, y, text), trained(sparse_of(x), y, text)
    for one, other in zip(dense, sparse):
        assert one.labels == other.labels and one.kernel == other.kernel
        np.testing.assert_allclose(
            plane(other), plane(one), rtol=0, atol=1e-12 if "logistic" not in text else 1e-6
        )
        assert abs(one.rho - other.rho) < (1e-6 if "logistic" in text else 1e-12)
        np.testing.assert_allclose(other.platt, one.platt, atol=1e-5)
        assert other.sv.shape == (1, x.shape[1]) and isinstance(other.sv, np.ndarray)
        assert one.provenance == other.provenance
    again = trained(sparse_of(x), y, text, 3)
    assert list(map(format_svm_model, again)) == list(map(format_svm_model, sparse))


def test_leaving_out_single_samples():
    x, y = points()
    for one, other in zip(
        trained(x, y, "-t 0 -c 0.1", platt="loo"),
        trained(sparse_of(x), y, "-t 0 -c 0.1", platt="loo"),
    ):
        np.testing.assert_allclose(other.platt, one.platt, rtol=1e-6)


@pytest.mark.parametrize("platt", ["loo", "cv"])
@pytest.mark.parametrize("text", ["-g 0.1", "-t 1 -g 0.3 -r 1", "-t 3 -g 0.02", "-s 1 -n 0.3"])
def test_kernel_machines_are_those_of_the_table(text, platt):
    x, y = points(60, 40)
    if "-s 1" in text:
        platt = "cv"
    for one, other in zip(
        trained(x, y, text, platt=platt), trained(sparse_of(x), y, text, platt=platt)
    ):
        assert is_sparse(other.sv) and np.array_equal(other.sv, one.sv)
        assert np.array_equal(other.coef, one.coef) and other.rho == one.rho
        np.testing.assert_allclose(other.platt, one.platt, rtol=1e-6)
        assert format_svm_model(replace(other, platt=None)) == format_svm_model(
            replace(one, platt=None)
        )


def test_kernels_that_need_a_table_take_dense_points():
    x, y = points(60, 40)
    text = "-t laplacian -g 0.1"
    for one, other in zip(trained(x, y, text), trained(sparse_of(x), y, text)):
        assert format_svm_model(one) == format_svm_model(other)


@pytest.mark.parametrize("kind", ["rbf", "polynomial", "sigmoid", "linear"])
def test_kernel_values_of_sparse_points(kind):
    x, _ = points(30, 40)
    x[4] *= 1e4  # the products would have no digits left for rbf
    x[5] = x[4]
    x[5, 3] += 0.1
    kernel = Kernel(kind, 0.3, 0.5, 3)
    values = PreparedKernel(kernel, sparse_of(x)).values(sparse_of(x[3:9]))
    np.testing.assert_allclose(values, PreparedKernel(kernel, x).values(x[3:9]), rtol=1e-9)


@pytest.mark.parametrize("control", ["one-vs-one", "one-vs-rest"])
@pytest.mark.parametrize("normalise", [False, True])
def test_the_whole_table_is_never_made(tmp_path, monkeypatch, control, normalise):
    x, y = points(60, 300)
    new, _ = points(40, 300, seed=1)
    settings = {"learner": agfmc.SVM(C=2, gamma="scale"), "normalise": normalise}
    with own_warnings():  # of constant features
        dense = agfmc.train(control, x, y, **settings)
    make = SparsePoints.__array__

    def some(points, *more, **words):
        assert len(points) < 30
        return make(points, *more, **words)

    monkeypatch.setattr(SparsePoints, "__array__", some)
    monkeypatch.setattr(normalisation, "_BLOCK", 3000)
    with own_warnings():
        model = agfmc.train(control, csr_array(x), y, **settings)
    path = str(tmp_path / "m.mbm")
    agfmc.save(path, model)
    again = agfmc.load(path)
    assert is_sparse(again.machines.sv) and len(model.machines.sv) <= 60
    p = agfmc.Classifier(model).probabilities(csr_array(new))
    np.testing.assert_allclose(p, agfmc.Classifier(dense).probabilities(new), atol=1e-9)
    assert np.ptp(p[:, 0]) > 0.5
    for points_ in (csr_array(new), new):
        assert agfmc.Classifier(again).probabilities(points_).tobytes() == p.tobytes()
    if normalise:
        assert not again.normalisation.mean.any()
        assert np.array_equal(again.normalisation.scale, dense.normalisation.scale)


def test_other_forms_of_a_sparse_model(tmp_path):
    x, y = points(60, 40)
    forms = []
    for points_ in (x, csr_array(x)):
        settings = {"options": "-g 0.1", "normalise": False, "calibration": 0}
        model = agfmc.train("one-vs-one", points_, y, **settings)
        plain = replace(model, machines=replace(model.machines, a=np.ones(3), b=np.zeros(3)))
        for form in ("svm", "ascii"):
            agfmc.export(str(tmp_path / form), plain, form)
        assert is_sparse(plain.machines.sv) == (points_ is not x)
        joined = join([plain, plain])
        forms.append(
            [
                (tmp_path / "svm").read_text(),
                (tmp_path / "ascii").read_text(),
                steps_of(plain).kernel_sums[0].sv.tolist(),
                training_rows(plain),
                agfmc.Classifier(joined).probabilities(x[:9]).round(12).tolist(),
                margins_of(plain)[2].__round__(9),
            ]
        )
    assert forms[0] == forms[1]


@pytest.mark.parametrize(
    "lie",
    [
        {"index": [0, 40, 1]},
        {"index": [0, -1, 1]},
        {"index": [2, 2, 1]},
        {"value": [1.0, 0.0, 1.0]},
        {"value": [1.0, np.nan, 1.0]},
        {"value": [1.0]},
        {"indptr": [0, 3, 2, 3]},
        {"indptr": [0, 1]},
        {"indptr": []},
    ],
    ids=str,
)
def test_entries_that_lie_are_refused(unchecked, tmp_path, monkeypatch, lie):
    x, y = points(60, 40)
    model = agfmc.train("one-vs-one", csr_array(x), y, options="-g 0.1", normalise=False)
    stored = {"indptr": np.arange(4), "index": np.array([0, 1, 2]), "value": np.ones(3)}
    stored = {"indptr": [0, 2, 2, 3], "index": [0, 1, 1], "value": [1.0, 2.0, 3.0]} | lie
    stored = {
        name: np.array(part, "f8" if name == "value" else "i8") for name, part in stored.items()
    }
    monkeypatch.setattr(mbm._StoredPoints, "of", lambda points: mbm._StoredPoints(**stored))
    path = str(tmp_path / "m.mbm")
    agfmc.save(path, model)
    with pytest.raises(ModelError, match="damaged or not made by this suite: "):
        agfmc.load(path)


@pytest.mark.few(4)
@pytest.mark.parametrize("text", ["-g 0.5", "-t 0", "learner=linear -s 2", "learner=logistic"])
@pytest.mark.parametrize("kind", ["float32", "sparse"])
def test_points_packed_for_each_job_are_the_same_models(monkeypatch, text, kind):
    x, y = points(200, 30)
    x = x.astype(np.float32)
    data = x if kind == "float32" else sparse_of(x.astype(float))
    expected = list(map(format_svm_model, trained(data, y, text, 1, kernel_memory=0)))
    packed = []
    monkeypatch.setattr(kernel_tables, "PACKED", -1)
    jobs = plan_jobs(parse('"" 0/1; "" 0/2; "" 1/2; {0 1 2}'), "m", text, 1)
    pack = type(jobs[0].options).pack
    monkeypatch.setattr(
        type(jobs[0].options),
        "pack",
        lambda self, x, rows=None: (packed.append(rows), pack(self, x, rows))[1],
    )
    found = list(map(format_svm_model, trained(data, y, text, 1, kernel_memory=0)))
    assert found == expected
    assert len(packed) == 3 and all(rows is not None and len(rows) < 200 for rows in packed)


def test_points_in_a_mapped_file(tmp_path, monkeypatch):
    from agfmc.data import reading

    x, y = points(100, 20)
    write_vec(tmp_path / "t.vec", x)
    write_cls(tmp_path / "t.cls", y)
    assert not isinstance(training.load_training(tmp_path / "t", InputFormat())[0].x, np.memmap)
    expected = trained(x.astype(np.float32).astype(float), y, "-g 0.2")
    monkeypatch.setattr(reading, "_MAPPED", 100)
    data, _, _ = training.load_training(tmp_path / "t", InputFormat())
    assert isinstance(data.x, np.memmap)
    for kernel_memory in (0, 512):
        found = trained(data.x, data.y, "-g 0.2", kernel_memory=kernel_memory)
        assert list(map(format_svm_model, found)) == list(map(format_svm_model, expected))


# -- classification -----------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("text", ["learner=linear", "-t 0", "-g 0.05"])
def test_commands(tmp_path, monkeypatch, run, text):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(training, "_TABLE", 1000)
    x, y = points()
    write_text(tmp_path / "trn", x, y)
    write_text(tmp_path / "tst", *points(90, seed=1))
    (tmp_path / "plan").write_text(CODE, encoding="ascii")
    seen = []
    monkeypatch.setattr(
        fit_module,
        "_flat",
        lambda solution, x, *more, flat=fit_module._flat: (
            seen.append(is_sparse(x)),
            flat(solution, x, *more),
        )[1],
    )
    run("multi_borders", "-M", "-+", text, "plan", "trn", "m", "c")
    assert seen and all(seen)
    run("mbh2mbm", "c", "all.mbm")
    printed = []
    for wide in (1, 10**9):
        monkeypatch.setattr("agfmc.prediction.decision_values._WIDE", wide)
        for words in ((), ("-Q", "ddag"), ("-0",), ("-j", "2")):
            printed.append(run("classify_m", "-M", *words, "all.mbm", "tst", "out").out)
    assert printed[:4] == printed[4:] and len(set(printed)) == 3
    right = np.fromfile("out.cls", "<i4") == points(90, seed=1)[1]
    assert right.mean() > 0.8
    # a run that is repeated finds its models
    before = (tmp_path / "m-00").stat().st_mtime_ns
    seen.clear()
    run("multi_borders", "-M", "-+", text, "plan", "trn", "m", "c")
    assert not seen and (tmp_path / "m-00").stat().st_mtime_ns == before


def test_trees_and_neighbours(tmp_path, monkeypatch):
    """A point's answer depends neither on its neighbours nor on the chunk."""
    from agfmc.models.merge import collate
    from agfmc.control.build import rename
    from agfmc.control.tree import model_names
    from agfmc.models.configuration import Configuration
    from agfmc.prediction.classifier import Classifier

    x, y = points()
    tree = parse('"learner=linear" {"learner=linear -s 2" {0 1} 2}')
    jobs = plan_jobs(tree, "m", "", 1)
    done = {one.job.name: one.model for one in fit(jobs, Dataset(sparse_of(x), y))}
    tree = rename(tree, model_names(tree, "m"))
    model = collate([done[name] for name in model_names(tree, "m")], tree.sides(), tree.classes)
    test, _ = points(70, seed=2)
    for mode in ("recursive", "path", "full"):
        whole = Classifier(Configuration(tree, model), Decoding(tree=mode))
        assert whole.values.takes_sparse and whole.rows > 500
        answers = whole(sparse_of(test))
        np.testing.assert_array_equal(answers.classes, whole(test).classes)
        np.testing.assert_allclose(answers.confidence, whole(test).confidence, atol=1e-12)
        for rows in (slice(0, 1), slice(13, 40)):
            part = whole(sparse_of(test[rows]))
            assert part.confidence.tobytes() == answers.confidence[rows].tobytes()


def test_decision_values_of_sparse_points():
    x, y = points()
    models = trained(x, y, "-t 0")
    from agfmc.models.merge import collate

    model = collate(models, [((0,), (1,)), ((0,), (2,)), ((1,), (2,))], (0, 1, 2))
    values = MachineValues(Configuration(parse("a 0/1; b 0/2; c 1/2; {0 1 2}"), model))
    test, _ = points(70, seed=2)
    for columns in (range(3), (0, 2), range(1, 2)):
        for one, other in zip(values(columns, test), values(columns, sparse_of(test))):
            np.testing.assert_allclose(other, one, rtol=0, atol=1e-12)
    with pytest.raises(DataError, match="the model needs 5000"):
        values.prepared(sparse_of(test[:, :40]))
