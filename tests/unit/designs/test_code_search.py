"""Codes that are searched for in data: each step, the whole, and what cannot be."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from agfmc.control.matrix import rows_to_matrix
from agfmc.designs.random_codes import candidate_rows
from agfmc.control.build import from_rows
from agfmc.decode.constrained import prepare
from agfmc.calibration.maps import apply_map, fit_temperature
from agfmc.core import memory
from agfmc.core.probabilities import losses
from agfmc.core.errors import ControlError, DataError, UsageError
from agfmc.landmarks.learner import NystromOptions
from agfmc.designs import code_search as module
from agfmc.designs.code_search import best_code, CodeSearch, RowPool
from agfmc.designs.design import design, LabelledPoints, matrix_of
from agfmc.designs.split_costs import SplitCosts

LABELS = [2, 3, 5, 9]
MACHINE = NystromOptions.parse("-m 12 -g 0.3 -l 0.05")


def points(n=60, seed=3, k=4):
    generator = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), n // k)
    middle = np.array([[0, 0, 0], [1.5, 0, 0], [0, 2, 0], [1, 1, 2], [-1, 1, -1]])[:k]
    return LabelledPoints(
        generator.normal(size=(len(y), 3)) + middle[y],
        np.array([*LABELS, 11])[y],
        [*LABELS, 11][:k],
        {2: "two"},
    )


def pool_of(found, rows):
    costs = SplitCosts(found.x, np.searchsorted(found.labels, found.y), MACHINE)
    return RowPool(rows_to_matrix(rows, len(found.labels)), costs.held_out_values(rows), costs)


def loss(pool, rows):
    """The loss that rows are chosen by."""
    p = prepare(pool.a[list(rows)])(pool.r[:, list(rows)])[0]
    return -np.log(0.99 * p[np.arange(len(pool.y)), pool.y] + 0.01 / 4).mean()


def mapped_loss(pool, rows):
    """The loss that is reported, after a temperature and a floor."""
    p = prepare(pool.a[list(rows)])(pool.r[:, list(rows)])[0]
    return losses(apply_map(fit_temperature(p, pool.y, pool.weights), p), pool.y).mean()


@pytest.fixture(scope="module")
def pool():
    return pool_of(points(), candidate_rows(4, 90))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Two parts judge each other."""
    monkeypatch.setattr(module, "PARTS", 2)


@pytest.fixture
def every(monkeypatch):
    """All candidates are decoded."""
    monkeypatch.setattr(module, "DECODED", 1000)


def walk(pool):
    return module._FloatingSelection(pool, np.arange(len(pool.y)))


def solvable(pool, size):
    return [rows for rows in combinations(range(len(pool.a)), size) if pool.determined(rows)]


@pytest.mark.long
def test_one_more_and_one_less_are_the_best_of_all(pool, every):
    for rows in solvable(pool, 3)[::300]:
        one = walk(pool)
        larger = one._with_one_more(one._code(rows))
        others = set(range(len(pool.a))).difference(rows)
        assert larger.rows[:-1] == rows
        assert larger.loss == pytest.approx(min(loss(pool, (*rows, other)) for other in others))
        smaller = one._with_one_less(larger)
        assert smaller.loss == pytest.approx(
            min(loss(pool, some) for some in combinations(larger.rows, 3) if pool.determined(some))
        )
        assert one._with_one_less(smaller) is smaller


def test_what_is_foreseen_leads_to_nearly_the_best(pool):
    for rows in solvable(pool, 3)[100::400]:
        one = walk(pool)
        code = one._code(rows)
        exact = [loss(pool, (*rows, other)) for other in range(len(pool.a)) if other not in rows]
        assert one._with_one_more(code).loss <= np.quantile(exact, 0.1)


@pytest.mark.parametrize("less", [False, True])
def test_foreseen_probabilities_are_exact_where_classes_stay(pool, less):
    rows, other = (0, 4, 9, 15), 20
    rows = (*rows, other) if less else rows
    after = rows[:-1] if less else (*rows, other)
    assert pool.determined(rows) and pool.determined(after)
    p, q = (prepare(pool.a[list(some)])(pool.r[:, list(some)])[0] for some in (rows, after))
    stay = np.flatnonzero((p.min(axis=1) > 1e-3) & (q.min(axis=1) > 1e-3))
    assert len(stay) > 5
    code = walk(pool)._code(rows)
    for point in stay:
        expected = -np.log(0.99 * q[point, pool.y[point]] + 0.01 / 4)
        assert pool.predict_loss(code, np.array([other]), np.array([point]), less) == pytest.approx(
            expected, rel=1e-3
        )


