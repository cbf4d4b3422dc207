"""A calibration, its maps and its points, as frozen types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from ..core.errors import one_line
from ..core.models import LearnedDecoder
from ..core.rows import optional_field
import numpy as np


# version 0.3.0 wrote vectors, which are the diagonal of a matrix, and structured matrices, too
MapKind = Literal["none", "temperature", "matrix", "vector", "structured"]
_DECODER = "[a-z0-9:+-]{1,60}( [a-z0-9:+-]{1,60})?"  # the key of a decoder, with that of a way
# the source of a calibration with values that training has held out
IN_TRAINING = "training points, held out"


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """A calibration map p' = (1 - floor) softmax(W z + b) + floor / c, z = log max(p, least).

    Attributes
    ----------
    kind : one of `decode.methods.MAP_KINDS`; "none" leaves p as it is
    weights : 1 / T as an array of shape () of a temperature, W (c, c) of a matrix map
    intercept : b (c,), zeros for a temperature
    floor : 0 <= floor < 1
    """

    kind: MapKind
    weights: Annotated[np.ndarray | None, "<f8", 0, 1, 2] = None
    intercept: Annotated[np.ndarray | None, "<f8", 1] = None
    floor: Annotated[float, (0, 1)] = 0.0

    def __post_init__(self):
        if self.kind == "vector" and getattr(self.weights, "ndim", 0) == 1:
            object.__setattr__(self, "weights", np.diag(self.weights))
        if self.kind in ("vector", "structured"):
            object.__setattr__(self, "kind", "matrix")


@dataclass(frozen=True, eq=False)
class CalibrationPoints:
    """Points that no classifier was trained on, as a calibrated decoder answered them.

    Attributes
    ----------
    label : true classes (c,), int32
    p_true : probability (c,) of the true class
    cumulative : sum (c,) of the probabilities of the classes up to the true one, in falling order
        of probability, those of equal ones in the order of the classes
    p_largest : probability (c,) of the answer
    right : mask (c,) of the answers that are the true class
    left : score (c,) of the true class for sets of classes below a node, see `node_sets`; None
        where no tree is descended
    """

    label: Annotated[np.ndarray, "<i4", 1]
    p_true: Annotated[np.ndarray, "<f8", 1]
    cumulative: Annotated[np.ndarray, "<f8", 1]
    p_largest: Annotated[np.ndarray, "<f8", 1]
    right: Annotated[np.ndarray, "|b1", 1]
    left: Annotated[np.ndarray | None, "<f8", 1] = optional_field()


@dataclass(frozen=True, eq=False)
class DecoderCalibration:
    """The calibration of one decoder: its map, and points for thresholds and sets, or None."""

    map: ProbabilityMap
    points: CalibrationPoints | None = None


@dataclass(frozen=True, eq=False)
class Calibration:
    """The calibration of a trained configuration: a map for each decoder that it was fitted for.

    Attributes
    ----------
    model : digest of its classifiers, `Configuration.digest`
    classes : labels (k,), ascending
    source : the points it was fitted to, as text
    counts : number (k,) of these points in each class
    decoders : {key of a decoder: `DecoderCalibration`}, see `Decoding.calibration_key`
    learned : the decoder "learned", or None
    """

    model: Annotated[str, "[0-9a-f]{16}"]
    classes: tuple[Annotated[int, range(2**31)], ...]
    source: Annotated[str, one_line]
    counts: tuple[Annotated[int, range(2**53)], ...]
    decoders: Mapping[Annotated[str, _DECODER], DecoderCalibration]
    learned: LearnedDecoder | None = None
