"""Cross-fitted boosters: equal to LightGBM's raw scores, held out by the fold, from text to trees."""

import numpy as np
import pytest

from agfmc.core.errors import DataError, ModelError
from agfmc.core.models import NodeModel
from agfmc.core.splits import stratified_folds
from agfmc.learners import boosting
from agfmc.learners.boosting import find_words
from agfmc.learners.protocol import parse_options
from agfmc.learners.trees import (
    BoostedNodeOptions,
    format_boosted_node,
    read_boosted_node,
    Trees,
)

lightgbm = pytest.importorskip("lightgbm")


def points(n=300, seed=0, missing=0.0):
    """Points of four classes, some values missing."""
    generator = np.random.default_rng(seed)
    x = generator.normal(size=(n, 4))
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32) + 2 * (x[:, 2] > 1)
    x[generator.random(x.shape) < missing] = np.nan
    return x, y.astype(np.int32)


def words(n, seed):
    """A number, a column of forty words as 39 0/1 columns, and one of four, normalised."""
    generator = np.random.default_rng(seed)
    word = generator.integers(0, 40, n)
    other = generator.integers(0, 4, n)
    x = np.column_stack([generator.normal(size=n), np.eye(40)[word, :39], np.eye(4)[other]])
    y = x[:, 0] + np.sin(2 * word) + other % 2 > 0.5
    return (x - 0.1) / 0.3, y.astype(np.int32)


@pytest.fixture
def boosters(monkeypatch):
    """The boosters of LightGBM whose trees are read, in a list."""
    made = []
    read = boosting.read_trees

    def recorded(text, columns):
        made.append(lightgbm.Booster(model_str=text))
        return read(text, columns)

    monkeypatch.setattr(boosting, "read_trees", recorded)
    return made


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("options", ["", "-x 1", "-l 4 -e 0 -b 2", "-w1 3"])
def test_the_forest_is_the_mean_of_the_boosters(boosters, options, missing):
    x, y = points(missing=missing)
    side = (y > 1).astype(np.int8)
    learner = parse_options(f"learner=trees -n 30 {options}")
    solution = learner.solve(x, np.arange(len(x)), side)
    assert len(boosters) == learner.n_boosters
    counts = np.bincount(side) * np.array([1, 3 if "w1" in options else 1])
    counts = 1 + counts * len(side) / counts.sum()
    new, _ = points(200, 1)
    new[::3, 0] = new[1::4, 3] = np.nan  # where training had missing values, and where not
    raw = [booster.predict(new, raw_score=True) for booster in boosters]
    expected = np.log(counts[1] / counts[0]) + np.mean(raw, axis=0)
    np.testing.assert_allclose(solution.function(new), expected, rtol=0, atol=1e-9)
    for row in (0, 77):  # a point does not depend on its neighbours
        assert solution.function(new[row : row + 1]) == solution.function(new)[row]


def test_held_out_scores_are_of_the_booster_that_has_not_seen_the_sample(boosters):
    x, y = points()
    forest, held_out = BoostedNodeOptions(n_estimators=20).cross_fit(x, y, 4)
    fold = stratified_folds(y.astype(float), 1, 3)
    start = np.log((np.bincount(y) + 1) / (len(y) + 4))
    for number, booster in enumerate(boosters):
        out = fold == number
        np.testing.assert_allclose(held_out[out], booster.predict(x[out], raw_score=True) + start)
    raw = np.mean([booster.predict(x, raw_score=True) for booster in boosters], axis=0)
    np.testing.assert_allclose(forest.values(x, range(4)).T, raw + start)


def test_the_label_of_a_sample_does_not_reach_its_held_out_score():
    x, y = points()
    before = Trees(early_stopping_rounds=0, n_estimators=20).cross_fit(x, y % 2)[1][7]
    other = y % 2
    other[7] = 1 - other[7]
    other[8] = 1 - other[8]  # the counts stay
    order = np.random.default_rng(0).permutation(len(x))
    assert not np.isclose(before, 0)
    # noise alone: held-out scores tell nothing
    noise = order % 2
    scores = Trees().cross_fit(x, noise)[1][:, 0]
    assert abs(np.mean((scores > 0) == (noise == 1)) - 0.5) < 0.1


