"""The estimator: its parameters, what it offers, and its place in scikit-learn's tools."""

import doctest
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from scipy.sparse import coo_array, csr_matrix
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import agfmc
import agfmc.api.estimator
from agfmc.control.parse import parse
from agfmc.control.write import format_tree
from agfmc.core.answers import Answers
from agfmc.core.errors import AgfmcWarning
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.designs.design import design
from agfmc.experiments import families
from agfmc.data.libagf import read_std, write_std

TEXT = '"-c 2" 0 / 1 2; "" 1 / 2; {4 1 7}'


def points(labels=(1, 4, 7), n=90, seed=1):
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.arange(n) % len(labels))
    x = (
        rng.normal(size=(n, 3))
        + np.array([[1.5, -1, 0], [0, 1.2, 1], [-1, 0, -1], [1, 1, -2]])[code]
    )
    return x, np.array(labels)[code]


def options_told(model):
    """What the settings of each binary classifier say of its options."""
    return [one.options for one in model.configuration_.provenances]


def estimator(control="one-vs-one", **settings):
    """An estimator without calibration, which takes ten times as long as the rest of a fit."""
    return MultiClassFromBinary(control, **{"calibrated": False, **settings})


def control_of(model):
    return format_tree(model.configuration_.tree)


def test_control_may_be_a_scheme_with_parameters():
    x, y = points()
    model = estimator("ensemble members=2 of=random rows=3", random_state=2).fit(x, y)
    tree = design("ensemble", [1, 4, 7], members=2, of="random", rows=3, seed=2)
    assert model.configuration_.tree.sides() == tree.sides()
    with pytest.raises(ValueError, match="scheme one-vs-one has no parameter 'rows': it has none"):
        estimator("one-vs-one rows=3").fit(x, y)


def test_control_may_be_a_scheme_text_file_or_tree(tmp_path):
    x, y = points()
    (tmp_path / "c.mbc").write_text(TEXT)
    models = [
        estimator(control, C=3, gamma=None).fit(x, y)
        for control in (TEXT, tmp_path / "c.mbc", parse(TEXT))
    ]
    for model in models:
        assert [text.split(" -e")[0] for text in options_told(model)] == [
            "-s 0 -t 2 -g 1/d -c 2.0",
            "-s 0 -t 2 -g 1/d -c 3.0",
        ]
        np.testing.assert_array_equal(model.predict_proba(x), models[0].predict_proba(x))
        np.testing.assert_array_equal(clone(model).fit(x, y).predict(x), model.predict(x))
        assert control_of(model) == control_of(models[0])
    tree = design("tree", np.array([1, 4, 7]))
    assert tree == design("tree", [1, 4, 7])
    np.testing.assert_array_equal(
        estimator(tree).fit(x, y).predict(x), estimator("tree").fit(x, y).predict(x)
    )
    assert control_of(models[0]).split() == [
        "m-00",
        "0",
        "/",
        "1",
        "2;",
        "m-01",
        "1",
        "/",
        "2;",
        "{",
        "4",
        "1",
        "7",
        "}",
    ]


