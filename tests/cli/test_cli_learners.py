"""Learners chosen in control files: from the training to the answers of every command."""

import shlex
import shutil
import subprocess

import numpy as np
import pytest

from agfmc.models.libsvm import read_svm_model
from data_files import write_cls, write_vec

pytest.importorskip("liblinear")

# svm at the root, linear and logistic below, the last one with Platt's folds
TREE = (
    '"-c 5 -g 0.1" { "learner=linear -c 2" { 0 "learner=linear -s 1" { 3 4 } } '
    '"learner=logistic -c 3" { 1 2 } }'
)
NAMES = {
    "m": None,
    "m.00": "linear -s 0 -c 2.0 -e 0.0001 -B 1.0",
    "m.00.01": "linear -s 1 -c 1.0 -e 0.1 -B 1.0",
    "m.01": "logistic -c 3.0 -e 1e-06",
}


def points(n, seed):
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 5, n)
    centre = np.random.default_rng(5).normal(size=(5, 4)) * 1.8
    return (centre[y] + generator.normal(size=(n, 4))).astype(np.float32), y


@pytest.fixture(autouse=True)
def folder(folder):
    for name, n, seed in (("trn", 200, 1), ("tst", 100, 2)):
        x, y = points(n, seed)
        write_vec(f"{name}.vec", x)
        write_cls(f"{name}.cls", y)
    (folder / "plan").write_text(TREE, encoding="ascii")
    return folder


@pytest.fixture
def pairs(folder, run):
    (folder / "pairs").write_text(run("print_control", "-Q", "1", "5").out, encoding="ascii")
    return "pairs"


def files(folder, base):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name.startswith(base)}


def accuracy(name):
    return np.mean(np.fromfile(f"{name}.cls", "<i4") == np.fromfile("tst.cls", "<i4"))


def test_mixed_learners_from_control_file_to_classes(folder, run):
    models = {}
    for workers in (1, 3):
        (folder / f"{workers}").mkdir()
        run("multi_borders", "-j", workers, "-y", workers, "plan", "trn", "m", f"{workers}/c")
        models[workers] = files(folder / str(workers), "")
    assert models[1] == models[3] and set(models[1]) == {"c", "c.cal", *NAMES}
    for name, options in NAMES.items():
        model = read_svm_model(f"1/{name}")
        if options is None:
            assert model.provenance.library.startswith("libsvm 3") and len(model.sv) > 20
            continue
        made = model.provenance
        assert options.startswith("logistic") or made.library.startswith("liblinear 2")
        assert (made.options, made.features, made.seed) == (f"learner={options}", 4, 1)
        folds = "folds 5" if "-s 1" in options else "own probabilities"
        assert made.probabilities == folds and made.samples
        assert (model.platt == (-1.0, 0.0)) == (folds != "folds 5")
        assert model.kernel.kind == "linear" and model.sv.shape == (1, 4)
        assert model.coef.tolist() == [1.0] and model.n_sv == (1, 0)
    run("mbh2mbm", "-y", "1", "1/c", "all.mbm")
    printed = []
    for model, words in (("all.mbm", ()), ("1/c", ("-y", "1"))):
        printed.append(run("classify_m", *words, "--tree", "full", model, "tst.vec", "out").out)
        assert accuracy("out") > 0.8
    assert printed[0] == printed[1]
    p = np.array([line.split()[:5] for line in printed[0].splitlines()], dtype=float)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-5)
    told = run("mbm_info", "all.mbm").out
    assert all(f"options learner={options}" in told for options in NAMES.values() if options)


def test_probabilities_of_logistic_regression_are_its_own(run, folder):
    (folder / "two").write_text('"learner=linear -c 2 -R" {0 1}', encoding="ascii")
    x, y = points(400, 1)
    keep = y < 2
    write_vec("two.vec", x[keep])
    write_cls("two.cls", y[keep])
    run("multi_borders", "two", "two", "m", "c")
    model = read_svm_model("m")
    f = x @ model.sv[0] - model.rho
    linear_model = pytest.importorskip("sklearn.linear_model")
    theirs = linear_model.LogisticRegression(C=2.0, tol=1e-9).fit(x[keep], y[keep])
    a, b = model.scale
    np.testing.assert_allclose(
        (1 + np.tanh(a * f + b)) / 2, theirs.predict_proba(x)[:, 1], atol=0.01
    )


@pytest.mark.skipif(shutil.which("svm-predict") is None, reason="svm-predict is not installed")
def test_svm_predict_reads_a_plane(folder, pairs, run):
    run("multi_borders", "-+", "learner=linear -s 2", pairs, "trn", "m", "c")
    x, y = points(200, 2)
    model = read_svm_model("m-03")  # 0 against 4
    keep = (y == 0) | (y == 4)
    (folder / "data").write_text(
        "".join(
            f"{int(label == 4)} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row, 1)) + "\n"
            for row, label in zip(x[keep].tolist(), y[keep].tolist())
        ),
        encoding="ascii",
    )
    subprocess.run(
        ["svm-predict", "-b", "1", "data", "m-03", "out"], check=True, stdout=subprocess.DEVNULL
    )
    table = np.array(
        [line.split() for line in (folder / "out").read_text().splitlines()[1:]], dtype=float
    )
    a, b = model.scale
    r = np.tanh(a * (x[keep].astype(float) @ model.sv[0] - model.rho) + b)
    np.testing.assert_allclose(table[:, 1 + (model.labels[0] == 0)], (1 + r) / 2, atol=1e-5)
    assert np.mean(table[:, 0] == (y[keep] == 4)) > 0.8


