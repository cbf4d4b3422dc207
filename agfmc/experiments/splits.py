"""Splits of the data into a training and a test part, the same ones for every configuration."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import UsageError
from ..prepare.split import split_stratified, stratified_parts

__all__ = ["Plan", "Split", "splits"]


class Plan(NamedTuple):
    """How the data are split: `trials` times, at random with `fraction` of each class held
    out, or, where `parts` is given, into so many parts of which each is held out once."""

    fraction: float | None = 0.3
    parts: int | None = None
    trials: int = 10
    seed: int = 1

    @property
    def count(self):
        """Number of splits."""
        return self.trials * (self.parts or 1)

    @property
    def ratio(self):
        """Points for testing by points for training, as `score.significance` takes it."""
        return 1 / (self.parts - 1) if self.parts else self.fraction / (1 - self.fraction)

    @property
    def words(self):
        """The plan in words."""
        if self.parts:
            times = "" if self.trials == 1 else f", {self.trials} times"
            return f"each of {self.parts} parts held out{times}"
        return f"{self.trials} trial{'s' if self.trials > 1 else ''}, " \
               f"{100 * self.fraction:g} % of each class held out"


class Split(NamedTuple):
    """One split: its name, and the rows (ascending) of either part."""

    name: str
    train: np.ndarray
    test: np.ndarray


def splits(y, plan):
    """Yield the `plan.count` `Split`s of labels y (n,).

    Trial t, from 1, is drawn with the seed `plan.seed + t - 1`.  Raises `UsageError`
    and `DataError` as `split_stratified` and `stratified_parts` do.
    """
    if plan.trials < 1:
        raise UsageError(f"the number of trials must be 1 or more, not {plan.trials}")
    for trial in range(plan.trials):
        name = f"trial {trial + 1}"
        if plan.parts is None:
            yield Split(name, *split_stratified(y, plan.fraction, plan.seed + trial))
            continue
        part = stratified_parts(y, plan.parts, plan.seed + trial)
        for number in range(plan.parts):
            yield Split(f"{name}, part {number + 1}", np.flatnonzero(part != number),
                        np.flatnonzero(part == number))