def test_systems_that_are_not_held_together_give_the_same(pool, monkeypatch):
    even, code = pool.code((0, 4), walk(pool).points), pool.code((0, 4, 9, 15), walk(pool).points)
    others, some = np.arange(16, 25), np.arange(7, 50)
    expected = pool.predict_loss(code, others, some)
    monkeypatch.setattr(module, "_NUMBERS", 5 * 4 * 4)
    assert [len(block) for block in pool._blocks(code.rows, some)] == [5] * 8 + [3]
    assert [len(block) for block in pool._blocks(range(20), some[:2])] == [1, 1]
    assert pool.predict_loss(code, others, some) == pytest.approx(expected, rel=1e-12)
    assert (pool.code((0, 4), walk(pool).points).p == even.p).all()


def test_a_search_is_the_greedy_choice_by_brute_force(every):
    found = points(seed=8)
    pool = pool_of(found, candidate_rows(4, 90))
    one = walk(pool).run((1, 5, 12), 5, 5)
    chosen = [1, 5, 12]
    for _ in range(2):
        chosen.append(
            min(
                set(range(len(pool.a))).difference(chosen),
                key=lambda row: loss(pool, (*chosen, row)),
            )
        )
    assert one.at(5).loss <= loss(pool, chosen) + 1e-12
    assert sorted(one.best) == [3, 4, 5] or min(one.best) < 3
    least = min(loss(pool, rows) for rows in solvable(pool, 3)[::40])
    best = walk(pool)
    best.run((), 3, 3)
    assert best.at(3).loss <= least * 1.1


def test_rows_that_are_idle_go(pool):
    one = walk(pool)
    start = tuple(range(len(pool.a)))
    one.run(start, None, len(start))
    assert one.at(len(start)).rows == start
    code = one._without_idle(one._code(start))
    assert len(code.rows) < len(start) and code.loss < loss(pool, start)
    assert walk(pool).run(start, 4, 4).at(4).loss < 1.2 * code.loss


def test_of_few_rows_each_raises_the_rank(pool):
    one = walk(pool)
    code = one._code(())
    assert code.p == pytest.approx(0.25)
    for size in range(1, 4):
        assert not pool.determined(code.rows)
        code = one._with_one_more(code)
        assert np.linalg.matrix_rank(np.vstack([pool.a[list(code.rows)], np.ones(4)])) == size + 1
    assert pool.determined(code.rows)
    assert not RowPool(
        np.array([[-1, 1, 0, 0], [-1, 0, 1, 0], [1, -1, -1, 0]]), pool.r, pool.splits
    ).determined(range(3))  # a class is in no row


def test_the_result_is_what_its_rows_give():
    found, progress = points(n=40, seed=4), []
    chosen = best_code(
        found, code=CodeSearch(MACHINE, 6), progress=lambda *words: progress.append(words[:2])
    )
    assert progress == sorted(progress) and progress[-1] == (1000, 1000)
    assert len({done for done, _ in progress if 300 < done < 800}) > 3  # within a walk, too
    rows, labels = matrix_of(chosen.tree)
    pool = pool_of(found, rows)
    assert len(rows) == 6 and list(labels) == found.labels and chosen.tree.names == {2: "two"}
    assert chosen.chosen.loss == pytest.approx(mapped_loss(pool, range(6)), rel=1e-6)
    p = prepare(pool.a)(pool.r)[0]
    assert chosen.chosen.wrong == pytest.approx(np.mean(p.argmax(axis=1) != pool.y))
    assert [point.rows for point in chosen.curve][-1] == 6 == chosen.chosen.rows
    now = set()
    for point in chosen.curve:
        assert not now & set(point.added) and now >= set(point.dropped)
        now = now - set(point.dropped) | set(point.added)
        assert len(now) == point.rows
    text = chosen.notes
    assert text[0].startswith("best-code: 6 rows of 25 candidates; ") and len(text) == 5 + len(
        chosen.curve
    ) + bool(chosen.chosen.added)


@pytest.mark.long
def test_workers_and_neighbours_change_nothing():
    found = points()
    one, other = (best_code(found, code=CodeSearch(MACHINE), workers=workers) for workers in (1, 3))
    assert (other.tree, other.chosen, other.curve) == (one.tree, one.chosen, one.curve)
    assert other.notes == one.notes


