"""Decoders that query only some pairs, against rules applied to one point at a time."""

from collections import namedtuple
from itertools import combinations
from math import ceil, comb, log2

import numpy as np
import pytest
from hypothesis import given, strategies as st

from agfmc.decode import code_kinds, pair_queries, pair_strategies
from agfmc.decode.front import CodeDecoder
from agfmc.decode.pair_strategies import LARGEST, match_by_exchange, match_by_masks, Matcher
from agfmc.decode.pair_queries import fitted_probability, met_probability
from agfmc.decode.pair_strategies import (
    adag,
    ddag,
    draw,
    max_win,
    poll,
    PairQueries,
    radag,
    unanimous,
)
from agfmc.core.errors import UsageError
from agfmc.experiments.simulation import adag_success, ddag_success

PLAIN = PairQueries()


def one_vs_one(k):
    a = np.zeros((comb(k, 2), k), dtype=np.int8)
    for row, (i, j) in enumerate(combinations(range(k), 2)):
        a[row, i], a[row, j] = -1, 1
    return a


def pair_table(k):
    return code_kinds.one_vs_one(one_vs_one(k))


class Oracle:
    """evaluate over known r (n, m) that refuses to be queried twice or in vain."""

    def __init__(self, r):
        self.r = r
        self.queried = np.zeros(r.shape, dtype=bool)
        self.calls = 0

    def __call__(self, rows, columns):
        assert rows.ndim == columns.ndim == 1 and len(rows) and len(columns)
        assert (np.diff(rows) > 0).all() and (np.diff(columns) > 0).all()
        cells = rows[:, None], columns
        assert not self.queried[cells].any()
        self.queried[cells] = True
        self.calls += 1
        return self.r[cells]


Decision = namedtuple("Decision", ("winner", "p", "queried"))


def run(decide, r):
    oracle = Oracle(np.asarray(r, dtype=float))
    decision = Decision(*decide(len(r), oracle))
    np.testing.assert_array_equal(decision.queried, oracle.queried)
    assert decision.winner.shape == decision.p.shape == (len(r),)
    assert ((decision.p > 0) & (decision.p <= 1)).all()
    return decision, oracle.calls


def weights_for(k, seed=0):
    return np.random.default_rng(seed).integers(0, 6, (k, k)) / 8


def polled(opponents, seed, top=0):
    return PairQueries(opponents=str(opponents), seed=seed, finalists=top)


def all_decoders(table, seed=3):
    yield "max_win", max_win(table, PLAIN)
    yield "ddag", ddag(table, PLAIN)
    yield "adag", adag(table, PLAIN)
    yield "radag", radag(table, PairQueries(pair_errors=weights_for(table.k)))
    yield "and", unanimous(table, PLAIN)
    yield "poll", poll(table, polled(2, seed))
    yield "top", poll(table, polled(2, seed, 3))


# One point at a time.


class Naive:
    """The rules, literally, for r (m,) of one point of the plain one-vs-one code."""

    def __init__(self, k, r):
        self.k = k
        self.value = np.zeros((k, k))
        for row, (i, j) in enumerate(combinations(range(k), 2)):
            self.value[j, i], self.value[i, j] = r[row], -r[row]
        self.pairs = set()

    def beats(self, i, j):
        self.pairs.add((min(i, j), max(i, j)))
        return self.value[i, j] >= 0 if i > j else self.value[i, j] > 0

    def best(self, classes, counts):
        def score(i):
            votes = sum(counts[i][j] for j in range(self.k) if counts[i][j] and self.beats(i, j))
            return votes, sum(counts[i][j] * self.value[i, j] for j in range(self.k)), -i

        return sorted(classes, key=score, reverse=True)

    def max_win(self, classes=None):
        classes = range(self.k) if classes is None else classes
        return self.best(classes, 1 - np.eye(self.k, dtype=int))[0]

    def poll(self, counts, top):
        ranking = self.best(range(self.k), counts)
        return self.max_win(ranking[:top]) if top else ranking[0]

    def ddag(self, order):
        left = list(order)
        while len(left) > 1:
            left.pop(-1 if self.beats(left[0], left[-1]) else 0)
        return left[0]

    def adag(self, order, seats=None):
        slots = list(order)
        while len(slots) > 1:
            if seats:
                slots = seats(slots)
            half = len(slots) // 2
            won = [
                slots[i] if self.beats(slots[i], slots[-1 - i]) else slots[-1 - i]
                for i in range(half)
            ]
            slots = won + slots[half:-half]
        return slots[0]

    def unanimous(self, order):
        c = self.ddag(order)
        return c if all(self.beats(c, j) for j in range(self.k) if j != c) else -1


