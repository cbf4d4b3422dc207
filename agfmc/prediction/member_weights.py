"""Weights of the members of an ensemble, learned from points that no member has seen."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import compress

import numpy as np

from ..calibration.maps import apply_map, fit_temperature
from ..control.build import with_heading
from ..control.tree import changed, Tree, TREE_DECODERS
from ..core.errors import ModelError, UsageError
from ..core.models import HeldOut
from ..core.probabilities import SMALLEST
from ..data.types import Dataset
from ..decode.ensemble import average, fit_weights
from ..models.configuration import Configuration
from ..models.join import join_members, members_of
from .classifier import Classifier
from .decoding import Decoding
from .known_points import (
    HeldOutValues,
    most_points,
    share_of_classes,
    thinned,
    columns_of_data,
    widened,
)

_LEAST_WEIGHT = 0.02  # of a member, or half of an equal share where that is less


def check_weights(way: str | None, tree: Tree, points: int) -> None:
    """Raise `UsageError`, before the training, where weights of members cannot be learned.

    `way` is "held-out", or None where nothing is learned; `points` are held out for calibration.
    """
    if way is None:
        return
    if way != "held-out":
        raise UsageError(f"weights are learned from 'held-out' points, not {way!r}")
    if not tree.is_ensemble:
        raise UsageError(
            "weights are for the members of an ensemble, and this is one configuration"
        )
    if not points:
        raise UsageError(
            "weights are learned from samples that are held out for the calibration: there are none"
        )


def with_learned_weights(
    configuration: Configuration, held_out: HeldOut | None
) -> tuple[Configuration, HeldOut]:
    """The ensemble with weights of its members that suit its held-out decision values.

    They stand in the heading of the tree, and are those of any average from then on.  Members of
    small weights are left out, of the values too.  Raises `ModelError` without such values.
    """
    if held_out is None:
        raise ModelError(
            "the weights of its members cannot be learned: not all classifiers have "
            "decision values of samples that were held out"
        )
    points = thinned(held_out, most_points(configuration.tree))
    values = HeldOutValues(configuration, points)
    classifier = Classifier(configuration, Decoding(calibrated=False), values=values)
    parts = [classifier.by_member(rows) for _, rows in values.blocks(len(classifier.classes))]
    true = np.searchsorted(classifier.classes, points.y)
    weighed, remaining = _weighed(configuration, parts, true, points.weights)
    if len(remaining) == len(configuration.tree.roots):
        return weighed, held_out
    owner = [
        number for number, member in enumerate(configuration.tree.members) for _ in member.rows
    ]
    rows = np.flatnonzero(np.isin(owner, remaining))
    nodes = [
        number
        for member in remaining
        for number in range(len(configuration.tree.nodes))[configuration.tree.parts[member]]
    ]
    chosen = np.isin(held_out.classifier, rows)
    return weighed, replace(
        held_out,
        point=held_out.point[chosen],
        value=held_out.value[chosen],
        classifier=np.searchsorted(rows, held_out.classifier[chosen]).astype(np.int32),
        nodes={nodes.index(number): p for number, p in held_out.nodes.items() if number in nodes},
    )


def weighed_by_data(
    configuration: Configuration, data: Dataset, kind: str, source: str
) -> tuple[Configuration, list[int]]:
    """The ensemble with weights as of `with_learned_weights`, from points that no member has seen.

    Returns it with the numbers of the members that stay. `kind` and `source` are as for
    `answers_of_data`.
    """
    y = columns_of_data(configuration.tree, data, source)
    classifier = Classifier(configuration, Decoding(calibrated=False, points=kind))
    chosen = np.flatnonzero(share_of_classes(y, -(-len(y) // most_points(configuration.tree))))
    x = widened(data.x, classifier, kind)
    step = classifier.rows
    parts = [
        classifier.by_member(x[chosen[start : start + step]])
        for start in range(0, len(chosen), step)
    ]
    return _weighed(configuration, parts, y[chosen], data.weights and data.weights.w[chosen])


def _weighed(configuration, parts, y, w):
    """The ensemble with the weights that suit points, and the numbers of the members that stay.

    parts: of each block of points, p (n, k) of each member;  y, w: true columns and weights of all
    points.  Members with the same kind and options, such as random trees, keep their proportions
    and are judged by their average, with the temperature that suits it: averages are not equally
    sure of themselves.  The weights are halfway between those before and `fit_weights`, which
    alone overfits the points.
    """
    old = configuration.tree
    tree = configuration.tree
    members = members_of(configuration)
    before = np.maximum(old.weights, SMALLEST)
    alike: dict = {}
    for number, member in enumerate(members):
        options = frozenset(provenance.options for provenance in member.provenances)
        alike.setdefault((member.tree.kind, options), []).append(number)
    if len(alike) > 1:
        units = list(alike.values())
    else:
        units = [[number] for number in range(len(members))]
    p = np.stack(
        [
            _true_probabilities(
                average(
                    (np.concatenate([block[number] for block in parts]) for number in unit),
                    before[unit] / before[unit].sum(),
                ),
                y,
                w,
            )
            for unit in units
        ]
    )
    stay = fit_weights(p, w) >= min(_LEAST_WEIGHT, 0.5 / len(p))
    shares = np.array([before[unit].sum() for unit in units])[stay]
    factors = fit_weights(p[stay], w) / shares + 1 / shares.sum()
    factor = {
        number: factor for unit, factor in zip(compress(units, stay), factors) for number in unit
    }
    remaining = sorted(factor)
    if len(remaining) < len(members):
        configuration = join_members([members[number] for number in remaining], None)
        average_only = len(remaining) == 1 and TREE_DECODERS.get(old.decoder) == "ensembles"
        tree = changed(
            configuration.tree,
            source=old.source,
            headings={
                word: heading
                for word, heading in old.headings.items()
                if word != "weights" and not (word == "decoder" and average_only)
            },
        )
        if len(remaining) == 1 and tree.hierarchical and tree.decoder is None:
            tree = with_heading(tree, "decoder", "full")  # all probabilities, as an average has
    if tree.is_ensemble:
        tree = with_heading(
            tree,
            "weights",
            _in_words(np.array([before[number] * factor[number] for number in remaining])),
        )
    return replace(configuration, tree=tree), remaining


def _true_probabilities(p, y, w):
    """The probabilities (n,) of the true columns y, after the temperature that suits p (n, k)."""
    return apply_map(fit_temperature(p, y, w), p)[np.arange(len(y)), y]


def _in_words(weights):
    """Numbers with few digits and the sum 1, nearly the weights (M,)."""
    digits = 3 + len(str(len(weights)))
    units = np.rint(weights / weights.sum() * 10**digits).astype(np.int64)
    units[units.argmax()] += 10**digits - units.sum()
    return " ".join(f"{Decimal(unit).scaleb(-digits).normalize():f}" for unit in units.tolist())
