"""The race of options: what is scored on how much, who goes on, and what it is estimated by."""

import itertools
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.core.answers import Results
from agfmc.core.costs import cost_matrix
from agfmc.data.training import load_training
from agfmc.experiments import binary_problems, pooling, racing, tuning
from agfmc.experiments.candidates import read_candidate, with_options
from agfmc.experiments.experiment import Experiment, Part, SplitPlan
from agfmc.experiments.pooling import pooled
from agfmc.files.result_store import ResultCache
from agfmc.experiments.search import Axis, Grid, Point, Search, SearchSpace
from agfmc.experiments.trial import run_trial
from agfmc.experiments.tuning import prepare_tuning, tune
from agfmc.data.types import Dataset, InputFormat
from agfmc.core.splits import stratified_sample
from agfmc.score import rows as scores
from agfmc.score.rows import Score
from agfmc.training.fit import TrainingSettings

ORDERED = Path(__file__).resolve().parents[3] / "sample_data" / "ordered"
SMALL = SearchSpace(log2c=Axis(-1.0, 3.0, 2.0), log2g=Axis(-5.0, -1.0, 2.0), refine=1)
pytestmark = pytest.mark.filterwarnings("ignore:the best")


def blobs(n, k=3, seed=5, spread=1.0):
    """n points of k classes that overlap."""
    generator = np.random.default_rng(seed)
    y = np.arange(n) % k
    x = generator.normal(size=(n, 4)) * spread + 1.5 * np.eye(max(k, 4))[y][:, :4]
    return Dataset(x, y)


def begin(
    data, parts=5, cache=ResultCache(None), text="one-vs-one", base="", calibrated=False, **more
):
    plan = SplitPlan(None, parts, 1, 1)
    return prepare_tuning(
        Experiment(data, plan, TrainingSettings(base, **more), cache, calibrated=(calibrated,)),
        read_candidate(text),
    )


@pytest.fixture
def scaled_down(monkeypatch):
    """Limits a fifth as large, for a fifth of the points."""
    monkeypatch.setattr(racing, "_LEAST", 60)
    monkeypatch.setattr(racing, "_LEAST_OF_CLASS", 10)
    monkeypatch.setattr(racing, "_HELD_OUT", 60)


def points_at(result, rows):
    return [point for point in result["points"] if point["rows"] == rows]


def test_levels_and_parts(monkeypatch):
    """700 training points of three classes: 300 at first; 175 are held out, so two parts choose."""
    start = begin(blobs(875))  # 525 points are left to judge
    parts = racing.first_parts(start.experiment)
    assert parts == [Part(0), Part(1)]
    assert racing._levels(start.experiment, parts) == [
        [Part(0, 300), Part(1, 300)],
        [Part(0), Part(1)],
    ]
    assert racing.first_parts(begin(blobs(300)).experiment) == [Part(n) for n in range(5)]
    assert racing.first_parts(begin(blobs(700)).experiment) == [Part(n) for n in range(5)]
    assert racing._levels(begin(blobs(300)).experiment, [Part(0)]) == [[Part(0)]]
    many = begin(blobs(9000, 10))
    assert [level[0].rows for level in racing._levels(many.experiment, [Part(0)])] == [
        500,
        2000,
        None,
    ]


@pytest.mark.usefixtures("scaled_down")
def test_whole_grid_on_little_and_finalists_on_all():
    result, tree = tune(begin(blobs(200)), SMALL, by="log_loss")
    coarse = {point["options"] for point in result["points"]}
    assert len(coarse) == result["tried"] >= 9
    assert all(point["parts"] == [1, 2] for point in points_at(result, 60))
    best = result["points"][result["best"]]
    assert best["rows"] is None and best["parts"] == [1, 2, 3, 4, 5]
    finalists = [point for point in result["points"] if point["parts"] == [1, 2, 3, 4, 5]]
    assert 1 <= len(finalists) <= 2 and best["score"] == min(one["score"] for one in finalists)
    assert {row.text for row in tree.rows} == {best["options"]}
    assert result["points"][result["given"]]["rows"] is None
    estimate = result["estimate"]
    assert estimate["points"] == 80  # part 3 chose these two
    assert estimate["how"].startswith("parts 4 to 5, which decided ")
    assert estimate["score"] == pytest.approx(np.mean(best["values"][3:]), abs=0.03)
    assert 0 < estimate["error"] < 0.1


@pytest.mark.long
def test_small_data_are_scored_whole_by_all_parts():
    result, _ = tune(begin(blobs(150)), SMALL, by="accuracy")
    assert {(point["rows"], tuple(point["parts"])) for point in result["points"]} == {
        (None, (1, 2, 3, 4, 5))
    }
    assert result["estimate"]["points"] == 150
    assert result["estimate"]["score"] <= result["points"][result["best"]]["score"] + 1e-9
    assert "choice among" in result["estimate"]["how"]


