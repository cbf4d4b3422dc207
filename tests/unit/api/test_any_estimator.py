"""Classifiers of scikit-learn as the binary learners of the estimator."""

import pickle

import numpy as np
import pytest
from scipy.special import expit

pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_digits, load_wine  # noqa: E402
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression, Perceptron  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier  # noqa: E402
from sklearn.naive_bayes import GaussianNB  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.svm import SVC  # noqa: E402

from agfmc.core.splits import derived_seed  # noqa: E402
from agfmc.estimators import MultiClassFromBinary  # noqa: E402
from agfmc.learners.platt import fit_log_odds  # noqa: E402

SCALED_SVC = make_pipeline(StandardScaler(), SVC(C=10))


@pytest.fixture(scope="module")
def digits():
    x, y = load_digits(return_X_y=True)
    four = y < 4  # of the ten classes
    return x[four][:200], y[four][:200], x[four][200:500], y[four][200:500]


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def log_loss(model, x, y):
    return -np.log(model.predict_proba(x)[np.arange(len(y)), y]).mean()


@pytest.mark.parametrize(
    "estimator",
    [
        make_pipeline(StandardScaler(), LogisticRegression()),
        SVC(gamma="scale"),
        KNeighborsClassifier(3),
        ExtraTreesClassifier(10, random_state=0),
    ],
    ids=["logistic", "svc", "neighbours", "trees"],
)
@pytest.mark.long
def test_beside_the_wrappers_of_scikit_learn(estimator, digits):
    x, y, new, truth = digits
    for control, peer in (("ovr", OneVsRestClassifier), ("ovo", OneVsOneClassifier)):
        model, other = (
            one.fit(x, y)
            for one in (MultiClassFromBinary(control, estimator=estimator), peer(estimator))
        )
        assert model.score(new, truth) > other.score(new, truth) - 0.015
        if hasattr(other, "predict_proba"):
            with np.errstate(divide="ignore"):
                assert log_loss(model, new, truth) < 1.05 * log_loss(other, new, truth)


@pytest.mark.parametrize("control", ["orthogonal", "tree", "adjacent", "empirical", "ensemble"])
@pytest.mark.few(2)
def test_any_configuration(control, digits):
    x, y, new, truth = digits
    model = MultiClassFromBinary(control, estimator=KNeighborsClassifier(3)).fit(x, y)
    assert model.score(new, truth) > 0.94


def test_each_binary_problem_has_a_clone_of_its_own(wine):
    x, y = wine
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    model = MultiClassFromBinary("ovr", estimator=plain, calibrated=False).fit(x, y)
    machines = model.configuration_.machines
    for number, sides in enumerate(model.configuration_.tree.sides()):
        right = np.isin(y, sides[1]).astype(int)
        own = clone(plain).fit(x, right)
        f = machines.functions[number](x)
        np.testing.assert_allclose(expit(f), own.predict_proba(x)[:, 1], rtol=1e-12, atol=1e-9)
    assert not hasattr(plain, "classes_")


def test_decision_functions_get_a_sigmoid_of_held_out_values(wine):
    x, y = wine
    model = MultiClassFromBinary("ovo", estimator=make_pipeline(StandardScaler(), Perceptron()))
    machines = model.fit(x, y).configuration_.machines
    assert np.all(machines.a != 0.5) and np.isfinite(machines.b).all()
    assert log_loss(model, x, y) < 0.2


def test_probabilities_that_are_too_sure_get_a_sigmoid(wine):
    x, y = np.tile(wine[0], 4), wine[1]  # features that depend on each other: NB counts them thrice
    model = MultiClassFromBinary("ovr", estimator=GaussianNB(), decoder="argmax")
    machines = model.fit(x, y).configuration_.machines
    assert np.all(machines.a < 0.35)
    raw = clone(model).set_params(calibrated=False).fit(x, y).configuration_.machines
    np.testing.assert_array_equal([raw.a, raw.b], [[0.5] * 3, [0.0] * 3])


