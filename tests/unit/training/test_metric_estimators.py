"""The estimator's learned metric: features that matter, clones, copies and searches over it."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from agfmc import Axis, MetricOptions, SearchSpace
from agfmc.data.types import Dataset
from agfmc.training.metric import fitted_normalisation, learned_rows
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.training.fit import TrainingSettings
from agfmc.designs.design import designed
from agfmc.training.in_memory import train_configuration

METRIC = MetricOptions(rounds=1, machine="-m 20")
SMALL = SearchSpace(log2c=Axis(0, 2, 2), log2g=Axis(-2, -2, 1), refine=0)


@pytest.fixture(scope="module")
def data():
    """Points of three classes, of whose four features two matter."""
    y = np.arange(90) % 3
    x = np.random.default_rng(0).normal(size=(90, 4))
    x[:, 0] += 3 * (y == 0)
    x[:, 2] += 3 * (y == 1)
    return x * [1, 5, 2, 1], y


def test_weights_copies_and_clones(data):
    x, y = data
    model = MultiClassFromBinary(metric=METRIC, random_state=5)
    for unlearned, error in (
        (model, NotFittedError),
        (MultiClassFromBinary(normalise=True).fit(x, y), AttributeError),
    ):
        assert not hasattr(unlearned, "feature_weights_")
        with pytest.raises(error):
            _ = unlearned.feature_weights_
    model.fit(x, y)
    made = fitted_normalisation(Dataset(x, y), metric=METRIC, seed=5)
    np.testing.assert_array_equal(model.feature_weights_, made.metric.weights)
    assert model.feature_weights_[[0, 2]].min() > model.feature_weights_[[1, 3]].max()
    np.testing.assert_array_equal(model.configuration_.normalisation.matrix, made.matrix)
    p = model.predict_proba(x)
    for other in (
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(x, y),
        MultiClassFromBinary(normalise=True, metric=METRIC, random_state=5, n_jobs=2).fit(x, y),
    ):
        np.testing.assert_array_equal(other.predict_proba(x), p)
        np.testing.assert_array_equal(other.feature_weights_, model.feature_weights_)
    assert clone(model).get_params() == model.get_params()
    projected = MultiClassFromBinary(n_components=2, metric=METRIC).fit(x, y)
    assert projected.configuration_.normalisation.matrix.shape == (4, 2)
    assert not hasattr(model.set_params(metric=None).fit(x, y), "feature_weights_")


@pytest.mark.parametrize("metric", ["best", 3, True, np.ones(4), "-m 3"])
def test_another_value(data, metric):
    with pytest.raises(ValueError, match="expected the metric 'learned', 'diagonal', None or an "):
        MultiClassFromBinary(metric=metric).fit(*data)


def test_rounds_are_searched(data):
    options = [None, *(MetricOptions(rounds, machine="-m 20") for rounds in (0, 1))]
    search = GridSearchCV(
        MultiClassFromBinary("one-vs-rest", normalise=True, calibrated=False),
        {"metric": options},
        cv=2,
        scoring="neg_log_loss",
    ).fit(*data)
    first, second, third = search.cv_results_["mean_test_score"]
    assert first == second != third


@pytest.mark.long
@pytest.mark.parametrize("control", ["one-vs-rest", "empirical"])
def test_a_search_is_on_the_learned_features(data, control, tmp_path):
    x, y = data
    model = MultiClassFromBinary(control, metric=METRIC)
    tuned, result = model.tune(x, y, search="full", space=SMALL)
    assert tuned.metric == METRIC and result["params"].keys() <= {"kernel", "gamma", "C"}
    again = model.set_params(**result["params"]).fit(x, y)
    for name, one in (("a", tuned), ("b", again)):
        one.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (
        result["points"]
        != MultiClassFromBinary(control, normalise=True).tune(x, y, search="full", space=SMALL)[1][
            "points"
        ]
    )


@pytest.mark.long
def test_a_search_hands_its_metric_on(data, monkeypatch):
    sizes, fit = [], TrainingSettings.fit_normalisation
    monkeypatch.setattr(
        TrainingSettings,
        "fit_normalisation",
        lambda self, x, y, weights=None: (
            sizes.extend([len(y)] * (self.metric is not None)) or fit(self, x, y, weights)
        ),
    )
    for control in ("one-vs-rest", "empirical"):  # a layout of the classes, and of the points
        MultiClassFromBinary(control, metric=METRIC, calibrated=False).tune(
            data[0][:45], data[1][:45], space=SMALL
        )
        assert sorted(sizes) == [36] * 5 + [45]
        sizes.clear()


def test_a_model_that_was_loaded(data, tmp_path):
    MultiClassFromBinary(metric=METRIC).fit(*data).save(tmp_path / "m")
    loaded = MultiClassFromBinary.load(tmp_path / "m")
    assert not hasattr(loaded, "feature_weights_")
    with pytest.raises(AttributeError, match="a metric was learned, but model files do not store"):
        _ = loaded.feature_weights_
    MultiClassFromBinary(normalise=True).fit(*data).save(tmp_path / "n")
    with pytest.raises(AttributeError, match="no metric was learned"):
        _ = MultiClassFromBinary.load(tmp_path / "n").feature_weights_


@pytest.mark.few(1)
@pytest.mark.parametrize("control, decoder", [("one-vs-one", None), ("empirical", "recursive")])
def test_calibration_points_had_no_part_in_it(data, control, decoder):
    x, y = data
    y = y[np.random.default_rng(1).permutation(90)]  # whose order tells which points they are
    apart = np.setdiff1d(np.arange(90), learned_rows(Dataset(np.empty((90, 4)), y), 1))
    assert 20 < len(apart) < 25
    for metric, rows in (
        (METRIC, apart),
        (None, np.arange(90)),
        (replace(METRIC, rounds=0), np.arange(90)),
    ):
        model = MultiClassFromBinary(
            control, decoder=decoder, normalise=True, metric=metric, C=0.1
        ).fit(x, y)
        np.testing.assert_array_equal(model._calibration().points.label, y[rows])
        settings = TrainingSettings("-c 0.1", scale=True, metric=metric)
        tree, settings = designed(control, Dataset(x, y), None, settings)
        held_out = train_configuration(tree, x, y, settings)[1]
        np.testing.assert_array_equal(held_out.rows, np.arange(90))
        if metric is METRIC:
            np.testing.assert_array_equal(np.flatnonzero(held_out.apart), apart)
        else:
            assert held_out.apart is None


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_as_scikit_learn_expects(failed_checks):
    assert failed_checks(MultiClassFromBinary("one-vs-rest", metric=METRIC, calibrated=False)) == {}
