"""The result of training one classifier."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import AgfmcError
from ..learners.protocol import Job
from ..models import BinaryModel

__all__ = ["Fitted"]


class Fitted(NamedTuple):
    """The result of training one job.

    model: a `BinaryModel`, or the error of its learner;  rows: those of the points that are its
    support vectors, None for a learner whose models are made of vectors of its own;
    seconds: of a core that it took;  side (l,): the side of each sample, and held_out (l,), True
    for those sent to the right when they were held out: None where that was not asked for;
    values (c,) float32: decision values of its calibration points, rows ascending, when they were
    held out, with the sign of the model; None without such points;  unbounded: any larger C has the
    same model and values.
    """

    job: Job
    model: BinaryModel | AgfmcError
    rows: np.ndarray | None = None
    seconds: float = 0.0
    side: np.ndarray | None = None
    held_out: np.ndarray | None = None
    values: np.ndarray | None = None
    unbounded: bool = False
