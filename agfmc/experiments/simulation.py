"""Success rates of decoders of one-vs-one classifiers, by simulation and exactly.

The random model (N. Bunrupunthunad, J. Fakcharoenphol and T. Rakthanmanon, "POLL: multiclass
classification from binary classifiers through random sampling", 2003, section 2.2): a classifier
that knows the true class is wrong with probability `error`, all others are coins.  The similarity
model (section 2.3): classifier {i, j} says i with probability r_i / (r_i + r_j).  Class 0 is the
true one in both.
"""

from __future__ import annotations

import math
import os
from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.text import numeral
from ..decode.pair_strategies import opponents_of
from ..files.opening import read_bytes, SMALL_TEXT

FAMILIES = {
    "geometric": ("r_i = Q^(i-1), 0 < Q < 1", lambda k, q: q ** np.arange(k)),
    "power": ("r_i = i^-Q, Q > 0", lambda k, q: np.arange(1.0, k + 1) ** -q),
}
_CELLS = 1 << 25  # answers of classifiers in memory at once, one byte each
_ROUNDS = 1 << 14  # rounds at once, where the classes are few


def similarity_family(word):
    """The function k -> r (k,) of a word such as `geometric:0.5`; None for values or a file.

    Raises UsageError for a parameter that cannot be.
    """
    name, colon, value = word.partition(":")
    if not colon or os.path.exists(word):
        return None
    if name not in FAMILIES:
        raise UsageError(
            f"{word}: expected values r,r,... or a file of them or "
            + " or ".join(f"{family}:Q" for family in FAMILIES)
        )
    rule, family = FAMILIES[name]
    try:
        q = float(value)
    except ValueError:
        q = math.nan
    if not 0 < q < (1 if name == "geometric" else math.inf):
        raise UsageError(f"{word}: expected {name}:Q with {rule}")

    def values(k):
        with np.errstate(under="ignore"):
            r = family(k, q)
        if r[-1] < np.finfo(float).tiny:
            raise UsageError(f"{word}: the similarities of {k} classes span more than numbers can")
        return r

    return values


def read_similarity(word: str) -> np.ndarray:
    """Similarities r (k,) with sum 1, from `v,v,v` or a file of numbers (`-`: standard input).

    Raises DataError unless there are two or more finite numbers, none negative, the
    first greater than all others.
    """
    file = None
    words = word.split(",")
    if len(words) < 2 or os.path.exists(word):
        file = word
        words = (
            read_bytes(word, most=SMALL_TEXT, expected="similarities")
            .decode("utf-8", "replace")
            .replace(",", " ")
            .split()
        )
    try:
        r = np.array([numeral(text) for text in words])
    except ValueError as error:
        raise DataError(f"expected similarities: {error}", file=file) from None
    if len(r) < 2:
        raise DataError(f"expected similarities of two or more classes, found {len(r)}", file=file)
    if not (np.isfinite(r).all() and r.min() >= 0):
        raise DataError("similarities must be finite and not negative", file=file)
    if not r[0] > r[1:].max():
        raise DataError(
            "the first similarity is that of the true class: it must be the largest", file=file
        )
    r /= r[0]
    return r / r.sum()


class SimulationPlan(NamedTuple):
    """A simulation to run: each of the numbers `classes` with each of the `errors`.

    Attributes
    ----------
    errors : probabilities, or [None] with similarity, a function k -> r (k,)
    opponents : words for `opponents_of`
    top : t of POLL TOP-t
    rounds : points for each number
    chance : wanted probability that POLL is right
    """

    classes: list
    errors: list
    opponents: list
    top: int
    rounds: int
    seed: int
    similarity: object = None
    chance: float = 0.9


def simulations(plan: SimulationPlan, progress=None) -> list[dict]:
    """The dictionary of `simulate` for each error probability and number of classes.

    progress(done, total) is called. Further keys: error, exact in adag and ddag (the closed form)
    and separation_limit, None where there is no error probability; opponents in polls, the words;
    of the opponents with which POLL reaches the wanted chance opponents_enough, the fewest that
    were simulated, and opponents_bound by `poll_opponents` for the limit, or None.
    """
    total = len(plan.errors) * plan.rounds * sum(k * k for k in plan.classes)
    before = 0
    rows = []
    for error in plan.errors:
        for k in plan.classes:
            step = progress and (
                lambda done, before=before, k=k: progress(before + done * k * k, total)
            )
            row = {
                "classes": k,
                "error": error,
                **simulate(
                    k,
                    plan.similarity(k) if plan.similarity else error,
                    top=plan.top,
                    rounds=plan.rounds,
                    seed=plan.seed,
                    progress=step,
                    opponents=[opponents_of(word, k) for word in plan.opponents],
                ),
            }
            before += plan.rounds * k * k
            row["polls"] = [
                {"opponents": word, **poll} for word, poll in zip(plan.opponents, row["polls"])
            ]
            for name, success in (("adag", adag_success), ("ddag", ddag_success)):
                row[name]["exact"] = None if error is None else success(k, error)
            if error is None:
                limit = None
            else:
                limit = separation_limit(error)
            bound = poll_opponents(k, limit or 1.0, plan.chance)
            enough = [poll["draws"] for poll in row["polls"] if poll["success"] >= plan.chance]
            rows.append(
                {
                    **row,
                    "separation_limit": limit,
                    "opponents_enough": min(enough, default=None),
                    "opponents_bound": math.ceil(bound) if bound < math.inf else None,
                }
            )
    return rows


