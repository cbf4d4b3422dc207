"""Costs of splits of classes in a result cache: what a search that was interrupted need not do
again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from .._version import __version__
from ..codes.best_tree import Nodes
from ..training.split_costs import GROUPS
from ..weights import LARGEST, Weights
from .result_cache import key_of

__all__ = ["KeptCosts"]


class KeptCosts:
    """Costs of splits of the classes of points x (n, d), y (n,), in a result cache.

    weights: of the points, or None.
    """

    def __init__(self, cache, x: np.ndarray, y: np.ndarray, weights: Weights | None = None):
        self.cache = cache
        self._data = key_of("split costs 1", __version__, x, y,
                            *(() if weights is None else (weights.w,)))

    def costs(self, origin: Sequence, requests: Sequence[Nodes], make: Callable) -> Iterator:
        """Yield the costs (m, g) of each of some `Nodes`, those that are not kept from
        make(requests).

        origin: what the costs depend on beside the points, parts of a key.
        """
        keys = [key_of(self._data, *origin, request.parts, request.right) for request in requests]
        kept = [self._found(key, len(request.right)) for key, request in zip(keys, requests)]
        made = iter(make([request for request, cost in zip(requests, kept) if cost is None]))
        for key, cost in zip(keys, kept):
            if cost is None:
                cost = next(made)
                self.cache.put(key, cost.astype("<f8").tobytes())
            yield cost

    def _found(self, key, m):
        """The costs (m, g) under a key, or None where there are none or they cannot be any."""
        data = self.cache.get(key)
        if data is None or len(data) != 8 * m * GROUPS:
            return None
        cost = np.frombuffer(data, "<f8").reshape(m, GROUPS).astype(np.float64)
        return cost if ((cost >= 0) & (cost <= LARGEST)).all() else None
