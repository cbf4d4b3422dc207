"""The public names; numbers on command lines and in options."""

import doctest

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import agfmc
import agfmc.api.functions
from agfmc.cli.option_types import finite_number, whole_number
from agfmc.core.errors import AgfmcWarning, DataError, UsageError
from agfmc.experiments.search import Axis, SearchSpace
from agfmc.learners.neighbours import NeighbourOptions
from agfmc.data.types import Dataset
from agfmc.core.text import numeral
from agfmc.prediction.decision_values import MachineValues
from agfmc.training import fit
from agfmc.core.weights import Weights
from own_warnings import own_warnings, texts_of


@pytest.fixture(scope="module")
def data():
    y = np.arange(90) % 3 * 2
    return np.random.default_rng(0).normal(size=(90, 4)) + 2 * np.eye(5, 4)[y], y


def test_the_way_to_probabilities_of_a_tree(data):
    x, y = data
    joint = agfmc.joined(
        [agfmc.design("empirical", [0, 2, 4], x=x, y=y), agfmc.design("tree", [0, 2, 4])]
    )
    model = agfmc.train(joint, x, y, calibration=0)
    assert agfmc.Classifier(model).probabilities(x).shape == (90, 3)
    tree = agfmc.train("tree", x, y, calibration=0)
    with pytest.raises(UsageError, match="the decoder 'full' alone does"):
        agfmc.Classifier(tree).probabilities(x)
    assert agfmc.Classifier(tree, "full").probabilities(x).shape == (90, 3)
    with pytest.raises(UsageError, match="the decoder 'least-squares' alone does"):
        agfmc.Classifier(agfmc.train("one-vs-one", x, y, calibration=0), "vote").probabilities(x)
    with pytest.raises(UsageError, match="for trees recursive and full, for ensembles average and"):
        agfmc.Classifier(tree, "gemetric")


def test_a_session(data, tmp_path):
    x, y = data
    configuration = agfmc.train("one-vs-one", x, y, options="-c 5", normalise=True)
    classifier = agfmc.Classifier(configuration)
    p, answers = classifier.probabilities(x), classifier.classify(x, workers=2)
    assert p.shape == (90, 3) and classifier.classes.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(classifier.classes[p.argmax(axis=1)], answers.classes)
    scores = agfmc.scores(y, answers.classes, p)
    assert scores["accuracy"] == (answers.classes == y).mean() > 0.8
    more = agfmc.scores(y, answers.classes, p, top_accuracy=2, ordered=True, intervals=20)
    assert more["top_accuracy"] >= scores["accuracy"] and "top_accuracy" not in scores
    assert more["intervals"]["log_loss"][0] < scores["log_loss"]
    assert scores["brier_all"] > 0 and agfmc.scores(y, answers.classes)["brier_all"] is None
    configuration.save(str(tmp_path / "m.mbm"))
    again = agfmc.load(str(tmp_path / "m.mbm"))
    assert isinstance(again, agfmc.Configuration) and again.features == 4
    np.testing.assert_array_equal(agfmc.Classifier(again).probabilities(x), p)
    plain = agfmc.train(agfmc.design("one-vs-one", [0, 2, 4]), x, y, calibration=0)
    plain.export(str(tmp_path / "m.svm"), "svm")
    np.testing.assert_allclose(
        agfmc.Classifier(agfmc.load(tmp_path / "m.svm")).probabilities(x),
        agfmc.Classifier(plain).probabilities(x),
        atol=1e-12,
    )


def rows_of_a_table(folder, seed=2):
    """t.csv: a session's table of two features and three classes."""
    sizes = np.random.default_rng(seed).normal(size=60).round(2) + 5 * (np.arange(60) % 3)
    rows = [
        f"a{row},{size:.2f},{('red', 'blue', 'green')[row % 7 % 3]},k{row % 3}"
        for row, size in enumerate(sizes)
    ]
    path = folder / "t.csv"
    path.write_text("\n".join(["id,size,colour,kind", *rows, "a60,,red,k0"]) + "\n")
    return path


