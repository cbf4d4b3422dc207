"""Configurations on the same splits: scores with their deviations, and what differs."""

from __future__ import annotations

import math
import statistics

import numpy as np

from ..control.build import to_code
from ..errors import JobsFailed, UsageError
from ..score.scores import SCORES
from ..score.significance import mcnemar, resampled_t
from .candidates import decoders_of
from .splits import splits
from .trial import evaluated, prepared

__all__ = ["COLUMNS", "best_row", "compare", "find_best", "overall", "summary"]

COLUMNS = ("train_s", "classify_s", *SCORES)


def compare(data, candidates, plan, settings, ledger, *, by="uncertainty_coefficient",
            against=None, progress=None):
    """Try `candidates` on the splits of `plan`; -> everything as plain values.

    data: raw `Dataset`;  plan: `Plan`;  settings: `Settings`;  by: the score that tells
    which is the best;  against: "configuration" or "configuration:decoder" that the
    others are compared with, by default one-vs-one, or else the first.

    Keys: points, classes, splits, plan (words), by, against, mcnemar (True where there is
    one split alone), rows.  A row: configuration, decoder, classifiers, for each of
    `COLUMNS` {"mean", "sd", "values"} or None, best (columns in which no other row is
    better), difference {score: {"mean", "sd", "p_value"}} or None, and in
    place of all that `error` where it could not be trained.
    """
    names = [candidate.name for candidate in candidates]
    _check_against(against, names, decoders=True)
    tally = {}
    total = plan.count
    done = cached = 0
    for split in splits(data.y, plan):
        stage = prepared(split, data, settings)
        outcomes = evaluated(stage, candidates, settings, ledger,
                             progress=overall(progress, done - cached, total - cached))
        cached += all(outcome.resumed for outcome in outcomes)
        done += 1
        for outcome in outcomes:
            tally.setdefault((outcome.candidate, outcome.decoder), []).append(outcome)
        if done == 1:
            _check_against(against, [word for number, decoder in tally for word in (
                names[number], f"{names[number]}:{decoder}")])
        truth = stage.test_y
    rows = [_row(names[number], decoder, outcomes)
            for (number, decoder), outcomes in tally.items()]
    sound = [row for row in rows if "error" not in row]
    for column in COLUMNS:
        _mark_best(sound, column)
    reference = _reference(sound, against)
    single = total == 1
    right = {}
    if single:
        right = {id(row): outcomes[0].classes == truth for row, outcomes in
                 zip(rows, tally.values()) if "error" not in row}
    for row in sound:
        row["difference"] = None if reference is None or row is reference else \
            _difference(row, reference, plan, right)
    return {"points": len(data.y), "classes": len(np.unique(data.y)), "splits": total,
            "trials": total, "plan": plan.words, "by": by, "mcnemar": single,
            "against": None if reference is None else
            {name: reference[name] for name in ("configuration", "decoder")},
            "rows": rows}


def overall(progress, done, total):
    """Progress within one of `total` equal parts, of which `done` are behind."""
    if progress is None:
        return None
    return lambda part, whole: progress(1000 * done + 1000 * part // max(whole, 1), 1000 * total)


def _row(name, decoder, outcomes):
    row = {"configuration": name, "decoder": decoder}
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if failed:
        return {**row, "error": str(failed[0])}
    row["classifiers"] = max(outcome.classifiers for outcome in outcomes)
    for column in COLUMNS:
        values = [outcome.scores[column] if column in SCORES else getattr(outcome, column)
                  for outcome in outcomes]
        row[column] = None if any(value is None for value in values) else summary(values)
    row["best"] = []
    return row


def summary(values):
    """Mean, and deviation with n - 1, None for a single value."""
    values = [float(value) for value in values]
    sound = all(map(math.isfinite, values))
    return {"mean": statistics.fmean(values),
            "sd": statistics.stdev(values) if len(values) > 1 and sound else None,
            "values": values}


def best_row(rows, by):
    """The row whose mean of the column `by` is best, the first on ties; None without any."""
    sign = -SCORES[by].sign if by in SCORES else 1  # times
    return min((row for row in rows if "error" not in row and row[by] is not None
                and not math.isnan(row[by]["mean"])),
               key=lambda row: sign * row[by]["mean"], default=None)


def _mark_best(rows, column):
    best = best_row(rows, column)
    if best is None or len(rows) < 2:
        return
    for row in rows:
        if row[column] is not None and row[column]["mean"] == best[column]["mean"]:
            row["best"].append(column)


def _check_against(against, words, decoders=False):
    """`UsageError` unless `against` is one of the words; decoders: or has one behind a word."""
    if against is not None and against not in words and not (decoders and any(
            against.startswith(f"{word}:") for word in words)):
        raise UsageError(f"--against {against}: expected one of {', '.join(words)}")


def _reference(rows, against):
    """The row that the others are compared with; None where it could not be made."""
    if against is None:
        return next((row for row in rows if row["configuration"] == "one-vs-one"),
                    rows[0] if rows else None)
    return next((row for row in rows if against in (
        row["configuration"], f"{row['configuration']}:{row['decoder']}")), None)


def _difference(row, reference, plan, right):
    """{score: paired difference to the reference} of a row."""
    differences = {}
    for score in SCORES:
        if row[score] is None or reference[score] is None:
            continue
        values = np.subtract(row[score]["values"], reference[score]["values"])
        if not right:
            test = resampled_t(values, plan.ratio)
            differences[score] = {"mean": test.mean, "sd": test.deviation,
                                  "p_value": test.p_value}
            continue
        p_value = None
        if score == "accuracy":
            p_value = mcnemar(right[id(row)], right[id(reference)]).p_value
        differences[score] = {"mean": float(values[0]), "sd": None, "p_value": p_value}
    return differences


def find_best(data, candidates, plan, settings, ledger, *, by, progress=None):
    """-> (training control tree, its row, the row with the best mean, all `compare` found).

    The first row is kept where the best is not better than it by more than the standard
    error of their difference (corrected, as in `resampled_t`): a configuration that is
    chosen in place of the first has to be worth it (the one standard error rule of
    Breiman et al., "Classification and regression trees", 1984).

    The tree is made from all the data, normalised as the training parts were; it is
    a coding matrix where a tree did best as one.  Arguments as for `compare`.  Raises
    `JobsFailed` where no candidate could be trained.
    """
    result = compare(data, candidates, plan, settings, ledger, by=by, progress=progress)
    top = best_row(result["rows"], by)
    if top is None:
        failed = [row["error"] for row in result["rows"] if "error" in row]
        raise JobsFailed(failed[0] if failed else f"no decoder gives the score {by}")
    row = top if _worth_it(result["rows"][0], top, plan, by) else result["rows"][0]
    candidate = next(c for c in candidates if c.name == row["configuration"])
    (x,) = settings.normalised(data.x)
    tree = candidate.tree_for(x, data.y, dict(enumerate(data.names or ())))
    decoder = next(d for d in decoders_of(tree, candidate.wanted) if d.name == row["decoder"])
    if decoder.tree == "flat" and tree.hierarchical:
        tree = to_code(tree)
    return tree, row, top, result


def _worth_it(first, top, plan, by):
    """True where `top` is better than the row `first` by more than the standard error."""
    if first is top or "error" in first or first[by] is None:
        return True
    test = resampled_t(np.subtract(top[by]["values"], first[by]["values"]), plan.ratio)
    return math.isnan(test.t) or abs(test.t) > 1.0