@pytest.mark.long
@pytest.mark.usefixtures("scaled_down")
def test_the_race_finds_what_the_full_search_finds():
    data = blobs(300, spread=0.7)
    fast, _ = tune(begin(data), SMALL, by="log_loss")
    full, _ = tune(begin(data), SMALL, by="log_loss", search="full")
    best = [result["points"][result["best"]]["score"] for result in (fast, full)]
    assert best[0] <= best[1] + 0.02 and best[1] <= best[0]


@pytest.fixture
def mean_p(monkeypatch):
    """A score more, for which larger is better."""
    score = Score(
        "mean_p",
        "mean p",
        "Its mean.",
        "probabilities",
        "score.toy:mean_p",
        "mean-p",
        "mean p",
        "mean",
        lambda points: points.p_true,
    )
    toy = SimpleNamespace(mean_p=lambda p, y, w=None: p[np.arange(len(p)), y].mean())
    monkeypatch.setitem(sys.modules, "agfmc.score.toy", toy)
    for table in (scores.SCORES, scores.ALL_SCORES):
        monkeypatch.setitem(table, "mean_p", score)


@pytest.mark.long
@pytest.mark.usefixtures("scaled_down", "mean_p")
@pytest.mark.parametrize(
    "by", ["mean_p", *(name for name, score in scores.ALL_SCORES.items() if score.added)]
)
def test_the_race_knows_the_direction_of_each_score(by):
    """What is worse is behind by a gap above 0, and what wins is among the best there are."""
    task = begin(blobs(300, spread=0.7))
    costs = replace(task.experiment, costs=cost_matrix(1.0 - np.eye(3), (0, 1, 2)))
    tuner = racing.Tuner(costs, by)
    whole = tuning.WholeConfiguration(task.candidate, task.tree, costs)
    grids = [Grid("rbf", 0, 0.0, Axis(-9.0, 3.0, 4.0), Axis(-5.0, -1.0, 4.0))]
    state = racing.race(tuner, whole, grids, 0, tuner.parts[:2], tuner.parts[2:])
    sign, gaps = scores.ALL_SCORES[by].sign, []
    for text, other in itertools.permutations(state.outcomes, 2):
        if state.depth[text] == state.depth[other]:
            gain = sign * (state.tried[text]["pooled"] - state.tried[other]["pooled"])
            gaps.append((gain, state.gap(by, text, other)))
    assert len(gaps) >= 12
    assert all((gain < 0) == (gap > 0) for gain, gap in gaps if abs(gain) > 1e-9)
    full = racing.race(tuner, whole, grids, 0)
    assert sign * (state.tried[state.best]["pooled"] - full.tried[full.best]["pooled"]) > -0.02


@pytest.mark.long
@pytest.mark.usefixtures("scaled_down")
def test_same_result_with_workers_and_after_a_resume(tmp_path):
    data = blobs(200)

    def run(cache=ResultCache(None), **more):
        return tune(begin(data, cache=cache, **more), SMALL, by="log_loss")

    one = run()
    assert run(workers=3) == one

    class Clock:
        """Time is over after so many looks at it."""

        left = 40

        def __le__(self, now):
            Clock.left -= 1
            return Clock.left < 0

    path = str(tmp_path / "state")
    with ResultCache(path, keep=True) as cache:
        part, _ = tune(begin(data, cache=cache), SMALL, by="log_loss", deadline=Clock())
    assert not part["complete"] and part["estimate"] is None
    with ResultCache(path, keep=True) as cache:
        assert run(cache) == one and cache.reused


@pytest.mark.long
def test_best_so_far_when_time_is_over(monkeypatch):
    """At any moment the options that were scored most thoroughly are the best."""
    start = begin(blobs(1000))
    monkeypatch.setattr(racing, "_finals", lambda *args: (_ for _ in ()).throw(racing.TimeUp))
    result, tree = tune(start, SMALL, by="log_loss")
    best = result["points"][result["best"]]
    assert not result["complete"] and best["rows"] is None and best["parts"] == [1, 2]
    assert best["score"] == min(p["score"] for p in points_at(result, None))
    result, tree = tune(start, SMALL, by="log_loss", deadline=time.monotonic())
    assert tree is None and result["tried"] == 0 and result["best"] is None


def test_options_that_have_one_part_when_time_is_over_are_compared_on_it(monkeypatch):
    score, left = tuning.WholeConfiguration.score, [7]

    def timed(*args):
        left[0] -= 1
        if not left[0]:
            raise racing.TimeUp
        return score(*args)

    monkeypatch.setattr(tuning.WholeConfiguration, "score", timed)
    result, tree = tune(begin(blobs(60)), SMALL, by="log_loss")
    best = result["points"][result["best"]]
    assert tree is not None and not result["complete"] and len(result["points"]) > 2
    assert all(point["parts"] == [1] for point in result["points"])
    assert best["score"] == min(point["score"] for point in result["points"])


