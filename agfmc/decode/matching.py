"""The pairing of smallest total weight, exactly, for many sets of classes at once."""

from functools import lru_cache

import numpy as np

__all__ = ["Matcher", "match_by_masks", "match_by_milp"]

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
        n, size = here.shape
        if n == 0:
            return here
        small = np.ascontiguousarray(np.sort(here, axis=1), dtype=np.uint16)
        keys = small.view(np.dtype((np.void, 2 * size)))[:, 0]
        different, inverse = np.unique(keys, return_inverse=True)
        names = [name.tobytes() for name in different]
        known = self._known
        new = [name for name in names if name not in known]
        if len(known) + len(new) > REMEMBERED:
            known = self._known = {}
            new = names
        if new:
            sets = np.frombuffer(b"".join(new), dtype=np.uint16).reshape(-1, size).astype(np.intp)
            known.update(zip(new, self._solve(sets), strict=True))
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
            partner = np.stack([match_by_milp(one) for one in weights])
        position = np.empty((g, size), dtype=np.intp)
        for one, mates in zip(position, partner, strict=True):
            lower = [i for i in range(size) if i < mates[i] < size]
            one[:len(lower)] = lower
            one[size - len(lower):] = mates[lower][::-1]
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
        part = weights[start:start + step]
        each = np.arange(len(part))
        best: np.ndarray = np.zeros((len(part), 1))
        chosen = []
        for lowest, partners, rest in levels:
            total = part[:, lowest[:, None], partners] + best[:, rest]
            choice = np.argmin(total, axis=2)
            best = np.take_along_axis(total, choice[:, :, None], axis=2)[:, :, 0]
            chosen.append(choice)
        state = np.zeros(len(part), dtype=np.intp)
        for (lowest, partners, rest), choice in zip(reversed(levels), reversed(chosen),
                                                    strict=True):
            i, taken = lowest[state], choice[each, state]
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
        lowest, partners, rests = [], [], []
        for mask in masks:
            rest = mask & (mask - 1)
            inside = [j for j in range(s) if rest >> j & 1]
            lowest.append((mask ^ rest).bit_length() - 1)
            partners.append(inside)
            rests.append([number[rest ^ (1 << j)] for j in inside])
        levels.append(tuple(np.array(part, dtype=np.intp) for part in (lowest, partners, rests)))
    return tuple(levels)


def match_by_milp(weights: np.ndarray) -> np.ndarray:
    """partner (s,) in the perfect matching of smallest weight, weights (s, s), s even.

    An integer programme with one variable for each pair; each class is in one pair.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    s = len(weights)
    first, second = np.triu_indices(s, 1)
    pairs = np.arange(len(first))
    once = csr_array((np.ones(2 * len(pairs)),
                      (np.concatenate([first, second]), np.concatenate([pairs, pairs]))))
    cost = weights[first, second]
    # The solver stops 1e-6 from the optimum, whatever the unit.
    size = float(np.abs(cost).max()) or 1.0
    solved = milp(cost / size * 1e4, integrality=np.ones(len(pairs)), bounds=Bounds(0, 1),
                  constraints=LinearConstraint(once, 1, 1), options={"mip_rel_gap": 0})
    taken = np.flatnonzero(solved.x > 0.5)
    partner = np.empty(s, dtype=np.intp)
    partner[first[taken]] = second[taken]
    partner[second[taken]] = first[taken]
    return partner