def ddag_success(k: int, p: float) -> float:
    """Probability that a DDAG of k classes is right; p: that a relevant classifier errs.

    (1/k) [(1-p)/p + (1-p)^(k-1) - (1-p)^k/p], averaged over the place of the true
    class in the list; written as a geometric sum, which p = 0 does not disturb.
    """
    q = 1.0 - p
    return float((np.sum(q ** np.arange(1, k)) + q ** (k - 1)) / k)


def adag_success(k: int, p: float) -> float:
    """Probability that an ADAG of k classes is right; p: that a relevant classifier errs.

    ((2k - 2^c)/k) (1-p)^c + ((2^c - k)/k) (1-p)^(c-1), c = ceil(log2 k), averaged
    over the place of the true class in the list.
    """
    c = (k - 1).bit_length()
    q = 1.0 - p
    return ((2 * k - 2**c) * q**c + (2**c - k) * q ** (c - 1)) / k


def separation_limit(p: float) -> float:
    """2(1-p): what the separation comes to, for many classes, almost surely: the score of the true
    class is near (1-p)(k-1), and all others are near (k-1)/2 or below."""
    return 2.0 * (1.0 - p)


def poll_opponents(k: int, separation: float, chance: float) -> float:
    """Opponents with which POLL names the true one of k classes with this chance, if it has
    `separation` times as many wins over all others as the next class.

    4 (c + 1) log2(e) (2 s/(s - 1))^2 log2(k) + 2, where chance = 1 - k^-c, so that
    (c + 1) log2(k) = log2(k/(1 - chance)); infinite for a separation of 1 or less.

    References
    ----------
    Bunrupunthunad, Fakcharoenphol and Rakthanmanon, 2003, proof of theorem 2.
    """
    if separation <= 1 or chance == 1:
        return math.inf
    spread = 2 * separation / (separation - 1)
    return 4 * math.log2(math.e) * spread**2 * math.log2(k / (1 - chance)) + 2


def standard_error(success: float, rounds: int) -> float:
    """Standard error of a share of successes among so many rounds."""
    return float(np.sqrt(success * (1.0 - success) / rounds))


