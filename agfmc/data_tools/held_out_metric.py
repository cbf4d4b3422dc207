"""Warnings of scores that are too good, as a metric was learned from held-out points too."""

import os
import warnings

from ..errors import AgfmcWarning, DataError
from ..formats.metric_file import metric_path
from ..formats.vectors import read_std
from ..models import Dataset, LearnedMetric
from ..prepare.normalise import moments
from .metric import data_digest

__all__ = ["warn_of_mapped", "warn_of_metric"]


def warn_of_metric(file: str, learned: LearnedMetric | None, data: Dataset) -> None:
    """A warning where held-out points had a say in the normalisation that was read."""
    if learned is None or not learned.rounds:
        return
    these = learned.data == data_digest(data.x, data.y)
    which = "these points, held-out ones among them: the scores are" if these else \
        f"{learned.points} points: where held-out ones are among them, the scores are"
    warnings.warn(f"{file}: its metric was learned from {which} too good; -n --learn-metric in "
                  "its place learns one from each training part", AgfmcWarning, stacklevel=2)


def warn_of_mapped(source: str, data: Dataset) -> None:
    """A warning where data lie beside the record of a metric that they went through."""
    path = f"{source}.std"
    if source == "-" or not os.path.isfile(path) or not os.path.isfile(metric_path(path)):
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AgfmcWarning)  # a damaged record says nothing
            normalisation = read_std(path)
    except DataError:
        return
    learned = normalisation.metric
    if learned is None or not learned.rounds or data.x.shape[1] != normalisation.matrix.shape[1]:
        return
    mean, std = moments(data.x)  # of points that the map has not centred, or those it is made from
    if mean @ mean > 1e-4 * (std @ std) or learned.data == data_digest(data.x, data.y):
        return
    warnings.warn(f"{source}: these points went through a metric that was learned from their "
                  f"classes ({metric_path(path)}): the scores are too good; give the data as they "
                  "were, with -n --learn-metric", AgfmcWarning, stacklevel=2)