@pytest.mark.parametrize(
    "control, message",
    [
        ("one-vs-noone", "no scheme 'one-vs-noone'"),
        ("c.mbc", "no scheme 'c.mbc'"),
        (Path("no-such-file"), "cannot read"),
        ('"" {1 4', "expected"),
        ('"" {1 4}', "holds? class 7|hold class 7"),
        ("a {1 4}", "expected training options"),
        ("convert", "a control file"),
    ],
)
def test_a_wrong_control_is_a_value_error(control, message):
    with pytest.raises(ValueError, match=message):
        estimator(control).fit(*points())


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"options": "-c 0"}, "-c"),
        ({"options": "-Z 1"}, "-Z"),
        ({"C": -1}, "^`C`: -1 is out"),
        ({"C": "much"}, "^`C`: expected a number, found 'much'$"),
        ({"gamma": "wide"}, "^`gamma`: expected .scale"),
        ({"kernel": "cosine"}, "^`kernel`: expected linear, .* found 'cosine'$"),
        ({"learner": "forest"}, "no learner"),
        ({"learner": "linear", "gamma": 1}, "gamma is not a parameter of learner='linear'"),
        ({"n_landmarks": 9}, "n_landmarks is not a parameter of learner='svm'"),
        ({"learner": "linear", "alpha": 0.1}, "alpha .*'linear': expected one of C, tol, solver, "),
        ({"learner": "nystrom", "n_landmarks": "all"}, "^`n_landmarks`: expected a whole number"),
        ({"learner": "nystrom", "alpha": "large"}, "^`alpha`: expected a number"),
        ({"learner": "nystrom", "n_landmarks": 1}, "^`n_landmarks`: 1 is out"),
        ({"learner": "nystrom", "alpha": 0}, "^`alpha`: 0 is out"),
        ({"learner": "nystrom", "n_landmarks": 91}, "different points of these classes, 90"),
        ({"learner": "nystrom", "C": 1}, "C is not a parameter .* n_landmarks, alpha, "),
        ({"learner": "nystrom", "n_landmarks": 20.7}, "whole number"),
        ({"learner": "nystrom", "n_landmarks": float("inf")}, "whole number"),
        ({"learner": "nystrom", "tol": 0.1}, "tol is not a parameter"),
        (
            {"learner": "nystrom", "kernel": "sigmoid"},
            "^`kernel`: expected linear, .* found 'sigmoid'$",
        ),
        ({"decoder": "guess"}, "no decoder 'guess'"),
        ({"decoder": "recursive"}, "for trees"),
        ({"decoder": "binary"}, "gives no classes"),
        ({"decoder": "and"}, "without a class"),
        ({"control": "adjacent", "decoder": "ddag"}, "one-vs-one"),
        ({"platt": "both"}, "platt"),
        ({"n_components": 9}, "9 singular values"),
        ({"random_state": -1}, "random_state"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"options": "-s 1", "platt": "loo"}, "nu-SVC"),
    ],
)
def test_wrong_settings_are_value_errors(settings, message):
    with pytest.raises(ValueError, match=message):
        estimator(**settings).fit(*points())


def test_a_control_of_another_type_is_refused():
    with pytest.raises(ValueError, match="expected the name of a scheme"):
        estimator(2.5).fit(*points())


def test_options_c_and_gamma():
    x, y = points()
    one = estimator(options="-c 9 -e 0.01", C=2, gamma=0.25).fit(x, y)
    two = estimator(options="-e 0.01 -c 2 -g 0.25").fit(x, y)
    assert options_told(one) == options_told(two)
    assert "-g 0.25 -c 2.0 -e 0.01" in options_told(one)[0]
    assert "-g 1/d -c 1.0 -e 0.001" in options_told(estimator(gamma=None).fit(x, y))[0]
    assert (
        f"-g {float(1 / (x.shape[1] * x.var()))!r} -c 1.0" in options_told(estimator().fit(x, y))[0]
    )
    kinds = {"kernel": "polynomial", "degree": 2, "coef0": 1.5, "tol": 0.01, "learner": "svm"}
    assert options_told(estimator(**kinds).fit(x, y)) == options_told(
        estimator(options="-t 1 -d 2 -r 1.5 -e 0.01").fit(x, y)
    )
    logistic = clone(estimator()).set_params(learner="logistic", C=3).fit(x, y)
    assert options_told(logistic) == options_told(
        estimator(options="learner=logistic -c 3").fit(x, y)
    )


