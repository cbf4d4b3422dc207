"""Boosted trees: equal to LightGBM's raw scores, from training to files and answers."""

from dataclasses import replace

import numpy as np
import pytest

from agfmc.control.parse import parse
from agfmc.core.errors import ModelError, UsageError
from agfmc.core.forest import Forest
from agfmc.experiments.binary_problems import binary_model, Trained
from agfmc.experiments.caches import to_record
from agfmc.learners.protocol import distinct, parse_options, plan_jobs
from agfmc.learners.trees import TreesOptions
from agfmc.models.libsvm import format_svm_model, read_svm_model
from agfmc.models.mbm import read_store, write_store
from agfmc.prediction.classifier import Classifier
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


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("options", ["", "-x 0", "-l 4 -e 0", "-w1 3"])
def test_values_are_raw_scores_of_lightgbm(options, missing):
    x, y = points(missing=missing)
    side = (y > 1).astype(np.int8)
    learner = parse_options(f"{SMALL} {options}")
    w = np.where(side == 1, 3.0, 1.0) if "w1" in options else None
    booster = learner._boost(x, side.astype(float), w)
    forest = learner.solve(x, np.arange(len(x)), side).function
    new, _ = points(200, 1)
    new[::3, 0] = new[1::4, 3] = np.nan  # where training had missing values, and where not
    expected = booster.predict(new, raw_score=True)
    np.testing.assert_allclose(forest(new), expected, rtol=0, atol=1e-9)
    for row in (0, 77):  # a point does not depend on its neighbours
        assert forest(new[row:row + 1]) == forest(new)[row]


def test_early_stopping_needs_samples_of_both_sides():
    x, y = points()
    side = (y > 1).astype(np.int8)
    rounds = [len(TreesOptions(patience=patience).solve(x, np.arange(300), side).function.roots)
              for patience in (5, 0)]
    assert rounds[0] < rounds[1] == 400
    few = np.zeros(60, dtype=np.int8)
    few[:10] = 1
    short = TreesOptions(rounds=55, smallest_leaf=2).solve(x, np.arange(60), few)
    assert len(short.function.roots) == 6


def test_members_of_an_ensemble_have_different_seeds():
    pairs = '"" 0 / 1; "" 0 / 2; "" 1 / 2; {0 1 2}'
    for default, count, seeds in ((SMALL, 6, {1, 2}), ("-c 1", 3, None)):
        jobs = plan_jobs(parse(f"{pairs} {pairs}"), "m", default, 1)
        assert len(distinct(jobs)) == count
        assert seeds is None or {job.options.seed for job in jobs} == seeds


@pytest.mark.parametrize("text, words", [
    ("-r 0", "-r"), ("-l 1", "-l"), ("-q 1", "unknown"), ("-n 2.5", "-n"), ("-x 2", "-x")])
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

    return format_svm_model(BinaryModel(
        "m", "trees", Kernel("linear"), np.empty((0, 4)), np.empty(0), 0.0, (1, 0), (0, 0),
        (-1.0, 0.0), machines.provenances[0], 4, machines.forest)), machines.forest


def test_model_file_and_what_is_wrong_with_it(text, tmp_path):
    good, forest = text
    path = tmp_path / "m"
    path.write_text(good)
    again = read_svm_model(str(path)).function
    for name in ("starts", "roots", "feature", "value", "left", "right", "missing_left"):
        np.testing.assert_array_equal(getattr(again, name), getattr(forest, name))
    lines = good.splitlines(keepends=True)
    at = {line.split()[3]: number for number, line in enumerate(lines)
          if line.startswith("# agfmc trees")}
    for name, change, words in (
            ("feature", lambda line: line.replace(" 0 ", " 9 ", 1), "not there"),
            ("left", lambda line: line.replace(" 1 ", " 0 ", 1), "no trees"),
            ("right", lambda line: line.rsplit(" ", 1)[0] + "\n", "number of nodes"),
            ("roots", lambda line: line.replace(" 0 ", " 1 ", 1), "no trees"),
            ("starts", lambda line: "# agfmc trees starts 0 1 2\n", "contiguous"),
            ("value", lambda line: line.rsplit(" ", 1)[0] + " nan\n", "numbers"),
            ("value", lambda line: "", "missing"),
            ("left", lambda line: line.replace(" 1 ", " 1.5 ", 1), "numbers")):
        wrong = list(lines)
        wrong[at[name]] = change(wrong[at[name]])
        assert wrong != lines
        path.write_text("".join(line for line in wrong))
        with pytest.raises(ModelError, match=words):
            read_svm_model(str(path))


def test_a_forest_of_several_classifiers():
    leaf = Forest(1, np.array([0, 1]), np.array([0], "<i4"), np.array([-1], "<i4"),
                  np.array([2.5]), np.array([0], "<i4"), np.array([0], "<i4"), np.array([False]))
    stump = Forest(1, np.array([0, 1]), np.array([0], "<i4"), np.array([0, -1, -1], "<i4"),
                   np.array([1.0, -3.0, 4.0]), np.array([1, 1, 2], "<i4"),
                   np.array([2, 1, 2], "<i4"), np.array([True, False, False]))
    both = Forest.concatenate([stump, Forest.none(1), leaf])
    both.check(AssertionError)
    x = np.array([[1.0], [1.5], [np.nan]])
    np.testing.assert_array_equal(both.values(x, [0, 1, 2]), [[-3, 4, -3], [0, 0, 0], [2.5] * 3])


def test_experiments_keep_the_trees():
    x, y = points()
    (job,) = plan_jobs(parse(f'"{SMALL}" {{0 1}}'), "m", "", 1)
    (fitted,) = fit([job], x, np.minimum(y, 1))
    trained = Trained.from_record(to_record(Trained.of(fitted)), len(x))
    model = binary_model(job, trained, x)
    np.testing.assert_array_equal(model.function(x), fitted.model.function(x))
    broken = replace(trained, forest=replace(trained.forest, left=trained.forest.left[::-1]))
    assert Trained.from_record(to_record(broken), len(x)) is None
