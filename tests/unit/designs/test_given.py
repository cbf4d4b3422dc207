"""Controls of Python programs: names, text, files, trees, matrices and functions of these."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import agfmc
from agfmc.control.write import format_tree
from agfmc.designs.given import given_control

MATRIX = [[-1, 1, 0], [-1, 0, 1], [0, -1, 1]]
PAIRS = agfmc.design("one-vs-one", [2, 5, 9])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([2, 5, 9], 20)
    return rng.normal(size=(60, 2)) + y[:, None], y


def test_all_ways_to_say_the_same(tmp_path):
    path = tmp_path / "own.mbt"
    path.write_text(format_tree(PAIRS))
    for control in (
        MATRIX,
        np.array(MATRIX, dtype=float),
        csr_array(MATRIX),
        lambda k: MATRIX,
        lambda k: PAIRS,
        PAIRS,
        format_tree(PAIRS),
        path,
    ):
        assert format_tree(agfmc.design(control, [2, 5, 9])) == format_tree(PAIRS)
    assert given_control("ovo", [2, 5, 9]) == "ovo"
    assert given_control(lambda k: f"random rows={k}", [2, 5]) == "random rows=2"


@pytest.mark.parametrize(
    "control, told",
    [
        (np.eye(3), "row 1 of the coding matrix has one side"),
        ([[-1, 1]], "has 2 columns: expected one for each of the 3 classes"),
        ([[-1, 1], [1, -1], [1, 1]], "its transpose has, as code_book_"),
        ([[-1, 1, 2]], "has 2 in row 1, column 3"),
        ([[-1, 1, 0]], "column 3 of the coding matrix is 0"),
        ([[-1, 1, 1], [1, -1]], "rows of the coding matrix differ in length"),
        ([["a", "b", "c"]], "row of numbers for each binary classifier"),
        (np.ones((2, 2, 2)), r"array of the shape \(2, 2, 2\)"),
        (2.5, "expected the name of a scheme"),
        (lambda k: None, "expected the name of a scheme"),
    ],
)
def test_what_is_no_control_is_refused(control, told):
    with pytest.raises(agfmc.UsageError, match=told):
        given_control(control, range(3))


def test_a_file_name_that_is_no_path():
    with pytest.raises(agfmc.UsageError, match=r"a control file is given as a pathlib\.Path"):
        agfmc.design("own.mbt", range(3))


def test_classes_that_the_data_lack_are_named(data):
    x, y = data
    words = np.array(["Adelie", "Chinstrap", "Gentoo"])[np.searchsorted([2, 5, 9], y)]
    for control, told in (
        ('"" { Gentoo "" { Adelie Chinstrup } }', "class 3 'Chinstrup' has no samples in the data"),
        ('"" { Gentoo Adelie }', "hold class 1 'Chinstrap', which the control file does not name"),
    ):
        with pytest.raises(agfmc.ControlError, match=told):
            agfmc.train(control, x, words)


def test_classes_that_nothing_tells_apart_are_warned_of():
    with pytest.warns(
        agfmc.AgfmcWarning, match="columns 1 and 3 of the coding matrix are the same"
    ):
        given_control([[-1, 1, -1], [1, -1, 1]], range(3))


def Softmax_of_sums(r, code):
    scores = np.exp(r @ code)
    return scores / scores.sum(axis=1, keepdims=True)


def test_a_function_decodes_and_is_calibrated(data, tmp_path):
    x, y = data
    model = agfmc.train(MATRIX, x, y, decoders=[Softmax_of_sums])
    agfmc.save(str(tmp_path / "own.mbm"), model)
    model = agfmc.load(str(tmp_path / "own.mbm"))
    assert "own:softmax-of-sums" in model.calibration.decoders
    own = agfmc.Classifier(model, Softmax_of_sums)
    r = agfmc.Classifier(model, agfmc.Decoding("binary")).classify(x).columns
    uncalibrated = agfmc.Classifier(model, agfmc.Decoding(Softmax_of_sums, calibrated=False))
    np.testing.assert_allclose(
        uncalibrated.probabilities(x), Softmax_of_sums(r, np.array(MATRIX)), rtol=1e-12
    )
    with_map = agfmc.scores(y, own.classify(x).classes, own.probabilities(x))["log_loss"]
    without = agfmc.scores(y, own.classify(x).classes, uncalibrated.probabilities(x))["log_loss"]
    assert with_map < without - 0.1


def test_a_function_that_gives_votes(data):
    def votes(r, code):
        return np.sign(r) @ code

    votes.gives = "votes"
    x, y = data
    model = agfmc.train(MATRIX, x, y)
    np.testing.assert_array_equal(
        agfmc.Classifier(model, votes).classify(x).classes,
        agfmc.Classifier(model, "vote").classify(x).classes,
    )


@pytest.mark.parametrize(
    "function, told",
    [
        (lambda r, code: r @ code, 'its attribute gives = "estimates" or "votes"'),
        (lambda r, code: r[:, :2], r"array of the shape \(60, 2\) for 60 points and 3 classes"),
        (lambda r, code: np.full((len(r), 3), np.nan), "NaN or infinite"),
    ],
)
def test_what_a_function_gives_is_checked(data, function, told):
    x, y = data
    model = agfmc.train(MATRIX, x, y)
    with pytest.warns(agfmc.AgfmcWarning), pytest.raises(agfmc.DataError, match=told):
        agfmc.Classifier(model, function).classify(x)


def test_the_estimator_takes_them(data):
    estimators = pytest.importorskip("agfmc.estimators")
    x, y = data
    model = estimators.MultiClassFromBinary(MATRIX, decoder=Softmax_of_sums).fit(x, y)
    assert model.decoder_ is Softmax_of_sums and model.score(x, y) > 0.9
    plain = estimators.MultiClassFromBinary("one-vs-one").fit(x, y)
    same = estimators.MultiClassFromBinary(lambda k: MATRIX).fit(x, y)
    np.testing.assert_array_equal(plain.predict_proba(x), same.predict_proba(x))
