"""The classes of a page: their names, and the positions by which they are highlighted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .content import ReportContent
from .words import cut

NARROW = 16  # characters of names in the least room


@dataclass(frozen=True)
class Classes:
    """The classes of a page.

    Attributes
    ----------
    labels : labels (k,) of all classes, ascending
    names : {label: name} of those that have one
    """

    labels: tuple[int, ...]
    names: Mapping[int, str]

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {label: index for index, label in enumerate(self.labels)}

    def name(self, label: int) -> str:
        """The name of a class, its label where it has none; of label -1 that of no answer."""
        if label < 0:
            return "rejected"
        return self.names.get(label) or str(label)

    def at(self, *labels: int) -> tuple[int, ...]:
        """The positions of those of the labels that are known."""
        return tuple(self._positions[label] for label in labels if label in self._positions)


def classes_of(content: ReportContent) -> Classes:
    """The classes of a page: of the model, or else of its data or its answers."""
    names = dict(content.names)
    if content.model is not None:
        labels = content.model.tree.classes
    elif content.data is not None:
        labels = content.data.labels
    elif content.answers is not None:
        labels = content.answers.scores["labels"]
    else:
        labels = sorted(names)
    if content.answers is not None:
        scores = content.answers.scores
        names = dict(zip(scores["labels"], scores.get("names") or ())) | names
    if content.model is not None:
        names = dict(content.model.tree.names) | names
    return Classes(tuple(labels), with_distinct_names(names))


def with_distinct_names(names: Mapping[int, str], longest: int = NARROW) -> dict[int, str]:
    """The names, with their labels before those that are alike where they are cut."""
    heads = {label: cut(name, longest) for label, name in names.items() if name}
    times = Counter(heads.values())
    return {
        label: f"{label}: {name}" if name and times[heads[label]] > 1 else name
        for label, name in names.items()
    }


def wrong_cells(scores: Mapping) -> list[tuple[float, int, int]]:
    """(-points, position of the true class, of the wrong answer), the most frequent first."""
    return sorted(
        (-value, i, j)
        for i, row in enumerate(scores["contingency"])
        for j, value in enumerate(row[: len(scores["labels"])])
        if value and i != j
    )