def pairings(classes):
    """All ways to pair an even list of classes, None among them for the one left out."""
    if not classes:
        yield []
        return
    for other in classes[1:]:
        rest = [c for c in classes[1:] if c != other]
        for more in pairings(rest):
            yield [(classes[0], other)] + more


def weight_of(pairing, weights):
    return sum(weights[i][j] + weights[j][i] for i, j in pairing if None not in (i, j))


def seats_by_search(weights):
    def seats(slots):
        classes = sorted(slots) + [None] * (len(slots) % 2)
        # The first of equals, as pairings come in the order of their partners.
        best = min(pairings(classes), key=lambda pairing: weight_of(pairing, weights))
        pairs = [pair for pair in best if None not in pair]
        left = [i for i, j in best if j is None]
        return [i for i, _ in pairs] + left + [j for _, j in pairs][::-1]

    return seats


@given(st.data())
def test_as_one_point_at_a_time(data):
    k = data.draw(st.integers(2, 7))
    # Few levels, zeros among them, so that ties are common.
    point = st.lists(
        st.sampled_from([-1, -0.5, -0.25, 0, 0.25, 0.5, 1]),
        min_size=comb(k, 2),
        max_size=comb(k, 2),
    )
    r = np.array(data.draw(st.lists(point, min_size=1, max_size=12)))
    seed = data.draw(st.integers(0, 99))
    weights = weights_for(k, seed)
    times, top = data.draw(st.integers(1, 4)), data.draw(st.integers(0, k + 1))
    counts = draw(k, times, seed)
    table = pair_table(k)
    order = range(k)
    for decide, rule in [
        (max_win(table, PLAIN), lambda one: one.max_win()),
        (ddag(table, PLAIN), lambda one: one.ddag(order)),
        (adag(table, PLAIN), lambda one: one.adag(order)),
        (
            radag(table, PairQueries(pair_errors=weights)),
            lambda one: one.adag(order, seats_by_search(weights)),
        ),
        (poll(table, polled(times, seed)), lambda one: one.poll(counts, 0)),
        (poll(table, polled(times, seed, top)), lambda one: one.poll(counts, top)),
        (unanimous(table, PLAIN), lambda one: one.unanimous(order)),
    ]:
        decision, _ = run(decide, r)
        for values, winner, queried in zip(r, decision.winner, decision.queried):
            one = Naive(k, values)
            assert winner == rule(one)
            assert set(np.flatnonzero(queried)) == {table.row[pair] for pair in one.pairs}
    for values, winner in zip(r, decision.winner):
        one = Naive(k, values)
        wins_all = [c for c in order if all(one.beats(c, j) for j in order if j != c)]
        assert [winner] == (wins_all or [-1])


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_success_over_all_outcomes(k):
    """A relevant pair errs with probability p, any other is a coin, the truth is uniform."""
    table = pair_table(k)
    m = table.m
    r = np.where(np.arange(2**m)[:, None] >> np.arange(m) & 1, 1.0, -1.0)
    votes = ((r @ one_vs_one(k)) + k - 1) / 2
    fair = votes == votes.max(axis=1, keepdims=True)
    fair = fair / fair.sum(axis=1, keepdims=True)
    winners = {name: run(decide, r)[0].winner for name, decide in all_decoders(table)}
    for p in (0.1, 0.3):
        success = dict.fromkeys(winners, 0.0)
        by_fair_ties = 0.0
        for truth in range(k):
            right = np.where(table.high == truth, r, -r)
            share = (
                np.where(
                    (table.high == truth) | (table.low == truth), np.where(right > 0, 1 - p, p), 0.5
                ).prod(axis=1)
                / k
            )
            for name, winner in winners.items():
                success[name] += share[winner == truth].sum()
            by_fair_ties += share @ fair[:, truth]
        assert success["ddag"] == pytest.approx(ddag_success(k, p), abs=1e-12)
        assert success["adag"] == pytest.approx(adag_success(k, p), abs=1e-12)
        # With a uniform truth the lowest of tied classes is the truth as often as any other.
        assert success["max_win"] == pytest.approx(by_fair_ties, abs=1e-12)
        assert success["and"] == pytest.approx((1 - p) ** (k - 1), abs=1e-12)
        # Of five, the class that passes on is always the same and later favoured or not.
        assert success["radag"] == pytest.approx(adag_success(k, p), abs=0.05 if k == 5 else 1e-12)
    if k == 4:
        assert (votes.max(axis=1) == 3).sum() == (winners["and"] >= 0).sum()


