"""Tuning from data to a control file: what is searched, and what is written."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

from ..control.build import check_classes
from ..errors import AgfmcWarning, UsageError
from ..train.jobs import check_loo, plan_jobs
from .candidates import Candidate
from .tune import Tuner, grids_for, hushed, scale_exponent, tune
from .tune_points import fixed_words
from .tune_report import partition_text, plain_search
from .tune_search import Axis
from .tune_trial import Problems, Whole, open_rows, with_options

__all__ = ["Start", "prepare_tuning", "tuned"]


@dataclass(frozen=True, eq=False)
class Start:
    """What is known before the search.

    data: raw `Dataset`;  candidate, settings;  base: the options that are given;  tree: the
    control tree for all of the data;  scale: as `scale_exponent` gives it;  features: after
    the normalisation.
    """

    data: object
    candidate: object
    settings: object
    base: str
    tree: object
    scale: float
    features: int


def prepare_tuning(data, candidate, settings, base, must_loo=False):
    """The `Start` of a search; everything is checked that needs no training.

    must_loo: it is an error where `settings.loo` is not possible, as rows with options of
    their own are nu-SVC; else such controls are trained with folds.
    """
    fixed_words(base)
    (x,) = settings.normalised(data.x)
    names = dict(enumerate(data.names or ()))
    tree = candidate.tree_for(x, data.y, names)
    counts = {int(label): int((data.y == label).sum()) for label in set(data.y.tolist())}
    check_classes(tree, counts, "the data")
    if not any(open_rows(tree)):
        raise UsageError('there is nothing to tune: no row of the control has "" for its options')
    jobs = plan_jobs(tree, "m", base, settings.seed)
    no_loo = any(job.options.no_loo for job in jobs)
    if must_loo:
        check_loo(jobs)
    return Start(data, candidate, replace(settings, loo=settings.loo and not no_loo), base, tree,
                 scale_exponent(x), x.shape[1])


def tuned(start, plan, ledger, *, by, per_partition=False, kernels=("rbf",), degrees=range(1, 7),
          coefficients=(0.0, 1.0), log2c=None, log2g=None, refine=2, deadline=None,
          progress=None):
    """Search, and put what is found into the control tree; -> (result, tree).

    by: name of a score;  log2c, log2g: (low, high, step) of exponents or None;
    deadline: on the clock of `time.monotonic`.  result: by, plan, decoder, complete, tried
    (number of points) and either the keys of `plain_search`, or partitions, a list of
    such with left, right and rows, and whole, {"given", "tuned": {score: summary}} or None.
    tree: None where the time was over before anything was scored.  Raises the first error
    where nothing could be trained.
    """
    grids = grids_for(kernels, degrees, coefficients, start.scale,
                      None if log2c is None else Axis(*log2c),
                      None if log2g is None else Axis(*log2g))
    tuner = Tuner(start.data, plan, start.settings, by, deadline, progress)
    whole = Whole(start.candidate, start.tree, start.settings, ledger)
    task = Problems(start.tree, start.settings, ledger) if per_partition else whole
    found = tune(tuner, task, grids, start.base, refine)
    if all(one.search.best is None for one in found):
        error = next((one.error for one in found if one.error is not None), None)
        if error is not None and tuner.complete:
            raise error
        found_texts = None  # the options given are no find
    else:
        found_texts = [one.best or one.given for one in found]
    searches = [plain_search(one, start.features) for one in found]
    if found_texts is None:
        searches = [{**search, "best": None} for search in searches]
    result = {"by": by, "plan": plan.words, "decoder": whole.decoder,
              "complete": tuner.complete, "tried": sum(len(one.tried) for one in found)}
    if per_partition:
        searches = [{"left": list(left), "right": list(right), "rows": rows, **search}
                    for (left, right), rows, search in zip(task.sides, task.rows, searches)]
    if tuner.complete:
        _warn_of_borders(searches)
    tree = None
    if not per_partition:
        if found_texts is not None:
            tree = with_options(start.tree, found_texts[0])
        return {**result, **searches[0]}, tree
    compared = None
    if found_texts is not None:
        texts = [""] * len(start.tree.rows)
        for text, rows in zip(found_texts, task.rows):
            for row in rows:
                texts[row] = text
        tree = with_options(start.tree, texts)
        if tuner.complete:
            compared = _compared(start, tuner, ledger, found[0].given, tuple(texts))
    return {**result, "partitions": searches, "whole": compared}, tree


def _compared(start, tuner, ledger, given, texts):
    """Scores of the whole configuration, with options for each row and with those given."""
    fixed = Candidate(start.candidate.name, start.tree, None, start.candidate.wanted)
    task = Whole(fixed, start.tree, start.settings, ledger)
    tuner.total = tuner.done + 2 * tuner.plan.count
    with hushed():
        columns = {"given": tuner.whole(task, given), "tuned": tuner.whole(task, texts)}
    return None if None in columns.values() else columns


def _warn_of_borders(searches):
    """One warning for each limit of the search that a best point lies on."""
    limits = {}
    for search in searches:
        for limit in search["border"]:
            limits.setdefault(limit, []).append(search)
    for limit, there in limits.items():
        name, side = limit.split()
        where = "" if "left" not in there[0] else " for " + ", ".join(
            partition_text(search, 28) for search in there[:4]) + (
            f" and {len(there) - 4} more" if len(there) > 4 else "")
        warnings.warn(f"the best {name}{where} is the {_SIDES[side]} that was tried: a wider "
                      f"{_OPTIONS[name]} may find a better one", AgfmcWarning, stacklevel=3)


_SIDES = {"low": "smallest", "high": "largest"}
_OPTIONS = {"C": "--log2c", "gamma": "--log2g"}