def test_groups_are_held_out_as_a_whole():
    x, y = points(120)
    x[:] = x[np.arange(120) // 4 * 4]  # four equal rows each, with labels of chance
    noise = np.random.default_rng(1).integers(0, 2, 30)[np.arange(120) // 4]
    single = Trees(n_estimators=50).cross_fit(x, noise)[1][:, 0]
    whole = Trees(n_estimators=50).cross_fit(x, noise, groups=np.arange(120) // 4)[1][:, 0]
    assert np.mean((single > 0) == noise) > 0.8 > 0.65 > np.mean((whole > 0) == noise)


def test_the_order_of_the_samples_does_not_matter():
    x, y = points()
    side = (y > 1).astype(np.int8)
    rows = np.arange(len(x))
    turned = np.concatenate([rows[side == 1], rows[side == 0]])
    first = Trees(n_estimators=20).solve(x, rows, side)
    second = Trees(n_estimators=20).solve(x, turned, side[turned])
    np.testing.assert_array_equal(first.function(x), second.function(x))
    np.testing.assert_array_equal(first.held_out[turned], second.held_out)


@pytest.mark.parametrize("options", [{}, {"extra_trees": 1, "min_child_samples": 20}])
def test_words_are_categories_of_lightgbm(boosters, options):
    x, y = words(900, 0)
    x[:, 2] = x[0, 2]  # a word that training has not
    columns = find_words(x)
    assert columns.features == [range(1), range(1, 40), *(range(i, i + 1) for i in range(40, 44))]
    forest, _ = Trees(n_estimators=30, early_stopping_rounds=0, **options).cross_fit(x, y)
    assert any("num_cat=1" in booster.model_to_string() for booster in boosters)
    forest.check(AssertionError)
    start = np.log((y.sum() + 1) / (len(y) - y.sum() + 1))
    new = words(300, 1)[0]  # with that word
    new[::3, 1:9] = new[1::5, 4] = new[::7, 0] = np.nan
    for some in (x, new):
        raw = [booster.predict(columns.numbered(some), raw_score=True) for booster in boosters]
        np.testing.assert_allclose(forest(some), start + np.mean(raw, axis=0), atol=1e-12)


def test_columns_that_are_no_words():
    x, _ = words(200, 0)
    three = np.where(np.arange(200) % 9 == 0, 0.5, x[:, 3])  # values of a column
    for wrong in (
        x[:, 40:],
        np.repeat(x[:, 1:9], 2, axis=1),
        np.eye(200)[:, :90],
        np.column_stack([x[:, 1:3], three, x[:, 4:8]]),
    ):
        assert find_words(wrong).features == [range(i, i + 1) for i in range(wrong.shape[1])]


def test_early_stopping_needs_samples_of_both_sides():
    x, y = points()
    side = (y > 1).astype(np.int8)

    def rounds(**options):
        forest = Trees(n_boosters=2, **options).cross_fit(x, side)[0]
        return (len(forest.roots) - 1) / 2

    assert rounds(early_stopping_rounds=5) < 60
    assert rounds(early_stopping_rounds=0, n_estimators=60) == 60
    few = np.zeros(60, dtype=np.int8)
    few[:10] = 1
    short = Trees(n_boosters=2, n_estimators=55).cross_fit(x[:60], few)[0]
    assert len(short.roots) == 1 + 2 * 6


def test_a_weight_is_a_factor_of_all():
    """Weights that are all 3 change neither trees nor start."""
    x, y = points()
    side = (y > 1).astype(np.int8)
    learner = Trees(n_estimators=20, min_child_samples=20, early_stopping_rounds=0)
    plain = learner.cross_fit(x, side)[0]
    weighted = learner.cross_fit(x, side, w=np.full(len(x), 3.0))[0]
    np.testing.assert_allclose(plain(x), weighted(x), atol=0.05)


def test_every_line_of_a_node_file_is_read_once():
    x, y = points()
    forest, held_out = BoostedNodeOptions(n_estimators=5).cross_fit(x, y, 4)
    model = NodeModel("T", "m", 4, forest=forest, held_out=held_out)
    lines = format_boosted_node(model).splitlines(keepends=True)
    assert read_boosted_node("m", "".join(lines).encode()).branches == 4
    held = next(at for at, line in enumerate(lines) if line.startswith("# agfmc held out"))
    for wrong, words in (
        ([*lines[:5], "junk\n", *lines[5:]], "expected 7 lines of trees, found 8"),
        ([*lines[:5], lines[4], *lines[5:]], "expected 7 lines of trees, found 8"),
        ([*lines[:held], *lines[held + 1 :]], "the held-out scores are missing"),
    ):
        with pytest.raises(ModelError, match=words):
            read_boosted_node("m", "".join(wrong).encode())


def gaps(n, seed):
    """Numbers with missing values, which fills and a mark stand for, normalised, and classes that
    depend on what is missing."""
    generator = np.random.default_rng(seed)
    number = generator.normal(size=n)
    is_missing = generator.random(n) < 0.2
    x = np.column_stack(
        [np.where(is_missing, 0.25, number), is_missing, generator.normal(size=n), number > 1]
    )
    y = np.where(is_missing, 1, 2 * (number > 0)) + 3 * (x[:, 2] > 0.5)
    return (x - 0.1) / 0.3, y.astype(np.int32)


def test_a_filled_value_with_a_mark_is_missing_for_trees(boosters):
    x, y = gaps(600, 0)
    unfilled = x[:, [0, 2, 3]]
    unfilled[x[:, 1] > 0, 0] = np.nan
    columns = find_words(x)
    np.testing.assert_array_equal(columns.numbered(x), unfilled)
    options = BoostedNodeOptions(n_estimators=20)
    forest, held_out = options.cross_fit(x, y, 6)
    plain, plain_held_out = options.cross_fit(unfilled, y, 6)
    forest.check(AssertionError)
    np.testing.assert_array_equal(held_out, plain_held_out)
    np.testing.assert_array_equal(
        forest.values(x, range(6)), plain.values(columns.numbered(x), range(6))
    )


def test_columns_that_are_no_marks():
    x, _ = gaps(600, 0)
    several = x.copy()
    several[x[:, 1] > 0, 0] = np.arange(np.count_nonzero(x[:, 1] > 0))
    rare = x.copy()
    rare[:, 1] = np.where(np.arange(600) < 4, x[:, 1].max(), x[:, 1].min())
    rare[:4, 0] = 0.25
    words = x[:, [3, 1, 2, 3]]
    for wrong in (several, rare, words):
        assert find_words(wrong).features == [range(i, i + 1) for i in range(4)]


def test_a_refusal_of_lightgbm_is_told_once(capfd):
    x, y = points()
    with pytest.raises(DataError, match="LightGBM refuses the problem: Number of class"):
        Trees(n_estimators=3).cross_fit(x, y % 3)
    assert capfd.readouterr() == ("", "")
