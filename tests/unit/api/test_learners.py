"""Learner objects: parameters as scikit-learn has them, and the records that the letters give."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import agfmc
from agfmc.control.learners import LEARNERS
from agfmc.core.errors import UsageError
from agfmc.learners.protocol import learner_class, parse_options, plan_jobs
from agfmc.control.parse import parse

BINARY = {name: learner_class(name) for name, row in LEARNERS.items() if row.sides == 2}
TEXTS = {
    "learner=svm": agfmc.SVM(),
    "learner=svm -t 1 -d 2 -g 0.5 -r 1.0 -c 10.0": agfmc.SVM(10, "poly", 0.5, 2, 1),
    "learner=svm -s 1 -n 0.3 -m 40.0 -e 0.01 -h 0 -w0 2.0": agfmc.SVM(
        svm_type="nu_svc", nu=0.3, cache_size=40, tol=0.01, shrinking=False, weights={0: 2}
    ),
    "learner=svm -t laplacian -w0 1.5 -w1 3.0": agfmc.SVM(
        kernel="laplacian", weights=((1, 3), (0, 1.5))
    ),
    "learner=linear -s 2 -c 3.0 -e 0.5 -R": agfmc.Linear(3, 0.5, 2, free_bias=True),
    "learner=logistic -c 0.25 -e 0.001": agfmc.Logistic(0.25, tol=1e-3),
    "learner=nystrom -m 50 -t 0 -l 0.01 --loo all": agfmc.Nystrom(
        50, 0.01, kernel="linear", left_out="all"
    ),
    "learner=nystrom --loo 500": agfmc.Nystrom(alpha="auto", left_out=500.0),
    "learner=trees -n 30 -r 0.2 -l 7 -m 9 -e 0 -x 1": agfmc.Trees(
        30, 0.2, 7, 9, early_stopping_rounds=0, extra_trees=True
    ),
}


@pytest.mark.parametrize("text, learner", TEXTS.items())
def test_an_object_is_the_record_of_its_text(text, learner):
    checked = learner.checked()
    assert checked == parse_options(text) and checked.text() == text
    assert checked.canonical() == parse_options(text).canonical()
    assert checked.checked() == checked == pickle.loads(pickle.dumps(checked))


@pytest.mark.parametrize("learner", BINARY.values())
def test_every_parameter_is_a_row_of_the_table_and_has_its_default(learner):
    rows = {row[0] for row in learner.letters.values()} - {None}
    assert learner().get_params().keys() == rows | {"weights"}
    assert learner().checked() == learner() == learner.parse("")
    assert repr(learner()) == f"{learner.__name__}()" and agfmc.__all__.count(learner.__name__) == 1


def test_parameters_are_read_and_changed():
    learner = agfmc.SVM(C=10, gamma="scale")
    assert repr(learner) == "SVM(C=10, gamma='scale')"
    copied = copy.deepcopy(learner)
    assert learner.set_params(C=3) is learner and learner.get_params()["C"] == 3
    assert copied.C == 10
    with pytest.raises(
        ValueError, match="^alpha is not a parameter of learner='svm': expected one of C, kernel, "
    ):
        learner.set_params(alpha=1)
    with pytest.raises(AttributeError):
        learner.C = 5


@pytest.mark.parametrize(
    "learner, message",
    [
        (agfmc.SVM(C=0), "`C`: 0 is out of range: expected more than 0"),
        (agfmc.SVM(C="much"), "`C`: expected a number, found 'much'"),
        (agfmc.SVM(C=None), "`C`: expected a number, found None"),
        (agfmc.SVM(degree=2.5), "`degree`: expected a whole number, found 2.5"),
        (agfmc.SVM(gamma="wide"), "`gamma`: expected 'scale', 'auto' or a number, found 'wide'"),
        (
            agfmc.Nystrom(kernel="sigmoid"),
            "`kernel`: expected linear, polynomial, rbf, laplacian, exponential, or a number, one "
            "of 0 1 2 5 6, found 'sigmoid'",
        ),
        (agfmc.SVM(svm_type="one"), "`svm_type`: expected one of c_svc, nu_svc, found 'one'"),
        (agfmc.SVM(weights=3), "`weights`: expected pairs (side, factor), found 3"),
        (agfmc.SVM(weights={2: 1}), "`weights`: a side: 2 is out of range: expected 0 to 1"),
        (
            agfmc.SVM(weights={0: 0}),
            "`weights`: a factor: 0 is out of range: expected more than 0",
        ),
        (
            agfmc.Linear(solver=4),
            "`solver`: 4 is not for two classes: expected one of 0 1 2 3 5 6 7",
        ),
        (agfmc.Linear(bias=2, free_bias=True), "`free_bias` needs `bias` 1 and `solver` 0 2 5 6"),
        (agfmc.Trees(num_leaves=1), "`num_leaves`: 1 is out of range: expected 2 to 4096"),
        (agfmc.Nystrom(alpha=np.inf), "`alpha`: inf is out of range: expected more than 0"),
    ],
)
def test_values_that_cannot_be(learner, message):
    with pytest.raises(UsageError) as caught:
        learner.checked(np.ones((4, 2)))
    assert str(caught.value) == message


def test_words_for_gamma_stand_for_numbers_of_the_points():
    x = np.array([[0.0, 1.0], [4.0, 1.0]])
    assert agfmc.SVM(gamma="auto").checked(x).gamma == 0.5
    assert agfmc.SVM(gamma="scale").checked(x).gamma == 1 / (2 * x.var())
    # one feature of variance 1, and one that is constant
    assert agfmc.Nystrom(gamma="scale").checked(x, scales=True).gamma == 1 / (2 * 0.5)
    assert agfmc.SVM(gamma=0).checked(x).gamma is agfmc.SVM().checked(x).gamma is None


def test_a_learner_is_for_what_has_no_options():
    tree = parse('# options: -c 3\n"-c 1" 0 / 1 2; "" 1 / 0 2; " " 2 / 0 1; {0 1 2}')
    jobs = plan_jobs(tree, "m", agfmc.SVM(C=8.0), 1)
    assert [job.options.C for job in jobs] == [1.0, 8.0, 1.0]
    assert [job.options.C for job in plan_jobs(tree, "m", "", 1)] == [1.0, 3.0, 1.0]


def points():
    codes = np.arange(60) % 3
    x = np.random.default_rng(0).normal(size=(60, 4)) + 1.5 * np.eye(3, 4)[codes]
    return x, codes


def model_bytes(configuration, path):
    configuration.save(path)
    return path.read_bytes()


def test_train_takes_a_learner(tmp_path):
    x, y = points()
    learner = agfmc.SVM(C=10, gamma=0.125)
    models = [
        agfmc.train("one-vs-one", x, y, **given)
        for given in ({"learner": learner}, {"options": "-c 10 -g 0.125"})
    ]
    first, second = (model_bytes(model, tmp_path / "m.mbm") for model in models)
    assert first == second and learner == agfmc.SVM(C=10, gamma=0.125)
    with pytest.raises(UsageError, match="^`options`: a `learner` has parameters of its own$"):
        agfmc.train("one-vs-one", x, y, learner=learner, options="-c 1")
    with pytest.raises(UsageError, match="^there is no learner 'forest'"):
        agfmc.train("one-vs-one", x, y, learner="forest")


def test_tune_keeps_the_parameters_that_it_does_not_search():
    _, result = agfmc.tune(
        "one-vs-rest", *points(), learner=agfmc.Nystrom(n_landmarks=30), space="gamma=-3 kernel=rbf"
    )
    assert all("learner=nystrom" in point["options"] for point in result["points"])
    assert all("-m 30" in point["options"] for point in result["points"])


def test_importing_the_package_loads_no_scikit_learn():
    code = (
        "import agfmc, sys; agfmc.SVM, agfmc.Trees, agfmc.Nystrom; print('sklearn' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(agfmc.__file__).parents[1],
    )
    assert done.stdout == "False\n", done.stderr


# -- scikit-learn ----------------------------------------------------------------------------------


@pytest.fixture
def estimator():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    from agfmc.estimators import MultiClassFromBinary

    return MultiClassFromBinary


@pytest.mark.parametrize(
    "learner, flat",
    [
        (agfmc.SVM(C=10, gamma="scale"), {"C": 10, "gamma": "scale"}),
        (
            agfmc.SVM(shrinking=False, kernel="poly", gamma="scale"),
            {"options": "-h 0", "kernel": "polynomial"},
        ),
        (agfmc.Logistic(C=2), {"learner": "logistic", "C": 2}),
        (agfmc.Nystrom(20, gamma="auto"), {"learner": "nystrom", "n_landmarks": 20, "gamma": 0.25}),
    ],
)
def test_the_model_has_the_bytes_of_flat_names(learner, flat, estimator, tmp_path):
    x, y = points()
    models = [
        estimator(**given, calibrated=False).fit(x, y).configuration_
        for given in ({"learner": learner}, flat)
    ]
    first, second = (model_bytes(model, tmp_path / "m.mbm") for model in models)
    assert first == second


def test_clones_pickles_and_text(estimator):
    from sklearn.base import clone

    model = estimator(learner=agfmc.SVM(C=10))
    assert repr(model) == "MultiClassFromBinary(learner=SVM(C=10))"
    copied = clone(model).set_params(learner__C=3)
    assert model.learner.C == 10 and copied.get_params()["learner__C"] == 3
    assert clone(agfmc.Trees(weights={0: 2})).weights == {0: 2}
    x, y = points()
    again = pickle.loads(pickle.dumps(copied.fit(x, y)))
    assert again.learner == agfmc.SVM(C=3)
    np.testing.assert_array_equal(again.predict_proba(x), copied.predict_proba(x))


def test_a_grid_over_the_parameters_of_a_learner(estimator):
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV

    x, y = load_iris(return_X_y=True)
    scores = []
    for names, learner in (("learner__C", agfmc.SVM()), ("C", None)):
        model = estimator(learner=learner, normalise=True, calibrated=False)
        search = GridSearchCV(model, {names: [1e-3, 10]}, cv=3, error_score="raise").fit(x, y)
        assert search.best_params_ == {names: 10}
        scores.append(search.cv_results_["mean_test_score"].tolist())
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"learner": agfmc.SVM(C=0)}, "^`C`: 0 is out of range: expected more than 0$"),
        ({"learner": agfmc.SVM(), "C": 1}, "^C is a parameter of `learner`: set learner__C$"),
        ({"learner": agfmc.SVM(), "options": "-c 1"}, "^`options`: a `learner` has parameters"),
        ({"learner": 3}, "^there is no learner '3'"),
    ],
)
def test_what_does_not_go_together(given, message, estimator):
    with pytest.raises(ValueError, match=message):
        estimator(**given).fit(*points())


def test_a_search_returns_an_object_for_an_object(estimator):
    space = agfmc.SearchSpace(log2c=agfmc.Axis(0, 2, 2), log2g=agfmc.Axis(-2, -2, 1), refine=0)
    model = estimator("one-vs-rest", learner=agfmc.SVM(tol=0.01), calibrated=False)
    tuned, result = model.tune(*points(), by="accuracy", space=space)
    assert result["params"] == {"learner": tuned.learner}
    assert tuned.learner == agfmc.SVM(C=tuned.learner.C, gamma=0.25, tol=0.01)
    assert model.learner == agfmc.SVM(tol=0.01)
