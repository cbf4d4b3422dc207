"""Codes over classifiers of few classes: each row divides classes into at most q groups.

With q symbols in place of two, fewer rows tell many classes apart (Dietterich and Bakiri, "Solving
multiclass learning problems via error-correcting output codes", 1995, for two).  In a control tree
a row of several groups is so many binary rows, one after the other, each with a group on its right
and the others on its left; one of two groups is one binary row.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations
from numbers import Integral

import numpy as np

from ..control.build import from_rows, with_heading
from ..control.tree import Tree
from ..core.errors import UsageError
from ..core.rows import by_name
from .schemes import is_scheme, read_scheme, SCHEMES

_ENOUGH = 3  # rows that divide each pair of classes: one may err, and two outvote it
_DRAWS = 20  # codes, of which the best is taken


def symbol_tree(
    scheme: str, labels: Sequence[int], symbols: int, seed: int = 1, names: dict | None = None
) -> Tree:
    """The training control tree of a code of `symbols` groups in a row.

    Parameters
    ----------
    scheme : str
        "random", with `rows`, `seed` and `draws` as in "random rows=8"; "tree", whose nodes have so
        many branches; or "one-vs-one", of all pairs of blocks of half as many classes.  No more
        classes than symbols are one row in any case.
    labels, names : as for `design`

    Raises
    ------
    UsageError : for another scheme or number of symbols, and rows that tell too little
    """
    if not isinstance(symbols, Integral) or symbols < 2:
        raise UsageError(f"`symbols`: expected a whole number from 2, found {symbols!r}")
    if is_scheme(scheme):
        found, options = read_scheme(scheme, seed)
        maker = found.groups
    else:
        maker = None
    if maker is None:
        known = ", ".join(found.name for found in SCHEMES if found.groups)
        raise UsageError(f"`control`: with `symbols` expected {known}, found {scheme!r:.60}")
    k = len(labels)
    if k <= symbols:
        code = [[(position,) for position in range(k)]]
    else:
        code = by_name(maker)(k, int(symbols), **options)
    rows = [row for groups in code for row in _binary_rows(groups)]
    return with_heading(from_rows(rows, labels, names), "decoder", "likelihood")


def _binary_rows(groups):
    if len(groups) == 2:
        return [tuple(groups)]
    return [(sum((other for other in groups if other is not group), ()), group) for group in groups]


def one_vs_one(k: int, q: int) -> list:
    """All pairs of blocks of at most q / 2 of k classes; each class of a row is a group."""
    blocks = _divided(range(k), -(-k // (q // 2)))
    return [[(position,) for position in low + high] for low, high in combinations(blocks, 2)]


def tree(k: int, q: int) -> list:
    """The nodes of the balanced tree of k classes in their order, each with at most q branches."""
    rows = []
    nodes = [tuple(range(k))]
    for node in nodes:
        rows.append(_divided(node, min(q, len(node))))
        nodes += [group for group in rows[-1] if len(group) > 1]
    return rows


def _divided(classes, parts):
    return [tuple(part.tolist()) for part in np.array_split(np.asarray(classes), parts)]


def random_groups(
    k: int, q: int, rows: int | None = None, seed: int = 1, draws: int = _DRAWS, strict: bool = True
) -> list:
    """The best of random codes of q groups, whose sizes differ by one at most.

    Without `rows` it has the fewest rows of which three divide each pair of classes; else the
    largest least number of rows that divide a pair, and the fewest such pairs.
    """
    generator = random.Random(seed)
    quality, code = max(
        (_draw(k, q, rows, generator) for _ in range(draws)), key=lambda draw: draw[0]
    )
    apart = quality[-2]
    if apart == 0 or rows is not None and len(code) < rows:
        raise UsageError(
            f"`rows`: {len(code)} different rows of {q} groups were found, and the least number "
            f"that divides a pair of {k} classes is {apart}: leave `rows` out"
        )
    return code


def _draw(k, q, rows, generator):
    """(quality, code): rows that are drawn one by one, each heeding those before it."""
    together = np.zeros((k, k))  # rows that do not divide the pair
    np.fill_diagonal(together, -np.inf)
    code: list = []
    while len(code) != rows:
        row, same = _draw_row(together, q, generator)
        if row in code:
            break
        code.append(row)
        together += same
        if rows is None and len(code) - together.max() >= _ENOUGH:
            break
    most = together.max()
    apart = int(len(code) - most)
    pairs = np.count_nonzero(together == most)
    if rows is None:
        return (min(apart, _ENOUGH), -len(code), apart, -pairs), code
    return (len(code), apart, -pairs), code


def _draw_row(together, q, generator):
    """(groups, mask (k, k) of pairs in one group): each class, in random order, goes to the group
    where the most rows divide it from those that are there."""
    k = len(together)
    room = np.full(q, k // q)
    room[: k % q] += 1
    # a pair that one row less divides outweighs a whole group of others
    cost = (1.0 + k / q) ** together
    member = np.zeros((k, q), dtype=bool)
    for position in generator.sample(range(k), k):
        group = np.where(room > 0, cost[position] @ member, np.inf).argmin()
        member[position, group] = True
        room[group] -= 1
    groups = [tuple(np.flatnonzero(column).tolist()) for column in member.T]
    return sorted(groups), member @ member.T