@pytest.mark.long
def test_landmarks():
    x, y = points()
    plain = estimator(learner="nystrom", n_landmarks=20).fit(x, y)
    told = options_told(plain)
    assert all(re.fullmatch(r"learner=nystrom -t 2 -g [.\d]+ -m 20 -l \S+", text) for text in told)
    for settings in (
        {"learner": "nystrom", "n_landmarks": np.int64(20), "alpha": "auto"},
        {"options": "learner=nystrom -m 20 -l auto"},
        {"options": "learner=nystrom", "n_landmarks": 20},
    ):
        np.testing.assert_array_equal(
            estimator(**settings).fit(x, y).predict_proba(x), plain.predict_proba(x)
        )
    kinds = {"kernel": "polynomial", "degree": 2, "coef0": 1.5, "gamma": 0.5, "alpha": 2}
    assert (
        options_told(estimator(learner="nystrom", n_landmarks=9, **kinds).fit(x, y))
        == ["learner=nystrom -t 1 -d 2 -g 0.5 -r 1.5 -m 9 -l 2.0"] * 3
    )
    drawn = [
        estimator(learner="nystrom", n_landmarks=20, random_state=seed)
        .fit(x, y)
        .configuration_.machines.sv
        for seed in (1, 2, 2)
    ]
    np.testing.assert_array_equal(drawn[0], plain.configuration_.machines.sv)
    np.testing.assert_array_equal(drawn[1], drawn[2])
    assert not np.array_equal(drawn[0], drawn[1])
    assert estimator(learner="nystrom").fit(x, y).configuration_.machines.sv.shape == (90, 3)


@pytest.mark.few(1)
@pytest.mark.parametrize("settings", [{}, {"learner": "nystrom", "n_landmarks": 30}])
def test_nothing_but_time_depends_on_the_number_of_jobs(settings):
    x, y = points()
    one, two = (
        estimator("empirical", decoder="full", n_jobs=jobs, **settings).fit(x, y)
        for jobs in (None, -1)
    )
    assert one.configuration_.machines.coef.tobytes() == two.configuration_.machines.coef.tobytes()
    np.testing.assert_array_equal(one.predict_proba(x), two.predict_proba(x))


@pytest.mark.long
def test_seeds():
    x, y = points((1, 4, 7, 9))
    texts = {}
    for name, seed in (
        ("1", 1),
        ("again", 1),
        ("numpy", np.int64(1)),
        ("5", 5),
        ("state", np.random.RandomState(2)),
        ("same", np.random.RandomState(2)),
    ):
        model = estimator("random", options="-t 0", random_state=seed).fit(x, y)
        texts[name] = control_of(model), tuple(model.configuration_.machines.a.tolist())
    assert texts["1"] == texts["again"] == texts["numpy"] != texts["5"]
    assert texts["state"] == texts["same"] != texts["1"]
    estimator(random_state=None).fit(x, y)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "control, decoder, scores, probabilities",
    [
        ("one-vs-one", None, True, True),
        ("one-vs-one", "wu-lin-weng", True, True),
        ("one-vs-one", "vote", True, False),
        ("one-vs-one", "max-win", False, False),
        ("one-vs-one", "loss:hinge", True, False),
        ("adjacent", None, True, True),
        ("adjacent", "inverse", True, False),
        ("one-vs-rest", "unconstrained", True, False),
        ("one-vs-rest", "argmax", True, True),
        ("adjacent", "renormalised", True, True),
        ("tree", None, False, False),
        ("tree", "full", True, True),
        ("empirical", None, False, False),
        ("empirical", "least-squares", True, True),
        ("ensemble", None, True, True),
        ('"" K {1 4 7}', None, True, True),
        ('"" {1 "" L {4 7}}', None, False, False),
        ('"" {1 "" L {4 7}}', "full", True, True),
    ],
)
@pytest.mark.parametrize("labels", [(1, 4, 7), ("pine", "birch", "oak")])
def test_what_a_decoder_offers(control, decoder, scores, probabilities, labels):
    x, y = points(labels)
    if isinstance(labels[0], str) and "{" in control:
        control = control.replace("1", "0").replace("4", "2").replace("7", "1")
    model = estimator(control, decoder=decoder)
    for _ in range(2):  # before and after it is fitted
        assert hasattr(model, "decision_function") == scores
        assert hasattr(model, "predict_proba") == probabilities
        model.fit(x, y)
    predicted = model.predict(x)
    assert set(predicted) <= set(labels) and model.score(x, y) > 0.7
    assert model.classes_.tolist() == sorted(labels)
    if scores:
        found = model.decision_function(x)
        assert found.shape == (90, 3)
        np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], predicted)
    if probabilities:
        p = model.predict_proba(x)
        assert p.min() >= 0
        np.testing.assert_allclose(p.sum(axis=1), 1)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], predicted)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "control, decoder",
    [("one-vs-one", None), ("tree", None), ("tree", "full"), ("tree", "least-squares")],
)
def test_the_most_probable_classes(control, decoder):
    x, y = points()
    words = np.array(["no", "maybe", "yes"])[np.searchsorted([1, 4, 7], y)]
    model = estimator(control, decoder=decoder).fit(x, words)
    classes, p = model.predict_top(x, 2)
    whole = (
        model
        if decoder or control == "one-vs-one"
        else estimator(control, decoder="full", calibrated=False).fit(x, words)
    ).predict_proba(x)
    order = np.argsort(-whole, axis=1, kind="stable")
    np.testing.assert_allclose(p, np.take_along_axis(whole, order, axis=1)[:, :2], atol=1e-12)
    np.testing.assert_array_equal(classes, model.classes_[order[:, :2]])
    assert model.predict_top(x, 9)[0].shape == (len(x), 3)
    for k in (0, 1.5):
        with pytest.raises(ValueError, match="^`k`: expected a whole number from 1, found "):
            model.predict_top(x, k)
    with pytest.raises(ValueError, match="not vote"):
        estimator(decoder="vote").fit(x, y).predict_top(x)


