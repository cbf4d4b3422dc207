"""Training data as they are asked for: light, as parsers of commands load it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..data.types import InputFormat
    from .fit import TrainingSettings


@dataclass(frozen=True)
class PointsRequest:
    """Training data, and the `TrainingSettings` by which they are normalised.

    `norm_file` is as for `load_training`, or to be written; `min_class` and `scales` are as there.
    """

    source: str
    form: InputFormat
    settings: TrainingSettings
    norm_file: str | None = None
    min_class: int | tuple[int, int] | None = None
    scales: bool = False

    def load(self, keep: str = "") -> tuple:
        """The result of `load_training`; the points are as they are, or as -n, -S and -a make
        them."""
        from ..data.training import load_training

        fit = None
        if self.settings.fits_normalisation:
            fit = self.settings.fit_normalisation
        return load_training(
            self.source,
            self.form,
            fit=fit,
            norm_file=self.norm_file,
            keep=keep,
            min_class=self.min_class,
            scales=self.scales,
        )
