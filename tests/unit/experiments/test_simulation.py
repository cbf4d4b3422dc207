"""Simulated decoders against closed forms, complete enumeration and published-size tables."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from agfmc.experiments import simulation
from agfmc.experiments.simulation import (
    adag_success,
    ddag_success,
    poll_opponents,
    separation_limit,
    SimulationPlan,
    simulations,
    standard_error,
)


def simulate(k, model, **options):
    """The shares of right answers, without their standard errors."""
    found = simulation.simulate(k, model, **options)
    return SimpleNamespace(
        **{name: found[name]["success"] for name in ("max_win", "adag", "ddag")},
        separation=found["separation"],
        polls=[
            SimpleNamespace(
                draws=poll["draws"], success=poll["success"], top=poll["top"]["success"]
            )
            for poll in found["polls"]
        ],
    )


# k, error: MAX-WIN, POLL with 1, 3, 5 log2 k, ADAG, DDAG, POLL 3 log2 k + TOP-5, from 10000
# rounds of an independent program
TABLE = {
    (16, 0.1): (0.957, 0.426, 0.759, 0.841, 0.653, 0.454, 0.946),
    (64, 0.1): (1.000, 0.339, 0.851, 0.956, 0.538, 0.134, 0.983),
    (16, 0.3): (0.462, 0.181, 0.295, 0.348, 0.240, 0.146, 0.442),
    (64, 0.3): (0.804, 0.091, 0.233, 0.333, 0.118, 0.036, 0.513),
}


def tournaments(k, chance):
    """(probability, beats (k, k)) of all tournaments; chance(i, j) that i < j wins."""
    pairs = list(itertools.combinations(range(k), 2))
    for outcome in itertools.product([True, False], repeat=len(pairs)):
        weight, beats = 1.0, np.zeros((k, k), dtype=int)
        for (i, j), first in zip(pairs, outcome):
            weight *= chance(i, j) if first else 1 - chance(i, j)
            beats[(i, j) if first else (j, i)] = 1
        yield weight, beats


def of_error(error):
    return lambda i, j: 1 - error if i == 0 else 0.5


def fair(scores):
    """The chance of class 0 when equals draw lots."""
    return float(scores[0] == max(scores)) / list(scores).count(max(scores))


def exact(k, chance, judge):
    return sum(weight * judge(beats) for weight, beats in tournaments(k, chance))


def max_win(beats):
    return fair(beats.sum(axis=1))


def separation(beats):
    scores = beats.sum(axis=1)
    return scores[0] / scores[1:].max()


def over_places(decide):
    """The judge of a decoder that works on a list, over all places of class 0."""

    def judge(beats):
        k = len(beats)
        lists = [[*range(1, place + 1), 0, *range(place + 1, k)] for place in range(k)]
        return sum(decide(beats, order) == 0 for order in lists) / k

    return judge


def ddag(beats, order):
    while len(order) > 1:
        order = order[:-1] if beats[order[0], order[-1]] else order[1:]
    return order[0]


def adag(beats, order):
    while len(order) > 1:
        half = len(order) // 2
        won = [a if beats[a, b] else b for a, b in zip(order[:half], order[::-1])]
        order = won + order[half : len(order) - half]
    return order[0]


def polls(k, draws):
    """The judge of POLL, every draw of opponents written out, and TOP-2 after it."""
    opponents = [
        list(itertools.product([j for j in range(k) if j != i], repeat=draws)) for i in range(k)
    ]

    def judge(beats):
        alone = top = 0.0
        for drawn in itertools.product(*opponents):
            scores = [beats[i, list(js)].sum() for i, js in enumerate(drawn)]
            alone += fair(scores)
            for order in itertools.permutations(range(k)):  # who goes first among equals
                best = sorted(range(k), key=lambda i: (-scores[i], order[i]))[:2]
                if 0 in best:
                    other = best[1 - best.index(0)]
                    top += fair(beats.sum(axis=1)[[0, other]]) / math.factorial(k)
        count = math.prod(map(len, opponents))
        return np.array([alone, top]) / count

    return judge


def near(found, wanted, rounds, errors=4.0):
    return abs(found - wanted) <= errors * max(standard_error(wanted, rounds), 1 / rounds)


@pytest.mark.parametrize(
    "success, k, good, bad",
    [
        (ddag_success, 8, 0.646703, 0.277941),
        (ddag_success, 64, 0.140461, 0.036458),
        (adag_success, 8, 0.729, 0.343),
        (adag_success, 64, 0.531441, 0.117649),
    ],
)
def test_closed_forms(success, k, good, bad):
    assert success(k, 0.1) == pytest.approx(good, abs=5e-7)
    assert success(k, 0.3) == pytest.approx(bad, abs=5e-7)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("error", [0.0, 0.3, 1.0])
def test_closed_forms_are_what_enumeration_gives(k, error):
    assert ddag_success(k, error) == pytest.approx(exact(k, of_error(error), over_places(ddag)))
    assert adag_success(k, error) == pytest.approx(exact(k, of_error(error), over_places(adag)))


def test_opponents_for_a_wanted_chance():
    # 1 - 1/k with separation 1.8: 4 * 2 * 1.442695 * 4.5^2 = 233.7166 for each log2 k, and 2
    for k in (16, 512):
        found = poll_opponents(k, 1.8, 1 - 1 / k)
        assert found == pytest.approx(233.7166 * math.log2(k) + 2, rel=1e-6)
    # 1 - 1/8: 5.770780 * 4^2 * log2(64 * 8) + 2
    assert poll_opponents(64, 2.0, 0.875) == pytest.approx(832.9923, abs=1e-3)
    assert poll_opponents(8, 1.0, 0.5) == poll_opponents(8, 1.8, 1.0) == math.inf


def test_opponents_that_are_enough():
    plan = SimulationPlan([64], [0.1, 0.5], ["1log", "5log", "9log"], 5, 400, 1, chance=0.9)
    few, none = simulations(plan)
    assert [poll["draws"] for poll in few["polls"] if poll["success"] >= 0.9][0] == 30
    assert few["opponents_enough"] == 30
    # 116.8583 (log2 64 + log2 10) + 2
    assert few["opponents_bound"] == 1092
    assert none["opponents_enough"] is None is none["opponents_bound"]


def test_limit_of_the_separation():
    assert separation_limit(0.1) == pytest.approx(1.8)
    few, many = (simulate(k, rounds=200, seed=1, model=0.1).separation for k in (16, 256))
    assert few < many < 1.8
    sure = simulate(256, rounds=200, seed=1, model=0.0)  # eps of the best of k coins
    eps = math.sqrt(2 * math.log(256) / 256)
    assert 2 * (1 - eps) / (1 + eps) < sure.separation < separation_limit(0.0) == 2


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("error", [0.1, 0.3])
def test_against_enumeration(k, error):
    rounds, chance = 20000, of_error(error)
    found = simulate(k, rounds=rounds, seed=3, model=error)
    assert near(found.max_win, exact(k, chance, max_win), rounds)
    assert near(found.adag, adag_success(k, error), rounds)
    assert near(found.ddag, ddag_success(k, error), rounds)
    wanted = exact(k, chance, separation)
    spread = math.sqrt(exact(k, chance, lambda beats: (separation(beats) - wanted) ** 2))
    assert abs(found.separation - wanted) < 4 * spread / math.sqrt(rounds)


@pytest.mark.few(2)
@pytest.mark.parametrize("k, draws", [(3, 1), (3, 2), (4, 1)])
def test_polls_against_every_draw(k, draws):
    rounds = 20000
    [found] = simulate(k, rounds=rounds, seed=5, model=0.2, opponents=[draws], top=2).polls
    alone, top = exact(k, of_error(0.2), polls(k, draws))
    assert found.draws == draws
    assert near(found.success, alone, rounds) and near(found.top, top, rounds)


@pytest.mark.parametrize(
    "r", [(0.5, 0.3, 0.2), (0.9, 0.1, 0.0), (1.0, 0.0, 0.0), (0.4, 0.3, 0.2, 0.1)]
)
def test_similarity_against_enumeration(r):
    def chance(i, j):
        return r[i] / (r[i] + r[j]) if r[i] + r[j] else 0.5

    rounds, k = 20000, len(r)
    found = simulate(k, rounds=rounds, seed=2, model=r, opponents=[2], top=2)
    for share, judge in (
        (found.max_win, max_win),
        (found.adag, over_places(adag)),
        (found.ddag, over_places(ddag)),
    ):
        assert near(share, exact(k, chance, judge), rounds)
    if k == 3:
        alone, top = exact(k, chance, polls(k, 2))
        assert near(found.polls[0].success, alone, rounds) and near(found.polls[0].top, top, rounds)


def test_pairs_of_similarity_zero_are_coins():
    found = simulate(4, rounds=20000, seed=1, model=[1, 0, 0, 0])
    # the other three make a circle in a quarter of the rounds: the best of them has 1 or 2
    assert found.max_win == 1.0
    assert found.separation == pytest.approx(0.25 * 3 + 0.75 * 1.5, abs=4 * 0.65 / 20000**0.5)


@pytest.mark.few(2)
@pytest.mark.parametrize("k, error", TABLE)
def test_table_within_four_combined_standard_errors(k, error):
    rounds = 4000
    found = simulate(
        k,
        rounds=rounds,
        seed=1,
        model=error,
        opponents=[math.ceil(c * math.log2(k)) for c in (1, 3, 5)],
    )
    shares = (
        found.max_win,
        *(poll.success for poll in found.polls),
        found.adag,
        found.ddag,
        found.polls[1].top,
    )
    for share, wanted in zip(shares, TABLE[k, error], strict=True):
        combined = math.hypot(standard_error(wanted, rounds), standard_error(wanted, 10000))
        assert abs(share - wanted) <= 4 * combined + 0.0005  # the table has three digits


def test_nothing_errs():
    found = simulate(33, rounds=500, seed=1, model=0.0, opponents=[200], top=33)
    assert found.max_win == found.adag == found.ddag == found.polls[0].top == 1.0
    assert simulate(33, rounds=500, seed=1, model=1.0).adag == 0.0


def test_two_classes():
    found = simulate(2, rounds=4000, seed=1, model=0.2, opponents=[3])
    assert found.max_win == found.adag == found.ddag == found.polls[0].success
    assert near(found.max_win, 0.8, 4000) and found.separation is None


def test_top_of_all_classes_is_max_win_and_of_one_is_poll():
    def play(top):
        return simulate(9, rounds=20000, seed=1, model=0.3, opponents=[4], top=top)

    one, all_of_them = play(1), play(9)
    assert near(one.polls[0].top, one.polls[0].success, 20000, 5)
    assert near(all_of_them.polls[0].top, all_of_them.max_win, 20000, 5)
    assert play(1000).polls == all_of_them.polls


def test_the_seed_decides():
    def play(seed, rounds=300, **more):
        return simulate(12, rounds=rounds, seed=seed, model=0.3, **more)

    assert play(1, opponents=[2, 5]) == play(1, opponents=[2, 5])
    assert play(1, opponents=[2, 5]) != play(2, opponents=[2, 5])
    # what else is in the table changes nothing
    assert play(1, opponents=[5]).polls == play(1, opponents=[2, 5]).polls[1:]
    assert play(1, opponents=[5]).max_win == play(1).max_win


def test_blocks_of_rounds(monkeypatch):
    done = []
    monkeypatch.setattr("agfmc.experiments.simulation._ROUNDS", 64)
    found = simulate(6, rounds=1000, seed=1, model=0.25, opponents=[3], progress=done.append)
    assert done == [*range(64, 1000, 64), 1000]
    assert near(found.max_win, exact(6, of_error(0.25), max_win), 1000)
    assert near(found.ddag, ddag_success(6, 0.25), 1000)