def test_ties_of_votes_are_broken_as_predicted():
    """In the order of the tree, which is not that of the classes here."""
    x, y = points()
    model = estimator('"" 1 2 / 0; "" 0 2 / 1; "" 0 1 / 2; {7 1 4}', decoder="vote")
    model.fit(x, y)
    grid = np.random.default_rng(0).uniform(-3, 3, (300, 3))
    scores = model.decision_function(grid)
    best = scores.max(axis=1, keepdims=True)
    assert (np.isclose(scores, best, atol=1e-9).sum(axis=1) == 3).any()
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(grid))


def test_two_classes_have_one_score():
    x, y = points(("no", "yes"))
    for decoder in (None, "vote"):
        model = estimator(decoder=decoder).fit(x, y)
        scores = model.decision_function(x)
        assert scores.shape == (90,)
        np.testing.assert_array_equal(np.where(scores > 0, "yes", "no"), model.predict(x))
    p = estimator().fit(x, y).predict_proba(x)
    np.testing.assert_allclose(estimator().fit(x, y).decision_function(x), p[:, 1] - p[:, 0])


def test_the_score_of_a_tie_of_two_classes_agrees_with_the_prediction(monkeypatch):
    x, y = points((3, 8))
    model = estimator().fit(x, y)
    monkeypatch.setattr(
        model,
        "_answers",
        lambda X: Answers(np.array([3, 8], dtype=np.int32), np.zeros(2), np.full((2, 2), 0.5)),
    )
    assert (model.decision_function(x) > 0).tolist() == [False, True]


def test_a_control_may_name_the_classes():
    x, y = points(("pine", "birch", "oak"))
    text = "# class 3: pine\n# class 5: oak\n# class 4: birch\n" + TEXT.replace(
        "{4 1 7}", "{5 3 4}"
    )
    model = estimator(text).fit(x, y)
    assert model.score(x, y) > 0.8
    assert model.configuration_.tree.names == {3: "pine", 4: "birch", 5: "oak"}
    np.testing.assert_array_equal(
        model.classes_[model.predict_proba(x).argmax(axis=1)], model.predict(x)
    )
    with pytest.raises(ValueError, match="birch, oak, pine, but the data have birch, elm, pine"):
        estimator(text).fit(x, np.where(y == "oak", "elm", y))


def test_single_precision_is_kept_and_data_are_not_changed():
    x, y = points()
    x = np.asfortranarray(x.astype(np.float32))
    before = x.copy()
    model = estimator(normalise=True).fit(x, y)
    np.testing.assert_array_equal(model.predict_proba(x), model.predict_proba(x.astype(float)))
    np.testing.assert_array_equal(x, before)


