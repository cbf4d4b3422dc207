"""Cross-validation of one configuration: scores, and the answers for all held-out points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..prediction.evaluation import evaluate, Results
from ..formats.atomic import replacing_all
from ..formats.probability_text import format_points
from ..formats.vectors import cls_bytes, con_bytes
from ..score.scores import SCORES
from .comparison import COLUMNS, overall, summary
from .splits import splits
from .trial import evaluated, prepared

__all__ = ["CrossValidation", "cross_validate", "write_held_out"]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What came of it.

    decoder: its name;  classifiers: how many;  splits: `Split`s that were made;
    columns: {name of `COLUMNS`: {"mean", "sd", "values"} or None};  rows (n,): the
    held-out points, in the order of the data where each was held out once, else split
    after split;  truth, classes, confidence (n,), p (n, k) or None, winner (n,) or None: of
    these points;  labels (k,) ascending.
    """

    decoder: str
    classifiers: int
    columns: dict
    rows: np.ndarray
    truth: np.ndarray
    classes: np.ndarray
    confidence: np.ndarray
    p: np.ndarray | None
    winner: np.ndarray | None
    labels: tuple

    def pooled(self, bins=10):
        """The dictionary of `evaluate` for all held-out points together."""
        return evaluate(Results(self.truth, self.classes, np.array(self.labels),
                                len(self.labels), self.winner, self.p), bins)


def cross_validate(data, candidate, plan, settings, ledger, *, progress=None):
    """Train and try `candidate` on the splits of `plan`; -> `CrossValidation`.

    data: raw `Dataset`.  Arguments as for `compare`; the candidate has one decoder, or
    the first that suits it is taken.  Raises the first error of a split.
    """
    outcomes, parts = [], []
    total = plan.count
    for done, split in enumerate(splits(data.y, plan)):
        stage = prepared(split, data, settings)
        outcome = evaluated(stage, [candidate], settings, ledger, keep=True, first=True,
                            progress=overall(progress, done, total))[0]
        if outcome.error is not None:
            raise outcome.error
        outcomes.append(outcome)
        parts.append(split.test)
    columns = {}
    for column in COLUMNS:
        values = [outcome.scores[column] if column in SCORES else getattr(outcome, column)
                  for outcome in outcomes]
        columns[column] = None if any(value is None for value in values) else summary(values)
    rows = np.concatenate(parts)
    order = np.argsort(rows, kind="stable") if plan.parts and plan.trials == 1 \
        else np.arange(len(rows))
    held = {name: _joined([getattr(outcome.answered, name) for outcome in outcomes], order)
            for name in ("classes", "confidence", "p", "winner")}
    return CrossValidation(outcomes[0].decoder, outcomes[0].classifiers, columns, rows[order],
                           data.y[rows[order]], labels=outcomes[0].answered.labels, **held)


def _joined(parts, order):
    return None if parts[0] is None else np.concatenate(parts)[order]


def write_held_out(base, result):
    """Answers for the held-out points, as `classify_m` writes them, and the truth beside them.

    base.cls, base.con, base.truth (true classes, in the layout of a .cls file), and,
    where there are probabilities, base.txt.  All files appear together or not at all.
    """
    contents = {f"{base}.cls": cls_bytes(result.classes), f"{base}.con":
                con_bytes(result.confidence), f"{base}.truth": cls_bytes(result.truth)}
    if result.p is not None:
        head = f"labels {' '.join(map(str, result.labels))}\n".encode()
        contents[f"{base}.txt"] = head + format_points(result.p, result.classes)
    with replacing_all(list(contents), binary=True) as files:
        for file, content in zip(files, contents.values()):
            file.write(content)
