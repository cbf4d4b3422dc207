"""Weights of points: how much each sample counts, and by which factor its class does.

A weight of 2 is two copies of the point.  It enters every sum over points: training, the fit of
probabilities, calibration and scores; the bins and smallest leaves of boosted trees count rows all
the same.  The weight of a class is a factor of the weights of its
samples, on whatever side of a partition they stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .errors import and_more, DataError, Place, UsageError

if TYPE_CHECKING:
    import numpy as np

BALANCED = "balanced"  # the word for class weights that make all classes count alike
NO_WEIGHTS = "none"  # the word in place of a file of weights: there are none
SMALLEST, LARGEST = 1e-100, 1e100  # weights: their squares, and sums of these, are numbers


@dataclass(frozen=True)
class WeightSource:
    """The sources of the weights of the points of a run.

    Attributes
    ----------
    file : weights of samples, text or .wgt, or `NO_WEIGHTS`, or None for `base.wgt` where that
        exists; for a table also the name of a column
    classes : factors of classes, `BALANCED`, {label or name: factor} or None
    class_file : file that the factors were read from, or None
    """

    file: str | None = None
    classes: Mapping[int | str, float] | str | None = None
    class_file: str | None = None


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights of points, more than 0, with the factors of their classes in them.

    Attributes
    ----------
    w : weights (n,), float64; also 0 before the points without weight are left out
    factors : {label: factor} of the class weights in w, empty where there are none
    """

    w: np.ndarray
    factors: Mapping[int, float] = field(default_factory=dict)

    def __len__(self):
        return len(self.w)

    def __getitem__(self, rows) -> Weights:
        """The weights of some rows, a slice, a mask or their numbers."""
        return Weights(self.w[rows], self.factors)

    def seen(self, y: np.ndarray) -> np.ndarray:
        """The weights (n,) without the factors of the classes y (n,): as the data were seen."""
        if self.factors:
            return self.w / of_points(self.factors, y)
        return self.w

    def digest(self, rows, labels) -> bytes:
        """The bytes that tell the weights of some rows, of classes `labels`, from others."""
        import hashlib

        import numpy as np

        factors = [self.factors[label] for label in labels if label in self.factors]
        return hashlib.blake2b(
            repr(factors).encode() + np.ascontiguousarray(self.w[rows], dtype="<f8").tobytes()
        ).digest()

    def of_sides(self, y: np.ndarray, sides) -> tuple:
        """Sums of the weights of each side, and the same as seen, None without class weights.

        `y` (n,) are the labels of the points, `sides` the labels of each side. A class has the same
        sum in every classifier, whatever stands beside it.
        """
        return self.of_totals(total_weights(y, self.w), sides)

    def of_totals(self, totals: Mapping[int, float], sides) -> tuple:
        """The weights `of_sides` from the sums of all classes, {label: sum of weights}."""
        weighted = tuple(sum(totals[label] for label in sorted(side)) for side in sides)
        if not self.factors:
            return weighted, None
        return weighted, tuple(
            sum(totals[label] / self.factors.get(label, 1.0) for label in sorted(side))
            for side in sides
        )


def of_points(factors: Mapping[int, float], y: np.ndarray) -> np.ndarray:
    """The factor (n,) of the class of each point, 1 where it has none; y (n,): labels."""
    import numpy as np

    labels, codes = np.unique(y, return_inverse=True)
    return np.array([factors.get(label, 1.0) for label in labels.tolist()])[codes]


def check_range(w: np.ndarray, source: str | None = None) -> None:
    """Raise `DataError` for weights (n,), with the factors of classes in them, that are not from
    `SMALLEST` to `LARGEST`; `source` is that of the data."""
    if not ((w >= SMALLEST) & (w <= LARGEST)).all():
        raise DataError(
            f"the weights of samples and classes are not all from {SMALLEST:g} to "
            f"{LARGEST:g}: multiply them by a power of ten",
            file=source,
        )


def total_weights(y: np.ndarray, w: np.ndarray | None = None) -> dict[int, float]:
    """{label: sum of the weights of its samples} of labels y (n,); w (n,), None for 1."""
    import numpy as np

    labels, codes = np.unique(y, return_inverse=True)
    totals = np.bincount(codes, weights=w, minlength=len(labels))
    return dict(zip(labels.tolist(), totals.tolist()))


def class_factors(
    weights: Mapping[int | str, float] | str,
    totals: Mapping[int, float],
    names: Mapping[int, str] | None = None,
) -> dict[int, float]:
    """{label: factor} of all classes of the `totals`, {label: sum of weights}.

    `weights` is `BALANCED`, for factors W / (k W_c) of the sums of weights W_c of k classes, W
    their sum; or {label or name: factor}, 1 for a class that is not named. `names` is {label:
    name}, which goes before a label that reads the same. Raises `UsageError` for a word that is not
    known, `DataError` for a class that is not there and a factor that is not a number above 0.
    """
    if isinstance(weights, str):
        if weights != BALANCED:
            raise UsageError(
                f"class weights: expected '{BALANCED}' or a factor for each class, "
                f"found '{weights}'"
            )
        whole = sum(totals.values())
        return {label: whole / (len(totals) * total) for label, total in totals.items()}
    label_of = {name: label for label, name in (names or {}).items() if label in totals}
    factors: dict[int, float] = {}
    for key, factor in weights.items():
        place = getattr(weights, "places", {}).get(key, Place())  # of those from a file
        label = label_of.get(str(key))
        if label is None and str(key).isdecimal() and int(key) in totals:
            label = int(key)
        if label is None:
            shown = [repr(names[one]) if names and one in names else str(one) for one in totals]
            raise place.error(
                DataError,
                f"class weights: there is no class '{key}': expected some "
                f"of {', '.join(shown[:8])}{and_more(shown[7:])}",
            )
        if label in factors:
            raise place.error(DataError, f"class weights: class {key} is named twice")
        if not 0 < factor < float("inf"):
            raise place.error(
                DataError,
                f"class weights: {key}={factor:g}: expected a number "
                "above 0 (a class without weight is one to leave out of the data)",
            )
        factors[label] = float(factor)
    return {label: factors.get(label, 1.0) for label in totals}