def test_normalisation_is_part_of_the_model(tmp_path):
    x, y = points()
    model = estimator(normalise=True).fit(x, y)
    write_std(tmp_path / "n.std", model.configuration_.normalisation)
    apart = estimator().fit(read_std(tmp_path / "n.std").apply(x), y)
    np.testing.assert_array_equal(
        model.predict(x), apart.predict(read_std(tmp_path / "n.std").apply(x))
    )
    with pytest.warns(AgfmcWarning, match="constant"):
        estimator(normalise=True).fit(np.hstack([x, x[:, :1] * 0]), y)


@pytest.mark.parametrize(
    "settings",
    [
        {"learner": "linear"},
        {"kernel": "linear", "control": "adjacent"},
        {"learner": "logistic", "control": "empirical", "decoder": "full"},
        {"estimator": LogisticRegression(), "control": "ovr"},
    ],
)
def test_sparse_points_of_linear_classifiers(settings):
    x, y = points()
    x[x < 0] = 0
    dense, sparse = (estimator(**settings).fit(one, y) for one in (x, coo_array(x)))
    assert sparse.__sklearn_tags__().input_tags.sparse
    for new in (x, csr_matrix(x)):
        np.testing.assert_allclose(
            sparse.decision_function(new), dense.decision_function(x), rtol=0, atol=1e-5
        )
    broken = csr_matrix(x)
    broken.data[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sparse.fit(broken, y)
    with pytest.raises(agfmc.DataError, match=f"row {broken.nonzero()[0][3]} "):
        agfmc.train("ovr", broken, y)


@pytest.mark.parametrize(
    "settings", [{"learner": "trees"}, {"kernel": "laplacian"}, {"n_components": 2}]
)
def test_sparse_points_become_dense_where_the_learner_needs_it(settings):
    x, y = points()
    dense, sparse = (estimator(**settings).fit(X, y) for X in (x, csr_matrix(x)))
    for new in (x, csr_matrix(x)):
        assert np.array_equal(sparse.predict_proba(new), dense.predict_proba(x))


def test_sparse_points_are_scaled_without_centring():
    x, y = points()
    sparse = estimator(learner="linear", normalise=True).fit(csr_matrix(x), y)
    scaled = estimator(learner="linear", normalise=False).fit(
        sparse.configuration_.normalisation.apply(x), y
    )
    assert not sparse.configuration_.normalisation.mean.any()
    for new in (x, csr_matrix(x)):
        np.testing.assert_allclose(
            sparse.predict_proba(new),
            scaled.predict_proba(sparse.configuration_.normalisation.apply(x)),
            atol=1e-5,
        )


def test_sparse_points_are_refused_by_estimators_that_take_none():
    x, y = points()
    with pytest.raises(TypeError, match="[Ss]parse"):
        estimator(estimator=GaussianNB()).fit(csr_matrix(x), y)


@pytest.mark.parametrize(
    "settings",
    [{}, {"control": "ovr"}, {"platt": "cv"}, {"estimator": GaussianNB()}, {"learner": "logistic"}],
    ids=str,
)
def test_a_class_with_one_sample_is_trained(settings):
    """As svm-train does it: without this sample all is the other side."""
    x, y = points()
    rare = np.append(y, y.max() + 1)
    far = np.vstack([x, x.max(axis=0) + 20])
    with pytest.warns(AgfmcWarning, match="1 sample.*: its probabilities rest on very few samples"):
        model = MultiClassFromBinary(normalise=False, **settings).fit(far, rare)
    p = model.predict_proba(far)
    assert model.classes_[-1] == rare[-1] and np.isfinite(p).all()
    assert p[:-1, -1].mean() < 0.1 and p[-1, -1] > p[:-1, -1].mean()
    with pytest.raises(ValueError, match="lies in one group only"):
        MultiClassFromBinary().fit(far, rare, groups=np.arange(len(rare)) % 9)


def test_bagging_may_leave_a_class_out():
    x, y = points()
    x = np.vstack([x, x[:1] + 9])
    y = np.append(y, y.max() + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AgfmcWarning)
        model = BaggingClassifier(MultiClassFromBinary(), 4, random_state=0).fit(x, y)
    assert model.predict_proba(x).shape == (len(x), len(np.unique(y)))
    assert min(len(member.classes_) for member in model.estimators_) < len(np.unique(y))


def test_before_it_is_fitted(tmp_path):
    for call in (
        lambda model: model.predict([[1.0]]),
        lambda model: model.predict_proba([[1.0]]),
        lambda model: model.save(tmp_path / "m.mbm"),
    ):
        with pytest.raises(NotFittedError):
            call(estimator())
    with pytest.raises(ValueError, match="no scheme"):
        estimator("nothing").fit(*points())


@pytest.mark.parametrize("control", ["one-vs-one", "tree", '"" K {1 4 7}', '"" {1 "" L {4 7}}'])
def test_it_travels(control):
    x, y = points()
    model = estimator(control, normalise=True).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    assert again.decoder_ == model.decoder_


def test_a_search_over_a_pipeline():
    x, y = points()
    search = GridSearchCV(
        make_pipeline(StandardScaler(), estimator(options="-t 0")),
        {
            "multiclassfrombinary__control": ["one-vs-one", parse('"" {1 "" {4 7}}')],
            "multiclassfrombinary__decoder": ["least-squares"],
        },
        cv=2,
        scoring="neg_log_loss",
        error_score="raise",
    ).fit(x, y)
    assert np.isfinite(search.best_score_) and len(search.cv_results_["params"]) == 2
    assert search.predict_proba(x).shape == (90, 3)


def test_without_scikit_learn():
    code = (
        "import sys\nsys.modules['sklearn'] = None\nimport agfmc.training.in_memory\n"
        "try:\n    import agfmc.estimators\nexcept ImportError as error:\n"
        "    assert 'agfmc[sklearn]' in str(error), error\nelse:\n    sys.exit(1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(agfmc.__file__).parents[1],
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.long
def test_the_example_of_the_documentation():
    results = doctest.testmod(agfmc.api.estimator)
    assert results.attempted > 4 and not results.failed


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        estimator("tree", normalise=True),
        MultiClassFromBinary("one-vs-rest", decoder="vote", options="-t 0", C=10),
        MultiClassFromBinary(learner=agfmc.Nystrom()),
        MultiClassFromBinary("empirical", learner="nystrom"),
    ],
)
@pytest.mark.few(1)
def test_checks_of_scikit_learn(estimator, failed_checks):
    assert failed_checks(estimator) == {}


