"""What holds for every family of the search: each row of `FAMILIES` is put through the promises."""

import time
from dataclasses import replace

import numpy as np
import pytest

from agfmc.api.functions import train_best, train_tree
from agfmc.control.parse import parse
from agfmc.core.costs import cost_matrix
from agfmc.core.weights import Weights
from agfmc.data.types import Dataset
from agfmc.experiments import best_search as module
from agfmc.experiments import families
from agfmc.experiments.best_search import BestSearch, tempered
from agfmc.experiments.experiment import Experiment, SplitPlan
from agfmc.experiments.families import FAMILIES
from agfmc.files.result_store import ResultCache
from agfmc.learners.protocol import learner_class
from agfmc.models.files import save
from agfmc.prediction.classifier import Classifier
from agfmc.training.fit import TrainingSettings

pytest.importorskip("sklearn")
pytest.importorskip("lightgbm")

QUICK = {  # further options that make a family quick on few points
    "trees": "-b 2 -n 6 -r 0.5 -e 0",
    "T": "-n 6 -r 0.5 -e 0",
    "nystrom": "-m 20",
}
TREES = ("T", "trees")


@pytest.fixture(params=[family.name for family in FAMILIES])
def family(request, monkeypatch):
    """One family, the only one of the search, with one further option."""
    family = {family.name: family for family in FAMILIES}[request.param]
    quick = QUICK.get(family.learner, family.options)
    others = ()
    if family.others:
        others = (f"{quick} -x 1" if family.learner in TREES else family.others[0],)
    family = family._replace(options=quick, others=others)
    monkeypatch.setattr(families, "FAMILIES", (family,))
    # two kernel widths would make eighteen options of a support vector machine
    monkeypatch.setattr(BestSearch, "_race", lambda self, *args: [f"{family.first_options} -g 0.3"])
    return family


def points(seed=2, each=12):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), each).astype(np.int32)
    return Dataset(rng.normal(size=(len(y), 2)) + 1.5 * np.eye(3, 2)[y], y)


def begin(data, *, by="log_loss", workers=1, costs=None, cache=None):
    experiment = Experiment(
        data,
        SplitPlan(None, 5, 1, 1),
        TrainingSettings(scale=True, workers=workers),
        cache or ResultCache(None),
        costs=costs,
    )
    return BestSearch(experiment, by, time.monotonic() + 1e4, average=False)


def first_entry(family, data, monkeypatch, **how):
    """The search and its entry with the first options."""
    with monkeypatch.context() as patch:
        patch.setattr(BestSearch, "_tune_families", lambda self: None)
        search = begin(data, **how)
        search.run(*only(family))
    return search, search.entries[0]


def only(family):
    """The learner, as the search is given it, so that no rule on the data leaves the family out."""
    return [families._WORDS.get(family.learner, family.learner)], None


def test_weights_and_costs_decide(family, monkeypatch):
    data = points()
    w = np.where(data.y == 0, 4.0, 1.0)
    _, plain = first_entry(family, data, monkeypatch)
    search, weighted = first_entry(family, replace(data, weights=Weights(w)), monkeypatch)
    assert weighted.p[:, 0].mean() > plain.p[:, 0].mean() + 0.02
    own = tempered(weighted.p, weighted.scale)[np.arange(len(w)), data.y]
    assert weighted.score == pytest.approx(np.average(-np.log(own), weights=w), rel=1e-4)
    costs = cost_matrix([[0, 1, 9], [5, 0, 5], [1, 1, 0]], [0, 1, 2])
    _, entry = first_entry(family, data, monkeypatch, by="cost", costs=costs)
    assert np.array_equal(entry.p, plain.p)
    answers = (tempered(entry.p, entry.scale) @ costs.costs).argmin(axis=1)
    assert entry.score == pytest.approx(costs.costs[data.y, answers].mean())


def test_a_node_takes_whole_weights_for_copies_but_for_trees(family):
    if family.scheme:
        pytest.skip("tests/unit/learners/test_weights.py, landmarks/test_shared_weights.py")
    data = points()
    w = np.random.default_rng(1).integers(1, 4, len(data.y))
    copies = Dataset(*(np.repeat(part, w, axis=0) for part in (data.x, data.y)))
    tree = family.candidate(begin(data).experiment, family.first_options).tree
    weighted, copied = (
        Classifier(train_tree(tree, part, TrainingSettings(calibration=0))).probabilities(data.x)
        for part in (replace(data, weights=Weights(w.astype(float))), copies)
    )
    assert np.allclose(weighted, copied, atol=1e-6) == (family.learner != "T")


