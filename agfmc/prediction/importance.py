"""Importance of columns on holdout data, and their effects on probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.probabilities import losses, mean, standard_error
from ..core.splits import stratified_sample
from ..data.types import Dataset
from ..data.weights import chosen_rows
from ..models.configuration import Configuration
from ..tables.types import TableRecipe
from .classifier import Classifier

POINTS = 2000  # whose values are permuted, about
VALUES = 15  # of a column whose effect is computed
EFFECTS = 3  # columns whose effects a page has


class DataColumn(NamedTuple):
    """A column of the data: its name, the positions of the features made of it, and its words,
    of which each is a feature, or None for numbers."""

    name: str
    features: tuple[int, ...]
    words: tuple[str, ...] | None = None


def data_columns(recipe: TableRecipe | None, features: int) -> list[DataColumn]:
    """The columns of a table, or, without its recipe, the features as they are numbered from 0."""
    if recipe is None:
        return [DataColumn(f"feature {number}", (number,)) for number in range(features)]
    return [
        DataColumn(
            column.name, tuple(range(first, first + len(column.features))), column.categories
        )
        for column, first in zip(recipe.columns, recipe.starts)
    ]


def importance(
    configuration: Configuration | Classifier,
    data: Dataset,
    *,
    repeats: int = 10,
    effects: int = 0,
    seed: int = 1,
    workers: int = 1,
) -> dict:
    """
    Compute the permutation importance of each column on holdout data.

    The values of a column, all its features together, are permuted between the points. Its
    importance is the increase of the mean log loss (Fisher, Rudin and Dominici, "All models are
    wrong, but many are useful", JMLR 2019). Columns that say the same share their importance.

    Parameters
    ----------
    configuration : Configuration or Classifier
        The trained configuration, or a classifier that gives the probabilities of all classes.
    data : Dataset
        Points with labels that had no part in training; a stratified sample of more than 2000.
    repeats : int, default=10
        Number of permutations of each column.
    effects : int, default=0
        Number of the most important columns whose effects are computed too.
    seed : int, default=1
        Seed of the sample and of the permutations.
    workers : int, default=1
        Number of threads.

    Returns
    -------
    dict
        `points`, their number; `log_loss` without permutations; `columns`, dictionaries with
        `name`, `increase` of the log loss and its standard `error`, most important first; `effects`
        on the probabilities of the classes `labels`, dictionaries as `column_effect` returns them.

    Raises
    ------
    DataError
        If there are no labels, or labels of other classes than the configuration's.
    UsageError
        If `repeats` is not positive.
    """
    if repeats < 1:
        raise UsageError(f"expected 1 permutation of each column or more, found {repeats}")
    if data.y is None:
        raise DataError("importance is measured on points with their classes, and these have none")
    if isinstance(configuration, Classifier):
        classifier, configuration = configuration, configuration.configuration
        if not classifier.gives_all_probabilities:
            raise UsageError(
                "importance needs a decoder that gives the probabilities of all classes"
            )
    else:
        classifier = probability_classifier(configuration)
    if strange := sorted({*data.y.tolist()} - {*classifier.classes.tolist()}):
        raise DataError(f"the model does not have class {strange[0]} of the data")
    data = chosen_rows(data, stratified_sample(data.y, POINTS, seed))
    x = np.asarray(data.x)
    y = np.searchsorted(classifier.classes, data.y)
    drawn = data.weights and data.weights.w, data.groups
    columns = data_columns(configuration.recipe, x.shape[1])
    base = losses(classifier.probabilities(x, workers), y)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(x)) for _ in range(repeats)]
    changes = np.zeros((len(columns), len(x)))  # of the log loss of each point
    for column, change in zip(columns, changes):
        changed = x.copy()
        features = list(column.features)
        for order in orders:
            changed[:, features] = x[order][:, features]
            change += (losses(classifier.probabilities(changed, workers), y) - base) / repeats
    increases = [mean(change, drawn[0]) for change in changes]
    ranking = sorted(range(len(columns)), key=lambda number: -increases[number])
    return {
        "points": len(base),
        "log_loss": mean(base, drawn[0]),
        "columns": [
            {
                "name": columns[number].name,
                "increase": increases[number],
                "error": standard_error(changes[number], *drawn),
            }
            for number in ranking
        ],
        "labels": classifier.classes.tolist(),
        "effects": [
            column_effect(classifier, x, columns[number], workers) for number in ranking[:effects]
        ],
    }


def probability_classifier(configuration: Configuration) -> Classifier:
    """A `Classifier` with the probabilities of all classes, for trees by the decoder full."""
    tree = configuration.tree
    return Classifier(configuration, "full" if tree.hierarchical and not tree.is_ensemble else None)


def column_effect(
    classifier: Classifier, x: np.ndarray, column: DataColumn, workers: int = 1
) -> dict:
    """The effect of a column on the probabilities of all classes: partial dependence (Friedman,
    "Greedy function approximation", Annals of Statistics 2001), with its spread over x (n, d).

    Lists: `values`, v numbers or words of the column `name`; `p` (v, k), mean probabilities where
    all points had one of them; `low` and `high` (v, k), their 10th and 90th percentiles."""
    if column.words is None:
        first = x[:, column.features[0]]
        values = np.unique(np.quantile(first[np.isfinite(first)], np.linspace(0.02, 0.98, VALUES)))
        settings = [(column.features[:1], value) for value in values.tolist()]
        names = values.tolist()
    else:
        names = list(column.words[:VALUES])
        settings = [
            (column.features, np.eye(len(column.features))[number]) for number in range(len(names))
        ]
    parts = []
    for features, value in settings:
        changed = x.copy()
        changed[:, list(features)] = value
        parts.append(classifier.probabilities(changed, workers))
    p = np.array(parts)
    low, high = np.quantile(p, (0.1, 0.9), axis=1)
    return {
        "name": column.name,
        "values": names,
        "p": p.mean(axis=1).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
    }