def test_messages_name_the_columns_of_a_frame():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame({"size": [1.0, 2, 3, 4, 5, 6], "same": [1.0] * 6, "age": range(6, 0, -1)})
    with pytest.warns(AgfmcWarning, match="^feature 'same' is constant and was left out$"):
        estimator(normalise=True, calibrated=False).fit(X, [0, 1] * 3)


@pytest.mark.parametrize("labels", [(1, 4, 7), ("elm", "oak", "yew"), (-2, 0, 9)])
def test_a_model_file_has_the_names_of_features(labels, tmp_path):
    pandas = pytest.importorskip("pandas")
    x, y = points(labels)
    frame = pandas.DataFrame(x, columns=["class", "height", "width"])
    model = estimator().fit(frame, y)
    model.save(tmp_path / "m.mbm")
    again = MultiClassFromBinary.load(tmp_path / "m.mbm")
    assert again.feature_names_in_.tolist() == list(frame)
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame[["width", "class", "height"]])
    recipe = again.configuration_.recipe
    assert recipe.label == "class_" and set(map(str, labels)) <= set(recipe.classes)


def test_a_loaded_model_takes_what_its_recipe_and_its_learner_take(tmp_path):
    """Frames of the training table with words and missing values, NaN, and sparse X."""
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 20)
    frame = pandas.DataFrame(
        {
            "size": draw.normal(size=60) + 2 * y,
            "colour": np.array(["red", "blue"])[(y + np.arange(60) // 15) % 2],
            "kind": np.array(["a", "b", "c"])[y],
        }
    )
    frame.loc[::7, "size"] = np.nan
    path = str(tmp_path / "m.mbm")
    data = agfmc.read_table(frame, label="kind", missing="mean")
    agfmc.train("one-vs-one", data, normalise=True).save(path)
    model = MultiClassFromBinary.load(path)
    names, p = agfmc.Classifier(agfmc.load(path)).predict(frame)
    assert model.feature_names_in_.tolist() == ["size", "colour=blue", "colour=red"]
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*feature names", UserWarning)  # of scikit-learn
        assert model.predict(frame[["kind", "colour", "size"]]).tolist() == names
        assert np.array_equal(model.predict_log_proba(frame), np.log(p))
        assert model.calibrate(frame, frame["kind"]).score(frame, frame["kind"]) > 0.5
    points = pandas.DataFrame(data.x, columns=data.recipe.features)
    assert np.array_equal(MultiClassFromBinary.load(path).predict_proba(points), p)
    pytest.importorskip("lightgbm")
    holes = frame[["size"]].assign(other=draw.normal(size=60))
    trees = MultiClassFromBinary(learner="trees", n_estimators=5).fit(holes, y)
    trees.save(path)
    assert np.array_equal(
        MultiClassFromBinary.load(path).predict_proba(holes), trees.predict_proba(holes)
    )
    pytest.importorskip("liblinear")
    linear = MultiClassFromBinary(learner="linear").fit(csr_matrix(data.x), y)
    linear.save(path)
    assert np.array_equal(
        MultiClassFromBinary.load(path).predict_proba(csr_matrix(data.x)),
        linear.predict_proba(csr_matrix(data.x)),
    )


def test_the_best_control_is_that_of_train_best(monkeypatch):
    monkeypatch.setattr(families, "FAMILIES", families.FAMILIES[1:3])
    rng = np.random.default_rng(4)
    y = np.repeat(np.array(["fir", "oak", "yew"]), 15)
    x = rng.normal(size=(45, 2)) + 2 * np.eye(3, 2)[np.arange(45) // 15]
    model = MultiClassFromBinary("best", normalise=True, time_limit=0).fit(x, y)
    best, result = agfmc.train_best(x, y, time_limit=0)
    assert len(result["entries"]) == 1
    p = agfmc.Classifier(best).probabilities(x)
    assert model.predict_proba(x).tolist() == p.tolist()
    with pytest.raises(ValueError, match="control='best' chooses the learner and its options"):
        MultiClassFromBinary("best", C=3).fit(x, y)
    assert hasattr(MultiClassFromBinary("best"), "predict_proba")


def test_what_is_given_in_the_wrong_place_is_told():
    from sklearn.svm import SVC

    x, y = points()
    for wrong, told in (
        (lambda: MultiClassFromBinary(SVC()), "the first parameter is the control"),
        (lambda: MultiClassFromBinary(SVC), "the first parameter is the control"),
        (lambda: MultiClassFromBinary(estimator=SVC), r"expected an instance, SVC\(\)"),
    ):
        with pytest.raises(ValueError, match=told):
            wrong().fit(x, y)
    second = MultiClassFromBinary("ovr", SVC())
    assert second.estimator is not None and second.fit(x, y).score(x, y) > 0.5
    named = MultiClassFromBinary(scheme="tree").fit(x, y)
    assert options_told(named) == options_told(MultiClassFromBinary("tree").fit(x, y))
    search = GridSearchCV(MultiClassFromBinary(), {"scheme": ["ovo", "ovr"]}, cv=2).fit(x, y)
    assert search.best_params_["scheme"] in ("ovo", "ovr")


def test_two_classes_of_one_sample_are_trained_against_each_other():
    x = np.random.default_rng(0).normal(size=(30, 3))
    y = np.repeat([0, 1, 2], [28, 1, 1])
    with pytest.warns(AgfmcWarning, match="very few samples"):
        configuration = agfmc.train("one-vs-one", x, y)
    p = agfmc.Classifier(configuration).probabilities(x[-2:])
    assert p[0, 1] > p[0, 2] and p[1, 2] > p[1, 1]


def test_normalise_is_no_other_word():
    x, y = np.eye(4), [0, 0, 1, 1]
    with pytest.raises(agfmc.UsageError, match="expected True, False or 'auto', found 'yes'"):
        agfmc.train("one-vs-one", x, y, normalise="yes")
