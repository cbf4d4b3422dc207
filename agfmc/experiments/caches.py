"""Results in a store for later runs: dataclasses as records, designs, costs of splits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ..control.build import named_as
from ..control.parse import parse
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.errors import AgfmcError
from ..core.weights import LARGEST
from ..data.types import Dataset
from ..designs.best_tree import Nodes
from ..designs.split_costs import GROUPS
from ..files.codec import decode, encode
from ..files.result_store import key_of, point_parts, Record, result_key
from ..training.fit import TrainingSettings
from .candidates import Candidate


def to_record(value) -> Record:
    """A dataclass as a result: its plain values as `files.codec` has them, its arrays numbered."""
    arrays: dict = {}

    def store(array):
        name = str(len(arrays))
        arrays[name] = array
        return name

    return Record(encode(value, store), arrays)


def from_record(kind, record: Record | None, make: Callable):
    """make(the dataclass `kind` in a record), or None where it holds none, or `make` refuses it.

    The annotation of an array has its dtype and number of dimensions, and "NaN" where some of its
    numbers may be that.
    """

    def load(name, dtype, rules):
        return record.array(name, dtype, *[None] * rules[0], finite="NaN" not in rules)

    try:
        return make(decode(kind, record.head, ValueError, load))
    except (AgfmcError, AttributeError, OverflowError, RecursionError, TypeError, ValueError):
        return None


@dataclass(frozen=True)
class _StoredCosts:
    costs: Annotated[np.ndarray, "<f8", 2]


class CostStore:
    """Costs of splits of the classes of a `Dataset`, in a result cache."""

    def __init__(self, cache, data: Dataset):
        self.cache = cache
        self._data = result_key("split costs 3", *point_parts(data))

    def costs(self, origin: Sequence, requests: Sequence[Nodes], make: Callable) -> Iterator:
        """Yield the costs (m, g) of each of some `Nodes`, those that are not in the cache from
        make(requests).

        `origin` has the parts of a key for what the costs depend on beside the points.
        """

        def load(request, key):
            def checked(stored):
                costs = stored.costs
                return (
                    costs
                    if costs.shape == (len(request.right), GROUPS)
                    and ((costs >= 0) & (costs <= LARGEST)).all()
                    else None
                )

            return from_record(_StoredCosts, self.cache.get(key), checked)

        keys = [key_of(self._data, *origin, request.classes, request.right) for request in requests]
        cached = list(map(load, requests, keys))
        made = iter(make([request for request, cost in zip(requests, cached) if cost is None]))
        for key, cost in zip(keys, cached):
            if cost is None:
                cost = next(made)
                self.cache.put(key, to_record(_StoredCosts(cost)))
            yield cost


class Design(NamedTuple):
    """A control tree for a training part, and the seconds of a core that it took to make it of
    its points, 0.0 where the classes are enough."""

    tree: Tree
    seconds: float


@dataclass(frozen=True)
class _StoredDesign:
    seconds: Annotated[float, (0.0, 1e300)]
    text: str


def design_of(
    candidate: Candidate, data: Dataset, names: dict, settings: TrainingSettings, cache=None
) -> Design:
    """The `Design` of a candidate for the points of a training part; names: {label: name}.

    A search has the options, seed and threads of `settings`. What `cache` has is not made again,
    and comes with the seconds that it took.
    """
    if not candidate.made_of_data:
        return Design(candidate.tree_for(data, names), candidate.design_s)
    key = result_key(
        "design 3",
        *point_parts(data),
        candidate.scheme,
        sorted(candidate.design.items()),
        settings.options,
        settings.seed,
    )

    def loaded(stored):
        tree = parse(stored.text)
        # options and programs are none of a design
        if (
            list(tree.classes) != np.unique(data.y).tolist()
            or tree.directs
            or any(row.text or not row.quoted for row in tree.rows)
        ):
            return None
        return Design(changed(tree, names={}), stored.seconds)

    design = None if cache is None else from_record(_StoredDesign, cache.get(key), loaded)
    if design is None:
        start = time.process_time()
        tree = candidate.tree_for(data, {}, settings)
        design = Design(tree, time.process_time() - start)
        if cache is not None:
            cache.put(key, to_record(_StoredDesign(design.seconds, format_tree(tree))))
    return design._replace(tree=named_as(design.tree, names))
