"""The last steps to an answer: calibration map, sets or p values, priors, costs, thresholds."""

from __future__ import annotations

import math

import numpy as np

from ..calibration.maps import apply_map, KINDS
from ..calibration.priors import Adjustment
from ..calibration.sets import (
    fill_empty_sets,
    node_sets,
    p_values,
    prediction_sets,
    quantiles,
    SCORES,
)
from ..calibration.thresholds import error_threshold
from ..calibration.types import DecoderCalibration
from ..core.answers import Answers
from ..core.errors import DataError, ModelError, UsageError, warn_user
from ..core.probabilities import as_shares, confidence, REJECTED
from ..data.weights import proportions
from ..decode.costs import cheapest
from ..models.configuration import Configuration
from ..models.description import class_sums
from .decoding import Decoding

TRAINING = "training"  # priors: the proportions in training, without class weights


def calibration_of(configuration: Configuration, decoding: Decoding) -> DecoderCalibration | None:
    """The calibration of a decoder, or None.

    Raises `UsageError` and `ModelError` where a guarantee needs one and there is none;
    without any calibration `max_error` rejects all points. Warns where there are those of other
    decoders alone.
    """
    calibration = configuration.calibration
    key = decoding.calibration_key(configuration.tree)
    stored = None
    others = False
    if calibration is not None and decoding.calibrated and decoding.sigmoid is None:
        stored = calibration.decoders.get(key or "")
        # a learned decoder that the model does not have is an error later
        others = key not in (None, "learned") and stored is None and bool(calibration.decoders)
    parameter = decoding.guarantee
    if parameter is not None:
        if key is None:
            raise UsageError(
                f"`{parameter}` needs a decoder that gives the probabilities of all "
                f"classes, not {'`raw`' if decoding.raw else decoding.decoder.name}"
            )
        if decoding.sigmoid is not None:
            raise UsageError(
                f"`{parameter}` rests on the calibration, which is for the fitted sigmoid: "
                "it cannot be combined with `sigmoid`"
            )
        points = stored and stored.points
        if (points is None or decoding.stop is not None and points.left is None) and (
            parameter != "max_error" or calibration is not None
        ):
            raise ModelError(
                f"`{parameter}` needs calibration points of the decoder {key}, and there "
                f"are none: {_calibrating(key)}"
            )
    elif others:
        warn_user(f"the decoder {key} is not calibrated: {_calibrating(key)}")
    return stored


def _calibrating(key):
    if key.startswith("own:"):  # a function, which has no name in the shell
        return "training with this function among `decoders` calibrates it"
    return f"`decoders={key}` calibrates it in training, calibrate_m with holdout points"


def adjustment(configuration: Configuration, priors, trained) -> Adjustment:
    """The `Adjustment` of probabilities in the order of the tree's labels.

    `priors` are as for `proportions`, or "training" for those of the training data, without class
    weights; `trained` as for `proportions`, None for what the models record, with all weights.
    Raises `UsageError` where they record nothing, and for a class without share in training.
    """
    tree = configuration.tree
    classes = tree.classes

    def recorded(unweighted=False):
        try:
            return np.array(list(class_sums(configuration, unweighted).values()), dtype=float)
        except ModelError as error:
            raise UsageError(
                '`priors="training"`: the models do not record the proportions without class '
                "weights: give those of the data, as `priors=p,p,...`"
                if unweighted
                else f"`priors`: {error.message}: give their proportions in training with "
                "`trained_priors`"
            ) from error

    if isinstance(priors, str) and priors == TRAINING:
        new = recorded(unweighted=True)
        new /= new.sum()
    else:
        new = proportions(priors, classes, names=tree.names)
    if trained is None:
        old = recorded()
    else:
        old = proportions(trained, classes, "trained_priors", tree.names)
        if old.min() == 0:
            raise UsageError(
                f"`trained_priors`: class {classes[int(np.argmin(old))]} was trained "
                "on, so its proportion is not 0"
            )
    rank = np.argsort(np.argsort(tree.labels))  # of each label
    return Adjustment(new[rank], old[rank] / old.sum())


