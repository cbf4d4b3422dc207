"""The configuration that cross-validation prefers, laid out for all the data."""

from __future__ import annotations

import math

import numpy as np

from ..control.build import to_code
from ..errors import JobsFailed
from ..score.significance import resampled_t
from .candidates import decoders_of
from .compare import best_row, compare

__all__ = ["find_best"]


def find_best(data, candidates, plan, settings, ledger, *, by, progress=None):
    """-> (training control tree, its row, the row with the best mean, all `compare` found).

    The first row is kept where the best is not better than it by more than the standard
    error of their difference (corrected, as in `resampled_t`): a configuration that is
    chosen in place of the first has to be worth it (the one standard error rule of
    Breiman et al., "Classification and regression trees", 1984).

    The tree is made from all the data, normalised as the training parts were; it is
    a coding matrix where a tree did best as one.  Arguments as for `compare`.  Raises
    `JobsFailed` where no candidate could be trained.
    """
    result = compare(data, candidates, plan, settings, ledger, by=by, progress=progress)
    top = best_row(result["rows"], by)
    if top is None:
        failed = [row["error"] for row in result["rows"] if "error" in row]
        raise JobsFailed(failed[0] if failed else f"no decoder gives the score {by}")
    row = top if _worth_it(result["rows"][0], top, plan, by) else result["rows"][0]
    candidate = next(c for c in candidates if c.name == row["configuration"])
    (x,) = settings.normalised(data.x)
    tree = candidate.tree_for(x, data.y, dict(enumerate(data.names or ())))
    decoder = next(d for d in decoders_of(tree, candidate.wanted) if d.name == row["decoder"])
    if decoder.mode == "flat" and tree.hierarchical:
        tree = to_code(tree)
    return tree, row, top, result


def _worth_it(first, top, plan, by):
    """True where `top` is better than the row `first` by more than the standard error."""
    if first is top or "error" in first or first[by] is None:
        return True
    test = resampled_t(np.subtract(top[by]["values"], first[by]["values"]), plan.ratio)
    return math.isnan(test.t) or abs(test.t) > 1.0