def test_near_leaves_out_what_is_worse_and_what_is_the_same():
    class Fake:
        results = Results(*3 * (np.zeros(0),))

        def __init__(self, loss):
            self.loss = loss

    state = racing.SearchState("given", -1, Search([Grid("rbf", 0, 0.0, Axis(0, 1, 1), -1.0)]))
    noise = np.random.default_rng(1).normal(size=400) * 0.1
    shifts = {"a": 0.0, "same": 0.0, "b": 0.001, "far": 0.1}
    for number, (text, shift) in enumerate(shifts.items()):
        state.record(
            text,
            {Part(0): Fake(noise * (1 + number * (text != "same")) + shift)},
            0,
            {"pooled": 1.0 + shift},
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pooling, "losses", lambda by, outcomes: outcomes[0].loss)
        assert state.near("log_loss", 2.0, 4) == ["a", "b"]
        assert state.near("log_loss", 2.0, 1) == ["a"]
        assert state.gap("log_loss", "far", "a") > 5 and state.gap("log_loss", "same", "a") == 0
        patch.setattr(pooling, "losses", lambda by, outcomes: None)
        assert state.near("kappa", 2.0, 9) == ["a", "b", "far"]


def test_a_kernel_of_libsvm_is_chosen_unless_another_one_is_clearly_better(monkeypatch):
    class Fake:
        results = Results(*3 * (np.zeros(0),))

        def __init__(self, loss):
            self.loss = loss

    noise = np.random.default_rng(1).normal(size=400) * 0.1  # the standard error is .005
    monkeypatch.setattr(pooling, "losses", lambda by, outcomes: outcomes[0].loss)
    for shift, chosen in ((0.004, "-g 1"), (0.008, "-t laplacian -g 1"), (-0.004, "-g 1")):
        state = racing.SearchState(
            "given",
            -1,
            Search([Grid(kernel, 0, 0.0, Axis(0, 1, 1), 0.0) for kernel in ("rbf", "laplacian")]),
        )
        for number, own in enumerate(("-t laplacian -g 1", "-t laplacian -g 2", "-g 1")):
            is_rbf = own == "-g 1"
            state.record(
                own,
                {Part(0): Fake((noise - noise.mean() + shift) * is_rbf)},
                0,
                {"pooled": 1.0 + shift * is_rbf + 1e-9 * number},
            )
            state.texts[Point("rbf" if is_rbf else "laplacian", 0, 0.0, 0.0, number)] = own
        assert "-g 1" in state.near("log_loss", 2.0, 2)
        state.settle("log_loss")
        assert state.best == state.ranked[0] == chosen
        state.final, state.tried["given"] = None, state.tried["-g 1"]  # laplacian alone searched
        state.outcomes["given"], state.depth["given"] = state.outcomes["-g 1"], state.depth["-g 1"]
        del state.depth["-g 1"]
        state.texts = {point: own for point, own in state.texts.items() if own != "-g 1"}
        state.settle("log_loss")
        assert state.final is None


def test_steps_are_not_halved_where_nothing_can_be_told_apart():
    grid = Grid("rbf", 0, 0.0, Axis(0, 4, 2), Axis(-4, 0, 2))

    def points(is_flat):
        search, tried = Search([grid], 2, 1, is_flat=is_flat), []
        while fresh := search.next_points():
            tried += fresh
            for point in fresh:
                search.record(point, -abs(point.log2c - 2.0) - abs(point.log2g + 2.0))
        return tried

    seen = []
    assert len(points(lambda around: seen.append(around) or True)) == 9
    assert len(seen[0]) == 9 and (seen[0][0].log2c, seen[0][0].log2g) == (2.0, -2.0)
    assert len(points(lambda around: False)) == 25


def test_a_start_is_followed_by_half_steps_around_the_best():
    grid = Grid("rbf", 0, 0.0, Axis(0, 4, 2), Axis(-4, 0, 2))
    start = grid.points[:2]
    search = Search([grid], 1, 1, start)
    assert search.next_points() == start
    for point, score in zip(start, (2.0, 1.0)):
        search.record(point, score)
    assert {
        (abs(point.log2c - start[0].log2c), abs(point.log2g - start[0].log2g))
        for point in search.next_points()
    } == {(0, 1), (1, 0), (1, 1)}


