"""Designs and searches by the name of a scheme."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .best_tree import fewest_splits
from .design import design
from .schemes import COMPARED_SPLITS, find_scheme
from .tree_search import TreeSearch


def designed(scheme, x, y, names, settings, weights=None):
    """The training control tree of a scheme for points x (n, d), y (n,); -> (tree, settings).

    A scheme that is made from data sees them after the normalisation, as in print_control; the
    settings have it then.  names, weights: as for `design`, whose errors are raised.
    """
    labels = [int(label) for label in np.unique(y)]
    if settings.fits_normalisation and "data" in find_scheme(scheme).made_of:
        settings = replace(settings, normalisation=settings.fit_normalisation(x, y, weights),
                           scale=False, nsv=None, metric=None)
        x = settings.normalisation.apply(x)
    return design(scheme, labels, names=names, x=x, y=y, weights=weights,
                  **searching(settings, len(labels))), settings


def searching(settings, k):
    """The arguments of `design` for a search beside training: the options, whose kernel it
    takes, seed and threads of these settings, and `COMPARED_SPLITS` splits, or the fewest that it
    can try for k classes."""
    workers = settings.workers if isinstance(settings.workers, int) else 1
    return {"options": settings.options, "seed": settings.seed, "workers": max(1, workers),
            "search": TreeSearch(splits=max(COMPARED_SPLITS, fewest_splits(k)))}
