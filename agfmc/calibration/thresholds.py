"""Thresholds of confidence that keep the error of the answers below a bound.

An answer is given where its probability is at least the threshold.  A. N. Angelopoulos and
others, "Learn then test: calibrating predictive algorithms to achieve risk control", Annals of
Applied Statistics 19, 2025: fixed-sequence testing, which needs no correction for many looks.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.errors import DataError

GRID = np.arange(200, -1, -1) / 200  # 1, .995, ..., 0


def clopper_pearson_upper(errors, n, confidence: float = 0.95):
    """The upper bound of a share of which `errors` of n were seen; arrays or numbers.

    C. J. Clopper and E. S. Pearson, Biometrika 26, 1934: it lies above the true share with at
    least that confidence.  1 where all are errors, or there are no points.
    """
    from scipy.special import betaincinv

    errors, n = np.broadcast_arrays(errors, n)
    bound = np.ones(errors.shape)
    proper = errors < n
    bound[proper] = betaincinv(errors[proper] + 1.0, n[proper] - errors[proper], confidence)
    if bound.ndim:
        return bound
    return float(bound)


def points_needed(max_error: float, confidence: float = 0.95) -> int:
    """The least number of points, without an error among them, that prove an error so small."""
    points = math.log1p(-confidence) / math.log1p(-max_error)
    return max(math.ceil(min(points, 1e18) - 1e-9), 1)


def error_threshold(
    p_largest: np.ndarray, right: np.ndarray, max_error: float, confidence: float = 0.95
) -> tuple[float, int]:
    """The laxest threshold at which the error of the answers is at most `max_error`, and the number
    of calibration points that it accepts.

    From strict to lax, thresholds of `GRID` pass while `clopper_pearson_upper` of the error among
    the accepted is at most max_error. The first accepts as many points as a proof needs or, as one
    error would end it there, a fifth of all, but at most three times as many.

    Parameters
    ----------
    p_largest : array (n,), probabilities of the answers to calibration points
    right : array (n,) of bool, the right answers

    Raises
    ------
    DataError : where no threshold passes
    """
    order = np.argsort(-p_largest, kind="stable")
    accepted = np.searchsorted(-p_largest[order], -GRID, side="right")
    errors = np.concatenate([[0], np.cumsum(~right[order])])[accepted]
    least = points_needed(max_error, confidence)
    first = int(np.argmax(accepted >= max(least, min(3 * least, len(right) // 5))))
    if accepted[first] < least:
        raise DataError(
            f"an error of at most {max_error:g} cannot be proved with confidence "
            f"{confidence:g} from {len(right)} calibration points: at least {least} "
            "without an error among them would be needed"
        )
    passed = clopper_pearson_upper(errors, accepted, confidence) <= max_error
    last = first + int(np.argmin(np.append(passed[first:], False))) - 1
    if last < first:
        raise DataError(
            f"no threshold proves an error of at most {max_error:g} with confidence "
            f"{confidence:g}: of the {accepted[first]} calibration points with "
            f"probability {GRID[first]:g} or more, {errors[first]} are errors (at "
            f"least {least} points are needed, without an error among them)"
        )
    return float(GRID[last]), int(accepted[last])