@pytest.mark.parametrize("k", [2, 3, 9, 26])
def test_numbers_of_queries_and_calls(k):
    table = pair_table(k)
    r = np.random.default_rng(k).uniform(-1, 1, (300, table.m))
    rounds = ceil(log2(k))
    for name, decide in all_decoders(table):
        decision, calls = run(decide, r)
        each = decision.queried.sum(axis=1)
        if name in ("ddag", "adag", "radag"):
            assert (each == k - 1).all() and calls <= table.m * (rounds if name == "radag" else 1)
        elif name == "max_win":
            assert (each == table.m).all() and calls == 1
        elif name == "poll":
            assert (each == each[0]).all() and each[0] <= 2 * k and calls == 1
        elif name == "top":
            assert each.max() <= 2 * k + 3 * (k - 1) - 3
            assert calls <= (1 if k == 2 else 1 + k + table.m)
        else:
            assert each.max() <= 2 * (k - 1) - 1 and each.min() >= k - 1
            assert calls <= k * (k - 1)


def test_adag_queries_its_first_round_at_once():
    table = pair_table(16)
    r = np.random.default_rng(1).uniform(-1, 1, (4000, table.m))
    decision, calls = run(adag(table, PLAIN), r)
    # Rounds of 8, 4, 2, 1 pairs; of the later ones 4 . 4, 2 . 16 and 64 different pairs.
    assert calls == 1 + 16 + 32 + 64


def test_draws_of_a_poll():
    k, times = 9, 4
    counts = np.array([draw(k, times, seed) for seed in range(3000)])
    assert (counts.sum(axis=2) == times).all() and not counts[:, np.arange(k), np.arange(k)].any()
    different = np.count_nonzero(np.triu(counts + counts.transpose(0, 2, 1)), axis=(1, 2))
    expected = comb(k, 2) * (1 - (1 - 1 / (k - 1)) ** (2 * times))
    assert different.mean() == pytest.approx(expected, abs=4 * different.std() / 3000**0.5)
    each = counts.mean(axis=0)[~np.eye(k, dtype=bool)]
    np.testing.assert_allclose(each, times / (k - 1), atol=0.06)
    assert (draw(k, times, 5) == draw(k, times, 5)).all()
    assert (draw(k, times, 5) != draw(k, times, 6)).any()