class Decision:
    """The step from what a decoder gives to an answer.

    `calibration` is that of the decoder, or None; the tree of `configuration` has the leaves. A
    probability below `threshold` is no answer; None accepts all.
    """

    def __init__(
        self,
        calibration: DecoderCalibration | None,
        configuration: Configuration,
        decoding: Decoding,
    ):
        self._decoding = decoding
        self._map = self._priors = self._points = self._limits = None
        self._floor = 0.0
        if calibration is not None:
            self._points = calibration.points
            if calibration.map.kind != "none":
                self._map = calibration.map
                self._floor = self._map.floor * decoding.without_floor
        if decoding.priors is not None:
            self._priors = adjustment(configuration, decoding.priors, decoding.trained_priors)
        self._labels = configuration.tree.classes
        self._leaves = np.array(configuration.tree.labels, dtype=np.int32)
        self._order = np.argsort(self._leaves)
        self._costs = decoding.costs_of(configuration.tree)
        self._score = decoding.set_score or SCORES[0]
        self.threshold = decoding.reject
        if decoding.max_error is not None:
            self.threshold = _proved_threshold(self._points, decoding)
        if self._points is not None and decoding.coverage is not None:
            self._limits = quantiles(
                self._points,
                self._labels,
                1 - decoding.coverage,
                self._score if decoding.stop is None else "node",
                decoding.by_class,
            )

    @property
    def makes_probabilities(self) -> bool:
        """True if probabilities come of estimates, whose signs and sums are free."""
        return self._map is not None or self._priors is not None

    def answers(
        self,
        leaf: np.ndarray,
        winner: np.ndarray,
        columns: np.ndarray | None,
        *,
        ranked: np.ndarray | None = None,
        probable: np.ndarray | None = None,
        **others: np.ndarray | None,
    ) -> Answers:
        """`Answers` that are the leaves (n,) of the tree in the order of the text, -1 for none.

        `ranked` (n, c) and `probable` (n,) are leaves too; all else is as in `Answers`. Raises
        `DataError` where numbers overflowed.
        """
        cost = others.get("cost")
        if np.isnan(winner).any() or cost is not None and np.isnan(cost).any():
            raise DataError("the numbers are too large for this decoder")
        sets = others.get("sets")
        if self._decoding.stop is not None and sets is not None:
            sizes = np.count_nonzero(sets, axis=1)
        else:
            sizes = 1
        classes = np.where(leaf < 0, REJECTED, self._leaves[leaf])
        if self.threshold is not None:
            classes = np.where(winner < self.threshold, REJECTED, classes)
        return Answers(
            classes.astype(np.int32),
            confidence(winner, len(self._labels), sizes),
            columns,
            winner=winner,
            ranked=None if ranked is None else self._leaves[ranked],
            probable=None if probable is None else self._leaves[probable],
            **others,
        )

    def of_all_classes(self, p: np.ndarray) -> Answers:
        """`Answers` of probabilities p (n, k) of the leaves; the first wins on ties."""
        decoding = self._decoding
        order = self._order
        leaf = None
        if self._map is not None:
            if KINDS[self._map.kind].keeps_order:  # but for rounding
                leaf = p.argmax(axis=1)
            mapped = np.empty_like(p)
            mapped[:, order] = apply_map(self._map, p[:, order])
            p = mapped
        sets = columns = floorless = None
        if self._limits is not None:
            sets = prediction_sets(p[:, order], self._limits, self._score)
        if self._points is not None and decoding.p_values:
            columns = p_values(
                p[:, order], self._points, self._labels, self._score, decoding.by_class
            )
        if self._floor:
            floorless = np.maximum(p - self._floor / p.shape[1], 0.0) / (1.0 - self._floor)
        if self._priors is not None:
            p = self._priors(p)
            leaf = None
            if floorless is not None:
                floorless = self._priors(floorless)
        if sets is not None and not decoding.allow_empty:
            fill_empty_sets(sets, p[:, order])
        if leaf is None:
            leaf = p.argmax(axis=1)
        ranked = None
        if decoding.top is not None:
            ranked = _ranked(p, leaf)[:, : decoding.top]
            columns = np.take_along_axis(p, ranked, axis=1)
        elif sets is None and columns is None:
            columns = (p if floorless is None else floorless)[:, order]
        probable, cost = leaf, None
        if self._costs is not None:
            column, cost = cheapest(
                as_shares(p[:, order]) if decoding.decoder.gives == "estimates" else p[:, order],
                self._costs,
            )
            leaf = np.where(column < 0, -1, order[column])
        winner = p[np.arange(len(p)), np.where(leaf < 0, probable, leaf)]
        return self.answers(
            leaf,
            winner,
            columns,
            ranked=ranked,
            probable=None if cost is None else probable,
            sets=sets,
            cost=cost,
        )

    def of_nodes(
        self,
        leaf: np.ndarray,
        p: np.ndarray,
        left: np.ndarray,
        queried: np.ndarray | None,
    ) -> Answers:
        """`Answers` of descents to leaf (n,) with probability p (n,).

        Scores left (n, k) of the leaves are as for `node_sets`; where no coverage is requested they
        are the columns.
        """
        left = left[:, self._order]
        if self._limits is None:
            return self.answers(leaf, p, left, queried=queried)
        sets = node_sets(left, self._limits)
        p = np.where(sets, 1.0, left).min(axis=1)  # of the last node
        leaf = np.where(sets.sum(axis=1) == 1, leaf, -1)
        return self.answers(leaf, p, p[:, None], sets=sets, queried=queried)

    def of_one_class(self, p: np.ndarray) -> np.ndarray:
        """Calibrated probabilities (n,) of answers whose probabilities p (n,) alone are known."""
        if self._map is None:
            return p
        return apply_map(self._map, np.column_stack([p, 1.0 - p]))[:, 0]


def _proved_threshold(points, decoding):
    """The threshold for `decoding.max_error`; infinite, with a warning, where none is proved."""
    try:
        if points is None:
            raise DataError(
                "the model has no calibration points: calibrate_m makes them from a separate "
                "calibration set"
            )
        return error_threshold(
            points.p_largest, points.right, decoding.max_error, decoding.confidence or 0.95
        )[0]
    except DataError as error:
        warn_user(f"every point is rejected: {error.message}")
        return math.inf


def _ranked(p, leaf):
    """The leaves (n, k) in descending order of p (n, k), the first on ties; first of all leaf (n,).

    That is the answer, and no other leaf is more probable, but for rounding.
    """
    falling = -p
    falling[np.arange(len(p)), leaf] = -np.inf
    return np.argsort(falling, axis=1, kind="stable")
