"""Importance of columns on holdout data, and their effects on probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.errors import DataError, UsageError
from ..core.probabilities import losses, mean, standard_error
from ..core.splits import stratified_sample
from ..data.types import Dataset
from ..models.configuration import Configuration
from ..tables.types import TableRecipe
from .classifier import Classifier

POINTS = 2000  # whose values are permuted, about
VALUES = 15  # of a column whose effect is computed
EFFECTS = 4  # columns whose effects a page has


class DataColumn(NamedTuple):
    """A column of the data: its name, the positions of the features made of it, and its words,
    of which each is a feature, or None for numbers."""

    name: str
    features: tuple[int, ...]
    words: tuple[str, ...] | None = None


class ColumnEffect(NamedTuple):
    """The mean probabilities (v, k) of the classes where all points have one of v values in a
    column, and the 10th and 90th percentiles (v, k) over the points.

    `values` are numbers, or the words of a column of words.
    """

    name: str
    values: tuple[float | str, ...]
    p: np.ndarray
    low: np.ndarray
    high: np.ndarray


def data_columns(recipe: TableRecipe | None, features: int) -> list[DataColumn]:
    """The columns of a table, or, without its recipe, the features as they are numbered from 0."""
    if recipe is None:
        return [DataColumn(f"feature {number}", (number,)) for number in range(features)]
    return [DataColumn(one.name, tuple(range(first, first + len(one.features))), one.categories)
            for one, first in zip(recipe.columns, recipe.starts)]


def importance(configuration: Configuration, data: Dataset, *, repeats: int = 10, seed: int = 1,
               workers: int = 1) -> dict:
    """
    Compute the permutation importance of each column on holdout data.

    The values of a column, all its features together, are permuted between the points. Its
    importance is the increase of the mean log loss (Fisher, Rudin and Dominici, "All models are
    wrong, but many are useful", JMLR 2019). Columns that say the same share their importance.

    Parameters
    ----------
    configuration : Configuration
        The trained configuration.
    data : Dataset
        Points with labels that had no part in training; a stratified sample of more than 2000.
    repeats : int, default=10
        Number of permutations of each column.
    seed : int, default=1
        Seed of the sample and of the permutations.
    workers : int, default=1
        Number of threads.

    Returns
    -------
    dict
        `points`, their number; `log_loss` without permutations; `columns`, dictionaries with
        `name`, `increase` of the log loss and its standard `error`, most important first.

    Raises
    ------
    DataError
        If there are no labels, or labels of other classes than the configuration's.
    UsageError
        If `repeats` is not positive.
    """
    if repeats < 1:
        raise UsageError(f"expected 1 permutation of each column or more, found {repeats}")
    classifier = probability_classifier(configuration)
    x, y, weights = holdout_points(classifier, data, seed)
    columns = data_columns(configuration.recipe, x.shape[1])
    base, changes = permutation_changes(classifier, x, y, columns, repeats, seed, workers)
    return importance_table(columns, base, changes, weights)


def what_matters(configuration: Configuration, data: Dataset, *, seed: int = 1,
                 workers: int = 1) -> dict:
    """The result of `importance`, with `effects`, those of the `EFFECTS` most important columns as
    plain values, and the `labels` of the classes."""
    result = importance(configuration, data, seed=seed, workers=workers)
    classifier = probability_classifier(configuration)
    x, _, _ = holdout_points(classifier, data, seed)
    columns = {column.name: column for column in data_columns(configuration.recipe, x.shape[1])}
    effects = [column_effect(classifier, x, columns[row["name"]], workers)
               for row in result["columns"][:EFFECTS]]
    return {**result, "labels": classifier.classes.tolist(), "effects": [
        {name: value.tolist() if isinstance(value, np.ndarray) else value
         for name, value in effect._asdict().items()} for effect in effects]}


def probability_classifier(configuration: Configuration) -> Classifier:
    """A `Classifier` with the probabilities of all classes, for trees by the decoder full."""
    tree = configuration.tree
    return Classifier(configuration,
                      "full" if tree.hierarchical and not tree.is_ensemble else None)


def holdout_points(classifier: Classifier, data: Dataset, seed: int) -> tuple:
    """x (n, d), true columns y (n,) and weights (n,), or None, of about `POINTS` points."""
    if data.y is None:
        raise DataError("importance is measured on points with their classes, and these have none")
    rows = stratified_sample(data.y, POINTS, seed)
    labels = data.y[rows]
    if strange := sorted(set(labels.tolist()) - set(classifier.classes.tolist())):
        raise DataError(f"the model does not have class {strange[0]} of the data")
    return (np.asarray(data.x)[rows], np.searchsorted(classifier.classes, labels),
            None if data.weights is None else data.weights.w[rows])


def permutation_changes(classifier: Classifier, x: np.ndarray, y: np.ndarray, columns: list,
                        repeats: int, seed: int, workers: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Log losses (n,) of points x (n, d) with true columns y (n,), and how they change (c, n) when
    each of c columns is permuted, mean of the repeats."""
    base = losses(classifier.probabilities(x, workers), y)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(x)) for _ in range(repeats)]
    changes = np.zeros((len(columns), len(x)))
    for column, change in zip(columns, changes):
        changed, features = x.copy(), list(column.features)
        for order in orders:
            changed[:, features] = x[order][:, features]
            change += losses(classifier.probabilities(changed, workers), y) - base
    return base, changes / repeats


def importance_table(columns: list, base: np.ndarray, changes: np.ndarray,
                     weights: np.ndarray | None = None) -> dict:
    """The dictionary that `importance` returns, of the arrays of `permutation_changes`."""
    rows = [{"name": column.name, "increase": mean(change, weights),
             "error": standard_error(change, weights)}
            for column, change in zip(columns, changes)]
    return {"points": len(base), "log_loss": mean(base, weights),
            "columns": sorted(rows, key=lambda row: -row["increase"])}


def column_effect(classifier: Classifier, x: np.ndarray, column: DataColumn,
                  workers: int = 1) -> ColumnEffect:
    """The effect of a column on the probabilities of all classes: partial dependence (Friedman,
    "Greedy function approximation", Annals of Statistics 2001), with its spread over x (n, d)."""
    if column.words is None:
        first = x[:, column.features[0]]
        values = np.unique(np.quantile(first[np.isfinite(first)], np.linspace(0.02, 0.98, VALUES)))
        settings = [(column.features[:1], value) for value in values.tolist()]
        names = tuple(values.tolist())
    else:
        names = column.words[:VALUES]
        settings = [(column.features, np.eye(len(column.features))[number])
                    for number in range(len(names))]
    parts = []
    for features, value in settings:
        changed = x.copy()
        changed[:, list(features)] = value
        parts.append(classifier.probabilities(changed, workers))
    p = np.array(parts)
    low, high = np.quantile(p, (0.1, 0.9), axis=1)
    return ColumnEffect(column.name, names, p.mean(axis=1), low, high)
