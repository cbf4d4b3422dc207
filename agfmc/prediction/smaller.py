"""Trained configurations made smaller: projected onto some of their support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core.errors import DataError, UsageError
from ..kernels.machine import Machine
from ..kernels.projection import Projection
from ..learners.program_classifiers import Execution
from ..models.configuration import Configuration
from .classifier import Classifier
from .decoding import Decoding

# A calibration is kept where at least this share of given points keep their class.

ALIKE = 0.999


@dataclass(frozen=True, eq=False)
class SmallerConfiguration:
    """A projected configuration, and what was lost and won.

    support_vectors: how many there were, those of each kernel for themselves;  bounds (m,):
    |f - f~| <= B sqrt(K(x, x)) of each classifier, 0 where it is as it was;  agreement: how many
    of how many points keep their class, None without points;  times: estimated multiplications
    for a point, before and after.
    """

    configuration: Configuration
    support_vectors: int
    bounds: np.ndarray
    agreement: tuple[int, int] | None
    times: tuple[int, int]

    @property
    def alike(self) -> bool:
        """True where the calibration of the trained configuration still holds."""
        if not self.bounds.any():
            return True
        return self.agreement is not None and self.agreement[0] >= ALIKE * self.agreement[1]


def smaller(configuration: Configuration, landmarks: int | None = None, keep: float | None = None,
            points: Sequence[np.ndarray] | None = None, kind: str = "binary") \
        -> SmallerConfiguration:
    """Project the decision functions of a configuration onto some of its support vectors.

    landmarks: how many, or keep: as few as leave this share of the points their class, to two
    per cent;  points: chunks of them;  kind: where they come from, as in `InputFormat`.  The
    sigmoids and the multi-class nodes stay as they are.  Where 99.9 % of the points keep their
    class, the maps of its calibration are kept, without the points that thresholds and sets
    need: other functions answered these.  Else there is none.
    """
    if (landmarks is None) == (keep is None):
        raise UsageError("expected either a number of landmarks or a share of points")
    if keep is not None and points is None:
        raise UsageError("points are needed where the share of them that keep their class counts")
    if points is not None and not sum(map(len, points)):
        raise DataError("there are no points")
    plain = replace(configuration, calibration=None)
    projection = Projection(configuration.machines)
    count = projection.support_vectors
    # without sigmoids the decision values themselves are decoded
    execution = Execution(kind, None if np.isfinite(configuration.machines.a).all() else 0)

    def classes(machines):
        classifier = Classifier(replace(plain, machines=machines), Decoding(), execution)
        return np.concatenate([classifier.classify(chunk).classes for chunk in points])

    wanted = None if points is None else classes(configuration.machines)
    same: dict[int, int] = {} if wanted is None else {count: len(wanted)}

    def enough(p):
        if p not in same:
            same[p] = int(np.count_nonzero(classes(projection.onto(p)[0]) == wanted))
        return keep is None or same[p] >= keep * len(wanted)

    p = min(landmarks or count, count) if keep is None else _fewest(enough, count)
    if wanted is not None:
        enough(p)
    machines, bounds = projection.onto(p)
    before, after = (int(Machine(one, range(len(one.rho))).multiplications)
                     for one in (configuration.machines, machines))
    found = SmallerConfiguration(
        replace(plain, machines=machines) if bounds.any() else configuration, count, bounds,
        None if wanted is None else (same[p], len(wanted)), (before, after))
    if configuration.calibration is None or not (found.alike and bounds.any()):
        return found
    made = found.configuration
    maps = {key: replace(one, points=None)
            for key, one in configuration.calibration.decoders.items()}
    return replace(found, configuration=replace(made, calibration=replace(
        configuration.calibration, model=made.digest(), decoders=maps)))


def _fewest(enough, count):
    """The fewest landmarks, to two per cent, for which enough(p) is true, as enough(count) is."""
    low, high = 0, min(16, count)
    while not enough(high):
        low, high = high, min(2 * high, count)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
