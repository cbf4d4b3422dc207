"""Decoders of one-vs-one codes that query only the pairs they need.

Each function takes a `PairTable` and `PairQueries` and returns decide(n, evaluate),
see `pair_queries`.  The probability of the winner is that of all pairs
queried, fitted together, for votes, and of the pairs of the winner for
eliminations: what was closer to the truth on real data.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..core.errors import UsageError
from ..core.text import numeral
from .code_kinds import PairTable
from .pair_queries import fitted_probability, met_probability, Queries


@dataclass(frozen=True, kw_only=True)
class PairQueries:
    """Choices of decoders that query some of the pairs of a one-vs-one configuration.

    Attributes
    ----------
    opponents : opponents of each class in a poll, a number or a word such as `3log`, 3 log2 k
    finalists : number of best classes that are polled in full, None for no class
    pair_errors : for the decoder radag, the errors (k, k) of the pairs, columns of the code, or a
        file of them, which `pair_decoder` does not read
    """

    opponents: str = "3log"
    seed: int = 1
    finalists: int | None = None
    pair_errors: str | np.ndarray | None = None


def opponents_of(word: str, k: int) -> int:
    """The number of opponents that a word means for k classes: `20`, or `3log`.

    `3log` is ceil(3 log2 k), at least 1.  Raises UsageError for anything else.
    """
    try:
        if word.endswith("log"):
            factor = numeral(word.removesuffix("log") or "1")
            if not 0 < factor <= 1e6:
                raise ValueError
            # a product that is whole but for rounding is not rounded up
            return max(1, math.ceil(factor * math.log2(k) - 1e-9))
        count = numeral(word, whole=True)
        if not 1 <= count <= 10**6:
            raise ValueError
        return count
    except ValueError:
        raise UsageError(
            f"'{word}' opponents: expected a whole number, or a multiple of log2 k such as 3log"
        ) from None


def _decider(table, probability, choose):
    """decide(n, evaluate) by choose(queries), which gives the winner (n,), and for one that may be
    rejected also the class (n,) whose probability is given, by a function of `pair_queries`."""

    def decide(n, evaluate):
        queries = Queries(table, n, evaluate)
        chosen = choose(queries)
        queried = queries.queried.T
        return chosen[0], probability(table, queries.r.T, queried, chosen[-1]), queried

    return decide


def max_win(table: PairTable, queries: PairQueries) -> Callable:
    """MAX-WIN: all pairs vote, the class with most votes wins.

    Ties go to the larger sum of r over the class's pairs (r > 0 for the class), then to the lowest
    index. Queries all k(k-1)/2 pairs in one call.

    References
    ----------
    J. H. Friedman, "Another approach to polychotomous classification", 1996.
    """
    ballot = _Ballot(table, 1 - np.eye(table.k, dtype=np.intp))
    return _decider(table, fitted_probability, lambda queries: (ballot.best(queries, 1)[:, 0],))


def poll(table: PairTable, queries: PairQueries) -> Callable:
    """POLL: each class meets some others at random, and gains a vote for each that it beats.

    Each class meets l = opponents others, drawn uniformly and with replacement; what was drawn more
    than once is queried once and counted as often as it was drawn. The class with most votes wins;
    ties go to the larger sum of r with the same repeats, then to the lowest index. The draw depends
    on seed alone and is the same for all points.

    If finalists > 0, so many best classes of each point are compared with all others, and the best
    of them by its full MAX-WIN score (ties as there) wins.

    Queries at most k l pairs, on average k(k-1)/2 (1 - (1 - 1/(k-1))^(2l)) different ones, in one
    call, and with t finalists at most t(k-1) - t(t-1)/2 more. Raises `UsageError` for wrong
    opponents, and for finalists < 0.

    References
    ----------
    Bunrupunthunad, Fakcharoenphol and Rakthanmanon, 2003.
    """
    opponents = opponents_of(queries.opponents, table.k)
    finalists = queries.finalists or 0
    if finalists < 0:
        raise UsageError("the number of classes that are polled again cannot be negative")
    ballot = _Ballot(table, draw(table.k, opponents, queries.seed))

    def choose(queries):
        best = ballot.best(queries, max(finalists, 1))
        return (_recount(queries, best) if finalists else best[:, 0],)

    return _decider(table, fitted_probability, choose)


def draw(k: int, opponents: int, seed: int) -> np.ndarray:
    """counts (k, k): the meetings of each class (row) with each other that it drew for itself."""
    counts = np.zeros((k, k), dtype=np.intp)
    if k > 1:
        drawn = np.random.Generator(np.random.PCG64(seed)).integers(k - 1, size=(k, opponents))
        classes = np.arange(k)[:, None]
        drawn += drawn >= classes
        np.add.at(counts, (classes, drawn), 1)
    return counts


class _Ballot:
    """Votes; counts (k, k): how often a win of class i (row) over class j is counted for i."""

    def __init__(self, table, counts):
        self.table = table
        self.counts = counts
        up = counts[table.high, table.low]
        down = counts[table.low, table.high]
        self.columns = np.flatnonzero(up + down)
        # Small whole numbers: their sums are exact in single precision.
        c = np.arange(len(self.columns))
        self.change = np.zeros((len(c), table.k), dtype=np.float32)
        self.change[c, table.high[self.columns]] = up[self.columns]
        self.change[c, table.low[self.columns]] = -down[self.columns]
        self.start = -np.minimum(self.change, 0).sum(axis=0)

    def best(self, queries, t):
        """The t best classes (n, min(t, k)), best first, by the pairs of this ballot."""
        n = queries.n
        k = self.table.k
        if len(self.columns) and n:
            queries.get(np.arange(n), self.columns)
        votes = np.empty((n, k), dtype=np.float32)
        for start in range(0, n, 4096):
            part = slice(start, start + 4096)
            won = (queries.r[self.columns, part] >= 0).astype(np.float32)
            votes[part] = won.T @ self.change + self.start
        ranking = np.argsort(-votes, axis=1, kind="stable")
        # Sums matter only where one of the t most votes occurs twice.
        ordered = np.take_along_axis(votes, ranking[:, : t + 1], axis=1)
        tied = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        sums = np.stack([self._sum(queries, c, tied) for c in range(k)], axis=1)
        by_sum = np.argsort(-sums, axis=1, kind="stable")
        again = np.argsort(-np.take_along_axis(votes[tied], by_sum, axis=1), axis=1, kind="stable")
        ranking[tied] = np.take_along_axis(by_sum, again, axis=1)
        return ranking[:, :t]

    def _sum(self, queries, c, rows):
        met = np.flatnonzero(self.counts[c])
        weights = self.counts[c, met] * self.table.sign[c, met]
        return _row_sums(queries.r[self.table.row[c, met], rows[:, None]] * weights)


def _recount(queries, best):
    """winner (n,): the best of the classes best (n, t) by its full MAX-WIN score."""
    table = queries.table
    chosen = np.zeros((queries.n, table.k), dtype=bool)
    np.put_along_axis(chosen, best, True, axis=1)
    polled = np.zeros(table.m, dtype=bool)
    if queries.n:
        polled = queries.queried.all(axis=1)
    for c in range(table.k):
        rows = np.flatnonzero(chosen[:, c])
        others = table.others(c)
        others = others[~polled[table.row[c, others]]]
        later = others[others > c]
        if len(rows) and len(later):
            queries.get(rows, table.row[c, later])
        # The pair with an earlier class has been queried wherever that is chosen too.
        for j in others[others < c]:
            some = rows[~chosen[rows, j]]
            if len(some):
                queries.get(some, table.row[c, j])
    winner = np.zeros(queries.n, dtype=np.intp)
    votes = np.full(queries.n, -1)
    sums = np.zeros(queries.n)
    for c in range(table.k):
        rows = np.flatnonzero(chosen[:, c])
        others = table.others(c)
        r = queries.r[table.row[c, others], rows[:, None]]
        votes_c = np.count_nonzero(table.wins(c, others, r), axis=1)
        sums_c = _row_sums(r * table.sign[c, others])
        ahead = (votes_c > votes[rows]) | ((votes_c == votes[rows]) & (sums_c > sums[rows]))
        rows = rows[ahead]
        winner[rows], votes[rows], sums[rows] = c, votes_c[ahead], sums_c[ahead]
    return winner


def _row_sums(values):
    """Sums along the rows, the same whatever the number of rows, so that ties stay ties."""
    return np.ascontiguousarray(values).sum(axis=1)


def ddag(table: PairTable, queries: PairQueries) -> Callable:
    """Decision directed acyclic graph: the loser of two classes is struck off the list.

    The first and the last class of a list are compared, until one is left. Queries k - 1 pairs per
    point in at most k(k-1)/2 calls.

    References
    ----------
    Platt, Cristianini and Shawe-Taylor, 2000.
    """
    return _decider(table, met_probability, lambda queries: (_walk(queries),))


def unanimous(table: PairTable, queries: PairQueries) -> Callable:
    """The AND of a class's classifiers: the class that wins all its k - 1 pairs.

    A point without one is rejected. Only the winner of a `ddag` can be such a class, so the graph
    is walked and then the other pairs of its winner are queried, up to the first that is lost (by
    lower class, then by higher): at most 2(k-1) - 1 queries per point, in at most k(k-1) calls.

    References
    ----------
    Knerr, Personnaz and Dreyfus, 1990.
    """

    def choose(queries):
        candidate = _walk(queries)
        winner = candidate.copy()
        holders = [np.flatnonzero(candidate == c) for c in range(table.k)]
        first, second = np.triu_indices(table.k, 1)
        held = np.isin(first, candidate) | np.isin(second, candidate)
        for column in table.row[first[held], second[held]]:
            parts = []
            for c in (table.low[column], table.high[column]):
                holders[c] = holders[c][winner[holders[c]] >= 0]
                parts.append(holders[c][~queries.queried[column, holders[c]]])
            rows = _merged(parts)
            if len(rows):
                queries.get(rows, column)
                high = queries.r[column, rows] >= 0
                winner[rows[high != (winner[rows] == table.high[column])]] = -1
        return winner, candidate

    return _decider(table, met_probability, choose)


def adag(table: PairTable, queries: PairQueries) -> Callable:
    """Adaptive graph: a tournament of the classes.

    In each round slot i meets slot size-1-i and the winner takes slot i; of an odd number the
    middle passes on. The classes start in ascending order. Queries k - 1 pairs per point, the first
    round in one call, each other pair in at most one.

    References
    ----------
    Kijsirikul, Ussivakul and Meknavin, 2002.
    """
    return _tournament(table, lambda slots: slots)


def radag(table: PairTable, queries: PairQueries) -> Callable:
    """Reordering adaptive graph: a tournament that pairs the classes anew in each round.

    As `adag`, but the sum of the weights of the pairs of a round is smallest, of more than 20
    classes by a search; of an odd number, the class that the pairing leaves out passes on. The
    weights (k, k) are the errors of each pair, from training (w + w^T counts). Queries k - 1 pairs
    per point, in each round each pair in at most one call. Raises `UsageError` if they are missing,
    have another shape or are not finite.

    References
    ----------
    Phetkaew, Kijsirikul and Rivepiboon, 2003.
    """
    if queries.pair_errors is None:
        raise UsageError(
            "radag needs the errors of the pairs: give `pair_errors`, a file that "
            "`cv_errors` writes"
        )
    weights = np.asarray(queries.pair_errors, dtype=float)
    if weights.shape != (table.k, table.k):
        raise UsageError(f"the weights of the pairs must be {table.k} x {table.k}")
    off = ~np.eye(table.k, dtype=bool)
    if not np.isfinite(weights[off]).all():
        raise UsageError("the weights of the pairs must be finite")
    matcher = Matcher(np.where(off, weights + weights.T, 0.0))
    return _tournament(table, matcher.seats)


def _walk(queries):
    """winner (n,) of the graph.

    As many classes are struck off for all points, so the first that is left tells the last.
    """
    table = queries.table
    groups = [np.arange(queries.n)]
    for size in range(table.k, 1, -1):
        following = [[] for _ in range(len(groups) + 1)]
        for first, rows in enumerate(groups):
            if len(rows) == 0:
                continue
            last = first + size - 1
            column = table.row[first, last]
            queries.get(rows, column)
            stays = table.wins(first, last, queries.r[column, rows])
            following[first].append(rows[stays])
            following[first + 1].append(rows[~stays])
        groups = [_merged(parts) for parts in following]
    winner = np.zeros(queries.n, dtype=np.intp)
    for first, rows in enumerate(groups):
        winner[rows] = first
    return winner


def _merged(parts):
    """Ascending runs as one; a stable sort merges them."""
    return np.sort(np.concatenate([np.zeros(0, dtype=np.intp), *parts]), kind="stable")


def _tournament(table, seats):
    """decide of a tournament; seats reorders the classes (n, size) that are left each round."""

    def choose(queries):
        slots = np.broadcast_to(np.arange(table.k), (queries.n, table.k))
        while slots.shape[1] > 1:
            slots = seats(slots)
            half = slots.shape[1] // 2
            first = slots[:, :half]
            second = slots[:, : -half - 1 : -1]
            won = table.wins(first, second, queries.meet(first, second))
            slots = np.concatenate([np.where(won, first, second), slots[:, half:-half]], axis=1)
        return (slots[:, 0].copy(),)

    return _decider(table, met_probability, choose)


LARGEST = 20
REMEMBERED = 1 << 17
BUDGET = 32 << 20


class Matcher:
    """Seats for the rounds of a tournament by weights (k, k), symmetric.

    The seats of each set of classes are remembered.
    """

    def __init__(self, weights: np.ndarray):
        self.weights = weights
        self._known: dict[bytes, np.ndarray] = {}

    def seats(self, here: np.ndarray) -> np.ndarray:
        """The classes here (n, size) of each point reordered: partners at i and size-1-i.

        Of an odd number the one without a partner is in the middle.  Pairs come in
        the order of their lower class, which is the first.
        """
        if len(here) == 0:
            return here
        small = np.ascontiguousarray(np.sort(here, axis=1), dtype=np.uint16)
        keys = small.view(np.dtype((np.void, 2 * small.shape[1])))[:, 0]
        different, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        names = [key.tobytes() for key in different]
        sets = small[first].astype(np.intp)
        if len(self._known) + len(names) > REMEMBERED:
            self._known = {}
        known = self._known  # other threads may begin a new one
        new = [number for number, name in enumerate(names) if name not in known]
        if new:
            known.update(zip([names[number] for number in new], self._solve(sets[new])))
        return np.stack([known[name] for name in names])[inverse.reshape(-1)]

    def _solve(self, sets):
        """The sets (g, size) of classes, each ascending, reordered as `seats` says."""
        g, size = sets.shape
        even = size + size % 2
        weights = np.zeros((g, even, even))
        weights[:, :size, :size] = self.weights[sets[:, :, None], sets[:, None, :]]
        if even <= LARGEST:
            partner = match_by_masks(weights)
        else:
            partner = match_by_exchange(weights)
        position = np.empty((g, size), dtype=np.intp)
        for one, mates in zip(position, partner, strict=True):
            lower = [i for i in range(size) if i < mates[i] < size]
            one[: len(lower)] = lower
            one[size - len(lower) :] = mates[lower][::-1]
            if size % 2:
                one[size // 2] = mates[size]
        return np.take_along_axis(sets, position, axis=1)


def match_by_masks(weights: np.ndarray) -> np.ndarray:
    """partner (g, s) in the perfect matching of smallest weight, weights (g, s, s), s even.

    Dynamic programming over the sets of classes that are left when the lowest
    is paired first: best(set) = min over j of w(lowest, j) + best(set without
    both).  Of equal weights, the lowest class has the lowest partner, and so on.
    """
    g, s = weights.shape[:2]
    levels = _levels(s)
    states = 1 + sum(len(lowest) for lowest, _, _ in levels)
    choices = max((partners.size for _, partners, _ in levels), default=1)
    step = max(1, BUDGET // (8 * (states + 3 * choices)))
    partner = np.empty((g, s), dtype=np.intp)
    for start in range(0, g, step):
        part = weights[start : start + step]
        each = np.arange(len(part))
        best: np.ndarray = np.zeros((len(part), 1))
        chosen = []
        for lowest, partners, rest in levels:
            total = part[:, lowest[:, None], partners] + best[:, rest]
            choice = np.argmin(total, axis=2)
            best = np.take_along_axis(total, choice[:, :, None], axis=2)[:, :, 0]
            chosen.append(choice)
        state = np.zeros(len(part), dtype=np.intp)
        for (lowest, partners, rest), choice in zip(
            reversed(levels), reversed(chosen), strict=True
        ):
            i = lowest[state]
            taken = choice[each, state]
            j = partners[state, taken]
            partner[start + each, i] = j
            partner[start + each, j] = i
            state = rest[state, taken]
    return partner


@lru_cache(maxsize=None)
def _levels(s):
    """For sets of 2, 4, ..., s classes that can be left: lowest class (c,), its possible
    partners (c, size-1), and the number of the set without both in the level before."""
    masks_of = [[(1 << s) - 1]]
    while masks_of[-1][0]:
        after = set()
        for mask in masks_of[-1]:
            rest = mask & (mask - 1)
            after.update(rest ^ (1 << j) for j in range(s) if rest >> j & 1)
        masks_of.append(sorted(after))
    levels = []
    for masks, after in zip(masks_of[-2::-1], masks_of[:0:-1], strict=True):
        number = {mask: i for i, mask in enumerate(after)}
        lowest = []
        partners = []
        rests = []
        for mask in masks:
            rest = mask & (mask - 1)
            inside = [j for j in range(s) if rest >> j & 1]
            lowest.append((mask ^ rest).bit_length() - 1)
            partners.append(inside)
            rests.append([number[rest ^ (1 << j)] for j in inside])
        levels.append(tuple(np.array(part, dtype=np.intp) for part in (lowest, partners, rests)))
    return tuple(levels)


def match_by_exchange(weights: np.ndarray) -> np.ndarray:
    """partner (g, s) in a perfect matching of small weight, weights (g, s, s), s even.

    The lightest pair comes first, and so on of what is left; then two pairs exchange partners, those
    that gain most, as long as any gain.
    """
    g, s = weights.shape[:2]
    partner = np.empty((g, s), dtype=np.intp)
    step = max(1, BUDGET // (8 * s * s))
    for start in range(0, g, step):
        part = weights[start : start + step]
        sets = np.arange(len(part))[:, None]
        a, b = _lightest_pairs(part)
        least = 1e-12 * np.abs(part).max()  # rounding is no gain
        gains = True
        while gains:
            straight = part[sets[:, None], a[:, :, None], a[:, None]]
            straight = straight + part[sets[:, None], b[:, :, None], b[:, None]]
            crossed = part[sets[:, None], a[:, :, None], b[:, None]]
            crossed = crossed + crossed.transpose(0, 2, 1)
            now = part[sets, a, b]
            gain = now[:, :, None] + now[:, None] - np.minimum(straight, crossed)
            gain[:, range(s // 2), range(s // 2)] = 0.0
            i, j = np.divmod(gain.reshape(len(part), -1).argmax(axis=1), s // 2)
            better = np.flatnonzero(gain[sets[:, 0], i, j] > least)
            gains = len(better) > 0
            i, j = i[better], j[better]
            turned = straight[better, i, j] < crossed[better, i, j]
            first = b[better, i]
            second = np.where(turned, a[better, j], b[better, j])
            # i keeps its a: with the a of j, whose b then goes with the b of i, or with the b of j
            b[better, i] = second
            a[better, j] = np.where(turned, first, a[better, j])
            b[better, j] = np.where(turned, b[better, j], first)
        rows = sets + start
        partner[rows, a], partner[rows, b] = b, a
    return partner


def _lightest_pairs(weights):
    """(a, b), each (g, s/2): the lightest pair of each set, then that of what is left."""
    g, s = weights.shape[:2]
    left = weights.copy()
    left[:, range(s), range(s)] = np.inf
    sets = np.arange(g)
    a, b = np.empty((2, g, s // 2), dtype=np.intp)
    for number in range(s // 2):
        a[:, number], b[:, number] = np.divmod(left.reshape(g, -1).argmin(axis=1), s)
        for taken in (a[:, number], b[:, number]):
            left[sets, taken] = left[sets, :, taken] = np.inf
    return a, b
