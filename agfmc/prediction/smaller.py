"""Trained configurations made smaller: projected onto some of their support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import DataError, UsageError
from ..kernel.machine import Machine
from ..kernel.projection import Projection
from ..models import Calibration, Configuration
from .classifier import Classifier
from .decoding import Decoding
from .external import Execution

__all__ = ["ALIKE", "SmallerConfiguration", "smaller"]

# A calibration is kept where at least this share of given points keep their class.
ALIKE = 0.999


@dataclass(frozen=True, eq=False)
class SmallerConfiguration:
    """A projected configuration, and what was lost and won.

    support_vectors: how many there were;  bounds (m,): |f - f~| <= B sqrt(K(x, x)) of each
    classifier;  agreement: the share of the points given that keep their class, None without
    points;  times: estimated multiplications for a point, before and after.
    """

    configuration: Configuration
    support_vectors: int
    bounds: np.ndarray
    agreement: float | None
    times: tuple[int, int]

    @property
    def calibration_dropped(self) -> bool:
        """True where the calibration of the trained configuration would say too much."""
        return self.agreement is None or self.agreement < ALIKE


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
    shares: dict[int, float] = {count: 1.0}

    def share(p):
        if p not in shares:
            shares[p] = float(np.mean(classes(projection.onto(p)[0]) == wanted))
        return shares[p]

    p = min(landmarks or count, count) if keep is None else _fewest(share, keep, count)
    machines, bounds = projection.onto(p)
    agreement = None if points is None else share(p)
    times = [int(Machine(one, range(len(one.rho))).multiplications)
             for one in (configuration.machines, machines)]
    made = replace(plain, machines=machines)
    found = SmallerConfiguration(made, count, bounds, agreement, (times[0], times[1]))
    if configuration.calibration is None or found.calibration_dropped:
        return found
    return replace(found, configuration=replace(made, calibration=_carried(
        configuration.calibration, made)))


def _fewest(share, keep, count):
    """The fewest landmarks, to two per cent, of which share(p) >= keep; share(count) is."""
    low, high = 0, min(16, count)
    while share(high) < keep:
        low, high = high, min(2 * high, count)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if share(middle) >= keep else (middle, high)
    return high


def _carried(calibration: Calibration, configuration: Configuration) -> Calibration:
    """The maps of a calibration as that of another configuration."""
    return replace(calibration, model=configuration.digest(), decoders={
        key: replace(one, points=None) for key, one in calibration.decoders.items()})
