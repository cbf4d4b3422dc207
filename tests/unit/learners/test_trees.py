"""Boosted trees: equal to LightGBM's raw scores, from training to files and answers."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc import Axis, SearchSpace, train, tune
from agfmc.control.parse import parse
from agfmc.core.errors import DataError, ModelError, UsageError
from agfmc.core.forest import Forest
from agfmc.core.splits import derived_seed
from agfmc.data.libagf import read_vec
from agfmc.data.normalisation import fit_normalisation
from agfmc.data.types import Dataset
from agfmc.experiments.binary_problems import binary_model, Trained
from agfmc.files.result_store import to_record
from agfmc.learners.protocol import distinct, parse_options, plan_jobs
from agfmc.models.description import describe
from agfmc.models.libsvm import format_svm_model, read_svm_model
from agfmc.models.mbm import read_store, write_store
from agfmc.prediction.classifier import Classifier
from agfmc.report.model import model_blocks
from agfmc.report.text import blocks_text
from agfmc.training.fit import fit
from agfmc.training.in_memory import train_configuration

lightgbm = pytest.importorskip("lightgbm")
SMALL = "learner=trees -n 30 -m 5"


def points(n=300, seed=0, missing=0.0):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 4))
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32) + 2 * (x[:, 2] > 1)
    x[generator.random(x.shape) < missing] = np.nan
    return x, y.astype(np.int32)


def test_members_of_an_ensemble_have_different_seeds():
    pairs = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'
    for default, count, seeds in ((SMALL, 6, {1, derived_seed(1, 1)}), ("-c 1", 3, None)):
        jobs = plan_jobs(parse(f"{pairs} {pairs}"), "m", default, 1)
        assert len(distinct(jobs)) == count
        assert seeds is None or {job.options.seed for job in jobs} == seeds


@pytest.mark.parametrize(
    "text, words",
    [("-r 0", "-r"), ("-l 1", "-l"), ("-q 1", "unknown"), ("-n 2.5", "-n"), ("-x 2", "-x")],
)
def test_wrong_options(text, words):
    with pytest.raises(UsageError, match=words):
        parse_options(f"learner=trees {text}")


@pytest.fixture(scope="module")
def mixture():
    """A configuration of pairs whose classifiers are trees, and one more support vector machine."""
    x, y = points()
    y %= 3
    tree = parse(f'"{SMALL}" 0 / 1; "-g 1" 0 / 2; "{SMALL}" 1 / 2; {{0 1 2}}')
    return train_configuration(tree, x, y)[0], x


def test_files_hold_the_trees(mixture, tmp_path):
    configuration, x = mixture
    p = Classifier(configuration).probabilities(x)
    path = str(tmp_path / "m.mbm")
    write_store(path, configuration, {})
    again = read_store(path)
    np.testing.assert_array_equal(Classifier(again).probabilities(x), p)
    assert again.digest() == configuration.digest()
    forest = configuration.machines.forest
    assert np.diff(forest.starts).tolist()[1] == 0 < len(forest.roots)
    changed = replace(configuration.machines, forest=replace(forest, value=forest.value * 2))
    assert replace(configuration, machines=changed).digest() != configuration.digest()


def test_classification_needs_no_lightgbm(mixture, tmp_path, monkeypatch):
    configuration, x = mixture
    path = str(tmp_path / "m.mbm")
    write_store(path, configuration, {})
    p = Classifier(configuration).probabilities(x)
    monkeypatch.setitem(__import__("sys").modules, "lightgbm", None)
    np.testing.assert_array_equal(Classifier(read_store(path)).probabilities(x), p)


@pytest.fixture(scope="module")
def text():
    x, y = points()
    tree = parse(f'"{SMALL}" {{0 1}}')
    configuration = train_configuration(tree, x, np.minimum(y, 1))[0]
    machines = configuration.machines
    from agfmc.core.models import BinaryModel, Kernel

    return format_svm_model(
        BinaryModel(
            "m",
            "trees",
            Kernel("linear"),
            np.empty((0, 4)),
            np.empty(0),
            0.0,
            (1, 0),
            (0, 0),
            (-1.0, 0.0),
            machines.provenances[0],
            4,
            machines.forest,
        )
    ), machines.forest


def with_second(line, number):
    """The line of an array with another second number, that of the root of the second tree."""
    words = line.split(" ")
    return " ".join([*words[:5], number, *words[6:]])


def test_model_file_and_what_is_wrong_with_it(text, tmp_path):
    good, forest = text
    path = tmp_path / "m"
    path.write_text(good)
    again = read_svm_model(str(path)).function
    for name in ("starts", "roots", "feature", "value", "left", "right", "missing_left"):
        np.testing.assert_array_equal(getattr(again, name), getattr(forest, name))
    lines = good.splitlines(keepends=True)
    at = {
        line.split()[3]: number
        for number, line in enumerate(lines)
        if line.startswith("# agfmc trees")
    }
    for name, change, words in (
        ("feature", lambda line: line.replace(" 3 ", " 9 ", 1), "not there"),
        ("left", lambda line: with_second(line, "0"), "no trees"),
        ("right", lambda line: line.rsplit(" ", 1)[0] + "\n", "number of nodes"),
        ("roots", lambda line: line.replace(" 1 ", " 2 ", 1), "no trees"),
        ("starts", lambda line: "# agfmc trees starts 0 1 2\n", "contiguous"),
        ("value", lambda line: line.rsplit(" ", 1)[0] + " nan\n", "numbers"),
        ("value", lambda line: "", "missing"),
        ("value", lambda line: line.rsplit(" ", 1)[0] + " 1e+308\n", "more than 1e300"),
        ("left", lambda line: with_second(line, "1.5"), "numbers"),
    ):
        wrong = list(lines)
        wrong[at[name]] = change(wrong[at[name]])
        assert wrong != lines
        path.write_text("".join(line for line in wrong))
        with pytest.raises(ModelError, match=words):
            read_svm_model(str(path))


def test_a_forest_of_several_classifiers():
    leaf = Forest(
        1,
        np.array([0, 1]),
        np.array([0], "<i4"),
        np.array([-1], "<i4"),
        np.array([2.5]),
        np.array([0], "<i4"),
        np.array([0], "<i4"),
        np.array([False]),
    )
    stump = Forest(
        1,
        np.array([0, 1]),
        np.array([0], "<i4"),
        np.array([0, -1, -1], "<i4"),
        np.array([1.0, -3.0, 4.0]),
        np.array([1, 1, 2], "<i4"),
        np.array([2, 1, 2], "<i4"),
        np.array([True, False, False]),
    )
    both = Forest.concatenate([stump, Forest.none(1), leaf])
    both.check(AssertionError)
    x = np.array([[1.0], [1.5], [np.nan]])
    np.testing.assert_array_equal(both.values(x, [0, 1, 2]), [[-3, 4, -3], [0, 0, 0], [2.5] * 3])


def test_nodes_that_follow_several():
    def made(left, right, roots=(0,)):
        left, right = np.array(left, "<i4"), np.array(right, "<i4")
        inner = left != np.arange(len(left))
        return Forest(
            1,
            np.array([0, len(roots)]),
            np.array(roots, "<i4"),
            np.where(inner, 0, -1),
            np.arange(len(left)) / 2,
            left,
            right,
            inner,
        )

    count = 80  # diamonds, with 2 ** 80 ways
    steps = np.arange(2 * count + 1)
    diamonds = made(np.minimum(steps + 1, 2 * count), np.minimum(steps + 2 - steps % 2, 2 * count))
    diamonds.check(AssertionError)
    assert diamonds.depth == diamonds.comparisons[0] == 2 * count
    assert diamonds([[0.0]])[0] == count
    two = Forest.concatenate([diamonds, made([1, 1, 2], [2, 1, 2])])
    for place, one in enumerate((diamonds, made([1, 1, 2], [2, 1, 2]))):
        part = two.subset(place, place + 1)
        for name in ("starts", "roots", "feature", "value", "left", "right", "missing_left"):
            np.testing.assert_array_equal(getattr(part, name), getattr(one, name))
            assert getattr(part, name).dtype == getattr(two, name).dtype
    for left, right, *roots in (
        ([1, 1, 2], [0, 1, 2]),  # back to the root
        ([1, 1, 2], [1, 1, 2]),  # no way to a leaf
        ([1, 1, 2, 2], [3, 1, 2, 3]),  # back within the tree
        ([1, 1, 2], [9, 1, 2]),
        ([1, 1, 2], [-1, 1, 2]),
        ([1, 1, 3, 3, 4], [4, 1, 4, 3, 4], (0, 2)),  # into another tree
        ([1, 1, 2, 3], [2, 1, 2, 3], (3, 0)),
    ):  # the second tree first
        with pytest.raises(ModelError, match="no trees"):
            made(left, right, *roots).check(ModelError)


def test_experiments_keep_the_trees():
    x, y = points()
    (job,) = plan_jobs(parse(f'"{SMALL}" {{0 1}}'), "m", "", 1)
    (fitted,) = fit([job], Dataset(x, np.minimum(y, 1)))
    trained = Trained.from_record(to_record(Trained.of(fitted)), len(x))
    model = binary_model(job, trained, x)
    np.testing.assert_array_equal(model.function(x), fitted.model.function(x))
    broken = replace(trained, forest=replace(trained.forest, left=trained.forest.left[::-1]))
    assert Trained.from_record(to_record(broken), len(x)) is None


def test_missing_values_of_tables_stay_missing(tmp_path, run):
    x, y = points(120, missing=0.2)
    table, base, control = (str(tmp_path / name) for name in ("t.csv", "b", "m.mbc"))
    with open(table, "w") as file:
        file.write("a,b,c,d,day,word,class\n")
        for row, label, word in zip(x, y % 3, ["red", "blue", ""] * 40):
            cells = ["" if cell != cell else f"{cell:.4f}" for cell in row]
            day = "" if row[1] != row[1] else f"2026-03-{1 + int(abs(row[1]) * 9) % 28:02}"
            file.write(",".join([*cells, day, word, "xyz"[label]]) + "\n")
    run("table2agf", "--missing", "keep", table)
    run("multi_borders", "-+", SMALL, "one-vs-rest", table, base, control)
    run("classify_m", control, table, str(tmp_path / "o.csv"))
    run("table2agf", "--missing", "keep", table, base)
    stored = read_vec(f"{base}.vec", missing=True)
    np.testing.assert_array_equal(np.isnan(stored[:, :4]), np.isnan(x))
    np.testing.assert_array_equal(np.isnan(stored[:, 4:-2]).all(axis=1), np.isnan(x[:, 1]))
    assert stored[2, -2:].tolist() == [0, 0]
    with pytest.raises(DataError, match="NaN"):
        read_vec(f"{base}.vec")
    # binary files, and models on the points as they were, agree
    again = str(tmp_path / "again.mbc")
    run("multi_borders", "-n", "-+", SMALL, "one-vs-rest", base, base, again)
    run("classify_m", again, f"{base}.vec", str(tmp_path / "o"))
    answers = np.fromfile(tmp_path / "o.cls", "<i4")
    expected = [line.split(",")[1] for line in (tmp_path / "o.csv").read_text().split()[1:]]
    assert ["xyz"[answer] for answer in answers] == expected
    for scheme, words in (("one-vs-rest", "learner=svm takes none"), ("empirical", "empirical")):
        result = run("multi_borders", scheme, table, base, control, status=None)
        assert result.status and words in result.err
        assert "internal" not in result.err


def test_normalisation_leaves_missing_values_out():
    x, y = points(100, missing=0.3)
    made = fit_normalisation(x)
    np.testing.assert_allclose(made.mean, np.nanmean(x, axis=0), rtol=1e-6)
    np.testing.assert_allclose(1 / made.matrix.diagonal(), np.nanstd(x, axis=0, ddof=1), rtol=1e-6)
    np.testing.assert_array_equal(np.isnan(made.apply(x)), np.isnan(x))
    w = np.arange(100) % 3.0
    copies = fit_normalisation(np.repeat(x, w.astype(int), axis=0))
    np.testing.assert_allclose(fit_normalisation(x, w=w).matrix, copies.matrix, rtol=1e-6)
    with pytest.raises(DataError, match="NaN"):
        train("one-vs-rest", x, y, options=SMALL, nsv=2)
    with pytest.raises(DataError, match="NaN"):
        fit_normalisation(points()[0], nsv=2).apply(x)


def test_arrays_with_missing_values():
    x, y = points(missing=0.2)
    configuration = train("one-vs-rest", x, y, options=SMALL, normalise=True, calibration=0)
    p = Classifier(configuration).probabilities(x)
    assert np.isfinite(p).all() and (p.argmax(axis=1) == y).mean() > 0.7
    with pytest.raises(DataError, match="row 1 .* NaN"):
        train("one-vs-rest", x, y)
    with pytest.raises(UsageError, match="'m-01'.*learner=svm"):
        train(parse(f'"{SMALL}" 0 / 1; "-c 1" 0 / 2; "" 1 / 2; {{0 1 2}}'), x, y % 3)
    with pytest.raises(DataError, match="'empirical' is made of data without missing values"):
        train("empirical", x, y, options=SMALL)


def test_estimator_of_trees():
    estimators = pytest.importorskip("agfmc.estimators")
    x, y = points(missing=0.2)
    model = estimators.MultiClassFromBinary(
        "one-vs-rest",
        learner="trees",
        n_estimators=30,
        min_child_samples=5,
        num_leaves=7,
        learning_rate=0.2,
        normalise=True,
        calibrated=False,
    ).fit(x, y)
    assert model.__sklearn_tags__().input_tags.allow_nan
    assert model.score(x, y) > 0.7
    made_by = model.configuration_.machines.provenances[0].options
    assert made_by.startswith("learner=trees -b 5 -n 30 -r 0.2 -l 7 -m 5 ")
    other = estimators.MultiClassFromBinary()
    assert not other.__sklearn_tags__().input_tags.allow_nan
    with pytest.raises(ValueError, match="NaN"):
        other.fit(x, y)
    with pytest.raises(ValueError, match="C is not a parameter of learner='trees'"):
        estimators.MultiClassFromBinary(learner="trees", C=1).fit(x, y)


def test_descriptions_count_trees(mixture):
    info = describe(mixture[0])
    forest = mixture[0].machines.forest
    assert info["trees"] == len(forest.roots) == sum(one["trees"] for one in info["binary_models"])
    assert forest.comparisons.sum() == info["comparisons"] >= info["trees"]
    assert info["binary_models"][1]["trees"] == 0 < info["binary_models"][1]["support_vectors"]
    text = blocks_text(model_blocks(info))
    assert f"trees             {info['trees']}, of which" in text
    assert "  support vectors  trees  comparisons  classes left / right\n" in text
    first = info["binary_models"][0]
    assert f"  {first['trees']}  {first['comparisons']:>11}  0 / 1\n" in text


def test_search_of_rate_and_leaves():
    x, y = points(150, missing=0.1)
    space = SearchSpace(others={"log2rate": Axis(-3, -1, 2), "log2leaves": Axis(2, 2, 1)}, refine=0)
    _, result = tune(
        "one-vs-rest", x, y % 3, options="learner=trees -n 5 -e 0 -m 5", space=space, calibration=0
    )
    texts = {point["options"] for point in result["points"]}
    assert texts >= {f"learner=trees -r {rate} -l 4 -n 5 -e 0 -m 5" for rate in (0.125, 0.5)}
    best = result["points"][result["best"]]
    assert best["log2leaves"] == 2 and best["log2rate"] in (-3, -1) and best["log2g"] is None


@pytest.mark.parametrize(
    "workers", [("-j", 2), pytest.param(("-j", "processes:2"), marks=pytest.mark.long)]
)
def test_the_same_bytes_for_any_workers(run, tmp_path, workers):
    x, y = points(120)
    data = str(tmp_path / "data.svm")
    with open(data, "w") as file:
        for row, label in zip(x.tolist(), y % 3):
            file.write(f"{label} " + " ".join(f"{i}:{v!r}" for i, v in enumerate(row, 1)) + "\n")
    found = []
    for name, more in (("one", ()), ("two", workers)):
        (tmp_path / name).mkdir()
        control = str(tmp_path / name / "m.mbc")
        run(
            "multi_borders",
            "-M",
            "-+",
            SMALL,
            *more,
            "one-vs-one",
            data,
            "m",
            control,
            "-y",
            str(tmp_path / name),
        )
        found.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert found[0] == found[1] and len(found[0]) > 3


def test_weights_count():
    x, y = points()
    w = np.where(x[:, 3] > 0, 3.0, 1.0)
    models = [
        train("one-vs-rest", x, y, options=SMALL, calibration=0, weight=weights)
        for weights in (None, np.ones(len(x)), w)
    ]
    p = [Classifier(model).probabilities(x) for model in models]
    np.testing.assert_array_equal(p[0], p[1])
    assert np.abs(p[2] - p[0]).max() > 0.01
    assert models[2].machines.provenances[0].weights is not None
