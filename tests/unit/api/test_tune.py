"""The estimator's search: its parameters are those of the command's best options."""

import json
import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone

from agfmc.control.write import format_tree
from agfmc.api.estimator import MultiClassFromBinary
from agfmc.api.estimator import flat_parameters, learner_of
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.data.reading import read_training
from agfmc.learners.protocol import parse_options
from agfmc.data.types import InputFormat

SMALL = SearchSpace(log2c=Axis(0, 4, 4), log2g=Axis(-3, -1, 2), refine=0)


def points(labels=(0, 1, 2), n=90):
    codes = np.arange(n) % len(labels)
    x = np.random.default_rng(0).normal(size=(n, 4)) + 1.5 * np.eye(len(labels), 4)[codes]
    return x, np.array(labels)[codes]


@pytest.mark.long
def test_the_parameters_found_are_those_of_the_fitted_clone():
    x, y = points()
    model = MultiClassFromBinary("one-vs-rest", tol=0.01, options="-h 0")
    before = model.get_params()
    tuned, result = model.tune(x, y, by="accuracy", search="full", space=SMALL)
    best = result["points"][result["best"]]
    assert best["score"] == max(point["score"] for point in result["points"])
    assert tuned.gamma == 2.0 ** best["log2g"] and tuned.C == 2.0 ** best["log2c"]
    assert model.get_params() == before and not hasattr(model, "classes_")
    assert learner_of(tuned).checked() == parse_options(best["options"])
    assert {"kernel", "gamma", "C"} == result["params"].keys()
    again = clone(model).set_params(**result["params"])
    assert again.get_params() == tuned.get_params() == clone(tuned).get_params()
    p = tuned.predict_proba(x)
    np.testing.assert_array_equal(again.fit(x, y).predict_proba(x), p)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tuned)).predict_proba(x), p)


@pytest.fixture(scope="module")
def numbered():
    """The result of a search with the classes 0, 1 and 2."""
    return MultiClassFromBinary(normalise=True).tune(*points(), search="full", space=SMALL)[1]


@pytest.mark.long
@pytest.mark.parametrize("labels", [("a", "b", "c"), (-5, 0, 7), (1.0, 2.0, 3.0)])
def test_classes_of_any_kind(labels, numbered):
    model, found = MultiClassFromBinary(normalise=True).tune(
        *points(labels), search="full", space=SMALL
    )
    assert found["params"] == numbered["params"]
    # folds, where leaving out is in doubt, depend on the numbers of the classes
    assert [point["options"] for point in found["points"]] == [
        point["options"] for point in numbered["points"]
    ]
    assert [point["score"] for point in found["points"]] == pytest.approx(
        [point["score"] for point in numbered["points"]], rel=0.05
    )
    assert model.classes_.tolist() == list(labels)
    assert set(model.predict(points()[0])) == set(labels)


@pytest.mark.long
def test_it_is_the_search_of_the_command(tmp_path, run):
    x, y = points()
    lines = [
        " ".join([str(label), *(f"{i + 1}:{value!r}" for i, value in enumerate(row))])
        for label, row in zip(y, x.tolist())
    ]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    run(
        "tune_m",
        "--no-state",
        "-n",
        "-M",
        "--space",
        "C=0:4:4 gamma=-3:-1:2",
        "--refine",
        "0",
        "--report",
        tmp_path / "search.json",
        "one-vs-one",
        tmp_path / "data.svm",
    )
    result = json.loads((tmp_path / "search.json").read_text())
    data = read_training(tmp_path / "data.svm", InputFormat("svm"))
    model = MultiClassFromBinary(normalise=True, gamma=None)  # as commands have it
    _, own = model.tune(data.x, data.y, space=SMALL)
    assert own["points"] == result["points"] and own["best"] == result["best"]


def test_options_of_nodes_stand_in_the_control():
    x, y = points(("a", "b", "c"))
    model = MultiClassFromBinary('"" K {0 1 2}', calibrated=False)
    tuned, result = model.tune(x, y, by="accuracy")
    assert result["params"].keys() == {"control"}
    best = result["points"][result["best"]]["options"]
    assert best.startswith("-k ") and f'"{best}" K' in format_tree(tuned.control)
    np.testing.assert_array_equal(clone(tuned).fit(x, y).predict(x), tuned.predict(x))


@pytest.mark.parametrize(
    "learner, text",
    [
        ("svm", "-g 0.03125 -c 11.3"),
        ("svm", "-t 1 -d 3 -g 0.0884 -r 1 -c 2 -e 0.01 -h 0"),
        ("svm", "-t 0 -c 0.5 -m 200"),
        ("svm", "-c 1"),
        ("nystrom", "learner=nystrom -g 0.125 -m 30 -l auto"),
        ("linear", "learner=linear -c 4"),
        ("logistic", "learner=logistic -c 32"),
    ],
)
def test_options_and_parameters_mean_the_same(learner, text):
    model = MultiClassFromBinary(learner=learner, C=77).set_params(
        **flat_parameters(parse_options(text))
    )
    assert learner_of(model).checked() == parse_options(text)
    assert model.learner == learner and clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    "settings, arguments, message",
    [
        ({}, {"by": "beauty"}, "by: expected"),
        ({"control": "nothing"}, {}, "no scheme"),
        ({"options": "-s 1"}, {}, "nu-SVC"),
        ({"platt": "x"}, {}, "platt"),
        ({}, {"time_limit": 0}, "time limit"),
        ({"decoder": "vote"}, {}, "no log loss"),
        ({}, {"space": "nu=3"}, "space: expected NAME=VALUES, a name of C, gamma"),
        ({}, {"space": 3}, "space: expected an agfmc.SearchSpace"),
    ],
)
def test_what_is_refused_is_a_value_error(settings, arguments, message):
    with pytest.raises(ValueError, match=message):
        MultiClassFromBinary(**settings).tune(*points(), **{"space": SMALL, **arguments})


def test_data_are_checked_as_those_of_fit():
    x, y = points()
    with pytest.raises(ValueError, match="1 class"):
        MultiClassFromBinary().tune(x, y * 0)
    with pytest.raises(ValueError, match="NaN"):
        MultiClassFromBinary().tune(np.where(x > 2, np.nan, x), y)
    with pytest.raises(ValueError, match="training part"):  # a class of two samples
        MultiClassFromBinary().tune(x, np.where(np.arange(90) < 2, 5, y * (np.arange(90) > 1)))
