"""Confidence intervals: their formulas, and the resamples of the bootstrap."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from agfmc.core.answers import Results, Sets
from agfmc.core.probabilities import standard_error
from agfmc.score.evaluation import evaluate, ScoreRequest
from agfmc.score.intervals import (
    clopper_pearson,
    effective_number,
    resampled,
    resampled_summary,
    wilson,
)
from agfmc.score.significance import mcnemar, paired_mean, paired_shares


@given(st.integers(1, 400), st.floats(0, 1))
def test_intervals_of_shares(n, part):
    hits = round(part * n)
    test = stats.binomtest(hits, n)
    for mine, method in ((wilson(hits / n, n), "wilson"), (clopper_pearson(hits, n), "exact")):
        assert mine == pytest.approx(tuple(test.proportion_ci(method=method)), abs=1e-9)
    assert wilson(hits / n, n).low <= hits / n <= wilson(hits / n, n).high


def test_nothing_has_no_interval():
    assert all(
        map(math.isnan, (*wilson(math.nan, 0), *clopper_pearson(0, 0), standard_error(np.ones(1))))
    )


def test_ends():
    assert wilson(1.0, 7).high == 1 and wilson(0.0, 7).low == 0
    assert clopper_pearson(7, 7).high == 1 and clopper_pearson(0, 7).low == 0


def test_effective_number():
    assert effective_number(None, 9) == 9 == pytest.approx(effective_number(np.full(9, 0.3), 9))
    assert effective_number(np.array([1, 1, 0, 0]), 4) == 2


def test_resamples_keep_the_points_of_each_class():
    y = np.array([2, 0, 2, 2, 0, 4, 2])
    resamples = resampled(y, 5)
    again = resampled(y, 5)
    seen = set()
    for _ in range(50):
        counts = next(resamples)
        assert np.array_equal(counts, next(again))
        assert np.bincount(y, weights=counts).tolist() == [2, 0, 4, 0, 1]
        seen.add(tuple(counts))
    assert len(seen) > 20


def test_the_spread_of_a_mean():
    rng = np.random.default_rng(0)
    values, y = rng.normal(size=400), np.zeros(400, dtype=int)
    interval = resampled_summary(
        {"mean": values.mean()},
        lambda counts: {"mean": counts @ values / 400},
        resampled(y, 1),
        2000,
    )["mean"]
    half = 1.96 * standard_error(values)
    assert interval == pytest.approx((values.mean() - half, values.mean() + half), abs=0.1 * half)


def test_the_spread_stands_around_the_value():
    # resampling raises what counts repeated points: the interval is moved back
    values = iter(np.linspace(3, 5, 101))
    interval = resampled_summary(
        {"a": 1.0, "b": 2.0},
        lambda counts: {"a": next(values), "b": None},
        resampled(np.zeros(3, dtype=int), 1),
        101,
    )
    assert interval["a"] == pytest.approx((0.05, 1.95)) and math.isnan(interval["b"].low)


@given(st.lists(st.tuples(st.floats(-9, 9), st.integers(1, 4)), min_size=2, max_size=9))
def test_standard_error(pairs):
    values, w = (np.array(column, dtype=float) for column in zip(*pairs))
    assert standard_error(values) == pytest.approx(values.std(ddof=1) / math.sqrt(len(values)))
    assert standard_error(values, 3 * w) == pytest.approx(standard_error(values, w))


COPIES = 5  # of each point, which are one group


def of_groups(values, w, groups):
    """All that is said of how sure means and shares of values (n,) are."""
    right, other = values > 0, np.abs(values) > 0.5
    drawn = resampled(right * 1, 3, groups)
    return np.array(
        [
            standard_error(values, w, groups),
            effective_number(w, len(values), groups),
            effective_number(w, len(values), groups, values),
            np.log(mcnemar(right, other, w, groups)),
            *paired_shares(right, other, w, groups),
            *paired_mean(values, w, groups),
            *(next(drawn) @ values / len(values) for _ in range(9)),
        ]
    )


@pytest.mark.parametrize("weighted", [False, True])
def test_groups_of_single_points_and_of_copies(weighted):
    rng = np.random.default_rng(8)
    n = 300
    values, w = rng.normal(size=n), rng.integers(1, 4, n) * 1.0 if weighted else None
    plain = of_groups(values, w, None)
    assert of_groups(values, w, 7 * np.arange(n)) == pytest.approx(plain)
    copied = of_groups(
        *(None if one is None else np.repeat(one, COPIES) for one in (values, w, np.arange(n)))
    )
    assert copied == pytest.approx(plain, rel=0.03) and copied[:2] == pytest.approx(plain[:2])
    assert of_groups(np.repeat(values, COPIES), None, None)[0] < plain[0] / 2


def test_effective_number_of_groups():
    groups, w = np.repeat([3, 1, 2], [4, 2, 2]), np.array([1.0, 1, 1, 1, 2, 2, 2, 2])
    assert effective_number(w, 8, groups) == 3 and effective_number(None, 8, groups) == 64 / 24
    same = np.ones(8)  # as often right in all groups, about whose differences nothing is known
    assert effective_number(w, 8, groups, same) == 3
    unlike = np.array([0.0, 1, 0, 1, 0, 1, 1, 0])  # no more alike in groups than elsewhere
    assert effective_number(None, 8, groups, unlike + 0.1 * (groups == 3)) == 8


def test_resamples_of_groups_of_several_classes():
    y, groups = np.array([0, 0, 1, 1, 1, 0, 0, 1]), np.array([5, 5, 5, 2, 2, 7, 7, 9])
    seen = set()
    for _, counts in zip(range(40), resampled(y, 1, groups)):
        assert all(len(set(counts[groups == group])) == 1 for group in groups)
        assert counts[0] == counts[5] == 1 and counts[3] + counts[7] == 2
        seen.add(counts[3])
    assert seen == {0, 1, 2}


def scores_of(copies, groups):
    """All scores of 150 points in three classes with intervals."""
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 150)
    p = rng.dirichlet((1, 1, 1), 150) + 0.8 * np.eye(3)[y]
    p /= p.sum(axis=1, keepdims=True)
    before = (p + 0.2) / (p + 0.2).sum(axis=1, keepdims=True)
    y, p, before = (np.repeat(one, copies, axis=0) for one in (y, p, before))
    results = Results(
        y,
        p.argmax(axis=1),
        np.arange(3),
        3,
        p.max(axis=1),
        p,
        before=before,
        sets=Sets((p > 0.2).sum(axis=1), p[np.arange(len(y)), y] > 0.2),
        groups=groups,
    )
    return evaluate(results, request=ScoreRequest(top_accuracy=2, ordered=True, intervals=20))


def widths(scores):
    """{interval or error: its width} of scores."""
    size = {name: high - low for name, (low, high) in scores["intervals"].items()}
    size |= {f"{name} change": one["error"] for name, one in scores["before"]["difference"].items()}
    return size | {"sets": scores["sets"]["high"] - scores["sets"]["low"]}


def test_intervals_of_scores_are_those_of_groups():
    plain, single = scores_of(1, None), scores_of(1, np.arange(150))
    assert widths(single) == pytest.approx(widths(plain)) and len(widths(plain)) > 15
    copied = scores_of(COPIES, np.repeat(np.arange(150), COPIES))
    assert widths(copied) == pytest.approx(widths(plain), rel=0.01)
    for rows, count in (("by_class", "support"), ("calibration", "count")):
        for one, of_copies in zip(single[rows], copied[rows]):
            assert one["effective"] == pytest.approx(one[count])
            assert of_copies["effective"] == pytest.approx(one[count], rel=0.2)