def test_groups_are_never_divided(family, monkeypatch):
    """Rows of a group are nearly the same point, and its class is chance: whoever has seen others of
    the group knows it, and whoever has not knows nothing."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 10)
    y = (groups % 3).astype(np.int32)
    x = rng.normal(size=(12, 10))[groups] + 0.05 * rng.normal(size=(120, 10))
    divided, whole = (
        first_entry(family, Dataset(x, y, groups=part), monkeypatch)[1].score
        for part in (None, groups)
    )
    assert divided < 0.6 and whole > 0.9


def test_missing_values_are_taken_or_the_family_is_named(family, monkeypatch):
    data = points(each=20)
    data.x[::5, 1] = np.nan
    if learner_class(family.learner).allows_nan:
        _, entry = first_entry(family, data, monkeypatch)
        assert np.isfinite(entry.score) and entry.score < np.log(3)
        return
    trees = FAMILIES[0]._replace(options=QUICK["T"])
    monkeypatch.setattr(families, "FAMILIES", (trees, family))
    monkeypatch.setattr(BestSearch, "_tune_families", lambda self: None)
    search = begin(data)
    search.run([*only(trees)[0], *only(family)[0]])
    assert search.left_out == {family.name: "takes no missing values"}


def test_an_interrupted_search_goes_on_to_the_same_choice(family, monkeypatch, tmp_path):
    data = points()
    expected = begin(data)
    choice = expected.run(*only(family))
    trial = module.run_trial
    calls = []

    def interrupted(*args, **more):
        calls.append(args)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return trial(*args, **more)

    monkeypatch.setattr(module, "run_trial", interrupted)
    with ResultCache(str(tmp_path / "state"), keep=True, data="d") as cache:
        with pytest.raises(KeyboardInterrupt):
            begin(data, cache=cache).run(*only(family))
    with ResultCache(str(tmp_path / "state"), keep=True, data="d") as cache:
        search = begin(data, cache=cache)
        again = search.run(*only(family))
    assert len(calls) == 3 and len(search.entries) == 2, "the first result is not made again"
    assert again.tree == choice.tree and again.estimate == choice.estimate


def test_the_bytes_are_the_same_for_any_number_of_workers(family, monkeypatch, tmp_path):
    data = points()
    scores = []
    for workers in (1, 2):
        search, entry = first_entry(family, data, monkeypatch, workers=workers)
        scores.append(entry.p.tobytes())
        settings = TrainingSettings(scale=True, workers=workers)
        save(str(tmp_path / f"{workers}.mbm"), train_tree(entry.tree, data, settings))
    assert scores[0] == scores[1]
    assert (tmp_path / "1.mbm").read_bytes() == (tmp_path / "2.mbm").read_bytes()


@pytest.mark.parametrize("average", [False, True])
def test_boosters_of_the_search_are_those_of_the_model(monkeypatch, tmp_path, average):
    """The last training fits none of them again, and the control text alone makes the same bytes."""
    import lightgbm

    data = points()
    boosted = [
        family._replace(options=QUICK[family.learner], others=())
        for family in FAMILIES
        if family.scheme in ("", "one-vs-rest") and family.learner in TREES
    ]
    monkeypatch.setattr(families, "FAMILIES", tuple(boosted))
    fits = []
    train = lightgbm.train

    def counting(*args, **more):
        fits.append(args)
        return train(*args, **more)

    monkeypatch.setattr(lightgbm, "train", counting)
    model, result = train_best(data, learners=["trees"], ensemble=average, seed=3)
    searched = 3 + 3 * 2  # folds of the node, and of each of three classes
    # the binary classifiers of the second member of an average draw numbers of their own
    assert len(fits) == searched + 3 * 2 * average
    assert len(result["choice"]["members"]) == 1 + average
    before = len(fits)
    settings = TrainingSettings(scale=True, seed=3)
    save(str(tmp_path / "alone.mbm"), train_tree(parse(result["control"]), data, settings))
    assert len(fits) > before, "nothing is remembered afterwards"
    save(str(tmp_path / "best.mbm"), model)
    assert (tmp_path / "alone.mbm").read_bytes() == (tmp_path / "best.mbm").read_bytes()
