"""The estimator with weights of samples and classes, and with costs of answers."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn import config_context
from sklearn.metrics import accuracy_score
from sklearn.model_selection import cross_validate, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from agfmc.core.errors import AgfmcWarning
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.prediction.decision_values import MachineValues

NAMES = np.array(["ash", "elm", "oak"])


def points(n=90, seed=1, shares=(1, 1, 1)):
    """Three classes that overlap."""
    generator = np.random.default_rng(seed)
    column = generator.permutation(np.repeat(np.arange(3), shares)[np.arange(n) % sum(shares)])
    return generator.normal(size=(n, 3)) + np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1.5]])[
        column
    ], NAMES[column]


X, Y = points()
W = np.random.default_rng(2).integers(0, 4, 90)
SHARED = {"learner": "nystrom", "alpha": 0.1}


def fitted(x=X, y=Y, w=None, **settings):
    return MultiClassFromBinary(**{**SHARED, **settings}).fit(x, y, sample_weight=w)


def decision_values(model, x=X):
    configuration = model.configuration_
    return np.array(MachineValues(configuration)(range(len(configuration.tree.rows)), x)[0])


@pytest.mark.filterwarnings("ignore:.*weight 0")
@pytest.mark.parametrize(
    "settings, tolerance",
    [
        ({}, 1e-9),
        ({"control": "one-vs-rest"}, 1e-9),
        ({"learner": "logistic", "alpha": None}, 1e-9),
        (
            {"learner": "svm", "alpha": None, "kernel": "linear", "tol": 1e-9, "control": "tree"},
            1e-6,
        ),
    ],
    ids=str,
)
def test_weights_are_copies(settings, tolerance):
    settings = {**settings, "calibrated": False}
    found = decision_values(fitted(w=W, **settings))
    copies = decision_values(fitted(X.repeat(W, 0), Y.repeat(W), **settings))
    np.testing.assert_allclose(found, copies, rtol=0, atol=tolerance)
    assert np.abs(found - decision_values(fitted(**settings))).max() > 0.01


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "settings", [{}, {"control": "one-vs-rest", "learner": "svm", "alpha": None}], ids=str
)
def test_weight_0_leaves_out(settings):
    w, some = W * 0.7, W > 0
    with pytest.warns(
        AgfmcWarning, match=f"^{np.sum(W == 0)} of 90 samples have weight 0 and are left out$"
    ):
        found = fitted(w=w, **settings)
    np.testing.assert_array_equal(
        found.predict_proba(X), fitted(X[some], Y[some], w[some], **settings).predict_proba(X)
    )
    ones = fitted(w=np.ones(90), **settings)
    np.testing.assert_array_equal(ones.predict_proba(X), fitted(**settings).predict_proba(X))


def test_weights_of_classes():
    x, y = points(220, 3, (8, 2, 1))
    of_classes = {"oak": 4, "ash": 0.5}
    factors = np.where(y == "oak", 4, np.where(y == "ash", 0.5, 1))
    found = fitted(x, y, class_weight=of_classes)
    np.testing.assert_allclose(
        found.predict_proba(x), fitted(x, y, factors).predict_proba(x), rtol=0, atol=1e-9
    )
    w, own = np.arange(220) % 3 + 1.0, {"calibrated": False}
    both = fitted(x, y, w, class_weight=of_classes, **own)
    np.testing.assert_allclose(
        both.predict_proba(x), fitted(x, y, w * factors, **own).predict_proba(x), rtol=0, atol=1e-9
    )
    counts = {name: np.sum(y == name) for name in NAMES}
    even = fitted(x, y, class_weight="balanced", **own)
    np.testing.assert_allclose(
        even.predict_proba(x),
        fitted(
            x, y, class_weight={name: 220 / 3 / count for name, count in counts.items()}, **own
        ).predict_proba(x),
        rtol=0,
        atol=1e-9,
    )
    p = even.predict_proba(x).mean(axis=0)
    assert p[2] > fitted(x, y, **own).predict_proba(x).mean(axis=0)[2] + 0.1
    again = pickle.loads(pickle.dumps(even))
    np.testing.assert_array_equal(again.predict_proba(x), even.predict_proba(x))


@pytest.mark.parametrize("classes", [[-1.0, 0.0, 1.0], [0, 1, 2], [3, 7, -2], [1, 0, 2**40]])
def test_numbers_of_classes_in_class_weights(classes):
    classes = np.array(classes)
    y = classes[np.searchsorted(NAMES, Y)]
    heavy = classes[1].item()
    found = fitted(y=y, class_weight={int(heavy): 5}, calibrated=False)
    np.testing.assert_allclose(
        found.predict_proba(X),
        fitted(y=y, w=np.where(y == heavy, 5, 1), calibrated=False).predict_proba(X),
        atol=1e-9,
    )


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"sample_weight": np.ones(89)},
            r"the weights of the samples: expected 90 numbers, one for "
            r"each point, found an array of shape \(89,\)",
        ),
        (
            {"sample_weight": np.where(np.arange(90) == 4, np.nan, 1)},
            r"the weight of sample 4 \(from 0\) is nan: expected a number of 0 or more",
        ),
        ({"sample_weight": -np.ones(90)}, "is -1: expected a number of 0 or more"),
        ({"sample_weight": np.zeros(90)}, "sample_weight: all weights are zero"),
        ({"sample_weight": 1.0 * (Y == "elm")}, "expected samples of at least 2 classes"),
        ({"class_weight": {"fir": 2}}, "class_weight: 'fir' is not one of the classes"),
        ({"class_weight": {"elm": 0}}, "expected numbers above 0, found 0 for class 'elm'"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dictionary"),
        ({"class_weight": [1, 2, 3]}, "class_weight must be None, 'balanced' or a dictionary"),
        ({"costs": np.ones((2, 2))}, r"costs: expected numbers of shape \(3, 3\)"),
        (
            {"costs": np.ones((3, 3)), "reject": 0.5},
            "^`reject` refuses answers by their probability",
        ),
        ({"costs": np.ones((3, 3)), "decoder": "vote"}, "^`costs` needs a decoder"),
    ],
)
def test_what_is_refused(arguments, message):
    w = arguments.pop("sample_weight", None)
    with pytest.raises(ValueError, match=message):
        fitted(w=w, **arguments)


@pytest.mark.long
def test_calibration_with_weights():
    x, y = points(220, 3, (8, 2, 1))
    w = np.random.default_rng(0).integers(1, 4, 220)
    model = fitted(class_weight={"oak": 3}, calibrated=False)
    again = pickle.loads(pickle.dumps(model)).calibrate(x, y, map="temperature", sample_weight=w)
    copies = pickle.loads(pickle.dumps(model)).calibrate(
        x.repeat(w, 0), y.repeat(w), map="temperature"
    )
    np.testing.assert_allclose(again.predict_proba(X), copies.predict_proba(X), atol=1e-9)
    without = fitted(w=np.where(Y == "oak", 3, 1), calibrated=False).calibrate(
        x, y, map="temperature", sample_weight=w
    )
    assert np.abs(without.predict_proba(X) - again.predict_proba(X)).max() > 1e-4  # no factors
    # sets count points
    kept, same = (
        one.configuration_.calibration.decoders[one.decoder_].points
        for one in (
            pickle.loads(pickle.dumps(model)).calibrate(x, y, sample_weight=w),
            pickle.loads(pickle.dumps(model)).calibrate(x, y),
        )
    )
    np.testing.assert_array_equal(kept.p_true, same.p_true)


@pytest.mark.long
def test_a_search_with_weights():
    settings = {"control": "one-vs-rest", "options": "-m 20", "learner": "nystrom"}
    w = np.where(Y == "oak", 3.0, 1.0)
    model, result = MultiClassFromBinary(**settings).tune(X, Y, sample_weight=w)
    same, other = MultiClassFromBinary(**settings, class_weight={"oak": 3}).tune(X, Y)
    assert result["points"][0]["score"] == pytest.approx(other["points"][0]["score"], rel=1e-9)
    alike = MultiClassFromBinary(**settings).tune(X, Y)[1]
    assert result["points"][0]["score"] != pytest.approx(alike["points"][0]["score"], rel=1e-3)
    np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X), atol=1e-9)


# In scikit-learn's tools


def test_a_pipeline_and_a_grid_with_routed_weights():
    w = np.where(Y == "oak", 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        model = (
            MultiClassFromBinary(**SHARED, calibrated=False)
            .set_fit_request(sample_weight=True)
            .set_score_request(sample_weight=True)
        )
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        np.testing.assert_array_equal(
            pipeline.fit(X, Y, sample_weight=w).predict_proba(X),
            fitted(StandardScaler().fit_transform(X), w=w, calibrated=False).predict_proba(
                StandardScaler().fit_transform(X)
            ),
        )
        search = GridSearchCV(model, {"alpha": [0.01, 0.1]}, cv=2).fit(X, Y, sample_weight=w)
        done = cross_validate(
            model,
            X,
            Y,
            cv=2,
            params={"sample_weight": w},
            return_estimator=True,
            return_indices=True,
        )
    assert np.isfinite(search.best_score_)
    for one, test, score in zip(done["estimator"], done["indices"]["test"], done["test_score"]):
        assert score == accuracy_score(Y[test], one.predict(X[test]), sample_weight=w[test])
    np.testing.assert_array_equal(
        search.best_estimator_.predict_proba(X),
        fitted(w=w, calibrated=False, **search.best_params_).predict_proba(X),
    )
    # without routing, as it was before
    old = GridSearchCV(MultiClassFromBinary(**SHARED, calibrated=False), {"alpha": [0.1]}, cv=2)
    np.testing.assert_array_equal(
        old.fit(X, Y, sample_weight=w).predict_proba(X),
        fitted(w=w, calibrated=False).predict_proba(X),
    )


def test_weights_of_a_score():
    model = fitted(calibrated=False)
    assert model.score(X, Y, sample_weight=W) == accuracy_score(
        Y, model.predict(X), sample_weight=W
    )


# Costs

COSTS = np.array([[0, 1, 5], [1, 0, 5], [10, 10, 0]])
# classes as a file numbers them in another order, so that costs must be sorted
CONTROL = (
    '# class 3: elm\n# class 0: oak\n# class 2: ash\n"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {3 0 2}'
)


@pytest.mark.few(1)
@pytest.mark.parametrize("control", ["one-vs-rest", CONTROL], ids=["scheme", "numbered"])
def test_the_cheapest_answer(control):
    model = fitted(control=control, costs=COSTS, decoder="least-squares")
    plain = fitted(control=control, decoder="least-squares")
    p = plain.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X), p)
    np.testing.assert_array_equal(model.predict(X), NAMES[(p @ COSTS).argmin(axis=1)])
    assert (model.predict(X) != plain.predict(X)).any()
    np.testing.assert_allclose(model.decision_function(X), -p @ COSTS, atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    none = np.full(3, np.median((p @ COSTS).min(axis=1)) + 1e-3)
    refused = fitted(control=control, decoder="least-squares", costs=np.column_stack([COSTS, none]))
    expected = np.column_stack([p @ COSTS, p @ none]).argmin(axis=1)
    assert {3} < set(expected.tolist())
    np.testing.assert_array_equal(refused.predict(X), np.append(NAMES, "")[expected])
    np.testing.assert_allclose(refused.decision_function(X), -p @ COSTS, atol=1e-12)
    assert "?" in fitted(
        costs=np.column_stack([COSTS, [0.1] * 3]), reject_label="?", calibrated=False
    ).predict(X)


def test_costs_of_two_classes():
    some = Y != "oak"
    model = fitted(X[some], Y[some], costs=[[0, 1], [5, 0]])
    p = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X), NAMES[(p[:, 1] * 5 > p[:, 0]).astype(int)])
    np.testing.assert_array_equal(model.decision_function(X) > 0, model.predict(X) == "elm")


@pytest.mark.long
def test_priors_turn_class_weights_back():
    x, y = points(120, shares=(6, 3, 1))
    settings = {"class_weight": "balanced", "learner": "logistic", "alpha": None}
    plain, back = (fitted(x, y, **settings, priors=priors) for priors in (None, "training"))
    p = plain.predict_proba(x) * np.array([6, 3, 1])
    np.testing.assert_allclose(back.predict_proba(x), p / p.sum(axis=1)[:, None], atol=1e-9)
    given = fitted(x, y, **settings, priors=[0.6, 0.3, 0.1])
    np.testing.assert_allclose(given.predict_proba(x), back.predict_proba(x), atol=1e-12)
    cheap = fitted(x, y, **settings, priors="training", costs=[[0, 1, 1], [1, 0, 1], [20, 20, 0]])
    assert (cheap.predict(x) == "oak").sum() > (back.predict(x) == "oak").sum()
    for wrong in ("seen", [0.5, 0.5]):
        with pytest.raises(ValueError, match="priors"):
            fitted(x, y, priors=wrong)
