"""The estimator's calibrated answers: probabilities, points without an answer, sets."""

import re
import pickle
from copy import deepcopy
from functools import cache

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss

from agfmc.calibration.thresholds import error_threshold
from agfmc.core.errors import AgfmcWarning
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.calibration.types import CalibrationPoints
from own_warnings import no_own_warnings, own_warnings, texts_of

NAMES = np.array(["birch", "elm", "oak", "pine"])


def points(n, seed):
    """Four classes that overlap, in the corners of a square."""
    generator = np.random.default_rng(seed)
    y = generator.integers(0, 4, n)
    x = generator.normal(size=(n, 4))
    x[:, 0] += 2.8 * (y & 1)
    x[:, 1] += 2.8 * (y >> 1)
    return x, NAMES[y]


X, Y = points(400, 1)
OTHER_X, OTHER_Y = points(500, 2)
TEST_X, TEST_Y = points(4000, 3)
ROWS = np.arange(len(TEST_Y))
TRUTH = np.searchsorted(NAMES, TEST_Y)
# classes as a file numbers them in another order, so that columns must be sorted back
CONTROL = (
    "# class 3: birch\n# class 0: oak\n# class 2: elm\n# class 7: pine\n"
    '"" 0 / 1 2 3; "" 1 / 0 2 3; "" 2 / 0 1 3; "" 3 / 0 1 2; {7 3 0 2}'
)


@cache
def stored(control, settings):
    return MultiClassFromBinary(control, C=4, gamma=0.05, **dict(settings)).fit(X, Y)


def fitted(control="one-vs-rest", **settings):
    return deepcopy(stored(control, tuple(settings.items())))


def points_kept(model):
    return model.configuration_.calibration.decoders[model.decoder_].points