def test_a_session_with_a_table(tmp_path, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = rows_of_a_table(tmp_path)
    table = agfmc.read_table("t.csv", label="kind", ids="id", missing="median")
    assert isinstance(table, agfmc.Dataset) and table.x.shape == (61, 4)
    assert table.recipe.features == ("size", "colour=blue", "colour=green", "colour=red")
    # the options of the commands, which this session compares itself with
    model = agfmc.train("one-vs-one", table, normalise=True, learner=agfmc.SVM())
    model.save("m.mbm")
    again = agfmc.load("m.mbm")
    assert again.recipe == model.recipe == table.recipe
    assert again.tree.names == {0: "k0", 1: "k1", 2: "k2"}
    # the commands write the same file
    run("table2agf", "--label", "kind", "--id", "id", "-E", "median", "t.csv")
    run(
        "multi_borders",
        "-n",
        "-a",
        "n.std",
        "-",
        "t.csv",
        "m",
        "m.mbc",
        stdin=run("print_control", "-Q", "one-vs-one", "--label", "kind", "t.csv").out,
    )
    run("mbh2mbm", "-a", "n.std", "m.mbc", "other.mbm")
    assert (tmp_path / "other.mbm").read_bytes() == (tmp_path / "m.mbm").read_bytes()
    # other tables by the recipe, with and without the classes
    path.write_text("kind;z;colour;size\nk2;1;red;10,5\n".replace(",", "."))
    new = agfmc.read_table(path, again.recipe)
    assert (new.x.tolist(), new.y.tolist()) == ([[10.5, 0, 0, 1]], [2])
    assert agfmc.Classifier(again).classify(new.x).classes.tolist() == [2]
    path.write_text("colour|size\nred|10.5\nred|?\n")
    new = agfmc.read_table(path, again.recipe, delimiter="|")
    assert new.y is None and new.names == table.names
    assert new.x[:, 0].tolist() == [10.5, table.recipe.columns[0].fill]
    with pytest.raises(agfmc.DataError, match="no column 'kind'"):
        agfmc.read_table(path, again.recipe, label="kind")
    for refused in (
        lambda: agfmc.train("one-vs-one", table, table.y),
        lambda: agfmc.train("one-vs-one", new),
        lambda: agfmc.train("tree", table.x),
        lambda: agfmc.read_table(path, labels="x"),
        lambda: agfmc.read_table(path, missing="zero"),
    ):
        with pytest.raises((UsageError, agfmc.DataError)):
            refused()


@pytest.mark.long
def test_searches_take_tables(tmp_path):
    table = agfmc.read_table(
        rows_of_a_table(tmp_path),
        label="kind",
        ids=["id"],
        ignored="colour",
        missing="mean",
        classes=("k2", "k0", "k1"),
    )
    search = {"options": "learner=nystrom -m 20", "normalise": True}
    model, result = agfmc.tune("one-vs-rest", table, **search)
    assert model.recipe == table.recipe and model.tree.names == {0: "k2", 1: "k0", 2: "k1"}
    assert agfmc.tune("one-vs-rest", table.x, table.y, **search)[1] == result


def test_a_search(data):
    x, y = data
    settings = {
        "by": "accuracy",
        "normalise": True,
        "calibration": 0,
        "space": SearchSpace(log2c=Axis(0, 4, 4), log2g=Axis(-1, -1, 2), refine=0),
    }
    model, result = agfmc.tune("one-vs-rest", x, y, **settings)
    best = result["points"][result["best"]]
    assert best["score"] == max(point["score"] for point in result["points"])
    same = agfmc.train("one-vs-rest", x, y, options=best["options"], normalise=True, calibration=0)
    np.testing.assert_array_equal(
        agfmc.Classifier(model).probabilities(x), agfmc.Classifier(same).probabilities(x)
    )
    tree = agfmc.design("one-vs-rest", [0, 2, 4])
    again = agfmc.tune(tree, csr_matrix(x), y, **settings)[1]
    assert again == result
    with pytest.raises(agfmc.DataError, match="row 3"):
        agfmc.tune("tree", np.where(np.arange(90)[:, None] == 3, np.nan, x), y)
    with pytest.raises(agfmc.JobsFailed, match="time limit"):
        agfmc.tune("tree", x, y, time_limit=0)


@pytest.mark.long
def test_the_way_to_probabilities_reaches_the_search(monkeypatch):
    calls, original = [], fit.loo_values
    monkeypatch.setattr(
        fit, "loo_values", lambda *args, **more: calls.append(1) or original(*args, **more)
    )
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = (x[:, 0] > 0) + 2 * (x[:, 1] > 0)
    space = SearchSpace(log2c=Axis(0, 1, 1), log2g=Axis(0, 0, 1), refine=0)
    agfmc.tune("one-vs-rest", x, y, space=space, platt="cv")
    assert not calls
    agfmc.train("one-vs-rest", x, y)
    assert len(calls) == 4
    agfmc.tune("one-vs-rest", x, y, space=space)
    assert len(calls) > 8  # in the search and in the final training


@pytest.mark.long
def test_landmarks(data, tmp_path):
    x, y = data
    results = doctest.testmod(agfmc.api.functions)
    assert results.attempted >= 6 and not results.failed
    models = [
        agfmc.train(control, x, y, options="learner=nystrom -m 30", workers=workers)
        for control, workers in (("one-vs-rest", 1), ("one-vs-rest", 2), ("tree", 1))
    ]
    for model, name in zip(models, "abc"):
        model.save(tmp_path / name)
        assert len(model.machines.sv) == 30
        assert (agfmc.Classifier(model).classify(x).classes == y).mean() > 0.8
        again = agfmc.Classifier(agfmc.load(tmp_path / name), "least-squares").probabilities(x)
        np.testing.assert_array_equal(
            again, agfmc.Classifier(model, "least-squares").probabilities(x)
        )
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    with pytest.raises(agfmc.DataError, match="-m 91 is more"):
        agfmc.train("tree", x, y, options="learner=nystrom -m 91")


def test_what_is_refused(data):
    x, y = data
    tree = agfmc.train("tree", x, y, options="-t 0", calibration=0)
    assert agfmc.Classifier(tree).classify(x).columns is None
    assert agfmc.Classifier(tree, "full").probabilities(x).shape == (90, 3)
    for refused in (
        lambda: agfmc.Classifier(tree).probabilities(x),
        lambda: agfmc.Classifier(tree, "guess"),
        lambda: agfmc.scores(y, y, np.ones((90, 2))),
        lambda: agfmc.Decoding(tree="sideways"),
        lambda: agfmc.Decoding("vote", reject=0.5),
        lambda: agfmc.Decoding(trained_priors=[1, 1]),
    ):
        with pytest.raises(agfmc.UsageError):
            refused()
    p = np.full((90, 3), 1 / 3)
    p[4, 1] = np.nan
    with pytest.raises(agfmc.DataError, match="the probabilities of row 5"):
        agfmc.scores(y, y, p)
    p[4, 1] = 1.5
    with pytest.warns(agfmc.AgfmcWarning, match="go from 0 to 1.5"):
        agfmc.scores(y, y, p)


ODD = ["1_000", "1_0.5", "٣", "३.5", "²", "１２", "", " ", "a", "0x10", "--1"]


@pytest.mark.parametrize(
    "word, whole, value",
    [
        ("12", True, 12),
        ("-3", True, -3),
        ("+4", True, 4),
        ("007", True, 7),
        ("12", False, 12.0),
        ("-1e-3", False, -0.001),
        (".5", False, 0.5),
        ("5.", False, 5.0),
    ],
)
def test_numbers(word, whole, value):
    got = numeral(word, whole)
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("word", ODD)
def test_what_is_no_number(word, whole):
    with pytest.raises(ValueError):
        numeral(word, whole)


@pytest.mark.parametrize("word", ODD)
def test_options_of_commands(word):
    for kind in (whole_number(0), finite_number):
        with pytest.raises(Exception, match="expected a .*number, found"):
            kind(word)


@pytest.mark.parametrize("word", ["1_0", "٣", "１２"])
def test_training_options(word):
    from agfmc.learners.protocol import parse_options

    for parse, text in ((parse_options, f"-c {word}"), (NeighbourOptions.parse, f"-k {word}")):
        with pytest.raises(UsageError, match="expected a .*number, found"):
            parse(text)


@pytest.mark.long
@pytest.mark.parametrize("control, members", [("empirical", 1), ("ensemble", 3)])
def test_layouts_that_are_made_of_the_points(data, control, members):
    x, y = data
    options = "learner=nystrom -m 20"
    one, two = (
        agfmc.train(control, x, y, options=options, normalise=True, workers=workers)
        for workers in (1, 2)
    )
    assert len(one.tree.roots) == members and one.tree == two.tree
    model, result = agfmc.tune(
        control,
        x,
        y,
        options=options,
        search="full",
        space=SearchSpace(log2g=Axis(-2, -2, 1), refine=0),
    )
    assert model.tree.classes == one.tree.classes and result["complete"]


def test_points_have_one_normalisation(data):
    x, y = data
    given = agfmc.train("one-vs-rest", x, y, normalise=True, calibration=0).normalisation
    for control in ("one-vs-rest", "empirical"):
        for more in ({"normalise": True}, {"nsv": 2}):
            with pytest.raises(agfmc.UsageError, match="one normalisation"):
                agfmc.train(control, x, y, normalisation=given, **more)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"weight": "w"}, "is a feature of the model"),
        ({"missing": "mean"}, "missing: the recipe says what the columns are for"),
    ],
)
def test_options_that_tables_do_not_take(tmp_path, options, words):
    path = tmp_path / "t.csv"
    path.write_text("x,w,class\n1,2,a\n3,4,b\n")
    recipe = agfmc.read_table(path).recipe
    with pytest.raises(agfmc.AgfmcError, match=words):
        agfmc.read_table(path, recipe, **options)
    path.write_text("x,w,class\n1,2,\n")
    assert agfmc.read_table(path, recipe, labelled=False).y is None


