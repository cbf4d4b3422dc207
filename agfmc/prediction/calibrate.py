"""Calibration in training: a map of each decoder from the points that were held out."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from ..calibration.maps import apply_map, fit_in_training, fit_temperature
from ..calibration.types import Calibration, DecoderCalibration, IN_TRAINING
from ..control.build import with_heading
from ..core.errors import AgfmcError, UsageError
from ..core.models import HeldOut
from ..core.probabilities import log_loss
from ..decode.methods import METHODS
from ..models.configuration import Configuration
from .decoding import answering_decodings, decoders_of, Decoding, suited_decodings
from .known_points import (
    answers_alike,
    FEWEST,
    held_out_answers,
    learned_answers,
    map_columns,
    most_points,
    thinned,
)
from .member_weights import with_learned_weights
from .recalibrate import calibrated_points


def calibrated(
    configuration: Configuration,
    held_out: HeldOut | None,
    requested: Iterable[Decoding] = (),
    weights: str | None = None,
    chooses: bool = False,
) -> Configuration:
    """The configuration with the `Calibration` that is fitted to held-out decision values.

    Without such values it is what it was. Maps are of `answering_decodings`, and of the requested
    ones; with `weights` those of the members of an ensemble are learned first. With `chooses` the
    tree names the learned decoder where that has the least log loss of the points held out.
    """
    if weights is not None:
        configuration, held_out = with_learned_weights(configuration, held_out)
    if held_out is None:
        return configuration
    tree = configuration.tree
    decodings = [*answering_decodings(tree), *requested]
    if chooses:
        decodings += decoders_of(tree, points=len(held_out.rows))
    losses: dict[str, tuple] = {}
    calibration = fit_calibration(configuration, held_out, decodings, losses=losses)
    if chooses and min(losses, key=lambda key: losses[key][-1], default="") == "learned":
        tree = with_heading(tree, "decoder", "learned")
    return replace(configuration, tree=tree, calibration=calibration)


def _place(decoding):
    """The place of the decoder of a `Decoding` in the table; those of a program come last."""
    if decoding.decoder in METHODS:
        return METHODS.index(decoding.decoder)
    return len(METHODS)


def fit_calibration(
    configuration: Configuration,
    held_out: HeldOut,
    decodings: Iterable[Decoding] | None = None,
    quick: bool = False,
    losses: dict[str, tuple] | None = None,
) -> Calibration:
    """Fit the map of each decoder that suits, and gives numbers for all classes.

    The points are decoded with the decision values of classifiers that were trained without them;
    nothing is trained again. Thresholds and sets are made from the points: as the sigmoids of the
    classifiers were fitted to them, each is stored as sigmoids without it would answer it. Decoders
    that do not suit the configuration best have a temperature and a floor in any case.

    Parameters
    ----------
    decodings : iterable, optional, `answering_decodings` where there is none
    quick : bool, every map is a temperature and a floor, fitted to a thousand points at most, and
        no points are stored
    losses : dict, optional
        Gets {key: (number of points, their log loss before, after)}; where a tree is descended, of
        the probability that the answer is right.
    """
    tree = configuration.tree
    by_key: dict[str | None, Decoding] = {}
    if decodings is None:
        decodings = answering_decodings(tree)
    for decoding in sorted(decodings, key=_place):
        with suppress(UsageError):  # it is for an ensemble, of which one member is left
            by_key.setdefault(decoding.calibration_key(tree), decoding)
    by_key.pop(None, None)
    learns = by_key.pop("learned", None) is not None
    points = thinned(held_out, FEWEST if quick else most_points(tree))
    ways = [False]
    if not quick:
        ways.append(True)
    by_way = held_out_answers(configuration, points, by_key, ways)
    answered = by_way[0]
    left_out = by_way[-1]
    learned = None
    if learns:
        with suppress(AgfmcError):  # too large, or a class without points
            answered["learned"] = left_out["learned"] = learned_answers(configuration, held_out)
            learned = answered["learned"].learned
    suited = suited_decodings(tree)
    maps = {}
    compared: list[tuple] = []
    for key, before in answered.items():
        p, true = map_columns(before)
        if quick or key == "learned" or key not in suited or before.p is None:
            fitted = fit_temperature(p, true, before.weights)
            mapped = partial(apply_map, fitted)
        else:
            equal = next((other[1:] for other in compared if answers_alike(other[0], before)), None)
            fitted, mapped = equal or fit_in_training(
                p, true, weights=before.weights, groups=before.groups
            )
            compared.append((before, fitted, mapped))
        if quick:
            maps[key] = DecoderCalibration(fitted)
            continue
        alone = left_out[key]
        after = mapped(map_columns(alone)[0])
        maps[key] = DecoderCalibration(fitted, calibrated_points(alone, after, fitted.kind)[0])
        if losses is not None:
            losses[key] = (
                len(true),
                *(log_loss(q, true, before.weights) for q in (p, mapped(p))),
            )
    counts = np.bincount(np.searchsorted(tree.classes, points.y), minlength=len(tree.classes))
    source = IN_TRAINING + ("" if points.weights is None else ", weighted")
    return Calibration(
        configuration.digest(), tuple(tree.classes), source, tuple(counts.tolist()), maps, learned
    )