def test_commands_of_a_dry_run_train_the_same(folder, run):
    run("multi_borders", "plan", "trn", "m", "c")
    whole = {name: model for name, model in files(folder, "m").items()}
    lines = run("multi_borders", "-0", "plan", "trn", "m", "c").out.splitlines()
    for name in whole:
        (folder / name).unlink()
    for line in reversed(lines):
        run(*shlex.split(line))
    assert files(folder, "m") == whole


@pytest.mark.long
def test_other_ways_to_probabilities(folder, run):
    (folder / "mixed").write_text(TREE.replace("-s 1", "-s 7"), encoding="ascii")
    run("multi_borders", "--platt", "loo", "mixed", "trn", "m", "c")
    assert read_svm_model("m").provenance.probabilities == "platt loo"
    assert read_svm_model("m.00.01").provenance.probabilities == "own probabilities"
    (folder / "weighted").write_text(TREE.replace("-c 2", "-w0 2"), encoding="ascii")
    run("multi_borders", "weighted", "trn", "w", "c")
    assert read_svm_model("w.00").provenance.probabilities == "folds 5"


@pytest.mark.parametrize(
    "words, status, told",
    [
        (
            ("--platt", "loo", "plan", "trn", "m", "c"),
            2,
            "plan:1:43: platt loo is for LIBSVM's C-SVC only, not for learner=linear -s 1",
        ),
        (("-+", "learner=tree", "other", "trn", "m", "c"), 2, "there is no learner 'tree'"),
        (
            ("-+", "learner=linear -s 9", "other", "trn", "m", "c"),
            2,
            "option -s: 9 is out of range",
        ),
        (("wrong", "trn", "m", "c"), 1, "wrong:2:1: there is no learner 'linea'"),
        (("-n", "-u", "plan", "trn", "m", "c"), 2, "-u is for support vectors"),
    ],
)
def test_errors(folder, run, words, status, told):
    (folder / "other").write_text('"" 0 / 1 2 3 4; "" 1 / 2; {0 1 2 3 4}', encoding="ascii")
    (folder / "wrong").write_text('"" {0\n"learner=linea -c 1" {1 2}}', encoding="ascii")
    before = files(folder, "")
    _, out, err = run("multi_borders", *words, status=status)
    assert told in err and err.count("\n") == 1 and out == ""
    assert files(folder, "") == before


def test_without_the_library(folder, pairs, run, monkeypatch):
    from agfmc.learners import linear, points

    monkeypatch.setattr(points, "shared_object", lambda package: None)
    linear._library.cache_clear()
    told = run("multi_borders", "-+", "learner=linear", pairs, "trn", "m", "c", status=2).err
    assert "pip install 'agfmc[linear]'" in told and told.count("\n") == 1
    assert not files(folder, "m") and not files(folder, "c")
    run("multi_borders", "-+", "learner=logistic", pairs, "trn", "m", "c")


def test_finished_planes_are_kept(folder, monkeypatch):
    from agfmc.control.parse import parse
    from agfmc.experiments import binary_problems
    from agfmc.experiments.experiment import Experiment, prepare_split, Split, SplitPlan
    from agfmc.files.result_store import ResultCache
    from agfmc.learners.protocol import plan_jobs
    from agfmc.data.types import Dataset
    from agfmc.training.fit import TrainingSettings

    x, y = points(400, 1)
    jobs = plan_jobs(parse(TREE), "m", "", 1)
    data, everyone = Dataset(x, y), np.arange(len(y))
    ledger = ResultCache(str(folder / "state"))
    experiment = Experiment(data, SplitPlan(), TrainingSettings(), ledger)
    split = prepare_split(Split("all", everyone, everyone), data, TrainingSettings())
    keys = {binary_problems.problem_key(split, job, experiment): job for job in jobs}
    other = plan_jobs(parse(TREE.replace("-c 2", "-c 9")), "m", "", 1)
    assert (
        len(set(keys) & {binary_problems.problem_key(split, job, experiment) for job in other}) == 3
    )
    first = binary_problems.train_missing(keys, split, experiment)
    monkeypatch.setattr(binary_problems, "fit", None)
    again = binary_problems.train_missing(keys, split, experiment)
    for key, job in keys.items():
        one, other = (binary_problems.binary_model(job, found[key], x) for found in (first, again))
        for field in ("sv", "coef"):
            assert getattr(one, field).tobytes() == getattr(other, field).tobytes()
        assert (one.rho, one.platt, one.labels) == (other.rho, other.platt, other.labels)


@pytest.mark.parametrize("options, dense", [("-t 2", False), ("-t laplacian", True)])
def test_a_classifier_on_its_own_reads_what_all_together_read(folder, run, options, dense):
    """One of a mixture must not stay sparse where the mixture could not."""
    (folder / "mixed").write_text(f'"learner=linear" 0 / 1 2; "{options}" 1 / 2; {{ 0 1 2 }}')
    (folder / "data.svm").write_text(
        "".join(f"{i % 3} {1 + i % 3}:1 {4 + i % 5}:{i}\n" for i in range(30))
    )
    lines = run("multi_borders", "-0", "-M", "mixed", "data.svm", "m", "m.mbc").out.splitlines()
    assert len(lines) == 2
    assert all(("--dense" in shlex.split(line)) == dense for line in lines)
    assert (
        "--dense needs -M"
        in run("multi_borders", "--dense", "mixed", "trn", "m", "m.mbc", status=2).err
    )
