"""Results in a store for later runs: dataclasses as records, designs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ..control.build import named_as
from ..control.parse import parse
from ..control.tree import changed, Tree
from ..control.write import format_tree
from ..core.errors import AgfmcError
from ..data.types import Dataset
from ..files.codec import decode, encode
from ..files.result_store import point_parts, Record, result_key
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


class Design(NamedTuple):
    """A control tree for a training part, and the seconds of a core that it took to make it of
    its points, 0.0 where the classes are enough."""

    tree: Tree
    seconds: float


@dataclass(frozen=True)
class _StoredDesign:
    seconds: Annotated[float, (0.0, 1e300)]
    text: str


def design_of(candidate: Candidate, data: Dataset, names: dict, cache=None) -> Design:
    """The `Design` of a candidate for the points of a training part; names: {label: name}.

    What `cache` has is not made again, and comes with the seconds that it took.
    """
    if not candidate.made_of_data:
        return Design(candidate.tree_for(data, names), candidate.design_s)
    key = result_key(
        "design 4",
        *point_parts(data),
        candidate.scheme,
        sorted(candidate.design.items()),
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

    if cache is None:
        design = None
    else:
        design = from_record(_StoredDesign, cache.get(key), loaded)
    if design is None:
        start = time.process_time()
        tree = candidate.tree_for(data, {})
        design = Design(tree, time.process_time() - start)
        if cache is not None:
            cache.put(key, to_record(_StoredDesign(design.seconds, format_tree(tree))))
    return design._replace(tree=named_as(design.tree, names))