@pytest.mark.parametrize("k", [2, 3, 4, 8, 10])
def test_neither_other_points_nor_the_order_of_the_rows_matter(k):
    rng = np.random.default_rng(k)
    a = one_vs_one(k)
    m = len(a)
    edges = [1, -1, 0, 5e-324, -5e-324, 1e-300, 1 - 2**-53, -1 + 2**-53, 0.5, 1 - 1e-5, -1 + 1e-9]
    # Few decimals: sums tie, or miss a tie by rounding, and must do so the same in every chunk.
    r = np.vstack(
        [
            rng.integers(-9, 10, (100, m)) / 10,
            rng.choice(edges, (30, m)),
            np.repeat([[1.0], [-1], [0], [5e-324], [0.25]], m, axis=1),
            rng.choice([-1.0, 1.0], (50, m)),
            np.tanh(8 * rng.normal(size=(40, m))),
        ]
    )
    rows, signs = rng.permutation(m), rng.choice([-1, 1], m)
    turned = code_kinds.one_vs_one((a[rows] * signs[:, None]).astype(np.int8))
    table = pair_table(k)
    # r = 0 wins for +1, so only what is not 0 may be turned round.
    ordinary = (r != 0).all(axis=1)
    cuts = [0, 0, 1, 4, 21, 150, len(r)]
    for (name, one), (_, other) in zip(all_decoders(table), all_decoders(turned)):
        whole, _ = run(one, r)
        parts = [run(one, r[start:stop])[0] for start, stop in zip(cuts, cuts[1:])]
        for field in ("winner", "p", "queried"):
            found = np.concatenate([getattr(part, field) for part in parts])
            np.testing.assert_array_equal(found, getattr(whole, field), err_msg=name)
        found, _ = run(other, r[ordinary][:, rows] * signs)
        np.testing.assert_array_equal(found.winner, whole.winner[ordinary], err_msg=name)
        # A poll may leave parts that have no class in common.
        np.testing.assert_allclose(
            found.p, whole.p[ordinary], rtol=1e-6 if name == "poll" else 1e-9
        )
        np.testing.assert_array_equal(found.queried, whole.queried[ordinary][:, rows])
        for value in (met_probability, fitted_probability):
            p = value(table, r, whole.queried, np.maximum(whole.winner, 0))
            assert ((p > 0) & (p <= 1)).all(), name


def test_permuted_classes():
    k = 7
    rng = np.random.default_rng(8)
    order = rng.permutation(k)  # column c is class order[c]
    a = one_vs_one(k)
    r = rng.uniform(-1, 1, (150, len(a)))
    weights = rng.random((k, k))
    before, after = pair_table(k), code_kinds.one_vs_one(a[:, order])
    moved = PairQueries(pair_errors=weights[np.ix_(order, order)])
    for strategy in (max_win, unanimous, radag):
        expected, _ = run(strategy(before, PairQueries(pair_errors=weights)), r)
        found, _ = run(strategy(after, moved), r)
        np.testing.assert_array_equal(
            np.where(found.winner < 0, -1, order[found.winner]), expected.winner
        )
        # How far a rejected point is queried depends on the names of the classes.
        some = expected.winner >= 0
        np.testing.assert_allclose(found.p[some], expected.p[some], rtol=1e-13)
    for strategy, rule in ((ddag, Naive.ddag), (adag, Naive.adag)):
        found, _ = run(strategy(after, PLAIN), r)
        assert order[found.winner].tolist() == [rule(Naive(k, values), order) for values in r]


@pytest.mark.parametrize(
    "strategy, options, words",
    [
        (radag, PLAIN, "give `pair_errors`"),
        (radag, PairQueries(pair_errors=np.zeros((3, 3))), "4 x 4"),
        (radag, PairQueries(pair_errors=np.full((4, 4), np.nan)), "finite"),
        (poll, polled(0, 1), "opponent"),
        (poll, polled(1, 1, -1), "negative"),
    ],
)
def test_bad_options(strategy, options, words):
    with pytest.raises(UsageError, match=words):
        strategy(pair_table(4), options)


