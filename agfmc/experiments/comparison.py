"""Configurations on the same splits: scores with their deviations, and paired differences."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..core.answers import Results
from ..core.errors import UsageError
from ..core.text import spread
from ..learners.protocol import has_left_out, plan_jobs
from ..score.intervals import NOTHING
from ..score.rows import ALL_SCORES, columns_of, COST_PER_POINT, UNCALIBRATED
from ..score.significance import mcnemar, paired_mean, paired_shares, resampled_t
from .candidates import CANNOT_JUDGE, Candidate, decoders_for
from .experiment import Experiment, part_of
from .pooling import added, pooled, summary, zero_probability
from .trial import run_trial


def compare(
    experiment: Experiment,
    candidates: list,
    *,
    by: str = "log_loss",
    against: str | None = None,
    progress=None,
) -> dict:
    """Try `candidates` on the splits of an `Experiment`; -> everything as plain values.

    Parameters
    ----------
    by : str, score that decides which is the best
    against : str, optional, "configuration" or "configuration:decoder" that the others are compared
        with, by default one-vs-one, or else the first
    progress : function of (done, total, words), optional, the words are for the split and the best
        so far

    Returns
    -------
    dict
        points, classes, splits, trials, plan (its description), by, left_out (the number of points
        with leave-one-out values, where the plan is that), calibrated (as in the experiment),
        against, mcnemar (True where there is one split alone), rows.

    A row: configuration, decoder, classifiers, for each of `COLUMNS` {"pooled", "mean", "sd",
    "values"} or None, queried and kernel_values (how many binary classifiers a point is put to, and
    kernel values, each of a support vector, that are computed for it, on average; the same keys,
    the second None where some classifier is no kernel machine), calibrated (the probabilities went
    through a calibration map on every split), zero_probability (how many held-out points have p = 0
    for their true class, or None), best (columns but design_s in which no other row is better),
    difference {score: {"pooled", "mean", "sd", "p_value", "interval"}} or None, and in place of all
    that `error` where it could not be trained.

    "interval" is [low, high], 95 % of the mean difference, or None where it is not known: of a
    single split, which gives that of accuracies and of means over the points alone. "pooled" is the
    score of the held-out points of all splits together.
    """
    names = [candidate.name for candidate in candidates]
    _check_against(against, names, decoders=True)
    tally = {}
    if experiment.plan.left_out:
        _check_left_out(experiment, candidates)
    for _, outcomes in _trials(
        experiment, candidates, progress, lambda: _best_words(names, tally, by)
    ):
        is_first = not tally
        for outcome in outcomes:
            tally.setdefault((outcome.candidate, outcome.decoder), []).append(outcome)
        if is_first:
            _check_against(
                against,
                [
                    word
                    for number, decoder in tally
                    for word in (names[number], f"{names[number]}:{decoder}")
                ],
            )
    outcomes_of = list(tally.values())
    rows = [_row(names[number], decoder, outcomes) for (number, decoder), outcomes in tally.items()]
    plan = experiment.plan
    sound = [row for row in rows if "error" not in row]
    for column in columns_of(sound[0]) if len(sound) > 1 else ():
        best = best_row(sound, column)
        for row in sound if best is not None and column != "design_s" else ():  # most need none
            if row[column] is not None and row[column]["pooled"] == best[column]["pooled"]:
                row["best"].append(column)
    reference = next(
        (
            row
            for row in sound
            if (against or "one-vs-one")
            in (row["configuration"], f"{row['configuration']}:{row['decoder']}")
        ),
        sound[0] if sound and against is None else None,
    )
    known = next((outcomes for row, outcomes in zip(rows, outcomes_of) if row is reference), None)
    for row, outcomes in zip(rows, outcomes_of):
        if "error" not in row:
            row["difference"] = (
                None if row is reference else _differences(row, reference, plan, outcomes, known)
            )
    y = experiment.data.y
    return {
        "points": len(y),
        "classes": len(np.unique(y)),
        "splits": plan.count,
        "trials": plan.count,
        "plan": plan.description,
        "by": by,
        "left_out": experiment.left_out_count if plan.left_out else None,
        "calibrated": list(experiment.calibrated),
        "mcnemar": plan.count == 1,
        "against": None
        if reference is None
        else {name: reference[name] for name in ("configuration", "decoder")},
        "rows": rows,
    }


def _trials(experiment, candidates, progress, words, **how):
    """Yield (split, its outcomes).

    words() is what there is so far, for the progress; `how` is as for `run_trial`.
    """
    plan = experiment.plan
    done = cached = 0

    for split in experiment.splits():
        outcomes = run_trial(
            split,
            candidates,
            experiment,
            **how,
            progress=part_of(
                progress,
                done - cached,
                plan.count - cached,
                words() + split.name if progress else "",
            ),
        )
        cached += all(outcome.resumed for outcome in outcomes)
        done += 1
        yield split, outcomes


def _check_left_out(experiment, candidates):
    """`UsageError` for candidates without exact leave-one-out values of what is to be judged."""
    settings = experiment.settings
    others = []
    for candidate in candidates:
        tree = experiment.design_of(candidate)[0].tree
        if not has_left_out(plan_jobs(tree, "m", settings.options, settings.seed)):
            others.append(candidate.name)
        elif any(
            decoder.decoder.takes == "learned" for decoder in decoders_for(tree, candidate.decoders)
        ):
            raise UsageError(CANNOT_JUDGE)
    if others:
        raise UsageError(
            "leave-one-out values are of configurations all of whose classifiers are "
            f"learner=nystrom: {', '.join(others)} has others"
        )


def _row(name, decoder, outcomes):
    row = {"configuration": name, "decoder": decoder}
    error = next((outcome.error for outcome in outcomes if outcome.error is not None), None)
    if error is not None:
        return {**row, "error": str(error)}
    return {
        **row,
        "classifiers": max(outcome.classifiers for outcome in outcomes),
        **_summaries(outcomes),
        **_summaries(outcomes, COST_PER_POINT),
        "calibrated": all(outcome.calibrated for outcome in outcomes),
        "zero_probability": zero_probability(outcomes),
        "best": [],
    }


def _summaries(outcomes, columns=None):
    summaries = {}
    points = [len(outcome.results.truth) for outcome in outcomes]
    for column in columns_of(outcomes[0].scores) if columns is None else columns:
        values = [outcome.value(column) for outcome in outcomes]
        if None in values:
            whole = None
        elif column in ALL_SCORES:
            whole = pooled(column, outcomes)
        elif column in COST_PER_POINT:
            whole = np.average(values, weights=points)
        else:
            whole = None
        summaries[column] = None if None in values else summary(values, whole)
    return summaries


def _best_words(names, tally, by):
    best = best_row(
        [
            {"words": f"{names[number]}:{decoder}", **_summaries(outcomes, [by])}
            for (number, decoder), outcomes in tally.items()
            if all(outcome.error is None for outcome in outcomes)
        ],
        by,
    )
    if best is None:
        return ""
    return f"best {best['words']}: {spread({**best[by], 'sd': None})}; "


def best_row(rows: list, by: str) -> dict | None:
    """The row whose column `by` is best, pooled, the first on ties; None without any."""
    sign = -ALL_SCORES[by].sign if by in ALL_SCORES else 1  # times
    return min(
        (
            row
            for row in rows
            if "error" not in row and row[by] is not None and not math.isnan(row[by]["pooled"])
        ),
        key=lambda row: sign * row[by]["pooled"],
        default=None,
    )


def _check_against(against, words, decoders=False):
    """`UsageError` unless `against` is one of the words; decoders: or has one behind a word."""
    if (
        against is not None
        and against not in words
        and not (decoders and any(against.startswith(f"{word}:") for word in words))
    ):
        raise UsageError(f'`against="{against}"`: expected one of {", ".join(words)}')


def _differences(row, reference, plan, outcomes, known):
    """{score: paired difference to the reference, whose outcomes are `known`} of a row."""
    if reference is None:
        return None
    differences = {}
    drawn = (outcomes[0].results.weights, outcomes[0].results.groups)
    for score in ALL_SCORES:
        if row.get(score) is None or reference[score] is None:
            continue
        test = resampled_t(
            np.subtract(row[score]["values"], reference[score]["values"]), plan.ratio
        )
        sd, p_value, interval = (
            (test.deviation, test.p_value, test.interval)
            if plan.count > 1
            else (None, None, NOTHING)
        )
        if plan.count == 1 and score == "accuracy":
            right, others = (
                part.results.result == part.results.truth for [part] in (outcomes, known)
            )
            p_value = mcnemar(right, others, *drawn)
            interval = paired_shares(right, others, *drawn)
        elif plan.count == 1 and ALL_SCORES[score].pools == "mean":
            points, others = (added(score, part, 1) for part in (outcomes, known))
            interval = paired_mean(points - others, *drawn)
        differences[score] = {
            "pooled": row[score]["pooled"] - reference[score]["pooled"],
            "mean": test.mean,
            "sd": sd,
            "p_value": p_value,
            "interval": list(interval) if all(map(math.isfinite, interval)) else None,
        }
    return differences


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """One configuration, cross-validated: decoder, whether all splits were calibrated, number of
    binary classifiers, {name of `COLUMNS`: summary}, points of probability 0 or None, `Results`
    and confidence (n,) of the held-out points, in the order of the data where each was held out
    once, else split after split, and the mean number of training samples."""

    decoder: str
    calibrated: bool
    classifiers: int
    columns: dict
    zero_probability: int | None
    results: Results
    confidence: np.ndarray
    samples: float


def cross_validate(
    experiment: Experiment, candidate: Candidate, *, progress=None
) -> list[CrossValidation]:
    """Train and try `candidate` on the splits of an `Experiment`; -> a list of `CrossValidation`.

    It has one, or two where `calibrated` of the experiment has two entries, in their order, and the
    decoder gives probabilities that can be calibrated. The candidate has one decoder, or the first
    that suits it is taken. progress(done, total, words) gets words for the split and the scores so
    far. Raises the first error of a split.
    """
    trials = []
    rows = []
    sizes = []
    plan = experiment.plan

    def words():
        if trials:
            columns = _summaries([outcomes[0] for outcomes in trials], ("log_loss", "accuracy"))
        else:
            columns = {}
        return "".join(
            f"{ALL_SCORES[name].title} {spread({**column, 'sd': None})}; "
            for name, column in columns.items()
            if column is not None
        )

    for split, outcomes in _trials(experiment, [candidate], progress, words, keep=True, first=True):
        for outcome in outcomes:
            if outcome.error is not None:
                raise outcome.error
        trials.append(outcomes)
        rows.append(split.rows)
        sizes.append(len(split.data.y))
    rows = np.concatenate(rows)
    if plan.parts and plan.trials == 1:
        order = np.argsort(rows, kind="stable")
    else:
        order = np.arange(len(rows))

    def joined(parts):
        if parts[0] is None:
            return None
        return np.concatenate(parts)[order]

    validations = []
    for outcomes in zip(*trials):
        first = outcomes[0]
        results = [outcome.results for outcome in outcomes]
        whole = replace(
            first.results,
            **{
                name: joined([getattr(part, name) for part in results])
                for name in ("truth", "result", "winner", "p", "weights", "groups")
            },
            rows=rows[order],
        )
        validations.append(
            CrossValidation(
                first.decoder.removesuffix(UNCALIBRATED),
                all(outcome.calibrated for outcome in outcomes),
                first.classifiers,
                _summaries(outcomes),
                zero_probability(outcomes),
                whole,
                joined([outcome.confidence for outcome in outcomes]),
                float(np.mean(sizes)),
            )
        )
    return validations