# Weights


def weighted_points():
    rng = np.random.default_rng(4)
    y = np.arange(90) % 3
    return rng.normal(size=(90, 3)) + np.eye(3)[y], y, rng.integers(0, 4, 90)


def test_weights_of_training():
    x, y, w = weighted_points()
    options = {"options": "learner=nystrom -l 0.1", "calibration": 0}
    with pytest.warns(AgfmcWarning, match="of 90 samples have weight 0 and are left out"):
        model = agfmc.train("one-vs-rest", x, y, weight=w, **options)
    copies = agfmc.train("one-vs-rest", x.repeat(w, 0), y.repeat(w), **options)
    one, two = (MachineValues(each)(range(3), x)[0] for each in (model, copies))
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-9)
    data = Dataset(x, y, ("a", "b", "c"), weights=Weights(w.astype(float)))
    with pytest.warns(AgfmcWarning, match="weight 0"):
        same = agfmc.train("one-vs-rest", data, class_weight={"b": 3, 2: 1}, **options)
        other = agfmc.train("one-vs-rest", x, y, weight=np.where(y == 1, 3 * w, w), **options)
    np.testing.assert_array_equal(same.machines.coef, other.machines.coef)
    assert same.provenances[1].weights is not None
    with pytest.raises(UsageError, match="the data have weights"):
        agfmc.train("one-vs-rest", data, weight=w, **options)
    with pytest.raises(DataError, match="there is no class 'd'"):
        agfmc.train("one-vs-rest", x, y, class_weight={"d": 3}, **options)
    with pytest.raises(DataError, match=r"expected 90 numbers, .* of shape \(2,\)"):
        agfmc.train("one-vs-rest", x, y, weight=[1, 2], **options)


