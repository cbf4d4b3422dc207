"""Decisions before a choice by cross-validation: how many rows choose, and which learner."""

from __future__ import annotations

from dataclasses import dataclass

from ..core.errors import DataError, one_line

SAMPLE = 5000  # rows that choose among configurations, of more
LARGE = 20_000  # rows; of more, time and memory of support vector machines are too large
LARGE_SAMPLE = 10_000  # rows that then tune
_FEWEST = 3  # rows of a class: one is held out, and two train


@dataclass(frozen=True)
class TrainingBudget:
    """The decisions before anything is tried: the rows and classes, how many rows choose and tune,
    None for all, and the options of tuning and training, "" for the default learner, with which
    the choice is made in any case: with landmarks it would take longer."""

    rows: int
    classes: int
    choosing: int | None
    tuning: int | None
    options: str

    def training_seconds(self, seconds: float, trained: list) -> float:
        """About the seconds for training on all rows, from those for several trainings, each on
        so many: they grow with the square of the rows, with landmarks as the rows."""
        power = 1 if self.options else 2
        return seconds * self.rows**power / sum(rows**power for rows in trained)


def plan_budget(counts: dict[int, int], names: dict[int, str], source: str,
                least: int | None = None) -> TrainingBudget:
    """The `TrainingBudget` for training data {label: rows} of at least two classes.

    least: smaller classes are left out.  `DataError` where a class has too few rows to hold out.
    """
    counts = {label: count for label, count in counts.items() if count >= (least or 1)}
    if len(counts) < 2:
        raise DataError(f"holds {len(counts) or 'no'} class{'' if len(counts) == 1 else 'es'}"
                        f"{f' of {least} rows or more' if least else ''}: expected at least two",
                        file=source)
    few = [label for label, count in counts.items() if count < _FEWEST]
    if few:
        shown = ", ".join(f"{one_line(names.get(label, str(label)))} ({counts[label]})"
                          for label in few[:5])
        raise DataError(f"{len(few)} of {len(counts)} classes have fewer than {_FEWEST} rows, too "
                        f"few to hold one out: {shown}{', ...' * (len(few) > 5)}; --min-class "
                        f"{_FEWEST} leaves these classes out", file=source)
    rows = sum(counts.values())
    large = rows > LARGE
    return TrainingBudget(rows, len(counts), SAMPLE if rows > SAMPLE else None,
                          LARGE_SAMPLE if large else None, "learner=nystrom" if large else "")
