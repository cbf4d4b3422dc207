"""Learned metrics as bytes of a result cache: what later runs need not learn again."""

from __future__ import annotations

import json

import numpy as np

from .._version import __version__
from ..data_tools.metric import with_rows
from ..models import LearnedMetric, Normalisation
from ..training.fit import TrainingSettings
from ..weights import Weights
from .result_cache import are_numbers, key_of

__all__ = ["metric_from_bytes", "metric_key", "metric_to_bytes"]

_MOST = 1 << 16  # bytes of the line with the record


def metric_key(settings: TrainingSettings, x: np.ndarray, y: np.ndarray,
               weights: Weights | None = None) -> str:
    """The key of the normalisation that settings with a metric learn from x (n, d), y (n,)."""
    return key_of("metric 1", __version__, x, y, repr((
        settings.scale or settings.nsv is None, settings.nsv, settings.metric.rounds,
        settings.metric.canonical(), settings.seed)),
        *(() if weights is None else (weights.w, settings.weighted_norm)))


def metric_to_bytes(normalisation: Normalisation) -> bytes:
    """A line of JSON, then mean and map in single, and weights in double precision."""
    learned = normalisation.metric
    head = [normalisation.matrix.shape[1], normalisation.dropped, learned.rounds, learned.points,
            learned.classes, learned.data, learned.settings, learned.losses]
    arrays = (normalisation.mean, "<f4"), (normalisation.matrix, "<f4"), (learned.weights, "<f8")
    return b"".join([json.dumps(head).encode(), b"\n",
                     *(array.astype(kind).tobytes() for array, kind in arrays)])


def metric_from_bytes(data: bytes | None, x: np.ndarray, y: np.ndarray) -> Normalisation | None:
    """The `Normalisation` in `data` that was learned from x (n, d), y (n,), or None where it cannot
    be one."""
    try:
        end = (data or b"").index(b"\n", 0, _MOST)
        width, dropped, rounds, points, classes, digest, settings, losses = json.loads(data[:end])
        d, losses = x.shape[1], tuple((float(loss), float(error)) for loss, error in losses)
        if not are_numbers(*sum(losses, ())) or not all(
                type(value) is int and value >= 0 for value in (width, rounds, *dropped)) or \
                (points, classes) != (len(y), len(np.unique(y))) or not width or \
                type(settings) is not str or len(data) != end + 1 + 4 * d * (width + 3) or \
                max(dropped, default=0) >= d:
            return None
        numbers = np.frombuffer(data, "<f4", d * (width + 1), end + 1).astype(np.float32)
        of_features = np.frombuffer(data, "<f8", d, end + 1 + numbers.nbytes).astype(np.float64)
        if not np.isfinite(numbers).all() or \
                not ((of_features >= 0) & (of_features < np.inf)).all():
            return None
        found = with_rows(Normalisation(
            numbers[d:].reshape(d, width), numbers[:d], tuple(dropped), LearnedMetric(
                rounds, points, classes, digest, settings, of_features, losses)),
            x, y)
        return None if found.metric.rows is None else found
    except (ValueError, TypeError, RecursionError, OverflowError):
        return None
