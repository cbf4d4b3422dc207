"""Costs of splits of classes, designs and metrics in a result store, for runs that go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..control.build import named_as
from ..control.parse import parse
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.errors import AgfmcError
from ..core.version import __version__
from ..core.weights import LARGEST, Weights
from ..data.normalisation import LearnedMetric, Normalisation
from ..designs.best_tree import Nodes
from ..designs.split_costs import GROUPS
from ..files.result_store import are_numbers, key_of, Record
from ..training.fit import TrainingSettings
from ..training.metric import with_rows
from .candidates import Candidate


class CostStore:
    """Costs of splits of the classes of points x (n, d), y (n,), in a result cache.

    weights: of the points, or None.
    """

    def __init__(self, cache, x: np.ndarray, y: np.ndarray, weights: Weights | None = None):
        self.cache = cache
        self._data = key_of("split costs 3", __version__, x, y,
                            *(() if weights is None else (weights.w,)))

    def costs(self, origin: Sequence, requests: Sequence[Nodes], make: Callable) -> Iterator:
        """Yield the costs (m, g) of each of some `Nodes`, those that are not in the cache from
        make(requests).

        origin: what the costs depend on beside the points, parts of a key.
        """
        keys = [key_of(self._data, *origin, request.classes, request.right) for request in requests]
        cached = [_costs_from(self.cache.get(key), len(request.right))
                  for key, request in zip(keys, requests)]
        made = iter(make([request for request, cost in zip(requests, cached) if cost is None]))
        for key, cost in zip(keys, cached):
            if cost is None:
                cost = next(made)
                self.cache.put(key, Record(None, {"costs": cost.astype("<f8")}))
            yield cost


def _costs_from(record, m):
    try:
        costs = None if record is None else record.array("costs", "<f8", m, GROUPS)
        return costs if costs is None or ((costs >= 0) & (costs <= LARGEST)).all() else None
    except ValueError:
        return None


class Design(NamedTuple):
    """A control tree for a training part, and the seconds of a core that it took to make it of
    its points, 0.0 where the classes are enough."""

    tree: Tree
    seconds: float


def design_of(candidate: Candidate, x: np.ndarray, y: np.ndarray, names: dict,
              settings: TrainingSettings, cache=None, weights: Weights | None = None) -> Design:
    """The `Design` of a candidate for a training part x (n, d), y (n,); names: {label: name}.

    settings: whose options, seed and threads a search has;  cache: of results, or None: what it
    has is not made again, with the seconds that it took;  weights: of the points, or None.
    """
    if not candidate.made_of_data:
        return Design(candidate.tree_for(x, y, names), candidate.design_s)
    key = key_of("design 2", __version__, x, y, candidate.scheme, sorted(candidate.design.items()),
                 settings.options, settings.seed, *(() if weights is None else (weights.w,)))
    design = None if cache is None else _design_from(cache.get(key), np.unique(y).tolist())
    if design is None:
        start = time.process_time()
        tree = candidate.tree_for(x, y, {}, settings, weights)
        design = Design(tree, time.process_time() - start)
        if cache is not None:
            cache.put(key, Record([design.seconds, format_tree(tree)]))
    return design._replace(tree=named_as(design.tree, names))


def _design_from(record, labels):
    """The `Design` in a record over these labels, or None where it cannot be one."""
    try:
        seconds, text = record.head
        tree = parse(text)
        # options and programs are none of a design
        if not are_numbers(seconds) or seconds < 0 or list(tree.classes) != labels or \
                tree.directs or any(row.text or not row.quoted for row in tree.rows):
            return None
        return Design(changed(tree, names={}), float(seconds))
    except (AgfmcError, AttributeError, TypeError, ValueError, RecursionError):
        return None


def metric_key(settings: TrainingSettings, x: np.ndarray, y: np.ndarray,
               weights: Weights | None = None) -> str:
    """The key of the normalisation that settings with a metric learn from x (n, d), y (n,)."""
    return key_of("metric 2", __version__, x, y, repr((
        settings.scale or settings.nsv is None, settings.nsv, settings.metric.rounds,
        settings.metric.canonical(), settings.seed)),
        *(() if weights is None else (weights.w, settings.weighted_norm)))


def metric_record(normalisation: Normalisation) -> Record:
    """A normalisation with a learned metric as a result of a cache."""
    learned = normalisation.metric
    head = [normalisation.dropped, learned.rounds, learned.points, learned.classes, learned.data,
            learned.settings, learned.losses]
    return Record(head, {"mean": normalisation.mean.astype("<f4"),
                         "matrix": normalisation.matrix.astype("<f4"),
                         "weights": learned.weights.astype("<f8")})


def metric_from_record(record: Record | None, x: np.ndarray, y: np.ndarray) -> Normalisation | None:
    """The `Normalisation` in a record that was learned from x (n, d), y (n,), or None where it
    cannot be one."""
    try:
        dropped, rounds, points, classes, digest, settings, losses = record.head
        d, losses = x.shape[1], tuple((float(loss), float(error)) for loss, error in losses)
        matrix, weights = record.array("matrix", "<f4", d, None), record.array("weights", "<f8", d)
        if not are_numbers(*sum(losses, ())) or not all(
                type(value) is int and value >= 0 for value in (rounds, *dropped)) or \
                (points, classes) != (len(y), len(np.unique(y))) or not matrix.shape[1] or \
                type(settings) is not str or max(dropped, default=0) >= d or (weights < 0).any():
            return None
        normalisation = with_rows(Normalisation(
            matrix, record.array("mean", "<f4", d), tuple(dropped),
            LearnedMetric(rounds, points, classes, digest, settings, weights, losses)), x, y)
        return None if normalisation.metric.rows is None else normalisation
    except (AttributeError, ValueError, TypeError, RecursionError, OverflowError):
        return None