@pytest.mark.parametrize("w", [None, np.linspace(0, 2, 400)])
def test_log_odds_stay_as_they_are_where_no_sigmoid_is_better(w):
    f = np.random.default_rng(0).normal(0, 2, 400)
    positive = np.random.default_rng(1).random(400) < expit(f)
    fold = np.arange(400) % 5
    for factor, corrected in ((1, False), (4, True), (0.2, True)):
        a, b, _ = fit_log_odds(factor * f, positive, fold, w)
        assert (a, b) == (-1, 0) if not corrected else -1.5 < factor * a < -0.6
    fold[::2] = -1  # without values
    assert fit_log_odds(np.where(fold < 0, np.nan, 4 * f), positive, fold, w)[0] > -0.5


def test_the_decoder_is_the_one_with_the_smaller_loss_of_points_held_out(wine):
    x, y = wine
    sure, plain = GaussianNB(), make_pipeline(StandardScaler(), LogisticRegression())
    for estimator, decoder in (sure, "learned"), (plain, "least-squares"):
        model = MultiClassFromBinary("ovr", estimator=estimator).fit(x, y)
        assert model.decoder_ == decoder
        same = clone(model).set_params(decoder=decoder).fit(x, y)
        assert np.array_equal(same.predict_proba(x), model.predict_proba(x))
    head = "# decoder: least-squares\n"
    assert (
        MultiClassFromBinary(head + '"" 0 / 1 2; "" 1 / 0 2; "" 2 / 0 1; {0 1 2}', estimator=sure)
        .fit(x, y)
        .decoder_
        == "least-squares"
    )


def test_weights_reach_the_last_step_of_a_pipeline(wine):
    x, y = wine
    plain = make_pipeline(StandardScaler(), LogisticRegression())
    w = np.where(y == 1, 3.0, 1.0)
    model = MultiClassFromBinary("ovr", estimator=plain, calibrated=False).fit(x, y, w)
    sides = model.configuration_.tree.sides()[0]
    own = clone(plain).fit(x, np.isin(y, sides[1]).astype(int), logisticregression__sample_weight=w)
    f = model.configuration_.machines.functions[0](x)
    np.testing.assert_allclose(expit(f), own.predict_proba(x)[:, 1], rtol=1e-12, atol=1e-9)


def test_missing_values_are_for_estimators_that_take_them(wine):
    x, y = wine
    x = x.copy()
    x[::5, 2] = np.nan
    model = MultiClassFromBinary("ovo", estimator=HistGradientBoostingClassifier(max_iter=20))
    assert model.fit(x[::2], y[::2]).score(x[1::2], y[1::2]) > 0.9
    assert model.__sklearn_tags__().input_tags.allow_nan
    assert not MultiClassFromBinary(estimator=GaussianNB()).__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        MultiClassFromBinary(estimator=GaussianNB()).fit(x, y)


def test_random_states_that_are_open_follow_that_of_the_estimator(wine):
    x, y = wine

    def probabilities(seed, **settings):
        return (
            MultiClassFromBinary(
                estimator=ExtraTreesClassifier(5, **settings), random_state=seed, calibrated=False
            )
            .fit(x[::2], y[::2])
            .predict_proba(x)
        )

    assert np.array_equal(probabilities(1), probabilities(1))
    assert not np.array_equal(probabilities(1), probabilities(2))
    assert np.array_equal(probabilities(1, random_state=7), probabilities(2, random_state=7))


def test_members_of_an_ensemble_have_their_own_estimators_or_seeds(wine):
    x, y = wine
    pairs = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'
    control = f"{pairs} {pairs}"
    trees = MultiClassFromBinary(control, estimator=ExtraTreesClassifier(3), calibrated=False)
    first, *_, last = trees.fit(x, y).configuration_.machines.functions
    assert first.args[0].random_state == 1
    assert last.args[0].random_state == derived_seed(1, 1)
    assert not np.array_equal(first(x), last(x))
    both = clone(trees).set_params(estimator=[GaussianNB(), KNeighborsClassifier(3)]).fit(x, y)
    p = [
        clone(trees).set_params(control=pairs, estimator=one).fit(x, y).predict_proba(x)
        for one in both.estimator
    ]
    np.testing.assert_allclose(both.predict_proba(x), np.mean(p, axis=0), rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match="expected 1 or 2, the number of members, found 3"):
        clone(trees).set_params(estimator=[GaussianNB()] * 3).fit(x, y)
    with pytest.raises(ValueError, match="expected one, as the control has no members, found 3"):
        clone(trees).set_params(control="one-vs-one", estimator=[GaussianNB()] * 3).fit(x, y)


