"""Control trees that are made from the points of a training part: timed, and kept in a cache."""

from __future__ import annotations

import json
import time
from typing import NamedTuple

import numpy as np

from .._version import __version__
from ..control.build import named_as
from ..control.parse import parse
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..errors import AgfmcError
from ..training.fit import TrainingSettings
from ..weights import Weights
from .candidates import Candidate
from .result_cache import are_numbers, key_of

__all__ = ["Design", "design_of"]


class Design(NamedTuple):
    """A control tree for a training part, and the seconds of a core that it took to make it of
    its points, 0.0 where the classes are enough."""

    tree: Tree
    seconds: float


def design_of(candidate: Candidate, x: np.ndarray, y: np.ndarray, names: dict,
              settings: TrainingSettings, cache=None, weights: Weights | None = None) -> Design:
    """The `Design` of a candidate for a training part x (n, d), y (n,); names: {label: name}.

    settings: whose options, seed and threads a search has;  cache: of results, or None: what it
    has is not made again, and keeps the seconds that it took;  weights: of the points, or None.
    """
    if not candidate.made_of_data:
        return Design(candidate.tree_for(x, y, names), candidate.design_s)
    key = key_of("design 1", __version__, x, y, candidate.scheme, sorted(candidate.design.items()),
                 settings.options, settings.seed, *(() if weights is None else (weights.w,)))
    found = None if cache is None else _from_bytes(cache.get(key), np.unique(y).tolist())
    if found is None:
        start = time.process_time()
        tree = candidate.tree_for(x, y, {}, settings, weights)
        found = Design(tree, time.process_time() - start)
        if cache is not None:
            cache.put(key, f"{json.dumps(found.seconds)}\n{format_tree(tree)}".encode())
            cache.flush()
    return found._replace(tree=named_as(found.tree, names))


def _from_bytes(data, labels):
    """The `Design` in `data` over these labels, or None where it cannot be one."""
    try:
        seconds, _, text = (data or b"").decode().partition("\n")
        seconds, tree = json.loads(seconds), parse(text)
        # options and programs are none of a design
        if not are_numbers(seconds) or seconds < 0 or list(tree.classes) != labels or \
                tree.directs or any(row.text or not row.quoted for row in tree.rows):
            return None
        return Design(changed(tree, names={}), float(seconds))
    except (AgfmcError, ValueError, RecursionError):
        return None
