"""Training options found by cross-validation in one call, for programs: no files, no state."""

from __future__ import annotations

import time
from dataclasses import replace

from ..control.tree import Tree
from ..errors import JobsFailed, UsageError
from ..executors.threads import available_cores
from ..models import TUNED_KERNELS
from ..score.scores import BY_OPTION, SCORES
from .candidates import Candidate
from .experiment import Experiment
from .on_workers import forgetting
from .result_cache import ResultCache
from .search import SearchSpace
from .tuning import SEARCHES, prepare_tuning, tune

__all__ = ["find_options"]


def find_options(experiment: Experiment, candidate: Candidate, *, by: str = "log_loss",
                 search: str = "fast", time_limit: float | None = None,
                 space: SearchSpace | None = None, progress=None) -> tuple[dict, Tree]:
    """The best training options of a candidate's open rows; -> (result, control tree with them).

    by: name of a score, also as tune_m has it (log-loss);  search: "fast" or "full";  time_limit:
    in seconds;  space: the kernels of tune_m by default;  progress(done, total, words).  The
    experiment needs no cache.  The result is that of `tuning.tune`.

    Raises `UsageError` for a search that cannot be, and `JobsFailed` where the time limit came
    before anything was scored.
    """
    start, space = time.monotonic(), SearchSpace() if space is None else space
    if not isinstance(space, SearchSpace):
        raise UsageError(f"space: expected an agfmc.SearchSpace, found {space!r}")
    by = BY_OPTION.get(by, by)
    kernels = (("kernels", kernel, TUNED_KERNELS) for kernel in space.kernels or ())
    for word, value, known in (("by", by, SCORES), ("search", search, SEARCHES), *kernels):
        if value not in known:
            raise UsageError(f"{word}: expected one of {', '.join(known)}, found {value!r}")
    if time_limit is not None and not time_limit >= 0:
        raise UsageError(f"time_limit: expected seconds or None, found {time_limit!r}")
    settings = replace(experiment.settings,
                       workers=experiment.settings.workers or available_cores())
    task = prepare_tuning(replace(experiment, settings=settings), candidate,
                          progress=progress)
    with forgetting(), ResultCache(None) as cache:
        result, tree = tune(replace(task, experiment=replace(task.experiment, cache=cache)), space,
                            by=by, search=search, progress=progress,
                            deadline=None if time_limit is None else start + time_limit)
    if tree is None:
        raise JobsFailed(f"the time limit of {time_limit:g} s was reached before anything was "
                         "scored: give more time")
    return result, tree
