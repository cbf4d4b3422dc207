"""Control trees that comparisons make from training parts: kept, and blind to the held-out points."""

from dataclasses import replace
import json

import numpy as np
import pytest

from agfmc.control.write import format_tree
from agfmc.experiments import candidates
from agfmc.experiments.candidates import Candidate, read_candidate, read_candidates, suited
from agfmc.experiments.comparison import compare
from agfmc.experiments.experiment import Experiment, prepare_split, SplitPlan, splits
from agfmc.experiments.candidates import design_of
from agfmc.files.result_store import Record, ResultCache
from agfmc.designs.schemes import COMPARED
from agfmc.data.types import Dataset
from agfmc.training.fit import TrainingSettings
from agfmc.core.weights import Weights

MADE_OF_DATA = [name for name in COMPARED if read_candidate(name).made_of_data]


@pytest.fixture(scope="module")
def clusters():
    """Four classes of thirty points each, of which two and two are neighbours."""
    rng = np.random.default_rng(8)
    y = rng.permutation(np.repeat([1, 2, 5, 6], 30)).astype(np.int32)
    x = rng.normal(size=(120, 3)) + np.column_stack([y > 3, y % 3 == 2, y * 0]) * [3.0, 1.5, 0.0]
    return Dataset(x, y)


def test_a_design_is_made_once_for_each_training_part(clusters, monkeypatch, tmp_path):
    made, tree_for = [], Candidate.tree_for
    monkeypatch.setattr(
        Candidate,
        "tree_for",
        lambda self, data, *more: made.append(len(data.y)) or tree_for(self, data, *more),
    )
    settings = TrainingSettings("learner=nystrom -m 20")

    def rows():
        with ResultCache(str(tmp_path / "cache"), keep=True) as cache:
            return compare(
                Experiment(clusters, SplitPlan(trials=2), settings, cache, (False,)),
                [read_candidate("empirical")],
            )["rows"]

    first = rows()
    assert made == [84, 84]
    assert json.dumps(rows()) == json.dumps(first)  # with the seconds of the first run
    assert len(made) == 2 and min(first[0]["design_s"]["values"]) > 0


def test_designs_of_other_weights_are_made_anew(clusters):
    kept = {}

    class Cache:
        get, put = staticmethod(kept.get), staticmethod(kept.__setitem__)

    for factor in (1.0, 2.0, 1.0):
        design_of(
            read_candidate("empirical metric=mean-deviation"),
            replace(clusters, weights=Weights(np.full(len(clusters.y), factor))),
            {},
            Cache(),
        )
    assert len(kept) == 2


def test_kept_designs_are_checked(clusters, monkeypatch):
    kept, names = {}, {5: "five", 6: "six"}

    class Cache:
        get, put = staticmethod(kept.get), staticmethod(kept.__setitem__)

    def made(names=names):
        return design_of(read_candidate("empirical"), clusters, names, Cache())

    first = made()
    assert first.seconds > 0 and first.tree.names == names
    monkeypatch.setattr(Candidate, "tree_for", lambda self, *more: "anew")
    monkeypatch.setattr(candidates, "named_as", lambda tree, names: tree)
    ((key, record),) = kept.items()
    seconds, text = record.head["seconds"], record.head["text"]
    again = made({})
    assert (format_tree(again.tree), again.seconds) == (text, first.seconds) == (text, seconds)
    monkeypatch.setattr(candidates, "format_tree", lambda tree: "")
    for damaged in (
        *(
            {"seconds": seconds, "text": wrong}
            for wrong in (
                text[:-3],
                text.replace("5", "7"),
                text.replace('""', '"-c 1"'),
                text.replace('""', "name"),
                3,
            )
        ),
        *({"seconds": wrong, "text": text} for wrong in (float("nan"), "a", -1)),
        {"seconds": seconds},
        None,
        "text",
    ):
        kept[key] = Record(damaged)
        assert made().tree == "anew"


@pytest.mark.parametrize("k, count", [(2, 6), (3, 7), (26, 7)])
def test_ensembles_are_compared_where_there_are_different_trees(k, count):
    names = [candidate.name for candidate in suited(read_candidates(COMPARED), k)]
    assert names == list(COMPARED[:count])


def test_held_out_points_do_not_change_a_design(clusters):
    candidate = read_candidate("empirical")
    split = next(splits(clusters.y, SplitPlan(trials=1)))
    rng = np.random.default_rng(5)
    x, y = clusters.x.copy(), clusters.y.copy()
    x[split.test] = 100 * rng.normal(size=(len(split.test), 3))
    y[split.test] = rng.permutation(y[split.test])
    experiment = Experiment(clusters, SplitPlan(), TrainingSettings(scale=True))
    before, after = (
        prepare_split(split, data, experiment.settings).design_of(candidate, experiment).tree
        for data in (clusters, Dataset(x, y))
    )
    assert before == after
    # where it sees all points it is another
    x[split.test] = clusters.x[split.test] + 9.0 * (y[split.test, None] % 2)
    whole = [design_of(candidate, data, {}).tree for data in (clusters, Dataset(x, y))]
    assert whole[0] != whole[1]


@pytest.mark.long
def test_shuffled_labels_are_answered_no_better_than_by_chance(clusters):
    """Of designs that are made from the points, too: their search sees no held-out point."""
    rng = np.random.default_rng(1)
    shuffled = Dataset(clusters.x, rng.permutation(clusters.y))
    settings = TrainingSettings("learner=nystrom -m 20")
    rows = compare(
        Experiment(shuffled, SplitPlan(parts=4, trials=1), settings, ResultCache(None)),
        read_candidates(MADE_OF_DATA),
    )["rows"]
    assert {row["configuration"] for row in rows} == set(MADE_OF_DATA)
    for row in rows:
        assert row["accuracy"]["pooled"] < 0.25 + 3 * np.sqrt(0.25 * 0.75 / 120)
        assert row["log_loss"]["pooled"] > np.log(4) - 0.02