# Matchings.


def symmetric(rng, g, s, levels):
    weights = rng.integers(0, levels, (g, s, s)).astype(float)
    return weights + weights.transpose(0, 2, 1)


def sums(weights, partner):
    every = np.arange(weights.shape[1])
    assert (np.take_along_axis(partner, partner, axis=1) == every).all()
    assert (partner != every).all()
    return np.take_along_axis(weights, partner[:, :, None], axis=2).sum(axis=(1, 2)) / 2


@pytest.mark.parametrize("s", [2, 4, 8, 16])
def test_matching_by_exchange(s, monkeypatch):
    """No two pairs gain by another exchange, and the sum is near that of the best matching."""
    weights = symmetric(np.random.default_rng(s), 30, s, 1 << 40)
    partner = match_by_exchange(weights)
    found, least = sums(weights, partner), sums(weights, match_by_masks(weights))
    assert (found >= least).all() and found.mean() <= 1.06 * least.mean()
    assert s > 4 or (found == least).all()
    for of_pairs, mates in zip(weights, partner):
        pairs = [(i, mates[i]) for i in range(s) if i < mates[i]]
        for (a, b), (c, d) in combinations(pairs, 2):
            now = of_pairs[a, b] + of_pairs[c, d]
            assert now <= of_pairs[a, c] + of_pairs[b, d] and now <= of_pairs[a, d] + of_pairs[b, c]
    np.testing.assert_array_equal(match_by_exchange(weights * 2.0**-80), partner)  # in any unit
    monkeypatch.setattr(pair_strategies, "BUDGET", 1)  # set by set
    np.testing.assert_array_equal(match_by_exchange(weights), partner)


@pytest.mark.parametrize("s", [2, 4, 6, 8])
def test_matching_against_all_pairings(s):
    weights = symmetric(np.random.default_rng(s), 12, s, 7)
    for one, partner in zip(weights, match_by_masks(weights)):
        least = min(pairings(list(range(s))), key=lambda p: sum(one[i, j] for i, j in p))
        # The same one, even of equals.
        assert all(partner[i] == j and partner[j] == i for i, j in least)


@pytest.mark.parametrize("size", [1, 2, 5, 6, 7, LARGEST + 1])
def test_seats(size):
    k = LARGEST + 3
    rng = np.random.default_rng(size)
    weights = rng.random((k, k))
    weights += weights.T
    matcher = Matcher(weights)
    here = np.array([rng.permutation(k)[:size] for _ in range(3)])
    here[2] = here[0][::-1]
    seated = matcher.seats(here)
    assert (np.sort(seated, axis=1) == np.sort(here, axis=1)).all()
    np.testing.assert_array_equal(seated[0], seated[2])
    np.testing.assert_array_equal(matcher.seats(here[1:2])[0], seated[1])
    half = size // 2
    assert (seated[:, :half] < seated[:, ::-1][:, :half]).all()
    assert (np.diff(seated[:, :half], axis=1) > 0).all()
    if size <= 7:
        for one in seated:
            found = sum(weights[one[i], one[-1 - i]] for i in range(half))
            slots = seats_by_search(weights / 2)(list(one))
            least = sum(weights[slots[i], slots[-1 - i]] for i in range(half))
            assert found == pytest.approx(least, abs=1e-9)


def test_radag_with_many_classes():
    k = LARGEST + 6
    table = pair_table(k)
    weights = np.full((k, k), 0.5)
    # The best pairing of the first round is known: 0 with 2, 1 with 3, 4 with 6, ...
    for i in range(0, k - 2, 4):
        weights[i, i + 2] = weights[i + 1, i + 3] = 0
    weights[k - 2, k - 1] = 0
    r = np.random.default_rng(0).uniform(-1, 1, (20, table.m))
    decision, _ = run(radag(table, PairQueries(pair_errors=weights)), r)
    for i in range(0, k - 2, 4):
        assert decision.queried[:, table.row[[i, i + 1], [i + 2, i + 3]]].all()
    assert decision.queried[:, table.row[k - 2, k - 1]].all()