@pytest.mark.long
def test_weights_of_a_search():
    x, y, w = weighted_points()
    settings = {"options": "learner=nystrom -m 20"}
    tuned = [
        agfmc.tune("one-vs-rest", x, y, by="accuracy", **weights, **settings)[1]["points"]
        for weights in ({}, {"class_weight": {1: 4}}, {"weight": 1 + 3.0 * (y == 1)})
    ]
    assert tuned[1][0]["score"] == pytest.approx(tuned[2][0]["score"], rel=1e-9)
    assert tuned[0][0]["score"] != tuned[1][0]["score"]


def test_tuning_of_left_out_values_without_calibration():
    x = np.random.default_rng(0).normal(size=(60, 2))
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    model, result = agfmc.tune("one-vs-rest", x, y, options="learner=nystrom -m 20", calibration=0)
    assert model.calibration is None and "nystrom" in result["points"][result["best"]]["options"]


WORDS = np.array(["pine", "birch", "moss"])


@pytest.mark.few(2)
@pytest.mark.parametrize("words", [WORDS, WORDS.astype(object), WORDS.tolist()])
def test_classes_that_are_words_are_the_names(data, words):
    x, y = data
    y = y // 2
    given = [words[label] for label in y]
    model = agfmc.train(
        "one-vs-one",
        x,
        given if isinstance(words, list) else np.array(given),
        class_weight={"pine": 2.0},
        calibration=0,
    )
    assert dict(model.tree.names) == {0: "birch", 1: "moss", 2: "pine"}
    answers = agfmc.Classifier(model).classify(x).classes
    accuracy = agfmc.scores(np.unique(given, return_inverse=True)[1], answers)["accuracy"]
    names = ["birch", "moss", "pine"]
    assert accuracy == agfmc.scores(given, answers, labels=names)["accuracy"] > 0.8
    assert accuracy == agfmc.scores(given, np.array(names)[answers])["accuracy"]
    with pytest.raises(UsageError, match="labels: the class 'birch' is missing"):
        agfmc.scores(given, answers, labels=names[1:])