def test_probabilities_are_calibrated_by_default():
    own, mapped = fitted(calibrated=False), fitted()
    assert own.configuration_.calibration is None
    p = mapped.predict_proba(TEST_X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert log_loss(TEST_Y, p) < log_loss(TEST_Y, own.predict_proba(TEST_X)) - 0.005
    own.calibrate(OTHER_X, OTHER_Y, map="temperature")
    assert log_loss(TEST_Y, own.predict_proba(TEST_X)) == pytest.approx(
        log_loss(TEST_Y, p), abs=0.02
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("control", ["one-vs-one", CONTROL, "tree"])
@pytest.mark.parametrize("apart", [False, True])
def test_sets_by_definition(control, apart):
    model = fitted(control, decoder="full" if control == "tree" else None)
    if apart:
        model.calibrate(OTHER_X, OTHER_Y)
    kept = points_kept(model)
    assert len(kept.label) == (500 if apart else 400)
    p = model.predict_proba(TEST_X)
    found = model.predict_set(TEST_X, coverage=0.9, allow_empty=True)
    assert found.shape == (4000, 4) and found.dtype == bool
    worst = np.sort(1 - kept.p_true)[(451 if apart else 361) - 1]  # of 501 * .9, 401 * .9
    np.testing.assert_array_equal(found, 1 - p <= worst + 1e-12)
    assert abs(found[ROWS, TRUTH].mean() - 0.9) < 0.04
    filled = found.copy()
    empty = ~found.any(axis=1)
    filled[empty, p[empty].argmax(axis=1)] = True
    np.testing.assert_array_equal(model.predict_set(TEST_X, coverage=0.9), filled)
    larger = model.predict_set(TEST_X, coverage=0.99)
    assert (larger >= found).all() and larger[ROWS, TRUTH].mean() > 0.97
    by_class = model.predict_set(TEST_X, coverage=0.9, by_class=True)
    for j in range(4):
        assert abs(by_class[ROWS, TRUTH][TRUTH == j].mean() - 0.9) < 0.1
    sums = np.cumsum(-np.sort(-p, axis=1), axis=1)
    np.testing.assert_array_equal(
        model.predict_set(TEST_X, coverage=0.9, score="aps", allow_empty=True).any(axis=1),
        sums[:, 0] <= np.sort(kept.cumulative)[(451 if apart else 361) - 1] + 1e-12,
    )


def test_points_kept_apart_are_answered_by_the_map_of_training():
    model = fitted("one-vs-one")
    before = model.predict_proba(TEST_X)
    p = model.predict_proba(OTHER_X)
    model.calibrate(OTHER_X, OTHER_Y)
    np.testing.assert_array_equal(model.predict_proba(TEST_X), before)
    kept = points_kept(model)
    assert isinstance(kept, CalibrationPoints)
    truth = np.searchsorted(NAMES, OTHER_Y)
    np.testing.assert_allclose(kept.p_true, p[np.arange(500), truth], rtol=1e-12)
    np.testing.assert_array_equal(kept.right, model.predict(OTHER_X) == OTHER_Y)
    np.testing.assert_array_equal(kept.label, truth)
    assert "500 points" in model.configuration_.calibration.source


@pytest.mark.few(1)
@pytest.mark.parametrize("control", ["one-vs-one", "tree"])
def test_points_without_an_answer(control):
    always = fitted(control).predict(TEST_X)
    model = fitted(control, reject=0.7)
    found = model.predict(TEST_X)
    assert 0 < np.mean(found == "") < 0.6
    np.testing.assert_array_equal(found[found != ""], always[found != ""])
    assert np.mean(found[found != ""] == TEST_Y[found != ""]) > np.mean(always == TEST_Y) + 0.02
    assert model.score(TEST_X, TEST_Y) == np.mean(found == TEST_Y)
    if control == "one-vs-one":
        np.testing.assert_array_equal(found == "", model.predict_proba(TEST_X).max(axis=1) < 0.7)
    bounded = fitted(control, max_error=0.15, confidence=0.9)
    kept = points_kept(bounded)
    wanted = error_threshold(kept.p_largest, kept.right, 0.15, 0.9)[0]
    np.testing.assert_array_equal(
        bounded.predict(TEST_X), fitted(control, reject=wanted).predict(TEST_X)
    )
    answered = bounded.predict(TEST_X) != ""
    assert answered.mean() > 0.2 and np.mean(always[answered] != TEST_Y[answered]) < 0.17
    bounded.calibrate(OTHER_X, OTHER_Y)  # the threshold follows the points
    kept = points_kept(bounded)
    assert (
        bounded._classifier.threshold == error_threshold(kept.p_largest, kept.right, 0.15, 0.9)[0]
    )


@pytest.mark.parametrize(
    "classes, given, expected",
    [
        ([5, 8], None, -1),
        ([-1, 1], 0, 0),
        (["no", "yes"], None, ""),
        (["no", "yes"], "?", "?"),
        ([1.0, 2.0], None, -1),
        ([1.0, 2.0], 0.5, 0.5),
    ],
)
def test_what_stands_for_no_answer(classes, given, expected):
    x, y = X[:120], np.array(classes)[np.searchsorted(NAMES, Y[:120]) & 1]
    model = MultiClassFromBinary(reject=0.9, reject_label=given).fit(x, y)
    found = model.predict(TEST_X)
    answered = np.isin(found, classes)
    assert 0 < answered.mean() < 1
    np.testing.assert_array_equal(np.unique(found[~answered]), [expected])
    assert not model.set_params(reject=None).fit(x, y).predict(TEST_X).tolist().count(expected)


def test_parameters_that_are_set_later_wait():
    """For fit or calibrate, also through a pickle."""
    model = fitted("one-vs-one", reject=0.8)
    found = model.predict(TEST_X)
    for changed in ({"reject": None}, {"reject": 0.9}, {"reject": None, "max_error": 0.15}):
        model.set_params(**changed)
        for one in (model, pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(one.predict(TEST_X), found)
    assert (model.calibrate(OTHER_X, OTHER_Y).predict(TEST_X) != found).any()
    kept = points_kept(model)
    assert model._classifier.threshold == error_threshold(kept.p_largest, kept.right, 0.15)[0]


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "settings, reason",
    [
        ({"max_error": 0.001}, "cannot be proved"),
        ({"max_error": 1e-9, "C": 0.1}, "cannot be proved"),
        ({"max_error": 0.1, "calibrated": False}, "no calibration points"),
    ],
)
def test_every_point_is_rejected_where_nothing_is_proved(settings, reason):
    model = MultiClassFromBinary(**{"C": 4, "gamma": 0.05, **settings})
    with own_warnings() as caught:
        model.fit(X, Y)
    (text,) = texts_of(caught)
    assert re.search(reason, text)
    with no_own_warnings():  # it says so once
        assert (model.predict(TEST_X) == "").all()
    with pytest.warns(AgfmcWarning, match="every point is rejected: .*from 10 calibration points"):
        model.set_params(max_error=0.1).calibrate(OTHER_X[:10], OTHER_Y[:10])
    model.calibrate(OTHER_X, OTHER_Y)
    assert 0.05 < np.mean(model.predict(TEST_X) != "") < 1


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "settings, message",
    [
        ({"max_error": 2}, "between 0 and 1"),
        ({"max_error": 0.1, "confidence": 1}, "between 0 and 1"),
        ({"max_error": 0.1, "reject": 0.5}, "exclude each other"),
        ({"reject": 0.5, "decoder": "vote"}, "gives probabilities"),
        ({"max_error": 0.1, "decoder": "vote"}, "the probabilities of all classes"),
        ({"reject": 0.5, "reject_label": "elm"}, "'elm' is one of the classes"),
    ],
)
def test_wrong_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        fitted(**settings)


@pytest.mark.long
def test_wrong_calls():
    model = fitted("one-vs-one")
    for call, message in (
        (lambda: model.predict_set(X, coverage=0), "coverage"),
        (lambda: model.predict_set(X, coverage=1.0), "coverage"),
        (lambda: model.predict_set(X, coverage=0.9, score="best"), "lac, aps"),
        (lambda: model.calibrate(X, np.where(Y == "elm", "ash", Y)), "class .*ash"),
        (lambda: model.calibrate(X, Y, map="sigmoid"), "temperature"),
        (lambda: model.calibrate(X[:, :2], Y), "2 features"),
        (lambda: fitted(calibrated=False).predict_set(X), r"calibrate\(X, y\)"),
        (lambda: fitted(decoder="vote").calibrate(X, Y), "no probabilities"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    for call in (
        lambda: MultiClassFromBinary().predict_set(X),
        lambda: MultiClassFromBinary().calibrate(X, Y),
    ):
        with pytest.raises(NotFittedError):
            call()
    assert not hasattr(fitted("tree"), "predict_set")
    assert fitted("one-vs-one", decoder="zadrozny").predict_set(TEST_X).any()
    with pytest.warns(AgfmcWarning, match="needs 999 calibration points"):
        assert model.predict_set(TEST_X, coverage=0.999).all()


@pytest.mark.long
@pytest.mark.parametrize("control", ["one-vs-rest", "one-vs-one", CONTROL])
def test_learned_decoder(control):
    """It is fitted because it is wanted; its sets come from points by fits without them."""
    model = fitted(control, decoder="learned")
    p = model.predict_proba(TEST_X)
    assert log_loss(TEST_Y, p) < log_loss(TEST_Y, fitted(control).predict_proba(TEST_X)) + 0.02
    sets = model.predict_set(TEST_X, coverage=0.9)
    assert 0.87 < sets[ROWS, TRUTH].mean() < 0.94
    with pytest.raises(ValueError, match="has no learned decoder"):
        fitted(control, decoder="learned", calibrated=False)