# Probabilities.


def test_probabilities_that_are_consistent():
    k = 7
    rng = np.random.default_rng(4)
    table = pair_table(k)
    q = rng.dirichlet(np.ones(k), 100)
    low, high = q[:, table.low], q[:, table.high]
    r = (high - low) / (high + low)
    best = q.argmax(axis=1)
    for name, decide in all_decoders(table):
        decision, _ = run(decide, r)
        won = decision.winner
        some = won == best
        assert some.mean() >= {"poll": 0.3, "top": 0.9}.get(name, 1)
        own = np.take_along_axis(q, won[:, None], axis=1)[:, 0]
        if name in ("max_win", "and", "top"):
            np.testing.assert_allclose(decision.p, own, rtol=1e-12 if name == "and" else 1e-6)
            np.testing.assert_allclose(
                met_probability(table, r, decision.queried, won), own, rtol=1e-12
            )
        if name in ("ddag", "adag", "radag"):
            assert (decision.p > q.max(axis=1) - 1e-12).all()
            met = [
                {
                    int(c)
                    for i in np.flatnonzero(queried)
                    for c in (table.low[i], table.high[i])
                    if w in (table.low[i], table.high[i])
                }
                for queried, w in zip(decision.queried, won)
            ]
            np.testing.assert_allclose(
                decision.p, [one[w] / one[list(some)].sum() for one, w, some in zip(q, won, met)]
            )
        if name not in ("poll", "top"):
            # Fitted to all that was queried, every set of pairs that joins all classes tells p.
            p = fitted_probability(table, r, decision.queried, won)
            np.testing.assert_allclose(p, q.max(axis=1), rtol=1e-6)
    # Of any values it is what least squares makes of all pairs.
    r = rng.uniform(-1, 1, r.shape)
    for c in range(k):
        p = fitted_probability(table, r, np.ones(r.shape, dtype=bool), np.full(len(r), c))
        np.testing.assert_allclose(p, CodeDecoder(one_vs_one(k))(r)[0][:, c], atol=1e-8)


def test_small_blocks_change_nothing(monkeypatch):
    k = 9
    table = pair_table(k)
    r = np.random.default_rng(3).uniform(-1, 1, (70, table.m))
    weights = symmetric(np.random.default_rng(4), 50, 8, 9)
    decide = poll(table, polled(2, 1))
    before, partner = run(decide, r)[0], match_by_masks(weights)
    monkeypatch.setattr(pair_queries, "BUDGET", 8 * k * k * 20)
    monkeypatch.setattr(pair_strategies, "BUDGET", 20000)
    np.testing.assert_allclose(run(decide, r)[0].p, before.p, rtol=1e-12)
    np.testing.assert_array_equal(match_by_masks(weights), partner)


def test_what_was_not_queried_does_not_count():
    table = pair_table(4)
    r = np.array([[0.2, np.nan, np.inf, 1e300, np.nan, -0.5]])  # 01 and 23 only
    queried = np.array([[True, False, False, False, False, True]])
    assert met_probability(table, r, queried, np.array([1])) == pytest.approx(0.6)
    assert met_probability(table, r, queried, np.array([2])) == pytest.approx(0.75)
    # Two parts without a class in common, of .4 : .6 and .75 : .25: shortest is (.52, .625).
    p = [fitted_probability(table, r, queried, np.array([c]))[0] for c in range(4)]
    share = 0.625 / (0.52 + 0.625)
    np.testing.assert_allclose(
        p, [0.4 * share, 0.6 * share, 0.75 * (1 - share), 0.25 * (1 - share)], rtol=1e-5
    )
    assert met_probability(table, r, ~np.ones((1, 6), dtype=bool), np.array([2])) == 1
