"""Models of the estimator and of the commands: the same files, read by either."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.svm import SVC

import agfmc
from agfmc.core.errors import AgfmcError
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.data.libagf import read_cls
from agfmc.prediction.classifier import classifier_for
from data_files import write_cls, write_svm, write_vec

LABELS = (2, 5, 9, 11)
WORDS = ("birch", "moss", "oak", "pine")
OPTIONS = "-c 5 -g 0.1"


@pytest.fixture
def run(run, folder):
    """Function: what a command prints, in a folder of its own."""
    return lambda *words: run(*words).out


def points(labels=LABELS, n=120, dtype=np.float32):
    rng = np.random.default_rng(3)
    code = np.concatenate([np.arange(4), rng.permutation(np.arange(n - 4) % 4)])
    x = rng.normal(size=(n, 5)) * [1, 2, 1, 0.5, 1] + code[:, None] * [1, -0.8, 0, 0.3, 0]
    return x.astype(dtype), np.array(labels)[code]


def commands(run, x, y, design, way=()):
    """Train by the commands: train.mbc, m.mbc and its models, m.mbm."""
    write_vec("train.vec", x)
    write_cls("train.cls", y.astype(np.int32))
    Path("train.mbc").write_text(run("print_control", *design, "train"), encoding="ascii")
    run("multi_borders", *way, "-+", OPTIONS, "train.mbc", "train", "m", "m.mbc")
    norm = ("-a", "m.std") if Path("m.std").exists() else ()
    run("mbh2mbm", *norm, "m.mbc", "m.mbm")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "scheme, design, way, settings",
    [
        ("one-vs-one", (), (), {}),
        ("one-vs-rest", (), ("-n",), {"normalise": True}),
        ("tree", (), ("-n", "-S", 3), {"normalise": True, "n_components": 3}),
        ("empirical", (), ("-S", 4), {"n_components": 4}),
        ("adjacent-ordered", (), ("-n", "--platt", "loo"), {"normalise": True, "platt": "loo"}),
        ("random", ("--seed", 7), ("--seed", 7), {"random_state": 7}),
        ("ensemble", ("--seed", 7), ("--seed", 7), {"random_state": 7}),
    ],
)
def test_the_file_is_that_of_the_commands(run, scheme, design, way, settings):
    x, y = points()
    commands(run, x, y, ("-Q", scheme, *design), way)
    MultiClassFromBinary(scheme, C=5, gamma=0.1, **settings).fit(x, y).save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()


@pytest.mark.long
def test_the_file_is_that_of_the_commands_for_words(run):
    x, y = points(WORDS, dtype=np.float64)
    write_svm("train.svm", x, np.searchsorted(WORDS, y), WORDS)
    Path("train.mbc").write_text(run("print_control", "-M", "-Q", 4, "train.svm"), encoding="ascii")
    run("multi_borders", "-M", "-+", OPTIONS, "train.mbc", "train.svm", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    model = MultiClassFromBinary(Path("train.mbc"), options=OPTIONS).fit(x, y)
    model.save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()
    MultiClassFromBinary("orthogonal", options=OPTIONS).fit(x, y).save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "scheme, decoder, query",
    [
        ("one-vs-one", None, ("-Q", "inverse")),
        ("one-vs-one", "vote", ("-Q", "vote")),
        ("one-vs-one", "ddag", ("-Q", "ddag")),
        ("adjacent", None, ("-Q", 0)),
        ("tree", None, ()),
        ("tree", "full", ("--tree", "full")),
    ],
)
def test_classification_is_that_of_classify_m(run, scheme, decoder, query):
    x, y = points()
    model = MultiClassFromBinary(scheme, decoder=decoder, options=OPTIONS, normalise=True)
    model.fit(x, y).save("own.mbm")
    write_vec("test.vec", x)
    out = run("classify_m", *query, "own.mbm", "test.vec", "out")
    np.testing.assert_array_equal(model.predict(x), read_cls("out.cls"))
    loaded = MultiClassFromBinary.load("own.mbm", decoder=decoder)
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    if hasattr(model, "predict_proba"):
        printed = np.array([line.split()[:-1] for line in out.splitlines()], float)
        np.testing.assert_allclose(model.predict_proba(x), printed, atol=1e-6)
        np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))
    else:
        assert decoder != "full" and scheme != "adjacent"


def test_what_the_commands_write_is_loaded(run):
    x, y = points()
    commands(run, x, y, ("-Q", 1), ("-n",))
    model = MultiClassFromBinary(options=OPTIONS, normalise=True).fit(x, y)
    for kind in ("-Z", "--libsvm"):
        run("mbh2mbm", kind, "m.mbc", f"m{kind}")
    own = classifier_for(replace(model.configuration_, calibration=None), "inverse")
    for loaded, expected, places in (
        (MultiClassFromBinary.load("m.mbm", n_jobs=2), model.predict_proba(x), 12),
        (MultiClassFromBinary.load("m.mbc", normalisation="m.std"), model.predict_proba(x), 12),
        # these formats have no place for a calibration
        (MultiClassFromBinary.load("m--libsvm", normalisation="m.std"), own.probabilities(x), 12),
        (MultiClassFromBinary.load(Path("m-Z"), normalisation="m.std"), own.probabilities(x), 4),
    ):
        assert loaded.classes_.tolist() == list(LABELS) and loaded.n_features_in_ == 5
        np.testing.assert_allclose(loaded.predict_proba(x), expected, atol=10.0**-places)
        again = (
            MultiClassFromBinary(**loaded.get_params())
            .set_params(options=OPTIONS, normalise=True)
            .fit(x, y)
        )
        np.testing.assert_array_equal(again.predict(x), model.predict(x))
    Path("sub").mkdir()
    for file in Path().glob("m-0*"):
        file.rename(Path("sub", file.name))
    with pytest.raises(AgfmcError):
        MultiClassFromBinary.load("m.mbc", normalisation="m.std")
    loaded = MultiClassFromBinary.load("m.mbc", normalisation="m.std", models_in="sub")
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))


@pytest.mark.parametrize("kind, decoder", [("votes", "vote"), ("wide", "inverse")])
def test_models_of_svm_train_are_loaded(run, kind, decoder):
    """Models without probabilities give votes; those that leave out features take any number."""
    x, y = points()
    commands(run, x, y, ("-Q", 1))
    run("mbh2mbm", "--libsvm", "m.mbc", "svm")
    text = Path("svm").read_text(encoding="ascii")
    text = re.sub(r"# agfmc.*\n", "", text)
    if kind == "votes":
        text = re.sub(r"prob[AB].*\n", "", text)
    Path("svm").write_text(text, encoding="ascii")
    if kind == "votes":
        with pytest.warns(UserWarning, match="no probabilities"):
            loaded = MultiClassFromBinary.load("svm")
    else:
        loaded = MultiClassFromBinary.load("svm")
    assert loaded.decoder_ == decoder and not hasattr(loaded, "n_features_in_")
    assert hasattr(loaded, "predict_proba") == (kind != "votes")
    expected = (
        MultiClassFromBinary(options=OPTIONS, decoder=decoder)
        if kind == "wide"
        else SVC(C=5, gamma=0.1)
    )
    expected.fit(x, y)
    np.testing.assert_array_equal(loaded.predict(x), expected.predict(x))
    wider = np.hstack([x, np.zeros((len(x), 2), x.dtype)])
    np.testing.assert_array_equal(loaded.predict(wider), expected.predict(x))
    with pytest.raises(ValueError, match="the points have 3 features, the model needs 5"):
        loaded.predict(x[:, :3])


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "labels",
    [
        WORDS,
        (-3, -1, 0, 7),
        (0, 1, 2, 3_000_000_000),
        ("10", "9", "oak, old", "é # {"),
        ("10", "4", "7", "9"),
        (0.0, 1.0, 4.0, 9.0),
        (-1.0, 0.0, 1.0, 2.0),
    ],
)
def test_classes_come_back_from_a_file(tmp_path, labels):
    x, y = points(labels)
    model = MultiClassFromBinary("adjacent-ordered", options="-t 0").fit(x, y)
    assert model.score(x, y) > 0.5
    model.save(tmp_path / "m.mbm")
    loaded = MultiClassFromBinary.load(tmp_path / "m.mbm")
    assert loaded.classes_.tolist() == model.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(loaded.predict(x), model.predict(x))
    np.testing.assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))


@pytest.mark.parametrize("strange", ["", " b", "two\nlines"])
def test_classes_that_no_file_can_name(tmp_path, strange):
    x, y = points(("a", "c", "d", strange))
    model = MultiClassFromBinary(options="-t 0", calibrated=False).fit(x, y)
    assert model.score(x, y) > 0.5
    with pytest.raises(ValueError, match="cannot name these classes"):
        model.save(tmp_path / "m.mbm")
    assert not (tmp_path / "m.mbm").exists()


@pytest.mark.long
@pytest.mark.parametrize("text", ['"" K {2 5 9 11}', '"" {2 "-r 0.3" L {5 9 11}}'])
def test_the_file_is_that_of_the_commands_for_direct_classifiers(run, text):
    x, y = points()
    write_vec("train.vec", x)
    write_cls("train.cls", y.astype(np.int32))
    Path("train.mbc").write_text(text, encoding="ascii")
    run("multi_borders", "-n", "-+", OPTIONS, "train.mbc", "train", "m", "m.mbc")
    run("mbh2mbm", "-a", "m.std", "m.mbc", "m.mbm")
    MultiClassFromBinary(text, options=OPTIONS, normalise=True).fit(x, y).save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()


@pytest.mark.few(1)
@pytest.mark.parametrize("design, decoder", [("one-vs-rest", "renormalised"), ("tree", "full")])
def test_options_and_decoder_of_a_control_file(run, design, decoder):
    """The estimator trains by the head of its control, and a loaded model has its decoder."""
    x, y = points()
    commands(run, x, y, ("-Q", design))
    head = f"# options: {OPTIONS}\n# decoder: {decoder}\n"
    Path("head.mbt").write_text(head + Path("train.mbc").read_text())
    run("multi_borders", "head.mbt", "train", "m", "m.mbc")
    run("mbh2mbm", "m.mbc", "m.mbm")
    own = MultiClassFromBinary(Path("head.mbt").read_text()).fit(x, y)
    own.save("own.mbm")
    assert Path("own.mbm").read_bytes() == Path("m.mbm").read_bytes()
    loaded = MultiClassFromBinary.load("m.mbm")
    again = MultiClassFromBinary(loaded.control, C=5, gamma=0.1).fit(x, y)
    expected = classifier_for(agfmc.load("m.mbm"), decoder).probabilities(x)
    for p in (
        own.predict_proba(x),
        loaded.predict_proba(x),
        again.predict_proba(x),
        agfmc.Classifier(agfmc.load("own.mbm")).probabilities(x),
        agfmc.Classifier(agfmc.load("m.mbm")).probabilities(x),
    ):
        assert np.array_equal(p, expected)
    assert own.decoder_ == loaded.decoder_ == again.decoder_ == decoder
    assert MultiClassFromBinary.load("m.mbm", decoder="least-squares").decoder_ == "least-squares"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "settings",
    [
        {"C": 10, "gamma": "scale", "normalise": True},
        {"control": '"-c 3" 0 / 1 2 3; "" 1 / 0 2 3; "" 2 3 / 0 1; {0 1 2 3}', "n_components": 2},
        {"n_components": 2, "normalise": True},
        {"learner": "nystrom", "kernel": "laplacian", "control": "ensemble"},
    ],
)
def test_a_clone_of_a_loaded_model_is_trained_as_the_model_was(tmp_path, settings):
    x, y = points(range(4))
    model = MultiClassFromBinary(**settings).fit(x, y)
    model.save(tmp_path / "m.mbm")
    loaded = MultiClassFromBinary.load(tmp_path / "m.mbm")
    assert len(loaded.control) > 20 or "\n" not in loaded.control
    np.testing.assert_array_equal(clone(loaded).fit(x, y).predict_proba(x), model.predict_proba(x))