@pytest.mark.usefixtures("scaled_down")
def test_options_that_fail_on_a_sample_are_tried_on_more():
    """More landmarks than the lowest level has points."""
    space = SearchSpace(log2g=Axis(-4.0, -2.0, 2.0), refine=0)
    start = begin(blobs(200), base="learner=nystrom -m 80")
    result, tree = tune(start, space, by="log_loss")
    assert tree is not None and result["points"][result["best"]]["score"] is not None
    assert all(point["rows"] is None for point in result["points"])


@pytest.mark.long
def test_hopeless_options_are_left_out_but_for_the_first_and_the_last_level(monkeypatch):
    monkeypatch.setattr(racing, "_GROWTH", 2)
    monkeypatch.setattr(racing, "_LEAST", 40)
    monkeypatch.setattr(racing, "_LEAST_OF_CLASS", 2)
    given, seen = "-g 0.000001 -c 0.001", []
    start = begin(blobs(900), base=given, calibrated=True)
    score = tuning.WholeConfiguration.score

    def watched(self, split, texts, progress):
        if self._experiment.quick_maps and "-g 1e-06 -c 0.001" in texts:
            seen.append(len(split.data.y))
        return score(self, split, texts, progress)

    monkeypatch.setattr(tuning.WholeConfiguration, "score", watched)
    result, _ = tune(start, SMALL, by="log_loss")
    assert len(racing._levels(start.experiment, [Part(0)])) == 5
    assert sorted(set(seen)) == [42, 720]
    assert result["points"][result["given"]]["rows"] is None
    kernels = SearchSpace(("linear", "rbf"), log2c=Axis(-1.0, 3.0, 2.0), refine=1)
    monkeypatch.setattr(racing, "COMPARED", 2)  # the outcomes of few are kept
    assert tune(start, kernels, by="log_loss")[1] is not None


def test_unbounded_solutions_stand_for_larger_c(monkeypatch):
    """The same outcomes, and fewer fits."""
    data = blobs(120, spread=0.3)
    start = begin(data)
    split = start.experiment.prepared(Part(0))
    trials = [
        replace(start.candidate, tree=with_options(start.tree, f"-g 0.5 -c {c}"))
        for c in (1, 32, 1024, 4096)
    ]
    fits = []
    whole = binary_problems.fit
    monkeypatch.setattr(
        binary_problems,
        "fit",
        lambda jobs, *more, **words: fits.extend(jobs) or whole(jobs, *more, **words),
    )
    counts, scores = [], []
    for along in (False, True):
        fits.clear()
        outcomes = run_trial(split, trials, replace(start.experiment, along_cost=along), first=True)
        counts.append(len(fits))
        scores.append([outcome.scores["log_loss"] for outcome in outcomes])
    assert counts[0] == 12 and counts[1] < 12
    assert scores[1] == pytest.approx(scores[0], rel=0.03)  # their leave-one-out values are near
    assert scores[1][2] == scores[1][3]


def test_parts_are_samples_with_the_shares_of_the_classes():
    y = np.repeat([0, 1, 2], [700, 280, 20])
    rows = stratified_sample(y, 100, 3)
    assert np.bincount(y[rows]).tolist() == [70, 28, 5]
    assert np.array_equal(rows, np.unique(rows))
    assert np.array_equal(rows, stratified_sample(y, 100, 3))
    assert not np.array_equal(rows, stratified_sample(y, 100, 4))
    assert len(stratified_sample(y, 1000, 3)) == 1000
    experiment = begin(blobs(1000)).experiment
    split, small = experiment.prepared(Part(2)), experiment.prepared(Part(2, 90))
    assert len(split.data.y) == 800 and 90 <= len(small.data.y) <= 93
    assert 90 <= len(small.test.y) <= 93
    assert np.isin(small.rows, split.rows).all()
    assert experiment.training_size(Part(2, 90)) == 90 and experiment.training_size(Part(2)) == 800


@pytest.mark.long
def test_estimate_is_that_of_final_maps():
    """With one option and nothing to choose it is the score of the maps that training fits."""
    data = load_training(str(ORDERED), InputFormat())[0]
    kept = stratified_sample(data.y, 700, 1)
    start = begin(
        Dataset(np.asarray(data.x[kept]), data.y[kept]),
        text="adjacent",
        base="-g 0.03125 -c 4",
        scale=True,
        calibrated=True,
    )
    alone = SearchSpace(("rbf",), log2c=Axis(2.0, 2.0, 2.0), log2g=Axis(-5.0, -5.0, 2.0), refine=0)
    result, tree = tune(start, alone, by="log_loss")
    assert result["tried"] == 1
    final = replace(start.experiment, quick_maps=False)
    candidate = replace(start.candidate, tree=tree)
    outcomes = [run_trial(split, [candidate], final, first=True)[0] for split in final.splits()]
    assert result["estimate"]["score"] == pytest.approx(pooled("log_loss", outcomes))
    assert result["points"][0]["score"] > 1.05 * result["estimate"]["score"]
