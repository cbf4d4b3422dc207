"""Configurations on the same splits: scores with their deviations, and paired differences."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, replace

import numpy as np

from ..control.build import to_code
from ..errors import JobsFailed, UsageError
from ..formats.atomic import replacing_all
from ..formats.probability_text import format_points
from ..formats.vectors import cls_bytes, con_bytes
from ..prediction.decoding import decoders_of
from ..prediction.evaluation import Results
from ..score.scores import SCORES
from ..score.significance import mcnemar, resampled_t
from .candidates import Candidate
from .experiment import Experiment, part_of
from .trial import COLUMNS, run_trial

__all__ = ["CrossValidation", "best_row", "compare", "cross_validate", "find_best", "summary",
           "write_held_out"]


def compare(experiment: Experiment, candidates: list, *, by: str = "uncertainty_coefficient",
            against: str | None = None, progress=None) -> dict:
    """Try `candidates` on the splits of an `Experiment`; -> everything as plain values.

    by: the score that decides which is the best;  against: "configuration" or
    "configuration:decoder" that the others are compared with, by default one-vs-one, or else
    the first;  progress(done, total).

    Keys: points, classes, splits, trials, plan (its description), by, against, mcnemar (True
    where there is one split alone), rows.  A row: configuration, decoder, classifiers, for each
    of `COLUMNS` {"mean", "sd", "values"} or None, best (columns in which no other row is
    better), difference {score: {"mean", "sd", "p_value"}} or None, and in
    place of all that `error` where it could not be trained.
    """
    names = [candidate.name for candidate in candidates]
    _check_against(against, names, decoders=True)
    plan, y, tally = experiment.plan, experiment.data.y, {}
    cached = 0
    for done, split in enumerate(experiment.splits()):
        outcomes = run_trial(split, candidates, experiment.settings, experiment.cache,
                             progress=part_of(progress, done - cached, plan.count - cached))
        cached += all(outcome.resumed for outcome in outcomes)
        for outcome in outcomes:
            tally.setdefault((outcome.candidate, outcome.decoder), []).append(outcome)
        if done == 0:
            _check_against(against, [word for number, decoder in tally for word in (
                names[number], f"{names[number]}:{decoder}")])
    rows = [_row(names[number], decoder, outcomes)
            for (number, decoder), outcomes in tally.items()]
    sound = [row for row in rows if "error" not in row]
    for column in COLUMNS:
        _mark_best(sound, column)
    reference = _reference(sound, against)
    right = {}  # {row: which points it has right}, of a single split
    if plan.count == 1:
        right = {id(row): outcomes[0].classes == split.test_y for row, outcomes in
                 zip(rows, tally.values()) if "error" not in row}
    for row in sound:
        row["difference"] = None if reference is None or row is reference else \
            _difference(row, reference, plan, right)
    return {"points": len(y), "classes": len(np.unique(y)), "splits": plan.count,
            "trials": plan.count, "plan": plan.description, "by": by,
            "mcnemar": plan.count == 1, "against": None if reference is None else
            {name: reference[name] for name in ("configuration", "decoder")},
            "rows": rows}


def _row(name, decoder, outcomes):
    row = {"configuration": name, "decoder": decoder}
    failed = [outcome.error for outcome in outcomes if outcome.error is not None]
    if failed:
        return {**row, "error": str(failed[0])}
    return {**row, "classifiers": max(outcome.classifiers for outcome in outcomes),
            **_summaries(outcomes), "best": []}


def _summaries(outcomes):
    """{column: summary, or None where a split has no such score} of outcomes on all splits."""
    columns = {}
    for column in COLUMNS:
        values = [outcome.value(column) for outcome in outcomes]
        columns[column] = None if any(value is None for value in values) else summary(values)
    return columns


def summary(values) -> dict:
    """Mean, and deviation with n - 1, None for a single value."""
    values = [float(value) for value in values]
    sound = all(map(math.isfinite, values))
    return {"mean": statistics.fmean(values),
            "sd": statistics.stdev(values) if len(values) > 1 and sound else None,
            "values": values}


def best_row(rows: list, by: str) -> dict | None:
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


def find_best(experiment: Experiment, candidates: list, *, by: str, progress=None) -> tuple:
    """-> (training control tree, its row, the row with the best mean, the result of `compare`).

    The first row is kept where the best is not better than it by more than the standard
    error of their difference (corrected, as in `resampled_t`): a configuration that is
    chosen in place of the first has to be worth it (the one standard error rule of
    Breiman et al., "Classification and regression trees", 1984).

    The tree is made from all the data, normalised as the training parts were; it is
    a coding matrix where a tree did best as one.  Arguments as for `compare`.  Raises
    `JobsFailed` where no candidate could be trained.
    """
    result = compare(experiment, candidates, by=by, progress=progress)
    top = best_row(result["rows"], by)
    if top is None:
        failed = [row["error"] for row in result["rows"] if "error" in row]
        raise JobsFailed(failed[0] if failed else f"no decoder gives the score {by}")
    row = top if _worth_it(result["rows"][0], top, experiment.plan, by) else result["rows"][0]
    candidate = next(c for c in candidates if c.name == row["configuration"])
    tree, _ = experiment.tree_of(candidate)
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


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """One configuration, cross-validated.

    decoder: its name;  classifiers: number of binary ones;  columns: {name of `COLUMNS`:
    {"mean", "sd", "values"} or None};  results: `Results` of the held-out points, in the order
    of the data where each was held out once, else split after split;  confidence (n,).
    """

    decoder: str
    classifiers: int
    columns: dict
    results: Results
    confidence: np.ndarray


def cross_validate(experiment: Experiment, candidate: Candidate, *,
                   progress=None) -> CrossValidation:
    """Train and try `candidate` on the splits of an `Experiment`; -> `CrossValidation`.

    The candidate has one decoder, or the first that suits it is taken.  Raises the first error
    of a split.
    """
    outcomes, rows, plan = [], [], experiment.plan
    for done, split in enumerate(experiment.splits()):
        [outcome] = run_trial(split, [candidate], experiment.settings, experiment.cache, keep=True,
                              first=True, progress=part_of(progress, done, plan.count))
        if outcome.error is not None:
            raise outcome.error
        outcomes.append(outcome)
        rows.append(split.rows)
    rows = np.concatenate(rows)
    order = np.argsort(rows, kind="stable") if plan.parts and plan.trials == 1 \
        else np.arange(len(rows))

    def joined(parts):
        return None if parts[0] is None else np.concatenate(parts)[order]

    first, results = outcomes[0], [outcome.results for outcome in outcomes]
    pooled = replace(first.results, **{name: joined([getattr(part, name) for part in results])
                                       for name in ("truth", "result", "winner", "p")})
    return CrossValidation(first.decoder, first.classifiers, _summaries(outcomes), pooled,
                           joined([outcome.confidence for outcome in outcomes]))


def write_held_out(base: str, held_out: CrossValidation) -> None:
    """Answers for the held-out points, as `classify_m` writes them, and their true classes.

    base.cls, base.con, base.truth (true classes, in the layout of a .cls file), and,
    where there are probabilities, base.txt.  All files appear together or not at all.
    """
    results = held_out.results
    contents = {f"{base}.cls": cls_bytes(results.result), f"{base}.con":
                con_bytes(held_out.confidence), f"{base}.truth": cls_bytes(results.truth)}
    if results.p is not None:
        head = f"labels {' '.join(map(str, results.labels))}\n".encode()
        contents[f"{base}.txt"] = head + format_points(results.p, results.result)
    with replacing_all(list(contents), binary=True) as files:
        for file, content in zip(files, contents.values()):
            file.write(content)