def test_numbers_that_cannot_be_labels_are_names(data):
    model = agfmc.train("one-vs-rest", data[0], data[1].astype(np.int64) * 2**40 - 2, calibration=0)
    assert dict(model.tree.names) == {0: "-2", 1: str(2**41 - 2), 2: str(2**42 - 2)}
    assert set(agfmc.Classifier(model).classify(data[0]).classes) == {0, 1, 2}


@pytest.mark.parametrize(
    "y, words",
    [
        (["a", 1, None] * 30, "y: expected an array of numbers"),
        (
            [0.5, 1] * 45,
            "y: expected words, "
            "or whole numbers from 0 to 2147483647, found float64 from 0.5 to 1.0",
        ),
        (["a ", "b"] * 45, "'a ' cannot be a name"),
        ([[0, 1]] * 90, "y: .*found shape"),
        (None, "y: expected an array of numbers of shape .n,., found NoneType"),
    ],
)
def test_classes_that_cannot_be_trained_with(data, y, words):
    with pytest.raises(DataError, match=words):
        agfmc.train("one-vs-one", data[0], y)


@pytest.mark.parametrize(
    "x, found",
    [
        (np.zeros(4), "shape \\(4,\\)"),
        (np.zeros((1, 2, 4)), "shape"),
        (5.0, "float"),
        (None, "NoneType"),
        ([[1, 2], [3]], "list"),
        ([["a", "b", "c", "d"]], "words"),
    ],
)
def test_points_of_another_shape(data, x, found):
    for normalise in (False, True):
        classifier = agfmc.Classifier(
            agfmc.train(
                "one-vs-one", *data, options="learner=logistic", normalise=normalise, calibration=0
            )
        )
        for method in (classifier.probabilities, classifier.classify, classifier):
            with pytest.raises(
                DataError, match=f"x: expected an array of numbers of shape .n, d., found {found}"
            ):
                method(x)


def test_arguments_of_scores_that_are_none(data):
    y = data[1]
    answers = agfmc.Classifier(agfmc.train("one-vs-one", *data, calibration=0)).classify(data[0])
    for words, *given in (
        ("classes: .*found Answers", y, answers),
        ("labels: expected the names", WORDS, y),
        ("classes: .*found NoneType", y, None),
        ("truth: .*found shape", [y], y),
        ("classes: expected 90, as many as in truth, found 5", y, y[:5]),
        ("probabilities: .*n, d.*found Answers", y, y, answers),
        ("labels: .*found words", y, y, None, WORDS),
    ):
        with pytest.raises((DataError, UsageError), match=words):
            agfmc.scores(*given)
    with pytest.raises(DataError, match="weights: .*found words"):
        agfmc.scores(y, y, weight=WORDS)


def test_warnings_name_the_line_that_called_the_package(tmp_path):
    (tmp_path / "t.csv").write_text(
        "x,word,class\n" + "".join(f"{row % 7},w{row},{row % 2}\n" for row in range(30))
    )
    with own_warnings() as caught:
        agfmc.read_table(tmp_path / "t.csv", label="class")
    assert any("left out:" in text for text in texts_of(caught))
    assert [one.filename for one in caught] == [__file__] * len(caught)