@pytest.mark.long
def test_a_start_is_improved():
    found = points(n=40, seed=4)
    start = design("tree", found.labels)
    pool = pool_of(found, matrix_of(start)[0])
    before = loss(pool, range(3))
    same = best_code(found, code=CodeSearch(MACHINE, 3, start=start))
    assert same.chosen.rows == 3 and same.chosen.loss <= before + 1e-6
    more = best_code(found, code=CodeSearch(MACHINE, start=start))
    assert more.chosen.loss <= before + 1e-6 and more.curve[-1].loss < before
    twice = from_rows([((0, 1), (2, 3)), ((2, 3), (0, 1)), ((0,), (1,)), ((2,), (3,))], LABELS)
    assert best_code(points(), code=CodeSearch(MACHINE, 3, start=twice)).chosen.rows == 3


@pytest.mark.long
@pytest.mark.parametrize("rows,better", [(5, True), (None, False)])
def test_rows_are_exchanged_if_points_that_did_not_choose_gain(rows, better):
    found = points(n=40, seed=1, k=5)
    start = design("one-vs-one", found.labels)
    chosen = best_code(found, code=CodeSearch(MACHINE, rows, 60, start))
    point = chosen.chosen
    before = next(own for own in chosen.curve if own.rows == point.rows)
    now = {tuple(map(frozenset, row)) for row in (*point.added, *point.dropped)}
    last = chosen.notes[-1]
    if better:
        assert point.judged < before.judged and point.loss < before.loss and len(now) >= 2
        assert {
            row
            in {
                tuple(frozenset(found.labels[i] for i in side) for side in sides)
                for sides in matrix_of(chosen.tree)[0]
            }
            for row in now
        } == {True, False}
        assert f"{point.judged:7.4f}" in last and ": chosen, rows exchanged at the end: + " in last
    else:
        assert not now and point.judged == before.judged and point.loss == before.loss
        assert "exchanged" not in last and len(matrix_of(chosen.tree)[0]) == point.rows
        pool = pool_of(found, matrix_of(chosen.tree)[0])
        assert point.loss == pytest.approx(mapped_loss(pool, range(point.rows)), rel=1e-6)


def test_labels_at_random_are_not_told_apart():
    found = points(n=120)
    found = found._replace(y=np.random.default_rng(0).permutation(found.y))
    chosen = best_code(found, code=CodeSearch(MACHINE))
    assert chosen.chosen.judged > np.log(4) - 2 * chosen.chosen.error
    assert chosen.chosen.loss < chosen.chosen.judged


def refused(error, text, found=None, machine=MACHINE, **search):
    with pytest.raises(error, match=text) as caught:
        best_code(points() if found is None else found, code=CodeSearch(machine, **search))
    assert "\n" not in str(caught.value)


def test_what_cannot_be():
    two = points(k=2)
    refused(DataError, "2 classes have one row: a search needs three or more", two)
    one = points(k=3)
    lonely = np.append(one.y, 9)
    refused(
        DataError,
        "class 9 has one point",
        one._replace(x=np.vstack([one.x, one.x[:1]]), y=lonely, labels=[2, 3, 5, 9]),
    )
    refused(UsageError, "2 rows: expected 3 or more, .* and 25 at most", rows=2)
    refused(UsageError, "26 rows: expected 3 or more, .* and 25 at most", rows=26)
    refused(UsageError, "3 candidate rows are too few", pool=3)
    refused(DataError, "lacks class 9, unlike the data", start=design("one-vs-one", [2, 3, 5]))
    refused(
        ControlError,
        "class 2 has two names, 'one' and 'two'",
        start=design("tree", LABELS, names={2: "one"}),
    )
    refused(DataError, "has class 11, unlike the data", start=design("tree", [2, 3, 5, 9, 11]))


@pytest.mark.parametrize("left_out,values", [(30, 25 * 30), (None, 25 * 60), (100, 25 * 60)])
def test_memory_for_decision_values(monkeypatch, left_out, values):
    machine = replace(MACHINE, left_out=left_out, landmarks=20)
    monkeypatch.setattr(memory, "memory_limit", lambda: 2 * 8 * values - 2)
    refused(DataError, "decision values of 25 candidate rows are more than", None, machine)
    monkeypatch.setattr(memory, "memory_limit", lambda: 2 * 8 * values)
    refused(DataError, "sums of 20 landmarks and 4 classes are more than", None, machine)
