"""Conformal sets: check values by hand and by other programs, groups of classes, p values."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.calibration import sets
from agfmc.calibration.sets import (
    calibration_points,
    class_groups,
    class_scores,
    least_points,
    p_values,
    fill_empty_sets,
    prediction_sets,
    quantile,
    quantiles,
)
from agfmc.core.errors import AgfmcWarning
from agfmc.calibration.types import CalibrationPoints

P = np.array(
    [
        [0.7, 0.2, 0.1],
        [0.1, 0.8, 0.1],
        [0.3, 0.3, 0.4],
        [0.6, 0.3, 0.1],
        [0.2, 0.5, 0.3],
        [0.05, 0.05, 0.9],
        [0.4, 0.35, 0.25],
        [0.9, 0.05, 0.05],
        [0.15, 0.7, 0.15],
        [0.33, 0.33, 0.34],
    ]
)
Y = np.array([0, 1, 2, 1, 1, 2, 0, 0, 2, 0])
Q = np.array([[0.45, 0.35, 0.2], [0.12, 0.28, 0.6], [0.16, 0.14, 0.7], [0.31, 0.4, 0.29]])
LABELS = (3, 5, 9)
POINTS = calibration_points(P, Y, P.argmax(axis=1), LABELS)


def columns(table):
    return [tuple(np.flatnonzero(row).tolist()) for row in table]


def test_points():
    np.testing.assert_array_equal(POINTS.label, [3, 5, 9, 5, 5, 9, 3, 3, 9, 3])
    np.testing.assert_allclose(POINTS.p_true, [0.7, 0.8, 0.4, 0.3, 0.5, 0.9, 0.4, 0.9, 0.15, 0.33])
    np.testing.assert_allclose(POINTS.cumulative, [0.7, 0.8, 0.4, 0.9, 0.5, 0.9, 0.4, 0.9, 1, 0.67])
    np.testing.assert_array_equal(POINTS.p_largest, P.max(axis=1))
    np.testing.assert_array_equal(POINTS.right, [1, 1, 1, 0, 1, 1, 1, 1, 0, 0])


@pytest.mark.parametrize("alpha, q", [(0.1, 0.85), (0.2, 0.7), (0.3, 0.67)])
def test_quantiles(alpha, q):
    np.testing.assert_allclose(quantiles(POINTS, LABELS, alpha, "lac"), [q] * 3, rtol=1e-14)


def test_empty_sets_are_filled_with_the_most_probable_class():
    p = np.array([[0.2, 0.5, 0.3], [0.6, 0.2, 0.2], [0.4, 0.4, 0.2]])
    sets = np.array([[False] * 3, [False, True, False], [False] * 3])
    fill_empty_sets(sets, p)
    assert columns(sets) == [(1,), (1,), (0,)]  # the first of equal ones


def test_sets_of_their_own_points():
    limits = quantiles(POINTS, LABELS, 0.2, "lac")
    assert columns(prediction_sets(P, limits, "lac")) == [
        (0,),
        (1,),
        (0, 1, 2),
        (0, 1),
        (1, 2),
        (2,),
        (0, 1),
        (0,),
        (1,),
        (0, 1, 2),
    ]
    np.testing.assert_array_equal(
        prediction_sets(P, limits - 1e-13, "lac"), prediction_sets(P, limits, "lac")
    )


@pytest.mark.parametrize(
    "alpha, expected",
    [  # SplitConformalClassifier of MAPIE 1.6.0
        (0.1, [(0, 1, 2), (1, 2), (0, 2), (0, 1, 2)]),
        (0.2, [(0, 1), (2,), (2,), (0, 1)]),
        (0.3, [(0, 1), (2,), (2,), (1,)]),
        (0.4, [(0,), (2,), (2,), (1,)]),
    ],
)
def test_sets_of_another_program(alpha, expected):
    assert columns(prediction_sets(Q, quantiles(POINTS, LABELS, alpha, "lac"), "lac")) == expected


@pytest.mark.parametrize(
    "score, by_class, expected",
    [  # ConformalClassifier of crepes 0.9.1
        ("lac", False, [[6, 4, 2], [1, 2, 7], [2, 1, 8], [3, 6, 2]]),
        ("lac", True, [[3, 2, 2], [1, 1, 3], [1, 1, 3], [1, 2, 2]]),
        ("aps", False, [[9, 6, 2], [2, 5, 8], [5, 2, 7], [6, 11, 2]]),
        ("aps", True, [[4, 3, 2], [1, 2, 3], [2, 1, 3], [2, 4, 2]]),
    ],
)
def test_p_values_of_another_program(score, by_class, expected):
    count = [5, 4, 4] if by_class else 11
    np.testing.assert_allclose(
        p_values(Q, POINTS, LABELS, score, by_class), np.array(expected) / count, rtol=1e-15
    )


def test_peers_if_they_are_here():
    crepes = pytest.importorskip("crepes")
    generator = np.random.default_rng(0)
    p, y = generator.dirichlet(np.ones(4), 80), generator.integers(0, 4, 80)
    at = generator.dirichlet(np.ones(4), 30)
    points = calibration_points(p, y, p.argmax(axis=1), range(4))
    peer = crepes.ConformalClassifier()
    peer.fit(1 - points.p_true)
    np.testing.assert_allclose(
        p_values(at, points, range(4), "lac"), peer.predict_p(1 - at, smoothing=False)
    )


@given(
    st.integers(1, 60),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.05, 0.1, 0.2, 0.3, 0.5]),
    st.sampled_from(sets.SCORES),
)
def test_a_class_is_in_the_set_where_its_p_value_exceeds_alpha(n, seed, alpha, score):
    generator = np.random.default_rng(seed)
    p = generator.integers(1, 5, (n, 3)) / 4.0  # with many ties
    p /= p.sum(axis=1)[:, None]
    points = calibration_points(p, generator.integers(0, 3, n), p.argmax(axis=1), LABELS)
    limits = np.full(3, quantile(sets.point_scores(points, score), alpha))
    inside = prediction_sets(p, limits, score)
    np.testing.assert_array_equal(inside, p_values(p, points, LABELS, score) > alpha + 1e-12)
    for row, one in zip(inside, p):
        np.testing.assert_array_equal(prediction_sets(one[None], limits, score)[0], row)


def test_ranks_are_those_of_exact_numbers():
    for n in range(1, 400):
        for percent in (1, 2, 5, 10, 20, 30, 42, 44):
            rank = -(-(n + 1) * (100 - percent) // 100)
            found = quantile(np.arange(1.0, n + 1), 1 - (100 - percent) / 100)
            assert found == (rank if rank <= n else np.inf)
            assert (n >= least_points(percent / 100)) == (rank <= n)


def of_counts(counts):
    label = np.repeat(np.arange(len(counts)), counts)
    n = len(label)
    return CalibrationPoints(
        label, np.linspace(0, 1, n), np.linspace(0, 1, n), np.ones(n), np.ones(n, dtype=bool)
    )


@pytest.mark.parametrize(
    "counts, groups",
    [
        ([20, 30, 19], [0, 1, 2]),  # 19 points suffice for .05
        ([3, 30, 16, 0], [0, 1, 0, -1]),  # 3 + 16 are enough
        ([3, 30, 15, 25], [0, 1, 0, 0]),  # 3 + 15 are not: the smallest of the others joins
        ([1, 2, 3], [0, 0, 0]),
    ],
)
def test_rare_classes_share(counts, groups):
    assert class_groups(of_counts(counts), range(len(counts)), 0.05).tolist() == groups


def test_by_class():
    with pytest.warns(AgfmcWarning, match=r"^class 11 is without calibration points: in every"):
        limits = quantiles(POINTS, (*LABELS, 11), 0.3, "lac", by_class=True)
    # 4, 3, 3 points: the 4th of 5, the third of 4, the third of 4
    np.testing.assert_allclose(limits, [0.67, 0.7, 0.85, np.inf])
    inside = prediction_sets(
        np.array([[0.32, 0.29, 0.2, 0.19], [0.4, 0.3, 0.1, 0.2]]), limits, "lac"
    )
    assert columns(inside) == [(2, 3), (0, 1, 3)]


def test_too_few_points():
    with pytest.warns(
        AgfmcWarning,
        match="a coverage of 0.95 needs 19 calibration points, there "
        "are 10: every set has all classes",
    ):
        limits = quantiles(POINTS, LABELS, 0.05, "lac")
    assert prediction_sets(P, limits, "lac").all()
    with pytest.warns(AgfmcWarning, match="there are 10: rare classes are in every set"):
        assert np.isinf(quantiles(POINTS, LABELS, 0.05, "aps", by_class=True)).all()


def test_blocks_do_not_matter(monkeypatch):
    generator = np.random.default_rng(1)
    p = generator.dirichlet(np.full(7, 0.3), 50)
    y = generator.integers(0, 7, 50)

    def everything():
        points = calibration_points(p, y, p.argmax(axis=1), range(7))
        return [
            points.cumulative,
            prediction_sets(p, np.full(7, 0.9), "aps"),
            p_values(p, points, range(7), "aps", True),
        ]

    whole = everything()
    monkeypatch.setattr(sets, "CELLS", 20)
    for one, other in zip(whole, everything()):
        np.testing.assert_array_equal(one, other)


def test_scores_of_equal_classes():
    np.testing.assert_allclose(class_scores(np.array([[0.3, 0.3, 0.4]]), "aps"), [[0.7, 1, 0.4]])