def simulate(k, model, *, rounds, seed, opponents=(), top=5, progress=None) -> dict:
    """Play `rounds` tournaments of k classes, and let every decoder judge each; -> a dictionary.

    All ties are broken by lot. The list of DDAG and ADAG has the other classes in their order and
    the true one at a random place, the same for both.

    Parameters
    ----------
    model : float or array (k,), probability that a relevant classifier is wrong, or similarities r
        (k,), r >= 0, of the classes to the point, in which pairs of zeros are coins
    opponents : sequence, numbers of draws for each class, one for each POLL
    top : int, t of TOP-t, which decides among the t best of POLL by their full MAX-WIN scores
    progress : function, optional, called with the rounds done

    Returns
    -------
    dict
        Keys: classes; max_win, adag, ddag, {success, standard_error}: shares of right answers;
        polls, such with draws and top, the share with TOP-t; separation, mean of the MAX-WIN score
        of the true class over the best other one, below 1 where MAX-WIN is wrong, None for two
        classes. A share depends on rounds, seed, k and its own parameters, not on the other
        decoders'.
    """
    generator = np.random.default_rng([seed, k, 0])
    polls = [np.random.default_rng([seed, k, 1, draws]) for draws in opponents]
    model = np.asarray(model, dtype=float)
    counts = np.zeros(4 + 2 * len(polls))
    block = max(8, min(_ROUNDS, _CELLS // (k * (k - 1) // 2), rounds + 7) // 8 * 8)
    for done in range(0, rounds, block):
        games = _tournaments(generator, k, block, model)
        wins = _scores(games, k)
        position = generator.integers(k, size=block)
        lot = generator.random(block)
        with np.errstate(divide="ignore", invalid="ignore"):
            separation = wins[0] / wins[1:].max(axis=0)
        results = [
            separation,
            _first_wins(wins, lot),
            _adag(games, k, position),
            _ddag(games, k, position),
        ]
        for draws, source in zip(opponents, polls):
            results += _poll(wins, draws, top, source)
        size = min(block, rounds - done)  # the last block is played to its end, for simplicity
        counts += [np.sum(result[:size]) for result in results]
        if progress is not None:
            progress(done + size)
    separation, *shares = (counts / rounds).tolist()
    max_win, adag, ddag, *shares = (
        {"success": share, "standard_error": standard_error(share, rounds)} for share in shares
    )
    return {
        "classes": k,
        "max_win": max_win,
        "polls": [
            {"draws": draws, **alone, "top": best}
            for draws, alone, best in zip(opponents, shares[::2], shares[1::2])
        ],
        "adag": adag,
        "ddag": ddag,
        "separation": separation if k > 2 else None,
    }


def _tournaments(generator, k, rounds, model):
    """Answers (k(k-1)/2, rounds) of all pairs i < j, row by row: 1 where i wins.

    Each pair plays once in a round, for all decoders.
    """
    pairs = k * (k - 1) // 2
    if model.ndim == 0:
        coins = np.frombuffer(generator.bytes(pairs * rounds // 8), dtype=np.uint8)
        games = np.unpackbits(coins).reshape(pairs, rounds)
        games[: k - 1] = generator.random((k - 1, rounds)) >= model
        return games
    games = np.empty((pairs, rounds), dtype=np.uint8)
    for i, start in enumerate(_starts(k)):
        total = model[i] + model[i + 1 :]
        chance = np.divide(model[i], total, out=np.full(k - 1 - i, 0.5), where=total > 0)
        games[start : start + k - 1 - i] = generator.random((k - 1 - i, rounds)) < chance[:, None]
    return games


def _starts(k):
    """The row of `games` in which the pairs (i, j), i < j, start, for i = 0 ... k - 2."""
    return [i * (2 * k - i - 1) // 2 for i in range(k - 1)]


def _scores(games, k):
    """MAX-WIN scores (k, rounds)."""
    wins = np.empty((k, games.shape[1]), dtype=np.uint16)
    wins[:] = np.arange(k)[:, None]  # j meets j lower classes, and loses where these win
    for i, start in enumerate(_starts(k)):
        row = games[start : start + k - 1 - i]
        wins[i] += row.sum(axis=0, dtype=np.uint16)
        wins[i + 1 :] -= row
    return wins


def _first_wins(scores, lot):
    """Return where (rounds,) class 0 has the highest score; lot in [0, 1) decides among equals."""
    best = scores[1:].max(axis=0)
    equal = 1 + np.count_nonzero(scores[1:] == scores[0], axis=0)
    return (scores[0] > best) | ((scores[0] == best) & (lot * equal < 1.0))


def _poll(wins, draws, top, generator):
    """POLL, and TOP-t after it: two arrays (rounds,) , True where class 0 wins.

    Once the tournament is played, the opponents that a class draws with repositionment
    are independent trials in which it wins with probability score/(k - 1): the sum is
    binomial, and no opponent need be drawn.
    """
    k, rounds = wins.shape
    polled = generator.binomial(draws, wins / (k - 1.0))
    lots = generator.random((2, rounds))
    alone = _first_wins(polled, lots[0])
    keys = polled + generator.random(polled.shape)  # a random order within equal scores
    if top >= k:
        return alone, _first_wins(wins, lots[1])
    best = np.argpartition(-keys, top - 1, axis=0)[:top]
    others = np.where(best == 0, -1, np.take_along_axis(wins, best, axis=0).astype(np.int64))
    return alone, (best == 0).any(axis=0) & _first_wins(np.vstack([wins[:1], others]), lots[1])


def _adag(games, k, position):
    """Return True if class 0 wins the ADAG, (rounds,)."""
    rounds = games.shape[1]
    slots = _lists(k, position)
    while len(slots) > 1:
        half = len(slots) // 2
        left = slots[:half]
        right = slots[::-1][:half]
        winners = np.where(_beats(games, k, left, right, np.arange(rounds)), left, right)
        slots = np.concatenate([winners, slots[half : len(slots) - half]])
    return slots[0] == 0


def _ddag(games, k, position):
    """Return True if class 0 wins the DDAG, (rounds,)."""
    at = np.arange(games.shape[1])
    slots = _lists(k, position)
    first = np.zeros(len(at), dtype=np.int64)
    last = np.full(len(at), k - 1)
    for _ in range(k - 1):
        stays = _beats(games, k, slots[first, at], slots[last, at], at)
        last -= stays
        first += ~stays
    return slots[first, at] == 0


def _lists(k, position):
    """Lists of classes (k, rounds): 1, 2 ... k - 1 in order, with 0 at `position` (rounds,)."""
    slots = np.arange(k)[:, None]
    return np.where(slots == position, 0, slots + (slots < position))


def _beats(games, k, a, b, at):
    """Return True if a beats b in the rounds `at`, any shape."""
    low = np.minimum(a, b)
    high = np.maximum(a, b)
    return (games[low * (2 * k - low - 1) // 2 + high - low - 1, at] == 1) == (a < b)
