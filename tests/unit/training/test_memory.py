"""Training and classification in memory, without scikit-learn."""

import pickle
from contextlib import nullcontext

import numpy as np
import pytest

from agfmc.core.errors import AgfmcError, AgfmcWarning, ControlError, DataError, UsageError
from agfmc.training import driver, in_memory
from agfmc.models.files import load, save
from agfmc.prediction.classifier import Classifier
from agfmc.designs.design import design
from agfmc.training.fit import TrainingSettings
from agfmc.training.in_memory import train_configuration
from agfmc.data.normalisation import fit_normalisation


def train(*arguments, **more):
    """The trained configuration without its calibration."""
    return train_configuration(*arguments, **more)[0]


def points(n=60):
    rng = np.random.default_rng(2)
    y = np.arange(n) % 3 * 2
    return rng.normal(size=(n, 4)) + y[:, None] * [1, -1, 0, 0], y


def probabilities(configuration, x, workers=1):
    return Classifier(configuration).classify(x, workers)


@pytest.mark.parametrize("scheme", ["one-vs-one", "orthogonal", "tree"])
def test_trained_saved_and_read_again(tmp_path, scheme):
    x, y = points()
    with pytest.warns(UserWarning, match="orthogonal") if scheme == "orthogonal" else nullcontext():
        tree = design(scheme, [0, 2, 4])
    steps = []
    configuration = train(
        tree,
        x,
        y,
        TrainingSettings("-t 0", scale=True, platt="cv"),
        progress=lambda *step: steps.append(step),
    )
    assert steps[-1] == (6 * len(tree.rows), 6 * len(tree.rows))
    answers = probabilities(configuration, x)
    assert (answers.classes == y).mean() > 0.8
    save(tmp_path / "m.mbm", configuration)
    for other in (load(tmp_path / "m.mbm"), pickle.loads(pickle.dumps(configuration))):
        np.testing.assert_array_equal(probabilities(other, x).confidence, answers.confidence)


def test_a_given_normalisation():
    x, y = points()
    tree = design("one-vs-one", [0, 2, 4])
    given = fit_normalisation(x)
    one = train(tree, x, y, TrainingSettings(normalisation=given))
    two = train(tree, x, y, TrainingSettings(scale=True))
    assert one.provenances == two.provenances and one.provenances[0].normalised is not None
    np.testing.assert_array_equal(one.machines.coef, two.machines.coef)


def test_classifiers_may_be_finished_in_any_order(monkeypatch):
    x, y = points()
    tree = design("one-vs-one", [0, 2, 4])
    one = train(tree, x, y)
    monkeypatch.setattr(
        in_memory, "train", lambda *args, **more: reversed(list(driver.train(*args, **more)))
    )
    two = train(tree, x, y)
    assert one.machines.rho.tobytes() == two.machines.rho.tobytes()


def test_many_points_are_cut_up():
    x, y = points()
    configuration = train(design("one-vs-one", [0, 2, 4]), x, y)
    many = np.random.default_rng(0).normal(size=(5000, 4))
    classifier = Classifier(configuration)
    assert classifier.rows < len(many)
    one, two = (classifier.classify(many, workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.columns, two.columns)
    np.testing.assert_array_equal(one.columns[4000:], classifier.classify(many[4000:]).columns)
    assert one.classes.shape == (5000,) and one.queried is None
    assert one.stops[0].points == 5000 and classifier.classify(many[:0]).classes.shape == (0,)


@pytest.mark.parametrize(
    "change, kind, message",
    [
        (lambda x, y: (x[:, 0], y), DataError, "x: expected an array .* shape .60,."),
        (lambda x, y: (x[:, :0], y), DataError, "table"),
        (lambda x, y: (x, y[1:]), DataError, "as many labels"),
        (lambda x, y: (x, y - 1), DataError, "y: .* whole numbers from 0"),
        (lambda x, y: (x, y + 0.5), DataError, "y: .* whole numbers from 0"),
        (lambda x, y: (np.where(x == x[3, 1], np.nan, x), y), DataError, "row 3"),
        (lambda x, y: (x, y + 2), ControlError, "class 0 has no samples"),
        (lambda x, y: (x, np.minimum(y, 2)), ControlError, "class 4"),
    ],
)
def test_data_that_do_not_fit(change, kind, message):
    with pytest.raises(kind, match=message):
        train(design("one-vs-one", [0, 2, 4]), *change(*points()))


def test_options_that_cannot_be():
    x, y = points()
    tree = design("one-vs-one", [0, 2, 4])
    with pytest.raises(UsageError, match="-c"):
        train(tree, x, y, TrainingSettings("-c x"))
    # the name of the classifier that LIBSVM refuses
    with pytest.raises(AgfmcError, match="'m-00'"), pytest.warns(AgfmcWarning):
        train(tree, x, np.where(np.arange(60) < 50, 0, y), TrainingSettings("-s 1 -n 0.99"))


def test_whole_numbers_are_points_too():
    x, y = points()
    x = np.rint(3 * x).astype(int)
    tree = design("one-vs-one", [0, 2, 4])
    one, two = (train(tree, part, y) for part in (x, x.astype(float)))
    np.testing.assert_array_equal(one.machines.coef, two.machines.coef)