def test_copies_threads_and_searches(wine):
    x, y = wine
    model = MultiClassFromBinary("ovo", estimator=SCALED_SVC).fit(x, y)
    p = model.predict_proba(x)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(x), p)
    assert np.array_equal(clone(model).set_params(n_jobs=2).fit(x, y).predict_proba(x), p)
    assert model.predict_set(x, coverage=0.9).shape == (len(x), 3)
    plain = clone(model).set_params(calibrated=False)
    search = GridSearchCV(plain, {"estimator__svc__C": [0.001, 10]}, cv=3).fit(x, y)
    assert search.best_params_ == {"estimator__svc__C": 10}


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"estimator": LinearRegression()}, "expected a classifier"),
        ({"estimator": "svc"}, "expected a classifier"),
        ({"estimator": SVC(), "C": 1.0}, "C is for the learners of agfmc"),
        ({"estimator": SVC(), "options": "-c 1"}, "options is for the learners of agfmc"),
        ({"estimator": SVC(), "platt": "loo"}, "not for an estimator"),
        (
            {"estimator": SVC(), "control": '"-c 1" 0 / 1; "" 0 1 / 2; {0 1 2}'},
            "an estimator has its own parameters",
        ),
        (
            {"estimator": SVC(), "control": "best-tree"},
            "there is no scheme best-tree any more: empirical ",
        ),
    ],
)
def test_what_does_not_go_together(settings, message, wine):
    with pytest.raises(ValueError, match=message):
        MultiClassFromBinary(**settings).fit(*wine)


def test_what_an_estimator_cannot_do(wine, tmp_path):
    model = MultiClassFromBinary(estimator=KNeighborsClassifier()).fit(*wine)
    with pytest.raises(ValueError, match="joblib or skops"):
        model.save(tmp_path / "model.mbm")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="GridSearchCV"):
        model.tune(*wine)
    with pytest.raises(ValueError, match="KNeighborsClassifier takes no weights"):
        model.fit(*wine, sample_weight=np.full(len(wine[1]), 2.0))


@pytest.mark.parametrize(
    "given, same",
    [
        ({"control": "ovr"}, {"control": "one-vs-rest"}),
        ({"control": "ovo", "kernel": "poly"}, {"kernel": "polynomial"}),
        ({"gamma": "auto"}, {"gamma": 1 / 13}),
        ({"gamma": "scale"}, {"gamma": None}),
        ({"gamma": "scale", "normalise": True}, {"gamma": 1 / 13, "normalise": True}),
    ],
)
def test_conventions_of_scikit_learn(given, same, wine):
    x, y = (part[::3] for part in wine)
    if "gamma" in same and same["gamma"] is None:
        same = {"gamma": float(1 / (13 * x.var()))}
    first, second = (
        MultiClassFromBinary(calibrated=False, **{"normalise": False, **one}).fit(x, y)
        for one in (given, same)
    )
    assert np.array_equal(first.predict_proba(x), second.predict_proba(x))
    assert np.array_equal(first.predict_log_proba(x), np.log(first.predict_proba(x)))
    with pytest.raises(ValueError, match="`gamma`: expected 'scale', 'auto' or a number"):
        MultiClassFromBinary(gamma="scaled").fit(x, y)


@pytest.mark.long
def test_checks_of_scikit_learn(failed_checks):
    assert failed_checks(MultiClassFromBinary(estimator=GaussianNB())) == {}
